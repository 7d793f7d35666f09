"""Padding at the edges of tensors and between elements, for `pad` and for windows."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import TypeAlias

import numpy as np

from stablehlo_ref.define.spec import UNKNOWN, element_type, make_tensor_type, shape
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.kernels import ArrayKernel

Sizes: TypeAlias = Sequence[int]
Padding: TypeAlias = Sequence[Sequence[int]]  # (low, high) for each dimension


def padded_sizes(sizes: Sizes, low: Sizes, high: Sizes, interior: Sizes) -> list[int]:
    """Return the sizes of a padded tensor. Unknown sizes stay unknown."""
    padding = zip(sizes, low, high, interior)
    return [n if n is UNKNOWN else n + below + max(n - 1, 0) * between + above for n, below, above, between in padding]


def pad(shape: Sizes, low: Sizes, interior: Sizes, sizes: Sizes, dtype: DType) -> ArrayKernel:
    """Return a kernel that pads arrays of shape `shape` to `sizes`.

    Negative padding removes elements: `low` at the low edge, the rest of `sizes` at the high edge.
    """
    steps = [n + 1 for n in interior]
    # The range of indices in each dimension of the operand that are in the result.
    first = [max(0, -(below // step)) for below, step in zip(low, steps)]
    stop = [
        max(begin, min(n, -((below - size) // step)))
        for begin, n, below, size, step in zip(first, shape, low, sizes, steps)
    ]
    kept = tuple(map(slice, first, stop))
    starts = [below + begin * step for below, begin, step in zip(low, first, steps)]
    spans = [(end - begin - 1) * step + 1 if begin < end else 0 for begin, end, step in zip(first, stop, steps)]
    stops = [start + span for start, span in zip(starts, spans)]
    positions = tuple(map(slice, starts, stops, steps))
    edges = [()] if max(steps, default=1) > 1 or not all(spans) else frame(starts, stops)

    def run(operand: Array, padding_value: Array) -> Array:
        padded = np.empty(sizes, dtype)
        for edge in edges:
            padded[edge] = padding_value
        padded[positions] = operand[kept]
        return padded

    return run


def frame(starts: list[int], stops: list[int]) -> list[tuple[slice, ...]]:
    """Return slices that partition the indices outside of the box from `starts` to `stops`."""
    inner = tuple(map(slice, starts, stops))
    before = [(*inner[:d], slice(None, start)) for d, start in enumerate(starts)]
    after = [(*inner[:d], slice(stop, None)) for d, stop in enumerate(stops)]
    return before + after


def pad_windows(x: TensorType, dilations: Sizes, padding: Padding) -> ArrayKernel:
    """Return a kernel that dilates and pads arrays of type `x`, the operands of windows.

    Raises EvaluationError if the result is larger than the address space.
    """
    if not any(map(any, padding)) and set(dilations) <= {1}:
        return lambda operand, padding_value: operand
    low, high = ([edges[side] for edges in padding] for side in (0, 1))
    interior, dtype = [dilation - 1 for dilation in dilations], numpy_dtype(element_type(x))
    sizes = padded_sizes(shape(x), low, high, interior)
    if prod(sizes) * dtype.itemsize > sys.maxsize:
        padded = make_tensor_type(sizes, element_type(x))
        raise EvaluationError(f"the padded operand, {padded}, is larger than the address space")
    return pad(shape(x), low, interior, sizes, dtype)


def boxes(
    counts: Sizes, elements: int, extents: Sizes | None = None, strides: Sizes | None = None
) -> Iterator[tuple[slice, ...]]:
    """Yield boxes of results of shape `counts` that read about so many elements each.

    A result reads a window with `extents`, by default one element; windows start at distances of `strides`, by default
    one.
    """
    ones = (1,) * len(counts)
    steps = box_sizes(counts, elements, extents or ones, strides or ones)
    for corner in product(*(range(0, count, step) for count, step in zip(counts, steps))):
        yield tuple(slice(i, min(i + step, count)) for i, step, count in zip(corner, steps, counts))


def box_sizes(counts: Sizes, elements: int, extents: Sizes, strides: Sizes) -> list[int]:
    """Return the sizes of boxes of results that read about so many elements, the first axes cut first.

    Along each axis a box has about as many elements as a window at least, so that at most half of them are read twice.
    """
    steps = list(counts)
    reads = [(count - 1) * s + n for count, n, s in zip(counts, extents, strides)]
    for axis, (n, s) in enumerate(zip(extents, strides)):
        room = elements * reads[axis] // prod(reads)
        steps[axis] = min(steps[axis], max(1, (room - n) // s + 1, n // s))
        reads[axis] = (steps[axis] - 1) * s + n
    return steps
