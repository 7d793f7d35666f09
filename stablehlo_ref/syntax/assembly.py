"""The pretty forms of ops: the `syntax` of a class, compiled once into directives that parse and print.

It is a line, or a tuple of lines and irregular directives.

================================  ====================================================================================
in the line                       in the text
================================  ====================================================================================
``,`` ``=`` ``:`` ``[`` words     the same token
``operands``                      all operands, separated by commas
``$member``                       an attribute in its pretty form: `[0, 1]`, `5`, `true`, `"..."`, `@f`, `LT`, a tensor
                                  constant with its type, nothing for a flag that is set; or an operand or operands; or
                                  a region, or regions separated by commas
``symbol($member)``               a string attribute as the name of a symbol
``word=$member``                  the same as `word = $member`, printed without blanks
``attr-dict``                     the remaining attributes `{...}`; nothing if there are none
``attr-dict-apart``               the same, where MLIR refuses what other parts contain
``( ... )?``                      the parts inside, if the first attribute, region or operand list among them is there
                                  and no default but a number or boolean; starts with a token, `operands` or a word
``type(operands)``                the types, separated by commas; also ``type(results)``
``functional_type``               `(operand types) -> result types`
``same_type``                     the one type of all operands and results, or a functional type
================================  ====================================================================================

An attribute that a form contains may be in the dictionary too, and then that value counts (`let_dictionary_win`).

A form may omit operand types, which are those of the values, and the result type of a constant, which is that of its
attribute.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any, Generic, TypeVar

from stablehlo_ref.define.assembly import (
    AsmParser,
    AsmPrinter,
    Deduced,
    Directive,
    Draft,
    Irregular,
    SpelledCodec,
    attribute_dictionary,
    listed,
    member_value,
)
from stablehlo_ref.define.attribute_codecs import (
    VISIBILITIES,
    AttributeCodec,
    BooleanCodec,
    Dense,
    DimsCodec,
    EnumCodec,
    Flag,
    IntegerCodec,
    Presence,
    RealCodec,
    String,
    Symbol,
    TypeValue,
    Visibility,
    codec_of,
)
from stablehlo_ref.define.definition import REGISTRY, OpDefinition, group_by_member
from stablehlo_ref.define.op import Attr, Bodies, Body, In, Ins
from stablehlo_ref.ir.core import Operation, Region, Value
from stablehlo_ref.ir.lexer import quoted, symbol
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
    """`operands`, or `$member` of an operand or a list of operands, where there are others as well."""

    def __init__(self, member: In | Ins | None = None) -> None:
        self.member = member

    def is_next(self, parser: AsmParser) -> bool:
        return parser.peek()[:1] == "%"

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.operands += [parser.operand()] if isinstance(self.member, In) else parser.operand_list()

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if values := self._values(op):
            printer.value(printer.operands(values))

    def present(self, op: Operation) -> bool:
        return bool(self._values(op))

    def _values(self, op: Operation) -> Sequence[Value]:
        if self.member is None:
            return op.operands
        found = group_by_member(REGISTRY[op.name].operands, op.operands)[self.member.name]
        return found if isinstance(found, tuple) else () if found is None else (found,)


class OptionalGroup(Directive):
    """`( ... )?`: parts that are present together or not at all."""

    def __init__(self, parts: Sequence[Directive]) -> None:
        self.parts = parts
        self.members = tuple(member for part in parts for member in part.members)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        if self.parts[0].is_next(parser):
            for part in self.parts:
                part.parse(parser, draft)
        else:
            draft.regions += [Region([]) for part in self.parts if isinstance(part, Regions) and not part.several]

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


class TypesOf(Directive):
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


def same_type(count: int = 1) -> Deduced:
    """Return the form of the one type of all operands and `count` results."""
    return Deduced(
        lambda operands, results: [*operands, *results][:1], lambda t, n: ([t] * n, [t] * count), is_short=True
    )


# --- attributes and regions -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Form(Generic[T]):
    """How values of an attribute member are parsed and printed in a pretty form, and which tokens they start with."""

    parse: Callable[[AsmParser], T]
    text: Callable[[T], str]
    starts_with: Callable[[str], bool] = lambda token: False


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
        return Form(codec.parse, codec.text, codec.starts_with)
    if isinstance(codec, IntegerCodec):
        return Form(lambda parser: codec.wrapped(parser.integer()), str)
    if isinstance(codec, DimsCodec):
        return _dims_form(codec)
    return _FORMS.get(codec) or _attribute_form(codec)


_FORMS: dict[AttributeCodec[Any], Form[Any]] = {
    codec_of(Flag): Form(_parse_flag, text.attribute_text),
    codec_of(String): Form(lambda parser: parser.string(), quoted, lambda token: token.startswith('"')),
    codec_of(Symbol): Form(lambda parser: parser.symbol_name(), symbol),
    codec_of(Presence): Form(lambda parser: True, lambda value: ""),
    codec_of(Visibility): Form(lambda parser: parser.advance(), str, VISIBILITIES.__contains__),
    codec_of(TypeValue): Form(lambda parser: parser.type(), str),
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

    def is_next(self, parser: AsmParser) -> bool:
        return self.form.starts_with(parser.peek())

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if written := self.form.text(member_value(op, self.member.name)):
            printer.value(written)

    def present(self, op: Operation) -> bool:
        value = op.properties.get(self.member.name)
        keeps_default = isinstance(self.member.codec, BooleanCodec | IntegerCodec | RealCodec)  # as in MLIR
        return value is not None and (keeps_default or value != self.member.default)


class SymbolName(Directive):
    """`symbol($member)`."""

    def __init__(self, member: str) -> None:
        self.members = (member,)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.members[self.members[0]] = parser.symbol_name()

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        printer.value(printer.symbol(member_value(op, self.members[0])))


class AttributeDictionary(Directive):
    """`attr-dict`: all attributes that no other part contains; `attr-dict-apart` if those are refused here."""

    elsewhere: tuple[str, ...] = ()

    def __init__(self, is_apart: bool) -> None:
        self.is_apart = is_apart

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        attribute_dictionary(parser, draft)
        if self.is_apart:
            draft.exclusive = tuple(REGISTRY[draft.name].attributes[member].spelling for member in draft.members)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        printer.dictionary(op, self.elsewhere)


class Regions(Directive):
    """`$member` of a region, or of several regions."""

    def __init__(self, member: Body | Bodies) -> None:
        self.member = member
        self.several = isinstance(member, Bodies)
        self.implied = member.implied if isinstance(member, Body) else ""

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.regions.append(parser.region(implied=self.implied))
        while self.several and parser.accept(","):
            draft.regions.append(parser.region())

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        for index, region in enumerate(self._regions(op)):
            if self.implied and (len(region.blocks) != 1 or region.block.arguments):
                raise Irregular
            if index:
                printer.literal(",")
            printer.value("")
            printer.region(region, implied=self.implied)

    def present(self, op: Operation) -> bool:
        regions = self._regions(op)
        return bool(regions if self.several else regions[0].blocks)

    def _regions(self, op: Operation) -> Sequence[Region]:
        found = group_by_member(REGISTRY[op.name].regions, op.regions)[self.member.name]
        return found if isinstance(found, tuple) else (found or Region([]),)


def _split(item: str) -> list[str]:
    """Return the tokens of an item that is printed without blanks, such as `word=`."""
    is_one = len(item) == 1 or item[-1] not in "=("
    return [item] if is_one else [item[:-1], item[-1]]


_find_items = re.compile(
    r"\$\w+|type\(\w+\)|symbol\(\$\w+\)|attr-dict(?:-apart)?|->|\)\?|>\(|[A-Za-z_]\w*=(?=\$)|[A-Za-z_]\w*|\S"
).findall
_WORDS: Mapping[str, Directive] = {
    "operands": Operands(),
    "functional_type": FunctionalType(),
}


class Assembly:
    """The pretty form of an op class."""

    def __init__(self, definition: OpDefinition) -> None:
        self.definition = definition
        syntax = (definition.syntax,) if isinstance(definition.syntax, str) else definition.syntax
        self.parts = _compile(definition, [x for s in syntax for x in (_find_items(s) if isinstance(s, str) else [s])])
        elsewhere = tuple(member for part in self.parts for member in part.members)
        for part in self.parts:
            if isinstance(part, AttributeDictionary):
                part.elsewhere = elsewhere

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        """Parse what follows the name of an op."""
        for part in self.parts:
            part.parse(parser, draft)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        """Print what follows the name of an op; Irregular if the pretty form cannot express it."""
        for part in self.parts:
            part.print(printer, op)


@cache
def assembly_of(definition: OpDefinition) -> Assembly:
    """Return the compiled `syntax` of a class, memoized; TypeError if it names something that does not exist."""
    return Assembly(definition)


def _compile(definition: OpDefinition, items: Sequence[str | Directive]) -> list[Directive]:
    parts: list[Directive] = []
    position = 0
    while position < len(items):
        item = items[position]
        end = _end_of_group(items, position)
        if end:
            parts.append(OptionalGroup(_compile(definition, items[position + 1 : end])))
            position = end
        elif not isinstance(item, str):
            parts.append(item)
        elif (part := _directive(definition, item)) is not None:
            parts.append(part)
        elif parts and isinstance(parts[-1], Literal):
            parts[-1] = Literal([*parts[-1].printed, item])
        else:
            parts.append(Literal([item]))
        position += 1
    return parts


def _end_of_group(items: Sequence[str | Directive], start: int) -> int | None:
    """Return the position of the `)?` if `items[start]` opens an optional group; None otherwise."""
    depth = 0
    for position in range(start, len(items)):
        depth += (items[position] == "(") - (items[position] in (")", ")?"))
        if depth <= 0:
            return position if items[position] == ")?" else None
    return None


def _directive(definition: OpDefinition, item: str) -> Directive | None:
    """Return the directive of an item of a syntax line; None for a token of the text."""
    if item.startswith("attr-dict"):
        return AttributeDictionary(item.endswith("apart"))
    if item.startswith("type("):
        return TypesOf(item[5:-1])
    if item.startswith("symbol("):
        return SymbolName(item[8:-1])
    if item.startswith("$"):
        member = definition.members.get(item[1:])
        if isinstance(member, Attr):
            return Attribute(member)
        if isinstance(member, In | Ins):
            return Operands(member)
        if isinstance(member, Body | Bodies):
            return Regions(member)
        raise TypeError(f"{definition.name}.syntax: '{item}' is no attribute, operand or region")
    return same_type(len(definition.results)) if item == "same_type" else _WORDS.get(item)
