"""The ops of the sdy dialect that change shardings by communication.

Tensors are whole here, so each op returns its operand; its axes must lead from the operand's sharding to that of the
result. A tensor that is unreduced along some axes is, as a whole, the result of the reduction.
What devices do to their shards is in `passes.sdy.convert_global_to_local`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from stablehlo_ref.define.bound import Site
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.op import Attr, In, Op, Out, type_of
from stablehlo_ref.dialects.mlir_types import any_tensor, identity
from stablehlo_ref.dialects.sdy_shardings import (
    AxesPerDimension,
    AxesValue,
    ExchangesValue,
    Reduction,
    ReductionOp,
    ShardingValue,
    check_value,
    mesh_of,
    rejecting,
    sharding_of,
)
from stablehlo_ref.distribution.meshes import (
    Span,
    check_axes,
    check_sorted,
    in_mesh_order,
    merge,
    overlap,
    sharded_size,
    spans,
    text,
    without_suffix,
)
from stablehlo_ref.distribution.sdy_attributes import AxisLists, AxisRef, DimensionSharding, Exchange, Mesh, Sharding
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import TensorType

Members: TypeAlias = Mapping[str, Any]  # of an op


class Transition:
    """The shardings before and after a collective op, with their mesh; ValueError if they do not belong together."""

    def __init__(self, op: Operation, out_sharding: Sharding, collective: type[Collective]) -> None:
        check_value(op, out_sharding, op.results[0].type)
        self.mesh = mesh_of(out_sharding, op)
        self.after = out_sharding
        found = sharding_of(op.operands[0])
        if found is None and not collective.may_be_replicated:
            raise ValueError("expected an operand with a sharding")
        replicated = Sharding(out_sharding.mesh, tuple(DimensionSharding(()) for _ in out_sharding.dimensions))
        self.before = found or replicated
        self.mesh_before = mesh_of(self.before, op)
        if not collective.may_differ and self.mesh_before != self.mesh:
            raise ValueError("expected operand and result on the same mesh")
        if len(self.before.dimensions) != len(self.after.dimensions):
            raise ValueError("expected shardings of operand and result with the same number of dimensions")

    def dimension_before(self, number: int) -> list[Span]:
        """Return the axes that shard a dimension of the operand."""
        return spans(self.before.dimensions[number].axes, self.mesh)

    def check_dimension(self, number: int, expected: list[Span]) -> None:
        """Check the axes that shard a dimension of the result; ValueError if they are others."""
        if spans(self.after.dimensions[number].axes, self.mesh) != expected:
            axes = ", ".join(text(part, self.mesh) for part in expected)
            raise ValueError(f"expected {{{axes}}} as the result's sharding of dimension {number}")

    def check_dimensions(self, axes: AxisLists, expected: Callable[[list[Span], list[Span], Mesh], list[Span]]) -> None:
        """Check the result's sharding given axes for each dimension and what they make of the operand's."""
        check_lists([axis_list.axes for axis_list in axes.lists], self.mesh)
        if len(axes.lists) != len(self.after.dimensions):
            raise ValueError(f"expected {len(self.after.dimensions)} lists of axes, got {len(axes.lists)}")
        for number, axis_list in enumerate(axes.lists):
            moved = spans(axis_list.axes, self.mesh)
            self.check_dimension(number, expected(self.dimension_before(number), moved, self.mesh))

    def check_unreduced(self, added: Iterable[AxisRef]) -> None:
        """Check that the result is unreduced along the operand's axes and some more; ValueError otherwise."""
        if self.after.reduction != "sum":
            raise ValueError("expected a result that is unreduced by sum")
        expected = merge(in_mesh_order(spans((*self.before.unreduced, *added), self.mesh), self.mesh))
        if spans(self.after.unreduced, self.mesh) != expected:
            axes = ", ".join(text(part, self.mesh) for part in expected)
            raise ValueError(f"expected {{{axes}}} as the unreduced axes of the result")

    def check_free(self, axes: Sequence[AxisRef], others: Iterable[AxisRef], what: str) -> None:
        """Check that axes overlap with none of others; ValueError otherwise."""
        taken = spans(others, self.mesh)
        for part in spans(axes, self.mesh):
            if any(overlap(part, other) for other in taken):
                raise ValueError(f"axis {text(part, self.mesh)} overlaps with {what}")

    def check_reduction(self, reduction: ReductionOp) -> None:
        """Check that no axes become unreduced, and that those that are reduced are so by their own operation."""
        before, after = set(self.before.unreduced), set(self.after.unreduced)
        parts = spans(before, self.mesh)
        for part in spans(after, self.mesh):
            if not any(overlap(part, other) for other in parts):
                raise ValueError(f"axis {text(part, self.mesh)} becomes unreduced")
        if before - after and self.before.reduction != reduction.value:
            raise ValueError(f"the operand is unreduced by {self.before.reduction}, not by {reduction.value}")


def check_lists(lists: Iterable[Sequence[AxisRef]], mesh: Mesh) -> None:
    """Check lists of axes, which share no axis; ValueError if one is invalid."""
    seen: set[AxisRef] = set()
    for axes in lists:
        check_axes(axes, mesh, seen)


def append(before: list[Span], moved: list[Span], mesh: Mesh) -> list[Span]:
    """Return the axes of a dimension that more axes shard; parts of one axis that are consecutive are one."""
    return [*before[:-1], *merge((before[-1], *moved))] if before and moved else before + moved


# --- ops ------------------------------------------------------------------------------------------------------------


class Collective(Op, dialect="sdy", computes_on_storage=True):
    """The base class: `out_sharding` is the sharding of the result."""

    tensor = In(any_tensor)
    out_sharding = Attr(ShardingValue)
    result = Out(any_tensor)

    subject = "out_sharding"  # what errors point at
    may_be_replicated = False  # whether an operand without sharding is one that all devices hold
    may_differ = False  # whether operand and result may be on different meshes

    infer = type_of("tensor")

    @classmethod
    def constraints(cls, C: Checker, site: Site, tensor: TensorType, result: TensorType) -> None:
        C(1, tensor == result)
        with rejecting(site.op, "", cls.subject):
            members = site.op.properties
            cls.check(Transition(site.op, members["out_sharding"], cls), members)

    @staticmethod
    def check(transition: Transition, members: Members) -> None:
        """Check that members lead from the sharding of the operand to that of the result; ValueError otherwise."""
        raise NotImplementedError

    plan = identity


class AllGather(Collective, op="all_gather"):
    """Gather a tensor along axes at the end of the sharding of each dimension, which then shard it no more."""

    gathering_axes = Attr(AxesPerDimension)

    syntax = "$gathering_axes operands out_sharding=$out_sharding attr-dict : same_type"

    @staticmethod
    def check(transition: Transition, members: Members) -> None:
        transition.check_dimensions(members["gathering_axes"], without_suffix)


class AllSlice(Collective, op="all_slice"):
    """Slice each dimension of a tensor along more axes."""

    slicing_axes = Attr(AxesPerDimension)

    syntax = "$slicing_axes operands out_sharding=$out_sharding attr-dict : same_type"
    may_be_replicated = True

    @staticmethod
    def check(transition: Transition, members: Members) -> None:
        transition.check_dimensions(members["slicing_axes"], append)


class AllToAll(Collective, op="all_to_all"):
    """Move axes from the sharding of one dimension to that of another."""

    params = Attr(ExchangesValue)

    syntax = "$params operands out_sharding=$out_sharding attr-dict : same_type"
    subject = "params"

    @staticmethod
    def check(transition: Transition, members: Members) -> None:
        exchanges: Sequence[Exchange] = members["params"].exchanges
        check_lists([exchange.axes for exchange in exchanges], transition.mesh)
        count = len(transition.after.dimensions)
        dimensions = [d for exchange in exchanges for d in (exchange.source, exchange.target)]
        sources = [exchange.source for exchange in exchanges]
        if not exchanges or not all(0 <= d < count for d in dimensions):
            raise ValueError(f"expected at least one pair of dimensions, from 0 to {count - 1}")
        if len(set(dimensions)) < len(dimensions) or sorted(sources) != sources:
            raise ValueError("expected dimensions that occur once, and sources in ascending order")
        expected = {number: transition.dimension_before(number) for number in range(count)}
        for exchange in exchanges:
            moved = spans(exchange.axes, transition.mesh)
            expected[exchange.source] = without_suffix(expected[exchange.source], moved, transition.mesh)
            expected[exchange.target] = append(expected[exchange.target], moved, transition.mesh)
        for number, axes in expected.items():
            transition.check_dimension(number, axes)


class CollectivePermute(Collective, op="collective_permute"):
    """Exchange shards between devices: each dimension has as many as before, along other axes."""

    syntax = "operands out_sharding=$out_sharding attr-dict : same_type"
    may_differ = True

    @staticmethod
    def check(transition: Transition, members: Members) -> None:
        before, after, mesh = transition.before, transition.after, transition.mesh
        if transition.mesh_before.axes != mesh.axes:
            raise ValueError("expected operand and result on meshes with the same axes")
        if before.mesh != after.mesh and transition.mesh_before == mesh:
            raise ValueError("expected one mesh, or two with different device_ids")
        for number, (x, y) in enumerate(zip(before.dimensions, after.dimensions)):
            if (expected := sharded_size(x, mesh)) != (found := sharded_size(y, mesh)):
                raise ValueError(f"expected {expected} shards of dimension {number}, got {found}")


class AllReduce(Collective, op="all_reduce"):
    """Reduce a tensor along axes that do not shard it."""

    reduction_axes = Attr(AxesValue)
    reduction_op = Attr(Reduction, default=ReductionOp.SUM)

    syntax = "($reduction_op)? $reduction_axes operands out_sharding=$out_sharding attr-dict : same_type"
    may_be_replicated = True

    @staticmethod
    def check(transition: Transition, members: Members) -> None:
        before, after, axes = transition.before, transition.after, members["reduction_axes"].axes
        for number in range(len(after.dimensions)):
            transition.check_dimension(number, transition.dimension_before(number))
        check_lists([axes], transition.mesh)
        check_sorted(axes, transition.mesh, "reduction")
        taken = (*before.sharding_axes, *before.replicated)
        transition.check_free(axes, taken, "the sharding of a dimension or the replicated axes of the operand")
        transition.check_free(axes, after.unreduced, "the unreduced axes of the result")
        transition.check_reduction(members.get("reduction_op", ReductionOp.SUM))


class ReduceScatter(Collective, op="reduce_scatter"):
    """Reduce a tensor along axes, and slice it along them."""

    reduce_scatter_axes = Attr(AxesPerDimension)
    reduction_op = Attr(Reduction, default=ReductionOp.SUM)

    syntax = "($reduction_op)? $reduce_scatter_axes operands out_sharding=$out_sharding attr-dict : same_type"
    may_be_replicated = True

    @staticmethod
    def check(transition: Transition, members: Members) -> None:
        transition.check_reduction(members.get("reduction_op", ReductionOp.SUM))
        transition.check_dimensions(members["reduce_scatter_axes"], append)


class ShardedToUnreduced(Collective, op="sharded_to_unreduced"):
    """Make axes that shard dimensions of the operand unreduced axes of the result."""

    axes = Attr(AxesPerDimension)

    syntax = "$axes operands out_sharding=$out_sharding attr-dict : same_type"

    @staticmethod
    def check(transition: Transition, members: Members) -> None:
        transition.check_dimensions(members["axes"], without_suffix)
        transition.check_unreduced(axis for axis_list in members["axes"].lists for axis in axis_list.axes)


class ReplicatedToUnreduced(Collective, op="replicated_to_unreduced"):
    """Make axes along which the operand is replicated unreduced axes of the result."""

    axes = Attr(AxesValue)

    syntax = "$axes operands out_sharding=$out_sharding attr-dict : same_type"

    @staticmethod
    def check(transition: Transition, members: Members) -> None:
        axes, before = members["axes"].axes, transition.before
        if not axes:
            raise ValueError("expected at least one axis")
        if before.dimensions != transition.after.dimensions:
            raise ValueError("expected the same sharding of dimensions of operand and result")
        check_lists([axes], transition.mesh)
        check_sorted(axes, transition.mesh, "replicated")
        taken = (*before.sharding_axes, *before.unreduced)
        transition.check_free(axes, taken, "the sharding of a dimension or the unreduced axes of the operand")
        transition.check_unreduced(axes)
