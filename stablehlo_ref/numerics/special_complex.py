"""Kernel factories of inverse trigonometric, hyperbolic and related functions of complex numbers (CHLO).

complex<f32> computes in f64 and rounds once, which is within 0.501 ULP. The stated errors are for complex<f64>: the
largest error of either part observed over special values, branch cuts and random numbers. Branch cuts, signed
zeros, infinities and NaNs follow C99 Annex G, except that `square` evaluates its formula, where NaN plus infinity
is NaN.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.blocks import blockwise
from stablehlo_ref.numerics.complexes import from_parts
from stablehlo_ref.numerics.dtypes import COMPLEX128
from stablehlo_ref.numerics.kernels import ArrayKernel, KernelFactory


def elementary(function: ArrayKernel) -> KernelFactory:
    """Return a factory from a `function` of complex<f64> arrays, whose results are rounded once for complex<f32>."""
    return cache(lambda dtype: blockwise(function, COMPLEX128, dtype))


def _square(z: Array) -> Array:
    """Return (a - b)(a + b) + 2abi; the real part is +0 for equal magnitudes, even if a + b or a - b overflows."""
    a, b = z.real, z.imag
    real = np.where(np.abs(a) == np.abs(b), a - a, (a - b) * (a + b))
    product = a * b
    return from_parts(real, product + product)


def _kernel(z: Array) -> Array:
    asin = np.arcsin(z)
    w = np.sqrt(from_parts(1 - z.real, -z.imag)) * np.sqrt(from_parts(1 + z.real, z.imag))
    return from_parts(w.real, np.abs(asin.imag))


acos = elementary(np.arccos)  # 2.5 ULP
acosh = elementary(np.arccosh)  # 2.5 ULP
asin = elementary(np.arcsin)  # 2.9 ULP
asinh = elementary(np.arcsinh)  # 2.8 ULP
atan = elementary(np.arctan)  # 3.2 ULP
atanh = elementary(np.arctanh)  # 3.4 ULP
cosh = elementary(np.cosh)  # 2.5 ULP
sinh = elementary(np.sinh)  # 2.5 ULP
square = elementary(_square)  # 1.5 ULP
asin_acos_kernel = elementary(_kernel)
