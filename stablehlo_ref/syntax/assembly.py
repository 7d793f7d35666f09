"""The pretty forms of ops: a class's `syntax` line, compiled once into directives that each parse and print.

================================  ====================================================================================
in the line                       what it stands for in the text
================================  ====================================================================================
``,`` ``=`` ``:`` ``[`` words     themselves
``operands``                      all operands, with commas between them
``$member``                       an attribute in the pretty form of its kind: `[0, 1]`, `5`, `true`, `"..."`, `@f`,
                                  `LT`, a tensor constant with its type; a region, or regions with commas between them
``attr-dict``                     all other attributes `{...}`, nothing if there are none
``( ... )?``                      the parts inside, if the first attribute, region or list of operands in it is there
                                  and not its default; the first part is a token or `operands`
``type(operands)``                the types, with commas between them; also ``type(results)``
``functional_type``               `(operand types) -> result types`
``same_type``                     one type for all operands and results, or a functional type where they differ
``complex_type``                  the result's type, or a functional type if operands are not its parts
``select_type``                   the type of the predicate and that of all else, or a functional type
``tuple_type``                    the result's type, which has the operands' types in it
``custom(name)``                  the irregular form of that name in `syntax/custom.py`, `custom_foreign.py`
================================  ====================================================================================

Operand types that a form leaves out are those of the values; the result type of a constant is that of its value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from stablehlo_ref.define import REQUIRED, Attr, Bodies, Body, In, Ins, Op
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.kinds import Dense
from stablehlo_ref.syntax.attribute_text import dictionary_text
from stablehlo_ref.syntax.custom import FORMS
from stablehlo_ref.syntax.custom_foreign import FOREIGN_FORMS
from stablehlo_ref.syntax.custom_sdy import SDY_FORMS
from stablehlo_ref.syntax.directive import Directive, Draft, member_value
from stablehlo_ref.syntax.forms import form_of
from stablehlo_ref.syntax.type_forms import (
    ComplexTypeOfParts,
    FunctionalType,
    SameType,
    SelectType,
    TupleTypeOfElements,
    Types,
)

# --- literals, operands, groups -------------------------------------------------------------------------------------


class Literal(Directive):
    """A token that stands for itself."""

    def __init__(self, token: str) -> None:
        self.token = token

    def stands(self, parser: Any) -> bool:
        return bool(parser.peek() == self.token)

    def parse(self, parser: Any, draft: Draft) -> None:
        parser.expect(self.token)

    def print(self, printer: Any, op: Operation) -> None:
        printer.literal(self.token)


class Operands(Directive):
    """`operands`."""

    def stands(self, parser: Any) -> bool:
        return bool(parser.peek()[:1] == "%")

    def parse(self, parser: Any, draft: Draft) -> None:
        draft.operands += parser.operand_list()

    def print(self, printer: Any, op: Operation) -> None:
        if op.operands:
            printer.value(printer.operands(op.operands))

    def present(self, op: Operation) -> bool:
        return bool(op.operands)


class OptionalGroup(Directive):
    """Parts that stand there together or not at all."""

    def __init__(self, parts: Sequence[Directive]) -> None:
        self.parts = parts
        self.members = tuple(member for part in parts for member in part.members)

    def parse(self, parser: Any, draft: Draft) -> None:
        if self.parts[0].stands(parser):
            for part in self.parts:
                part.parse(parser, draft)

    def print(self, printer: Any, op: Operation) -> None:
        if self.present(op):
            for part in self.parts:
                part.print(printer, op)

    def present(self, op: Operation) -> bool:
        return bool(next((p for p in (part.present(op) for part in self.parts) if p is not None), False))


# --- attributes -----------------------------------------------------------------------------------------------------


class Attribute(Directive):
    """`$member` of an attribute."""

    def __init__(self, member: Attr) -> None:
        self.member = member
        self.members = (member.name,)
        self.form = form_of(member.kind)

    def parse(self, parser: Any, draft: Draft) -> None:
        draft.members[self.member.name] = value = self.form.parse(parser)
        if self.member.kind is Dense and not draft.result_types and draft.definition.outputs:  # type: ignore[union-attr]
            draft.result_types = (value.type,)

    def print(self, printer: Any, op: Operation) -> None:
        printer.value(self.form.text(member_value(op, self.member.name)))

    def present(self, op: Operation) -> bool:
        value = op.properties.get(self.member.name, REQUIRED)
        return value is not REQUIRED and not _same(value, self.member.default)


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)


class AttributeDictionary(Directive):
    """All attributes that no other part writes, less those that are their defaults."""

    def __init__(self, definition: type[Op]) -> None:
        self.definition = definition
        self.elsewhere: frozenset[str] = frozenset()

    def parse(self, parser: Any, draft: Draft) -> None:
        if parser.peek() == "{":
            draft.attributes |= parser.dictionary()

    def print(self, printer: Any, op: Operation) -> None:
        if entries := self.entries(op):
            printer.value(dictionary_text(entries))

    def entries(self, op: Operation) -> dict[str, Any]:
        known = self.definition.attributes
        members = {
            name: value
            for name, value in op.properties.items()
            if name not in self.elsewhere and not (name in known and _same(value, known[name].default))
        }
        return self.definition.encode(members) | op.attributes


class Regions(Directive):
    """`$member` of a region, or of several."""

    def __init__(self, several: bool) -> None:
        self.several = several

    def parse(self, parser: Any, draft: Draft) -> None:
        draft.regions.append(parser.region())
        while self.several and parser.accept(","):
            draft.regions.append(parser.region())

    def print(self, printer: Any, op: Operation) -> None:
        for index, region in enumerate(op.regions):
            if index:
                printer.literal(",")
            printer.value("")
            printer.region(region)

    def present(self, op: Operation) -> bool:
        return bool(op.regions)


# --- compiling a syntax line ----------------------------------------------------------------------------------------

_TOKEN = re.compile(r"\$\w+|(?:custom|type)\(\w+\)|attr-dict|->|\)\?|[A-Za-z_]\w*|\S")
_WORDS: dict[str, Callable[[], Directive]] = {
    "operands": Operands,
    "functional_type": FunctionalType,
    "same_type": SameType,
    "complex_type": ComplexTypeOfParts,
    "select_type": SelectType,
    "tuple_type": TupleTypeOfElements,
}


class Assembly:
    """The pretty form of one op class."""

    def __init__(self, definition: type[Op]) -> None:
        self.definition = definition
        self.parts = _compile(definition, _TOKEN.findall(definition.syntax))
        elsewhere = frozenset(member for part in self.parts for member in part.members)
        for part in self.parts:
            if isinstance(part, AttributeDictionary):
                part.elsewhere = elsewhere

    def parse(self, parser: Any, draft: Draft) -> None:
        for part in self.parts:
            part.parse(parser, draft)

    def print(self, printer: Any, op: Operation) -> None:
        for part in self.parts:
            part.print(printer, op)


_assemblies: dict[type[Op], Assembly] = {}


def assembly_of(definition: type[Op]) -> Assembly:
    """The compiled `syntax` of a class, once; TypeError where the line names what is not there."""
    if definition not in _assemblies:
        _assemblies[definition] = Assembly(definition)
    return _assemblies[definition]


def _compile(definition: type[Op], tokens: list[str]) -> list[Directive]:
    parts: list[Directive] = []
    position = 0
    while position < len(tokens):
        end = _end_of_group(tokens, position)
        if end:
            parts.append(OptionalGroup(_compile(definition, tokens[position + 1 : end])))
            position = end
        else:
            parts.append(_directive(definition, tokens[position]))
        position += 1
    return parts


def _end_of_group(tokens: list[str], start: int) -> int | None:
    """Where `tokens[start]` opens an optional group, the position of its `)?`."""
    depth = 0
    for position in range(start, len(tokens)):
        depth += (tokens[position] == "(") - (tokens[position] in (")", ")?"))
        if depth <= 0:
            return position if tokens[position] == ")?" else None
    return None


def _directive(definition: type[Op], token: str) -> Directive:
    if token == "attr-dict":
        return AttributeDictionary(definition)
    if token.startswith("type("):
        return Types(token[5:-1])
    if token.startswith("custom("):
        form = (FORMS | FOREIGN_FORMS | SDY_FORMS).get(token[7:-1])
        if form is None:
            raise TypeError(f"{definition.__name__}.syntax: no custom form '{token[7:-1]}'")
        return form
    if token.startswith("$"):
        member = definition.members.get(token[1:])
        if isinstance(member, Attr):
            return Attribute(member)
        if isinstance(member, In | Ins) and definition.operands == (member,):
            return Operands()
        if isinstance(member, Body | Bodies):
            return Regions(isinstance(member, Bodies))
        raise TypeError(f"{definition.__name__}.syntax: no attribute or region '{token}'")
    return _WORDS[token]() if token in _WORDS else Literal(token)
