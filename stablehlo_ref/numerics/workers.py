"""Threads that share the blocks of large arrays. Each block is computed as by one thread, so results are the same.

numpy and machine code let other threads run while they compute. Threads wait some microseconds for each other after
each call, so they pay for calls that take 0.1 ms or more, not for the calls of a few microseconds that most ops consist
of. Blocks are taken one by one, so that a thread whose CPU is busy with another process takes fewer of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from stablehlo_ref.limits.budget import within_time

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

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
    if count <= 1:
        work(within_time(items))
        return
    rest, lock, todo = iter(items), Lock(), [work]

    def take() -> Iterator[T]:
        while True:
            with lock:
                item = next(rest, None)
            if item is None:
                return
            yield item

    def take_part() -> None:
        nonlocal rest
        try:
            todo[0](within_time(take()))
        finally:
            with lock:
                rest = iter(())

    with at_most(1):
        helpers = _helpers(take_part, count - 1)
        try:
            take_part()
        finally:
            errors = [helper.exception() for helper in helpers if not helper.cancel()]
            todo.clear()  # a helper that never began must not keep arrays alive
    for error in errors:
        if error is not None:
            raise error


def _helpers(work: Callable[[], None], count: int) -> list[Future[None]]:
    """Ask for helpers. There may be none, as when the process ends or may have no more threads."""
    helpers: list[Future[None]] = []
    with suppress(RuntimeError):
        for _ in range(count):
            helpers.append(_pool().submit(copy_context().run, work))
    return helpers


@cache
def _pool() -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor  # takes some ms

    return ThreadPoolExecutor(MOST - 1, "stablehlo_ref")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # the threads of a pool are those of the parent
