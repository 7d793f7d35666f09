"""Compute lgamma and digamma of negative numbers near their zeros, in double-double, from the nearest pole.

Let -n be the nearest pole and x = -n + t with |t| <= 1/2, which is exact. Then

    1 / gamma(x) = t (t - 1) ... (t - n) / gamma(1 + t)
    digamma(x) = digamma(4 + t) - 1 / (t + 3) - 1 / (t + 2) - ... - 1 / (t - n)
"""

from __future__ import annotations

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.double_double import Pair, fast_two_sum, two_sum
from stablehlo_ref.numerics.long_double import LONG_DOUBLE
from stablehlo_ref.numerics.portable.pairs import add, exactly, horner, multiply
from stablehlo_ref.numerics.special_tables import DIGAMMA_AT_4, RECIPROCAL_GAMMA

MAX_DISTANCE = 128.0  # from zero; for numbers farther away the number of factors is too large


def lgamma_by_product(x: Array) -> Array:
    """Return log |gamma(x)| for -MAX_DISTANCE < x < 0 that are not integers."""
    pole = np.rint(-x)
    t = x + pole
    product = multiply(horner(RECIPROCAL_GAMMA[::-1], exactly(t)), exactly(t))
    for n in range(1, int(pole.max(initial=0)) + 1):
        product = where(n <= pole, multiply(product, two_sum(t, -float(n))), product)
    high, low = np.where(product[0] < 0, -1.0, 1.0) * product
    high, low = high.astype(LONG_DOUBLE), low.astype(LONG_DOUBLE)
    log: Array = np.where(np.abs(high - 1.0) < 0.5, np.log1p((high - 1.0) + low), np.log(high + low))
    return -log


def digamma_near_zero(x: Array) -> Array:
    """Return digamma(x) for -MAX_DISTANCE < x < 0 that are not integers."""
    pole = np.rint(-x)
    t = x + pole
    total = horner(DIGAMMA_AT_4[::-1], exactly(t))
    for n in range(-3, int(pole.max(initial=0)) + 1):
        total = where(n <= pole, add(total, reciprocal(two_sum(-t, float(n)))), total)
    return total[0] + total[1]


def reciprocal(x: Pair) -> Pair:
    """Return 1 / x by a Newton step from the reciprocal in f64."""
    guess = 1.0 / x[0]
    high, low = multiply(exactly(guess), x)
    return fast_two_sum(guess, guess * ((1.0 - high) - low))


def where(mask: Array, x: Pair, y: Pair) -> Pair:
    """Return `x` where the mask is true, else `y`."""
    return np.where(mask, x[0], y[0]), np.where(mask, x[1], y[1])
