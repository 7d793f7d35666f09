"""The natural logarithm to 70 and to 100 bits: the logarithm of a table entry and that of a factor close to 1.

(Tang, "Table-driven implementation of the logarithm function in IEEE floating-point arithmetic", 1990)
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.double_double import Pair, fast_two_sum, two_product, two_sum
from stablehlo_ref.numerics.multiple_precision import Number, context
from stablehlo_ref.numerics.portable.pairs import UPPER, Coefficients, add, coefficients, horner, multiply, words

BITS = 10
SIZE = 1 << BITS  # mantissas

# For |r| < 2**-10, relative to the result, which is at least 2 |r| / 3: r**3/3 is rounded (2**-74), as are sums in
# which it is the largest term; r**8/8 and what follows are missing (2**-72.4).
QUICK_ERROR = 2.0**-70
ERROR = 2.0**-96
_EXPONENT = np.int64(-1 << 52)
_ONE, _THREE_QUARTERS = np.array([1.0, 0.75]).view(np.int64)
_GRID = 2.0**42  # logarithms are rounded to multiples of 1 / _GRID, so that sums with exponents are exact


class _Constants(NamedTuple):
    factor: Array  # about 1 / m with 12 bits, 1 where m is close to 1
    first: Array  # -log(factor) as three words, the first of them a multiple of 1 / _GRID
    second: Array
    third: Array
    log2: list[float]  # as three words: a multiple of 1 / _GRID, 40 bits, the rest
    log2_low: float  # the second and third word as one
    series: Coefficients


@cache
def _constants() -> _Constants:
    factors = []
    for i in range(SIZE):
        m = 0.75 + (i + 0.5) / (2 * SIZE) if i < SIZE // 2 else 0.5 + (i + 0.5) / SIZE
        factors.append(1.0 if abs(m - 1) < 0.6 / SIZE else round(4 * SIZE / m) / (4 * SIZE))
    ctx = context()
    table = [_on_grid(-ctx.ln(f)) for f in factors]
    log2, *_ = _on_grid(+ctx.ln2)
    rest = ctx.ln2 - log2
    log2_words = [log2, *words(rest, 40)]
    log2_low = float(rest)
    first, second, third = (np.array(column) for column in zip(*table))
    series = coefficients(lambda n: -((-1) ** n) / ctx.mpf(n), range(1, 13))
    return _Constants(np.array(factors), first, second, third, log2_words, log2_low, series)


def _on_grid(x: Number) -> tuple[float, float, float]:
    first = float(context().nint(x * _GRID)) / _GRID
    second = float(x - first)
    return first, second, float(x - first - second)


def _parts(c: _Constants, x: Array) -> tuple[Array, Array, Array, Array]:
    """Return (n, i, r, s) such that x = 2**n / factor[i] * (1 + r + s), for normal x > 0."""
    bits = x.view(np.int64)
    place = bits - _THREE_QUARTERS
    exponent = place >> 52
    mantissa = (bits - (place & _EXPONENT)).view(np.float64)  # from 3/4 to 3/2
    place >>= 52 - BITS
    place &= SIZE - 1
    factor = c.factor.take(place)
    upper = (mantissa.view(np.int64) & UPPER).view(np.float64)
    mantissa -= upper
    mantissa *= factor
    upper *= factor
    upper -= 1.0  # all of these are exact
    r, rest = fast_two_sum(upper, mantissa)
    return exponent.astype(np.float64), place, r, rest


def quick(x: Array) -> Pair:
    """Return log(x) for normal x > 0."""
    c = _constants()
    exponent, place, r, rest = _parts(c, x)
    return _from_rest(c, exponent, place, r, rest)


def quick_plus_one(x: Array, low: Array | None = None) -> Pair:
    """Return log(1 + x + low) for -1 < x < 2**1000 and |low| below an ULP of x."""
    c = _constants()
    one, more = two_sum(x, 1.0)
    if low is not None:
        more += low
    exponent, place, r, rest = _parts(c, one)
    power = (_ONE - (exponent.astype(np.int64) << 52)).view(np.float64)  # exactly, where factor is 1
    more *= power
    more *= c.factor.take(place)
    rest += more
    r, rest = fast_two_sum(r, rest)  # |rest| is small unless r is 0
    return fast_two_sum(*_from_rest(c, exponent, place, r, rest))


def _from_rest(c: _Constants, exponent: Array, place: Array, r: Array, rest: Array) -> Pair:
    """Return n log 2 - log(factor) + log(1 + r + rest); half of r**2 is subtracted exactly."""
    upper = (r.view(np.int64) & UPPER).view(np.float64)
    square = r * r
    tail = r * (1 / 7)
    tail -= 1 / 6
    tail *= r
    tail += 1 / 5
    tail *= r
    tail -= 1 / 4
    tail *= r
    tail += 1 / 3
    tail *= r
    tail *= square
    half = np.multiply(upper, upper, out=square)
    half *= 0.5
    lower = r - upper
    upper += r
    lower *= upper
    lower *= 0.5
    tail -= lower
    tail += rest
    rest = rest * r
    tail -= rest
    base = exponent * c.log2[0]
    base += c.first.take(place)
    high, low = fast_two_sum(base, r)  # |base| > |r|, or base is 0
    high, more = fast_two_sum(high, np.negative(half, out=half))
    exponent *= c.log2_low
    tail += exponent
    tail += c.second.take(place)
    low += more
    low += tail
    return high, low


def of_normal(x: Array) -> Pair:
    """Return log(x) for normal x > 0."""
    c = _constants()
    exponent, place, r, rest = _parts(c, x)
    series = multiply(horner(c.series, (r, rest)), (r, rest))
    total = two_sum(exponent * c.log2[0] + c.first[place], exponent * c.log2[1])
    total = add(total, two_product(exponent, np.full_like(exponent, c.log2[2])))
    return add(add(total, two_sum(c.second[place], c.third[place])), series)


def of_pair(x: Pair) -> Pair:
    """Return log(x) for normal x > 0, with an error relative to |log x[0]| + |x[1]|."""
    return _times(x[0], x[1], np.zeros_like(x[0]))


def plus_one(x: Pair) -> Pair:
    """Return log(1 + x) for x > -1."""
    one, rest = two_sum(1.0, x[0])
    rest, low = two_sum(rest, x[1])
    return _times(one, rest, low)


def _times(x: Array, rest: Array, low: Array) -> Pair:
    """Return log(x + rest + low) for a rest of at most an ULP: log(x) + log(1 + rest / x)."""
    first = rest / x
    product, product_low = two_product(first, x)
    second = ((rest - product) - product_low + low) / x
    high, more = fast_two_sum(first, second - 0.5 * first * first)
    return add(of_normal(x), (high, more))
