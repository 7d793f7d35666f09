"""Attributes of the CHLO dialect: two enumerations; others are text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from stablehlo_ref.bytecode.encodings import stablehlo
from stablehlo_ref.bytecode.entries import EntryReader
from stablehlo_ref.bytecode.pool import EntryWriter
from stablehlo_ref.ir.attributes import EnumAttribute

ENUMERATIONS = {
    "comparison_direction": replace(stablehlo.ENUMERATIONS["comparison_direction"], code=0),
    "comparison_type": replace(stablehlo.ENUMERATIONS["comparison_type"], code=1),
}
_BY_CODE = {enumeration.code: (kind, enumeration) for kind, enumeration in ENUMERATIONS.items()}


def read_attribute(reader: EntryReader) -> Any:
    offset, code = reader.offset, reader.varint()
    if code not in _BY_CODE:
        raise reader.unsupported(f"unknown attribute {code} of dialect 'chlo'", offset)
    kind, enumeration = _BY_CODE[code]
    return enumeration.read("chlo", kind, reader)


def write_attribute(writer: EntryWriter, attribute: object) -> None:
    """Write an attribute. NotImplementedError for what has no encoding and is written as text."""
    if not isinstance(attribute, EnumAttribute) or attribute.kind not in ENUMERATIONS:
        raise NotImplementedError
    ENUMERATIONS[attribute.kind].write(attribute, writer)
