"""The pretty form of an attribute whose member is known: `[0, 1]`, `5`, `true`, `"..."`, `@f`, `LT`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any, Generic, TypeVar

from stablehlo_ref.define.attribute_codecs import (
    AttributeCodec,
    DimsCodec,
    EnumCodec,
    Flag,
    IntegerCodec,
    RealCodec,
    String,
    Symbol,
    codec_of,
)
from stablehlo_ref.syntax import attribute_text as text
from stablehlo_ref.syntax.protocols import AsmParser

T = TypeVar("T")


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
    return Form(
        lambda parser: parser.dimensions() if parser.peek() == "[" else _decode(parser, codec), text.dimensions_text
    )


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
    if isinstance(codec, IntegerCodec):
        return Form(lambda parser: parser.integer(), str)
    if isinstance(codec, DimsCodec):
        return _dims_form(codec)
    return _FORMS.get(codec) or _attribute_form(codec)


_FORMS: dict[AttributeCodec[Any], Form[Any]] = {
    codec_of(Flag): Form(_parse_flag, text.attribute_text),
    codec_of(String): Form(lambda parser: parser.string(), text.quoted),
    codec_of(Symbol): Form(lambda parser: parser.symbol_name(), text.symbol),
}
