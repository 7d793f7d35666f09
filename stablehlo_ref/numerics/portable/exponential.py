"""The exponential function to 62 and to 100 bits: 2**(k/1024) from a table, times the exponential of a small rest.

(Tang, "Table-driven implementation of the exponential function in IEEE floating-point arithmetic", 1989)
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.double_double import Pair, fast_two_sum, two_product, two_sum
from stablehlo_ref.numerics.multiple_precision import context
from stablehlo_ref.numerics.portable.pairs import (
    TO_INTEGER,
    Coefficients,
    add,
    coefficients,
    filled,
    horner,
    multiply,
    pair,
    pairs,
    scale,
    words,
)
from stablehlo_ref.numerics.portable.pairs import exactly as exact_pair

BITS = 10
SIZE = 1 << BITS
_PLACE, _EXPONENT = np.int64(SIZE - 1), np.int64(-SIZE)
_ONE = np.float64(1.0).view(np.int64)

# Errors, with T for the number from the table and |r| < 2**-11.5 for the rest, relative to T unless stated otherwise.
# `quick`: r is rounded (2**-65), r + r**2/2 + ... (2**-65), its product with T, the sum with the second word of T and
# the sum with the error bound (2**-64.5 each); the fifth power is missing (2**-64.4). Together below 2**-62.
QUICK_ERROR = 2.0**-61.9
# `quick_minus_one`, relative to the result, at least half of |T - 1|: r (T - 1) is rounded, and so are three sums in
# which it is the largest term (2**-63.5 each); others and the missing r**6/720 relative to r (2**-64.5 each).
QUICK_MINUS_ONE_ERROR = 2.0**-61
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
    ctx = context()
    powers = [ctx.mpf(2) ** (ctx.mpf(i) / SIZE) for i in range(SIZE)]
    step = ctx.ln2 / SIZE
    series = coefficients(lambda n: 1 / ctx.factorial(n), range(1, 9))
    return _Constants(*pairs(powers), float(1 / step), words(step, 32), words(step, 32, 32), series)


def quick(x: Array) -> tuple[Array, Array, Array]:
    """Return (high, low, n) with e**x = (high + low) * 2**n, for |x| < 709; low is up to high / 2000."""
    return quick_of_pair((x, None))


def quick_of_pair(x: tuple[Array, Array | None]) -> tuple[Array, Array, Array]:
    """Return (high, low, n) with e**x = (high + low) * 2**n, for |x| < 709, with an error below 2**-61.4."""
    c = _constants()
    k, bits = _multiples(x[0], c.inverse)
    r = x[0] - k * c.step[0]  # exact
    k *= c.step[1]
    r -= k
    if x[1] is not None:
        r += x[1]
    return _from_rest(c, r, bits)


def quick_exp2(x: Array) -> tuple[Array, Array, Array]:
    """Return (high, low, n) with 2**x = (high + low) * 2**n, for |x| < 1022."""
    k, bits = _multiples(x, SIZE)
    k *= 1 / SIZE
    r = np.subtract(x, k, out=k)  # exact
    r *= log2_words()[0]
    return _from_rest(_constants(), r, bits)


def _multiples(x: Array, inverse: float) -> tuple[Array, Array]:
    """Return x * inverse rounded to integers, as numbers, and as integers plus a multiple of 2**50."""
    k = x * inverse
    k += TO_INTEGER
    return k - TO_INTEGER, k.view(np.int64)


def _from_rest(c: _Constants, r: Array, bits: Array) -> tuple[Array, Array, Array]:
    series = r * (1 / 24)
    series += 1 / 6
    series *= r
    series += 0.5
    series *= r * r
    series += r
    place = bits & _PLACE
    table = c.high.take(place)
    series *= table
    series += c.low.take(place)
    bits >>= BITS
    return table, series, bits


def quick_minus_one(x: Array) -> Pair:
    """Return e**x - 1 for |x| < 700."""
    c = _constants()
    k, bits = _multiples(x, c.inverse)
    upper = x - k * c.step[0]  # exact
    k *= c.step[1]
    r = upper - k
    tail = (upper - r) - k
    series = r * (1 / 120)
    series += 1 / 24
    series *= r
    series += 1 / 6
    series *= r
    series += 0.5
    series *= r * r
    place = bits & _PLACE
    bits &= _EXPONENT
    bits <<= 52 - BITS
    bits += _ONE
    power = bits.view(np.float64)
    table = c.high.take(place) * power
    high, low = two_sum(table, -1.0)
    table *= series
    tail += table
    low += c.low.take(place) * power
    tail += (high + low) * r
    high, more = fast_two_sum(high, r)  # |high| > |r|, or high is 0
    low += more
    low += tail
    return high, low


def _reduce(x: Pair) -> tuple[Pair, Array, Array]:
    """Return (rest, i, n) such that x = (SIZE n + i) log(2) / SIZE + rest."""
    c = _constants()
    k = np.rint(x[0] * c.inverse)
    index = k.astype(np.int64)
    rest = fast_two_sum(*two_sum(x[0] - k * c.step3[0], -(k * c.step3[1])))
    high, low = two_product(k, np.full_like(k, c.step3[2]))
    rest = add(add(rest, (-high, -low)), (x[1], np.zeros_like(k)))
    return rest, index & _PLACE, index >> BITS


def of_pair(x: Pair) -> tuple[Pair, Array]:
    """Return (y, n) with e**x = y * 2**n, for |x| < 709."""
    c = _constants()
    rest, place, exponent = _reduce(x)
    table = c.high[place], c.low[place]
    return add(table, multiply(table, multiply(horner(c.series, rest), rest))), exponent


def moderate(x: Pair) -> Pair:
    """Return e**x for |x| < 700."""
    power, exponent = of_pair(x)
    return scale(power, np.ldexp(1.0, exponent))


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
    rest = multiply(exact_pair(x - k * (1 / SIZE)), filled(log2_words(), x))
    table = c.high[index & _PLACE], c.low[index & _PLACE]
    high, low = add(table, multiply(table, multiply(horner(c.series, rest), rest)))
    return high, low, index >> BITS


@cache
def log2_words() -> tuple[float, float]:
    """Return log 2 as a pair."""
    return pair(+context().ln2)
