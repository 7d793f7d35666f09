"""Attributes and types as MLIR encodes them, each by its dialect; as text where the dialect has no encoding."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from stablehlo_ref.bytecode.encodings import builtin, chlo, quant, stablehlo
from stablehlo_ref.bytecode.pool import EntryWriter
from stablehlo_ref.ir.attributes import EnumAttribute, OpaqueAttribute, StructAttribute
from stablehlo_ref.ir.types import FutureType, OpaqueType, QuantizedType, TokenType, Type
from stablehlo_ref.syntax.attribute_text import attribute_text

_match_dialect = re.compile(r"[#!]([A-Za-z_][\w$]*)").match


def _no_encoding(writer: EntryWriter, value: object) -> None:
    raise NotImplementedError


ATTRIBUTES: Mapping[str, Callable[[EntryWriter, Any], None]] = {
    "builtin": builtin.write_attribute,
    "stablehlo": stablehlo.write_attribute,
    "chlo": chlo.write_attribute,
}
TYPES: Mapping[str, Callable[[EntryWriter, Type], None]] = {
    "builtin": builtin.write_type,
    "stablehlo": stablehlo.write_type,
    "quant": quant.write_type,
}


def write_attribute(writer: EntryWriter, attribute: Any) -> None:
    """Write an attribute or a location."""
    writer.dialect = dialect_of_attribute(attribute)
    write = ATTRIBUTES.get(writer.dialect, _no_encoding)
    try:
        write(writer, attribute)
    except NotImplementedError:
        writer.text(attribute_text(attribute))


def write_type(writer: EntryWriter, type: Type) -> None:
    """Write a type."""
    writer.dialect = dialect_of_type(type)
    write: Callable[[EntryWriter, Type], None] = TYPES.get(writer.dialect, _no_encoding)
    try:
        write(writer, type)
    except NotImplementedError:
        writer.text(str(type))


def dialect_of_attribute(attribute: object) -> str:
    """Return the dialect that an attribute belongs to."""
    match attribute:
        case EnumAttribute(dialect=dialect):
            return dialect
        case StructAttribute(name=name):
            return name.partition(".")[0]
        case OpaqueAttribute(text):
            return _dialect_in(text)
    return "builtin"


def dialect_of_type(type: Type) -> str:
    """Return the dialect that a type belongs to."""
    match type:
        case TokenType() | FutureType():
            return "stablehlo"
        case QuantizedType():
            return "quant"
        case OpaqueType(text):
            return _dialect_in(text)
    return "builtin"


def _dialect_in(text: str) -> str:
    """Return the dialect of `#dialect.name<...>`, `builtin` for a text that starts otherwise."""
    match = _match_dialect(text)
    return match[1] if match else "builtin"
