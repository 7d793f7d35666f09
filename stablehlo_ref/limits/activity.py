"""What a long call is doing, for displays of progress, which poll it: the call itself spends no time on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Activity:
    """A part of the work. `fraction` returns how much of it is done, from 0 to 1; None if that is not known."""

    name: str
    fraction: Callable[[], float] | None = None


_stack: list[Activity] = []


@contextmanager
def activity(name: str, fraction: Callable[[], float] | None = None) -> Iterator[None]:
    """Set the current activity for the duration of the block."""
    entry = Activity(name, fraction)
    _stack.append(entry)
    try:
        yield
    finally:
        _stack.remove(entry)


def current_activity() -> Activity | None:
    """Return the innermost activity, or None."""
    return _stack[-1] if _stack else None
