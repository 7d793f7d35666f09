"""Blocks are shared by threads: each is computed once, and errors, limits and interrupts reach the caller."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterable

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.diagnostics import LimitError
from stablehlo_ref.limits import Limits, budget
from stablehlo_ref.numerics import workers
from stablehlo_ref.numerics.workers import at_most, automatic, share

POWER = """
func.func @main(%x: tensor<300x300xf32>) -> tensor<300x300xf32> {
  %0 = stablehlo.power %x, %x : tensor<300x300xf32>
  return %0 : tensor<300x300xf32>
}
"""


def meeting(count: int) -> threading.Barrier:
    """Return what lets that many threads wait for each other, so that all take part."""
    return threading.Barrier(count, timeout=60)


def test_each_item_is_taken_once_and_by_several_threads() -> None:
    both, taken, threads = meeting(3), [0] * 100, set()

    def work(items: Iterable[int]) -> None:
        both.wait()
        threads.add(threading.get_ident())
        for item in items:
            taken[item] += 1

    with at_most(3):
        share(work, range(100))
    assert taken == [1] * 100
    assert len(threads) == 3


def test_one_item_and_one_thread_are_computed_by_the_caller() -> None:
    def work(items: Iterable[int]) -> None:
        assert threading.current_thread() is caller
        assert list(items)

    caller = threading.current_thread()
    with at_most(4):
        share(work, range(1))
    with at_most(1):
        share(work, range(1000))


def test_calls_inside_of_a_call_use_one_thread() -> None:
    both = meeting(2)

    def inner(items: Iterable[int]) -> None:
        threads.append(threading.get_ident())
        list(items)

    def work(items: Iterable[int]) -> None:
        both.wait()
        share(inner, range(100))
        list(items)

    threads: list[int] = []
    with at_most(2):
        share(work, range(100))
    assert len(threads) == len(set(threads)) == 2


@pytest.mark.parametrize("is_helper", [False, True])
def test_the_first_error_ends_the_work_and_is_raised(is_helper: bool) -> None:
    both, caller, count = meeting(2), threading.current_thread(), [0]

    def work(items: Iterable[int]) -> None:
        both.wait()
        for _ in items:
            count[0] += 1
            if (threading.current_thread() is not caller) == is_helper:
                raise MemoryError("one")

    with at_most(2), pytest.raises(MemoryError, match="one"):
        share(work, range(10**9))
    assert count[0] < 10**9


def test_the_time_is_limited_in_all_threads() -> None:
    seen = []

    def work(items: Iterable[int]) -> None:
        try:
            for _ in items:
                pass
        except LimitError:
            seen.append(threading.get_ident())
            raise

    with budget.limited(Limits(max_seconds=0.2)), at_most(2), pytest.raises(LimitError, match=r"0\.2 seconds"):
        share(work, range(10**9))
    assert seen


def test_floating_point_errors_are_ignored_in_all_threads_if_the_caller_ignores_them() -> None:
    both, seen = meeting(2), []

    def work(items: Iterable[int]) -> None:
        both.wait()
        seen.append(np.geterr()["divide"])
        list(items)

    with np.errstate(divide="ignore"), at_most(2):
        share(work, range(100))
    assert seen == ["ignore", "ignore"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own() -> None:
    both = meeting(2)

    def meet_and_take(items: Iterable[int]) -> None:
        both.wait()
        list(items)

    with at_most(2):
        share(meet_and_take, range(100))
        child = os.fork()
        if child == 0:
            share(meet_and_take, range(100))
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


def test_without_further_threads_the_caller_does_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    workers._pool.cache_clear()
    taken: list[int] = []
    with at_most(2):
        share(taken.extend, range(100))
    workers._pool.cache_clear()
    assert taken == list(range(100))


def test_the_default_is_what_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "usable_cpus", lambda: 64)
    for variable in workers.VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    assert automatic() == workers.MOST
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.setenv("MKL_NUM_THREADS", "four")
    assert automatic() == 2


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    program = sr.parse(POWER)
    x = np.linspace(0, 9, 90000, dtype=np.float32).reshape(300, 300)
    one, several = (program.run(x, threads=n)[0] for n in (1, 4))
    np.testing.assert_array_equal(one.view(np.uint32), several.view(np.uint32))


def test_an_interrupt_ends_the_work() -> None:
    def work(items: Iterable[int]) -> None:
        for _ in items:
            if threading.current_thread() is threading.main_thread():
                raise KeyboardInterrupt

    with at_most(2), pytest.raises(KeyboardInterrupt):
        share(work, range(10**9))
    assert sys.exc_info() == (None, None, None)
