"""Sine and cosine of f32 by tables, for angles up to 16 pi.

Points are multiples of pi / STEPS, so that sine and cosine are exact where they are 0, and the rest is accurate
relative to itself. Rounding errors of f64 are at most a dozen of 2**-53.
"""

from __future__ import annotations

from functools import cache
from math import pi

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.single.kernel import Approximation, Buffers
from stablehlo_ref.numerics.single.polynomial import fitted_even

_STEPS = 1 << 9  # points in pi
_LAST = 16 * _STEPS
_REST = pi / _STEPS / 2 * 1.01
_TO_INTEGER = np.float32(1.5 * 2.0**23)
_FIRST = np.uint32(int(_TO_INTEGER.view(np.uint32)) - _LAST)
_PER_RADIAN = np.float32(_STEPS / pi)
_UPPER = float(np.nextafter(np.float32(pi), np.float32(0)))  # 24 bits: multiples are exact, and so is what is left
_LOWER = pi - _UPPER + 1.2246467991473532e-16  # the next word of pi; positive, so that zeros keep their sign


@cache
def _waves() -> tuple[Array, Array]:
    """Return sine and cosine of the points."""
    quarter = np.sin(np.arange(_STEPS // 2 + 1) * (pi / _STEPS))
    rising = np.concatenate([-quarter[:0:-1], quarter])  # from -pi/2 to pi/2
    period = np.concatenate([rising[:-1], -rising[:-1]])
    index = np.arange(-_LAST, _LAST + 1) + _STEPS // 2
    sine, cosine = (period[(index + shift) % period.size] for shift in (0, _STEPS // 2))
    sine[_LAST] = -0.0  # -0.0 + x is x, also for zeros
    return sine, cosine


@cache
def _series() -> tuple[list[float], list[float]]:
    """Return coefficients in r**2 of sin(r) / r and cos(r), with errors of REST**4 / 8 / 120 and / 24: 2**-40.9."""
    return fitted_even(lambda r: np.sin(r) / r, 1, _REST), fitted_even(np.cos, 1, _REST)


def _locate(x: Array, b: Buffers) -> None:
    """Store the rest x - n pi / STEPS in `first`; n is the nearest integer, or next to it where two are as near."""
    shifted = np.multiply(x, _PER_RADIAN, out=b.single)
    shifted += _TO_INTEGER
    np.subtract(shifted, _TO_INTEGER, out=b.rest)
    number, product, rest = b.second, b.third, b.first
    number[...] = b.rest
    rest[...] = x
    rest -= np.multiply(number, _UPPER / _STEPS, out=product)
    number *= _LOWER / _STEPS
    rest -= number
    np.subtract(b.bits, _FIRST, out=b.bits)


def _sum_of_products(b: Buffers, factors: tuple[Array, Array]) -> Array:
    """Return factors[0] cos(r) + factors[1] sin(r) for the rest r; one factor is 0 where the result is small."""
    (slope, one), (curve, unit) = _series()
    rest, square = b.first, b.fourth
    np.multiply(rest, rest, out=square)
    product = factors[1].take(b.index, out=b.third, mode="clip")
    product *= rest
    series = np.multiply(square, slope, out=b.first)
    series += one
    product *= series
    series = factors[0].take(b.index, out=b.first, mode="clip")
    result = np.multiply(square, curve, out=b.second)
    result += unit
    result *= series
    result += product
    return result


def _sine(x: Array, b: Buffers) -> Array:
    return _sum_of_products(b, _waves())


def _cosine(x: Array, b: Buffers) -> Array:
    return _sum_of_products(b, _cosine_waves())


@cache
def _cosine_waves() -> tuple[Array, Array]:
    sine, cosine = _waves()
    return cosine, -sine


sine = Approximation(_locate, 2 * _LAST, _sine, 2.0**-40)
cosine = Approximation(_locate, 2 * _LAST, _cosine, 2.0**-40)
