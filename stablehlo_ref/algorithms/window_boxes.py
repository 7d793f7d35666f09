"""Windows reduced box by box of the results, so that the padded elements and intermediate results stay in the cache.

This is for reductions whose results do not depend on which windows are reduced together: left folds, and those in any
order.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from stablehlo_ref.algorithms.padding import Padding, Sizes, pad
from stablehlo_ref.algorithms.reduction_schedule import Arrays, Combine, Reduction
from stablehlo_ref.algorithms.sliding_windows import box_sizes, boxes
from stablehlo_ref.budget import within_time
from stablehlo_ref.define.computation import RegionFunction
from stablehlo_ref.ir.arrays import Array, DType

BOX = 1 << 19  # elements that are read for a box


def is_independent(body: RegionFunction, is_short: bool) -> bool:
    """Return whether each window is reduced alone, or in any order; `is_short` says that windows are folded."""
    parts = [Combine(part) for part in body.parts]
    return all(not c.adds_exactly and (is_short or c.folds_left or c.any_order is not None) for c in parts)


def by_boxes(
    reduce: Reduction,
    counts: Sizes,
    window: Sizes,
    strides: Sizes,
    base: Sizes,
    dilations: Sizes,
    padding: Padding,
    dtypes: Sequence[DType],
) -> Reduction:
    """Return the reduction of windows of arrays; `reduce` does so for those that are padded.

    `counts` are the sizes of the results, and `dtypes` their dtypes.
    """
    extents = [(w - 1) * d + 1 for w, d in zip(window, dilations)]
    low, interior = [below for below, _ in padding], [step - 1 for step in base]

    def run(inits: Sequence[Array], arrays: Sequence[Array]) -> Arrays:
        results = [np.empty(counts, dtype) for dtype in dtypes]
        for box in within_time(boxes(counts, extents, strides, BOX)):
            below = [b - some.start * s for b, some, s in zip(low, box, strides)]
            sizes = [(some.stop - some.start - 1) * s + n for some, s, n in zip(box, strides, extents)]
            padded = [pad(x.shape, below, interior, sizes, x.dtype)(x, init) for x, init in zip(arrays, inits)]
            for result, values in zip(results, reduce(inits, padded)):
                result[box] = values
        return results

    return run


def box_elements(counts: Sizes, window: Sizes, strides: Sizes, dilations: Sizes) -> int:
    """Return how many elements are read for a box, at most."""
    extents = [(w - 1) * d + 1 for w, d in zip(window, dilations)]
    steps = box_sizes(counts, extents, strides, BOX)
    return prod((step - 1) * s + n for step, s, n in zip(steps, strides, extents))


def in_place(body: RegionFunction) -> Reduction:
    """Return `body` with arrays as its right-hand sides, which are overwritten box by box if they are writeable."""
    pair = Combine(body).pair

    def run(inits: Sequence[Array], arrays: Sequence[Array]) -> Arrays:
        if pair is not None:
            return [pair(inits[0], arrays[0], out=arrays[0])]
        if not all(x.flags.writeable for x in arrays):  # they are broadcast
            return body.each(*inits, *arrays)
        ones = [1] * arrays[0].ndim
        for box in within_time(boxes(arrays[0].shape, ones, ones, BOX)):
            parts = [x[box] for x in arrays]
            for part, values in zip(parts, body.each(*inits, *parts)):
                part[...] = values
        return list(arrays)

    return run
