"""The widest floating-point format of the machine: 64 bits of precision on x86, f64's 53 bits on some platforms."""

from __future__ import annotations

import numpy as np

from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.numerics.dtypes import FLOAT64
from stablehlo_ref.numerics.kernels import ArrayKernel

LONG_DOUBLE: DType = np.dtype(np.longdouble)
COMPLEX_LONG_DOUBLE: DType = np.dtype(np.clongdouble)
IS_WIDE = bool(np.finfo(LONG_DOUBLE).eps < 2.0**-60)  # not on Windows, nor on macOS on ARM

ERROR = LONG_DOUBLE.type(2.0**-8 if IS_WIDE else 2.0**3)  # bound of those of special functions, to that of f64


def long_numbers(text: str) -> Array:
    """Return numbers in long double from their decimal digits."""
    return np.array(list(map(LONG_DOUBLE.type, text.split())))


def widened(function: ArrayKernel) -> ArrayKernel:
    """Return a function of f64 arrays with results in long double."""
    return lambda *operands: function(*[x.astype(LONG_DOUBLE) for x in operands])


def in_long_double(function: ArrayKernel) -> ArrayKernel:
    """Return a function of f64 arrays that computes in long double, and rounds results once to f64."""

    def run(*operands: Array) -> Array:
        result: Array = function(*[x.astype(LONG_DOUBLE) for x in operands]).astype(FLOAT64)
        return result

    return run
