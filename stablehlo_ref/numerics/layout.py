"""How arrays lie in memory: copies into the order of their indices, elements as bytes."""

from __future__ import annotations

from itertools import product

import numpy as np

from stablehlo_ref.numerics.dtypes import is_narrow_float
from stablehlo_ref.numerics.narrow import Array

LARGE = 1 << 16  # elements: below, the operand of a copy lies in the cache anyway
CONFLICT = 1 << 10  # bytes: of elements that are multiples of it apart, few fit into the cache together


def contiguous(x: Array) -> Array:
    """A copy of `x` whose elements lie in the order of their indices.

    numpy goes along the last axis. Where elements that are neighbours there lie such a stride apart in `x` that they
    drive one another's cache lines out, it is several times faster to go tile by tile.
    """
    last = abs(x.strides[-1]) if x.ndim else 0
    if x.size < LARGE or not last or last % CONFLICT or x.itemsize not in x.strides:
        return x.copy(order="C")
    adjacent = x.strides.index(x.itemsize)
    out = np.empty(x.shape, x.dtype)
    for i, j in product(range(0, x.shape[adjacent], 512), range(0, x.shape[-1], 16)):
        tile = [slice(None)] * x.ndim
        tile[adjacent], tile[-1] = slice(i, i + 512), slice(j, j + 16)
        out[tuple(tile)] = x[tuple(tile)]
    return out


def opaque(x: Array) -> Array:
    """`x`, which `view(x.dtype)` gives back: narrow floats as elements of no meaning.

    numpy's views with strides of one's own can't be of f8E5M2.
    """
    return x.view(f"V{x.itemsize}") if is_narrow_float(x.dtype) else x
