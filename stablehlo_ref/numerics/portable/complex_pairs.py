"""Elementary functions of complex numbers as pairs of f64, from f64 parts of operands to parts of results.

Each function is accurate where neither operands nor results are extreme (`complexes.Region`); a part in which more than
16 bits have cancelled is NaN. Errors are below 2**-68, as those of the functions they are made of are below 2**-84.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.double_double import Pair, two_product, two_sum
from stablehlo_ref.numerics.portable import exponential, logarithm
from stablehlo_ref.numerics.portable.angles import angle
from stablehlo_ref.numerics.portable.circular import sine_and_cosine
from stablehlo_ref.numerics.portable.pairs import (
    add,
    divide,
    exactly,
    multiply,
    negate,
    pi_words,
    quick_add,
    quick_divide,
    scale,
    square_root,
)

Parts: TypeAlias = tuple[Pair, Pair]
PartsFunction: TypeAlias = Callable[..., Parts]

ERROR = 2.0**-68
CANCELLED = 2.0**-16


def cancelling_sum(x: Pair, y: Pair) -> Pair:
    """Return x + y, or NaN where it is much smaller than either."""
    high, low = quick_add(x, y)
    largest = np.maximum(np.abs(x[0]), np.abs(y[0]))
    largest *= CANCELLED
    cancelled = np.abs(high) < largest
    if cancelled.any():
        high[cancelled] = np.nan
    return high, low


def _one(like: Array) -> Pair:
    return exactly(np.ones_like(like))


def _square(x: Pair) -> Pair:
    return multiply(x, x)


def _square_of_modulus(a: Pair, b: Pair) -> Pair:
    return add(_square(a), _square(b))


def _hyperbolic(a: Array) -> Parts:
    """Return the hyperbolic sine, (u + u / (u + 1)) / 2 with u = e**|a| - 1, and cosine."""
    less = exponential.minus_one(exactly(np.abs(a)))
    power = add(less, _one(a))
    sine = add(less, divide(less, power))
    return scale(sine, np.copysign(0.5, a)), scale(add(power, divide(_one(a), power)), 0.5)


# --- arithmetic -----------------------------------------------------------------------------------------------------


def quotient(a: Array, b: Array, c: Array, d: Array) -> Parts:
    """Return ((ac + bd) + (bc - ad)i) / (cc + dd)."""
    norm = quick_add(two_product(c, c), two_product(d, d))
    real = cancelling_sum(two_product(a, c), two_product(b, d))
    imag = cancelling_sum(two_product(b, c), two_product(-a, d))
    return quick_divide(real, norm), quick_divide(imag, norm)


def absolute(a: Array, b: Array) -> Parts:
    """Return |z|, with a zero."""
    return square_root(_square_of_modulus(exactly(a), exactly(b))), exactly(np.zeros_like(a))


def sign(a: Array, b: Array) -> Parts:
    """Return z / |z|."""
    modulus, _ = absolute(a, b)
    return divide(exactly(a), modulus), divide(exactly(b), modulus)


# --- exponential and trigonometric functions ------------------------------------------------------------------------


def exponential_of(a: Array, b: Array) -> Parts:
    """Return e**a cos b and e**a sin b."""
    modulus, (sine, cosine) = exponential.moderate(exactly(a)), sine_and_cosine(exactly(b))
    return multiply(modulus, cosine), multiply(modulus, sine)


def exponential_minus_one(a: Array, b: Array) -> Parts:
    """Return (e**a - 1) cos b - 2 sin(b/2)**2, and the imaginary part of e**z."""
    sine, cosine = sine_and_cosine(exactly(b))
    half, _ = sine_and_cosine(exactly(0.5 * b))
    less = exponential.minus_one(exactly(a))
    real = cancelling_sum(multiply(less, cosine), scale(_square(half), -2.0))
    return real, multiply(exponential.moderate(exactly(a)), sine)


def sinh(a: Array, b: Array) -> Parts:
    """Return sinh a cos b and cosh a sin b."""
    (s, c), (sine, cosine) = _hyperbolic(a), sine_and_cosine(exactly(b))
    return multiply(s, cosine), multiply(c, sine)


def cosh(a: Array, b: Array) -> Parts:
    """Return cosh a cos b and sinh a sin b."""
    (s, c), (sine, cosine) = _hyperbolic(a), sine_and_cosine(exactly(b))
    return multiply(c, cosine), multiply(s, sine)


def sine(a: Array, b: Array) -> Parts:
    """Return sin a cosh b and cos a sinh b."""
    imag, real = sinh(b, a)
    return real, imag


def cosine(a: Array, b: Array) -> Parts:
    """Return cos a cosh b and -sin a sinh b."""
    real, imag = cosh(b, a)
    return real, negate(imag)


def tanh(a: Array, b: Array) -> Parts:
    """Return (sinh a cosh a, sin b cos b) / (sinh(a)**2 + cos(b)**2)."""
    (s, c), (sine, cosine) = _hyperbolic(a), sine_and_cosine(exactly(b))
    norm = _square_of_modulus(s, cosine)
    return divide(multiply(s, c), norm), divide(multiply(sine, cosine), norm)


def tan(a: Array, b: Array) -> Parts:
    """Return -i tanh(iz)."""
    imag, real = tanh(b, a)
    return real, imag


def logistic(a: Array, b: Array) -> Parts:
    """With u = e**-|a|, return (1 + u cos b, u sin b) / |1 + u e**ib|**2; for a < 0 the real part has u (u + cos b)."""
    sine, cosine = sine_and_cosine(exactly(b))
    _, half = sine_and_cosine(exactly(0.5 * b))
    less, u = exponential.minus_one(exactly(-np.abs(a))), exponential.moderate(exactly(-np.abs(a)))
    twice = scale(multiply(u, _square(half)), 2.0)
    norm = add(_square(less), scale(twice, 2.0))
    below, above = multiply(u, cancelling_sum(u, cosine)), add(twice, negate(less))
    is_below = a < 0
    real = np.where(is_below, below[0], above[0]), np.where(is_below, below[1], above[1])
    return divide(real, norm), divide(multiply(u, sine), norm)


# --- logarithms, roots and powers -----------------------------------------------------------------------------------


def log(a: Array, b: Array) -> Parts:
    """Return log |z| and the angle."""
    square = _square_of_modulus(exactly(a), exactly(b))
    return scale(_log(square), 0.5), _angle(b, exactly(a))


def _log(x: Pair) -> Pair:
    """Return the logarithm, unless `x` is so close to 1 that it is inaccurate."""
    high, low = logarithm.of_pair(x)
    return np.where(np.abs(x[0] - 1.0) < CANCELLED, np.nan, high), low


def _angle(y: Array, x: Pair) -> Pair:
    """Return the angle of (x, y), 0 or pi on the axis."""
    high, low = angle(exactly(y), x)
    on_axis = y == 0
    pi, pi_low = pi_words()
    left = x[0] < 0
    high = np.where(on_axis, np.copysign(np.where(left, pi, 0.0), y), high)
    return high, np.where(on_axis, np.copysign(np.where(left, pi_low, 0.0), y), low)


def log_plus_one(a: Array, b: Array) -> Parts:
    """Return half of log(1 + (2a + a**2 + b**2)), or of log((1 + a)**2 + b**2), and the angle of 1 + z."""
    one = two_sum(1.0, a)
    other = add(exactly(2.0 * a), two_product(a, a))
    square = two_product(b, b)
    less_one = cancelling_sum(other, square)
    is_near = (less_one[0] > -0.5) & (less_one[0] < 1.0)
    near = logarithm.plus_one((np.where(is_near, less_one[0], 0.0), np.where(is_near, less_one[1], 0.0)))
    far = logarithm.of_pair(add(_square(one), square))
    high, low = (np.where(is_near, x, y) for x, y in zip(near, far))
    return scale((np.where(np.isnan(less_one[0]), np.nan, high), low), 0.5), _angle(b, one)


def sqrt(a: Array, b: Array) -> Parts:
    """Return the root with a real part that is not negative."""
    return root(exactly(a), b)


def root(a: Pair, b: Array) -> Parts:
    """Return t and b / 2t for t = sqrt((|z| + |a|) / 2), exchanged for a < 0."""
    is_left = a[0] < 0
    modulus = square_root(_square_of_modulus(a, exactly(b)))
    large = square_root(scale(add(modulus, scale(a, np.where(is_left, -1.0, 1.0))), 0.5))
    small = divide(exactly(0.5 * np.abs(b)), large)
    real = np.where(is_left, small[0], large[0]), np.where(is_left, small[1], large[1])
    imag = np.where(is_left, large[0], small[0]), np.where(is_left, large[1], small[1])
    return real, scale(imag, np.copysign(1.0, b))


def rsqrt(a: Array, b: Array) -> Parts:
    """Return conj(sqrt z) / |z|."""
    (real, imag), (modulus, _) = sqrt(a, b), absolute(a, b)
    return divide(real, modulus), divide(negate(imag), modulus)


def cbrt(a: Array, b: Array) -> Parts:
    """Return the root with a third of the angle."""
    log = logarithm.of_pair(_square_of_modulus(exactly(a), exactly(b)))
    modulus = exponential.moderate(divide(log, exactly(np.full_like(a, 6.0))))
    third = divide(_angle(b, exactly(a)), exactly(np.full_like(a, 3.0)))
    sine, cosine = sine_and_cosine(third)
    return multiply(modulus, cosine), multiply(modulus, sine)


def power(a: Array, b: Array, c: Array, d: Array) -> Parts:
    """Return e**(w log z); NaN where log z or a part may be too small or too large for its error."""
    log = scale(logarithm.of_pair(_square_of_modulus(exactly(a), exactly(b))), 0.5)
    turn, x, y = _angle(b, exactly(a)), exactly(c), exactly(d)
    terms = multiply(log, x), multiply(turn, y), multiply(log, y), multiply(turn, x)
    sine, cosine = sine_and_cosine(add(terms[2], terms[3]))
    largest = np.maximum.reduce([np.abs(high) for high, _ in terms])
    nearest = np.minimum(np.abs(sine[0]), np.abs(cosine[0]))
    is_certain = (largest < 2.0**8) & (nearest > 2.0**-6)
    high, low = exponential.moderate((np.where(is_certain, terms[0][0], np.nan), terms[0][1]))
    factor = exponential.moderate(negate(terms[1]))
    radius = multiply((high, low), factor)
    return multiply(radius, cosine), multiply(radius, sine)
