"""Integer arithmetic, modulo two to the bit width; nothing traps.

Each public name is a kernel factory for the op of that name (spec, "Operations"); `same`, `compare` and `clamp_index`
say what they are. Where the spec leaves a result open it is that of XLA's CPU compiler: `x / 0` has all bits set,
`x rem 0 = x`, the smallest number divided by -1 is itself, and shifts by the bit width or more (or by a negative
amount, a large unsigned one) shift everything out.

Integers of 2 and 4 bits are computed as 8-bit ones, of which the low bits are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TypeAlias

import numpy as np

from stablehlo_ref.ir.types import IntegerType
from stablehlo_ref.numerics.dtypes import (
    FLOAT32,
    FLOAT64,
    INT8,
    UINT8,
    UINT64,
    bit_width,
    bits_dtype,
    exponent_bits,
    is_signed,
    is_sub_byte_integer,
    mantissa_bits,
    numpy_dtype,
    signed_bits_dtype,
)
from stablehlo_ref.numerics.floats import COMPARISONS
from stablehlo_ref.numerics.narrow import SMALL, Array, DType, Kernel, in_blocks

Factory: TypeAlias = Callable[[DType], Kernel]


# --- factories ------------------------------------------------------------------------------------------------------


def same(kernel: Kernel) -> Factory:
    """The factory of one kernel for every dtype."""
    return lambda dtype: kernel


@cache
def unpack(dtype: DType) -> Kernel:
    """A kernel from arrays of a 2-bit or 4-bit integer `dtype` to i8 or ui8."""
    sign_bit = 1 << bit_width(dtype) - 1
    if is_signed(dtype):
        return lambda x: np.subtract(np.bitwise_xor(x.view(INT8), sign_bit), sign_bit)
    return lambda x: x.view(UINT8)


@cache
def pack(dtype: DType) -> Kernel:
    """A kernel from the low bits of i8 or ui8 arrays to a 2-bit or 4-bit integer `dtype`."""
    low_bits = UINT8.type((1 << bit_width(dtype)) - 1)
    return lambda x: np.bitwise_and(x.view(UINT8), low_bits).view(dtype)


def _unpacked(factory: Factory) -> Factory:
    """`factory`, and for narrower dtypes its kernel for 8 bits."""

    def extended(dtype: DType) -> Kernel:
        if not is_sub_byte_integer(dtype):
            return factory(dtype)
        load, kernel, store = unpack(dtype), factory(INT8 if is_signed(dtype) else UINT8), pack(dtype)
        return lambda *operands: store(kernel(*[load(x) for x in operands]))

    return extended


def _low_bits(ufunc: Kernel) -> Factory:
    """The kernels of a `ufunc` in whose results low bits depend on low bits alone."""

    def factory(dtype: DType) -> Kernel:
        if not is_sub_byte_integer(dtype):
            return ufunc
        store = pack(dtype)
        return lambda *operands: store(ufunc(*[x.view(UINT8) for x in operands]))

    return factory


def limit(low: Array, x: Array, high: Array) -> Array:
    """`minimum(maximum(x, low), high)`, which leaves a NaN what it is."""
    if x.size >= SMALL and low.ndim == high.ndim == 0:
        return np.clip(x, low, high)  # numpy is slow to take the larger or the smaller of an array and a scalar
    return np.minimum(np.maximum(x, low), high)


# --- division -------------------------------------------------------------------------------------------------------


def _unsigned_divide(x: Array, y: Array) -> Array:
    quotient = np.floor_divide(x, y)
    zero = np.equal(y, 0)
    return np.where(zero, ~x.dtype.type(0), quotient) if np.count_nonzero(zero) else quotient


def _signed_divide(x: Array, y: Array) -> Array:
    quotient = _divide_magnitudes(x, y) if x.dtype.itemsize == 8 else _divide_as_f64(x, y)
    special = np.less_equal(np.add(y, 1).view(bits_dtype(x.dtype)), 1)  # 0 and -1, of which the quotients may overflow
    if not np.count_nonzero(special):
        return quotient
    return np.where(special, np.where(np.equal(y, 0), x.dtype.type(-1), np.negative(x)), quotient)


def _divide_as_f64(x: Array, y: Array) -> Array:
    """Exact for 32 bits: a quotient that is no integer is farther from the next one than it can be rounded."""
    return np.divide(x.astype(FLOAT64), y.astype(FLOAT64)).astype(x.dtype)


def _divide_magnitudes(x: Array, y: Array) -> Array:
    """numpy divides unsigned integers much faster than signed ones, and towards zero."""
    magnitude = np.floor_divide(np.absolute(x).view(UINT64), np.absolute(y).view(UINT64)).view(x.dtype)
    sign = np.right_shift(np.bitwise_xor(x, y), 63)
    return np.subtract(np.bitwise_xor(magnitude, sign), sign)


@_unpacked
def divide(dtype: DType) -> Kernel:
    """The quotient, its fraction discarded."""
    return in_blocks(_signed_divide if is_signed(dtype) else _unsigned_divide, dtype)


def _remainder(x: Array, y: Array) -> Array:
    result = np.fmod(x, y)
    zero = np.equal(y, 0)
    return np.where(zero, x, result) if np.count_nonzero(zero) else result


remainder = _unpacked(same(_remainder))


# --- powers ---------------------------------------------------------------------------------------------------------


def _power(x: Array, y: Array) -> Array:
    """By squaring, in as many rounds as the largest exponent has bits."""
    if x.size < SMALL:
        return np.power(x, y)
    result, square, rest = np.ones_like(x), x.copy(), y.copy()
    while True:
        factor = np.subtract(square, 1)
        factor *= np.bitwise_and(rest, 1)
        factor += 1  # the square, or 1
        result *= factor
        rest >>= 1
        if not np.count_nonzero(rest):
            return result
        square *= square


def _signed_power(x: Array, y: Array) -> Array:
    """A negative exponent gives the reciprocal, its fraction discarded: 0 unless `x` is 1 or -1 (0 for `x = 0` too)."""
    negative = np.less(y, 0)
    if not np.count_nonzero(negative):
        return _power(x, y)
    is_unit = np.equal(np.absolute(x), 1)
    result = _power(x, np.where(negative, np.bitwise_and(y, 1), y))
    return np.where(negative & ~is_unit, x.dtype.type(0), result)


@_unpacked
def power(dtype: DType) -> Kernel:
    """`x` to the power of `y`; 0 to the power of 0 is 1."""
    return in_blocks(_signed_power if is_signed(dtype) else _power, dtype)


# --- bits -----------------------------------------------------------------------------------------------------------


def shift_right_arithmetic(dtype: DType) -> Kernel:
    """Shifts in copies of the uppermost bit, of unsigned integers too."""
    signed = numpy_dtype(IntegerType(bit_width(dtype)))
    shift = _unpacked(same(np.right_shift))(signed)
    return shift if signed == dtype else lambda x, y: shift(x.view(signed), y.view(signed)).view(dtype)


def shift_right_logical(dtype: DType) -> Kernel:
    """Shifts in zeros."""
    bits = bits_dtype(dtype)
    return lambda x, y: np.right_shift(x.view(bits), y.view(bits)).view(dtype)


def count_leading_zeros(dtype: DType) -> Kernel:
    """The number of zero bits above the uppermost one bit, from the exponent of the integer as a float."""
    wide = FLOAT64 if dtype.itemsize == 8 else FLOAT32
    bits, wide_bits, signed = bits_dtype(dtype), bits_dtype(wide), signed_bits_dtype(wide)
    mantissa, width = mantissa_bits(wide), bit_width(dtype)
    exponent_for_none = (1 << exponent_bits(wide) - 1) - 1 + width - 1
    none, all_bits = signed.type(0), signed.type(width)

    def run(x: Array) -> Array:
        x = x.view(bits)
        x = np.bitwise_and(x, np.invert(np.right_shift(x, 1)))  # so that it does not round up to a power of two
        if bits == wide_bits:
            x = x.view(signed)  # numpy converts these faster; a sign counts as a huge exponent
        exponent = np.right_shift(x.astype(wide).view(wide_bits), mantissa)
        zeros = np.subtract(exponent_for_none, exponent).view(signed)
        return limit(none, zeros, all_bits).astype(bits, copy=False).view(dtype)

    return in_blocks(run, dtype)


def popcnt(dtype: DType) -> Kernel:
    """The number of one bits; in 2-bit integers, 2 is -2 if they are signed."""
    bits = bits_dtype(dtype)
    return lambda x: np.bitwise_count(x.view(bits)).astype(bits, copy=False).view(dtype)


# --- the rest -------------------------------------------------------------------------------------------------------


add = _low_bits(np.add)
subtract = _low_bits(np.subtract)
multiply = _low_bits(np.multiply)
negate = _low_bits(np.negative)
shift_left = _unpacked(same(np.left_shift))
bitwise_and = _low_bits(np.bitwise_and)
bitwise_or = _low_bits(np.bitwise_or)
bitwise_xor = _low_bits(np.bitwise_xor)
bitwise_not = _low_bits(np.invert)
abs = _unpacked(same(np.absolute))
sign = _unpacked(same(np.sign))
maximum = _unpacked(same(np.maximum))
minimum = _unpacked(same(np.minimum))
clamp = _unpacked(same(limit))


def compare(direction: str) -> Factory:
    """The factory for a comparison direction: "EQ", "NE", "GE", "GT", "LE" or "LT"."""
    comparison = COMPARISONS[direction]

    def factory(dtype: DType) -> Kernel:
        if not is_sub_byte_integer(dtype):
            return comparison
        load = unpack(dtype)
        return lambda x, y: comparison(load(x), load(y))

    return factory


def clamp_index(start: Array, last: int) -> Array:
    """Indices of any integer dtype as intp, moved into [0, last] (`last >= 0`)."""
    if start.ndim == 0:
        return np.intp(min(max(int(start), 0), last))
    if is_sub_byte_integer(start.dtype):
        start = unpack(start.dtype)(start)
    if start.dtype == UINT64:
        return np.minimum(start, np.uint64(last)).astype(np.intp)
    return np.minimum(np.maximum(start.astype(np.intp, copy=False), 0), last)
