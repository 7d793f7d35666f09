"""A line on the terminal that says what a long command is doing: loading, verifying, planning, passes, running."""

from __future__ import annotations

import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

from stablehlo_ref.define.context import Observer
from stablehlo_ref.define.processes import Process, ProcessId
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.limits.budget import current_activity

CLEAR = "\r\x1b[K"  # returns to the start of the line on a terminal, and clears it
WIDTH = 30  # characters of a progress bar
DELAY, INTERVAL = 2.0, 0.2  # seconds


@contextmanager
def showing_progress(out: TextIO | None = None) -> Iterator[None]:
    """Show the current activity on standard error if that is a terminal, when it takes more than two seconds."""
    out = out or sys.stderr
    if not out.isatty():
        yield
        return
    done = threading.Event()
    thread = threading.Thread(target=_show, args=(out, done), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join(INTERVAL)


def _show(out: TextIO, done: threading.Event) -> None:
    """Write the line until `done` is set."""
    shown, start, name = False, time.perf_counter(), ""
    while not done.wait(INTERVAL):
        activity = current_activity()
        if activity is None or activity.name != name:
            start, name = time.perf_counter(), activity.name if activity else ""
        seconds = time.perf_counter() - start
        if activity is not None and seconds > DELAY:
            out.write(f"{CLEAR}{line(activity.name, activity.fraction and activity.fraction(), seconds)}"[:200])
            out.flush()
            shown = True
        elif shown:
            out.write(CLEAR)
            out.flush()
            shown = False
    if shown:
        out.write(CLEAR)
        out.flush()


def line(name: str, fraction: float | None, seconds: float) -> str:
    """Return the line: a bar and the remaining time if the fraction that is done is known."""
    if not fraction:
        return f"{name}, {seconds:.0f} s"
    left = seconds * (1 - fraction) / fraction
    return f"{progress_bar(fraction)} {name}, {100 * fraction:.0f} %, {seconds:.0f} s, {left:.0f} s left"


def progress_bar(fraction: float) -> str:
    """Return `[####....]`."""
    filled = int(WIDTH * min(fraction, 1))
    return f"[{'#' * filled}{'.' * (WIDTH - filled)}]"


class Progress(Observer):
    """A progress bar on a terminal: how many ops of the entry have run. It is shown after two seconds."""

    DELAY = 2.0  # seconds

    def __init__(self, total: int, out: TextIO | None = None) -> None:
        self.out = out or sys.stderr
        self.total = max(total, 1)
        self.done = 0
        self.ran = 0
        self._depths: dict[ProcessId, int] = defaultdict(int)
        self._process: ProcessId = (0, 0)
        self._start = self._shown = time.perf_counter()

    def resumes(self, process: Process) -> None:
        self._process = process.id

    def before(self, op: Operation, operands: Sequence[Any]) -> None:
        self._depths[self._process] += 1
        now = time.perf_counter()
        if now - self._start > self.DELAY and now - self._shown > 0.1:
            self._shown = now
            self.out.write(f"{CLEAR}{self._line(now - self._start, op)}"[:200])
            self.out.flush()

    def _line(self, seconds: float, op: Operation) -> str:
        fraction = self.done / self.total
        left = f", {seconds * (1 - fraction) / fraction:.0f} s left" if self.done else ""
        counts = f"{self.done}/{self.total} ops, {self.ran} in all, {self.ran / seconds:.0f} ops/s"
        return f"{progress_bar(fraction)} {counts}, {seconds:.0f} s{left}, {op.name}"

    def after(self, op: Operation, results: Sequence[Any]) -> None:
        self._depths[self._process] -= 1
        self.ran += 1
        self.done += self._depths[self._process] == 0

    def close(self) -> None:
        """Clear the line."""
        if self._shown > self._start:
            self.out.write(CLEAR)
            self.out.flush()
