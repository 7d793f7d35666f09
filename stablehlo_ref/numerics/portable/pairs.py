"""Arithmetic of pairs of f64 numbers with about 100 bits, and constants and tables as pairs.

Errors are relative and below 2**-100, unless numbers of opposite signs cancel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import frexp, ldexp

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.double_double import Pair, fast_two_sum, two_product, two_sum
from stablehlo_ref.numerics.multiple_precision import Number, context

Coefficients = Sequence[tuple[float, float]]

TO_INTEGER = 1.5 * 2.0**52  # the sum with a number below 2**51 has the nearest integer in its last bits
UPPER = np.int64(-1 << 27)  # mask of the sign, the exponent and the first 26 bits of a number


def multiply(x: Pair, y: Pair) -> Pair:
    """Return x * y."""
    high, low = two_product(x[0], y[0])
    return fast_two_sum(high, low + (x[0] * y[1] + x[1] * y[0]))


def add(x: Pair, y: Pair) -> Pair:
    """Return x + y, with an error relative to the result unless almost all of 106 bits cancel."""
    high, low = two_sum(x[0], y[0])
    more, lowest = two_sum(x[1], y[1])
    high, low = fast_two_sum(high, low + more)
    return fast_two_sum(high, low + lowest)


def negate(x: Pair) -> Pair:
    """Return -x."""
    return -x[0], -x[1]


def scale(x: Pair, factor: Array | float) -> Pair:
    """Return x times powers of two."""
    return x[0] * factor, x[1] * factor


def divide(x: Pair, y: Pair) -> Pair:
    """Return x / y."""
    first = x[0] / y[0]
    rest = add(x, negate(multiply(y, (first, np.zeros_like(first)))))
    second = rest[0] / y[0]
    rest = add(rest, negate(multiply(y, (second, np.zeros_like(second)))))
    high, low = fast_two_sum(first, second)
    return fast_two_sum(high, low + rest[0] / y[0])


def square_root(x: Pair) -> Pair:
    """Return the square root of numbers that are positive or 0."""
    root = np.sqrt(x[0])
    high, low = two_product(root, root)
    rest = add(x, (-high, -low))
    correction = np.where(root > 0, rest[0] / np.where(root > 0, 2.0 * root, 1.0), 0.0)
    high, low = fast_two_sum(root, correction)
    square = multiply((high, low), (high, low))
    rest = add(x, negate(square))
    return fast_two_sum(high, low + np.where(root > 0, rest[0] / np.where(root > 0, 2.0 * root, 1.0), 0.0))


def quick_add(x: Pair, y: Pair) -> Pair:
    """Return x + y for numbers of one sign or of different size, with an error below 2**-100."""
    high, low = two_sum(x[0], y[0])
    low += x[1] + y[1]
    return fast_two_sum(high, low)


def quick_divide(x: Pair, y: Pair) -> Pair:
    """Return x / y with an error below 2**-98."""
    quotient = x[0] / y[0]
    product, rest = two_product(quotient, y[0])
    low = x[0] - product
    low -= rest
    low += x[1] - quotient * y[1]
    low /= y[0]
    return quotient, low


def quick_square_root(x: Pair) -> Pair:
    """Return the square root of positive numbers with an error below 2**-98; NaN for 0."""
    root = np.sqrt(x[0])
    square, rest = two_product(root, root)
    low = x[0] - square
    low -= rest
    low += x[1]
    low *= 0.5
    low /= root
    return root, low


def exactly(x: Array) -> Pair:
    """Return `x` as a pair."""
    return x, np.zeros_like(x)


def horner(coefficients: Coefficients, x: Pair) -> Pair:
    """Return a polynomial of `x`; the coefficient of the highest power is the first."""
    total = filled(coefficients[0], x[0])
    for constant in coefficients[1:]:
        total = add(filled(constant, x[0]), multiply(total, x))
    return total


def filled(value: tuple[float, float], like: Array) -> Pair:
    """Return arrays of the shape of `like` that are filled with a constant."""
    high, low = (np.full_like(like, part) for part in value)
    return high, low


# --- constants ------------------------------------------------------------------------------------------------------


def pair(x: Number) -> tuple[float, float]:
    """Return a constant as a pair."""
    high = float(x)
    return high, float(x - high)


def pairs(numbers: Sequence[Number]) -> tuple[Array, Array]:
    """Return a table as two arrays."""
    high, low = zip(*map(pair, numbers))
    return np.array(high), np.array(low)


def words(x: Number, *bits: int) -> list[float]:
    """Split a constant into words with so many bits each, and the nearest f64 to the rest."""
    parts = []
    for count in bits:
        exponent = frexp(float(x))[1]
        parts.append(ldexp(int(x * context().ldexp(1, count - exponent)), exponent - count))
        x -= parts[-1]
    return [*parts, float(x)]


def coefficients(term: Callable[[int], Number], powers: range) -> Coefficients:
    """Return the coefficients of a polynomial, the highest power first."""
    return [pair(term(n)) for n in reversed(powers)]
