"""Ops on windows that slide over a tensor: reduce_window and select_and_scatter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import TypeAlias

import numpy as np

from stablehlo_ref.algorithms.exact_reductions import adds_exactly
from stablehlo_ref.algorithms.indexed_windows import Index
from stablehlo_ref.algorithms.padding import Padding, Sizes, pad_windows
from stablehlo_ref.algorithms.reduction_schedule import Arrays, Combine
from stablehlo_ref.algorithms.scatter_updates import ScatterUpdate
from stablehlo_ref.algorithms.sliding_windows import folds_left, reduce_windows
from stablehlo_ref.algorithms.window_reductions import Windows, reduction_of_windows
from stablehlo_ref.define.attribute_codecs import Dims, Matrix
from stablehlo_ref.define.choices import Choice
from stablehlo_ref.define.computation import FindChoices, Kernel, RegionFunction, Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.facts import FOLDS
from stablehlo_ref.define.op import Attr, Body, In, Ins, Op, Out, Outs
from stablehlo_ref.define.spec import element_type, make_tensor_type, rank, same, scalar, shape, size, with_element_type
from stablehlo_ref.define.type_constraints import init_value, per_tensor_quantized, scalar_tensor, tensor
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.types import BOOLEAN, FunctionType, TensorType, integer_type, tensor_type
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.numerics.blocks import select as kernel_of_select
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.kernels import ArrayKernel
from stablehlo_ref.ops.reduction import Types, is_reducer, one_or_all, promotion


def ones(attribute: Dims | None, x: TensorType) -> Dims:
    """Return an attribute with one number per dimension of `x`, by default ones."""
    return (1,) * rank(x) if attribute is None else attribute


def zeros(padding: Matrix | None, x: TensorType) -> Matrix:
    """Return the padding of each dimension of `x`, by default zeros."""
    return ((0, 0),) * rank(x) if padding is None else padding


def windows_of(
    x: TensorType, window: Dims, strides: Dims | None, padding: Matrix | None, base_dilations: Dims | None = None,
    window_dilations: Dims | None = None,
) -> Windows:  # fmt: skip
    """Return the windows in tensors of a type."""
    each = ones(strides, x), ones(base_dilations, x), ones(window_dilations, x), zeros(padding, x)
    return Windows(shape(x), window, *each, are_short=False)


def num_windows(
    sizes: Sizes, window: Sizes, strides: Sizes, dilations: Sizes, window_dilations: Sizes, padding: Padding
) -> Sizes:
    """Return the number of windows along each dimension."""
    return Windows(sizes, window, strides, dilations, window_dilations, padding, are_short=False).counts


class ReduceWindow(Op, op="reduce_window", nans="computed", facts=replace(FOLDS, fusion="once")):
    """Reduce each window of `inputs`, padded with `init_values`, by `body`, starting from `init_values`."""

    inputs = Ins(tensor | per_tensor_quantized)  # I1
    init_values = Ins(init_value)  # I2
    window_dimensions = Attr(Dims)  # I3
    window_strides = Attr(Dims, default=None)  # I4
    base_dilations = Attr(Dims, default=None)  # I5
    window_dilations = Attr(Dims, default=None)  # I6
    padding = Attr(Matrix, default=None)  # I7
    body = Body()  # I8
    results = Outs(tensor | per_tensor_quantized)

    @staticmethod
    def infer(
        inputs: Types,
        window_dimensions: Dims,
        window_strides: Dims | None,
        base_dilations: Dims | None,
        window_dilations: Dims | None,
        padding: Matrix | None,
        body: FunctionType,
    ) -> Types:
        w = windows_of(inputs[0], window_dimensions, window_strides, padding, base_dilations, window_dilations)
        return tuple(make_tensor_type(w.counts, element_type(t)) for t in body.outputs)

    @staticmethod
    def constraints(
        C: Checker,
        infer: Callable[[], Types],
        inputs: Types,
        init_values: Types,
        window_dimensions: Dims,
        window_strides: Dims | None,
        base_dilations: Dims | None,
        window_dilations: Dims | None,
        padding: Matrix | None,
        body: FunctionType,
        results: Types,
    ) -> None:
        C(1, 0 < size(inputs) == size(init_values) == size(results))
        C(2, same(map(shape, inputs)))
        C(3, list(map(element_type, inputs)) == list(map(element_type, init_values)))
        C(4, size(window_dimensions) == rank(inputs[0]))
        C(5, all(0 < n for n in window_dimensions))
        C(6, window_strides is None or size(window_strides) == rank(inputs[0]))
        C(7, window_strides is None or all(0 < n for n in window_strides))
        C(8, base_dilations is None or size(base_dilations) == rank(inputs[0]))
        C(9, base_dilations is None or all(0 < n for n in base_dilations))
        C(10, window_dilations is None or size(window_dilations) == rank(inputs[0]))
        C(11, window_dilations is None or all(0 < n for n in window_dilations))
        C(12, padding is None or (size(padding) == rank(inputs[0]) and all(size(p) == 2 for p in padding)))
        C(13, is_reducer(body, inputs))
        C(14, same(map(shape, results)))
        C(15, shape(results[0]) == shape(infer()[0]))
        C(16, list(map(element_type, results)) == list(map(element_type, body.outputs)))

    @classmethod
    def plan(
        cls,
        inputs: Types,
        window_dimensions: Dims,
        window_strides: Dims | None,
        base_dilations: Dims | None,
        window_dilations: Dims | None,
        padding: Matrix | None,
        body: RegionFunction,
        results: Types,
    ) -> Run:
        """Plan the reduction of all windows: see `semantics.reduction.reduce_window`.

        Short windows, and those of bodies that are not associative, are folded from the left, starting with
        init_values; others are reduced axis by axis, sharing intermediate results (algorithms/sliding_windows.py). The
        strategy (algorithms/window_reductions.py) only decides what is padded and reduced at a time.
        """
        promote, sizes = promotion(inputs, results), shape(results[0])
        if not size(results[0]):
            return lambda inputs, init_values: one_or_all([np.broadcast_to(v, sizes) for v in promote(init_values)])
        w = windows_of(inputs[0], window_dimensions, window_strides, padding, base_dilations, window_dilations)
        w = replace(w, are_short=folds_left(w.sizes, w.window, sizes))
        reduce = reduction_of_windows(w, body, [with_element_type(inputs[0], element_type(t)) for t in results])
        return Kernel(
            lambda inputs, init_values: one_or_all(reduce.run(promote(init_values), promote(inputs))),
            temporaries=reduce.temporaries,
        )


class SelectAndScatter(Op, op="select_and_scatter", nans="computed", facts=replace(FOLDS, fusion="once")):
    """Scatter each element of `source` by `scatter` to the element of `operand` that `select` selects in its window.

    Padding is never selected. A window of padding only, which is implementation-defined, selects nothing.
    """

    operand = In(tensor | per_tensor_quantized)  # I1
    source = In(tensor | per_tensor_quantized)  # I2
    init_value = In(scalar_tensor)  # I3
    window_dimensions = Attr(Dims)  # I4
    window_strides = Attr(Dims, default=None)  # I5
    padding = Attr(Matrix, default=None)  # I6
    select = Body()  # I7
    scatter = Body()  # I8
    result = Out(tensor | per_tensor_quantized)

    @staticmethod
    def infer(operand: TensorType, scatter: FunctionType) -> TensorType:
        return with_element_type(operand, element_type(scatter.outputs[0]))

    @staticmethod
    def constraints(
        C: Checker,
        operand: TensorType,
        source: TensorType,
        init_value: TensorType,
        window_dimensions: Dims,
        window_strides: Dims | None,
        padding: Matrix | None,
        select: FunctionType,
        scatter: FunctionType,
        result: TensorType,
    ) -> None:
        window, strides = window_dimensions, ones(window_strides, operand)
        edges = zeros(padding, operand)
        plain = ones(None, operand)
        C(1, element_type(operand) == element_type(source))
        C(4, size(window) == rank(operand))
        C(5, all(0 < n for n in window))
        C(6, size(strides) == rank(operand))
        C(7, all(0 < n for n in strides))
        C(8, size(edges) == rank(operand) and all(size(p) == 2 for p in edges))
        C(2, shape(source) == num_windows(shape(operand), window, strides, plain, plain, edges))
        C(3, element_type(init_value) == element_type(operand))
        C(9, select.inputs == (scalar(operand),) * 2 and select.outputs == (tensor_type((), BOOLEAN),))
        C(10, is_reducer(scatter, [operand]))
        C(11, shape(operand) == shape(result))
        C(12, element_type(result) == element_type(scatter.outputs[0]))

    @classmethod
    def plan(
        cls,
        operand: TensorType,
        source: TensorType,
        window_dimensions: Dims,
        window_strides: Dims | None,
        padding: Matrix | None,
        select: RegionFunction,
        scatter: RegionFunction,
        result: TensorType,
    ) -> Kernel:
        """Plan the selection in all windows, then the reduction of what is scattered to one element.

        `select` and `scatter` run on all windows at once (`select_and_scatter_in_pieces`). See
        `semantics.reduction.select_and_scatter`.
        """
        promote = promotion([operand], [result])
        windows = windows_of(operand, window_dimensions, window_strides, padding)
        kernel = select_and_scatter_in_pieces(select, scatter, windows)
        return Kernel(
            lambda operand, source, init_value: kernel(operand, promote([source])[0], promote([init_value])[0]),
            temporaries=kernel.temporaries,
        )

    @staticmethod
    def implementation_defined(
        operand: TensorType, window_dimensions: Dims, window_strides: Dims | None, padding: Matrix | None
    ) -> FindChoices:
        w = windows_of(operand, window_dimensions, window_strides, padding)

        def cases(operand: Array, source: Array, init_value: Array) -> Iterator[Choice]:
            for n, count, window, stride, (low, _) in zip(w.sizes, source.shape, w.window, w.strides, w.padding):
                first = np.arange(count) * stride - low
                if source.size and ((first >= n) | (first + window <= 0)).any():
                    yield Choice.EMPTY_WINDOW

        return cases


# --- the kernel of select_and_scatter -------------------------------------------------------------------------------

# In small windows, elements are compared one position after the other, for all windows at once. Large windows are
# reduced as in reduce_window, with each element accompanied by its flat index in the operand.

Position: TypeAlias = tuple[Index, Index]  # the windows, and an element of each in the operand

FEW = 32  # elements of a window: for more, reductions are faster
PIECE = 1 << 20  # elements of the operand that are selected from at a time, if windows do not cross an axis
REDUCED_PIECE = 1 << 18  # the same by reductions, which take more memory


def select_and_scatter_in_pieces(select: RegionFunction, scatter: RegionFunction, w: Windows) -> Kernel:
    """Return the kernel of (operand, source, init_value), piece by piece along the first axis with windows of size 1.

    Sources and init values are promoted to the element type of the result.
    """
    dtype, sizes, counts = dtype_of(scatter), w.sizes, w.counts
    geometry = enumerate(zip(sizes, counts, w.window, w.strides, w.padding))
    separate = [d for d, (n, count, *rest) in geometry if n == count > 1 and rest == [1, 1, (0, 0)]]
    most = REDUCED_PIECE if is_reduced(scatter, w) else PIECE
    axis, n = (separate[0], sizes[separate[0]]) if separate and prod(sizes) > most else (0, 1)
    step = max(1, most * n // max(1, prod(sizes)))

    def of_piece(length: int) -> ArrayKernel:
        piece = replace(w, sizes=(*sizes[:axis], length, *sizes[axis + 1 :])) if n > 1 else w
        if 0 in piece.counts or 0 in piece.sizes:
            return lambda operand, source, init_value: np.full(piece.sizes, init_value)
        return (_by_reduction if is_reduced(scatter, piece) else _by_position)(select, scatter, piece)

    kernels = {length: of_piece(length) for length in {min(step, n), n % step} - {0}}

    def run(operand: Array, source: Array, init_value: Array) -> Array:
        if step >= n:
            return kernels[n](operand, source, init_value)
        results = np.empty(sizes, dtype)
        for start in within_time(range(0, n, step)):
            piece = (slice(None),) * axis + (slice(start, start + step),)
            results[piece] = kernels[min(step, n - start)](operand[piece], source[piece], init_value)
        return results

    itemsize = dtype_of(select).itemsize  # what kernels allocate beside the results: the factors are measured
    needed = w.padded_elements * (4 * itemsize + 32) if is_reduced(scatter, w) else prod(counts) * (3 * itemsize + 4)
    of_results = prod(sizes) * dtype.itemsize if step < n else 0  # of a piece, before they are copied
    return Kernel(run, temporaries=int(min(step, n) / n * (needed + of_results)))


def dtype_of(body: RegionFunction) -> DType:
    """Return the dtype of the arguments of `select` or `scatter`."""
    return numpy_dtype(element_type(body.function_type.inputs[0]))


def is_reduced(scatter: RegionFunction, w: Windows) -> bool:
    """Return whether windows are reduced as in reduce_window."""
    return prod(w.window) > FEW or adds_exactly(scatter)


# --- position by position -------------------------------------------------------------------------------------------


def _by_position(select: RegionFunction, scatter: RegionFunction, w: Windows) -> ArrayKernel:
    positions = list(window_positions(w))
    selected, blend = selector(select, positions, w.counts), kernel_of_select(dtype_of(scatter))

    def run(operand: Array, source: Array, init_value: Array) -> Array:
        selection, results = selected(operand), np.full(operand.shape, init_value)
        for number, (windows, elements) in within_time(reversed(list(enumerate(positions, 1)))):
            (scattered,) = scatter.each(results[elements], source[windows])
            results[elements] = blend(selection[windows] == number, scattered, results[elements])
        return results

    return run


def selector(select: RegionFunction, positions: Sequence[Position], counts: Sizes) -> ArrayKernel:
    """Return a function that returns the selected position of each window, from 1; 0 for windows without elements."""
    number_type, blend = np.min_scalar_type(len(positions)), kernel_of_select(dtype_of(select))

    def run(operand: Array) -> Array:
        selected, values = np.zeros(counts, number_type), np.empty(counts, operand.dtype)
        for number, (windows, elements) in within_time(enumerate(positions, 1)):
            candidates, previous = operand[elements], selected[windows]
            (keep,) = select.each(values[windows], candidates) if number > 1 else (np.zeros(previous.shape, bool),)
            better = ~keep | (previous == 0)
            values[windows] = blend(better, candidates, values[windows])
            np.maximum(previous, better.view(np.uint8) * number_type.type(number), out=previous)
        return selected

    return run


def window_positions(w: Windows) -> Iterator[Position]:
    """Yield for each position in a window, in order, the windows where it is not padding, and its operand elements.

    An element of the operand is at later positions in earlier windows.
    """
    for element in product(*map(range, w.window)):
        per_dimension = []
        for n, count, at, stride, (low, _) in zip(w.sizes, w.counts, element, w.strides, w.padding):
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


def _by_reduction(select: RegionFunction, scatter: RegionFunction, w: Windows) -> ArrayKernel:
    size, no_dilation = prod(w.sizes), (1,) * len(w.window)
    x = tensor_type(w.sizes, element_type(select.function_type.inputs[0]))
    dtype, index_type = numpy_dtype(element_type(x)), integer_type(32 if size < 1 << 31 else 64)
    pad, pad_indices = (pad_windows(t, no_dilation, w.padding) for t in (x, with_element_type(x, index_type)))
    combine, update = _Select(select, dtype), ScatterUpdate(scatter, size, unique=False)

    def run(operand: Array, source: Array, init_value: Array) -> Array:
        indices = np.arange(size, dtype=numpy_dtype(index_type)).reshape(w.sizes)
        padded = [pad(operand, np.zeros((), dtype)), pad_indices(indices, indices.dtype.type(-1))]
        _, selected = reduce_windows(combine, padded, w.window, w.strides, no_dilation)
        found = selected.reshape(-1) >= 0
        rows = selected.reshape(-1)[found].astype(np.intp)
        results = np.full(size, init_value)
        update.rows([results], rows, [source.reshape(-1)[found]])
        return results.reshape(w.sizes)

    return run
