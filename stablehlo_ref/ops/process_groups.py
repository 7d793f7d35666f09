"""How collective ops split the process grid into groups (spec, "Collective ops"): by lists of ids or by mesh axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from stablehlo_ref.diagnostics import EvaluationError, InvalidError, Location
from stablehlo_ref.ir.attributes import StructAttribute, SymbolReference
from stablehlo_ref.kinds import AttributeKind, Matrix
from stablehlo_ref.ops.meshes import groups_along
from stablehlo_ref.processes import Grid, Group, IdGroups, Process, ProcessId
from stablehlo_ref.spec import UNKNOWN, Size

Symbols = Callable[[str], Any]  # from a symbol's name to the op that it stands for, None where there is none
Ids = tuple[tuple[int, ...], ...]

# --- replica groups -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MeshAxes:
    """`#stablehlo.replica_group_mesh_axes<...>`: the groups that differ along some axes of a mesh."""

    attribute: StructAttribute

    @property
    def mesh(self) -> Any:
        return self.attribute.fields.get("mesh")

    @property
    def axes(self) -> Any:
        return self.attribute.fields.get("axes", ())

    def __str__(self) -> str:
        return f"the axes of {self.mesh}"


class _ReplicaGroups(AttributeKind):
    """Lists of ids, those of -1 being padding, or axes of a mesh."""

    name = "rank 2 tensor of 64-bit integers, or mesh axes"

    def decode(self, attribute: Any) -> Ids | MeshAxes:
        if isinstance(attribute, StructAttribute) and attribute.name == "stablehlo.replica_group_mesh_axes":
            return MeshAxes(attribute)
        try:
            return Matrix.decode(attribute)
        except ValueError:
            raise self._refuse() from None

    def encode(self, value: Ids | MeshAxes) -> Any:
        return value.attribute if isinstance(value, MeshAxes) else Matrix.encode(value)


ReplicaGroups = _ReplicaGroups()


def id_groups(replica_groups: Ids | MeshAxes, symbols: Symbols, location: Location | None) -> Ids | None:
    """The groups as lists of ids; None where the mesh is declared only. InvalidError where there is no such mesh."""
    if not isinstance(replica_groups, MeshAxes):
        return replica_groups
    mesh = replica_groups.mesh
    if isinstance(mesh, SymbolReference):
        definition = symbols(mesh.path[-1])
        if definition is None:
            raise InvalidError(f"replica_groups: mesh symbol '{mesh.path[-1]}' not found", location)
        written = {**definition.properties, **definition.attributes}
        mesh = written.get("stablehlo.mesh", written.get("mesh"))
    if mesh is None:
        return None
    try:
        return groups_along(replica_groups.axes, mesh)
    except ValueError as error:
        raise InvalidError(f"replica_groups: these are no axes of the mesh: {error}", location) from None


def ids_in(replica_groups: Ids | MeshAxes, symbols: Symbols, location: Location | None) -> tuple[int, ...]:
    """All ids in groups, padding among them; nothing where a run must tell."""
    return tuple(i for group in id_groups(replica_groups, symbols, location) or () for i in group)


def without_padding(ids: Sequence[int]) -> tuple[int, ...]:
    """Ids less those of -1, which fill up groups that are smaller than others."""
    return tuple(i for i in ids if i != -1)


def group_size(replica_groups: Ids | MeshAxes, symbols: Symbols, location: Location | None) -> Size:
    """`dim(replica_groups, 1)`, 0 where there are no groups, UNKNOWN where only a run will tell."""
    groups = id_groups(replica_groups, symbols, location)
    return UNKNOWN if groups is None else len(groups[0]) if groups else 0


# --- groups of a grid -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Strategy:
    """One of the spec's ways to split the grid; `ids` says what the ids in the groups are of."""

    ids: str
    split: Callable[[Grid, IdGroups], list[Group]]

    def count(self, grid: Grid) -> int:
        """How many of `ids` the grid has."""
        counts = {"num_replicas": grid.num_replicas, "num_partitions": grid.num_partitions}
        return counts.get(self.ids, grid.count)


CROSS_REPLICA = Strategy("num_replicas", Grid.cross_replica)
CROSS_PARTITION = Strategy("num_partitions", Grid.cross_partition)
CROSS_REPLICA_AND_PARTITION = Strategy("num_replicas", Grid.cross_replica_and_partition)
FLATTENED_IDS = Strategy("num_processes", Grid.flattened_ids)


def reduction_strategy(channel_id: int, use_global_device_ids: bool) -> Strategy:
    """The strategy of all_gather, all_reduce and reduce_scatter."""
    if use_global_device_ids:
        return FLATTENED_IDS
    return CROSS_REPLICA_AND_PARTITION if channel_id > 0 else CROSS_REPLICA


def exchange_strategy(channel_id: int) -> Strategy:
    """The strategy of all_to_all, collective_broadcast and collective_permute."""
    return CROSS_PARTITION if channel_id > 0 else CROSS_REPLICA


class ProcessGroups:
    """The groups that an op splits a grid into, computed and checked once for each grid that it runs in.

    `size_label` is the op's constraint that groups cover all ids, None where they need not; `range_label` the one that
    they hold no others. No groups at all are one of all ids, as in HLO.
    """

    def __init__(
        self, op: str, location: Location, strategy: Strategy, groups: Ids | None, *,
        size_label: int | None = None, range_label: int,
    ) -> None:  # fmt: skip
        self.op, self.location, self.strategy = op, location, strategy
        self.groups = groups
        self.labels = size_label, range_label
        self.by_process = cache(self._by_process)

    def around(self, process: Process) -> Group:
        """The group that a process is in, where groups cover all ids."""
        return self.by_process(process.grid)[process.id]

    def of(self, process: Process) -> Group | None:
        """The group that a process is in, None where it is in none."""
        return self.by_process(process.grid).get(process.id)

    def _by_process(self, grid: Grid) -> dict[ProcessId, Group]:
        return {member: group for group in self.all(grid) for member in group}

    def all(self, grid: Grid) -> list[Group]:
        """All groups. EvaluationError where they are none of the grid."""
        if self.groups is None:
            raise EvaluationError(f"'{self.op}' op: its mesh has no axes and sizes", self.location)
        count = self.strategy.count(grid)
        if self.labels[0] is not None and not any(self.groups):
            return self.strategy.split(grid, [range(count)])
        self._check(grid, [i for group in self.groups for i in group if i >= 0], count)
        return self.strategy.split(grid, self.groups)

    def _check(self, grid: Grid, ids: Sequence[int], count: int) -> None:
        size_label, range_label = self.labels
        outside = [i for i in ids if i >= count]
        if outside:
            formula, label, found = f"0 <= ids < {self.strategy.ids}", range_label, f"{outside[0]} is among the ids"
        elif size_label is not None and len(ids) < count:
            formula, label, found = f"size(ids) == {self.strategy.ids}", size_label, f"size(ids) = {len(ids)}"
        else:
            return
        raise EvaluationError(f"'{self.op}' op (C{label}): {formula}", self.location, (found, f"the grid is of {grid}"))
