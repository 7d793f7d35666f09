"""Attributes of MLIR's builtin dialect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from stablehlo_ref.bytecode.encodings import locations, numbers
from stablehlo_ref.bytecode.entries import EntryReader, untyped
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
    StructAttribute,
    SymbolReference,
    TypeAttribute,
    Unit,
)
from stablehlo_ref.ir.lexer import quoted
from stablehlo_ref.ir.types import (
    BOOLEAN,
    FLOATS,
    INDEX,
    NONE,
    BooleanType,
    BufferType,
    ComplexType,
    FloatType,
    FunctionType,
    IndexType,
    IntegerType,
    NoneType,
    OpaqueType,
    TensorType,
    TupleType,
    Type,
    UnrankedBufferType,
    UnrankedTensorType,
    integer_type,
    tensor_type,
)
from stablehlo_ref.syntax.attribute_text import attribute_text, elements_text
from stablehlo_ref.syntax.numbers import LiteralError
from stablehlo_ref.syntax.types import MAX_WIDTH

# --- from bytes -----------------------------------------------------------------------------------------------------


def _integer_type(reader: EntryReader) -> Type:
    offset, encoded = reader.offset, reader.varint()
    width = encoded >> 2
    if not 1 <= width <= MAX_WIDTH or encoded & 3 > 2:
        raise reader.error(f"an integer type of {width} bits with signedness {encoded & 3}", offset)
    return integer_type(width, ("", "s", "u")[encoded & 3])


def read_shape(reader: EntryReader) -> tuple[int | None, ...]:
    """Read dimension sizes; an unknown one is the least integer of 64 bits."""
    offset, sizes = reader.offset, reader.signed_varints()
    if any(size < 0 and size != numbers.DYNAMIC for size in sizes):
        raise reader.error(f"negative dimension size in {sizes}", offset)
    return tuple([None if size < 0 else size for size in sizes])


def _tensor(reader: EntryReader) -> TensorType:
    return tensor_type(read_shape(reader), reader.type())


def read_encoded_tensor(reader: EntryReader) -> TensorType:
    """Read a tensor type with an encoding, such as bounds."""
    encoding = reader.attribute()
    shape, element_type = read_shape(reader), reader.type()
    if isinstance(encoding, StructAttribute) and encoding.name == "stablehlo.bounds":
        return TensorType(shape, element_type, encoding.fields["bounds"])
    return TensorType(shape, element_type, None, attribute_text(encoding))


def _buffer(reader: EntryReader) -> BufferType:
    shape, element_type, layout = read_shape(reader), reader.type(), reader.attribute()
    is_identity = isinstance(layout, OpaqueAttribute) and layout.text == identity_map(len(shape))
    return BufferType(shape, element_type, () if is_identity else (attribute_text(layout),))


def _buffer_in_space(reader: EntryReader) -> BufferType:
    space = _space(reader)
    type = _buffer(reader)
    return BufferType(type.shape, type.element_type, (*type.layout, space))


def _space(reader: EntryReader) -> str:
    """Read a memory space, an integer that MLIR's text shows without its type."""
    return attribute_text(untyped(reader.attribute()))


def identity_map(rank: int) -> str:
    """Return the affine map that maps dimensions to themselves."""
    dimensions = ", ".join(f"d{i}" for i in range(rank))
    return f"affine_map<({dimensions}) -> ({dimensions})>"


def _unranked_buffer_in_space(reader: EntryReader) -> UnrankedBufferType:
    space = _space(reader)
    return UnrankedBufferType(reader.type(), space)


def _vector(reader: EntryReader) -> OpaqueType:
    sizes = "".join(f"{size}x" for size in read_shape(reader))
    return OpaqueType(f"vector<{sizes}{reader.type()}>")


def _scalable_vector(reader: EntryReader) -> OpaqueType:
    scalable = [reader.byte() for _ in range(reader.count("dimensions"))]
    sizes = [f"[{size}]" if is_scalable else f"{size}" for size, is_scalable in zip(read_shape(reader), scalable)]
    return OpaqueType(f"vector<{''.join(f'{size}x' for size in sizes)}{reader.type()}>")


# Floating-point types by their codes.
_FLOAT_CODES = {
    "bf16": 3, "f16": 4, "f32": 5, "f64": 6, "f80": 7, "f128": 8, "tf32": 21, "f8E5M2": 22, "f8E4M3": 23,
    "f8E4M3FN": 24, "f8E5M2FNUZ": 25, "f8E4M3FNUZ": 26, "f8E4M3B11FNUZ": 27, "f8E3M4": 28, "f4E2M1FN": 29,
    "f6E2M3FN": 30, "f6E3M2FN": 31, "f8E8M0FNU": 32,
}  # fmt: skip
_FLOATS_BY_CODE = {code: FLOATS[name] for name, code in _FLOAT_CODES.items()}

_TYPES: Mapping[int, Callable[[EntryReader], Type]] = {
    0: _integer_type,
    1: lambda reader: INDEX,
    2: lambda reader: FunctionType(reader.types(), reader.types()),
    9: lambda reader: ComplexType(reader.type()),
    10: _buffer,
    11: _buffer_in_space,
    12: lambda reader: NONE,
    13: _tensor,
    14: read_encoded_tensor,
    15: lambda reader: TupleType(reader.types()),
    16: lambda reader: UnrankedBufferType(reader.type()),
    17: _unranked_buffer_in_space,
    18: lambda reader: UnrankedTensorType(reader.type()),
    19: _vector,
    20: _scalable_vector,
}


def read_type(reader: EntryReader) -> Type:
    offset, code = reader.offset, reader.varint()
    if code in _FLOATS_BY_CODE:
        return _FLOATS_BY_CODE[code]
    decode = _TYPES.get(code)
    if decode is None:
        raise reader.unsupported(f"unknown type {code} of dialect 'builtin'", offset)
    return decode(reader)


# --- to bytes -------------------------------------------------------------------------------------------------------


def write_type(writer: EntryWriter, type: Type) -> None:
    """Write a type. NotImplementedError for what has no encoding and is written as text."""
    match type:
        case BooleanType():
            writer.varint(0)
            writer.varint(1 << 2)
        case IntegerType(width, signedness):
            writer.varint(0)
            writer.varint(width << 2 | ("", "s", "u").index(signedness))
        case FloatType(name):
            writer.varint(_FLOAT_CODES[name])
        case IndexType():
            writer.varint(1)
        case FunctionType(inputs, outputs):
            writer.varint(2)
            writer.types(inputs)
            writer.types(outputs)
        case ComplexType(element):
            writer.varint(9)
            writer.type(element)
        case NoneType():
            writer.varint(12)
        case TensorType():
            _write_tensor(writer, type)
        case TupleType(elements):
            writer.varint(15)
            writer.types(elements)
        case UnrankedBufferType(element_type, ""):
            writer.varint(16)
            writer.type(element_type)
        case UnrankedTensorType(element_type):
            writer.varint(18)
            writer.type(element_type)
        case BufferType(shape, element_type, ()):
            writer.varint(10)
            write_shape(writer, shape)
            writer.type(element_type)
            writer.attribute(OpaqueAttribute(identity_map(len(shape))))
        case _:
            raise NotImplementedError


def write_shape(writer: EntryWriter, shape: tuple[int | None, ...]) -> None:
    writer.signed_varints([numbers.DYNAMIC if size is None else size for size in shape])


def tensor_encoding(type: TensorType) -> Any:
    """Return the encoding attribute of a tensor type, None if it has none."""
    if type.bounds is not None:
        return StructAttribute("stablehlo.bounds", {"bounds": type.bounds})
    return None if type.encoding is None else OpaqueAttribute(str(type.encoding))


def _write_tensor(writer: EntryWriter, type: TensorType) -> None:
    encoding = tensor_encoding(type)
    writer.varint(13 if encoding is None else 14)
    if encoding is not None:
        writer.attribute(encoding)
    write_shape(writer, type.shape)
    writer.type(type.element_type)


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


def write_attribute(writer: EntryWriter, attribute: object) -> None:
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


def index_tensor(attribute: object) -> Any:
    """Return a dense array of integers as a tensor of type index."""
    if not isinstance(attribute, DenseArray):
        return attribute
    array = numbers.numbers_array(attribute.values, INDEX)
    return DenseElements(tensor_type(array.shape, INDEX), array)
