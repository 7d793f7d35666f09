"""Ops that move elements: the source of each element of the result, by the spec's index formulas."""

import numpy as np

from stablehlo_ref.semantics.notation import Array, Arrays, Dims, TensorType, axes, dim, index_space
from stablehlo_ref.semantics.rounding import converted


def iota(iota_dimension: int, *, result: TensorType) -> Array:
    """`output[output_index] = constant(output_index[iota_dimension], element_type(output))`."""
    shape, element_type = result
    output = np.empty(shape, element_type)
    for output_index in index_space(shape):
        output[output_index] = converted(element_type, output_index[iota_dimension])
    return output


def reshape(operand: Array, *, result: TensorType) -> Array:
    """Indices at the same position in the lexicographic orders of both index spaces correspond."""
    output = np.empty(result[0], operand.dtype)
    for result_index, operand_index in zip(index_space(output.shape), index_space(operand.shape), strict=True):
        output[result_index] = operand[operand_index]
    return output


def broadcast_in_dim(operand: Array, broadcast_dimensions: Dims, *, result: TensorType) -> Array:
    """`operand_index[d] = 0` if `dim(operand, d) = 1`, `result_index[broadcast_dimensions[d]]` otherwise."""
    output = np.empty(result[0], operand.dtype)
    for result_index in index_space(output.shape):
        operand_index = tuple(
            0 if dim(operand, d) == 1 else result_index[broadcast_dimensions[d]] for d in axes(operand)
        )
        output[result_index] = operand[operand_index]
    return output


def transpose(operand: Array, permutation: Dims) -> Array:
    """`result_index[d] = operand_index[permutation[d]]`."""
    result = np.empty([dim(operand, d) for d in permutation], operand.dtype)
    for operand_index in index_space(operand.shape):
        result_index = tuple(operand_index[permutation[d]] for d in axes(result))
        result[result_index] = operand[operand_index]
    return result


def slice(operand: Array, start_indices: Dims, limit_indices: Dims, strides: Dims) -> Array:
    """`operand_index = start_indices + result_index * strides`."""
    shape = [
        -((start - limit) // stride)  # ceil((limit - start) / stride)
        for start, limit, stride in zip(start_indices, limit_indices, strides, strict=True)
    ]
    result = np.empty(shape, operand.dtype)
    for result_index in index_space(result.shape):
        operand_index = tuple(start_indices[d] + result_index[d] * strides[d] for d in axes(result))
        result[result_index] = operand[operand_index]
    return result


def adjusted_start_indices(start_indices: Arrays, operand_shape: Dims, slice_shape: Dims) -> Dims:
    """`clamp(0, start_indices, shape(operand) - slice_sizes)`."""
    return tuple(
        max(0, min(int(start), size - slice_size))
        for start, size, slice_size in zip(start_indices, operand_shape, slice_shape, strict=True)
    )


def dynamic_slice(operand: Array, start_indices: Arrays, slice_sizes: Dims) -> Array:
    """`operand_index = adjusted_start_indices + result_index`."""
    start = adjusted_start_indices(start_indices, operand.shape, slice_sizes)
    result = np.empty(slice_sizes, operand.dtype)
    for result_index in index_space(result.shape):
        operand_index = tuple(start[d] + result_index[d] for d in axes(result))
        result[result_index] = operand[operand_index]
    return result


def dynamic_update_slice(operand: Array, update: Array, start_indices: Arrays) -> Array:
    """`update[result_index - adjusted_start_indices]` where that is in bounds, `operand[result_index]` otherwise."""
    start = adjusted_start_indices(start_indices, operand.shape, update.shape)
    result = np.empty_like(operand)
    for result_index in index_space(result.shape):
        update_index = tuple(result_index[d] - start[d] for d in axes(result))
        if all(0 <= update_index[d] < dim(update, d) for d in axes(update)):
            result[result_index] = update[update_index]
        else:
            result[result_index] = operand[result_index]
    return result


def pad(
    operand: Array, padding_value: Array, edge_padding_low: Dims, edge_padding_high: Dims, interior_padding: Dims
) -> Array:
    """`result_index = edge_padding_low + operand_index * (interior_padding + 1)`, and `padding_value` elsewhere."""
    shape = [
        dim(operand, d) + edge_padding_low[d] + max(dim(operand, d) - 1, 0) * interior_padding[d] + edge_padding_high[d]
        for d in axes(operand)
    ]
    result = np.full(shape, padding_value[()], operand.dtype)
    for operand_index in index_space(operand.shape):
        result_index = tuple(edge_padding_low[d] + operand_index[d] * (interior_padding[d] + 1) for d in axes(operand))
        if all(0 <= result_index[d] < dim(result, d) for d in axes(result)):
            result[result_index] = operand[operand_index]
    return result


def concatenate(inputs: Arrays, dimension: int) -> Array:
    """`result[i0, ..., id, ..., iR-1] = inputs[k][i0, ..., kd, ..., iR-1]` where `id = d0 + ... + dk-1 + kd`."""
    d = dimension
    shape = list(inputs[0].shape)
    shape[d] = sum(dim(x, d) for x in inputs)
    result = np.empty(shape, inputs[0].dtype)
    for k, x in enumerate(inputs):
        before = sum(dim(y, d) for y in inputs[:k])
        for index in index_space(x.shape):
            result[(*index[:d], before + index[d], *index[d + 1 :])] = x[index]
    return result


def reverse(operand: Array, dimensions: Dims) -> Array:
    """`operand_index[d] = dim(result, d) - result_index[d] - 1` if `d` in `dimensions`, `result_index[d]` otherwise."""
    result = np.empty_like(operand)
    for result_index in index_space(result.shape):
        operand_index = tuple(
            dim(result, d) - result_index[d] - 1 if d in dimensions else result_index[d] for d in axes(result)
        )
        result[result_index] = operand[operand_index]
    return result
