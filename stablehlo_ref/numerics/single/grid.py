"""Points of tables at equal distances, and the split of f32 numbers into the nearest point and a rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.single.kernel import Buffers


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
