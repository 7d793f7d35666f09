"""The pretty form of an attribute whose kind is known: `[0, 1]`, `5`, `true`, `"..."`, `@f`, `LT`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from stablehlo_ref import kinds
from stablehlo_ref.ir.attributes import FloatAttribute
from stablehlo_ref.kinds import AttributeKind, OneOf
from stablehlo_ref.syntax import attribute_text as text


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


def _attribute_form(kind: AttributeKind) -> Form:
    return Form(lambda parser: _decode(parser, kind), lambda value: text.attribute_text(kind.encode(value)))


def _decode(parser: Any, kind: AttributeKind) -> Any:
    offset = parser.start
    try:
        return kind.decode(parser.attribute())
    except ValueError as error:
        raise parser.error(str(error), offset) from error


def _parse_dimensions(parser: Any) -> tuple[int, ...]:
    if parser.peek() == "[":
        return parser.dimensions()  # type: ignore[no-any-return]
    return _decode(parser, kinds.Dims)  # type: ignore[no-any-return]


def _enum_form(kind: OneOf) -> Form:
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
def form_of(kind: AttributeKind) -> Form:
    """The pretty form of a kind of attribute."""
    if isinstance(kind, OneOf):
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
