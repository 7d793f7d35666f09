"""Kernel factories of arithmetic and comparison of complex numbers (spec, "Operations": the op of that name).

complex<f32> computes in f64, complex<f64> computes products in long double, and both round once. On x86 the error of
either part is at most 0.53 ULP unless more than 10 bits cancel; where long double is f64, cancellation costs accuracy.
Infinities and NaNs follow C99 Annex G, except in `multiply`, which is just the formula (ac - bd) + (ad + bc)i, as in
XLA and the C++ interpreter.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.numerics import exact_complexes as exact
from stablehlo_ref.numerics.blocks import computed_in, from_parts, partwise
from stablehlo_ref.numerics.correct_rounding import with_reproducible_kernel
from stablehlo_ref.numerics.double_double import Pair, split, two_sum
from stablehlo_ref.numerics.dtypes import COMPLEX64, COMPLEX128, FLOAT32, FLOAT64, complex_dtype
from stablehlo_ref.numerics.floats import COMPARISONS
from stablehlo_ref.numerics.kernels import ArrayKernel, KernelFactory, same_kernel
from stablehlo_ref.numerics.libm import COMPLEX_LONG_DOUBLE, LONG_DOUBLE

# --- parts ----------------------------------------------------------------------------------------------------------


def complex(dtype: DType) -> ArrayKernel:
    """Return the kernel that combines real and imaginary parts of `dtype`, f32 or f64, into complex numbers."""
    result_dtype = complex_dtype(dtype)

    def run(real: Array, imag: Array) -> Array:
        shape = real.shape if real.shape == imag.shape else np.broadcast_shapes(real.shape, imag.shape)
        result = np.empty(shape, result_dtype)
        result[...] = real  # in one pass, faster than to every other number
        result.imag = imag
        return result

    return run


real = same_kernel(lambda z: z.real.copy())
imag = same_kernel(lambda z: z.imag.copy())


# --- arithmetic -----------------------------------------------------------------------------------------------------

add = same_kernel(np.add)
subtract = same_kernel(np.subtract)
negate = same_kernel(np.negative)
conj = same_kernel(np.conjugate)


@cache
def _abs(dtype: DType) -> ArrayKernel:
    if dtype == COMPLEX64:
        return computed_in(COMPLEX128, np.absolute, FLOAT32)
    return lambda z: np.hypot(z.real, z.imag)


# |z|, in the dtype of the parts. Error: 0.501 ULP for complex<f32>, 0.55 for complex<f64>.
abs = with_reproducible_kernel(_abs, COMPLEX128, exact.modulus)

# z / |z|: 0 for 0, NaN for NaN. Error: 0.501 ULP for complex<f32>, 1.5 for complex<f64>.
sign = with_reproducible_kernel(
    cache(lambda dtype: partwise(_sign, dtype, _special_sign)), COMPLEX128, exact.replaced_by(exact.sign)
)


@cache
def _multiply(dtype: DType) -> ArrayKernel:
    return computed_in(COMPLEX128 if dtype == COMPLEX64 else COMPLEX_LONG_DOUBLE, np.multiply, dtype)


# (ac - bd) + (ad + bc)i
multiply = with_reproducible_kernel(_multiply, COMPLEX128, exact.product)


@cache
def _divide(dtype: DType) -> ArrayKernel:
    if dtype == COMPLEX64:
        return partwise(_quotient, dtype, _special_quotient)
    return partwise(_quotient_of_double, dtype, _special_quotient, LONG_DOUBLE)


# ((ac + bd) + (bc - ad)i) / (cc + dd) without overflow; z / 0 is infinite unless z is 0
divide = with_reproducible_kernel(_divide, COMPLEX128, exact.quotient)


def _sign(a: Array, b: Array) -> Pair:
    scale = -max_exponent(a, b)
    a, b = np.ldexp(a, scale), np.ldexp(b, scale)
    modulus = np.hypot(a, b)
    return a / modulus, b / modulus


def _special_sign(z: Array) -> Array:
    modulus = np.absolute(z)
    result = from_parts(z.real / modulus, z.imag / modulus)
    result[modulus == 0] = 0
    result[np.isnan(z.real) | np.isnan(z.imag)] = np.nan + 1j * np.nan
    return result


def _quotient(a: Array, b: Array, c: Array, d: Array) -> Pair:
    norm = nan_if_out_of_range(c * c + d * d)
    return (a * c + b * d) / norm, (b * c - a * d) / norm


def _quotient_of_double(a: Array, b: Array, c: Array, d: Array) -> Pair:
    """Return ((ac + bd) + (bc - ad)i) / (cc + dd), with exact products."""
    norm = c * c + d * d
    norm = np.where((norm > 0) & (norm < np.inf), norm, np.nan)
    return _sum_of_products(a, c, b, d) / norm, _sum_of_products(b, c, -a, d) / norm


def _sum_of_products(a: Array, c: Array, b: Array, d: Array) -> Array:
    """Return ac + bd of f64 numbers, in long double. A zero has the sign that it has without exact products."""
    (p, p_low), (q, q_low) = _exact_product(a, c), _exact_product(b, d)
    total, error = two_sum(p, q)
    rest = error + (p_low + q_low)
    return np.where((rest == 0) | ~np.isfinite(rest), total, total + rest)


def _exact_product(x: Array, y: Array) -> Pair:
    """Return the product of f64 numbers as the sum of two long doubles."""
    high = x * y
    (x1, x0), (y1, y0) = _halves(x), _halves(y)
    return high, ((x1 * y1 - high) + x1 * y0 + x0 * y1) + x0 * y0


def _halves(x: Array) -> Pair:
    high, low = split(x.astype(FLOAT64))
    return high.astype(LONG_DOUBLE), low.astype(LONG_DOUBLE)


def _special_quotient(z: Array, w: Array) -> Array:
    """Return quotients by C99 Annex G.5.1, which defines results with infinities and zeros where the formula is NaN."""
    quotient = np.divide(z, w)
    a, b, c, d = z.real, z.imag, w.real, w.imag
    is_lost = np.isnan(quotient.real) & np.isnan(quotient.imag)

    def set_where(mask: Array, real: Array, imag: Array) -> None:
        quotient[mask] = from_parts(real, imag)[mask]

    infinity = np.copysign(np.inf, c)
    set_where(w == 0, infinity * a, infinity * b)
    x, y = _infinities(a), _infinities(b)
    set_where(is_lost & np.isinf(z) & np.isfinite(w) & (w != 0), np.inf * (x * c + y * d), np.inf * (y * c - x * d))
    x, y = _infinities(c), _infinities(d)
    set_where(is_lost & np.isfinite(z) & np.isinf(w), 0.0 * (a * x + b * y), 0.0 * (b * x - a * y))
    return quotient


def _infinities(part: Array) -> Array:
    """Return 1 for infinities and 0 for other numbers, with the sign of `part`."""
    return np.copysign(np.isinf(part), part)


def nan_if_out_of_range(square: Array) -> Array:
    """Return `square`, a sum of squares, with NaN where it overflowed or lost bits to underflow."""
    limits = np.finfo(square.dtype)
    return np.where((square > limits.tiny * 2.0**120) & (square < limits.max), square, np.nan)


def max_exponent(a: Array, b: Array) -> Array:
    """Return the binary exponent of the larger of two parts."""
    return np.frexp(np.maximum(np.absolute(a), np.absolute(b)))[1]


# --- order ----------------------------------------------------------------------------------------------------------


def compare(direction: str, compare_type: str = "FLOAT") -> KernelFactory:
    """Return the factory for a comparison direction ("EQ", ...) of complex numbers, ordered by (real, imag).

    `compare_type` is FLOAT, the only type for complex numbers in the spec: comparisons with NaN are false, except NE.
    """
    comparison = COMPARISONS[direction]
    if direction in ("EQ", "NE"):
        return same_kernel(comparison)
    strict = np.less if direction in ("LT", "LE") else np.greater

    def run(z: Array, w: Array) -> Array:
        equal = (z.real == w.real) & comparison(z.imag, w.imag)
        result: Array = strict(z.real, w.real) | equal
        return result

    return same_kernel(run)


def maximum(dtype: DType) -> ArrayKernel:
    """Return the kernel of `lhs` where it is greater by `compare`, else `rhs`, also if they are unordered.

    XLA and the C++ interpreter do the same.
    """
    greater = compare("GT")(dtype)

    def run(z: Array, w: Array) -> Array:
        return np.where(greater(z, w), z, w)

    return run


def minimum(dtype: DType) -> ArrayKernel:
    """Return the kernel of `lhs` where it is less by `compare`, else `rhs`."""
    less = compare("LT")(dtype)

    def run(z: Array, w: Array) -> Array:
        return np.where(less(z, w), z, w)

    return run


def clamp(dtype: DType) -> ArrayKernel:
    """Return the kernel of `minimum(maximum(operand, min), max)` of operands (min, operand, max).

    min and max may have rank 0.
    """
    larger, smaller = maximum(dtype), minimum(dtype)
    return lambda low, operand, high: smaller(larger(operand, low), high)
