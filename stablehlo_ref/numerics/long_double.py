"""The widest floating-point format of the machine: 64 bits of precision on x86, f64's 53 bits on some platforms."""

from __future__ import annotations

import numpy as np

from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.numerics.dtypes import FLOAT64
from stablehlo_ref.numerics.kernels import ArrayKernel
from stablehlo_ref.numerics.piecewise import Polynomial

LONG_DOUBLE: DType = np.dtype(np.longdouble)
COMPLEX_LONG_DOUBLE: DType = np.dtype(np.clongdouble)
IS_WIDE = bool(np.finfo(LONG_DOUBLE).eps < 2.0**-60)  # not on Windows, nor on macOS on ARM

ERROR = 2.0**-57 if IS_WIDE else 2.0**-46  # of special functions in long double, relative


def long_numbers(text: str) -> tuple[Array, ...]:
    """Return numbers in long double from their decimal digits."""
    return tuple(map(LONG_DOUBLE.type, text.split()))


def long_polynomial(center: float, scale: float, coefficients: str) -> Polynomial:
    """Return a polynomial with coefficients in long double."""
    return Polynomial(center, scale, long_numbers(coefficients))


def widened(function: ArrayKernel) -> ArrayKernel:
    """Return a function of f64 arrays with results in long double."""
    return lambda *operands: function(*[x.astype(LONG_DOUBLE) for x in operands])


def in_long_double(function: ArrayKernel) -> ArrayKernel:
    """Return a function of f64 arrays that computes in long double, and rounds results once."""

    def run(*operands: Array) -> Array:
        result: Array = function(*[x.astype(LONG_DOUBLE) for x in operands]).astype(FLOAT64)
        return result

    return run
