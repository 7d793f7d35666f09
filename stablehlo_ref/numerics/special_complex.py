"""Kernel factories of inverse trigonometric, hyperbolic and related functions of complex numbers (CHLO).

complex<f32> computes in f64 and rounds once, which is within 0.501 ULP; complex<f64> computes in long double
(`complex_double`), except for `square`, whose error is at most 1.5 ULP. Branch cuts, signed zeros, infinities and NaNs
follow C99 Annex G, except that `square` evaluates its formula, where NaN plus infinity is NaN.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.blocks import blockwise
from stablehlo_ref.numerics.complex_double import by_numpy
from stablehlo_ref.numerics.complexes import from_parts
from stablehlo_ref.numerics.dtypes import COMPLEX64, COMPLEX128
from stablehlo_ref.numerics.kernels import ArrayKernel, KernelFactory


def elementary(function: np.ufunc) -> KernelFactory:
    """Return a factory from numpy's `function`, which computes in f64 or, for complex<f64>, in long double."""
    return cache(lambda dtype: blockwise(function, COMPLEX128, dtype) if dtype == COMPLEX64 else by_numpy(function))


def formula(function: ArrayKernel) -> KernelFactory:
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


acos = elementary(np.arccos)
acosh = elementary(np.arccosh)
asin = elementary(np.arcsin)
asinh = elementary(np.arcsinh)
atan = elementary(np.arctan)
atanh = elementary(np.arctanh)
cosh = elementary(np.cosh)
sinh = elementary(np.sinh)
square = formula(_square)  # 1.5 ULP
asin_acos_kernel = formula(_kernel)
