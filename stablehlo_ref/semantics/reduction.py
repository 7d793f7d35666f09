"""reduce, reduce_window and select_and_scatter.

A region is a function of 0-dimensional arrays that returns a tuple of them.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from stablehlo_ref.semantics.data_movement import pad
from stablehlo_ref.semantics.notation import (
    Array,
    Arrays,
    Dims,
    Function,
    Index,
    TensorType,
    axes,
    dim,
    index_space,
    scalar,
)
from stablehlo_ref.semantics.quantization import to_destination_type


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
    implementations, and floating-point addition from zero is none. The element types of `results` are those of the
    parameters of `body`, to which both are converted.
    """
    element_types = [element_type for _, element_type in results]
    init_values_converted = [to_destination_type(x, x.dtype, t) for x, t in zip(init_values, element_types)]
    outputs = tuple(np.empty(shape, element_type) for shape, element_type in results)
    for result_index in index_space(outputs[0].shape):
        rest = iter(result_index)
        where = (*(slice(None) if d in dimensions else next(rest) for d in axes(inputs[0])), ...)
        input_slices = [x[where] for x in inputs]
        input_slices_converted = [to_destination_type(x, x.dtype, t) for x, t in zip(input_slices, element_types)]
        values: Arrays = tuple(init_values_converted)
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
    outputs = tuple(np.empty(shape, dtype) for shape, dtype in results)
    if not outputs[0].size:
        return outputs  # there padding may exceed the operand: negative sizes are possible
    low, high = (tuple(p[i] for p in padding) for i in (0, 1))
    padded_inputs = [
        pad(x, init_value, low, high, tuple(d - 1 for d in base_dilations))
        for x, init_value in zip(inputs, init_values, strict=True)
    ]
    for result_index in index_space(outputs[0].shape):
        window_start = [i * stride for i, stride in zip(result_index, window_strides)]
        window_end = [
            start + (size - 1) * dilation + 1
            for start, size, dilation in zip(window_start, window_dimensions, window_dilations)
        ]
        window = tuple(map(slice, window_start, window_end, window_dilations))
        windows = tuple(np.asarray(padded_input[window]) for padded_input in padded_inputs)
        scalar_types = tuple(((), dtype) for _, dtype in results)
        _assign(outputs, result_index, reduce(windows, init_values, tuple(axes(inputs[0])), body, results=scalar_types))
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
    whose `selected_index` is `result_index`. Windows contain no padding, as it has no value; one without elements
    (unspecified) selects nothing.
    """

    @cache
    def selected_index(source_index: Index) -> Index | None:
        """Return the index in `operand` of `selected_values[source_index]`.

        `selected_values = reduce_window_without_init(operand)` with `body(arg0, arg1) = select(arg0, arg1) ? arg0 :
        arg1`, here from the left.
        """
        selected: Index | None = None
        for window_index in index_space(window_dimensions):
            operand_index = tuple(
                source_index[d] * window_strides[d] + window_index[d] - padding[d][0] for d in axes(operand)
            )
            if not all(0 <= operand_index[d] < dim(operand, d) for d in axes(operand)):
                continue
            if selected is None or not select(scalar(operand, selected), scalar(operand, operand_index))[0]:
                selected = operand_index
        return selected

    shape, element_type = result
    output = np.empty(shape, element_type)
    for result_index in index_space(shape):
        source_indices = [i for i in index_space(source.shape) if selected_index(i) == result_index]
        source_values = np.array([source[source_index] for source_index in source_indices], source.dtype)
        (output[result_index],) = reduce((source_values,), (init_value,), (0,), scatter, results=(((), element_type),))
    return output


def _assign(results: Arrays, index: Dims, values: Arrays) -> None:
    for result, value in zip(results, values, strict=True):
        result[index] = value
