"""A line on the terminal that says what a long command is doing: loading, verifying, planning, passes."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from stablehlo_ref.execute.observe import CLEAR, progress_bar
from stablehlo_ref.limits.budget import current_activity

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
