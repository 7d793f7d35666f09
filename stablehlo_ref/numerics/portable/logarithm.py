"""The natural logarithm to 65, 75 and 100 bits: the logarithm of a table entry and that of a factor close to 1.

(Tang, "Table-driven implementation of the logarithm function in IEEE floating-point arithmetic", 1990)
"""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from typing import NamedTuple

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.double_double import Pair, fast_two_sum, two_product, two_sum
from stablehlo_ref.numerics.multiple_precision import ONE, TWO, working_precision
from stablehlo_ref.numerics.portable.pairs import Coefficients, add, coefficients, horner, multiply, pair, words

SIZE = 256  # mantissas
QUICK_ERROR = 2.0**-64
ERROR = 2.0**-96
_UPPER = np.int64(-1 << 27)
_GRID = 2.0**42  # logarithms are rounded to multiples of 1 / _GRID, so that sums with exponents are exact


class _Constants(NamedTuple):
    factor: Array  # about 1 / m with 10 bits, 1 where m is close to 1
    first: Array  # -log(factor) as three words, the first of them a multiple of 1 / _GRID
    second: Array
    third: Array
    log2: list[float]  # as three words: a multiple of 1 / _GRID, 40 bits, the rest
    log2_low: float  # the second and third word as one
    series: Coefficients
    third_part: tuple[float, float]  # 1/3


@cache
def _constants() -> _Constants:
    factors = []
    for i in range(SIZE):
        m = (1 + (i + 0.5) / SIZE) / (1 if i < SIZE // 2 else 2)
        factors.append(1.0 if abs(m - 1) < 1.2 / SIZE else round(1024 / m) / 1024)
    with working_precision():
        table = [_on_grid(-Decimal(f).ln()) for f in factors]
        log2, *_ = _on_grid(TWO.ln())
        rest = TWO.ln() - Decimal(log2)
        log2_words = [log2, *words(rest, 40)]
        log2_low = float(rest)
        third_part = pair(ONE / 3)
    first, second, third = (np.array(column) for column in zip(*table))
    series = coefficients(lambda n: (ONE if n % 2 else -ONE) / n, range(1, 19))
    return _Constants(np.array(factors), first, second, third, log2_words, log2_low, series, third_part)


def _on_grid(x: Decimal) -> tuple[float, float, float]:
    first = float((x * Decimal(_GRID)).to_integral_value()) / _GRID
    second = float(x - Decimal(first))
    return first, second, float(x - Decimal(first) - Decimal(second))


def _parts(c: _Constants, x: Array) -> tuple[Array, Array, Array, Array]:
    """Return (n, i, r, s) such that x = 2**n / factor[i] * (1 + r + s), for normal x > 0."""
    bits = x.view(np.int64)
    place = (bits >> 44) & (SIZE - 1)
    up = place >> 7
    exponent = (bits >> 52) - 1023 + up
    mantissa = ((bits & 0xFFFFFFFFFFFFF) | ((1023 - up) << 52)).view(np.float64)
    factor = c.factor.take(place)
    upper = (mantissa.view(np.int64) & _UPPER).view(np.float64)
    first, second = upper * factor - 1.0, (mantissa - upper) * factor  # both exact
    r = first + second
    return exponent.astype(np.float64), place, r, second - (r - first)


def quick(x: Array) -> tuple[Array, Array, None]:
    """Return log(x) for normal x > 0."""
    c = _constants()
    exponent, place, r, rest = _parts(c, x)
    square = r * r
    series = ((-1 / 8 * r + 1 / 7) * r - 1 / 6) * square + (0.2 * r - 0.25)
    base = exponent * c.log2[0] + c.first.take(place)
    high, low = fast_two_sum(base, r)  # |base| >= |r|, or base is 0
    upper = (r.view(np.int64) & _UPPER).view(np.float64)
    half = upper * upper * 0.5  # of r * r, exact
    other_half = (r - upper) * (r + upper) * 0.5
    high, more = fast_two_sum(high, -half)
    tail = ((series * r + 1 / 3) * square * r - other_half) + (rest - r * rest)
    tail += exponent * c.log2_low + c.second.take(place)
    low += more
    low += tail
    return high, low, None


def medium(x: Array) -> Pair:
    """Return log(x) for normal x > 0, with a relative error below 2**-72."""
    c = _constants()
    exponent, place, r, rest = _parts(c, x)
    q, q_low = two_product(r, r)
    series = (((((-1 / 10 * r + 1 / 9) * r - 1 / 8) * r + 1 / 7) * r - 1 / 6) * r + 1 / 5) * (q * r)
    cube, cube_low = two_product(q, r)
    cube_low += q_low * r
    third, third_low = two_product(cube, np.full_like(cube, c.third_part[0]))
    third_low += cube * c.third_part[1] + cube_low * c.third_part[0]
    high, low = two_sum(r, -0.5 * q)
    high, more = two_sum(high, third)
    low += more + (third_low - 0.5 * q_low)
    fourth, fourth_low = two_product(q, q)
    high, more = two_sum(high, -0.25 * fourth)
    low += more - 0.25 * (fourth_low + 2 * q * q_low) + series * q + (rest - r * rest + q * rest)
    base, base_low = two_sum(exponent * c.log2[0] + c.first.take(place), high)
    other, other_low = two_sum(exponent * c.log2[1], c.second.take(place))
    base, more = two_sum(base, other)
    return fast_two_sum(base, more + base_low + (other_low + low + (exponent * c.log2[2] + c.third.take(place))))


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
