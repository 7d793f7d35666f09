"""Emit what changes how a tensor is sharded: the collectives of StableHLO, on the shards that devices hold.

A dimension of size n in c parts has shards of ceil(n / c) elements; what the last shards have in excess is undefined.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from math import prod

import numpy as np

from stablehlo_ref.define.spec import make_tensor_type
from stablehlo_ref.diagnostics import EvaluationError, UnsupportedError
from stablehlo_ref.dialects.sdy_shardings import mesh_of, parameter_sharding
from stablehlo_ref.distribution.layouts import DeviceMesh, Layout, Parts, layout_of
from stablehlo_ref.distribution.meshes import Span, merge, overlap
from stablehlo_ref.distribution.sdy_attributes import Mesh, Sharding
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Region, Value
from stablehlo_ref.ir.types import BOOLEAN, FunctionType, TensorType, Type, integer_type, tensor_type
from stablehlo_ref.passes.emit import Emitter
from stablehlo_ref.passes.sdy.sharding_rules import REDUCERS

I64, UI32 = integer_type(64), integer_type(32, "u")
SHARDING = "sdy.sharding"


class Signature:
    """The layouts of a function's arguments and results, and their types before and after."""

    def __init__(self, function: Operation, whole: Collection[int] = ()) -> None:
        type = function.properties["function_type"]
        assert isinstance(type, FunctionType)
        self.types = tuple(type.inputs), tuple(type.outputs)
        self.layouts = tuple(
            [layout_at(parameter_sharding(function, name, i), function, t) for i, t in enumerate(types)]
            for name, types in zip(("arg_attrs", "res_attrs"), self.types)
        )
        self.arguments = list(self.layouts[0])  # as the body has them
        for i in whole:
            self.layouts[0][i] = layout_of(None, Mesh(()), self.types[0][i])

    @property
    def shard_types(self) -> tuple[list[Type], list[Type]]:
        """The types of arguments and results in a process."""
        inputs, outputs = ([x.shard_type(t) for x, t in zip(*pair)] for pair in zip(self.layouts, self.types))
        return inputs, outputs

    def apply(self, function: Operation) -> None:
        """Give a function the types of shards, and no shardings."""
        function.properties["function_type"] = FunctionType(*map(tuple, self.shard_types))
        for name in ("arg_attrs", "res_attrs"):
            if attributes := function.properties.get(name):
                function.properties[name] = tuple(
                    {key: value for key, value in each.items() if key != SHARDING} for each in attributes
                )


def layout_at(sharding: Sharding | None, op: Operation, type: Type) -> Layout:
    """Return the layout that a sharding says at an op, whose symbols it may name."""
    return layout_of(sharding, Mesh(()) if sharding is None else mesh_of(sharding, op), type)


@dataclass(frozen=True)
class Shard:
    """What each device holds of a tensor of type `whole`.

    Along the parts in `summed` it is the sum of terms that the program adds by a collective op of its own later.
    """

    value: Value
    whole: Type
    layout: Layout
    summed: frozenset[Span] = field(default_factory=frozenset)


class Shards:
    """Emits collectives for the devices of a grid of processes."""

    def __init__(self, emit: Emitter, num_replicas: int, num_partitions: int, channels: Iterator[int]) -> None:
        self.emit = emit
        self.grid = num_replicas, num_partitions
        self.channels = channels

    def at(self, emit: Emitter) -> Shards:
        """Return what emits the same elsewhere."""
        return Shards(emit, *self.grid, self.channels)

    # --- from one layout to another -----------------------------------------------------------------------------

    def reshard(self, shard: Shard, layout: Layout) -> Shard:
        """Return a tensor in another layout: reduce, exchange, gather, slice, in this order."""
        if not isinstance(shard.whole, TensorType) or layout == shard.layout:
            return shard
        layout = replace(layout, mesh=layout.mesh if layout.mesh.axes else shard.layout.mesh)
        if shard.layout.mesh.axes and shard.layout.mesh != layout.mesh:
            shard = self.reshard(shard, layout_of(None, shard.layout.mesh, shard.whole))
        shard = replace(shard, layout=replace(shard.layout, mesh=layout.mesh))
        if rest := [part for part in shard.layout.unreduced if part not in layout.unreduced]:
            shard = self._combine(shard, rest, layout)
        if self._can_exchange(shard, layout) and shard.layout.counts == layout.counts:
            shard = self.permute(shard, replace(shard.layout, dimensions=layout.dimensions))
        for number, parts in enumerate(layout.dimensions):
            shard = self._gather_for(self._exchange_for(shard, number, layout), number, parts)
        more = [_without_prefix(x, y) for x, y in zip(layout.dimensions, shard.layout.dimensions)]
        shard = self.all_slice(shard, more)
        added = [part for part in layout.unreduced if part not in shard.layout.unreduced]
        if added and layout.reduction == "sum":  # the maximum of equal terms is each of them
            shard = self.to_unreduced(shard, added)
        return replace(shard, layout=layout)

    def _combine(self, shard: Shard, parts: Sequence[Span], target: Layout) -> Shard:
        """Combine terms along parts of axes; if these are to split a dimension, each device takes its own part."""
        for number, (have, want) in enumerate(zip(shard.layout.dimensions, target.dimensions)):
            if tuple(merge((*have, *parts))) == want:
                return self.reduce_scatter(shard, number, parts, shard.layout.reduction)
        return self.all_reduce(shard, parts, shard.layout.reduction)

    def _can_exchange(self, shard: Shard, target: Layout) -> bool:
        """Return whether devices have to exchange shards, and these are all of one size."""
        pairs = zip(_shape_of(shard.whole), shard.layout.counts, target.counts)
        are_equal = all(n % x == 0 and n % y == 0 for n, x, y in pairs)
        return are_equal and 1 in self.grid and shard.layout.dimensions != target.dimensions

    def _exchange_for(self, shard: Shard, number: int, target: Layout) -> Shard:
        """Move the last parts of a dimension to others that are to be split by them."""
        while self._can_exchange(shard, target) and (parts := shard.layout.dimensions[number]):
            pairs = enumerate(zip(shard.layout.dimensions, target.dimensions))
            goals = [d for d, (have, want) in pairs if d != number and want[: len(have) + 1] == (*have, parts[-1])]
            if not goals or parts == target.dimensions[number][: len(parts)]:
                break
            shard = self.all_to_all(shard, number, goals[0], parts[-1:])
        return shard

    def _gather_for(self, shard: Shard, number: int, target: Parts) -> Shard:
        """Gather a dimension until the parts that split it are the first ones of a target."""
        before, goal = refined(shard.layout.dimensions[number], target)
        kept = next((i for i, (x, y) in enumerate(zip(before, goal)) if x != y), min(len(before), len(goal)))
        assert isinstance(shard.whole, TensorType)
        size = shard.whole.shape[number] or 0
        if any(size % prod(part.size for part in parts) for parts in (before, goal)) and before != goal:
            kept = 0  # shards of different numbers of elements do not start at the same ones
        return self.all_gather(shard, number, before[:kept], before[kept:]) if len(before) > kept else shard

    def all_gather(self, shard: Shard, number: int, kept: Parts, parts: Parts) -> Shard:
        """Gather one dimension along parts of axes; those in `kept`, which come first, split it then."""
        result = _in(shard, [kept if d == number else of for d, of in enumerate(shard.layout.dimensions)])
        gathered = self._collective(
            "all_gather", shard.value, _times(shard.value.type, number, _size(parts)), all_gather_dim=number,
            replica_groups=self._devices(shard).groups(parts), use_global_device_ids=True,
        )  # fmt: skip
        return replace(result, value=self._trimmed(gathered, result))

    def _trimmed(self, value: Value, shard: Shard) -> Value:
        """Return a value without the elements that shards have in excess."""
        type, found = shard.layout.shard_type(shard.whole), _shape(value)
        if value.type == type:
            return value
        limits = _shape_of(type)
        ones, zeros = (1,) * len(found), (0,) * len(found)
        return self.emit.value(
            "stablehlo.slice", value, type=type, start_indices=zeros, limit_indices=limits, strides=ones
        )

    def all_slice(self, shard: Shard, parts: Sequence[Sequence[Span]]) -> Shard:
        """Slice each dimension along more parts of axes."""
        if not any(parts):
            return shard
        result = _in(shard, [[*of, *more] for of, more in zip(shard.layout.dimensions, parts)])
        type = result.layout.shard_type(shard.whole)
        sizes, devices = _shape_of(type), self._devices(shard)
        value = self._padded(shard.value, [n * _size(more) for n, more in zip(sizes, parts)])
        starts = [self.per_device(devices.numbers(more) * n) for n, more in zip(sizes, parts)]
        return replace(
            result, value=self.emit.value("stablehlo.dynamic_slice", value, *starts, type=type, slice_sizes=sizes)
        )

    def _padded(self, value: Value, sizes: Sequence[int]) -> Value:
        """Return a value with zeros at the end of each dimension, up to some sizes."""
        found = _shape(value)
        if tuple(sizes) == found:
            return value
        zero, zeros = self.emit.constant(tensor_type((), _element(value)), 0), (0,) * len(found)
        return self.emit.value(
            "stablehlo.pad", value, zero, type=make_tensor_type(sizes, _element(value)), edge_padding_low=zeros,
            edge_padding_high=tuple(x - y for x, y in zip(sizes, found)), interior_padding=zeros,
        )  # fmt: skip

    def all_to_all(self, shard: Shard, source: int, target: int, parts: Sequence[Span]) -> Shard:
        """Move the last parts that split one dimension to the end of those that split another."""
        before, moved = refined(shard.layout.dimensions[source], parts)
        moves = {source: before[: len(before) - len(moved)], target: (*shard.layout.dimensions[target], *parts)}
        result = _in(shard, [moves.get(d, of) for d, of in enumerate(shard.layout.dimensions)])
        type, count = result.layout.shard_type(shard.whole), _size(parts)
        scaled = _times(shard.value.type, source, count)
        if _shape_of(type) != tuple(n // count if d == target else n for d, n in enumerate(_shape_of(scaled))):
            return self.reshard(shard, result.layout)  # shards have elements in excess
        value = self._collective_in_line(
            "all_to_all", shard.value, type, split_dimension=target, concat_dimension=source, split_count=count,
            replica_groups=self._devices(shard).groups(parts),
        )  # fmt: skip
        return replace(result, value=value)

    def permute(self, shard: Shard, layout: Layout) -> Shard:
        """Send each shard to the devices that hold it in another layout with as many shards of each dimension."""
        holders, takers = (_by_shard(x) for x in (shard.layout, layout))
        pairs = sorted((s, t) for number in holders for s, t in zip(holders[number], takers[number]))
        type = shard.value.type
        value = self._collective_in_line("collective_permute", shard.value, type, source_target_pairs=tuple(pairs))
        return replace(shard, value=value, layout=layout)

    def broadcast(self, shard: Shard, source: int) -> Shard:
        """Send what one device holds to all."""
        group = (source, *(device for device in range(prod(self.grid)) if device != source))
        type = shard.value.type
        value = self._collective_in_line("collective_broadcast", shard.value, type, replica_groups=(group,))
        return replace(shard, value=value)

    # --- reductions ---------------------------------------------------------------------------------------------

    def all_reduce(self, shard: Shard, parts: Sequence[Span], reduction: str) -> Shard:
        """Combine the terms that devices along parts of axes hold."""
        value = self._reducing("all_reduce", shard, shard.value.type, parts, reduction)
        return _reduced(replace(shard, value=value), parts)

    def reduce_scatter(self, shard: Shard, number: int, parts: Sequence[Span], reduction: str) -> Shard:
        """Combine terms along parts of axes, which then split a dimension."""
        result = _in(shard, [[*of, *(parts if d == number else ())] for d, of in enumerate(shard.layout.dimensions)])
        type = result.layout.shard_type(shard.whole)
        if _times(type, number, _size(parts)) != shard.value.type:
            reduced = self.all_reduce(shard, parts, reduction)
            return self.reshard(reduced, replace(result.layout, unreduced=reduced.layout.unreduced))
        value = self._reducing("reduce_scatter", shard, type, parts, reduction, scatter_dimension=number)
        return _reduced(replace(result, value=value), parts)

    def to_unreduced(self, shard: Shard, parts: Sequence[Span]) -> Shard:
        """Make a tensor that all hold one of terms along parts of axes: zeros, except in the first device."""
        is_first = self.per_device(self._devices(shard).numbers(parts) == 0)
        assert isinstance(shard.value.type, TensorType)
        zero = self.emit.constant(shard.value.type, 0)
        value = self.emit.value("stablehlo.select", is_first, shard.value, zero, type=shard.value.type)
        return replace(shard, value=value, layout=replace(shard.layout, unreduced=(*shard.layout.unreduced, *parts)))

    def _reducing(
        self, name: str, shard: Shard, type: Type, parts: Sequence[Span], reduction: str, **members: object
    ) -> Value:
        scalar = tensor_type((), _element(shard.value))
        region = self.emit.region(
            [scalar, scalar], lambda e, x: [e.value(REDUCERS[reduction].definition.name, *x, type=scalar)]
        )
        groups = self._devices(shard).groups(parts)
        return self._collective(
            name, shard.value, type, [region], replica_groups=groups, use_global_device_ids=True, **members
        )

    def _collective(
        self, name: str, value: Value, type: Type, regions: Sequence[Region] = (), channel: int | None = None, /,
        **members: object,
    ) -> Value:  # fmt: skip
        channel = next(self.channels) if channel is None else channel
        members |= {"channel_id": channel, "channel_type": 1}
        return self.emit.operation(f"stablehlo.{name}", [value], [type], regions, **members).results[0]

    def _collective_in_line(self, name: str, value: Value, type: Type, **members: object) -> Value:
        """Emit a collective op that has no flag for ids of devices: the grid has replicas or partitions, not both."""
        if min(self.grid) > 1:
            what = "a tensor on a single device" if name == "collective_broadcast" else name
            reason = "is supported in a grid of replicas or of partitions, not of both"
            raise UnsupportedError(f"{what} {reason}", self.emit.anchor.location)
        return self._collective(name, value, type, (), None if self.grid[1] > 1 else 0, **members)

    # --- devices ------------------------------------------------------------------------------------------------

    def per_device(self, table: Array) -> Value:
        """Return the element of a table, a scalar, at the number of the device."""
        element = I64 if table.dtype != np.bool_ else BOOLEAN
        if (table == table[0]).all():
            return self.emit.constant(tensor_type((), element), table[0])
        constant = self.emit.constant(tensor_type(table.shape, element), table)
        found = self.emit.value(
            "stablehlo.dynamic_slice", constant, self._device(), type=tensor_type((1,), element), slice_sizes=(1,)
        )
        return self.emit.value("stablehlo.reshape", found, type=tensor_type((), element))

    def _device(self) -> Value:
        """Return the number of the device in the grid."""
        scalar, (replicas, partitions) = tensor_type((), UI32), self.grid
        if partitions == 1:
            return self.emit.value("stablehlo.replica_id", type=scalar)
        partition = self.emit.value("stablehlo.partition_id", type=scalar)
        if replicas == 1:
            return partition
        replica = self.emit.value("stablehlo.replica_id", type=scalar)
        first = self.emit.value("stablehlo.multiply", replica, self.emit.constant(scalar, partitions), type=scalar)
        return self.emit.value("stablehlo.add", first, partition, type=scalar)

    def _devices(self, shard: Shard) -> DeviceMesh:
        self.check(shard.layout)
        return _devices_of(shard.layout.mesh)

    def check(self, layout: Layout) -> None:
        """Check that the grid has as many processes as the mesh of a layout has devices; EvaluationError otherwise."""
        count, expected = prod(self.grid), layout.mesh.count
        if layout.mesh.axes and count != expected:
            message = f"expected a grid of {expected} processes, one for each device of {layout.mesh}, got {count}"
            raise EvaluationError(message, self.emit.anchor.location)


_devices_of = lru_cache(maxsize=64)(DeviceMesh)


def refined(x: Sequence[Span], y: Sequence[Span]) -> tuple[Parts, Parts]:
    """Return two lists of parts, each cut where parts of the other one start and end."""
    return _cut(x, y), _cut(y, x)


def _cut(parts: Sequence[Span], others: Sequence[Span]) -> Parts:
    found: list[Span] = []
    for name, low, high in parts:
        ends = {end for other in others if other.name == name for end in other[1:] if low < end < high}
        cuts = sorted({low, high, *(end for end in ends if end % low == 0 and high % end == 0)})
        found += (Span(name, start, end) for start, end in pairwise(cuts))
    return tuple(found)


def _without_prefix(parts: Parts, prefix: Parts) -> Parts:
    """Return the parts that follow those of a prefix."""
    refined_parts, refined_prefix = refined(parts, prefix)
    return tuple(merge(refined_parts[len(refined_prefix) :]))


def _by_shard(layout: Layout) -> dict[int, list[int]]:
    """Return the devices that hold each shard."""
    numbers = _devices_of(layout.mesh).numbers(layout.parts)
    found: dict[int, list[int]] = defaultdict(list)
    for device, number in enumerate(numbers.tolist()):
        found[number].append(device)
    return found


def _in(shard: Shard, dimensions: Sequence[Sequence[Span]]) -> Shard:
    return replace(shard, layout=replace(shard.layout, dimensions=tuple(tuple(merge(parts)) for parts in dimensions)))


def _reduced(shard: Shard, parts: Sequence[Span]) -> Shard:
    """Return a tensor whose terms along parts of axes are combined."""
    rest = tuple(part for part in shard.layout.unreduced if not any(overlap(part, other) for other in parts))
    return replace(shard, layout=replace(shard.layout, unreduced=rest))


def _size(parts: Sequence[Span]) -> int:
    return prod(part.size for part in parts)


def _element(value: Value) -> Type:
    assert isinstance(value.type, TensorType)
    return value.type.element_type


def _shape_of(type: Type) -> tuple[int, ...]:
    return tuple(n or 0 for n in type.shape) if isinstance(type, TensorType) else ()


def _shape(value: Value) -> tuple[int, ...]:
    return _shape_of(value.type)


def _times(type: Type, number: int, factor: int) -> Type:
    assert isinstance(type, TensorType)
    sizes = [n * factor if d == number else n for d, n in enumerate(_shape_of(type))]
    made: Type = make_tensor_type(sizes, type.element_type)
    return made
