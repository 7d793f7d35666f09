"""lgamma and digamma of negative numbers near their zeros, in double-double, from the pole that is next.

With n the pole's distance from zero and x = -n + t, |t| <= 1/2, which is exact:

    1 / gamma(x) = t (t - 1) ... (t - n) / gamma(1 + t)
    digamma(x) = digamma(4 + t) - 1 / (t + 3) - 1 / (t + 2) - ... - 1 / (t - n)
"""

from __future__ import annotations

import numpy as np

from stablehlo_ref.numerics.double_double import Pair, fast_two_sum, two_product, two_sum
from stablehlo_ref.numerics.narrow import Array
from stablehlo_ref.numerics.special_tables import DIGAMMA_AT_4, RECIPROCAL_GAMMA

FURTHEST = 128.0  # from zero: the numbers farther away are not worth the way


def lgamma_by_product(x: Array) -> Array:
    """log |gamma(x)| for -FURTHEST < x < 0, no integer."""
    pole = np.rint(-x)
    t = x + pole
    product = times(series(RECIPROCAL_GAMMA, t), (t, np.zeros_like(t)))
    for n in range(1, int(pole.max(initial=0)) + 1):
        product = chosen(n <= pole, times(product, two_sum(t, -float(n))), product)
    high, low = np.where(product[0] < 0, -1.0, 1.0) * product
    near_one = np.abs(high - 1.0) < 0.5
    return -np.where(near_one, np.log1p((high - 1.0) + low), np.log(high) + low / high)


def digamma_near_zero(x: Array) -> Array:
    """digamma(x) for -FURTHEST < x < 0, no integer."""
    pole = np.rint(-x)
    t = x + pole
    total = series(DIGAMMA_AT_4, t)
    for n in range(-3, int(pole.max(initial=0)) + 1):
        total = chosen(n <= pole, plus(total, reciprocal(two_sum(-t, float(n)))), total)
    return total[0] + total[1]


# --- double-double: sums and products of pairs as in Joldes, Muller and Popescu (2017) ------------------------------


def series(coefficients: tuple[tuple[float, float], ...], t: Array) -> Pair:
    """The sum of coefficients[k] * t**k."""
    total: Pair = (np.full_like(t, coefficients[-1][0]), np.full_like(t, coefficients[-1][1]))
    for coefficient in coefficients[-2::-1]:
        total = plus(times(total, (t, np.zeros_like(t))), coefficient)
    return total


def plus(x: Pair, y: Pair) -> Pair:
    """x + y, with an error below 2**-104 of it."""
    high, low = two_sum(x[0], y[0])
    rest, lower = two_sum(x[1], y[1])
    high, low = fast_two_sum(high, low + rest)
    return fast_two_sum(high, low + lower)


def times(x: Pair, y: Pair) -> Pair:
    """x * y, with an error below 2**-102 of it."""
    high, low = two_product(x[0], y[0])
    return fast_two_sum(high, low + (x[0] * y[1] + x[1] * y[0]))


def reciprocal(x: Pair) -> Pair:
    """By a Newton step from the reciprocal in f64."""
    guess = 1.0 / x[0]
    high, low = times((guess, np.zeros_like(guess)), x)
    return fast_two_sum(guess, guess * ((1.0 - high) - low))


def chosen(mask: Array, x: Pair, y: Pair) -> Pair:
    """`x` where the mask is true, else `y`."""
    return np.where(mask, x[0], y[0]), np.where(mask, x[1], y[1])
