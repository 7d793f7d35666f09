"""Attributes and types as MLIR encodes them, each by its dialect; as text where the dialect has no encoding."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from stablehlo_ref.bytecode.encodings import builtin, quant, stablehlo
from stablehlo_ref.bytecode.encodings.tables import Encoding, Table
from stablehlo_ref.bytecode.entries import EntryReader, EntryWriter
from stablehlo_ref.distribution import sdy_attributes as sdy
from stablehlo_ref.distribution.sdy_forms import FLAG, NAME, Form, SdyAttribute
from stablehlo_ref.ir.attributes import EnumAttribute, OpaqueAttribute, StructAttribute, SymbolReference
from stablehlo_ref.ir.types import FutureType, MeshTensorType, OpaqueType, QuantizedType, TokenType, Type
from stablehlo_ref.syntax.attribute_text import attribute_text

_match_dialect = re.compile(r"[#!]([A-Za-z_][\w$]*)").match


# --- attributes of the Shardy dialect, which programs here keep as MLIR's text; they are also written as text ---------

# By code: a class, and how many of its fields a version has; or the form of a list.
_SDY: Sequence[tuple[type[SdyAttribute] | Form[Any], int | None]] = (
    (sdy.ManualAxes, None),
    (sdy.MESH_AXIS, None),
    (sdy.Mesh, None),
    (sdy.SubAxis, None),
    (sdy.AxisRef, None),
    (sdy.DimensionSharding, None),
    (sdy.Sharding, 3),
    (sdy.Shardings, None),
    (sdy.DIM_MAPPING, None),
    (sdy.TENSOR_MAPPING, None),
    (sdy.ShardingRule, None),
    (sdy.AxisList, None),
    (sdy.AxisLists, None),
    (sdy.Exchange, None),
    (sdy.Exchanges, None),
    (sdy.Sharding, 4),
    (sdy.Shardings, None),
    (sdy.Sharding, None),
)


def _sdy_attribute(kind: type[SdyAttribute] | Form[Any], count: int | None, reader: EntryReader) -> OpaqueAttribute:
    value: object
    if isinstance(kind, Form):
        value = _items(reader, kind.item) if kind.item else (reader.string(), reader.signed_varint())
    else:
        value = kind(*[_value(reader, form) for form in list(kind.fields().values())[:count]])
    return OpaqueAttribute(sdy.text_of(kind.mnemonic, value))


SDY_ATTRIBUTES = Table(
    "sdy", "attribute", [Encoding(code, partial(_sdy_attribute, *row)) for code, row in enumerate(_SDY)]
)


def _items(reader: EntryReader, item: Form[Any]) -> tuple[Any, ...]:
    count = range(reader.count("attributes" if item.mnemonic or item is NAME else "integers"))
    return tuple([reader.a(str, "a string") if item is NAME else _value(reader, item) for _ in count])


def _value(reader: EntryReader, form: Form[Any]) -> Any:
    """Read a field or an item of a list."""
    if form.mnemonic or form is sdy.MESH:
        return _referenced(reader, form)
    if form.item is not None:
        return _items(reader, form.item)
    if form.optional:
        value, is_present = reader.flagged_varint()
        return value if is_present else None
    if form is NAME:
        return reader.string()
    offset, value = reader.offset, reader.byte() if form is FLAG else reader.signed_varint()
    if form is sdy.FACTOR and value < 0:
        raise reader.error(f"negative factor {value}", offset)
    if form is sdy.REDUCTION:
        if not 0 <= value < len(sdy.REDUCTIONS):
            raise reader.error(f"unknown reduction {value}", offset)
        return sdy.REDUCTIONS[value]
    return value


def _referenced(reader: EntryReader, form: Form[Any]) -> Any:
    """Read the value of an attribute that another one refers to: for `sdy.MESH`, a mesh or the name of one."""
    offset, found = reader.offset, reader.optional_attribute() if form.optional else reader.attribute()
    if form is sdy.MESH and isinstance(found, SymbolReference):
        return found.path[-1]
    if found is None:
        return None
    mnemonic = form.mnemonic or sdy.Mesh.mnemonic
    text = found.text if isinstance(found, OpaqueAttribute) else ""
    if not re.match(rf"#sdy[.<]{mnemonic}(?![a-z_])", text):
        reader.expected(f"a {mnemonic} of dialect 'sdy'", found, offset)
    try:
        return sdy.read_attribute(text)
    except sdy.SdySyntaxError as error:
        raise reader.error(f"malformed {mnemonic} of dialect 'sdy': {error}", offset) from None


# --- all dialects -----------------------------------------------------------------------------------------------------

ATTRIBUTES: Mapping[str, Table] = {
    table.dialect: table
    for table in (builtin.ATTRIBUTES, stablehlo.ATTRIBUTES, stablehlo.CHLO_ATTRIBUTES, SDY_ATTRIBUTES)
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
