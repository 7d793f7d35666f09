"""Stable sorting: the indices that sort the last axis of arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import prod
from typing import TypeAlias, cast

import numpy as np

from stablehlo_ref.algorithms.comparators import Keys
from stablehlo_ref.budget import check_time, within_time
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.numerics import ulp
from stablehlo_ref.numerics.dtypes import BOOL, is_sub_byte_integer, kind
from stablehlo_ref.numerics.narrow_floats import widen_if_narrow

Less: TypeAlias = Callable[..., list[Array]]  # of arrays of the left-hand and right-hand side of each array

DIGIT = 16  # bits that numpy's stable sort orders in linear time
BLOCK = 1 << 16  # elements
PART = 1 << 20  # elements that are sorted at a time, if there are several rows
COPIED = 1 << 19  # elements that are copied or have indices at a time, if there are several rows
COLUMNS = 16  # that are copied at a time, at least, if not rows are sorted
SECONDS = 5e-8  # in which numpy sorts one of many elements by a digit and takes the indices, about
PACKED = 1 << 31  # elements of a row at most that are sorted as digits packed with indices
SHORT = 1 << 11  # elements of a row: up to this many, that is faster also for numbers of 16 bits


def parts(sizes: Sequence[int], axis: int) -> list[tuple[slice, ...]]:
    """Return indices of parts of an array, each with all elements along `axis`, that are sorted one after the other."""
    steps = list(sizes)
    for other, n in enumerate(sizes):
        if other != axis:
            room = COPIED // max(1, prod(steps) // steps[other])
            steps[other] = min(n, max(COLUMNS if other == len(sizes) - 1 else 1, room))
    ranges = [range(0, n, step) for n, step in zip(sizes, steps)]
    return [tuple(slice(i, i + step) for i, step in zip(corner, steps)) for corner in product(*ranges)]


def sort_last_axis(keys: Keys | None, less: Less, xs: Sequence[Array]) -> list[Array]:
    """Sort the rows of arrays together, by keys or else by a comparator."""
    if keys and len(xs) == 1:
        return [sort_rows(keys, xs[0])]
    order = sort_by_keys(keys, xs) if keys else merge_sort(less, xs)
    return [_in_order(x, order) for x in xs]


# --- by keys --------------------------------------------------------------------------------------------------------


def sort_by_keys(keys: Keys, rows: Sequence[Array]) -> Array:
    """Return the indices that stably sort rows by keys, with an LSD radix sort."""
    return _indices_in_order(_ordered_keys(keys, rows))


def sort_rows(keys: Keys, x: Array) -> Array:
    """Return the rows of an array, stably sorted by keys. Where the only key is the element, numbers are sorted."""
    numbers, is_descending = _ordered_keys(keys, [x]), keys.orders[0].descending
    if len(numbers) == 1 and _are_numbers_of_elements(numbers[0], x, is_descending):
        ordered = numbers.pop()
        if np.may_share_memory(ordered, x):
            ordered = ordered.copy()
        _sort_rows(ordered)
        return _elements_of_numbers(ordered, x.dtype, is_descending)
    return _in_order(x, _indices_in_order(numbers))


def _ordered_keys(keys: Keys, rows: Sequence[Array]) -> list[Array]:
    """Return the keys of the elements as unsigned integers in ascending order, the most significant key first."""
    both_sides = [x for x in rows for _ in ("lhs", "rhs")]
    numbers = []
    for values, order in zip(keys.of.each(*both_sides), keys.orders):
        number = ordered_bits(order.numbers(values), order.total_order)
        numbers.append(~number if order.descending else number)
    return numbers


def _in_order(x: Array, order: Array) -> Array:
    """Return elements of rows in an order, which for a long row has 32 bits."""
    return _taken(x.reshape(-1), order.reshape(-1)).reshape(x.shape) if order.itemsize == 4 else _take(x, order)


def _indices_in_order(numbers: list[Array]) -> Array:
    n = numbers[0].shape[-1]
    if COPIED < n == numbers[0].size and n < PACKED:
        return _indices_of_row(numbers)
    indices: Array | None = None
    for number in reversed(numbers):
        is_packed = n <= SHORT or (number.itemsize > 2 and n <= PACKED)
        width = 64 - n.bit_length() if is_packed else DIGIT
        for shift in range(0, 8 * number.itemsize, width):
            digit = _digit(number, shift, width)
            if indices is not None:
                digit = _take(digit, indices)
            step = _argsort_rows(digit)
            del digit
            indices = step if indices is None else _take(indices, step)
    return cast(Array, indices)  # there is a key, and it has a digit


def _digit(number: Array, shift: int, width: int) -> Array:
    """Return bits of numbers, from `shift` on, as 16 bits or in the numbers' type: if that has 64 bits, a new array."""
    if not shift and DIGIT < width >= 8 * number.itemsize:
        return number
    digit: Array = number >> number.dtype.type(shift)
    if width == DIGIT:
        return digit.astype(np.uint16)
    if shift + width < 8 * number.itemsize:
        digit &= number.dtype.type((1 << width) - 1)
    return digit


def _argsort_rows(digit: Array) -> Array:
    """Return the indices that stably sort rows, which are overwritten, group by group of rows if there are many."""
    rows = digit.reshape(-1, digit.shape[-1])
    step = max(1, PART // rows.shape[-1])
    check_time(needed=rows.shape[-1] * SECONDS)
    if len(rows) <= step:
        return _argsort(digit)
    order = np.empty(rows.shape, np.int64)
    for start in within_time(range(0, len(rows), step)):
        order[start : start + step] = _argsort(rows[start : start + step])
    return order.reshape(digit.shape)


def _argsort(digit: Array) -> Array:
    """Return the indices that stably sort rows of 16-bit numbers, or of numbers that fit into 64 bits with an index.

    Numbers of 64 bits are overwritten.
    """
    if digit.dtype == np.uint16:
        return np.argsort(digit, -1, "stable")
    n = digit.shape[-1]
    bits = np.uint64(n.bit_length())
    packed = digit.astype(np.uint64, copy=False)
    packed <<= bits
    for start in range(0, n, BLOCK):
        packed[..., start : start + BLOCK] |= np.arange(start, min(start + BLOCK, n), dtype=np.uint64)
    packed.sort(-1)
    packed &= (np.uint64(1) << bits) - np.uint64(1)
    return packed.view(np.int64)


def _indices_of_row(numbers: list[Array]) -> Array:
    """Return the indices that stably sort one long row, in 32 bits to need less memory; the list becomes empty."""
    n, sizes = numbers[0].size, numbers[0].shape
    width, order = 64 - n.bit_length(), None
    while numbers:
        number = numbers.pop().reshape(-1)
        for shift in range(0, 8 * number.itemsize, width):
            check_time(needed=n * SECONDS)
            if number.itemsize <= 2:
                step = np.argsort(number if order is None else _taken(number, order), kind="stable").astype(np.int32)
            else:
                step = _sorted_indices(number, shift, width, order)
            order = step if order is None else _taken(order, step)
    assert order is not None  # there is a key
    return order.reshape(sizes)


def _sorted_indices(number: Array, shift: int, width: int, order: Array | None) -> Array:
    """Return the indices that stably sort `width` bits of numbers in an order: low bits of packed numbers, sorted."""
    n, bits = number.size, np.uint64(64 - width)
    packed = np.empty(n, np.uint64)
    for start in within_time(range(0, n, BLOCK)):
        some = slice(start, start + BLOCK)
        digit = number[some] if order is None else number.take(order[some], mode="clip")
        block = np.right_shift(digit, digit.dtype.type(shift)).astype(np.uint64)
        np.left_shift(block, bits, out=block)
        np.bitwise_or(block, np.arange(start, start + len(block), dtype=np.uint64), out=packed[some])
    packed.sort()
    halves, mask = packed.view(np.int32), (np.uint64(1) << bits) - np.uint64(1)
    for start in range(0, n, BLOCK):
        indices = packed[start : start + BLOCK] & mask
        halves[start : start + len(indices)] = indices
    del halves
    packed.resize((n + 1) // 2, refcheck=False)
    return packed.view(np.int32)[:n]


def _taken(x: Array, order: Array) -> Array:
    """Return elements in an order of 32 bits, which are converted block by block."""
    result = np.empty_like(x)
    for start in within_time(range(0, x.size, BLOCK)):
        result[start : start + BLOCK] = x.take(order[start : start + BLOCK], mode="clip")
    return result


def _take(x: Array, order: Array) -> Array:
    return x.take(order, mode="clip") if x.ndim == 1 else np.take_along_axis(x, order, -1)


def ordered_bits(x: Array, total_order: bool = False) -> Array:
    """Return unsigned integers in the order of numbers. NaNs are last and zeros are equal unless in `total_order`."""
    if x.size <= BLOCK or kind(x.dtype) != "floating":
        return _ordered_bits(x, total_order)
    out = np.empty(x.shape, _ordered_bits(x.reshape(-1)[:1], total_order).dtype)
    for some, numbers in _blocks(out, x):
        some[...] = _ordered_bits(numbers, total_order)
    return out


def _ordered_bits(x: Array, total_order: bool) -> Array:
    if x.dtype == BOOL:
        return x.view(np.uint8)
    if kind(x.dtype) == "floating":
        x = ulp.ordered_bits(x if total_order else _canonicalize(widen_if_narrow(x)))
    elif is_sub_byte_integer(x.dtype):
        x = x.astype(np.int8)
    if x.dtype.kind == "u":
        return x
    unsigned = x.view(f"u{x.itemsize}")
    ordered: Array = unsigned ^ unsigned.dtype.type(1 << (8 * x.itemsize - 1))
    return ordered


def _canonicalize(x: Array) -> Array:
    """Replace -0 by +0, and NaNs by one NaN."""
    canonical: Array = x + x.dtype.type(0)
    np.copyto(canonical, np.nan, where=canonical != canonical)
    return canonical


def _are_numbers_of_elements(numbers: Array, x: Array, is_descending: bool) -> bool:
    """Return whether keys are the integers, of the size of the elements of `x`, that are in order as these are."""
    if is_sub_byte_integer(x.dtype) or kind(x.dtype) == "complex" or (kind(x.dtype) == "floating" and x.itemsize < 2):
        return False
    if numbers.itemsize != x.itemsize:
        return False
    for some, elements in _blocks(numbers, x):
        expected = ordered_bits(elements, total_order=True)
        if not np.array_equal(some, ~expected if is_descending else expected):
            return False
    return True


def _elements_of_numbers(numbers: Array, dtype: DType, is_descending: bool) -> Array:
    """Return the elements with these numbers, which are overwritten."""
    sign_bit = numbers.dtype.type(1 << (8 * dtype.itemsize - 1))
    for (bits,) in _blocks(numbers):
        if is_descending:
            np.invert(bits, out=bits)
        if dtype.kind == "u" or dtype == BOOL:
            continue
        bits ^= sign_bit
        if kind(dtype) == "floating":  # the magnitudes of negative numbers are inverted
            bits ^= (bits >= sign_bit) * (sign_bit - numbers.dtype.type(1))
    return numbers.view(dtype)


def _blocks(*arrays: Array) -> Iterator[tuple[Array, ...]]:
    flat = [x.reshape(-1) for x in arrays]
    for start in within_time(range(0, flat[0].size, BLOCK)):
        yield tuple(x[start : start + BLOCK] for x in flat)


def _sort_rows(numbers: Array) -> None:
    """Sort rows of unsigned integers in place, group by group of rows if there are many."""
    rows = numbers.reshape(-1, numbers.shape[-1])
    step = max(1, PART // rows.shape[-1])
    check_time(needed=rows.shape[-1] * SECONDS)
    for start in within_time(range(0, len(rows), step)):
        rows[start : start + step].sort(-1, "stable" if rows.itemsize <= 2 else None)  # a radix sort


def temporary_bytes(keys: Keys, inputs: Sequence[DType], of_keys: Sequence[DType], is_last: bool) -> int:
    """Return what a sort by keys needs for each element beside the results, given the dtypes of inputs and keys.

    Inputs are copied unless the last axis is sorted. Then there are the keys, and a packed digit that becomes indices;
    with further digits also the next one and the indices in the order of both. All but the indices are free again when
    results are made.
    """
    results, numbers = sum(dtype.itemsize for dtype in inputs), [max(4, d.itemsize) for d in of_keys]
    copies = 0 if is_last else results
    is_element = len(inputs) == len(numbers) == 1 and not keys.of.region.block.operations[:-1]
    is_widened = inputs[0].itemsize <= 2 if kind(inputs[0]) == "floating" else is_sub_byte_integer(inputs[0])
    if is_element and not is_widened:  # the keys become the elements
        return copies + (numbers[0] if keys.orders[0].descending else 0)
    indices = 24 if len(numbers) > 1 or numbers[0] > 4 else 8
    return copies + max(8, sum(numbers) + indices - results)


# --- by merging -----------------------------------------------------------------------------------------------------


def merge_sort(less: Less, rows: Sequence[Array]) -> Array:
    """Return the indices that stably sort rows by a comparator; runs of 1, 2, 4, ... elements are merged, all at once.

    Each element of a run finds its position in the run to its right by bisection; the elements of that run take the
    remaining positions. So the result is a permutation even if the comparator is not a strict weak order.
    """
    n = rows[0].shape[-1]
    flat = [x.reshape(-1) for x in rows]
    size = 1 << (n - 1).bit_length()
    order = np.broadcast_to(np.arange(size), (*rows[0].shape[:-1], size)).reshape(-1, size)
    first = np.arange(len(order))[:, np.newaxis, np.newaxis] * n
    length = 1
    while length < size:
        check_time()
        runs = order.reshape(len(order), -1, 2, length)
        lefts, rights = runs[:, :, 0], runs[:, :, 1]
        positions = _insertion_points(less, flat, lefts, rights, n, first)
        order = _merged(lefts, rights, positions).reshape(len(order), size)
        length *= 2
    return order[:, :n].reshape(rows[0].shape)


def _insertion_points(less: Less, flat: Sequence[Array], lefts: Array, rights: Array, n: int, first: Array) -> Array:
    """Return for each element of a left run how many of the right run are less; elements from `n` on never are."""
    low, high = np.zeros(lefts.shape, np.intp), np.full(lefts.shape, lefts.shape[-1])
    lhs = [x.take(lefts + first, mode="clip") for x in flat]
    for _ in within_time(range(lefts.shape[-1].bit_length())):
        middle = (low + high) >> 1
        candidates = np.take_along_axis(rights, np.minimum(middle, rights.shape[-1] - 1), -1)
        rhs = [x.take(candidates + first, mode="clip") for x in flat]
        (is_less,) = less(*[side for pair in zip(rhs, lhs) for side in pair])
        further = is_less & (candidates < n) & (low < high)
        low, high = np.where(further, middle + 1, low), np.where(further, high, middle)
    return np.maximum.accumulate(low, -1)


def _merged(lefts: Array, rights: Array, positions: Array) -> Array:
    """Merge runs, given the insertion points of elements of left runs."""
    length = lefts.shape[-1]
    merged = np.empty((*lefts.shape[:-1], 2 * length), lefts.dtype)
    from_right = np.ones(merged.shape, bool)
    slots = positions + np.arange(length)
    np.put_along_axis(merged, slots, lefts, -1)
    np.put_along_axis(from_right, slots, False, -1)
    merged[from_right] = rights.reshape(-1)
    return merged
