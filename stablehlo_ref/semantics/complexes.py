"""Functions of complex numbers by formulas on the real and imaginary parts, with the branch cuts of C.

A complex number is a pair of real numbers as in `rounding`, so that signed zeros select the side of a branch cut.
Results for infinite and NaN parts are those of the formula: the spec leaves exceptions of complex arithmetic open.
"""

from collections.abc import Sequence
from functools import reduce

from stablehlo_ref.semantics import ieee
from stablehlo_ref.semantics.ieee import cos, cosh, sin, sinh
from stablehlo_ref.semantics.rounding import Complex, Real, inf, is_nan, nan, with_sign_of

ONE: Complex = (1, 0.0)
ZERO: Complex = (0.0, 0.0)
NAN: Complex = (nan, nan)


def negate(z: Complex) -> Complex:
    return -z[0], -z[1]


def addition(z: Complex, w: Complex) -> Complex:
    return ieee.addition(z[0], w[0]), ieee.addition(z[1], w[1])


def subtraction(z: Complex, w: Complex) -> Complex:
    return addition(z, negate(w))


def multiplication(z: Complex, w: Complex) -> Complex:
    """Return `(a + bi)(c + di) = (ac - bd) + (ad + bc)i`."""
    (a, b), (c, d), times = z, w, ieee.multiplication
    return ieee.subtraction(times(a, c), times(b, d)), ieee.addition(times(a, d), times(b, c))


def division(z: Complex, w: Complex) -> Complex:
    """Return `(a + bi)(c - di) / (c² + d²)`; for zero divisors, both parts times an infinity with the sign of `c`."""
    c, d = w
    if c == 0 and d == 0:
        infinity = with_sign_of(inf, c)
        return ieee.multiplication(z[0], infinity), ieee.multiplication(z[1], infinity)
    numerator = multiplication(z, (c, -d))
    denominator = ieee.addition(ieee.multiplication(c, c), ieee.multiplication(d, d))
    return ieee.division(numerator[0], denominator), ieee.division(numerator[1], denominator)


def total(terms: Sequence[Complex]) -> Complex:
    return reduce(addition, terms) if terms else ZERO


def conjugate(z: Complex) -> Complex:
    return z[0], -z[1]


def root_of_real(z: Complex) -> Complex:
    """Return the square root of the real part."""
    return ieee.square_root(z[0]), 0.0


def is_positive(z: Complex) -> bool:
    """Return whether the real part is positive."""
    return ieee.is_positive(z[0])


def polar(radius: Real, angle: Real) -> Complex:
    """Return the number with this modulus and argument."""
    return ieee.multiplication(radius, cos(angle)), ieee.multiplication(radius, sin(angle))


def modulus(z: Complex) -> Real:
    return ieee.hypot(*z)


def exp(z: Complex) -> Complex:
    return polar(ieee.exp(z[0]), z[1])


def expm1(z: Complex) -> Complex:
    return subtraction(exp(z), ONE)


def log(z: Complex) -> Complex:
    """Return `(log(hypot(a, b)), atan2(b, a))`."""
    a, b = z
    return ieee.log(ieee.hypot(a, b)), ieee.atan2(b, a)


def logp1(z: Complex) -> Complex:
    """Return `(log(hypot(a + 1, b)), atan2(b, a + 1))`."""
    return log((ieee.addition(z[0], 1), z[1]))


def logistic(z: Complex) -> Complex:
    return division(ONE, addition(ONE, exp(negate(z))))


def square_root(z: Complex) -> Complex:
    """Return the root with a nonnegative real part: `sqrt((|z| + a) / 2)`, `±sqrt((|z| - a) / 2)`."""
    a, b = z
    if a == 0 and b == 0:
        return 0.0, b
    real = ieee.square_root(ieee.division(ieee.addition(modulus(z), a), 2))
    imag = ieee.square_root(ieee.division(ieee.subtraction(modulus(z), a), 2))
    return real, with_sign_of(imag, b)


def reciprocal_square_root(z: Complex) -> Complex:
    """Return `1 / w = (c - di) / (c² + d²)` of the square root `w = c + di`."""
    c, d = square_root(z)
    if c == 0 and d == 0:
        return division(ONE, (c, d))
    denominator = ieee.addition(ieee.multiplication(c, c), ieee.multiplication(d, d))
    return ieee.division(c, denominator), -ieee.division(d, denominator)


def cube_root(z: Complex) -> Complex:
    """Return the root whose angle is a third of that of `z`."""
    return polar(ieee.cube_root(modulus(z)), ieee.division(ieee.atan2(z[1], z[0]), 3))


def sine(z: Complex) -> Complex:
    """Return `sin a cosh b + i cos a sinh b`."""
    a, b = z
    return ieee.multiplication(sin(a), cosh(b)), ieee.multiplication(cos(a), sinh(b))


def cosine(z: Complex) -> Complex:
    """Return `cos a cosh b - i sin a sinh b`."""
    a, b = z
    return ieee.multiplication(cos(a), cosh(b)), -ieee.multiplication(sin(a), sinh(b))


def tanh(z: Complex) -> Complex:
    """Return `(sinh 2a + i sin 2b) / (cosh 2a + cos 2b)`."""
    a, b = ieee.multiplication(2, z[0]), ieee.multiplication(2, z[1])
    denominator = ieee.addition(cosh(a), cos(b))
    return ieee.division(sinh(a), denominator), ieee.division(sin(b), denominator)


def tangent(z: Complex) -> Complex:
    """Return `-i tanh(iz)`."""
    imag, real = tanh((-z[1], z[0]))
    return real, -imag


def power(z: Complex, w: Complex) -> Complex:
    """Return `exp(w log z)`; 1 if `w` is zero, and 0 for powers of zero where the real part of `w` is positive."""
    if w[0] == 0 and w[1] == 0:
        return ONE
    if z[0] == 0 and z[1] == 0:
        return (0.0, 0.0) if w[0] > 0 else (nan, nan)
    return exp(multiplication(w, log(z)))


def atan2(y: Complex, x: Complex) -> Complex:
    """Return `-i log((x + iy) / sqrt(x² + y²))`; of real numbers the real function."""
    if y[1] == 0 and x[1] == 0:
        return ieee.atan2(y[0], x[0]), 0.0
    numerator = addition(x, (-y[1], y[0]))
    denominator = square_root(addition(multiplication(x, x), multiplication(y, y)))
    real, imag = log(division(numerator, denominator))
    return imag, -real


def sign(z: Complex) -> Complex:
    """Return `z / |z|`."""
    if is_nan(z[0]) or is_nan(z[1]):
        return nan, nan
    if z[0] == 0 and z[1] == 0:
        return 0.0, 0.0
    return ieee.division(z[0], modulus(z)), ieee.division(z[1], modulus(z))


def less(z: Complex, w: Complex) -> bool:
    """Return whether `z` precedes `w` in the lexicographic order of (real, imaginary) pairs."""
    return bool(z[0] < w[0] or (z[0] == w[0] and z[1] < w[1]))


def equal(z: Complex, w: Complex) -> bool:
    return bool(z[0] == w[0] and z[1] == w[1])


def maximum(z: Complex, w: Complex) -> Complex:
    """Return the lexicographically larger number."""
    return z if less(w, z) else w


def minimum(z: Complex, w: Complex) -> Complex:
    """Return the lexicographically smaller number."""
    return z if less(z, w) else w
