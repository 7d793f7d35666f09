"""Double-double arithmetic: numbers of twice f64's precision, as unevaluated sums (high, low) of two f64 arrays.

Sums and products follow Dekker (1971) and Knuth: without a fused multiply-add, the error of a product is computed from
operands split into halves. Overflow is not handled: callers scale their operands.
"""

from __future__ import annotations

from math import factorial
from typing import TypeAlias

import numpy as np

from stablehlo_ref.ir.arrays import Array

Pair: TypeAlias = tuple[Array, Array]

_HALF_UNIT, _UPPER_HALF = np.int64(1 << 26), np.int64(-1 << 27)  # for the upper 26 of 53 mantissa bits
_LOG2_E = 1.4426950408889634
_LN2_HIGH = 0.693147180369123816490  # 33 bits, so that products with exponents are exact
_LN2_LOW = 1.90821492927058770002e-10
_TAYLOR = [1 / factorial(n) for n in range(14, 1, -1)]


def split(x: Array) -> Pair:
    """Return `x` as the sum of two numbers of 26 significant bits."""
    high: Array = ((x.view(np.int64) + _HALF_UNIT) & _UPPER_HALF).view(np.float64)
    return high, x - high


def two_sum(x: Array | float, y: Array | float) -> Pair:
    """Return x + y exactly."""
    high: Array = np.add(x, y)
    rest = high - x
    return high, (x - (high - rest)) + (y - rest)


def fast_two_sum(x: Array | float, y: Array) -> Pair:
    """Return x + y exactly, if |x| >= |y| or x is 0."""
    high = x + y
    return high, y - (high - x)


def two_product(x: Array, y: Array) -> Pair:
    """Return x * y exactly, unless the error underflows."""
    high = x * y
    (x1, x0), (y1, y0) = split(x), split(y)
    return high, ((x1 * y1 - high) + x1 * y0 + x0 * y1) + x0 * y0


def squares_and(term: Array | float, x: Array, y: Array) -> Pair:
    """Return x*x + y*y + term as a number and a small rest, which is the only one of these sums that is rounded."""
    (p, p_low), (q, q_low) = two_product(x, x), two_product(y, y)
    high, low = two_sum(term, p)
    high, lower = two_sum(high, q)
    return high, lower + (low + (p_low + q_low))


def divide(x: Pair, y: Pair) -> Array:
    """Return x / y as f64, with an error of little more than 0.5 ULP."""
    quotient = x[0] / y[0]
    product, low = two_product(quotient, y[0])
    remainder = (x[0] - product) - low + (x[1] - quotient * y[1])
    return np.where(remainder == 0, quotient, quotient + remainder / y[0])


def exponential(x: Array) -> Pair:
    """Return e**x for |x| < 700, with a relative error below 2**-55."""
    exponent, reduced, rest = _exponential_parts(x)
    high, low = fast_two_sum(1.0, reduced)
    high, low = fast_two_sum(high, low + rest)
    return np.ldexp(high, exponent), np.ldexp(low, exponent)


def exponential_minus_one(x: Array) -> Pair:
    """Return e**x - 1 for |x| < 700, with a relative error below 2**-54."""
    exponent, reduced, rest = _exponential_parts(x)
    scale = np.ldexp(1.0, exponent)
    high, low = two_sum(scale - 1.0, scale * reduced)
    return fast_two_sum(high, low + scale * rest)


def _exponential_parts(x: Array) -> tuple[Array, Array, Array]:
    """Return (n, r, s) such that e**x = 2**n * (1 + r + s) and |r| < 0.35, |s| < 0.07."""
    exponent = np.rint(x * _LOG2_E)
    upper = x - exponent * _LN2_HIGH
    lower = exponent * _LN2_LOW
    reduced = upper - lower
    series = _TAYLOR[0] * reduced
    for coefficient in _TAYLOR[1:-1]:
        series += coefficient
        series *= reduced
    series += _TAYLOR[-1]
    series *= reduced * reduced
    series += (upper - reduced) - lower
    return exponent.astype(np.int32), reduced, series
