"""Balls, what a rule for bounds may ask, and the spacing of floating-point formats, which bounds rounding errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stablehlo_ref.debug.contract import Contract
from stablehlo_ref.debug.cut import is_constant
from stablehlo_ref.debug.evaluate import Evaluator, widened
from stablehlo_ref.define.definition import attributes_of, facts_of
from stablehlo_ref.define.facts import Facts
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.numerics.dtypes import (
    FLOAT32,
    FLOAT64,
    float_info,
    has_infinity,
    is_fractional,
    kind,
    numpy_dtype,
    part_dtype,
)
from stablehlo_ref.program import Program

SLACK = 1 + 2.0**-48  # for the roundings of a radius itself
_EXPONENT = 0x7FF << 52  # the bits of an f64 that are its power of two
OURS = 2.0**-53  # unit roundoff of f64, in which reference values are computed
TINY = 5e-324  # the radius of an infinite center that is an overflow


def real_dtype(dtype: DType) -> DType:
    """Return the dtype of the parts of a complex dtype; any other as it is."""
    return part_dtype(dtype) if kind(dtype) == "complex" else dtype


def unit_roundoff(dtype: DType) -> float:
    """Return half the distance from 1 to the next number."""
    return float(2.0 ** -(float_info(real_dtype(dtype)).nmant + 1))


def largest(dtype: DType) -> float:
    return float(float_info(real_dtype(dtype)).max)


def overflow_threshold(dtype: DType) -> float:
    """Return the number that would follow the largest one: a result that may be rounded up to it may overflow."""
    return largest(dtype) + float(ulp(np.asarray(largest(dtype)), dtype))


def smallest_normal(dtype: DType) -> float:
    return float(2.0 ** float_info(real_dtype(dtype)).minexp)


def ulp(magnitude: Array, dtype: DType) -> Array:
    """Return the distance of adjacent numbers of a format at real numbers of these magnitudes."""
    info = float_info(real_dtype(dtype))
    known = np.where(np.isfinite(magnitude), np.abs(magnitude), 0.0).astype(np.float64, copy=False)
    power = (np.maximum(known, 2.0**info.minexp).view(np.int64) & _EXPONENT).view(np.float64)
    return np.asarray(power * 2.0**-info.nmant)


def gamma(terms: Array | float, u: float) -> Array:
    """Return the bound n u / (1 - n u) on the relative error of n roundings; infinity where n u >= 1.

    Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., lemma 3.1.
    """
    product = np.asarray(terms, np.float64) * u
    return np.where(product < 1, product / np.maximum(1 - product, OURS), np.inf)


def accumulator_dtype(dtype: DType, least: str) -> DType:
    """Return the least precise legal type of partial sums of elements of `dtype`."""
    part = real_dtype(dtype)
    return FLOAT32 if least == "f32" and part.itemsize < FLOAT32.itemsize else part


def of_reference(dtype: DType, magnitude: Array) -> Array:
    """Return a bound on the error of an elementary function as the interpreter computes it in f64; 0 at infinity."""
    finite = np.where(np.isfinite(magnitude), magnitude, 0.0)
    return 4 * ulp(finite, FLOAT64) if real_dtype(dtype) == FLOAT64 else 8 * OURS * finite


@dataclass(frozen=True)
class Ball:
    """Where the value of a legal run lies: within `radius` of `center`, per element.

    The center is in f64 or complex128 for floating-point types, else in the value's own type. The radius is in f64 and
    broadcasts; it is infinite where nothing is known, not even whether the value is NaN. A center that is NaN is
    certain if its radius is finite. One that is infinite is certain if its radius is 0; else it is an overflow, as is a
    center beyond the largest number, and unrounded values may be finite.
    """

    center: Array
    radius: Array

    @property
    def is_exact(self) -> bool:
        return not np.any(self.radius)


@dataclass(frozen=True)
class Query:
    """What a rule may use: the op, its dtypes, the contract, and ways to evaluate the op."""

    op: Operation
    values: Sequence[Value]  # that the op is fed
    operands: Sequence[Ball]
    index: int  # of the result
    dtype: DType  # of the result
    contract: Contract
    evaluate: Evaluator

    @property
    def name(self) -> str:
        return self.op.mnemonic

    @property
    def facts(self) -> Facts:
        """The facts of the op; NoBound if they are not known."""
        found = facts_of(self.op)
        if found is None:
            raise NoBound
        return found

    @property
    def is_complex(self) -> bool:
        return kind(self.dtype) == "complex"

    @property
    def attributes(self) -> dict[str, Any]:
        """The attribute members of the op, with defaults."""
        return attributes_of(self.op)

    def wide(self, arrays: Sequence[Array]) -> Array:
        """Return the result of the op in f64, on arrays for its operands; NoBound if that fails."""
        return self._result(arrays, True)

    def plain(self, arrays: Sequence[Array]) -> Array:
        """Return the result of the op in its own types; NoBound if that fails."""
        return self._result(arrays, False)

    def _result(self, arrays: Sequence[Array], wide: bool) -> Array:
        results = self.evaluate(self.op, arrays, wide)
        if results is None:
            raise NoBound
        return results[self.index]

    def operand(self, index: int) -> Ball:
        """Return the ball of an operand by its number."""
        value = self.op.operands[index]
        is_fed = value in self.values or not is_constant(value)
        return self.operands[self.values.index(value)] if is_fed else exact(self.evaluate.constant(value))

    def body(self, index: int) -> Program:
        """Return the program of a region by its number; NoBound if it uses values from outside."""
        try:
            return self.evaluate.body(self.op, index).program
        except KeyError as error:
            raise NoBound from error

    @property
    def centers(self) -> list[Array]:
        return [operand.center for operand in self.operands]

    @property
    def is_exact(self) -> bool:
        return all(operand.is_exact for operand in self.operands)


class NoBound(Exception):
    """There is no bound for this op."""


def exact(array: Array) -> Ball:
    """Return the ball of a value that is known."""
    return Ball(widened(array), np.zeros((), np.float64))


def dtype_of(value: Value) -> DType:
    if not isinstance(value.type, TensorType):
        raise NoBound
    return numpy_dtype(value.type.element_type)


def overflowed(ball: Ball, dtype: DType) -> Ball:
    """Return the ball of a value that is rounded to its type: infinite where each legal result overflows."""
    if kind(dtype) != "floating" or not has_infinity(dtype):
        return ball
    radius = np.broadcast_to(ball.radius, ball.center.shape)
    with np.errstate(invalid="ignore"):
        overflows = (np.abs(ball.center) - radius > largest(dtype)) & ~np.isinf(radius)
    if not overflows.any():
        return ball
    return Ball(
        np.where(overflows, np.copysign(np.inf, ball.center), ball.center),
        np.where(overflows, 0.0, radius),
    )


def used(ball: Ball, dtype: DType) -> Ball:
    """Return the ball of an operand in fused code, which may or may not overflow as its type does."""
    if not is_fractional(dtype):
        return ball
    with np.errstate(invalid="ignore"):
        beyond = np.abs(ball.center) + ball.radius > largest(dtype)
    is_unknown = beyond & ~(np.isinf(ball.center) & (ball.radius == 0))
    if not is_unknown.any():
        return ball
    return Ball(np.where(is_unknown, 0.0, ball.center), np.where(is_unknown, np.inf, ball.radius))
