"""Products of a large f32 matrix with a thin one in f64, with bounds of their errors, as in a layer for one token.

Converting all of the large matrix takes longer than multiplying, and twice its memory. Here it is converted and
multiplied block by block, while the block is in the cache. A matrix that a run multiplies repeatedly, as a loop does,
is converted once.
"""

from __future__ import annotations

from typing import NamedTuple, cast
from weakref import ref

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.limits.budget import current, keep_if_little, within_time
from stablehlo_ref.numerics.dtypes import FLOAT32, FLOAT64
from stablehlo_ref.numerics.scratch import scratch

BLOCK = 1 << 17  # elements that are converted at a time
WIDTH = 1 << 13  # rows of the large matrix in a block, if its columns are contiguous
UNIT = 2.0**-53
SLACK = 1.001  # for the rounding errors of the bounds
KEPT = 1 << 21  # elements of all copies of a run; more would not stay in the cache, and gain nothing
LONGEST = 1 << 12  # rows whose squares are summed in f32, with relative errors below (k + 1) 2**-24
SMALLEST = 2.0**-80  # of these sums: errors of squares that underflow are below k 2**-126


class _Copy(NamedTuple):
    """A matrix of f32 numbers, or a view of it, and its copy in f64 with the Euclidean norms of rows.

    As long as the matrix is referred to, nothing overwrites it: execute/ownership.py.
    """

    matrix: Array
    wide: Array
    norms: Array


class _Copies(NamedTuple):
    """The copies of a run, and the arrays that have the memory of matrices it has multiplied; by place and strides."""

    made: dict[object, _Copy]
    seen: dict[object, ref[Array]]


def thin_product(large: Array, thin: Array, are_values: bool = False) -> tuple[Array, Array]:
    """Multiply f32 matrices (m, k) and (k, few); return sums in f64, and bounds of their errors.

    Bounds are infinite or NaN if there are infinities or NaNs. Only for matrices that no kernel uses as buffers
    (`are_values`) a copy may be kept.
    """
    thin = thin.astype(FLOAT64)
    if are_values and (copy := _kept_copy(large)) is not None:
        return copy.wide @ thin, copy.norms[:, np.newaxis] * _bounds_of_columns(thin)
    is_by_rows = abs(large.strides[0]) >= abs(large.strides[1])
    return (_by_rows if is_by_rows else _by_columns)(large, thin)


def _kept_copy(large: Array) -> _Copy | None:
    """Return the copy of a matrix that is multiplied again in a run, made the second time; None the first time."""
    copies = current.get().copies
    if copies is None or large.size > KEPT:
        return None
    made, seen = cast(_Copies, copies.setdefault(_Copies, _Copies({}, {})))
    key = large.ctypes.data, large.shape, large.strides
    if key in made or sum(copy.matrix.size for copy in made.values()) + large.size > KEPT:
        return made.get(key)
    owner = large.base if isinstance(large.base, np.ndarray) else large
    if key not in seen or seen[key]() is not owner:
        seen[key] = ref(owner)
        return None
    if not keep_if_little((FLOAT32.itemsize + FLOAT64.itemsize) * large.size):
        return None
    wide = large.astype(FLOAT64)
    made[key] = _Copy(large, wide, np.sqrt(np.einsum("mk,mk->m", wide, wide)))
    return made[key]


def _by_rows(large: Array, thin: Array) -> tuple[Array, Array]:
    """Bound sums of magnitudes by the product of the Euclidean norms of row and column."""
    rows, terms = large.shape
    sums, norms = np.empty((rows, thin.shape[1])), np.empty(rows)
    step = max(1, BLOCK // terms)
    for start in within_time(range(0, rows, step)):
        some = slice(start, start + step)
        block = _converted(large[some])
        np.matmul(block, thin, out=sums[some])
        norms[some] = _squared_norms(large[some], block)
    return sums, np.sqrt(norms)[:, np.newaxis] * _bounds_of_columns(thin)


def _bounds_of_columns(thin: Array) -> Array:
    """Return what gives bounds of errors when multiplied by the Euclidean norms of rows."""
    bounds: Array = np.sqrt(np.einsum("kn,kn->n", thin, thin)) * ((len(thin) + 2) * UNIT * SLACK)
    return bounds


def _squared_norms(x: Array, wide: Array) -> Array:
    """Return sums of the squares of rows, up to 1/4000 too small; from f32 numbers where possible, in half the time.

    `wide` are the same numbers in f64.
    """
    if x.shape[1] <= LONGEST:
        norms: Array = np.vecdot(x, x)
        if norms.min() > SMALLEST and norms.max() < np.inf:  # not if one is NaN
            return norms
    norms = np.vecdot(wide, wide)
    return norms


def _by_columns(large: Array, thin: Array) -> tuple[Array, Array]:
    """Add products with blocks of columns, in two levels, so that errors are small.

    Sums of magnitudes are computed in f32, with relative errors below (k + 2) 2**-23, and absolute ones of products
    that underflow.
    """
    rows, terms = large.shape
    sums, totals = np.zeros((rows, thin.shape[1])), np.zeros((rows, thin.shape[1]), FLOAT32)
    width = min(rows, WIDTH)
    step = max(1, BLOCK // width)
    magnitudes = np.abs(thin).astype(FLOAT32)
    for row in range(0, rows, width):
        part = slice(row, row + width)
        for start in within_time(range(0, terms, step)):
            some = slice(start, start + step)
            sums[part] += _converted(large[part, some].T).T @ thin[some]
            totals[part] += np.abs(large[part, some]) @ magnitudes[some]
    count = step + -(-terms // step) + 2
    slack = SLACK + terms * 2.0**-23
    return sums, (totals.astype(FLOAT64) + terms * 2.0**-126) * (count * UNIT * slack)


def _converted(x: Array) -> Array:
    block = scratch("a", x.shape)
    np.copyto(block, x)
    return block
