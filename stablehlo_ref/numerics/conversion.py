"""Conversions between element types: `convert`, `bitcast_convert` and `reduce_precision` of the spec.

Implementation-defined results of `convert` are those of XLA's CPU compiler: integers wrap around, floats saturate (NaN
becomes 0), and values that are not representable round to nearest, ties to even, once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from stablehlo_ref.define.computation import Kernel
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.numerics.blocks import by_blocks, copy_into, in_blocks
from stablehlo_ref.numerics.dtypes import (
    BOOL,
    FLOAT32,
    FLOAT64,
    INT8,
    UINT8,
    UINT64,
    bit_width,
    bits_dtype,
    exponent_bits,
    float_info,
    is_narrow_float,
    is_signed,
    is_sub_byte_integer,
    kind,
    mantissa_bits,
    max_value,
    min_value,
    part_dtype,
)
from stablehlo_ref.numerics.integers import clip, pack, pack_into, unpack
from stablehlo_ref.numerics.kernels import ArrayKernel, Into, into_form
from stablehlo_ref.numerics.narrow_floats import narrow, tabulated, widen

# --- convert --------------------------------------------------------------------------------------------------------


@cache
def convert(from_dtype: DType, to_dtype: DType) -> ArrayKernel:
    """Return the kernel that converts arrays of `from_dtype` to `to_dtype` (spec, "convert")."""
    if from_dtype == to_dtype:
        return lambda x: x
    if kind(from_dtype) == "complex":
        return _from_complex(from_dtype, to_dtype)
    if kind(to_dtype) == "complex":
        to_part = convert(from_dtype, part_dtype(to_dtype))
        return lambda x: to_part(x).astype(to_dtype)
    if is_narrow_float(from_dtype):
        return _from_narrow_float(from_dtype, to_dtype)
    if is_sub_byte_integer(from_dtype):
        return _from_sub_byte(from_dtype, to_dtype)
    return _from_native(from_dtype, to_dtype)


def _from_complex(from_dtype: DType, to_dtype: DType) -> ArrayKernel:
    if kind(to_dtype) == "complex":
        return lambda x: x.astype(to_dtype)
    from_part = convert(part_dtype(from_dtype), to_dtype)
    return lambda x: from_part(x.real)


def _from_sub_byte(from_dtype: DType, to_dtype: DType) -> ArrayKernel:
    load, from_byte = unpack(from_dtype), convert(INT8 if is_signed(from_dtype) else UINT8, to_dtype)

    def kernel(x: Array) -> Array:
        return from_byte(load(x))

    store = into_form(from_byte)
    return Kernel(kernel, into=lambda x, out: store(load(x), out=out)) if store else kernel


def _from_narrow_float(from_dtype: DType, to_dtype: DType) -> ArrayKernel:
    """Convert through f32, which represents every value; with a table of all values where that is faster."""
    if to_dtype == FLOAT32:
        return widen
    from_f32 = convert(FLOAT32, to_dtype)

    def kernel(x: Array) -> Array:
        return from_f32(widen(x))

    by_table = from_dtype.itemsize == 1 or is_narrow_float(to_dtype)
    return tabulated(kernel, from_dtype) if by_table else in_blocks(kernel, to_dtype)


def _from_native(from_dtype: DType, to_dtype: DType) -> ArrayKernel:
    """Convert from booleans, integers of 8 bits or more, f32 or f64."""
    if to_dtype == BOOL:
        return lambda x: np.not_equal(x, 0)
    if is_narrow_float(to_dtype):
        return _from_boolean(to_dtype) if from_dtype == BOOL else _to_narrow_float(from_dtype, to_dtype)
    if kind(from_dtype) == "floating" and kind(to_dtype) == "integer":
        return _float_to_integer(from_dtype, to_dtype)
    if is_sub_byte_integer(to_dtype):
        store = pack(to_dtype)
        return Kernel(lambda x: store(x.astype(UINT8)), into=pack_into)
    return Kernel(lambda x: x.astype(to_dtype), into=copy_into)


def _from_boolean(to_dtype: DType) -> ArrayKernel:
    """Convert to a narrow float by arithmetic on the bits of zero and one."""
    zero, one = narrow(to_dtype)(np.array([0, 1], FLOAT32)).view(bits_dtype(to_dtype))
    step = np.subtract(one, zero)
    return lambda x: np.add(np.multiply(x, step), zero).view(to_dtype)


def _to_narrow_float(from_dtype: DType, to_dtype: DType) -> ArrayKernel:
    round_to = narrow(to_dtype)
    if kind(from_dtype) == "floating":
        return round_to
    if from_dtype.itemsize == 8:
        return in_blocks(lambda x: round_to(_to_odd_f64(x)), to_dtype)
    exact = FLOAT32 if from_dtype.itemsize <= 2 else FLOAT64
    return in_blocks(lambda x: round_to(x.astype(exact)), to_dtype)


def _to_odd_f64(x: Array) -> Array:
    """Return f64 numbers that round to a narrow format as the given 64-bit integers would.

    From 2^53 on, the low 12 bits are dropped, and the last remaining bit is set if any of them was ("round to odd").
    """
    dropped = (1 << 12) - 1
    bits = x.view(UINT64)
    odd = np.bitwise_or(np.add(np.bitwise_and(bits, dropped), dropped), bits)
    odd = np.bitwise_and(odd, ~dropped & (1 << 64) - 1).view(x.dtype)
    is_exact = np.less(np.absolute(x).view(UINT64), 1 << 53)
    return np.where(is_exact, x, odd).astype(FLOAT64)


def _float_to_integer(from_dtype: DType, to_dtype: DType) -> ArrayKernel:
    """Convert from f32 or f64: truncate, then clamp to the range of `to_dtype`; NaN becomes 0."""
    if is_sub_byte_integer(to_dtype):
        low, high = (from_dtype.type(int(bound(to_dtype))) for bound in (min_value, max_value))
        to_byte, store = _float_to_integer(from_dtype, INT8 if is_signed(to_dtype) else UINT8), pack(to_dtype)
        return lambda x: store(to_byte(clip(low, x, high)))
    is_in_range, saturate = _in_range(from_dtype, to_dtype), _saturate(from_dtype, to_dtype)
    least = min_value(to_dtype) if _marks_others(from_dtype, to_dtype) else None

    def into(x: Array, out: Array) -> Array:
        if least is not None:
            copy_into(x, out)
            return out if np.minimum.reduce(out, axis=None, initial=0) != least else copy_into(saturate(x), out)
        return copy_into(x if is_in_range(x) else saturate(x), out)

    def small(x: Array) -> Array:
        return x.astype(to_dtype) if is_in_range(x) else saturate(x)

    return Kernel(by_blocks(into, to_dtype, small), into=into)


def _in_range(from_dtype: DType, to_dtype: DType) -> Callable[[Array], bool]:
    """Return a test that the floats of an array are all in the range of `to_dtype`, and none is NaN."""
    limit = from_dtype.type(2.0 ** (bit_width(to_dtype) - is_signed(to_dtype)))
    least = -limit if is_signed(to_dtype) else 0

    def run(x: Array) -> bool:
        lowest, highest = (ufunc.reduce(x, axis=None, initial=0) for ufunc in (np.minimum, np.maximum))
        return bool(least <= lowest and highest < limit)

    return run


def _marks_others(from_dtype: DType, to_dtype: DType) -> bool:
    """Return whether NaNs and floats out of range become the smallest integer, as by the instructions of x86.

    Arrays have as many elements as a loop may treat at a time, or one more.
    """
    limit = 2.0 ** (bit_width(to_dtype) - 1)
    others = [np.nan, -np.nan, np.inf, -np.inf, limit, 1.5 * limit, -1.5 * limit, 2 * limit, -4 * limit, 1e30, -1e30]
    values = np.repeat(np.array(others, from_dtype), 65)
    with np.errstate(all="ignore"):  # while planning
        found = [values[i : i + n].astype(to_dtype) for n in (1, 64, 65) for i in range(0, values.size, 65)]
    return to_dtype in (np.int32, np.int64) and all((x == min_value(to_dtype)).all() for x in found)


def _saturate(from_dtype: DType, to_dtype: DType) -> ArrayKernel:
    largest = int(max_value(to_dtype))
    low, high = from_dtype.type(int(min_value(to_dtype))), _round_down(largest, from_dtype)
    above = to_dtype.type(largest - int(high))  # f32 cannot represent 2^31 - 1

    def run(x: Array) -> Array:
        result: Array = clip(low, x, high).astype(to_dtype)
        if above:
            result = np.add(result, np.multiply(np.greater(x, high), above))
        is_number = np.equal(x, x)  # the conversion of NaNs is platform-dependent
        return result if np.count_nonzero(is_number) == x.size else np.multiply(result, is_number)

    return run


def _round_down(value: int, dtype: DType) -> Array:
    """Return the largest number of `dtype` that is at most `value`, a positive integer."""
    unused = max(0, value.bit_length() - mantissa_bits(dtype) - 1)
    rounded: Array = dtype.type(value >> unused << unused)
    return rounded


# --- bitcast_convert ------------------------------------------------------------------------------------------------


@cache
def bitcast(from_dtype: DType, to_dtype: DType) -> ArrayKernel:
    """Return the kernel that reads the bits of arrays of `from_dtype` as `to_dtype` (spec, "bitcast_convert").

    If elements become narrower, the result has one more dimension, which enumerates the parts of an element from the
    least significant; if they become wider, the last dimension of the operand does.
    """
    from_width, to_width = bit_width(from_dtype), bit_width(to_dtype)
    if from_width == to_width:
        return lambda x: x.view(to_dtype)
    if min(from_width, to_width) >= 8:
        return _split_bytes(to_dtype) if from_width > to_width else _join_bytes(to_dtype)
    return _split_bits(from_width, to_dtype) if from_width > to_width else _join_bits(from_width, to_dtype)


def _split_bytes(to_dtype: DType) -> ArrayKernel:
    return lambda x: np.ascontiguousarray(np.asarray(x)[..., np.newaxis]).view(to_dtype)


def _join_bytes(to_dtype: DType) -> ArrayKernel:
    return lambda x: np.ascontiguousarray(x).view(to_dtype)[..., 0]


def _split_bits(from_width: int, to_dtype: DType) -> ArrayKernel:
    width = bit_width(to_dtype)
    shifts = np.arange(0, min(from_width, 8), width, dtype=np.uint8)
    to_bytes = _split_bytes(UINT8)

    def run(x: Array) -> Array:
        octets = to_bytes(x)[..., np.newaxis]
        parts = np.bitwise_and(np.right_shift(octets, shifts), (1 << width) - 1)
        return parts.reshape(*x.shape, from_width // width).view(to_dtype)

    return run


def _join_bits(from_width: int, to_dtype: DType) -> ArrayKernel:
    to_width = bit_width(to_dtype)
    shifts = np.arange(0, min(to_width, 8), from_width, dtype=np.uint8)
    from_bytes = _join_bytes(to_dtype)

    def run(x: Array) -> Array:
        parts = np.ascontiguousarray(x).view(UINT8).reshape(*x.shape[:-1], x.shape[-1] // shifts.size, shifts.size)
        return from_bytes(np.bitwise_or.reduce(np.left_shift(parts, shifts), axis=-1, dtype=np.uint8))

    return run


# --- reduce_precision -----------------------------------------------------------------------------------------------


@cache
def reduce_precision(dtype: DType, exponents: int, mantissas: int) -> ArrayKernel:
    """Return the kernel that rounds to a format of `exponents` and `mantissas` bits (spec, "reduce_precision").

    The mantissa rounds to nearest, ties to even (with `mantissas` 0, the parity is that of the exponent). If the format
    has fewer exponent bits than `dtype`, rounded numbers that are too large for it, with the bias and infinity of
    IEEE-754, become infinity, or what `dtype` has instead, and those that are subnormal in it become zero. NaNs stay
    NaNs if the format has mantissa bits, and become infinite otherwise.
    """
    if dtype.itemsize == 1:
        return tabulated(_reduce_small(dtype, exponents, mantissas), dtype)
    small, into = _reduce_special(dtype, exponents, mantissas), _reduce_precision(dtype, exponents, mantissas)
    return by_blocks(into, dtype, small)


def _reduce_small(dtype: DType, exponents: int, mantissas: int) -> ArrayKernel:
    """Handle formats of 8 bits and fewer, some without infinities, NaNs or negative zero: process signs separately."""
    width, dropped = mantissa_bits(dtype), max(0, mantissa_bits(dtype) - mantissas)
    one, largest = (int(np.array(x, dtype).view(UINT8)) for x in (1, float_info(dtype).max))
    smallest, too_large = 0, largest + 1
    if exponents < exponent_bits(dtype):
        bias, reduced_bias = one >> width, (1 << exponents - 1) - 1
        smallest, too_large = bias - reduced_bias + 1 << width, min(bias + reduced_bias + 1 << width, too_large)
    nan = np.float32(np.nan if mantissas else np.inf)

    def run(x: Array) -> Array:
        values = x.astype(FLOAT32)
        magnitude = np.absolute(values).astype(dtype).view(UINT8).astype(np.int16)
        magnitude = _round_off(dropped, magnitude)
        result = np.minimum(magnitude, largest).astype(UINT8).view(dtype).astype(FLOAT32)
        result = np.where(magnitude < too_large, result, np.float32(np.inf)) * (magnitude >= smallest)
        signed: Array = np.copysign(np.where(np.isnan(values), nan, result), values).astype(dtype)
        return signed

    return run


def _reduce_precision(dtype: DType, exponents: int, mantissas: int) -> Into:
    """Round off mantissas with their signs, and compute again where the range of the format or NaNs matter."""
    bits, width = bits_dtype(dtype), mantissa_bits(dtype)
    dropped = max(0, width - mantissas)
    smallest, too_large = _reduced_range(dtype, exponents)
    first = bits.type(smallest)  # of the magnitudes that stay in range when they are rounded off
    count = bits.type(max(0, min(too_large, 1 << 8 * dtype.itemsize - 1) - (1 << dropped) - smallest))
    reduce_special = _reduce_special(dtype, exponents, mantissas)
    magnitude_bits = bits.type((1 << 8 * dtype.itemsize - 1) - 1)

    def into(x: Array, out: Array) -> Array:
        operand, result = x.view(bits), out.view(bits)
        _round_off_into(dropped, operand, result)
        magnitude = np.bitwise_and(operand, magnitude_bits)
        np.subtract(magnitude, first, out=magnitude)
        special = np.greater_equal(magnitude, count)
        if (many := np.count_nonzero(special)) > x.size >> 3:
            out[...] = reduce_special(x)
        elif many:
            where = np.flatnonzero(special)
            out[where] = reduce_special(x[where])
        return out

    return into


def _round_off_into(dropped: int, operand: Array, out: Array) -> None:
    """Round off the last bits of floats to nearest, ties to even, except for NaNs and overflows."""
    type = operand.dtype.type
    if not dropped:
        out[...] = operand
        return
    np.right_shift(operand, type(dropped), out=out)
    np.bitwise_and(out, type(1), out=out)
    np.add(out, type((1 << dropped - 1) - 1), out=out)
    np.add(out, operand, out=out)
    np.bitwise_and(out, ~type((1 << dropped) - 1), out=out)


def _reduced_range(dtype: DType, exponents: int) -> tuple[int, int]:
    """Return the bits of the smallest normal number of the reduced format, or 0, and of the first too large one."""
    bias, reduced_bias = ((1 << min(n, exponent_bits(dtype)) - 1) - 1 for n in (exponent_bits(dtype), exponents))
    width = mantissa_bits(dtype)
    return bias - reduced_bias + 1 << width if reduced_bias < bias else 0, bias + reduced_bias + 1 << width


def _reduce_special(dtype: DType, exponents: int, mantissas: int) -> ArrayKernel:
    bits, width = bits_dtype(dtype), mantissa_bits(dtype)
    sign_bit, infinity = 1 << 8 * dtype.itemsize - 1, (1 << exponent_bits(dtype)) - 1 << width
    dropped = max(0, width - mantissas)
    smallest, too_large = _reduced_range(dtype, exponents)

    def run(x: Array) -> Array:
        operand = x.view(bits)
        magnitude = np.bitwise_and(operand, sign_bit - 1)
        magnitude = _round_off(dropped, magnitude)
        if smallest:
            magnitude *= np.greater_equal(magnitude, smallest)
        sign = np.bitwise_and(operand, sign_bit)
        is_out_of_range = np.greater_equal(magnitude, too_large)
        result = np.bitwise_or(magnitude, sign)
        if np.count_nonzero(is_out_of_range):
            special = np.bitwise_or(sign, infinity)
            if mantissas:
                is_nan = np.greater(np.bitwise_and(operand, sign_bit - 1), infinity)
                special = np.where(is_nan, operand, special)
            result = np.where(is_out_of_range, special, result)
        return result.view(dtype)

    return run


def _round_off(bits: int, magnitude: Array) -> Array:
    """Round off the last `bits` bits to nearest, ties to even. Arrays are modified in place."""
    if bits:
        magnitude += np.bitwise_and(np.right_shift(magnitude, bits), 1)
        magnitude += (1 << bits - 1) - 1
        magnitude &= ~magnitude.dtype.type((1 << bits) - 1)
    return magnitude
