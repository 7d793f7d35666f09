"""The smallest, largest and mean element of an array, and its NaNs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.dtypes import kind
from stablehlo_ref.numerics.layout import default_buffers
from stablehlo_ref.numerics.narrow_floats import widen_if_narrow

BLOCK = 1 << 18  # elements per block, so that no temporary is as large as the array


@dataclass(frozen=True)
class ArrayStatistics:
    """Statistics of the elements that are not NaN, and the number of NaNs; of complex numbers, those of magnitudes.

    They are None without such elements. Integers are exact; the mean is computed in f64.
    """

    smallest: float | int | None
    largest: float | int | None
    mean: float | None
    nans: int

    def __str__(self) -> str:
        if self.smallest is None or self.largest is None or self.mean is None:
            return f"{self.nans} NaN" if self.nans else "empty"
        nans = f", {self.nans} NaN" if self.nans else ""
        return f"min {short(self.smallest)}, max {short(self.largest)}, mean {short(self.mean)}{nans}"


def statistics(array: Array) -> ArrayStatistics:
    """Return the statistics of an array of any element type."""
    flat = np.asarray(array).reshape(-1)
    total, count, low, high = 0.0, 0, [], []
    with default_buffers(all="ignore"):
        for start in range(0, flat.size, BLOCK):
            numbers = _numbers(flat[start : start + BLOCK])
            if numbers.size:
                low.append(numbers.min().item())
                high.append(numbers.max().item())
                total += float(numbers.sum(dtype=np.float64))
                count += numbers.size
    nans = flat.size - count
    return ArrayStatistics(min(low, default=None), max(high, default=None), total / count if count else None, nans)


def _numbers(block: Array) -> Array:
    """Return the elements that are numbers, as a dtype of numpy's."""
    match kind(block.dtype):
        case "boolean":
            return block.astype(np.int8)
        case "integer":
            return block if block.dtype.isbuiltin == 1 else block.astype(np.int64)
        case "complex":
            block = np.abs(block)
    wide = widen_if_narrow(block)
    return np.asarray(wide[wide == wide])


def short(number: float) -> str:
    """Return an integer as it is, and another number with six digits."""
    return str(number) if isinstance(number, int) else f"{number:.6g}"
