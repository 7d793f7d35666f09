"""Observers of a run: a printer of values, a profile, and statistics."""

from __future__ import annotations

import sys
import time
import tracemalloc
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, TextIO

from stablehlo_ref.arrays.digest import statistics
from stablehlo_ref.arrays.value_text import type_text, value_text
from stablehlo_ref.define.context import Observer
from stablehlo_ref.define.processes import Process
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.locations import model_location
from stablehlo_ref.ir.types import TokenType
from stablehlo_ref.ir.value_index import ValueIndex
from stablehlo_ref.syntax.places import defined_at

SHOWN = 20  # places that the text of a profile lists


class ValuePrinter(Observer):
    """Prints a line for each op when it has run, or its results (`-v`).

    With `level` 1 a line has the types of results and the smallest, largest and mean element, the number of NaNs, and
    the time; with 2 it has the results, large ones elided, and with 3 all elements. Locations are those in the text
    and, if the program has them, in the model. Only ops that `selects` accepts are printed, and block arguments among
    `arguments`, when an op uses them. Values have their names in `index`.
    """

    sees_every_op = True

    def __init__(
        self,
        index: ValueIndex,
        level: int = 3,
        selects: Callable[[Operation], bool] = lambda op: True,
        arguments: Collection[Value] = (),
        out: TextIO | None = None,
    ) -> None:
        self.out = out or sys.stderr
        self._index = index
        self._level = level
        self._selects = selects
        self._arguments = {id(value): value for value in arguments}
        self._users: dict[int, Operation] = {}  # the op that first uses an argument, at which it is printed
        self._prefix = ""
        self._started: dict[str, list[float]] = defaultdict(list)  # by process

    def resumes(self, process: Process) -> None:
        self._prefix = f"process {process.id}: " if process.grid.count > 1 else ""

    def before(self, op: Operation, operands: Sequence[Any]) -> None:
        used = {id(v): (v, x) for v, x in zip(op.operands, operands) if id(v) in self._arguments}
        for value, operand in used.values():
            if self._users.setdefault(id(value), op) is op:
                self._print(
                    f"{defined_at(value) or op.location}: {self._prefix}argument: {self._described(value, operand)}"
                )
        self._started[self._prefix].append(time.perf_counter())

    def after(self, op: Operation, results: Sequence[Any]) -> None:
        milliseconds = 1000 * (time.perf_counter() - self._started[self._prefix].pop())
        if not self._selects(op):
            return
        model = model_location(op.debug_location)
        end = (f", {milliseconds:.3f} ms" if self._level == 1 else "") + (f" ({model})" if model else "")
        head = f"{op.location}: {self._prefix}{op.name}"
        for result, value in zip(op.results, results):
            self._print(f"{head}: {self._described(result, value)}{end}")
        if not results:
            self._print(f"{head}{end}")

    def _described(self, result: Value, value: Any) -> str:
        name = self._index.unique_name(result)
        if value is None and not isinstance(result.type, TokenType):
            return f"{name} = not used"
        if self._level > 1:
            return f"{name} = {value_text(result.type, value, elides=self._level == 2)}"
        is_array = value is not None and not isinstance(value, tuple)
        return f"{name} = {type_text(result.type, value)}" + (f" {statistics(value)}" if is_array else "")

    def _print(self, line: str) -> None:
        print(line, file=self.out)


class Node:
    """An op as it runs inside other ops: how often, and the seconds that it took in all."""

    __slots__ = ("count", "inner", "op", "seconds")

    def __init__(self, op: Operation | None) -> None:
        self.op = op
        self.count = 0
        self.seconds = 0.0
        self.inner: dict[int, Node] = {}  # by the identity of their ops

    @property
    def own(self) -> float:
        """The seconds without those of ops inside."""
        return self.seconds - sum(node.seconds for node in self.inner.values())

    def walk(self, around: tuple[Operation, ...] = ()) -> Iterator[tuple[tuple[Operation, ...], Node]]:
        """Yield the nodes inside, each with its op and those around it, the outermost first."""
        for node in self.inner.values():
            assert node.op is not None  # only the root has none
            stack = (*around, node.op)
            yield stack, node
            yield from node.walk(stack)


class Profile(Observer):
    """The time of each op, by kind and by place, and by the ops and functions around it (`--profile`).

    Ops of a grid of processes are counted together; the time in which one waits for others is not part of it.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.root = Node(None)
        self._clock = clock
        self._stack: list[tuple[Node, float]] = [(self.root, 0.0)]  # ops in progress, and when they started
        self._stacks: dict[int, tuple[float, list[tuple[Node, float]]]] = {}  # of processes, and since when they wait
        self._process = 0

    def before(self, op: Operation, operands: Sequence[Any]) -> None:
        inner = self._stack[-1][0].inner
        node = inner.get(id(op))
        if node is None:
            node = inner[id(op)] = Node(op)
        self._stack.append((node, self._clock()))

    def after(self, op: Operation, results: Sequence[Any]) -> None:
        node, start = self._stack.pop()
        node.seconds += self._clock() - start
        node.count += 1

    def resumes(self, process: Process) -> None:
        if id(process) == self._process:
            return
        now = self._clock()
        self._stacks[self._process] = now, self._stack
        self._process = id(process)
        paused, stack = self._stacks.get(self._process, (now, [(self.root, now)]))
        self._stack = [(node, start + now - paused) for node, start in stack]

    def __str__(self) -> str:
        kinds = _table(self.nodes, _name)
        places = _table(self.nodes, lambda op: f"{op.name}  {place_of(op)}")
        more = [f"... and {len(places) - SHOWN} more"] if len(places) > SHOWN else []
        return "\n".join(["by op:", *kinds, "by place:", *places[:SHOWN], *more])

    @property
    def nodes(self) -> list[Node]:
        """The nodes of all ops that ran."""
        return [node for _, node in self.root.walk()]

    def speedscope(self, name: str) -> dict[str, Any]:
        """Return the profile in the JSON format of https://www.speedscope.app, one sample for each stack of ops."""
        frames: dict[int, int] = {}
        described: list[dict[str, Any]] = []
        samples: list[list[int]] = []
        weights: list[float] = []
        for stack, node in self.root.walk():
            for op in stack:
                if id(op) not in frames:
                    frames[id(op)] = len(described)
                    described.append(_frame(op))
            samples.append([frames[id(op)] for op in stack])
            weights.append(max(node.own, 0.0))
        profile = {
            "type": "sampled", "name": name, "unit": "seconds", "startValue": 0, "endValue": sum(weights),
            "samples": samples, "weights": weights,
        }  # fmt: skip
        return {
            "$schema": "https://www.speedscope.app/file-format-schema.json",
            "shared": {"frames": described}, "profiles": [profile], "name": name, "exporter": "stablehlo_ref",
        }  # fmt: skip


def place_of(op: Operation) -> str:
    """Return where an op is in the text, and in the model if that is known."""
    return f"{op.location} ({op.model_location})" if op.model_location else str(op.location)


def _frame(op: Operation) -> dict[str, Any]:
    place = op.location
    label = f"{op.name} @{op.properties['callee']}" if "callee" in op.properties else op.name
    where = f" {op.model_location}" if op.model_location else ""
    return {"name": f"{label}{where}", "file": place.filename, "line": place.line, "col": place.column}


def _table(nodes: Sequence[Node], key: Callable[[Operation], str]) -> list[str]:
    """Return a line for each key of nodes: the seconds without inner ops, the fraction of all, and the count."""
    sums = _sums(nodes, key)
    whole = sum(own for _, own, _ in sums) or 1.0
    return [f"{own:12.6f} s {100 * own / whole:5.1f} % {count:10d}  {name}" for name, own, count in sums]


def _sums(nodes: Sequence[Node], key: Callable[[Operation], str]) -> list[tuple[str, float, int]]:
    """Return the seconds without inner ops and the count for each key of nodes, the longest first."""
    sums: dict[str, tuple[float, int]] = {}
    for node in nodes:
        if node.op is not None:
            own, count = sums.get(key(node.op), (0.0, 0))
            sums[key(node.op)] = own + node.own, count + node.count
    return sorted(((name, *found) for name, found in sums.items()), key=lambda entry: entry[1:], reverse=True)


def _name(op: Operation) -> str:
    return op.name


class Statistics(Profile):
    """Counts ops and their time by name, and measures peak memory (`--stats`).

    The time of an op does not include that of the ops in its regions or in the functions that it calls.
    """

    peak_bytes = 0

    def __enter__(self) -> Statistics:
        tracemalloc.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.peak_bytes = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()

    @property
    def count(self) -> dict[str, int]:
        """How often the ops of each name ran."""
        return {name: count for name, _, count in _sums(self.nodes, _name)}

    @property
    def seconds(self) -> dict[str, float]:
        """The time of the ops of each name, the longest first."""
        return {name: own for name, own, _ in _sums(self.nodes, _name)}

    def __str__(self) -> str:
        sums = _sums(self.nodes, _name)
        lines = [f"{own:12.6f} s {count:10d}  {name}" for name, own, count in sums]
        total = f"{sum(own for _, own, _ in sums):12.6f} s {sum(count for *_, count in sums):10d}  all ops"
        return "\n".join([*lines, total, f"{self.peak_bytes:12d} bytes at the peak"])
