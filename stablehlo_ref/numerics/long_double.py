"""The widest floating-point format of the machine: 64 bits of precision on x86, f64's 53 bits on some platforms."""

from __future__ import annotations

import numpy as np

from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.numerics.dtypes import FLOAT64
from stablehlo_ref.numerics.kernels import ArrayKernel

LONG_DOUBLE: DType = np.dtype(np.longdouble)
COMPLEX_LONG_DOUBLE: DType = np.dtype(np.clongdouble)


def in_long_double(function: ArrayKernel) -> ArrayKernel:
    """Return a function of f64 arrays that computes in long double, and rounds results once."""

    def run(*operands: Array) -> Array:
        result: Array = function(*[x.astype(LONG_DOUBLE) for x in operands]).astype(FLOAT64)
        return result

    return run
