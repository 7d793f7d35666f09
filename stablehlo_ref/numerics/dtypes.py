"""Map element types to numpy dtypes, and report the properties of dtypes that kernels depend on.

Types that numpy lacks come from ml_dtypes. Elements narrower than a byte are stored one per byte, in the low bits; the
high bits are zero, also for signed integers.
"""

from __future__ import annotations

from functools import cache
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.arrays import DType
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

Scalar: TypeAlias = np.number[Any] | np.bool  # numpy's scalars; those of ml_dtypes have the same methods

BOOL, INT8, UINT8, INT64, UINT16, UINT32, UINT64 = map(np.dtype, ("?", "i1", "u1", "i8", "u2", "u4", "u8"))
FLOAT16, FLOAT32, FLOAT64, COMPLEX64, COMPLEX128 = map(np.dtype, ("f2", "f4", "f8", "c8", "c16"))
INT2, UINT2, INT4, UINT4 = map(np.dtype, (ml_dtypes.int2, ml_dtypes.uint2, ml_dtypes.int4, ml_dtypes.uint4))
BFLOAT16: DType = np.dtype(ml_dtypes.bfloat16)
FLOAT8_E8M0FNU: DType = np.dtype(ml_dtypes.float8_e8m0fnu)

_FLOATS: dict[str, DType] = {
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
_INTEGERS: dict[tuple[int, bool], DType] = {  # by width and signedness; a width must have both
    (2, True): INT2,
    (2, False): UINT2,
    (4, True): INT4,
    (4, False): UINT4,
    **{(8 * n, signed): np.dtype(f"{'i' if signed else 'u'}{n}") for n in (1, 2, 4, 8) for signed in (True, False)},
}
_INTEGER_KEYS = {dtype: key for key, dtype in _INTEGERS.items()}

FLOAT_DTYPES = tuple(_FLOATS.values())
SIGNED_DTYPES = tuple(dtype for (_, signed), dtype in _INTEGERS.items() if signed)
UNSIGNED_DTYPES = tuple(dtype for (_, signed), dtype in _INTEGERS.items() if not signed)
INTEGER_DTYPES = SIGNED_DTYPES + UNSIGNED_DTYPES


def float_info(dtype: DType) -> ml_dtypes.finfo:
    """Return the limits of a floating-point dtype, as `numpy.finfo` does for numpy's own."""
    return ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]


@cache
def numpy_dtype(element_type: Type) -> DType:
    """Return the dtype of arrays of `element_type`; for a quantized type, that of its storage type.

    Raises UnsupportedError for a type that has no arrays.
    """
    match element_type:
        case BooleanType():
            return BOOL
        case IntegerType(width, _) if (width, element_type.is_signed) in _INTEGERS:
            return _INTEGERS[width, element_type.is_signed]
        case IndexType():
            return INT64
        case FloatType(name) if name in _FLOATS:
            return _FLOATS[name]
        case ComplexType(element) if numpy_dtype(element) in _COMPLEX:
            return _COMPLEX[numpy_dtype(element)]
        case QuantizedType():
            return numpy_dtype(element_type.storage_type)
    raise UnsupportedError(f"unsupported element type {element_type}")


@cache
def element_type_of(dtype: DType) -> BooleanType | IntegerType | FloatType | ComplexType:
    """Return the element type whose arrays have `dtype`; signed integers are signless. TypeError for other dtypes."""
    if dtype == BOOL:
        return BOOLEAN
    if dtype in INTEGER_DTYPES:
        return integer_type(bit_width(dtype), "" if is_signed(dtype) else "u")
    if dtype in _FLOAT_NAMES:
        return FLOATS[_FLOAT_NAMES[dtype]]
    if dtype in _PARTS:
        return ComplexType(FLOATS[_FLOAT_NAMES[_PARTS[dtype]]])
    raise TypeError(f"unsupported dtype {dtype}")


@cache
def kind(dtype: DType) -> str:
    """Return the kind of a dtype: "boolean", "integer", "floating" or "complex". TypeError for other dtypes."""
    if dtype == BOOL:
        return "boolean"
    if dtype in INTEGER_DTYPES:
        return "integer"
    if dtype in _FLOAT_NAMES:
        return "floating"
    if dtype in _PARTS:
        return "complex"
    raise TypeError(f"unsupported dtype {dtype}")


def is_fractional(dtype: DType) -> bool:
    """Return whether a dtype is one of floating-point or complex numbers. TypeError for other than numbers."""
    return kind(dtype) in ("floating", "complex")


@cache
def is_signed(dtype: DType) -> bool:
    """Return whether an integer dtype is signed."""
    return dtype in SIGNED_DTYPES


def is_sub_byte_integer(dtype: DType) -> bool:
    """Return whether `dtype` is an integer narrower than a byte."""
    return dtype in _INTEGER_KEYS and _INTEGER_KEYS[dtype][0] < 8


def is_narrow_float(dtype: DType) -> bool:
    """Return whether `dtype` is a floating-point format of 16 bits or fewer."""
    return dtype in _FLOAT_NAMES and dtype.itemsize <= 2


@cache
def bit_width(dtype: DType) -> int:
    """Return the width in bits of an element: 1 for booleans, 4 for i4, 6 for the f6 formats, 64 for complex<f32>."""
    if dtype == BOOL:
        return 1
    if dtype in _INTEGER_KEYS:
        return _INTEGER_KEYS[dtype][0]
    if is_narrow_float(dtype):
        return int(float_info(dtype).bits)
    return 8 * dtype.itemsize


def bits_dtype(dtype: DType) -> DType:
    """Return the unsigned integer dtype of the size of `dtype`, as in `x.view(bits_dtype(x.dtype))`."""
    return np.dtype(f"u{dtype.itemsize}")


def signed_bits_dtype(dtype: DType) -> DType:
    """Return the signed integer dtype of the size of `dtype`."""
    return np.dtype(f"i{dtype.itemsize}")


def part_dtype(dtype: DType) -> DType:
    """Return the dtype of the real and imaginary parts of a complex dtype."""
    return _PARTS[dtype]


def complex_dtype(dtype: DType) -> DType:
    """Return the complex dtype whose real and imaginary parts have `dtype`."""
    return _COMPLEX[dtype]


@cache
def mantissa_bits(dtype: DType) -> int:
    """Return the number of stored mantissa bits of a floating-point dtype: 23 for f32, 0 for f8E8M0FNU."""
    return int(float_info(dtype).nmant)


@cache
def exponent_bits(dtype: DType) -> int:
    """Return the number of exponent bits of a floating-point dtype: 8 for f32."""
    sign_bits = 0 if dtype == FLOAT8_E8M0FNU else 1
    return bit_width(dtype) - mantissa_bits(dtype) - sign_bits


@cache
def has_infinity(dtype: DType) -> bool:
    """Return whether a floating-point dtype can represent infinities."""
    with np.errstate(all="ignore"):
        return bool(np.isinf(np.array(np.inf).astype(dtype).astype(np.float32)))


@cache
def max_value(dtype: DType) -> Scalar:
    """Return the largest value as a scalar of `dtype`: true, the largest integer, +inf or else the largest float."""
    if dtype == BOOL:
        return np.True_
    value: float | np.floating[Any]
    if kind(dtype) == "integer":
        value = (1 << bit_width(dtype) - is_signed(dtype)) - 1
    else:
        value = np.inf if has_infinity(dtype) else float_info(dtype).max
    largest: Scalar = dtype.type(value)
    return largest


@cache
def min_value(dtype: DType) -> Scalar:
    """Return the smallest value as a scalar of `dtype`: false, the smallest integer, -inf or else the lowest float."""
    if dtype == BOOL:
        return np.False_
    value: float | np.floating[Any]
    if kind(dtype) == "integer":
        value = -(1 << bit_width(dtype) - 1) if is_signed(dtype) else 0
    elif dtype == FLOAT8_E8M0FNU:
        value = float_info(dtype).smallest_normal
    else:
        value = -np.inf if has_infinity(dtype) else float_info(dtype).min
    smallest: Scalar = dtype.type(value)
    return smallest
