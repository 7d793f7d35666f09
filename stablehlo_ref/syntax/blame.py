"""What the verifier says about an invalid op beside its error: where the values to blame are defined.

And which errors are left out, because they may follow from an error that is reported already.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from dataclasses import replace

from stablehlo_ref.define.definition import OpDefinition, definition_of, member_of_each
from stablehlo_ref.diagnostics import Diagnostic, Location
from stablehlo_ref.ir.core import MALFORMED, Block, Operation, Value
from stablehlo_ref.ir.value_index import defining_op
from stablehlo_ref.syntax.pinpoint import pinpointed

MAX_NOTES = 4  # about values, of one diagnostic
_match_formula = re.compile(r"'[^']*' op \(\w[\w ]*\): ").match


# --- errors that follow from others ---------------------------------------------------------------------------------


def may_follow(op: Operation, diagnostic: Diagnostic, poisoned: set[Value]) -> bool:
    """Return whether an error about an op may be a consequence of the errors of ops whose results are `poisoned`."""
    yields = _yields(op, poisoned)
    if not yields and not poisoned.intersection(op.operands):
        return False
    if _match_formula(diagnostic.message):
        return _relates(op, diagnostic, poisoned, yields)
    if numbers := [subject for subject in diagnostic.subjects if isinstance(subject, int)]:
        return any(op.operands[number] in poisoned for number in numbers)
    return not diagnostic.subjects or diagnostic.subjects == ("callee",)


def _relates(op: Operation, diagnostic: Diagnostic, poisoned: set[Value], yields: bool) -> bool:
    """Return whether a formula that does not hold is about poisoned operands, or regions that yield such values."""
    names, definition = set(_names(diagnostic)), definition_of(op)
    if definition is None or not names or "infer(" in diagnostic.message:
        return True
    if yields and not names <= definition.attributes.keys():
        return True
    return any(op.operands[number] in poisoned for number in _operands_named(definition, op, names))


def _yields(op: Operation, poisoned: set[Value]) -> bool:
    """Return whether a region of an op ends with a poisoned value, or with an op that could not be read."""
    ends = [block.operations[-1] for region in op.regions for block in region.blocks if block.operations]
    return any(end.name == MALFORMED or poisoned.intersection(end.operands) for end in ends)


def _names(diagnostic: Diagnostic) -> list[str]:
    """Return the names in the formula that a diagnostic quotes."""
    return [name for note in diagnostic.notes if (name := note.partition(" = ")[0]).isidentifier()]


# --- notes ----------------------------------------------------------------------------------------------------------


def described(diagnostic: Diagnostic, op: Operation) -> Diagnostic:
    """Return a diagnostic about an op at the place of what is wrong, with notes where its values are defined."""
    notes = tuple(note for value in _values_to_blame(diagnostic, op) if (note := definition_note(value)))
    return replace(pinpointed(diagnostic, op.name), definitions=notes[:MAX_NOTES])


def _values_to_blame(diagnostic: Diagnostic, op: Operation) -> Iterator[Value]:
    """Yield the operands that an error about an op is about."""
    numbers = [subject for subject in diagnostic.subjects if isinstance(subject, int)]
    definition = definition_of(op)
    if definition is not None and _match_formula(diagnostic.message):
        numbers += _operands_named(definition, op, _names(diagnostic))
    seen = set()
    for number in numbers:
        if number < len(op.operands) and (value := op.operands[number]) not in seen:
            seen.add(value)
            yield value


def _operands_named(definition: OpDefinition, op: Operation, names: Container[str]) -> list[int]:
    try:
        members = member_of_each(definition.operands, len(op.operands))
    except ValueError:  # their number is wrong
        return []
    return [number for number, member in enumerate(members) if member.name in names]


def definition_note(value: Value) -> Diagnostic | None:
    """Return the note about where a value is defined; None if that is not in a text."""
    place = place_of(value)
    return defined_here(value, place) if place else None


def defined_here(value: Value, place: Location) -> Diagnostic:
    """Return the note about a value that is defined at `place`."""
    return Diagnostic(f"'%{value.name}' is defined here with type {value.type}", place, "note")


def place_of(value: Value) -> Location | None:
    """Return where the text defines a value; None if the text does not have its name there."""
    owner = value.owner
    name = rf"%{re.escape(value.name.partition('#')[0])}(?![\w$.\-])"
    if isinstance(owner, Operation):
        return _place_of_result(owner, name)
    if isinstance(owner, Block) and owner.parent is not None and (around := owner.parent.parent) is not None:
        return _first(re.compile(name + r"\s*[:=]"), around.location, len(around.location.source.text))
    return None


def defined_at(value: Value) -> Location | None:
    """Return where a value is defined: its op, or the argument itself where its name is in the text; else None."""
    if isinstance(value.owner, Operation):
        return value.owner.location
    return place_of(value) or (op.location if (op := defining_op(value)) else None)


def _place_of_result(op: Operation, name: str) -> Location | None:
    text, end = op.location.source.text, op.location.offset
    start = text.rfind("\n", 0, end) + 1
    return _first(re.compile(name), Location(op.location.source, start), end)


def _first(pattern: re.Pattern[str], start: Location, end: int) -> Location | None:
    """Return where a pattern first matches between a location and an offset."""
    match = pattern.search(start.source.text, start.offset, end)
    return Location(start.source, match.start()) if match else None
