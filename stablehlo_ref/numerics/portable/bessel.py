"""The exponentially scaled modified Bessel function of order 1 to 83 bits.

It is x g(|x|) with g(x) = e**-x I(x) / x, the integral of e**(-x (1 - cos t)) sin(t)**2 / pi from 0 to pi. So the k-th
derivative of g is at most 2**k g, of alternating sign, and Taylor series around any point converge quickly. Large
operands have the asymptotic series.
"""

from __future__ import annotations

from decimal import Decimal
from functools import cache

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.double_double import Pair
from stablehlo_ref.numerics.multiple_precision import ONE, pi, working_precision
from stablehlo_ref.numerics.portable.pairs import (
    Coefficients,
    divide,
    exactly,
    filled,
    horner,
    multiply,
    pair,
    pairs,
    pieces,
    scale,
    square_root,
    taylor,
)

ERROR = 2.0**-83
LARGE = 64  # from here on the asymptotic series
STEP = 8  # Taylor series for each unit
TERMS = 16  # in them; the next one is at most 2**16 / 16! / (2 STEP)**16 < 2**-92 of the first
DOUBLE = 8  # of these are computed in pairs; errors of the others are below 2**-91
_MORE_TERMS = 24  # for the way from one series to the next; the first omitted one is below 2**-127 of the first
# The asymptotic series comes from sqrt(1 - s / 2) = 1 - b1 (s / 2) - b2 (s / 2)**2 - ..., whose coefficients have the
# sum 1, by integrals over e**(-x s) sqrt(s). So the error of N terms is, relative to the first, at most
# gamma(N + 3/2) / gamma(3/2) / (2x)**N times b(N) + b(N + 1) + ... < 1 / sqrt(pi N),
# and e**-2x: for N = 25 below 2**-91.
_ASYMPTOTIC_TERMS, _SINGLE = 25, 16  # the second number of them in f64, with errors below 2**-91


@cache
def _taylor_series() -> list[Pair]:
    """Return the coefficients of g around multiples of 1 / STEP, as one table for each power.

    They follow from x g'' + (2x + 3) g' + 3 g = 0. Values are computed upwards, where g grows relative to the other
    solution.
    """
    table: list[list[Decimal]] = []
    with working_precision():
        value = slope = ONE / 2
        for i in range(LARGE * STEP + 1):
            x = ONE * i / STEP
            terms = [value, slope if i else -value]
            for k in range(_MORE_TERMS):
                terms.append(_next_coefficient(x, k, *terms[-2:]))
            table.append(terms[:TERMS])
            value = slope = ONE * 0
            for k in reversed(range(_MORE_TERMS)):
                value, slope = value / STEP + terms[k], slope / STEP + (k + 1) * terms[k + 1]
    return [pairs(column) for column in zip(*table)]


def _next_coefficient(x: Decimal, k: int, before: Decimal, last: Decimal) -> Decimal:
    """Return that of the power k + 2 around x."""
    if not x:
        return -(2 * k + 5) * last / ((k + 2) * (k + 4))
    return -((k + 1) * (k + 2 * x + 3) * last + (2 * k + 3) * before) / (x * (k + 1) * (k + 2))


@cache
def _asymptotic_series() -> Coefficients:
    """Return the coefficients of the function times sqrt(2 pi x), a polynomial of 1 / x."""
    with working_precision():
        terms = [ONE]
        for n in range(1, _ASYMPTOTIC_TERMS):
            terms.append(terms[-1] * ((2 * n - 1) ** 2 - 4) / (8 * n))
        return [pair(term) for term in reversed(terms)]


@cache
def _two_pi() -> tuple[float, float]:
    with working_precision():
        return pair(2 * pi())


def i1e(x: Array) -> Pair:
    """Return the function for 2**-900 < |x| < 2**900."""
    magnitude = np.abs(x)
    is_large = magnitude >= LARGE
    return scale(pieces(magnitude, (is_large, _large), (~is_large, _moderate)), np.copysign(1.0, x))


def _moderate(x: Array) -> Pair:
    return multiply(taylor(_taylor_series(), STEP, x, double=DOUBLE), exactly(x))


def _large(x: Array) -> Pair:
    inverse = divide(exactly(np.ones_like(x)), exactly(x))
    series = horner(_asymptotic_series(), inverse, single=_SINGLE)
    return divide(series, square_root(multiply(filled(_two_pi(), x), exactly(x))))
