"""Kernels of complex<f64> in the reproducible mode: exact products, rounded once; most functions have none."""

from __future__ import annotations

import numpy as np

from stablehlo_ref import mode
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.numerics import complex_elementary, complexes, special_complex
from stablehlo_ref.numerics.blocks import partwise
from stablehlo_ref.numerics.double_double import Pair, two_product, two_sum
from stablehlo_ref.numerics.dtypes import COMPLEX128
from stablehlo_ref.numerics.exact_sums import exact_product_sum, nearest
from stablehlo_ref.numerics.kernels import KernelFactory

SMALLEST, LARGEST = 2.0**-480, 2.0**500  # of factors whose products are exact in two f64
ERROR = 2.0**-100  # relative to the larger of two products

_FUNCTIONS = (
    (complexes, ("abs", "sign", "divide")),
    (complex_elementary, ("atan2", "cbrt", "cosine", "exponential", "exponential_minus_one", "log", "log_plus_one",
                          "logistic", "power", "rsqrt", "sine", "sqrt", "tan", "tanh")),
    (special_complex, ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "sinh", "square",
                       "asin_acos_kernel")),
)  # fmt: skip
DEPENDENT = frozenset(getattr(module, name) for module, names in _FUNCTIONS for name in names)


def in_mode(factory: KernelFactory, dtype: DType) -> KernelFactory:
    """Return the factory to use for a dtype in the current mode; NotReproducibleError if there is none."""
    if dtype == COMPLEX128 and mode.current().reproducible:
        if factory is complexes.multiply:
            return lambda dtype: partwise(_product, dtype, _product_with_nans)
        if factory in DEPENDENT:
            raise mode.NotReproducibleError(f"there is no reproducible implementation for {dtype}")
    return factory


def _product_with_nans(z: Array, w: Array) -> Array:
    return complexes.from_parts(*_product(z.real, z.imag, w.real, w.imag))


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
    for i in map(tuple, np.argwhere(is_open & ~vanishes & finite)):
        exact = exact_product_sum((float(a[i]), float(c[i])), (float(b[i]), float(d[i])))
        result[i] = nearest(exact) if exact or plain[i] else plain[i]
    total: Array = np.where(finite, result, plain)
    return total
