"""Ops on windows that slide over a tensor: reduce_window and select_and_scatter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from stablehlo_ref.algorithms import sliding
from stablehlo_ref.algorithms.folding import Combine, Fold, by_parts
from stablehlo_ref.algorithms.padding import pad_windows
from stablehlo_ref.algorithms.selecting import selection
from stablehlo_ref.algorithms.sliding import running, slide_windows
from stablehlo_ref.choices import Choice
from stablehlo_ref.define import Attr, Body, In, Ins, Op, Out, Outs
from stablehlo_ref.kinds import Dims, Matrix, per_tensor_quantized, scalar_tensor, tensor
from stablehlo_ref.ops.reduction import is_reducer, one_or_all, promotion
from stablehlo_ref.spec import (
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

Array = Any  # numpy arrays and scalars
Types = Sequence[Any]
Sizes = Sequence[Any]


def ones(attribute: Any, x: Any) -> tuple[int, ...]:
    """An attribute of one number per dimension, which are ones where it is left out."""
    return (1,) * rank(x) if attribute is None else attribute


def zeros(padding: Any, x: Any) -> tuple[tuple[int, ...], ...]:
    """The padding, which is none where it is left out."""
    return ((0, 0),) * rank(x) if padding is None else padding


def num_windows(
    sizes: Sizes, window: Sizes, strides: Sizes, dilations: Sizes, window_dilations: Sizes, padding: Any
) -> Sizes:
    """How many windows there are along each dimension."""
    return tuple(map(sliding.num_windows, sizes, window, padding, strides, dilations, window_dilations))


class ReduceWindow(Op, op="reduce_window"):
    """Reduces each window of the padded `inputs` by `body`; `init_values` are the padding, and stand first."""

    inputs = Ins(tensor | per_tensor_quantized)  # I1
    init_values = Ins(scalar_tensor)  # I2
    window_dimensions = Attr(Dims)  # I3
    window_strides = Attr(Dims, default=None)  # I4
    base_dilations = Attr(Dims, default=None)  # I5
    window_dilations = Attr(Dims, default=None)  # I6
    padding = Attr(Matrix, default=None)  # I7
    body = Body()  # I8
    results = Outs(tensor | per_tensor_quantized)

    @staticmethod
    def infer(
        inputs: Types, window_dimensions: Any, window_strides: Any, base_dilations: Any, window_dilations: Any,
        padding: Any, body: Any,
    ) -> Any:  # fmt: skip
        x = inputs[0]
        sizes = num_windows(
            shape(x), window_dimensions, ones(window_strides, x), ones(base_dilations, x), ones(window_dilations, x),
            zeros(padding, x),
        )  # fmt: skip
        return tuple(make_tensor_type(sizes, element_type(t)) for t in body.outputs)

    @staticmethod
    def constraints(
        C: Any, infer: Any, inputs: Types, init_values: Types, window_dimensions: Any, window_strides: Any,
        base_dilations: Any, window_dilations: Any, padding: Any, body: Any, results: Types,
    ) -> None:  # fmt: skip
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
        cls, inputs: Types, window_dimensions: Any, window_strides: Any, base_dilations: Any, window_dilations: Any,
        padding: Any, body: Any, results: Types,
    ) -> Callable[..., Any]:  # fmt: skip
        x = with_element_type(inputs[0], element_type(results[0]))
        promote, sizes = promotion(inputs, results), shape(results[0])
        if not size(results[0]):
            return lambda inputs, init_values: one_or_all([np.broadcast_to(v, sizes) for v in promote(init_values)])
        strides, dilations = ones(window_strides, x), ones(window_dilations, x)
        spread, edges = ones(base_dilations, x), zeros(padding, x)
        fold = by_parts(body, window_folds(window_dimensions, strides, dilations))
        pads = [pad_windows(with_element_type(x, element_type(t)), spread, edges) for t in results]

        def run(inputs: Sequence[Array], init_values: Sequence[Array]) -> Any:
            values = promote(init_values)
            padded = [pad(x, value) for pad, x, value in zip(pads, promote(inputs), values)]
            return one_or_all(body.each(*values, *fold(padded)))

        axis = running_axis(shape(x), window_dimensions, strides, spread, dilations, edges)
        if axis is None:
            return run
        is_reverse = edges[axis][0] == 0
        padding_matters = is_reverse and not (body.recognised and body.recognised.definition.commutative)
        running_fold = by_parts(body, running_folds(axis, is_reverse))

        def run_unpadded(inputs: Sequence[Array], init_values: Sequence[Array]) -> Any:
            values = promote(init_values)
            if not are_same(values, body.each(*values, *values)):
                return run(inputs, init_values)
            folded = running_fold(promote(inputs))
            if padding_matters:  # and is one init value, however long it is
                folded = body.each(*folded, *values)
            return one_or_all(body.each(*values, *folded))

        return run_unpadded


def are_same(xs: Sequence[Array], ys: Sequence[Array]) -> bool:
    """Whether two lists of arrays have the same elements, bit by bit."""
    return all(np.asarray(x).tobytes() == np.asarray(y).tobytes() for x, y in zip(xs, ys))


def running_axis(
    sizes: Sizes, window: Sizes, strides: Sizes, dilations: Sizes, window_dilations: Sizes, padding: Any
) -> int | None:
    """The axis whose windows hold each element and all before it, or all after it; None for other windows."""
    moving = [d for d, n in enumerate(window) if n != 1]
    padded = [d for d, edges in enumerate(padding) if any(edges)]
    if len(moving) != 1 or moving != padded or {*strides, *dilations, *window_dilations} != {1}:
        return None
    (axis,) = moving
    reach = window[axis] - 1
    return axis if sizes[axis] == window[axis] and tuple(padding[axis]) in ((reach, 0), (0, reach)) else None


def window_folds(window: Sizes, strides: Sizes, dilations: Sizes) -> Callable[[Combine], Fold]:
    """Folds windows."""
    return lambda combine: lambda arrays: slide_windows(combine, arrays, window, strides, dilations)


def running_folds(axis: int, reverse: bool) -> Callable[[Combine], Fold]:
    """Folds each element along an axis with all before it, in `reverse` with all after it."""
    return lambda combine: lambda arrays: running(combine, arrays, axis, reverse)


class SelectAndScatter(Op, op="select_and_scatter"):
    """Scatters each element of `source`, by `scatter`, to where `select` finds the element of its window in `operand`.

    Windows hold no padding. One that holds nothing but padding, which the spec leaves open, selects nothing.
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
    def infer(operand: Any, scatter: Any) -> Any:
        return with_element_type(operand, element_type(scatter.outputs[0]))

    @staticmethod
    def constraints(
        C: Any, operand: Any, source: Any, init_value: Any, window_dimensions: Any, window_strides: Any, padding: Any,
        select: Any, scatter: Any, result: Any,
    ) -> None:  # fmt: skip
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
        cls, operand: Any, source: Any, window_dimensions: Any, window_strides: Any, padding: Any, select: Any,
        scatter: Any, result: Any,
    ) -> Callable[..., Array]:  # fmt: skip
        window, strides = window_dimensions, ones(window_strides, operand)
        edges = zeros(padding, operand)
        promote = promotion([operand], [result])
        run = selection(select, scatter, operand, shape(source), window, strides, edges)
        return lambda operand, source, init_value: run(operand, promote([source])[0], promote([init_value])[0])

    @staticmethod
    def open_cases(operand: Any, window_dimensions: Any, window_strides: Any, padding: Any) -> Any:
        strides, edges = ones(window_strides, operand), zeros(padding, operand)

        def cases(operand: Array, source: Array, init_value: Array) -> Iterator[Choice]:
            for n, count, window, stride, (low, _) in zip(
                operand.shape, source.shape, window_dimensions, strides, edges
            ):
                first = np.arange(count) * stride - low
                if source.size and ((first >= n) | (first + window <= 0)).any():
                    yield Choice.EMPTY_WINDOW

        return cases
