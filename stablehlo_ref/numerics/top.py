"""Which elements are the largest, without sorting all of them (CHLO, `top_k`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from stablehlo_ref.numerics.dtypes import is_sub_byte_integer, kind
from stablehlo_ref.numerics.integers import unpack
from stablehlo_ref.numerics.narrow import Array
from stablehlo_ref.numerics.ulp import ordered_bits

CHUNKS = 8  # for each element that is wanted: then few others are as large as the least of the chunks' largest
CANDIDATES = 4  # for each element that is wanted, at most; ties can make more of them


def top_indices(dtype: np.dtype[Any]) -> Callable[[Array, int], Array]:
    """A function from an array of `dtype` and `k` to the indices of the `k` largest elements along the last axis.

    They come in descending order, equal ones in ascending order of their indices; floats in totalOrder. TypeError if
    there is no order.
    """
    rank = descending(dtype)

    def run(x: Array, k: int) -> Array:
        keys = rank(x)
        found = smallest(keys.reshape(-1, keys.shape[-1]), k) if 0 < 2 * CHUNKS * k <= keys.shape[-1] else None
        if found is None:
            return np.argsort(keys, axis=-1, kind="stable")[..., :k]
        return found.reshape(*keys.shape[:-1], k)

    return run


def descending(dtype: np.dtype[Any]) -> Callable[[Array], Array]:
    """A function to integers that are the smaller, the larger the elements of `dtype` are."""
    match kind(dtype):
        case "complex":
            raise TypeError("complex numbers have no order")
        case "floating":
            return lambda x: ~ordered_bits(x)
        case "boolean":
            return np.logical_not
    if is_sub_byte_integer(dtype):
        return lambda x: ~unpack(dtype)(x)
    return np.invert


def smallest(keys: Array, k: int) -> Array | None:
    """The indices of the `k` smallest keys of each row in ascending order; None if too many are as small as those.

    A row is cut into chunks; the k-th smallest of the chunks' smallest keys is no less than the k-th smallest of all.
    """
    rows, count = keys.shape
    chunks = CHUNKS * k
    width = count // chunks
    least = keys[:, : chunks * width].reshape(rows, width, chunks).min(axis=1)
    bound = np.partition(least, k - 1, axis=-1)[:, k - 1 : k]
    row, column = np.divmod(np.flatnonzero(keys <= bound), count)  # several times as fast as np.nonzero
    if row.size > CANDIDATES * k * rows:
        return None
    order = np.lexsort((keys[row, column], row))
    starts = np.searchsorted(row, np.arange(rows))
    return column[order[starts[:, np.newaxis] + np.arange(k)]]
