"""The logarithm of the gamma function and its derivative to 74 bits.

Around 2 they are power series; numbers up to 16 are reached from there by the recurrence, larger ones are computed by
asymptotic series, and negative ones by reflection. Results in which more than 12 bits have cancelled are NaN, so that
they are computed otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import cache

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics import multiple_precision_special as precise
from stablehlo_ref.numerics.double_double import Pair, two_sum
from stablehlo_ref.numerics.multiple_precision import ONE, TWO, pi, working_precision
from stablehlo_ref.numerics.portable import logarithm
from stablehlo_ref.numerics.portable.circular import sine_and_cosine
from stablehlo_ref.numerics.portable.pairs import (
    Coefficients,
    add,
    coefficients,
    divide,
    exactly,
    filled,
    horner,
    multiply,
    negate,
    pair,
    pi_words,
    pieces,
    scale,
)

ERROR = 2.0**-74
LARGE = 16.0
_SERIES_TERMS = 46  # each below a quarter of the one before for |t| <= 1/2
_SINGLE = 23  # of them are computed in f64, with errors below 2**-95
_ASYMPTOTIC_TERMS = 15  # for x = 16 the next one is below 2**-95
_CANCELLED = 2.0**-12


# --- constants ------------------------------------------------------------------------------------------------------


@cache
def _zeta_terms() -> list[Decimal]:
    """Return the coefficients of log gamma(2 + t) / t."""
    with working_precision():
        rest = [precise.zeta(ONE * k, TWO) / (-k if k % 2 else k) for k in range(2, _SERIES_TERMS)]
        return [precise.digamma(TWO), *rest]


@cache
def _lgamma_series() -> Coefficients:
    return coefficients(lambda n: _zeta_terms()[n], range(_SERIES_TERMS - 1))


@cache
def _digamma_series() -> Coefficients:
    return coefficients(lambda n: _zeta_terms()[n] * (n + 1), range(_SERIES_TERMS - 1))


@cache
def _stirling_series() -> Coefficients:
    return coefficients(lambda n: precise.bernoulli_over(n + 1, (2 * n + 2) * (2 * n + 1)), range(_ASYMPTOTIC_TERMS))


@cache
def _derivative_series() -> Coefficients:
    return coefficients(lambda n: -precise.bernoulli_over(n + 1, 2 * n + 2), range(_ASYMPTOTIC_TERMS))


@cache
def _log_pi() -> tuple[float, float]:
    with working_precision():
        return pair(pi().ln())


@cache
def _stirling_constant() -> tuple[float, float]:
    """Return log(2 pi) / 2 - 1/2."""
    with working_precision():
        return pair((2 * pi()).ln() / 2 - ONE / 2)


# --- common parts ---------------------------------------------------------------------------------------------------


def _by_range(x: Array, large: Callable[[Array], Pair], middle: Callable[[Array], Pair],
              small: Callable[[Array], Pair], negative: Callable[[Array], Pair]) -> Pair:  # fmt: skip
    return pieces(
        x,
        (x >= LARGE, large),
        ((x >= 0.5) & (x < LARGE), middle),
        (np.abs(x) < 0.5, small),
        (x <= -0.5, negative),
    )


def _difference(x: Pair, y: Pair) -> Pair:
    """Return x - y; NaN where more than 12 bits cancel."""
    high, low = add(x, negate(y))
    return np.where(np.abs(high) < _CANCELLED * np.abs(x[0]), np.nan, high), low


def _sine_and_cosine_of_pi(x: Array) -> tuple[Pair, Pair]:
    """Return sine and cosine of pi times the distance from the nearest integer."""
    return sine_and_cosine(multiply(filled(pi_words(), x), exactly(x - np.rint(x))))


def _inverse_square(x: Array) -> tuple[Pair, Pair]:
    """Return 1 / x and its square."""
    inverse = divide(exactly(np.ones_like(x)), exactly(x))
    return inverse, multiply(inverse, inverse)


# --- lgamma ---------------------------------------------------------------------------------------------------------


def lgamma(x: Array) -> Pair:
    """Return log |gamma(x)| for numbers from 2**-1000 to 2**1000 in magnitude that are not poles."""
    return _by_range(x, _lgamma_large, _lgamma_middle, _lgamma_small, _lgamma_negative)


def _lgamma_large(x: Array) -> Pair:
    """Return (x - 1/2) (log x - 1) + log(2 pi) / 2 - 1/2 + ... (Stirling's series)."""
    inverse, square = _inverse_square(x)
    rest = add(multiply(horner(_stirling_series(), square, single=9), inverse), filled(_stirling_constant(), x))
    factor = add(logarithm.of_normal(x), exactly(np.full_like(x, -1.0)))
    return add(multiply(two_sum(x, -0.5), factor), rest)


def _near_two(t: Array) -> Pair:
    """Return log gamma(2 + t)."""
    return multiply(horner(_lgamma_series(), exactly(t), single=_SINGLE), exactly(t))


def _lgamma_middle(x: Array) -> Pair:
    """Return log gamma(2 + t) plus the logarithm of (x - 1) (x - 2) ... (2 + t), or minus that of 1 + t."""
    nearest = np.maximum(np.rint(x), 1.0)
    t = x - nearest
    product = exactly(np.where(nearest == 1, x, 1.0))
    for k in range(1, int(nearest.max()) - 1):
        product = multiply(product, exactly(np.where(k <= nearest - 2, x - k, 1.0)))
    log = logarithm.of_pair(product)
    return add(_near_two(t), scale(log, np.where(nearest == 1, -1.0, 1.0)))


def _lgamma_small(x: Array) -> Pair:
    """Return log gamma(2 + x) - log(1 + x) - log |x|."""
    rest = add(_near_two(x), negate(logarithm.plus_one(exactly(x))))
    return add(rest, negate(logarithm.of_normal(np.abs(x))))


def _lgamma_negative(x: Array) -> Pair:
    """Return log(pi / |x sin(pi x)|) - log gamma(-x)."""
    sine, _ = _sine_and_cosine_of_pi(x)
    product = multiply(scale(sine, np.copysign(1.0, sine[0])), exactly(-x))
    return _difference(add(filled(_log_pi(), x), negate(logarithm.of_pair(product))), lgamma(-x))


# --- digamma --------------------------------------------------------------------------------------------------------


def digamma(x: Array) -> Pair:
    """Return digamma(x) for numbers above 2**-1000 in magnitude that are not poles."""
    return _by_range(x, _digamma_large, _digamma_middle, _digamma_small, _digamma_negative)


def _digamma_large(x: Array) -> Pair:
    """Return log x - 1 / 2x - ..."""
    inverse, square = _inverse_square(x)
    rest = add(multiply(horner(_derivative_series(), square, single=9), square), scale(inverse, -0.5))
    return add(logarithm.of_normal(x), rest)


def _digamma_middle(x: Array) -> Pair:
    """Return digamma(2 + t) plus 1 / (x - 1), 1 / (x - 2), ..., 1 / (2 + t), or minus 1 / (1 + t)."""
    nearest = np.maximum(np.rint(x), 1.0)
    total = horner(_digamma_series(), exactly(x - nearest), single=_SINGLE)
    one = exactly(np.ones_like(x))
    for k in range(1, int(nearest.max()) - 1):
        term = divide(one, exactly(np.where(k <= nearest - 2, x - k, 1.0)))
        total = add(total, scale(term, np.where(k <= nearest - 2, 1.0, 0.0)))
    return _difference(total, scale(divide(one, exactly(x)), np.where(nearest == 1, 1.0, 0.0)))


def _digamma_small(x: Array) -> Pair:
    """Return digamma(2 + x) - 1 / (1 + x) - 1 / x."""
    one = exactly(np.ones_like(x))
    rest = add(horner(_digamma_series(), exactly(x), single=_SINGLE), negate(divide(one, two_sum(1.0, x))))
    return _difference(rest, divide(one, exactly(x)))


def _digamma_negative(x: Array) -> Pair:
    """Return digamma(-x) - 1 / x - pi / tan(pi x)."""
    sine, cosine = _sine_and_cosine_of_pi(x)
    other = add(digamma(-x), negate(divide(exactly(np.ones_like(x)), exactly(x))))
    return _difference(other, divide(multiply(filled(pi_words(), x), cosine), sine))
