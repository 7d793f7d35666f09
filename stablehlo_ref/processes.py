"""The grid of StableHLO processes (spec, "Parallel execution"), how it splits into groups, what processes wait for."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, TypeAlias

from stablehlo_ref.diagnostics import EvaluationError, Location
from stablehlo_ref.limits import check_type

ProcessId: TypeAlias = tuple[int, int]  # replica id, partition id
Group: TypeAlias = tuple[ProcessId, ...]
IdGroups: TypeAlias = Sequence[Sequence[int]]  # ids of -1 pad groups of different sizes and stand for nobody

MOST_PROCESSES = 1 << 16  # of a grid


@dataclass(frozen=True)
class Grid:
    """`num_replicas` by `num_partitions` processes. TypeError where these are no integers, EvaluationError for none,
    and for more than `MOST_PROCESSES`."""

    num_replicas: int = 1
    num_partitions: int = 1

    def __post_init__(self) -> None:
        check_type("num_replicas", self.num_replicas, Integral, "an integer")
        check_type("num_partitions", self.num_partitions, Integral, "an integer")
        if min(self.num_replicas, self.num_partitions) < 1 or self.count > MOST_PROCESSES:
            raise EvaluationError(f"a grid has from 1 to {MOST_PROCESSES} processes; this one is of {self}")

    def __str__(self) -> str:
        return f"{self.num_replicas} x {self.num_partitions} processes (replicas x partitions)"

    @property
    def count(self) -> int:
        """How many processes there are."""
        return self.num_replicas * self.num_partitions

    @property
    def processes(self) -> tuple[ProcessId, ...]:
        return tuple((r, p) for r in range(self.num_replicas) for p in range(self.num_partitions))

    def cross_replica(self, replica_groups: IdGroups) -> list[Group]:
        return [tuple((r, p) for r in group if r >= 0) for group in replica_groups for p in range(self.num_partitions)]

    def cross_partition(self, partition_groups: IdGroups) -> list[Group]:
        return [tuple((r, p) for p in group if p >= 0) for group in partition_groups for r in range(self.num_replicas)]

    def cross_replica_and_partition(self, replica_groups: IdGroups) -> list[Group]:
        partitions = range(self.num_partitions)
        return [tuple((r, p) for p in partitions for r in group if r >= 0) for group in replica_groups]

    def flattened_ids(self, flattened_id_groups: IdGroups) -> list[Group]:
        return [tuple(divmod(i, self.num_partitions) for i in group if i >= 0) for group in flattened_id_groups]


@dataclass
class Process:
    """One process of a grid, as its ops see it. All processes of a grid share its infeed and its outfeed.

    A read of the infeed takes its next function, which gives the values for the context of a run. What is written to
    the outfeed stands there with the process that wrote it.
    """

    id: ProcessId = (0, 0)
    grid: Grid = field(default_factory=Grid)
    infeed: Iterator[Callable[[Any], Sequence[Any]]] = field(default_factory=lambda: iter(()))
    outfeed: list[tuple[ProcessId, Sequence[Any]]] = field(default_factory=list)


@dataclass
class Meeting:
    """What the processes of a group brought to a rendezvous, by process, in the group's order."""

    brought: dict[ProcessId, Any]
    _shared: dict[Hashable, Any] = field(default_factory=dict)

    def once(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """What `compute` gives, computed for the first process that asks and shared by all."""
        if key not in self._shared:
            self._shared[key] = compute()
        return self._shared[key]


@dataclass(frozen=True)
class Rendezvous:
    """Yielded by an op that waits until all of `group` have come; it is sent the `Meeting`.

    They must come with the same `op` and the same `tag`: pairs of a name (of an attribute, say) and a value.
    """

    op: str
    tag: tuple[tuple[str, Hashable], ...]
    group: Group
    brought: Any
    location: Location | None = None


@dataclass(frozen=True)
class Send:
    """Yielded by an op that puts `brought` into a channel and goes on; `key` names the channel, and its two ends."""

    key: Hashable
    brought: Any


@dataclass(frozen=True)
class Receive:
    """Yielded by an op that waits for what was put into a channel first; it is sent that.

    `source` is the process at the other end, None where it may be any.
    """

    op: str
    key: Hashable
    source: ProcessId | None
    location: Location | None = None
