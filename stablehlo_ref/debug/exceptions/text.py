"""The findings of a run as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stablehlo_ref.debug.exceptions.findings import ORIGINS, Effect, Exceptions, Finding, Kind, Place, Reach
from stablehlo_ref.debug.exceptions.ledger import WORDS, call_text

SHOWN = 4  # ops, inputs, constants of a line

_EXPLAINED = {
    Reach.OUTPUT: "reaches an output",
    Reach.NOT_FOLLOWED: "not followed to outputs, as the numbers look like any others",
    Reach.MASKED: "masked, harmless",
}

_COUNTED = {Reach.OUTPUT: "to an output", Reach.NOT_FOLLOWED: "not followed", Reach.MASKED: "masked"}


def text_of(found: Exceptions) -> str:
    """Return a summary, and a paragraph for each finding; several constants that are masked are one line."""
    lines = [_summary(found), *(line for reach in Reach for line in _section(found.reaching(reach), reach))]
    if found.only_in_backend:
        lines += ["\nonly in the backend:", *(f"  {exception}" for exception in found.only_in_backend)]
    return "\n".join(lines)


def _summary(found: Exceptions) -> str:
    counts = ", ".join(f"{n} {_COUNTED[reach]}" for reach in Reach if (n := len(found.reaching(reach))))
    looked = f"looked for {', '.join(found.kinds)} in {found.ops} executed op{'' if found.ops == 1 else 's'}"
    sources = f"{len(found.findings)} source{'s' if len(found.findings) > 1 else ''} of exceptions"
    return f"{sources}: {counts}; {looked}" if counts else f"no exceptions; {looked}"


def _section(findings: Sequence[Finding], reach: Reach) -> Iterator[str]:
    if not findings:
        return
    yield f"\n{_EXPLAINED[reach]}:"
    constants = [f for f in findings if f.kind is Kind.CONSTANT and reach is Reach.MASKED]
    is_many = len(constants) > SHOWN
    for finding in findings:
        if not (is_many and finding.kind is Kind.CONSTANT):
            yield from _paragraph(finding)
    if is_many:
        yield f"  {len(constants)} constants have NaN or infinities: {_places([f.place for f in constants])}"


def _paragraph(finding: Finding) -> Iterator[str]:
    place = finding.place
    yield f"  {place.location}: {_what(finding)}"
    first = finding.first
    if finding.kind not in ORIGINS or first.result:
        index = list(first.index) if first.index else ""
        yield f"      first at {first.address}{index}{_process(finding)}: {call_text(place.op, first)}"
    if place.model_location:
        yield f"      in the model: {place.model_location}"
    if finding.outputs:
        yield f"      reaches {_outputs(finding.outputs)}{_through(finding.propagated)}"
    if finding.killed:
        yield f"      removed by {_effects(finding.killed)}"
    origins = [*finding.slice.inputs, *finding.slice.constants]
    if origins:
        yield f"      computed from {_places(origins)}"


def _what(finding: Finding) -> str:
    place = finding.place
    runs = f" in {finding.runs} runs" if finding.runs > 1 else ""
    counted = f"{finding.elements} element{'s' if finding.elements > 1 else ''}{runs}"
    match finding.kind:
        case Kind.INPUT | Kind.CONSTANT:
            return f"{finding.kind} {place.name} has NaN or infinities: {counted}"
        case Kind.UNKNOWN:
            return f"{place.name} has NaN or infinities from where values are not followed: {counted}"
        case Kind.CANCELLATION:
            return f"{place.op} {place.name} loses up to {finding.lost_bits} bits by cancellation: {counted}"
    return f"{place.op} {place.name} generates {WORDS[finding.kind]}: {counted}"


def _process(finding: Finding) -> str:
    return f" in process {finding.first.process}" if len(finding.processes) > 1 or any(finding.first.process) else ""


def _outputs(numbers: Sequence[int]) -> str:
    return f"output{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


def _through(effects: Sequence[Effect]) -> str:
    return f" through {_places([effect.place for effect in effects])}" if effects else ""


def _places(places: Sequence[Place]) -> str:
    more = f", and {len(places) - SHOWN} more" if len(places) > SHOWN else ""
    return ", ".join(map(str, places[:SHOWN])) + more


def _effects(effects: Sequence[Effect]) -> str:
    shown = ", ".join(f"{effect.place} ({effect.elements})" for effect in effects[:SHOWN])
    return shown + (f", and {len(effects) - SHOWN} more" if len(effects) > SHOWN else "")
