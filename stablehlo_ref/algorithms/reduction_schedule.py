"""The order of reductions: one schedule for all ops that reduce, which depends on the shape alone.

The spec allows any binary tree whose leaves are the elements in lexicographic order ("reduce"). If many elements are
reduced to few, adjacent elements are combined pair by pair, level by level: a tree of log2(K) vectorized calls. If the
steps of a left fold have enough elements to be fast, runs of 64 elements are folded from the left, and the results of
runs are combined pair by pair. Both accumulate less rounding error than one long left fold. Several dimensions are
reduced one after the other, the last first, which is lexicographic order too.

A body that is not associative (associativity.py) is folded from the left, starting with the init value, which is also
legal, and what other implementations do.

With the option `exact_sums` there is no order: sums of floats are exact, and rounded once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from copy import copy
from itertools import groupby, product
from math import prod
from typing import TypeAlias

import numpy as np

from stablehlo_ref.algorithms.exact_reductions import exact_addition, sums_over
from stablehlo_ref.algorithms.padding import boxes
from stablehlo_ref.define.attribute_codecs import Dims
from stablehlo_ref.define.computation import RegionFunction
from stablehlo_ref.define.spec import element_type, is_integer, is_quantized
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.core import Block, Value
from stablehlo_ref.limits.budget import check_time, within_time
from stablehlo_ref.numerics.dtypes import (
    BFLOAT16,
    FLOAT32,
    FLOAT64,
    Scalar,
    is_sub_byte_integer,
    kind,
    max_value,
    numpy_dtype,
    signed_bits_dtype,
)
from stablehlo_ref.numerics.floats import stored_as_f32
from stablehlo_ref.numerics.layout import default_buffers
from stablehlo_ref.numerics.reduction_ufuncs import (
    ambiguous_zero_check,
    left_fold_ufunc,
    order_independent_ufunc,
    rounding_ufunc,
)

Arrays: TypeAlias = list[Array]
Fold: TypeAlias = Callable[[Sequence[Array]], Arrays]
Reduction: TypeAlias = Callable[[Sequence[Array], Sequence[Array]], Arrays]  # from init values and arrays

SMALL = 1 << 17  # elements: up to this many, a tree is as fast as left folds
BLOCK = 1 << 20  # elements that a tree reduces at a time, so that its levels stay in the cache
RUN = 64  # elements of one left fold
LANES = 1 << 14  # elements of one step of a left fold, so that they stay in the cache until the next step
TINY = 1 << 10  # elements: below this, one slow call costs less than several fast ones
SHORT = 16  # elements: inner loops over fewer are slow


class Combine:
    """A reduction body applied elementwise to lists of arrays: `(lhs, rhs)` returns `body(*lhs, *rhs)`.

    `each` is the region, and `ufunc` computes the same on two arrays, or is None. `any_order` is a ufunc whose result,
    except for the sign of zeros, does not depend on the order, so that `ufunc.reduce` can be used, or None. `left` is a
    ufunc that numpy folds from the left, or None. `folds_left` says that the body is not associative. `adds_exactly`
    says that the body adds floats and the mode asks for exact sums. `in_f32` does the same on bf16 numbers stored as
    f32, or is None.
    """

    ufunc: np.ufunc | None = None
    any_order: np.ufunc | None = None
    left: np.ufunc | None = None
    folds_left = False
    adds_exactly = False
    in_f32: Combine | None = None

    def __init__(self, body: RegionFunction) -> None:
        output = body.function_type.outputs[0]
        recognised = None if is_quantized(output) else body.recognised
        op = recognised.name.removeprefix("stablehlo.") if recognised else ""
        self.dtype = numpy_dtype(element_type(output))
        self.each = body.each
        self.any_order = order_independent_ufunc(op, self.dtype)
        self.ufunc = rounding_ufunc(op, self.dtype)
        self.left = left_fold_ufunc(op, self.dtype)
        self.folds_left = not body.is_associative
        self.adds_exactly = exact_addition(body) is not None
        if self.dtype == BFLOAT16 and (function := stored_as_f32(op)):
            self.in_f32 = copy(self)
            self.in_f32.each = lambda x, y: [function(x, y)]

    @property
    def allows_any_order(self) -> bool:
        """Whether the order makes no difference."""
        return self.ufunc is not None and self.ufunc is self.any_order

    def __call__(self, lhs: Sequence[Array], rhs: Sequence[Array]) -> Arrays:
        check_time()
        if self.ufunc:
            return [self.ufunc(lhs[0], rhs[0])]
        return self.each(*lhs, *rhs)

    def into(self, lhs: Arrays, rhs: Sequence[Array]) -> Arrays:
        """Like calling the object, but the result may be written into `lhs`."""
        if self.ufunc and isinstance(lhs[0], np.ndarray):
            return [self.ufunc(lhs[0], rhs[0], out=lhs[0])]
        return self(lhs, rhs)

    def store(self, lhs: Sequence[Array], rhs: Sequence[Array], results: Sequence[Array]) -> None:
        """Like calling the object, but the result is written into `results`."""
        if self.ufunc:
            self.ufunc(lhs[0], rhs[0], out=results[0])
            return
        for result, values in zip(results, self(lhs, rhs)):
            result[...] = values

    def swapped(self) -> Combine:
        """Return a copy with the arguments of the body exchanged, for folds from the right."""
        other, each = copy(self), self.each
        other.each = lambda *arrays: each(*arrays[len(arrays) // 2 :], *arrays[: len(arrays) // 2])
        return other


def by_parts(body: RegionFunction, plan: Callable[[Combine], Reduction]) -> Reduction:
    """Plan the independent parts of a body separately.

    A ufunc that allows any order is tried first; the body itself is used if its result may contain a wrong zero.
    """
    reductions = [_in_any_order(Combine(part), plan) for part in body.parts]
    if len(reductions) == 1:
        return reductions[0]
    return lambda inits, arrays: [reduce([v], [x])[0] for reduce, v, x in zip(reductions, inits, arrays)]


def _in_any_order(combine: Combine, plan: Callable[[Combine], Reduction]) -> Reduction:
    by_body = plan(combine)
    if (ufunc := combine.any_order) is None:
        return by_body
    with_ufunc = copy(combine)
    with_ufunc.ufunc = ufunc
    any_order = plan(with_ufunc)
    if (has_wrong_zero := ambiguous_zero_check(ufunc, combine.dtype)) is None:
        return any_order

    def run(inits: Sequence[Array], arrays: Sequence[Array]) -> Arrays:
        results = any_order(inits, arrays)
        return by_body(inits, arrays) if has_wrong_zero(np.asarray(results[0])) else results

    return run


def after_inits(combine: Combine, fold: Fold) -> Reduction:
    """Return the reduction that combines init values with the results of a fold, unless that makes no difference."""
    identity = combine.ufunc.identity if combine.ufunc and combine.allows_any_order else None

    def run(inits: Sequence[Array], arrays: Sequence[Array]) -> Arrays:
        results = fold(arrays)
        return results if identity is not None and inits[0] == identity else combine.each(*inits, *results)

    return run


def plan_reduction(body: RegionFunction, shape: Sequence[int], axes: Sequence[int]) -> Reduction:
    """Plan the reduction of arrays of `shape` over `axes`, none of size 0.

    The arrays and init values have the element types of the body.
    """
    reduced = tuple(sorted(axes))
    by_schedule = by_parts(body, lambda combine: planned(combine, shape, reduced))
    if (arg_reduce := arg_reduction(body)) is None:
        return by_schedule

    def run(inits: Sequence[Array], arrays: Sequence[Array]) -> Arrays:
        return arg_reduce(inits, arrays, reduced) or by_schedule(inits, arrays)

    return run


def planned(combine: Combine, shape: Sequence[int], axes: tuple[int, ...]) -> Reduction:
    """Plan the reduction of one array, by the first order that applies: exact, from the left, at once, the schedule."""
    if combine.adds_exactly:
        sums = sums_over(combine.dtype, shape, axes)
        return lambda inits, arrays: [sums(arrays[0], inits[0])]
    if prod(shape[d] for d in axes) == 1:
        kept = [n for d, n in enumerate(shape) if d not in axes]
        return after_inits(combine, lambda arrays: [x.reshape(kept) for x in arrays])
    if combine.folds_left:
        return _from_the_left(combine, shape, axes)
    if not combine.allows_any_order or combine.ufunc is None:
        return after_inits(combine, _scheduled(combine, shape, axes))
    ufunc, dtype, is_small = combine.ufunc, combine.dtype, prod(shape) <= SMALL
    is_short = axes == (len(shape) - 1,) and shape[-1] < SHORT and prod(shape) >= TINY

    def at_once(arrays: Sequence[Array]) -> Arrays:
        if is_short:
            return [functools.reduce(ufunc, [arrays[0][..., i] for i in range(shape[-1])])]
        if is_small:
            return [ufunc.reduce(arrays[0], axes, dtype)]
        with default_buffers():
            return [ufunc.reduce(arrays[0], axes, dtype)]

    return after_inits(combine, at_once)


# --- from the left --------------------------------------------------------------------------------------------------


def _from_the_left(combine: Combine, shape: Sequence[int], axes: tuple[int, ...]) -> Reduction:
    kept = tuple(d for d in range(len(shape)) if d not in axes)
    sizes = tuple(shape[d] for d in kept)
    rows = prod(shape[d] for d in axes), prod(sizes)

    def run(inits: Sequence[Array], arrays: Sequence[Array]) -> Arrays:
        results = fold_rows(combine, inits, [x.transpose(axes + kept).reshape(rows) for x in arrays])
        return [np.reshape(r, sizes) for r in results]

    return run


def fold_rows(combine: Combine, inits: Sequence[Array], xs: Sequence[Array]) -> Arrays:
    """Fold the rows of arrays of shape (K, B) from the left, starting with init values, to arrays of shape (B,)."""
    ufunc = combine.ufunc or combine.left
    if ufunc is None:
        results: Sequence[Array] = inits
        for index in within_time(range(len(xs[0]))):
            results = combine.each(*results, *[x[index] for x in xs])
        return list(results)
    (x,), (init,) = xs, inits
    if x.shape[1] > 1:
        return [ufunc.reduce(np.ascontiguousarray(x), 0, combine.dtype, initial=init)]  # row by row
    return [ufunc.accumulate(np.concatenate([[[init]], x], dtype=x.dtype))[-1]]


# --- the schedule ---------------------------------------------------------------------------------------------------


def _scheduled(combine: Combine, shape: Sequence[int], axes: Sequence[int]) -> Fold:
    """Reduce groups of adjacent axes, each as one axis, one after the other."""
    groups = [(reduced, list(group)) for reduced, group in groupby(range(len(shape)), lambda d: d in axes)]
    sizes = [prod(shape[d] for d in group) for _, group in groups]
    stages = []
    for position in reversed([i for i, (reduced, _) in enumerate(groups) if reduced]):
        stages.append((prod(sizes[:position]), sizes[position], prod(sizes[position + 1 :])))
        sizes[position] = 1
    kept = tuple(n for d, n in enumerate(shape) if d not in axes)

    def run(arrays: Sequence[Array]) -> Arrays:
        for stage in stages:
            arrays = fold_middle(combine, [x.reshape(stage) for x in arrays])
        return [x.reshape(kept) for x in arrays]

    return run


def fold_middle(combine: Combine, xs: Sequence[Array]) -> Arrays:
    """Reduce arrays of shape (A, K, B), K > 0, along the middle axis to arrays of shape (A, B)."""
    a, k, b = xs[0].shape
    if k == 1:
        return [x[:, 0] for x in xs]
    if 1 < b < SHORT and a * k * b >= TINY:
        last = [np.ascontiguousarray(x.transpose(0, 2, 1)).reshape(a * b, k, 1) for x in xs]
        return [x.reshape(a, b) for x in fold_middle(combine, last)]
    if a * k * b <= SMALL:
        return _tree(combine, xs)
    reduce, run, lanes = (_tree, BLOCK, max(1, BLOCK // k)) if b == 1 else (_left_fold, RUN, LANES)
    if k <= run:
        return _blockwise(reduce, combine, xs, lanes)
    count = k // run
    runs = _blockwise(reduce, combine, [x[:, : count * run].reshape(a, count, run, b) for x in xs], lanes)
    if k % run:
        rest = _blockwise(reduce, combine, [x[:, count * run :] for x in xs], lanes)
        runs = [np.concatenate([x, y[:, np.newaxis]], 1) for x, y in zip(runs, rest)]
    return fold_middle(combine, runs)


def _tree(combine: Combine, xs: Sequence[Array]) -> Arrays:
    """Reduce the axis before the last by combining adjacent elements; surplus elements at the end are combined last."""
    if combine.in_f32:
        return _in_f32(_tree, combine.in_f32, xs)
    size = xs[0].shape[-2]
    tail: Arrays = []
    while size > 1:
        if size % 2:
            last = [x[..., size - 1, :] for x in xs]
            tail = combine(last, tail) if tail else last
        xs = combine([x[..., 0 : size - 1 : 2, :] for x in xs], [x[..., 1:size:2, :] for x in xs])
        size //= 2
    result = [x[..., 0, :] for x in xs]
    return combine(result, tail) if tail else result


def _left_fold(combine: Combine, xs: Sequence[Array]) -> Arrays:
    """Reduce the axis before the last from the left."""
    if combine.in_f32:
        return _in_f32(_left_fold, combine.in_f32, xs)
    if combine.ufunc and _is_row_major(xs[0]):
        with default_buffers():
            return [combine.ufunc.reduce(xs[0], -2, combine.dtype)]
    result: Sequence[Array] = [x[..., 0, :] for x in xs]
    for index in range(1, xs[0].shape[-2]):
        result = combine(result, [x[..., index, :] for x in xs])
    return list(result)


def _in_f32(reduce: Callable[..., Arrays], combine: Combine, xs: Sequence[Array]) -> Arrays:
    """Apply `reduce` to bf16 arrays stored as f32."""
    return [x.astype(BFLOAT16) for x in reduce(combine, [x.astype(FLOAT32) for x in xs])]


def _is_row_major(x: Array) -> bool:
    """Return whether numpy reduces the axis before the last row by row, and so from the left."""
    return x.shape[-1] > 1 and x.strides[-2] > x.strides[-1] == x.itemsize and bool(x.flags.aligned)


def _blockwise(reduce: Callable[..., Arrays], combine: Combine, xs: Sequence[Array], lanes: int) -> Arrays:
    """Apply `reduce` to boxes of the arrays with at most `lanes` elements of the result each."""
    shape = (*xs[0].shape[:-2], xs[0].shape[-1])
    results: Arrays = []
    for box in within_time(boxes(shape, lanes)):
        reduced = reduce(combine, [x[(*box[:-1], slice(None), box[-1])] for x in xs])
        results = results or [np.empty(shape, r.dtype) for r in reduced]
        for result, r in zip(results, reduced):
            result[box] = r
    return results


# --- argmax and argmin ----------------------------------------------------------------------------------------------

# A body that only compares and selects is determined by its results on one example of each order of its arguments:
# less, equal, greater, NaN on the left, on the right, on both sides.

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
    if any(map(is_sub_byte_integer, (value_dtype, index_dtype))):
        return None
    if value_dtype not in (FLOAT32, FLOAT64) and kind(value_dtype) != "integer":  # which numpy compares at full speed
        return None
    for ufunc, precedes in ((np.maximum, np.greater), (np.minimum, np.less)):
        if _agrees(body, precedes, value_dtype, index_dtype):
            return _reduction(ufunc, precedes, index_dtype, body)
    return None


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
        if _is_ambiguous(values, extreme):
            return None
        return [extreme, row[first].reshape(first.shape)]

    def anywhere(values: Array, indices: Array, axes: Dims) -> list[Array] | None:
        extreme: Array = ufunc.reduce(values, axes, keepdims=True)
        if _is_ambiguous(values, extreme):
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


def _is_ambiguous(values: Array, extreme: Array) -> bool:
    """Return whether an extreme may be one of several NaNs, or a zero of either sign."""
    if kind(extreme.dtype) != "floating" or (extreme.all() and not np.isnan(extreme).any()):
        return False
    bits = values.view(signed_bits_dtype(values.dtype))
    has_both_zeros = (bits == np.iinfo(bits.dtype).min).any() and (bits == 0).any()
    return bool(np.isnan(extreme).any() or has_both_zeros)


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
