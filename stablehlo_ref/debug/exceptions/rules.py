"""What counts as a generation: of infinities by division, of underflow, of cancellation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from stablehlo_ref.debug.bounds.reductions import recognised
from stablehlo_ref.debug.exceptions.taint import is_real, smallest_normal, without_repetition
from stablehlo_ref.define.definition import facts_of
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.numerics.dtypes import mantissa_bits
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


BLOCK = 1 << 15  # elements, so that temporaries stay in the cache


class Lossy(NamedTuple):
    """Where results underflow, or lose bits by cancellation, and how many at most."""

    where: Array
    bits: int = 0


def at_pole(op: Operation, operands: Sequence[Any]) -> Array:
    """Return where an op has a pole, so that an infinite result is exact."""
    facts, arrays = facts_of(op), [np.asarray(x) for x in operands]
    if facts is None or facts.pole is None or len({array.shape for array in arrays}) > 1:
        return np.asarray(False)
    return np.asarray(facts.pole(*map(widen_if_narrow, arrays)))


def may_underflow(op: Operation, result: Any) -> bool:
    """Return whether an op is one whose results may be zero or subnormal by rounding, and some result is."""
    facts = facts_of(op)
    if facts is None or facts.underflow is None or not is_real(result) or not result.size:
        return False
    wide = widen_if_narrow(without_repetition(np.asarray(result)))
    tiny = smallest_normal(result)
    return not (wide.min() >= tiny or wide.max() <= -tiny)


def underflow(op: Operation, operands: Sequence[Any], result: Any) -> Lossy | None:
    """Return where a result is zero or subnormal although the operands are normal numbers; None if nowhere."""
    if not may_underflow(op, result) or not all(map(is_real, operands)):
        return None
    facts = facts_of(op)
    where = np.asarray(np.abs(widen_if_narrow(np.asarray(result))) < smallest_normal(result))
    tiny = np.ones(np.count_nonzero(where), bool)
    for operand in operands if tiny.size else ():
        array = np.asarray(operand)
        size = np.abs(widen_if_narrow(array[where] if array.shape == where.shape else array))
        is_normal = (size >= smallest_normal(operand)) & (size < np.inf)
        tiny &= is_normal if facts is not None and facts.underflow == "unless zero" else is_normal | (size == 0)
    where[where] = tiny
    return Lossy(where) if tiny.any() else None


def default_threshold(result: Any) -> int:
    """Return half of the bits of a type's significand, rounded up: 12 for f32, 27 for f64, 4 for bf16."""
    return (mantissa_bits(result.dtype) + 2) // 2


def cancellation(op: Operation, operands: Sequence[Any], result: Any, threshold: int | None) -> Lossy | None:
    """Return where a sum or difference loses `threshold` bits or more; None if nowhere.

    What is lost is how much smaller the result is than the larger term; in reductions and dots, than the sum of the
    magnitudes of all terms.
    Results that are exactly zero are not counted.
    """
    if not is_real(result) or not result.size or not all(map(is_real, operands)):
        return None
    least = 2.0 ** (default_threshold(result) if threshold is None else threshold)
    facts = facts_of(op)
    if facts is not None and facts.adds and len(operands) == 2:
        lhs, rhs = map(np.asarray, operands)
        return _of_pairs(lhs, rhs, np.asarray(result), least)
    if op.name == "stablehlo.reduce" and len(op.results) == 1 and recognised(op.regions[0]) == "add":
        terms = np.abs(widen_if_narrow(np.asarray(operands[0])))
        return _lossy(terms.sum(axis=tuple(op.properties["dimensions"])), np.asarray(result), least)
    if op.name == "stablehlo.dot_general" and all(map(np.size, operands)):
        found = cancelled(op, np.asarray(operands[0]), np.asarray(operands[1]), np.asarray(result), least)
        return None if found is None else Lossy(*found)
    return None


def _of_pairs(lhs: Array, rhs: Array, result: Array, least: float) -> Lossy | None:
    if not all(array.flags.c_contiguous and array.shape == result.shape for array in (lhs, rhs, result)):
        return _lossy(_larger(lhs, rhs), result, least)
    flat = [array.reshape(-1) for array in (lhs, rhs, result)]
    found: Lossy | None = None
    for start in range(0, result.size, BLOCK):
        x, y, z = (array[start : start + BLOCK] for array in flat)
        part = _lossy(_larger(x, y), z, least)
        if part is not None:
            where = np.zeros(result.size, bool) if found is None else found.where
            where[start : start + BLOCK] = part.where
            found = Lossy(where, max(part.bits, found.bits if found else 0))
    return None if found is None else Lossy(found.where.reshape(result.shape), found.bits)


def _larger(lhs: Array, rhs: Array) -> Array:
    return np.asarray(np.maximum(np.abs(widen_if_narrow(lhs)), np.abs(widen_if_narrow(rhs))))


def _lossy(terms: Array, result: Array, least: float) -> Lossy | None:
    """Return where a result is smaller than the terms by a factor of `least`, but neither 0 nor exceptional."""
    size = np.abs(widen_if_narrow(result))
    where = np.asarray(size <= terms * (1 / least))
    if not where.any():
        return None
    small, large = size[where].astype(np.float64), terms[where].astype(np.float64)
    where[where] = counts = (small > 0) & (large < np.inf)
    return Lossy(where, int((np.log2(large[counts]) - np.log2(small[counts])).max())) if counts.any() else None
