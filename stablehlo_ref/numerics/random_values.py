"""Random numbers of any element type, for inputs and weights that a program lacks."""

from __future__ import annotations

import numpy as np

from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.numerics.conversion import convert
from stablehlo_ref.numerics.dtypes import FLOAT8_E8M0FNU, FLOAT64, kind


def random_array(generator: np.random.Generator, dtype: DType, shape: tuple[int, ...]) -> Array:
    """Return a random array.

    Floating-point and complex numbers are normally distributed. Integers are uniform in [0, 8), or in the range of
    their type if that is smaller, and booleans are uniform.
    """
    match kind(dtype):
        case "boolean":
            return generator.integers(0, 2, shape).astype(bool)
        case "integer":
            highest = 2 if dtype.name.endswith("int2") else 8
            integers: Array = generator.integers(0, highest, shape)
            return integers.astype(np.int8).astype(dtype)
        case "complex":
            parts = generator.standard_normal((2, *shape))
            return np.asarray(parts[0] + 1j * parts[1]).astype(dtype)
    numbers = generator.standard_normal(shape)
    numbers = np.abs(numbers) if dtype == FLOAT8_E8M0FNU else numbers  # this format has no sign
    return np.asarray(convert(FLOAT64, dtype)(numbers))
