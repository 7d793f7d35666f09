"""gather and scatter: the index formulas of the spec, for each index of the result or of the updates."""

from collections.abc import Sequence

import numpy as np

from stablehlo_ref.semantics.notation import (
    Array,
    Arrays,
    Dims,
    Function,
    Index,
    TensorType,
    axes,
    check_bounds,
    dim,
    index_space,
    rank,
    scalar,
)
from stablehlo_ref.semantics.quantization import to_destination_type


def start_index_at(indices: Array, batch_index: Index, index_vector_dim: int) -> Index:
    """`indices[bi0, ..., :, ..., biN]`, `:` at `index_vector_dim`; `[indices[batch_index]]` where that is the rank."""
    if index_vector_dim == rank(indices):
        return (int(indices[batch_index]),)
    before, after = batch_index[:index_vector_dim], batch_index[index_vector_dim:]
    return tuple(int(indices[(*before, i, *after)]) for i in range(dim(indices, index_vector_dim)))


def full_batching_index(
    batch_index: Index, batching_dims: Dims, indices_batching_dims: Dims, index_vector_dim: int, operand: Array
) -> Index:
    """`batch_index[d_start - (d_start < index_vector_dim ? 0 : 1)]` in batching dimensions, zero in others."""
    full = [0] * rank(operand)
    for d, d_start in zip(batching_dims, indices_batching_dims, strict=True):
        full[d] = batch_index[d_start - (0 if d_start < index_vector_dim else 1)]
    return tuple(full)


def with_zeros_at(index: Index, dims: Sequence[int], operand: Array) -> Index:
    """`[i0, ..., 0, ..., iN]`: `index` with zeros inserted at `dims`, one of `operand`."""
    rest = iter(index)
    return tuple(0 if d in dims else next(rest) for d in axes(operand))


def gather(
    operand: Array,
    start_indices: Array,
    offset_dims: Dims,
    collapsed_slice_dims: Dims,
    operand_batching_dims: Dims,
    start_indices_batching_dims: Dims,
    start_index_map: Dims,
    index_vector_dim: int,
    slice_sizes: Dims,
    indices_are_sorted: bool = False,
) -> Array:
    """Gather slices of `operand`, from the offsets in `start_indices`, into a tensor.

    `result[result_index] = operand[operand_index]`, where `operand_index` is the sum of three indices, in the order of
    the code below: where the slice starts, which batch it is in, and where the element is in the slice.

    `indices_are_sorted` says that `start_indices` are sorted with respect to `start_index_map`: for all `i1 < i2` from
    `indices(result)`, `full_start_index(i1) <= full_start_index(i2)`. If they are not, the behavior is undefined: here
    the attribute has no effect.
    """
    removed_dims = (*collapsed_slice_dims, *operand_batching_dims)
    batch_dim_sizes = [size for d, size in enumerate(start_indices.shape) if d != index_vector_dim]
    offset_dim_sizes = [size for d, size in enumerate(slice_sizes) if d not in removed_dims]
    result = np.empty(combine(batch_dim_sizes, offset_dim_sizes, offset_dims), operand.dtype)

    batch_dims = [d for d in axes(result) if d not in offset_dims]
    for result_index in index_space(result.shape):
        batch_index = tuple(result_index[d] for d in batch_dims)
        start_index = start_index_at(start_indices, batch_index, index_vector_dim)
        full_start_index = [0] * rank(operand)
        for d_start, d_operand in enumerate(start_index_map):
            last = dim(operand, d_operand) - slice_sizes[d_operand]
            full_start_index[d_operand] = max(0, min(start_index[d_start], last))
        batching_index = full_batching_index(
            batch_index, operand_batching_dims, start_indices_batching_dims, index_vector_dim, operand
        )
        offset_index = tuple(result_index[d] for d in offset_dims)
        full_offset_index = with_zeros_at(offset_index, removed_dims, operand)
        operand_index = tuple(full_start_index[d] + batching_index[d] + full_offset_index[d] for d in axes(operand))
        check_bounds(operand_index, operand.shape)
        result[result_index] = operand[operand_index]
    return result


def combine(batch_dim_sizes: Sequence[int], offset_dim_sizes: Sequence[int], offset_dims: Dims) -> Dims:
    """Return the shape with `offset_dim_sizes` at the axes `offset_dims` and `batch_dim_sizes` at the others."""
    batch, offset = iter(batch_dim_sizes), iter(offset_dim_sizes)
    return tuple(
        next(offset) if d in offset_dims else next(batch) for d in range(len(batch_dim_sizes) + len(offset_dim_sizes))
    )


def scatter(
    inputs: Arrays,
    scatter_indices: Array,
    updates: Arrays,
    update_window_dims: Dims,
    inserted_window_dims: Dims,
    input_batching_dims: Dims,
    scatter_indices_batching_dims: Dims,
    scatter_dims_to_operand_dims: Dims,
    index_vector_dim: int,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    *,
    update_computation: Function,
    results: tuple[TensorType, ...] | None = None,
) -> Arrays:
    """Return `inputs`, where slices at `scatter_indices` are updated with `updates`, using `update_computation`.

    `results = exec(schedule, inputs)`, and the schedule is an implementation-defined permutation of
    `index_space(updates[0])`: here the indices in order. Each step combines the element at `result_index` with the
    update at `update_index`; a `result_index` that is out of bounds changes nothing. `result_index` is the sum of three
    indices as in `gather`, and not clamped.

    `indices_are_sorted` says that `scatter_indices` are sorted with respect to `scatter_dims_to_operand_dims`, as those
    of `gather`, and `unique_indices` that no `result_index` in bounds occurs twice. If that is not so, the behavior is
    undefined: here the attributes have no effect. `results` are the types of the results if these are promoted from
    those of the inputs: the types of both halves of the arguments of `update_computation`.
    """
    element_types = [x.dtype for x in inputs] if results is None else [element_type for _, element_type in results]
    outputs = tuple(to_destination_type(x, x.dtype, e).copy() for x, e in zip(inputs, element_types, strict=True))
    removed_dims = (*inserted_window_dims, *input_batching_dims)

    update_scatter_dims = [d for d in axes(updates[0]) if d not in update_window_dims]
    for update_index in index_space(updates[0].shape):
        update_scatter_index = tuple(update_index[d] for d in update_scatter_dims)
        start_index = start_index_at(scatter_indices, update_scatter_index, index_vector_dim)
        full_start_index = [0] * rank(inputs[0])
        for d_start, d_input in enumerate(scatter_dims_to_operand_dims):
            full_start_index[d_input] = start_index[d_start]
        batching_index = full_batching_index(
            update_scatter_index, input_batching_dims, scatter_indices_batching_dims, index_vector_dim, inputs[0]
        )
        update_window_index = tuple(update_index[d] for d in update_window_dims)
        full_window_index = with_zeros_at(update_window_index, removed_dims, inputs[0])
        result_index = tuple(full_start_index[d] + batching_index[d] + full_window_index[d] for d in axes(inputs[0]))

        if all(0 <= result_index[d] < dim(outputs[0], d) for d in axes(outputs[0])):
            updates_converted = (
                to_destination_type(scalar(x, update_index), x.dtype, element_type)
                for x, element_type in zip(updates, element_types, strict=True)
            )
            updated_values = update_computation(*(scalar(x, result_index) for x in outputs), *updates_converted)
            for x, value in zip(outputs, updated_values, strict=True):
                x[result_index] = value
    return outputs
