"""Sine and cosine to 65 and to 95 bits: of a multiple of 2 pi / 512 from a table, and of a small rest.

Operands are reduced with two to five words of 2 pi / 512, enough below 2**20.
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
    UPPER,
    Coefficients,
    add,
    coefficients,
    divide,
    exactly,
    horner,
    multiply,
    negate,
    pairs,
    quick_divide,
    words,
)

SIZE = 512
LARGEST = 2.0**20
SMALL = 2.0**9
# With |r| < 2**-7.3 for the rest: cos(r) - 1 is below 2**-15.6; the roundings of it, of its product with a number from
# the table and of the two sums in which it is the largest term are below 2**-68.6 each. Where the result is small, the
# number from the table or that term is, too. The error of r counts for the smallest results only (see `_quick_rest`).
QUICK_ERROR = 2.0**-65
QUICK_TANGENT_ERROR = 2.0**-63.9
ERROR = 2.0**-88
_NOT_REDUCED = np.float64(TO_INTEGER).view(np.int64)


class _Constants(NamedTuple):
    sine: tuple[Array, Array]  # of 2 pi i / SIZE
    cosine: tuple[Array, Array]
    cosine_head: Array  # its first 26 bits
    cosine_rest: Array
    inverse: float  # SIZE / 2 pi
    long_step: list[float]  # 2 pi / SIZE in two words
    step: list[float]  # and in five
    sine_series: Coefficients  # of powers of x * x: sin(x) / x
    cosine_series: Coefficients  # cos(x)


class _Rest(NamedTuple):
    """A small angle r, and the multiple of 2 pi / SIZE that was subtracted."""

    multiple: Array  # as integers, plus a multiple of 2**50
    upper: Array  # 26 bits of r
    lower: Array
    sine_tail: Array  # sin(r) - (upper + lower)
    cosine_tail: Array  # cos(r) - 1
    smallest: float  # result other than of operands below 2 pi / SIZE that is accurate


@cache
def _constants() -> _Constants:
    ctx = context()
    step = 2 * ctx.pi / SIZE
    sine = [ctx.sinpi(ctx.mpf(2 * i) / SIZE) for i in range(SIZE)]
    cosine = [sine[(i + SIZE // 4) % SIZE] for i in range(SIZE)]
    heads = [words(x, 26) if x else [0.0, 0.0] for x in cosine]
    sine_series = coefficients(lambda n: (-1) ** n / ctx.factorial(2 * n + 1), range(8))
    cosine_series = coefficients(lambda n: (-1) ** n / ctx.factorial(2 * n), range(8))
    head, rest = (np.array(column) for column in zip(*heads))
    steps = words(step, 37), words(step, 26, 26, 26, 53)
    return _Constants(pairs(sine), pairs(cosine), head, rest, float(1 / step), *steps, sine_series, cosine_series)


def quick_sine(x: Array) -> tuple[Array, Array, None]:
    """Return the sine for |x| < 2**20; NaN for one too close to 0."""
    return *_quick_sine(_quick_rest(x), 0), None


def quick_cosine(x: Array) -> tuple[Array, Array, None]:
    """Return the cosine for |x| < 2**20; NaN for one too close to 0."""
    return *_quick_sine(_quick_rest(x), SIZE // 4), None


def quick_tangent(x: Array) -> Pair:
    """Return the tangent for |x| < 2**20; NaN where sine or cosine are too close to 0."""
    rest = _quick_rest(x)
    sine, cosine = (fast_two_sum(*_quick_sine(rest, turn)) for turn in (0, SIZE // 4))
    return quick_divide(sine, cosine)


def _quick_rest(x: Array) -> _Rest:
    """Reduce operands; below `SMALL` with an error below 2**-81, else below 2**-105."""
    c = _constants()
    bits = x * c.inverse
    bits += TO_INTEGER
    k = bits - TO_INTEGER
    is_small = -SMALL < x.min() and x.max() < SMALL
    upper = x - k * (c.long_step if is_small else c.step)[0]  # exact
    if is_small:
        k *= c.long_step[1]
        r = upper - k
        rest = (upper - r) - k
    else:
        lower = k * c.step[1]
        first = upper - lower
        rest = (upper - first) - lower
        lower = k * c.step[2]
        second = first - lower
        rest += (first - second) - lower
        r, rest = fast_two_sum(second, rest - k * c.step[3])
    square = r * r
    sine_tail = square * (-1 / 5040)
    sine_tail += 1 / 120
    sine_tail *= square
    sine_tail -= 1 / 6
    sine_tail *= square
    sine_tail *= r
    sine_tail += rest
    cosine_tail = square * (-1 / 720)
    cosine_tail += 1 / 24
    cosine_tail *= square
    cosine_tail -= 0.5
    cosine_tail *= square
    rest *= r
    cosine_tail -= rest
    head = (r.view(np.int64) & UPPER).view(np.float64)
    r -= head
    return _Rest(bits.view(np.int64), head, r, sine_tail, cosine_tail, 2.0**-15 if is_small else 2.0**-39)


def _quick_sine(rest: _Rest, turn: int) -> Pair:
    """Return the sine of an angle plus 2 pi turn / SIZE."""
    c = _constants()
    place = rest.multiple + turn
    place &= SIZE - 1
    cosine = c.cosine_head.take(place)
    tail = rest.lower + rest.sine_tail
    low = rest.upper + tail
    low *= c.cosine_rest.take(place)
    tail *= cosine
    low += tail
    cosine *= rest.upper  # exact
    sine = c.sine[0].take(place)
    high, more = fast_two_sum(sine, cosine)  # |sine| > |r|, or sine is 0
    sine *= rest.cosine_tail
    low += sine
    low += c.sine[1].take(place)
    low += more
    uncertain = np.abs(high) < rest.smallest
    if uncertain.any():
        is_reduced = rest.multiple != _NOT_REDUCED
        high[uncertain & is_reduced] = np.nan
    return high, low


def _reduce(x: Pair) -> tuple[Pair, Array]:
    c = _constants()
    k = np.rint(x[0] * c.inverse)
    rest = two_sum(x[0] - k * c.step[0], -(k * c.step[1]))
    rest = add(rest, exactly(-(k * c.step[2])))
    high, low = two_product(k, np.full_like(k, c.step[3]))
    rest = add(rest, (-high, -low - k * c.step[4]))
    return add(rest, exactly(x[1])), k.astype(np.int64) & (SIZE - 1)


def sine_and_cosine(x: Pair) -> tuple[Pair, Pair]:
    """Return sine and cosine for |x| < 2**20."""
    c = _constants()
    rest, place = _reduce(x)
    square = multiply(rest, rest)
    s, co = multiply(horner(c.sine_series, square), rest), horner(c.cosine_series, square)
    of_sine = c.sine[0][place], c.sine[1][place]
    of_cosine = c.cosine[0][place], c.cosine[1][place]
    sine = add(multiply(of_sine, co), multiply(of_cosine, s))
    return sine, add(multiply(of_cosine, co), negate(multiply(of_sine, s)))


def tangent(x: Array) -> Pair:
    """Return the tangent for |x| < 2**20."""
    return divide(*sine_and_cosine(exactly(x)))
