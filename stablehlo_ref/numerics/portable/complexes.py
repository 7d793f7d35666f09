"""Kernels of complex<f64> in the reproducible mode: both parts of results are rounded correctly.

Functions are computed in multiple precision, products exactly. The default kernels give results for infinities, NaNs
and poles, and the signs of zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce
from math import copysign, isnan, nan
from typing import TypeAlias

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.numerics import multiple_precision as precise_reals
from stablehlo_ref.numerics import multiple_precision_complex as precise
from stablehlo_ref.numerics.blocks import partwise
from stablehlo_ref.numerics.complex_double import from_parts
from stablehlo_ref.numerics.double_double import Pair, two_product, two_sum
from stablehlo_ref.numerics.dtypes import COMPLEX128
from stablehlo_ref.numerics.exact_sums import exact_product_sum, nearest
from stablehlo_ref.numerics.kernels import ArrayKernel
from stablehlo_ref.numerics.multiple_precision import nearest_f64, refined
from stablehlo_ref.numerics.portable.functions import CORRECTLY_ROUNDED

SMALLEST, LARGEST = 2.0**-480, 2.0**500  # of factors whose products are exact in two f64
ERROR = 2.0**-100  # relative to the larger of two products

# From parts of operands to those of the result, rounded: None for a zero, NaN for what the default kernel knows.
ExactParts: TypeAlias = Callable[..., tuple[float | None, float | None]]
Replace: TypeAlias = Callable[[ArrayKernel], ArrayKernel]  # from the default kernel to one for the mode


def function(exact: precise.PartsFunction, needs_default: bool = False) -> Replace:
    """Return what makes the kernel of a function in multiple precision, which may need the default's real part."""

    def rounded(parts: precise.Parts) -> tuple[tuple[float | None, float | None], bool]:
        (x, x_is_tie), (y, y_is_tie) = map(nearest_f64, parts)
        return (x if parts[0] else None, y if parts[1] else None), x_is_tie or y_is_tie

    is_exact = exact in precise.MAY_BE_EXACT

    def of_parts(*parts: float) -> tuple[float | None, float | None]:
        try:
            return refined(exact, list(map(precise.with_side, parts)), rounded, is_exact)
        except ZeroDivisionError:  # a pole
            return nan, nan

    return lambda default: _kernel(of_parts, default, needs_default)


def quotient(default: ArrayKernel) -> ArrayKernel:
    """Return the kernel of quotients."""
    return _kernel(_exact_quotient, default)


def _exact_quotient(a: float, b: float, c: float, d: float) -> tuple[float | None, float | None]:
    p, q, r, s = map(Fraction, (a, b, c, d))
    norm = r * r + s * s
    if not norm:
        return nan, nan
    real, imag = (p * r + q * s) / norm, (q * r - p * s) / norm
    return (nearest(real) if real else None), (nearest(imag) if imag else None)


def _kernel(of_parts: ExactParts, default: ArrayKernel, needs_default: bool = False) -> ArrayKernel:
    """Return a kernel from a function of the parts of operands and, if it needs that, the default's real part."""

    def run(*operands: Array) -> Array:
        operands = np.broadcast_arrays(*operands)
        result = np.array(default(*operands))
        parts = [part for z in operands for part in (z.real, z.imag)]
        at_zero = reduce(np.logical_or, [part == 0 for part in parts]) & ~np.isfinite(result)
        regular = reduce(np.logical_and, map(np.isfinite, parts)) & ~at_zero
        for i in map(tuple, within_time(np.argwhere(regular).tolist())):
            given = [float(part[i]) for part in parts]
            x, y = of_parts(*given, *[result[i].real] * needs_default)
            result[i] = complex(_part(x, result[i].real, given), _part(y, result[i].imag, given))
        return result[()]

    return run


def _part(exact: float | None, default: float, operands: Sequence[float]) -> float:
    """Return a part of a result; the default kernel knows the signs of zeros, and poles."""
    if exact is None:
        return copysign(0.0, default)
    return default if isnan(exact) or (default == 0 and 0 in operands) else exact


def absolute(default: ArrayKernel) -> ArrayKernel:
    """Return the kernel of the modulus, which is real."""
    modulus = function(precise.absolute)(lambda z: default(z).astype(COMPLEX128))
    return lambda z: modulus(z).real


def power(default: ArrayKernel) -> ArrayKernel:
    """Return the kernel of powers; those of real numbers are computed as such, which takes no more digits than f64."""
    of_complex, of_reals = function(precise.power)(default), CORRECTLY_ROUNDED[precise_reals.power]

    def run(z: Array, w: Array) -> Array:
        z, w = np.broadcast_arrays(z, w)
        finite = np.isfinite(z.real) & np.isfinite(w.real) & (z.real != 0)
        is_real = (z.imag == 0) & (w.imag == 0) & finite & ((z.real > 0) | (np.rint(w.real) == w.real))
        if not is_real.any():
            return of_complex(z, w)
        result = np.empty(z.shape, COMPLEX128)
        result[~is_real] = of_complex(z[~is_real], w[~is_real])
        result[is_real] = real_powers(z[is_real], w[is_real])
        return result[()]

    def real_powers(z: Array, w: Array) -> Array:
        return from_parts(of_reals(z.real, w.real), np.copysign(0.0, default(z, w).imag))

    return run


def square(default: ArrayKernel) -> ArrayKernel:
    """Return the kernel of squares."""
    return partwise(lambda a, b: (sum_of_products(a, a, -b, b), sum_of_products(a, b, a, b)), COMPLEX128, default)


def product(default: ArrayKernel) -> ArrayKernel:
    """Return the kernel of products."""
    return partwise(_product, COMPLEX128, _product_with_nans)


def _product_with_nans(z: Array, w: Array) -> Array:
    """Multiply by the formula; finite parts are replaced by their signs, so that no product of theirs overflows."""
    parts = [np.where(np.isfinite(x), np.sign(x), x) for x in (z.real, z.imag, w.real, w.imag)]
    return from_parts(*_product(*parts))


def _product(a: Array, b: Array, c: Array, d: Array) -> Pair:
    return sum_of_products(a, c, -b, d), sum_of_products(a, d, b, c)


def sum_of_products(a: Array, b: Array, c: Array, d: Array) -> Array:
    """Return a * b + c * d of arrays of one shape, exact and rounded once.

    Infinities and NaNs are as in IEEE-754 arithmetic.
    """
    plain = a * b + c * d
    (p, e), (q, f) = two_product(a, b), two_product(c, d)
    high, middle = two_sum(p, q)
    low, lowest = two_sum(e, f)
    high, low = two_sum(high, middle + low)
    error = np.maximum(np.abs(p), np.abs(q)) * ERROR
    result = np.where(plain == 0, plain, high + (low + lowest))
    moderate = [(np.abs(x) > SMALLEST) & (np.abs(x) < LARGEST) | (x == 0) for x in (a, b, c, d)]
    is_open = (high + (low + error) != high + (low - error)) | ~np.logical_and.reduce(moderate)
    vanishes = (p == -q) & (e == -f) & np.logical_and.reduce(moderate)
    finite = np.logical_and.reduce([np.isfinite(x) for x in (a, b, c, d)])
    for i in map(tuple, within_time(np.argwhere(is_open & ~vanishes & finite))):
        exact = exact_product_sum((float(a[i]), float(c[i])), (float(b[i]), float(d[i])))
        result[i] = nearest(exact) if exact or plain[i] else plain[i]
    total: Array = np.where(finite, result, plain)
    return total
