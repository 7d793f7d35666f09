"""Functions of f64 and of long double: numpy's elementary functions, piecewise functions and polynomials.

Long double is the widest floating-point format of the machine: 64 bits of precision on x86, f64's 53 bits on some
platforms. numpy has several loops for one function: a vectorized one, and one that calls the C library for other
strides and for single elements. Their results differ in the last bit. Here operands always take the loop for contiguous
arrays of two elements or more.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.polynomial.chebyshev import cheb2poly, poly2cheb

from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.numerics.dtypes import FLOAT64
from stablehlo_ref.numerics.kernels import ArrayKernel

LONG_DOUBLE: DType = np.dtype(np.longdouble)
COMPLEX_LONG_DOUBLE: DType = np.dtype(np.clongdouble)
IS_WIDE = bool(np.finfo(LONG_DOUBLE).eps < 2.0**-60)  # not on Windows, nor on macOS on ARM

ERROR = LONG_DOUBLE.type(2.0**-8 if IS_WIDE else 2.0**3)  # bound of those of special functions, to that of f64


def long_numbers(text: str) -> Array:
    """Return numbers in long double from their decimal digits."""
    return np.array(list(map(LONG_DOUBLE.type, text.split())))


def widened(function: ArrayKernel) -> ArrayKernel:
    """Return a function of f64 arrays with results in long double."""
    return lambda *operands: function(*[x.astype(LONG_DOUBLE) for x in operands])


def in_long_double(function: ArrayKernel) -> ArrayKernel:
    """Return a function of f64 arrays that computes in long double, and rounds results once to f64."""
    in_long = widened(function)
    return lambda *operands: in_long(*operands).astype(FLOAT64)


# --- numpy's functions ----------------------------------------------------------------------------------------------


def by_one_loop(function: ArrayKernel) -> ArrayKernel:
    """Return an elementwise `function` that calls it on contiguous and aligned arrays of one shape.

    Operands broadcast. Those that are contiguous already are passed on as they are.
    """

    def run(*operands: Array) -> Array:
        shape = operands[0].shape
        for x in operands:
            flags = x.flags
            if not flags.c_contiguous or not flags.aligned or x.shape != shape:
                return run(*[np.require(x, requirements=["C", "A"]) for x in np.broadcast_arrays(*operands)])
        return _single(function, operands) if operands[0].size == 1 else function(*operands)

    return run


def _single(function: ArrayKernel, operands: Sequence[Array]) -> Array:
    """Return the result for arrays or scalars of one element, as that of an array of two."""
    result: Array = function(*[np.array((x, x)) for x in operands])[0]
    return result


exp, expm1, log, log1p = map(by_one_loop, (np.exp, np.expm1, np.log, np.log1p))
sin, cos, tan, arctan2 = map(by_one_loop, (np.sin, np.cos, np.tan, np.arctan2))
cbrt, power = map(by_one_loop, (np.cbrt, np.power))


# --- piecewise functions and polynomials ----------------------------------------------------------------------------

DROPPED = 2.0**-56  # of a polynomial for f64, relative to its value at the center


def piecewise(x: Array, *pieces: tuple[Array, ArrayKernel]) -> Array:
    """Evaluate each function where its mask is true, and return an array shaped like `x`.

    Every element must be in one of the masks. Functions take and return 1-dimensional arrays of one dtype.
    """
    flat = np.ravel(x)
    out = np.empty(flat.size, flat.dtype)
    for mask, function in pieces:
        where = np.ravel(mask)
        count = np.count_nonzero(where)
        if count == flat.size:
            return function(flat).reshape(np.shape(x))
        if count:
            out[where] = function(flat[where])
    return out.reshape(np.shape(x))


def replace_where(x: Array, mask: Array, function: ArrayKernel, *operands: Array) -> Array:
    """Return `x` with the elements where `mask` is true replaced by `function` of the operands.

    All arrays have one shape.
    """
    if not np.count_nonzero(mask):
        return x
    result = np.array(x)
    result[mask] = function(*[np.asarray(x)[mask] for x in operands])
    return result


class Polynomials:
    """Polynomials on adjacent intervals, in ascending order: sums of c[k] * u**k, where u is in [-1, 1].

    Each piece is the center of an interval, a scale such that u = (x - center) * scale, and decimal digits of the
    coefficients c, for long double.
    """

    def __init__(self, *pieces: tuple[float, float, str]) -> None:
        self._pieces = pieces
        self._coefficients: dict[DType, list[list[float]]] = {}

    def __call__(self, x: Array) -> Array:
        """Evaluate for each element the polynomial whose interval contains it."""
        coefficients = self._coefficients.get(x.dtype) or self._coefficients_of(x.dtype)
        functions = [partial(_evaluate, piece, c) for piece, c in zip(self._pieces, coefficients)]
        if len(functions) == 1:
            return functions[0](x)
        interval = np.searchsorted([center + 1 / scale for center, scale, _ in self._pieces[:-1]], x)
        return piecewise(x, *[(interval == i, function) for i, function in enumerate(functions)])

    def _coefficients_of(self, dtype: DType) -> list[list[float]]:
        numbers = [long_numbers(text) for _, _, text in self._pieces]
        self._coefficients[dtype] = [list(x) if dtype == LONG_DOUBLE else shortened(x).tolist() for x in numbers]
        return self._coefficients[dtype]


def _evaluate(piece: tuple[float, float, str], coefficients: list[float], x: Array) -> Array:
    """Evaluate a polynomial by Horner's method."""
    center, scale, _ = piece
    u = (x - center) * scale
    result = coefficients[-1] * u
    for coefficient in coefficients[-2:0:-1]:
        result += coefficient
        result *= u
    return result + coefficients[0]


def shortened(coefficients: Array) -> Array:
    """Return the coefficients of a polynomial of u in [-1, 1] in f64, without terms that f64 does not need.

    The terms are those of Chebyshev polynomials, which are at most 1; sums of dropped ones are below `DROPPED`.
    """
    series = poly2cheb(coefficients)
    dropped = np.cumsum(np.abs(series[::-1])) < DROPPED * np.abs(coefficients[0])
    return np.asarray(cheb2poly(series[: len(series) - np.count_nonzero(dropped)]).astype(FLOAT64))
