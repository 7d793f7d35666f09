"""chlo.ragged_dot: dot_general of groups of different sizes."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from stablehlo_ref.define import Attr, Group, In, Op, Out
from stablehlo_ref.kinds import Dims, ListOf, OneOf, integer_tensor, tensor
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.integers import clamp_index
from stablehlo_ref.ops.dot_general import DotGeneral, Precision
from stablehlo_ref.spec import (
    axes,
    dim,
    dims,
    element_type,
    in_range,
    is_complex,
    is_unique,
    make_tensor_type,
    rank,
    shape,
    size,
    without,
)

Array = Any
Axes = tuple[int, ...]
Kernel = Callable[..., Any]
PLANS = 256  # products of different shapes that are planned, before the oldest are forgotten

Part = tuple[slice, Any]  # where a group lies in the ragged dimension, and the mask of its elements there, or None


class RaggedDot(Op, op="ragged_dot", dialect="chlo"):
    """dot_general where dimension `lhs_ragged_dimensions[0]` of `lhs` is cut into groups of `group_sizes`, in a row.

    Where the dimension is one of the result, the rows of each group are multiplied with that group's part of `rhs`,
    at dimension `rhs_group_dimensions[0]`; rows in no group are zero. Where it is contracting, each group's sum is a
    part of the result, which has the groups as first dimension. Where it is batching, groups make no difference.

    `group_sizes` has the number of groups as last dimension; in front of it, if any, the batching dimensions of `lhs`
    and those of the ragged dimension's kind, up to the ragged one.
    """

    lhs = In(tensor)
    rhs = In(tensor)
    group_sizes = In(integer_tensor)
    lhs_batching_dimensions = Attr(Dims, default=())
    rhs_batching_dimensions = Attr(Dims, default=())
    lhs_contracting_dimensions = Attr(Dims, default=())
    rhs_contracting_dimensions = Attr(Dims, default=())
    lhs_ragged_dimensions = Attr(Dims, default=())
    rhs_group_dimensions = Attr(Dims, default=())
    precision_config = Attr(ListOf(OneOf(Precision, dialect="chlo")), default=())
    result = Out(tensor)

    ragged_dot_dimension_numbers = Group(
        "chlo.ragged_dot",
        lhs_batching_dimensions=lhs_batching_dimensions,
        rhs_batching_dimensions=rhs_batching_dimensions,
        lhs_contracting_dimensions=lhs_contracting_dimensions,
        rhs_contracting_dimensions=rhs_contracting_dimensions,
        lhs_ragged_dimensions=lhs_ragged_dimensions,
        rhs_group_dimensions=rhs_group_dimensions,
    )

    @staticmethod
    def infer(
        lhs: Any,
        rhs: Any,
        group_sizes: Any,
        lhs_batching_dimensions: Axes,
        rhs_batching_dimensions: Axes,
        lhs_contracting_dimensions: Axes,
        rhs_contracting_dimensions: Axes,
        lhs_ragged_dimensions: Axes,
        rhs_group_dimensions: Axes,
    ) -> Any:
        lhs_others = without(axes(lhs), lhs_batching_dimensions + lhs_contracting_dimensions)
        rhs_summed = rhs_batching_dimensions + rhs_contracting_dimensions + rhs_group_dimensions
        groups = dims(group_sizes, (rank(group_sizes) - 1,))
        leading = groups if lhs_ragged_dimensions[0] in lhs_contracting_dimensions else ()
        sizes = leading + dims(lhs, lhs_batching_dimensions + lhs_others) + dims(rhs, without(axes(rhs), rhs_summed))
        return make_tensor_type(sizes, element_type(lhs))

    @staticmethod
    def constraints(
        C: Any,
        infer: Any,
        lhs: Any,
        rhs: Any,
        group_sizes: Any,
        lhs_batching_dimensions: Axes,
        rhs_batching_dimensions: Axes,
        lhs_contracting_dimensions: Axes,
        rhs_contracting_dimensions: Axes,
        lhs_ragged_dimensions: Axes,
        rhs_group_dimensions: Axes,
        precision_config: tuple[Precision, ...],
        result: Any,
    ) -> None:
        C(1, size(lhs_batching_dimensions) == size(rhs_batching_dimensions))
        C(2, size(lhs_contracting_dimensions) == size(rhs_contracting_dimensions))
        C(3, are_different(lhs_batching_dimensions + lhs_contracting_dimensions, rank(lhs)))
        C(4, are_different(rhs_batching_dimensions + rhs_contracting_dimensions + rhs_group_dimensions, rank(rhs)))
        C(5, dims(lhs, lhs_batching_dimensions) == dims(rhs, rhs_batching_dimensions))
        C(6, dims(lhs, lhs_contracting_dimensions) == dims(rhs, rhs_contracting_dimensions))
        C(7, size(lhs_ragged_dimensions) == 1 and in_range(lhs_ragged_dimensions, rank(lhs)))
        before = before_ragged(lhs, lhs_ragged_dimensions[0], lhs_batching_dimensions, lhs_contracting_dimensions)
        C(8, rank(group_sizes) in (1, 1 + size(before)))
        C(9, rank(group_sizes) == 1 or shape(group_sizes)[:-1] == dims(lhs, before))
        is_result_dimension = lhs_ragged_dimensions[0] not in lhs_batching_dimensions + lhs_contracting_dimensions
        C(10, size(rhs_group_dimensions) == is_result_dimension)
        C(11, all(dim(rhs, d) == dim(group_sizes, rank(group_sizes) - 1) for d in rhs_group_dimensions))
        C(12, size(precision_config) in (0, 2))
        C(13, element_type(lhs) == element_type(rhs))
        C(13, is_complex(lhs) == is_complex(result))
        C(14, shape(result) == shape(infer()))

    @staticmethod
    def plan(
        lhs: Any,
        rhs: Any,
        group_sizes: Any,
        lhs_batching_dimensions: Axes,
        rhs_batching_dimensions: Axes,
        lhs_contracting_dimensions: Axes,
        rhs_contracting_dimensions: Axes,
        lhs_ragged_dimensions: Axes,
        rhs_group_dimensions: Axes,
        result: Any,
    ) -> Kernel:
        (ragged,) = lhs_ragged_dimensions
        numbers = {
            "lhs_batching_dimensions": lhs_batching_dimensions,
            "rhs_batching_dimensions": less(rhs_batching_dimensions, rhs_group_dimensions),
            "lhs_contracting_dimensions": lhs_contracting_dimensions,
            "rhs_contracting_dimensions": less(rhs_contracting_dimensions, rhs_group_dimensions),
        }
        multiply = multiplication(lhs, result, numbers)
        if ragged in lhs_batching_dimensions:
            return lambda lhs, rhs, group_sizes: multiply(lhs, rhs)
        before = before_ragged(lhs, ragged, lhs_batching_dimensions, lhs_contracting_dimensions)
        parts = cutting(before, ragged, rank(lhs), dim(lhs, ragged))
        if ragged in lhs_contracting_dimensions:
            return sum_by_groups(multiply, parts, numbers, ragged, result)
        return rows_by_groups(multiply, parts, numbers, ragged, rhs_group_dimensions[0], lhs, result)


def are_different(dimensions: Axes, count: int) -> bool:
    """Whether these are different ones of `count` dimensions."""
    return in_range(dimensions, count) and is_unique(dimensions)


def less(dimensions: Axes, removed: Axes) -> Axes:
    """What dimensions are called once those `removed` are gone."""
    return tuple(d - sum(r < d for r in removed) for d in dimensions)


def before_ragged(lhs: Any, ragged: int, batching: Axes, contracting: Axes) -> Axes:
    """The dimensions of `lhs` that those of `group_sizes` but the last one stand for."""
    if ragged in batching:
        return batching[: batching.index(ragged)]
    if ragged in contracting:
        return batching + contracting[: contracting.index(ragged)]
    return batching + tuple(d for d in range(ragged) if d not in batching + contracting)


# --- groups ---------------------------------------------------------------------------------------------------------


def multiplication(lhs: Any, result: Any, numbers: dict[str, Axes]) -> Kernel:
    """dot_general of arrays of any shape, with the element types of `lhs` and `result`."""

    @lru_cache(maxsize=PLANS)
    def plan(lhs_shape: Axes, rhs_shape: Axes) -> Kernel:
        types = [make_tensor_type(sizes, element_type(lhs)) for sizes in (lhs_shape, rhs_shape)]
        values = DotGeneral.group(numbers, types, [None], []) | {"constants": {}}
        inferred = DotGeneral.call("infer", values)
        run: Kernel = DotGeneral.call(
            "plan", values | {"result": make_tensor_type(shape(inferred), element_type(result))}
        )
        return run

    return lambda lhs, rhs: plan(lhs.shape, rhs.shape)(lhs, rhs)


def cutting(before: Axes, ragged: int, lhs_rank: int, count: int) -> Callable[[Array], list[Part]]:
    """A function from group sizes to the parts of the ragged dimension, which has `count` elements.

    A mask has the dimensions of `lhs`, of size 1 but for `before` and the ragged one. Groups end where the dimension
    does; a negative size is none.
    """
    along = np.arange(count).reshape(at(lhs_rank, {ragged: -1}))

    def run(group_sizes: Array) -> list[Part]:
        ends = np.cumsum(clamp_index(group_sizes, count), axis=-1)
        ends = np.minimum(ends, count)
        starts = np.concatenate([np.zeros_like(ends[..., :1]), ends[..., :-1]], axis=-1)
        if ends.ndim == 1:
            return [(slice(start, end), None) for start, end in zip(starts.tolist(), ends.tolist())]
        order = (-1, *np.argsort(before).tolist())
        sizes = at(lhs_rank, dict(zip(before, group_sizes.shape)))
        bounds = [b.transpose(order).reshape(group_sizes.shape[-1], *sizes) for b in (starts, ends)]
        return [(slice(None), (along >= start) & (along < end)) for start, end in zip(*bounds)]

    return run


def at(count: int, sizes: dict[int, int]) -> Axes:
    """A shape of `count` dimensions that has some `sizes`, and 1 elsewhere."""
    return tuple(sizes.get(d, 1) for d in range(count))


def along(dimension: int, part: slice) -> tuple[slice, ...]:
    """The index of a part of one dimension."""
    return (slice(None),) * dimension + (part,)


def sum_by_groups(
    multiply: Kernel, parts: Callable[[Array], list[Part]], numbers: dict[str, Axes], ragged: int, result: Any
) -> Kernel:
    """The ragged dimension is contracting: one product of parts of both operands for each group."""
    pairs = dict(zip(numbers["lhs_batching_dimensions"], numbers["rhs_batching_dimensions"]))
    pairs |= dict(zip(numbers["lhs_contracting_dimensions"], numbers["rhs_contracting_dimensions"]))

    def run(lhs: Array, rhs: Array, group_sizes: Array) -> Array:
        out = np.empty(shape(result), numpy_dtype(element_type(result)))
        for group, (part, mask) in enumerate(parts(group_sizes)):
            left, right = lhs[along(ragged, part)], rhs[along(pairs[ragged], part)]
            if mask is not None:
                sizes = at(rhs.ndim, {d: mask.shape[lhs_d] for lhs_d, d in pairs.items()})
                order = sorted(pairs, key=pairs.__getitem__)
                others = [d for d in range(lhs.ndim) if d not in pairs]
                left = np.where(mask, left, left.dtype.type(0))
                right = np.where(mask.transpose(others + order).reshape(sizes), right, right.dtype.type(0))
            out[group] = multiply(left, right)
        return out

    return run


def rows_by_groups(
    multiply: Kernel,
    parts: Callable[[Array], list[Part]],
    numbers: dict[str, Axes],
    ragged: int,
    group_dimension: int,
    lhs: Any,
    result: Any,
) -> Kernel:
    """The ragged dimension is one of the result: rows of `lhs` by that group's part of `rhs`."""
    batching, contracting = numbers["lhs_batching_dimensions"], numbers["lhs_contracting_dimensions"]
    order = batching + without(axes(lhs), batching + contracting)
    row = order.index(ragged)

    def run(lhs: Array, rhs: Array, group_sizes: Array) -> Array:
        out = np.zeros(shape(result), numpy_dtype(element_type(result)))
        for group, (part, mask) in enumerate(parts(group_sizes)):
            product = multiply(lhs[along(ragged, part)], np.take(rhs, group, axis=group_dimension))
            if mask is not None:
                sizes = tuple(mask.shape[d] for d in order) + (1,) * (out.ndim - len(order))
                mask = mask.transpose(order + contracting).reshape(sizes)
                product = np.where(mask, product, out)
            out[along(row, part)] = product
        return out

    return run
