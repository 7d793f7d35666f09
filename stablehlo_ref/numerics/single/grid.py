"""Points of tables at equal absolute or relative distances, and the nearest ones to numbers of f32."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.single.kernel import Buffers

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
