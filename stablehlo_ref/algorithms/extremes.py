"""Reductions that find the greatest or least element together with its index, recognised by what their body does.

A body that only compares and selects is known once it has been seen on one example of each order that its arguments
may stand in: less, equal, greater, NaN on the left, on the right, on both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import prod
from typing import Any, TypeAlias

import numpy as np

from stablehlo_ref.numerics.dtypes import (
    FLOAT32,
    FLOAT64,
    is_sub_byte_integer,
    kind,
    max_value,
    numpy_dtype,
    signed_bits_dtype,
)
from stablehlo_ref.spec import element_type, is_integer, is_quantized

Array: TypeAlias = Any
Extreme: TypeAlias = Callable[[Sequence[Array], tuple[int, ...]], list[Array] | None]

MANY = 8  # looking at all elements is faster where one in so many is an extreme

_PAIRS = [(1, 2), (2, 1), (1, 1)]
_NAN_PAIRS = [(np.nan, 1), (1, np.nan), (np.nan, np.nan)]


def extreme_with_index(body: Any) -> Extreme | None:
    """For a body `(value, index, value, index)` that takes the greater (or lesser) value and, of equal ones, the least
    index, and any NaN before all numbers: a function of the arrays and axes to reduce. None for any other body.

    The function gives None where the body must be asked after all: which of several NaNs or zeros was it?
    """
    outputs = body.function_type.outputs
    if len(outputs) != 2 or not is_integer(outputs[1]) or is_quantized(outputs[0]):
        return None
    if not _compares_and_selects(body.region.block):
        return None
    value_dtype, index_dtype = (numpy_dtype(element_type(t)) for t in outputs)
    if is_sub_byte_integer(index_dtype) or not _is_native_number(value_dtype):
        return None
    for ufunc, before in ((np.maximum, np.greater), (np.minimum, np.less)):
        if _agrees(body, before, value_dtype, index_dtype):
            return _reduction(ufunc, index_dtype)
    return None


def _is_native_number(dtype: Any) -> bool:
    return dtype in (FLOAT32, FLOAT64) or (kind(dtype) == "integer" and not is_sub_byte_integer(dtype))


def _reduction(ufunc: np.ufunc, index_dtype: Any) -> Extreme:
    last = max_value(index_dtype)

    def reduce(arrays: Sequence[Array], axes: tuple[int, ...]) -> list[Array] | None:
        values, indices = arrays
        extreme = ufunc.reduce(values, axes, keepdims=True)
        if kind(extreme.dtype) == "floating" and _is_in_doubt(values, extreme):
            return None
        hits = values == extreme
        if np.count_nonzero(hits) > values.size // MANY:
            index = np.minimum.reduce(np.where(hits, indices, last), axes)
        else:
            index = _least(indices, np.flatnonzero(hits), axes, extreme.shape, last)
        kept = [n for d, n in enumerate(extreme.shape) if d not in axes]
        return [extreme.reshape(kept), index.reshape(kept)]

    return reduce


def _is_in_doubt(values: Array, extreme: Array) -> bool:
    """Whether an extreme is a NaN, or may be a zero of either sign."""
    if not np.array_equal(extreme, extreme):
        return True
    bits = values.view(signed_bits_dtype(values.dtype))
    return not extreme.all() and bool((bits == np.iinfo(bits.dtype).min).any() and (bits == 0).any())


def _least(indices: Array, hits: Array, axes: tuple[int, ...], sizes: tuple[int, ...], last: Any) -> Array:
    """The least of the indices at `hits`, numbers of elements, for each place that is left over; `last` at others."""
    found = np.unravel_index(hits, indices.shape)
    place = np.ravel_multi_index([0 * at if d in axes else at for d, at in enumerate(found)], sizes)
    index = np.full(prod(sizes), last)
    np.minimum.at(index, place, indices[found])
    return index


def _compares_and_selects(block: Any) -> bool:
    """Whether no more than the order among the values, and among the indices, can make a difference to the results."""
    value, index, *_ = block.arguments
    origin = dict(zip(block.arguments, (value, index, value, index)))  # of a truth value: None
    for op in block.operations[:-1]:
        origins = [origin.get(v, op) for v in op.operands]
        match op.name.removeprefix("stablehlo."), origins:
            case "compare", [a, b] if a is b and a is not None and "TOTALORDER" not in str(op.properties):
                origin[op.results[0]] = None
            case "and" | "or" | "not" | "xor", _ if set(origins) == {None}:
                origin[op.results[0]] = None
            case "select", [None, a, b] if a is b:
                origin[op.results[0]] = a
            case "minimum" | "maximum", [a, b] if a is b and a is not None:
                origin[op.results[0]] = a
            case _:
                return False
    return [origin.get(v) for v in block.operations[-1].operands] == [value, index]


def _agrees(body: Any, before: np.ufunc, value_dtype: Any, index_dtype: Any) -> bool:
    """Whether the body does on all examples what `extreme_with_index` says."""
    pairs = _PAIRS + (_NAN_PAIRS if kind(value_dtype) == "floating" else [])
    examples = [(a, i, b, j) for (a, b), (i, j) in product(pairs, _PAIRS)]
    columns = [np.array(column) for column in zip(*examples)]
    dtypes = (value_dtype, index_dtype) * 2
    a, i, b, j = arrays = [column.astype(dtype) for column, dtype in zip(columns, dtypes)]
    left = before(a, b) | (a != a)
    expected = np.where(left, a, b), np.where(left | ((a == b) & (i < j)), i, j)
    return all(np.array_equal(x, y, equal_nan=True) for x, y in zip(body.each(*arrays), expected))
