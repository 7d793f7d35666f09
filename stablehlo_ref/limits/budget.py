"""What is left of a call's limits: time until a deadline, bytes for the values of a run.

Each call (`load`, `run`, a command) makes one `Budget`; phases and kernels check the one that is in force. It is in a
context variable, so that calls in other threads have their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import perf_counter
from typing import NamedTuple, TypeVar

from stablehlo_ref.diagnostics import LimitError, Location
from stablehlo_ref.limits import Limits

UNMEASURED = 64  # of the limit a run may reserve this fraction before the live values are first measured

T = TypeVar("T")
Clock = Callable[[], float]

RAISE_TIME = "Limits(max_seconds=...) or --max-seconds sets the limit"
RAISE_MEMORY = "Limits(max_total_bytes=...) or --max-total-bytes sets the limit"


class Deadline:
    """The time at which a call has to end, and the limit in seconds that it follows from."""

    __slots__ = ("clock", "end", "seconds")

    def __init__(self, seconds: float, clock: Clock = perf_counter) -> None:
        self.seconds = seconds
        self.clock = clock
        self.end = clock() + seconds

    def check(self, what: str = "the run", needed: float = 0.0, location: Location | None = None) -> None:
        """Raise LimitError if the deadline has passed, or is less than `needed` seconds away."""
        left = self.end - self.clock()
        if left > needed:
            return
        message = f"{what} takes longer than the limit of {self.seconds:g} seconds"
        notes = [RAISE_TIME]
        if left > 0:
            notes.insert(0, f"this step needs about {needed:.2g} seconds, and {left:.2g} are left")
        raise LimitError(message, location, notes)

    def before_each(self, items: Iterable[T], what: str, locate: Callable[[T], Location] | None = None) -> Iterator[T]:
        """Yield items, and check before each, whose location `locate` returns."""
        for item in items:
            self.check(what, location=locate(item) if locate else None)
            yield item


class Memory:
    """The bytes that the values of a run take; `live` measures those that are alive. Without it, none are ever freed.

    Counting each value as it comes and goes would cost time in each step. So what is reserved is subtracted from what
    was left at the last measurement, and the live values are measured again only when that is not enough. A run that
    needs little is not measured at all.
    """

    __slots__ = ("_left", "limit", "live")

    def __init__(self, limit: int, live: Callable[[], int] | None = None) -> None:
        self.limit = limit
        self.live = live
        self._left = limit // UNMEASURED if live else limit

    def reserve(self, values: int, temporaries: int = 0) -> None:
        """Raise LimitError unless there is room for `values` bytes that stay, and temporaries that do not."""
        if values + temporaries > self._left:
            live = self.live() if self.live else self.limit - self._left
            left = self.limit - live
            if values + temporaries > left:  # as if it had not been tried: a way that needs less may follow
                raise self._error(values, temporaries, live)
            self._left = left
        self._left -= values

    def keep(self, count: int) -> None:
        """Reserve bytes that stay for the rest of the run but are not values, such as prepared constants."""
        self.reserve(count)
        self.limit -= count

    def _error(self, values: int, temporaries: int, live: int) -> LimitError:
        needed = f"{size_text(values + temporaries)} more are needed"
        if temporaries:
            needed += f" ({size_text(temporaries)} of them for temporaries)"
        message = f"the values of the run exceed the limit of {size_text(self.limit)}"
        return LimitError(message, notes=[f"{needed}, and {size_text(live)} are live", RAISE_MEMORY])


class Budget(NamedTuple):
    """The limits of one call that are used up as it goes on; None means no limit."""

    deadline: Deadline | None = None
    memory: Memory | None = None


_UNLIMITED = Budget()
current: ContextVar[Budget] = ContextVar("budget", default=_UNLIMITED)


def deadline_of(limits: Limits) -> Deadline | None:
    """Return the deadline of a call that starts now: that of an enclosing call if it ends earlier."""
    outer = current.get().deadline
    if limits.max_seconds is None:
        return outer
    own = Deadline(limits.max_seconds)
    return outer if outer is not None and outer.end < own.end else own


@contextmanager
def in_force(budget: Budget) -> Iterator[None]:
    """Make a budget the one that phases and kernels check."""
    token = current.set(budget)
    try:
        yield
    finally:
        current.reset(token)


@contextmanager
def limited(limits: Limits) -> Iterator[None]:
    """Limit the time of what runs inside, from now on, and the memory that it has before a run starts."""
    with in_force(Budget(deadline_of(limits), Memory(limits.max_total_bytes))):
        yield


def check_time(what: str = "the run", needed: float = 0.0, location: Location | None = None) -> None:
    """Raise LimitError if the deadline has passed, or is less than `needed` seconds away."""
    deadline = current.get().deadline
    if deadline is not None:
        deadline.check(what, needed, location)


def time_left(most: float) -> float:
    """Return the seconds until the deadline, which are not negative, or `most` if it is later."""
    deadline = current.get().deadline
    return most if deadline is None else min(most, max(0.0, deadline.end - deadline.clock()))


def has_deadline() -> bool:
    """Return whether the time is limited."""
    return current.get().deadline is not None


def within_time(
    items: Iterable[T], what: str = "the run", locate: Callable[[T], Location] | None = None
) -> Iterable[T]:
    """Return items for a loop, which raises LimitError at the first one after the deadline, where `locate` says."""
    deadline = current.get().deadline
    return items if deadline is None else deadline.before_each(items, what, locate)


def reserve(values: int, temporaries: int = 0) -> None:
    """Raise LimitError unless the run may allocate `values` bytes that stay, and temporaries that do not."""
    memory = current.get().memory
    if memory is not None:
        memory.reserve(values, temporaries)


def keep(count: int) -> None:
    """Raise LimitError unless a plan may allocate bytes that it keeps."""
    memory = current.get().memory
    if memory is not None:
        memory.keep(count)


def size_text(count: int) -> str:
    """Return a number of bytes as text: `1.5 GB`."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.4g} {unit}"
    return f"{count} bytes"


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
