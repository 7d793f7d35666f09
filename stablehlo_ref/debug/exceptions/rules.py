"""Find generations: of infinities by division, of underflow, of cancellation."""

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
    magnitudes of all terms. Results that are exactly zero are not counted.
    """
    if not is_real(result) or not result.size or not all(map(is_real, operands)):
        return None
    least = 2.0 ** (default_threshold(result) if threshold is None else threshold)
    facts = facts_of(op)
    if facts is not None and facts.adds and len(operands) == 2:
        return _lossy(_larger(*map(np.asarray, operands)), np.asarray(result), least)
    if op.name == "stablehlo.reduce" and len(op.results) == 1 and recognised(op.regions[0]) == "add":
        terms = np.abs(widen_if_narrow(np.asarray(operands[0])))
        return _lossy(terms.sum(axis=tuple(op.properties["dimensions"])), np.asarray(result), least)
    if op.name == "stablehlo.dot_general" and all(map(np.size, operands)):
        sums = _sums_of_magnitudes(op, *map(np.asarray, operands))
        return _lossy(sums.reshape(result.shape), np.asarray(result), least)
    return None


def _sums_of_magnitudes(op: Operation, lhs: Array, rhs: Array) -> Array:
    """Return the sums of the magnitudes of the terms of a `dot_general`, in f64."""
    x, y = (_rows(op, side, array) for side, array in (("lhs", lhs), ("rhs", rhs)))
    with np.errstate(all="ignore"):
        return np.asarray(np.abs(x) @ np.abs(y).transpose(0, 2, 1))


def _rows(op: Operation, side: str, array: Array) -> Array:
    """Return an operand as (batch, rows, terms of a sum)."""
    batch, summed = (op.properties[f"{side}_{axes}_dimensions"] for axes in ("batching", "contracting"))
    free = [axis for axis in range(array.ndim) if axis not in (*batch, *summed)]
    sizes = [int(np.prod([array.shape[axis] for axis in axes], dtype=int)) for axes in (batch, free, summed)]
    return np.transpose(array.astype(np.float64), (*batch, *free, *summed)).reshape(sizes)


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
