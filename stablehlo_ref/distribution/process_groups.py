"""How collective ops split the process grid into groups (spec, "Collective ops"): by lists of ids or mesh axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, TypeAlias

from stablehlo_ref.define.attribute_codecs import AttributeCodec, MatrixCodec
from stablehlo_ref.define.processes import Grid, Group, IdGroups, Process, ProcessId
from stablehlo_ref.define.spec import UNKNOWN, Size
from stablehlo_ref.diagnostics import EvaluationError, InvalidError
from stablehlo_ref.distribution.meshes import groups_along
from stablehlo_ref.ir.attributes import Attribute, StructAttribute, SymbolReference
from stablehlo_ref.ir.core import Operation

Ids: TypeAlias = tuple[tuple[int, ...], ...]

# --- replica groups -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MeshAxes:
    """`#stablehlo.replica_group_mesh_axes<...>`: groups of the devices along some axes of a mesh."""

    attribute: StructAttribute

    @property
    def mesh(self) -> Attribute | None:
        """The mesh, or a reference to the symbol of one."""
        return self.attribute.fields.get("mesh")

    @property
    def axes(self) -> Attribute:
        """The list of axes."""
        axes: Attribute = self.attribute.fields.get("axes", ())
        return axes

    def __str__(self) -> str:
        return f"the axes of {self.mesh}"


class ReplicaGroupsCodec(AttributeCodec["Ids | MeshAxes"]):
    """Lists of ids, padded with -1, or axes of a mesh."""

    name = "rank 2 tensor of 64-bit integers, or mesh axes"
    samples = (((0,),), ((0, 1),), ((0, 1), (2, 3)), ((0,), (1,)))

    def read(self, attribute: Attribute) -> Ids | MeshAxes | None:
        if isinstance(attribute, StructAttribute) and attribute.name == "stablehlo.replica_group_mesh_axes":
            return MeshAxes(attribute)
        return MatrixCodec().read(attribute)

    def encode(self, value: Ids | MeshAxes) -> Attribute:
        return value.attribute if isinstance(value, MeshAxes) else MatrixCodec().encode(value)


ReplicaGroups: TypeAlias = Annotated[Ids | MeshAxes, ReplicaGroupsCodec()]


def id_groups(replica_groups: Ids | MeshAxes, op: Operation) -> Ids | None:
    """Return the groups of an op as lists of ids; None for a mesh that is declared without axes.

    InvalidError for an unknown mesh or axes that it does not have.
    """
    if not isinstance(replica_groups, MeshAxes):
        return replica_groups
    mesh = replica_groups.mesh
    if isinstance(mesh, SymbolReference):
        definition = op.symbol(mesh.path[-1])
        if definition is None:
            raise InvalidError(f"replica_groups: mesh symbol '{mesh.path[-1]}' not found", op.location)
        written = {**definition.properties, **definition.attributes}
        mesh = written.get("stablehlo.mesh", written.get("mesh"))
    if mesh is None:
        return None
    try:
        return groups_along(replica_groups.axes, mesh)
    except ValueError as error:
        raise InvalidError(f"replica_groups: invalid axes of the mesh: {error}", op.location) from None


def ids_in(replica_groups: Ids | MeshAxes, op: Operation) -> tuple[int, ...]:
    """Return all ids in groups, padding included; nothing if they are known only at run time."""
    return tuple(i for group in id_groups(replica_groups, op) or () for i in group)


def without_padding(ids: Sequence[int]) -> tuple[int, ...]:
    """Return ids without the -1 that pads groups smaller than the largest one."""
    return tuple(i for i in ids if i != -1)


def group_size(replica_groups: Ids | MeshAxes, op: Operation) -> Size:
    """Return `dim(replica_groups, 1)`: 0 without groups, UNKNOWN if they are known only at run time."""
    groups = id_groups(replica_groups, op)
    return UNKNOWN if groups is None else len(groups[0]) if groups else 0


# --- groups of a grid -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Strategy:
    """One of the spec's ways to split the grid; `ids` names the number of ids that groups are formed of."""

    ids: str
    split: Callable[[Grid, IdGroups], list[Group]]

    def count(self, grid: Grid) -> int:
        """Return the number of ids in the grid."""
        counts = {"num_replicas": grid.num_replicas, "num_partitions": grid.num_partitions}
        return counts.get(self.ids, grid.count)


CROSS_REPLICA = Strategy("num_replicas", Grid.cross_replica)
CROSS_PARTITION = Strategy("num_partitions", Grid.cross_partition)
CROSS_REPLICA_AND_PARTITION = Strategy("num_replicas", Grid.cross_replica_and_partition)
FLATTENED_IDS = Strategy("num_processes", Grid.flattened_ids)


def reduction_strategy(channel_id: int, use_global_device_ids: bool) -> Strategy:
    """Return the strategy of all_gather, all_reduce and reduce_scatter."""
    if use_global_device_ids:
        return FLATTENED_IDS
    return CROSS_REPLICA_AND_PARTITION if channel_id > 0 else CROSS_REPLICA


def exchange_strategy(channel_id: int) -> Strategy:
    """Return the strategy of all_to_all, collective_broadcast and collective_permute."""
    return CROSS_PARTITION if channel_id > 0 else CROSS_REPLICA


class ProcessGroups:
    """The groups that an op splits a grid into, computed and checked once for each grid that it runs in.

    `size_label` is the label of the constraint that groups contain all ids, None for an op without it; `range_label`
    that of the constraint that they contain no others. An empty list of groups is one group of all ids, as in HLO.
    """

    def __init__(
        self, op: Operation, strategy: Strategy, replica_groups: Ids | MeshAxes, *, size_label: int | None = None,
        range_label: int,
    ) -> None:  # fmt: skip
        self.op, self.strategy = op, strategy
        self.groups = id_groups(replica_groups, op)
        self.labels = size_label, range_label
        self.by_process = cache(self._by_process)

    def around(self, process: Process) -> Group:
        """Return the group of a process, for ops whose groups contain all ids."""
        return self.by_process(process.grid)[process.id]

    def of(self, process: Process) -> Group | None:
        """Return the group of a process, None if it is in no group."""
        return self.by_process(process.grid).get(process.id)

    def _by_process(self, grid: Grid) -> dict[ProcessId, Group]:
        return {member: group for group in self.all(grid) for member in group}

    def all(self, grid: Grid) -> list[Group]:
        """Return all groups; EvaluationError if their ids do not fit the grid."""
        if self.groups is None:
            raise EvaluationError(f"'{self.op.name}' op: the mesh of its replica_groups has no axes", self.op.location)
        count = self.strategy.count(grid)
        if self.labels[0] is not None and not any(self.groups):
            return self.strategy.split(grid, [range(count)])
        self._check(grid, [i for group in self.groups for i in group if i >= 0], count)
        return self.strategy.split(grid, self.groups)

    def _check(self, grid: Grid, ids: Sequence[int], count: int) -> None:
        size_label, range_label = self.labels
        out_of_range = [i for i in ids if i >= count]
        if out_of_range:
            formula, label, found = f"0 <= ids < {self.strategy.ids}", range_label, f"id = {out_of_range[0]}"
            needed = max(out_of_range) + 1
        elif size_label is not None and len(ids) < count:
            formula, label, found = f"size(ids) == {self.strategy.ids}", size_label, f"size(ids) = {len(ids)}"
            needed = len(ids)
        else:
            return
        axis = "replicas" if self.strategy.ids == "num_replicas" else "partitions"
        hint = f"for a grid that fits, use --{axis} {needed}, or run_parallel(inputs, num_{axis}={needed})"
        notes = (found, f"grid = {grid}", hint)
        raise EvaluationError(f"'{self.op.name}' op (C{label}): {formula}", self.op.location, notes)
