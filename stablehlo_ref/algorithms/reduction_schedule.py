"""The order of reductions: one schedule for all ops that reduce, which depends on the shape alone.

The spec allows any binary tree whose leaves are the elements in lexicographic order ("reduce"). If many elements are
reduced to few, adjacent elements are combined pair by pair, level by level: a tree of log2(K) vectorized calls. If the
steps of a left fold have enough elements to be fast, runs of 64 elements are folded from the left, and the results of
runs are combined pair by pair. Both accumulate less rounding error than one long left fold. Several dimensions are
reduced one after the other, the last first, which is lexicographic order too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from itertools import groupby
from math import prod
from typing import TypeAlias

import numpy as np

from stablehlo_ref.algorithms.arg_reductions import arg_reduction
from stablehlo_ref.define.computation import RegionFunction
from stablehlo_ref.define.spec import element_type, is_quantized
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.reduction_ufuncs import ambiguous_zero_check, order_independent_ufunc, rounding_ufunc

Arrays: TypeAlias = list[Array]
Fold: TypeAlias = Callable[[Sequence[Array]], Arrays]

SMALL = 1 << 17  # elements: up to this many, a tree is as fast as left folds
BLOCK = 1 << 20  # elements that a tree reduces at a time, so that its levels stay in the cache
RUN = 64  # elements of one left fold
LANES = 1 << 14  # elements of one step of a left fold, so that they stay in the cache until the next step
SHORT = 16  # elements: inner loops over fewer are slow


class Combine:
    """A reduction body applied elementwise to lists of arrays: `(lhs, rhs)` returns `body(*lhs, *rhs)`.

    `pair` is the ufunc that computes the body on a pair of arrays, or None. `any_order` is a ufunc whose result, except
    for the sign of zeros, does not depend on the order, so that `ufunc.reduce` can be used, or None.
    """

    def __init__(self, body: RegionFunction) -> None:
        output = body.function_type.outputs[0]
        known = None if is_quantized(output) else body.recognised
        op = known.name.removeprefix("stablehlo.") if known else ""
        self.dtype = numpy_dtype(element_type(output))
        self.each = body.each
        self.any_order = order_independent_ufunc(op, self.dtype)
        self.pair = rounding_ufunc(op, self.dtype)

    def __call__(self, lhs: Sequence[Array], rhs: Sequence[Array]) -> Arrays:
        if self.pair:
            return [self.pair(lhs[0], rhs[0])]
        return self.each(*lhs, *rhs)

    def into(self, lhs: Arrays, rhs: Sequence[Array]) -> Arrays:
        """Like calling the object, but the result may be written into `lhs`."""
        if self.pair and isinstance(lhs[0], np.ndarray):
            return [self.pair(lhs[0], rhs[0], out=lhs[0])]
        return self(lhs, rhs)

    def in_any_order(self) -> Combine:
        """Return a copy with `any_order` as `pair`."""
        other = copy(self)
        other.pair = self.any_order
        return other

    def swapped(self) -> Combine:
        """Return a copy with the arguments of the body exchanged, for folds from the right."""
        other, each = copy(self), self.each
        other.each = lambda *arrays: each(*arrays[len(arrays) // 2 :], *arrays[: len(arrays) // 2])
        return other


def by_parts(body: RegionFunction, plan: Callable[[Combine], Fold]) -> Fold:
    """Plan the independent parts of a body separately.

    A ufunc that allows any order is tried first; the body itself is used if its result may contain a wrong zero.
    """
    folds = [_in_any_order(Combine(part), plan) for part in body.parts]
    if len(folds) == 1:
        return folds[0]
    return lambda arrays: [fold([array])[0] for fold, array in zip(folds, arrays)]


def _in_any_order(combine: Combine, plan: Callable[[Combine], Fold]) -> Fold:
    exact = plan(combine)
    if (ufunc := combine.any_order) is None:
        return exact
    quick = plan(combine.in_any_order())
    if (has_wrong_zero := ambiguous_zero_check(ufunc, combine.dtype)) is None:
        return quick

    def run(arrays: Sequence[Array]) -> Arrays:
        results = quick(arrays)
        return exact(arrays) if has_wrong_zero(results[0]) else results

    return run


def plan_reduction(body: RegionFunction, shape: Sequence[int], axes: Sequence[int]) -> Fold:
    """Plan the reduction of arrays of `shape` over `axes`, none of size 0, without init values.

    The arrays have the element types of the body.
    """
    reduced = tuple(sorted(axes))
    by_schedule = by_parts(body, lambda combine: _planned(combine, shape, reduced))
    if arg_reduce := arg_reduction(body):
        return lambda arrays: arg_reduce(arrays, reduced) or by_schedule(arrays)
    return by_schedule


def _planned(combine: Combine, shape: Sequence[int], axes: tuple[int, ...]) -> Fold:
    if combine.pair is None or combine.pair is not combine.any_order:
        return _scheduled(combine, shape, axes)
    reduce, dtype = combine.pair.reduce, combine.dtype
    return lambda arrays: [reduce(arrays[0], axes, dtype)]


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
    if a * k * b <= SMALL:
        return _tree(combine, xs)
    if 1 < b < SHORT:
        last = [np.ascontiguousarray(x.transpose(0, 2, 1)).reshape(a * b, k, 1) for x in xs]
        return [x.reshape(a, b) for x in fold_middle(combine, last)]
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
    if combine.pair and len(xs) == 1:
        return [_tree_of_pairs(combine.pair, xs[0])]
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


def _tree_of_pairs(pair: np.ufunc, x: Array) -> Array:
    """Do the same for one array and a ufunc, with less overhead for small tensors."""
    size = x.shape[-2]
    tail: Array | None = None
    while size > 1:
        if size & 1:
            last = x[..., size - 1, :]
            tail = last if tail is None else pair(last, tail)
        x = pair(x[..., 0 : size - 1 : 2, :], x[..., 1:size:2, :])
        size >>= 1
    return x[..., 0, :] if tail is None else pair(x[..., 0, :], tail)


def _left_fold(combine: Combine, xs: Sequence[Array]) -> Arrays:
    """Reduce the axis before the last from the left."""
    if combine.pair and _is_row_major(xs[0]):
        return [combine.pair.reduce(xs[0], -2, combine.dtype)]
    result: Sequence[Array] = [x[..., 0, :] for x in xs]
    for index in range(1, xs[0].shape[-2]):
        result = combine(result, [x[..., index, :] for x in xs])
    return list(result)


def _is_row_major(x: Array) -> bool:
    """Return whether numpy reduces the axis before the last row by row, and so from the left."""
    return x.shape[-1] > 1 and x.strides[-2] > x.strides[-1] == x.itemsize and bool(x.flags.aligned)


def _blockwise(reduce: Callable[..., Arrays], combine: Combine, xs: Sequence[Array], lanes: int) -> Arrays:
    """Apply `reduce` to parts of the arrays with at most `lanes` elements of the result each."""
    shape = (*xs[0].shape[:-2], xs[0].shape[-1])
    results: Arrays = []
    for box in _boxes(shape, lanes):
        part = reduce(combine, [x[(*box[:-1], slice(None), box[-1])] for x in xs])
        results = results or [np.empty(shape, p.dtype) for p in part]
        for result, p in zip(results, part):
            result[box] = p
    return results


def _boxes(shape: tuple[int, ...], size: int) -> Iterator[tuple[slice, ...]]:
    """Split a shape without zeros into boxes of about `size` elements, the first axis first."""
    if not shape:
        yield ()
        return
    rest = prod(shape[1:])
    step = max(1, size // rest)
    for start in range(0, shape[0], step):
        for box in _boxes(shape[1:], size):
            yield (slice(start, start + step), *box)
