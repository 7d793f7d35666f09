"""Implementations of select_and_scatter: find the element selected in each window, and scatter the source there.

In small windows, elements are compared one position after the other, for all windows at once. Large windows are reduced
as in reduce_window, with each element accompanied by its flat index in the operand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import prod
from typing import TypeAlias

import numpy as np

from stablehlo_ref.algorithms.exact_reductions import adds_exactly
from stablehlo_ref.algorithms.indexed_windows import Index
from stablehlo_ref.algorithms.padding import Padding, Sizes, pad_windows
from stablehlo_ref.algorithms.reduction_schedule import Arrays, Combine
from stablehlo_ref.algorithms.scatter_updates import ScatterUpdate
from stablehlo_ref.algorithms.sliding_windows import reduce_windows
from stablehlo_ref.define.computation import Kernel, RegionFunction
from stablehlo_ref.define.spec import element_type, shape, size, tensor_type, with_element_type
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.types import TensorType, integer_type
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.numerics.blocks import select as kernel_of_select
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.kernels import ArrayKernel

Position: TypeAlias = tuple[Index, Index]  # the windows, and an element of each in the operand

FEW = 32  # elements of a window: for more, reductions are faster
PIECE = 1 << 18  # elements of the operand that are selected from at a time, if windows do not cross an axis


def select_and_scatter_in_pieces(
    select: RegionFunction,
    scatter: RegionFunction,
    x: TensorType,
    counts: Sizes,
    window: Sizes,
    strides: Sizes,
    padding: Padding,
) -> Kernel:
    """Return the kernel of (operand, source, init_value), piece by piece along the first axis with windows of size 1.

    Sources and init values are promoted to the element type of the result.
    """
    dtype, sizes = numpy_dtype(element_type(scatter.function_type.outputs[0])), shape(x)
    geometry = enumerate(zip(sizes, counts, window, strides, padding))
    alone = [d for d, (n, count, *rest) in geometry if n == count > 1 and rest == [1, 1, (0, 0)]]
    axis, n = (alone[0], sizes[alone[0]]) if alone and size(x) > PIECE else (0, 1)
    step = max(1, PIECE * n // max(1, size(x)))

    def of_piece(length: int) -> ArrayKernel:
        inner, outer = ((*full[:axis], length, *full[axis + 1 :]) if n > 1 else full for full in (sizes, counts))
        return select_and_scatter_kernel(
            select, scatter, tensor_type(inner, x.element_type), outer, window, strides, padding
        )

    kernels = {length: of_piece(length) for length in {min(step, n), n % step} - {0}}

    def run(operand: Array, source: Array, init_value: Array) -> Array:
        if step >= n:
            return kernels[n](operand, source, init_value)
        results = np.empty(sizes, dtype)
        for start in within_time(range(0, n, step)):
            piece = (slice(None),) * axis + (slice(start, start + step),)
            results[piece] = kernels[min(step, n - start)](operand[piece], source[piece], init_value)
        return results

    part = min(step, n) / n
    return Kernel(
        run, temporaries=int(part * temporaries_of(scatter, x, counts, window, padding)) + dtype.itemsize * PIECE
    )


def temporaries_of(scatter: RegionFunction, x: TensorType, counts: Sizes, window: Sizes, padding: Padding) -> int:
    """Return how many bytes are allocated beside the results (measured)."""
    itemsize = numpy_dtype(element_type(x)).itemsize
    if not is_reduced(scatter, window):
        return prod(counts) * (3 * itemsize + 4)
    return prod(n + low + high for n, (low, high) in zip(shape(x), padding)) * (4 * itemsize + 32)


def is_reduced(scatter: RegionFunction, window: Sizes) -> bool:
    """Return whether windows are reduced as in reduce_window."""
    return prod(window) > FEW or adds_exactly(scatter)


def select_and_scatter_kernel(
    select: RegionFunction,
    scatter: RegionFunction,
    x: TensorType,
    counts: Sizes,
    window: Sizes,
    strides: Sizes,
    padding: Padding,
) -> ArrayKernel:
    """Return the kernel of (operand, source, init_value) for operands of type `x` and sources of shape `counts`."""
    if 0 in counts or not size(x):
        return lambda operand, source, init_value: filled(shape(x), init_value)
    if is_reduced(scatter, window):
        return _by_reduction(select, scatter, x, window, strides, padding)
    positions = list(window_positions(shape(x), counts, window, strides, padding))
    return _by_position(scatter, positions, selector(select, positions, counts, numpy_dtype(element_type(x))))


def filled(sizes: Sizes | int, value: Array) -> Array:
    """Return a writable array of equal elements."""
    return np.full(sizes, value, value.dtype)


# --- position by position -------------------------------------------------------------------------------------------


def _by_position(
    scatter: RegionFunction, positions: Sequence[Position], selected: Callable[[Array], Array]
) -> ArrayKernel:
    blend = kernel_of_select(numpy_dtype(element_type(scatter.function_type.outputs[0])))

    def run(operand: Array, source: Array, init_value: Array) -> Array:
        selection, results = selected(operand), filled(operand.shape, init_value)
        for number, (windows, elements) in within_time(reversed(list(enumerate(positions, 1)))):
            (scattered,) = scatter.each(results[elements], source[windows])
            results[elements] = blend(selection[windows] == number, scattered, results[elements])
        return results

    return run


def selector(
    select: RegionFunction, positions: Sequence[Position], sizes: Sizes, dtype: DType
) -> Callable[[Array], Array]:
    """Return a function that returns the selected position of each window, from 1; 0 for windows without elements."""
    number_type, blend = np.min_scalar_type(len(positions)), kernel_of_select(dtype)

    def run(operand: Array) -> Array:
        selected = np.zeros(sizes, number_type)
        values = np.empty(sizes, dtype)
        for number, (windows, elements) in within_time(enumerate(positions, 1)):
            candidates, previous = operand[elements], selected[windows]
            (keep,) = select.each(values[windows], candidates) if number > 1 else (np.zeros(previous.shape, bool),)
            better = ~keep | (previous == 0)
            values[windows] = blend(better, candidates, values[windows])
            np.maximum(previous, better.view(np.uint8) * number_type.type(number), out=previous)
        return selected

    return run


def window_positions(
    sizes: Sizes, windows: Sizes, window: Sizes, strides: Sizes, padding: Padding
) -> Iterator[Position]:
    """Yield for each position in a window, in order, the windows where it is not padding, and its operand elements.

    An element of the operand is at later positions in earlier windows.
    """
    for element in product(*map(range, window)):
        per_dimension = []
        for n, count, at, stride, (low, _) in zip(sizes, windows, element, strides, padding):
            first = max(0, -((at - low) // stride))
            last = min(count - 1, (n - 1 - (at - low)) // stride)
            start, stop = first * stride + at - low, last * stride + at - low + 1
            per_dimension.append((slice(first, last + 1), slice(start, stop, stride), last - first))
        box, elements, spans = zip(*per_dimension) if per_dimension else ((), (), ())
        if all(span >= 0 for span in spans):
            yield (*box, ...), (*elements, ...)


# --- by reduction ---------------------------------------------------------------------------------------------------


class _Select(Combine):
    """Selects elements with their flat indices; elements with index -1 are padding and never selected."""

    def __init__(self, select: RegionFunction, dtype: DType) -> None:
        self.select, self.blend = select, kernel_of_select(dtype)

    def __call__(self, lhs: Sequence[Array], rhs: Sequence[Array]) -> Arrays:
        (value, index), (other_value, other_index) = lhs, rhs
        (keep,) = self.select.each(value, other_value)
        keep = (keep & (index >= 0)) | (other_index < 0)
        return [self.blend(keep, value, other_value), np.where(keep, index, other_index)]


def _by_reduction(
    select: RegionFunction, scatter: RegionFunction, x: TensorType, window: Sizes, strides: Sizes, padding: Padding
) -> ArrayKernel:
    dtype, no_dilation = numpy_dtype(element_type(x)), (1,) * len(window)
    index_type = integer_type(32 if size(x) < 1 << 31 else 64)
    pad, pad_indices = (pad_windows(t, no_dilation, padding) for t in (x, with_element_type(x, index_type)))
    combine, update = _Select(select, dtype), ScatterUpdate(scatter, size(x), unique=False)

    def run(operand: Array, source: Array, init_value: Array) -> Array:
        indices = np.arange(operand.size, dtype=numpy_dtype(index_type)).reshape(operand.shape)
        padded = [pad(operand, np.zeros((), dtype)), pad_indices(indices, indices.dtype.type(-1))]
        _, selected = reduce_windows(combine, padded, window, strides, no_dilation)
        found = selected.reshape(-1) >= 0
        rows = selected.reshape(-1)[found].astype(np.intp)
        results = filled(operand.size, init_value)
        update.rows([results], rows, [source.reshape(-1)[found]])
        return results.reshape(operand.shape)

    return run
