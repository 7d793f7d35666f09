"""Functions of f32 by tables, for large arrays: faster than functions of f64, and as correctly rounded.

An operand is split, exactly, into the nearest point of a table and a small rest; a polynomial of the rest makes the
function of the operand from that of the point (Tang, "Table-driven implementation of the exponential function in
IEEE floating-point arithmetic", 1989). With a relative error of 2**-41, one random result in 50,000 is in doubt, which
a fallback computes (correct_rounding.py). All is done in a few buffers. Rounding errors of f64 are at most a dozen of
2**-53.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil, pi
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.polynomial import chebyshev

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.numerics.blocks import is_broadcast_scalar
from stablehlo_ref.numerics.kernels import ArrayKernel


def fitted(function: ArrayKernel, degree: int, radius: float) -> list[float]:
    """Return the coefficients of a polynomial close to `function` where |x| <= radius, the highest power first.

    It interpolates at the Chebyshev nodes, so that with f for the next derivative the error is at most
    |f| (radius / 2)**(degree + 1) * 2 / (degree + 1)!.
    """
    nodes = chebyshev.chebpts1(degree + 1)
    terms = chebyshev.cheb2poly(chebyshev.chebfit(nodes, function(nodes * radius), degree))
    return [float(c) / radius**n for n, c in enumerate(terms)][::-1]


def fitted_even(function: ArrayKernel, degree: int, radius: float) -> list[float]:
    """Return the coefficients of a polynomial in x*x close to an even `function` where 0 < |x| <= radius."""
    middle = radius * radius / 2
    shifted = fitted(lambda y: function(np.sqrt(y + middle)), degree, middle)
    moved = np.polynomial.Polynomial(shifted[::-1])(np.polynomial.Polynomial([-middle, 1.0]))
    return [float(c) for c in moved.coef][::-1]


def horner(x: Array, coefficients: Sequence[float], out: Array) -> Array:
    """Store the polynomial with these coefficients, the highest power first."""
    np.multiply(x, coefficients[0], out=out)
    out += coefficients[1]
    for c in coefficients[2:]:
        out *= x
        out += c
    return out


def monic_horner(x: Array, coefficients: Sequence[float], out: Array) -> Array:
    """Store the polynomial of these coefficients after that of the highest power, which is 1."""
    np.add(x, coefficients[0], out=out)
    for c in coefficients[1:]:
        out *= x
        out += c
    return out


BLOCK = 1 << 14  # elements, whose buffers take 0.5 MB; a call of numpy costs as much as a pass over 4,000 of them
MANY = 8  # a block with more than one element in so many that is unknown is computed without tables
DROPPED = 29  # bits of the mantissa of f64 that f32 does not have


class Buffers:
    """Arrays of one length for intermediate values.

    `bits` has the memory of `single`, `index` that of `second`, and `fourth` those of `single` and `rest`.
    """

    def __init__(self, size: int) -> None:
        self.first, self.second, self.third, self.fourth = np.empty((4, size))
        self.single, self.rest = self.fourth.view(np.float32).reshape(2, size)
        self.bits, self.index = self.single.view(np.uint32), self.second.view(np.int64)

    def widened(self) -> Array:
        """Return `rest` as f64, in `first`."""
        self.first[...] = self.rest
        return self.first


Locate: TypeAlias = Callable[[Array, Buffers], object]
Evaluate: TypeAlias = Callable[[Array, Buffers], Array]


@dataclass(frozen=True)
class Approximation:
    """A function from arrays of f32 to f64.

    Attributes
    ----------
    locate : stores numbers of points in `bits`, and perhaps rests
    size : of the table; of elements for which `locate` stores no smaller number the function is unknown
    evaluate : returns results for the points in `index`, in `first` or `second`
    error : the largest relative error. Where results are subnormal numbers of f32, whose ties are elsewhere, they have
        to round to the operand, or to be accurate enough for all operands: of erf and erf_inv, 2**-49
    least : the number of elements from which on this is faster than a function of f64

    """

    locate: Locate
    size: int
    evaluate: Evaluate
    error: float
    least: int = 1 << 13


def by_tables(approximation: Approximation, fallback: ArrayKernel) -> ArrayKernel:
    """Return a kernel of f32 arrays; `fallback` computes small ones, and elements that are in doubt or unknown."""
    size, to_top = approximation.size, 64 - DROPPED
    near_tie = (1 << 63) - (ceil(approximation.error * 2.0**53) << to_top)  # what is dropped, as a signed number

    def run(x: Array) -> Array:
        if x.size < approximation.least or is_broadcast_scalar(x):
            return fallback(x)
        return into(np.ascontiguousarray(x).reshape(-1), np.empty(x.size, np.float32)).reshape(x.shape)

    def into(x: Array, out: Array) -> Array:
        buffers = Buffers(min(x.size, BLOCK))
        for start in within_time(range(0, x.size, BLOCK)):
            some = slice(start, start + BLOCK)
            if x[some].size < buffers.rest.size:
                buffers = Buffers(x[some].size)
            block(x[some], out[some], buffers)
        return out

    def block(x: Array, out: Array, buffers: Buffers) -> None:
        approximation.locate(x, buffers)
        if np.maximum.reduce(buffers.bits) < size:
            covered(x, out, buffers)
            return
        unknown = np.flatnonzero(buffers.bits >= size)
        if MANY * unknown.size > x.size:
            out[...] = fallback(x)
            return
        buffers.bits[unknown] = 0
        covered(x, out, buffers)
        out[unknown] = fallback(x[unknown])

    def covered(x: Array, out: Array, buffers: Buffers) -> None:
        buffers.index[...] = buffers.bits
        result = approximation.evaluate(x, buffers)
        out[...] = result
        dropped = result.view(np.int64)
        dropped <<= to_top
        if np.minimum.reduce(dropped) < -near_tie or np.maximum.reduce(dropped) > near_tie:
            doubtful = np.flatnonzero((dropped < -near_tie) | (dropped > near_tie))
            out[doubtful] = fallback(x[doubtful])

    return run


_MANTISSA, _PLACE = 23, 8  # bits of a number after the first, and of a point of a logarithmic grid
_SHIFT = np.uint32(_MANTISSA - _PLACE)
_HALF_STEP = 1 << _MANTISSA - _PLACE - 1


@dataclass(frozen=True)
class Grid:
    """The multiples of 1 / steps, a power of two, from `first` to `last`, of magnitudes below 2**22 / steps.

    Numbers below `lowest` and above `highest` count as these.
    """

    steps: int
    first: float
    last: float
    lowest: float = -np.inf
    highest: float = np.inf

    @property
    def size(self) -> int:
        return round((self.last - self.first) * self.steps) + 1

    @property
    def rest(self) -> float:
        """The largest distance to a point."""
        return 0.5 / self.steps

    def points(self) -> Array:
        return self.first + np.arange(self.size) / self.steps

    def locate(self, x: Array, b: Buffers) -> None:
        """Store the numbers of the nearest points, and the rests, which are exact.

        A sum with `rounder` is a multiple of 1 / steps, with its number in the last bits.
        """
        rounder = np.float32(1.5 * 2.0**23 / self.steps)
        if self.lowest > -np.inf or self.highest < np.inf:
            x = np.clip(x, np.float32(self.lowest), np.float32(self.highest))
        np.add(x, rounder, out=b.single)
        point = np.subtract(b.single, rounder, out=b.rest)
        np.subtract(x, point, out=b.rest)
        zero = int(rounder.view(np.uint32))
        np.subtract(b.bits, np.uint32(zero + round(self.first * self.steps)), out=b.bits)


@dataclass(frozen=True)
class LogarithmicGrid:
    """`size` numbers from 2**first on, a normal number of f32: 256 between powers of two."""

    first: int
    size: int

    @property
    def _first_bits(self) -> int:
        return 127 + self.first << _MANTISSA

    def points(self) -> Array:
        bits = self._first_bits + (np.arange(self.size, dtype=np.uint32) << _SHIFT)
        return bits.view(np.float32).astype(np.float64)

    def locate(self, x: Array, b: Buffers) -> None:
        """Store the numbers of the nearest points; those of other numbers than positive normal ones are larger."""
        np.subtract(x.view(np.uint32), np.uint32(self._first_bits - _HALF_STEP), out=b.bits)
        np.right_shift(b.bits, _SHIFT, out=b.bits)


_POWER_STEPS = 1 << 8
_POWER_GRID = Grid(_POWER_STEPS, -87.0, 88.5)  # of these, and of those in between, all powers are normal numbers of f32


# --- e**x, 1 / (1 + e**-x) -------------------------------------------------------------------------------------------


@cache
def _power_series(sign: int) -> tuple[Array, list[float]]:
    """Return multiples of e**(sign * point), and coefficients of a monic polynomial in the rest.

    The product has an error of R**4 / 24 / 8 = 2**-43.6.
    """
    leading, *others = fitted(lambda r: np.exp(sign * r), 3, _POWER_GRID.rest)
    return leading * np.exp(sign * _POWER_GRID.points()), [c / leading for c in others]


def _power(sign: int, x: Array, b: Buffers) -> Array:
    """Return e**(sign * x)."""
    table, coefficients = _power_series(sign)
    rest = b.widened()
    entries = table.take(b.index, out=b.third, mode="clip")
    result = monic_horner(rest, coefficients, b.second)
    result *= entries
    return result


def _exponential(x: Array, b: Buffers) -> Array:
    return _power(1, x, b)


def _logistic(x: Array, b: Buffers) -> Array:
    result = _power(-1, x, b)
    result += 1.0
    return np.divide(1.0, result, out=result)


EXPONENTIAL = Approximation(_POWER_GRID.locate, _POWER_GRID.size, _exponential, 2.0**-43)
LOGISTIC = Approximation(_POWER_GRID.locate, _POWER_GRID.size, _logistic, 2.0**-43)


# --- e**x - 1 --------------------------------------------------------------------------------------------------------


@cache
def _series_minus_one() -> tuple[Array, list[float]]:
    """Return e**point - 1, and coefficients of (e**r - 1) / r, with an error of R**4 / 120 / 8 = 2**-45.9."""
    table = np.expm1(_POWER_GRID.points())
    table[table == 0.0] = -0.0  # -0.0 + x is x, also for zeros
    return table, fitted(lambda r: np.expm1(r) / r, 3, _POWER_GRID.rest)


def _exponential_minus_one(x: Array, b: Buffers) -> Array:
    """Return (T + 1) (e**r - 1) + T for T = e**point - 1.

    The first term is at most 0.51 times the second, unless that is 0.
    """
    table, coefficients = _series_minus_one()
    rest = b.widened()
    entries = table.take(b.index, out=b.third, mode="clip")
    result = horner(rest, coefficients, b.second)
    result *= rest
    result *= np.add(entries, 1.0, out=b.fourth)
    result += entries
    return result


EXPONENTIAL_MINUS_ONE = Approximation(_POWER_GRID.locate, _POWER_GRID.size, _exponential_minus_one, 2.0**-45)


# --- tanh ------------------------------------------------------------------------------------------------------------

_TANH_GRID = Grid(_POWER_STEPS, -10.0, 10.0)  # beyond 9.1, tanh rounds to 1


@cache
def _tangents() -> tuple[Array, list[float]]:
    """Return tanh(point), and coefficients of tanh(r) / r in r**2, with an error of 2/15 R**4 / 8 = 2**-41.9."""
    table = np.tanh(_TANH_GRID.points())
    table[table == 0.0] = -0.0
    return table, fitted_even(lambda r: np.tanh(r) / r, 1, _TANH_GRID.rest)


def _tanh(x: Array, b: Buffers) -> Array:
    """Return (T + t) / (1 + T t) for T = tanh(point) and t = tanh(rest); |t| is at most 0.51 |T|, unless T is 0."""
    table, (square, constant) = _tangents()
    rest = b.widened()
    entries = table.take(b.index, out=b.third, mode="clip")
    tangent = np.multiply(rest, rest, out=b.second)
    tangent *= square
    tangent += constant
    tangent *= rest
    result = np.add(entries, tangent, out=rest)
    tangent *= entries
    tangent += 1.0
    result /= tangent
    return result


TANH = Approximation(_TANH_GRID.locate, _TANH_GRID.size, _tanh, 2.0**-41, least=1 << 11)


_LOG_GRID = LogarithmicGrid(-126, 254 << 8)  # of normal numbers
_LOG_REST = 2.0**-9


class _LogTables(NamedTuple):
    inverse: Array
    log: Array  # of the point, or rather of 1 / inverse
    series: list[float]


@cache
def _log_tables() -> _LogTables:
    """Return tables, and coefficients of log(1 + r) / r, with an error of REST**4 / 5 / 8 = 2**-41.3."""
    inverse = (1.0 / _LOG_GRID.points()).astype(np.float32).astype(np.float64)
    return _LogTables(inverse, -np.log(inverse), fitted(lambda r: np.log1p(r) / r, 3, _LOG_REST))


def _locate_plus_one(x: Array, b: Buffers) -> None:
    _LOG_GRID.locate(np.add(x, np.float32(1.0), out=b.single), b)


def _log(x: Array, b: Buffers) -> Array:
    """Compute with the rest x R - 1; the result is its logarithm alone where R is 1, else at least half of log(R)."""
    rest = b.first
    rest[...] = x
    rest *= _log_tables().inverse.take(b.index, out=b.third, mode="clip")
    rest -= 1.0
    return _from_rest(b)


def _log_plus_one(x: Array, b: Buffers) -> Array:
    """Compute with the rest x R - (1 - R), which is x where R is 1, and so has its sign if it is 0."""
    rest = b.first
    rest[...] = x
    inverse = _log_tables().inverse.take(b.index, out=b.third, mode="clip")
    rest *= inverse
    rest -= np.subtract(1.0, inverse, out=inverse)
    return _from_rest(b)


def _from_rest(b: Buffers) -> Array:
    logs = _log_tables().log.take(b.index, out=b.third, mode="clip")  # -0.0 where it is 0
    result = horner(b.first, _log_tables().series, b.second)
    result *= b.first
    result += logs
    return result


LOG = Approximation(_LOG_GRID.locate, _LOG_GRID.size, _log, 2.0**-41, least=1 << 14)
LOG_PLUS_ONE = Approximation(_locate_plus_one, _LOG_GRID.size, _log_plus_one, 2.0**-41)


_ANGLE_STEPS = 1 << 9  # points in pi
_LAST_ANGLE = 16 * _ANGLE_STEPS
_ANGLE_REST = pi / _ANGLE_STEPS / 2 * 1.01
_TO_INTEGER = np.float32(1.5 * 2.0**23)
_FIRST = np.uint32(int(_TO_INTEGER.view(np.uint32)) - _LAST_ANGLE)
_PER_RADIAN = np.float32(_ANGLE_STEPS / pi)
_UPPER = float(np.nextafter(np.float32(pi), np.float32(0)))  # 24 bits: multiples are exact, and so is what is left
_LOWER = pi - _UPPER + 1.2246467991473532e-16  # the next word of pi; positive, so that zeros keep their sign


@cache
def _waves() -> tuple[Array, Array]:
    """Return sine and cosine of the points."""
    quarter = np.sin(np.arange(_ANGLE_STEPS // 2 + 1) * (pi / _ANGLE_STEPS))
    rising = np.concatenate([-quarter[:0:-1], quarter])  # from -pi/2 to pi/2
    period = np.concatenate([rising[:-1], -rising[:-1]])
    index = np.arange(-_LAST_ANGLE, _LAST_ANGLE + 1) + _ANGLE_STEPS // 2
    sine, cosine = (period[(index + shift) % period.size] for shift in (0, _ANGLE_STEPS // 2))
    sine[_LAST_ANGLE] = -0.0  # -0.0 + x is x, also for zeros
    return sine, cosine


@cache
def _wave_series() -> tuple[list[float], list[float]]:
    """Return coefficients in r**2 of sin(r) / r and cos(r), with errors of REST**4 / 8 / 120 and / 24: 2**-40.9."""
    return fitted_even(lambda r: np.sin(r) / r, 1, _ANGLE_REST), fitted_even(np.cos, 1, _ANGLE_REST)


def _locate_angle(x: Array, b: Buffers) -> None:
    """Store the rest x - n pi / STEPS in `first`; n is the nearest integer, or next to it where two are as near."""
    shifted = np.multiply(x, _PER_RADIAN, out=b.single)
    shifted += _TO_INTEGER
    np.subtract(shifted, _TO_INTEGER, out=b.rest)
    number, product, rest = b.second, b.third, b.first
    number[...] = b.rest
    rest[...] = x
    rest -= np.multiply(number, _UPPER / _ANGLE_STEPS, out=product)
    number *= _LOWER / _ANGLE_STEPS
    rest -= number
    np.subtract(b.bits, _FIRST, out=b.bits)


def _sum_of_products(b: Buffers, factors: tuple[Array, Array]) -> Array:
    """Return factors[0] cos(r) + factors[1] sin(r) for the rest r; one factor is 0 where the result is small."""
    (slope, one), (curve, unit) = _wave_series()
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


SINE = Approximation(_locate_angle, 2 * _LAST_ANGLE, _sine, 2.0**-40)
COSINE = Approximation(_locate_angle, 2 * _LAST_ANGLE, _cosine, 2.0**-40)
