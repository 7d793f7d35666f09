"""Special functions of f64 and of long double arrays, by the same formulas and tables.

In f64 they are accurate enough for f32: errors are below 2**-48 of the result, and below 2**-42 where terms of the
functions of the gamma function cancel. In long double, which has 64 bits on x86, results that are rounded to f64 have
errors below 0.6 ULP, except near zeros of polygamma, and are the same on all machines. Where long double is f64, errors
are a few ULP.
"""

from __future__ import annotations

from math import factorial

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics import libm
from stablehlo_ref.numerics import multiple_precision as precise
from stablehlo_ref.numerics.double_double import two_product, two_sum
from stablehlo_ref.numerics.dtypes import FLOAT64
from stablehlo_ref.numerics.kernels import ArrayKernel
from stablehlo_ref.numerics.libm import IS_WIDE, LONG_DOUBLE, piecewise, replace_where, widened
from stablehlo_ref.numerics.multiple_precision import to_nearest
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
    ZETA_SERIES,
)

_PI = LONG_DOUBLE.type("3.14159265358979323846264338327950288")
_LOG_PI = LONG_DOUBLE.type("1.14472988584940017414342735135305871")
_HALF_LOG_2_PI = LONG_DOUBLE.type("0.918938533204672741780329736405617640")
_NEAR, _NEAR_F32 = 2.0**-4, 2.0**-10  # results that cancel more are not accurate enough for f64, or for f32
_PRECISE_LGAMMA, _PRECISE_DIGAMMA = to_nearest(precise.lgamma), to_nearest(precise.digamma)
_LARGE = 8.0  # the asymptotic series are accurate enough from here on
_ERF_IS_ONE = 6.0  # erfc(x) < 2**-54 from here on
_ERFC_IS_ZERO = 27.5
_SMALL_FOR_BESSEL = 4.0

_TERMS = 10  # summed directly, before the Euler-Maclaurin formula
_LARGEST = 170 if IS_WIDE else 20  # derivative whose factorial and powers are in the range of long double
_FACTORIALS = np.array([LONG_DOUBLE.type(str(factorial(n))) for n in range(171)])
_PRECISE_ZETA, _PRECISE_POLYGAMMA = to_nearest(precise.zeta), to_nearest(precise.polygamma)

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
    """Use the reflection formula."""
    distance = x - np.rint(x)
    sine = libm.sin(_PI.astype(x.dtype) * distance)
    mirrored = lgamma(-x)
    reflected = _LOG_PI.astype(x.dtype) - libm.log(np.abs(x * sine)) - mirrored
    reflected = np.where((distance == 0) | (x == -np.inf), np.inf, reflected)
    return _precise_near_zero(reflected, mirrored, _PRECISE_LGAMMA, x)


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
    """Use the reflection formula digamma(1 - x) - pi / tan(pi x)."""
    distance = x - np.rint(x)
    pi = _PI.astype(x.dtype)
    mirrored = digamma(1.0 - x)
    reflected = mirrored - pi / libm.tan(pi * distance)
    reflected = np.where((distance == 0) | (x == -np.inf), np.nan, reflected)
    return _precise_near_zero(reflected, mirrored, _PRECISE_DIGAMMA, x)


def _precise_near_zero(result: Array, term: Array, function: ArrayKernel, x: Array) -> Array:
    """Replace results that cancel a term by those of a function in multiple precision."""
    near = _NEAR if x.dtype == LONG_DOUBLE else _NEAR_F32
    return replace_where(result, np.abs(result) < near * np.maximum(1.0, np.abs(term)), function, x)


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


# --- zeta: the ends of the domain ------------------------------------------------------------------------------------


def _is_regular(s: Array, q: Array) -> Array:
    """Return whether `q` is not a pole and all powers are real."""
    is_regular: Array = (q > 0) | ((q > -np.inf) & (q != np.rint(q)) & (s == np.rint(s)))
    return is_regular


def _limits(s: Array, q: Array) -> Array:
    """Return the values of zeta at and beyond the ends of the domain, NaN elsewhere."""
    even = np.fmod(s, 2.0) == 0
    pole = np.where(even & (q == np.rint(q)), np.inf, np.nan)
    endless = np.where(q < 1.0, np.inf, np.where(q == 1.0, 1.0, 0.0))
    positive = np.where(s == np.inf, endless, np.where(q == np.inf, 0.0, np.nan))
    result = np.where(q > 0, positive, pole)
    result = np.where(s > 1.0, result, np.where(s == 1.0, np.inf, np.nan))
    return np.where(np.isnan(s) | np.isnan(q), np.nan, result).astype(s.dtype)


def _is_natural(n: Array) -> Array:
    """Return where `n` is a positive integer."""
    natural: Array = (n >= 1.0) & (n < np.inf) & (n == np.rint(n))
    return natural


def _limits_of_polygamma(n: Array, x: Array) -> Array:
    """Return the values for positive `n` at the ends of the domain, NaN elsewhere."""
    limits = _limits(n + 1.0, x)
    of_even = np.where(x > 0, -limits, np.nan)  # no limit at poles; n + 1 may be rounded to an even number
    return np.where(_is_natural(n), np.where(np.fmod(n, 2.0) == 0, of_even, limits), np.nan)


# --- zeta -----------------------------------------------------------------------------------------------------------


def zeta(s: Array, q: Array) -> Array:
    """Return the Hurwitz zeta function; below 0 it is computed in multiple precision."""
    s, q = np.broadcast_arrays(s, q)
    regular = (s > 1.0) & (s < np.inf) & (q < np.inf) & _is_regular(s, q)
    result = replace_where(_limits(s, q), regular & (q < 0), _PRECISE_ZETA, s, q)
    return replace_where(result, regular & (q > 0), _sum, s, q)


def _sum(s: Array, q: Array) -> Array:
    """Sum some terms, then use the Euler-Maclaurin formula; powers are corrected for the rounding of q + k."""
    total = np.zeros_like(q)
    for k in range(_TERMS):
        total += _power(q, k, s)
    integral, last = _power(q, _TERMS, s - 1.0) / (s - 1.0), _power(q, _TERMS, s)
    return total + np.where(last == 0, integral, integral + last * (0.5 + _corrections(s, q + _TERMS)))


def _power(q: Array, k: int, exponent: Array) -> Array:
    """Return (q + k)**-exponent."""
    base, rest = two_sum(q, float(k))
    power: Array = libm.power(base, -exponent)
    return power * (1.0 - exponent * (rest / base))


def _corrections(s: Array, a: Array) -> Array:
    """Return the sum of B(2j) / (2j)! s (s + 1) ... (s + 2j - 2) / a**(2j - 1) for j = 1, 2, ..."""
    factor = s / a
    first, *others = ZETA_SERIES.astype(s.dtype)
    total: Array = first * factor
    for j, coefficient in enumerate(others, 1):
        factor = factor * ((s + (2 * j - 1)) / a) * ((s + 2 * j) / a)
        total += coefficient * factor
    return total


# --- polygamma ------------------------------------------------------------------------------------------------------


def polygamma(n: Array, x: Array) -> Array:
    """Return (-1)**(n + 1) n! zeta(n + 1, x), in long double; below 0 and for large n in multiple precision."""
    n, x = np.broadcast_arrays(n, x)
    result = replace_where(_limits_of_polygamma(n, x), n == 0, widened(digamma), x)
    regular = _is_natural(n) & (x < np.inf) & _is_regular(n, x)
    is_moderate = (n <= _LARGEST) & (x > 0)
    result = replace_where(result, regular & ~is_moderate, _PRECISE_POLYGAMMA, n, x)
    return replace_where(result, regular & is_moderate, widened(_factorial_times_zeta), n, x)


def _factorial_times_zeta(n: Array, x: Array) -> Array:
    product: Array = _FACTORIALS[n.astype(np.int64)] * _sum(n + 1.0, x)
    return np.where(np.fmod(n, 2.0) == 0, -product, product)
