"""Functions of f32 by tables, for large arrays: faster than our functions of f64, and as correctly rounded.

An operand is split, exactly, into the nearest point of a table and a small rest; a polynomial of the rest makes the
function of the operand from that of the point (Tang, "Table-driven implementation of the exponential function in
IEEE floating-point arithmetic", 1989). With a relative error of 2**-41, one random result in 50,000 is in doubt, which
a fallback computes (correct_rounding.py). All is done in a few buffers. Rounding errors of f64 are at most a dozen of
2**-53.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import TypeAlias

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.numerics.blocks import is_broadcast_scalar
from stablehlo_ref.numerics.kernels import ArrayKernel

BLOCK = 1 << 14  # elements, whose buffers take 0.5 MB; a call of numpy costs as much as a pass over 4,000 of them
MANY = 8  # a block with more than one element in so many that is unknown is computed without tables
DROPPED = 29  # bits of the mantissa of f64 that f32 does not have


class Buffers:
    """Arrays of one length for intermediate values.

    `bits` has the memory of `single`, `index` that of `second`, and `fourth` those of `single` and `rest`.
    """

    def __init__(self, size: int) -> None:
        self.first, self.second, self.third, self.fourth = np.empty((4, size))
        self.single, self.rest = self.fourth.view(np.float32).reshape(2, size)
        self.bits, self.index = self.single.view(np.uint32), self.second.view(np.int64)

    def widened(self) -> Array:
        """Return `rest` as f64, in `first`."""
        self.first[...] = self.rest
        return self.first


Locate: TypeAlias = Callable[[Array, Buffers], object]
Evaluate: TypeAlias = Callable[[Array, Buffers], Array]


@dataclass(frozen=True)
class Approximation:
    """A function from arrays of f32 to f64.

    Attributes
    ----------
    locate : stores numbers of points in `bits`, and perhaps rests
    size : of the table; of elements for which `locate` stores no smaller number the function is unknown
    evaluate : returns results for the points in `index`, in `first` or `second`
    error : the largest relative error. Where results are subnormal numbers of f32, whose ties are elsewhere, they have
        to round to the operand, or to be accurate enough for all operands: of erf and erf_inv, 2**-49
    least : the number of elements from which on this is faster than a function of f64

    """

    locate: Locate
    size: int
    evaluate: Evaluate
    error: float
    least: int = 1 << 13


def by_tables(approximation: Approximation, fallback: ArrayKernel) -> ArrayKernel:
    """Return a kernel of f32 arrays; `fallback` computes small ones, and elements that are in doubt or unknown."""
    size, to_top = approximation.size, 64 - DROPPED
    near_tie = (1 << 63) - (ceil(approximation.error * 2.0**53) << to_top)  # what is dropped, as a signed number

    def run(x: Array) -> Array:
        if x.size < approximation.least or is_broadcast_scalar(x):
            return fallback(x)
        return into(np.ascontiguousarray(x).reshape(-1), np.empty(x.size, np.float32)).reshape(x.shape)

    def into(x: Array, out: Array) -> Array:
        buffers = Buffers(min(x.size, BLOCK))
        for start in within_time(range(0, x.size, BLOCK)):
            some = slice(start, start + BLOCK)
            if x[some].size < buffers.rest.size:
                buffers = Buffers(x[some].size)
            block(x[some], out[some], buffers)
        return out

    def block(x: Array, out: Array, buffers: Buffers) -> None:
        approximation.locate(x, buffers)
        if np.maximum.reduce(buffers.bits) < size:
            covered(x, out, buffers)
            return
        unknown = np.flatnonzero(buffers.bits >= size)
        if MANY * unknown.size > x.size:
            out[...] = fallback(x)
            return
        buffers.bits[unknown] = 0
        covered(x, out, buffers)
        out[unknown] = fallback(x[unknown])

    def covered(x: Array, out: Array, buffers: Buffers) -> None:
        buffers.index[...] = buffers.bits
        result = approximation.evaluate(x, buffers)
        out[...] = result
        dropped = result.view(np.int64)
        dropped <<= to_top
        if np.minimum.reduce(dropped) < -near_tie or np.maximum.reduce(dropped) > near_tie:
            doubtful = np.flatnonzero((dropped < -near_tie) | (dropped > near_tie))
            out[doubtful] = fallback(x[doubtful])

    return run


_MANTISSA, _PLACE = 23, 8  # bits of a number after the first, and of a point of a logarithmic grid
_SHIFT = np.uint32(_MANTISSA - _PLACE)
_HALF_STEP = 1 << _MANTISSA - _PLACE - 1


@dataclass(frozen=True)
class Grid:
    """The multiples of 1 / steps, a power of two, from `first` to `last`, of magnitudes below 2**22 / steps.

    Numbers below `lowest` and above `highest` count as these.
    """

    steps: int
    first: float
    last: float
    lowest: float = -np.inf
    highest: float = np.inf

    @property
    def size(self) -> int:
        return round((self.last - self.first) * self.steps) + 1

    @property
    def rest(self) -> float:
        """The largest distance to a point."""
        return 0.5 / self.steps

    def points(self) -> Array:
        return self.first + np.arange(self.size) / self.steps

    def locate(self, x: Array, b: Buffers) -> None:
        """Store the numbers of the nearest points, and the rests, which are exact.

        A sum with `rounder` is a multiple of 1 / steps, with its number in the last bits.
        """
        rounder = np.float32(1.5 * 2.0**23 / self.steps)
        if self.lowest > -np.inf or self.highest < np.inf:
            x = np.clip(x, np.float32(self.lowest), np.float32(self.highest))
        np.add(x, rounder, out=b.single)
        point = np.subtract(b.single, rounder, out=b.rest)
        np.subtract(x, point, out=b.rest)
        zero = int(rounder.view(np.uint32))
        np.subtract(b.bits, np.uint32(zero + round(self.first * self.steps)), out=b.bits)


@dataclass(frozen=True)
class LogarithmicGrid:
    """`size` numbers from 2**first on, a normal number of f32: 256 between powers of two."""

    first: int
    size: int

    @property
    def _first_bits(self) -> int:
        return 127 + self.first << _MANTISSA

    def points(self) -> Array:
        bits = self._first_bits + (np.arange(self.size, dtype=np.uint32) << _SHIFT)
        return bits.view(np.float32).astype(np.float64)

    def locate(self, x: Array, b: Buffers) -> None:
        """Store the numbers of the nearest points; those of other numbers than positive normal ones are larger."""
        np.subtract(x.view(np.uint32), np.uint32(self._first_bits - _HALF_STEP), out=b.bits)
        np.right_shift(b.bits, _SHIFT, out=b.bits)
