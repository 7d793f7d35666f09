"""Reductions of small arrays along one dimension of two, four, eight ... elements: the same tree, with fewer calls."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.kernels import ArrayKernel

SMALL = 1 << 10  # elements, of which calls of numpy cost more than what they compute

_EVEN, _ODD = slice(None, None, 2), slice(1, None, 2)


def small_tree(pair: np.ufunc, shape: Sequence[int], axes: tuple[int, ...]) -> ArrayKernel | None:
    """Return a function of an init value and an array that combines pairs of neighbors, level by level.

    None for large arrays, dimensions that are not adjacent, and where a level has a single element left.
    """
    first, last = axes[0], axes[-1]
    count, lanes = prod(shape[first : last + 1]), prod(shape[last + 1 :])
    if last - first + 1 != len(axes) or count & (count - 1) or not 0 < prod(shape) <= SMALL:
        return None
    kept, levels = (*shape[:first], *shape[last + 1 :]), range(count.bit_length() - 1)
    rows = (-1,) if lanes == 1 else (-1, lanes)
    is_flat = len(kept) == len(rows) and (lanes == 1 or kept[-1] == lanes)

    def run(init: Array, x: Array) -> Array:
        x = x.reshape(rows)
        for _ in levels:
            x = pair(x[_EVEN], x[_ODD])
        result: Array = pair(init, x if is_flat else x.reshape(kept))
        return result

    return run
