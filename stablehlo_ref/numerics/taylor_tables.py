"""Smooth functions by tables of Taylor polynomials in f64: faster than one polynomial for the whole range.

The results are to be rounded to f32, and computed again where their error leaves that in doubt (correct_rounding.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from stablehlo_ref.ir.arrays import Array

STEPS = 1 << 10  # polynomials in an interval of length 1
_ROUNDING = 1.5 * 2.0**52 / STEPS  # x + _ROUNDING is a multiple of 1 / STEPS, whose number is in the last bits
_ZERO = int(np.array(_ROUNDING).view(np.int64))  # the bits of that sum for x = 0


class TaylorTable:
    """A function between two integers, and as constant beyond; `coefficients` maps points to those of their series."""

    def __init__(self, first: int, last: int, coefficients: Callable[[Array], Sequence[Array]]) -> None:
        self.first, self.last = first, last
        self._coefficients = coefficients

    @cached_property
    def _tables(self) -> Sequence[Array]:
        points = np.arange(self.first * STEPS, self.last * STEPS + 1) / STEPS
        constant, *others = self._coefficients(points)
        return [np.where(constant == 0, -0.0, constant), *others]  # -0.0 + x is x, also for zeros

    def __call__(self, x: Array) -> Array:
        """Return the function of f64 numbers of any shape, as a new array."""
        inside = np.maximum(x, self.first)
        np.minimum(inside, self.last, out=inside)
        nearest = inside + _ROUNDING
        index = nearest.view(np.int64) - (_ZERO + self.first * STEPS)
        nearest -= _ROUNDING
        inside -= nearest
        *lower, last = self._tables
        result = last.take(index, mode="clip")
        for table in reversed(lower):
            result *= inside
            result += table.take(index, out=nearest, mode="clip")
        return result
