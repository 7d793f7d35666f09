"""Short polynomials in f64 that fit a function in a small interval around 0."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.polynomial import chebyshev

from stablehlo_ref.ir.arrays import Array
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
