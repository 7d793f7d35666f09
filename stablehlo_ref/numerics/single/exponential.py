"""Exponentials of f32 by tables: e**x, e**x - 1, the logistic function and tanh.

Bounds are of relative errors. Rounding errors of f64 are at most a dozen of 2**-53; R is the largest rest, 2**-9.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.single.grid import Grid
from stablehlo_ref.numerics.single.kernel import Approximation, Buffers
from stablehlo_ref.numerics.single.polynomial import fitted, fitted_even, horner, monic_horner

_STEPS = 1 << 8
_GRID = Grid(_STEPS, -87.0, 88.5)  # of these, and of those in between, all powers are normal numbers of f32


# --- e**x, 1 / (1 + e**-x) -------------------------------------------------------------------------------------------


@cache
def _series(sign: int) -> tuple[Array, list[float]]:
    """Return multiples of e**(sign * point), and coefficients of a monic polynomial in the rest.

    The product has an error of R**4 / 24 / 8 = 2**-43.6.
    """
    leading, *others = fitted(lambda r: np.exp(sign * r), 3, _GRID.rest)
    return leading * np.exp(sign * _GRID.points()), [c / leading for c in others]


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


exponential = Approximation(_GRID.locate, _GRID.size, _exponential, 2.0**-43)
logistic = Approximation(_GRID.locate, _GRID.size, _logistic, 2.0**-43)


# --- e**x - 1 --------------------------------------------------------------------------------------------------------


@cache
def _series_minus_one() -> tuple[Array, list[float]]:
    """Return e**point - 1, and coefficients of (e**r - 1) / r, with an error of R**4 / 120 / 8 = 2**-45.9."""
    table = np.expm1(_GRID.points())
    table[table == 0.0] = -0.0  # -0.0 + x is x, also for zeros
    return table, fitted(lambda r: np.expm1(r) / r, 3, _GRID.rest)


def _exponential_minus_one(x: Array, b: Buffers) -> Array:
    """Return (T + 1) (e**r - 1) + T for T = e**point - 1.

    The first term is at most 0.51 times the second, unless that is 0.
    """
    table, coefficients = _series_minus_one()
    rest = b.widened()
    entries = table.take(b.index, out=b.third, mode="clip")
    result = horner(rest, coefficients, b.second)
    result *= rest
    result *= np.add(entries, 1.0, out=b.fourth)
    result += entries
    return result


exponential_minus_one = Approximation(_GRID.locate, _GRID.size, _exponential_minus_one, 2.0**-45)


# --- tanh ------------------------------------------------------------------------------------------------------------

_TANH_GRID = Grid(_STEPS, -10.0, 10.0)  # beyond 9.1, tanh rounds to 1


@cache
def _tangents() -> tuple[Array, list[float]]:
    """Return tanh(point), and coefficients of tanh(r) / r in r**2, with an error of 2/15 R**4 / 8 = 2**-41.9."""
    table = np.tanh(_TANH_GRID.points())
    table[table == 0.0] = -0.0
    return table, fitted_even(lambda r: np.tanh(r) / r, 1, _TANH_GRID.rest)


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


tanh = Approximation(_TANH_GRID.locate, _TANH_GRID.size, _tanh, 2.0**-41, least=1 << 11)
