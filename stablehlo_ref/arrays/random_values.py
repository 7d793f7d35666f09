"""Draw random numbers of any element type, for inputs and weights that a program lacks."""

from __future__ import annotations

import re
from math import prod

import numpy as np

from stablehlo_ref.diagnostics import ArgumentValueError
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


FORMS = "normal(mean, stddev), uniform(low, high), integers(low, high) or constant(value)"
_FORM = re.compile(r"\s*(\w+)\s*\(([^()]*)\)\s*")
COUNTS = {"normal": 2, "uniform": 2, "integers": 2, "constant": 1}


class Distribution:
    """A distribution in the form `normal(mean, stddev)` or another of `FORMS`; ArgumentValueError for other text."""

    def __init__(self, text: str) -> None:
        match = _FORM.fullmatch(text)
        if match is None or match[1] not in COUNTS:
            raise ArgumentValueError(f"expected {FORMS}, got {text!r}")
        self.name = match[1]
        self.text = text
        self.numbers = [float(number) for number in match[2].split(",")] if match[2].strip() else []
        if len(self.numbers) != COUNTS[self.name] or not np.isfinite(self.numbers).all():
            raise ArgumentValueError(f"expected {FORMS}, got {text!r}")
        if self.name != "normal" and len(self.numbers) == 2 and not self.numbers[0] < self.numbers[1]:
            raise ArgumentValueError(f"expected a low end below the high end, got {text!r}")

    def draw(self, generator: np.random.Generator, dtype: DType, shape: tuple[int, ...]) -> Array:
        """Return an array of the distribution; ValueError if the element type cannot have it."""
        what = kind(dtype)
        if what == "boolean" or (what == "integer" and self.name in ("normal", "uniform")):
            raise ValueError(f"{self.text} is of real numbers; use integers(low, high)")
        if self.name == "integers" or what == "integer":
            return self._integers(generator, dtype, shape)
        with np.errstate(over="ignore"):  # numbers that the type lacks are infinite
            if what == "complex":
                parts = [self._real(generator, shape) for _ in range(2)]
                return np.asarray(parts[0] + 1j * parts[1]).astype(dtype)
            return np.asarray(convert(FLOAT64, dtype)(self._real(generator, shape)))

    def _real(self, generator: np.random.Generator, shape: tuple[int, ...]) -> Array:
        if self.name == "constant":
            return np.full(shape, self.numbers[0], np.float64)
        draw = generator.normal if self.name == "normal" else generator.uniform
        return np.asarray(draw(self.numbers[0], self.numbers[1], shape))

    def _integers(self, generator: np.random.Generator, dtype: DType, shape: tuple[int, ...]) -> Array:
        low = int(self.numbers[0])
        drawn = np.full(shape, low) if self.name == "constant" else generator.integers(low, int(self.numbers[1]), shape)
        if kind(dtype) != "integer":
            return np.asarray(convert(FLOAT64, dtype)(drawn.astype(np.float64)))
        found: Array = drawn.astype(dtype)
        if not np.array_equal(found.astype(np.int64), drawn):
            raise ValueError(f"{self.text} has numbers that {dtype} lacks")
        return found
