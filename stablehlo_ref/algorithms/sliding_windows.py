"""Reductions of overlapping windows of a tensor, and cumulative reductions (scans).

Every result is a reduction in a legal schedule: its elements stay in order. Few elements are folded from the left;
for many elements, reductions share intermediate results.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from math import prod

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from stablehlo_ref.algorithms.padding import Sizes, boxes
from stablehlo_ref.algorithms.reduction_schedule import LANES, RUN, SMALL, Arrays, Combine, fold_middle
from stablehlo_ref.define.spec import UNKNOWN
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.numerics.dtypes import FLOAT64
from stablehlo_ref.numerics.exact_sums import shared_sums
from stablehlo_ref.numerics.layout import raw_view

FEW = 9  # elements: windows up to this size are always folded from the left
SHORT = 64  # elements: windows up to this size are folded from the left if that is about as fast
SLICE = 1 << 14  # elements whose exact sums are computed at a time
COLUMNS = 32  # of a slice, at least, so that inner loops are not too short
ROWS = 512  # elements: with rows of at least this size, cumulative reductions go row by row
CHUNK = 1 << 19  # elements that are reduced cumulatively at a time


def num_windows(n: int, window: int, padding: Sequence[int], stride: int, dilation: int, window_dilation: int) -> int:
    """Return the number of windows along one dimension: `num_windows` of "reduce_window" (C15), "convolution" (C25)."""
    if any(number is UNKNOWN for number in (n, window, *padding)):
        unknown: int = UNKNOWN
        return unknown
    dilated_input_shape = 0 if n == 0 else (n - 1) * dilation + 1
    padded_input_shape = padding[0] + dilated_input_shape + padding[1]
    dilated_window_shape = 0 if window == 0 else (window - 1) * window_dilation + 1
    is_empty_window = padded_input_shape == 0 or dilated_window_shape > padded_input_shape
    return 0 if is_empty_window else (padded_input_shape - dilated_window_shape) // stride + 1


def strided(x: Array, axis: int, start: int, count: int, step: int) -> Array:
    """Return a view of `count` elements along an axis, from `start` on, with stride `step`."""
    view: Array = x[(slice(None),) * axis + (slice(start, start + (count - 1) * step + 1, step),)]
    return view


# --- windows --------------------------------------------------------------------------------------------------------


def folds_left(sizes: Sizes, window: Sizes, counts: Sizes) -> bool:
    """Return whether windows of elements of an array of `sizes` are folded from the left: those that are short enough.

    Reducing axis by axis shares results, but costs no less if windows hardly overlap, and little if there are few.
    """
    length, steps = prod(window), prod(counts) * prod(window)
    if length <= FEW:
        return True
    shared, remaining = 0, list(sizes)
    for axis in reversed(range(len(window))):
        remaining[axis] = counts[axis]
        shared += prod(remaining) * (window[axis] - 1)
    return length <= SHORT and (steps <= SMALL or steps <= 1.25 * shared)


def fold_windows(
    combine: Combine, inits: Sequence[Array], xs: Sequence[Array], window: Sizes, strides: Sizes, dilations: Sizes
) -> Arrays:
    """Fold windows from the left, starting with init values: position by position, for all windows at once."""
    positions = _positions(xs, window, strides, dilations)
    return _fold(combine, combine.each(*inits, *next(positions)), positions)


def reduce_windows(combine: Combine, xs: Sequence[Array], window: Sizes, strides: Sizes, dilations: Sizes) -> Arrays:
    """Reduce windows with `dilations` between their elements and `strides` between their starts.

    They are reduced axis by axis, the last first, which is lexicographic order.
    """
    for axis in reversed(range(len(window))):
        xs = reduce_windows_along(combine, xs, axis, window[axis], strides[axis], dilations[axis])
    return list(xs)


def reduce_windows_along(
    combine: Combine, xs: Sequence[Array], axis: int, size: int, stride: int, dilation: int
) -> Arrays:
    """Reduce windows along one axis."""
    shape = xs[0].shape
    count = (shape[axis] - (size - 1) * dilation - 1) // stride + 1
    if size == 1:
        return [strided(x, axis, 0, count, stride) for x in xs]
    if (size - 1) * count > (size.bit_length() - 1) * shape[axis] + (size.bit_count() - 1) * count:
        return _by_doubling(combine, xs, axis, size, stride, dilation, count)
    if size <= RUN or prod(shape) // shape[axis] * count >= LANES:
        window, strides, dilations = (
            [n if d == axis else 1 for d in range(len(shape))] for n in (size, stride, dilation)
        )
        positions = _positions(xs, window, strides, dilations)
        return _fold(combine, combine(next(positions), next(positions)), positions)
    extent = (size - 1) * dilation + 1
    views = [sliding_window_view(raw_view(x), extent, axis)[..., ::dilation].view(x.dtype) for x in xs]
    windows = [strided(view, axis, 0, count, stride) for view in views]
    results = fold_middle(combine, [w.reshape(-1, size, 1) for w in windows])
    return [r.reshape(windows[0].shape[:-1]) for r in results]


def _fold(combine: Combine, results: Arrays, others: Iterator[Arrays]) -> Arrays:
    """Fold the elements of all windows at once, from the left."""
    for elements in others:
        results = combine.into(results, elements)
    return results


def _positions(xs: Sequence[Array], window: Sizes, strides: Sizes, dilations: Sizes) -> Iterator[Arrays]:
    """Yield for each position in a window the elements of all windows there."""
    lasts = [n - (w - 1) * d for n, w, d in zip(xs[0].shape, window, dilations)]
    for index in within_time(product(*map(range, window))):
        offsets = [i * d for i, d in zip(index, dilations)]
        box = tuple(slice(o, o + last, s) for o, last, s in zip(offsets, lasts, strides))
        yield [x[box] for x in xs]


def _by_doubling(
    combine: Combine, xs: Sequence[Array], axis: int, size: int, stride: int, dilation: int, count: int
) -> Arrays:
    """Combine reductions of 1, 2, 4, ... consecutive elements at every position into windows."""
    result: Arrays = []
    width, start = 1, 0
    while True:
        if size & width:
            piece = [strided(x, axis, start * dilation, count, stride) for x in xs]
            result = combine(result, piece) if result else piece
            start += width
        if start == size:
            return result
        left = xs[0].shape[axis] - width * dilation
        xs = combine(
            [strided(x, axis, 0, left, 1) for x in xs], [strided(x, axis, width * dilation, left, 1) for x in xs]
        )
        width *= 2


# --- exact sums ------------------------------------------------------------------------------------------------------


class _Addition(Combine):
    """Add f64 numbers."""

    def __init__(self) -> None:
        self.dtype, self.ufunc = FLOAT64, np.add


def exact_window_sums(
    dtype: DType, inits: Sequence[Array], xs: Sequence[Array], window: Sizes, strides: Sizes, dilations: Sizes
) -> Arrays:
    """Add windows and init values exactly, box by box of the results."""
    extents = [(w - 1) * d + 1 for w, d in zip(window, dilations)]
    counts = [(n - extent) // s + 1 for n, extent, s in zip(xs[0].shape, extents, strides)]
    addition, sums, result = _Addition(), shared_sums(dtype), np.empty(counts, dtype)

    def add(x: Array) -> Array:
        return reduce_windows(addition, [x], window, strides, dilations)[0]

    for box in within_time(boxes(counts, SLICE, extents, strides)):
        read = tuple(slice(b.start * s, (b.stop - 1) * s + n) for b, s, n in zip(box, strides, extents))
        result[box] = sums(xs[0][read], add, prod(window), inits[0])
    return [result]


def exact_cumulative_sums(
    combine: Combine, axis: int, reverse: bool, inits: Sequence[Array], xs: Sequence[Array]
) -> Arrays:
    """Add, for each element along an axis, the init value and all elements up to it; in `reverse`, from it on."""
    shape = xs[0].shape
    middle = (prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :]))
    x, result = xs[0].reshape(middle), np.empty(middle, combine.dtype)
    order, sums = (slice(None), slice(None, None, -1 if reverse else 1)), shared_sums(combine.dtype)
    width = max(COLUMNS, SLICE // middle[1])
    height = max(1, SLICE // (middle[1] * min(width, middle[2])))
    for a, b in within_time(product(range(0, middle[0], height), range(0, middle[2], width))):
        some = (slice(a, a + height), slice(None), slice(b, b + width))
        result[some][order] = sums(x[some][order], partial(np.add.accumulate, axis=1), middle[1], inits[0])
    return [result.reshape(shape)]


# --- cumulative reductions ------------------------------------------------------------------------------------------


def reduce_cumulatively(
    combine: Combine, axis: int, reverse: bool, inits: Sequence[Array], xs: Sequence[Array]
) -> Arrays:
    """Reduce, for each element along an axis, all elements up to it; in `reverse`, that element and all after it.

    Init values are left out.
    """
    shape = xs[0].shape
    middle = (prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :]))
    order = (slice(None), slice(None, None, -1 if reverse else 1))
    ordered = [x.reshape(middle)[order] for x in xs]
    results = _reduce_middle_cumulatively(combine.swapped() if reverse else combine, ordered)
    return [r[order].reshape(shape) for r in results]


def _reduce_middle_cumulatively(combine: Combine, xs: Sequence[Array]) -> Arrays:
    """Reduce arrays of shape (A, N, B) cumulatively along the middle axis."""
    a, n, b = xs[0].shape
    results = [np.empty(x.shape, x.dtype) for x in xs]
    if b >= ROWS or n <= RUN:
        _row_by_row(combine, xs, results)
        return results
    step = max(1, CHUNK // (n * b))
    for start in within_time(range(0, a, step)):
        rows = slice(start, start + step)
        _by_pairs(combine, [x[rows] for x in xs], [r[rows] for r in results])
    return results


def _row_by_row(combine: Combine, xs: Sequence[Array], results: Arrays) -> None:
    for result, x in zip(results, xs):
        result[:, 0] = x[:, 0]
    for row in range(1, xs[0].shape[1]):
        rows = combine([r[:, row - 1] for r in results], [x[:, row] for x in xs])
        for result, r in zip(results, rows):
            result[:, row] = r


def _by_pairs(combine: Combine, xs: Sequence[Array], results: Arrays) -> None:
    """Reduce pairs of adjacent elements cumulatively, which yields all odd results, and from these the even ones.

    The results may be the arrays themselves. Pairs of large arrays are in the memory of the results.
    """
    a, n, b = xs[0].shape
    for result, x in zip(results, xs):
        result[:, 0] = x[:, 0]
    if n == 1:
        return
    odd, even = [r[:, 1::2] for r in results], [r[:, 2::2] for r in results]
    pairs = odd if a * n * b > CHUNK else [np.empty(o.shape, o.dtype) for o in odd]
    _store(combine, [x[:, 0 : n - 1 : 2] for x in xs], [x[:, 1::2] for x in xs], pairs)
    _by_pairs(combine, pairs, pairs)
    if pairs is not odd:
        for o, pair in zip(odd, pairs):
            o[...] = pair
    _store(combine, [o[:, : (n - 1) // 2] for o in odd], [x[:, 2::2] for x in xs], even)


def _store(combine: Combine, lhs: Sequence[Array], rhs: Sequence[Array], results: Sequence[Array]) -> None:
    """Store `combine(lhs, rhs)`, of at most `CHUNK` elements at a time."""
    a, n, b = lhs[0].shape
    step = max(1, CHUNK // (a * b))
    if n <= step:
        return combine.store(lhs, rhs, results)
    for start in within_time(range(0, n, step)):
        some = (slice(None), slice(start, start + step))
        combine.store(*([x[some] for x in arrays] for arrays in (lhs, rhs, results)))
