"""Results of `diff` for people and programs: here as text, else an HTML page, JSON, node data of Model Explorer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import indent

from stablehlo_ref.debug.contract import Contract, contract_of
from stablehlo_ref.debug.diff import Diff, Inner
from stablehlo_ref.debug.judge import Excess, Judgement, Verdict
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.text.tokens import counted

SHOWN = 10  # faults, or ops of one
WRONG, SUSPICIOUS = "certainly wrong", "suspicious"
_UNSTABLE = "a second run does not repeat it: the backend is unstable"


def report_lines(found: Diff) -> Iterator[str]:
    """Yield the lines of the report, beginning with the finding."""
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
    for inner in found.inner:
        yield f"{inner_text(inner)}:"
        yield from (indent(line, "  ") for line in _finding(inner.found))
    if not found.inner:
        yield from _named(found)
    if not found.outputs.are_reproducible:
        yield "not reproducible: two runs return different bits, and rounding explains both"
    generated = [exception for exception in found.exceptions if exception.is_generated]
    yield from (f"NaN or infinities only in the backend: {exception}" for exception in generated[:SHOWN])
    if found.stopped:
        yield f"intermediate values are missing: {found.stopped}"


def _named(found: Diff) -> Iterator[str]:
    """Say which ops are wrong or suspicious, or which outputs are off, and which ops are not judged."""
    if found.verdict == "not located":
        yield "not located: outputs are off, and no op that can be judged is wrong"
    faults = list(faults_of(found))
    yield from (line for fault in faults[:SHOWN] for line in fault.lines())
    if len(faults) > SHOWN:
        yield f"... and {len(faults) - SHOWN} more"
    if found.outputs.beyond and not found.is_located:
        yield from (f"  {b}" for b in found.outputs.beyond)
        others = [op for op in found.unjudged if op not in found.not_explained]
        yield from _listed([f"  not judged: {describe(op)}" for op in others])
    elif not faults and found.judgements:
        yield "no op is wrong under the contract" + (", of those that can be judged" if found.unjudged else "")


def _listed(lines: Sequence[str]) -> list[str]:
    more = [f"  ... and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
    return [*lines[:SHOWN], *more]


@dataclass(frozen=True)
class Fault:
    """Ops that are wrong or suspicious, alone or only together, where they exceed their bound, and what is known."""

    verdict: str
    ops: Sequence[Operation]
    judgement: Judgement | None
    excess: Excess | None
    notes: Sequence[str]
    is_shown_by_repro: bool

    def lines(self) -> list[str]:
        """Return the fault as lines of text."""
        ops = [describe(op) for op in self.ops]
        together = [f"{self.verdict}: {len(ops)} ops together", *_listed([f"  {op}" for op in ops])]
        head = together if len(ops) > 1 else [f"{self.verdict}: {ops[0]}"]
        excess = [] if self.excess is None else [f"  {self.excess}"]
        return [*head, *excess, *(f"  {note}" for note in self.notes)]


def faults_of(found: Diff) -> Iterator[Fault]:
    """Yield the ops that are wrong, a group that is, and those that are suspicious; not those inside of loops."""
    group, repro = found.group, found.repro
    right_with = [f"right with: {', '.join(repro.workarounds)}"] if repro and repro.workarounds else []
    for number, judgement in enumerate(found.suspects):
        notes = [] if number else ["computed from the backend's own operands", confirmed_text(found), *right_with]
        yield Fault(WRONG, [judgement.op], judgement, judgement.excess, notes, not number and group is None)
    if group is not None and group.ops:
        notes = [] if found.stopped else ["only where no intermediate value is an output"]
        notes += ["the ops are wrong together"] if len(group.ops) > 1 else []
        origin = "the interpreter" if found.stopped else "the backend"
        notes += [f"computed from values that {origin} returned"] if group.excess else []
        verdict = WRONG if group.is_certain else SUSPICIOUS
        yield Fault(verdict, group.ops, None, group.excess, [*notes, *right_with], True)
    judgements = {judgement.op: judgement for judgement in found.judgements}
    for op in found.not_explained:
        notes = ["far beyond what rounding makes of the backend's own operands"]
        yield Fault(SUSPICIOUS, [op], judgements[op], None, notes, False)


def inner_text(inner: Inner) -> str:
    """Say which turn of a loop, or which branch, was compared."""
    part = f"turn {inner.turn} of the loop" if inner.loop.name == "stablehlo.while" else "the branch taken of"
    return f"in {part} {describe(inner.loop)}, fed with the backend's own state"


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


def describe(op: Operation) -> str:
    """Return the name, the result, the place in the text, and that in the model if it is known."""
    result = f" {op.results[0].origin}" if op.results else ""
    return f"{op.name}{result} at {op.location}" + (f" ({op.model_location})" if op.model_location else "")


def _counts(found: Diff) -> Iterator[str]:
    details = {
        Verdict.PERMITTED: Counter(text for j in found.judgements for text in j.permissions),
        Verdict.NOT_JUDGED: Counter(j.op.name for j in found.judgements if j.verdict is Verdict.NOT_JUDGED),
    }
    for verdict in Verdict:
        if count := sum(j.verdict is verdict for j in found.judgements):
            tally = ", ".join(f"{name}: {n}" for name, n in details.get(verdict, Counter()).most_common())
            yield f"{count:6d} {'op' if count == 1 else 'ops'}: {verdict.value}" + (f" ({tally})" if tally else "")
    open_ones = [j for j in found.judgements if j.verdict is Verdict.NOT_JUDGED and j.excess]
    yield from (f"not judged: {describe(j.op)}\n  {j.reason}" for j in open_ones[:SHOWN])
