"""Strategies of reduce_window: what is padded and reduced at a time. The first that applies is used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import gcd, prod
from typing import NamedTuple, TypeAlias

import numpy as np

from stablehlo_ref.algorithms.exact_reductions import adds_exactly
from stablehlo_ref.algorithms.padding import Padding, Sizes, box_sizes, boxes, pad, pad_windows, padded_sizes
from stablehlo_ref.algorithms.reduction_schedule import Arrays, Combine, Reduction, after_inits, by_parts
from stablehlo_ref.algorithms.sliding_windows import (
    CHUNK,
    exact_cumulative_sums,
    exact_window_sums,
    fold_windows,
    num_windows,
    reduce_cumulatively,
    reduce_windows,
)
from stablehlo_ref.define.computation import Kernel, RegionFunction
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.define.spec import element_type
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.limits.budget import reserve, within_time
from stablehlo_ref.numerics.dtypes import numpy_dtype

BOX = 1 << 19  # elements that are read for a box
LARGE = 1 << 20  # elements: with more after padding, windows are reduced box by box, which needs less memory
WHOLE = 4  # arrays as large as the padded array that reducing it takes: it, intermediate results and results
MAX_DISTANCE = 64  # windows from one full one to the next; the search for the first one tries at most so many


@dataclass(frozen=True)
class Windows:
    """The windows of arrays of shape `sizes`: the attributes of reduce_window, with a number for each dimension.

    Windows are folded from the left, starting with init values, if they are short (`sliding_windows.folds_left`).
    """

    sizes: Sizes
    window: Sizes
    strides: Sizes
    base_dilations: Sizes
    window_dilations: Sizes
    padding: Padding
    are_short: bool

    @property
    def counts(self) -> Sizes:
        """The number of windows along each dimension."""
        in_order = self.sizes, self.window, self.padding, self.strides, self.base_dilations, self.window_dilations
        return tuple(map(num_windows, *in_order))

    @property
    def padded_elements(self) -> int:
        """The number of elements of an operand after padding."""
        low, high = ([edges[side] for edges in self.padding] for side in (0, 1))
        return prod(max(0, n) for n in padded_sizes(self.sizes, low, high, [b - 1 for b in self.base_dilations]))


# From windows, a body and the types of arrays, whose element types are those of the body, to a kernel of init values
# and arrays; None if it does not apply.
Strategy: TypeAlias = Callable[[Windows, RegionFunction, Sequence[TensorType]], Kernel | None]


def reduction_of_windows(w: Windows, body: RegionFunction, types: Sequence[TensorType]) -> Kernel:
    """Return the reduction by the first strategy that applies."""
    return next(found for strategy in STRATEGIES if (found := strategy(w, body, types)))


def _itemsize(types: Sequence[TensorType]) -> int:
    """Return the bytes of one element of each array; numbers narrower than f32 are computed in f32."""
    return sum(max(4, numpy_dtype(element_type(t)).itemsize) for t in types)


# --- windows of an element and all before it ------------------------------------------------------------------------


def cumulative(w: Windows, body: RegionFunction, types: Sequence[TensorType]) -> Kernel | None:
    """Reduce an element and all before it, or all after it, without padding, if init values reduce to themselves."""
    axis = _cumulative_axis(w)
    if axis is None or w.are_short or not body.is_associative:
        return None
    is_reverse, combine = w.padding[axis][0] == 0, Combine(body)

    def plan(combine: Combine) -> Reduction:
        reduce = exact_cumulative_sums if combine.adds_exactly else reduce_cumulatively
        return partial(reduce, combine, axis, is_reverse)

    padding_is_last = is_reverse and not (body.recognised and REGISTRY[body.recognised.name].traits.commutative)
    fold = by_parts(body, plan)
    fallback = box_by_box(w, body, types) or at_once(w, body, types)

    def run(inits: Sequence[Array], arrays: Sequence[Array]) -> Arrays:
        if any(np.asarray(x).tobytes() != np.asarray(y).tobytes() for x, y in zip(inits, body.each(*inits, *inits))):
            reserve(0, fallback.temporaries)
            results: Arrays = fallback.run(inits, arrays)
            return results
        results = fold(inits, arrays)
        for box in within_time(boxes(results[0].shape, BOX)):
            some = [x[box] for x in results]
            if padding_is_last:  # any number of init values reduce to one
                combine.store(some, inits, some)
            combine.store(inits, some, some)
        return results

    return Kernel(run, temporaries=_itemsize(types) * 4 * CHUNK)


def _cumulative_axis(w: Windows) -> int | None:
    """Return the axis along which windows have an element and all before it, or all after it; else None."""
    moving = [d for d, n in enumerate(w.window) if n != 1]
    padded = [d for d, edges in enumerate(w.padding) if any(edges)]
    if len(moving) != 1 or moving != padded or {*w.strides, *w.base_dilations, *w.window_dilations} != {1}:
        return None
    (axis,) = moving
    reach = w.window[axis] - 1
    return axis if w.sizes[axis] == w.window[axis] and tuple(w.padding[axis]) in ((reach, 0), (0, reach)) else None


# --- windows of dilated arrays --------------------------------------------------------------------------------------


class _Full(NamedTuple):
    """Windows of only elements of the array along one dimension: where they are, and attributes without dilation."""

    positions: slice
    stride: int
    base_dilation: int
    window_dilation: int
    padding: tuple[int, int]


def dilated(w: Windows, body: RegionFunction, types: Sequence[TensorType]) -> Kernel | None:
    """Reduce the windows whose elements are all elements of dilated arrays; the others consist of init values.

    If the dilation of windows is a multiple of that of the arrays, the position of a window's first element decides
    whether all of its elements, or none of them, are elements of the arrays. So the former have regular distances.
    """
    if not w.are_short or adds_exactly(body) or (full := full_windows(w)) is None:
        return None
    positions, of_full = full
    reduction = box_by_box(of_full, body, types) or at_once(of_full, body, types)
    counts, length = w.counts, prod(w.window)

    def run(inits: Sequence[Array], arrays: Sequence[Array]) -> Arrays:
        empty = inits
        for _ in range(length):
            empty = body.each(*empty, *inits)
        results = [np.full(counts, value, x.dtype) for value, x in zip(empty, arrays)]
        for result, reduced in zip(results, reduction.run(inits, arrays)):
            result[positions] = reduced
        return results

    return Kernel(run, temporaries=reduction.temporaries)


def full_windows(w: Windows) -> tuple[tuple[slice, ...], Windows] | None:
    """Return where windows have only elements of the array, and these windows.

    None if all windows do, none does, or they are not evenly spaced.
    """
    along = map(_full_along, w.sizes, w.counts, w.window, w.strides, w.base_dilations, w.window_dilations, w.padding)
    full = [each for each in along if each is not None]
    if len(full) < len(w.sizes) or not any(each.base_dilation < base for each, base in zip(full, w.base_dilations)):
        return None
    positions, strides, base, dilations, padding = zip(*full)
    return positions, replace(w, strides=strides, base_dilations=base, window_dilations=dilations, padding=padding)


def _full_along(
    n: int, count: int, w: int, stride: int, base: int, dilation: int, edges: Sequence[int]
) -> _Full | None:
    low, high = edges
    if base == 1 or (w > 1 and dilation % base):
        return _Full(slice(None), stride, base, dilation, (low, high))
    distance = base // gcd(stride, base)
    if distance > MAX_DISTANCE:
        return None
    starts = [i for i in range(min(distance, count)) if (i * stride - low) % base == 0]
    if not starts or not n:
        return None
    positions = slice(starts[0], None, distance)
    first, step, tap = (starts[0] * stride - low) // base, distance * stride // base, max(1, dilation // base)
    extent = (len(range(count)[positions]) - 1) * step + (w - 1) * tap + 1
    return _Full(positions, step, 1, tap, (-first, first + extent - n))


# --- any windows ----------------------------------------------------------------------------------------------------


def box_by_box(w: Windows, body: RegionFunction, types: Sequence[TensorType]) -> Kernel | None:
    """Pad and reduce large arrays box by box of the results, to need less memory.

    Results must not depend on which windows are reduced together: those of left folds and those in any order do not.
    """
    combines = [Combine(part) for part in body.parts]
    if w.padded_elements <= LARGE or any(c.adds_exactly for c in combines):
        return None
    if not all(w.are_short or c.folds_left or c.any_order is not None for c in combines):
        return None
    extents, counts = [(n - 1) * d + 1 for n, d in zip(w.window, w.window_dilations)], w.counts
    low, interior = [below for below, _ in w.padding], [step - 1 for step in w.base_dilations]
    reduce, dtypes = _padded(w, body), [numpy_dtype(element_type(t)) for t in types]

    def run(inits: Sequence[Array], arrays: Sequence[Array]) -> Arrays:
        results = [np.empty(counts, dtype) for dtype in dtypes]
        for box in within_time(boxes(counts, BOX, extents, w.strides)):
            below = [b - some.start * s for b, some, s in zip(low, box, w.strides)]
            sizes = [(some.stop - some.start - 1) * s + n for some, s, n in zip(box, w.strides, extents)]
            padded = [pad(x.shape, below, interior, sizes, x.dtype)(x, init) for x, init in zip(arrays, inits)]
            for result, values in zip(results, reduce(inits, padded)):
                result[box] = values
        return results

    steps = box_sizes(counts, BOX, extents, w.strides)
    elements = prod((step - 1) * s + n for step, s, n in zip(steps, w.strides, extents))
    return Kernel(run, temporaries=_itemsize(types) * (1 + WHOLE) * elements)


def at_once(w: Windows, body: RegionFunction, types: Sequence[TensorType]) -> Kernel:
    """Pad arrays and reduce all windows at once."""
    pads, reduce = [pad_windows(t, w.base_dilations, w.padding) for t in types], _padded(w, body)
    return Kernel(
        lambda inits, arrays: reduce(inits, [pad(x, value) for pad, x, value in zip(pads, arrays, inits)]),
        temporaries=_itemsize(types) * WHOLE * w.padded_elements,
    )


def _padded(w: Windows, body: RegionFunction) -> Reduction:
    """Return the reduction of windows of arrays that are padded already."""
    attributes = w.window, w.strides, w.window_dilations

    def plan(combine: Combine) -> Reduction:
        if combine.adds_exactly:
            return lambda inits, arrays: exact_window_sums(combine.dtype, inits, arrays, *attributes)
        if combine.folds_left or (w.are_short and not combine.allows_any_order):
            return lambda inits, arrays: fold_windows(combine, inits, arrays, *attributes)
        return after_inits(combine, lambda arrays: reduce_windows(combine, arrays, *attributes))

    return by_parts(body, plan)


STRATEGIES: tuple[Strategy, ...] = (cumulative, dilated, box_by_box, at_once)
