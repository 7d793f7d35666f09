"""CHLO's ragged_dot: dot_general of groups of different sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import lru_cache
from math import prod
from typing import Annotated, TypeAlias

import numpy as np

from stablehlo_ref.define.attribute_codecs import Dims, EnumCodec, ListCodec
from stablehlo_ref.define.bound import call_role
from stablehlo_ref.define.computation import Kernel, Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.facts import SUMS
from stablehlo_ref.define.mode import Mode
from stablehlo_ref.define.op import Attr, Group, In, Op, Out
from stablehlo_ref.define.spec import (
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
from stablehlo_ref.define.type_constraints import integer_tensor, tensor
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.numerics.contraction import converted_bytes
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.integers import clamp_index
from stablehlo_ref.ops.dot_general import DotDimensions, DotGeneral, Precision

Axes: TypeAlias = tuple[int, ...]
Part: TypeAlias = tuple[slice, Array | None]  # the slice of the ragged dimension with a group, and the group's mask

MAX_PLANS = 256  # cached kernels for products of different shapes

ChloPrecision: TypeAlias = Annotated[Precision, EnumCodec(Precision, dialect="chlo")]
ChloPrecisionConfig: TypeAlias = Annotated[tuple[Precision, ...], ListCodec(ChloPrecision)]


@dataclass(frozen=True, slots=True)
class RaggedDimensions(DotDimensions):
    """The attribute `ragged_dot_dimension_numbers`."""

    lhs_ragged_dimensions: Dims
    rhs_group_dimensions: Dims

    def of_one_group(self) -> DotDimensions:
        """Return the dimensions for the slice of `rhs` that one group is multiplied by."""
        batching, contracting = (
            tuple(d - sum(removed < d for removed in self.rhs_group_dimensions) for d in dimensions)
            for dimensions in (self.rhs_batching_dimensions, self.rhs_contracting_dimensions)
        )
        return DotDimensions(self.lhs_batching_dimensions, batching, self.lhs_contracting_dimensions, contracting)


class RaggedDot(Op, op="ragged_dot", dialect="chlo", row_major=True, nans="computed", facts=SUMS):
    """Compute dot_general with dimension `lhs_ragged_dimensions[0]` of `lhs` split into consecutive groups.

    `group_sizes` lists the sizes of the groups. If the ragged dimension is

    - a free dimension of `lhs`, each group of rows is multiplied by the slice of `rhs` with the group's index in
      dimension `rhs_group_dimensions[0]`; rows in no group are zero;
    - contracting, each group is contracted separately, and the groups are the first dimension of the result;
    - batching, the groups have no effect.

    The last dimension of `group_sizes` is the number of groups. It may be preceded by the batching dimensions of `lhs`
    and by the dimensions of the ragged dimension's kind that come before it.
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
    precision_config = Attr(ChloPrecisionConfig, default=())
    result = Out(tensor)

    ragged_dot_dimension_numbers = Group("chlo.ragged_dot", as_type=RaggedDimensions, is_required=True)

    @staticmethod
    def infer(
        lhs: TensorType, rhs: TensorType, group_sizes: TensorType, ragged_dot_dimension_numbers: RaggedDimensions
    ) -> TensorType:
        d = ragged_dot_dimension_numbers
        lhs_others = without(axes(lhs), d.lhs_batching_dimensions + d.lhs_contracting_dimensions)
        rhs_summed = d.rhs_batching_dimensions + d.rhs_contracting_dimensions + d.rhs_group_dimensions
        groups = dims(group_sizes, (rank(group_sizes) - 1,))
        leading = groups if d.lhs_ragged_dimensions[0] in d.lhs_contracting_dimensions else ()
        sizes = leading + dims(lhs, d.lhs_batching_dimensions + lhs_others) + dims(rhs, without(axes(rhs), rhs_summed))
        return make_tensor_type(sizes, element_type(lhs))

    @staticmethod
    def constraints(
        C: Checker,
        infer: Callable[[], TensorType],
        lhs: TensorType,
        rhs: TensorType,
        group_sizes: TensorType,
        lhs_batching_dimensions: Dims,
        rhs_batching_dimensions: Dims,
        lhs_contracting_dimensions: Dims,
        rhs_contracting_dimensions: Dims,
        lhs_ragged_dimensions: Dims,
        rhs_group_dimensions: Dims,
        precision_config: ChloPrecisionConfig,
        result: TensorType,
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
        mode: Mode,
        lhs: TensorType,
        rhs: TensorType,
        group_sizes: TensorType,
        ragged_dot_dimension_numbers: RaggedDimensions,
        result: TensorType,
    ) -> Kernel:
        d = ragged_dot_dimension_numbers
        (ragged,), numbers = d.lhs_ragged_dimensions, d.of_one_group()
        multiply = multiplication(lhs, result, numbers, mode)
        dtypes = [numpy_dtype(element_type(x)) for x in (lhs, rhs, result)]
        sizes = (size(lhs), size(rhs) // max(1, prod(dims(rhs, d.rhs_group_dimensions))), size(result))  # of one group
        copied = sum(count * dtype.itemsize for count, dtype in zip(sizes, dtypes))
        temporaries = copied + converted_bytes(dtypes, sizes[0] + sizes[1], sizes[2], mode.reproducible)
        if ragged in d.lhs_batching_dimensions:
            return Kernel(lambda lhs, rhs, group_sizes: multiply(lhs, rhs), temporaries=temporaries)
        before = before_ragged(lhs, ragged, d.lhs_batching_dimensions, d.lhs_contracting_dimensions)
        parts = splitting(before, ragged, rank(lhs), dim(lhs, ragged))
        if ragged in d.lhs_contracting_dimensions:
            run = sum_by_groups(multiply, parts, numbers, ragged, result)
        else:
            run = rows_by_groups(multiply, parts, numbers, ragged, d.rhs_group_dimensions[0], lhs, result)
        return Kernel(run, temporaries=temporaries)


def are_different(dimensions: Axes, count: int) -> bool:
    """Return whether these are distinct dimensions of a tensor of rank `count`."""
    return in_range(dimensions, count) and is_unique(dimensions)


def before_ragged(lhs: TensorType, ragged: int, batching: Axes, contracting: Axes) -> Axes:
    """Return the dimensions of `lhs` that correspond to all but the last dimension of `group_sizes`."""
    if ragged in batching:
        return batching[: batching.index(ragged)]
    if ragged in contracting:
        return batching + contracting[: contracting.index(ragged)]
    return batching + tuple(d for d in range(ragged) if d not in batching + contracting)


# --- groups ---------------------------------------------------------------------------------------------------------


def multiplication(lhs: TensorType, result: TensorType, numbers: DotDimensions, mode: Mode) -> Run:
    """Return dot_general on arrays of any shape, with the element types of `lhs` and `result`."""

    @lru_cache(maxsize=MAX_PLANS)
    def plan(lhs_shape: Axes, rhs_shape: Axes) -> Run:
        types = [make_tensor_type(sizes, element_type(lhs)) for sizes in (lhs_shape, rhs_shape)]
        members: dict[str, object] = {"lhs": types[0], "rhs": types[1], **asdict(numbers)}
        inferred = call_role(DotGeneral.definition, "infer", members)
        members["result"] = make_tensor_type(shape(inferred), element_type(result))
        run: Run = call_role(DotGeneral.definition, "plan", members, mode=mode)
        return run

    return lambda lhs, rhs: plan(lhs.shape, rhs.shape)(lhs, rhs)


def splitting(before: Axes, ragged: int, lhs_rank: int, count: int) -> Callable[[Array], list[Part]]:
    """Return a function from group sizes to the groups of the ragged dimension, which has `count` elements.

    A mask has the rank of `lhs`, and size 1 in all dimensions but `before` and the ragged one. Groups are clipped to
    the end of the dimension, and negative sizes count as 0.
    """
    positions = np.arange(count).reshape(shape_with(lhs_rank, {ragged: -1}))

    def run(group_sizes: Array) -> list[Part]:
        ends = np.cumsum(clamp_index(group_sizes, count), axis=-1)
        ends = np.minimum(ends, count)
        starts = np.concatenate([np.zeros_like(ends[..., :1]), ends[..., :-1]], axis=-1)
        if ends.ndim == 1:
            return [(slice(start, end), None) for start, end in zip(starts.tolist(), ends.tolist())]
        order = (-1, *np.argsort(before).tolist())
        sizes = shape_with(lhs_rank, dict(zip(before, group_sizes.shape)))
        bounds = [b.transpose(order).reshape(group_sizes.shape[-1], *sizes) for b in (starts, ends)]
        return [(slice(None), (positions >= start) & (positions < end)) for start, end in zip(*bounds)]

    return run


def shape_with(count: int, sizes: dict[int, int]) -> Axes:
    """Return a shape of rank `count` with `sizes` by dimension, and 1 elsewhere."""
    return tuple(sizes.get(d, 1) for d in range(count))


def along(dimension: int, part: slice) -> tuple[slice, ...]:
    """Return the index that selects `part` of one dimension."""
    return (slice(None),) * dimension + (part,)


def sum_by_groups(
    multiply: Run, parts: Callable[[Array], list[Part]], numbers: DotDimensions, ragged: int, result: TensorType
) -> Run:
    """Return the kernel for a contracting ragged dimension: for each group, the product of slices of both operands."""
    pairs = dict(zip(numbers.lhs_batching_dimensions, numbers.rhs_batching_dimensions))
    pairs |= dict(zip(numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions))

    def run(lhs: Array, rhs: Array, group_sizes: Array) -> Array:
        out = np.empty(shape(result), numpy_dtype(element_type(result)))
        for group, (part, mask) in enumerate(parts(group_sizes)):
            left, right = lhs[along(ragged, part)], rhs[along(pairs[ragged], part)]
            if mask is not None:
                sizes = shape_with(rhs.ndim, {d: mask.shape[lhs_d] for lhs_d, d in pairs.items()})
                order = sorted(pairs, key=pairs.__getitem__)
                others = [d for d in range(lhs.ndim) if d not in pairs]
                left = np.where(mask, left, left.dtype.type(0))
                right = np.where(mask.transpose(others + order).reshape(sizes), right, right.dtype.type(0))
            out[group] = multiply(left, right)
        return out

    return run


def rows_by_groups(
    multiply: Run,
    parts: Callable[[Array], list[Part]],
    numbers: DotDimensions,
    ragged: int,
    group_dimension: int,
    lhs: TensorType,
    result: TensorType,
) -> Run:
    """Return the kernel for a free ragged dimension: rows of `lhs` times the group's slice of `rhs`."""
    batching, contracting = numbers.lhs_batching_dimensions, numbers.lhs_contracting_dimensions
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
