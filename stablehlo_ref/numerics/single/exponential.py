"""Exponentials of f32 by tables: e**x, e**x - 1, the logistic function and tanh.

Bounds are of relative errors. Rounding errors of f64 are at most a dozen of 2**-53.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.single.kernel import Approximation, Buffers, Locate
from stablehlo_ref.numerics.single.polynomial import fitted, fitted_even, horner, monic_horner

STEPS = 1 << 8  # table entries in an interval of length 1
REST = 0.5 / STEPS
_TO_MULTIPLE = np.float32(1.5 * 2.0**23 / STEPS)  # x + _TO_MULTIPLE is a multiple of 1 / STEPS, numbered by its bits
_ZERO = int(_TO_MULTIPLE.view(np.uint32))


def _nearest_point(first: float) -> Locate:
    """Return a function that finds the multiple of 1 / STEPS next to x, counted from `first`, and the exact rest.

    It is exact for |x| < 2**14, and larger ones get large numbers.
    """
    offset = np.uint32(_ZERO + round(first * STEPS))

    def locate(x: Array, b: Buffers) -> None:
        multiple = np.add(x, _TO_MULTIPLE, out=b.single)
        point = np.subtract(multiple, _TO_MULTIPLE, out=b.rest)
        np.subtract(x, point, out=b.rest)
        np.subtract(b.bits, offset, out=b.bits)

    return locate


def _points(first: float, last: float) -> Array:
    return np.arange(round(first * STEPS), round(last * STEPS) + 1) / STEPS


# --- e**x, 1 / (1 + e**-x) -------------------------------------------------------------------------------------------

_FIRST, _LAST = -87.0, 88.5  # of these, and of those in between, all powers are normal numbers of f32
_KNOWN = _points(_FIRST, _LAST)
_locate = _nearest_point(_FIRST)


@cache
def _series(sign: int) -> tuple[Array, list[float]]:
    """Return multiples of e**(sign * point), and coefficients of a monic polynomial in the rest.

    The product has an error of REST**4 / 24 / 8 = 2**-43.6.
    """
    leading, *others = fitted(lambda r: np.exp(sign * r), 3, REST)
    return leading * np.exp(sign * _KNOWN), [c / leading for c in others]


def _power(sign: int, x: Array, b: Buffers) -> Array:
    """Return e**(sign * x)."""
    table, coefficients = _series(sign)
    rest = b.widened()
    entries = table.take(b.index, out=b.third, mode="clip")
    result = monic_horner(rest, coefficients, b.second)
    result *= entries
    return result


def _exponential(x: Array, b: Buffers) -> Array:
    return _power(1, x, b)


def _logistic(x: Array, b: Buffers) -> Array:
    result = _power(-1, x, b)
    result += 1.0
    return np.divide(1.0, result, out=result)


exponential = Approximation(_locate, _KNOWN.size, _exponential, 2.0**-43)
logistic = Approximation(_locate, _KNOWN.size, _logistic, 2.0**-43)


# --- e**x - 1 --------------------------------------------------------------------------------------------------------


@cache
def _series_minus_one() -> tuple[Array, list[float]]:
    """Return e**point, and coefficients of (e**r - 1) / r, with an error of REST**4 / 120 / 8 = 2**-45.9."""
    return np.exp(_KNOWN), fitted(lambda r: np.expm1(r) / r, 3, REST)


def _exponential_minus_one(x: Array, b: Buffers) -> Array:
    """Return T (e**r - 1) + (T - 1) for T = e**point.

    The first term is at most 0.51 times the second, unless that is 0. T - 1 is exact where it is small.
    """
    table, coefficients = _series_minus_one()
    rest = b.widened()
    entries = table.take(b.index, out=b.third, mode="clip")
    result = horner(rest, coefficients, b.second)
    result *= rest
    result *= entries
    entries -= 1.0
    entries[entries == 0.0] = -0.0
    result += entries
    return result


exponential_minus_one = Approximation(_locate, _KNOWN.size, _exponential_minus_one, 2.0**-44)


# --- tanh ------------------------------------------------------------------------------------------------------------

_SATURATED = 10


@cache
def _tangents() -> tuple[Array, list[float]]:
    """Return tanh(point), and coefficients of tanh(r) / r in r**2, with an error of 2/15 REST**4 / 8 = 2**-41.9."""
    table = np.tanh(_points(-_SATURATED, _SATURATED))
    table[table.size // 2] = -0.0  # -0.0 + x is x, also for zeros
    return table, fitted_even(lambda r: np.tanh(r) / r, 1, REST)


def _tanh(x: Array, b: Buffers) -> Array:
    """Return (T + t) / (1 + T t) for T = tanh(point) and t = tanh(rest); |t| is at most 0.51 |T|, unless T is 0."""
    table, (square, constant) = _tangents()
    rest = b.widened()
    entries = table.take(b.index, out=b.third, mode="clip")
    tangent = np.multiply(rest, rest, out=b.second)
    tangent *= square
    tangent += constant
    tangent *= rest
    result = np.add(entries, tangent, out=rest)
    tangent *= entries
    tangent += 1.0
    result /= tangent
    return result


tanh = Approximation(_nearest_point(-_SATURATED), 2 * _SATURATED * STEPS + 1, _tanh, 2.0**-41, least=1 << 11)
