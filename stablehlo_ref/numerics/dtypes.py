"""Element types as numpy dtypes, and the facts about a dtype that kernels are chosen by.

Types that numpy lacks come from ml_dtypes. Those narrower than a byte are kept one to a byte, in its low bits; the
high bits are zero, for signed integers too.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.types import (
    BOOLEAN,
    FLOATS,
    BooleanType,
    ComplexType,
    FloatType,
    IndexType,
    IntegerType,
    QuantizedType,
    Type,
    integer_type,
)

BOOL, INT8, UINT8, INT64, UINT16, UINT32, UINT64 = map(np.dtype, ("?", "i1", "u1", "i8", "u2", "u4", "u8"))
FLOAT16, FLOAT32, FLOAT64, COMPLEX64, COMPLEX128 = map(np.dtype, ("f2", "f4", "f8", "c8", "c16"))
INT2, UINT2, INT4, UINT4 = map(np.dtype, (ml_dtypes.int2, ml_dtypes.uint2, ml_dtypes.int4, ml_dtypes.uint4))
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FLOAT8_E8M0FNU = np.dtype(ml_dtypes.float8_e8m0fnu)

_FLOATS = {
    "f4E2M1FN": np.dtype(ml_dtypes.float4_e2m1fn),
    "f6E2M3FN": np.dtype(ml_dtypes.float6_e2m3fn),
    "f6E3M2FN": np.dtype(ml_dtypes.float6_e3m2fn),
    "f8E3M4": np.dtype(ml_dtypes.float8_e3m4),
    "f8E4M3": np.dtype(ml_dtypes.float8_e4m3),
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8E4M3FNUZ": np.dtype(ml_dtypes.float8_e4m3fnuz),
    "f8E4M3B11FNUZ": np.dtype(ml_dtypes.float8_e4m3b11fnuz),
    "f8E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "f8E5M2FNUZ": np.dtype(ml_dtypes.float8_e5m2fnuz),
    "f8E8M0FNU": FLOAT8_E8M0FNU,
    "bf16": BFLOAT16,
    "f16": FLOAT16,
    "f32": FLOAT32,
    "f64": FLOAT64,
}
_FLOAT_NAMES = {dtype: name for name, dtype in _FLOATS.items()}
_COMPLEX = {FLOAT32: COMPLEX64, FLOAT64: COMPLEX128}
_PARTS = {dtype: part for part, dtype in _COMPLEX.items()}
_SUB_BYTE_INTEGERS = {(2, True): INT2, (2, False): UINT2, (4, True): INT4, (4, False): UINT4}
_SUB_BYTE = {dtype: key for key, dtype in _SUB_BYTE_INTEGERS.items()}

FLOAT_DTYPES = tuple(_FLOATS.values())
SIGNED_DTYPES = (INT2, INT4, INT8, *map(np.dtype, ("i2", "i4", "i8")))
UNSIGNED_DTYPES = (UINT2, UINT4, UINT8, UINT16, UINT32, UINT64)
INTEGER_DTYPES = SIGNED_DTYPES + UNSIGNED_DTYPES


@cache
def numpy_dtype(element_type: Type) -> np.dtype[Any]:
    """The dtype of arrays of `element_type`; for a quantized type, of its storage type. UnsupportedError if none."""
    match element_type:
        case BooleanType():
            return BOOL
        case IntegerType(width, _) if width in (2, 4):
            return _SUB_BYTE_INTEGERS[width, element_type.is_signed]
        case IntegerType(width, _) if width in (8, 16, 32, 64):
            return np.dtype(f"{'i' if element_type.is_signed else 'u'}{width // 8}")
        case IndexType():
            return INT64
        case FloatType(name) if name in _FLOATS:
            return _FLOATS[name]
        case ComplexType(element) if numpy_dtype(element) in _COMPLEX:
            return _COMPLEX[numpy_dtype(element)]
        case QuantizedType():
            return numpy_dtype(element_type.storage_type)
    raise UnsupportedError(f"there are no arrays of element type {element_type}")


@cache
def element_type_of(dtype: np.dtype[Any]) -> BooleanType | IntegerType | FloatType | ComplexType:
    """The element type whose arrays have `dtype`, signless where it is a signed integer. TypeError if there is none."""
    if dtype == BOOL:
        return BOOLEAN
    if dtype in INTEGER_DTYPES:
        return integer_type(bit_width(dtype), "" if is_signed(dtype) else "u")
    if dtype in _FLOAT_NAMES:
        return FLOATS[_FLOAT_NAMES[dtype]]
    if dtype in _PARTS:
        return ComplexType(FLOATS[_FLOAT_NAMES[_PARTS[dtype]]])
    raise TypeError(f"no element type has arrays of {dtype}")


@cache
def kind(dtype: np.dtype[Any]) -> str:
    """ "boolean", "integer", "floating" or "complex"."""
    if dtype == BOOL:
        return "boolean"
    if dtype in INTEGER_DTYPES:
        return "integer"
    if dtype in _FLOAT_NAMES:
        return "floating"
    if dtype in _PARTS:
        return "complex"
    raise TypeError(f"no element type has arrays of {dtype}")


@cache
def is_signed(dtype: np.dtype[Any]) -> bool:
    """Whether an integer dtype has negative values."""
    return dtype in SIGNED_DTYPES


def is_sub_byte_integer(dtype: np.dtype[Any]) -> bool:
    """Whether `dtype` is one of the 2-bit and 4-bit integers."""
    return dtype in _SUB_BYTE


def is_narrow_float(dtype: np.dtype[Any]) -> bool:
    """Whether `dtype` is a floating-point format of 16 bits or fewer."""
    return dtype in _FLOAT_NAMES and dtype.itemsize <= 2


@cache
def bit_width(dtype: np.dtype[Any]) -> int:
    """`num_bits` of the element type: 1 for booleans, 4 for i4, 6 for the f6 formats, 64 for complex<f32>."""
    if dtype == BOOL:
        return 1
    if dtype in _SUB_BYTE:
        return _SUB_BYTE[dtype][0]
    if is_narrow_float(dtype):
        return int(ml_dtypes.finfo(dtype).bits)
    return 8 * dtype.itemsize


def bits_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The unsigned integer dtype as large as an element of `dtype`; `x.view(bits_dtype(x.dtype))` shows the bits."""
    return np.dtype(f"u{dtype.itemsize}")


def signed_bits_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The signed integer dtype as large as an element of `dtype`."""
    return np.dtype(f"i{dtype.itemsize}")


def part_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of the real and imaginary parts of a complex dtype."""
    return _PARTS[dtype]


def complex_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The complex dtype whose parts have `dtype`."""
    return _COMPLEX[dtype]


@cache
def mantissa_bits(dtype: np.dtype[Any]) -> int:
    """The number of stored mantissa bits of a floating-point dtype: 23 for f32, 0 for f8E8M0FNU."""
    return int(ml_dtypes.finfo(dtype).nmant)


@cache
def exponent_bits(dtype: np.dtype[Any]) -> int:
    """The number of exponent bits of a floating-point dtype: 8 for f32."""
    return bit_width(dtype) - mantissa_bits(dtype) - (dtype != FLOAT8_E8M0FNU)


@cache
def has_infinity(dtype: np.dtype[Any]) -> bool:
    """Whether a floating-point dtype has infinities."""
    with np.errstate(all="ignore"):
        return bool(np.isinf(np.array(np.inf).astype(dtype).astype(np.float32)))


@cache
def max_value(dtype: np.dtype[Any]) -> Any:
    """The largest value, as a scalar of `dtype`: true, the largest integer, +inf or else the largest finite number."""
    if dtype == BOOL:
        return np.True_
    if kind(dtype) == "integer":
        return dtype.type((1 << bit_width(dtype) - is_signed(dtype)) - 1)
    return dtype.type(np.inf) if has_infinity(dtype) else dtype.type(ml_dtypes.finfo(dtype).max)


@cache
def min_value(dtype: np.dtype[Any]) -> Any:
    """The smallest value, as a scalar of `dtype`: false, the smallest integer, -inf or else the least finite number."""
    if dtype == BOOL:
        return np.False_
    if kind(dtype) == "integer":
        return dtype.type(-(1 << bit_width(dtype) - 1) if is_signed(dtype) else 0)
    if dtype == FLOAT8_E8M0FNU:
        return dtype.type(ml_dtypes.finfo(dtype).smallest_normal)
    return dtype.type(-np.inf) if has_infinity(dtype) else dtype.type(ml_dtypes.finfo(dtype).min)
