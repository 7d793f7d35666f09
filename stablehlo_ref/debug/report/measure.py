"""How far results of a backend are from what they should be: relative to the bound, in ULPs, and where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stablehlo_ref.debug.cut import fed_to, is_constant
from stablehlo_ref.debug.judge import Judge, Judgement, Verdict, excess_of
from stablehlo_ref.debug.rounding import ulp
from stablehlo_ref.debug.shadow import Shadow, overflowed, widened
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Value
from stablehlo_ref.numerics.dtypes import kind

EDGES = (0.0, 0.5, *(2.0**k for k in range(25)))  # of a histogram of ULPs: 0, up to 1/2, up to 1, up to 2, ...
SHOWN_RANGES = 6  # of indices along an axis


@dataclass(frozen=True)
class Deviation:
    """A result of a backend beside the exact result of the op on the backend's own operands, and the bound on both."""

    value: Value
    actual: Array
    expected: Array  # in f64 or complex128 for floating-point types
    radius: Array | None  # None if there is no bound

    @property
    def size(self) -> int:
        return self.actual.size

    @cached_property
    def errors(self) -> Array:
        """The distance of each element from the expected one; infinite where only one of both is special."""
        actual = widened(self.actual)
        if kind(self.actual.dtype) not in ("floating", "complex"):
            return np.asarray(actual != self.expected).astype(np.float64)
        with np.errstate(all="ignore"):
            same = (actual == self.expected) | (np.isnan(actual) & np.isnan(self.expected))
            apart = np.abs(actual - self.expected)
        return np.where(same, 0.0, np.where(np.isnan(apart), np.inf, apart))

    @cached_property
    def ulps(self) -> Array | None:
        """The errors in ULPs of the result's type at the expected value; None for integers and booleans."""
        if kind(self.actual.dtype) not in ("floating", "complex"):
            return None
        with np.errstate(all="ignore"):
            return self.errors / ulp(np.abs(self.expected), self.actual.dtype)

    @cached_property
    def ratios(self) -> Array | None:
        """The errors relative to their bounds, more than 1 where they exceed them; None without bounds."""
        if self.radius is None:
            return None
        radius = np.broadcast_to(self.radius, self.errors.shape)
        with np.errstate(all="ignore"):
            found = self.errors / radius
        return np.where(self.errors == 0, 0.0, np.where(np.isinf(radius), 0.0, found))

    @property
    def differs(self) -> Array:
        """Whether each element is more than half an ULP off, or not the expected integer."""
        return self.errors > 0 if self.ulps is None else self.ulps > 0.5

    def histogram(self) -> list[int] | None:
        """Return how many elements are 0, up to 1/2, 1, 2, ..., 2^24, and more ULPs off; None for integers."""
        if self.ulps is None:
            return None
        places = np.searchsorted(EDGES, self.ulps.reshape(-1), side="left")
        return [int(n) for n in np.bincount(places, minlength=len(EDGES) + 1)]


def deviations(judge: Judge, judgement: Judgement) -> Iterator[Deviation]:
    """Yield the deviation of each result of an op; none if values are missing and the op cannot be evaluated."""
    op = judgement.op
    fed, values = fed_to(op), judge.values
    if any(v not in values and not is_constant(v) for v in fed) or any(result not in values for result in op.results):
        return
    known = [judge.operand(value) for value in fed]
    shadows = _bounds(judge, judgement)
    ours = None if shadows else judge.evaluate(op, known)
    for index, result in enumerate(op.results):
        actual = values[result]
        bound = overflowed(shadows[index], actual.dtype) if shadows else None
        expected, radius = (bound.center, bound.radius) if bound else (None, None)
        expected = widened(ours[index]) if ours else expected
        if expected is not None and expected.shape == actual.shape:
            yield Deviation(result, actual, expected, radius)


def _bounds(judge: Judge, judgement: Judgement) -> Sequence[Shadow] | None:
    """Return the bounds on the op alone, or those of what may be computed again with it if it is legal only so."""
    alone, op = judge.known_bounds(judgement.op), judgement.op
    if alone is None or judgement.verdict in (Verdict.WRONG, Verdict.SAME):
        return alone
    pairs = zip(op.results, alone)
    is_inside = all(excess_of(judge.values[result], shadow, judge.contract) is None for result, shadow in pairs)
    return alone if is_inside else judge.bounds(op)


def places(where: Array) -> list[str]:
    """Return for each axis the indices at which anything is true: `all 16`, `31`, `0-3, 7`."""
    return [_ranges(np.any(where, tuple(i for i in range(where.ndim) if i != axis))) for axis in range(where.ndim)]


def _ranges(hit: Array) -> str:
    """Return the indices of what is true as ranges."""
    if hit.all():
        return f"all {hit.size}" if hit.size != 1 else "0"
    steps = np.diff(np.concatenate(([0], hit.astype(np.int8), [0])))
    pairs = list(zip(np.flatnonzero(steps == 1), np.flatnonzero(steps == -1) - 1))
    shown = [str(a) if a == b else f"{a}-{b}" for a, b in pairs[:SHOWN_RANGES]]
    more = f" and {int(hit.sum()) - sum(b - a + 1 for a, b in pairs[:SHOWN_RANGES])} more"
    return ", ".join(shown) + (more if len(pairs) > SHOWN_RANGES else "") if shown else "none"
