"""Measure the time of each op of a program, by kind and by place, and the peak of memory (`--profile`)."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from stablehlo_ref.define.context import Observer
from stablehlo_ref.define.processes import Process
from stablehlo_ref.ir.core import Operation

SHOWN = 20  # places that the text lists


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
    """Measures each op. Ops of a grid of processes are counted together; one that waits for others takes no time.

    As a context manager it also measures the peak of memory.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.root = Node(None)
        self._clock = clock
        self._stack: list[tuple[Node, float]] = [(self.root, 0.0)]  # ops in progress, and when they started
        self._stacks: dict[int, tuple[float, list[tuple[Node, float]]]] = {}  # of processes, and since when they wait
        self._process = 0
        self.peak_bytes: int | None = None

    def __enter__(self) -> Profile:
        tracemalloc.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.peak_bytes = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()

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
        kinds, places = self.by_op(), self._sums(lambda op: f"{op.name}  {place_of(op)}")
        more = [f"... and {len(places) - SHOWN} more"] if len(places) > SHOWN else []
        memory = [] if self.peak_bytes is None else [f"{self.peak_bytes:12d} bytes at the peak"]
        return "\n".join(["by op:", *_table(kinds), "by place:", *_table(places)[:SHOWN], *more, *memory])

    def by_op(self) -> dict[str, tuple[float, int]]:
        """Return the seconds without those of inner ops, and the count, of each kind of op, the slowest first."""
        return self._sums(lambda op: op.name)

    def _sums(self, key: Callable[[Operation], str]) -> dict[str, tuple[float, int]]:
        found: dict[str, tuple[float, int]] = {}
        for stack, node in self.root.walk():
            seconds, count = found.get(key(stack[-1]), (0.0, 0))
            found[key(stack[-1])] = seconds + node.own, count + node.count
        return dict(sorted(found.items(), key=lambda entry: entry[1], reverse=True))

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


def _table(sums: Mapping[str, tuple[float, int]]) -> list[str]:
    """Return a line for each entry: the seconds, the fraction of all, and the count."""
    whole = sum(own for own, _ in sums.values()) or 1.0
    return [f"{own:12.6f} s {100 * own / whole:5.1f} % {count:10d}  {name}" for name, (own, count) in sums.items()]
