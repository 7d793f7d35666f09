"""Elementary and special functions to 80 digits, for the few operands whose f64 result is too close to a tie.

Each public function takes finite `Decimal` operands inside its domain and returns a `Decimal` with a relative error far
below 1e-60. `exactly` makes a function of f64 arrays of one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal, getcontext, localcontext
from functools import cache
from math import inf, nextafter
from typing import TypeAlias, TypeVar

import numpy as np

from stablehlo_ref.budget import within_time
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.kernels import ArrayKernel

Function: TypeAlias = Callable[..., Decimal]
T = TypeVar("T")
Result = TypeVar("Result")

DIGITS = 80
# Enough for exact sums of products of two f64 numbers; no function but exact ones is as close to a tie.
MANY_DIGITS = 2200
_CONTEXT = Context(rounding=ROUND_HALF_EVEN, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])
_LARGE_ANGLE, HUGE_ANGLE = 60, 340  # more digits, for reducing angles up to 2**128 and 2**1024

ONE, TWO, TEN = Decimal(1), Decimal(2), Decimal(10)


def working_precision(digits: int = DIGITS) -> AbstractContextManager[Context]:
    """Return a context in which decimal arithmetic has the precision that the functions of this module need."""
    return localcontext(_CONTEXT, prec=digits)


def settled(
    function: Callable[..., T], operands: Sequence[float], rounded: Callable[[T], tuple[Result, bool]], is_exact: bool
) -> Result:
    """Return the rounded result of a function, computed with as many digits as are needed.

    Parameters
    ----------
    function : from decimal numbers to its result
    operands : of the function
    rounded : returns the result rounded, and whether all digits are those of a tie; then more digits are computed
    is_exact : whether results of the function may be ties; those that are ties in 80 digits are

    """
    numbers = [Decimal(x) for x in operands]
    with working_precision():
        result, is_tie = rounded(function(*numbers))
    if is_tie and not is_exact:
        with working_precision(MANY_DIGITS):
            result, _ = rounded(function(*numbers))
    return result


def is_equal(value: Decimal, number: Decimal) -> bool:
    """Return whether two numbers agree in half of the digits of the working precision."""
    return abs(value - number) <= abs(value).scaleb(-getcontext().prec // 2)


def exactly(function: Function) -> ArrayKernel:
    """Return a function of f64 arrays with results that round to any format of up to 51 bits as exact ones would.

    Results are rounded to odd. Equal operands are computed once.
    """
    return _of_arrays(function, _rounded_to_odd, function in MAY_BE_EXACT)


def to_nearest(function: Function) -> ArrayKernel:
    """Return a function of f64 arrays with correctly rounded results."""
    return _of_arrays(function, lambda x: (float(x), False), is_exact=False)


def _of_arrays(function: Function, rounded: Callable[[Decimal], tuple[float, bool]], is_exact: bool) -> ArrayKernel:

    def run(*operands: Array) -> Array:
        rows, inverse = np.unique(np.stack(operands, axis=-1).astype(np.float64), axis=0, return_inverse=True)
        results = [settled(function, row, rounded, is_exact) for row in within_time(rows.tolist())]
        return np.array(results, np.float64)[inverse.reshape(-1)]

    return run


def _rounded_to_odd(x: Decimal) -> tuple[float, bool]:
    """Return the f64 number equal to `x` and True, or the one of its two neighbours whose last bit is set and False."""
    nearest = float(x)
    if is_equal(x, Decimal(nearest)):
        return nearest, bool(x)
    if int(np.float64(nearest).view(np.int64)) & 1:
        return nearest, False
    return nextafter(nearest, inf if x > Decimal(nearest) else -inf), False


# --- exponentials and logarithms ------------------------------------------------------------------------------------


def exponential(x: Decimal) -> Decimal:
    return x.exp()


def exponential_minus_one(x: Decimal) -> Decimal:
    return x.exp() - 1


def exp2(x: Decimal) -> Decimal:
    return (x * TWO.ln()).exp()


def log(x: Decimal) -> Decimal:
    return x.ln()


def log2(x: Decimal) -> Decimal:
    return x.ln() / TWO.ln()


def log10(x: Decimal) -> Decimal:
    return x.log10()


def log_plus_one(x: Decimal) -> Decimal:
    return (x + 1).ln()


def logistic(x: Decimal) -> Decimal:
    return 1 / (1 + (-x).exp())


def rsqrt(x: Decimal) -> Decimal:
    return 1 / x.sqrt()


def cbrt(x: Decimal) -> Decimal:
    return (abs(x).ln() / 3).exp().copy_sign(x)


def power(x: Decimal, y: Decimal) -> Decimal:
    magnitude = (y * abs(x).ln()).exp()
    return -magnitude if x < 0 and y % 2 else magnitude


# --- hyperbolic functions -------------------------------------------------------------------------------------------


def sinh(x: Decimal) -> Decimal:
    return (x.exp() - (-x).exp()) / 2


def cosh(x: Decimal) -> Decimal:
    return (x.exp() + (-x).exp()) / 2


def tanh(x: Decimal) -> Decimal:
    square = (2 * x).exp()
    return (square - 1) / (square + 1)


def asinh(x: Decimal) -> Decimal:
    magnitude = abs(x)
    return (magnitude + (magnitude * magnitude + 1).sqrt()).ln().copy_sign(x)


def acosh(x: Decimal) -> Decimal:
    return (x + ((x - 1) * (x + 1)).sqrt()).ln()


def atanh(x: Decimal) -> Decimal:
    return ((1 + x) / (1 - x)).ln() / 2


# --- trigonometric functions ----------------------------------------------------------------------------------------


@cache
def pi(more: int = _LARGE_ANGLE) -> Decimal:
    """Return pi to `more` digits beyond `DIGITS` (Gauss and Legendre's iteration)."""
    with working_precision(DIGITS + more + 10):
        a, b, t, p = ONE, 1 / TWO.sqrt(), Decimal("0.25"), ONE
        while abs(a - b) > Decimal(10) ** -(DIGITS + more):
            mean = (a + b) / 2
            a, b, t, p = mean, (a * b).sqrt(), t - p * (a - mean) ** 2, 2 * p
        return (a + b) ** 2 / (4 * t)


def _quadrant(x: Decimal) -> tuple[int, Decimal]:
    """Return (n mod 4, r) such that x = n * pi / 2 + r and |r| <= pi / 4."""
    digits = getcontext().prec + (_LARGE_ANGLE if x.adjusted() < 40 else HUGE_ANGLE)
    with localcontext(prec=digits):
        right_angle = pi(digits - DIGITS) / 2
        turns = (x / right_angle).to_integral_value()
        return int(turns % 4), x - turns * right_angle


def series(term: Decimal, ratio: Callable[[int], Decimal]) -> Decimal:
    """Return the sum of terms, where `ratio(n)` is the quotient of term n and the one before, until they vanish."""
    total, n = term, 1
    digits = getcontext().prec
    while abs(term) > abs(total).scaleb(-digits):
        term *= ratio(n)
        total += term
        n += 1
    return total


def _sine_and_cosine(x: Decimal) -> tuple[Decimal, Decimal]:
    quadrant, r = _quadrant(x)
    square = -r * r
    sine = series(r, lambda n: square / (2 * n * (2 * n + 1)))
    cosine = series(ONE, lambda n: square / (2 * n * (2 * n - 1)))
    return ((sine, cosine), (cosine, -sine), (-sine, -cosine), (-cosine, sine))[quadrant]


def sine(x: Decimal) -> Decimal:
    return _sine_and_cosine(x)[0]


def cosine(x: Decimal) -> Decimal:
    return _sine_and_cosine(x)[1]


def tan(x: Decimal) -> Decimal:
    sine, cosine = _sine_and_cosine(x)
    return sine / cosine


def atan(x: Decimal) -> Decimal:
    """Halve the angle three times, and sum the series."""
    for _ in range(3):
        x = x / (1 + (1 + x * x).sqrt())
    square = -x * x
    return 8 * series(x, lambda n: square * (2 * n - 1) / (2 * n + 1))


def asin(x: Decimal) -> Decimal:
    return 2 * atan(x / (1 + ((1 - x) * (1 + x)).sqrt()))


def acos(x: Decimal) -> Decimal:
    return 2 * atan(((1 - x) / (1 + x)).sqrt())


def atan2(y: Decimal, x: Decimal) -> Decimal:
    if abs(y) > abs(x):
        return (pi() / 2).copy_sign(y) - atan(x / y)
    angle = atan(y / x)
    return angle if x > 0 else angle + pi().copy_sign(y)


# --- special functions ----------------------------------------------------------------------------------------------


def bessel_i1e(x: Decimal) -> Decimal:
    """Sum the power series or, for large operands, the asymptotic one (Abramowitz and Stegun, 9.6.10, 9.7.1)."""
    magnitude = abs(x)
    if magnitude < 150:
        quarter = magnitude * magnitude / 4
        scaled = (-magnitude).exp() * series(magnitude / 2, lambda n: quarter / (n * (n + 1)))
    else:
        asymptotic = series(ONE, lambda n: -(4 - Decimal(2 * n - 1) ** 2) / (8 * n * magnitude))
        scaled = asymptotic / (2 * pi() * magnitude).sqrt()
    return scaled.copy_sign(x)


# Functions with results that are numbers with one bit more than some format, that is, ties.
MAY_BE_EXACT: frozenset[Function] = frozenset((power, exp2, log2, log10, cbrt, rsqrt))
