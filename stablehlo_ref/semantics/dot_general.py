"""dot_general, and the dot products that it shares with convolution and einsum.

A dot product is the exact sum of exact products, rounded once to the element type of the result: our choice among the
accuracies and schedules that the spec allows, in whose formulas products have the type of the operands. Only an
algorithm rounds more: operands, and the sum to another type before that of the result. On quantized types the ops are
`dequantize_op_quantize` of these, or `hybrid_dequantize_then_op` if only `rhs` is quantized (`quantization`).
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from stablehlo_ref.semantics import complexes, ieee
from stablehlo_ref.semantics.elements import each_element, kind
from stablehlo_ref.semantics.notation import Array, Dims, DType, TensorType, UndefinedError, axes, dim, index_space
from stablehlo_ref.semantics.rounding import Real, element, exact, is_special, number, round_to, rounded_to

Terms = Sequence[tuple[Any, Any]]  # pairs of elements, whose products are summed


def dot_general(
    lhs: Array,
    rhs: Array,
    lhs_batching_dimensions: Dims,
    rhs_batching_dimensions: Dims,
    lhs_contracting_dimensions: Dims,
    rhs_contracting_dimensions: Dims,
    precision_config: tuple[str, ...] = (),
    lhs_precision_type: DType | str = "",
    rhs_precision_type: DType | str = "",
    accumulation_type: DType | str = "",
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

    `precision_config` controls the tradeoff between speed and accuracy: DEFAULT is the fastest calculation and the
    least accurate, HIGH is in between, HIGHEST is the slowest and most accurate. What they mean is not specified
    further: here all are HIGHEST, and there is no effect. The attributes after it are an algorithm; it must be DEFAULT
    if one is given. `lhs` and `rhs`, whatever their types, are rounded to `lhs_precision_type` and
    `rhs_precision_type`, and sums to `accumulation_type`. With more than one primitive operation, each operand is
    decomposed into several components of its type (3 of bf16 for 6 operations), to emulate a higher precision; only
    some products of components are added. The component counts are those of the decomposition, or 1, as exporters
    write them. `allow_imprecise_accumulation` permits sums in lower precision for some steps: here there are none.
    Implementations decide which algorithms they support, and raise an error for others. Algorithms are of real numbers:
    one has no effect on a result that is boolean, integer or complex, as in the example of the spec, tf32 on integers.
    """
    terms = dot_terms(
        lhs,
        rhs,
        lhs_batching_dimensions,
        rhs_batching_dimensions,
        lhs_contracting_dimensions,
        rhs_contracting_dimensions,
    )
    element_type = result[1]
    if num_primitive_operations is None or kind(element_type) != "f":
        return dot_products(terms, result)
    components, levels = DECOMPOSITIONS.get(num_primitive_operations, (0, 0))
    if not lhs_component_count == rhs_component_count in (1, components):
        counts = f"{lhs_component_count} and {rhs_component_count} components"
        raise UndefinedError(f"there is no algorithm of {num_primitive_operations} primitive operations on {counts}")

    def evaluate(pairs: Terms) -> Any:
        products = []
        for left, right in pairs:
            lhs_parts = components_of(number_of_kind(element_type, left), lhs_precision_type, components)
            rhs_parts = components_of(number_of_kind(element_type, right), rhs_precision_type, components)
            kept = [ieee.multiplication(a, b) for i, a in enumerate(lhs_parts) for b in rhs_parts[: max(levels - i, 0)]]
            is_exact = is_special(lhs_parts[0]) or is_special(rhs_parts[0])  # what is left of inf is no part of it
            products += kept[:1] if is_exact else kept
        return round_to(element_type, rounded_to(accumulation_type, reduce(ieee.addition, products, 0.0)))

    return each_element(evaluate, terms, element_type=element_type)


# From the number of primitive operations to (components, levels): an operand is the sum of `components` numbers, the
# largest first, and the products of components i and j with i + j < levels are summed.
DECOMPOSITIONS = {1: (1, 1), 3: (2, 2), 6: (3, 3), 9: (3, 5)}


def components_of(x: Real, type: DType | str, count: int) -> list[Real]:
    """Return numbers of a type whose sum is `x`, or nearest to it: each is what the ones before leave, rounded."""
    parts: list[Real] = []
    for _ in range(count):
        parts.append(exact(rounded_to(type, x)))
        x = ieee.subtraction(x, parts[-1])
    return parts


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
    products = (multiply(*(number_of_kind(element_type, x) for x in pair)) for pair in pairs)
    return element(element_type, reduce(add, products, zero))


def number_of_kind(element_type: DType, x: Any) -> Any:
    """Return the value of an element as a number of the kind of `element_type`: boolean, integer, real or complex.

    UndefinedError if that cannot represent it: complex numbers are no real numbers, and these no integers.
    """
    if "bifc".index(kind(x.dtype)) > "bifc".index(kind(element_type)):
        raise UndefinedError(f"products of {x.dtype} are not {element_type}")
    value = number(x)
    if kind(element_type) == "c":
        return value if isinstance(value, tuple) else (exact(value), 0.0)
    return exact(value) if kind(element_type) == "f" else value
