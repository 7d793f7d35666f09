"""Bound sums and sums of products, in any order: n times u times the largest partial sum that an order can have.

Fourier transforms, triangular solves, Cholesky factors and batch normalisation are bounded on known operands. Higham,
Accuracy and Stability of Numerical Algorithms, 2nd ed.: sections 24.1 (FFT), 8.1 (triangular systems), 10.1 (Cholesky).
The bounds hold for blocked algorithms too, also if they invert blocks on the diagonal.
"""

from __future__ import annotations

from enum import Enum
from math import log2, prod
from operator import gt

import numpy as np

from stablehlo_ref.debug.bounds.ball import (
    OURS,
    Ball,
    NoBound,
    Query,
    dtype_of,
    gamma,
    known,
    largest,
    real_dtype,
    rounded,
    shape_of,
    smallest_normal,
    ulp,
    unit_roundoff,
)
from stablehlo_ref.debug.contract import DOT_ALGORITHMS, ProductRounding
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.types import FLOATS, FloatType, Type
from stablehlo_ref.numerics.dtypes import FLOAT32, bit_width, is_fractional, kind, numpy_dtype
from stablehlo_ref.ops.deprecated import split_config

_GROWTH_OF_PARTS = 1 + 2.0**-5  # more than the sum of magnitudes of an operand's parts, squared, relative to its own
ROUNDINGS = 8  # of an element in one level of a transform: a complex product with a rounded root of unity, and a sum


def product_sum(query: Query) -> Ball:
    """Bound a dot product or convolution; its operands may be rounded as the contract's algorithm of dots does."""
    algorithm = dot_algorithm(query)
    terms = float(terms_of(query) * algorithm.products)
    return complex_sum(query, terms, algorithm.roundoff) if query.is_complex else sum_of(query, terms, algorithm)


def complex_sum(query: Query, terms: float, roundoff: float = 0.0) -> Ball:
    """Bound a sum of complex numbers, or of their products, in any order; each part of it is one of real numbers."""
    if not query.is_exact:
        raise NoBound
    count, u = 2 * terms + 2, unit_roundoff(query.dtype)
    total = np.abs(query.wide([np.abs(c) for c in query.centers]))
    share = 2.0 if query.contract.flush_subnormals else 2 * u
    of_operands = roundoff * (2 + roundoff)
    radius = np.sqrt(2) * ((gamma(count, u) + gamma(count, OURS)) * (1 + of_operands) + of_operands) * total
    radius = radius + count * share * smallest_normal(query.dtype)
    return known(query, rounded(query, radius), 2 * total + radius)


def einsum_of_one(query: Query) -> Ball:
    """Bound sums of elements of one operand."""
    terms = float(terms_of(query))
    return complex_sum(query, terms) if query.is_complex else sum_of(query, terms)


def terms_of(query: Query) -> int:
    """Return the number of products in an element of a dot product, einsum or convolution."""
    properties, shapes = query.attributes, [shape_of(operand) for operand in query.op.operands]
    if query.name == "dot":
        return shapes[0][-1]
    if "einsum_config" in properties:
        *operands, kept = split_config(properties["einsum_config"], *map(len, shapes))
        sizes = {name: n for names, shape in zip(operands, shapes) for name, n in zip(names, shape)}
        return prod(n for name, n in sizes.items() if name not in kept)
    if "lhs_contracting_dimensions" in properties:
        return prod(shapes[0][d] for d in properties["lhs_contracting_dimensions"])
    spatial = prod(shapes[1][d] for d in properties["kernel_spatial_dimensions"])
    return int(spatial * shapes[1][properties["kernel_input_feature_dimension"]])


def dot_algorithm(query: Query) -> ProductRounding:
    """Return how operands of products are rounded: as the op says, or as the contract, unless it is full precision."""
    if (operations := query.attributes.get("num_primitive_operations")) is not None:
        return _requested(query, int(operations))
    requested = query.attributes.get("precision_config") or ()
    is_full = requested and all(isinstance(p, Enum) and p.value == "HIGHEST" for p in requested)
    return DOT_ALGORITHMS["ieee" if is_full else query.contract.dot_algorithm]


def _requested(query: Query, operations: int) -> ProductRounding:
    """Return the attribute `algorithm` of an op; NoBound if its sums may be imprecise."""
    properties = query.attributes
    if properties["allow_imprecise_accumulation"]:
        raise NoBound
    sides = [(properties[f"{side}_precision_type"], properties[f"{side}_component_count"]) for side in ("lhs", "rhs")]
    roundoffs = [roundoff_of(type) ** count * 2 ** (count - 1) for type, count in sides]
    types = [dtype_of(operand) for operand in query.op.operands]  # integers are like a float that has all their bits
    own = [unit_roundoff(type) if is_fractional(type) else 2.0 ** -bit_width(type) for type in types]
    is_rounded = any(map(gt, roundoffs, own))
    return ProductRounding(max(roundoffs) if is_rounded else 0.0, operations)


def roundoff_of(type: object) -> float:
    """Return the unit roundoff of a type to which an algorithm of dots rounds operands."""
    if type == FLOATS["tf32"]:
        return 2.0**-11
    assert isinstance(type, Type)
    return unit_roundoff(numpy_dtype(type))


def _accumulator(query: Query) -> DType:
    """Return the least precise type of partial sums: that of the body; of products, as the op or the contract says."""
    if query.op.regions:
        return query.dtype
    requested = query.attributes.get("accumulation_type")
    if isinstance(requested, FloatType) and requested != FLOATS["tf32"]:
        return numpy_dtype(requested)
    part = real_dtype(query.dtype)
    return FLOAT32 if query.contract.accumulator == "f32" and part.itemsize < FLOAT32.itemsize else part


def sum_of(query: Query, terms: Array | float, algorithm: ProductRounding = DOT_ALGORITHMS["ieee"]) -> Ball:
    """Bound a sum of at most `terms` operands, or of products of operands that are rounded as an algorithm does."""
    if kind(query.dtype) != "floating" or any(map(_is_unknown, query.operands)):
        raise NoBound
    center = query.expected
    total = query.wide([_magnitude(query, i) for i in range(len(query.operands))])
    propagated = np.zeros(()) if query.is_exact else _propagated(query, total, terms)
    shift = algorithm.roundoff * (2 + algorithm.roundoff) * (total + propagated)
    shifted = total + propagated + shift, np.abs(center) + propagated + shift
    accumulator = _accumulator(query)
    rounded = _rounded(terms, accumulator, *(x * _GROWTH_OF_PARTS if algorithm.products > 1 else x for x in shifted))
    ours = gamma(terms, OURS) * (total + propagated)
    share = 2.0 if query.contract.flush_subnormals else 2 * unit_roundoff(accumulator)
    lost = np.asarray(terms * share * smallest_normal(accumulator))  # of subnormal products, or all that is flushed
    radius = propagated + shift + rounded + ours + lost
    if accumulator != query.dtype:
        radius = radius + query.contract.ulps_of(query.name, 0.5) * ulp(np.abs(center) + radius, query.dtype)
    may_overflow = _may_overflow(query, terms, center, total, radius, accumulator)
    center, radius = np.where(may_overflow, 0.0, center), np.where(may_overflow, np.inf, radius)
    if query.is_exact:
        radius = np.where(np.isfinite(center), radius, 0.0)
    return Ball(center, radius)


def _is_unknown(ball: Ball) -> bool:
    """Return whether an operand has no bound that sums can use: complex numbers, and indices that are not known."""
    return ball.kind == "c" or (ball.kind != "f" and not ball.is_exact)


def _may_overflow(
    query: Query, terms: Array | float, center: Array, total: Array, radius: Array, accumulator: DType
) -> Array:
    """Return where partial sums overflow in some order and not in another, or to infinities of both signs.

    Infinities and NaN in operands are in all orders. A sum beyond the largest number overflows in all orders, and to
    its own sign if the terms of the other do not.
    """
    top = largest(accumulator) * (1 - 2.0**-8)
    of_other_sign = (total - np.abs(center)) / 2 + radius
    surely = (np.abs(center) - radius > largest(query.dtype)) & (of_other_sign < top)
    may_overflow = np.isfinite(center) & (total + radius >= top) & ~surely
    if np.all(np.isfinite(center)):
        return may_overflow
    finite_total = query.wide([_finite(_magnitude(query, i)) for i in range(len(query.operands))])
    finite_sum = np.sign(center) * query.wide(list(map(_finite, query.centers)))
    finite_of_other_sign = (finite_total - np.where(np.isnan(center), 0.0, finite_sum)) / 2
    finite_of_other_sign = finite_of_other_sign + gamma(terms, OURS) * finite_total
    multiplies_padding = np.isnan(center) if _has_padding(query) else np.zeros(center.shape, bool)
    may_be_other = ~np.isfinite(center) & ~(finite_of_other_sign < top)
    return np.asarray(may_overflow | multiplies_padding | may_be_other)


def _has_padding(query: Query) -> bool:
    """Return whether a convolution has zeros that no operand has: backends do not multiply infinities by them."""
    properties = query.attributes
    return query.name == "convolution" and (
        any(n for pair in properties["padding"] or () for n in pair)
        or any(n > 1 for n in properties["lhs_dilation"] or ())
    )


def _finite(array: Array) -> Array:
    return np.where(np.isfinite(array), array, 0.0) if array.dtype.kind == "f" else array


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


def _magnitude(query: Query, index: int) -> Array:
    """Return the magnitude of an operand, but indices and the operand of `select_and_scatter` as they are."""
    ball = query.operands[index]
    selects = query.name == "select_and_scatter" and query.values[index] is query.op.operands[0]
    return ball.center if selects or ball.kind != "f" else np.asarray(np.abs(ball.center))


def _propagated(query: Query, total: Array, terms: Array | float) -> Array:
    """Bound the effect of errors of operands: the sum of enlarged magnitudes less that of magnitudes.

    It is infinite for all elements if any operand is not finite.
    """
    enlarged = [_magnitude(query, i) + s.radius if s.kind == "f" else s.center for i, s in enumerate(query.operands)]
    if any(np.any(~np.isfinite(array)) for array in enlarged if array.dtype.kind == "f"):
        return np.full(total.shape, np.inf)
    larger = query.wide(enlarged)
    larger_by: Array = np.maximum(larger - total, 0) + 2 * gamma(terms, OURS) * larger
    return larger_by


def transformed(query: Query) -> Ball:
    """`fft`: in the norm of a transform, the error is at most that of log2(n) levels."""
    lengths, name = query.attributes["fft_length"], query.attributes["fft_type"].name
    operand, size = query.operand(0).center, prod(lengths)
    axes = tuple(range(-len(lengths), 0))
    norm = np.sqrt(np.sum(np.abs(operand) ** 2, axis=axes, keepdims=True) * size)
    norm = norm / size if name in ("IFFT", "IRFFT") else norm
    levels = log2(max(size, 1)) + 3  # more for lengths that are not powers of two: transforms of larger ones
    relative = gamma(ROUNDINGS * levels * (3 if size & (size - 1) else 1), unit_roundoff(query.dtype))
    made = Ball(query.expected, np.sqrt(2) * relative * np.broadcast_to(norm, query.expected.shape))
    return known(query, made.unknown_where(~(np.isfinite(norm) & (norm * size < largest(query.dtype)))))


def solved(query: Query) -> Ball:
    """`triangular_solve`: componentwise, by the condition of the matrix and the right-hand side."""
    properties = query.attributes
    a, b = query.operand(0).center, query.operand(1).center
    t = np.tril(a) if properties["lower"] else np.triu(a)
    if properties["unit_diagonal"]:
        t = t - t * np.eye(t.shape[-1]) + np.eye(t.shape[-1])
    transpose = properties["transpose_a"].name != "NO_TRANSPOSE"
    t = t.mT if transpose != (not properties["left_side"]) else t
    inverse, t = np.abs(_inverse(t)), np.abs(t)
    sides = np.abs(b) if properties["left_side"] else np.abs(b).mT
    radius = _perturbed(query, inverse @ t, inverse @ (t @ (inverse @ sides)))
    return known(query, Ball(query.expected, radius if properties["left_side"] else radius.mT))


def factored(query: Query) -> Ball:
    """`cholesky`: by the condition of the factor; the other triangle is not known."""
    center = query.expected
    if not np.all(np.isfinite(center)):
        return known(query, Ball(center, np.zeros(center.shape)))
    lower = bool(query.attributes["lower"])
    factor = np.tril(center if lower else center.conj().mT)
    inverse, size = np.abs(_inverse(factor)), np.abs(factor)
    relative = inverse @ (size @ size.mT) @ inverse.mT
    radius = _perturbed(query, relative, size @ np.tril(relative))
    radius = np.where(np.tri(size.shape[-1], dtype=bool), radius, np.inf)
    return known(query, Ball(center, radius if lower else radius.mT))


def _perturbed(query: Query, condition: Array, bound: Array) -> Array:
    """Return a bound times the rounding errors of n steps, infinite where these are large beside the condition."""
    ulps = max(query.contract.ulps_of(name, 0.5) for name in ("divide", "sqrt"))
    factor = (4.0 if query.is_complex else 1.0) * max(1.0, ulps)  # beside real numbers by IEEE-754
    u = gamma(4 * condition.shape[-1] + 8, unit_roundoff(query.dtype)) * factor
    norm = np.max(np.sum(condition, axis=-1, initial=0.0), axis=-1, initial=0.0)[..., None, None]
    return np.where(u * norm < 0.25, 2 * u * bound, np.inf)


def _inverse(matrix: Array) -> Array:
    try:
        inverse: Array = np.linalg.inv(matrix)
    except np.linalg.LinAlgError as error:
        raise NoBound from error
    return inverse


def _by_feature(query: Query, operand: Array) -> tuple[tuple[int, ...], list[int]]:
    """Return the axes over which a normalisation sums, and the shape in which what is left broadcasts."""
    axis = query.attributes["feature_index"]
    others = tuple(i for i in range(operand.ndim) if i != axis)
    return others, [1 if i in others else n for i, n in enumerate(operand.shape)]


def normalised(query: Query) -> Ball:
    """`batch_norm_inference` and `batch_norm_training`, in any order of their sums and products."""
    x, scale, offset = (query.operand(i).center for i in range(3))
    others, shape = _by_feature(query, x)
    u = unit_roundoff(query.dtype)
    if query.name == "batch_norm_inference":
        mean, variance = (query.operand(i).center.reshape(shape) for i in (3, 4))
        of_mean, of_variance = np.zeros(()), np.zeros(())
    else:
        mean, variance = x.mean(others, keepdims=True), x.var(others, keepdims=True)
        relative = gamma(2 * x.size / max(prod(shape), 1) + 8, u)
        of_mean = relative * np.abs(x).mean(others, keepdims=True)
        of_variance = relative * 2 * (x**2).mean(others, keepdims=True)
    if query.index:
        return rounded(query, (of_mean, of_variance)[query.index - 1].reshape(query.expected.shape))
    total = variance + query.attributes["epsilon"]
    of_variance = of_variance + _rounding_of_epsilon(query)
    root = 1 / np.sqrt(total)
    ulps = max(query.contract.ulps_of(name, 0.5) for name in ("rsqrt", "divide", "sqrt"))
    size = np.abs(scale.reshape(shape)) * root
    terms = size * (np.abs(x) + np.abs(mean)) + np.abs(offset.reshape(shape))
    radius = 8 * (1 + ulps) * u * terms + size * (of_mean + np.abs(x - mean) * of_variance / total)
    return known(query, Ball(query.expected, np.where(of_variance < total / 2, radius, np.inf)))


def _rounding_of_epsilon(query: Query) -> float:
    """Return how far epsilon is from that of the element type: small ones are 0 in some."""
    epsilon = float(query.attributes["epsilon"])
    return abs(epsilon - float(np.asarray(epsilon).astype(query.dtype)))


def gradients(query: Query) -> Ball:
    """`batch_norm_grad`: by the number of roundings of each term, in any order of sums and products."""
    x, scale, mean, variance, dy = (query.operand(i).center for i in range(5))
    others, shape = _by_feature(query, x)
    count = max(x.size // max(prod(shape), 1), 1)
    total = variance.reshape(shape) + query.attributes["epsilon"]
    root = np.where(total > 0, 1 / np.sqrt(np.abs(total)), np.inf)
    size, distance = np.abs(scale.reshape(shape)) * root, np.abs(x) + np.abs(mean.reshape(shape))
    of_offset = np.sum(np.abs(dy), others, keepdims=True)
    of_scale = np.sum(np.abs(dy) * distance, others, keepdims=True) * root
    of_operand = size * (np.abs(dy) + (of_offset + distance * root * of_scale) / count)
    terms = (of_operand, of_scale, of_offset)[query.index]
    ulps = max(query.contract.ulps_of(name, 0.5) for name in ("rsqrt", "divide", "sqrt"))
    of_epsilon = _rounding_of_epsilon(query) / np.abs(total)
    relative = gamma(2 * count + 16 + 16 * ulps, unit_roundoff(query.dtype)) + 4 * of_epsilon
    lost = 4 * (count + 4) * smallest_normal(query.dtype)  # by numbers that are flushed, before products with these
    lost = lost * (1 + size) * (1 + root) ** 3 * (1 + np.max(distance, others, keepdims=True, initial=0.0))
    radius = np.where(of_epsilon < 0.5, relative * terms + lost, np.inf)
    radius = radius if query.index == 0 else radius.reshape(query.expected.shape)
    return known(query, Ball(query.expected, radius), terms.reshape(radius.shape) * count)
