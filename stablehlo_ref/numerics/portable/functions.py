"""The elementary functions of f64, rounded correctly, by their functions in multiple precision."""

from __future__ import annotations

import math
from collections.abc import Callable
from math import pi

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics import multiple_precision as precise
from stablehlo_ref.numerics.double_double import Pair, fast_two_sum, two_product
from stablehlo_ref.numerics.kernels import ArrayKernel
from stablehlo_ref.numerics.multiple_precision import Function
from stablehlo_ref.numerics.portable import angles, circular, exponential, formulas, logarithm
from stablehlo_ref.numerics.portable.formulas import ERROR, QUICK_EXPONENTIAL_ERROR, QUICK_LOGARITHM_ERROR, stages
from stablehlo_ref.numerics.portable.pairs import add, exactly, multiply, negate, scale
from stablehlo_ref.numerics.portable.ziv import Domain, Stage, approximation, correctly_rounded

QUICK_POWER_ERROR = 2.0**-60.8  # 2**-61.4 of the exponential, and 2**-70 of the logarithm times up to 2**9.5
SMALLEST_NORMAL = 2.0**-1022
TINY = 2.0**-28  # for odd functions f with |f(x) - x| <= |x|**3 / 2: f(x) rounds to x up to this
MODERATE = 2.0**400
BELOW_NORMAL = math.nextafter(SMALLEST_NORMAL, 0.0)
ABOVE_ONE, BELOW_ONE = math.nextafter(1.0, 2.0), math.nextafter(1.0, 0.0)


def _stage(function: Callable[..., Pair], error: float = ERROR) -> Stage:
    return Stage(approximation(function), error)


def _where(*cases: Array | float) -> Array:
    """Return the value after the first condition that is true, NaN if none is."""
    value: Array | float = np.nan
    for condition, result in reversed(list(zip(cases[::2], cases[1::2]))):
        value = np.where(np.asarray(condition), result, value)
    return np.asarray(value)


def _between(low: float, high: float) -> Callable[[Array], Array]:
    return lambda x: np.greater(x, low) & np.less(x, high)


def _inside(low: float, high: float) -> Callable[[Array], Array | bool]:
    """Return the test of low < x < high; extrema tell so for most arrays at once."""
    between = _between(low, high)
    return lambda x: bool(x.min() > low and x.max() < high) or between(x)


def _magnitude(low: float, high: float) -> Callable[[Array], Array | bool]:
    inside = _inside(low, high)
    return lambda x: inside(np.abs(x))


# --- exponentials ---------------------------------------------------------------------------------------------------


def _exponential_of(x: Array) -> tuple[Array, Array, Array]:
    (high, low), exponent = exponential.of_pair(exactly(x))
    return high, low, exponent


# --- powers and roots -----------------------------------------------------------------------------------------------


def _signs(x: Array, y: Array) -> Array:
    """Return the signs of powers with an integer exponent."""
    return np.where((x < 0) & (np.fmod(y, 2.0) != 0), -1.0, 1.0)


def _quick_power(x: Array, y: Array) -> tuple[Array, Array, Array]:
    log, low = logarithm.quick(np.abs(x))
    high, error = two_product(log, y)
    high, low, exponent = exponential.quick_of_pair(fast_two_sum(high, error + low * y))
    if x.min() > 0:
        return high, low, exponent
    sign = _signs(x, y)
    return high * sign, low * sign, exponent


def _power(x: Array, y: Array) -> tuple[Array, Array, Array]:
    power, exponent = exponential.of_pair(multiply(logarithm.of_normal(np.abs(x)), exactly(y)))
    return *scale(power, _signs(x, y)), exponent


def _power_exponent(x: Array, y: Array) -> Array:
    """Return y log2|x|, with a small error."""
    product: Array = y * np.log2(np.abs(x))
    return product


def _is_real(x: Array, y: Array) -> Array:
    """Return where a power of finite numbers other than 0 is a real number."""
    finite = np.isfinite(x) & np.isfinite(y) & (x != 0)
    real: Array = finite & ((x > 0) | (np.rint(y) == y))
    return real


def _has_moderate_powers(x: Array, y: Array) -> Array | bool:
    """Return where a power is a real number with a moderate exponent; extrema tell so for most arrays at once."""
    if x.min() >= SMALLEST_NORMAL and x.max() < np.inf:
        exponent = 1 + max(abs(np.frexp(x.min())[1]), abs(np.frexp(x.max())[1]))
        if max(abs(y.min()), abs(y.max())) * exponent < 1000:
            return True
    return _is_real(x, y) & (np.abs(_power_exponent(x, y)) < 1000) & (np.abs(x) >= SMALLEST_NORMAL)


_POWER = Domain(
    _has_moderate_powers,
    lambda x, y: np.where(np.isnan(result := np.power(x, y)), np.nan, result),
    lambda x, y: _is_real(x, y) & (np.abs(_power_exponent(x, y)) < 1100),
)


def _cbrt(x: Array) -> tuple[Array, Array, Array]:
    """Refine an approximation y by (x - y**3) / (3 y**2); NaN if y has an error above 2**-45."""
    mantissa, exponent = np.frexp(x)
    third = exponent // 3
    value = np.ldexp(mantissa, exponent - 3 * third)
    y = np.cbrt(value)
    square = two_product(y, y)
    rest = add(exactly(value), negate(multiply(square, exactly(y))))
    correction = rest[0] / (3.0 * square[0])
    correction = np.where(np.abs(correction) < 2.0**-45 * np.abs(y), correction, np.nan)
    return y, correction, third.astype(np.int64)


def _rsqrt(x: Array) -> Pair:
    """Refine y = 1 / sqrt(x) with d = 1 - x y**2: y (1 + d/2 + 3/8 d**2)."""
    y = 1.0 / np.sqrt(x)
    rest = add(exactly(np.ones_like(x)), negate(multiply(two_product(x, y), exactly(y))))[0]
    return y, y * (0.5 * rest + 0.375 * rest * rest)


# --- angles ---------------------------------------------------------------------------------------------------------


def _atan2_of_axes(y: Array, x: Array) -> Array:
    """Return the angles of points with a coordinate that is 0 or infinite."""
    infinite = np.isinf(x) | np.isinf(y)
    a, b = (np.where(infinite, np.where(np.isinf(part), 1.0, 0.0), np.abs(part)) for part in (y, x))
    left = np.signbit(x)
    angle = _where(
        np.isnan(x) | np.isnan(y), np.nan, a == 0, np.where(left, pi, 0.0), b == 0, pi / 2, a == b,
        np.where(left, 3 * pi / 4, pi / 4),
    )  # fmt: skip
    return np.copysign(angle, y)


_ATAN2 = Domain(
    lambda y, x: _magnitude(1 / MODERATE, MODERATE)(x) & _magnitude(1 / MODERATE, MODERATE)(y),
    lambda y, x: np.where(np.isinf(x) | np.isinf(y) | (x == 0) | (y == 0), _atan2_of_axes(y, x), np.nan),
    lambda y, x: np.isfinite(x) & np.isfinite(y) & (x != 0) & (y != 0),
)


# --- all ------------------------------------------------------------------------------------------------------------


def _odd(largest: float, limit: Callable[[Array], Array], hard: Callable[[Array], Array], tiny: float = TINY) -> Domain:
    """Return the domain of a function that rounds to its operand where that is tiny."""
    return Domain(
        _magnitude(tiny, largest),
        lambda x: np.where(np.abs(x) <= tiny, x, limit(x)),
        lambda x: (np.abs(x) > tiny) & hard(x),
    )


def _nowhere(x: Array) -> Array:
    return np.zeros(x.shape, np.bool)


def _nan(x: Array) -> Array:
    return np.full(x.shape, np.nan)


def _growing(limit: float, below: float) -> Domain:
    """Return the domain of an exponential that overflows and underflows within 50 of `limit`."""
    return Domain(
        _inside(-limit, limit),
        lambda x: _where(x >= limit, np.inf, x <= -limit, below),
        lambda x: np.abs(x) < limit + 60,
    )


_POSITIVE = Domain(
    _inside(BELOW_NORMAL, np.inf),
    lambda x: _where(x == 0, -np.inf, x == np.inf, np.inf),
    lambda x: (x > 0) & (x < SMALLEST_NORMAL),
)
_ANGLE = _odd(circular.LARGEST, _nan, np.isfinite)

CORRECTLY_ROUNDED: dict[Function, ArrayKernel] = {
    exact: correctly_rounded(stages, exact, domain)
    for exact, stages, domain in (
        (precise.exponential,
         [Stage(exponential.quick, exponential.QUICK_ERROR), Stage(_exponential_of, ERROR)], _growing(700.0, 0.0)),
        (precise.exp2, [Stage(exponential.quick_exp2, exponential.QUICK_ERROR),
                        Stage(exponential.of_product_with_log2, ERROR)], _growing(1020.0, 0.0)),
        (precise.exponential_minus_one,
         [_stage(exponential.quick_minus_one, exponential.QUICK_MINUS_ONE_ERROR),
          _stage(lambda x: exponential.minus_one(exactly(x)))],
         _odd(700.0, lambda x: _where(x > 0, np.inf, x < 0, -1.0), _between(600.0, 760.0), 2.0**-54)),
        (precise.logistic, stages(formulas.logistic, QUICK_EXPONENTIAL_ERROR),
         Domain(_inside(-700.0, 40.0), lambda x: _where(x >= 40, 1.0, x <= -700, 0.0), _between(-760.0, -600.0))),
        (precise.tanh, stages(formulas.tanh, QUICK_EXPONENTIAL_ERROR),
         _odd(20.0, lambda x: np.where(np.isnan(x), np.nan, np.copysign(1.0, x)), _nowhere)),
        (precise.sinh, stages(formulas.sinh, QUICK_EXPONENTIAL_ERROR),
         _odd(700.0, lambda x: np.where(np.isnan(x), np.nan, np.copysign(np.inf, x)), lambda x: np.abs(x) < 760)),
        (precise.cosh, stages(formulas.cosh, QUICK_EXPONENTIAL_ERROR),
         Domain(_inside(-700.0, 700.0), lambda x: np.where(np.isnan(x), np.nan, np.inf), lambda x: np.abs(x) < 760)),
        (precise.log,
         [_stage(logarithm.quick, logarithm.QUICK_ERROR), _stage(logarithm.of_normal)], _POSITIVE),
        (precise.log2, stages(formulas.log_to_base(2), QUICK_LOGARITHM_ERROR), _POSITIVE),
        (precise.log10, stages(formulas.log_to_base(10), QUICK_LOGARITHM_ERROR), _POSITIVE),
        (precise.log_plus_one,
         [_stage(logarithm.quick_plus_one, logarithm.QUICK_ERROR), _stage(lambda x: logarithm.plus_one(exactly(x)))],
         Domain(lambda x: _magnitude(2.0**-54, 2.0**1000)(x) & _inside(-1.0, np.inf)(x),
                lambda x: _where(np.abs(x) <= 2.0**-54, x, x == -1, -np.inf, x == np.inf, np.inf),
                lambda x: (x >= 2.0**1000) & (x < np.inf))),
        (precise.asinh, stages(formulas.asinh, QUICK_LOGARITHM_ERROR),
         _odd(MODERATE, lambda x: np.where(np.isinf(x), x, np.nan), np.isfinite)),
        (precise.acosh, stages(formulas.acosh, QUICK_LOGARITHM_ERROR),
         Domain(_inside(BELOW_ONE, MODERATE), lambda x: _where(x == np.inf, np.inf),
                lambda x: (x >= MODERATE) & (x < np.inf))),
        (precise.atanh, stages(formulas.atanh, QUICK_LOGARITHM_ERROR),
         _odd(1.0, lambda x: np.where(np.abs(x) == 1, np.copysign(np.inf, x), np.nan), _nowhere)),
        (precise.power,
         [Stage(_quick_power, QUICK_POWER_ERROR), Stage(_power, ERROR)], _POWER),
        (precise.cbrt, [Stage(_cbrt, ERROR)],
         Domain(lambda x: np.isfinite(x) & (x != 0), lambda x: np.where(np.isnan(x), np.nan, x), _nowhere)),
        (precise.rsqrt, [_stage(_rsqrt)],
         Domain(_inside(BELOW_NORMAL, np.inf),
                 lambda x: _where(x == 0, np.copysign(np.inf, x), x == np.inf, 0.0),
                 lambda x: (x > 0) & (x < SMALLEST_NORMAL))),
        (precise.sine, [Stage(circular.quick_sine, circular.QUICK_ERROR),
                        _stage(lambda x: circular.sine_and_cosine(exactly(x))[0])], _ANGLE),
        (precise.cosine, [Stage(circular.quick_cosine, circular.QUICK_ERROR),
                          _stage(lambda x: circular.sine_and_cosine(exactly(x))[1])],
         Domain(_inside(-circular.LARGEST, circular.LARGEST), _nan, np.isfinite)),
        (precise.tan,
         [_stage(circular.quick_tangent, circular.QUICK_TANGENT_ERROR), _stage(circular.tangent)], _ANGLE),
        (precise.asin, stages(formulas.asin, angles.QUICK_ERROR), _odd(ABOVE_ONE, _nan, _nowhere)),
        (precise.acos, stages(formulas.acos, angles.QUICK_ERROR),
         Domain(_inside(-ABOVE_ONE, ABOVE_ONE), _nan, _nowhere)),
        (precise.atan, stages(formulas.atan, angles.QUICK_ERROR),
         _odd(2.0**60, lambda x: np.where(np.isnan(x), np.nan, np.copysign(pi / 2, x)), _nowhere)),
        (precise.atan2, stages(formulas.atan2, angles.QUICK_ERROR), _ATAN2),
    )
}  # fmt: skip
