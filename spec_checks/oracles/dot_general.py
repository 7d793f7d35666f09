"""Oracle of `dot_general`, and the dot products that it shares with `convolution`.

The result is the exact sum of products of real numbers, rounded once to the result's element type; integers wrap, and
for booleans it is the disjunction of conjunctions. `dot_general_bound` bounds the error of a floating-point result:

    |actual - exact| <= gamma(n - 1) * S' + S' - S,   S = sum |l| |r|,   S' = sum ((1 + u) |l| |r| + smallest)

in the arithmetic of accumulation (f32 for f32 and narrower, f64 for f64), for n products added in any order; the
resulting interval is then rounded once to the result's element type. The modulus of the error of complex products is
3 u. An infinity or a NaN in the exact sum must be reproduced. If a partial sum may overflow, the bound is infinite.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spec_checks.oracles.notation import Array, Dims, DType, TensorType, index_space, is_boolean, is_integer
from spec_checks.oracles.rounding import wrap
from spec_checks.oracles.running_error import (
    Number,
    accumulation_type,
    bound_type,
    elementwise,
    number,
    rounded,
    rounding_bound,
    total,
)

Terms = list[tuple[Any, Any]]


def dot_general(
    lhs: Array,
    rhs: Array,
    lhs_batching_dimensions: Dims,
    rhs_batching_dimensions: Dims,
    lhs_contracting_dimensions: Dims,
    rhs_contracting_dimensions: Dims,
    precision_config: tuple[str, ...] = (),
    lhs_precision_type: str | None = None,
    rhs_precision_type: str | None = None,
    accumulation_type: str | None = None,
    lhs_component_count: int | None = None,
    rhs_component_count: int | None = None,
    num_primitive_operations: int | None = None,
    allow_imprecise_accumulation: bool | None = None,
    *,
    result: TensorType,
) -> Array:
    """Compute dot products of slices of `lhs` and `rhs`. Attributes from `precision_config` on have no effect."""
    terms = dot_terms(
        lhs,
        rhs,
        lhs_batching_dimensions,
        rhs_batching_dimensions,
        lhs_contracting_dimensions,
        rhs_contracting_dimensions,
    )
    return dot_products(terms, result)


def dot_general_bound(
    lhs: Array,
    rhs: Array,
    lhs_batching_dimensions: Dims,
    rhs_batching_dimensions: Dims,
    lhs_contracting_dimensions: Dims,
    rhs_contracting_dimensions: Dims,
    *_: Any,
    result: TensorType,
    arithmetic: DType | None = None,
    **__: Any,
) -> Array:
    """Return the bound in f64, or for each part in c128 if complex; `arithmetic` replaces the default one."""
    terms = dot_terms(
        lhs,
        rhs,
        lhs_batching_dimensions,
        rhs_batching_dimensions,
        lhs_contracting_dimensions,
        rhs_contracting_dimensions,
    )
    return dot_product_bounds(terms, result, arithmetic or accumulation_type(lhs.dtype, result[1]))


def dot_terms(
    lhs: Array,
    rhs: Array,
    lhs_batching_dimensions: Dims,
    rhs_batching_dimensions: Dims,
    lhs_contracting_dimensions: Dims,
    rhs_contracting_dimensions: Dims,
) -> Array:
    """Return, for each element of the result, the pairs of elements whose products are summed."""
    lhs_result_dimensions = tuple(
        d for d in range(lhs.ndim) if d not in lhs_batching_dimensions and d not in lhs_contracting_dimensions
    )
    rhs_result_dimensions = tuple(
        d for d in range(rhs.ndim) if d not in rhs_batching_dimensions and d not in rhs_contracting_dimensions
    )
    transposed_lhs = np.transpose(lhs, lhs_batching_dimensions + lhs_result_dimensions + lhs_contracting_dimensions)
    transposed_rhs = np.transpose(rhs, rhs_batching_dimensions + rhs_result_dimensions + rhs_contracting_dimensions)
    lhs_dims = tuple(lhs.shape[d] for d in lhs_batching_dimensions + lhs_result_dimensions)
    terms = np.empty(lhs_dims + tuple(rhs.shape[d] for d in rhs_result_dimensions), object)
    for result_index in index_space(terms.shape):
        result_batching_index = result_index[: len(lhs_batching_dimensions)]
        result_lhs_index = result_index[len(lhs_batching_dimensions) : len(lhs_dims)]
        result_rhs_index = result_index[len(lhs_dims) :]
        transposed_lhs_slice = transposed_lhs[(*result_batching_index, *result_lhs_index, ...)]
        transposed_rhs_slice = transposed_rhs[(*result_batching_index, *result_rhs_index, ...)]
        terms[result_index] = list(zip(transposed_lhs_slice.flat, transposed_rhs_slice.flat, strict=True))
    return terms


def dot_products(terms: Array, result: TensorType) -> Array:
    """Return the sums of products of the pairs in `terms`, as the given type."""
    shape, dtype = result
    assert terms.shape == shape
    if is_boolean(dtype):
        return elementwise(lambda pairs: any(left and right for left, right in pairs), terms, dtype)
    if is_integer(dtype):
        return elementwise(
            lambda pairs: wrap(dtype, sum(int(left) * int(right) for left, right in pairs)), terms, dtype
        )
    return elementwise(lambda pairs: rounded(_dot_product(pairs, accumulation_type(dtype)), dtype), terms, dtype)


def dot_product_bounds(terms: Array, result: TensorType, arithmetic: DType) -> Array:
    """Return the error bounds of `dot_products`; booleans and integers are exact."""
    _, dtype = result
    if is_boolean(dtype) or is_integer(dtype):
        return np.zeros(terms.shape)
    return elementwise(lambda pairs: rounding_bound(_dot_product(pairs, arithmetic), dtype), terms, bound_type(dtype))


def _dot_product(pairs: Terms, arithmetic: DType) -> Number:
    return total((number(left, arithmetic) * number(right, arithmetic) for left, right in pairs), arithmetic)
