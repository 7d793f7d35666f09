"""The pretty forms of ops: a class's `syntax` line, compiled once into directives that each parse and print.

================================  ====================================================================================
in the line                       what it stands for in the text
================================  ====================================================================================
``,`` ``=`` ``:`` ``[`` words     themselves
``operands``                      all operands, with commas between them
``$member``                       an attribute in the pretty form of its kind: `[0, 1]`, `5`, `true`, `"..."`, `@f`, `LT`;
                                  a tensor constant with its type; a region, or regions with commas between them
``attr-dict``                     all other attributes `{...}`, nothing if there are none
``( ... )?``                      the parts inside if the first of them that can be there is (not its default)
``type(operands)``                the types, with commas between them; also ``type(results)``
``functional_type``               `(operand types) -> result types`
``same_type``                     one type for all operands and results, or a functional type where they differ
``complex_type``                  the result's type, or a functional type if operands are not its parts
``select_type``                   the type of the predicate and that of all else, or a functional type
``tuple_type``                    the result's type, which has the operands' types in it
``custom(name)``                  the irregular form of that name in `syntax/custom.py`
================================  ====================================================================================

Operand types that a form leaves out are those of the values; the result type of a constant is that of its value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from stablehlo_ref import kinds
from stablehlo_ref.define import REQUIRED, Attr, Bodies, Body, In, Ins, Op, Undecodable
from stablehlo_ref.ir.attributes import FloatAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import ComplexType, TensorType, TupleType, Type
from stablehlo_ref.syntax import attribute_text as text
from stablehlo_ref.syntax.custom import FORMS
from stablehlo_ref.syntax.directive import Directive, Draft, Irregular

# --- literals, operands, groups -------------------------------------------------------------------------------------


class Literal(Directive):
    """A token that stands for itself."""

    def __init__(self, token: str) -> None:
        self.token = token

    def parse(self, parser: Any, draft: Draft) -> None:
        parser.expect(self.token)

    def print(self, printer: Any, op: Operation) -> None:
        printer.literal(self.token)


class Operands(Directive):
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
        first = self.parts[0]
        if isinstance(first, Literal) and parser.peek() == first.token:
            for part in self.parts:
                part.parse(parser, draft)

    def print(self, printer: Any, op: Operation) -> None:
        if self.present(op):
            for part in self.parts:
                part.print(printer, op)

    def present(self, op: Operation) -> bool:
        return bool(next((p for p in (part.present(op) for part in self.parts) if p is not None), False))


# --- attributes -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Form:
    """How a kind of attribute is read and written where its kind is known."""

    parse: Callable[[Any], Any]
    text: Callable[[Any], str]


def _parse_flag(parser: Any) -> bool:
    if parser.accept("true"):
        return True
    if parser.accept("false"):
        return False
    raise parser.expected("'true' or 'false'")


def _parse_float(parser: Any) -> float:
    return float(parser.number(typed=False).value)


def _attribute_form(kind: kinds.AttributeKind) -> Form:
    return Form(lambda parser: _decode(parser, kind), lambda value: text.attribute_text(kind.encode(value)))


def _decode(parser: Any, kind: kinds.AttributeKind) -> Any:
    offset = parser.start
    try:
        return kind.decode(parser.attribute())
    except ValueError as error:
        raise parser.error(str(error), offset) from error


def _parse_dimensions(parser: Any) -> tuple[int, ...]:
    if parser.peek() == "[":
        return parser.dimensions()  # type: ignore[no-any-return]
    return _decode(parser, kinds.Dims)  # type: ignore[no-any-return]


def _enum_form(kind: kinds.OneOf) -> Form:
    def parse(parser: Any) -> Any:
        word = parser.peek()
        if word in kind.enum.__members__:
            parser.advance()
            return kind.enum[word]
        if word[:1] == "#":
            return _decode(parser, kind)
        raise parser.expected(kind.name)

    return Form(parse, lambda value: str(value.name))


@cache
def form_of(kind: kinds.AttributeKind) -> Form:
    """The pretty form of a kind of attribute."""
    if isinstance(kind, kinds.OneOf):
        return _enum_form(kind)
    return _FORMS.get(kind) or _attribute_form(kind)


_FORMS = {
    kinds.Dims: Form(_parse_dimensions, text.dimensions_text),
    kinds.Int: Form(lambda parser: parser.integer(), str),
    kinds.Int32: Form(lambda parser: parser.integer(), str),
    kinds.Real: Form(_parse_float, lambda value: text.attribute_text(FloatAttribute(value))),
    kinds.Flag: Form(_parse_flag, text.attribute_text),
    kinds.String: Form(lambda parser: parser.string(), text.quoted),
    kinds.Symbol: Form(lambda parser: parser.symbol_name(), text.symbol),
}


class Attribute(Directive):
    """`$member` of an attribute."""

    def __init__(self, member: Attr) -> None:
        self.member = member
        self.members = (member.name,)
        self.form = form_of(member.kind)

    def parse(self, parser: Any, draft: Draft) -> None:
        draft.members[self.member.name] = value = self.form.parse(parser)
        if self.member.kind is kinds.Dense and not draft.result_types and draft.definition.outputs:  # type: ignore[union-attr]
            draft.result_types = (value.type,)

    def print(self, printer: Any, op: Operation) -> None:
        printer.value(self.form.text(member_value(op, self.member.name)))

    def present(self, op: Operation) -> bool:
        value = op.properties.get(self.member.name, REQUIRED)
        return value is not REQUIRED and not _same(value, self.member.default)


def member_value(op: Operation, name: str) -> Any:
    """The value of an attribute member that a pretty form needs; Irregular where there is none."""
    value = op.properties.get(name)
    if value is None or isinstance(value, Undecodable):
        raise Irregular
    return value


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
            printer.value(text.dictionary_text(entries))

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


# --- types ----------------------------------------------------------------------------------------------------------


def assign_functional_type(parser: Any, draft: Draft) -> None:
    """Reads `(operand types) -> result types`."""
    offset = parser.start
    type = parser.function_type()
    if len(type.inputs) != len(draft.operands):
        raise parser.error(f"{len(draft.operands)} operands present, but expected {len(type.inputs)}", offset)
    draft.operand_types, draft.result_types = type.inputs, type.outputs


class FunctionalType(Directive):
    def parse(self, parser: Any, draft: Draft) -> None:
        if parser.peek() != "(":
            raise parser.expected("a functional type such as '(tensor<f32>) -> tensor<f32>'")
        assign_functional_type(parser, draft)

    def print(self, printer: Any, op: Operation) -> None:
        printer.value(printer.functional_type(op))


class Types(Directive):
    """`type(operands)` or `type(results)`."""

    def __init__(self, of: str) -> None:
        self.of = of

    def parse(self, parser: Any, draft: Draft) -> None:
        offset = parser.start
        types = parser.type_list()
        if self.of == "results":
            draft.result_types = types
            return
        if len(types) != len(draft.operands):
            raise parser.error(f"{len(draft.operands)} operands present, but expected {len(types)}", offset)
        draft.operand_types = types

    def print(self, printer: Any, op: Operation) -> None:
        types = op.operand_types if self.of == "operands" else op.result_types
        if not types:
            raise Irregular
        printer.value(", ".join(map(str, types)))

    def present(self, op: Operation) -> bool:
        return bool(op.operands if self.of == "operands" else op.results)


class ShortType(Directive):
    """A type that others follow from; where they do not, a functional type stands instead."""

    def parse(self, parser: Any, draft: Draft) -> None:
        if parser.peek() == "(":
            assign_functional_type(parser, draft)
        else:
            self.assign(parser, draft)

    def print(self, printer: Any, op: Operation) -> None:
        shortened = self.shorten(op.operand_types, op.result_types)
        printer.value(printer.functional_type(op) if shortened is None else shortened)

    def assign(self, parser: Any, draft: Draft) -> None:
        raise NotImplementedError

    def shorten(self, operands: list[Type], results: list[Type]) -> str | None:
        raise NotImplementedError


class SameType(ShortType):
    def assign(self, parser: Any, draft: Draft) -> None:
        type = parser.type()
        draft.operand_types = (type,) * len(draft.operands)
        draft.result_types = (type,) * len(draft.definition.outputs)  # type: ignore[union-attr]

    def shorten(self, operands: list[Type], results: list[Type]) -> str | None:
        types = {*operands, *results}
        return str(types.pop()) if len(types) == 1 else None


class ComplexTypeOfParts(ShortType):
    def assign(self, parser: Any, draft: Draft) -> None:
        offset, type = parser.start, parser.type()
        part = _part_type(type)
        if part is None:
            raise parser.error(f"expected a tensor of complex element type, found {type}", offset)
        draft.operand_types, draft.result_types = (part,) * len(draft.operands), (type,)

    def shorten(self, operands: list[Type], results: list[Type]) -> str | None:
        part = _part_type(results[0]) if len(results) == 1 else None
        return str(results[0]) if part is not None and set(operands) == {part} else None


def _part_type(type: Type) -> Type | None:
    """The type of the real and imaginary parts of a complex tensor type."""
    if not isinstance(type, TensorType) or not isinstance(type.element_type, ComplexType):
        return None
    return TensorType(type.shape, type.element_type.element, type.bounds, type.encoding)


class SelectType(ShortType):
    def assign(self, parser: Any, draft: Draft) -> None:
        pred = parser.type()
        parser.expect(",")
        type = parser.type()
        draft.operand_types, draft.result_types = (pred, *(type,) * (len(draft.operands) - 1)), (type,)

    def shorten(self, operands: list[Type], results: list[Type]) -> str | None:
        same = operands and len({*operands[1:], *results}) == 1
        return f"{operands[0]}, {results[0]}" if same and results else None


class TupleTypeOfElements(ShortType):
    def assign(self, parser: Any, draft: Draft) -> None:
        offset, type = parser.start, parser.type()
        if not isinstance(type, TupleType):
            raise parser.error(f"expected a tuple type, found {type}", offset)
        if len(type.elements) != len(draft.operands):
            raise parser.error(f"{len(draft.operands)} operands present, but expected {len(type.elements)}", offset)
        draft.operand_types, draft.result_types = type.elements, (type,)

    def shorten(self, operands: list[Type], results: list[Type]) -> str | None:
        return str(results[0]) if results == [TupleType(tuple(operands))] else None


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


@cache
def assembly_of(definition: type[Op]) -> Assembly:
    """The compiled `syntax` of a class; TypeError where the line names what is not there."""
    return Assembly(definition)


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
        if token[7:-1] not in FORMS:
            raise TypeError(f"{definition.__name__}.syntax: no custom form '{token[7:-1]}'")
        return FORMS[token[7:-1]]
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
