"""Kernel factories of elementary functions of complex numbers (spec, "Operations": the op of that name).

complex<f32> computes in f64 and rounds once: the largest error of either part observed over special values, branch cuts
and random numbers is 0.501 ULP. complex<f64> computes in long double (`complex_double`). Branch cuts, signed zeros,
infinities and NaNs follow C99 Annex G, except that e**z is NaN where the imaginary part is infinite, whatever the real
part, as in upstream's samples and in XLA.
"""

from __future__ import annotations

from functools import cache, reduce

import numpy as np

from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.numerics import complex_double, libm
from stablehlo_ref.numerics import exact_complexes as exact
from stablehlo_ref.numerics.blocks import PartsKernel, computed_in, partwise
from stablehlo_ref.numerics.complex_double import from_parts
from stablehlo_ref.numerics.complexes import divide, max_exponent, nan_if_out_of_range
from stablehlo_ref.numerics.correct_rounding import with_reproducible_kernel
from stablehlo_ref.numerics.double_double import Pair, squares_and
from stablehlo_ref.numerics.dtypes import COMPLEX64, COMPLEX128, FLOAT64
from stablehlo_ref.numerics.elementary import accurate_cbrt
from stablehlo_ref.numerics.kernels import ArrayKernel, KernelFactory
from stablehlo_ref.numerics.libm import LONG_DOUBLE

_LARGEST_ANGLE = 1e40  # that is reduced in multiple precision
_RIGHT_ANGLE: Array = LONG_DOUBLE.type("1.57079632679489661923132169163975144")


def elementary(
    function: PartsKernel, fallback: ArrayKernel, double: PartsKernel | np.ufunc, in_multiple_precision: exact.Function
) -> KernelFactory:
    """Return the factory of a function, which is `exact` for complex<f64> in the reproducible mode."""
    factory = by_default(function, fallback, double)
    return with_reproducible_kernel(factory, COMPLEX128, exact.replaced_by(in_multiple_precision))


def by_default(function: PartsKernel, fallback: ArrayKernel, double: PartsKernel | np.ufunc) -> KernelFactory:
    """Return a factory from a `function` of parts for complex<f32>, and a `double` for complex<f64>.

    `double` is a function of parts, too, or numpy's, in long double. Where the result of a function of parts is NaN,
    `fallback` computes from complex<f64> arrays.
    """

    @cache
    def factory(dtype: DType) -> ArrayKernel:
        if dtype == COMPLEX64:
            return partwise(function, dtype, fallback)
        if isinstance(double, np.ufunc):
            return complex_double.by_numpy(double)
        return complex_double.by_parts(double, fallback)

    return factory


def _add_real(z: Array, x: float) -> Array:
    return from_parts(z.real + x, z.imag)  # z + x would add +0 to an imaginary -0


# --- exponential and trigonometric functions ------------------------------------------------------------------------


def _cosine_and_sine(x: Array) -> Pair:
    """Return cosine and sine accurate enough for f32; the cosine is NaN where too many bits cancel."""
    t = libm.tan(0.5 * x)
    square = t * t
    norm = 1.0 + square
    cosine = (1.0 - square) / norm
    return np.where(np.abs(cosine) < 2.0**-18, np.nan, cosine), (t + t) / norm


def _exponential(a: Array, b: Array) -> Pair:
    modulus = libm.exp(a)
    cosine, sine = _cosine_and_sine(b)
    return modulus * cosine, modulus * sine


def _special_exponential(z: Array) -> Array:
    result = np.exp(z)
    result[~np.isfinite(z.imag)] = np.nan + 1j * np.nan
    return result


def _sine(a: Array, b: Array) -> Pair:
    cosine, sine = _cosine_and_sine(a)
    return sine * libm.cosh(b), cosine * libm.sinh(b)


def _cosine(a: Array, b: Array) -> Pair:
    cosine, sine = _cosine_and_sine(a)
    return cosine * libm.cosh(b), -sine * libm.sinh(b)


def _exponential_minus_one(a: Array, b: Array) -> Pair:
    real = _sum_of_terms(_real_exponential_minus_one, a, b)
    real = np.where((real == 0) & (b != 0), -0.0, real)  # for a = 0 it is negative, but may underflow
    return real, np.where(a < 700.0, libm.exp(a), np.nan) * libm.sin(b)


def _real_exponential_minus_one(a: Array, b: Array) -> Pair:
    """Return the terms of (e**a - 1) cos b - (1 - cos b)."""
    half = libm.sin(0.5 * b)
    return libm.expm1(a) * libm.cos(b), -2.0 * half * half


def _special_exponential_minus_one(z: Array) -> Array:
    return _add_real(np.exp(z), -1.0)


def _logistic(a: Array, b: Array) -> Pair:
    """With u = e**-|a|, return (1 + u cos b, u sin b) / |1 + u e**ib|**2; for a < 0 the real part has u (u + cos b)."""
    less = libm.expm1(-np.abs(a))
    u = libm.exp(-np.abs(a))
    half = libm.cos(0.5 * b)
    half *= 2.0 * half
    norm = less * less + 2.0 * u * half
    real = np.where(a < 0, u * _sum_of_terms(_exponential_and_cosine, a, b), u * half - less)
    return real / norm, u * libm.sin(b) / norm


def _exponential_and_cosine(a: Array, b: Array) -> Pair:
    """Return e**a and cos b for a <= 0, or e**a - 1 and cos b + 1 where these cancel less."""
    half = libm.cos(0.5 * b)
    near = a > -0.5
    return np.where(near, libm.expm1(a), libm.exp(a)), np.where(near, 2.0 * half * half, libm.cos(b))


def _sum_of_terms(terms: PartsKernel, a: Array, b: Array) -> Array:
    """Return the sum of two `terms`, computed in long double, with 11 more bits on x86, where they cancel."""
    x, y = terms(a, b)
    result = x + y
    cancelled = np.abs(result) < 0.5 * np.abs(x)
    if cancelled.any():
        x, y = terms(a[cancelled].astype(LONG_DOUBLE), b[cancelled].astype(LONG_DOUBLE))
        result[cancelled] = x + y
    return result


def _tanh(a: Array, b: Array) -> Pair:
    """With u = e**-2|a|, return (1 - u*u, 4u sin b cos b) / ((1-u)**2 + 4u cos(b)**2), with the sign of a."""
    less = -libm.expm1(-2.0 * np.abs(a))
    u = libm.exp(-2.0 * np.abs(a))
    cosine = libm.cos(b)
    norm = less * less + 4.0 * u * cosine * cosine
    return np.copysign(less * (1.0 + u) / norm, a), 4.0 * u * libm.sin(b) * cosine / norm


def _tan(a: Array, b: Array) -> Pair:
    """Return -i tanh(iz)."""
    imag, real = _tanh(b, a)
    return real, imag


def _special_logistic(z: Array) -> Array:
    return divide(COMPLEX128)(np.ones_like(z), 1.0 + np.exp(-z))


# --- logarithms -----------------------------------------------------------------------------------------------------


def _log(a: Array, b: Array) -> Pair:
    x, y = np.abs(a), np.abs(b)
    x, y = np.maximum(x, y), np.minimum(x, y)
    square, (high, rest) = x * x + y * y, squares_and(-1.0, x, y)
    near_one = 0.5 * libm.log1p(high + rest)
    return np.where((square > 0.5) & (square < 2.0), near_one, _log_modulus(x, y, square)), libm.arctan2(b, a)


def _log_plus_one(a: Array, b: Array) -> Pair:
    """Return log(1+z); log |1+z| is half of log1p(2a + a*a + b*b), whose terms are added exactly."""
    high, rest = squares_and(a + a, a, b)
    x, one = high + rest, 1.0 + a
    far = _log_modulus(one, b, one * one + b * b)
    return np.where((x > -0.5) & (x < 1.0), 0.5 * libm.log1p(x), far), libm.arctan2(b, one)


def _log_modulus(a: Array, b: Array, square: Array) -> Array:
    """Return log |a + bi|, or NaN where `square`, which is |a + bi|**2, is too large or too small."""
    return libm.log(np.hypot(a, b) + 0.0 * nan_if_out_of_range(square))


def _special_log_plus_one(z: Array) -> Array:
    return np.log(_add_real(z, 1.0))


# --- roots and powers -----------------------------------------------------------------------------------------------


def _sqrt(a: Array, b: Array) -> Pair:
    """Return the square root for parts of complex<f32>, whose squares neither overflow nor underflow in f64."""
    large = np.sqrt(0.5 * (np.abs(a) + np.sqrt(a * a + b * b)))
    small = 0.5 * np.abs(b) / large
    return np.where(a < 0, small, large), np.copysign(np.where(a < 0, large, small), b)


def _rsqrt(a: Array, b: Array) -> Pair:
    """Return 1/s = conj(s) / |s|**2 for s = sqrt(z), with the operand scaled by a power of 4."""
    half = max_exponent(a, b) // 2
    a, b = np.ldexp(a, -2 * half), np.ldexp(b, -2 * half)
    root, modulus = np.sqrt(from_parts(a, b)), np.hypot(a, b)
    return np.ldexp(root.real / modulus, -half), np.ldexp(-root.imag / modulus, -half)


def _special_rsqrt(z: Array) -> Array:
    return divide(COMPLEX128)(np.ones_like(z), np.sqrt(z))


def _cbrt(a: Array, b: Array) -> Pair:
    """Return the root with a third of the angle, with the operand scaled by a power of 8."""
    third = max_exponent(a, b) // 3
    modulus = np.ldexp(accurate_cbrt(np.hypot(np.ldexp(a, -3 * third), np.ldexp(b, -3 * third))), third)
    angle = libm.arctan2(b, a) / 3.0
    imag = np.where(np.abs(angle) < 2.0**-500, b / (3.0 * modulus * modulus), modulus * libm.sin(angle))
    return modulus * libm.cos(angle), imag


def _special_cbrt(z: Array) -> Array:
    log = np.log(z)
    return np.exp(from_parts(log.real / 3.0, log.imag / 3.0))


def _power(a: Array, b: Array, c: Array, d: Array) -> Pair:
    """Return e**(w log z) for parts of complex<f32>; NaN for zeros, infinities and NaNs."""
    real, imag, is_unsure = _power_by_angle(a, b, c, d)
    if is_unsure.any():
        in_long_double = [x[is_unsure].astype(LONG_DOUBLE) for x in (a, b, c, d)]
        real[is_unsure], imag[is_unsure], _ = _power_by_angle(*in_long_double)
    return real, imag


def _power_of_double(a: Array, b: Array, c: Array, d: Array) -> Pair:
    """Do the same for parts of complex<f64>, in long double or, where its errors may be too large, exactly."""
    real, imag, is_unsure = _power_by_angle(a, b, c, d)
    if is_unsure.any():
        operands = zip(*[x[is_unsure].astype(FLOAT64).tolist() for x in (a, b, c, d)])
        parts = [[x or 0.0 for x in exact.decided(exact.power)(*row)] for row in within_time(operands)]
        real[is_unsure], imag[is_unsure] = np.array(parts).T
    return real, imag


def _power_by_angle(a: Array, b: Array, c: Array, d: Array) -> tuple[Array, Array, Array]:
    """Return the parts of the power, and where the errors of angle and radius may be too large for a part.

    Right angles are counted separately, so that they cost no accuracy; the sign of a zero angle is kept.
    """
    log, spread, turns, rest = _logarithm_in_right_angles(a, b)
    exponent = c * log - d * (turns * _right_angle(a) + rest)
    radius = np.exp(exponent)
    first, second, turns = np.where(c == 0, 0.0, c * rest), d * log, c * turns
    whole, angle = _reduce_angle(turns, np.where(d == 0, first, first + second))
    cosine, sine = np.cos(angle), np.sin(angle)
    size = np.abs(first) + np.abs(second) + np.abs(turns - np.rint(turns))
    nearest = np.minimum(np.abs(cosine), np.abs(sine))
    if a.dtype == LONG_DOUBLE:  # where the error of the logarithm counts, too, and fewer bits can be lost
        is_unsure = (nearest < 2.0**-8 * (size + np.abs(d) * spread)) | (np.abs(c) * spread > 2.0**10)
        is_unsure &= (size < _LARGEST_ANGLE) & (np.abs(turns) < _LARGEST_ANGLE) & (np.abs(exponent) < 1000.0)
    else:
        is_unsure = nearest < 2.0**-20 * size
    return *_rotate(radius * cosine, radius * sine, whole), is_unsure


def _reduce_angle(turns: Array, angle: Array) -> Pair:
    """Reduce `turns` right angles plus `angle` to a number of right angles and the rest of the angle.

    The number is in -3, ..., 3; the rest is at most half a right angle in magnitude.
    """
    whole = np.rint(turns)
    angle = np.where(turns == whole, angle, angle + (turns - whole) * _right_angle(angle))
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
    turns, is_turned = np.where(is_steep, 1.0, np.where(is_left, 2.0, 0.0)), is_steep ^ is_left
    turns += np.where(is_diagonal, np.where(is_turned, -0.5, 0.5), 0.0)
    spread = np.maximum(np.abs(log), np.where(large < 1.0, small * small, 0.0))
    return log, spread, np.copysign(turns, b), np.where(is_turned ^ np.signbit(b), -rest, rest)


# --- public ---------------------------------------------------------------------------------------------------------

exponential_minus_one = elementary(
    _exponential_minus_one,
    _special_exponential_minus_one,
    complex_double.exponential_minus_one,
    exact.exponential_minus_one,
)
log = elementary(_log, np.log, np.log, exact.log)
log_plus_one = elementary(_log_plus_one, _special_log_plus_one, complex_double.log_plus_one, exact.log_plus_one)
logistic = elementary(_logistic, _special_logistic, complex_double.logistic, exact.logistic)
sqrt = elementary(_sqrt, np.sqrt, np.sqrt, exact.sqrt)
rsqrt = elementary(_rsqrt, _special_rsqrt, complex_double.rsqrt, exact.rsqrt)
cbrt = elementary(_cbrt, _special_cbrt, complex_double.cbrt, exact.cbrt)

sine = elementary(_sine, np.sin, np.sin, exact.sine)
cosine = elementary(_cosine, np.cos, np.cos, exact.cosine)
tan = elementary(_tan, np.tan, np.tan, exact.tan)
tanh = elementary(_tanh, np.tanh, np.tanh, exact.tanh)
exponential = elementary(_exponential, _special_exponential, complex_double.exponential, exact.exponential)
power = with_reproducible_kernel(by_default(_power, np.power, _power_of_double), COMPLEX128, exact.power_of_complex)


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


atan2 = with_reproducible_kernel(
    cache(lambda dtype: computed_in(COMPLEX128, _atan2, dtype)),
    COMPLEX128,
    exact.angle_of_quotient,
)


# --- CHLO -----------------------------------------------------------------------------------------------------------


def _of_numpy(function: np.ufunc, in_multiple_precision: exact.Function) -> KernelFactory:
    """Return a factory from numpy's `function`, which computes in f64 or, for complex<f64>, in long double.

    In the reproducible mode complex<f64> is computed by `exact`, in multiple precision.
    """
    factory = cache(
        lambda dtype: (
            computed_in(COMPLEX128, function, dtype) if dtype == COMPLEX64 else complex_double.by_numpy(function)
        )
    )
    return with_reproducible_kernel(factory, COMPLEX128, exact.replaced_by(in_multiple_precision))


def _formula(function: ArrayKernel, reproducible: exact.Replace) -> KernelFactory:
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


acos = _of_numpy(np.arccos, exact.acos)
acosh = _of_numpy(np.arccosh, exact.acosh)
asin = _of_numpy(np.arcsin, exact.asin)
asinh = _of_numpy(np.arcsinh, exact.asinh)
atan = _of_numpy(np.arctan, exact.atan)
atanh = _of_numpy(np.arctanh, exact.atanh)
cosh = _of_numpy(np.cosh, exact.cosh)
sinh = _of_numpy(np.sinh, exact.sinh)
square = _formula(_square, exact.square)  # 1.5 ULP
asin_acos_kernel = _formula(_kernel, exact.replaced_by(exact.asin_acos_kernel))
