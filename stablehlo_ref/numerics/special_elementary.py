"""Inverse trigonometric, hyperbolic and neighbouring functions of floating-point numbers: kernel factories (CHLO).

Formats up to f32 compute in f64 and round once, which is within 0.501 ULP. For f64 the errors stated are the largest
seen over special values and random numbers, on x86-64 with AVX-512, where numpy brings functions of its own.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from stablehlo_ref.numerics.dtypes import bit_width, bits_dtype, is_narrow_float
from stablehlo_ref.numerics.elementary import elementary
from stablehlo_ref.numerics.floats import DType, multiply
from stablehlo_ref.numerics.narrow import Array, Kernel, in_blocks

acos = elementary(np.arccos)  # f64: 0.74 ULP
acosh = elementary(np.arccosh)  # f64: 0.60 ULP
asin = elementary(np.arcsin)  # f64: 0.75 ULP
asinh = elementary(np.arcsinh)  # f64: 0.72 ULP
atan = elementary(np.arctan)  # f64: 0.52 ULP
atanh = elementary(np.arctanh)  # f64: 0.55 ULP
cosh = elementary(np.cosh)  # f64: 0.75 ULP
sinh = elementary(np.sinh)  # f64: 0.62 ULP


@cache
def square(dtype: DType) -> Kernel:
    """x * x, correctly rounded."""
    product = multiply(dtype)
    return np.square if product is np.multiply else lambda x: product(x, x)


@cache
def next_after(dtype: DType) -> Kernel:
    """The number after `x` in the direction of `y`, `y` if they are equal."""
    return _next_after_narrow(dtype) if is_narrow_float(dtype) else np.nextafter


def _next_after_narrow(dtype: DType) -> Kernel:
    """A step of one on the bits, which order numbers of one sign; zero steps to the smallest number of `y`'s sign."""
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
