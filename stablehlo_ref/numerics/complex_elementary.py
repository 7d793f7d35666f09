"""Kernel factories of elementary functions of complex numbers (spec and CHLO, the op of that name).

complex<f32> computes in f64 and rounds once: the largest error of either part observed over special values, branch cuts
and random numbers is 0.501 ULP. complex<f64> computes in long double by the same formulas. On x86, where long double
has 64 bits and 15 bits of exponent, errors of either part are below 0.6 ULP, except for the few results below 1e-307
and 1.5 ULP of `square`, and the same on all of these machines, as the C library computes these functions without vector
instructions. Where many bits cancel, the operands are computed in multiple precision. Where long double is f64, errors
are a few ULP.

Branch cuts, signed zeros, infinities and NaNs follow C99 Annex G, except that e**z is NaN where the imaginary part is
infinite, whatever the real part, as in upstream's samples and in XLA, and that `square` evaluates its formula, where
NaN plus infinity is NaN.
"""

from __future__ import annotations

from functools import cache, reduce

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.numerics import exact_complexes as exact
from stablehlo_ref.numerics import libm
from stablehlo_ref.numerics import multiple_precision as precise
from stablehlo_ref.numerics.blocks import PartsKernel, computed_in, from_parts, partwise
from stablehlo_ref.numerics.complexes import divide
from stablehlo_ref.numerics.correct_rounding import with_reproducible_kernel
from stablehlo_ref.numerics.double_double import Pair, squares_and
from stablehlo_ref.numerics.dtypes import COMPLEX64, COMPLEX128, FLOAT64
from stablehlo_ref.numerics.kernels import ArrayKernel, KernelFactory
from stablehlo_ref.numerics.libm import COMPLEX_LONG_DOUBLE, LONG_DOUBLE, replace_where

_CANCELLED = 2.0**-7  # of a sum to its terms: 7 of long double's 11 additional bits
_CANCELLED_IN_F64 = 2.0**-18  # of a sum that is rounded to f32
_LARGEST_ANGLE = 1e40  # that is reduced in multiple precision
_RIGHT_ANGLE: Array = LONG_DOUBLE.type("1.57079632679489661923132169163975144")


def of_parts(function: PartsKernel, fallback: ArrayKernel, reproducible: exact.Replace) -> KernelFactory:
    """Return the factory of a function of parts, in f64 or long double; `fallback` computes where its result is NaN."""
    factory = cache(lambda dtype: partwise(function, dtype, fallback, FLOAT64 if dtype == COMPLEX64 else LONG_DOUBLE))
    return with_reproducible_kernel(factory, COMPLEX128, reproducible)


def of_numpy(function: np.ufunc, in_multiple_precision: exact.Function) -> KernelFactory:
    """Return the factory of a function of numpy, in f64 or long double."""
    factory = cache(
        lambda dtype: computed_in(COMPLEX128 if dtype == COMPLEX64 else COMPLEX_LONG_DOUBLE, function, dtype)
    )
    return with_reproducible_kernel(factory, COMPLEX128, exact.replaced_by(in_multiple_precision))


def formula(function: ArrayKernel, reproducible: exact.Replace) -> KernelFactory:
    """Return a factory from a `function` of complex<f64> arrays, whose results are rounded once for complex<f32>."""
    return with_reproducible_kernel(
        cache(lambda dtype: computed_in(COMPLEX128, function, dtype)), COMPLEX128, reproducible
    )


def _add_real(z: Array, x: float) -> Array:
    return from_parts(z.real + x, z.imag)  # z + x would add +0 to an imaginary -0


# --- exponential functions ------------------------------------------------------------------------------------------


def _exponential_of(a: Array) -> Array:
    """Return e**a; NaN for infinities."""
    return libm.exp(np.where(np.isfinite(a), a, np.nan))


def _cosine_and_sine(x: Array) -> Pair:
    """Return cosine and sine, of f64 accurate enough for f32; there the cosine is NaN where too many bits cancel."""
    if x.dtype == LONG_DOUBLE:
        return np.cos(x), np.sin(x)
    t = libm.tan(0.5 * x)
    square = t * t
    norm = 1.0 + square
    cosine = (1.0 - square) / norm
    return np.where(np.abs(cosine) < 2.0**-18, np.nan, cosine), (t + t) / norm


def _exponential(a: Array, b: Array) -> Pair:
    modulus = _exponential_of(a)
    cosine, sine = _cosine_and_sine(b)
    return modulus * cosine, modulus * sine


def _special_exponential(z: Array) -> Array:
    result = np.exp(z)
    result[~np.isfinite(z.imag)] = np.nan + 1j * np.nan
    return result


def _exponential_minus_one(a: Array, b: Array) -> Pair:
    """Return (e**a - 1) cos b - (1 - cos b), and the imaginary part of e**z."""
    half = libm.sin(0.5 * b)
    term = libm.expm1(a) * libm.cos(b)
    real = _unless_cancelled(term - 2.0 * half * half, term, _real_exponential_minus_one, a, b)
    real = np.where((real == 0) & (b != 0), -0.0, real)  # for a = 0 it is negative, but may underflow
    return real, _exponential_of(a) * libm.sin(b)


def _real_exponential_minus_one(a: precise.Number, b: precise.Number) -> precise.Number:
    return precise.exponential(a) * precise.cosine(b) - 1


def _special_exponential_minus_one(z: Array) -> Array:
    return _add_real(np.exp(z), -1.0)


def _logistic(a: Array, b: Array) -> Pair:
    """With u = e**-|a|, return (1 + u cos b, u sin b) / |1 + u e**ib|**2; for a < 0 the real part has u (u + cos b)."""
    less, u = libm.expm1(-np.abs(a)), libm.exp(-np.abs(a))
    half = 2.0 * libm.cos(0.5 * b) ** 2
    norm = less * less + 2.0 * u * half
    total = _unless_cancelled(u + libm.cos(b), u, _exponential_and_cosine, -np.abs(a), b)
    return np.where(a < 0, u * total, u * half - less) / norm, u * libm.sin(b) / norm


def _exponential_and_cosine(a: precise.Number, b: precise.Number) -> precise.Number:
    return precise.exponential(a) + precise.cosine(b)


def _special_logistic(z: Array) -> Array:
    return divide(COMPLEX128)(np.ones_like(z), 1.0 + np.exp(-z))


def _unless_cancelled(total: Array, term: Array, function: precise.Function, *operands: Array) -> Array:
    """Replace sums that are far smaller than a term by those of a function in multiple precision."""
    most = _CANCELLED if total.dtype == LONG_DOUBLE else _CANCELLED_IN_F64
    kernel = precise.to_nearest(function)
    return replace_where(total, np.abs(total) < most * np.abs(term), kernel, *[x.astype(FLOAT64) for x in operands])


# --- logarithms, roots and powers -----------------------------------------------------------------------------------


def _log_plus_one(a: Array, b: Array) -> Pair:
    """Return log(1+z); log |1+z| is half of log1p(2a + a*a + b*b), whose terms are added exactly in double-double."""
    x, y = a.astype(FLOAT64), b.astype(FLOAT64)
    high, rest = squares_and(x + x, x, y)
    square = high + rest.astype(a.dtype)
    one = 1.0 + a
    near = (square > -0.5) & (square < 1.0)
    return np.where(near, 0.5 * libm.log1p(square), libm.log(np.hypot(one, b))), libm.arctan2(b, one)


def _special_log_plus_one(z: Array) -> Array:
    return np.log(_add_real(z, 1.0))


def _rsqrt(a: Array, b: Array) -> Pair:
    """Return 1/s = conj(s) / |s|**2 for s = sqrt(z)."""
    root, modulus = np.sqrt(from_parts(a, b)), np.hypot(a, b)
    return root.real / modulus, -root.imag / modulus


def _special_rsqrt(z: Array) -> Array:
    return divide(COMPLEX128)(np.ones_like(z), np.sqrt(z))


def _cbrt(a: Array, b: Array) -> Pair:
    """Return the root with a third of the angle."""
    modulus, angle = libm.cbrt(np.hypot(a, b)), libm.arctan2(b, a) / 3.0
    return modulus * libm.cos(angle), modulus * libm.sin(angle)


def _special_cbrt(z: Array) -> Array:
    log = np.log(z)
    return np.exp(from_parts(log.real / 3.0, log.imag / 3.0))


def _power(a: Array, b: Array, c: Array, d: Array) -> Pair:
    """Return e**(w log z); NaN for zeros, infinities and NaNs.

    What f64 leaves in doubt is computed in long double, and what that leaves in doubt in multiple precision.
    """
    real, imag, is_unsure = _power_by_angle(a, b, c, d)
    if not is_unsure.any():
        return real, imag
    operands = [x[is_unsure] for x in (a, b, c, d)]
    if a.dtype != LONG_DOUBLE:
        real[is_unsure], imag[is_unsure], _ = _power_by_angle(*[x.astype(LONG_DOUBLE) for x in operands])
        return real, imag
    rows = zip(*[x.astype(FLOAT64).tolist() for x in operands])
    parts = [[x or 0.0 for x in exact.decided(exact.power)(*row)] for row in within_time(rows)]
    real[is_unsure], imag[is_unsure] = np.array(parts).T
    return real, imag


def _power_by_angle(a: Array, b: Array, c: Array, d: Array) -> tuple[Array, Array, Array]:
    """Return the parts of the power, and where the errors of angle and radius may be too large for a part.

    Right angles are counted separately, so that they cost no accuracy; the sign of a zero angle is kept.
    """
    log, largest_term, quarters, rest = _logarithm_in_right_angles(a, b)
    exponent = c * log - d * (quarters * _right_angle(a) + rest)
    radius = np.exp(exponent)
    first, second, quarters = np.where(c == 0, 0.0, c * rest), d * log, c * quarters
    whole, angle = _reduce_angle(quarters, np.where(d == 0, first, first + second))
    cosine, sine = np.cos(angle), np.sin(angle)
    size = np.abs(first) + np.abs(second) + np.abs(quarters - np.rint(quarters))
    nearest = np.minimum(np.abs(cosine), np.abs(sine))
    if a.dtype == LONG_DOUBLE:  # where the error of the logarithm counts, too, and fewer bits can be lost
        is_unsure = (nearest < 2.0**-8 * (size + np.abs(d) * largest_term)) | (np.abs(c) * largest_term > 2.0**10)
        is_unsure &= (size < _LARGEST_ANGLE) & (np.abs(quarters) < _LARGEST_ANGLE) & (np.abs(exponent) < 1000.0)
    else:
        is_unsure = nearest < 2.0**-20 * size
    return *_rotate(radius * cosine, radius * sine, whole), is_unsure


def _reduce_angle(quarters: Array, angle: Array) -> Pair:
    """Reduce `quarters` right angles plus `angle` to a number of right angles and the rest of the angle.

    The number is in -3, ..., 3; the rest is at most half a right angle in magnitude.
    """
    whole = np.rint(quarters)
    angle = np.where(quarters == whole, angle, angle + (quarters - whole) * _right_angle(angle))
    more = np.rint(angle / _right_angle(angle))
    angle = np.where(more == 0, angle, angle - more * _right_angle(angle))
    return np.fmod(np.fmod(whole, 4.0) + more, 4.0), angle


def _right_angle(like: Array) -> Array:
    return _RIGHT_ANGLE.astype(like.dtype)


def _rotate(real: Array, imag: Array, quarter: Array) -> Pair:
    """Rotate complex numbers by -3, ..., 3 right angles."""
    odd = np.fmod(quarter, 2.0) != 0
    real, imag = np.where(odd, -imag, real), np.where(odd, real, imag)
    back = (np.abs(quarter) == 2) | (quarter == 3) | (quarter == -1)
    return np.where(back, -real, real), np.where(back, -imag, imag)


def _logarithm_in_right_angles(a: Array, b: Array) -> tuple[Array, Array, Array, Array]:
    """Return log |z|, its largest term, the angle in right angles rounded to a multiple of 1/2, and the rest of it."""
    x, y = np.abs(a), np.abs(b)
    small, large = np.minimum(x, y), np.maximum(x, y)
    square = x * x + y * y
    log = 0.5 * np.where(square < 0.5, libm.log(square), libm.log1p((large - 1.0) * (large + 1.0) + small * small))
    log[(square == 0) | (square == np.inf)] = np.nan
    is_diagonal, is_steep, is_left = small > 0.4 * large, y > x, np.signbit(a)
    rest = libm.arctan2(np.where(is_diagonal, -(large - small), small), np.where(is_diagonal, small + large, large))
    quarters, is_rotated = np.where(is_steep, 1.0, np.where(is_left, 2.0, 0.0)), is_steep ^ is_left
    quarters += np.where(is_diagonal, np.where(is_rotated, -0.5, 0.5), 0.0)
    largest_term = np.maximum(np.abs(log), np.where(large < 1.0, small * small, 0.0))
    return log, largest_term, np.copysign(quarters, b), np.where(is_rotated ^ np.signbit(b), -rest, rest)


def _atan2(y: Array, x: Array) -> Array:
    """Return -i log((x + iy) / sqrt(x**2 + y**2)), as the C++ interpreter; complex atan2 is implementation-defined.

    Of real operands it is the real atan2, with a zero as imaginary part. Operands are scaled by a power of two, so that
    squares neither overflow nor underflow together.
    """
    largest = reduce(np.maximum, [np.abs(part) for z in (x, y) for part in (z.real, z.imag)])
    exponent = np.where(np.isfinite(largest), -np.frexp(largest)[1], 0)
    a, b, c, d = (np.ldexp(part, exponent) for z in (x, y) for part in (z.real, z.imag))
    x, y = from_parts(a, b), from_parts(c, d)
    angle = np.log(from_parts(a - d, b + c) / np.sqrt(x * x + y * y))
    is_real = (b == 0) & (d == 0)
    return from_parts(np.where(is_real, libm.arctan2(c, a), angle.imag), np.where(is_real, 0.0, -angle.real))


# --- other functions ------------------------------------------------------------------------------------------------


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


# --- public ---------------------------------------------------------------------------------------------------------

acos = of_numpy(np.arccos, exact.acos)
acosh = of_numpy(np.arccosh, exact.acosh)
asin = of_numpy(np.arcsin, exact.asin)
asinh = of_numpy(np.arcsinh, exact.asinh)
atan = of_numpy(np.arctan, exact.atan)
atanh = of_numpy(np.arctanh, exact.atanh)
cosh = of_numpy(np.cosh, exact.cosh)
sinh = of_numpy(np.sinh, exact.sinh)
sine = of_numpy(np.sin, exact.sine)
cosine = of_numpy(np.cos, exact.cosine)
tan = of_numpy(np.tan, exact.tan)
tanh = of_numpy(np.tanh, exact.tanh)
log = of_numpy(np.log, exact.log)
sqrt = of_numpy(np.sqrt, exact.sqrt)
exponential = of_parts(_exponential, _special_exponential, exact.replaced_by(exact.exponential))
exponential_minus_one = of_parts(
    _exponential_minus_one, _special_exponential_minus_one, exact.replaced_by(exact.exponential_minus_one)
)
logistic = of_parts(_logistic, _special_logistic, exact.replaced_by(exact.logistic))
log_plus_one = of_parts(_log_plus_one, _special_log_plus_one, exact.replaced_by(exact.log_plus_one))
rsqrt = of_parts(_rsqrt, _special_rsqrt, exact.replaced_by(exact.rsqrt))
cbrt = of_parts(_cbrt, _special_cbrt, exact.replaced_by(exact.cbrt))
power = of_parts(_power, np.power, exact.power_of_complex)
atan2 = formula(_atan2, exact.angle_of_quotient)
square = formula(_square, exact.square)
asin_acos_kernel = formula(_kernel, exact.replaced_by(exact.asin_acos_kernel))
