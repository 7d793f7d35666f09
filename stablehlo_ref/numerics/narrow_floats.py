"""Floating-point formats of 16 bits and fewer: compute in a wider format, round once (IEEE-754 roundTiesToEven).

ml_dtypes and numpy convert most of these formats slowly, and round twice when converting from f64. Here large arrays
are converted block by block with integer arithmetic on their bits or with lookup tables. Out-of-range values and NaNs
convert as in ml_dtypes: to infinity if the format has it, else to NaN, else to the largest number. f8E8M0FNU, which
has no mantissa bits to be even or odd, rounds ties up, and smaller positive numbers up to its smallest number.
"""

from __future__ import annotations

from functools import cache, partial, reduce

import ml_dtypes
import numpy as np

from stablehlo_ref.define.computation import Kernel
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.numerics.blocks import SMALL, by_blocks, copy_into, in_blocks
from stablehlo_ref.numerics.dtypes import (
    BFLOAT16,
    FLOAT8_E8M0FNU,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    UINT16,
    bits_dtype,
    is_narrow_float,
)
from stablehlo_ref.numerics.kernels import ArrayKernel, Into
from stablehlo_ref.numerics.layout import scratch

_SMALLEST_E8M0 = 2.0**-127  # the smallest number of f8E8M0FNU

WITHOUT_NAN = tuple(map(np.dtype, (ml_dtypes.float4_e2m1fn, ml_dtypes.float6_e2m3fn, ml_dtypes.float6_e3m2fn)))

# ml_dtypes' own loops for these ufuncs compute in f32 and round once, as `rounded` does, with less overhead.
_ROUNDED_ONCE = (np.add, np.subtract, np.multiply, np.divide)


# --- public ---------------------------------------------------------------------------------------------------------


def _widened(x: Array) -> Array:
    if x.size < SMALL:
        return x.astype(np.float32)
    return _widen(x.dtype)(x)


def _widen_into(x: Array, out: Array) -> Array:
    if x.dtype == BFLOAT16:  # numpy's conversion of any layout is fast
        return copy_into(x, out)
    return _widen(x.dtype)(x, out=out)


widen = Kernel(_widened, into=_widen_into)
"""The kernel that returns the values of a narrow float array as f32, exactly."""


def widen_if_narrow(x: Array) -> Array:
    """Return narrow floats as f32, and other arrays as they are."""
    return widen(x) if is_narrow_float(x.dtype) else x


@cache
def narrow(dtype: DType) -> ArrayKernel:
    """Return a kernel that rounds f32 and f64 arrays to the floating-point `dtype`, once, ties to even."""
    if not is_narrow_float(dtype):
        return lambda x: x.astype(dtype, copy=False)
    narrow_into = _narrow_into(dtype)
    kernel = by_blocks(narrow_into, dtype, partial(_narrow_small, dtype))
    return Kernel(kernel, into=narrow_into if dtype == BFLOAT16 else kernel)


def rounded(function: ArrayKernel, dtype: DType) -> ArrayKernel:
    """Return a kernel for `dtype` that applies an elementwise `function` of f32 arrays and rounds its results.

    `function` returns f32 or f64. Operands broadcast; `function` gets large ones in 1-dimensional blocks, and scalars
    as scalars.
    """
    if not is_narrow_float(dtype):
        return function
    if dtype in WITHOUT_NAN:
        function = _with_positive_nans(function)
    if function in _ROUNDED_ONCE:
        if dtype == FLOAT8_E8M0FNU:  # products and quotients may be outside the range of f32
            return lambda *operands: narrow(dtype)(function(*[x.astype(FLOAT64) for x in operands]))
        return in_blocks(function, dtype, widen, _narrow_into(dtype), function)

    def small(*operands: Array) -> Array:
        return _narrow_small(dtype, function(*[x.astype(FLOAT32) for x in operands]))

    return in_blocks(function, dtype, widen, _narrow_into(dtype), small)


def _with_positive_nans(function: ArrayKernel) -> ArrayKernel:
    """Give NaNs one sign: that of the zeros that they become in a format without NaN."""

    def run(*operands: Array) -> Array:
        x = function(*operands)
        return np.where(np.isnan(x), x.dtype.type(np.nan), x)

    return run


def widened(function: ArrayKernel, dtype: DType, result_dtype: DType) -> ArrayKernel:
    """Like `rounded`, for a `function` whose results are of `result_dtype` and need no rounding, as comparisons."""
    if not is_narrow_float(dtype):
        return function
    return in_blocks(function, result_dtype, widen)


def tabulated(kernel: ArrayKernel, dtype: DType) -> ArrayKernel:
    """Return a kernel that computes large arrays with a lookup table of an elementwise `kernel`.

    `kernel` takes one array of an 8-bit or 16-bit `dtype`. The table is computed for the first large array.
    """
    entries, bits = 1 << 8 * dtype.itemsize, bits_dtype(dtype)

    @cache
    def look_up() -> ArrayKernel:
        table = kernel(np.arange(entries).astype(bits).view(dtype))
        return by_blocks(_look_up_into(table), table.dtype, kernel)

    return lambda x: kernel(x) if x.size < entries else look_up()(x)


def tabulated_pairs(kernel: ArrayKernel, dtype: DType) -> ArrayKernel:
    """Like `tabulated`, for a `kernel` of two arrays of an 8-bit `dtype`."""

    def of_pairs(pairs: Array) -> Array:
        sides = np.ascontiguousarray(np.ascontiguousarray(pairs).view(np.uint8).reshape(-1, 2).T).view(dtype)
        return kernel(*sides).reshape(pairs.shape)

    tabulated_kernel = tabulated(of_pairs, UINT16)

    def run(x: Array, y: Array) -> Array:
        if x.size < 1 << 16 or x.shape != y.shape:
            return kernel(x, y)
        return tabulated_kernel(paired(x, y))

    def paired(x: Array, y: Array) -> Array:
        pairs = y.view(np.uint8).astype(np.uint16)
        pairs <<= 8
        pairs |= x.view(np.uint8)
        return pairs

    return run


# --- to f32 ---------------------------------------------------------------------------------------------------------


@cache
def _widen(dtype: DType) -> ArrayKernel:
    if dtype == BFLOAT16:
        into: Into = copy_into
    elif dtype == FLOAT16:
        into = _widen_f16_into
    else:
        into = _look_up_into(np.arange(256).astype(np.uint8).view(dtype).astype(np.float32))
    return by_blocks(into, FLOAT32, lambda x: x.astype(FLOAT32))


def _widen_f16_into(x: Array, out: Array) -> Array:
    """Move exponent and mantissa to their positions in f32, and correct the exponent bias by a multiplication.

    This is exact, also for subnormal numbers, except for infinities and NaNs, which are converted separately.
    """
    bits = out.view(np.int32)
    bits[...] = x.view(np.int16)
    np.left_shift(bits, 13, out=bits)
    np.bitwise_and(bits, ~0x70000000, out=bits)
    np.multiply(out, np.float32(2.0**112), out=out)
    magnitude = np.bitwise_and(x.view(np.uint16), 0x7FFF)
    if magnitude.max() >= 0x7C00:
        special = np.flatnonzero(magnitude >= 0x7C00)
        out[special] = x[special].astype(np.float32)
    return out


# --- from f32 and f64 -----------------------------------------------------------------------------------------------


@cache
def _narrow_into(dtype: DType) -> Into:
    if dtype == BFLOAT16:
        from_f32: Into = copy_into
    elif dtype == FLOAT16:
        from_f32 = _narrow_f16_into
    else:
        from_f32 = _narrow_8_bit_into(dtype)
    to_f32 = _to_f32(dtype)
    return lambda x, out: from_f32(to_f32(x) if x.itemsize == 8 else x, out)


def _narrow_small(dtype: DType, x: Array) -> Array:
    if x.itemsize == 8 and dtype is not FLOAT16:  # numpy's conversion from f64 to f16 rounds once
        x = _to_f32(dtype)(x)
    return _cast(x, dtype)


def _cast(x: Array, dtype: DType) -> Array:
    """Convert with ml_dtypes, but round to nearest between the two smallest numbers of f8E8M0FNU.

    ml_dtypes rounds all numbers between those two up.
    """
    if dtype == FLOAT8_E8M0FNU:
        x = np.where(np.greater(x, _SMALLEST_E8M0) & np.less(x, 1.5 * _SMALLEST_E8M0), _SMALLEST_E8M0, x)
    return x.astype(dtype)


def _to_f32(dtype: DType) -> ArrayKernel:
    """Return a kernel from f64 to f32 such that results round to `dtype` as the operands would."""
    if dtype != FLOAT8_E8M0FNU:
        return _to_odd_f32

    def run(x: Array) -> Array:
        return _to_odd_f32(np.where(np.greater(x, 0), np.maximum(x, _SMALLEST_E8M0), x))

    return run


def _to_odd_f32(x: Array) -> Array:
    """Round f64 to f32 with 15 significant bits: truncate, and set the last bit if any were lost ("round to odd").

    Rounding the result further, to at most 13 bits, yields the same as rounding `x` itself. (15 bits also because the
    f32 subnormals near half of bf16's smallest number have no more.)
    """
    dropped = (1 << 38) - 1
    bits = x.view(np.uint64)
    odd = np.bitwise_and(bits, dropped)
    odd += dropped  # carries into the last bit that is kept
    odd |= bits
    odd &= ~dropped & (1 << 64) - 1
    return odd.view(np.float64).astype(np.float32)


def _narrow_f16_into(x: Array, out: Array) -> Array:
    """Scale f32 so that its exponent becomes that of f16, also for subnormals, and take the upper bits of the result.

    numpy converts three kinds of elements: overflows, NaNs, and numbers that scaling has rounded to a tie between
    subnormals.
    """
    bits = np.multiply(x, np.float32(2.0**-112)).view(np.uint32)
    half = np.right_shift(bits, 13)
    half &= 1
    half += bits
    half += 0xFFF  # half a unit in the last place, or just less than half if the last bit is even
    half >>= 13
    sign = np.right_shift(x.view(np.uint32), 16)
    sign &= 0x8000
    half |= sign
    np.copyto(out.view(np.uint16), half, casting="unsafe")
    too_large = (31 << 23) - 0x1000
    bits &= 0x7FFFFFFF
    is_tie = np.equal(np.bitwise_and(bits, 0x7F801FFF), 0x1000)
    if bits.max() >= too_large or np.count_nonzero(is_tie):
        special = np.flatnonzero(is_tie | (bits >= too_large))
        out[special] = x[special].astype(np.float16)
    return out


def _narrow_8_bit_into(dtype: DType) -> Into:
    """Look up the upper 16 bits of f32, the last of them set if any lower bit is ("round to odd")."""
    with np.errstate(all="ignore"):  # the table contains NaNs, and is computed while planning
        table = _cast(np.arange(1 << 16).astype(np.uint16).view(BFLOAT16).astype(np.float32), dtype)
    look_up_into = _look_up_into(table)

    def into(x: Array, out: Array) -> Array:
        bits = x.view(np.uint32)
        odd = np.bitwise_and(bits, 0xFFFF)
        odd += 0xFFFF
        odd |= bits
        odd >>= 16
        return look_up_into(odd, out)

    return into


# --- tables ---------------------------------------------------------------------------------------------------------


def _look_up_into(table: Array) -> Into:
    """Return a function that looks up elements by their bits in a table of 256 or 65536 entries.

    Tables of 65536 entries also take ui32 arrays of indices.
    """
    result_bits = bits_dtype(table.dtype)
    entries = table.view(result_bits)
    if len(table) == 256 and table.itemsize <= 4:
        return _look_pairs_up_into(entries)

    def into(x: Array, out: Array) -> Array:
        index = (x if x.dtype == np.uint32 else x.view(bits_dtype(x.dtype))).astype(np.intp)
        entries.take(index, out=out.view(result_bits), mode="clip")
        return out

    return into


def _look_pairs_up_into(entries: Array) -> Into:
    """Return a function that looks up two 8-bit elements at a time, in a table of all pairs."""
    pair_bits = np.dtype(f"u{2 * entries.itemsize}")
    pair = np.arange(1 << 16)
    pairs = np.stack([entries[pair & 255], entries[pair >> 8]], axis=-1).view(pair_bits)[:, 0]

    def into(x: Array, out: Array) -> Array:
        bits, even = x.view(np.uint8), x.size & ~1
        pairs.take(bits[:even].view(np.uint16).astype(np.intp), out=out[:even].view(pair_bits), mode="clip")
        out[even:] = entries[bits[even:]].view(out.dtype)
        return out

    return into


# --- sums and differences of f16 --------------------------------------------------------------------------------------

_MAGNITUDE, _SIGN, _INFINITY = np.uint16(0x7FFF), np.uint16(0x8000), np.uint16(0x7C00)


def sum_of_f16(ufunc: np.ufunc) -> ArrayKernel:
    """Return np.add or np.subtract for f16 arrays, by operations on f32 and on bits, faster than by conversions.

    An f16 number times 2^-112 has the same exponent and mantissa as f32, 13 bits further left. So numbers are only
    moved, added as f32, and rounded off by integer arithmetic. Rounding twice is harmless, as f32 has more than twice
    the precision of f16; and the sums of subnormal numbers are exact. numpy adds infinities, NaNs, and what overflows.
    """

    def into(x: Array, y: Array, out: Array) -> Array:
        bits, spare = scratch("f16", out.shape).view(np.int32).reshape(2, -1)
        for operand, moved in ((x, bits), (y, spare)):
            moved[...] = operand.view(np.int16)
            np.left_shift(moved, np.int32(13), out=moved)
            np.bitwise_and(moved, np.int32(~0x70000000), out=moved)  # without copies of the sign bit
        ufunc(bits.view(FLOAT32), spare.view(FLOAT32), out=bits.view(FLOAT32))
        np.right_shift(bits, np.int32(13), out=spare)
        np.bitwise_and(spare, np.int32(1), out=spare)
        np.add(spare, np.int32(0xFFF), out=spare)  # half a unit in the last place, or just less if the last bit is even
        np.add(bits, spare, out=bits)
        sign = np.right_shift(bits, np.int32(16), out=spare).astype(np.uint16)
        result = out.view(np.uint16)
        np.copyto(result, np.right_shift(bits, np.int32(13), out=bits), casting="unsafe")
        special = [magnitude for v in (x, y, out) if (magnitude := _magnitude(v)).max() >= _INFINITY]
        np.bitwise_or(result, np.bitwise_and(sign, _SIGN, out=sign), out=result)
        if special:
            where = np.flatnonzero(reduce(np.logical_or, [np.broadcast_to(v >= _INFINITY, out.shape) for v in special]))
            out[where] = ufunc(*[v[where] if v.ndim else v for v in (x, y)])
        return out

    return by_blocks(into, FLOAT16, ufunc)


def _magnitude(x: Array) -> Array:
    """Return the bits of f16 numbers without their signs."""
    return np.asarray(np.bitwise_and(x.view(np.uint16), _MAGNITUDE))
