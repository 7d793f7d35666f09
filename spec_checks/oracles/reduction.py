"""Oracles of `reduce`, `reduce_window` and `select_and_scatter`, and all results of the legal schedules of `reduce`.

The oracles use one schedule: the left fold that starts with the init values. A region is a function of 0-dimensional
arrays that returns a tuple of them. If results of `body` depend on the schedule, compare with `reduce_schedules`.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from spec_checks.oracles.data_movement import pad
from spec_checks.oracles.notation import Array, Arrays, Dims, Function, TensorType, index_space, scalar


def reduce(
    inputs: Arrays,
    init_values: Arrays,
    dimensions: Dims,
    body: Function,
    *,
    result: tuple[TensorType, ...],
) -> Arrays:
    """Reduce `inputs` along `dimensions`; the element types of `result` are those of the parameters of `body`."""
    init_values_converted = to_destination_type(init_values, result)
    results = tuple(np.empty(shape, dtype) for shape, dtype in result)
    for result_index in index_space(results[0].shape):
        input_slices = tuple(x[_slice_index(result_index, dimensions, x.ndim)] for x in inputs)
        input_slices_converted = to_destination_type(input_slices, result)
        values = init_values_converted
        for index in index_space(input_slices[0].shape):
            values = body(*values, *(scalar(x, index) for x in input_slices_converted))
        _assign(results, result_index, values)
    return results


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
    result: tuple[TensorType, ...],
) -> Arrays:
    """Reduce the windows of the padded `inputs`."""
    axes = tuple(range(inputs[0].ndim))
    results = tuple(np.empty(shape, dtype) for shape, dtype in result)
    if not results[0].size:
        return results  # there padding may exceed the operand: negative sizes are possible
    low, high = (tuple(p[i] for p in padding) for i in (0, 1))
    padded_inputs = [
        pad(x, init_value, low, high, tuple(d - 1 for d in base_dilations))
        for x, init_value in zip(inputs, init_values, strict=True)
    ]
    for result_index in index_space(results[0].shape):
        window_start = [result_index[d] * window_strides[d] for d in axes]
        window_end = [window_start[d] + (window_dimensions[d] - 1) * window_dilations[d] + 1 for d in axes]
        window = tuple(map(slice, window_start, window_end, window_dilations))
        windows = tuple(padded_input[(*window, ...)] for padded_input in padded_inputs)
        scalar_types = tuple(((), dtype) for _, dtype in result)
        _assign(results, result_index, reduce(windows, init_values, axes, body, result=scalar_types))
    return results


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
    """Scatter each element of `source` to the element of `operand` that `select` selects in its window.

    Windows contain no padding, as it has no value; a window without elements (unspecified) selects nothing.
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
        (output[result_index],) = reduce((source_values,), (init_value,), (0,), scatter, result=(((), dtype),))
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


def reduce_schedules(
    inputs: Arrays,
    init_values: Arrays,
    body: Function,
    max_init_values: int = 2,
) -> list[Arrays]:
    """Return all results of reducing 1-dimensional `inputs` of about 6 elements, over all legal binary trees.

    The leaves are the elements in order, with 0 to `max_init_values` init values anywhere among them. The spec has no
    such maximum, but one neutral init value can change a result as much as several.
    """
    size = inputs[0].size
    # found[start, end, count]: results of the trees of the elements [start, end) and `count` init values.
    found: dict[tuple[int, int, int], list[Arrays]] = {}
    for count in range(max_init_values + 1):
        for length in range(size + 1):
            for start in range(size - length + 1):
                end = start + length
                leaves = [tuple(scalar(x, (start,)) for x in inputs)] if (length, count) == (1, 0) else []
                leaves += [tuple(init_values)] if (length, count) == (0, 1) else []
                nodes = (
                    tuple(map(np.asarray, body(*left, *right)))
                    for middle in range(start, end + 1)
                    for left_count in range(count + 1)
                    for left in found.get((start, middle, left_count), ())
                    for right in found.get((middle, end, count - left_count), ())
                )
                found[start, end, count] = _distinct((*leaves, *nodes))
    return _distinct(scalars for count in range(max_init_values + 1) for scalars in found[0, size, count])


def is_among(actual: Arrays, results: Iterable[Arrays]) -> bool:
    """Return whether `actual` is one of `results`, bit for bit; all NaNs are equal."""
    return _key(actual) in set(map(_key, results))


def to_destination_type(values: Iterable[Array], result: tuple[TensorType, ...]) -> Arrays:
    return tuple(np.asarray(x).astype(dtype) for x, (_, dtype) in zip(values, result, strict=True))


def _slice_index(result_index: Dims, dimensions: Dims, rank: int) -> tuple:
    """`result_index` with `:` inserted at `dimensions`."""
    remaining = iter(result_index)
    return (*(slice(None) if d in dimensions else next(remaining) for d in range(rank)), ...)


def _assign(results: Arrays, index: Dims, values: Arrays) -> None:
    for result, value in zip(results, values, strict=True):
        result[index] = value


def _distinct(results: Iterable[Arrays]) -> list[Arrays]:
    return list({_key(scalars): scalars for scalars in results}.values())


def _key(scalars: Arrays) -> tuple[bytes, ...]:
    return tuple(b"NaN" if np.any(x != x) else np.asarray(x).tobytes() for x in scalars)
