"""Threads that share the blocks of large arrays. Each block is computed as by one thread, so results are the same.

numpy and machine code let other threads run while they compute. Threads wait some microseconds for each other after
each call, so they pay for calls that take 0.1 ms or more, not for the calls of a few microseconds that most ops consist
of. Blocks are taken one by one, so that a thread whose CPU is busy with another process takes fewer of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import cache
from threading import Condition
from typing import TYPE_CHECKING, Generic, TypeVar

from stablehlo_ref.limits.budget import within_time

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "OMP_NUM_THREADS")  # set by users
MOST = 8  # threads: more would wait for each other, and for memory

T = TypeVar("T")

_limit: ContextVar[int | None] = ContextVar("threads", default=None)  # of this run; by default that of `automatic`


def usable_cpus() -> int:
    """Return how many CPUs the process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def automatic() -> int:
    """Return the default number of threads: as many as CPUs, or what the user has set for numerical libraries."""
    wanted = [value for variable in VARIABLES if (value := os.environ.get(variable))]
    return max(1, min(MOST, usable_cpus(), *[int(value) for value in wanted if value.isdecimal()]))


@contextmanager
def at_most(count: int | None) -> Iterator[None]:
    """Let calls of `share` inside use at most that many threads; None leaves their number as it is."""
    token = _limit.set(count or _limit.get())
    try:
        yield
    finally:
        _limit.reset(token)


def share(work: Callable[[Iterable[T]], None], items: Sequence[T]) -> None:
    """Call `work` with items that take some 0.2 ms each, in several threads, each of which takes one after the other.

    `work` is called once in a thread. It may make buffers, and for each item it stores results that depend on that item
    alone. The first error ends all calls and is raised. Nested calls use one thread.
    """
    count = min(len(items), MOST)
    if count > 1:
        count = min(count, _limit.get() or automatic())
    if count > 1:
        _Team(work, items).run(count)
    else:
        work(within_time(items))


class _Team(Generic[T]):
    """Threads that take items, one by one, until there are none or one of the threads has failed."""

    def __init__(self, work: Callable[[Iterable[T]], None], items: Iterable[T]) -> None:
        self._work = work
        self._items = iter(items)
        self._changed = Condition()
        self._active = 0  # helpers
        self._is_over = False
        self._errors: list[BaseException] = []

    def run(self, count: int) -> None:
        """Do the work with up to `count` threads, of which this is one."""
        try:
            with at_most(1):
                self._call(count - 1)
                self._work(within_time(self._take()))
        finally:
            with self._changed:
                self._is_over, self._items = True, iter(())
                self._changed.wait_for(lambda: not self._active)
            del self._work  # a helper that never began must not keep arrays alive
        if self._errors:
            raise self._errors[0]

    def _call(self, count: int) -> None:
        """Ask for helpers. There may be none, as when the process ends or may have no more threads."""
        try:
            for _ in range(count):
                _pool().submit(copy_context().run, self._help)
        except RuntimeError:
            pass

    def _help(self) -> None:
        with self._changed:
            if self._is_over:
                return
            self._active += 1
        try:
            self._work(within_time(self._take()))
        except BaseException as error:
            self._errors.append(error)
            with self._changed:
                self._items = iter(())
        finally:
            with self._changed:
                self._active -= 1
                self._changed.notify()

    def _take(self) -> Iterator[T]:
        while True:
            with self._changed:
                item = next(self._items, None)
            if item is None:
                return
            yield item


@cache
def _pool() -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor  # takes some ms

    return ThreadPoolExecutor(MOST - 1, "stablehlo_ref")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # the threads of a pool are those of the parent
