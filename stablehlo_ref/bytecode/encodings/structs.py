"""Attributes with fields, described by their fields: one table per dialect serves reading and writing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stablehlo_ref.bytecode.encodings import numbers
from stablehlo_ref.bytecode.entries import EntryReader
from stablehlo_ref.bytecode.pool import EntryWriter
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.attributes import (
    DenseArray,
    EnumAttribute,
    FloatAttribute,
    IntegerAttribute,
    StructAttribute,
    TypeAttribute,
)
from stablehlo_ref.ir.types import FLOATS

F64 = FLOATS["f64"]


@dataclass(frozen=True)
class FieldCodec:
    """How a field is read and written."""

    read: Callable[[EntryReader], Any]
    write: Callable[[EntryWriter, Any], None]


def integer_value(value: Any) -> int:
    """Return the integer of a field, which may be an attribute."""
    return int(value.value) if isinstance(value, IntegerAttribute) else int(value)


def integer_values(value: Any) -> Sequence[int]:
    """Return the integers of a field that is a list."""
    return value.values if isinstance(value, DenseArray) else [integer_value(item) for item in value]


def _read_integers(reader: EntryReader) -> tuple[IntegerAttribute, ...]:
    return tuple(map(IntegerAttribute, reader.signed_varints()))


def _read_bounds(reader: EntryReader) -> tuple[int | None, ...]:
    return tuple(None if bound < 0 else bound for bound in reader.signed_varints())


def _write_bounds(writer: EntryWriter, value: Any) -> None:
    writer.signed_varints([numbers.DYNAMIC if bound is None else bound for bound in value])


def _read_double(reader: EntryReader) -> FloatAttribute:
    number = numbers.float_attribute(numbers.read_bits(reader, 64), F64)
    return FloatAttribute(number.value, None, number.text)


def _write_double(writer: EntryWriter, value: Any) -> None:
    writer.bits(numbers.float_bits(value, F64), 64)


def _write_counted(writer: EntryWriter, value: Any) -> None:
    writer.attributes(value)


def _read_optional(reader: EntryReader) -> Any:
    return reader.attribute() if reader.byte() else None


def _write_optional(writer: EntryWriter, value: object) -> None:
    writer.byte(value is not None)
    if value is not None:
        writer.attribute(value)


INTEGER = FieldCodec(
    lambda reader: IntegerAttribute(reader.signed_varint()),
    lambda writer, value: writer.signed_varint(integer_value(value)),
)
INTEGERS = FieldCodec(_read_integers, lambda writer, value: writer.signed_varints(integer_values(value)))
BOUNDS = FieldCodec(_read_bounds, _write_bounds)
BOOLEAN = FieldCodec(lambda reader: reader.byte() != 0, lambda writer, value: writer.byte(integer_value(value) & 1))
DOUBLE = FieldCodec(_read_double, _write_double)
TYPE = FieldCodec(lambda reader: TypeAttribute(reader.type()), lambda writer, value: writer.type(value.type))
STRING = FieldCodec(EntryReader.string, EntryWriter.string)
ATTRIBUTE = FieldCodec(EntryReader.attribute, EntryWriter.attribute)
ATTRIBUTES = FieldCodec(EntryReader.attributes, _write_counted)
OPTIONAL = FieldCodec(_read_optional, _write_optional)  # an attribute after a byte that says whether there is one


@dataclass(frozen=True)
class Struct:
    """A struct attribute: its code, its fields in order, and what fields are where they are left out."""

    code: int
    fields: Mapping[str, FieldCodec]
    defaults: Mapping[str, Any]

    def read(self, name: str, reader: EntryReader) -> StructAttribute:
        values = {field: codec.read(reader) for field, codec in self.fields.items()}
        return StructAttribute(name, {field: value for field, value in values.items() if value is not None})

    def write(self, attribute: StructAttribute, writer: EntryWriter) -> None:
        writer.varint(self.code)
        for field, codec in self.fields.items():
            try:
                codec.write(writer, attribute.fields.get(field, self.defaults.get(field)))
            except (AttributeError, TypeError, ValueError) as error:  # what stands in a text may be of any kind
                raise UnsupportedError(f"field '{field}' of '#{attribute.name}' cannot be encoded") from error


@dataclass(frozen=True)
class Enumeration:
    """An enumeration: its code, and the names of its values in order from `first`."""

    code: int
    values: Sequence[str]
    first: int = 0

    def read(self, dialect: str, kind: str, reader: EntryReader) -> EnumAttribute:
        offset, value = reader.offset, reader.varint() - self.first
        if not 0 <= value < len(self.values):
            raise reader.error(f"unknown value {value + self.first} of {kind} of dialect '{dialect}'", offset)
        return EnumAttribute(dialect, kind, self.values[value])

    def write(self, attribute: EnumAttribute, writer: EntryWriter) -> None:
        writer.varint(self.code)
        writer.varint(self.values.index(attribute.value) + self.first)
