"""Special functions of f64, computed in long double and rounded once.

On x86, where long double has 64 bits, errors are below 0.6 ULP, except near zeros of digamma and polygamma, and results
are the same on all machines. Where long double is f64, errors are a few ULP.
"""

from __future__ import annotations

from math import factorial

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics import multiple_precision as precise
from stablehlo_ref.numerics.double_double import two_product
from stablehlo_ref.numerics.dtypes import FLOAT64
from stablehlo_ref.numerics.kernels import ArrayKernel
from stablehlo_ref.numerics.long_double import LONG_DOUBLE
from stablehlo_ref.numerics.multiple_precision import to_nearest
from stablehlo_ref.numerics.piecewise import Polynomial, horner, piecewise, piecewise_polynomial, replace_where
from stablehlo_ref.numerics.special_near_poles import MAX_DISTANCE, digamma_near_zero, lgamma_by_product
from stablehlo_ref.numerics.special_tables import DIGAMMA_ZERO
from stablehlo_ref.numerics.special_tables_long import (
    BESSEL_I1,
    BESSEL_I1E,
    DIGAMMA,
    DIGAMMA_SERIES,
    ERF,
    ERF_INV,
    ERF_INV_TAIL,
    ERFC,
    LGAMMA,
    STIRLING,
)

PI = LONG_DOUBLE.type("3.14159265358979323846264338327950288")
LN_2 = LONG_DOUBLE.type("0.693147180559945309417232121458176568")
FACTORIALS = np.array([LONG_DOUBLE.type(str(factorial(n))) for n in range(171)])
_LOG_PI = LONG_DOUBLE.type("1.14472988584940017414342735135305871")
_HALF_LOG_2_PI = LONG_DOUBLE.type("0.918938533204672741780329736405617640")
_NEAREST, _NEAR = 2.0**-30, 2.0**-6  # results closer to zero are computed in multiple precision
_PRECISE_LGAMMA, _PRECISE_DIGAMMA = to_nearest(precise.lgamma), to_nearest(precise.digamma)
_LARGE = 8.0  # the asymptotic series are accurate enough from here on
_ERF_IS_ONE = 6.0  # erfc(x) < 2**-54 from here on
_ERFC_IS_ZERO = 27.5
_SMALL_FOR_BESSEL = 4.0


# --- error functions ------------------------------------------------------------------------------------------------


def erf_by(x: Array, series: Polynomial, tail: ArrayKernel) -> Array:
    """Return erf, in any precision, from erf(x) / x - 1 as a function of x * x, and from erfc(x) for x > 1."""
    magnitude = np.abs(x)
    return piecewise(
        x,
        (magnitude <= 1.0, lambda x: x + x * series(x * x)),
        ((magnitude > 1.0) & (magnitude < _ERF_IS_ONE), lambda x: np.copysign(1.0 - tail(np.abs(x)), x)),
        (magnitude >= _ERF_IS_ONE, np.sign),
        (np.isnan(x), lambda x: x),
    )


def erf(x: Array) -> Array:
    return erf_by(x, ERF[0], _erfc_tail)


def erfc(x: Array) -> Array:
    return piecewise(
        x,
        ((x >= -1.0) & (x <= 1.0), lambda x: (1.0 - x) - x * ERF[0](x * x)),
        ((x > 1.0) & (x < _ERFC_IS_ZERO), _erfc_tail),
        ((x < -1.0) & (x > -_ERF_IS_ONE), lambda x: 2.0 - _erfc_tail(-x)),
        (x >= _ERFC_IS_ZERO, np.zeros_like),
        (x <= -_ERF_IS_ONE, lambda x: np.full_like(x, 2.0)),
        (np.isnan(x), lambda x: x),
    )


def _erfc_tail(x: Array) -> Array:
    """Return exp(-x*x) / x times a polynomial in 1 / x, for 1 <= x < 28; the square is computed exactly."""
    single = x.astype(FLOAT64)
    high, low = (part.astype(LONG_DOUBLE) for part in two_product(single, single))
    tail: Array = np.exp(-high) * ((1.0 - low) * piecewise_polynomial(ERFC, 1.0 / x) / x)
    return tail


def erf_inv(x: Array) -> Array:
    """Return x times a polynomial in w = -log(1 - x*x) or, for large w, in its root."""
    w = -np.log((1.0 - x) * (1.0 + x))
    return x * piecewise(
        w,
        (w <= 5.0, lambda w: piecewise_polynomial(ERF_INV, w)),
        ((w > 5.0) & (w < np.inf), lambda w: piecewise_polynomial(ERF_INV_TAIL, np.sqrt(w))),
        (~(w < np.inf), lambda w: w),
    )


# --- gamma ----------------------------------------------------------------------------------------------------------


def lgamma(x: Array) -> Array:
    return piecewise(
        x,
        (x >= _LARGE, _lgamma_large),
        ((x >= 0.5) & (x < _LARGE), lambda x: ((x - 1.0) * (x - 2.0) + 0.0) * piecewise_polynomial(LGAMMA, x)),
        (np.abs(x) < 0.5, _lgamma_small),
        (x <= -0.5, _lgamma_negative),
        (np.isnan(x), lambda x: x),
    )


def _lgamma_large(x: Array) -> Array:
    rest = horner(STIRLING, 1.0 / (x * x)) / x
    result = (x - 0.5) * (np.log(x) - 1.0) + (_HALF_LOG_2_PI - 0.5 + rest)
    return np.where(x < np.inf, result, x)


def _lgamma_small(x: Array) -> Array:
    """Return log gamma(1 + x) - log |x|; the polynomial is in 1 + x."""
    return x * (x - 1.0) * piecewise_polynomial(LGAMMA, 1.0 + x) - np.log(np.abs(x))


def _lgamma_negative(x: Array) -> Array:
    """Use the reflection formula, or where terms cancel a product in the distance from the next pole."""
    distance = x - np.rint(x)
    reflected = _LOG_PI - np.log(np.abs(x * np.sin(PI * distance))) - lgamma(-x)
    reflected = np.where((distance == 0) | (x == -np.inf), np.inf, reflected)
    near_zero = (np.abs(reflected) < 1.0) & (x > -MAX_DISTANCE)
    result = replace_where(reflected, near_zero, lambda x: lgamma_by_product(x.astype(FLOAT64)), x)
    return replace_where(result, np.abs(result) < _NEAREST, _PRECISE_LGAMMA, x)


def digamma_by(x: Array, large: ArrayKernel, middle: ArrayKernel, negative: ArrayKernel) -> Array:
    """Return digamma, in any precision: -inf at +0, +inf at -0, NaN at negative integers and -inf."""
    return piecewise(
        x,
        (x >= _LARGE, large),
        ((x >= 0.5) & (x < _LARGE), middle),
        ((x > 0) & (x < 0.5), lambda x: middle(1.0 + x) - 1.0 / x),
        (x < 0, negative),
        (x == 0, lambda x: -1.0 / x),
        (np.isnan(x), lambda x: x),
    )


def digamma(x: Array) -> Array:
    return digamma_by(x, _digamma_large, _digamma_middle, _digamma_negative)


def _digamma_large(x: Array) -> Array:
    reciprocal = 1.0 / x
    square = reciprocal * reciprocal
    result = np.log(x) - (0.5 * reciprocal + square * horner(DIGAMMA_SERIES, square))
    return np.where(x < np.inf, result, x)


def _digamma_middle(x: Array) -> Array:
    zero, rest = DIGAMMA_ZERO
    return ((x - zero) - rest) * piecewise_polynomial(DIGAMMA, x)


def _digamma_negative(x: Array) -> Array:
    """Use the reflection formula digamma(1 - x) - pi / tan(pi x), or near zeros a sum from the next pole."""
    distance = x - np.rint(x)
    other = digamma(1.0 - x)
    reflected = other - PI / np.tan(PI * distance)
    reflected = np.where((distance == 0) | (x == -np.inf), np.nan, reflected)
    near_zero = (np.abs(reflected) < 0.5) & (x > -MAX_DISTANCE)
    result = replace_where(reflected, near_zero, lambda x: digamma_near_zero(x.astype(FLOAT64)), x)
    nearest = np.where(x > -MAX_DISTANCE, _NEAREST, _NEAR)
    return replace_where(result, np.abs(result) < nearest, _PRECISE_DIGAMMA, x)


# --- bessel_i1e -----------------------------------------------------------------------------------------------------


def bessel_i1e(x: Array) -> Array:
    """Return x exp(-|x|) times a polynomial in x*x, or for large numbers a polynomial in 1/x divided by sqrt(x)."""
    magnitude = np.abs(x)
    scaled = piecewise(
        magnitude,
        (magnitude <= _SMALL_FOR_BESSEL, lambda x: np.exp(-x) * x * piecewise_polynomial(BESSEL_I1, x * x)),
        (magnitude > _SMALL_FOR_BESSEL, lambda x: piecewise_polynomial(BESSEL_I1E, 1.0 / x) / np.sqrt(x)),
        (np.isnan(x), lambda x: x),
    )
    return np.copysign(scaled, x)
