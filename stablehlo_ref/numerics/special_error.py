"""Kernel factories of the error function, its complement and its inverse (CHLO, `erf`, `erfc`, `erf_inv`).

Formats up to f32 compute in f64 and round once, correctly for f32. f64 is computed in long double; erf in f64, with
errors of up to 0.88 ULP.
"""

from __future__ import annotations

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics import libm, special_double
from stablehlo_ref.numerics import multiple_precision as precise
from stablehlo_ref.numerics.double_double import two_product
from stablehlo_ref.numerics.elementary import Elementary, kernels
from stablehlo_ref.numerics.piecewise import piecewise_polynomial, replace_where
from stablehlo_ref.numerics.single import error
from stablehlo_ref.numerics.special_tables import (
    ERF,
    ERF_F32,
    ERF_INV_F32,
    ERF_INV_TAIL,
    ERFC,
    ERFC_F32,
)

_ERROR = 2.0**-44  # of the functions for f32, relative

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
    return x * replace_where(ERF_INV_F32[0](w), ~(w <= 5.0), _erf_inv_tail, w)


def _erf_inv_tail(w: Array) -> Array:
    """Return erf_inv(x) / x in f64 from w = -log(1 - x*x) > 5: a polynomial in its root."""
    return replace_where(w, w < np.inf, lambda w: piecewise_polynomial(ERF_INV_TAIL, np.sqrt(w)), w)


# --- for f64 --------------------------------------------------------------------------------------------------------


def _erf(x: Array) -> Array:
    return special_double.erf_by(x, ERF[0], _erfc_tail)


def _erfc_tail(x: Array) -> Array:
    """Return exp(-x*x) / x times a polynomial in 1 / x, for 1 <= x < 28; the square is computed exactly."""
    high, low = two_product(x, x)
    return libm.exp(-high) * ((1.0 - low) * piecewise_polynomial(ERFC, 1.0 / x) / x)


def _minus_log_of_1_minus_square(x: Array) -> Array:
    """Return -log(1 - x*x)."""
    return -libm.log((1.0 - x) * (1.0 + x))


erf = kernels(
    Elementary(_erf_for_f32, precise.erf, _ERROR, double=_erf, in_long_double=special_double.erf, table=error.erf)
)
erfc = kernels(Elementary(_erfc_for_f32, precise.erfc, _ERROR, in_long_double=special_double.erfc, table=error.erfc))
erf_inv = kernels(
    Elementary(_erf_inv_for_f32, precise.erf_inv, _ERROR, in_long_double=special_double.erf_inv, table=error.erf_inv)
)
