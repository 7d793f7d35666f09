"""Functions of f64 as pairs, by formulas from exponentials, logarithms and roots; each in two precisions.

No formula cancels, so that the relative error of a result is at most that of the function it is made from, and 2**-95
for the other operations.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.double_double import Pair, fast_two_sum, two_product, two_sum
from stablehlo_ref.numerics.multiple_precision import context
from stablehlo_ref.numerics.portable import angles, exponential, logarithm
from stablehlo_ref.numerics.portable.pairs import (
    add,
    divide,
    exactly,
    multiply,
    pair,
    quick_add,
    quick_divide,
    quick_square_root,
    scale,
    square_root,
)
from stablehlo_ref.numerics.portable.ziv import Stage, approximation

ERROR = 2.0**-84  # of compositions of pairs, each of which has an error below 2**-88
QUICK_EXPONENTIAL_ERROR = 2.0**-60.9
QUICK_LOGARITHM_ERROR = 2.0**-69.5


class Precision(NamedTuple):
    """Operations on pairs, and functions, of one precision."""

    add: Callable[[Pair, Pair], Pair]
    divide: Callable[[Pair, Pair], Pair]
    square_root: Callable[[Pair], Pair]
    exponential: Callable[[Array], Pair]
    exponential_minus_one: Callable[[Array], Pair]
    log: Callable[[Array], Pair]  # of normal numbers
    log_plus_one: Callable[[Pair], Pair]
    angle: Callable[[Pair, Pair], Pair]


def _quick_exponential(x: Array) -> Pair:
    high, low, exponent = exponential.quick(x)
    exponent += 1023
    exponent <<= 52
    power = exponent.view(np.float64)
    high *= power
    low *= power
    return fast_two_sum(high, low)


QUICK = Precision(
    quick_add, quick_divide, quick_square_root, _quick_exponential,
    lambda x: fast_two_sum(*exponential.quick_minus_one(x)), logarithm.quick,
    lambda x: logarithm.quick_plus_one(*x), angles.quick_angle,
)  # fmt: skip
ACCURATE = Precision(
    add, divide, square_root, lambda x: exponential.moderate(exactly(x)), lambda x: exponential.minus_one(exactly(x)),
    logarithm.of_normal, logarithm.plus_one, angles.angle,
)  # fmt: skip


def stages(formula: Callable[..., Pair], error: float) -> list[Stage]:
    """Return the stages of a formula; `error` is that of the quick one."""
    bounds = (QUICK, error), (ACCURATE, ERROR)
    return [Stage(approximation(partial(formula, precision)), bound) for precision, bound in bounds]


# --- exponentials ---------------------------------------------------------------------------------------------------


def logistic(p: Precision, x: Array) -> Pair:
    """Return 1 / (1 + e**-x)."""
    one = exactly(np.ones_like(x))
    return p.divide(one, p.add(one, p.exponential(-x)))


def tanh(p: Precision, x: Array) -> Pair:
    """With u = e**|2x| - 1, return u / (u + 2)."""
    less = p.exponential_minus_one(2.0 * np.abs(x))
    return scale(p.divide(less, p.add(less, exactly(np.full_like(x, 2.0)))), np.copysign(1.0, x))


def sinh(p: Precision, x: Array) -> Pair:
    """With u = e**|x| - 1, return (u + u / (u + 1)) / 2."""
    less = p.exponential_minus_one(np.abs(x))
    return scale(p.add(less, p.divide(less, p.add(less, exactly(np.ones_like(x))))), np.copysign(0.5, x))


def cosh(p: Precision, x: Array) -> Pair:
    """Return (e**|x| + 1 / e**|x|) / 2."""
    power = scale(p.exponential(np.abs(x)), 0.5)
    return p.add(power, p.divide(exactly(np.full_like(x, 0.25)), power))


# --- logarithms -----------------------------------------------------------------------------------------------------


@cache
def _reciprocal_of_log(base: int) -> tuple[float, float]:
    return pair(1 / context().ln(base))


def log_to_base(base: int) -> Callable[[Precision, Array], Pair]:
    """Return the formula of the logarithm to base 2 or 10."""

    def run(p: Precision, x: Array) -> Pair:
        high, low = (np.full_like(x, part) for part in _reciprocal_of_log(base))
        return multiply(p.log(x), (high, low))

    return run


def asinh(p: Precision, x: Array) -> Pair:
    """Return log(1 + a + a**2 / (1 + sqrt(1 + a**2))) for a = |x|."""
    a, one = np.abs(x), exactly(np.ones_like(x))
    square = two_product(a, a)
    rest = p.divide(square, p.add(one, p.square_root(p.add(one, square))))
    return scale(p.log_plus_one(p.add(exactly(a), rest)), np.copysign(1.0, x))


def acosh(p: Precision, x: Array) -> Pair:
    """Return log(1 + t + sqrt(2t + t**2)) for t = x - 1."""
    t = two_sum(x, -1.0)
    return p.log_plus_one(p.add(t, p.square_root(p.add(scale(t, 2.0), multiply(t, t)))))


def atanh(p: Precision, x: Array) -> Pair:
    """Return log(1 + 2a / (1 - a)) / 2 for a = |x|."""
    a = np.abs(x)
    return scale(p.log_plus_one(p.divide(exactly(2.0 * a), two_sum(1.0, -a))), np.copysign(0.5, x))


# --- angles ---------------------------------------------------------------------------------------------------------


def _complement(p: Precision, x: Array) -> Pair:
    """Return sqrt(1 - x**2)."""
    return p.square_root(multiply(two_sum(1.0, -x), two_sum(1.0, x)))


def asin(p: Precision, x: Array) -> Pair:
    """Return the angle of (sqrt(1 - x**2), x)."""
    return p.angle(exactly(x), _complement(p, x))


def acos(p: Precision, x: Array) -> Pair:
    """Return the angle of (x, sqrt(1 - x**2))."""
    return p.angle(_complement(p, x), exactly(x))


def atan(p: Precision, x: Array) -> Pair:
    """Return the angle of (1, x)."""
    return p.angle(exactly(x), exactly(np.ones_like(x)))


def atan2(p: Precision, y: Array, x: Array) -> Pair:
    """Return the angle of (x, y)."""
    return p.angle(exactly(y), exactly(x))
