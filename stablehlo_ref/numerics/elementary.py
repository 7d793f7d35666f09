"""Kernel factories of elementary functions of floating-point numbers (spec, "Operations": the op of that name).

Formats up to f32 compute in f64 and round once, correctly for f32. The errors stated for f64 are the largest observed
over special values and millions of random ones, on x86-64 with AVX-512, where numpy has its own implementations;
elsewhere it uses the platform's C library for most of them.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.numerics import double_double, libm
from stablehlo_ref.numerics import multiple_precision as precise
from stablehlo_ref.numerics.blocks import computed_in
from stablehlo_ref.numerics.conversion import convert
from stablehlo_ref.numerics.correct_rounding import (
    EIGHT_ULP,
    in_mode,
    rounded_to_f32,
    rounded_to_f32_if_small,
    rounded_to_f64,
    with_reproducible_kernel,
)
from stablehlo_ref.numerics.double_double import two_product, two_sum
from stablehlo_ref.numerics.dtypes import FLOAT32, FLOAT64, float_info
from stablehlo_ref.numerics.exact_sums import round_to_odd
from stablehlo_ref.numerics.floats import binary, predicate, unary
from stablehlo_ref.numerics.kernels import ArrayKernel, KernelFactory, same_kernel
from stablehlo_ref.numerics.libm import by_one_loop, in_long_double, widened
from stablehlo_ref.numerics.multiple_precision import Function, exactly

_SHORT = 1 << 11  # elements: below this, one slow call costs less than several fast ones


@dataclass(frozen=True)
class Elementary:
    """An elementwise function of floating-point numbers, and how accurate its implementations are.

    Attributes
    ----------
    in_double : of f64 arrays or scalars, to a new array; for formats up to f32, whose results are rounded from it
    exact : in multiple precision, for results of f32 that the error of `in_double` leaves in doubt
    error : the largest relative error of `in_double`; 0 if its results round to f32 as exact ones do
    absolute : the largest error where results are small because terms cancel
    double : the kernel of f64
    in_long_double : of long doubles, with errors of `error` and `absolute` times `libm.ERROR`
    is_precise : whether the relative error of `in_long_double` is below `PRECISE`, so that it decides most roundings
    is_binary : whether it has two operands

    """

    in_double: ArrayKernel
    exact: Function
    error: float = EIGHT_ULP
    absolute: float = 0.0
    _: KW_ONLY
    double: ArrayKernel
    in_long_double: ArrayKernel
    is_precise: bool = True
    is_binary: bool = False


def of_numpy(ufunc: np.ufunc, exact: Function, **attributes: Any) -> Elementary:
    """Return a function that numpy has for all of f64 and long double."""
    return Elementary(ufunc, exact, double=ufunc, in_long_double=ufunc, **attributes)


def kernels(function: Elementary) -> KernelFactory:
    """Return the kernel factory of a function.

    Functions that are not ufuncs have many temporaries and run block by block. In the reproducible mode f64 is
    correctly rounded.
    """
    wide = {FLOAT32: _single(function), FLOAT64: _double(function.double)}
    arity = binary if function.is_binary else unary
    # Kernels for narrower formats have results of f64, so that these are rounded once.
    narrow = arity(same_kernel(computed_in(FLOAT64, function.in_double, FLOAT64)))
    return with_reproducible_kernel(
        lambda dtype: wide[dtype] if dtype in wide else narrow(dtype), FLOAT64, lambda double: _exact(function, double)
    )


def _double(double: ArrayKernel) -> ArrayKernel:
    return by_one_loop(double) if isinstance(double, np.ufunc) else computed_in(FLOAT64, double, FLOAT64)


def _exact(function: Elementary, double: ArrayKernel) -> ArrayKernel:
    """Return the f64 kernel with correctly rounded results."""
    if function.is_precise and libm.IS_WIDE:
        return rounded_to_f64(function.in_long_double, function.exact)
    return precise.correctly_rounded(function.exact, double)


def _single(function: Elementary) -> ArrayKernel:
    in_double, error, absolute = function.in_double, function.error, function.absolute
    if not error:
        return computed_in(FLOAT64, in_double, FLOAT32)
    fallback = exactly(function.exact)
    if not function.is_precise:
        errors = error * libm.ERROR, absolute * libm.ERROR
        fallback = rounded_to_f32(widened(function.in_long_double), fallback, *errors)
    single = computed_in(FLOAT64, rounded_to_f32(in_double, fallback, error, absolute), FLOAT32)
    return single if function.is_binary else rounded_to_f32_if_small(single, in_double, error, absolute)


# --- functions of f64 -----------------------------------------------------------------------------------------------


_UNDERFLOW = -110.0  # exp(-110) rounds to 0 in all formats but f64


def _exponential(x: Array) -> Array:
    """Return exp(x), for smaller formats than f64; C libraries take several times as long where it underflows."""
    if x.size >= _SHORT and np.minimum.reduce(x, axis=None) < _UNDERFLOW:
        x = np.maximum(x, _UNDERFLOW)
    return np.exp(x)


def _is_vectorized() -> bool:
    """Return whether numpy's functions of f64 are vectorized: with AVX-512; of sine and cosine only the tangent is."""
    config = np.show_config(mode="dicts") or {}
    found = config.get("SIMD Extensions", {}).get("found", [])
    return not {"AVX512_SKX", "X86_V4"}.isdisjoint(found)


_IS_VECTORIZED = _is_vectorized()


def _half_angle_tangent(x: Array) -> Array:
    """Return t = tan(x/2), for which sin(x) = 2t / (1 + t*t) and cos(x) = (1 - t*t) / (1 + t*t)."""
    return np.tan(x * 0.5)


def _sine(x: Array) -> Array:
    t = _half_angle_tangent(x)
    return 2.0 / (1.0 / t + t)


def _cosine(x: Array) -> Array:
    t = _half_angle_tangent(x)
    t *= t
    result = (1.0 - t) / (1.0 + t)
    cancelled = np.abs(result) < 2.0**-6
    return np.cos(x, out=np.asarray(result), where=cancelled) if cancelled.any() else result


def _logistic(x: Array) -> Array:
    result = np.exp(-x)
    result += 1.0
    return 1.0 / result


def _accurate_logistic(x: Array) -> Array:
    e, e_low = double_double.exponential(np.clip(x, -40.0, 40.0))
    high, low = double_double.two_sum(1.0, e)
    return np.where(x < -39.0, libm.exp(x), double_double.divide((e, e_low), (high, low + e_low)))


def _accurate_tanh(x: Array) -> Array:
    """Return (e**2x - 1) / (e**2x + 1)."""
    e, e_low = double_double.exponential_minus_one(2.0 * np.minimum(np.abs(x), 20.0))
    high, low = double_double.two_sum(2.0, e)
    result = np.copysign(double_double.divide((e, e_low), (high, low + e_low)), x)
    return np.where(np.abs(x) < 2.0**-28, x, result)


def _rsqrt(x: Array) -> Array:
    return 1.0 / np.sqrt(x)


def _accurate_rsqrt(x: Array) -> Array:
    """Refine with a Newton step, with 1 - x*y*y computed exactly; x*y is about sqrt(x), so that nothing overflows."""
    y = _rsqrt(x)
    root, root_low = double_double.two_product(x, y)
    one, one_low = double_double.two_product(root, y)
    correction = 0.5 * y * ((1.0 - one) - one_low - root_low * y)
    return np.where(np.isnan(correction), y, y + correction)


def accurate_cbrt(x: Array) -> Array:
    """Refine with a Newton step, with x - y*y*y computed exactly, for an operand scaled by a power of 8.

    Results of C libraries have errors of up to 1 ULP, also for cubes of integers.
    """
    mantissa, exponent = np.frexp(x)
    third = exponent // 3
    scaled = np.ldexp(mantissa, exponent - 3 * third)
    y = libm.cbrt(scaled)
    square, square_low = double_double.two_product(y, y)
    cube, cube_low = double_double.two_product(square, y)
    residual = (scaled - cube) - cube_low - square_low * y
    refined = np.ldexp(y + residual / (3.0 * square), third)
    return np.where(np.isfinite(x) & (x != 0.0), refined, x)


def _atan2(y: Array, x: Array) -> Array:
    """Return slightly smaller angles: for tiny y / x they may be below a tie of subnormals by less than an ULP."""
    return np.arctan2(y, x) * (1.0 - 2.0**-53)


# --- public ---------------------------------------------------------------------------------------------------------


# Errors of f64 are at most 0.8 ULP, 1.0 for `power`; `power` has the special values of C.
exponential = kernels(Elementary(_exponential, precise.exponential, double=np.exp, in_long_double=np.exp))
exponential_minus_one = kernels(of_numpy(np.expm1, precise.exponential_minus_one))
log = kernels(of_numpy(np.log, precise.log))
log_plus_one = kernels(of_numpy(np.log1p, precise.log_plus_one))
logistic = kernels(Elementary(_logistic, precise.logistic, double=_accurate_logistic, in_long_double=_logistic))
power = kernels(of_numpy(np.power, precise.power, is_binary=True))
exp2 = kernels(of_numpy(np.exp2, precise.exp2))
log2 = kernels(of_numpy(np.log2, precise.log2))
log10 = kernels(of_numpy(np.log10, precise.log10))
# Of f32, results are at least 10 ULP of f64 from a tie, or correctly rounded by IEEE-754 operations alone.
cbrt = kernels(Elementary(np.cbrt, precise.cbrt, error=0.0, double=accurate_cbrt, in_long_double=np.cbrt))
rsqrt = kernels(Elementary(_rsqrt, precise.rsqrt, error=0.0, double=_accurate_rsqrt, in_long_double=_rsqrt))

sine = kernels(Elementary(_sine if _IS_VECTORIZED else np.sin, precise.sine, double=np.sin, in_long_double=np.sin))
cosine = kernels(
    Elementary(
        _cosine if _IS_VECTORIZED else np.cos, precise.cosine, error=2.0**-45, double=np.cos, in_long_double=np.cos
    )
)
tan = kernels(of_numpy(np.tan, precise.tan))
tanh = kernels(Elementary(np.tanh, precise.tanh, double=_accurate_tanh, in_long_double=np.tanh))
acos = kernels(of_numpy(np.arccos, precise.acos))
asin = kernels(of_numpy(np.arcsin, precise.asin))
atan = kernels(of_numpy(np.arctan, precise.atan))
atan2 = kernels(Elementary(_atan2, precise.atan2, double=np.arctan2, in_long_double=np.arctan2, is_binary=True))
acosh, asinh, atanh, cosh, sinh = (
    kernels(Elementary(ufunc, exact, double=in_long_double(ufunc), in_long_double=ufunc))
    for ufunc, exact in (
        (np.arccosh, precise.acosh), (np.arcsinh, precise.asinh), (np.arctanh, precise.atanh),
        (np.cosh, precise.cosh), (np.sinh, precise.sinh)
    )
)  # fmt: skip


# --- MLIR's math dialect ---------------------------------------------------------------------------------------------

trunc = unary(same_kernel(np.trunc))
copysign = binary(same_kernel(np.copysign))
is_nan = predicate(np.isnan)
is_inf = predicate(np.isinf)


def is_normal(dtype: DType) -> ArrayKernel:
    """Return the kernel of whether a number is neither zero, subnormal, infinite nor NaN."""
    smallest = float(float_info(dtype).smallest_normal)
    widen = convert(dtype, FLOAT64)

    def run(x: Array) -> Array:
        magnitude = np.abs(widen(x))
        result: Array = np.isfinite(magnitude) & np.greater_equal(magnitude, smallest)
        return result

    return run


def power_of_integer(dtype: DType, exponent: DType, reproducible: bool = False) -> ArrayKernel:
    """Return the kernel of a float to the power of an integer."""
    raise_to, widen = in_mode(power, reproducible)(FLOAT64), convert(exponent, FLOAT64)
    as_double, narrow = convert(dtype, FLOAT64), convert(FLOAT64, dtype)
    return lambda x, n: narrow(raise_to(as_double(x), widen(n)))


def fused_multiply_add(dtype: DType) -> ArrayKernel:
    """Return the kernel of x * y + z, rounded once."""
    widen, narrow = convert(dtype, FLOAT64), convert(FLOAT64, dtype)
    if dtype == FLOAT64:
        return _fused_double
    return lambda x, y, z: narrow(round_to_odd(*two_sum(widen(x) * widen(y), widen(z)))[()])


def _fused_double(x: Array, y: Array, z: Array) -> Array:
    """Return x * y + z as Boldo and Melquiond do; next to overflow and underflow with two roundings."""
    high, low = two_product(x, y)
    partial, rest = two_sum(z, low)
    total, error = two_sum(high, partial)
    result = total + round_to_odd(*two_sum(rest, error))
    plain = np.where(np.isinf(z) & np.isfinite(x) & np.isfinite(y), z, x * y + z)  # the product may overflow
    size = np.abs(x * y)
    is_safe = np.isfinite(result) & (size > 2.0**-960) & (np.maximum(np.abs(x), np.abs(y)) < 2.0**990)
    return np.where(is_safe, result, plain)[()]
