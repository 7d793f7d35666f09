"""Kernel factories of the error function, its complement and its inverse (CHLO, `erf`, `erfc`, `erf_inv`).

Formats up to f32 compute in f64 and round once, correctly for f32. f64 is computed in long double; erf in f64, with
errors of up to 0.88 ULP.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics import libm, special_double
from stablehlo_ref.numerics import multiple_precision_special as precise
from stablehlo_ref.numerics.double_double import two_product
from stablehlo_ref.numerics.elementary import elementary
from stablehlo_ref.numerics.kernels import ArrayKernel
from stablehlo_ref.numerics.long_double import in_long_double
from stablehlo_ref.numerics.piecewise import (
    piecewise_polynomial,
    replace_where,
)
from stablehlo_ref.numerics.portable.error_functions import erf_inv_factor
from stablehlo_ref.numerics.single import error
from stablehlo_ref.numerics.special_tables import (
    ERF,
    ERF_F32,
    ERF_INV_F32,
    ERFC,
    ERFC_F32,
)
from stablehlo_ref.numerics.taylor_tables import TaylorTable

_ERROR = 2.0**-44  # of the functions for f32, relative
_SHORT = 1 << 11  # elements: below this, one polynomial takes less time than tables

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
    return x * replace_where(ERF_INV_F32[0](w), ~(w <= 5.0), erf_inv_factor, w)


# --- for large tensors of f32: Taylor polynomials, whose first terms are those of functions for f64 -------------------


def _series(of_f64: ArrayKernel, slope: float, degree: int) -> Callable[[Array], list[Array]]:
    """Return the function from points x to the series of a function whose derivative is slope * exp(-x*x).

    By the differential equation f'' = -2 x f'.
    """

    def coefficients(x: Array) -> list[Array]:
        terms = [of_f64(x), slope * np.exp(-x * x)]
        for n in range(degree - 1):
            terms.append(-2.0 * (x * (n + 1) * terms[n + 1] + n * terms[n]) / ((n + 1) * (n + 2)))
        return terms

    return coefficients


_SLOPE = 2.0 / np.sqrt(np.pi)
_ERF_TABLE = TaylorTable(-4, 4, _series(in_long_double(special_double.erf), _SLOPE, 3))
_ERFC_TABLE = TaylorTable(-4, 11, _series(in_long_double(special_double.erfc), -_SLOPE, 5))


def _quick_erf(x: Array) -> Array:
    return _ERF_TABLE(x) if x.size >= _SHORT else _erf_for_f32(x)


def _quick_erfc(x: Array) -> Array:
    return _ERFC_TABLE(x) if x.size >= _SHORT else _erfc_for_f32(x)


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


erf = elementary(_erf_for_f32, _erf, exact=precise.erf, error=_ERROR, refined=special_double.erf, quick=_quick_erf)
erfc = elementary(_erfc_for_f32, exact=precise.erfc, error=_ERROR, refined=special_double.erfc, quick=_quick_erfc)
erf_inv = elementary(
    _erf_inv_for_f32, exact=precise.erf_inv, error=_ERROR, refined=special_double.erf_inv, tables=error.erf_inv
)
