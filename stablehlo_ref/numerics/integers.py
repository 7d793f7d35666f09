"""Integer arithmetic modulo two to the bit width. No operation traps.

Most public names are kernel factories for the op of that name (spec, "Operations"). Implementation-defined results
are those of XLA's CPU compiler: `x / 0` has all bits set, `x rem 0` is `x`, the smallest integer divided by -1 is
itself, and shifts by the bit width or more (or by a negative amount, which counts as a large unsigned one) shift out
all bits.

Integers of 2 and 4 bits are computed as 8-bit integers, of which the low bits are kept.
"""

from __future__ import annotations

from functools import cache
from typing import cast

import numpy as np

from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.types import IntegerType
from stablehlo_ref.numerics.blocks import SMALL, by_blocks, copy_into, in_blocks
from stablehlo_ref.numerics.dtypes import (
    BOOL,
    FLOAT32,
    FLOAT64,
    INT8,
    INT64,
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
from stablehlo_ref.numerics.kernels import ArrayKernel, KernelFactory, same_kernel

# --- factories ------------------------------------------------------------------------------------------------------


@cache
def unpack(dtype: DType) -> ArrayKernel:
    """Return a kernel that converts arrays of a 2-bit or 4-bit integer `dtype` to i8 or ui8."""
    sign_bit = 1 << bit_width(dtype) - 1
    if is_signed(dtype):
        return lambda x: np.subtract(np.bitwise_xor(x.view(INT8), sign_bit), sign_bit)
    return lambda x: x.view(UINT8)


@cache
def pack(dtype: DType) -> ArrayKernel:
    """Return a kernel that converts the low bits of i8 or ui8 arrays to a 2-bit or 4-bit integer `dtype`."""
    low_bits = _low_bits_of(dtype)
    return lambda x: np.bitwise_and(x.view(UINT8), low_bits).view(dtype)


def pack_into(x: Array, out: Array) -> Array:
    """Store the low bits of integers of 8 or more bits in an array of a 2-bit or 4-bit integer dtype."""
    octets = out.view(UINT8)
    np.copyto(octets, x, casting="unsafe")
    np.bitwise_and(octets, _low_bits_of(out.dtype), out=octets)
    return out


def _low_bits_of(dtype: DType) -> Array:
    low_bits: Array = UINT8.type((1 << bit_width(dtype)) - 1)
    return low_bits


def _unpacked(factory: KernelFactory) -> KernelFactory:
    """Extend a factory to 2-bit and 4-bit integers, which are unpacked for the kernel for 8 bits."""

    def extended(dtype: DType) -> ArrayKernel:
        if not is_sub_byte_integer(dtype):
            return factory(dtype)
        load, kernel, store = unpack(dtype), factory(INT8 if is_signed(dtype) else UINT8), pack(dtype)
        return lambda *operands: store(kernel(*[load(x) for x in operands]))

    return extended


def _low_bits(ufunc: ArrayKernel) -> KernelFactory:
    """Return the factory of a `ufunc` in whose results low bits depend on low bits alone."""

    def factory(dtype: DType) -> ArrayKernel:
        if not is_sub_byte_integer(dtype):
            return ufunc
        low_bits = _low_bits_of(dtype)

        def run(*operands: Array) -> Array:
            octets = ufunc(*[x.view(UINT8) for x in operands])
            return np.bitwise_and(octets, low_bits, out=octets if octets.ndim else None).view(dtype)

        return run

    return factory


def clip(low: Array, x: Array, high: Array) -> Array:
    """Return `minimum(maximum(x, low), high)`; NaNs stay NaNs."""
    if x.size >= SMALL and low.ndim == high.ndim == 0:
        return np.clip(x, low, high)  # np.maximum and np.minimum of an array and a scalar are slow
    clipped: Array = np.minimum(np.maximum(x, low), high)
    return clipped


# --- division -------------------------------------------------------------------------------------------------------


def _unsigned_divide(x: Array, y: Array) -> Array:
    quotient = np.floor_divide(x, y)
    zero = np.equal(y, 0)
    return np.where(zero, ~x.dtype.type(0), quotient) if np.count_nonzero(zero) else quotient


def _signed_divide(x: Array, y: Array) -> Array:
    quotient = _divide_magnitudes(x, y) if x.dtype.itemsize == 8 else _divide_as_f64(x, y)
    special = np.less_equal(np.add(y, 1).view(bits_dtype(x.dtype)), 1)  # divisors 0 and -1
    if not np.count_nonzero(special):
        return quotient
    return np.where(special, np.where(np.equal(y, 0), x.dtype.type(-1), np.negative(x)), quotient)


def _divide_as_f64(x: Array, y: Array) -> Array:
    """Divide in f64, which is exact up to 32 bits: other quotients are too far from integers to be rounded to them."""
    quotient: Array = np.divide(x.astype(FLOAT64), y.astype(FLOAT64)).astype(x.dtype)
    return quotient


def _divide_magnitudes(x: Array, y: Array) -> Array:
    """Divide magnitudes: numpy divides unsigned integers much faster than signed ones, and toward zero."""
    magnitude = np.floor_divide(np.absolute(x).view(UINT64), np.absolute(y).view(UINT64)).view(x.dtype)
    sign = np.right_shift(np.bitwise_xor(x, y), 63)
    quotient: Array = np.subtract(np.bitwise_xor(magnitude, sign), sign)
    return quotient


@_unpacked
def divide(dtype: DType) -> ArrayKernel:
    """Return the kernel of quotients rounded toward zero."""
    return in_blocks(_signed_divide if is_signed(dtype) else _unsigned_divide, dtype)


def _remainder(x: Array, y: Array) -> Array:
    result = np.fmod(x, y)
    zero = np.equal(y, 0)
    return np.where(zero, x, result) if np.count_nonzero(zero) else result


remainder = _unpacked(same_kernel(_remainder))


# --- powers ---------------------------------------------------------------------------------------------------------


def _signed_power(x: Array, y: Array) -> Array:
    """Compute powers where a negative exponent means the reciprocal rounded toward zero: 0 unless `x` is 1 or -1.

    The result is also 0 for `x = 0`.
    """
    negative = np.less(y, 0)
    if not np.count_nonzero(negative):
        return np.power(x, y)
    is_unit = np.equal(np.absolute(x), 1)
    result = np.power(x, np.where(negative, np.bitwise_and(y, 1), y))
    return np.where(negative & ~is_unit, x.dtype.type(0), result)


@_unpacked
def power(dtype: DType) -> ArrayKernel:
    """Return the kernel of `x` to the power of `y`; 0 to the power of 0 is 1."""
    return in_blocks(_signed_power if is_signed(dtype) else np.power, dtype)


# --- bits -----------------------------------------------------------------------------------------------------------


def shift_right_arithmetic(dtype: DType) -> ArrayKernel:
    """Return the kernel that shifts in copies of the sign bit, also for unsigned integers."""
    signed = numpy_dtype(IntegerType(bit_width(dtype)))
    shift = _unpacked(same_kernel(np.right_shift))(signed)
    return shift if signed == dtype else lambda x, y: shift(x.view(signed), y.view(signed)).view(dtype)


def shift_right_logical(dtype: DType) -> ArrayKernel:
    """Return the kernel that shifts in zeros."""
    bits = bits_dtype(dtype)
    if dtype == bits:
        return np.right_shift
    return lambda x, y: np.right_shift(x.view(bits), y.view(bits)).view(dtype)


def count_leading_zeros(dtype: DType) -> ArrayKernel:
    """Return the kernel that counts zero bits above the highest one bit, by the exponent of the integer as a float."""
    wide = FLOAT64 if dtype.itemsize == 8 else FLOAT32
    bits, wide_bits, signed = bits_dtype(dtype), bits_dtype(wide), signed_bits_dtype(wide)
    mantissa, width = mantissa_bits(wide), bit_width(dtype)
    exponent_for_none = signed.type((1 << exponent_bits(wide) - 1) - 1 + width - 1)
    none, all_bits = signed.type(0), signed.type(width)

    def exponents(x: Array) -> Array:
        x = x.view(bits)
        rest = np.right_shift(x, 1)
        rest &= x
        rest ^= x  # without the bits below a one bit, so that it never rounds up to a power of two
        if bits == wide_bits:
            rest = rest.view(signed)  # numpy converts signed integers faster; a sign bit acts as a huge exponent
        exponent = rest.astype(wide).view(wide_bits)
        exponent >>= wide_bits.type(mantissa)
        return exponent.view(signed)

    def into(x: Array, out: Array) -> Array:
        exponent = exponents(x)
        zeros = out.view(signed) if out.itemsize == signed.itemsize else exponent
        np.subtract(exponent_for_none, exponent, out=zeros)
        np.clip(zeros, none, all_bits, out=zeros)
        if zeros is exponent:
            copy_into(zeros, out.view(bits))
        return out

    def small(x: Array) -> Array:
        return clip(none, np.subtract(exponent_for_none, exponents(x)), all_bits).astype(bits).view(dtype)

    return by_blocks(into, dtype, small)


def count_trailing_zeros(dtype: DType) -> ArrayKernel:
    """Return the kernel of the number of zero bits below the lowest one; the bit width of zero."""
    if dtype == BOOL:
        return np.logical_not
    minus, both, ones = subtract(dtype), bitwise_and(dtype), popcnt(dtype)
    one, invert = np.ones((), dtype)[()], bitwise_not(dtype)
    return lambda x: ones(both(invert(x), minus(x, one)))


def popcnt(dtype: DType) -> ArrayKernel:
    """Return the kernel that counts one bits; a count of 2 in a signed 2-bit integer is -2."""
    bits = bits_dtype(dtype)
    return lambda x: np.bitwise_count(x.view(bits)).astype(bits, copy=False).view(dtype)


# --- other ops ------------------------------------------------------------------------------------------------------


add = _low_bits(np.add)
subtract = _low_bits(np.subtract)
multiply = _low_bits(np.multiply)
negate = _low_bits(np.negative)
shift_left = _unpacked(same_kernel(np.left_shift))
bitwise_and = _low_bits(np.bitwise_and)
bitwise_or = _low_bits(np.bitwise_or)
bitwise_xor = _low_bits(np.bitwise_xor)
bitwise_not = _low_bits(np.invert)
abs = _unpacked(same_kernel(np.absolute))
sign = _unpacked(same_kernel(np.sign))
maximum = _unpacked(same_kernel(np.maximum))
minimum = _unpacked(same_kernel(np.minimum))
clamp = _unpacked(same_kernel(clip))


def compare(direction: str) -> KernelFactory:
    """Return the factory for a comparison direction: "EQ", "NE", "GE", "GT", "LE" or "LT"."""
    comparison = COMPARISONS[direction]

    def factory(dtype: DType) -> ArrayKernel:
        if not is_sub_byte_integer(dtype):
            return comparison
        load = unpack(dtype)
        return lambda x, y: comparison(load(x), load(y))

    return factory


def clamp_index(start: Array, last: int) -> Array:
    """Return indices of any integer dtype as intp, clamped to [0, last], where `last >= 0`."""
    if start.ndim == 0:
        return cast(Array, np.intp(min(max(int(start), 0), last)))
    if is_sub_byte_integer(start.dtype):
        start = unpack(start.dtype)(start)
    if start.dtype == UINT64:
        return np.minimum(start, np.uint64(last)).astype(np.intp)
    return np.minimum(np.maximum(start.astype(np.intp, copy=False), 0), last)


# --- the upper half of products -------------------------------------------------------------------------------------

_LOW = np.uint64(0xFFFFFFFF)


@cache
def mulhi(dtype: DType) -> ArrayKernel:
    """Return the kernel of the upper half of the bits of `x * y`."""
    if dtype == UINT64:
        return in_blocks(_unsigned_64, dtype)
    if dtype == INT64:
        return in_blocks(_signed_64, dtype)
    return _via_wider(INT64 if is_signed(dtype) else UINT64, dtype)


def _via_wider(wide: DType, dtype: DType) -> ArrayKernel:
    width = bit_width(dtype)
    if not is_sub_byte_integer(dtype):
        return in_blocks(lambda x, y: np.right_shift(x.astype(wide) * y.astype(wide), width).astype(dtype), dtype)
    load, store, eight = unpack(dtype), pack(dtype), INT8 if is_signed(dtype) else UINT8
    return lambda x, y: store(np.right_shift(load(x) * load(y), eight.type(width)))


def _unsigned_64(x: Array, y: Array) -> Array:
    """Multiply halves of 32 bits: (a*2**32 + b) * (c*2**32 + d)."""
    a, b, c, d = x >> np.uint64(32), x & _LOW, y >> np.uint64(32), y & _LOW
    middle = a * d + (b * d >> np.uint64(32))  # does not overflow
    return np.asarray(a * c + (middle >> np.uint64(32)) + ((middle & _LOW) + b * c >> np.uint64(32)))


def _signed_64(x: Array, y: Array) -> Array:
    """Correct the unsigned product: a negative operand counts as 2**64 too large, so subtract the other operand."""
    high = _unsigned_64(x.view(UINT64), y.view(UINT64)).view(INT64)
    return np.asarray(high - (x >> np.int64(63) & y) - (y >> np.int64(63) & x))
