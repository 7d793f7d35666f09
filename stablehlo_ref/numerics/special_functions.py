"""Special functions of f64 and of long double arrays, by the same formulas and tables.

In f64 they are accurate enough for f32: errors are below 2**-48 of the result, and below 2**-42 where terms of the
functions of the gamma function cancel. In long double, which has 64 bits on x86, results that are rounded to f64 have
errors below 0.6 ULP, except near zeros of polygamma, and are the same on all machines. Where long double is f64, errors
are a few ULP.
"""

from __future__ import annotations

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics import libm
from stablehlo_ref.numerics import multiple_precision as precise
from stablehlo_ref.numerics.double_double import two_product
from stablehlo_ref.numerics.dtypes import FLOAT64
from stablehlo_ref.numerics.long_double import LONG_DOUBLE
from stablehlo_ref.numerics.multiple_precision import to_nearest
from stablehlo_ref.numerics.piecewise import piecewise, replace_where
from stablehlo_ref.numerics.special_near_poles import MAX_DISTANCE, digamma_near_zero, lgamma_by_product
from stablehlo_ref.numerics.special_tables import (
    BESSEL_I1,
    BESSEL_I1E,
    DIGAMMA,
    DIGAMMA_SERIES,
    DIGAMMA_ZERO,
    ERF,
    ERF_INV,
    ERF_INV_TAIL,
    ERFC,
    LGAMMA,
    STIRLING,
)

_PI = LONG_DOUBLE.type("3.14159265358979323846264338327950288")
_LOG_PI = LONG_DOUBLE.type("1.14472988584940017414342735135305871")
_HALF_LOG_2_PI = LONG_DOUBLE.type("0.918938533204672741780329736405617640")
_NEAREST, _NEAR = 2.0**-30, 2.0**-6  # results in long double closer to zero are computed in multiple precision
_NEAR_F32 = 2.0**-10  # results in f64 closer to zero than this are not accurate enough for f32
_PRECISE_LGAMMA, _PRECISE_DIGAMMA = to_nearest(precise.lgamma), to_nearest(precise.digamma)
_LARGE = 8.0  # the asymptotic series are accurate enough from here on
_ERF_IS_ONE = 6.0  # erfc(x) < 2**-54 from here on
_ERFC_IS_ZERO = 27.5
_SMALL_FOR_BESSEL = 4.0


# --- error functions ------------------------------------------------------------------------------------------------


def erf(x: Array) -> Array:
    """Return erf from erf(x) / x - 1 as a function of x * x, and from erfc(x) for x > 1."""
    magnitude = np.abs(x)
    return piecewise(
        x,
        (magnitude <= 1.0, lambda x: x + x * ERF(x * x)),
        ((magnitude > 1.0) & (magnitude < _ERF_IS_ONE), lambda x: np.copysign(1.0 - _erfc_tail(np.abs(x)), x)),
        (magnitude >= _ERF_IS_ONE, np.sign),
        (np.isnan(x), lambda x: x),
    )


def erfc(x: Array) -> Array:
    return piecewise(
        x,
        ((x >= -1.0) & (x <= 1.0), lambda x: (1.0 - x) - x * ERF(x * x)),
        ((x > 1.0) & (x < _ERFC_IS_ZERO), _erfc_tail),
        ((x < -1.0) & (x > -_ERF_IS_ONE), lambda x: 2.0 - _erfc_tail(-x)),
        (x >= _ERFC_IS_ZERO, np.zeros_like),
        (x <= -_ERF_IS_ONE, lambda x: np.full_like(x, 2.0)),
        (np.isnan(x), lambda x: x),
    )


def _erfc_tail(x: Array) -> Array:
    """Return exp(-x*x) / x times a polynomial in 1 / x, for 1 <= x < 28; the square of an f64 is computed exactly."""
    double = x.astype(FLOAT64)
    high, low = (part.astype(x.dtype) for part in two_product(double, double))
    tail: Array = libm.exp(-high) * ((1.0 - low) * ERFC(1.0 / x) / x)
    return tail


def erf_inv(x: Array) -> Array:
    """Return x times a polynomial in w = -log(1 - x*x) or, for large w, in its root."""
    w = -libm.log((1.0 - x) * (1.0 + x))
    return x * piecewise(
        w,
        (w <= 5.0, ERF_INV),
        ((w > 5.0) & (w < np.inf), lambda w: ERF_INV_TAIL(np.sqrt(w))),
        (~(w < np.inf), lambda w: w),
    )


# --- gamma ----------------------------------------------------------------------------------------------------------


def lgamma(x: Array) -> Array:
    return piecewise(
        x,
        (x >= _LARGE, _lgamma_large),
        ((x >= 0.5) & (x < _LARGE), lambda x: ((x - 1.0) * (x - 2.0) + 0.0) * LGAMMA(x)),  # +0 at both zeros
        (np.abs(x) < 0.5, _lgamma_small),
        (x <= -0.5, _lgamma_negative),
        (np.isnan(x), lambda x: x),
    )


def _lgamma_large(x: Array) -> Array:
    rest = STIRLING(1.0 / (x * x)) / x
    result = (x - 0.5) * (libm.log(x) - 1.0) + (_HALF_LOG_2_PI.astype(x.dtype) - 0.5 + rest)
    return np.where(x < np.inf, result, x)


def _lgamma_small(x: Array) -> Array:
    """Return log gamma(1 + x) - log |x|; the polynomial is in 1 + x."""
    return x * (x - 1.0) * LGAMMA(1.0 + x) - libm.log(np.abs(x))


def _lgamma_negative(x: Array) -> Array:
    """Use the reflection formula, or where terms cancel a product in the distance from the next pole."""
    distance = x - np.rint(x)
    sine = libm.sin(_PI.astype(x.dtype) * distance)
    reflected = _LOG_PI.astype(x.dtype) - libm.log(np.abs(x * sine)) - lgamma(-x)
    reflected = np.where((distance == 0) | (x == -np.inf), np.inf, reflected)
    near = 1.0 if x.dtype == LONG_DOUBLE else _NEAR_F32
    near_zero = (np.abs(reflected) < near) & (x > -MAX_DISTANCE)
    result = replace_where(reflected, near_zero, lambda x: lgamma_by_product(x.astype(FLOAT64)), x)
    return replace_where(result, np.abs(result) < _NEAREST, _PRECISE_LGAMMA, x)


def digamma(x: Array) -> Array:
    """Return digamma: -inf at +0, +inf at -0, NaN at negative integers and -inf."""
    return piecewise(
        x,
        (x >= _LARGE, _digamma_large),
        ((x >= 0.5) & (x < _LARGE), _digamma_middle),
        ((x > 0) & (x < 0.5), lambda x: _digamma_middle(1.0 + x) - 1.0 / x),
        (x < 0, _digamma_negative),
        (x == 0, lambda x: -1.0 / x),
        (np.isnan(x), lambda x: x),
    )


def _digamma_large(x: Array) -> Array:
    reciprocal = 1.0 / x
    square = reciprocal * reciprocal
    result = libm.log(x) - (0.5 * reciprocal + square * DIGAMMA_SERIES(square))
    return np.where(x < np.inf, result, x)


def _digamma_middle(x: Array) -> Array:
    zero, rest = DIGAMMA_ZERO
    return ((x - zero) - rest) * DIGAMMA(x)


def _digamma_negative(x: Array) -> Array:
    """Use the reflection formula digamma(1 - x) - pi / tan(pi x), or near zeros a sum from the next pole."""
    distance = x - np.rint(x)
    pi = _PI.astype(x.dtype)
    other = digamma(1.0 - x)
    reflected = other - pi / libm.tan(pi * distance)
    reflected = np.where((distance == 0) | (x == -np.inf), np.nan, reflected)
    near, nearest = (0.5, _NEAR) if x.dtype == LONG_DOUBLE else (_NEAR_F32, _NEAREST)
    near_zero = (np.abs(reflected) < near) & (x > -MAX_DISTANCE)
    result = replace_where(reflected, near_zero, lambda x: digamma_near_zero(x.astype(FLOAT64)), x)
    nearest_to_zero = np.abs(result) < np.where(x > -MAX_DISTANCE, _NEAREST, nearest)
    return replace_where(result, nearest_to_zero, _PRECISE_DIGAMMA, x)


# --- bessel_i1e -----------------------------------------------------------------------------------------------------


def bessel_i1e(x: Array) -> Array:
    """Return x exp(-|x|) times a polynomial in x*x, or for large numbers a polynomial in 1/x divided by sqrt(x).

    The exponential is below 1 also for tiny numbers, so that results are below x / 2, which may be a tie when rounding.
    """
    magnitude, least = np.abs(x), np.finfo(x.dtype).epsneg
    scaled = piecewise(
        magnitude,
        (magnitude <= _SMALL_FOR_BESSEL, lambda x: libm.exp(-np.maximum(x, least)) * x * BESSEL_I1(x * x)),
        (magnitude > _SMALL_FOR_BESSEL, lambda x: BESSEL_I1E(1.0 / x) / np.sqrt(x)),
        (np.isnan(x), lambda x: x),
    )
    return np.copysign(scaled, x)
