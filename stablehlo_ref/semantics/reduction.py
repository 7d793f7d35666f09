"""reduce, reduce_window and select_and_scatter.

A region is a function of 0-dimensional arrays that returns a tuple of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from stablehlo_ref.semantics.data_movement import pad
from stablehlo_ref.semantics.elementwise import convert
from stablehlo_ref.semantics.notation import Array, Arrays, Dims, Function, TensorType, index_space, scalar


def reduce(
    inputs: Arrays,
    init_values: Arrays,
    dimensions: Dims,
    body: Function,
    *,
    results: tuple[TensorType, ...],
) -> Arrays:
    """Apply a reduction function `body` to `inputs` and `init_values` along `dimensions`.

    `results...[j0, ..., jR-1] = exec(schedule)` with `exec(node) = body(exec(node.left), exec(node.right))`, and values
    at leaves. The schedule is an implementation-defined full binary tree, whose leaves in order are the elements of
    `input_slices_converted` in lexicographic order, with any number of `init_values_converted` anywhere between them:
    here a left fold that starts with them. So only a monoid of `body` and `init_values` has the same results on all
    implementations. The element types of `results` are those of the parameters of `body`, to which both are converted.
    """
    init_values_converted = to_destination_type(init_values, results)
    outputs = tuple(np.empty(shape, dtype) for shape, dtype in results)
    for result_index in index_space(outputs[0].shape):
        input_slices = tuple(x[_slice_index(result_index, dimensions, x.ndim)] for x in inputs)
        input_slices_converted = to_destination_type(input_slices, results)
        values = init_values_converted
        for index in index_space(input_slices[0].shape):
            values = body(*values, *(scalar(x, index) for x in input_slices_converted))
        _assign(outputs, result_index, values)
    return outputs


def reduce_window(
    inputs: Arrays,
    init_values: Arrays,
    window_dimensions: Dims,
    window_strides: Dims,
    base_dilations: Dims,
    window_dilations: Dims,
    padding: tuple[tuple[int, int], ...],
    body: Function,
    *,
    results: tuple[TensorType, ...],
) -> Arrays:
    """Apply a reduction function `body` to windows of `inputs` and `init_values`.

    `results...[result_index] = reduce(windows, init_values, axes(inputs...), body)`, where the windows are slices of
    the inputs, padded with the init values.
    """
    axes = tuple(range(inputs[0].ndim))
    outputs = tuple(np.empty(shape, dtype) for shape, dtype in results)
    if not outputs[0].size:
        return outputs  # there padding may exceed the operand: negative sizes are possible
    low, high = (tuple(p[i] for p in padding) for i in (0, 1))
    padded_inputs = [
        pad(x, init_value, low, high, tuple(d - 1 for d in base_dilations))
        for x, init_value in zip(inputs, init_values, strict=True)
    ]
    for result_index in index_space(outputs[0].shape):
        window_start = [result_index[d] * window_strides[d] for d in axes]
        window_end = [window_start[d] + (window_dimensions[d] - 1) * window_dilations[d] + 1 for d in axes]
        window = tuple(map(slice, window_start, window_end, window_dilations))
        windows = tuple(np.asarray(padded_input[window]) for padded_input in padded_inputs)
        scalar_types = tuple(((), dtype) for _, dtype in results)
        _assign(outputs, result_index, reduce(windows, init_values, axes, body, results=scalar_types))
    return outputs


def select_and_scatter(
    operand: Array,
    source: Array,
    init_value: Array,
    window_dimensions: Dims,
    window_strides: Dims,
    padding: tuple[tuple[int, int], ...],
    select: Function,
    scatter: Function,
    *,
    result: TensorType,
) -> Array:
    """Scatter the values of `source`, using `scatter`, to the elements that `select` selects in windows of `operand`.

    `result[result_index] = reduce([source_values], [init_value], [0], scatter)`, where the source values are those
    whose `selected_index` is `result_index`: the index of the element that `reduce_window` of `operand` without init
    values selects. Windows contain no padding, as it has no value; one without elements (unspecified) selects nothing.
    """
    shape, dtype = result
    selected_index = {
        source_index: _selected_index(operand, source_index, window_dimensions, window_strides, padding, select)
        for source_index in index_space(source.shape)
    }
    output = np.empty(shape, dtype)
    for result_index in index_space(shape):
        source_indices = [i for i in index_space(source.shape) if selected_index[i] == result_index]
        source_values = np.array([source[i] for i in source_indices], source.dtype)
        (output[result_index],) = reduce((source_values,), (init_value,), (0,), scatter, results=(((), dtype),))
    return output


def _selected_index(
    operand: Array,
    source_index: Dims,
    window_dimensions: Dims,
    window_strides: Dims,
    padding: tuple[tuple[int, int], ...],
    select: Function,
) -> Dims | None:
    """Return the index of the element that reducing the window by `select(arg0, arg1) ? arg0 : arg1` selects."""
    selected: Dims | None = None
    for window_index in index_space(window_dimensions):
        index = tuple(
            source_index[d] * window_strides[d] + window_index[d] - padding[d][0] for d in range(operand.ndim)
        )
        if not all(0 <= i < size for i, size in zip(index, operand.shape, strict=True)):
            continue
        if selected is None or not select(scalar(operand, selected), scalar(operand, index))[0]:
            selected = index
    return selected


def to_destination_type(values: Iterable[Array], results: tuple[TensorType, ...]) -> Arrays:
    """Convert to the element types of `results`, which are those that `body` has."""
    return tuple(
        x if x.dtype == element_type else convert(x, result=(x.shape, element_type))
        for x, (_, element_type) in zip(map(np.asarray, values), results, strict=True)
    )


def _slice_index(result_index: Dims, dimensions: Dims, rank: int) -> Any:
    """`result_index` with `:` inserted at `dimensions`."""
    remaining = iter(result_index)
    return (*(slice(None) if d in dimensions else next(remaining) for d in range(rank)), ...)


def _assign(results: Arrays, index: Dims, values: Arrays) -> None:
    for result, value in zip(results, values, strict=True):
        result[index] = value
