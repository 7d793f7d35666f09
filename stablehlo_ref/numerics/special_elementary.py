"""Kernel factories of inverse trigonometric, hyperbolic and related functions of floating-point numbers (CHLO).

Formats up to f32 compute in f64 and round once, correctly for f32. The errors stated for f64 are the largest
observed over special values and random numbers, on x86-64 with AVX-512, where numpy has its own implementations.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.numerics import multiple_precision as precise
from stablehlo_ref.numerics.blocks import in_blocks
from stablehlo_ref.numerics.dtypes import bit_width, bits_dtype, is_narrow_float
from stablehlo_ref.numerics.elementary import Elementary, kernels
from stablehlo_ref.numerics.floats import multiply
from stablehlo_ref.numerics.kernels import ArrayKernel

acos = kernels(Elementary(np.arccos, precise.acos))  # f64: 0.74 ULP
acosh = kernels(Elementary(np.arccosh, precise.acosh, in_long_double=np.arccosh))
asin = kernels(Elementary(np.arcsin, precise.asin))  # f64: 0.75 ULP
asinh = kernels(Elementary(np.arcsinh, precise.asinh, in_long_double=np.arcsinh))
atan = kernels(Elementary(np.arctan, precise.atan))  # f64: 0.52 ULP
atanh = kernels(Elementary(np.arctanh, precise.atanh, in_long_double=np.arctanh))
cosh = kernels(Elementary(np.cosh, precise.cosh, in_long_double=np.cosh))
sinh = kernels(Elementary(np.sinh, precise.sinh, in_long_double=np.sinh))


@cache
def square(dtype: DType) -> ArrayKernel:
    """Return the kernel of x * x, correctly rounded."""
    product = multiply(dtype)
    return np.square if product is np.multiply else lambda x: product(x, x)


@cache
def next_after(dtype: DType) -> ArrayKernel:
    """Return the kernel of the number after `x` in the direction of `y`, which is `y` if they are equal."""
    return _next_after_narrow(dtype) if is_narrow_float(dtype) else np.nextafter


def _next_after_narrow(dtype: DType) -> ArrayKernel:
    """Step the bits by one, which order numbers of one sign; zero becomes the smallest number with the sign of `y`."""
    bits, sign = bits_dtype(dtype), 1 << bit_width(dtype) - 1
    minus_zero_is_nan = bool(np.isnan(np.array(sign, bits).view(dtype).astype(np.float32)))

    def run(x: Array, y: Array) -> Array:
        start, goal = x.astype(np.float32), y.astype(np.float32)
        pattern = x.view(bits)
        outward = (goal > start) == (start > 0)
        step = np.where(outward, pattern + bits.type(1), pattern - bits.type(1))
        if minus_zero_is_nan:
            step = np.where(step == sign, bits.type(0), step)
        step = np.where(start == 0, np.where(goal > 0, 1, sign | 1).astype(bits), step)
        result = np.where(start == goal, y, step.view(dtype))
        return np.where(np.isnan(start), x, np.where(np.isnan(goal), y, result))

    return in_blocks(run, dtype)
