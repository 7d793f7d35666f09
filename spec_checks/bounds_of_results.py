"""Bounds of the errors of computed results, beside the exact ones of `stablehlo_ref.semantics`.

Each bound is that of the same algorithm in the arithmetic of accumulation: f64 for f64, f32 for f32 and narrower, or
`arithmetic`. Sums may be in any order, and divisions by a number or by its reciprocal. The last step rounds once to the
element type of the result. A bound is in f64, or for each part in c128 if the result is complex. It is infinite where
nothing is known: where the value is implementation-defined, or where a partial result may overflow. An infinity or a
NaN in the exact result must be reproduced.

    dot products    gamma(n - 1) * S' + S' - S,   S = sum |l| |r|,   S' = sum ((1 + u) |l| |r| + smallest)
    fft             gamma(2 n + 2) * sum |x| for each 1-dimensional transform of n points, beside the errors of inputs:
                    the bound of the direct sum (a rounded root of unity, a product, n - 1 additions), which holds for
                    every reasonable algorithm
    others          step by step, as `running_error` has them
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from spec_checks.running_error import (
    INFINITY,
    Number,
    accumulation_type,
    bound_type,
    elementwise,
    gamma,
    number,
    numbers,
    reals,
    rounding_bound,
    total,
)
from stablehlo_ref.semantics import linear_algebra
from stablehlo_ref.semantics.chlo_structured import ragged_dot
from stablehlo_ref.semantics.convolution import convolution
from stablehlo_ref.semantics.dot_general import dot_terms
from stablehlo_ref.semantics.fft import transform
from stablehlo_ref.semantics.normalization import Steps
from stablehlo_ref.semantics.notation import Array, Arrays, Dims, DType, TensorType, index_space, is_boolean, is_integer


def bounds(values: Array, dtype: DType) -> Array:
    """Return the bound of each number, rounded to `dtype`."""
    return elementwise(lambda x: rounding_bound(x, dtype), values, bound_type(dtype))


# --- dot products ---------------------------------------------------------------------------------------------------


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
    dimensions = (
        lhs_batching_dimensions, rhs_batching_dimensions, lhs_contracting_dimensions, rhs_contracting_dimensions
    )  # fmt: skip
    terms = dot_terms(lhs, rhs, *dimensions)
    return dot_product_bounds(terms, result, arithmetic or accumulation_type(lhs.dtype, result[1]))


def dot_bound(lhs: Array, rhs: Array, *, result: TensorType) -> Array:
    return dot_general_bound(lhs, rhs, (), (), (lhs.ndim - 1,), (0,), result=result)


def convolution_bound(
    lhs: Array,
    rhs: Array,
    *attributes: Any,
    result: TensorType,
    arithmetic: DType | None = None,
    **named_attributes: Any,
) -> Array:
    arithmetic = arithmetic or accumulation_type(lhs.dtype, result[1])
    sums = partial(dot_product_bounds, arithmetic=arithmetic)
    return convolution(lhs, rhs, *attributes, **named_attributes, result=result, sums=sums)


def ragged_dot_bound(lhs: Array, rhs: Array, group_sizes: Array, *, result: TensorType, **dimensions: Dims) -> Array:
    sums = partial(dot_product_bounds, arithmetic=accumulation_type(lhs.dtype, result[1]))
    return ragged_dot(lhs, rhs, group_sizes, **dimensions, result=result, sums=sums)


def dot_product_bounds(terms: Array, result: TensorType, arithmetic: DType) -> Array:
    """Return the bounds of sums of products; booleans and integers are exact."""
    _, dtype = result
    if is_boolean(dtype) or is_integer(dtype):
        return np.zeros(terms.shape)

    def bound(pairs: Sequence[tuple[Any, Any]]) -> float | complex:
        products = (number(left, arithmetic) * number(right, arithmetic) for left, right in pairs)
        return rounding_bound(total(products, arithmetic), dtype)

    return elementwise(bound, terms, bound_type(dtype))


# --- fft ------------------------------------------------------------------------------------------------------------


def fft_bound(
    operand: Array, fft_type: str, fft_length: Dims, *, result: TensorType, arithmetic: DType | None = None
) -> Array:
    shape, dtype = result
    with reals.workprec(300):
        values = numbers(operand, arithmetic or accumulation_type(operand.dtype))
        return bounds(transform(values, fft_type, fft_length, shape, _sum_of_products), dtype)


def _sum_of_products(x: Sequence[Number], roots: Sequence[Any]) -> Number:
    value = sum((term.value * root for term, root in zip(x, roots, strict=True)), reals.zero)
    error = sum((term.error for term in x), reals.zero)
    magnitude = sum((abs(term.value) + term.error for term in x), reals.zero)
    return Number(value, error + gamma(2 * len(x) + 2, x[0].arithmetic) * magnitude, x[0].arithmetic)


# --- decompositions -------------------------------------------------------------------------------------------------


def _with_errors(arithmetic: DType) -> SimpleNamespace:
    """Return the arithmetic of numbers with errors, as `semantics.ieee` is that of exact ones."""
    return SimpleNamespace(
        addition=operator.add,
        subtraction=operator.sub,
        multiplication=operator.mul,
        division=operator.truediv,
        negate=operator.neg,
        square_root=Number.sqrt,
        root_of_real=lambda x: x.real.sqrt(),
        conjugate=Number.conjugate,
        is_positive=lambda x: x.value > 0,
        total=lambda terms: total(terms, arithmetic),
        number=lambda x: number(x, arithmetic),
        ZERO=Number(reals.zero, INFINITY, arithmetic),
        NAN=Number(reals.nan, INFINITY, arithmetic),
    )


def cholesky_bound(a: Array, lower: bool, *, arithmetic: DType | None = None) -> Array:
    arithmetic = arithmetic or accumulation_type(a.dtype)
    result = np.empty(a.shape, object)
    with reals.workprec(300):
        for batch in index_space(a.shape[:-2]):
            matrix = numbers(a[batch], arithmetic)
            result[batch] = linear_algebra.factor(matrix, lower, _with_errors(arithmetic))
    return bounds(result, a.dtype)


def triangular_solve_bound(
    a: Array,
    b: Array,
    left_side: bool,
    lower: bool,
    unit_diagonal: bool,
    transpose_a: str,
    *,
    arithmetic: DType | None = None,
) -> Array:
    arithmetic = arithmetic or accumulation_type(a.dtype)
    result = np.empty(b.shape, object)
    with reals.workprec(300):
        for batch in index_space(a.shape[:-2]):
            matrices = numbers(a[batch], arithmetic), numbers(b[batch], arithmetic)
            how = left_side, lower, unit_diagonal, transpose_a, _with_errors(arithmetic)
            result[batch] = linear_algebra.solve(*matrices, *how)
    return bounds(result, b.dtype)


def batch_norm_inference_bound(*arguments: Any, arithmetic: DType | None = None) -> Array:
    return _batch_norm_bounds(lambda steps, inputs: (steps.inference(*inputs),), arguments, arithmetic)[0]


def batch_norm_training_bound(*arguments: Any, arithmetic: DType | None = None) -> Arrays:
    return _batch_norm_bounds(lambda steps, inputs: steps.training(*inputs), arguments, arithmetic)


def batch_norm_grad_bound(*arguments: Any, arithmetic: DType | None = None) -> Arrays:
    return _batch_norm_bounds(lambda steps, inputs: steps.grad(*inputs), arguments, arithmetic)


def _batch_norm_bounds(
    compute: Callable[[Steps, Arrays], Arrays], arguments: Sequence[Any], arithmetic: DType | None
) -> Arrays:
    *inputs, epsilon, feature_index = arguments
    dtype, shape = inputs[0].dtype, inputs[0].shape
    arithmetic = arithmetic or accumulation_type(dtype)
    with reals.workprec(300):
        steps = Steps(_with_errors(arithmetic), dtype, shape, epsilon, feature_index)
        outputs = compute(steps, tuple(numbers(x, arithmetic) for x in inputs))
        return tuple(bounds(output, dtype) for output in outputs)
