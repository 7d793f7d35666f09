"""The exponentially scaled modified Bessel function of order 1, as a kernel factory (CHLO, `bessel_i1e`)."""

from __future__ import annotations

import numpy as np

from stablehlo_ref.numerics.elementary import elementary
from stablehlo_ref.numerics.narrow import Array
from stablehlo_ref.numerics.piecewise import between, piecewise
from stablehlo_ref.numerics.special_tables import BESSEL_I1, BESSEL_I1E

_SMALL = 4.0
_LEAST = 2.0**-53  # its exponential is less than one still: x / 2 may be a tie, which the function stays below


def _bessel_i1e(x: Array) -> Array:
    """x exp(-|x|) times a polynomial in x*x; for large numbers a polynomial in 1/x, over sqrt(x)."""
    magnitude = np.abs(x)
    scaled = piecewise(
        magnitude,
        (magnitude <= _SMALL, lambda x: np.exp(-np.maximum(x, _LEAST)) * x * between(BESSEL_I1, x * x)),
        (magnitude > _SMALL, lambda x: between(BESSEL_I1E, 1.0 / x) / np.sqrt(x)),
        (np.isnan(x), lambda x: x),
    )
    return np.copysign(scaled, x)


bessel_i1e = elementary(_bessel_i1e)  # f64: 2.2 ULP
