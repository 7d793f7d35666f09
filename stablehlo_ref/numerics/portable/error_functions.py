"""The error function, its complement and its inverse to 84 bits."""

from __future__ import annotations

from decimal import Decimal, localcontext
from functools import cache

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics import multiple_precision_special as precise
from stablehlo_ref.numerics.double_double import Pair, two_product, two_sum
from stablehlo_ref.numerics.multiple_precision import ONE, pi, working_precision
from stablehlo_ref.numerics.piecewise import piecewise, piecewise_polynomial
from stablehlo_ref.numerics.portable import exponential
from stablehlo_ref.numerics.portable.pairs import (
    Coefficients,
    add,
    coefficients,
    exactly,
    factorial,
    horner,
    multiply,
    negate,
    pairs,
    pieces,
    scale,
    taylor,
)
from stablehlo_ref.numerics.special_tables import ERF_INV, ERF_INV_TAIL

LARGEST = 26.5  # results of erfc beyond are close to the subnormal numbers
STEP = 16  # expansions of e**(x*x) erfc(x) for each unit
TERMS = 16  # in them; the next one is below 2**-95
DOUBLE = 9  # of these are computed in pairs; errors of the others are below 2**-95
_MORE_TERMS, _MORE_DIGITS = 32, 110  # for the way from one expansion to the next
_HALF_ROOT_OF_PI = 0.886226925452758


@cache
def _series() -> Coefficients:
    """Return the coefficients of erf(x) / x in powers of x * x, enough for |x| < 1."""
    with working_precision():
        factor = 2 / pi().sqrt()
    return coefficients(lambda n: (-factor if n % 2 else factor) / (factorial(n) * (2 * n + 1)), range(27))


@cache
def _scaled_complement() -> list[Pair]:
    """Return the coefficients of f(x) = e**(x*x) erfc(x) around multiples of 1 / STEP, as one table for each power.

    They follow from f' = 2x f - 2 / sqrt(pi); the values are computed downwards, where errors decrease.
    """
    count = int(LARGEST * STEP) + 2
    table: list[list[Decimal]] = []
    with working_precision(), localcontext(prec=_MORE_DIGITS):
        x = ONE * (count - 1) / STEP
        value, slope = precise.erfc(x) * (x * x).exp(), 2 / pi().sqrt()
        for i in reversed(range(count)):
            x = ONE * i / STEP
            terms = [value, 2 * x * value - slope]
            for k in range(1, _MORE_TERMS):
                terms.append(2 * (x * terms[k] + terms[k - 1]) / (k + 1))
            table.append(terms[:TERMS])
            value = ONE * 0
            for term in reversed(terms):
                value = term - value / STEP
    return [pairs(column) for column in zip(*reversed(table))]


def erf(x: Array) -> Pair:
    """Return erf(x) for 2**-900 < |x| < 6."""
    is_small = np.abs(x) < 1
    return pieces(x, (is_small, _erf_near_zero), (~is_small, _erf_far_from_zero))


def _erf_near_zero(x: Array) -> Pair:
    return multiply(horner(_series(), two_product(x, x), single=12), exactly(x))


def _erf_far_from_zero(x: Array) -> Pair:
    return scale(add(exactly(np.ones_like(x)), negate(_complement(np.abs(x)))), np.copysign(1.0, x))


def erfc(x: Array) -> tuple[Array, Array, Array]:
    """Return (high, low, n) with erfc(x) = (high + low) * 2**n for -6 < x < LARGEST."""
    result, exponent = _erfc(np.abs(x))
    mirrored = add(exactly(np.full_like(x, 2.0)), negate(scale(result, np.ldexp(1.0, exponent))))
    is_negative = x < 0
    high, low = (np.where(is_negative, there, here) for there, here in zip(mirrored, result))
    return high, low, np.where(is_negative, 0, exponent)


def _complement(x: Array) -> Pair:
    result, exponent = _erfc(x)
    return scale(result, np.ldexp(1.0, exponent))


def _erfc(x: Array) -> tuple[Pair, Array]:
    """Return (y, n) with erfc(x) = y * 2**n for 0 <= x < LARGEST."""
    scaled = taylor(_scaled_complement(), STEP, x, double=DOUBLE)
    power, exponent = exponential.of_pair(negate(two_product(x, x)))
    return multiply(scaled, power), exponent


def erf_inv_factor(w: Array) -> Array:
    """Return erf_inv(x) / x in f64 from w = -log(1 - x*x): a polynomial in w or, for large w, in its root."""
    return piecewise(
        w,
        (w <= 5.0, lambda w: piecewise_polynomial(ERF_INV, w)),
        ((w > 5.0) & (w < np.inf), lambda w: piecewise_polynomial(ERF_INV_TAIL, np.sqrt(w))),
        (~(w < np.inf), lambda w: w),
    )


def erf_inv(x: Array) -> Pair:
    """Return erf_inv(x) for 2**-900 < |x| < 1: an approximation and a step of Halley's method.

    The result is NaN if the step is above 2**-40 of it; otherwise the next step would be below the square of that.
    """
    magnitude = np.abs(x)
    y = magnitude * erf_inv_factor(-np.log((1.0 - magnitude) * (1.0 + magnitude)))
    is_small = y < 1
    of_y = pieces(y, (is_small, _erf_near_zero), (~is_small, lambda y: negate(_complement(y))))
    high, low = two_sum(np.where(is_small, 0.0, 1.0), -magnitude)
    excess = add(of_y, (high, low))
    step = (excess[0] + excess[1]) * np.exp(y * y) * _HALF_ROOT_OF_PI
    step = np.where(np.abs(step) < 2.0**-40 * y, step / (1.0 + y * step), np.nan)
    return scale(two_sum(y, -step), np.copysign(1.0, x))
