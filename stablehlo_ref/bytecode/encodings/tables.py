"""Tables of the attributes of a dialect, or of its types, by their codes: each says how values are read and written."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stablehlo_ref.bytecode.encodings import numbers
from stablehlo_ref.bytecode.entries import EntryReader, EntryWriter
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.attributes import (
    DenseArray,
    EnumAttribute,
    FloatAttribute,
    IntegerAttribute,
    StructAttribute,
    TypeAttribute,
)
from stablehlo_ref.ir.types import FLOATS, Type

F64 = FLOATS["f64"]

Read = Callable[[EntryReader], Any]
Write = Callable[[EntryWriter, Any], None]


@dataclass(frozen=True)
class Encoding:
    """How the values of a code are read and written after it; without `write` they are only read.

    A value is written so if `holds`, and if it is an instance of one of the classes in `keys`, or the key itself, or
    the struct or enumeration of that name.
    """

    code: int
    read: Read
    write: Write | None = None
    keys: tuple[Hashable, ...] = ()
    holds: Callable[[Any], bool] = lambda value: True


class Table:
    """The encodings of the attributes (or types) of a dialect."""

    def __init__(self, dialect: str, what: str, encodings: Iterable[Encoding]) -> None:
        self.dialect = dialect
        self.what = what
        self._by_code: dict[int, Encoding] = {}
        self._by_key: dict[Hashable, list[Encoding]] = {}
        for encoding in encodings:
            self._by_code.setdefault(encoding.code, encoding)
            for key in encoding.keys:
                self._by_key.setdefault(key, []).append(encoding)

    def read(self, reader: EntryReader) -> Any:
        """Read a value; UnsupportedError for an unknown code."""
        offset, code = reader.offset, reader.varint()
        encoding = self._by_code.get(code)
        if encoding is None:
            raise reader.unsupported(f"unknown {self.what} {code} of dialect '{self.dialect}'", offset)
        return encoding.read(reader)

    def write(self, writer: EntryWriter, value: object) -> bool:
        """Write a value, if it has an encoding; return whether it has."""
        for encoding in (encoding for key in _keys(value) for encoding in self._by_key.get(key, ())):
            if encoding.write is not None and encoding.holds(value):
                writer.varint(encoding.code)
                encoding.write(writer, value)
                return True
        return False


def _keys(value: object) -> tuple[Hashable, ...]:
    match value:
        case EnumAttribute(kind=kind):
            return (kind,)
        case StructAttribute(name=name):
            return (name.removeprefix("stablehlo."),)
        case Type():
            return value, *type(value).__mro__[:1]
    return type(value).__mro__


def constant(code: int, value: Type) -> Encoding:
    """Return the encoding of one value."""
    return Encoding(code, lambda reader: value, lambda writer, value: None, (value,))


# --- fields ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FieldCodec:
    """How a field is read and written."""

    read: Read
    write: Write


def fielded(
    code: int,
    kind: type,
    make: Callable[..., Any] | None = None,
    holds: Callable[[Any], bool] = lambda value: True,
    **fields: FieldCodec,
) -> Encoding:
    """Return the encoding of instances of a class by some of their fields, from which `make` makes one."""
    codecs, made = list(fields.values()), make or kind

    def write(writer: EntryWriter, value: object) -> None:
        for name, codec in fields.items():
            codec.write(writer, getattr(value, name))

    return Encoding(code, lambda reader: made(*[codec.read(reader) for codec in codecs]), write, (kind,), holds)


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


def _read_shape(reader: EntryReader) -> tuple[int | None, ...]:
    offset, sizes = reader.offset, reader.signed_varints()
    if any(size < 0 and size != numbers.DYNAMIC for size in sizes):
        raise reader.error(f"negative dimension size in {sizes}", offset)
    return tuple([None if size < 0 else size for size in sizes])


def _write_sizes(writer: EntryWriter, sizes: Sequence[int | None]) -> None:
    """Write sizes; an unknown one is the least integer of 64 bits."""
    writer.signed_varints([numbers.DYNAMIC if size is None else size for size in sizes])


def _read_double(reader: EntryReader) -> FloatAttribute:
    number = numbers.float_attribute(numbers.read_bits(reader, 64), F64)
    return FloatAttribute(number.value, None, number.text)


def optional(flag: FieldCodec) -> FieldCodec:
    """Return how an attribute is read and written after a number that says whether there is one."""

    def write(writer: EntryWriter, value: object) -> None:
        flag.write(writer, value is not None)
        if value is not None:
            writer.attribute(value)

    return FieldCodec(lambda reader: reader.attribute() if flag.read(reader) else None, write)


def list_of(codec: FieldCodec, what: str) -> FieldCodec:
    """Return how a list is read and written, after its length."""

    def write(writer: EntryWriter, items: Sequence[Any]) -> None:
        writer.varint(len(items))
        for item in items:
            codec.write(writer, item)

    return FieldCodec(lambda reader: tuple([codec.read(reader) for _ in range(reader.count(what))]), write)


def only(codec: FieldCodec) -> FieldCodec:
    """Return how a sequence of one item is read and written, without its length."""
    return FieldCodec(lambda reader: (codec.read(reader),), lambda writer, items: codec.write(writer, items[0]))


VARINT = FieldCodec(EntryReader.varint, EntryWriter.varint)
SHAPE = FieldCodec(_read_shape, _write_sizes)
TYPE = FieldCodec(EntryReader.type, EntryWriter.type)
TYPES = list_of(TYPE, "types")
STRING = FieldCodec(EntryReader.string, EntryWriter.string)
NAME = FieldCodec(lambda reader: reader.a(str, "a string"), EntryWriter.attribute)  # a string that is an attribute
ATTRIBUTE = FieldCodec(EntryReader.attribute, EntryWriter.attribute)
ATTRIBUTES = list_of(ATTRIBUTE, "attributes")
# Fields of structs, which are attributes.
INTEGER = FieldCodec(
    lambda reader: IntegerAttribute(reader.signed_varint()),
    lambda writer, value: writer.signed_varint(integer_value(value)),
)
INTEGERS = FieldCodec(_read_integers, lambda writer, value: writer.signed_varints(integer_values(value)))
BOUNDS = FieldCodec(_read_bounds, _write_sizes)
BOOLEAN = FieldCodec(lambda reader: reader.byte() != 0, lambda writer, value: writer.byte(integer_value(value) & 1))
DOUBLE = FieldCodec(_read_double, lambda writer, value: writer.bits(numbers.float_bits(value, F64), 64))
TYPE_ATTRIBUTE = FieldCodec(lambda reader: TypeAttribute(reader.type()), lambda writer, value: writer.type(value.type))
OPTIONAL = optional(FieldCodec(EntryReader.byte, EntryWriter.byte))


# --- structs and enumerations ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Struct:
    """A struct attribute: its code, its fields in order, and what fields are where they are left out.

    Those in `omitted` are left out when they are read, if that says the same.
    """

    code: int
    fields: Mapping[str, FieldCodec]
    defaults: Mapping[str, Any]
    omitted: tuple[str, ...] = ()

    def encoding(self, name: str) -> Encoding:
        """Return the encoding of the struct of that name."""

        def read(reader: EntryReader) -> StructAttribute:
            values = {field: codec.read(reader) for field, codec in self.fields.items()}
            kept = {field: value for field, value in values.items() if not self._is_omitted(field, value)}
            return StructAttribute(f"stablehlo.{name}", kept)

        return Encoding(self.code, read, self._write, (name,))

    def _is_omitted(self, field: str, value: object) -> bool:
        return value is None or (field in self.omitted and value == self.defaults[field])

    def _write(self, writer: EntryWriter, attribute: StructAttribute) -> None:
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

    def encoding(self, kind: str, dialect: str = "stablehlo") -> Encoding:
        """Return the encoding of the enumeration of that name."""

        def read(reader: EntryReader) -> EnumAttribute:
            offset, value = reader.offset, reader.varint() - self.first
            if not 0 <= value < len(self.values):
                raise reader.error(f"unknown value {value + self.first} of {kind} of dialect '{dialect}'", offset)
            return EnumAttribute(dialect, kind, self.values[value])

        def write(writer: EntryWriter, attribute: EnumAttribute) -> None:
            writer.varint(self.values.index(attribute.value) + self.first)

        return Encoding(self.code, read, write, (kind,))
