"""Recognize reductions that compute argmax or argmin together with the extreme value, by the behavior of their body.

A body that only compares and selects is determined by its results on one example of each order of its arguments: less,
equal, greater, NaN on the left, on the right, on both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import prod
from typing import TypeAlias

import numpy as np

from stablehlo_ref.define.attribute_codecs import Dims
from stablehlo_ref.define.computation import RegionFunction
from stablehlo_ref.define.spec import element_type, is_integer, is_quantized
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.core import Block, Value
from stablehlo_ref.numerics.dtypes import (
    FLOAT32,
    FLOAT64,
    Scalar,
    is_sub_byte_integer,
    kind,
    max_value,
    numpy_dtype,
    signed_bits_dtype,
)

ArgReduction: TypeAlias = Callable[[Sequence[Array], Sequence[Array], Dims], list[Array] | None]

MANY = 8  # if more than one in this many elements equals the extreme, the indices of all elements need less memory

_PAIRS = [(1, 2), (2, 1), (1, 1)]
_NAN_PAIRS = [(np.nan, 1), (1, np.nan), (np.nan, np.nan)]


def arg_reduction(body: RegionFunction) -> ArgReduction | None:
    """Return a function of inits, arrays and axes that reduces by an argmax or argmin body, None for others.

    Such a body `(value, index, value, index)` selects the larger (or smaller) value, the smaller index among
    equal values, and NaN before any number. The function returns None if the result depends on which of several NaNs
    or zeros the body selects. Init values that come after all others, such as -inf of a maximum, are not combined.
    """
    outputs = body.function_type.outputs
    if len(outputs) != 2 or not is_integer(outputs[1]) or is_quantized(outputs[0]):
        return None
    if not _compares_and_selects(body.region.block):
        return None
    value_dtype, index_dtype = (numpy_dtype(element_type(t)) for t in outputs)
    if is_sub_byte_integer(index_dtype) or not is_native_number(value_dtype):
        return None
    for ufunc, precedes in ((np.maximum, np.greater), (np.minimum, np.less)):
        if _agrees(body, precedes, value_dtype, index_dtype):
            return _reduction(ufunc, precedes, index_dtype, body)
    return None


def is_native_number(dtype: DType) -> bool:
    """Return whether numpy itself compares and selects numbers of a dtype, at full speed."""
    return dtype in (FLOAT32, FLOAT64) or (kind(dtype) == "integer" and not is_sub_byte_integer(dtype))


def _reduction(ufunc: np.ufunc, precedes: np.ufunc, index_dtype: DType, body: RegionFunction) -> ArgReduction:
    last = max_value(index_dtype)
    search = np.argmax if ufunc is np.maximum else np.argmin

    def reduce(inits: Sequence[Array], arrays: Sequence[Array], axes: Dims) -> list[Array] | None:
        values, indices = arrays
        row = _increasing_row(values, indices, axes)
        found = anywhere(values, indices, axes) if row is None else in_rows(values, row)
        return found if found is None or precedes(found[0], inits[0]).all() else body.each(*inits, *found)

    def in_rows(values: Array, row: Array) -> list[Array] | None:
        first = search(values, -1)  # of a row: that of the first extreme or NaN
        places = first.reshape(-1) + np.arange(0, values.size, len(row))
        extreme: Array = values.reshape(-1)[places].reshape(first.shape)
        is_float = kind(extreme.dtype) == "floating"
        if is_float and (not (extreme == extreme).all() or _has_both_zeros(values, extreme)):
            return None
        return [extreme, row[first].reshape(first.shape)]

    def anywhere(values: Array, indices: Array, axes: Dims) -> list[Array] | None:
        extreme: Array = ufunc.reduce(values, axes, keepdims=True)
        is_float = kind(extreme.dtype) == "floating"
        if is_float and (not (extreme == extreme).all() or _has_both_zeros(values, extreme)):
            return None
        hits = values == extreme
        if np.count_nonzero(hits) > values.size // MANY:
            index = np.minimum.reduce(np.where(hits, indices, last), axes)
        else:
            index = _smallest_index(indices, np.flatnonzero(hits), axes, extreme.shape, last)
        kept = [n for d, n in enumerate(extreme.shape) if d not in axes]
        return [extreme.reshape(kept), index.reshape(kept)]

    return reduce


def _increasing_row(values: Array, indices: Array, axes: Dims) -> Array | None:
    """Return the indices of a row if rows of a contiguous array are reduced, and all have the same in order."""
    if axes != (values.ndim - 1,) or not values.flags.c_contiguous:
        return None
    if any(stride and size > 1 for stride, size in zip(indices.strides[:-1], indices.shape)):
        return None
    row: Array = indices[(0,) * (indices.ndim - 1)]
    return row if (row[1:] > row[:-1]).all() else None


def _has_both_zeros(values: Array, extreme: Array) -> bool:
    """Return whether an extreme may be a zero of either sign."""
    bits = values.view(signed_bits_dtype(values.dtype))
    return not extreme.all() and bool((bits == np.iinfo(bits.dtype).min).any() and (bits == 0).any())


def _smallest_index(indices: Array, hits: Array, axes: Dims, sizes: Dims, last: Scalar) -> Array:
    """Return the smallest index at the flat positions `hits` for each element of the result, or `last`."""
    found = np.unravel_index(hits, indices.shape)
    results = np.ravel_multi_index([0 * i if d in axes else i for d, i in enumerate(found)], sizes)
    index = np.full(prod(sizes), last)
    np.minimum.at(index, results, indices[found])
    return index


def _compares_and_selects(block: Block) -> bool:
    """Return whether results depend only on the order of the values and the order of the indices."""
    value, index, *_ = block.arguments
    origin: dict[Value, object] = dict(zip(block.arguments, (value, index, value, index)))  # None for booleans
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


def _agrees(body: RegionFunction, precedes: np.ufunc, value_dtype: DType, index_dtype: DType) -> bool:
    """Return whether the body returns what `arg_reduction` expects for all examples."""
    # Why a few examples are enough: by `_compares_and_selects`, the body only compares the two values or the two
    # indices, and selects one of the values or one of the indices by the outcomes. So which arguments it returns
    # depends only on the order of the values (less, equal, greater, or which of them are NaN) and on that of the
    # indices, and there is an example for each combination. Examples do not show which of two equal values the body
    # returns. This matters only for NaNs and for zeros of different signs; `_reduction` excludes both.
    pairs = _PAIRS + (_NAN_PAIRS if kind(value_dtype) == "floating" else [])
    examples = [(a, i, b, j) for (a, b), (i, j) in product(pairs, _PAIRS)]
    columns = [np.array(column) for column in zip(*examples)]
    dtypes = (value_dtype, index_dtype) * 2
    a, i, b, j = arrays = [column.astype(dtype) for column, dtype in zip(columns, dtypes)]
    left = precedes(a, b) | (a != a)
    expected = np.where(left, a, b), np.where(left | ((a == b) & (i < j)), i, j)
    return all(np.array_equal(x, y, equal_nan=True) for x, y in zip(body.each(*arrays), expected))
