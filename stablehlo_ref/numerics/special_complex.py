"""Kernel factories of inverse trigonometric, hyperbolic and related functions of complex numbers (CHLO).

complex<f32> computes in f64 and rounds once, which is within 0.501 ULP; complex<f64> computes in long double
(`complex_double`), except for `square`, whose error is at most 1.5 ULP. Branch cuts, signed zeros, infinities and NaNs
follow C99 Annex G, except that `square` evaluates its formula, where NaN plus infinity is NaN.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics import multiple_precision_complex as precise
from stablehlo_ref.numerics.blocks import computed_in
from stablehlo_ref.numerics.complex_double import by_numpy, from_parts
from stablehlo_ref.numerics.dtypes import COMPLEX64, COMPLEX128
from stablehlo_ref.numerics.kernels import ArrayKernel, KernelFactory
from stablehlo_ref.numerics.multiple_precision_complex import PartsFunction
from stablehlo_ref.numerics.portable import complexes as correctly_rounded
from stablehlo_ref.numerics.reproducible import with_reproducible_kernel


def elementary(function: np.ufunc, exact: PartsFunction) -> KernelFactory:
    """Return a factory from numpy's `function`, which computes in f64 or, for complex<f64>, in long double.

    In the reproducible mode complex<f64> is computed by `exact`, in multiple precision.
    """
    factory = cache(
        lambda dtype: computed_in(COMPLEX128, function, dtype) if dtype == COMPLEX64 else by_numpy(function)
    )
    return with_reproducible_kernel(factory, COMPLEX128, correctly_rounded.function(exact))


def formula(function: ArrayKernel, reproducible: correctly_rounded.Replace) -> KernelFactory:
    """Return a factory from a `function` of complex<f64> arrays, whose results are rounded once for complex<f32>."""
    factory = cache(lambda dtype: computed_in(COMPLEX128, function, dtype))
    return with_reproducible_kernel(factory, COMPLEX128, reproducible)


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


acos = elementary(np.arccos, precise.acos)
acosh = elementary(np.arccosh, precise.acosh)
asin = elementary(np.arcsin, precise.asin)
asinh = elementary(np.arcsinh, precise.asinh)
atan = elementary(np.arctan, precise.atan)
atanh = elementary(np.arctanh, precise.atanh)
cosh = elementary(np.cosh, precise.cosh)
sinh = elementary(np.sinh, precise.sinh)
square = formula(_square, correctly_rounded.square)  # 1.5 ULP
asin_acos_kernel = formula(_kernel, correctly_rounded.function(precise.asin_acos_kernel))
