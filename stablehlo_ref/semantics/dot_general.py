"""dot_general, and the dot products that it shares with convolution and einsum.

A dot product is the exact sum of exact products, rounded once to the element type of the result: the limit of all
accuracies and schedules that the spec allows. On quantized types the ops are `dequantize_op_quantize` of these, or
`hybrid_dequantize_then_op` if only `rhs` is quantized (`quantization`).
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from stablehlo_ref.semantics import complexes, ieee
from stablehlo_ref.semantics.elements import each_element, kind
from stablehlo_ref.semantics.notation import (
    Array,
    Dims,
    DType,
    TensorType,
    UndefinedError,
    axes,
    dim,
    index_space,
    is_complex,
    is_float,
)
from stablehlo_ref.semantics.rounding import (
    Real,
    element,
    is_special,
    nearest,
    number,
    round_to,
    with_sign_of,
)

Terms = Sequence[tuple[Any, Any]]  # pairs of elements, whose products are summed


def dot_general(
    lhs: Array,
    rhs: Array,
    lhs_batching_dimensions: Dims,
    rhs_batching_dimensions: Dims,
    lhs_contracting_dimensions: Dims,
    rhs_contracting_dimensions: Dims,
    precision_config: tuple[str, ...] = (),
    lhs_precision_type: DType | str | None = None,
    rhs_precision_type: DType | str | None = None,
    accumulation_type: DType | str | None = None,
    lhs_component_count: int | None = None,
    rhs_component_count: int | None = None,
    num_primitive_operations: int | None = None,
    allow_imprecise_accumulation: bool | None = None,
    *,
    result: TensorType,
) -> Array:
    """Compute dot products between slices of `lhs` and slices of `rhs`.

    `result[result_index] = dot_product`, where

    - `lhs_result_dimensions` are the dimensions of `lhs` that are neither batching nor contracting, and so for `rhs`;
    - `result_index` consists of `result_batching_index`, `result_lhs_index` and `result_rhs_index`;
    - `dot_product = reduce(multiply(transposed_lhs_slice, transposed_rhs_slice))` with addition from 0, where the
      slices are those at these indices of `lhs` and `rhs` transposed to batching, result, contracting dimensions.

    `precision_config` controls the tradeoff between speed and accuracy, and is DEFAULT, HIGH or HIGHEST: here it has no
    effect. The attributes after it, if they are given, are an algorithm. `lhs` and `rhs` are rounded to
    `lhs_precision_type` and `rhs_precision_type`, and sums to `accumulation_type`. With more than one primitive
    operation, each operand is decomposed into several components of its type (3 of bf16 for 6 operations), to emulate
    a higher precision; only some products of components are added. `allow_imprecise_accumulation` permits sums in lower
    precision for some steps: here there are none.
    """
    terms = dot_terms(
        lhs,
        rhs,
        lhs_batching_dimensions,
        rhs_batching_dimensions,
        lhs_contracting_dimensions,
        rhs_contracting_dimensions,
    )
    if num_primitive_operations is None or not (is_float(lhs.dtype) and is_float(result[1])):
        return dot_products(terms, result)
    if num_primitive_operations not in DECOMPOSITIONS:
        raise UndefinedError(f"there is no algorithm of {num_primitive_operations} primitive operations")
    components, levels = DECOMPOSITIONS[num_primitive_operations]

    def evaluate(pairs: Terms) -> Any:
        products = []
        for left, right in pairs:
            lhs_parts = components_of(number(left), lhs_precision_type, components)
            rhs_parts = components_of(number(right), rhs_precision_type, components)
            kept = [ieee.multiplication(a, b) for i, a in enumerate(lhs_parts) for b in rhs_parts[: max(levels - i, 0)]]
            is_exact = is_special(lhs_parts[0]) or is_special(rhs_parts[0])  # what is left of inf is no part of it
            products += kept[:1] if is_exact else kept
        return round_to(result[1], rounded(accumulation_type, reduce(ieee.addition, products, 0.0)))

    return each_element(evaluate, terms, element_type=result[1])


# From the number of primitive operations to (components, levels): an operand is the sum of `components` numbers, the
# largest first, and the products of components i and j with i + j < levels are summed.
DECOMPOSITIONS = {1: (1, 1), 3: (2, 2), 4: (2, 3), 6: (3, 3), 9: (3, 5)}


def components_of(x: Real, type: DType | str | None, count: int) -> list[Real]:
    """Return numbers of a type whose sum is `x`, or nearest to it: each is what the ones before leave, rounded."""
    parts: list[Real] = []
    for _ in range(count):
        parts.append(rounded(type, x))
        x = ieee.subtraction(x, parts[-1])
    return parts


def rounded(type: DType | str | None, x: Real) -> Real:
    """Round a number to a floating-point type; `tf32` is f32 with 10 bits of mantissa."""
    if isinstance(type, np.dtype):
        return number(round_to(type, x))
    return x if is_special(x) else with_sign_of(nearest(abs(x), 10, -126), x)


def dot_terms(
    lhs: Array,
    rhs: Array,
    lhs_batching_dimensions: Dims,
    rhs_batching_dimensions: Dims,
    lhs_contracting_dimensions: Dims,
    rhs_contracting_dimensions: Dims,
) -> Array:
    """Return, for each element of the result, the pairs of elements whose products are summed."""
    lhs_result_dimensions = tuple(d for d in axes(lhs) if d not in lhs_batching_dimensions + lhs_contracting_dimensions)
    rhs_result_dimensions = tuple(d for d in axes(rhs) if d not in rhs_batching_dimensions + rhs_contracting_dimensions)
    transposed_lhs = np.transpose(lhs, lhs_batching_dimensions + lhs_result_dimensions + lhs_contracting_dimensions)
    transposed_rhs = np.transpose(rhs, rhs_batching_dimensions + rhs_result_dimensions + rhs_contracting_dimensions)
    batching, lhs_rank = len(lhs_batching_dimensions), len(lhs_batching_dimensions + lhs_result_dimensions)
    lhs_dims = tuple(dim(lhs, d) for d in lhs_batching_dimensions + lhs_result_dimensions)
    terms = np.empty(lhs_dims + tuple(dim(rhs, d) for d in rhs_result_dimensions), object)
    for result_index in index_space(terms.shape):
        result_batching_index = result_index[:batching]
        result_lhs_index = result_index[batching:lhs_rank]
        result_rhs_index = result_index[lhs_rank:]
        transposed_lhs_slice = np.asarray(transposed_lhs[result_batching_index + result_lhs_index])
        transposed_rhs_slice = np.asarray(transposed_rhs[result_batching_index + result_rhs_index])
        terms[result_index] = list(zip(transposed_lhs_slice.flat, transposed_rhs_slice.flat, strict=True))
    return terms


def dot_products(terms: Array, result: TensorType) -> Array:
    """Return the sums of products of the pairs in `terms`, as the given type."""
    shape, element_type = result
    assert terms.shape == shape
    return each_element(lambda pairs: dot_product(pairs, element_type), terms, element_type=element_type)


def dot_product(pairs: Terms, element_type: DType) -> Any:
    """Return the sum of products: integers wrap, and of booleans it is the disjunction of conjunctions."""
    multiply: Any
    add: Any
    zero: Any
    multiply, add, zero = {
        "b": (operator.and_, operator.or_, False),
        "i": (operator.mul, operator.add, 0),
        "f": (ieee.multiplication, ieee.addition, 0.0),
        "c": (complexes.multiplication, complexes.addition, (0.0, 0.0)),
    }[kind(element_type)]
    if any(is_complex(x.dtype) > is_complex(element_type) for pair in pairs for x in pair):
        raise UndefinedError(f"products of complex numbers are not {element_type}")
    products = (multiply(number(left), number(right)) for left, right in pairs)
    return element(element_type, reduce(add, products, zero))
