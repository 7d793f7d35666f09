"""convolution: `dot_general` of the windows of `lhs` with `rhs`, for each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from stablehlo_ref.semantics.data_movement import pad
from stablehlo_ref.semantics.dot_general import dot_products, dot_terms
from stablehlo_ref.semantics.notation import Array, Dims, TensorType, index_space


def convolution(
    lhs: Array,
    rhs: Array,
    window_strides: Dims,
    padding: tuple[tuple[int, int], ...],
    lhs_dilation: Dims,
    rhs_dilation: Dims,
    window_reversal: tuple[bool, ...],
    input_batch_dimension: int,
    input_feature_dimension: int,
    input_spatial_dimensions: Dims,
    kernel_input_feature_dimension: int,
    kernel_output_feature_dimension: int,
    kernel_spatial_dimensions: Dims,
    output_batch_dimension: int,
    output_feature_dimension: int,
    output_spatial_dimensions: Dims,
    feature_group_count: int,
    batch_group_count: int,
    precision_config: tuple[str, ...] = (),
    *,
    result: TensorType,
    sums: Callable[[Array, TensorType], Array] = dot_products,
) -> Array:
    """Compute dot products between windows of `lhs` and slices of `rhs`.

    With `feature_group_count > 1` (or `batch_group_count > 1`), `lhs` is split into so many parts along its feature
    (batch) dimension and `rhs` along its output feature dimension; the results for the parts are concatenated.
    `precision_config` is that of `dot_general`, without effect. For each element of the result there are the pairs of
    elements whose products it is the sum of; `sums` adds them. On quantized types the op is that of `dot_general`.
    """

    def permute(j: list[Any], permutation: Dims) -> list[Any]:
        i: list[Any] = [None] * len(j)
        for d in range(len(j)):
            i[permutation[d]] = j[d]
        return i

    def lhs_shape(n: Any, hw: tuple[Any, ...], c: Any) -> list[Any]:
        return permute([n, *hw, c], (input_batch_dimension, *input_spatial_dimensions, input_feature_dimension))

    def result_shape(n1: Any, hw: tuple[Any, ...], c1: Any) -> tuple[Any, ...]:
        dimensions = (output_batch_dimension, *output_spatial_dimensions, output_feature_dimension)
        return tuple(permute([n1, *hw, c1], dimensions))

    def ungrouped(lhs: Array, rhs: Array) -> Array:
        window_hw = tuple(rhs.shape[d] for d in kernel_spatial_dimensions)
        lhs_window_dimensions = lhs_shape(
            lhs.shape[input_batch_dimension], window_hw, lhs.shape[input_feature_dimension]
        )
        lhs_window_strides = lhs_shape(1, window_strides, 1)
        lhs_padding = lhs_shape((0, 0), padding, (0, 0))
        lhs_base_dilations = lhs_shape(1, lhs_dilation, 1)
        lhs_window_dilations = lhs_shape(1, rhs_dilation, 1)

        output_hw = tuple(result[0][d] for d in output_spatial_dimensions)
        n1, c1 = lhs.shape[input_batch_dimension], rhs.shape[kernel_output_feature_dimension]
        terms = np.empty(result_shape(n1, output_hw, c1), object)
        if not terms.size:
            return terms  # there padding may exceed the operand: negative sizes are possible

        padding_value = np.zeros((), lhs.dtype)
        low, high = (tuple(p[i] for p in lhs_padding) for i in (0, 1))
        padded_lhs = pad(lhs, padding_value, low, high, tuple(d - 1 for d in lhs_base_dilations))
        for output_spatial_index in index_space(output_hw):
            output_index = lhs_shape(0, output_spatial_index, 0)
            lhs_window_start = [i * s for i, s in zip(output_index, lhs_window_strides)]
            # Each window takes `lhs_window_dimensions` elements, `lhs_window_dilations` apart.
            lhs_window = padded_lhs[
                tuple(
                    slice(start, start + size * dilation, dilation)
                    for start, size, dilation in zip(lhs_window_start, lhs_window_dimensions, lhs_window_dilations)
                )
            ]
            assert lhs_window.shape == tuple(lhs_window_dimensions)
            reversed_dims = (input_spatial_dimensions[dim] for dim, flag in enumerate(window_reversal) if flag)
            reversed_lhs_window = np.flip(lhs_window, tuple(reversed_dims))
            dot_product = dot_terms(
                reversed_lhs_window,
                rhs,
                lhs_batching_dimensions=(),
                rhs_batching_dimensions=(),
                lhs_contracting_dimensions=(*input_spatial_dimensions, input_feature_dimension),
                rhs_contracting_dimensions=(*kernel_spatial_dimensions, kernel_input_feature_dimension),
            )
            for n, c in index_space(dot_product.shape):
                terms[result_shape(n, output_spatial_index, c)] = dot_product[n, c]
        return terms

    if feature_group_count > 1:
        lhses = np.split(lhs, feature_group_count, input_feature_dimension)
        rhses = np.split(rhs, feature_group_count, kernel_output_feature_dimension)
    else:
        lhses = np.split(lhs, batch_group_count, input_batch_dimension)
        rhses = np.split(rhs, batch_group_count, kernel_output_feature_dimension)
    terms = np.concatenate([ungrouped(*group) for group in zip(lhses, rhses)], output_feature_dimension)
    return sums(terms, result)
