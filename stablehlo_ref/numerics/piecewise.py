"""Functions that are others in other ranges, each computed only where it is needed, and polynomials for them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stablehlo_ref.numerics.narrow import Array, Kernel


def piecewise(x: Array, *pieces: tuple[Array, Kernel]) -> Array:
    """Each function's values where its mask is true, in an array like `x`; every element is in one of the masks.

    A function takes and returns arrays of f64 in one dimension.
    """
    flat = np.ravel(x)
    out = np.empty(flat.size)
    for mask, function in pieces:
        where = np.ravel(mask)
        count = np.count_nonzero(where)
        if count == flat.size:
            return function(flat).reshape(np.shape(x))
        if count:
            out[where] = function(flat[where])
    return out.reshape(np.shape(x))


def replaced(other: Array, mask: Array, function: Kernel, *operands: Array) -> Array:
    """`other`, but `function` of the operands where `mask` is true; all are arrays of one shape."""
    if not np.count_nonzero(mask):
        return other
    result = np.array(other)
    result[mask] = function(*[np.asarray(x)[mask] for x in operands])
    return result


class Polynomial(NamedTuple):
    """The sum of coefficients[k] * u**k, where u = (x - center) * scale runs from -1 to 1."""

    center: float
    scale: float
    coefficients: tuple[float, ...]

    def __call__(self, x: Array) -> Array:
        return horner(self.coefficients, (x - self.center) * self.scale)


def horner(coefficients: tuple[float, ...], x: Array) -> Array:
    """The sum of coefficients[k] * x**k; at least two of them."""
    *lower, last = coefficients
    result = last * x
    for coefficient in lower[:0:-1]:
        result += coefficient
        result *= x
    return result + lower[0]


def between(polynomials: tuple[Polynomial, ...], x: Array) -> Array:
    """The polynomial in whose range each element lies: they follow one another, in ascending order."""
    ends = [p.center + 1 / p.scale for p in polynomials[:-1]]
    number = np.searchsorted(ends, x)
    return piecewise(x, *[(number == i, p.__call__) for i, p in enumerate(polynomials)])
