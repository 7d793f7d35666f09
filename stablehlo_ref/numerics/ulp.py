"""Map floating-point numbers to integers: keys in totalOrder, and distances in units in the last place (ULPs)."""

from __future__ import annotations

import numpy as np

from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.numerics.dtypes import (
    FLOAT8_E8M0FNU,
    UINT64,
    bit_width,
    bits_dtype,
    kind,
    signed_bits_dtype,
)
from stablehlo_ref.numerics.narrow_floats import widen_if_narrow


def ordered_bits(x: Array) -> Array:
    """Return integers ordered as the floats `x` in IEEE-754 totalOrder: -NaN < -inf < ... < -0 < +0 < ... < +NaN.

    The integers are signed, of the size of the elements but at least 16 bits, and consecutive for adjacent numbers; +0
    maps to 0. The only NaN of the FNUZ formats, whose bits would be those of -0, is -NaN, the first.
    """
    magnitude, is_negative = _magnitude_and_sign(x)
    key: Array = np.bitwise_xor(magnitude, np.negative(is_negative.astype(magnitude.dtype)))
    return np.where(_is_nan(x), np.iinfo(key.dtype).min, key) if _is_fnuz(x.dtype) else key


def ulp_distance(actual: Array, expected: Array) -> Array:
    """Return the distance of each pair of numbers in steps between adjacent representable values, as ui64.

    -0 equals +0, and infinity follows the largest number. A NaN has distance 0 from any NaN, and the largest ui64 from
    any number. The distance of complex numbers is the larger of the distances of their parts.
    """
    distance: Array
    if kind(actual.dtype) == "complex":
        distance = np.maximum(ulp_distance(actual.real, expected.real), ulp_distance(actual.imag, expected.imag))
        return distance
    x, y = _steps_from_zero(actual), _steps_from_zero(expected)
    distance = np.subtract(np.maximum(x, y).view(UINT64), np.minimum(x, y).view(UINT64))
    x_is_nan, y_is_nan = _is_nan(actual), _is_nan(expected)
    if not (x_is_nan.any() or y_is_nan.any()):
        return distance
    distance = np.where(np.logical_and(x_is_nan, y_is_nan), UINT64.type(0), distance)
    return np.where(np.not_equal(x_is_nan, y_is_nan), _max_of_dtype(distance), distance)


def _steps_from_zero(x: Array) -> Array:
    magnitude, is_negative = _magnitude_and_sign(x)
    magnitude = magnitude.astype(np.int64)
    return np.where(is_negative, np.negative(magnitude), magnitude)


def _magnitude_and_sign(x: Array) -> tuple[Array, Array]:
    """Return the bits without the sign bit, as signed integers of at least 16 bits, and whether the sign bit is set.

    f8E8M0FNU has no sign bit.
    """
    bits = x.view(bits_dtype(x.dtype))
    if x.dtype.itemsize == 1:
        bits = bits.astype(np.uint16)
    sign_bit = 1 << bit_width(x.dtype) - (x.dtype != FLOAT8_E8M0FNU)
    magnitude = np.bitwise_and(bits, sign_bit - 1).view(signed_bits_dtype(bits.dtype))
    return magnitude, np.greater_equal(bits, sign_bit)


def _is_nan(x: Array) -> Array:
    return np.asarray(np.isnan(widen_if_narrow(x)))


def _is_fnuz(dtype: DType) -> bool:
    return dtype.name.endswith("fnuz")


def _max_of_dtype(x: Array) -> Array:
    largest: Array = x.dtype.type(np.iinfo(x.dtype).max)
    return largest
