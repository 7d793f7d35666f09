"""Elementary functions of complex numbers in multiple precision, from parts of operands to those of results.

Operands are finite and inside the domain; a negative zero is a number below all others (`with_side`), so that it
chooses the side of a branch cut. The signs of zeros in results are not significant. Where parts of very
different size cancel, sums are computed with as many bits as f64 numbers can have.
"""

from __future__ import annotations

from collections.abc import Callable
from math import copysign
from typing import TypeAlias

from stablehlo_ref.numerics import multiple_precision as precise
from stablehlo_ref.numerics.multiple_precision import BITS, MANY_BITS, Number, context

Parts: TypeAlias = tuple[Number, Number]
PartsFunction: TypeAlias = Callable[..., Parts]

_HUGE_ANGLE = 1130  # more bits, for reducing angles up to 2**1024
_NEGATIVE_ZERO = -100_000  # exponent of the power of two that stands for it, far below those of f64
_LARGE_POWER = 1e15  # above, the angle needs more bits


def with_side(x: float) -> Number:
    """Return an f64 as a number of mpmath, which has no negative zero: that becomes a number below all others."""
    ctx = context()
    return -ctx.ldexp(1, _NEGATIVE_ZERO) if x == 0 and copysign(1.0, x) < 0 else ctx.mpf(x)


def _is_zero(x: Number) -> bool:
    """Return whether an operand is a zero of either sign."""
    return not x or context().mag(x) <= _NEGATIVE_ZERO / 2


def _angle(y: Number, x: Number) -> Number:
    """Return the angle of (x, y); of the origin by the signs of its zeros, as C does."""
    if _is_zero(x) and _is_zero(y):
        return context().pi * (-1 if y < 0 else 1) if x < 0 else y
    return precise.atan2(y, x)


def _modulus(a: Number, b: Number) -> Number:
    return context().sqrt(a * a + b * b)


def _exactly(function: Callable[..., Number], *operands: Number) -> Number:
    with context().workprec(MANY_BITS):
        total = function(*operands)
    return +total


def _half_log(square: Number, less_one: Number) -> Number:
    """Return half the logarithm of a square, which is 1 + less_one."""
    return (precise.log_plus_one(less_one) if abs(less_one) < 0.5 else precise.log(square)) / 2


# --- exponential and trigonometric functions ------------------------------------------------------------------------


def exponential(a: Number, b: Number) -> Parts:
    modulus = precise.exponential(a)
    return modulus * precise.cosine(b), modulus * precise.sine(b)


def exponential_minus_one(a: Number, b: Number) -> Parts:
    """Return (e**a - 1) cos b - 2 sin(b/2)**2, and the imaginary part of e**z."""
    half = precise.sine(b / 2)
    real = precise.exponential_minus_one(a) * precise.cosine(b) - 2 * half * half
    return real, exponential(a, b)[1]


def sinh(a: Number, b: Number) -> Parts:
    return precise.sinh(a) * precise.cosine(b), precise.cosh(a) * precise.sine(b)


def cosh(a: Number, b: Number) -> Parts:
    return precise.cosh(a) * precise.cosine(b), precise.sinh(a) * precise.sine(b)


def sine(a: Number, b: Number) -> Parts:
    imag, real = sinh(b, a)
    return real, imag


def cosine(a: Number, b: Number) -> Parts:
    real, imag = cosh(b, a)
    return real, -imag


def tanh(a: Number, b: Number) -> Parts:
    """Return (sinh a cosh a, sin b cos b) / (sinh(a)**2 + cos(b)**2)."""
    sine, cosine, s = precise.sine(b), precise.cosine(b), precise.sinh(a)
    norm = s * s + cosine * cosine
    return s * precise.cosh(a) / norm, sine * cosine / norm


def tan(a: Number, b: Number) -> Parts:
    imag, real = tanh(b, a)
    return real, imag


def logistic(a: Number, b: Number) -> Parts:
    """With u = e**-|a|, return (1 + u cos b, u sin b) / |1 + u e**ib|**2; for a < 0 the real part has u (u + cos b)."""
    u, less, cosine = precise.exponential(-abs(a)), precise.exponential_minus_one(-abs(a)), precise.cosine(b)
    half = precise.cosine(b / 2)
    twice = 2 * u * half * half
    norm = less * less + 2 * twice
    real = u * (u + cosine) if a < 0 else twice - less
    return real / norm, u * precise.sine(b) / norm


# --- logarithms, roots and powers -----------------------------------------------------------------------------------


def log_modulus(a: Number, b: Number) -> Number:
    """Return log |a + bi|."""
    return _half_log(a * a + b * b, _exactly(lambda a, b: a * a + b * b - 1, a, b))


def log(a: Number, b: Number) -> Parts:
    return log_modulus(a, b), _angle(b, a)


def log_plus_one(a: Number, b: Number) -> Parts:
    less_one = _exactly(lambda a, b: (2 * a + a * a) + b * b, a, b)
    one = _exactly(lambda a: 1 + a, a)
    return _half_log(one * one + b * b, less_one), _angle(b, one)


def sqrt(a: Number, b: Number) -> Parts:
    if not a and not b:
        return a, b
    large = context().sqrt((_modulus(a, b) + abs(a)) / 2)
    small = abs(b) / (2 * large)
    sign = -1 if b < 0 else 1
    return (small, sign * large) if a < 0 else (large, sign * small)


def rsqrt(a: Number, b: Number) -> Parts:
    real, imag = sqrt(a, b)
    modulus = _modulus(a, b)
    return real / modulus, -imag / modulus


def cbrt(a: Number, b: Number) -> Parts:
    modulus, angle = precise.exponential(precise.log(a * a + b * b) / 6), _angle(b, a) / 3
    return modulus * precise.cosine(angle), modulus * precise.sine(angle)


def power(a: Number, b: Number, c: Number, d: Number) -> Parts:
    """Count right angles separately, so that powers on the axes and diagonals are exact; NaN for z = 0."""
    ctx = context()
    if not a and not b:
        return ctx.nan, ctx.nan
    more = 0 if max(abs(c), abs(d)) < _LARGE_POWER else _HUGE_ANGLE
    with ctx.workprec(max(ctx.prec, BITS + more)):
        log, (turns, rest) = log_modulus(a, b), _angle_in_right_angles(a, b)
        right_angle = ctx.pi / 2
        radius = precise.exponential(c * log - d * (turns * right_angle + rest))
        whole = ctx.nint(c * turns)
        angle = (c * turns - whole) * right_angle + (d * log + c * rest)
        sine, cosine = precise.sine(angle), precise.cosine(angle)
        real, imag = ((cosine, sine), (-sine, cosine), (-cosine, -sine), (sine, -cosine))[int(whole) % 4]
        return radius * real, radius * imag


def real_power(a: Number, b: Number, c: Number, d: Number) -> Number:
    """Return the real part of (a + bi)**(c + di)."""
    return power(a, b, c, d)[0]


def imag_power(a: Number, b: Number, c: Number, d: Number) -> Number:
    """Return the imaginary part of (a + bi)**(c + di)."""
    return power(a, b, c, d)[1]


def _angle_in_right_angles(a: Number, b: Number) -> Parts:
    """Return (n, r) such that the angle of a + bi is n * pi / 2 + r, n is a multiple of 1/2, and |r| <= pi / 4."""
    ctx = context()
    side = ctx.mpf(-1 if b < 0 else 1)
    if abs(a) == abs(b):
        return side * (1 if a > 0 else 3) / 2, ctx.zero
    if abs(b) > abs(a):
        return side, -precise.atan(a / b)
    return ctx.zero if a > 0 else 2 * side, precise.atan(b / a)


def absolute(a: Number, b: Number) -> Parts:
    return _modulus(a, b), context().zero


def sign(a: Number, b: Number) -> Parts:
    modulus = _modulus(a, b)
    return (a / modulus, b / modulus) if modulus else (a, b)


def atan2(a: Number, b: Number, c: Number, d: Number, near: Number) -> Parts:
    """Return -i log q with q = (x + iy) / sqrt(x**2 + y**2) for y = a + bi and x = c + di.

    |q|**4 is |x + iy|**2 / |x - iy|**2, and q**2 has the angle of |x|**2 - |y|**2 + 2i Re(x conj(y)). Which of the two
    numbers with this square is q depends on the signs of zeros, if there are any; then its angle is `near`.
    """
    ctx = context()
    zeros = [_is_zero(x) for x in (a, b, c, d)]
    if zeros[1] and zeros[3]:
        return _angle(a, c), ctx.zero
    above, below = _square_of_modulus(c - b, d + a), _square_of_modulus(c + b, d - a)
    if not above or not below:
        return ctx.nan, ctx.nan
    less_one = 4 * _exactly(lambda a, b, c, d: a * d - b * c, a, b, c, d) / below
    log = (precise.log_plus_one(less_one) if less_one > -0.5 else precise.log(above / below)) / 4
    real = _exactly(lambda a, b, c, d: c * c + d * d - a * a - b * b, a, b, c, d)
    half = _angle(2 * _exactly(lambda a, b, c, d: a * c + b * d, a, b, c, d), real) / 2
    angle = near if any(zeros) else _angle_of_quotient(a, b, c, d)
    if half and abs(angle) > 3:  # next to the branch cut, where the side is that of the half
        return half - ctx.pi * ctx.sign(half), -log
    return half + ctx.nint((angle - half) / ctx.pi) * ctx.pi, -log


def _angle_of_quotient(a: Number, b: Number, c: Number, d: Number) -> Number:
    """Return the angle of (x + iy) / sqrt(x**2 + y**2) for y = a + bi and x = c + di."""
    root = sqrt(
        _exactly(lambda a, b, c, d: c * c - d * d + a * a - b * b, a, b, c, d),
        _exactly(lambda a, b, c, d: 2 * (a * b + c * d), a, b, c, d),
    )
    return _angle((d + a) * root[0] - (c - b) * root[1], (c - b) * root[0] + (d + a) * root[1])


def _square_of_modulus(a: Number, b: Number) -> Number:
    return _exactly(lambda a, b: a * a + b * b, a, b)


# --- inverse functions (Kahan, "Branch cuts for complex elementary functions", 1987) --------------------------------


def _roots(a: Number, b: Number) -> tuple[Parts, Parts]:
    """Return sqrt(1 - z) and sqrt(1 + z)."""
    below, above = _exactly(lambda a: 1 - a, a), _exactly(lambda a: 1 + a, a)
    (r, i), other = sqrt(below, b), sqrt(above, b)
    return (r, -i), other


def asin(a: Number, b: Number) -> Parts:
    (r, i), (s, j) = _roots(a, b)
    return _angle(a, r * s - i * j), precise.asinh(r * j - i * s)


def acos(a: Number, b: Number) -> Parts:
    (r, i), (s, j) = _roots(a, b)
    return 2 * _angle(r, s), precise.asinh(s * i - j * r)


def acosh(a: Number, b: Number) -> Parts:
    """With roots of z - 1 and z + 1."""
    r, i = sqrt(_exactly(lambda a: a - 1, a), b)
    s, j = sqrt(_exactly(lambda a: a + 1, a), b)
    return precise.asinh(r * s + i * j), 2 * _angle(i, s)


def asinh(a: Number, b: Number) -> Parts:
    imag, real = asin(b, a)
    return real, imag


def atanh(a: Number, b: Number) -> Parts:
    """Return log1p(4a / ((1 - a)**2 + b**2)) / 4 with the sign of a, and the angle of 1 - |z|**2 + 2bi by two."""
    x = abs(a)
    less = _exactly(lambda x: 1 - x, x)
    real = precise.log_plus_one(4 * x / (less * less + b * b)) / 4
    rest = _exactly(lambda x, y: (1 - x) * (1 + x) - y * y, x, b)
    return (-real if a < 0 else real), _angle(2 * b, rest) / 2


def atan(a: Number, b: Number) -> Parts:
    imag, real = atanh(b, a)
    return real, imag


def asin_acos_kernel(a: Number, b: Number) -> Parts:
    """Return the real part of sqrt(1 - z) sqrt(1 + z), and the magnitude of the imaginary part of asin z."""
    (r, i), (s, j) = _roots(a, b)
    return r * s - i * j, abs(precise.asinh(r * j - i * s))


MAY_BE_EXACT: frozenset[PartsFunction] = frozenset((power, absolute))  # results that are ties
