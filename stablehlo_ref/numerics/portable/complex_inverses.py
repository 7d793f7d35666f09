"""Inverse functions of complex numbers as pairs of f64, from f64 parts of operands to parts of results.

The formulas are those of Kahan, "Branch cuts for complex elementary functions", 1987, as in multiple_precision_complex.
Sums are of numbers of one sign, so that relative errors stay below a few times 2**-84, or NaN if more than 16 bits
cancel. Parts of operands are not extreme and, but for `atan2`, not zero.
"""

from __future__ import annotations

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.double_double import Pair, two_product, two_sum
from stablehlo_ref.numerics.portable import logarithm
from stablehlo_ref.numerics.portable.angles import angle
from stablehlo_ref.numerics.portable.complex_pairs import Parts, cancelling_sum, root
from stablehlo_ref.numerics.portable.pairs import (
    add,
    divide,
    exactly,
    filled,
    multiply,
    negate,
    pi_words,
    scale,
    square_root,
)


def _asinh(x: Pair) -> Pair:
    """Return log(1 + t + t**2 / (1 + sqrt(1 + t**2))) for t = |x|, with the sign of x."""
    sign = np.copysign(1.0, x[0])
    t, one = scale(x, sign), exactly(np.ones_like(x[0]))
    square = multiply(t, t)
    rest = divide(square, add(one, square_root(add(one, square))))
    return scale(logarithm.plus_one(add(t, rest)), sign)


def _roots(a: Array, b: Array) -> tuple[Parts, Parts]:
    """Return sqrt(1 - z) and sqrt(1 + z)."""
    return root(two_sum(1.0, -a), -b), root(two_sum(1.0, a), b)


def asin(a: Array, b: Array) -> Parts:
    """Return the angle of (r s - i j, a) and asinh(r j - i s), of the roots r + i and s + j."""
    (r, i), (s, j) = _roots(a, b)
    imag = _asinh(add(multiply(r, j), negate(multiply(i, s))))
    return angle(exactly(a), add(multiply(r, s), negate(multiply(i, j)))), imag


def acos(a: Array, b: Array) -> Parts:
    """Return twice the angle of (s, r) and asinh(s i - j r)."""
    (r, i), (s, j) = _roots(a, b)
    return scale(angle(r, s), 2.0), _asinh(add(multiply(s, i), negate(multiply(j, r))))


def acosh(a: Array, b: Array) -> Parts:
    """Return asinh(r s + i j) and twice the angle of (s, i), of the roots of z - 1 and z + 1."""
    (r, i), (s, j) = root(two_sum(a, -1.0), b), root(two_sum(a, 1.0), b)
    return _asinh(add(multiply(r, s), multiply(i, j))), scale(angle(i, s), 2.0)


def asinh(a: Array, b: Array) -> Parts:
    """Return -i asin(iz)."""
    imag, real = asin(b, a)
    return real, imag


def atanh(a: Array, b: Array) -> Parts:
    """Return log1p(4x / ((1 - x)**2 + b**2)) / 4, signed, for x = |a|, and half the angle of 1 - |z|**2 + 2bi."""
    x = np.abs(a)
    less, square = two_sum(1.0, -x), two_product(b, b)
    real = logarithm.plus_one(divide(exactly(4.0 * x), add(multiply(less, less), square)))
    rest = cancelling_sum(multiply(less, two_sum(1.0, x)), negate(square))
    return scale(real, np.copysign(0.25, a)), scale(angle(exactly(2.0 * b), rest), 0.5)


def atan(a: Array, b: Array) -> Parts:
    """Return -i atanh(iz)."""
    imag, real = atanh(b, a)
    return real, imag


def asin_acos_kernel(a: Array, b: Array) -> Parts:
    """Return r s - i j and |asinh(r j - i s)|."""
    (r, i), (s, j) = _roots(a, b)
    imag = _asinh(add(multiply(r, j), negate(multiply(i, s))))
    return add(multiply(r, s), negate(multiply(i, j))), scale(imag, np.copysign(1.0, imag[0]))


def atan2(a: Array, b: Array, c: Array, d: Array) -> Parts:
    """Return -i log q with q = (x + iy) / sqrt(x**2 + y**2) for y = a + bi and x = c + di.

    The imaginary part is -log(|p|**2 / |m|**2) / 4 for p = x + iy and m = x - iy, and |p|**2 - |m|**2 = 4 (ad - bc).
    The real part is half the angle of q**2, the angle of p conj(m), plus a multiple of pi (`_turns`). In the real part
    of p conj(m) bits may cancel, as products of parts of p and m are at most |p m|: its error is below 2**-98 |p m|.
    """
    p, m = (two_sum(c, -b), two_sum(d, a)), (two_sum(c, b), two_sum(d, -a))
    height = scale(cancelling_sum(two_product(a, c), two_product(b, d)), 2.0)
    half = scale(angle(height, add(multiply(p[0], m[0]), multiply(p[1], m[1]))), 0.5)
    turns, pi = _turns(p, m, half[0]), filled(pi_words(), a)
    real = add(half, (turns * pi[0], turns * pi[1]))
    above, below = (add(multiply(x, x), multiply(y, y)) for x, y in (p, m))
    log = _log_of_quotient(above, below, scale(cancelling_sum(two_product(a, d), two_product(-b, c)), 4.0))
    return real, scale(log, -0.25)


def _turns(p: Parts, m: Parts, half: Array) -> Array:
    """Return the n in (-1, 0, 1) for which half + n * pi is the angle of p / sqrt(p m); NaN next to branch cuts.

    The angle is computed in f64, with an error below 2**-48. It jumps by pi on the cut of the root, and by 2 pi at pi.
    """
    x, y = p[0][0] + 1j * p[1][0], m[0][0] + 1j * m[1][0]
    square = x * y
    quotient = np.angle(x * np.conj(np.sqrt(square)))
    is_certain = (np.abs(square.imag) > 2.0**-40 * np.abs(square.real)) | (square.real > 0)
    is_certain &= np.abs(quotient) < np.pi - 2.0**-40
    turns: Array = np.where(is_certain, np.rint((quotient - half) / np.pi), np.nan)
    return turns


def _log_of_quotient(x: Pair, y: Pair, difference: Pair) -> Pair:
    """Return log(x / y) of positive numbers from their difference, unless they differ much; NaN if one is 0."""
    excess = divide(difference, y)
    is_near = (excess[0] > -0.5) & (excess[0] < 1.0)
    is_regular = (x[0] > 0) & (y[0] > 0) & ~np.isnan(excess[0])
    quotient = divide(x, y)
    near = logarithm.plus_one((np.where(is_near, excess[0], 0.0), np.where(is_near, excess[1], 0.0)))
    far = logarithm.of_pair((np.where(is_near | ~is_regular, 1.0, quotient[0]), np.where(is_near, 0.0, quotient[1])))
    high, low = (np.where(is_near, here, there) for here, there in zip(near, far))
    return np.where(is_regular, high, np.nan), low
