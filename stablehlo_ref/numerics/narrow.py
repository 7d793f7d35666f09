"""Floating-point formats of 16 bits and fewer: computed wide, rounded once (IEEE-754's roundTiesToEven).

ml_dtypes and numpy convert most of them slowly, and round twice on the way from f64. Here large arrays go block by
block through integer arithmetic on their bits or through tables. Out-of-range values and NaNs become what ml_dtypes
makes of them: infinity where the format has one, else NaN, else the largest number. f8E8M0FNU, whose numbers are
neither even nor odd, rounds ties up, and positive numbers below its least one to that.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import prod
from typing import Any, TypeAlias

import numpy as np

from stablehlo_ref.numerics.dtypes import (
    BFLOAT16,
    FLOAT8_E8M0FNU,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    bits_dtype,
    is_narrow_float,
)

Array: TypeAlias = Any  # a numpy array or a numpy scalar
Kernel: TypeAlias = Callable[..., Array]
Store: TypeAlias = Callable[[Array, Array], None]  # from a block of one dimension into another
DType: TypeAlias = np.dtype[Any]

BLOCK = 1 << 16  # elements: 256 KiB of f32, so that a chain of passes over a block stays in the L2 cache
SMALL = 1 << 10  # elements: below, one slow conversion costs less than several fast calls

_LEAST_E8M0 = 2.0**-127  # the least number of f8E8M0FNU

# The narrow formats' own loops for these compute in f32 and round once, as `rounded` does, with less overhead.
_ROUNDED_ONCE = (np.add, np.subtract, np.multiply, np.divide)


# --- public ---------------------------------------------------------------------------------------------------------


def widen(x: Array) -> Array:
    """The values of a narrow float array as f32, exactly."""
    if x.size < SMALL:
        return x.astype(np.float32)
    return each_block(_widen_into(x.dtype), x, FLOAT32)


@cache
def narrow(dtype: DType) -> Kernel:
    """A kernel that rounds f32 and f64 arrays to the floating-point format `dtype`, once, ties to even."""
    if not is_narrow_float(dtype):
        return lambda x: x.astype(dtype, copy=False)
    narrow_into = _narrow_into(dtype)

    def run(x: Array) -> Array:
        return _narrow_small(x, dtype) if x.size < SMALL else each_block(narrow_into, x, dtype)

    return run


def rounded(function: Kernel, dtype: DType) -> Kernel:
    """An elementwise `function` of f32 arrays with f32 or f64 results, as a kernel for `dtype`.

    Operands have one shape, or broadcast. Large ones reach `function` in pieces of one dimension, scalars as they are.
    """
    if not is_narrow_float(dtype):
        return function
    if function in _ROUNDED_ONCE:
        if dtype == FLOAT8_E8M0FNU:  # its products and quotients may be out of f32's range
            return lambda *operands: narrow(dtype)(function(*[x.astype(FLOAT64) for x in operands]))
        return by_pieces(function, dtype, _narrow_into(dtype), function)

    def small(*operands: Array) -> Array:
        return _narrow_small(function(*[x.astype(FLOAT32) for x in operands]), dtype)

    return by_pieces(function, dtype, _narrow_into(dtype), small)


def widened(function: Kernel, dtype: DType, result_dtype: DType) -> Kernel:
    """Like `rounded` for a `function` whose results, of `result_dtype`, need no rounding: comparisons, say."""
    if not is_narrow_float(dtype):
        return function
    return by_pieces(function, result_dtype, copy_into, lambda *xs: function(*[x.astype(FLOAT32) for x in xs]))


def in_blocks(function: Kernel, result_dtype: DType) -> Kernel:
    """An elementwise `function` of several passes with results of `result_dtype`, with large arrays done in pieces."""
    return by_pieces(function, result_dtype, copy_into, function, lambda x: x)


def tabulated(kernel: Kernel, dtype: DType) -> Kernel:
    """`kernel`, an elementwise function of one array of an 8-bit or 16-bit `dtype`, with large arrays done by look-up.

    The table of the results for all operands is computed when the first large array comes.
    """
    entries, bits = 1 << 8 * dtype.itemsize, bits_dtype(dtype)

    @cache
    def table() -> Array:
        return kernel(np.arange(entries).astype(bits).view(dtype))

    def run(x: Array) -> Array:
        return kernel(x) if x.size < entries else each_block(_look_up_into(table()), x, table().dtype)

    return run


def tabulated_pairs(kernel: Kernel, dtype: DType) -> Kernel:
    """Like `tabulated` for a `kernel` of two arrays of an 8-bit `dtype`."""

    def of_pairs(pairs: Array) -> Array:
        return kernel(*np.ascontiguousarray(pairs.view(np.uint8).reshape(-1, 2).T).view(dtype))

    one = tabulated(of_pairs, np.dtype(np.uint16))

    def run(x: Array, y: Array) -> Array:
        if x.size < 1 << 16 or x.shape != y.shape:
            return kernel(x, y)
        pairs = y.view(np.uint8).astype(np.uint16)
        pairs <<= 8
        pairs |= x.view(np.uint8)
        return one(pairs)

    return run


# --- blocks ---------------------------------------------------------------------------------------------------------


def each_block(step: Store, x: Array, result_dtype: DType) -> Array:
    """A new array like `x` into which `step` has written the results for `x`, block by block."""
    out = np.empty(x.size, result_dtype)
    flat = np.ascontiguousarray(x).reshape(-1)
    for start in range(0, out.size, BLOCK):
        step(flat[start : start + BLOCK], out[start : start + BLOCK])
    return out.reshape(x.shape)


def by_pieces(
    function: Kernel,
    dtype: DType,
    store: Store,
    small: Kernel,
    load: Kernel = widen,
    few: int = SMALL,
    block: int = BLOCK,
) -> Kernel:
    """`function` on loaded pieces of the operands, of one dimension, its results stored in an array of `dtype`.

    Operands have one shape, or broadcast; a scalar, even one that has been broadcast, is loaded once. Where all of them
    have fewer than `few` elements they are left to `small`, which takes them as they are.
    """

    def run(*operands: Array) -> Array:
        for x in operands:
            if x.size >= few:
                break
        else:
            return small(*operands)
        shape = np.broadcast_shapes(*(x.shape for x in operands))
        if all(map(is_uniform, operands)):
            return np.broadcast_to(small(*map(first, operands)), shape).copy()
        flat = [load(first(x)) if is_uniform(x) else _flat(x, shape) for x in operands]
        out = np.empty(prod(shape), dtype)
        for start in range(0, out.size, block):
            piece = slice(start, start + block)
            store(function(*[load(x[piece]) if x.ndim else x for x in flat]), out[piece])
        return out.reshape(shape)

    return run


def is_uniform(x: Array) -> bool:
    """Whether `x` is a scalar, or one that has been broadcast."""
    return not any(x.strides)


def first(x: Array) -> Array:
    """The element that stands first, as a scalar."""
    return x[(0,) * x.ndim]


def _flat(x: Array, shape: tuple[int, ...]) -> Array:
    return np.ascontiguousarray(x if x.shape == shape else np.broadcast_to(x, shape)).reshape(-1)


def copy_into(x: Array, out: Array) -> None:
    """Stores what needs no other rounding than numpy's own."""
    out[...] = x


# --- to f32 ---------------------------------------------------------------------------------------------------------


@cache
def _widen_into(dtype: DType) -> Store:
    if dtype == BFLOAT16:
        return copy_into
    if dtype == FLOAT16:
        return _widen_f16_into
    return _look_up_into(np.arange(256).astype(np.uint8).view(dtype).astype(np.float32))


def _widen_f16_into(x: Array, out: Array) -> None:
    """Moves exponent and mantissa to their places in f32 and makes up for the other bias by a multiplication.

    That is exact, denormals included, but makes numbers of the infinities and NaNs.
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


# --- from f32 and f64 -----------------------------------------------------------------------------------------------


@cache
def _narrow_into(dtype: DType) -> Store:
    if dtype == BFLOAT16:
        from_f32: Store = copy_into
    elif dtype == FLOAT16:
        from_f32 = _narrow_f16_into
    else:
        from_f32 = _narrow_8_bit_into(dtype)
    to_f32 = _to_f32(dtype)
    return lambda x, out: from_f32(to_f32(x) if x.itemsize == 8 else x, out)


def _narrow_small(x: Array, dtype: DType) -> Array:
    if x.itemsize == 8 and dtype is not FLOAT16:  # numpy's own f64 -> f16 rounds once
        x = _to_f32(dtype)(x)
    return _cast(x, dtype)


def _cast(x: Array, dtype: DType) -> Array:
    """By ml_dtypes, which takes all between the two least numbers of f8E8M0FNU for the upper one: here to nearest."""
    if dtype == FLOAT8_E8M0FNU:
        x = np.where(np.greater(x, _LEAST_E8M0) & np.less(x, 1.5 * _LEAST_E8M0), _LEAST_E8M0, x)
    return x.astype(dtype)


def _to_f32(dtype: DType) -> Kernel:
    """From f64 to numbers of f32 that round to `dtype` as those of f64 do."""
    if dtype != FLOAT8_E8M0FNU:
        return _to_odd_f32
    return lambda x: _to_odd_f32(np.where(np.greater(x, 0), np.maximum(x, _LEAST_E8M0), x))


def _to_odd_f32(x: Array) -> Array:
    """f64 as f32 of 15 significant bits: truncated, with the last bit set if that lost anything ("round to odd").

    Rounding it further, to at most 13 bits, gives what rounding `x` itself gives. (15 bits also because no more are
    left in the f32 denormals that half of bf16's smallest number lies among.)
    """
    lost = (1 << 38) - 1
    bits = x.view(np.uint64)
    odd = np.bitwise_and(bits, lost)
    odd += lost  # carries into the last bit that stays
    odd |= bits
    odd &= ~lost & (1 << 64) - 1
    return odd.view(np.float64).astype(np.float32)


def _narrow_f16_into(x: Array, out: Array) -> None:
    """Scaled such that f32's exponent becomes that of f16, denormals included, the upper bits of f32 are f16's.

    Three kinds of elements are left to numpy: overflow, NaNs, and those that scaling has rounded to a tie of denormals.
    """
    bits = np.multiply(x, np.float32(2.0**-112)).view(np.uint32)
    half = np.right_shift(bits, 13)
    half &= 1
    half += bits
    half += 0xFFF  # half a unit in the last place, or just less than half when that is even
    half >>= 13
    half &= 0x7FFF
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


def _narrow_8_bit_into(dtype: DType) -> Store:
    """By a table over f32's upper 16 bits, the last of them set if a lower one is ("round to odd")."""
    with np.errstate(all="ignore"):  # there are NaNs in it, and this is run while planning
        table = _cast(np.arange(1 << 16).astype(np.uint16).view(BFLOAT16).astype(np.float32), dtype)
    look_up_into = _look_up_into(table)

    def run(x: Array, out: Array) -> None:
        bits = x.view(np.uint32)
        odd = np.bitwise_and(bits, 0xFFFF)
        odd += 0xFFFF
        odd |= bits
        odd >>= 16
        look_up_into(odd, out)

    return run


# --- tables ---------------------------------------------------------------------------------------------------------


def _look_up_into(table: Array) -> Store:
    """Looks elements up by their bits in a table of 256 or 65536 entries; large tables also by unsigned integers."""
    result_bits = bits_dtype(table.dtype)
    entries = table.view(result_bits)
    if len(table) == 256 and table.itemsize <= 4:
        return _look_pairs_up_into(entries)

    def run(x: Array, out: Array) -> None:
        index = (x if x.dtype == np.uint32 else x.view(bits_dtype(x.dtype))).astype(np.intp)
        entries.take(index, out=out.view(result_bits), mode="clip")

    return run


def _look_pairs_up_into(entries: Array) -> Store:
    """Two elements of 8 bits at a time, in a table of all pairs."""
    pair_bits = np.dtype(f"u{2 * entries.itemsize}")
    pair = np.arange(1 << 16)
    pairs = np.stack([entries[pair & 255], entries[pair >> 8]], axis=-1).view(pair_bits)[:, 0]

    def run(x: Array, out: Array) -> None:
        bits, even = x.view(np.uint8), x.size & ~1
        pairs.take(bits[:even].view(np.uint16).astype(np.intp), out=out[:even].view(pair_bits), mode="clip")
        out[even:] = entries[bits[even:]].view(out.dtype)

    return run
