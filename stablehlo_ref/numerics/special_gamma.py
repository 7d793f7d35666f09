"""Kernel factories of the logarithm of the gamma function and its derivative (CHLO, `lgamma`, `digamma`).

Formats up to f32 compute in f64 and round once, correctly for f32; f64 is computed in long double. The functions of f64
here have errors of a few ULP.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics import libm, special_double
from stablehlo_ref.numerics import multiple_precision as precise
from stablehlo_ref.numerics.double_double import two_product
from stablehlo_ref.numerics.dtypes import FLOAT64
from stablehlo_ref.numerics.elementary import Elementary, kernels
from stablehlo_ref.numerics.long_double import in_long_double
from stablehlo_ref.numerics.piecewise import horner, piecewise, piecewise_polynomial, replace_where
from stablehlo_ref.numerics.special_near_poles import MAX_DISTANCE, digamma_near_zero, lgamma_by_product
from stablehlo_ref.numerics.special_tables import DIGAMMA, DIGAMMA_SERIES, DIGAMMA_ZERO, LGAMMA, STIRLING

_LARGE = 8.0  # the asymptotic series are accurate enough from here on
_HALF_LOG_2_PI = 0.9189385332046728
_LOG_PI = 1.1447298858494002
_FAR = 2.0**-4  # the same for numbers beyond the reach of double-double
_NEAR_F32 = 2.0**-10  # results closer to zero than this are not accurate enough for f32 if computed in f64
_ERROR = 2.0**-42  # where results are not closer to zero than _NEAR_F32
_PI: Array = FLOAT64.type(np.pi)
_PI_REST = 1.2246467991473532e-16  # pi minus its f64 value


# --- lgamma ---------------------------------------------------------------------------------------------------------


def lgamma_of_f64(x: Array, near: float = 8.0) -> Array:
    """Return lgamma of f64 arrays. For x < 0, results closer to zero than `near` are computed in double-double."""
    return piecewise(
        x,
        (x >= _LARGE, _lgamma_large),
        ((x >= 0.5) & (x < _LARGE), _lgamma_middle),
        (np.abs(x) < 0.5, _lgamma_small),
        (x <= -0.5, lambda x: _lgamma_negative(x, near)),
        (np.isnan(x), lambda x: x),
    )


def _lgamma_large(x: Array) -> Array:
    """Evaluate Stirling's series."""
    rest = horner(STIRLING, 1.0 / (x * x)) / x
    result = (x - 0.5) * (libm.log(x) - 1.0) + (_HALF_LOG_2_PI - 0.5 + rest)
    return np.where(x < np.inf, result, x)


def _lgamma_middle(x: Array) -> Array:
    return ((x - 1.0) * (x - 2.0) + 0.0) * piecewise_polynomial(LGAMMA, x)  # +0 at both zeros


def _lgamma_small(x: Array) -> Array:
    """Return log gamma(1 + x) - log |x|; the polynomial is in 1 + x."""
    return x * (x - 1.0) * piecewise_polynomial(LGAMMA, 1.0 + x) - libm.log(np.abs(x))


def _lgamma_negative(x: Array, near: float) -> Array:
    """Use the reflection formula, or near zeros and where terms cancel a product in the distance from the next pole."""
    distance = x - np.rint(x)
    reflected = _LOG_PI - libm.log(np.abs(x * libm.sin(np.pi * distance))) - lgamma_of_f64(-x)
    reflected = np.where((distance == 0) | (x == -np.inf), np.inf, reflected)
    return replace_where(reflected, (np.abs(reflected) < near) & (x > -MAX_DISTANCE), lgamma_by_product, x)


# --- digamma --------------------------------------------------------------------------------------------------------


def digamma_of_f64(x: Array, near: float = 0.5) -> Array:
    """Return digamma of f64 arrays: -inf at +0, +inf at -0, NaN at negative integers and -inf.

    `near` is as in `lgamma_of_f64`.
    """
    return special_double.digamma_by(x, _digamma_large, _digamma_middle, lambda x: _digamma_negative(x, near))


def _digamma_large(x: Array) -> Array:
    reciprocal = 1.0 / x
    square = reciprocal * reciprocal
    result = libm.log(x) - (0.5 * reciprocal + square * horner(DIGAMMA_SERIES, square))
    return np.where(x < np.inf, result, x)


def _digamma_middle(x: Array) -> Array:
    zero, rest = DIGAMMA_ZERO
    return ((x - zero) - rest) * piecewise_polynomial(DIGAMMA, x)


def _digamma_negative(x: Array, near: float) -> Array:
    """Use the reflection formula digamma(1 - x) - pi / tan(pi x)."""
    distance = x - np.rint(x)
    other = digamma_of_f64(1.0 - x)
    reflected = other - pi_over_tangent(distance)
    reflected = np.where((distance == 0) | (x == -np.inf), np.nan, reflected)
    near_zero = (np.abs(reflected) < near * (1.0 + 0.5 * np.abs(other))) & (x > -MAX_DISTANCE)
    result = replace_where(reflected, near_zero, digamma_near_zero, x)
    is_far = (np.abs(reflected) < _FAR) & (x <= -MAX_DISTANCE)
    return replace_where(result, is_far, in_long_double(special_double.digamma), x)


def pi_over_tangent(x: Array) -> Array:
    """Return pi / tan(pi x) for |x| <= 1/2, with the angle in double-double."""
    angle, rest = two_product(x, _PI)
    tangent = libm.tan(angle)
    return np.pi / (tangent + (rest + x * _PI_REST) * (1.0 + tangent * tangent))


lgamma = kernels(
    Elementary(
        partial(lgamma_of_f64, near=_NEAR_F32), precise.lgamma, absolute=_ERROR, in_long_double=special_double.lgamma
    )
)
digamma = kernels(
    Elementary(
        partial(digamma_of_f64, near=_NEAR_F32), precise.digamma, absolute=_ERROR, in_long_double=special_double.digamma
    )
)
