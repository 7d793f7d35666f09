"""Kernel factories of functions of MLIR's math dialect that StableHLO does not have."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.numerics import floats, integers
from stablehlo_ref.numerics import multiple_precision as precise
from stablehlo_ref.numerics.conversion import convert
from stablehlo_ref.numerics.double_double import two_product, two_sum
from stablehlo_ref.numerics.dtypes import BOOL, FLOAT32, FLOAT64
from stablehlo_ref.numerics.elementary import Elementary, kernels, power
from stablehlo_ref.numerics.kernels import ArrayKernel, same_kernel
from stablehlo_ref.numerics.reproducible import in_mode

exp2 = kernels(Elementary(np.exp2, precise.exp2))
log2 = kernels(Elementary(np.log2, precise.log2))
log10 = kernels(Elementary(np.log10, precise.log10))
trunc = floats.unary(same_kernel(np.trunc))
copysign = floats.binary(same_kernel(np.copysign))
is_nan = floats.predicate(np.isnan)
is_inf = floats.predicate(np.isinf)


def is_normal(dtype: DType) -> ArrayKernel:
    """Return the kernel of whether a number is neither zero, subnormal, infinite nor NaN."""
    smallest = float(ml_dtypes.finfo(dtype).smallest_normal)  # type: ignore[no-untyped-call]
    widen = convert(dtype, FLOAT64)

    def run(x: Array) -> Array:
        magnitude = np.abs(widen(x))
        result: Array = np.isfinite(magnitude) & np.greater_equal(magnitude, smallest)
        return result

    return run


def power_of_integer(dtype: DType, exponent: DType, reproducible: bool = False) -> ArrayKernel:
    """Return the kernel of a float to the power of an integer."""
    raise_to, widen = in_mode(power, reproducible)(FLOAT64), convert(exponent, FLOAT64)
    as_double, narrow = convert(dtype, FLOAT64), convert(FLOAT64, dtype)
    return lambda x, n: narrow(raise_to(as_double(x), widen(n)))


def fused_multiply_add(dtype: DType) -> ArrayKernel:
    """Return the kernel of x * y + z, rounded once."""
    widen, narrow = convert(dtype, FLOAT64), convert(FLOAT64, dtype)
    if dtype == FLOAT64:
        return _fused_double
    if dtype == FLOAT32:
        return lambda x, y, z: _odd_sum(widen(x) * widen(y), widen(z)).astype(np.float32)
    return lambda x, y, z: narrow(_odd_sum(widen(x) * widen(y), widen(z)))


def _odd_sum(x: Array, y: Array) -> Array:
    """Return x + y, rounded to the odd neighbour unless it is exact, so that it can be rounded again."""
    total, error = map(np.asarray, two_sum(x, y))
    is_even = total.view(np.int64) & 1 == 0
    toward = np.where(error > 0, np.inf, -np.inf)
    inexact = np.isfinite(error) & (error != 0) & is_even
    return np.where(inexact, np.nextafter(total, toward), total)[()]


def _fused_double(x: Array, y: Array, z: Array) -> Array:
    """Return x * y + z as Boldo and Melquiond do; next to overflow and underflow with two roundings."""
    high, low = two_product(x, y)
    partial, rest = two_sum(z, low)
    total, error = two_sum(high, partial)
    result = total + _odd_sum(rest, error)
    plain = np.where(np.isinf(z) & np.isfinite(x) & np.isfinite(y), z, x * y + z)  # the product may overflow
    size = np.abs(x * y)
    is_safe = np.isfinite(result) & (size > 2.0**-960) & (np.maximum(np.abs(x), np.abs(y)) < 2.0**990)
    return np.where(is_safe, result, plain)[()]


def count_trailing_zeros(dtype: DType) -> ArrayKernel:
    """Return the kernel of the number of zero bits below the lowest one; the bit width of zero."""
    if dtype == BOOL:
        return np.logical_not
    minus, both, ones = integers.subtract(dtype), integers.bitwise_and(dtype), integers.popcnt(dtype)
    one, invert = np.ones((), dtype)[()], integers.bitwise_not(dtype)
    return lambda x: ones(both(invert(x), minus(x, one)))
