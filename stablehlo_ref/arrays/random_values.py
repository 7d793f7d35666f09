"""Random numbers of any element type, for inputs and weights that a program lacks."""

from __future__ import annotations

from math import prod

import numpy as np

from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.limits.budget import reserve, within_time
from stablehlo_ref.numerics.conversion import convert
from stablehlo_ref.numerics.dtypes import FLOAT8_E8M0FNU, FLOAT64, kind

BLOCK = 1 << 20  # elements drawn at a time


def random_array(generator: np.random.Generator, dtype: DType, shape: tuple[int, ...]) -> Array:
    """Return a random array.

    Floating-point and complex numbers are normally distributed. Integers are uniform in [0, 8), or in the range of
    their type if that is smaller, and booleans are uniform.
    """
    count = prod(shape)
    reserve(count * dtype.itemsize)
    out = np.empty(count, dtype)
    for start in within_time(range(0, count, BLOCK)):
        out[start : start + BLOCK] = _drawn(generator, dtype, min(BLOCK, count - start))
    return out.reshape(shape)


def _drawn(generator: np.random.Generator, dtype: DType, count: int) -> Array:
    match kind(dtype):
        case "boolean":
            return generator.integers(0, 2, count).astype(bool)
        case "integer":
            highest = 2 if dtype.name.endswith("int2") else 8
            integers: Array = generator.integers(0, highest, count)
            return integers.astype(np.int8).astype(dtype)
        case "complex":
            parts = generator.standard_normal((2, count))
            return np.asarray(parts[0] + 1j * parts[1]).astype(dtype)
    numbers = generator.standard_normal(count)
    numbers = np.abs(numbers) if dtype == FLOAT8_E8M0FNU else numbers  # this format has no sign
    return np.asarray(convert(FLOAT64, dtype)(numbers))
