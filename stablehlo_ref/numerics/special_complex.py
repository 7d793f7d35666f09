"""Inverse trigonometric, hyperbolic and neighbouring functions of complex numbers: kernel factories (CHLO)."""

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


acos = elementary(np.arccos)
acosh = elementary(np.arccosh)
asin = elementary(np.arcsin)
asinh = elementary(np.arcsinh)
atan = elementary(np.arctan)
atanh = elementary(np.arctanh)
cosh = elementary(np.cosh)
sinh = elementary(np.sinh)
square = elementary(_square)
asin_acos_kernel = elementary(_kernel)
