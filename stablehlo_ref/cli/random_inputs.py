"""Random inputs, and the distributions that `--random NAME=DISTRIBUTION` draws from."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, cast

import numpy as np

from stablehlo_ref.arrays.host_values import SCALARS
from stablehlo_ref.arrays.random_values import random_array
from stablehlo_ref.cli.errors import CommandLineError
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.ir.arrays import Array, DType, RuntimeValue
from stablehlo_ref.ir.signature import Parameter
from stablehlo_ref.ir.types import TensorType, TokenType, TupleType, Type
from stablehlo_ref.limits import Limits
from stablehlo_ref.numerics.conversion import convert
from stablehlo_ref.numerics.dtypes import FLOAT64, kind, numpy_dtype

Generator: TypeAlias = np.random.Generator
Draw: TypeAlias = Callable[[Generator, tuple[int, ...], Sequence[float]], Array]  # of f64 or integers

FORMS = "normal(mean, stddev), uniform(low, high), integers(low, high) or constant(value)"
_FORM = re.compile(r"\s*(\w+)\s*\(([^()]*)\)\s*")
COUNTS = {"normal": 2, "uniform": 2, "integers": 2, "constant": 1}


class Distribution:
    """A distribution by name, with its parameters; ValueError for text of another form."""

    def __init__(self, text: str) -> None:
        match = _FORM.fullmatch(text)
        if match is None or match[1] not in COUNTS:
            raise ValueError(f"expected {FORMS}, got {text!r}")
        self.name = match[1]
        self.text = text
        self.numbers = [float(number) for number in match[2].split(",")] if match[2].strip() else []
        if len(self.numbers) != COUNTS[self.name] or not np.isfinite(self.numbers).all():
            raise ValueError(f"expected {FORMS}, got {text!r}")
        if self.name != "normal" and len(self.numbers) == 2 and not self.numbers[0] < self.numbers[1]:
            raise ValueError(f"expected a low end below the high end, got {text!r}")

    def draw(self, generator: Generator, dtype: DType, shape: tuple[int, ...]) -> Array:
        """Return an array of the distribution; ValueError if the element type cannot have it."""
        what = kind(dtype)
        if what == "boolean" or (what == "integer" and self.name in ("normal", "uniform")):
            raise ValueError(f"{self.text} is of real numbers; use integers(low, high)")
        if self.name == "integers" or what == "integer":
            return self._integers(generator, dtype, shape)
        if what == "complex":
            parts = [self._real(generator, shape) for _ in range(2)]
            return np.asarray(parts[0] + 1j * parts[1]).astype(dtype)
        return np.asarray(convert(FLOAT64, dtype)(self._real(generator, shape)))

    def _real(self, generator: Generator, shape: tuple[int, ...]) -> Array:
        if self.name == "constant":
            return np.full(shape, self.numbers[0], np.float64)
        first, second = self.numbers
        return (
            generator.normal(first, second, shape) if self.name == "normal" else generator.uniform(first, second, shape)
        )

    def _integers(self, generator: Generator, dtype: DType, shape: tuple[int, ...]) -> Array:
        low = int(self.numbers[0])
        drawn = np.full(shape, low) if self.name == "constant" else generator.integers(low, int(self.numbers[1]), shape)
        if kind(dtype) != "integer":
            return np.asarray(convert(FLOAT64, dtype)(drawn.astype(np.float64)))
        found: Array = drawn.astype(dtype)
        if not np.array_equal(found.astype(np.int64), drawn):
            raise ValueError(f"{self.text} has numbers that {dtype} lacks")
        return found


def random_inputs(
    parameters: Sequence[Parameter], seed: int, distributions: Mapping[str, Distribution], limits: Limits
) -> dict[str, RuntimeValue]:
    """Return a random value for each parameter by name, determined by the seed.

    Without a distribution, floating-point and complex numbers are normally distributed, integers are uniform in [0, 8),
    or in the range of their type if that is smaller, and booleans are uniform.
    """
    generator = np.random.default_rng(seed)
    return {
        p.name: _random(generator, p, p.type, distributions.get(p.name, distributions.get("*")), limits)
        for p in parameters
        if not isinstance(p.type, TokenType)
    }


def _random(
    generator: Generator, parameter: Parameter, type: Type, distribution: Distribution | None, limits: Limits
) -> RuntimeValue:
    if isinstance(type, TokenType):
        return None
    if isinstance(type, TupleType):
        return tuple(_random(generator, parameter, element, distribution, limits) for element in type.elements)
    if isinstance(type, SCALARS):
        return _drawn(generator, parameter, numpy_dtype(type), (), distribution)
    if not isinstance(type, TensorType) or not type.is_static:
        hint = "; --dim NAME:AXIS=SIZE gives a size" if isinstance(type, TensorType) else ""
        message = f"cannot draw argument '{parameter.name}' of type {type} at random{hint}"
        raise EvaluationError(message, parameter.location)
    dtype = numpy_dtype(type.element_type)
    if type.size * dtype.itemsize > limits.max_bytes:
        message = f"argument '{parameter.name}' of type {type} is larger than the limit of {limits.max_bytes} bytes"
        raise EvaluationError(message, parameter.location)
    return _drawn(generator, parameter, dtype, cast("tuple[int, ...]", type.shape), distribution)


def _drawn(
    generator: Generator, parameter: Parameter, dtype: DType, shape: tuple[int, ...], distribution: Distribution | None
) -> Array:
    if distribution is None:
        return random_array(generator, dtype, shape)
    try:
        return distribution.draw(generator, dtype, shape)
    except ValueError as error:
        raise CommandLineError(f"--random {parameter.name}: {error}") from None
