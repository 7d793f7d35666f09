"""Kernel factories of special functions (CHLO): of the error function, the gamma function, Bessel and zeta functions.

Formats up to f32 compute in f64 and round once, correctly for f32; f64 is computed in long double. Large arrays of f32
have tables of Taylor polynomials of the error functions; bounds there are of relative errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics import multiple_precision as precise
from stablehlo_ref.numerics import special_functions as functions
from stablehlo_ref.numerics.correct_rounding import EIGHT_ULP
from stablehlo_ref.numerics.elementary import Elementary, kernels
from stablehlo_ref.numerics.kernels import ArrayKernel, KernelFactory
from stablehlo_ref.numerics.libm import in_long_double
from stablehlo_ref.numerics.multiple_precision import Function
from stablehlo_ref.numerics.single_tables import Approximation, Buffers, Grid, LogarithmicGrid

_SLOPE = 2.0 / np.sqrt(np.pi)


def _taylor(tables: Sequence[Array], b: Buffers) -> Array:
    """Return the sum of tables[n][index] * first**n; `index` remains."""
    *lower, last = tables
    result = last.take(b.index, out=b.third, mode="clip")
    for table in reversed(lower):
        result *= b.first
        result += table.take(b.index, out=b.fourth, mode="clip")
    return result


# --- erf, erfc -------------------------------------------------------------------------------------------------------

_ERF_GRID = Grid(1 << 10, -4.0, 4.0, -4.0, 4.0)  # beyond, no number of f32 lies between erf(x) and 1
_ERFC_GRID = Grid(1 << 10, -4.0, 9.0, lowest=-4.0)  # beyond 9, results may be subnormal


def _series(of_f64: ArrayKernel, slope: float, grid: Grid, degree: int) -> Sequence[Array]:
    """Return the series of a function whose derivative is slope * exp(-x*x), by f'' = -2 x f'."""
    x = grid.points()
    constant = of_f64(x)
    terms = [constant, slope * np.exp(-x * x)]
    for n in range(degree - 1):
        terms.append(-2.0 * (x * (n + 1) * terms[n + 1] + n * terms[n]) / ((n + 1) * (n + 2)))
    terms[0] = np.where(constant == 0, -0.0, constant)  # -0.0 + x is x, also for zeros
    return terms


@cache
def _erf_tables() -> Sequence[Array]:
    """Return tables for rests up to 2**-11: the fourth derivative, below 4 |x|, adds less than 2**-46 of the result."""
    return _series(in_long_double(functions.erf), _SLOPE, _ERF_GRID, 3)


@cache
def _erfc_tables() -> Sequence[Array]:
    """Return tables for rests r up to 2**-11: the next term, relative to the result, is about (2 x r)**6 / 720."""
    return _series(in_long_double(functions.erfc), -_SLOPE, _ERFC_GRID, 5)


def _erf(x: Array, b: Buffers) -> Array:
    b.widened()
    return _taylor(_erf_tables(), b)


def _erfc(x: Array, b: Buffers) -> Array:
    b.widened()
    return _taylor(_erfc_tables(), b)


ERF = Approximation(_ERF_GRID.locate, _ERF_GRID.size, _erf, 2.0**-43, least=1 << 4)
ERFC = Approximation(_ERFC_GRID.locate, _ERFC_GRID.size, _erfc, 2.0**-43, least=1 << 4)


# --- erf_inv ---------------------------------------------------------------------------------------------------------

_DISTANCES = LogarithmicGrid(-24, (24 << 8) + 1)  # to 1, up to that of 0
_SIGN = np.int64(-1 << 63)


def _locate(x: Array, b: Buffers) -> None:
    """Number points by their distance to 1."""
    magnitude = np.absolute(x, out=b.rest)
    b.first[...] = magnitude
    _DISTANCES.locate(np.subtract(np.float32(1.0), magnitude, out=b.single), b)


@cache
def _inverse_tables() -> tuple[Array, Sequence[Array]]:
    """Return the points and the series of y = erf_inv there, by y' = sqrt(pi)/2 e**(y*y) and y'' = 2 y y'**2.

    Let r be the rest and u = y' r. Near 0, |r| < 2**-10, and the next term, 7/30 u**5, is below 2**-42.8 of the result,
    which is u at the point 0. Where y > 1/2, the next term is about 24/5 y**4 u**5, and |y u| < 2**-10: 2**-46 of y.
    """
    points = 1.0 - _DISTANCES.points()
    y = in_long_double(functions.erf_inv)(points)
    slope = np.exp(y * y) / _SLOPE
    third, fourth = (1.0 + 4.0 * y**2) / 3.0, (7.0 * y + 12.0 * y**3) / 6.0
    return points, [y, slope, y * slope**2, third * slope**3, fourth * slope**4]


def _erf_inv(x: Array, b: Buffers) -> Array:
    """Return the function of |x| with the sign of x."""
    points, tables = _inverse_tables()
    b.first -= points.take(b.index, out=b.third, mode="clip")
    result = _taylor(tables, b)
    b.second[...] = x
    b.index &= _SIGN
    bits = result.view(np.int64)
    bits |= b.index
    return result


ERF_INV = Approximation(_locate, _DISTANCES.size, _erf_inv, 2.0**-42, least=1 << 4)


# --- kernels ---------------------------------------------------------------------------------------------------------


def _kernels(function: ArrayKernel, exact: Function, error: float = EIGHT_ULP, **attributes: Any) -> KernelFactory:
    """Return the kernel factory of a function of f64 and of long double, by which it computes f64."""
    double = in_long_double(function)
    return kernels(
        Elementary(function, exact, error, double=double, in_long_double=function, is_precise=False, **attributes)
    )


erf = _kernels(functions.erf, precise.erf, 2.0**-48, table=ERF)
erfc = _kernels(functions.erfc, precise.erfc, 2.0**-48, table=ERFC)
erf_inv = _kernels(functions.erf_inv, precise.erf_inv, 2.0**-48, table=ERF_INV)
lgamma = _kernels(functions.lgamma, precise.lgamma, absolute=2.0**-42)  # where terms cancel
digamma = _kernels(functions.digamma, precise.digamma, absolute=2.0**-42)
bessel_i1e = _kernels(functions.bessel_i1e, precise.bessel_i1e)
zeta = _kernels(functions.zeta, precise.zeta, 2.0**-36, is_binary=True)
polygamma = _kernels(functions.polygamma, precise.polygamma, 2.0**-36, is_binary=True)
