"""Floating-point numbers as integers: their order, and how many of them lie between two."""

from __future__ import annotations

import numpy as np

from stablehlo_ref.numerics.dtypes import (
    FLOAT8_E8M0FNU,
    UINT64,
    bit_width,
    bits_dtype,
    is_narrow_float,
    kind,
    signed_bits_dtype,
)
from stablehlo_ref.numerics.narrow import Array, DType, widen


def ordered_bits(x: Array) -> Array:
    """Integers in the order of the floats `x`, by IEEE-754's totalOrder: -NaN < -inf < ... < -0 < +0 < ... < +NaN.

    They are signed, of the size of the elements but at least 16 bits, and consecutive for neighbours, from 0 for +0.
    The one NaN of the FNUZ formats, whose bits would be those of -0, comes last.
    """
    magnitude, is_negative = _magnitude_and_sign(x)
    key = np.bitwise_xor(magnitude, np.negative(is_negative.astype(magnitude.dtype)))
    return np.where(_is_nan(x), _greatest(key), key) if _is_fnuz(x.dtype) else key


def ulp_distance(actual: Array, expected: Array) -> Array:
    """How many steps from one representable value to the next lead from `actual` to `expected`, as ui64.

    -0 is +0, and a NaN is 0 steps from any NaN and as many as ui64 can hold from a number; infinity follows the
    largest number. Of complex numbers the part that differs more counts.
    """
    if kind(actual.dtype) == "complex":
        return np.maximum(ulp_distance(actual.real, expected.real), ulp_distance(actual.imag, expected.imag))
    x, y = _steps_from_zero(actual), _steps_from_zero(expected)
    distance = np.subtract(np.maximum(x, y).view(UINT64), np.minimum(x, y).view(UINT64))
    x_is_nan, y_is_nan = _is_nan(actual), _is_nan(expected)
    if not (x_is_nan.any() or y_is_nan.any()):
        return distance
    distance = np.where(np.logical_and(x_is_nan, y_is_nan), UINT64.type(0), distance)
    return np.where(np.not_equal(x_is_nan, y_is_nan), _greatest(distance), distance)


def _steps_from_zero(x: Array) -> Array:
    magnitude, is_negative = _magnitude_and_sign(x)
    magnitude = magnitude.astype(np.int64)
    return np.where(is_negative, np.negative(magnitude), magnitude)


def _magnitude_and_sign(x: Array) -> tuple[Array, Array]:
    """The bits but the sign bit, which f8E8M0FNU has not, as signed integers of at least 16 bits, and the sign."""
    bits = x.view(bits_dtype(x.dtype))
    if x.dtype.itemsize == 1:
        bits = bits.astype(np.uint16)
    sign_bit = 1 << bit_width(x.dtype) - (x.dtype != FLOAT8_E8M0FNU)
    magnitude = np.bitwise_and(bits, sign_bit - 1).view(signed_bits_dtype(bits.dtype))
    return magnitude, np.greater_equal(bits, sign_bit)


def _is_nan(x: Array) -> Array:
    return np.isnan(widen(x) if is_narrow_float(x.dtype) else x)


def _is_fnuz(dtype: DType) -> bool:
    return dtype.name.endswith("fnuz")


def _greatest(x: Array) -> Array:
    return x.dtype.type(np.iinfo(x.dtype).max)
