"""Collective ops that move tensors between the processes of a group (spec, "Collective ops").

A process waits at the op until all processes of its group have reached it. A result that they have in common is
computed once and shared. `semantics.distribution` has the formulas of these ops: `x@process` is the value of `x` in a
process and `process_group` the group that the process belongs to.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from stablehlo_ref.define.attribute_codecs import Int, Matrix, Presence
from stablehlo_ref.define.bound import PlanSite, Site
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.context import Context
from stablehlo_ref.define.facts import MOVES
from stablehlo_ref.define.op import Attr, Group, In, Ins, Op, Out, Outs, type_of
from stablehlo_ref.define.processes import Contributions, Receive, Rendezvous, Send
from stablehlo_ref.define.processes import Group as ProcessGroup
from stablehlo_ref.define.spec import (
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
    zero_points,
)
from stablehlo_ref.define.type_constraints import per_tensor_quantized, tensor
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.distribution.process_groups import (
    FLATTENED_IDS,
    MeshAxes,
    ProcessGroups,
    ReplicaGroups,
    Strategy,
    exchange_strategy,
    group_size,
    ids_in,
    reduction_strategy,
)
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import TensorType, integer_type, tensor_type
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.ops.reduction import Results, Types, one_or_all

SI32 = integer_type(32)

Exchange: TypeAlias = Generator[Rendezvous | Send | Receive, Any, Results]  # communicates, then returns the results


class Collective(Op, effects=True, communicates=True, computes_on_storage=True):
    """Base of the collective ops, which have a channel: an id, and a type that means nothing here.

    In the spec, it follows the other attributes.
    """

    channel_id = Attr(Int, default=0)
    channel_type = Attr(Int, default=0)

    channel_handle = Group("stablehlo.channel_handle", handle=channel_id, type=channel_type)


def meeting(site: PlanSite, **tag: Hashable) -> Callable[[ProcessGroup, object], Rendezvous]:
    """Return a function from the group of a process and what it contributes to its rendezvous at an op.

    `tag` is what the op must have in common in all processes.
    """
    return lambda group, contribution: Rendezvous(site.name, tuple(tag.items()), group, contribution, site.location)


class AllGather(Collective, op="all_gather", facts=MOVES):
    """Concatenate the `operands` of the processes of each group along `all_gather_dim`."""

    operands = Ins(tensor | per_tensor_quantized)  # I1
    all_gather_dim = Attr(Int)  # I2
    replica_groups = Attr(ReplicaGroups)  # I3
    use_global_device_ids = Attr(Presence, default=False)  # I5
    results = Outs(tensor | per_tensor_quantized)

    @staticmethod
    def constraints(
        C: Checker,
        site: Site,
        operands: Types,
        all_gather_dim: Int,
        replica_groups: ReplicaGroups,
        channel_id: Int,
        use_global_device_ids: Presence,
        results: Types,
    ) -> None:
        ids = ids_in(replica_groups, site.op)
        C(1, all(0 <= all_gather_dim < rank(operand) for operand in operands))
        C(2, is_unique(ids))
        C(4, in_range(ids, size(ids)))
        C(5, not use_global_device_ids or channel_id > 0)
        # Like MLIR, check only at run time by how much the dimension grows.
        C(6, size(results) == size(operands)
          and all(is_multiple(dim(r, all_gather_dim), dim(o, all_gather_dim))
                  and compatible(r, resized(o, {all_gather_dim: dim(r, all_gather_dim)}))
                  for o, r in zip(operands, results)))  # fmt: skip

    @staticmethod
    def plan(
        site: PlanSite,
        operands: Types,
        all_gather_dim: Int,
        replica_groups: ReplicaGroups,
        channel_id: Int,
        use_global_device_ids: Presence,
        results: Types,
    ) -> Run:
        """Plan `results[j]@process = concatenate([operands[j]@sender for sender in process_group], all_gather_dim)`.

        The processes of a group share one concatenation.
        """
        strategy = reduction_strategy(channel_id, use_global_device_ids)
        groups = ProcessGroups(site.op, strategy, replica_groups, size_label=3, range_label=4)
        meet = meeting(site, channel_id=channel_id, all_gather_dim=all_gather_dim, operands=tuple(operands))

        def gathered(contributions: Contributions) -> Results:
            variadic = zip(*contributions.by_process.values())
            arrays = [xs[0] if len(xs) == 1 else np.concatenate(xs, all_gather_dim) for xs in variadic]
            check_shapes(site.name, 6, results, arrays)
            return one_or_all(arrays)

        def run(context: Context, operands: Sequence[Array]) -> Exchange:
            contributions: Contributions = yield meet(groups.around(context.process), operands)
            return contributions.once("results", lambda: gathered(contributions))

        return run


class AllToAll(Collective, op="all_to_all", facts=MOVES):
    """Split the `operands` into one part per process of the group and exchange the parts.

    If groups come from the axes of a mesh of all processes, their ids are the ids of the mesh's devices.

    Operands are split along `split_dimension`; a process concatenates the parts that it receives along
    `concat_dimension`.
    """

    operands = Ins(tensor | per_tensor_quantized)  # I1
    split_dimension = Attr(Int)  # I2
    concat_dimension = Attr(Int)  # I3
    split_count = Attr(Int)  # I4
    replica_groups = Attr(ReplicaGroups)  # I5
    results = Outs(tensor | per_tensor_quantized)

    @staticmethod
    def infer(operands: Types, split_dimension: Int, concat_dimension: Int, split_count: Int) -> Types:
        if split_dimension == concat_dimension:
            return tuple(operands)
        split = [resized(o, {split_dimension: dim(o, split_dimension) // split_count}) for o in operands]
        return tuple(times(part, {concat_dimension: split_count}) for part in split)

    @staticmethod
    def constraints(
        C: Checker,
        site: Site,
        operands: Types,
        split_dimension: Int,
        concat_dimension: Int,
        split_count: Int,
        replica_groups: ReplicaGroups,
        results: Types,
        infer: Callable[[], Types],
    ) -> None:
        ids = ids_in(replica_groups, site.op)
        C(1, all(0 <= split_dimension < rank(operand) for operand in operands))
        C(4, 0 < split_count)
        C(2, all(is_multiple(dim(operand, split_dimension), split_count) for operand in operands))
        C(3, all(0 <= concat_dimension < rank(operand) for operand in operands))
        C(5, is_unique(ids))
        C(7, in_range(ids, size(ids)))
        C(8, group_size(replica_groups, site.op) == split_count)
        C(9, size(results) == size(operands) and all(map(compatible, results, infer())))

    @staticmethod
    def plan(
        site: PlanSite,
        operands: Types,
        split_dimension: Int,
        concat_dimension: Int,
        split_count: Int,
        replica_groups: ReplicaGroups,
        channel_id: Int,
    ) -> Run:
        """Plan the exchange of parts: see `semantics.distribution.all_to_all`.

        The operands of a group are stacked once, so that a receiver takes its parts of all of them as one view.
        """
        groups, of_devices = (
            ProcessGroups(site.op, strategy, replica_groups, size_label=6, range_label=7)
            for strategy in (exchange_strategy(channel_id), FLATTENED_IDS)
        )
        devices = len(ids_in(replica_groups, site.op)) if isinstance(replica_groups, MeshAxes) else 0
        dimensions = (split_dimension, concat_dimension)
        meet = meeting(site, channel_id=channel_id, dimensions=dimensions, operands=tuple(operands))

        def run(context: Context, operands: Sequence[Array]) -> Exchange:
            process = context.process
            group = (of_devices if devices == process.grid.count else groups).around(process)
            contributions: Contributions = yield meet(group, operands)
            receiver_index = group.index(process.id)
            stacked = contributions.once(
                "stacked", lambda: list(map(np.stack, zip(*contributions.by_process.values())))
            )
            scattered_parts = [part(xs, split_dimension + 1, receiver_index, split_count) for xs in stacked]
            return one_or_all([joined(parts, concat_dimension) for parts in scattered_parts])

        return run


class CollectiveBroadcast(Collective, op="collective_broadcast", facts=MOVES):
    """Send the `operands` of one process of each group to all processes of the group.

    The source is the first process of the group, or with `has_dynamic_root` the one whose index in the group is in
    `operands[-1]`. Processes that are in no group get zeros.
    """

    operands = Ins(tensor | per_tensor_quantized)  # I1
    replica_groups = Attr(ReplicaGroups)  # I2
    has_dynamic_root = Attr(Presence, default=False)  # I4
    results = Outs(tensor | per_tensor_quantized)

    @staticmethod
    def infer(operands: Types, has_dynamic_root: Presence) -> Types:
        return tuple(operands[:-1] if has_dynamic_root else operands)

    @staticmethod
    def constraints(
        C: Checker,
        site: Site,
        operands: Types,
        replica_groups: ReplicaGroups,
        has_dynamic_root: Presence,
        results: Types,
        infer: Callable[[], Types],
    ) -> None:
        ids = ids_in(replica_groups, site.op)
        C(1, is_unique(ids))
        C(2, all(0 <= i for i in ids))
        C(5, size(results) == size(operands) - (1 if has_dynamic_root else 0))
        if has_dynamic_root:
            C(4, size(operands) >= 2 and is_root(operands) and all(map(compatible, results, infer())))
        else:
            C(3, size(operands) >= 1 and all(map(compatible, results, infer())))

    @staticmethod
    def plan(
        site: PlanSite, operands: Types, replica_groups: ReplicaGroups, channel_id: Int, has_dynamic_root: Presence
    ) -> Run:
        """Plan `results[j]@process = operands[j]@process_group[root[j]]`, zeros in processes without a group.

        With `N = size(results)`, `root[j]` is `operands[N][j]` with a dynamic root and 0 without.
        """
        groups = ProcessGroups(site.op, exchange_strategy(channel_id), replica_groups, range_label=2)
        meet = meeting(site, channel_id=channel_id, operands=tuple(operands))
        N = len(operands) - has_dynamic_root
        without_group = [zeros(t) for t in operands[:N]]

        def run(context: Context, operands: Sequence[Array]) -> Exchange:
            process_group = groups.of(context.process)
            if process_group is None:
                return one_or_all(without_group)
            root = roots(site.name, 6, operands, has_dynamic_root, len(process_group))
            contributions: Contributions = yield meet(process_group, operands)
            return one_or_all([contributions.by_process[process_group[i]][j] for j, i in enumerate(root)])

        return run


class CollectivePermute(Collective, op="collective_permute", facts=MOVES):
    """Send `operand` from the source to the target of each pair; all other processes get zeros."""

    operand = In(tensor | per_tensor_quantized)  # I1
    source_target_pairs = Attr(Matrix)  # I2
    result = Out(tensor | per_tensor_quantized)

    infer = type_of("operand")

    @staticmethod
    def constraints(C: Checker, operand: TensorType, source_target_pairs: Matrix, result: TensorType) -> None:
        check_pairs(C, source_target_pairs)
        C(5, compatible(result, operand))

    @staticmethod
    def plan(site: PlanSite, operand: TensorType, source_target_pairs: Matrix, channel_id: Int) -> Run:
        """Plan `result@target = operand@source` for each pair (source, target), zeros in all other processes.

        A process needs no rendezvous with its whole group: it sends to its target and waits for its source only.
        """
        pairs = Pairs(site.op, exchange_strategy(channel_id), source_target_pairs)
        without_source = zeros(operand)

        def run(context: Context, value: Array) -> Exchange:
            here, grid = context.process.id, context.process.grid
            target, source = pairs.targets(grid).get(here), pairs.sources(grid).get(here)
            if target is not None:
                yield Send((site.name, channel_id, here, target), (operand, value))
            if source is None:
                return without_source
            received: tuple[TensorType, Array] = yield Receive(
                site.name, (site.name, channel_id, source, here), source, site.location
            )
            sent, value = received
            if sent != operand:
                raise EvaluationError(f"'{site.name}' op: process {source} sent {sent}, not {operand}", site.location)
            return value

        return run


# --- parts ----------------------------------------------------------------------------------------------------------


def check_pairs(C: Checker, source_target_pairs: Matrix) -> None:
    """Check that no process is the source, or the target, of two pairs."""
    C(1, all(size(pair) == 2 for pair in source_target_pairs))
    C(2, is_unique([source for source, _ in source_target_pairs]))
    C(3, is_unique([target for _, target in source_target_pairs]))
    C(4, all(0 <= i for pair in source_target_pairs for i in pair))


class Pairs:
    """Sources and targets of `source_target_pairs`, as processes of each grid."""

    def __init__(self, op: Operation, strategy: Strategy, source_target_pairs: Matrix) -> None:
        groups = ProcessGroups(op, strategy, source_target_pairs, range_label=4)
        self.targets = cache(lambda grid: {pair[0]: pair[1] for pair in groups.all(grid)})
        self.sources = cache(lambda grid: {target: source for source, target in groups.all(grid)})


def joined(parts: Array, axis: int) -> Array:
    """Concatenate parts, which are stacked along the first axis, along an axis of each."""
    sizes = parts.shape[1:]
    return np.moveaxis(parts, 0, axis).reshape([len(parts) * n if d == axis else n for d, n in enumerate(sizes)])


def part(x: Array, axis: int, index: int, count: int) -> Array:
    """Return a view of part number `index` of an array that is split into `count` parts along an axis."""
    length = x.shape[axis] // count
    return x[(slice(None),) * axis + (slice(index * length, (index + 1) * length),)]


def zeros(type: TensorType) -> Array:
    """Return a tensor of zeros as it is stored; of f8E8M0FNU, which has no zero, the smallest value instead."""
    zero = np.zeros((), numpy_dtype(element_type(type)))
    if is_quantized(type):
        zero[()] = zero_points(type)[0]
    return np.broadcast_to(zero, shape(type))


def is_root(operands: Types) -> bool:
    """Return whether the last operand has one root, an `si32`, for each of the other operands."""
    return compatible(operands[-1], tensor_type((size(operands) - 1,), SI32))


def roots(op: str, label: int, operands: Sequence[Array], has_dynamic_root: bool, count: int) -> list[int]:
    """Return the index of the root of each operand in a group of `count` processes.

    EvaluationError with the constraint `label` for a dynamic root out of range.
    """
    if not has_dynamic_root:
        return [0] * len(operands)
    root: list[int] = operands[-1].tolist()
    if not in_range(root, count):
        raise EvaluationError(f"'{op}' op (C{label}): 0 <= root < {count}", notes=[f"root = {root}"])
    return root


def resized(type: TensorType, sizes: Mapping[int, Size]) -> TensorType:
    """Return the type with other sizes in some dimensions."""
    return make_tensor_type([sizes.get(d, n) for d, n in enumerate(shape(type))], element_type(type))


def times(type: TensorType, factors: Mapping[int, Size]) -> TensorType:
    """Return the type with the sizes of some dimensions multiplied by `factors`."""
    return resized(type, {d: dim(type, d) * factor for d, factor in factors.items()})


def is_multiple(n: Size, of: Size) -> bool:
    """Return whether `n` is a multiple of `of`; true also where a size is unknown."""
    if isinstance(n, Unknown) or isinstance(of, Unknown):
        return True
    return n % of == 0 if of else n == 0


def check_shapes(op: str, label: int, types: Types, arrays: Sequence[Array]) -> None:
    """Check the shapes of results, which depend on the grid, against their declared types.

    EvaluationError with the constraint `label` for a mismatch.
    """
    for type, array in zip(types, arrays):
        if shape(type) != array.shape:
            raise EvaluationError(f"'{op}' op (C{label}): expected {type}, got shape {array.shape}")
