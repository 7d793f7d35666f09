"""Places of values, operands and attributes in the text, for errors about ops.

Parsed ops keep the location of their name only. When there is an error about an operand or an attribute, the text of
the op is parsed again, by a parser that records offsets. Notes say where the values are defined that an error is about,
and errors are left out that may follow from one that is reported already.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace

from stablehlo_ref.define.assembly import Directive, Draft
from stablehlo_ref.define.definition import REGISTRY, OpDefinition, definition_of, member_of_each
from stablehlo_ref.diagnostics import Diagnostic, Location, MalformedError, Source
from stablehlo_ref.ir import attributes
from stablehlo_ref.ir.core import MALFORMED, Block, Operation, Region, Value
from stablehlo_ref.ir.lexer import token
from stablehlo_ref.ir.value_index import defining_op
from stablehlo_ref.syntax.assembly import Attribute, Literal, OptionalGroup, assembly_of
from stablehlo_ref.syntax.parser import BARE_NAMES, Parser, match_head

MAX_NOTES = 4  # about values, of one diagnostic

_match_formula = re.compile(r"'[^']*' op \(\w[\w ]*\): ").match
_skip_separators = token(r"(?:(?:[,)}]|x(?=\s*+\[))\s*+)*+")
_find_keyword = re.compile(r"[^\"\[{(<=]*?\b([A-Za-z_]\w*)\s*+=").match


# --- operands and attributes ------------------------------------------------------------------------------------------


def pinpointed(diagnostic: Diagnostic, op: str) -> Diagnostic:
    """Return a diagnostic about an op with the location of its first subject that is in the text.

    If that is on the same line as the op, or the subject is wrong whatever the op, it becomes the location of the
    diagnostic; else it is that of a note. A diagnostic without such a subject is returned as is. `op` is the name of
    the op at the location.
    """
    location = diagnostic.location
    if location is None or not diagnostic.subjects or not location.source.text:
        return diagnostic
    offsets = _Recorder(location.source, location.offset).record(op)
    subject = next((subject for subject in diagnostic.subjects if subject in offsets), None)
    if subject is None:
        return diagnostic
    found = Location(location.source, offsets[subject])
    if found.line == location.line or _is_checked_alone(subject, REGISTRY.get(op)):
        return replace(diagnostic, location=found)
    what = f"operand #{subject}" if isinstance(subject, int) else f"attribute '{subject}'"
    return replace(diagnostic, related=Diagnostic(f"see {what}", found, "note"))


def _is_checked_alone(subject: str | int, definition: OpDefinition | None) -> bool:
    groups = definition.groups.values() if definition else ()
    return any(g.is_checked_alone and subject in [m.name for m in g.fields.values()] for g in groups)


class _Entries(dict[str, object]):
    """The members or attributes of an op that is parsed again; notifies the recorder when one is added."""

    def __init__(self, recorder: _Recorder) -> None:
        super().__init__()
        self.recorder = recorder

    def __setitem__(self, name: str, value: object) -> None:
        super().__setitem__(name, value)
        self.recorder.add(name)

    def __ior__(self, other: Iterable[tuple[str, object]]) -> _Entries:  # type: ignore[override, misc]
        for name, value in dict(other).items():
            self[name] = value
        return self


class _Recorder(Parser):
    """Parses an op and records the offsets of its operands and attributes. Regions are skipped."""

    def __init__(self, source: Source, offset: int) -> None:
        super().__init__(source, allow_unregistered_dialect=True)
        self.position = offset
        self.offsets: dict[str | int, int] = {}
        self.fields: dict[str, int] = {}  # offsets of the fields of struct attributes
        self.begin = self.end = offset  # of the last operand or attribute
        self.nesting = 0  # of dictionaries

    def record(self, op: str) -> dict[str | int, int]:
        """Parse the op; return the offsets of its attributes by name and of its operands by number.

        Attributes are also returned by the names of their members. If the text is that of another op, nothing is.
        """
        try:
            draft = self._draft(op)
        except MalformedError:  # the rest of the program is needed, such as the types of values
            draft = None
        if draft is not None:
            self.offsets.update({number: offset for number, (_, offset) in enumerate(draft.operands)})
        if definition := REGISTRY.get(op):
            self._add_members(definition)
        return self.offsets

    def _draft(self, op: str) -> Draft | None:
        match = match_head(self.text, self.position)
        if match is None or op not in (match[4], BARE_NAMES.get(match[4]), (match[5] or "").strip('"')):
            return None
        self.position = self.end = match.end()
        if match[5]:
            return self.generic_form(match)
        draft = Draft(op, definition := REGISTRY[op], match.start(4))
        draft.members, draft.attributes = _Entries(self), _Entries(self)  # type: ignore[assignment]
        self._parse(assembly_of(definition).parts, draft)
        return draft

    def _parse(self, parts: Sequence[Directive], draft: Draft) -> None:
        """Parse the parts of a pretty form. An irregular part starts where its first member starts."""
        after_equals = False
        for part in parts:
            if isinstance(part, OptionalGroup):
                self._parse(part.parts if part.parts[0].is_next(self) else (), draft)
                continue
            if not isinstance(part, Literal | Attribute) and not after_equals:
                self.end = self.start
            part.parse(self, draft)
            after_equals = isinstance(part, Literal) and part.tokens[-1] == "="

    def _add_members(self, definition: OpDefinition) -> None:
        """Add attribute members that are spelled differently, or are fields of a struct attribute."""
        for name, group in definition.groups.items():
            for field, member in group.fields.items():
                if (offset := self.fields.get(field, self.offsets.get(name))) is not None:
                    self.offsets.setdefault(member.name, offset)
        for member in definition.attributes.values():
            if member.spelling in self.offsets:
                self.offsets.setdefault(member.name, self.offsets[member.spelling])

    # --- recording ----------------------------------------------------------------------------------------------

    def add(self, name: str) -> None:
        """Record an attribute that ends at the current position."""
        if self.position > self.end:
            self.begin, self.end = self._begin(), self.position
        self.offsets.setdefault(name, self.begin)

    def _begin(self) -> int:
        """Return the offset of the keyword in front of the attribute at the current position, or of the attribute."""
        match = _skip_separators(self.text, self.end)
        begin = match.end() if match else self.end
        keyword = _find_keyword(self.text, begin, self.position)
        return keyword.start(1) if keyword else begin

    def entry(self, entries: dict[str, attributes.Attribute]) -> None:
        offset = self.start
        self.nesting += 1
        super().entry(entries)
        self.nesting -= 1
        if not self.nesting:
            self.offsets[next(reversed(entries))] = offset  # which replaces what the pretty form gives
            self.end = self.position

    def field(self, name: str, field: str, fields: dict[str, object], offset: int) -> None:
        super().field(name, field, fields, offset)
        if self.nesting <= 1:
            self.fields.setdefault(field, offset)

    def operand(self) -> tuple[str, int]:
        operand = super().operand()
        self.end = self.position
        return operand

    def operand_list(self) -> list[tuple[str, int]]:
        operands = super().operand_list()
        self.end = self.position
        return operands

    def region(
        self, arguments: Sequence[Value] = (), isolated: bool = False, shadows: bool = False, implied: str = ""
    ) -> Region:
        self.balanced("region")
        return Region([])


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
