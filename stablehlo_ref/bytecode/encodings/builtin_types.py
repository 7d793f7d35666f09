"""Types of MLIR's builtin dialect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from stablehlo_ref.bytecode.encodings import numbers
from stablehlo_ref.bytecode.entries import EntryReader, untyped
from stablehlo_ref.bytecode.pool import EntryWriter
from stablehlo_ref.ir.attributes import OpaqueAttribute, StructAttribute
from stablehlo_ref.ir.types import (
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
    UnrankedTensorType,
    integer_type,
    tensor_type,
)
from stablehlo_ref.syntax.attribute_text import attribute_text
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


def _unranked_buffer(reader: EntryReader) -> OpaqueType:
    return OpaqueType(f"memref<*x{reader.type()}>")


def _unranked_buffer_in_space(reader: EntryReader) -> OpaqueType:
    space = _space(reader)
    return OpaqueType(f"memref<*x{reader.type()}, {space}>")


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
    16: _unranked_buffer,
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
