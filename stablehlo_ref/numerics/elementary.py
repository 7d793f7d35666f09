"""Kernel factories of elementary functions of floating-point numbers (spec, "Operations": the op of that name).

Formats up to f32 compute in f64 and round once, correctly for f32. The errors stated for f64 are the largest observed
over special values and millions of random ones, on x86-64 with AVX-512, where numpy has its own implementations;
elsewhere it uses the platform's C library for most of them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from stablehlo_ref import mode
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.numerics import double_double, libm, long_double
from stablehlo_ref.numerics import multiple_precision as precise
from stablehlo_ref.numerics.blocks import blockwise
from stablehlo_ref.numerics.correct_rounding import EIGHT_ULP, certain, quickly_certain
from stablehlo_ref.numerics.dtypes import FLOAT32, FLOAT64
from stablehlo_ref.numerics.floats import binary, unary
from stablehlo_ref.numerics.kernels import ArrayKernel, KernelFactory, same_kernel
from stablehlo_ref.numerics.libm import by_one_loop
from stablehlo_ref.numerics.long_double import in_long_double, widened
from stablehlo_ref.numerics.multiple_precision import Function, correctly_rounded, exactly
from stablehlo_ref.numerics.portable.functions import CORRECTLY_ROUNDED
from stablehlo_ref.numerics.single import circular, logarithm
from stablehlo_ref.numerics.single import exponential as exponentials
from stablehlo_ref.numerics.single.kernel import Approximation, by_tables

_SHORT = 1 << 11  # elements: below this, one slow call costs less than several fast ones


def elementary(
    function: ArrayKernel,
    double: ArrayKernel | None = None,
    narrower: ArrayKernel | None = None,
    arity: Callable[[KernelFactory], KernelFactory] = unary,
    exact: Function | None = None,
    error: float = EIGHT_ULP,
    portable: Function | None = None,
    refined: ArrayKernel | None = None,
    absolute: float = 0.0,
    tables: Approximation | None = None,
    of_numpy: bool = True,
) -> KernelFactory:
    """Return a factory from a `function` of f64 arrays that is accurate enough to be rounded to f32.

    Kernels for f64 and for formats narrower than f32 use `double` and `narrower` instead, if given. Functions that are
    not ufuncs have many temporaries and run block by block. With `exact`, results of f32 are correctly rounded; `error`
    is the largest relative error of `function`, and `absolute` that where terms cancel. Large f32 arrays are computed
    by `tables`, if given, and what that leaves in doubt by `function`, unless this consists of functions of numpy
    (`of_numpy`) that are vectorized, and so as fast. `refined` is a function of long doubles: rounded once, it is
    `double`, and results in doubt are computed by it before they are by `exact`. In a reproducible mode f64 uses the
    correctly rounded implementation of `exact`, or `portable` if given: that by pairs, or else one in multiple
    precision. So do functions of long doubles that pairs compute where these are no wider than f64.
    """
    is_needed = double is None and refined is not None and not long_double.IS_WIDE
    double = double or (in_long_double(refined) if refined else function)
    wide = {FLOAT64: by_one_loop(double) if isinstance(double, np.ufunc) else blockwise(double, FLOAT64, FLOAT64)}
    settle = exactly(exact) if exact else None
    if settle and refined:
        settle = certain(widened(refined), settle, long_double.ERROR)
    single = certain(function, settle, error, absolute) if settle else function
    wide[FLOAT32] = blockwise(single, FLOAT64, FLOAT32)
    if tables and not (of_numpy and _IS_VECTORIZED):
        wide[FLOAT32] = by_tables(tables, wide[FLOAT32])
    if settle and arity is unary:
        wide[FLOAT32] = quickly_certain(wide[FLOAT32], function, error, absolute)
    # Kernels for narrower formats have results of f64, so that these are rounded once.
    narrow = arity(same_kernel(blockwise(narrower or function, FLOAT64, FLOAT64)))
    return in_mode(lambda dtype: wide[dtype] if dtype in wide else narrow(dtype), portable or exact, is_needed)


def in_mode(factory: KernelFactory, exact: Function | None, is_needed: bool) -> KernelFactory:
    """Return the factory whose kernels for f64 are correctly rounded in a reproducible mode, or always if `is_needed`.

    It raises NotReproducibleError if the mode needs such a kernel and there is no `exact`.
    """

    def choose(dtype: DType) -> ArrayKernel:
        reproducible = mode.current().reproducible
        if dtype != FLOAT64 or not (is_needed or reproducible):
            return factory(dtype)
        if exact in CORRECTLY_ROUNDED:
            return CORRECTLY_ROUNDED[exact]
        if not reproducible:
            return factory(dtype)
        if exact is None:
            raise mode.NotReproducibleError(f"there is no reproducible implementation for {dtype}")
        return correctly_rounded(exact, factory(dtype))

    return choose


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


def _atan2_below_ties(y: Array, x: Array) -> Array:
    """Return slightly smaller angles: for tiny y / x they may be below a tie of subnormals by less than an ULP."""
    return np.arctan2(y, x) * (1.0 - 2.0**-53)


# --- public ---------------------------------------------------------------------------------------------------------

exponential = elementary(
    _exponential, np.exp, exact=precise.exponential, tables=exponentials.exponential
)  # f64: 0.70 ULP
exponential_minus_one = elementary(
    np.expm1, exact=precise.exponential_minus_one, tables=exponentials.exponential_minus_one
)  # f64: 0.53 ULP
log = elementary(np.log, exact=precise.log, tables=logarithm.log)  # f64: 0.60 ULP
log_plus_one = elementary(np.log1p, exact=precise.log_plus_one, tables=logarithm.log_plus_one)  # f64: 0.61 ULP
logistic = elementary(
    _logistic, _accurate_logistic, exact=precise.logistic, tables=exponentials.logistic
)  # f64: 0.75 ULP
power = elementary(np.power, arity=binary, exact=precise.power)  # f64: 1.0 ULP; special values as in C
cbrt = elementary(
    np.cbrt, accurate_cbrt, portable=precise.cbrt
)  # f64: 0.51 ULP; of f32: at least 10 ULP of f64 from a tie
rsqrt = elementary(
    _rsqrt, _accurate_rsqrt, portable=precise.rsqrt
)  # f64: 0.76 ULP; of f32: correctly rounded by IEEE-754 operations alone

sine = elementary(
    _sine if _IS_VECTORIZED else np.sin, np.sin, exact=precise.sine, tables=circular.sine
)  # f64: 0.52 ULP
cosine = elementary(
    _cosine if _IS_VECTORIZED else np.cos,
    np.cos,
    exact=precise.cosine,
    error=2.0**-45,
    tables=circular.cosine,
)  # f64: 0.57 ULP
tan = elementary(np.tan, exact=precise.tan)  # f64: 0.57 ULP
tanh = elementary(np.tanh, _accurate_tanh, exact=precise.tanh, tables=exponentials.tanh)  # f64: 0.79 ULP
atan2 = elementary(np.arctan2, narrower=_atan2_below_ties, arity=binary, exact=precise.atan2)  # f64: 0.78 ULP
