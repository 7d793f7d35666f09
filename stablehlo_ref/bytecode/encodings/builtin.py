"""Attributes of MLIR's builtin dialect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from stablehlo_ref.bytecode.encodings import locations, numbers
from stablehlo_ref.bytecode.entries import EntryReader
from stablehlo_ref.bytecode.pool import EntryWriter
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.attributes import (
    UNIT,
    DenseArray,
    DenseElements,
    DenseResource,
    FloatAttribute,
    IntegerAttribute,
    OpaqueAttribute,
    SymbolReference,
    TypeAttribute,
    Unit,
)
from stablehlo_ref.ir.lexer import quoted
from stablehlo_ref.ir.types import (
    BOOLEAN,
    FLOATS,
    INDEX,
    BooleanType,
    FloatType,
    IntegerType,
    TensorType,
    Type,
    integer_type,
    tensor_type,
)
from stablehlo_ref.syntax.attribute_text import attribute_text, elements_text
from stablehlo_ref.syntax.numbers import LiteralError

I64, UI64 = integer_type(64), integer_type(64, "u")
F64 = FLOATS["f64"]

# --- from bytes -----------------------------------------------------------------------------------------------------


def read_dictionary(reader: EntryReader) -> dict[str, Any]:
    """Read names, which are attributes, and values."""
    entries: dict[str, Any] = {}
    for _ in range(reader.count("entries of a dictionary", 2)):
        offset, name = reader.offset, reader.a(str, "a string")
        if name in entries:
            raise reader.error(f"duplicate attribute '{name}'", offset)
        entries[name] = reader.attribute()
    return entries


def _typed_string(reader: EntryReader) -> OpaqueAttribute:
    return OpaqueAttribute(f"{quoted(reader.string())} : {reader.type()}")


def _symbol(reader: EntryReader) -> SymbolReference:
    return SymbolReference((reader.a(str, "a string"),))


def _nested_symbol(reader: EntryReader) -> SymbolReference:
    root = reader.a(str, "a string")
    count = reader.count("symbols")
    nested = [reader.a(SymbolReference, "a symbol reference").path for _ in range(count)]
    return SymbolReference((root, *(name for path in nested for name in path)))


def read_integer(reader: EntryReader) -> bool | IntegerAttribute:
    """Read the type of an integer and its bits."""
    offset, type = reader.offset, reader.type()
    try:
        bits = numbers.read_bits(reader, numbers.integer_width(type))
    except ValueError as error:
        raise reader.error(f"{error}, so it has no integer attributes", offset) from None
    return bool(bits) if type == BOOLEAN else IntegerAttribute(numbers.signed_value(bits, type), type)


def read_float(reader: EntryReader) -> FloatAttribute:
    """Read the type of a number and its bits."""
    offset, type = reader.offset, reader.type()
    if not isinstance(type, FloatType):
        raise reader.error(f"expected a floating-point type, got {type}", offset)
    return numbers.float_attribute(numbers.read_bits(reader, numbers.float_width(type)), type)


def _dense_resource(reader: EntryReader) -> DenseResource:
    type, resource = reader.type(), reader.resource()
    if resource.data is None:
        return DenseResource(resource.key, type)
    if not isinstance(type, TensorType) or not type.is_static:
        raise reader.error(f"expected a tensor type of static shape for resource '{resource.key}', got {type}")
    try:
        return DenseResource(resource.key, type, numbers.elements_array(resource.data, type), resource.alignment)
    except LiteralError as error:
        raise reader.error(f"{error} in resource '{resource.key}' of type {type}") from error
    except UnsupportedError:
        return DenseResource(resource.key, type)


def _dense_array(reader: EntryReader) -> DenseArray:
    offset, type = reader.offset, reader.type()
    if not isinstance(type, BooleanType | IntegerType | FloatType):
        raise reader.error(f"no arrays of {type}", offset)
    size, data = reader.varint(), reader.blob()
    if size * numbers.element_bytes(type) != len(data):
        raise reader.error(f"expected {size} elements of type {type}, got {len(data)} bytes", offset)
    return DenseArray(type, numbers.array_values(data, type))


def _dense_elements(reader: EntryReader) -> DenseElements | OpaqueAttribute:
    return numbers.read_elements(reader, reader.type(), reader.blob())


def _dense_strings(reader: EntryReader) -> OpaqueAttribute:
    type, is_splat = reader.type(), reader.varint()
    count = 1 if is_splat else getattr(type, "size", 0) if getattr(type, "is_static", False) else 0
    if count > reader.remaining:
        raise reader.error(f"{count} strings do not fit into {reader.remaining} bytes")
    strings = [quoted(reader.string()) for _ in range(count)]
    if is_splat:
        return OpaqueAttribute(f"dense<{strings[0]}> : {type}")
    return OpaqueAttribute(f"dense<{_nested(strings, getattr(type, 'shape', ()))}> : {type}")


def _nested(items: list[str], shape: tuple[int, ...]) -> str:
    """Return items in order as nested lists of a shape."""
    for size in reversed(shape[1:]):
        items = [f"[{', '.join(items[i : i + size])}]" for i in range(0, len(items), size or 1)]
    return f"[{', '.join(items)}]" if shape else items[0]


def _sparse(reader: EntryReader) -> OpaqueAttribute:
    type = reader.type()
    parts = [reader.a(DenseElements, "elements of a tensor") for _ in range(2)]
    indices, values = (elements_text(part.array, part.type.element_type) for part in parts)
    return OpaqueAttribute(f"sparse<{indices}, {values}> : {type}")


def _distinct(reader: EntryReader) -> OpaqueAttribute:
    offset = reader.base  # any number that no other one has
    return OpaqueAttribute(f"distinct[{offset}]<{attribute_text(reader.attribute())}>")


_ATTRIBUTES: Mapping[int, Callable[[EntryReader], Any]] = {
    0: EntryReader.items,
    1: read_dictionary,
    2: EntryReader.string,
    3: _typed_string,
    4: _symbol,
    5: _nested_symbol,
    6: lambda reader: TypeAttribute(reader.type()),
    7: lambda reader: UNIT,
    8: read_integer,
    9: read_float,
    16: _dense_resource,
    17: _dense_array,
    18: _dense_elements,
    19: _dense_strings,
    20: _sparse,
    21: _distinct,
    **locations.DECODERS,
}


def read_attribute(reader: EntryReader) -> Any:
    offset, code = reader.offset, reader.varint()
    decode = _ATTRIBUTES.get(code)
    if decode is None:
        raise reader.unsupported(f"unknown attribute {code} of dialect 'builtin'", offset)
    return decode(reader)


# --- to bytes -------------------------------------------------------------------------------------------------------


def write_attribute(writer: EntryWriter, attribute: Any) -> None:
    """Write an attribute or location. NotImplementedError for what has no encoding and is written as text."""
    match attribute:
        case bool():
            writer.varint(8)
            writer.type(BOOLEAN)
            writer.byte(int(attribute))
        case str():
            writer.varint(2)
            writer.string(attribute)
        case tuple():
            writer.varint(0)
            writer.attributes(attribute)
        case dict():
            writer.varint(1)
            writer.dictionary(attribute)
        case Unit():
            writer.varint(7)
        case IntegerAttribute(value, type):
            writer.varint(8)
            write_integer(writer, value, type or I64)
        case FloatAttribute(type=type):
            writer.varint(9)
            write_float(writer, attribute, type or F64)
        case SymbolReference(path):
            _write_symbol(writer, path)
        case TypeAttribute(type):
            writer.varint(6)
            writer.type(type)
        case DenseElements(type, array):
            writer.varint(18)
            writer.type(type)
            writer.blob(numbers.elements_data(array, one_is_splat=True))
        case DenseResource(type=type):
            writer.varint(16)
            writer.type(type)
            writer.resource(attribute)
        case DenseArray(element_type, values):
            writer.varint(17)
            writer.type(element_type)
            writer.varint(len(values))
            writer.blob(numbers.array_data(values, element_type))
        case _:
            locations.write_location(writer, attribute)


def write_integer(writer: EntryWriter, value: int, type: Type) -> None:
    """Write the type of an integer and its bits; ValueError for other types."""
    if value >= numbers.SIGN_64 and type == I64:
        type = UI64
    width = numbers.integer_width(type)
    writer.type(type)
    writer.bits(value & ((1 << width) - 1), width)


def write_float(writer: EntryWriter, number: FloatAttribute, type: Type) -> None:
    """Write the type of a number and its bits."""
    assert isinstance(type, FloatType)
    writer.type(type)
    writer.bits(numbers.float_bits(number, type), numbers.float_width(type))


def _write_symbol(writer: EntryWriter, path: tuple[str, ...]) -> None:
    writer.varint(4 if len(path) == 1 else 5)
    writer.attribute(path[0])
    if len(path) > 1:
        writer.attributes([SymbolReference((name,)) for name in path[1:]])


def index_tensor(attribute: Any) -> Any:
    """Return a dense array of integers as a tensor of type index."""
    if not isinstance(attribute, DenseArray):
        return attribute
    array = numbers.numbers_array(attribute.values, INDEX)
    return DenseElements(tensor_type(array.shape, INDEX), array)
