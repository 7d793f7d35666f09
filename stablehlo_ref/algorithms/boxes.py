"""Boxes of arrays, which are computed one after another to need less memory."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod

from stablehlo_ref.algorithms.padding import Sizes


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
