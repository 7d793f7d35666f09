"""The exponential function to 60 and to 100 bits: 2**(k/128) from a table, times the exponential of a small rest.

(Tang, "Table-driven implementation of the exponential function in IEEE floating-point arithmetic", 1989)
"""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from typing import NamedTuple

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.double_double import Pair, fast_two_sum, two_product, two_sum
from stablehlo_ref.numerics.multiple_precision import ONE, TWO, working_precision
from stablehlo_ref.numerics.portable.pairs import (
    Coefficients,
    add,
    coefficients,
    factorial,
    horner,
    multiply,
    pairs,
    words,
)
from stablehlo_ref.numerics.portable.pairs import exactly as exact_pair

BITS = 7
SIZE = 1 << BITS
QUICK_ERROR = 2.0**-60.5  # of table * rest, rounded once: |rest| < 2**-8.5; other errors are below 2**-70
ERROR = 2.0**-97


class _Constants(NamedTuple):
    high: Array  # 2**(i / SIZE)
    low: Array
    inverse: float  # SIZE / log 2
    step: list[float]  # log 2 / SIZE in two words
    step3: list[float]  # and in three
    series: Coefficients


@cache
def _constants() -> _Constants:
    with working_precision():
        log2 = TWO.ln()
        table = pairs([(log2 * i / SIZE).exp() for i in range(SIZE)])
        inverse = float(SIZE / log2)
        step, step3 = words(log2 / SIZE, 34), words(log2 / SIZE, 34, 34)
    return _Constants(*table, inverse, step, step3, coefficients(lambda n: ONE / factorial(n), range(1, 14)))


def quick(x: Array) -> tuple[Array, Array, Array]:
    """Return (high, low, n) with e**x = (high + low) * 2**n, for |x| < 709."""
    c = _constants()
    return _from_rest(c, x, None)


def quick_of_pair(x: Pair) -> tuple[Array, Array, Array]:
    """Return (high, low, n) with e**x = (high + low) * 2**n, for |x| < 709."""
    return _from_rest(_constants(), *x)


def _from_rest(c: _Constants, x: Array, low: Array | None) -> tuple[Array, Array, Array]:
    k = np.rint(x * c.inverse)
    index = k.astype(np.int64)
    upper = x - k * c.step[0]
    lower = k * c.step[1]
    r = upper - lower
    rest = (upper - r) - lower
    if low is not None:
        r, rest = fast_two_sum(r, rest + low)
    square = r * r
    series = ((1 / 720) * r + 1 / 120) * r
    series += 1 / 24
    series *= square
    series += (1 / 6) * r + 0.5
    series *= square
    series += rest
    place = index & (SIZE - 1)
    index >>= BITS
    table = c.high.take(place)
    series *= table
    series += c.low.take(place)
    high, error = fast_two_sum(table, table * r)
    return high, error + series, index


def _reduce(x: Pair) -> tuple[Pair, Array, Array]:
    """Return (rest, i, n) such that x = (128 n + i) log(2) / 128 + rest."""
    c = _constants()
    k = np.rint(x[0] * c.inverse)
    index = k.astype(np.int64)
    rest = fast_two_sum(*two_sum(x[0] - k * c.step3[0], -(k * c.step3[1])))
    high, low = two_product(k, np.full_like(k, c.step3[2]))
    rest = add(add(rest, (-high, -low)), (x[1], np.zeros_like(k)))
    return rest, index & (SIZE - 1), index >> BITS


def of_pair(x: Pair) -> tuple[Pair, Array]:
    """Return (y, n) with e**x = y * 2**n, for |x| < 709."""
    c = _constants()
    rest, place, exponent = _reduce(x)
    table = c.high[place], c.low[place]
    return add(table, multiply(table, multiply(horner(c.series, rest), rest))), exponent


def minus_one(x: Pair) -> Pair:
    """Return e**x - 1 for |x| < 700, with an error relative to the result."""
    c = _constants()
    rest, place, exponent = _reduce(x)
    power = np.ldexp(1.0, exponent)
    table = c.high[place] * power, c.low[place] * power
    product = multiply(table, multiply(horner(c.series, rest), rest))
    return add(add((np.full_like(power, -1.0), np.zeros_like(power)), table), product)


def of_product_with_log2(x: Array) -> tuple[Array, Array, Array]:
    """Return (high, low, n) with 2**x = (high + low) * 2**n, for |x| < 1022."""
    c = _constants()
    k = np.rint(x * SIZE)
    index = k.astype(np.int64)
    rest = multiply(exact_pair(x - k * (1 / SIZE)), _log2(x))
    table = c.high[index & (SIZE - 1)], c.low[index & (SIZE - 1)]
    high, low = add(table, multiply(table, multiply(horner(c.series, rest), rest)))
    return high, low, index >> BITS


@cache
def log2_words() -> tuple[float, float]:
    """Return log 2 as a pair."""
    with working_precision():
        value = TWO.ln()
        return float(value), float(value - Decimal(float(value)))


def _log2(like: Array) -> Pair:
    high, low = log2_words()
    return np.full_like(like, high), np.full_like(like, low)
