"""The grid of StableHLO processes (spec, "Parallel execution"), its groups, and what processes wait for."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.diagnostics import EvaluationError, Location
from stablehlo_ref.ir.attributes import IntegerAttribute
from stablehlo_ref.ir.core import Operation, Value, symbol_name
from stablehlo_ref.ir.value_index import defining_op
from stablehlo_ref.limits import check_type

ProcessId: TypeAlias = tuple[int, int]  # replica id, partition id
Group: TypeAlias = tuple[ProcessId, ...]
IdGroups: TypeAlias = Sequence[Sequence[int]]  # ids of -1 pad groups to the same size

MAX_PROCESSES = 1 << 16  # of a grid

T = TypeVar("T")


@dataclass(frozen=True)
class Grid:
    """A grid of `num_replicas` by `num_partitions` processes.

    Raises TypeError unless both are integers, and EvaluationError unless there are 1 to `MAX_PROCESSES` processes.
    """

    num_replicas: int = 1
    num_partitions: int = 1

    def __post_init__(self) -> None:
        check_type("num_replicas", self.num_replicas, Integral, "an integer")
        check_type("num_partitions", self.num_partitions, Integral, "an integer")
        if min(self.num_replicas, self.num_partitions) < 1 or self.count > MAX_PROCESSES:
            raise EvaluationError(f"expected a grid of 1 to {MAX_PROCESSES} processes, got {self}")

    def __str__(self) -> str:
        return f"{self.num_replicas} x {self.num_partitions} processes (replicas x partitions)"

    @property
    def count(self) -> int:
        """The number of processes."""
        return self.num_replicas * self.num_partitions

    @property
    def processes(self) -> tuple[ProcessId, ...]:
        """The ids of all processes in row-major order."""
        return tuple((r, p) for r in range(self.num_replicas) for p in range(self.num_partitions))

    def cross_replica(self, replica_groups: IdGroups) -> list[Group]:
        """Return the groups of the strategy `cross_replica`: replicas of a group, for each partition."""
        return [tuple((r, p) for r in group if r >= 0) for group in replica_groups for p in range(self.num_partitions)]

    def cross_partition(self, partition_groups: IdGroups) -> list[Group]:
        """Return the groups of the strategy `cross_partition`: partitions of a group, for each replica."""
        return [tuple((r, p) for p in group if p >= 0) for group in partition_groups for r in range(self.num_replicas)]

    def cross_replica_and_partition(self, replica_groups: IdGroups) -> list[Group]:
        """Return the groups of the strategy `cross_replica_and_partition`: replicas of a group in all partitions."""
        partitions = range(self.num_partitions)
        return [tuple((r, p) for p in partitions for r in group if r >= 0) for group in replica_groups]

    def flattened_ids(self, flattened_id_groups: IdGroups) -> list[Group]:
        """Return the groups of the strategy `flattened_ids`: processes by their row-major number."""
        return [tuple(divmod(i, self.num_partitions) for i in group if i >= 0) for group in flattened_id_groups]


GRID_SIZES = ("num_replicas", "num_partitions")  # arguments of a run


@checks_arguments
def declared_grid(
    module: Operation, count: int, num_replicas: int | None, num_partitions: int | None, location: Location
) -> Grid:
    """Return the grid of the sizes that are given, or else are the module's, or else follow from `count`.

    EvaluationError, at a location, if the sizes are invalid or the grid does not have `count` processes.
    """
    try:
        declared = _size(module, "mhlo.num_partitions") if num_partitions is None else num_partitions
        replicas = _size(module, "mhlo.num_replicas") if num_replicas is None else num_replicas
        if replicas is None:
            replicas = count // Grid(num_partitions=1 if declared is None else declared).count or 1
        grid = Grid(replicas, count // Grid(replicas).count or 1 if declared is None else declared)
        if grid.count != count:
            raise EvaluationError(f"got inputs for {count}, but the grid is of {grid}")
    except EvaluationError as error:
        raise EvaluationError(error.diagnostics[0].message, location) from None
    return grid


def _size(module: Operation, name: str) -> int | None:
    """Return the size of the process grid that an attribute of the module declares; None without it."""
    attribute = module.attributes.get(name)
    return attribute.value if isinstance(attribute, IntegerAttribute) else None


class Outfeed(Protocol):
    """Where the outfeed of a grid goes: usually a list."""

    def append(self, item: tuple[ProcessId, Sequence[Any]], /) -> object:
        """Take the values of one write, with the process that wrote them."""


@dataclass
class Process:
    """One process of a grid, as its ops see it. All processes of a grid share its infeed and its outfeed.

    A read of the infeed takes its next function, which returns the values when called with the context of the run.
    """

    id: ProcessId = (0, 0)
    grid: Grid = field(default_factory=Grid)
    infeed: Iterator[Callable[[Any], Sequence[Any]]] = field(default_factory=lambda: iter(()))
    outfeed: Outfeed = field(default_factory=lambda: list[tuple[ProcessId, Sequence[Any]]]())


@dataclass
class Contributions:
    """What the processes of a group contributed to a rendezvous, by process, in the group's order."""

    by_process: Mapping[ProcessId, Any]
    _computed: dict[Hashable, Any] = field(default_factory=dict)

    def once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return the result of `compute`, which only the first process to ask calls; all share the result."""
        if key not in self._computed:
            self._computed[key] = compute()
        result: T = self._computed[key]
        return result


class Rendezvous(NamedTuple):
    """Yielded by an op that waits for all processes of `group`; the op is sent the `Contributions` of all.

    All must yield the same `op` and `tag`; a tag has pairs of a name, such as that of an attribute, and a value.
    """

    op: str
    tag: tuple[tuple[str, Hashable], ...]
    group: Group
    contribution: Any
    location: Location | None = None


class Send(NamedTuple):
    """Yielded by an op that puts a message into a channel without waiting; `key` is the channel and its two ends."""

    key: Hashable
    message: Any


class Receive(NamedTuple):
    """Yielded by an op that waits for the oldest message in a channel, which it is sent.

    `source` is the process at the other end; None if it may be any.
    """

    op: str
    key: Hashable
    source: ProcessId | None
    location: Location | None = None


CALLEES = ("callee", "decomposition")  # attributes that name a function that the op calls


INDIRECT = "func.call_indirect"  # which calls its first operand


def callee(op: Operation) -> str:
    """Return the name of the function that an op calls; "" if it calls none, or it is not known which."""
    if op.name == INDIRECT and op.operands:
        return _function_of(op.operands[0])
    named = (op.properties.get(name) for name in CALLEES)
    return next((found for found in named if found and isinstance(found, str)), "")


def _function_of(value: Value) -> str:
    """Return the function that a value is, which `func.constant` returns, here or to all calls; "" if not known."""
    pending, seen, found = [value], set[Value](), set[str]()
    while pending:
        value = pending.pop()
        op = defining_op(value)
        if op is None or value in seen:
            continue
        seen.add(value)
        if op.name == "func.constant":
            found.add(str(op.properties["value"]))
        elif op.name == "func.func" and op.parent is not None and value.owner is op.regions[0].blocks[0]:
            calls = [o for other in op.parent.operations for o in other.walk() if o.name == "func.call"]
            calls = [call for call in calls if call.properties["callee"] == symbol_name(op)]
            pending += [call.operands[value.index] for call in calls if value.index < len(call.operands)]
        else:
            return ""
    return found.pop() if len(found) == 1 else ""
