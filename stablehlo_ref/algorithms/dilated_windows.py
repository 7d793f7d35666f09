"""Windows of dilated tensors whose elements are either all between those of the tensor, or none of them.

If the dilation of windows is a multiple of that of the tensor, the position of a window's first element decides. So
only some windows, at regular distances, need to be reduced, and none of the dilation is left in them; all others
consist of init values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd
from typing import NamedTuple

import numpy as np

from stablehlo_ref.algorithms.padding import Padding, Sizes
from stablehlo_ref.algorithms.reduction_schedule import Arrays, Reduction
from stablehlo_ref.define.computation import RegionFunction
from stablehlo_ref.ir.arrays import Array

MAX_DISTANCE = 64  # windows from one full one to the next; the search for the first one tries at most so many


@dataclass(frozen=True)
class FullWindows:
    """Windows of elements of the tensor: where they are among all windows, and attributes of `reduce_window`."""

    positions: tuple[slice, ...]
    strides: tuple[int, ...]
    base_dilations: tuple[int, ...]
    window_dilations: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]


class _FullWindowsAlong(NamedTuple):
    """The members of `FullWindows` for one dimension."""

    positions: slice
    stride: int
    base_dilation: int
    window_dilation: int
    padding: tuple[int, int]


def full_windows(
    sizes: Sizes, counts: Sizes, window: Sizes, strides: Sizes, base: Sizes, dilations: Sizes, padding: Padding
) -> FullWindows | None:
    """Return the windows of elements of the tensor, which are full.

    None if every window is full, none is, or the full ones are not evenly spaced.
    """
    dimensions = [*map(_full_windows, sizes, counts, window, strides, base, dilations, padding)]
    columns = list(zip(*[d for d in dimensions if d is not None]))
    is_thinner = any(b > 1 and d is not None and d.base_dilation == 1 for b, d in zip(base, dimensions))
    return FullWindows(*columns) if is_thinner and None not in dimensions else None


def _full_windows(
    n: int, count: int, w: int, stride: int, base: int, dilation: int, edges: Sequence[int]
) -> _FullWindowsAlong | None:
    low, high = edges
    if base == 1 or (w > 1 and dilation % base):
        return _FullWindowsAlong(slice(None), stride, base, dilation, (low, high))
    distance = base // gcd(stride, base)
    if distance > MAX_DISTANCE:
        return None
    starts = [i for i in range(min(distance, count)) if (i * stride - low) % base == 0]
    if not starts or not n:
        return None
    positions = slice(starts[0], None, distance)
    first, step, tap = (starts[0] * stride - low) // base, distance * stride // base, max(1, dilation // base)
    extent = (len(range(count)[positions]) - 1) * step + (w - 1) * tap + 1
    return _FullWindowsAlong(positions, step, 1, tap, (-first, first + extent - n))


def with_empty_windows(
    reduce: Reduction, full: FullWindows, body: RegionFunction, length: int, sizes: Sizes
) -> Reduction:
    """Return the reduction of all windows, whose number is that of `sizes`; `reduce` does so for the full ones.

    The `length` elements of the others, which are init values, are folded from the left.
    """

    def run(inits: Sequence[Array], arrays: Sequence[Array]) -> Arrays:
        empty = inits
        for _ in range(length):
            empty = body.each(*empty, *inits)
        results = [np.full(sizes, value, x.dtype) for value, x in zip(empty, arrays)]
        for result, reduced in zip(results, reduce(inits, arrays)):
            result[full.positions] = reduced
        return results

    return run
