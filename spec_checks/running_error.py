"""Real and complex numbers with a bound of the error of any legal computation of them.

A `Number` is an exact value with a bound of the error that a floating-point computation of it can have. Its operators
follow the standard model: an operation on computed operands returns the exact result times `(1 + d)` plus `e`, with
`|d| <= u`, half the distance from 1 to the next number of the arithmetic, and `|e|` at most its smallest positive
number (for products and quotients only). Hence, for any order of additions and any precision of at least that of the
arithmetic, `|computed - value| <= error`. An infinite error means that nothing is known, for example if an intermediate
value may overflow.

4,400 bits represent every sum of products of two f64 exactly: their bits weigh between 2**-2148 and 2**2048. The sign
of an exact zero is not tracked: compare with `==`, not bit by bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np

from stablehlo_ref.semantics.notation import (
    Array,
    DType,
    complex_element_type,
    index_space,
    is_complex,
    is_float,
)
from stablehlo_ref.semantics.rounding import FORMATS, complex_element, round_to

reals = mpmath.mp.clone()
reals.prec = 4400
INFINITY = reals.inf


@dataclass(frozen=True, slots=True)
class Number:
    """An exact `value`, and a bound `error` of the error of its computation in `arithmetic`, f32 or f64."""

    value: Any
    error: Any
    arithmetic: DType

    def __neg__(self) -> Number:
        return Number(-self.value, self.error, self.arithmetic)

    def __add__(self, other: Number) -> Number:
        return self._operation(self.value + other.value, self.error + other.error)

    def __sub__(self, other: Number) -> Number:
        return self + -other

    def __mul__(self, other: Number) -> Number:
        value = self.value * other.value
        if not reals.isfinite(value):
            return self._non_finite(value, self._is_nonzero() and other._is_nonzero())
        error = abs(self.value) * other.error + abs(other.value) * self.error + self.error * other.error
        # A complex product has four products and two sums: (1 + 3u) in modulus; both parts can underflow.
        return self._operation(value, error, *((3, 4) if _has_parts(value) else (1, 1)))

    @property
    def real(self) -> Number:
        return Number(reals.re(self.value), self.error, self.arithmetic)

    def __truediv__(self, other: Number | int) -> Number:
        if isinstance(other, int):
            other = number(float(other), self.arithmetic)  # type: ignore[arg-type]
        if not reals.isfinite(other.value) or not reals.isfinite(self.value) or other.value == 0:
            certain = self._is_nonzero() and other._is_nonzero()
            return self._non_finite(_special_quotient(self.value, other.value), certain)
        value, least = self.value / other.value, abs(other.value) - other.error
        if least <= 0 or other._may_leave_range(least):
            return Number(value, INFINITY, self.arithmetic)
        error = (self.error + abs(value) * other.error) / least
        # Covers division by the divisor or by its reciprocal, and all common formulas for complex numbers.
        underflows = 1 + abs(self.value)
        if not _has_parts(other.value):
            return self._operation(value, error, 2, underflows)
        return self._operation(value, error, 8, 4 * underflows * (1 + 1 / least) ** 2)

    def sqrt(self) -> Number:
        """Return the square root, NaN below zero; the error covers the reciprocal of a reciprocal root, too."""
        if reals.isnan(self.value) or self.value < 0:
            return self._non_finite(reals.nan, self._is_nonzero())
        root = reals.sqrt(self.value)
        if self.value == INFINITY:
            return self._non_finite(root, self.error == 0)
        if self.error > self.value:
            return Number(root, INFINITY, self.arithmetic)
        return self._operation(root, self.error / root if self.error else reals.zero, 3)

    def conjugate(self) -> Number:
        return Number(reals.conj(self.value), self.error, self.arithmetic)

    def _operation(self, value: Any, error: Any, roundings: int = 1, underflows: Any = 0) -> Number:
        if not reals.isfinite(value):
            return self._non_finite(value, reals.isfinite(error))
        error += roundings * unit_roundoff(self.arithmetic) * (abs(value) + error)
        error += underflows * smallest(self.arithmetic)
        return Number(value, error if abs(value) + error <= largest(self.arithmetic) else INFINITY, self.arithmetic)

    def _non_finite(self, value: Any, certain: bool) -> Number:
        """Return infinity or NaN; the error of complex ones is unknown, as common formulas differ in their parts."""
        return Number(value, reals.zero if certain and not _has_parts(value) else INFINITY, self.arithmetic)

    def _is_nonzero(self) -> bool:
        """Whether all computations of this number agree on its sign, and on whether it is zero, infinite or NaN."""
        return self.error == 0 or abs(self.value) > self.error

    def _may_leave_range(self, least: Any) -> bool:
        """Return whether the reciprocal of a divisor of modulus `least` or more, or its square, may be out of range."""
        if not _has_parts(self.value):
            return bool(1 / least > largest(self.arithmetic))
        lowest = reals.ldexp(1, FORMATS[self.arithmetic.name].min_exponent)
        return bool(least**2 < lowest or (abs(self.value) + self.error) ** 2 > largest(self.arithmetic))


def total(terms: Iterable[Number], arithmetic: DType) -> Number:
    """Return the sum of `n` terms in any order: each term is rounded at most n - 1 times, so by `1 + gamma(n - 1)`."""
    terms = list(terms)
    value = sum((term.value for term in terms), reals.zero)
    error = sum((term.error for term in terms), reals.zero)
    magnitude = sum((abs(term.value) + term.error for term in terms if reals.isfinite(term.value)), reals.zero)
    if not reals.isfinite(value):
        # If finite terms overflow, they may cancel an infinity of the other sign.
        return terms[0]._non_finite(value, magnitude + error <= largest(arithmetic))
    error += gamma(max(len(terms) - 1, 0), arithmetic) * magnitude
    return Number(value, error if magnitude + error <= largest(arithmetic) else INFINITY, arithmetic)


def gamma(n: int, arithmetic: DType) -> Any:
    """Return a bound of the relative error of `n` roundings: `n u / (1 - n u)`."""
    u = unit_roundoff(arithmetic)
    return n * u / (1 - n * u)


def number(x: Any, arithmetic: DType) -> Number:
    """Return a scalar of a floating-point or complex type, without error."""
    if np.iscomplexobj(x):
        return Number(reals.mpc(float(x.real), float(x.imag)), reals.zero, arithmetic)
    return Number(reals.mpf(float(x)), reals.zero, arithmetic)


def numbers(array: Array, arithmetic: DType) -> Array:
    """Return an array of `Number`s, on which numpy's +, -, *, / and sqrt work."""
    return elementwise(lambda x: number(x, arithmetic), array, np.dtype(object))


def elementwise(function: Callable[..., Any], array: Array, dtype: DType) -> Array:
    """Apply `function` to each element, and return an array of type `dtype`."""
    result = np.empty(array.shape, dtype)
    for index in index_space(array.shape):
        result[index] = function(array[index])
    return result


def accumulation_type(*dtypes: DType) -> DType:
    """Return f64 if any type is f64 or its complex type, else f32."""
    return np.dtype(np.float64 if np.dtype(np.float64) in map(part_type, dtypes) else np.float32)


def rounded(number: Number, dtype: DType) -> Any:
    """Return the value, rounded once to `dtype`."""
    if is_complex(dtype):
        return complex_element(*(_nearest(part_type(dtype), part) for part in (number.value.real, number.value.imag)))
    return _nearest(dtype, number.value)


def rounding_bound(number: Number, dtype: DType) -> float | complex:
    """Bound the distance from `rounded` of numbers within the error, rounded once to `dtype`; by parts if complex."""
    if is_complex(dtype):
        parts = (Number(part, number.error, number.arithmetic) for part in (number.value.real, number.value.imag))
        return complex(*(float(rounding_bound(part, part_type(dtype)).real) for part in parts))
    if number.error == 0 or number.error == INFINITY:
        return float(number.error)
    value, low, high = (float(_nearest(dtype, number.value + e)) for e in (0, -number.error, number.error))
    if low == high:
        return 0.0
    width = max(high - value, value - low)
    return math.nextafter(width, math.inf) if math.isfinite(width) else math.inf


def bound_type(dtype: DType) -> DType:
    """Return the type of bounds for results of type `dtype`: c128 for the parts of complex results, else f64."""
    return np.dtype(np.complex128 if is_complex(dtype) else np.float64)


def within(actual: Array, expected: Array, bound: Array) -> Array:
    """Return where `actual` is within `bound` of `expected`; NaNs and infinities must be equal."""
    if is_complex(expected.dtype):
        return within(actual.real, expected.real, bound.real) & within(actual.imag, expected.imag, bound.imag)
    if not is_float(expected.dtype):
        return np.asarray(actual == expected)
    actual, expected = np.asarray(actual, np.float64), np.asarray(expected, np.float64)
    with np.errstate(invalid="ignore"):
        near = np.abs(actual - expected) <= bound
    return near | (actual == expected) | (np.isnan(actual) & np.isnan(expected)) | np.isinf(bound)


def part_type(dtype: DType) -> DType:
    """Return the type of the parts of a complex type, and other types unchanged."""
    return complex_element_type(dtype) if is_complex(dtype) else dtype


def unit_roundoff(arithmetic: DType) -> Any:
    return reals.ldexp(1, -FORMATS[arithmetic.name].mantissa_bits - 1)


def smallest(arithmetic: DType) -> Any:
    """Return the smallest positive number."""
    form = FORMATS[arithmetic.name]
    return reals.ldexp(1, form.min_exponent - form.mantissa_bits)


def largest(arithmetic: DType) -> Any:
    return reals.mpf(FORMATS[arithmetic.name].largest)


def _nearest(dtype: DType, value: Any) -> Any:
    if not reals.isfinite(value) or value == 0:
        return round_to(dtype, float(value))
    sign, mantissa, exponent, _ = value._mpf_
    return round_to(dtype, (-1) ** sign * int(mantissa) * Fraction(2) ** exponent)


def _has_parts(value: Any) -> bool:
    return isinstance(value, reals.mpc)


def _special_quotient(dividend: Any, divisor: Any) -> Any:
    """Return a quotient with an infinity, a NaN or a zero divisor, which counts as positive."""
    if _has_parts(dividend) or _has_parts(divisor) or reals.isnan(dividend) or reals.isnan(divisor):
        return reals.nan
    if divisor == 0:
        return reals.nan if dividend == 0 else reals.sign(dividend) * INFINITY
    return reals.nan if reals.isinf(dividend) and reals.isinf(divisor) else dividend / divisor


def nearest_f64(x: Any) -> float:
    """Return the f64 nearest to a number of mpmath; infinity beyond the largest one."""
    sign, mantissa, exponent, _ = mpmath.mpf(x)._mpf_
    magnitude = Fraction(int(mantissa)) * Fraction(2) ** exponent
    try:
        return float(-magnitude if sign else magnitude)
    except OverflowError:
        return -math.inf if sign else math.inf
