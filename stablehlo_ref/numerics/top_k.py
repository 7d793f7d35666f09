"""Find the indices of the largest elements without sorting all of them (CHLO, `top_k`)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.numerics.dtypes import is_sub_byte_integer, kind
from stablehlo_ref.numerics.integers import unpack
from stablehlo_ref.numerics.ulp import ordered_bits

CHUNKS = 8  # per requested element, so that few other elements pass the bound
BLOCK = 1 << 18  # elements of rows that are ranked at a time
CANDIDATES = 4  # per requested element, at most; ties can produce more


def top_k_indices(dtype: DType) -> Callable[[Array, int], Array]:
    """Return a function of an array of `dtype` and `k` to the indices of the `k` largest elements along the last axis.

    Elements are in descending order, equal ones in ascending order of their indices; floats are in totalOrder. Raises
    TypeError for complex dtypes.
    """
    rank = descending_keys(dtype)

    def run(x: Array, k: int) -> Array:
        if x.ndim == 1 or x.size <= BLOCK:
            return of_rows(x, k)
        rows, step = x.reshape(-1, x.shape[-1]), max(1, BLOCK // x.shape[-1])
        found = [of_rows(rows[start : start + step], k) for start in within_time(range(0, len(rows), step))]
        return np.concatenate(found).reshape(*x.shape[:-1], k)

    def of_rows(x: Array, k: int) -> Array:
        keys = rank(x)
        found = k_smallest(keys.reshape(-1, keys.shape[-1]), k) if 0 < 2 * CHUNKS * k <= keys.shape[-1] else None
        if found is None:
            return np.argsort(keys, axis=-1, kind="stable")[..., :k]
        return found.reshape(*keys.shape[:-1], k)

    return run


def descending_keys(dtype: DType) -> Callable[[Array], Array]:
    """Return a function from arrays of `dtype` to integers in the reverse order of the elements."""
    match kind(dtype):
        case "complex":
            raise TypeError("complex numbers are not ordered")
        case "floating":
            return lambda x: ~ordered_bits(x)
        case "boolean":
            return np.logical_not
    if is_sub_byte_integer(dtype):
        return lambda x: ~unpack(dtype)(x)
    return np.invert


def k_smallest(keys: Array, k: int) -> Array | None:
    """Return the indices of the `k` smallest keys of each row, in ascending order, or None if there are too many ties.

    A row is split into chunks. The k-th smallest of the chunks' minima is an upper bound of the k-th smallest key.
    """
    rows, count = keys.shape
    chunks = CHUNKS * k
    width = count // chunks
    minima = keys[:, : chunks * width].reshape(rows, width, chunks).min(axis=1)
    bound = np.partition(minima, k - 1, axis=-1)[:, k - 1 : k]
    row, column = np.divmod(np.flatnonzero(keys <= bound), count)  # several times as fast as np.nonzero
    if row.size > CANDIDATES * k * rows:
        return None
    order = np.lexsort((keys[row, column], row))
    starts = np.searchsorted(row, np.arange(rows))
    return np.asarray(column[order[starts[:, np.newaxis] + np.arange(k)]])
