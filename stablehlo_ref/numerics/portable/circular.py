"""Sine and cosine to 60 and to 95 bits: of a multiple of 2 pi / 256 from a table, and of a small rest; and angles.

Operands are reduced with four or five words of 2 pi / 256, enough below 2**20.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics import multiple_precision as precise
from stablehlo_ref.numerics.double_double import Pair, fast_two_sum, two_product, two_sum
from stablehlo_ref.numerics.multiple_precision import ONE, working_precision
from stablehlo_ref.numerics.portable.pairs import (
    Coefficients,
    add,
    coefficients,
    divide,
    exactly,
    factorial,
    horner,
    multiply,
    negate,
    pairs,
    words,
)

SIZE = 256
LARGEST = 2.0**20
QUICK_ERROR = 2.0**-62
ERROR = 2.0**-88
NEAR_ZERO = 2.0**-40  # smaller results are less accurate, as more bits of operands have cancelled


class _Constants(NamedTuple):
    sine: tuple[Array, Array]  # of 2 pi i / SIZE
    cosine: tuple[Array, Array]
    inverse: float  # SIZE / 2 pi
    step: list[float]  # 2 pi / SIZE in five words
    sine_series: Coefficients  # of powers of x * x: sin(x) / x
    cosine_series: Coefficients  # cos(x)


@cache
def _constants() -> _Constants:
    with working_precision():
        step = 8 * precise.atan(ONE) / SIZE
        sine, cosine = ([f(step * i) for i in range(SIZE)] for f in (precise.sine, precise.cosine))
        for i in (0, SIZE // 2):
            sine[i] = cosine[(i + SIZE // 4) % SIZE] = ONE * 0
        inverse = float(1 / step)
    sine_series = coefficients(lambda n: (-ONE if n % 2 else ONE) / factorial(2 * n + 1), range(9))
    cosine_series = coefficients(lambda n: (-ONE if n % 2 else ONE) / factorial(2 * n), range(9))
    return _Constants(pairs(sine), pairs(cosine), inverse, words(step, 27, 27, 27, 53), sine_series, cosine_series)


def quick_sine(x: Array) -> tuple[Array, Array, None]:
    """Return the sine for |x| < 2**20; NaN for one below 2**-40, unless |x| is."""
    return _quick(x, 0)


def quick_cosine(x: Array) -> tuple[Array, Array, None]:
    """Return the cosine for |x| < 2**20; NaN for one below 2**-40."""
    return _quick(x, SIZE // 4)


def _quick(x: Array, turn: int) -> tuple[Array, Array, None]:
    c = _constants()
    k = np.rint(x * c.inverse)
    upper = x - k * c.step[0]
    lower = k * c.step[1]
    first = upper - lower
    rest = (upper - first) - lower
    lower = k * c.step[2]
    second = first - lower
    rest += (first - second) - lower
    r, rest = fast_two_sum(second, rest - k * c.step[3])
    place = (k.astype(np.int64) + turn) & (SIZE - 1)
    square = r * r
    sine_tail = ((-1 / 5040 * square + 1 / 120) * square - 1 / 6) * (square * r) + rest  # sin(r) - r
    cosine_tail = ((-1 / 720 * square + 1 / 24) * square - 0.5) * square - r * rest  # cos(r) - 1
    s, co = c.sine[0].take(place), c.cosine[0].take(place)
    product, low = two_product(co, r)
    high, more = two_sum(s, product)
    low += co * sine_tail + (s * cosine_tail + (c.sine[1].take(place) + c.cosine[1].take(place) * r))
    low += more
    uncertain = (np.abs(high) < NEAR_ZERO) & (k != 0)
    if uncertain.any():
        high[uncertain] = np.nan
    return high, low, None


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


def angle(y: Pair, x: Pair) -> Pair:
    """Return the angle of points (x, y) whose coordinates have moderate exponents.

    It is an approximation by C's atan2, whatever its error is, and the small angle that is left once the point is
    rotated back.
    """
    near = np.arctan2(y[0], x[0])
    sine, cosine = sine_and_cosine(exactly(near))
    across = add(multiply(y, cosine), negate(multiply(x, sine)))
    along = add(multiply(x, cosine), multiply(y, sine))
    rest = divide(across, along)
    tangent_of_rest = np.where(np.abs(rest[0]) < 2.0**-40 * np.abs(near), rest[0], np.nan)
    return add(exactly(near), (tangent_of_rest, rest[1]))
