"""Inverse functions of complex numbers as pairs of f64, from f64 parts of operands to parts of results.

The formulas are those of Kahan, "Branch cuts for complex elementary functions", 1987, as in multiple_precision_complex.
All sums but one are of numbers of one sign, so that relative errors stay below a few times 2**-84; that one is NaN if
more than 16 bits cancel. Parts of operands are neither zero nor extreme.
"""

from __future__ import annotations

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.double_double import Pair, two_product, two_sum
from stablehlo_ref.numerics.portable import logarithm
from stablehlo_ref.numerics.portable.angles import angle
from stablehlo_ref.numerics.portable.complex_pairs import Parts, cancelling_sum, root
from stablehlo_ref.numerics.portable.pairs import add, divide, exactly, multiply, negate, scale, square_root


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
