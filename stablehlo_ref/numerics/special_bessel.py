"""Kernel factory of the exponentially scaled modified Bessel function of order 1 (CHLO, `bessel_i1e`)."""

from __future__ import annotations

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics import libm, multiple_precision, special_double
from stablehlo_ref.numerics.elementary import Elementary, kernels
from stablehlo_ref.numerics.piecewise import piecewise, piecewise_polynomial
from stablehlo_ref.numerics.special_tables import BESSEL_I1, BESSEL_I1E

_SMALL = 4.0
_LEAST = 2.0**-53  # exp(-2**-53) < 1: keeps results below x / 2, which may be a tie when rounding


def _bessel_i1e(x: Array) -> Array:
    """Return x exp(-|x|) times a polynomial in x*x, or for large numbers a polynomial in 1/x divided by sqrt(x)."""
    magnitude = np.abs(x)
    scaled = piecewise(
        magnitude,
        (magnitude <= _SMALL, lambda x: libm.exp(-np.maximum(x, _LEAST)) * x * piecewise_polynomial(BESSEL_I1, x * x)),
        (magnitude > _SMALL, lambda x: piecewise_polynomial(BESSEL_I1E, 1.0 / x) / np.sqrt(x)),
        (np.isnan(x), lambda x: x),
    )
    return np.copysign(scaled, x)


bessel_i1e = kernels(Elementary(_bessel_i1e, multiple_precision.bessel_i1e, in_long_double=special_double.bessel_i1e))
