"""The error function, its complement and its inverse: kernel factories (CHLO, `erf`, `erfc`, `erf_inv`).

Formats up to f32 compute in f64 and round once, which is within 0.501 ULP; the errors stated are those of f64, the
largest seen over special values and random numbers.
"""

from __future__ import annotations

import numpy as np

from stablehlo_ref.numerics.double_double import two_product
from stablehlo_ref.numerics.elementary import elementary, in_blocks
from stablehlo_ref.numerics.narrow import Array
from stablehlo_ref.numerics.piecewise import between, piecewise
from stablehlo_ref.numerics.special_tables import ERF, ERF_INV, ERF_INV_TAIL, ERFC

_ERF_IS_ONE = 6.0  # from here on erfc(x) < 2**-54
_ERFC_IS_ZERO = 27.5


def _erf(x: Array) -> Array:
    magnitude = np.abs(x)
    small, large = magnitude <= 1.0, magnitude >= _ERF_IS_ONE
    middle = (magnitude > 1.0) & ~large
    return piecewise(
        x,
        (small, lambda x: x + x * ERF[0](x * x)),
        (middle, lambda x: np.copysign(1.0 - _erfc_tail(np.abs(x)), x)),
        (large, np.sign),
        (np.isnan(x), lambda x: x),
    )


def _erfc(x: Array) -> Array:
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
    """exp(-x*x) / x times a polynomial in 1 / x, for 1 <= x < 28; the square is exact."""
    high, low = two_product(x, x)
    return np.exp(-high) * ((1.0 - low) * between(ERFC, 1.0 / x) / x)


def _erf_inv(x: Array) -> Array:
    """x times a polynomial in w = -log(1 - x*x) or, far from zero, in its root; at -1 and 1, w is infinite."""
    w = -np.log((1.0 - x) * (1.0 + x))
    return x * piecewise(
        w,
        (w <= 5.0, lambda w: between(ERF_INV, w)),
        ((w > 5.0) & (w < np.inf), lambda w: between(ERF_INV_TAIL, np.sqrt(w))),
        (~(w < np.inf), lambda w: w),
    )


erf = elementary(_erf, in_blocks(_erf))
erfc = elementary(_erfc, in_blocks(_erfc))
erf_inv = elementary(_erf_inv, in_blocks(_erf_inv))
