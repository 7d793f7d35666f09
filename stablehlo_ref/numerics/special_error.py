"""Kernel factories of the error function, its complement and its inverse (CHLO, `erf`, `erfc`, `erf_inv`).

Formats up to f32 compute in f64 and round once, which is within 0.501 ULP. The stated errors are those of f64, the
largest observed over special values and random numbers.
"""

from __future__ import annotations

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics import double_double, libm
from stablehlo_ref.numerics.double_double import two_product
from stablehlo_ref.numerics.elementary import elementary
from stablehlo_ref.numerics.piecewise import (
    piecewise,
    piecewise_polynomial,
    piecewise_polynomial_pair,
    replace_where,
)
from stablehlo_ref.numerics.special_tables import (
    ERF,
    ERF_F32,
    ERF_INV,
    ERF_INV_F32,
    ERF_INV_TAIL,
    ERFC,
    ERFC_F32,
)

# --- for f32: one polynomial in a bounded ratio for almost the whole range ------------------------------------------


def _erf_for_f32(x: Array) -> Array:
    x = np.clip(x, -4.0, 4.0)  # beyond, no f32 number lies between erf(x) and 1
    return x * ERF_F32[0](8.0 / (8.0 + x * x))


def _erfc_for_f32(x: Array) -> Array:
    """Return erfc(x), which for x < 0 is 2 - erfc(-x)."""
    magnitude = np.minimum(np.abs(x), 10.5)  # beyond, f32 underflows to 0
    ratio = 4.0 / (4.0 + magnitude)
    tail = libm.exp(-magnitude * magnitude) * (ratio * ERFC_F32[0](ratio))
    sign = np.copysign(1.0, x)
    result: Array = sign * tail + (1.0 - sign)
    return result


def _erf_inv_for_f32(x: Array) -> Array:
    w = _minus_log_of_1_minus_square(x)
    return x * replace_where(ERF_INV_F32[0](w), ~(w <= 5.0), _erf_inv_factor, w)


# --- for f64 --------------------------------------------------------------------------------------------------------

_ERF_IS_ONE = 6.0  # erfc(x) < 2**-54 from here on
_ERFC_IS_ZERO = 27.5


def _erf(x: Array) -> Array:
    magnitude = np.abs(x)
    return piecewise(
        x,
        (magnitude <= 1.0, lambda x: x + x * ERF[0](x * x)),
        ((magnitude > 1.0) & (magnitude < _ERF_IS_ONE), lambda x: np.copysign(1.0 - _erfc_tail(np.abs(x)), x)),
        (magnitude >= _ERF_IS_ONE, np.sign),
        (np.isnan(x), lambda x: x),
    )


def _erfc(x: Array) -> Array:
    return piecewise(
        x,
        ((x >= -1.0) & (x <= 1.0), lambda x: (1.0 - x) - x * ERF[0](x * x)),
        ((x > 1.0) & (x < _ERFC_IS_ZERO), _accurate_erfc_tail),
        ((x < -1.0) & (x > -_ERF_IS_ONE), lambda x: 2.0 - _erfc_tail(-x)),
        (x >= _ERFC_IS_ZERO, np.zeros_like),
        (x <= -_ERF_IS_ONE, lambda x: np.full_like(x, 2.0)),
        (np.isnan(x), lambda x: x),
    )


def _erfc_tail(x: Array) -> Array:
    """Return exp(-x*x) / x times a polynomial in 1 / x, for 1 <= x < 28; the square is computed exactly."""
    high, low = two_product(x, x)
    return libm.exp(-high) * ((1.0 - low) * piecewise_polynomial(ERFC, 1.0 / x) / x)


def _accurate_erfc_tail(x: Array) -> Array:
    """Do the same with the errors of the exponential, the quotient and the polynomial's last step."""
    high, low = two_product(x, x)
    exponential, of_exponential = double_double.exponential(-high)
    value, of_value = piecewise_polynomial_pair(ERFC, 1.0 / x)
    quotient = value / x
    product, of_product = two_product(quotient, x)
    correction = ((value - product) - of_product + of_value) / x - low * quotient
    return exponential * quotient + (exponential * correction + of_exponential * quotient)


def _erf_inv(x: Array) -> Array:
    return x * _erf_inv_factor(_minus_log_of_1_minus_square(x))


def _minus_log_of_1_minus_square(x: Array) -> Array:
    """Return -log(1 - x*x)."""
    return -libm.log((1.0 - x) * (1.0 + x))


def _erf_inv_factor(w: Array) -> Array:
    """Return erf_inv(x) / x from w = -log(1 - x*x): a polynomial in w or, for large w, in its root; +inf at +inf."""
    return piecewise(
        w,
        (w <= 5.0, lambda w: piecewise_polynomial(ERF_INV, w)),
        ((w > 5.0) & (w < np.inf), lambda w: piecewise_polynomial(ERF_INV_TAIL, np.sqrt(w))),
        (~(w < np.inf), lambda w: w),
    )


erf = elementary(_erf_for_f32, _erf)  # f64: 0.88 ULP
erfc = elementary(_erfc_for_f32, _erfc)  # f64: 2.1 ULP
erf_inv = elementary(_erf_inv_for_f32, _erf_inv)  # f64: 2.1 ULP
