"""Split a shape into boxes of a few thousand elements, contiguous in C order, which stay in the cache."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from math import prod
from typing import NamedTuple, TypeAlias

import numpy as np

from stablehlo_ref.ir.arrays import Array

Box: TypeAlias = tuple[slice, ...]  # of the leading dimensions, up to the one that is split

BLOCK = 1 << 18  # bytes: few enough that buffers stay in the cache, and many compared to the time to start an op
LINE = 64  # bytes of a line of the cache
SHORT = 128  # elements: inner loops over fewer are slow


class Boxes(NamedTuple):
    """The boxes of a shape, of which those that end the dimension that is split may be smaller than the others."""

    indices: Sequence[tuple[Box, int]]  # with the index of the box's shape; the last box has the last one
    shapes: Sequence[tuple[int, ...]]


@lru_cache(maxsize=16)  # the chains of a model have few shapes
def boxes(shape: tuple[int, ...], rows: int | None, itemsize: int) -> Boxes:
    """Split `shape`, without zeros, so that no dimension from `rows` on is split."""
    block = max(1, BLOCK // itemsize)
    axis = next(a for a in range(len(shape)) if prod(shape[a + 1 :]) <= block)
    axis = axis if rows is None else min(axis, rows - 1)
    count = -(-shape[axis] // max(1, block // prod(shape[axis + 1 :])))
    step = -(-shape[axis] // count)  # so that boxes are of about the same size
    ends = [slice(start, min(start + step, shape[axis])) for start in range(0, shape[axis], step)]
    indices = [
        ((*[slice(i, i + 1) for i in outer], end), int(end.stop - end.start < step))
        for outer in product(*map(range, shape[:axis]))
        for end in ends
    ]
    sizes = sorted({end.stop - end.start for end in ends}, reverse=True)
    return Boxes(indices, [(*[1] * axis, size, *shape[axis + 1 :]) for size in sizes])


def invariant(x: Array, box: Box) -> bool:
    """Return whether an array has the same elements in all boxes of the same size."""
    return not any(stride for stride, n in zip(x.strides[: len(box)], x.shape) if n > 1)


def compact(x: Array) -> Array:
    """Return a box of an operand in a form that is fast to use many times: one element, or rows of `SHORT` or more."""
    if not any(stride for stride, n in zip(x.strides, x.shape) if n > 1):
        return x[(slice(0, 1),) * x.ndim]
    return np.ascontiguousarray(x) if x.shape[-1] < SHORT else x


def is_transposed(x: Array, box: Sequence[int]) -> bool:
    """Return whether a copy saves time: neighbors are along another dimension than the last, and a box has many."""
    if x.ndim < 2 or x.shape[-1] == 1 or abs(x.strides[-1]) < LINE or x.itemsize not in x.strides:
        return False
    return box[x.strides.index(x.itemsize)] >= SHORT
