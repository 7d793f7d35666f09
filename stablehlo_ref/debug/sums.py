"""Bounds on sums and sums of products, in any order: n times u times the largest partial sum that an order can have."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from math import prod

import numpy as np

from stablehlo_ref.debug.contract import DOT_ALGORITHMS, DotAlgorithm
from stablehlo_ref.debug.rounding import OURS, accumulator_dtype, gamma, largest, smallest_normal, ulp, unit_roundoff
from stablehlo_ref.debug.shadow import Shadow, Site, Unknown, dtype_of
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.types import FLOATS, FloatType, TensorType, Type
from stablehlo_ref.numerics.dtypes import kind, numpy_dtype


def sum_of(site: Site, terms: Array | float) -> Shadow:
    """Bound a sum of at most `terms` operands, which are not rounded."""
    return _bounded(site, terms, DOT_ALGORITHMS["ieee"])


def product_sum(site: Site) -> Shadow:
    """Bound a dot product or convolution; its operands may be rounded as the contract's algorithm of dots does."""
    algorithm = dot_algorithm(site)
    return _bounded(site, float(terms_of(site) * algorithm.products), algorithm)


def terms_of(site: Site) -> int:
    """Return the number of products in an element of a dot product or convolution."""
    properties, shapes = site.op.properties, [_shape(site, i) for i in range(2)]
    if site.name == "dot":
        return shapes[0][-1]
    if site.name == "dot_general":
        return int(prod(shapes[0][d] for d in properties.get("lhs_contracting_dimensions", ())))
    spatial = prod(shapes[1][d] for d in properties["kernel_spatial_dimensions"])
    return int(spatial * shapes[1][properties["kernel_input_feature_dimension"]])


def _shape(site: Site, index: int) -> Sequence[int]:
    type = site.op.operands[index].type
    if not isinstance(type, TensorType):
        raise Unknown
    return [n or 0 for n in type.shape]


def dot_algorithm(site: Site) -> DotAlgorithm:
    """Return how operands of products are rounded: as the op says, or as the contract, unless it is full precision."""
    if (operations := site.op.properties.get("num_primitive_operations")) is not None:
        return _requested(site, int(operations))
    requested = site.op.properties.get("precision_config") or ()
    is_full = requested and all(isinstance(p, Enum) and p.value == "HIGHEST" for p in requested)
    return DOT_ALGORITHMS["ieee" if is_full else site.contract.dot_algorithm]


def _requested(site: Site, operations: int) -> DotAlgorithm:
    """Return the attribute `algorithm` of an op; Unknown if its sums may be imprecise."""
    properties = site.op.properties
    if properties.get("allow_imprecise_accumulation"):
        raise Unknown
    sides = [(properties[f"{side}_precision_type"], properties[f"{side}_component_count"]) for side in ("lhs", "rhs")]
    roundoffs = [_roundoff(type) ** count * 2 ** (count - 1) for type, count in sides]
    dtype = dtype_of(site.op.operands[0])
    is_rounded = any(roundoff > unit_roundoff(dtype) for roundoff in roundoffs)
    return DotAlgorithm(max(roundoffs) if is_rounded else 0.0, operations)


def _roundoff(type: object) -> float:
    if type == FLOATS["tf32"]:
        return 2.0**-11
    assert isinstance(type, Type)
    return unit_roundoff(numpy_dtype(type))


def _accumulator(site: Site) -> DType:
    """Return the least precise type of partial sums: that of the body; of products, as the op or the contract says."""
    if site.op.regions:
        return site.dtype
    requested = site.op.properties.get("accumulation_type")
    if isinstance(requested, FloatType) and requested != FLOATS["tf32"]:
        return numpy_dtype(requested)
    return accumulator_dtype(site.dtype, site.contract.accumulator)


def _bounded(site: Site, terms: Array | float, algorithm: DotAlgorithm) -> Shadow:
    if kind(site.dtype) != "floating" or any(_is_unknown(s, dtype_of(v)) for v, s in zip(site.values, site.operands)):
        raise Unknown
    center = site.wide(site.centers)
    total = site.wide([_magnitude(site, i) for i in range(len(site.operands))])
    propagated = np.zeros(()) if site.is_exact else _propagated(site, total, terms)
    shift = algorithm.roundoff * (2 + algorithm.roundoff) * (total + propagated)
    shifted = total + propagated + shift, np.abs(center) + propagated + shift
    accumulator = _accumulator(site)
    rounded = _rounded(terms, accumulator, *(x * _GROWTH_OF_PARTS if algorithm.products > 1 else x for x in shifted))
    ours = gamma(terms, OURS) * (total + propagated)
    radius = propagated + shift + rounded + ours + _underflow(site, terms, accumulator)
    if accumulator != site.dtype:
        radius = radius + site.contract.ulps_of(site.name, 0.5) * ulp(np.abs(center) + radius, site.dtype)
    may_overflow = _may_overflow(site, terms, center, total, radius, accumulator)
    center, radius = np.where(may_overflow, 0.0, center), np.where(may_overflow, np.inf, radius)
    if site.is_exact:
        radius = np.where(np.isfinite(center), radius, 0.0)
    return Shadow(center, radius, _deviation(site, terms, accumulator, algorithm.roundoff, total, center))


_GROWTH_OF_PARTS = 1 + 2.0**-5  # more than the sum of magnitudes of an operand's parts, squared, relative to its own


def _is_unknown(shadow: Shadow, dtype: DType) -> bool:
    """Return whether an operand has no bound that sums can use: complex numbers, and indices that are not known."""
    return kind(dtype) == "complex" or (kind(dtype) != "floating" and not shadow.is_exact)


def _underflow(site: Site, terms: Array | float, accumulator: DType) -> Array:
    """Bound the errors of subnormal products, or of products and partial sums that are flushed to zero."""
    share = 2.0 if site.contract.flush_subnormals else 2 * unit_roundoff(accumulator)
    return np.asarray(terms * share * smallest_normal(accumulator))


def _may_overflow(
    site: Site, terms: Array | float, center: Array, total: Array, radius: Array, accumulator: DType
) -> Array:
    """Return where partial sums overflow in some order and not in another, or to infinities of both signs.

    Infinities and NaN in operands are in all orders. A sum beyond the largest number overflows in all orders, and to
    its own sign if the terms of the other do not.
    """
    top = largest(accumulator) * (1 - 2.0**-8)
    of_other_sign = (total - np.abs(center)) / 2 + radius
    surely = (np.abs(center) - radius > largest(site.dtype)) & (of_other_sign < top)
    may_overflow = np.isfinite(center) & (total + radius >= top) & ~surely
    if np.all(np.isfinite(center)):
        return may_overflow
    numbers = range(len(site.operands))
    finite_total = site.wide([_finite(_magnitude(site, i)) for i in numbers])
    finite_sum = np.sign(center) * site.wide([_finite(site.operands[i].center) for i in numbers])
    finite_of_other_sign = (finite_total - np.where(np.isnan(center), 0.0, finite_sum)) / 2
    finite_of_other_sign = finite_of_other_sign + gamma(terms, OURS) * finite_total
    multiplies_padding = np.isnan(center) if _has_padding(site) else np.zeros(center.shape, bool)
    may_be_other = ~np.isfinite(center) & ~(finite_of_other_sign < top)
    return np.asarray(may_overflow | multiplies_padding | may_be_other)


def _has_padding(site: Site) -> bool:
    """Return whether a convolution has zeros that no operand has: backends do not multiply infinities by them."""
    properties = site.op.properties
    return site.name == "convolution" and (
        any(n for pair in properties.get("padding") or () for n in pair) or any(n > 1 for n in properties.get("lhs_dilation") or ())
    )


def _finite(array: Array) -> Array:
    return np.where(np.isfinite(array), array, 0.0) if array.dtype.kind == "f" else array


def _deviation(
    site: Site, terms: Array | float, accumulator: DType, operand_roundoff: float, total: Array, center: Array
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


def _rounded(terms: Array | float, accumulator: DType, total: Array, magnitude: Array) -> Array:
    """Bound the rounding errors of a sum in any order: of the products, and half a ULP of each partial sum.

    A sum of some of the terms is between the sum of the negative and that of the positive ones, so its magnitude is at
    most (total + magnitude) / 2, where `total` is the sum of magnitudes and `magnitude` that of the sum.
    """
    u = unit_roundoff(accumulator)
    growth = 1 + 2 * gamma(terms, u)
    largest_partial_sum = growth * (total + magnitude) / 2
    of_sums = np.maximum(np.asarray(terms) - 1, 0) * 0.5 * ulp(largest_partial_sum, accumulator)
    of_products = np.minimum(u * total, np.asarray(terms) * 0.5 * ulp(total, accumulator))
    return np.where(np.isfinite(largest_partial_sum), growth * of_products + of_sums, np.inf)


def _magnitude(site: Site, index: int) -> Array:
    """Return the magnitude of an operand, but indices and the operand of `select_and_scatter` as they are."""
    array, value = site.operands[index].center, site.values[index]
    selects = site.name == "select_and_scatter" and value is site.op.operands[0]
    return array if selects or kind(dtype_of(value)) != "floating" else np.asarray(np.abs(array))


def _propagated(site: Site, total: Array, terms: Array | float) -> Array:
    """Bound the effect of errors of operands: the sum of enlarged magnitudes less that of magnitudes.

    It is infinite for all elements if any operand is not finite.
    """
    enlarged = [
        _magnitude(site, i) + s.radius if kind(dtype_of(site.values[i])) == "floating" else s.center
        for i, s in enumerate(site.operands)
    ]
    if any(np.any(~np.isfinite(array)) for array in enlarged if array.dtype.kind == "f"):
        return np.full(total.shape, np.inf)
    larger = site.wide(enlarged)
    larger_by: Array = np.maximum(larger - total, 0) + 2 * gamma(terms, OURS) * larger
    return larger_by
