"""Padding at the edges of tensors and between their elements, as `pad` and windows have it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, TypeAlias

import numpy as np

from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.spec import UNKNOWN, element_type, make_tensor_type, shape

Array: TypeAlias = Any
Sizes: TypeAlias = Sequence[Any]
Run: TypeAlias = Callable[[Array, Array], Array]  # of an array and the value of its padding


def padded_sizes(sizes: Sizes, low: Sizes, high: Sizes, interior: Sizes) -> list[Any]:
    """The sizes of a padded tensor, unknown where they are."""
    padding = zip(sizes, low, high, interior)
    return [n if n is UNKNOWN else n + below + max(n - 1, 0) * between + above for n, below, above, between in padding]


def pad(given: Sizes, low: Sizes, interior: Sizes, sizes: Sizes, dtype: np.dtype[Any]) -> Run:
    """Pads arrays of the shape `given` to `sizes`. A negative `low` cuts, and so may what is left for the high edge."""
    steps = [n + 1 for n in interior]
    # Of each dimension of the operand, the indices whose place in the result exists.
    first = [max(0, -(below // step)) for below, step in zip(low, steps)]
    stop = [
        max(begin, min(n, -((below - size) // step)))
        for begin, n, below, size, step in zip(first, given, low, sizes, steps)
    ]
    kept = tuple(map(slice, first, stop))
    starts = [below + begin * step for below, begin, step in zip(low, first, steps)]
    spans = [(end - begin - 1) * step + 1 if begin < end else 0 for begin, end, step in zip(first, stop, steps)]
    stops = [start + span for start, span in zip(starts, spans)]
    places = tuple(map(slice, starts, stops, steps))
    edges = [()] if max(steps, default=1) > 1 or not all(spans) else frame(starts, stops)

    def run(operand: Array, padding_value: Array) -> Array:
        padded = np.empty(sizes, dtype)
        for edge in edges:
            padded[edge] = padding_value
        padded[places] = operand[kept]
        return padded

    return run


def frame(starts: list[int], stops: list[int]) -> list[tuple[slice, ...]]:
    """Slices that together hold each index outside of the box from `starts` to `stops` once."""
    inner = tuple(map(slice, starts, stops))
    before = [(*inner[:d], slice(None, start)) for d, start in enumerate(starts)]
    after = [(*inner[:d], slice(stop, None)) for d, stop in enumerate(stops)]
    return before + after


def pad_windows(x: Any, dilations: Sizes, padding: Any) -> Run:
    """Pads arrays of type `x` as windows see them; EvaluationError if no memory could hold what comes out."""
    if not any(map(any, padding)) and set(dilations) <= {1}:
        return lambda operand, padding_value: operand
    low, high = ([edges[side] for edges in padding] for side in (0, 1))
    interior, dtype = [dilation - 1 for dilation in dilations], numpy_dtype(element_type(x))
    sizes = padded_sizes(shape(x), low, high, interior)
    if prod(sizes) * dtype.itemsize > sys.maxsize:
        padded = make_tensor_type(sizes, element_type(x))
        raise EvaluationError(f"the operand with its padding, {padded}, is larger than any memory")
    return pad(shape(x), low, interior, sizes, dtype)
