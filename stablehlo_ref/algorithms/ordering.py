"""Stable orders of rows: the indices that sort the last axis of arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from stablehlo_ref.algorithms.comparators import Keys
from stablehlo_ref.numerics import ulp
from stablehlo_ref.numerics.dtypes import BOOL, is_narrow_float, is_sub_byte_integer, kind
from stablehlo_ref.numerics.narrow import widen

Array: TypeAlias = Any

DIGIT = 16  # bits that numpy's stable sort orders in linear time
SHORT = 1 << 11  # elements of a row: up to here sorting digits together with indices is faster


# --- by keys --------------------------------------------------------------------------------------------------------


def by_keys(keys: Keys, rows: Sequence[Array]) -> Array:
    """The stable order of rows by keys: sorted by digits, the least significant first."""
    n = rows[0].shape[-1]
    both_sides = [x for x in rows for _ in ("lhs", "rhs")]
    order: Array = None
    for values, by in reversed(list(zip(keys.of.each(*both_sides), keys.orders))):
        number = ordered_bits(by.numbers(values), by.total_order)
        number = ~number if by.descending else number
        for digit in _digits(number, 8 * number.itemsize, DIGIT if n > SHORT else 64 - n.bit_length()):
            step = _argsort(digit if order is None else _take(digit, order))
            order = step if order is None else _take(order, step)
    return order


def _digits(number: Array, bits: int, width: int) -> Iterator[Array]:
    for shift in range(0, bits, width):
        digit = number >> number.dtype.type(shift) if shift else number
        yield digit.astype(np.uint16) if width == DIGIT else digit & digit.dtype.type((1 << min(width, bits)) - 1)


def _argsort(digit: Array) -> Array:
    """The stable order of rows of 16-bit numbers, or of such as leave 64-bit numbers place for an index."""
    if digit.dtype == np.uint16:
        return np.argsort(digit, -1, "stable")
    bits = np.uint64(digit.shape[-1].bit_length())
    packed = (digit.astype(np.uint64) << bits) | np.arange(digit.shape[-1], dtype=np.uint64)
    packed.sort(-1)
    packed &= (np.uint64(1) << bits) - np.uint64(1)
    return packed.view(np.int64)


def _take(x: Array, order: Array) -> Array:
    return x.take(order, mode="clip") if x.ndim == 1 else np.take_along_axis(x, order, -1)


def ordered_bits(x: Array, total_order: bool = False) -> Array:
    """Unsigned integers in the order of numbers; of floats NaNs come last and zeros are equal, or in `total_order`."""
    if x.dtype == BOOL:
        return x.view(np.uint8)
    if kind(x.dtype) == "floating":
        x = ulp.ordered_bits(x if total_order else _plain(widen(x) if is_narrow_float(x.dtype) else x))
    elif is_sub_byte_integer(x.dtype):
        x = x.astype(np.int8)
    if x.dtype.kind == "u":
        return x
    unsigned = x.view(f"u{x.itemsize}")
    return unsigned ^ unsigned.dtype.type(1 << (8 * x.itemsize - 1))


def _plain(x: Array) -> Array:
    """With +0 for -0 and one NaN for all."""
    plain = x + x.dtype.type(0)
    np.copyto(plain, np.nan, where=plain != plain)
    return plain


# --- by merging -----------------------------------------------------------------------------------------------------


def by_merging(less: Callable[..., list[Array]], rows: Sequence[Array]) -> Array:
    """The stable order of rows by a comparator of two of each element: runs of 1, 2, 4, ... are merged, all at once.

    Each element of a run looks for its place in the run to the right by bisection; the elements there take the places
    that are left. So the result is an order even if the comparator is none.
    """
    n = rows[0].shape[-1]
    flat = [x.reshape(-1) for x in rows]
    size = 1 << (n - 1).bit_length()
    order = np.broadcast_to(np.arange(size), (*rows[0].shape[:-1], size)).reshape(-1, size)
    first = np.arange(len(order))[:, np.newaxis, np.newaxis] * n
    length = 1
    while length < size:
        runs = order.reshape(len(order), -1, 2, length)
        lefts, rights = runs[:, :, 0], runs[:, :, 1]
        places = _places(less, flat, lefts, rights, n, first)
        order = _merged(lefts, rights, places).reshape(len(order), size)
        length *= 2
    return order[:, :n].reshape(rows[0].shape)


def _places(
    less: Callable[..., list[Array]], flat: Sequence[Array], lefts: Array, rights: Array, n: int, first: Array
) -> Array:
    """How many elements of the run to the right are less than each of the run to the left; none from `n` on is."""
    low, high = np.zeros(lefts.shape, np.intp), np.full(lefts.shape, lefts.shape[-1])
    lhs = [x.take(lefts + first, mode="clip") for x in flat]
    for _ in range(lefts.shape[-1].bit_length()):
        middle = (low + high) >> 1
        candidates = np.take_along_axis(rights, np.minimum(middle, rights.shape[-1] - 1), -1)
        rhs = [x.take(candidates + first, mode="clip") for x in flat]
        (before,) = less(*[side for pair in zip(rhs, lhs) for side in pair])
        further = before & (candidates < n) & (low < high)
        low, high = np.where(further, middle + 1, low), np.where(further, high, middle)
    return np.maximum.accumulate(low, -1)


def _merged(lefts: Array, rights: Array, places: Array) -> Array:
    length = lefts.shape[-1]
    merged = np.empty((*lefts.shape[:-1], 2 * length), lefts.dtype)
    from_right = np.ones(merged.shape, bool)
    slots = places + np.arange(length)
    np.put_along_axis(merged, slots, lefts, -1)
    np.put_along_axis(from_right, slots, False, -1)
    merged[from_right] = rights.reshape(-1)
    return merged
