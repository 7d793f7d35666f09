"""The directives that a `syntax` line names; `assembly.py` says what each stands for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any, Generic, TypeVar

from stablehlo_ref.define.assembly import (
    AsmParser,
    AsmPrinter,
    Directive,
    Draft,
    Irregular,
    SpelledCodec,
    attribute_dictionary,
    listed,
    member_value,
)
from stablehlo_ref.define.attribute_codecs import (
    AttributeCodec,
    Dense,
    DimsCodec,
    EnumCodec,
    Flag,
    IntegerCodec,
    RealCodec,
    String,
    Symbol,
    codec_of,
)
from stablehlo_ref.define.definition import REGISTRY, group_by_member
from stablehlo_ref.define.op import Attr, In, Ins
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.types import ComplexType, TensorType, TupleType, Type
from stablehlo_ref.syntax import attribute_text as text

T = TypeVar("T")

# --- literals, operands, groups -------------------------------------------------------------------------------------


class Literal(Directive):
    """A token, or several in a row. (Compiling an expression for them would take longer than most programs save.)

    In `printed`, two tokens without a blank between them are one item.
    """

    def __init__(self, printed: Sequence[str]) -> None:
        self.printed = printed
        self.tokens = [token for item in printed for token in _split(item)]

    def is_next(self, parser: AsmParser) -> bool:
        return parser.peek() == self.tokens[0]

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        for expected in self.tokens:
            parser.expect(expected)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        for item in self.printed:
            printer.literal(item)


class Operands(Directive):
    """`operands`."""

    def is_next(self, parser: AsmParser) -> bool:
        return parser.peek()[:1] == "%"

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.operands += parser.operand_list()

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if op.operands:
            printer.value(printer.operands(op.operands))

    def present(self, op: Operation) -> bool:
        return bool(op.operands)


class Operand(Directive):
    """`$member` of an operand or a list of operands, where there are other operands as well."""

    def __init__(self, member: In | Ins) -> None:
        self.member = member

    def is_next(self, parser: AsmParser) -> bool:
        return parser.peek()[:1] == "%"

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.operands += [parser.operand()] if isinstance(self.member, In) else parser.operand_list()

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        printer.value(printer.operands(self._values(op)))

    def present(self, op: Operation) -> bool:
        return bool(self._values(op))

    def _values(self, op: Operation) -> Sequence[Value]:
        found = group_by_member(REGISTRY[op.name].operands, op.operands)[self.member.name]
        return found if isinstance(found, tuple) else (found,) if found is not None else ()


class OptionalGroup(Directive):
    """`( ... )?`: parts that are present together or not at all."""

    def __init__(self, parts: Sequence[Directive]) -> None:
        self.parts = parts
        self.members = tuple(member for part in parts for member in part.members)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        if self.parts[0].is_next(parser):
            for part in self.parts:
                part.parse(parser, draft)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if self.present(op):
            for part in self.parts:
                part.print(printer, op)

    def present(self, op: Operation) -> bool:
        return next((p for p in (part.present(op) for part in self.parts) if p is not None), False)


# --- types ------------------------------------------------------------------------------------------------------------


class FunctionalType(Directive):
    """`(operand types) -> result types`."""

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        parser.functional_type(draft)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        printer.value(printer.functional_type(op))


class Types(Directive):
    """`type(operands)` or `type(results)`."""

    def __init__(self, of: str) -> None:
        self.of = of

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        if self.of == "results":
            draft.result_types = parser.type_list()
        else:
            draft.operand_types = parser.type_list(len(draft.operands)) if draft.operands else ()

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        types = op.operand_types if self.of == "operands" else op.result_types
        if not types:
            raise Irregular
        printer.value(", ".join(map(str, types)))

    def present(self, op: Operation) -> bool:
        return bool(op.operands if self.of == "operands" else op.results)


class ShortType(Directive):
    """A type from which the others follow, or a functional type if they do not."""

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        if parser.peek() == "(":
            parser.functional_type(draft)
        else:
            self.assign(parser, draft)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        shortened = self.shorten(op.operand_types, op.result_types)
        printer.value(printer.functional_type(op) if shortened is None else shortened)

    def assign(self, parser: AsmParser, draft: Draft) -> None:
        """Parse the short form."""
        raise NotImplementedError

    def shorten(self, operands: list[Type], results: list[Type]) -> str | None:
        """Return the short form; None if it cannot express these types."""
        raise NotImplementedError


class SameType(ShortType):
    """One type of all operands and results."""

    def assign(self, parser: AsmParser, draft: Draft) -> None:
        type = parser.type()
        draft.operand_types = (type,) * len(draft.operands)
        draft.result_types = (type,) * len(REGISTRY[draft.name].results)

    def shorten(self, operands: list[Type], results: list[Type]) -> str | None:
        types = {*operands, *results}
        return str(types.pop()) if len(types) == 1 else None


class ComplexTypeOfParts(ShortType):
    """A complex type whose parts have the type of the operands."""

    def assign(self, parser: AsmParser, draft: Draft) -> None:
        offset, type = parser.start, parser.type()
        part = _part_type(type)
        if part is None:
            raise parser.error(f"expected tensor with complex element type, got {type}", offset)
        draft.operand_types, draft.result_types = (part,) * len(draft.operands), (type,)

    def shorten(self, operands: list[Type], results: list[Type]) -> str | None:
        part = _part_type(results[0]) if len(results) == 1 else None
        return str(results[0]) if part is not None and set(operands) == {part} else None


def _part_type(type: Type) -> Type | None:
    """Return the type of the real and imaginary parts of a complex tensor type; None for other types."""
    if not isinstance(type, TensorType) or not isinstance(type.element_type, ComplexType):
        return None
    return TensorType(type.shape, type.element_type.element, type.bounds, type.encoding)


class SelectType(ShortType):
    """The type of the predicate, and the type of the other operands and the result."""

    def assign(self, parser: AsmParser, draft: Draft) -> None:
        pred = parser.type()
        parser.expect(",")
        type = parser.type()
        draft.operand_types, draft.result_types = (pred, *(type,) * (len(draft.operands) - 1)), (type,)

    def shorten(self, operands: list[Type], results: list[Type]) -> str | None:
        same = operands and len({*operands[1:], *results}) == 1
        return f"{operands[0]}, {results[0]}" if same and results else None


class TupleTypeOfElements(ShortType):
    """A tuple type whose elements have the types of the operands."""

    def assign(self, parser: AsmParser, draft: Draft) -> None:
        offset, type = parser.start, parser.type()
        if not isinstance(type, TupleType):
            raise parser.error(f"expected tuple type, got {type}", offset)
        if len(type.elements) != len(draft.operands):
            raise parser.error(f"{len(draft.operands)} operands present, but expected {len(type.elements)}", offset)
        draft.operand_types, draft.result_types = type.elements, (type,)

    def shorten(self, operands: list[Type], results: list[Type]) -> str | None:
        return str(results[0]) if results == [TupleType(tuple(operands))] else None


# --- attributes and regions -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Form(Generic[T]):
    """How values of an attribute member are parsed and printed in a pretty form."""

    parse: Callable[[AsmParser], T]
    text: Callable[[T], str]


def _parse_flag(parser: AsmParser) -> bool:
    if parser.accept("true"):
        return True
    if parser.accept("false"):
        return False
    raise parser.expected("'true' or 'false'")


def _attribute_form(codec: AttributeCodec[T]) -> Form[T]:
    """Return the form of members that are written as attributes."""
    return Form(lambda parser: _decode(parser, codec), lambda value: text.attribute_text(codec.encode(value)))


def _decode(parser: AsmParser, codec: AttributeCodec[T]) -> T:
    offset = parser.start
    try:
        return codec.decode(parser.attribute())
    except ValueError as error:
        raise parser.error(str(error), offset) from error


def _dims_form(codec: DimsCodec) -> Form[tuple[int, ...]]:
    """Return the form of lists of integers: `[0, 1]`, or an attribute."""
    return Form(lambda parser: parser.dimensions() if parser.peek() == "[" else _decode(parser, codec), listed)


def _enum_form(codec: EnumCodec) -> Form[Enum]:
    def parse(parser: AsmParser) -> Enum:
        word = parser.peek()
        if word in codec.enum.__members__:
            parser.advance()
            return codec.enum[word]
        if word[:1] == "#":
            return _decode(parser, codec)
        raise parser.expected(codec.name)

    return Form(parse, lambda value: value.name)


def _real_form(codec: RealCodec) -> Form[float]:
    """Return the form of real members: a number without its type."""
    return Form(lambda parser: parser.real(codec.type), lambda value: text.float_text(value, codec.type))


@cache
def form_of(codec: AttributeCodec[Any]) -> Form[Any]:
    """Return the pretty form of members with this codec."""
    if isinstance(codec, EnumCodec):
        return _enum_form(codec)
    if isinstance(codec, RealCodec):
        return _real_form(codec)
    if isinstance(codec, SpelledCodec):
        return Form(codec.parse, codec.text)
    if isinstance(codec, IntegerCodec):
        return Form(lambda parser: codec.wrapped(parser.integer()), str)
    if isinstance(codec, DimsCodec):
        return _dims_form(codec)
    return _FORMS.get(codec) or _attribute_form(codec)


_FORMS: dict[AttributeCodec[Any], Form[Any]] = {
    codec_of(Flag): Form(_parse_flag, text.attribute_text),
    codec_of(String): Form(lambda parser: parser.string(), text.quoted),
    codec_of(Symbol): Form(lambda parser: parser.symbol_name(), text.symbol),
}


class Attribute(Directive):
    """`$member` of an attribute."""

    def __init__(self, member: Attr) -> None:
        self.member = member
        self.members = (member.name,)
        self.form = form_of(member.codec)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.members[self.member.name] = value = self.form.parse(parser)
        if self.member.value_type is Dense and not draft.result_types and REGISTRY[draft.name].results:
            draft.result_types = (value.type,)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        printer.value(self.form.text(member_value(op, self.member.name)))

    def present(self, op: Operation) -> bool:
        return self.member.name in op.properties


class SymbolName(Directive):
    """`symbol($member)`."""

    def __init__(self, member: str) -> None:
        self.members = (member,)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.members[self.members[0]] = parser.symbol_name()

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        printer.value(printer.symbol(member_value(op, self.members[0])))


class AttributeDictionary(Directive):
    """`attr-dict`: all attributes that no other part contains."""

    elsewhere: tuple[str, ...] = ()

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        attribute_dictionary(parser, draft)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        printer.dictionary(op, self.elsewhere)


class Regions(Directive):
    """`$member` of a region, or of several regions."""

    def __init__(self, several: bool) -> None:
        self.several = several

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.regions.append(parser.region())
        while self.several and parser.accept(","):
            draft.regions.append(parser.region())

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        for index, region in enumerate(op.regions):
            if index:
                printer.literal(",")
            printer.value("")
            printer.region(region)

    def present(self, op: Operation) -> bool:
        return bool(op.regions)


def _split(item: str) -> list[str]:
    """Return the tokens of an item that is printed without blanks, such as `word=`."""
    is_one = len(item) == 1 or item[-1] not in "=("
    return [item] if is_one else [item[:-1], item[-1]]
