"""Cancellation in the sums of `dot_general`: elements that are much smaller than the magnitudes that they add up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.numerics.narrow_floats import widen_if_narrow

CHUNK = 1 << 20  # products at a time


def cancelled(op: Operation, lhs: Array, rhs: Array, result: Array, least: float) -> tuple[Array, int] | None:
    """Return which elements of a product are smaller by a factor of `least` than the sum of their terms' magnitudes.

    The second result is the number of bits that are lost at most; None if no element is. The product of the norms of a
    row and a column bounds the sum of magnitudes, so that this sum is computed for few elements only.
    """
    x, y = (_rows(op, side, array) for side, array in (("lhs", lhs), ("rhs", rhs)))
    z = np.abs(widen_if_narrow(result)).reshape(x.shape[0], x.shape[1], y.shape[1])
    with np.errstate(all="ignore"):
        bound = _norms(x)[:, :, None] * _norms(y)[:, None, :]
        candidates = np.nonzero((z <= bound * (1 / least)) & (z > 0) & (z < np.inf))
        sizes = z[candidates].astype(np.float64)
        sums = _sums_of_magnitudes(x, y, candidates)
        counts = (sums >= least * sizes) & (sums < np.inf)
    if not counts.any():
        return None
    where = np.zeros(z.shape, bool)
    where[tuple(axis[counts] for axis in candidates)] = True
    lost = np.log2(sums[counts]) - np.log2(sizes[counts])
    return where.reshape(result.shape), int(lost.max())


def _rows(op: Operation, side: str, array: Array) -> Array:
    """Return an operand as (batch, rows, terms of a sum)."""
    batch = tuple(op.properties[f"{side}_batching_dimensions"])
    summed = tuple(op.properties[f"{side}_contracting_dimensions"])
    free = tuple(axis for axis in range(array.ndim) if axis not in (*batch, *summed))
    sizes = [int(np.prod([array.shape[axis] for axis in axes], dtype=int)) for axes in (batch, free, summed)]
    rows: Array = np.transpose(widen_if_narrow(array), (*batch, *free, *summed)).reshape(sizes)
    return rows


def _norms(rows: Array) -> Array:
    """Return the Euclidean norms of rows, a little larger than they are: rounding errors must not hide a candidate.

    Rows are scaled, so that squares do not overflow.
    """
    largest = np.abs(rows).max(axis=-1, keepdims=True)
    scaled = rows / np.where(largest == 0, rows.dtype.type(1), largest)
    norms: Array = np.sqrt(np.einsum("brk,brk->br", scaled, scaled)) * largest[..., 0] * rows.dtype.type(1.01)
    return norms


def _sums_of_magnitudes(x: Array, y: Array, at: Sequence[Array]) -> Array:
    """Return the sum of the magnitudes of the products for some elements (batch, row, column), in f64."""
    batch, row, column = at
    found, step = np.empty(batch.size, np.float64), max(1, CHUNK // max(1, x.shape[2]))
    for start in range(0, batch.size, step):
        part = slice(start, start + step)
        terms = x[batch[part], row[part]].astype(np.float64) * y[batch[part], column[part]]
        found[part] = np.abs(terms).sum(axis=-1)
    return found
