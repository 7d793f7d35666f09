"""Integers, floating-point numbers and elements of tensors as bytes."""

from __future__ import annotations

import math
import re
from functools import cache

import numpy as np

from stablehlo_ref.bytecode.encoding import MAX_VARINT, Cursor, Data
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.arrays import Array, is_splat
from stablehlo_ref.ir.attributes import DenseElements, FloatAttribute, OpaqueAttribute
from stablehlo_ref.ir.types import (
    BooleanType,
    FloatType,
    IndexType,
    IntegerType,
    TensorType,
    Type,
    integer_type,
    tensor_type,
)
from stablehlo_ref.numerics import dtypes
from stablehlo_ref.numerics.narrow_floats import widen
from stablehlo_ref.syntax import literals
from stablehlo_ref.syntax.attribute_text import elements_text, splat_of_none
from stablehlo_ref.syntax.numbers import LiteralError

SIGN_64 = 1 << 63
DYNAMIC = -SIGN_64  # an unknown dimension size

# Exponent bits, mantissa bits, and whether the leading one is stored, of formats that numpy lacks.
EXTENDED_FLOATS = {"tf32": (8, 10, False), "f80": (15, 63, True), "f128": (15, 112, False)}

_match_vector = re.compile(r"vector<((?:\d{1,9}x)*)i(8|16|32|64)>").fullmatch

# --- integers of known width ----------------------------------------------------------------------------------------


def read_bits(cursor: Cursor, width: int) -> int:
    """Return the bits of a number of `width` bits: a byte, an integer of variable length, or words of 64 bits."""
    if width <= 8:
        return cursor.byte() & ((1 << width) - 1)
    if width <= 64:
        return cursor.signed_varint() & ((1 << width) - 1)
    words = [cursor.signed_varint() & MAX_VARINT for _ in range(cursor.count("words"))]
    return sum(word << 64 * index for index, word in enumerate(words)) & ((1 << width) - 1)


def integer_width(type: Type) -> int:
    """Return the number of bits that a value of an integer type is encoded in; ValueError for other types."""
    match type:
        case BooleanType():
            return 1
        case IntegerType(width, _):
            return width
        case IndexType():
            return 64
    raise ValueError(f"expected an integer type, got {type}")


def signed_value(bits: int, type: Type) -> int:
    """Return the value of the bits of an integer."""
    width = integer_width(type)
    is_signed = not isinstance(type, IntegerType) or type.is_signed
    return bits - (1 << width) if is_signed and bits >> width - 1 else bits


# --- floating-point numbers -----------------------------------------------------------------------------------------


@cache
def float_width(type: FloatType) -> int:
    """Return the number of bits of a floating-point type."""
    if type.name in EXTENDED_FLOATS:
        exponent, mantissa, has_leading_one = EXTENDED_FLOATS[type.name]
        return 1 + exponent + has_leading_one + mantissa
    return dtypes.bit_width(dtypes.numpy_dtype(type))


def float_attribute(bits: int, type: FloatType) -> FloatAttribute:
    """Return the number that bits stand for; those of infinities and NaNs are kept as text."""
    value = _extended_value(bits, type) if type.name in EXTENDED_FLOATS else _numpy_value(bits, type)
    if math.isfinite(value):
        return FloatAttribute(value, type)
    return FloatAttribute(value, type, f"0x{bits:0{-(-float_width(type) // 4)}X}")


def _numpy_value(bits: int, type: FloatType) -> float:
    dtype = dtypes.numpy_dtype(type)
    element = np.array(bits, dtypes.bits_dtype(dtype)).view(dtype)
    return float(widen(element) if dtypes.is_narrow_float(dtype) else element)


def float_bits(number: FloatAttribute, type: FloatType) -> int:
    """Return the bits of a number."""
    if number.text.startswith("0x"):
        return int(number.text, 16)
    if type.name in EXTENDED_FLOATS:
        return _extended_bits(number.value, type)
    dtype = dtypes.numpy_dtype(type)
    with np.errstate(all="ignore"):
        return int(np.array(number.value).astype(dtype).view(dtypes.bits_dtype(dtype)))


def _extended_value(bits: int, type: FloatType) -> float:
    exponent_bits, mantissa_bits, has_leading_one = EXTENDED_FLOATS[type.name]
    mantissa = bits & ((1 << mantissa_bits) - 1)
    exponent = bits >> mantissa_bits + has_leading_one & ((1 << exponent_bits) - 1)
    sign = -1.0 if bits >> float_width(type) - 1 else 1.0
    if exponent == (1 << exponent_bits) - 1:
        return math.nan if mantissa else sign * math.inf
    bias = (1 << exponent_bits - 1) - 1
    leading_one = (1 << mantissa_bits) if exponent else 0
    try:
        return sign * math.ldexp(leading_one + mantissa, max(exponent, 1) - bias - mantissa_bits)
    except OverflowError:
        return sign * math.inf


def _extended_bits(value: float, type: FloatType) -> int:
    exponent_bits, mantissa_bits, has_leading_one = EXTENDED_FLOATS[type.name]
    sign = int(math.copysign(1, value) < 0) << float_width(type) - 1
    special = (1 << exponent_bits) - 1
    if not math.isfinite(value):
        quiet = (1 << mantissa_bits - 1) if math.isnan(value) else 0
        return sign | (special << 1 | 1 if has_leading_one else special) << mantissa_bits | quiet
    if value == 0:
        return sign
    bias = (1 << exponent_bits - 1) - 1
    fraction, power = math.frexp(abs(value))
    exponent = max(power - 1, 1 - bias)
    mantissa = round(math.ldexp(fraction, power - exponent + mantissa_bits))
    if has_leading_one:
        return sign | exponent + bias << mantissa_bits + 1 | mantissa
    return sign + (exponent + bias - 1 << mantissa_bits) + mantissa


# --- elements of tensors --------------------------------------------------------------------------------------------


def read_elements(cursor: Cursor, type: Type, data: bytes | memoryview) -> DenseElements | OpaqueAttribute:
    """Return the elements of a tensor as a view of `data`; as text where numpy lacks the element type."""
    if not isinstance(type, TensorType):
        return OpaqueAttribute(f"dense<{_vector_text(cursor, type, data)}> : {type}")
    if not type.is_static:
        raise cursor.error(f"expected a tensor type of static shape, got {type}")
    try:
        return DenseElements(type, elements_array(data, type))
    except LiteralError as error:
        raise cursor.error(f"{error} in a literal of type {type}") from error
    except UnsupportedError:
        return OpaqueAttribute(f'dense<"0x{bytes(data).hex().upper()}"> : {type}')


def _vector_text(cursor: Cursor, type: Type, data: bytes | memoryview) -> str:
    """Return the elements of a vector: of integers as numbers, others as bytes."""
    match = _match_vector(str(type))
    if match is None:
        return f'"0x{bytes(data).hex().upper()}"'
    tensor = tensor_type(tuple(map(int, match[1].split("x")[:-1])), integer_type(int(match[2])))
    found = read_elements(cursor, tensor, data)
    assert isinstance(found, DenseElements)
    return elements_text(found.array, tensor.element_type)


def elements_array(data: bytes | memoryview, type: TensorType) -> Array:
    """Return a view of `data` as a tensor of static shape; LiteralError if the size does not fit."""
    return literals.from_bytes(data, type.shape, type.element_type)  # type: ignore[arg-type]


def elements_data(array: Array, one_is_splat: bool) -> Data:
    """Return the elements of a tensor as MLIR encodes them: one for all where they are equal, booleans as bits.

    `one_is_splat` says how a single boolean is encoded: as a splat (`FF` for true), else as one bit.
    """
    splat = splat_of_none(array) if array.size == 0 else array[(0,) * array.ndim] if is_splat(array) else None
    if splat is None or (array.dtype == np.bool_ and array.size == 1 and not one_is_splat):
        return all_elements_data(array)
    if array.dtype == np.bool_:
        return b"\xff" if splat else b"\0"
    return np.asarray(splat).tobytes()


def all_elements_data(array: Array) -> Data:
    """Return all elements as a literal has them: booleans as bits, others in full."""
    if array.dtype == np.bool_:
        return np.packbits(array.reshape(-1), bitorder="little").tobytes()
    return bytes_of(array)


def bytes_of(array: Array) -> Data:
    """Return the bytes of all elements, without copying those of a contiguous array."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data if array.size else b""


def element_bytes(type: Type) -> int:
    """Return the number of bytes of an element of a dense array attribute."""
    match type:
        case FloatType():
            return -(-float_width(type) // 8)
    return -(-integer_width(type) // 8)


def array_values(data: bytes | memoryview, type: Type) -> tuple[bool | int | float, ...]:
    """Return the values of a dense array attribute."""
    size = element_bytes(type)
    raw = [int.from_bytes(data[i : i + size], "little") for i in range(0, len(data), size)]
    match type:
        case BooleanType():
            return tuple(bits != 0 for bits in raw)
        case FloatType():
            return tuple(float_attribute(bits, type).value for bits in raw)
    width = integer_width(type)
    return tuple(signed_value(bits & ((1 << width) - 1), type) for bits in raw)


def array_data(values: tuple[bool | int | float, ...], type: Type) -> bytes:
    """Return the bytes of the values of a dense array attribute."""
    size = element_bytes(type)
    if isinstance(type, FloatType):
        bits = [float_bits(FloatAttribute(float(value)), type) for value in values]
    else:
        bits = [int(value) & ((1 << integer_width(type)) - 1) for value in values]
    return b"".join(b.to_bytes(size, "little") for b in bits)


def numbers_array(values: tuple[bool | int | float, ...], type: Type) -> Array:
    """Return the values of a dense array attribute as an array."""
    return np.array(values, dtypes.numpy_dtype(type))
