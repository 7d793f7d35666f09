"""Elementary functions of complex numbers to 80 digits, of either part, from parts of operands to those of results.

Operands are finite and inside the domain. The sign of a part that is zero is not meant. Where parts of very different
size cancel, sums are computed with as many digits as f64 numbers can have.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext
from typing import TypeAlias

from stablehlo_ref.numerics import multiple_precision as precise
from stablehlo_ref.numerics.multiple_precision import DIGITS, HUGE_ANGLE, MANY_DIGITS, ONE, pi, series

Parts: TypeAlias = tuple[Decimal, Decimal]
PartsFunction: TypeAlias = Callable[..., Parts]

ZERO = Decimal(0)
_UNKNOWN = Decimal("NaN"), Decimal("NaN")
_LARGE_POWER = Decimal("1e15")  # above, the angle needs more digits
_TINY = Decimal("1e-9")  # below, the logarithm of 1 + x is summed


# --- real functions that keep the digits of small operands ----------------------------------------------------------


def _times(x: Decimal, y: Decimal) -> Decimal:
    """Return x * y, which is 0 if either is, also times infinity."""
    return x * y if x and y else ZERO


def _log_plus_one(x: Decimal) -> Decimal:
    return series(x, lambda n: -x * n / (n + 1)) if abs(x) < _TINY else (1 + x).ln()


def _exponential_minus_one(x: Decimal) -> Decimal:
    if abs(x) < ONE:
        return series(x, lambda n: x / (n + 1)) if x else ZERO
    return x.exp() - 1


def _sinh(x: Decimal) -> Decimal:
    less = _exponential_minus_one(abs(x))
    return ((less + less / (less + 1)) / 2 if less.is_finite() else less).copy_sign(x)


def _cosh(x: Decimal) -> Decimal:
    return (x.exp() + (-x).exp()) / 2


def _asinh(x: Decimal) -> Decimal:
    a = abs(x)
    return _log_plus_one(a + a * a / (1 + (1 + a * a).sqrt())).copy_sign(x)


def _angle(y: Decimal, x: Decimal) -> Decimal:
    """Return the angle of (x, y); a zero that is negative counts as below the axis."""
    if not x and not y:
        return pi().copy_sign(y) if x.is_signed() else ZERO
    if not y:
        return pi().copy_sign(y) if x < 0 else ZERO
    return precise.atan2(y, x)


def _modulus(a: Decimal, b: Decimal) -> Decimal:
    return (a * a + b * b).sqrt()


def _exactly(function: Callable[..., Decimal], *operands: Decimal) -> Decimal:
    with localcontext(prec=MANY_DIGITS):
        total = function(*operands)
    return +total if total else total  # + loses the sign of a zero


def _half(x: Decimal) -> Decimal:
    """Return x / 2 exactly: a huge angle has more digits than the working precision."""
    with localcontext(prec=MANY_DIGITS):
        return x / 2


def _half_log(square: Decimal, less_one: Decimal) -> Decimal:
    """Return half the logarithm of a square, which is 1 + less_one."""
    return (_log_plus_one(less_one) if abs(less_one) < ONE / 2 else square.ln()) / 2


# --- exponential and trigonometric functions ------------------------------------------------------------------------


def exponential(a: Decimal, b: Decimal) -> Parts:
    modulus = a.exp()
    return _times(modulus, precise.cosine(b)), _times(modulus, precise.sine(b))


def exponential_minus_one(a: Decimal, b: Decimal) -> Parts:
    """Return (e**a - 1) cos b - 2 sin(b/2)**2, and the imaginary part of e**z."""
    half = precise.sine(_half(b))
    real = _times(_exponential_minus_one(a), precise.cosine(b)) - 2 * half * half
    return real, exponential(a, b)[1]


def sinh(a: Decimal, b: Decimal) -> Parts:
    return _times(_sinh(a), precise.cosine(b)), _times(_cosh(a), precise.sine(b))


def cosh(a: Decimal, b: Decimal) -> Parts:
    return _times(_cosh(a), precise.cosine(b)), _times(_sinh(a), precise.sine(b))


def sine(a: Decimal, b: Decimal) -> Parts:
    imag, real = sinh(b, a)
    return real, imag


def cosine(a: Decimal, b: Decimal) -> Parts:
    real, imag = cosh(b, a)
    return real, -imag


def tanh(a: Decimal, b: Decimal) -> Parts:
    """Return (sinh a cosh a, sin b cos b) / (sinh(a)**2 + cos(b)**2)."""
    if abs(a) > 1000:
        return ONE.copy_sign(a), 4 * _times(precise.sine(b) * precise.cosine(b), (-2 * abs(a)).exp())
    sine, cosine, s = precise.sine(b), precise.cosine(b), _sinh(a)
    norm = s * s + cosine * cosine
    return s * _cosh(a) / norm, sine * cosine / norm


def tan(a: Decimal, b: Decimal) -> Parts:
    imag, real = tanh(b, a)
    return real, imag


def logistic(a: Decimal, b: Decimal) -> Parts:
    """With u = e**-|a|, return (1 + u cos b, u sin b) / |1 + u e**ib|**2; for a < 0 the real part has u (u + cos b)."""
    u, less, cosine = (-abs(a)).exp(), _exponential_minus_one(-abs(a)), precise.cosine(b)
    half = precise.cosine(_half(b))
    twice = 2 * u * half * half
    norm = less * less + 2 * twice
    real = u * (u + cosine) if a < 0 else twice - less
    return real / norm, _times(u, precise.sine(b)) / norm


# --- logarithms, roots and powers -----------------------------------------------------------------------------------


def log_modulus(a: Decimal, b: Decimal) -> Decimal:
    """Return log |a + bi|."""
    return _half_log(a * a + b * b, _exactly(lambda a, b: a * a + b * b - 1, a, b))


def log(a: Decimal, b: Decimal) -> Parts:
    return log_modulus(a, b), _angle(b, a)


def log_plus_one(a: Decimal, b: Decimal) -> Parts:
    less_one = _exactly(lambda a, b: (2 * a + a * a) + b * b, a, b)
    one = _exactly(lambda a: 1 + a, a)
    return _half_log(one * one + b * b, less_one), _angle(b, one)


def sqrt(a: Decimal, b: Decimal) -> Parts:
    if not a and not b:
        return ZERO, b
    large = ((_modulus(a, b) + abs(a)) / 2).sqrt()
    small = abs(b) / (2 * large)
    return (small, large.copy_sign(b)) if a < 0 else (large, small.copy_sign(b))


def rsqrt(a: Decimal, b: Decimal) -> Parts:
    real, imag = sqrt(a, b)
    modulus = _modulus(a, b)
    return real / modulus, -imag / modulus


def cbrt(a: Decimal, b: Decimal) -> Parts:
    modulus, angle = ((a * a + b * b).ln() / 6).exp(), _angle(b, a) / 3
    return modulus * precise.cosine(angle), _times(modulus, precise.sine(angle))


def power(a: Decimal, b: Decimal, c: Decimal, d: Decimal) -> Parts:
    """Count right angles separately, so that powers on the axes and diagonals are exact; NaN for z = 0."""
    if not a and not b:
        return _UNKNOWN
    with localcontext(prec=DIGITS if max(abs(c), abs(d)) < _LARGE_POWER else DIGITS + HUGE_ANGLE):
        radius, real, imag = _power_in_polar_form(a, b, c, d)
    return _times(radius, real), _times(radius, imag)


def _power_in_polar_form(a: Decimal, b: Decimal, c: Decimal, d: Decimal) -> tuple[Decimal, Decimal, Decimal]:
    log, (turns, rest) = log_modulus(a, b), _angle_in_right_angles(a, b)
    right_angle = pi(HUGE_ANGLE) / 2
    radius = (c * log - d * (turns * right_angle + rest)).exp()
    whole = (c * turns).to_integral_value()
    angle = (c * turns - whole) * right_angle + (d * log + c * rest)
    sine, cosine = precise.sine(angle), precise.cosine(angle)
    return radius, *((cosine, sine), (-sine, cosine), (-cosine, -sine), (sine, -cosine))[int(whole) % 4]


def real_power(a: Decimal, b: Decimal, c: Decimal, d: Decimal) -> Decimal:
    """Return the real part of (a + bi)**(c + di)."""
    return power(a, b, c, d)[0]


def imag_power(a: Decimal, b: Decimal, c: Decimal, d: Decimal) -> Decimal:
    """Return the imaginary part of (a + bi)**(c + di)."""
    return power(a, b, c, d)[1]


def _angle_in_right_angles(a: Decimal, b: Decimal) -> Parts:
    """Return (n, r) such that the angle of a + bi is n * pi / 2 + r, n is a multiple of 1/2, and |r| <= pi / 4."""
    side = -ONE if b.is_signed() else ONE
    if abs(a) == abs(b):
        return side * (ONE if a > 0 else ONE * 3) / 2, ZERO
    if abs(b) > abs(a):
        return side, -precise.atan(a / b)
    return ZERO if a > 0 else 2 * side, precise.atan(b / a)


def absolute(a: Decimal, b: Decimal) -> Parts:
    return _modulus(a, b), ZERO


def sign(a: Decimal, b: Decimal) -> Parts:
    modulus = _modulus(a, b)
    return (a / modulus, b / modulus) if modulus else (ZERO, ZERO)


def atan2(a: Decimal, b: Decimal, c: Decimal, d: Decimal) -> Parts:
    """Return -i log q with q = (x + iy) / sqrt(x**2 + y**2) for y = a + bi and x = c + di.

    |q|**4 is |x + iy|**2 / |x - iy|**2, and q**2 has the angle of |x|**2 - |y|**2 + 2i Re(x conj(y)).
    """
    if not b and not d:
        return _angle(a, c), ZERO
    above, below = _square_of_modulus(c - b, d + a), _square_of_modulus(c + b, d - a)
    if not above or not below:
        return _UNKNOWN
    less_one = 4 * _exactly(lambda a, b, c, d: a * d - b * c, a, b, c, d) / below
    log = (_log_plus_one(less_one) if less_one > -ONE / 2 else (above / below).ln()) / 4
    real = _exactly(lambda a, b, c, d: c * c + d * d - a * a - b * b, a, b, c, d)
    half = _angle(2 * _exactly(lambda a, b, c, d: a * c + b * d, a, b, c, d), real) / 2
    root = sqrt(
        _exactly(lambda a, b, c, d: c * c - d * d + a * a - b * b, a, b, c, d),
        _exactly(lambda a, b, c, d: 2 * (a * b + c * d), a, b, c, d),
    )
    angle = _angle((d + a) * root[0] - (c - b) * root[1], (c - b) * root[0] + (d + a) * root[1])
    if half and abs(angle) > 3:  # next to the branch cut, where the side is that of the half
        return half - pi().copy_sign(half), -log
    return half + ((angle - half) / pi()).to_integral_value() * pi(), -log


def _square_of_modulus(a: Decimal, b: Decimal) -> Decimal:
    return _exactly(lambda a, b: a * a + b * b, a, b)


# --- inverse functions (Kahan, "Branch cuts for complex elementary functions", 1987) --------------------------------


def _roots(a: Decimal, b: Decimal) -> tuple[Parts, Parts]:
    """Return sqrt(1 - z) and sqrt(1 + z)."""
    below, above = _exactly(lambda a: 1 - a, a), _exactly(lambda a: 1 + a, a)
    return sqrt(below, b.copy_negate()), sqrt(above, b)


def asin(a: Decimal, b: Decimal) -> Parts:
    (r, i), (s, j) = _roots(a, b)
    return _angle(a, r * s - i * j), _asinh(r * j - i * s)


def acos(a: Decimal, b: Decimal) -> Parts:
    (r, i), (s, j) = _roots(a, b)
    return 2 * _angle(r, s), _asinh(s * i - j * r)


def acosh(a: Decimal, b: Decimal) -> Parts:
    """With roots of z - 1 and z + 1."""
    r, i = sqrt(_exactly(lambda a: a - 1, a), b)
    s, j = sqrt(_exactly(lambda a: a + 1, a), b)
    return _asinh(r * s + i * j), 2 * _angle(i, s)


def asinh(a: Decimal, b: Decimal) -> Parts:
    imag, real = asin(b, a)
    return real, imag


def atanh(a: Decimal, b: Decimal) -> Parts:
    """Return log1p(4a / ((1 - a)**2 + b**2)) / 4 with the sign of a, and the angle of 1 - |z|**2 + 2bi by two."""
    x = abs(a)
    less = _exactly(lambda x: 1 - x, x)
    real = _log_plus_one(4 * x / (less * less + b * b)) / 4
    rest = _exactly(lambda x, y: (1 - x) * (1 + x) - y * y, x, b)
    return real.copy_sign(a), _angle(2 * b, rest) / 2


def atan(a: Decimal, b: Decimal) -> Parts:
    imag, real = atanh(b, a)
    return real, imag


def asin_acos_kernel(a: Decimal, b: Decimal) -> Parts:
    """Return the real part of sqrt(1 - z) sqrt(1 + z), and the magnitude of the imaginary part of asin z."""
    (r, i), (s, j) = _roots(a, b)
    return r * s - i * j, abs(_asinh(r * j - i * s))


MAY_BE_EXACT: frozenset[PartsFunction] = frozenset((power, absolute))  # results that are ties
