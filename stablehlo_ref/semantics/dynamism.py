"""Ops that take attributes of other ops as operands: the spec calls each functionally identical to that op."""

from typing import Any

import numpy as np

from stablehlo_ref.semantics import convolution, data_movement, gather_scatter
from stablehlo_ref.semantics.notation import Array, Dims, DType, TensorType, axes, dim, index_space


def _dims(x: Array) -> Dims:
    """Return the elements of a 1-dimensional tensor of integers."""
    return tuple(int(n) for n in x)


def dynamic_iota(output_shape: Array, iota_dimension: int, *, element_type: DType) -> Array:
    return data_movement.iota(iota_dimension, result=(_dims(output_shape), element_type))


def dynamic_reshape(operand: Array, output_shape: Array) -> Array:
    return data_movement.reshape(operand, result=(_dims(output_shape), operand.dtype))


def dynamic_broadcast_in_dim(
    operand: Array,
    output_dimensions: Array,
    broadcast_dimensions: Dims,
    known_expanding_dimensions: Dims = (),
    known_nonexpanding_dimensions: Dims = (),
) -> Array:
    """Broadcast; `known_expanding_dimensions` and the like have no effect on results."""
    result = _dims(output_dimensions), operand.dtype
    return data_movement.broadcast_in_dim(operand, broadcast_dimensions, result=result)


def dynamic_pad(
    operand: Array, padding_value: Array, edge_padding_low: Array, edge_padding_high: Array, interior_padding: Array
) -> Array:
    return data_movement.pad(
        operand, padding_value, _dims(edge_padding_low), _dims(edge_padding_high), _dims(interior_padding)
    )


def real_dynamic_slice(operand: Array, start_indices: Array, limit_indices: Array, strides: Array) -> Array:
    return data_movement.slice(operand, _dims(start_indices), _dims(limit_indices), _dims(strides))


def dynamic_gather(operand: Array, start_indices: Array, slice_sizes: Array, **attributes: Any) -> Array:
    return gather_scatter.gather(operand, start_indices, slice_sizes=_dims(slice_sizes), **attributes)


def dynamic_conv(lhs: Array, rhs: Array, padding: Array, *, result: TensorType, **attributes: Any) -> Array:
    edges = tuple((int(low), int(high)) for low, high in padding)
    return convolution.convolution(lhs, rhs, padding=edges, result=result, **attributes)


def get_dimension_size(operand: Array, dimension: int) -> Array:
    """`result = dim(operand, dimension)`."""
    return np.array(dim(operand, dimension), np.int32)


def set_dimension_size(operand: Array, size: Array, dimension: int) -> Array:
    """Return the elements whose index in `dimension` is less than `size`; the spec does not define this op."""
    shape = [int(size) if d == dimension else dim(operand, d) for d in axes(operand)]
    result = np.empty(shape, operand.dtype)
    for index in index_space(result.shape):
        result[index] = operand[index]
    return result
