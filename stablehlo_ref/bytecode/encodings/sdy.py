"""Attributes of the Shardy dialect, which programs here keep as MLIR's text; they are also written as text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Any

from stablehlo_ref.bytecode.encodings.tables import Encoding, Table
from stablehlo_ref.bytecode.entries import EntryReader
from stablehlo_ref.distribution import sdy_attributes as sdy
from stablehlo_ref.distribution.sdy_forms import FLAG, NAME, Form, SdyAttribute
from stablehlo_ref.ir.attributes import OpaqueAttribute, SymbolReference

# By code: a class, and how many of its fields a version has; or the form of a list.
_ATTRIBUTES: Sequence[tuple[type[SdyAttribute] | Form[Any], int | None]] = (
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


def _attribute(kind: type[SdyAttribute] | Form[Any], count: int | None, reader: EntryReader) -> OpaqueAttribute:
    value: object
    if isinstance(kind, Form):
        value = _items(reader, kind.item) if kind.item else (reader.string(), reader.signed_varint())
    else:
        value = kind(*[_value(reader, form) for form in list(kind.fields().values())[:count]])
    return OpaqueAttribute(sdy.text_of(kind.mnemonic, value))


ATTRIBUTES = Table(
    "sdy", "attribute", [Encoding(code, partial(_attribute, *row)) for code, row in enumerate(_ATTRIBUTES)]
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
