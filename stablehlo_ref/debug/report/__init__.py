"""Results of `diff` for people and programs: here as text, else an HTML page, JSON, node data of Model Explorer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from textwrap import indent

from stablehlo_ref.debug.contract import Contract, contract_of
from stablehlo_ref.debug.diff import Diff, Inner
from stablehlo_ref.debug.judge import Judgement, Verdict
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.text.tokens import counted

SHOWN = 10  # suspects
_UNSTABLE = "a second run does not repeat it: the backend is unstable"


def text_of(found: Diff) -> str:
    """Return the report, beginning with the finding."""
    return "\n".join(_lines(found))


def _lines(found: Diff) -> Iterator[str]:
    yield from _finding(found)
    yield from (f"{s}" for s in found.outputs.sensitivities if s.distance)
    made, outputs = found.setup, found.outputs
    yield f"contract: {_contract_text(made.contract)}"
    yield f"backend: {made.backend}, {counted(len(made.flat.ops), 'op')}, {counted(made.compilations, 'compilation')}"
    if outputs.errors and not outputs.same and not outputs.sensitivities:
        yield f"relative error of each output: {', '.join(f'{error:.2g}' for error in outputs.errors)}"
    if found.judgements:
        yield from _counts(found)


def _contract_text(contract: Contract) -> str:
    """Return the name of a contract, a preset with what is overridden, or all of one that Python code made."""
    try:
        is_named = contract_of(contract.name) == contract
    except EvaluationError:
        is_named = False
    return contract.name if is_named else str(contract)


def _finding(found: Diff) -> Iterator[str]:
    if found.failure:
        ops, unstable = found.failure.ops, found.failure.unstable
        yield f"the backend failed on the program: {found.failure.outcome}"
        if ops:
            many = f"{len(ops)} ops, of which the last is " if len(ops) > 1 else ""
            yield f"  it fails also alone, fed with the interpreter's values: {many}{describe(ops[-1])}"
        if unstable is not None:
            yield f"  the first op with other bits in a second run, on the same operands: {describe(unstable)}"
        return
    if found.outputs.same:
        yield "no difference: all outputs have the bits that the interpreter computes"
        return
    if found.inner:
        for inner in found.inner:
            yield f"{inner_text(inner)}:"
            yield from (indent(line, "  ") for line in _finding(inner.found))
    elif found.suspects:
        yield from _suspects(found)
    elif found.group is not None:
        yield from _group(found)
    elif found.outputs.beyond:
        yield from _beyond(found)
    elif found.judgements:
        yield "no op is wrong under the contract" + (", of those that can be judged" if found.unjudged else "")
    if not found.outputs.are_reproducible:
        yield "not reproducible: two runs return different bits, and rounding explains both"
    yield from _exceptions(found)
    if found.stopped:
        yield f"intermediate values are missing: {found.stopped}"


def inner_text(inner: Inner) -> str:
    """Say which turn of a loop, or which branch, was compared."""
    part = f"turn {inner.turn} of the loop" if inner.loop.name == "stablehlo.while" else "the branch taken of"
    return f"in {part} {describe(inner.loop)}, fed with the backend's own state"


def _beyond(found: Diff) -> Iterator[str]:
    """Say which outputs are off, which ops are suspicious, and which are not judged."""
    if found.verdict == "not located":
        yield "not located: outputs are off, and no op that can be judged is wrong"
    for op in found.not_explained:
        yield f"suspicious: {describe(op)}\n  far beyond what rounding makes of the backend's own operands"
    yield from (f"  {b}" for b in found.outputs.beyond)
    others = [op for op in found.unjudged if op not in found.not_explained]
    yield from (f"  not judged: {describe(op)}" for op in others[:SHOWN])
    if len(others) > SHOWN:
        yield f"  ... and {len(others) - SHOWN} more"


def _exceptions(found: Diff) -> Iterator[str]:
    """Say which ops generate NaN or infinities only in the backend."""
    generated = [exception for exception in found.exceptions if exception.is_generated]
    yield from (f"NaN or infinities only in the backend: {exception}" for exception in generated[:SHOWN])


def _suspects(found: Diff) -> Iterator[str]:
    first, *others = found.suspects
    yield "certainly wrong: " + describe(first.op)
    yield f"  {first.excess}, computed from the backend's own operands"
    yield f"  {confirmed_text(found)}"
    yield from _workarounds(found)
    for other in others[: SHOWN - 1]:
        yield f"certainly wrong: {describe(other.op)}\n  {other.excess}"
    if len(others) >= SHOWN:
        yield f"... and {len(others) - SHOWN + 1} more"


def confirmed_text(found: Diff) -> str:
    """Say where the two agree, and whether the verdict is repeated by a second run and by the op alone."""
    index = [judgement.op for judgement in found.judgements].index(found.suspects[0].op)
    unjudged = sum(judgement.verdict is Verdict.NOT_JUDGED for judgement in found.judgements[:index])
    before = "the op before it is" if index == 1 else f"the {index} ops before it are"
    agreed = f"{before} not wrong" if index else "it is the first op"
    if unjudged:
        agreed = f"of the {counted(index, 'op')} before it, {index - unjudged} are not wrong and {unjudged} not judged"
    if (confirmed := found.confirmation) is None:
        return agreed
    again = "a second run repeats it" if confirmed.is_repeated else _UNSTABLE
    alone = "so does the op alone" if confirmed.is_wrong_alone else "alone, on the same operands, the op is right"
    return f"{agreed}; {again}; {alone}"


def _workarounds(found: Diff) -> Iterator[str]:
    if found.repro is not None and found.repro.workarounds:
        yield f"  right with: {', '.join(found.repro.workarounds)}"


def _group(found: Diff) -> Iterator[str]:
    assert found.group is not None
    certainty = "certainly wrong" if found.group.is_certain else "suspicious"
    where = "" if found.stopped else ", only where no intermediate value is an output"
    ops = found.group.ops
    yield f"{certainty}{where}: {f'{len(ops)} ops together' if len(ops) > 1 else 'one op'}"
    yield from (f"  {describe(op)}" for op in found.group.ops[:SHOWN])
    if len(found.group.ops) > SHOWN:
        yield f"  ... and {len(found.group.ops) - SHOWN} more"
    if found.group.excess:
        origin = "the interpreter" if found.stopped else "the backend"
        yield f"  {found.group.excess}, computed from values that {origin} returned"
    yield from _workarounds(found)


def describe(op: Operation) -> str:
    """Return the name, the result, the place in the text, and that in the model if it is known."""
    result = f" {op.results[0].origin}" if op.results else ""
    return f"{op.name}{result} at {op.location}" + (f" ({op.model_location})" if op.model_location else "")


def _counts(found: Diff) -> Iterator[str]:
    counts = Counter(judgement.verdict for judgement in found.judgements)
    for verdict in Verdict:
        if counts[verdict]:
            ops = "op" if counts[verdict] == 1 else "ops"
            yield f"{counts[verdict]:6d} {ops}: {verdict.value}{_details(found, verdict)}"
    open_ones = [j for j in found.judgements if j.verdict is Verdict.NOT_JUDGED and j.excess]
    yield from (f"not judged: {describe(j.op)}\n  {j.reason}" for j in open_ones[:SHOWN])


def _details(found: Diff, verdict: Verdict) -> str:
    chosen = [judgement for judgement in found.judgements if judgement.verdict is verdict]
    if verdict is Verdict.PERMITTED:
        return f" ({_tally(permission for j in chosen for permission in j.permissions)})"
    return f" ({_tally(_name(j) for j in chosen)})" if verdict is Verdict.NOT_JUDGED else ""


def _tally(names: Iterator[str]) -> str:
    return ", ".join(f"{name}: {count}" for name, count in Counter(names).most_common())


def _name(judgement: Judgement) -> str:
    return judgement.op.name
