"""Functions of real numbers in multiple precision, for the few operands whose f64 result is too close to a tie.

Each function takes finite numbers of mpmath inside its domain and returns one, more than 200 bits of which are right.
`exactly` makes a function of f64 arrays of it. mpmath is imported when the first result is in doubt.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import inf, ldexp, nextafter
from threading import local
from typing import Any, TypeAlias

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.limits.budget import check_time, within_time
from stablehlo_ref.numerics.kernels import ArrayKernel

Number: TypeAlias = Any  # a real number of mpmath, which has no type hints
Context: TypeAlias = Any  # of mpmath: its functions, and the precision they have
Function: TypeAlias = Callable[..., Number]

BITS = 270
MANY_BITS = 7300  # exact sums of products of two f64 numbers; no function but exact ones is as close to a tie

_MANTISSA, _SMALLEST_UNIT = 53, -1074  # bits of f64, and its smallest exponent
_LARGEST_SIZE = 1024  # numbers below two to this power are finite
_LARGE_ORDER = 200  # of polygamma: from here on, neither factor is in the range of f64 exponents for all orders
_HUGE_ORDER = 2**200  # even, as all greater f64 numbers are; from here on, polygamma overflows below zero
_BEYOND = 10_000  # logarithm of numbers that no f64 number times another is as large as
_SHIFTED = 50  # from here on, the Euler-Maclaurin formula has all bits
_TERMS = 120  # of it, at most


class _Contexts(local):
    """One context for each thread, as functions of mpmath change its precision while they run."""

    def __init__(self) -> None:
        import mpmath

        self.context = mpmath.mp.clone()
        self.context.prec = BITS


@cache
def _contexts() -> _Contexts:
    return _Contexts()


def context() -> Context:
    """Return the context of this thread, with a precision of `BITS`."""
    return _contexts().context


def exactly(function: Function) -> ArrayKernel:
    """Return a function of f64 arrays with results that round to any format of up to 51 bits as exact ones would.

    Results are rounded to odd. Equal operands are computed once.
    """
    return _of_arrays(function, _rounded_to_odd)


def to_nearest(function: Function) -> ArrayKernel:
    """Return a function of f64 arrays with correctly rounded results."""
    return _of_arrays(function, nearest_f64)


def correctly_rounded(function: Function, default: ArrayKernel) -> ArrayKernel:
    """Return a function of f64 arrays with correctly rounded results; `default` has those that are 0 or not finite."""
    fallback = to_nearest(function)

    def run(*operands: Array) -> Array:
        operands = np.broadcast_arrays(*operands)
        result = np.array(default(*operands))
        regular = np.isfinite(result) & (result != 0)
        result[regular] = fallback(*[x[regular] for x in operands])
        return result[()]

    return run


def _of_arrays(function: Function, rounded: Callable[[Number], tuple[float, bool]]) -> ArrayKernel:
    """Return a function of f64 arrays; `rounded` also returns whether a number is a tie as far as its bits tell."""

    def of_numbers(*numbers: Number) -> float:
        result, is_tie = rounded(function(*numbers))
        if is_tie and function not in MAY_BE_EXACT:
            with context().workprec(MANY_BITS):
                result, _ = rounded(function(*numbers))
        return result

    def run(*operands: Array) -> Array:
        rows, inverse = np.unique(np.stack(operands, axis=-1).astype(np.float64), axis=0, return_inverse=True)
        results = [of_numbers(*map(context().mpf, row)) for row in within_time(rows.tolist())]
        return np.array(results, np.float64)[inverse.reshape(-1)]

    return run


def nearest_f64(value: Number) -> tuple[float, bool]:
    """Return the f64 nearest to a number, ties to even, and whether it is a tie as far as its bits tell."""
    if not value or not context().isfinite(value):
        return float(value), False
    sign, mantissa, exponent = (-1.0 if value < 0 else 1.0), int(value.man), int(value.exp)
    size = mantissa.bit_length() + exponent
    if not _SMALLEST_UNIT - 2 < size <= _LARGEST_SIZE:
        return sign * (inf if size > 0 else 0.0), False
    unit = max(size - _MANTISSA, _SMALLEST_UNIT)
    if exponent >= unit:
        return sign * ldexp(mantissa, exponent), False
    half = 1 << unit - exponent - 1
    kept, rest = divmod(mantissa, 2 * half)
    is_tie = abs(rest - half) <= mantissa >> context().prec // 2
    kept += kept & 1 if is_tie else rest > half
    return sign * (inf if kept.bit_length() + unit > _LARGEST_SIZE else ldexp(kept, unit)), is_tie


def _rounded_to_odd(x: Number) -> tuple[float, bool]:
    """Return the f64 number equal to `x` and True, or the one of its two neighbours whose last bit is set and False."""
    nearest, _ = nearest_f64(x)
    if abs(x - nearest) <= context().ldexp(abs(x), -context().prec // 2):
        return nearest, bool(x)
    if int(np.float64(nearest).view(np.int64)) & 1:
        return nearest, False
    return nextafter(nearest, inf if x > nearest else -inf), False


# --- elementary functions -------------------------------------------------------------------------------------------


def _named(name: str) -> Function:
    """Return the function that mpmath has by this name."""
    return lambda *operands: getattr(context(), name)(*operands)


exponential, exponential_minus_one = _named("exp"), _named("expm1")
log, log10, log_plus_one = _named("ln"), _named("log10"), _named("log1p")
sinh, cosh, tanh, asinh, acosh, atanh = map(_named, ("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"))
sine, cosine, tan, asin, acos, atan, atan2 = map(_named, ("sin", "cos", "tan", "asin", "acos", "atan", "atan2"))


def exp2(x: Number) -> Number:
    return context().mpf(2) ** x


def log2(x: Number) -> Number:
    return context().log(x, 2)


def logistic(x: Number) -> Number:
    return 1 / (1 + exponential(-x))


def rsqrt(x: Number) -> Number:
    return 1 / context().sqrt(x)


def cbrt(x: Number) -> Number:
    return context().cbrt(abs(x)) * context().sign(x)


def power(x: Number, y: Number) -> Number:
    return x**y


# --- special functions ----------------------------------------------------------------------------------------------

erf, erfc, erf_inv, digamma = _named("erf"), _named("erfc"), _named("erfinv"), _named("digamma")


def lgamma(x: Number) -> Number:
    """Return log |gamma(x)|."""
    return context().loggamma(x).real


def bessel_i1e(x: Number) -> Number:
    return context().besseli(1, x) * exponential(-abs(x))


def zeta(s: Number, q: Number, unit: Number = 1) -> Number:
    """Sum some terms, then use the Euler-Maclaurin formula; for q < 0, reflect the sum over all integers.

    For q < 0, the largest term, that of q less the nearest integer, is added last, so that the bits of the others are
    kept. For q > 0, the result is divided by unit**-s.
    """
    ctx = context()
    q = _without_pairs(s, q)
    if q < 0:
        r = q - ctx.nint(q)
        mirrored = zeta(s, 1 - r) - zeta(s, 1 - q)
        return r**-s + (zeta(s, 1 + r) + (-mirrored if int(s) % 2 else mirrored))
    total = ctx.mpf(0)
    while q < max(_SHIFTED, s):
        check_time()
        power = (q / unit) ** -s
        total += power
        if power <= total * ctx.eps:  # both are below all f64 numbers where s is huge
            return total
        q += 1
    power = (q / unit) ** -s
    rest = power * (q / (s - 1) + ctx.mpf(0.5))
    factor = s / q
    for k in range(1, _TERMS):
        term = ctx.bernoulli(2 * k) / ctx.factorial(2 * k) * factor * power
        rest += term
        if abs(term) < abs(total + rest) * ctx.eps:
            break
        factor *= (s + (2 * k - 1)) * (s + 2 * k) / (q * q)
    return total + rest


def _without_pairs(s: Number, q: Number) -> Number:
    """Return where zeta has the same value and no terms whose sum is 0: those of k + 1/2 and -k - 1/2 for odd `s`."""
    is_paired = q < 0 and int(2 * q) == 2 * q and int(s) % 2 == 1
    return 1 - q if is_paired else q


def polygamma(n: Number, x: Number) -> Number:
    if n == 0:
        return digamma(x)
    if x < 0:
        n = min(n, _HUGE_ORDER)
    x = _without_pairs(n + 1, x)
    if n < _LARGE_ORDER:
        result = context().factorial(n) * zeta(n + 1, x)
    elif x < 0:
        result = exponential(lgamma(n + 1)) * zeta(n + 1, x)
    else:
        size = lgamma(n + 1) - (n + 1) * log(x)
        result = exponential(size) if abs(size) > _BEYOND else exponential(size) * zeta(n + 1, x, x)
    return result if int(n) % 2 else -result


# Functions with results that are numbers with one bit more than some format, that is, ties.
MAY_BE_EXACT: frozenset[Function] = frozenset((power, exp2, log2, log10, cbrt, rsqrt))
