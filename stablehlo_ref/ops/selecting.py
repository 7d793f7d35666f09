"""How select_and_scatter finds what windows select, and puts the elements of the source there.

In small windows one place after the other is looked at, in all windows at once. Large ones are folded as reduce_window
folds them, each element together with its number in the operand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import prod
from typing import Any, TypeAlias

import numpy as np

from stablehlo_ref.ir.types import integer_type
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.selection import select as kernel_of_select
from stablehlo_ref.ops.folding import Array, Arrays, Body, Combine
from stablehlo_ref.ops.sliding import padding_kernel, slide_windows
from stablehlo_ref.ops.updates import Update
from stablehlo_ref.spec import element_type, shape, size, with_element_type

Sizes: TypeAlias = Sequence[int]
Place: TypeAlias = tuple[tuple[Any, ...], tuple[Any, ...]]  # indices of windows, and of an element of each
Put: TypeAlias = Callable[[Array, Array, Array], None]

FEW = 32  # elements of a window: of more, folds are faster


def selection(select: Body, scatter: Body, x: Any, counts: Sizes, window: Sizes, strides: Sizes, padding: Any) -> Put:
    """Updates results by a source of shape `counts`, and by the windows of an operand of type `x`: a function of the
    operand, the source and the results, which lie in one piece."""
    if 0 in counts or not size(x):
        return lambda operand, source, results: None
    if prod(window) > FEW:
        return _by_folding(select, scatter, x, window, strides, padding)
    places = list(elements_of_windows(shape(x), counts, window, strides, padding))
    return _by_place(scatter, places, selecting(select, places, counts, numpy_dtype(element_type(x))))


# --- place after place ----------------------------------------------------------------------------------------------


def _by_place(scatter: Body, places: Sequence[Place], selected: Callable[[Array], Array]) -> Put:
    blend = kernel_of_select(numpy_dtype(element_type(scatter.function_type.outputs[0])))

    def put(operand: Array, source: Array, results: Array) -> None:
        elements = selected(operand)
        for number, (windows, place) in reversed(list(enumerate(places, 1))):
            (scattered,) = scatter.each(results[place], source[windows])
            results[place] = blend(elements[windows] == number, scattered, results[place])

    return put


def selecting(select: Body, places: Sequence[Place], sizes: Sizes, dtype: Any) -> Callable[[Array], Array]:
    """Which element of its window is selected, for each window: from 1 on, 0 where it has none."""
    number_type, blend = np.min_scalar_type(len(places)), kernel_of_select(dtype)

    def run(operand: Array) -> Array:
        selected = np.zeros(sizes, number_type)
        values = np.empty(sizes, dtype)
        for number, (windows, place) in enumerate(places, 1):
            candidates, before = operand[place], selected[windows]
            (keep,) = select.each(values[windows], candidates) if number > 1 else (np.zeros(before.shape, bool),)
            better = ~keep | (before == 0)
            values[windows] = blend(better, candidates, values[windows])
            np.maximum(before, better.view(np.uint8) * number_type.type(number), out=before)
        return selected

    return run


def elements_of_windows(sizes: Sizes, windows: Sizes, window: Sizes, strides: Sizes, padding: Any) -> Iterator[Place]:
    """For each element of a window, in order: the windows where it is no padding, and where it is in the operand.

    The later an element is in its window, the earlier the window that has a given element of the operand in its place.
    """
    for element in product(*map(range, window)):
        per_dimension = []
        for n, count, at, stride, (low, _) in zip(sizes, windows, element, strides, padding):
            first = max(0, -((at - low) // stride))
            last = min(count - 1, (n - 1 - (at - low)) // stride)
            start, stop = first * stride + at - low, last * stride + at - low + 1
            per_dimension.append((slice(first, last + 1), slice(start, stop, stride), last - first))
        box, places, spans = zip(*per_dimension) if per_dimension else ((), (), ())
        if all(span >= 0 for span in spans):
            yield (*box, ...), (*places, ...)


# --- by folding -----------------------------------------------------------------------------------------------------


class _Choose(Combine):
    """What a window selects of elements and their numbers; those with number -1 are padding and never selected."""

    def __init__(self, select: Body, dtype: Any) -> None:
        self.pair = self.any_order = None
        self.select, self.blend = select, kernel_of_select(dtype)

    def __call__(self, lhs: Sequence[Array], rhs: Sequence[Array]) -> Arrays:
        (value, number), (other_value, other_number) = lhs, rhs
        (keep,) = self.select.each(value, other_value)
        keep = (keep & (number >= 0)) | (other_number < 0)
        return [self.blend(keep, value, other_value), np.where(keep, number, other_number)]


def _by_folding(select: Body, scatter: Body, x: Any, window: Sizes, strides: Sizes, padding: Any) -> Put:
    dtype, plain = numpy_dtype(element_type(x)), (1,) * len(window)
    pad, pad_numbers = (padding_kernel(t, plain, padding) for t in (x, with_element_type(x, integer_type(64))))
    choose, update = _Choose(select, dtype), Update(scatter, size(x), unique=False)

    def put(operand: Array, source: Array, results: Array) -> None:
        numbers = np.arange(operand.size).reshape(operand.shape)
        padded = [pad(operand, np.zeros((), dtype)), pad_numbers(numbers, np.int64(-1))]
        _, chosen = slide_windows(choose, padded, window, strides, plain)
        found = chosen.reshape(-1) >= 0
        update.rows([results.reshape(-1)], chosen.reshape(-1)[found], [source.reshape(-1)[found]])

    return put
