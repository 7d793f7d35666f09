"""Arithmetic and comparison of complex numbers: kernel factories by the names of the ops (spec, "Operations").

complex<f32> computes in f64, complex<f64> computes products in long double, and both round once. On x86 that leaves no
part worse than 0.53 ULP unless more than 10 bits cancel; where long double is f64, cancelled parts lose what they lose.
Infinities and NaNs go by C99's Annex G, but for `multiply`, which is the formula (ac - bd) + (ad + bc)i alone, as in
XLA and in the C++ interpreter.
"""

from __future__ import annotations

from functools import cache
from typing import Any, TypeAlias

import numpy as np

from stablehlo_ref.numerics.blocks import blockwise, partwise
from stablehlo_ref.numerics.double_double import Pair
from stablehlo_ref.numerics.dtypes import COMPLEX64, COMPLEX128, FLOAT32, FLOAT64, complex_dtype
from stablehlo_ref.numerics.floats import COMPARISONS, Factory, same
from stablehlo_ref.numerics.narrow import Array, Kernel

DType: TypeAlias = np.dtype[Any]

LONG_DOUBLE, COMPLEX_LONG_DOUBLE = np.dtype(np.longdouble), np.dtype(np.clongdouble)


# --- parts ----------------------------------------------------------------------------------------------------------


def complex(dtype: DType) -> Kernel:
    """The kernel that makes complex numbers of real and imaginary parts of `dtype`, f32 or f64."""
    result_dtype = complex_dtype(dtype)

    def run(real: Array, imag: Array) -> Array:
        shape = real.shape if real.shape == imag.shape else np.broadcast_shapes(real.shape, imag.shape)
        result = np.empty(shape, result_dtype)
        result.real = real
        result.imag = imag
        return result

    return run


real = same(lambda z: z.real.copy())
imag = same(lambda z: z.imag.copy())


# --- arithmetic -----------------------------------------------------------------------------------------------------

add = same(np.add)
subtract = same(np.subtract)
negate = same(np.negative)
conj = same(np.conjugate)


@cache
def abs(dtype: DType) -> Kernel:
    """The modulus, of the parts' dtype. Error: 0.501 ULP for complex<f32>, 0.55 ULP for complex<f64>."""
    if dtype == COMPLEX64:
        return blockwise(np.absolute, COMPLEX128, FLOAT32)
    return lambda z: np.hypot(z.real, z.imag)


@cache
def sign(dtype: DType) -> Kernel:
    """z / |z|; 0 of zeros, NaN of NaNs. Error: 0.501 ULP for complex<f32>, 1.5 ULP for complex<f64>."""
    return partwise(_sign, dtype, _special_sign)


@cache
def multiply(dtype: DType) -> Kernel:
    """(ac - bd) + (ad + bc)i."""
    return blockwise(np.multiply, COMPLEX128 if dtype == COMPLEX64 else COMPLEX_LONG_DOUBLE, dtype)


@cache
def divide(dtype: DType) -> Kernel:
    """((ac + bd) + (bc - ad)i) / (cc + dd), without overflow; a number by zero is infinite."""
    return partwise(_quotient, dtype, _special_quotient, FLOAT64 if dtype == COMPLEX64 else LONG_DOUBLE)


def _sign(a: Array, b: Array) -> Pair:
    scale = -exponent(a, b)
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
    norm = moderate(c * c + d * d)
    return (a * c + b * d) / norm, (b * c - a * d) / norm


def _special_quotient(z: Array, w: Array) -> Array:
    """Annex G.5.1: where the formula leaves nothing but NaNs, infinities and zeros can still tell."""
    quotient = np.divide(z, w)
    a, b, c, d = z.real, z.imag, w.real, w.imag
    lost = np.isnan(quotient.real) & np.isnan(quotient.imag)

    def settle(where: Array, real: Array, imag: Array) -> None:
        quotient[where] = from_parts(real, imag)[where]

    infinity = np.copysign(np.inf, c)
    settle(w == 0, infinity * a, infinity * b)
    x, y = _infinities(a), _infinities(b)
    settle(lost & np.isinf(z) & np.isfinite(w) & (w != 0), np.inf * (x * c + y * d), np.inf * (y * c - x * d))
    x, y = _infinities(c), _infinities(d)
    settle(lost & np.isfinite(z) & np.isinf(w), 0.0 * (a * x + b * y), 0.0 * (b * x - a * y))
    return quotient


def _infinities(part: Array) -> Array:
    """1 for infinities and 0 for all else, signed like `part`."""
    return np.copysign(np.isinf(part), part)


def moderate(square: Array) -> Array:
    """`square`, a sum of squares, or NaN where it has overflowed or underflow has cost it bits."""
    limits = np.finfo(square.dtype)
    return np.where((square > limits.tiny * 2.0**120) & (square < limits.max), square, np.nan)


def exponent(a: Array, b: Array) -> Array:
    """The binary exponents of the larger of two parts."""
    return np.frexp(np.maximum(np.absolute(a), np.absolute(b)))[1]


def from_parts(real: Array, imag: Array) -> Array:
    """The complex numbers of f64 parts."""
    return complex(FLOAT64)(real, imag)


# --- order ----------------------------------------------------------------------------------------------------------


def compare(direction: str, compare_type: str = "FLOAT") -> Factory:
    """The factory for a comparison direction ("EQ", ...) of complex numbers, ordered by (real, imag).

    `compare_type` is FLOAT, the only one that the spec gives complex numbers: what compares a NaN is false, but for NE.
    """
    comparison = COMPARISONS[direction]
    if direction in ("EQ", "NE"):
        return same(comparison)
    strict = np.less if direction in ("LT", "LE") else np.greater

    def run(z: Array, w: Array) -> Array:
        equal = (z.real == w.real) & comparison(z.imag, w.imag)
        return strict(z.real, w.real) | equal

    return same(run)


def maximum(dtype: DType) -> Kernel:
    """`lhs` where it is greater by `compare`, else `rhs`: also where a NaN leaves them unordered, as in XLA and C++."""
    greater = compare("GT")(dtype)
    return lambda z, w: np.where(greater(z, w), z, w)


def minimum(dtype: DType) -> Kernel:
    """`lhs` where it is less by `compare`, else `rhs`."""
    less = compare("LT")(dtype)
    return lambda z, w: np.where(less(z, w), z, w)


def clamp(dtype: DType) -> Kernel:
    """`minimum(maximum(operand, min), max)` of operands (min, operand, max); min and max may have rank 0."""
    above, below = maximum(dtype), minimum(dtype)
    return lambda low, operand, high: below(above(operand, low), high)
