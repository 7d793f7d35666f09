"""Piecewise functions, which compute each piece only where it is needed, and polynomials."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.kernels import ArrayKernel


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


class Polynomial(NamedTuple):
    """The polynomial sum of coefficients[k] * u**k, where u = (x - center) * scale is in [-1, 1]."""

    center: float
    scale: float
    coefficients: tuple[float | Array, ...]

    def __call__(self, x: Array) -> Array:
        return horner(self.coefficients, (x - self.center) * self.scale)


def horner(coefficients: tuple[float | Array, ...], x: Array) -> Array:
    """Return the sum of coefficients[k] * x**k by Horner's method, for two coefficients or more."""
    *lower, last = coefficients
    result = last * x
    for coefficient in lower[:0:-1]:
        result += coefficient
        result *= x
    return result + lower[0]


def piecewise_polynomial(polynomials: tuple[Polynomial, ...], x: Array) -> Array:
    """Evaluate for each element the polynomial whose interval contains it. Intervals are adjacent and ascending."""
    ends = [p.center + 1 / p.scale for p in polynomials[:-1]]
    interval = np.searchsorted(ends, x)
    return piecewise(x, *[(interval == i, p.__call__) for i, p in enumerate(polynomials)])
