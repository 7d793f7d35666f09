"""Ops on windows that slide over a tensor: reduce_window and select_and_scatter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from stablehlo_ref.algorithms import sliding_windows
from stablehlo_ref.algorithms.padding import Padding, Sizes
from stablehlo_ref.algorithms.select_and_scatter import select_and_scatter_in_pieces
from stablehlo_ref.algorithms.sliding_windows import folds_left
from stablehlo_ref.algorithms.window_reductions import Windows, reduction_of_windows
from stablehlo_ref.define.attribute_codecs import Dims, Matrix
from stablehlo_ref.define.choices import Choice
from stablehlo_ref.define.computation import FindChoices, Kernel, RegionFunction, Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.facts import FOLDS
from stablehlo_ref.define.op import Attr, Body, In, Ins, Op, Out, Outs
from stablehlo_ref.define.spec import (
    BOOLEAN,
    element_type,
    make_tensor_type,
    rank,
    same,
    scalar,
    shape,
    size,
    tensor_type,
    with_element_type,
)
from stablehlo_ref.define.type_constraints import init_value, per_tensor_quantized, scalar_tensor, tensor
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.types import FunctionType, TensorType
from stablehlo_ref.ops.reduction import is_reducer, one_or_all, promotion


def ones(attribute: Dims | None, x: TensorType) -> Dims:
    """Return an attribute with one number per dimension of `x`, by default ones."""
    return (1,) * rank(x) if attribute is None else attribute


def zeros(padding: Matrix | None, x: TensorType) -> Matrix:
    """Return the padding of each dimension of `x`, by default zeros."""
    return ((0, 0),) * rank(x) if padding is None else padding


def num_windows(
    sizes: Sizes, window: Sizes, strides: Sizes, dilations: Sizes, window_dilations: Sizes, padding: Padding
) -> Sizes:
    """Return the number of windows along each dimension."""
    return tuple(map(sliding_windows.num_windows, sizes, window, padding, strides, dilations, window_dilations))


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
        inputs: Sequence[TensorType],
        window_dimensions: Dims,
        window_strides: Dims | None,
        base_dilations: Dims | None,
        window_dilations: Dims | None,
        padding: Matrix | None,
        body: FunctionType,
    ) -> Sequence[TensorType]:
        x = inputs[0]
        sizes = num_windows(
            shape(x), window_dimensions, ones(window_strides, x), ones(base_dilations, x), ones(window_dilations, x),
            zeros(padding, x),
        )  # fmt: skip
        return tuple(make_tensor_type(sizes, element_type(t)) for t in body.outputs)

    @staticmethod
    def constraints(
        C: Checker,
        infer: Callable[[], Sequence[TensorType]],
        inputs: Sequence[TensorType],
        init_values: Sequence[TensorType],
        window_dimensions: Dims,
        window_strides: Dims | None,
        base_dilations: Dims | None,
        window_dilations: Dims | None,
        padding: Matrix | None,
        body: FunctionType,
        results: Sequence[TensorType],
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
        inputs: Sequence[TensorType],
        window_dimensions: Dims,
        window_strides: Dims | None,
        base_dilations: Dims | None,
        window_dilations: Dims | None,
        padding: Matrix | None,
        body: RegionFunction,
        results: Sequence[TensorType],
    ) -> Run:
        """Plan the reduction of all windows: see `semantics.reduction.reduce_window`.

        Short windows, and those of bodies that are not associative, are folded from the left, starting with
        init_values; others are reduced axis by axis, sharing intermediate results (algorithms/sliding_windows.py). The
        strategy (algorithms/window_reductions.py) only decides what is padded and reduced at a time.
        """
        promote, sizes = promotion(inputs, results), shape(results[0])
        if not size(results[0]):
            return lambda inputs, init_values: one_or_all([np.broadcast_to(v, sizes) for v in promote(init_values)])
        x = inputs[0]
        strides, base, dilations = (ones(each, x) for each in (window_strides, base_dilations, window_dilations))
        are_short = folds_left(shape(x), window_dimensions, sizes)
        windows = Windows(shape(x), window_dimensions, strides, base, dilations, zeros(padding, x), are_short)
        reduce = reduction_of_windows(windows, body, [with_element_type(x, element_type(t)) for t in results])
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

        `select` and `scatter` run on all windows at once (algorithms/select_and_scatter.py). See
        `semantics.reduction.select_and_scatter`.
        """
        window, strides = window_dimensions, ones(window_strides, operand)
        edges = zeros(padding, operand)
        promote = promotion([operand], [result])
        kernel = select_and_scatter_in_pieces(select, scatter, operand, shape(source), window, strides, edges)
        return Kernel(
            lambda operand, source, init_value: kernel(operand, promote([source])[0], promote([init_value])[0]),
            temporaries=kernel.temporaries,
        )

    @staticmethod
    def implementation_defined(
        operand: TensorType, window_dimensions: Dims, window_strides: Dims | None, padding: Matrix | None
    ) -> FindChoices:
        strides, edges = ones(window_strides, operand), zeros(padding, operand)

        def cases(operand: Array, source: Array, init_value: Array) -> Iterator[Choice]:
            for n, count, window, stride, (low, _) in zip(
                operand.shape, source.shape, window_dimensions, strides, edges
            ):
                first = np.arange(count) * stride - low
                if source.size and ((first >= n) | (first + window <= 0)).any():
                    yield Choice.EMPTY_WINDOW

        return cases
