"""Collective ops that move tensors between the processes of a group.

A process waits at the op until all of its group have come. What they all get is computed once, and shared.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from stablehlo_ref.define import Attr, Group, In, Ins, Op, Out, Outs
from stablehlo_ref.diagnostics import EvaluationError, Location
from stablehlo_ref.ir.types import integer_type
from stablehlo_ref.kinds import Int, Matrix, Presence, per_tensor_quantized, tensor
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.ops.process_groups import (
    ProcessGroups,
    ReplicaGroups,
    exchange_strategy,
    group_size,
    id_groups,
    ids_in,
    reduction_strategy,
    without_padding,
)
from stablehlo_ref.ops.reduction import one_or_all
from stablehlo_ref.processes import Grid, Meeting, ProcessId, Receive, Rendezvous, Send
from stablehlo_ref.spec import (
    Size,
    Unknown,
    compatible,
    dim,
    element_type,
    in_range,
    is_quantized,
    is_unique,
    make_tensor_type,
    rank,
    shape,
    size,
    tensor_type,
    zero_points,
)

SI32 = integer_type(32)

Array = Any  # numpy arrays and scalars
Types = Sequence[Any]
Turns = Generator[Any, Any, Any]
Run = Callable[..., Turns]


class Collective(Op):
    """The base of ops at which processes meet."""

    effects = True
    communicates = True
    on_storage = True


class AllGather(Collective, op="all_gather"):
    """Concatenates the operands of the processes of each group along `all_gather_dim`."""

    operands = Ins(tensor | per_tensor_quantized)  # type: ignore[assignment]  # I1
    all_gather_dim = Attr(Int)  # I2
    replica_groups = Attr(ReplicaGroups)  # I3
    channel_id = Attr(Int, default=0)  # I4
    channel_type = Attr(Int, default=0)
    use_global_device_ids = Attr(Presence, default=False)  # I5
    results = Outs(tensor | per_tensor_quantized)

    channel_handle = Group("stablehlo.channel_handle", handle=channel_id, type=channel_type)

    @staticmethod
    def constraints(
        C: Any, operands: Types, all_gather_dim: int, replica_groups: Any, channel_id: int, use_global_device_ids: bool,
        results: Types, symbols: Any, location: Location,
    ) -> None:  # fmt: skip
        ids = ids_in(replica_groups, symbols, location)
        C(1, all(0 <= all_gather_dim < rank(operand) for operand in operands))
        C(2, is_unique(ids))
        C(4, in_range(ids, size(ids)))
        C(5, not use_global_device_ids or channel_id > 0)
        # By how much a dimension grows is left to the run, as MLIR leaves it.
        C(6, size(results) == size(operands)
          and all(is_multiple(dim(r, all_gather_dim), dim(o, all_gather_dim))
                  and compatible(r, resized(o, {all_gather_dim: dim(r, all_gather_dim)}))
                  for o, r in zip(operands, results)))  # fmt: skip

    @classmethod
    def plan(
        cls, operands: Types, all_gather_dim: int, replica_groups: Any, channel_id: int, use_global_device_ids: bool,
        results: Types, symbols: Any, location: Location,
    ) -> Run:  # fmt: skip
        strategy = reduction_strategy(channel_id, use_global_device_ids)
        ids = id_groups(replica_groups, symbols, location)
        groups = ProcessGroups(cls.name, location, strategy, ids, size_label=3, range_label=4)
        tag = (("channel_id", channel_id), ("all_gather_dim", all_gather_dim), ("operands", tuple(operands)))

        def gathered(meeting: Meeting) -> Any:
            variadic = zip(*meeting.brought.values())
            arrays = [together(operand, all_gather_dim) for operand in variadic]
            check_shapes(cls.name, 6, results, arrays)
            return one_or_all(arrays)

        def run(context: Any, operands: Sequence[Array]) -> Turns:
            meeting = yield Rendezvous(cls.name, tag, groups.around(context.process), operands, location)
            return meeting.once("results", lambda: gathered(meeting))

        return run


class AllToAll(Collective, op="all_to_all"):
    """Splits operands along `split_dimension` into one part for each process of the group; a process concatenates the
    parts that are for it along `concat_dimension`."""

    operands = Ins(tensor | per_tensor_quantized)  # type: ignore[assignment]  # I1
    split_dimension = Attr(Int)  # I2
    concat_dimension = Attr(Int)  # I3
    split_count = Attr(Int)  # I4
    replica_groups = Attr(ReplicaGroups)  # I5
    channel_id = Attr(Int, default=0)  # I6
    channel_type = Attr(Int, default=0)
    results = Outs(tensor | per_tensor_quantized)

    channel_handle = Group("stablehlo.channel_handle", handle=channel_id, type=channel_type)

    @staticmethod
    def infer(operands: Types, split_dimension: int, concat_dimension: int, split_count: int) -> Any:
        if split_dimension == concat_dimension:
            return tuple(operands)
        split = [resized(o, {split_dimension: dim(o, split_dimension) // split_count}) for o in operands]
        return tuple(times(part, {concat_dimension: split_count}) for part in split)

    @staticmethod
    def constraints(
        C: Any, operands: Types, split_dimension: int, concat_dimension: int, split_count: int, replica_groups: Any,
        results: Types, infer: Any, symbols: Any, location: Location,
    ) -> None:  # fmt: skip
        ids = ids_in(replica_groups, symbols, location)
        C(1, all(0 <= split_dimension < rank(operand) for operand in operands))
        C(4, 0 < split_count)
        C(2, all(is_multiple(dim(operand, split_dimension), split_count) for operand in operands))
        C(3, all(0 <= concat_dimension < rank(operand) for operand in operands))
        C(5, is_unique(ids))
        C(7, in_range(ids, size(ids)))
        C(8, group_size(replica_groups, symbols, location) == split_count)
        C(9, size(results) == size(operands) and all(map(compatible, results, infer())))

    @classmethod
    def plan(
        cls, operands: Types, split_dimension: int, concat_dimension: int, split_count: int, replica_groups: Any,
        channel_id: int, symbols: Any, location: Location,
    ) -> Run:  # fmt: skip
        ids = id_groups(replica_groups, symbols, location)
        groups = ProcessGroups(cls.name, location, exchange_strategy(channel_id), ids, size_label=6, range_label=7)
        dimensions = (split_dimension, concat_dimension)
        tag = (("channel_id", channel_id), ("dimensions", dimensions), ("operands", tuple(operands)))

        def run(context: Any, operands: Sequence[Array]) -> Turns:
            process = context.process
            meeting = yield Rendezvous(cls.name, tag, groups.around(process), operands, location)
            index = list(meeting.brought).index(process.id)
            variadic = zip(*meeting.brought.values())
            scattered = [[part(x, split_dimension, index, split_count) for x in xs] for xs in variadic]
            return one_or_all([together(parts, concat_dimension) for parts in scattered])

        return run


class CollectiveBroadcast(Collective, op="collective_broadcast"):
    """The operands of one process of each group, its first or the one that `operands[-1]` says; zeros in no group."""

    operands = Ins(tensor | per_tensor_quantized)  # type: ignore[assignment]  # I1
    replica_groups = Attr(ReplicaGroups)  # I2
    channel_id = Attr(Int, default=0)  # I3
    channel_type = Attr(Int, default=0)
    has_dynamic_root = Attr(Presence, default=False)  # I4
    results = Outs(tensor | per_tensor_quantized)

    channel_handle = Group("stablehlo.channel_handle", handle=channel_id, type=channel_type)

    @staticmethod
    def infer(operands: Types, has_dynamic_root: bool) -> Any:
        return tuple(operands[:-1] if has_dynamic_root else operands)

    @staticmethod
    def constraints(
        C: Any, operands: Types, replica_groups: Any, has_dynamic_root: bool, results: Types, infer: Any, symbols: Any,
        location: Location,
    ) -> None:  # fmt: skip
        ids = without_padding(ids_in(replica_groups, symbols, location))
        C(1, is_unique(ids))
        C(2, all(0 <= i for i in ids))
        C(5, size(results) == size(operands) - (1 if has_dynamic_root else 0))
        if has_dynamic_root:
            C(4, size(operands) >= 2 and is_root(operands) and all(map(compatible, results, infer())))
        else:
            C(3, size(operands) >= 1 and all(map(compatible, results, infer())))

    @classmethod
    def plan(
        cls, operands: Types, replica_groups: Any, channel_id: int, has_dynamic_root: bool, symbols: Any,
        location: Location,
    ) -> Run:  # fmt: skip
        ids = id_groups(replica_groups, symbols, location)
        groups = ProcessGroups(cls.name, location, exchange_strategy(channel_id), ids, range_label=2)
        tag = (("channel_id", channel_id), ("operands", tuple(operands)))
        count = len(operands) - has_dynamic_root
        elsewhere = [zeros(t) for t in operands[:count]]

        def run(context: Any, operands: Sequence[Array]) -> Turns:
            group = groups.of(context.process)
            if group is None:
                return one_or_all(elsewhere)
            sources = roots(cls.name, 6, operands, has_dynamic_root, len(group))
            meeting = yield Rendezvous(cls.name, tag, group, operands, location)
            return one_or_all([meeting.brought[group[source]][j] for j, source in enumerate(sources)])

        return run


class CollectivePermute(Collective, op="collective_permute"):
    """The operand of the process that `source_target_pairs` has this one for its target; zeros where there is none."""

    operand = In(tensor | per_tensor_quantized)  # I1
    source_target_pairs = Attr(Matrix)  # I2
    channel_id = Attr(Int, default=0)  # I3
    channel_type = Attr(Int, default=0)
    result = Out(tensor | per_tensor_quantized)

    channel_handle = Group("stablehlo.channel_handle", handle=channel_id, type=channel_type)

    @staticmethod
    def infer(operand: Any) -> Any:
        return operand

    @staticmethod
    def constraints(C: Any, operand: Any, source_target_pairs: Any, result: Any) -> None:
        C(1, all(size(pair) == 2 for pair in source_target_pairs))
        C(2, is_unique([source for source, _ in source_target_pairs]))
        C(3, is_unique([target for _, target in source_target_pairs]))
        C(4, all(0 <= i for pair in source_target_pairs for i in pair))
        C(5, compatible(result, operand))

    @classmethod
    def plan(cls, operand: Any, source_target_pairs: Any, channel_id: int, location: Location) -> Run:
        strategy = exchange_strategy(channel_id)
        ends = Ends(ProcessGroups(cls.name, location, strategy, source_target_pairs, range_label=4))
        nothing = zeros(operand)

        def run(context: Any, value: Array) -> Turns:
            here, grid = context.process.id, context.process.grid
            target, source = ends.targets(grid).get(here), ends.sources(grid).get(here)
            if target is not None:
                yield Send((cls.name, channel_id, here, target), (operand, value))
            if source is None:
                return nothing
            sent, value = yield Receive(cls.name, (cls.name, channel_id, source, here), source, location)
            if sent != operand:
                raise EvaluationError(f"'{cls.name}' op: process {source} sent {sent}, not {operand}", location)
            return value

        return run


# --- parts ----------------------------------------------------------------------------------------------------------


class Ends:
    """Who sends to whom, by `source_target_pairs`, in each grid."""

    def __init__(self, groups: ProcessGroups) -> None:
        self.groups = groups
        self.targets = cache(self._targets)
        self.sources = cache(self._sources)

    def _targets(self, grid: Grid) -> Mapping[ProcessId, ProcessId]:
        return dict(self.groups.all(grid))  # type: ignore[arg-type]

    def _sources(self, grid: Grid) -> Mapping[ProcessId, ProcessId]:
        return {target: source for source, target in self.groups.all(grid)}


def together(parts: Sequence[Array], axis: int) -> Array:
    """The concatenation of arrays along an axis; of one array, itself."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis)


def part(x: Array, axis: int, index: int, count: int) -> Array:
    """Part number `index` of an array that is split into `count` along an axis."""
    length = x.shape[axis] // count
    return x[(slice(None),) * axis + (slice(index * length, (index + 1) * length),)]


def zeros(type: Any) -> Array:
    """A tensor of zeros, as it is stored; of f8E8M0FNU, which has none, of its least value."""
    zero = np.zeros((), numpy_dtype(element_type(type)))
    if is_quantized(type):
        zero[()] = zero_points(type)[0]
    return np.broadcast_to(zero, type.shape)


def is_root(operands: Types) -> bool:
    """Whether the last operand gives one root, an `si32`, for each of the others."""
    return compatible(operands[-1], tensor_type((size(operands) - 1,), SI32))


def roots(op: str, label: int, operands: Sequence[Array], has_dynamic_root: bool, count: int) -> list[int]:
    """For each operand but the root, the place of its root in a group of `count` processes."""
    if not has_dynamic_root:
        return [0] * len(operands)
    found: list[int] = operands[-1].tolist()
    if not in_range(found, count):
        raise EvaluationError(f"'{op}' op (C{label}): 0 <= root < {count}", notes=[f"root = {found}"])
    return found


def resized(type: Any, sizes: Mapping[int, Size]) -> Any:
    """The type with other sizes of some dimensions."""
    return make_tensor_type([sizes.get(d, n) for d, n in enumerate(shape(type))], element_type(type))


def times(type: Any, factors: Mapping[int, Size]) -> Any:
    """The type with some dimensions so many times as large."""
    return resized(type, {d: dim(type, d) * factor for d, factor in factors.items()})


def is_multiple(n: Size, of: Size) -> bool:
    """Whether `n` is a multiple of `of`, or may be."""
    if isinstance(n, Unknown) or isinstance(of, Unknown):
        return True
    return n % of == 0 if of else n == 0


def check_shapes(op: str, label: int, types: Types, arrays: Sequence[Array]) -> None:
    """EvaluationError where results have other shapes than is declared, for the grid has more or fewer processes."""
    for type, array in zip(types, arrays):
        if shape(type) != array.shape:
            raise EvaluationError(f"'{op}' op (C{label}): gives shape {array.shape}, where {type} is declared")
