"""Bounds on sums and sums of products, in any order: n times u times the largest partial sum that an order can have."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from math import prod

import numpy as np

from stablehlo_ref.debug.contract import DOT_ALGORITHMS
from stablehlo_ref.debug.rounding import OURS, accumulator_dtype, gamma, largest, smallest_normal, ulp, unit_roundoff
from stablehlo_ref.debug.shadow import Shadow, Site, Unknown, dtype_of
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.numerics.dtypes import kind


def sum_of(site: Site, terms: float) -> Shadow:
    """Bound a sum of at most `terms` operands, which are not rounded."""
    return _bounded(site, terms, 0.0)


def product_sum(site: Site) -> Shadow:
    """Bound a dot product or convolution; its operands may be rounded as the contract's algorithm of dots does."""
    return _bounded(site, float(terms_of(site)), _rounding_of_operands(site))


def terms_of(site: Site) -> int:
    """Return the number of products in an element of a dot product or convolution."""
    properties, shapes = site.op.properties, [_shape(site, i) for i in range(2)]
    if site.name == "dot":
        return shapes[0][-1]
    if site.name == "dot_general":
        return int(prod(shapes[0][d] for d in properties["lhs_contracting_dimensions"]))
    spatial = prod(shapes[1][d] for d in properties["kernel_spatial_dimensions"])
    return int(spatial * shapes[1][properties["kernel_input_feature_dimension"]])


def _shape(site: Site, index: int) -> Sequence[int]:
    type = site.op.operands[index].type
    if not isinstance(type, TensorType):
        raise Unknown
    return [n or 0 for n in type.shape]


def _rounding_of_operands(site: Site) -> float:
    """Return the unit roundoff of operands of products: that of the contract, unless the op asks for full precision."""
    requested = site.op.properties.get("precision_config") or ()
    if requested and all(isinstance(p, Enum) and p.value == "HIGHEST" for p in requested):
        return 0.0
    return DOT_ALGORITHMS[site.contract.dot_algorithm]


def _bounded(site: Site, terms: float, operand_roundoff: float) -> Shadow:
    if kind(site.dtype) != "floating" or any(kind(dtype_of(v)) == "complex" for v in site.values):
        raise Unknown
    center = site.wide(site.centers)
    magnitudes = [_magnitude(site, i) for i in range(len(site.operands))]
    total = site.wide(magnitudes)
    propagated = np.zeros(()) if site.is_exact else _propagated(site, total, terms)
    accumulator = accumulator_dtype(site.dtype, site.contract.accumulator)
    rounded = _rounded(terms, accumulator, total + propagated, np.abs(center) + propagated)
    roundings = gamma(terms, OURS) + operand_roundoff * (2 + operand_roundoff)
    share = 1.0 if site.contract.flush_subnormals else 2 * unit_roundoff(accumulator)
    underflow = terms * share * smallest_normal(accumulator)
    radius = propagated + rounded + roundings * (total + propagated) + underflow
    if accumulator != site.dtype:
        radius = radius + site.contract.ulps_of(site.name, 0.5) * ulp(np.abs(center) + radius, site.dtype)
    radius = np.where(np.isfinite(center) & (total + propagated >= _overflow(site)), np.inf, radius)
    return Shadow(center, radius, _deviation(site, terms, accumulator, operand_roundoff, total, center))


def _deviation(
    site: Site, terms: float, accumulator: DType, operand_roundoff: float, total: Array, center: Array
) -> Array:
    """Bound the standard deviation of errors if partial sums and products are rounded to nearest, independently.

    The error of one rounding has a standard deviation of at most a ULP / sqrt(12); that of an operand, at most its unit
    roundoff / sqrt(3) times the product.
    """
    largest_partial_sum = (total + np.abs(center)) / 2
    of_sum = np.sqrt((2 * terms) / 12) * ulp(largest_partial_sum, accumulator)
    of_operands = np.sqrt(2 / 3) * operand_roundoff * total
    of_result = ulp(np.abs(center), site.dtype) / np.sqrt(12) if accumulator != site.dtype else np.zeros(())
    return np.asarray(np.sqrt(of_sum**2 + of_operands**2 + of_result**2))


def _rounded(terms: float, accumulator: DType, total: Array, magnitude: Array) -> Array:
    """Bound the rounding errors of a sum in any order: of the products, and half a ULP of each partial sum.

    A sum of some of the terms is between the sum of the negative and that of the positive ones, so its magnitude is at
    most (total + magnitude) / 2, where `total` is the sum of magnitudes and `magnitude` that of the sum.
    """
    u = unit_roundoff(accumulator)
    growth = 1 + 2 * gamma(terms, u)
    largest_partial_sum = growth * (total + magnitude) / 2
    of_sums = max(terms - 1, 0) * 0.5 * ulp(largest_partial_sum, accumulator)
    return np.where(np.isfinite(largest_partial_sum), growth * u * total + of_sums, np.inf)


def _overflow(site: Site) -> float:
    return largest(site.dtype) * (1 - 2.0**-8)


def _magnitude(site: Site, index: int) -> Array:
    array = site.operands[index].center
    return np.asarray(np.abs(array)) if kind(dtype_of(site.values[index])) == "floating" else array


def _propagated(site: Site, total: Array, terms: float) -> Array:
    """Bound the effect of errors of operands: the sum of enlarged magnitudes less that of magnitudes."""
    enlarged = [
        _magnitude(site, i) + s.radius if kind(dtype_of(site.values[i])) == "floating" else s.center
        for i, s in enumerate(site.operands)
    ]
    if any(np.any(~np.isfinite(array)) for array in enlarged if array.dtype.kind == "f"):
        raise Unknown
    larger = site.wide(enlarged)
    larger_by: Array = np.maximum(larger - total, 0) + 2 * gamma(terms, OURS) * larger
    return larger_by
