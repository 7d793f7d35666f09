"""The Hurwitz zeta function and the derivatives of digamma of f64: their limits, and results rounded correctly."""

from __future__ import annotations

from functools import cache
from math import factorial

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics import multiple_precision_special as precise
from stablehlo_ref.numerics.double_double import Pair, two_sum
from stablehlo_ref.numerics.kernels import ArrayKernel
from stablehlo_ref.numerics.multiple_precision import Function
from stablehlo_ref.numerics.piecewise import replace_where
from stablehlo_ref.numerics.portable import exponential, logarithm
from stablehlo_ref.numerics.portable.pairs import (
    Coefficients,
    add,
    coefficients,
    divide,
    exactly,
    multiply,
    negate,
    scale,
)
from stablehlo_ref.numerics.portable.special import DIGAMMA
from stablehlo_ref.numerics.portable.ziv import Domain, Stage, approximation, correctly_rounded

TERMS, CORRECTIONS = 40, 16  # summed directly, and of the Euler-Maclaurin formula: the next is below 2**-80
LARGEST = 20.0  # exponent
SMALLEST = 2.0**-25  # number whose powers are computed
ERROR = 2.0**-66  # after a loss of up to 12 bits; 2**-79 of terms, as logarithms have 2**-96 and are up to 2**10


def is_regular(s: Array, q: Array) -> Array:
    """Return whether `q` is not a pole and all powers are real."""
    is_regular: Array = (q > 0) | ((q > -np.inf) & (q != np.rint(q)) & (s == np.rint(s)))
    return is_regular


def limits(s: Array, q: Array) -> Array:
    """Return the values of zeta at and beyond the ends of the domain, NaN elsewhere."""
    even = np.fmod(s, 2.0) == 0
    pole = np.where(even & (q == np.rint(q)), np.inf, np.nan)
    endless = np.where(q < 1.0, np.inf, np.where(q == 1.0, 1.0, 0.0))
    positive = np.where(s == np.inf, endless, np.where(q == np.inf, 0.0, np.nan))
    result = np.where(q > 0, positive, pole)
    result = np.where(s > 1.0, result, np.where(s == 1.0, np.inf, np.nan))
    return np.where(np.isnan(s) | np.isnan(q), np.nan, result)


def is_natural(n: Array) -> Array:
    """Return where `n` is a positive integer."""
    natural: Array = (n >= 1.0) & (n < np.inf) & (n == np.rint(n))
    return natural


def limits_of_polygamma(n: Array, x: Array) -> Array:
    """Return the values for positive `n` at the ends of the domain, NaN elsewhere."""
    sign = np.where(np.fmod(n, 2.0) == 0, -1.0, 1.0)
    return np.where(is_natural(n), sign * limits(n + 1.0, x), np.nan)


# --- pairs ----------------------------------------------------------------------------------------------------------


@cache
def _corrections() -> Coefficients:
    """Return the Bernoulli numbers of index 2k divided by (2k)!."""
    return coefficients(lambda k: precise.bernoulli_over(k, factorial(2 * k)), range(1, CORRECTIONS + 1))[::-1]


def _is_moderate(s: Array, q: Array) -> Array:
    """Return where powers of `q`, or of its distance from integers, and of the next numbers are not extreme."""
    nearest = np.where(q < 0.5, np.abs(q - np.rint(q)), q)
    size = np.maximum(np.abs(q), nearest) + TERMS
    moderate: Array = (s > 1) & (s <= LARGEST) & (nearest > SMALLEST) & (size < 1 / SMALLEST) & is_regular(s, q)
    return moderate


def _power(x: Pair, s: Array) -> Pair:
    """Return x**-s for x > 0."""
    power, exponent = exponential.of_pair(multiply(logarithm.of_pair(x), exactly(-s)))
    return scale(power, np.ldexp(1.0, exponent))


def _sum(s: Array, q: Pair) -> Pair:
    """Return zeta for q > 0: some terms, and the Euler-Maclaurin formula for the others."""
    total = exactly(np.zeros_like(s))
    for k in range(TERMS):
        total = add(total, _power(add(q, exactly(np.full_like(s, k))), s))
    a = add(q, exactly(np.full_like(s, TERMS)))
    inverse = divide(exactly(np.ones_like(s)), a)
    square, factor = multiply(inverse, inverse), multiply(inverse, exactly(s))
    rest = add(divide(a, two_sum(s, -1.0)), exactly(np.full_like(s, 0.5)))
    for k, (high, low) in enumerate(_corrections(), 1):
        rest = add(rest, multiply(factor, (np.full_like(s, high), np.full_like(s, low))))
        factor = multiply(multiply(factor, square), multiply(two_sum(s, 2.0 * k - 1), two_sum(s, 2.0 * k)))
    return add(total, multiply(_power(a, s), rest))


def _reflected_sum(s: Array, q: Array) -> Pair:
    """Return zeta for q < 0 as `precise.zeta` does; NaN where more than 12 bits cancel."""
    r = q - np.rint(q)
    sign = np.where(np.fmod(s, 2.0) == 0, 1.0, -1.0)
    first = scale(_power(exactly(np.abs(r)), s), np.where(r < 0, sign, 1.0))
    mirrored = add(_sum(s, two_sum(1.0, -r)), negate(_sum(s, two_sum(1.0, -q))))
    above = add(first, _sum(s, two_sum(1.0, r)))
    high, low = add(above, scale(mirrored, sign))
    largest = np.maximum(np.abs(first[0]), np.abs(mirrored[0]))
    return np.where(np.abs(high) < 2.0**-12 * largest, np.nan, high), low


def _zeta(s: Array, q: Array) -> Pair:
    high, low = np.empty_like(s), np.empty_like(s)
    for mask, function in ((q > 0, lambda s, q: _sum(s, exactly(q))), (q < 0, _reflected_sum)):
        if mask.any():
            high[mask], low[mask] = function(s[mask], q[mask])
    return high, low


def _derivative(n: Array, x: Array) -> Pair:
    factorials = np.array([float(factorial(k)) for k in range(int(LARGEST))])  # exact up to 22!
    sign = np.where(np.fmod(n, 2.0) == 0, -1.0, 1.0)
    return multiply(_zeta(n + 1.0, x), exactly(sign * factorials[n.astype(np.int64)]))


# --- all ------------------------------------------------------------------------------------------------------------

_POSITIVE = correctly_rounded(
    [Stage(approximation(_derivative), ERROR)],
    precise.polygamma,
    Domain(
        lambda n, x: is_natural(n) & _is_moderate(n + 1.0, x),
        limits_of_polygamma,
        lambda n, x: is_natural(n) & (x < np.inf) & is_regular(n, x),
    ),
)


def _polygamma(n: Array, x: Array) -> Array:
    n, x = np.broadcast_arrays(n, x)
    return replace_where(_POSITIVE(n, x), n == 0, DIGAMMA, x)


ZETA: dict[Function, ArrayKernel] = {
    precise.zeta: correctly_rounded(
        [Stage(approximation(_zeta), ERROR)],
        precise.zeta,
        Domain(_is_moderate, limits, lambda s, q: (s > 1.0) & (s < np.inf) & (q < np.inf) & is_regular(s, q)),
    ),
    precise.polygamma: _polygamma,
}
