"""Elementary functions of complex<f64>, computed in long double and rounded once.

On x86, where long double has 64 bits and 15 bits of exponent, errors of either part are below 0.6 ULP, except for the
few results below 1e-307, and the same on all of these machines, as the C library computes these functions without
vector instructions. Where many bits cancel, the operands are computed in multiple precision. Where long double is f64,
errors are a few ULP.
"""

from __future__ import annotations

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics import multiple_precision as precise
from stablehlo_ref.numerics.blocks import PartsKernel, computed_in, partwise
from stablehlo_ref.numerics.double_double import Pair, split, squares_and, two_sum
from stablehlo_ref.numerics.dtypes import COMPLEX128, FLOAT64
from stablehlo_ref.numerics.kernels import ArrayKernel
from stablehlo_ref.numerics.libm import COMPLEX_LONG_DOUBLE, LONG_DOUBLE, replace_where

CANCELLED = 2.0**-7  # of a sum to its terms: 7 of long double's 11 additional bits


def from_parts(real: Array, imag: Array) -> Array:
    """Return complex numbers from parts in f64 or long double, which broadcast."""
    shape = np.broadcast_shapes(np.shape(real), np.shape(imag))
    z = np.empty(shape, np.result_type(real, imag, COMPLEX128))
    z.real, z.imag = real, imag
    return z


def by_numpy(function: np.ufunc) -> ArrayKernel:
    """Return a kernel from numpy's `function`."""
    return computed_in(COMPLEX_LONG_DOUBLE, function, COMPLEX128)


def by_parts(function: PartsKernel, fallback: ArrayKernel) -> ArrayKernel:
    """Return a kernel from a `function` of parts; where it is NaN, `fallback` computes from complex<f64> arrays."""
    return partwise(function, COMPLEX128, fallback, LONG_DOUBLE)


def exponential(a: Array, b: Array) -> Pair:
    """Return e**z; NaN for infinite parts."""
    modulus = np.exp(np.where(np.isfinite(a), a, np.nan))
    return modulus * np.cos(b), modulus * np.sin(b)


def exponential_minus_one(a: Array, b: Array) -> Pair:
    """Return (e**a - 1) cos b - (1 - cos b), and the imaginary part of e**z."""
    half = np.sin(0.5 * b)
    term = np.expm1(a) * np.cos(b)
    real = term - 2.0 * half * half
    real = replace_where(real, np.abs(real) < CANCELLED * np.abs(term), _precise(_real_exponential_minus_one), a, b)
    real = np.where((real == 0) & (b != 0), -0.0, real)  # for a = 0 it is negative, but may underflow
    return real, np.exp(np.where(np.isfinite(a), a, np.nan)) * np.sin(b)


def logistic(a: Array, b: Array) -> Pair:
    """With u = e**-|a|, return (1 + u cos b, u sin b) / |1 + u e**ib|**2; for a < 0 the real part has u (u + cos b)."""
    less, u, cosine = np.expm1(-np.abs(a)), np.exp(-np.abs(a)), np.cos(b)
    half = 2.0 * np.cos(0.5 * b) ** 2
    norm = less * less + 2.0 * u * half
    total = u + cosine
    total = replace_where(
        total, np.abs(total) < CANCELLED * np.abs(u), _precise(_exponential_and_cosine), -np.abs(a), b
    )
    return np.where(a < 0, u * total, u * half - less) / norm, u * np.sin(b) / norm


def log_plus_one(a: Array, b: Array) -> Pair:
    """Return log(1+z); log |1+z| is half of log1p(2a + a*a + b*b), whose terms are added exactly in double-double."""
    x, y = a.astype(FLOAT64), b.astype(FLOAT64)
    high, rest = squares_and(x + x, x, y)
    square = high + rest.astype(LONG_DOUBLE)
    one = 1.0 + a
    near = (square > -0.5) & (square < 1.0)
    return np.where(near, 0.5 * np.log1p(square), np.log(np.hypot(one, b))), np.arctan2(b, one)


def rsqrt(a: Array, b: Array) -> Pair:
    """Return 1/s = conj(s) / |s|**2 for s = sqrt(z)."""
    root, modulus = np.sqrt(from_parts(a, b)), np.hypot(a, b)
    return root.real / modulus, -root.imag / modulus


def cbrt(a: Array, b: Array) -> Pair:
    """Return the root with a third of the angle."""
    modulus, angle = np.cbrt(np.hypot(a, b)), np.arctan2(b, a) / 3.0
    return modulus * np.cos(angle), modulus * np.sin(angle)


def quotient(a: Array, b: Array, c: Array, d: Array) -> Pair:
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


# --- in multiple precision ------------------------------------------------------------------------------------------


def _precise(function: precise.Function) -> ArrayKernel:
    kernel = precise.to_nearest(function)
    return lambda *operands: kernel(*[x.astype(FLOAT64) for x in operands])


def _real_exponential_minus_one(a: precise.Number, b: precise.Number) -> precise.Number:
    return precise.exponential(a) * precise.cosine(b) - 1


def _exponential_and_cosine(a: precise.Number, b: precise.Number) -> precise.Number:
    return precise.exponential(a) + precise.cosine(b)
