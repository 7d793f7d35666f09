"""Inverse trigonometric, hyperbolic and neighbouring functions of complex numbers: kernel factories (CHLO).

complex<f32> computes in f64 and rounds once, which is within 0.501 ULP. Errors are those of either part alone, the
largest seen over special values, branch cuts and random numbers, and are stated for complex<f64>. Branch cuts, signed
zeros, infinities and NaNs go by C99's Annex G; `square` is its formula, in which a NaN leaves no infinity.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from stablehlo_ref.numerics.blocks import blockwise
from stablehlo_ref.numerics.complexes import from_parts
from stablehlo_ref.numerics.dtypes import COMPLEX128
from stablehlo_ref.numerics.floats import Factory
from stablehlo_ref.numerics.narrow import Array, Kernel


def elementary(function: Kernel) -> Factory:
    """Kernels from a `function` of complex<f64> arrays; those for complex<f32> round its results once."""
    return cache(lambda dtype: blockwise(function, COMPLEX128, dtype))


def _square(z: Array) -> Array:
    """(a - b)(a + b) + 2abi; equal magnitudes leave +0 even where a + b or a - b overflows."""
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
