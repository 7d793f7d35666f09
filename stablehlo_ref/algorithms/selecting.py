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

from stablehlo_ref.algorithms.folding import Array, Arrays, Body, Combine
from stablehlo_ref.algorithms.padding import pad_windows
from stablehlo_ref.algorithms.sliding import slide_windows
from stablehlo_ref.algorithms.updates import Update
from stablehlo_ref.ir.types import integer_type
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.selection import select as kernel_of_select
from stablehlo_ref.spec import element_type, shape, size, with_element_type

Sizes: TypeAlias = Sequence[int]
Place: TypeAlias = tuple[tuple[Any, ...], tuple[Any, ...]]  # indices of windows, and of an element of each
Run: TypeAlias = Callable[[Array, Array, Array], Array]  # of the operand, the source and the init value

FEW = 32  # elements of a window: of more, folds are faster


def selection(select: Body, scatter: Body, x: Any, counts: Sizes, window: Sizes, strides: Sizes, padding: Any) -> Run:
    """What select_and_scatter does to operands of type `x` and sources of shape `counts`, promoted to the result's
    element type."""
    if 0 in counts or not size(x):
        return lambda operand, source, init_value: filled(shape(x), init_value)
    if prod(window) > FEW:
        return _by_folding(select, scatter, x, window, strides, padding)
    places = list(elements_of_windows(shape(x), counts, window, strides, padding))
    return _by_place(scatter, places, selecting(select, places, counts, numpy_dtype(element_type(x))))


def filled(sizes: Sizes, value: Array) -> Array:
    """An array of equal elements, that may be written to."""
    return np.full(sizes, value, value.dtype)


# --- place after place ----------------------------------------------------------------------------------------------


def _by_place(scatter: Body, places: Sequence[Place], selected: Callable[[Array], Array]) -> Run:
    blend = kernel_of_select(numpy_dtype(element_type(scatter.function_type.outputs[0])))

    def run(operand: Array, source: Array, init_value: Array) -> Array:
        elements, results = selected(operand), filled(operand.shape, init_value)
        for number, (windows, place) in reversed(list(enumerate(places, 1))):
            (scattered,) = scatter.each(results[place], source[windows])
            results[place] = blend(elements[windows] == number, scattered, results[place])
        return results

    return run


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


def _by_folding(select: Body, scatter: Body, x: Any, window: Sizes, strides: Sizes, padding: Any) -> Run:
    dtype, plain = numpy_dtype(element_type(x)), (1,) * len(window)
    number = integer_type(32 if size(x) < 1 << 31 else 64)
    pad, pad_numbers = (pad_windows(t, plain, padding) for t in (x, with_element_type(x, number)))
    choose, update = _Choose(select, dtype), Update(scatter, size(x), unique=False)

    def run(operand: Array, source: Array, init_value: Array) -> Array:
        numbers = np.arange(operand.size, dtype=numpy_dtype(number)).reshape(operand.shape)
        padded = [pad(operand, np.zeros((), dtype)), pad_numbers(numbers, numbers.dtype.type(-1))]
        _, chosen = slide_windows(choose, padded, window, strides, plain)
        found = chosen.reshape(-1) >= 0
        rows = chosen.reshape(-1)[found].astype(np.intp)
        results = filled(operand.size, init_value)
        update.rows([results], rows, [source.reshape(-1)[found]])
        return results.reshape(operand.shape)

    return run
