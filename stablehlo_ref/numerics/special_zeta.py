"""Kernel factories of the Hurwitz zeta function and the derivatives of digamma (CHLO, `zeta`, `polygamma`).

Formats up to f32 compute in f64 and round once, correctly for f32; f64 is computed in long double. Below 0, results
near zeros of the functions are less accurate. Derivatives above the 170th are computed from logarithms, those whose
logarithms would need more digits in multiple precision.
"""

from __future__ import annotations

from math import factorial

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics import libm
from stablehlo_ref.numerics import multiple_precision as precise
from stablehlo_ref.numerics.double_double import two_sum
from stablehlo_ref.numerics.elementary import Elementary, kernels
from stablehlo_ref.numerics.long_double import LONG_DOUBLE, widened
from stablehlo_ref.numerics.multiple_precision import to_nearest
from stablehlo_ref.numerics.piecewise import replace_where
from stablehlo_ref.numerics.special_functions import digamma, lgamma
from stablehlo_ref.numerics.special_tables import ZETA_SERIES

_ERROR = 2.0**-36  # of f64, relative
_TERMS = 10  # summed directly, before the Euler-Maclaurin formula
_LARGEST = 256  # derivative that is computed from logarithms: 2**-63 of them is below 2**-52
_LN_2 = LONG_DOUBLE.type("0.693147180559945309417232121458176568")
_FACTORIALS = np.array([LONG_DOUBLE.type(str(factorial(n))) for n in range(171)])
_PRECISE = to_nearest(precise.polygamma)


# --- the ends of the domain ----------------------------------------------------------------------------------------


def _is_regular(s: Array, q: Array) -> Array:
    """Return whether `q` is not a pole and all powers are real."""
    is_regular: Array = (q > 0) | ((q > -np.inf) & (q != np.rint(q)) & (s == np.rint(s)))
    return is_regular


def _limits(s: Array, q: Array) -> Array:
    """Return the values of zeta at and beyond the ends of the domain, NaN elsewhere."""
    even = np.fmod(s, 2.0) == 0
    pole = np.where(even & (q == np.rint(q)), np.inf, np.nan)
    endless = np.where(q < 1.0, np.inf, np.where(q == 1.0, 1.0, 0.0))
    positive = np.where(s == np.inf, endless, np.where(q == np.inf, 0.0, np.nan))
    result = np.where(q > 0, positive, pole)
    result = np.where(s > 1.0, result, np.where(s == 1.0, np.inf, np.nan))
    return np.where(np.isnan(s) | np.isnan(q), np.nan, result).astype(s.dtype)


def _is_natural(n: Array) -> Array:
    """Return where `n` is a positive integer."""
    natural: Array = (n >= 1.0) & (n < np.inf) & (n == np.rint(n))
    return natural


def _limits_of_polygamma(n: Array, x: Array) -> Array:
    """Return the values for positive `n` at the ends of the domain, NaN elsewhere."""
    sign = np.where(np.fmod(n, 2.0) == 0, -1.0, 1.0)
    return np.where(_is_natural(n), sign * _limits(n + 1.0, x), np.nan)


# --- zeta -----------------------------------------------------------------------------------------------------------


def _zeta(s: Array, q: Array) -> Array:
    s, q = np.broadcast_arrays(s, q)
    regular = (s > 1.0) & (s < np.inf) & (q < np.inf) & _is_regular(s, q)
    return replace_where(_limits(s, q), regular, lambda s, q: _sum(s, q, np.ones_like(q)), s, q)


def _sum(s: Array, q: Array, scale: Array) -> Array:
    """Return the sum of ((q + k) * scale)**-s for k = 0, 1, 2, ...; `scale` is a power of two."""
    return replace_where(_sum_of_positive(s, np.abs(q), scale), q < 0, _reflected_sum, s, q, scale)


def _reflected_sum(s: Array, q: Array, scale: Array) -> Array:
    odd = np.fmod(s, 2.0) != 0
    return replace_where(_sum_of_even_powers(s, q, scale), odd, _sum_of_odd_powers, s, q, scale)


def _sum_of_even_powers(s: Array, q: Array, scale: Array) -> Array:
    """Subtract the sum over negative k from the sum over all integers k, which depends on the fraction of `q` alone."""
    r = q - np.rint(q)
    behind = _sum_of_positive(s, 1.0 - r, scale) - _sum_of_positive(s, 1.0 - q, scale)
    total: Array = libm.power(r * scale, -s) + (_sum_of_positive(s, 1.0 + r, scale) + behind)
    return total


def _sum_of_odd_powers(s: Array, q: Array, scale: Array) -> Array:
    """Sum as `_sum_of_even_powers`; over all integers, each positive term is paired with the nearest negative one."""
    r = q - np.rint(q)
    paired: Array = np.copysign(_sum_of_differences(s, np.abs(r), scale), r)
    return paired + _sum_of_positive(s, 1.0 - q, scale)


def _sum_of_differences(s: Array, q: Array, scale: Array) -> Array:
    """Return the sum over q + k minus that over 1 - q + k, for 0 < q <= 1/2, subtracting the first terms accurately."""
    gap = 1.0 - 2.0 * q
    total = _rest_of_sum(s, q, scale) - _rest_of_sum(s, 1.0 - q, scale)
    for k in range(_TERMS):
        total -= _power(q, k, s, scale) * libm.expm1(-s * libm.log1p(gap / (q + k)))
    return total


def _sum_of_positive(s: Array, q: Array, scale: Array) -> Array:
    """Sum some terms, then use the Euler-Maclaurin formula; powers are corrected for the rounding of q + k."""
    total = np.zeros_like(q)
    for k in range(_TERMS):
        total += _power(q, k, s, scale)
    return total + _rest_of_sum(s, q, scale)


def _rest_of_sum(s: Array, q: Array, scale: Array) -> Array:
    """Return the sum of all terms after the first `_TERMS`, by the Euler-Maclaurin formula."""
    integral = _power(q, _TERMS, s - 1.0, scale) / (s - 1.0) / scale
    last = _power(q, _TERMS, s, scale)
    return np.where(last == 0, integral, integral + last * (0.5 + _corrections(s, q + _TERMS)))


def _power(q: Array, k: int, exponent: Array, scale: Array) -> Array:
    """Return ((q + k) * scale)**-exponent."""
    base, rest = two_sum(q, float(k))
    power: Array = libm.power(base * scale, -exponent)
    return power * (1.0 - exponent * (rest / base))


def _corrections(s: Array, a: Array) -> Array:
    """Return the sum of B(2j) / (2j)! s (s + 1) ... (s + 2j - 2) / a**(2j - 1) for j = 1, 2, ..."""
    factor = s / a
    first, *others = ZETA_SERIES.astype(s.dtype)
    total: Array = first * factor
    for j, coefficient in enumerate(others, 1):
        factor = factor * ((s + (2 * j - 1)) / a) * ((s + 2 * j) / a)
        total += coefficient * factor
    return total


# --- polygamma ------------------------------------------------------------------------------------------------------


def _polygamma(n: Array, x: Array) -> Array:
    """Return (-1)**(n + 1) n! zeta(n + 1, x), with powers scaled so that none is out of range unless the result is."""
    n, x = np.broadcast_arrays(n, x)
    sign = np.where(np.fmod(n, 2.0) == 0, -1.0, 1.0)
    result = replace_where(_limits_of_polygamma(n, x), n == 0, widened(digamma), x)
    regular = _is_natural(n) & (x < np.inf) & _is_regular(n, x)
    large = regular & (n > _LARGEST)
    result = replace_where(result, large, _PRECISE, n, x)
    return replace_where(result, regular & ~large, lambda n, x, sign: sign * _factorial_times_zeta(n, x), n, x, sign)


def _factorial_times_zeta(n: Array, x: Array) -> Array:
    s = n + 1.0
    exponent = np.clip(np.frexp(np.where(x < 0, x - np.rint(x), x))[1], -1000, 1000)
    total = _sum(s, x, np.ldexp(1.0, -exponent))
    small = np.minimum(n, 170.0).astype(np.int64)
    shift = np.clip(-exponent * s, -5000.0, 5000.0).astype(np.int32)
    result = np.ldexp(_FACTORIALS.astype(total.dtype)[small] * total, shift)
    beyond = n > 170.0
    return replace_where(result, beyond, _exponential_of_logs, s, total, exponent)


def _exponential_of_logs(s: Array, total: Array, exponent: Array) -> Array:
    ln_2 = _LN_2.astype(s.dtype)
    return np.sign(total) * libm.exp(lgamma(s) + libm.log(np.abs(total)) - exponent * s * ln_2)


zeta = kernels(Elementary(_zeta, precise.zeta, _ERROR, in_long_double=_zeta, is_binary=True))
polygamma = kernels(Elementary(_polygamma, precise.polygamma, _ERROR, in_long_double=_polygamma, is_binary=True))
