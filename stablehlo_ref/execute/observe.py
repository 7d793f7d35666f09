"""Observers of a run: a printer of values, statistics, a progress bar."""

from __future__ import annotations

import sys
import time
import tracemalloc
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, TextIO

from stablehlo_ref.define.context import Observer
from stablehlo_ref.define.processes import Process
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import TokenType
from stablehlo_ref.numerics.value_text import value_text


class Observers(Observer):
    """Several observers as one."""

    def __init__(self, *observers: Observer) -> None:
        self.observers = observers
        self.sees_every_op = any(observer.sees_every_op for observer in observers)

    def before(self, op: Operation, operands: Sequence[Any]) -> None:
        for observer in self.observers:
            observer.before(op, operands)

    def after(self, op: Operation, results: Sequence[Any]) -> None:
        for observer in self.observers:
            observer.after(op, results)

    def resumes(self, process: Process) -> None:
        for observer in self.observers:
            observer.resumes(process)


class ValuePrinter(Observer):
    """Prints the results of each op when it has run (`-v`)."""

    def __init__(self, out: TextIO | None = None) -> None:
        self.out = out or sys.stderr
        self._prefix = ""

    def resumes(self, process: Process) -> None:
        self._prefix = f"process {process.id}: " if process.grid.count > 1 else ""

    def after(self, op: Operation, results: Sequence[Any]) -> None:
        for result, value in zip(op.results, results):
            name = result.name or f"result {result.index}"
            is_dropped = value is None and not isinstance(result.type, TokenType)
            text = "not used" if is_dropped else value_text(result.type, value)
            print(f"{op.location}: {self._prefix}{op.name}: %{name} = {text}", file=self.out)
        if not results:
            print(f"{op.location}: {self._prefix}{op.name}", file=self.out)


class Statistics(Observer):
    """Counts ops and their time by name, and measures peak memory (`--stats`).

    The time of an op does not include that of the ops in its regions or in the functions that it calls.
    """

    def __init__(self) -> None:
        self.count: dict[str, int] = defaultdict(int)
        self.seconds: dict[str, float] = defaultdict(float)
        self._started: list[list[float]] = []  # for each op in progress: its start, and the seconds of inner ops
        self._of_process: dict[int, list[list[float]]] = defaultdict(list)  # the same for processes that wait
        self._paused: dict[int, float] = {}  # when they started to wait
        self._process = 0
        self.peak_bytes = 0

    def __enter__(self) -> Statistics:
        tracemalloc.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.peak_bytes = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()

    def before(self, op: Operation, operands: Sequence[Any]) -> None:
        self._started.append([time.perf_counter(), 0.0])

    def after(self, op: Operation, results: Sequence[Any]) -> None:
        start, inside = self._started.pop()
        took = time.perf_counter() - start
        self.count[op.name] += 1
        self.seconds[op.name] += took - inside
        if self._started:
            self._started[-1][1] += took

    def resumes(self, process: Process) -> None:
        now = time.perf_counter()
        self._of_process[self._process], self._paused[self._process] = self._started, now
        self._process = id(process)
        self._started = self._of_process[self._process]
        for started in self._started:
            started[0] += now - self._paused[self._process]

    def __str__(self) -> str:
        kinds = sorted(self.seconds, key=self.seconds.__getitem__, reverse=True)
        lines = [f"{self.seconds[k]:12.6f} s {self.count[k]:10d}  {k}" for k in kinds]
        total = f"{sum(self.seconds.values()):12.6f} s {sum(self.count.values()):10d}  all ops"
        return "\n".join([*lines, total, f"{self.peak_bytes:12d} bytes at the peak"])


class Progress(Observer):
    """A progress bar on a terminal: how many ops of the entry have run. It is shown after two seconds."""

    DELAY = 2.0  # seconds
    WIDTH = 30  # characters

    def __init__(self, total: int, out: TextIO | None = None) -> None:
        self.out = out or sys.stderr
        self.total = max(total, 1)
        self.done = 0
        self.ran = 0
        self._depth = 0
        self._start = self._shown = time.perf_counter()

    def before(self, op: Operation, operands: Sequence[Any]) -> None:
        self._depth += 1
        now = time.perf_counter()
        if now - self._start > self.DELAY and now - self._shown > 0.1:
            self._shown = now
            filled = self.WIDTH * self.done // self.total
            bar = "#" * filled + "." * (self.WIDTH - filled)
            state = f"[{bar}] {self.done}/{self.total} ops, {self.ran} in all, {now - self._start:.0f} s, {op.name}"
            self.out.write(f"\r\x1b[K{state}"[:200])
            self.out.flush()

    def after(self, op: Operation, results: Sequence[Any]) -> None:
        self._depth -= 1
        self.ran += 1
        self.done += self._depth == 0

    def close(self) -> None:
        """Clear the line."""
        if self._shown > self._start:
            self.out.write("\r\x1b[K")
            self.out.flush()
