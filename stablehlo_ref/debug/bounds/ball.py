"""Balls, what a rule for bounds may ask, and the spacing of floating-point formats, which bounds rounding errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from stablehlo_ref.debug.contract import Contract
from stablehlo_ref.debug.cut import is_constant
from stablehlo_ref.debug.evaluate import Evaluator, widened
from stablehlo_ref.define.definition import attributes_of, facts_of
from stablehlo_ref.define.facts import Arithmetic, Facts
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.attributes import StructAttribute
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.numerics.dtypes import FLOAT64, float_info, has_infinity, kind, numpy_dtype, part_dtype
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


def of_reference(dtype: DType, magnitude: Array) -> Array:
    """Return a bound on the error of an elementary function as the interpreter computes it in f64; 0 at infinity."""
    finite = np.where(np.isfinite(magnitude), magnitude, 0.0)
    return 4 * ulp(finite, FLOAT64) if real_dtype(dtype) == FLOAT64 else 8 * OURS * finite


@dataclass(frozen=True, eq=False)
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

    @property
    def kind(self) -> str:
        """The kind of the center's dtype: "f" and "c" of floating-point and complex numbers."""
        return str(self.center.dtype.kind)

    def unknown_where(self, is_unknown: Array) -> Ball:
        """Return the ball with nothing known of some elements."""
        if not is_unknown.any():
            return self
        center = np.where(is_unknown, np.zeros((), self.center.dtype), self.center)
        return Ball(center, np.where(is_unknown, np.inf, self.radius))

    @property
    def is_known(self) -> bool:
        """Whether all elements have a bound."""
        return not np.isinf(self.radius).any()


UNKNOWN = Ball(np.zeros(()), np.asarray(np.inf))  # that of a value of which nothing is known


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
        if found.arithmetic is Arithmetic.UNKNOWN:
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

    @cached_property
    def expected(self) -> Array:
        """The result of the op in f64, on the centers of its operands."""
        return self.wide(self.centers)

    @cached_property
    def ours(self) -> Array:
        """What the interpreter computes of the centers, in the op's own types."""
        return widened(self._result(self.centers, False))

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


def shape_of(value: Value) -> list[int]:
    """Return the sizes of a tensor, 0 for those that are not known."""
    if not isinstance(value.type, TensorType):
        raise NoBound
    return [n or 0 for n in value.type.shape]


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
    center = np.where(overflows, np.copysign(np.inf, ball.center), ball.center)
    return Ball(center, np.where(overflows, 0.0, radius))


def used(ball: Ball, value: Value) -> Ball:
    """Return the ball of a value as an operand in fused code, which may or may not overflow as its type does."""
    if ball is UNKNOWN or ball.kind not in "fc":
        return ball
    with np.errstate(invalid="ignore"):
        beyond = np.abs(ball.center) + ball.radius > largest(dtype_of(value))
    return ball.unknown_where(beyond & ~(np.isinf(ball.center) & (ball.radius == 0)))


# --- arithmetic and elementary functions, on operands that are known and on intervals of them ------------------------

BY_F64 = (Arithmetic.ROUNDS, Arithmetic.SELECTS)  # correctly rounded by f64 itself


def rounded(query: Query, radius: Array, ulps: float = 0.5, center: Array | None = None) -> Ball:
    """Return the ball of a rounded result: `radius` is that of the unrounded one, about the expected result."""
    center = query.expected if center is None else center
    magnitude = np.abs(center) + radius
    bound = query.contract.ulps_of(query.name, ulps, query.dtype.itemsize)
    is_exact = query.dtype == FLOAT64 and query.is_exact and bound <= 0.5 and query.facts.arithmetic in BY_F64
    if is_exact:  # and unrounded, or computed with other roundings, where fused code uses it
        half = 0.5 * ulp(np.abs(center), query.dtype) if query.contract.fuses else np.zeros(center.shape)
        return _overflowing(query, center, half)
    factor = 2.0 if query.is_complex else 1.0
    ours = of_reference(query.dtype, magnitude) * (1 if query.is_exact else 2)
    total = radius * SLACK + factor * bound * ulp(magnitude, query.dtype) + ours + query.contract.error_of(query.name)
    if "result_accuracy" in query.op.properties:
        total = total + _requested(query, "atol") + _requested(query, "rtol") * np.minimum(magnitude, largest(FLOAT64))
    if query.is_exact and query.dtype != FLOAT64 and query.facts.arithmetic in BY_F64:  # zeros are not rounded
        total = np.where((center == 0) & (radius == 0), 0.0, total)
    return _overflowing(query, center, total)


def stored(query: Query, radius: Array) -> Ball:
    """Add half a ULP to the radius of a result that needs no rounding, where its operands may be unrounded."""
    center, radius = query.expected, np.asarray(radius)
    if not radius.any() or center.dtype.kind not in "fc":
        return Ball(center, radius)
    share = 0.5 * np.sqrt(2.0) if query.is_complex else 0.5
    half = share * ulp(np.abs(center) + np.where(np.isfinite(radius), radius, 0), query.dtype)
    return Ball(center, radius + np.where(radius > 0, half, 0.0))


def _overflowing(query: Query, center: Array, total: Array) -> Ball:
    """Return the ball of a result before it is stored: one that overflows keeps a center beyond the largest number.

    Where f64 overflows too, the center is infinite, with a tiny radius.
    """
    of_infinity = np.where(_all_finite(query, center) & np.isinf(center), TINY, 0.0)
    return Ball(center, np.where(np.isfinite(center) | ~np.isfinite(total), total, of_infinity))


def _all_finite(query: Query, center: Array) -> Array:
    """Return for which elements of a result the operands are finite: all of them, unless the op is elementwise."""
    masks = [np.isfinite(s.center) for s in query.operands if s.kind in "fc"]
    if all(mask.shape == center.shape for mask in masks):
        return np.logical_and.reduce(masks) if masks else np.ones(center.shape, bool)
    return np.asarray(all(mask.all() for mask in masks))


# --- arithmetic -----------------------------------------------------------------------------------------------------


def added(query: Query) -> Ball:
    lhs, rhs = query.operand(0), query.operand(1)
    return rounded(query, np.asarray(lhs.radius + rhs.radius))


def multiplied(query: Query) -> Ball:
    lhs, rhs = query.operand(0), query.operand(1)
    radius = _times(lhs, rhs.radius) + _times(rhs, lhs.radius) + lhs.radius * rhs.radius
    made = rounded(query, radius, 2.0 if query.is_complex else 0.5)
    return known(query, made, size_of(lhs) * size_of(rhs)) if query.is_complex else made


def _times(operand: Ball, radius: Array) -> Array:
    """Return the magnitudes of an operand times a radius; a radius of 0, and any of NaN, stays as it is."""
    return np.where((radius == 0) | np.isnan(operand.center), radius, np.abs(operand.center) * radius)


def divided(query: Query) -> Ball:
    """`divide`; of complex numbers, unknown where the squared magnitude of the divisor may overflow or underflow."""
    lhs, rhs = query.operand(0), query.operand(1)
    center, apart = query.expected, np.abs(rhs.center) - rhs.radius
    if query.is_exact and not query.is_complex:
        return rounded(query, _unknown_at_zeros(query, rhs, center))
    is_apart = ~_is_tiny(query, apart) if query.is_complex else apart > 0
    radius = np.where(is_apart, (lhs.radius + np.abs(center) * rhs.radius) / np.where(is_apart, apart, 1), np.inf)
    if not query.is_complex:
        return rounded(query, radius)
    made = rounded(query, radius, 2.0 * ROUNDINGS)
    return known(query, made, np.maximum(size_of(rhs) ** 2, size_of(lhs) * size_of(rhs)))


def _unknown_at_zeros(query: Query, operand: Ball, center: Array) -> Array:
    """Return a radius that is infinite where the sign of a zero matters, if the contract does not keep it."""
    if query.contract.signed_zeros:
        return np.zeros(center.shape)
    return np.where((operand.center == 0) & ~np.isnan(center), np.inf, 0.0)


# --- functions of one operand ---------------------------------------------------------------------------------------


def interval(operand: Ball) -> tuple[Array, Array]:
    """Return the ends of an interval, rounded outward; NaN if nothing is known."""
    if operand.is_exact:
        return operand.center, operand.center
    radius = np.where(np.isinf(operand.radius), np.nan, operand.radius)
    is_exact = radius == 0
    low = np.where(is_exact, operand.center, np.nextafter(operand.center - radius, -np.inf))
    return low, np.where(is_exact, operand.center, np.nextafter(operand.center + radius, np.inf))


def reciprocal_root(query: Query) -> Ball:
    """`rsqrt`, whose infinity at zero has the sign of the zero."""
    made = function(query)
    return Ball(made.center, made.radius + _unknown_at_zeros(query, query.operand(0), made.center))


def logistic(query: Query) -> Ball:
    """`logistic`, which the spec defines by a formula that may be computed in the element type: `1 / (1 + exp(-x))`."""
    made = function(query)
    size, u = np.minimum(np.abs(made.center), 1.0), unit_roundoff(query.dtype)
    ulps = query.contract.ulps_of("exponential", accuracy(query))
    formula = (2 * ulps * (1 - size) + 2 + 4 * u * ulps) * u * size
    formula = np.where(size * largest(query.dtype) < 4, size + formula, formula)  # where exp(-x) may overflow
    return Ball(made.center, np.maximum(made.radius, formula) if query.is_exact else made.radius + formula)


def function(query: Query) -> Ball:
    """Bound a function of known operands, or of one real operand by what its facts say of its shape."""
    facts, operand = query.facts, query.operand(0)
    if query.is_exact:
        return rounded(query, np.zeros(()), accuracy(query))
    if not facts.monotone and facts.slope == np.inf:
        raise NoBound
    if facts.slope < np.inf:
        radius = np.minimum(facts.slope * operand.radius, facts.spread)
        return rounded(query, np.where(np.isinf(operand.radius), np.inf, radius), accuracy(query))
    low, high = interval(operand)
    argument, value = facts.least or (np.nan, np.nan)
    extreme = np.where((low < argument) & (high > argument), value, np.nan)
    holds = facts.monotone(low, high) if callable(facts.monotone) else True
    return rounded(query, hull(query, extreme, holds), accuracy(query))


# --- functions of two operands --------------------------------------------------------------------------------------


def power(query: Query) -> Ball:
    """`power`: extremes are at corners for positive bases, and for other bases and a known integer exponent."""
    base, exponent = query.operand(0), query.operand(1)
    low, high = interval(base)
    is_integer = (exponent.radius == 0) & (exponent.center == np.round(exponent.center))
    straddles = (low <= 0) & (high >= 0)
    monotone = (low > 0) | (is_integer & (~straddles | (exponent.center >= 0)))
    extreme = np.where(straddles & (exponent.center > 0), 0.0, np.nan)
    return rounded(query, hull(query, extreme, monotone), accuracy(query))


def angle(query: Query) -> Ball:
    """`atan2`: extremes are at corners, away from the origin and from the branch cut along the negative x axis."""
    (y_low, y_high), (x_low, _) = (interval(query.operand(i)) for i in range(2))
    holds = (x_low > 0) | (y_low > 0) | (y_high < 0)
    made = rounded(query, hull(query, holds=holds), accuracy(query))
    return Ball(made.center, made.radius + _unknown_at_zeros(query, query.operand(0), made.center))


def hull(query: Query, extreme: Array | float = np.nan, holds: Array | bool = True) -> Array:
    """Return the largest distance of values at corners, and of an extreme inside, if any, from the expected result.

    Nothing is known of elements that are not exact and for which `holds` is false.
    """
    center = query.expected
    if query.is_exact:
        return np.zeros(())
    radius = np.where(np.isnan(extreme), 0.0, np.abs(extreme - center))
    intervals = [interval(query.operand(query.op.operands.index(value))) for value in query.values]
    for corner in product(*intervals):
        value = query.wide(corner)
        same = (value == center) | (np.isnan(value) & np.isnan(center))
        radius = np.maximum(radius, np.where(same, 0.0, np.abs(np.subtract(value, center, dtype=np.float64))))
    is_known, is_unknown = (sum(np.asarray(s.radius == r) for s in query.operands) for r in (0, np.inf))
    is_known_interval = holds & ~np.isnan(radius) & (is_unknown == 0) & (len(query.values) == len(query.op.operands))
    return np.where(is_known == len(query.operands), 0.0, np.where(is_known_interval, radius, np.inf))


def accuracy(query: Query) -> float:
    """Return the bound of an elementary function in ULPs, if the contract has none for it by name."""
    is_root = query.facts.arithmetic is Arithmetic.ROUNDS and kind(query.dtype) == "floating"
    ulps = 0.5 if is_root else query.contract.elementary_ulps
    return max(ulps, _requested(query, "ulps"))


def _requested(query: Query, member: str) -> float:
    """Return a member of the accuracy that the op asks for, 0 without one."""
    requested = query.attributes.get("result_accuracy")
    return float(getattr(requested.fields.get(member), "value", 0)) if isinstance(requested, StructAttribute) else 0.0


# --- complex numbers, in the norm: the error of one is that of a point in the plane -----------------------------------

ROUNDINGS = 4  # how much larger the error of a function is than that of a real one


def known(query: Query, made: Ball, products: Array | float = 0.0) -> Ball:
    """Return a ball of which nothing is known where it, or products inside, are not finite or near to an overflow.

    The spec leaves exceptions of complex arithmetic open.
    """
    if made.kind not in "fc":
        raise NoBound
    top = largest(query.dtype) / 4
    return made.unknown_where(~(np.isfinite(made.center) & (size_of(made) < top) & (products < top)))


def size_of(ball: Ball) -> Array:
    """Return the largest magnitude of the numbers in a ball."""
    return np.asarray(np.abs(ball.center) + ball.radius)


def _is_tiny(query: Query, size: Array) -> Array:
    """Return where the square of a magnitude may underflow."""
    return np.asarray(size * np.abs(size) <= smallest_normal(query.dtype) / unit_roundoff(query.dtype))


def magnitude(query: Query) -> Ball:
    """`abs` of a complex number, computed from squares or without their overflow."""
    operand = query.operand(0)
    size = size_of(operand)
    made = rounded(query, operand.radius, float(ROUNDINGS))
    return known(query, made, size**2).unknown_where(_is_tiny(query, size) & (size > 0))


def complex_function(query: Query) -> Ball:
    """Bound an elementary function of complex numbers that are known."""
    if not query.is_exact:
        raise NoBound
    made = rounded(query, np.zeros(()), ROUNDINGS * accuracy(query))
    return known(query, made, np.maximum.reduce(np.broadcast_arrays(*map(np.abs, query.centers))))
