"""The spacing of floating-point formats and the bounds on rounding errors that follow from it, in f64."""

from __future__ import annotations

import numpy as np

from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.numerics.dtypes import FLOAT32, FLOAT64, float_info, kind, part_dtype

SLACK = 1 + 2.0**-48  # for the roundings of a radius itself
_EXPONENT = 0x7FF << 52  # the bits of an f64 that are its power of two
OURS = 2.0**-53  # unit roundoff of f64, in which reference values are computed


def real_dtype(dtype: DType) -> DType:
    """Return the dtype of the parts of a complex dtype; any other as it is."""
    return part_dtype(dtype) if kind(dtype) == "complex" else dtype


def unit_roundoff(dtype: DType) -> float:
    """Return half the distance from 1 to the next number."""
    return float(2.0 ** -(float_info(real_dtype(dtype)).nmant + 1))


def largest(dtype: DType) -> float:
    return float(float_info(real_dtype(dtype)).max)


def overflow_threshold(dtype: DType) -> float:
    """Return the number that would follow the largest one: a result that may be rounded up to it may overflow."""
    return largest(dtype) + float(ulp(np.asarray(largest(dtype)), dtype))


def smallest_normal(dtype: DType) -> float:
    return float(2.0 ** float_info(real_dtype(dtype)).minexp)


def ulp(magnitude: Array, dtype: DType) -> Array:
    """Return the distance of adjacent numbers of a format at real numbers of these magnitudes."""
    info = float_info(real_dtype(dtype))
    known = np.where(np.isfinite(magnitude), np.abs(magnitude), 0.0).astype(np.float64, copy=False)
    power = (np.maximum(known, 2.0**info.minexp).view(np.int64) & _EXPONENT).view(np.float64)
    return np.asarray(power * 2.0**-info.nmant)


def gamma(terms: Array | float, u: float) -> Array:
    """Return the bound n u / (1 - n u) on the relative error of n roundings; infinity where n u >= 1.

    Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., lemma 3.1.
    """
    product = np.asarray(terms, np.float64) * u
    return np.where(product < 1, product / np.maximum(1 - product, OURS), np.inf)


def accumulator_dtype(dtype: DType, least: str) -> DType:
    """Return the least precise legal type of partial sums of elements of `dtype`."""
    part = real_dtype(dtype)
    return FLOAT32 if least == "f32" and part.itemsize < FLOAT32.itemsize else part


def of_reference(dtype: DType, magnitude: Array) -> Array:
    """Return a bound on the error of an elementary function as the interpreter computes it in f64; 0 at infinity."""
    finite = np.where(np.isfinite(magnitude), magnitude, 0.0)
    return 4 * ulp(finite, FLOAT64) if real_dtype(dtype) == FLOAT64 else 8 * OURS * finite
