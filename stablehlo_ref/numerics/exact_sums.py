"""Sums of f64 numbers to many more bits than f64 has, so that they can be rounded as the exact sum would be.

Numbers are cut at fixed powers of two into parts whose sums have no rounding error, in any order (Rump, Ogita and
Oishi, "Accurate floating-point summation", 2008; Demmel and Nguyen, "Parallel reproducible summation", 2015).
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import inf, ldexp, nextafter
from typing import NamedTuple

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.double_double import two_sum

CUTS = 3  # each yields 53 - log2(n) bits of sums of n numbers


class Approximation(NamedTuple):
    """Numbers as high + low, with an absolute error of at most `error`."""

    high: Array
    low: Array
    error: Array


def sum_rows(x: Array) -> Approximation:
    """Return the sums of the rows of a finite f64 matrix, which may be empty, of numbers below 2**900.

    Cuts stop once nothing is left of any row.
    """
    if not x.size:
        zeros = np.zeros(len(x))
        return Approximation(zeros, zeros, zeros)
    axis = 1 if x.shape[1] > x.shape[0] else 0  # reductions of short rows are slow
    rest = x.copy() if axis else np.array(x.T, order="C")
    grow, length = max(2, (x.shape[1] - 1).bit_length()), x.shape[1]
    largest = largest_along(rest, axis)
    top = np.frexp(largest)[1]
    sums = [np.zeros(len(x))] * CUTS
    upper = np.empty_like(rest)
    for i in range(CUTS):
        cut(rest, np.expand_dims(top + grow, axis), upper, rest)
        sums[i] = upper.sum(axis)
        top = top + (grow - 53)
        largest = largest_along(rest, axis)
        if not largest.any():
            break
    high, middle = two_sum(sums[0], sums[1])
    middle, low = two_sum(middle, sums[2])
    high, middle = two_sum(high, middle)
    return Approximation(high, middle, largest * length * 1.01 + np.abs(low))


def cut(x: Array, exponent: Array | int, upper: Array | None = None, rest: Array | None = None) -> tuple[Array, Array]:
    """Return the multiples of 2**(exponent - 53) next to `x`, exactly for |x| < 2**(exponent - 2), and what is left.

    They are stored in `upper` and `rest`, which may be `x`, if these are given.
    """
    bound = np.ldexp(0.75, exponent)  # a sum with it loses the bits below its last one
    upper = np.add(x, bound, out=upper)
    upper -= bound
    return upper, np.subtract(x, upper, out=rest)


def largest_along(x: Array, axis: int) -> Array:
    """Return the largest magnitudes along an axis."""
    largest: Array = np.maximum(x.max(axis), -x.min(axis))
    return largest


def bounds(sums: Approximation) -> tuple[Array, Array]:
    """Return the lower and upper bounds of `low` between which high + low is the exact sum."""
    error = np.where(sums.error > 0, sums.error * (1 + 2.0**-50) + np.abs(sums.low) * 2.0**-51, 0.0)
    return sums.low - error, sums.low + error


def round_to_odd(high: Array, low: Array) -> Array:
    """Return high + low, where `high` is its nearest f64, as f64 whose last bit is set unless it is exact.

    Rounding the result to a format of at most 51 bits yields the same as rounding the exact sum.
    """
    high, low = np.broadcast_arrays(high, low)
    bits = np.ascontiguousarray(high).view(np.int64)
    away = (low > 0) == (high > 0)
    inexact = (low != 0) & (bits & 1 == 0) & (high != 0) & np.isfinite(high)
    return (bits + np.where(inexact, np.where(away, 1, -1), 0)).view(np.float64)


def exact_product_sum(x: Iterable[float], y: Iterable[float]) -> Fraction:
    """Return the sum of products of finite numbers exactly."""
    products = []
    for a, b in zip(x, y):
        if a and b:
            (p, q), (r, s) = a.as_integer_ratio(), b.as_integer_ratio()
            products.append((p * r, q * s))  # denominators are powers of two
    if not products:
        return Fraction(0)
    denominator = max(q for _, q in products)
    return Fraction(sum(p * (denominator // q) for p, q in products), denominator)


def nearest(x: Fraction) -> float:
    """Return the f64 nearest to `x`."""
    try:
        return float(x)
    except OverflowError:
        return inf if x > 0 else -inf


def nearest_odd(x: Fraction) -> float:
    """Return `x` as f64 with its last bit set unless it is exact, as `round_to_odd`."""
    rounded = nearest(x)
    if abs(rounded) == inf:
        return rounded
    error = x - Fraction(rounded)
    if not error or int(np.float64(rounded).view(np.int64)) & 1:
        return rounded
    return nextafter(rounded, inf if error > 0 else -inf)


def power_of_two_above(x: Array) -> Array:
    """Return the exponents of powers of two that are larger than the magnitudes of `x`; 0 for zeros."""
    exponents: Array = np.frexp(x)[1]
    return exponents


SMALLEST = ldexp(1.0, -480)  # products of numbers with larger magnitudes, below 1, are exact in two f64
