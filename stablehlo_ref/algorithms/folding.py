"""The order of reductions: one schedule, which the shape alone decides, for all ops that reduce.

The spec allows any binary tree whose leaves are the elements in lexicographic order ("reduce"). Where many elements
are reduced to few, neighbours are combined pair by pair, level by level: a tree of log2(K) vectorised calls. Where
every step of a left fold has elements enough to be fast, runs of 64 elements are folded from the left, and the results
of the runs pair by pair. Both round less often on the way to a result than one long left fold would. Several
dimensions are reduced one after another, the last first, which is lexicographic order too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from itertools import groupby
from math import prod
from typing import Any, TypeAlias

import numpy as np

from stablehlo_ref.algorithms.extremes import extreme_with_index
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.reductions import any_order, in_order, zero_in_doubt
from stablehlo_ref.spec import element_type, is_quantized

Array: TypeAlias = Any
Arrays: TypeAlias = list[Any]
Fold: TypeAlias = Callable[[Sequence[Array]], Arrays]
Body: TypeAlias = Any  # execute.regions.PlannedBody, of a function of 2N scalars with N results

SMALL = 1 << 17  # elements: up to here a tree is as fast as left folds
BLOCK = 1 << 20  # elements of rows that a tree works on at a time, so that its levels stay in the cache
RUN = 64  # elements that one left fold takes
LANES = 1 << 14  # elements of one step of a left fold, so that they stay in the cache until the next
SHORT = 16  # elements: inner loops over fewer are slow


class Combine:
    """A body on lists of arrays, element by element: `(lhs, rhs)` gives `body(*lhs, *rhs)`.

    `pair` is the ufunc that does the same to a pair of arrays, where there is one; `any_order` the one whose own
    reductions do the same as well, but for the sign of a zero in doubt, which is `pair` of the Combine `in_any_order`.
    """

    def __init__(self, body: Body) -> None:
        output = body.function_type.outputs[0]
        known = body.recognised and not is_quantized(output)
        op = body.recognised.name.removeprefix("stablehlo.") if known else ""
        self.dtype = numpy_dtype(element_type(output))
        self.each = body.each
        self.any_order = any_order(op, self.dtype)
        self.pair = in_order(op, self.dtype)

    def __call__(self, lhs: Sequence[Array], rhs: Sequence[Array]) -> Arrays:
        if self.pair:
            return [self.pair(lhs[0], rhs[0])]
        return self.each(*lhs, *rhs)  # type: ignore[no-any-return]

    def onto(self, lhs: Arrays, rhs: Sequence[Array]) -> Arrays:
        """The same, where `lhs` is the caller's own and may be written to."""
        if self.pair and isinstance(lhs[0], np.ndarray):
            return [self.pair(lhs[0], rhs[0], out=lhs[0])]
        return self(lhs, rhs)

    def in_any_order(self) -> Combine:
        """With `any_order` for `pair`."""
        other = copy(self)
        other.pair = self.any_order
        return other

    def swapped(self) -> Combine:
        """Of the body with its arguments exchanged, for folds from the right."""
        other, each = copy(self), self.each
        other.each = lambda *arrays: each(*arrays[len(arrays) // 2 :], *arrays[: len(arrays) // 2])
        return other


def by_parts(body: Body, plan: Callable[[Combine], Fold]) -> Fold:
    """What `plan` makes of a body, whose results that depend on one array alone are computed apart.

    Where there is a ufunc for any order it is used first, and the body itself where that leaves a zero in doubt.
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
    if (in_doubt := zero_in_doubt(ufunc, combine.dtype)) is None:
        return quick

    def run(arrays: Sequence[Array]) -> Arrays:
        results = quick(arrays)
        return exact(arrays) if in_doubt(results[0]) else results

    return run


def folding(body: Body, shape: Sequence[int], axes: Sequence[int]) -> Fold:
    """Plans the reduction of arrays of `shape` over `axes`, none of them of size 0, without init values.

    The arrays have the element types of the body.
    """
    over = tuple(sorted(axes))
    by_schedule = by_parts(body, lambda combine: _planned(combine, shape, over))
    if extreme := extreme_with_index(body):
        return lambda arrays: extreme(arrays, over) or by_schedule(arrays)
    return by_schedule


def _planned(combine: Combine, shape: Sequence[int], axes: tuple[int, ...]) -> Fold:
    if combine.pair is None or combine.pair is not combine.any_order:
        return _scheduled(combine, shape, axes)
    reduce, dtype = combine.pair.reduce, combine.dtype
    return lambda arrays: [reduce(arrays[0], axes, dtype)]


# --- the schedule ---------------------------------------------------------------------------------------------------


def _scheduled(combine: Combine, shape: Sequence[int], axes: Sequence[int]) -> Fold:
    """Axes that are neighbours are reduced as one, groups of them one after another."""
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
    """Reduces arrays of shape (A, K, B), K > 0, along the axis in the middle to arrays of shape (A, B)."""
    a, k, b = xs[0].shape
    if k == 1:
        return [x[:, 0] for x in xs]
    if a * k * b <= SMALL:
        return _tree(combine, xs)
    if 1 < b < SHORT:
        last = [np.ascontiguousarray(x.transpose(0, 2, 1)).reshape(a * b, k, 1) for x in xs]
        return [x.reshape(a, b) for x in fold_middle(combine, last)]
    way, run, lanes = (_tree, BLOCK, max(1, BLOCK // k)) if b == 1 else (_left_fold, RUN, LANES)
    if k <= run:
        return _blockwise(way, combine, xs, lanes)
    count = k // run
    runs = _blockwise(way, combine, [x[:, : count * run].reshape(a, count, run, b) for x in xs], lanes)
    if k % run:
        rest = _blockwise(way, combine, [x[:, count * run :] for x in xs], lanes)
        runs = [np.concatenate([x, y[:, np.newaxis]], 1) for x, y in zip(runs, rest)]
    return fold_middle(combine, runs)


def _tree(combine: Combine, xs: Sequence[Array]) -> Arrays:
    """Reduces the axis before the last by combining neighbours; what has none waits at the right end."""
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
    """The same for one array and a ufunc: what small tensors are reduced by takes no longer than it must."""
    size, tail = x.shape[-2], None
    while size > 1:
        if size & 1:
            last = x[..., size - 1, :]
            tail = last if tail is None else pair(last, tail)
        x = pair(x[..., 0 : size - 1 : 2, :], x[..., 1:size:2, :])
        size >>= 1
    return x[..., 0, :] if tail is None else pair(x[..., 0, :], tail)


def _left_fold(combine: Combine, xs: Sequence[Array]) -> Arrays:
    """Reduces the axis before the last from the left."""
    if combine.pair and _is_row_major(xs[0]):
        return [combine.pair.reduce(xs[0], -2, combine.dtype)]
    result: Sequence[Array] = [x[..., 0, :] for x in xs]
    for index in range(1, xs[0].shape[-2]):
        result = combine(result, [x[..., index, :] for x in xs])
    return list(result)


def _is_row_major(x: Array) -> bool:
    """Whether numpy reduces the axis before the last row by row, which is from the left, and not along it."""
    return x.shape[-1] > 1 and x.strides[-2] > x.strides[-1] == x.itemsize and bool(x.flags.aligned)


def _blockwise(way: Callable[..., Arrays], combine: Combine, xs: Sequence[Array], lanes: int) -> Arrays:
    """`way` on parts of the arrays that give at most `lanes` elements each."""
    shape = (*xs[0].shape[:-2], xs[0].shape[-1])
    results: Arrays = []
    for box in _boxes(shape, lanes):
        part = way(combine, [x[(*box[:-1], slice(None), box[-1])] for x in xs])
        results = results or [np.empty(shape, p.dtype) for p in part]
        for result, p in zip(results, part):
            result[box] = p
    return results


def _boxes(shape: tuple[int, ...], size: int) -> Iterator[tuple[slice, ...]]:
    """Cuts a shape, of no size 0, into boxes of about `size` elements, first axis first."""
    if not shape:
        yield ()
        return
    rest = prod(shape[1:])
    step = max(1, size // rest)
    for start in range(0, shape[0], step):
        for box in _boxes(shape[1:], size):
            yield (slice(start, start + step), *box)
