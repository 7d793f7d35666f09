"""Attributes and types as MLIR encodes them, each by its dialect; as text where the dialect has no encoding."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from stablehlo_ref.bytecode.encodings import builtin, quant, sdy, stablehlo
from stablehlo_ref.bytecode.encodings.tables import Table
from stablehlo_ref.bytecode.pool import EntryWriter
from stablehlo_ref.ir.attributes import EnumAttribute, OpaqueAttribute, StructAttribute
from stablehlo_ref.ir.types import FutureType, MeshTensorType, OpaqueType, QuantizedType, TokenType, Type
from stablehlo_ref.syntax.attribute_text import attribute_text

_match_dialect = re.compile(r"[#!]([A-Za-z_][\w$]*)").match


ATTRIBUTES: Mapping[str, Table] = {
    table.dialect: table
    for table in (builtin.ATTRIBUTES, stablehlo.ATTRIBUTES, stablehlo.CHLO_ATTRIBUTES, sdy.ATTRIBUTES)
}
TYPES: Mapping[str, Table] = {table.dialect: table for table in (builtin.TYPES, stablehlo.TYPES, quant.TYPES)}


def write_attribute(writer: EntryWriter, attribute: Any) -> None:
    """Write an attribute or a location."""
    writer.dialect = dialect_of_attribute(attribute)
    if writer.dialect not in ATTRIBUTES or not ATTRIBUTES[writer.dialect].write(writer, attribute):
        writer.text(attribute_text(attribute))


def write_type(writer: EntryWriter, type: Type) -> None:
    """Write a type."""
    writer.dialect = dialect_of_type(type)
    if writer.dialect not in TYPES or not TYPES[writer.dialect].write(writer, type):
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
        case MeshTensorType():
            return "mpmd"
        case OpaqueType(text):
            return _dialect_in(text)
    return "builtin"


def _dialect_in(text: str) -> str:
    """Return the dialect of `#dialect.name<...>`, `builtin` for a text that starts otherwise."""
    match = _match_dialect(text)
    return match[1] if match else "builtin"
