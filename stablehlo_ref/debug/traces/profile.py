"""The time of each op of a program, by kind and by place, and by the ops and functions around it (`--profile`)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

from stablehlo_ref.define.context import Observer
from stablehlo_ref.define.processes import Process
from stablehlo_ref.ir.core import Operation

SHOWN = 20  # places that the text lists


class Node:
    """An op as it runs inside other ops: how often, and the seconds that it took in all."""

    __slots__ = ("count", "inner", "op", "seconds", "start")

    def __init__(self, op: Operation | None) -> None:
        self.op = op
        self.count = 0
        self.seconds = self.start = 0.0
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
    """Measures each op. Ops of a grid of processes are counted together; what waits for others takes that time."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.root = Node(None)
        self._clock = clock
        self._stack = [self.root]
        self._stacks: dict[int, list[Node]] = {}  # by the identity of processes

    def before(self, op: Operation, operands: Sequence[Any]) -> None:
        inner = self._stack[-1].inner
        node = inner.get(id(op))
        if node is None:
            node = inner[id(op)] = Node(op)
        self._stack.append(node)
        node.start = self._clock()

    def after(self, op: Operation, results: Sequence[Any]) -> None:
        node = self._stack.pop()
        node.seconds += self._clock() - node.start
        node.count += 1

    def resumes(self, process: Process) -> None:
        self._stack = self._stacks.setdefault(id(process), [self.root])

    def __str__(self) -> str:
        nodes = [node for _, node in self.root.walk()]
        kinds = _table(nodes, lambda op: op.name)
        places = _table(nodes, lambda op: f"{op.name}  {place_of(op)}")
        more = [f"... and {len(places) - SHOWN} more"] if len(places) > SHOWN else []
        return "\n".join(["by op:", *kinds, "by place:", *places[:SHOWN], *more])

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
    keyed = sorted(((key(node.op), node.own, node.count) for node in nodes if node.op), key=lambda entry: entry[0])
    whole = sum(own for _, own, _ in keyed) or 1.0
    sums = []
    for name, group in groupby(keyed, key=lambda entry: entry[0]):
        entries = list(group)
        sums.append((sum(own for _, own, _ in entries), sum(count for _, _, count in entries), name))
    sums.sort(reverse=True)
    return [f"{own:12.6f} s {100 * own / whole:5.1f} % {count:10d}  {name}" for own, count, name in sums]
