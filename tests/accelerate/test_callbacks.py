"""Errors and interrupts in functions that machine code calls."""

from __future__ import annotations

import sys
from types import FrameType, SimpleNamespace
from typing import Any, cast

import pytest

from stablehlo_ref.accelerate.machine import compiler
from stablehlo_ref.accelerate.machine.compiler import RENEW, STOP, Callback, Compiled


def calling(answers: list[int]) -> Compiled:
    """Return a stand-in for machine code, which calls the function three times."""
    return cast(Compiled, SimpleNamespace(run=lambda _, address, turns: answers.extend(map(RENEW(address), (1, 2, 3)))))


def test_answers() -> None:
    answers: list[int] = []
    Callback(lambda asked: 10 * asked).run(calling(answers), 0)
    assert answers == [10, 20, 30]


def test_no_call_after_an_error() -> None:
    asked: list[int] = []

    def answer(number: int) -> int:
        asked.append(number)
        if number == 2:
            raise MemoryError
        return number

    callback, answers = Callback(answer), list[int]()
    for _ in range(2):
        with pytest.raises(MemoryError):
            callback.run(calling(answers), 0)
    assert answers == [1, STOP, STOP] * 2 and asked == [1, 2] * 2


def interrupt(callback: Callback, answers: list[int], moment: int) -> bool:
    """Run with an interrupt at the given line that the generator executes; return False if it executes fewer."""
    left, has_come, before = moment, False, sys.gettrace()

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal left, has_come
        if frame.f_code is not compiler._answers.__code__ or frame.f_locals["errors"] is not callback._errors:
            return None
        left -= event == "line"
        if left < 0:
            has_come = True
            raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        callback.run(calling(answers), 0)
    finally:
        sys.settrace(before)
    return has_come


@pytest.mark.filterwarnings("error")
def test_interrupts_at_any_moment() -> None:
    """At each line of the generator, and where a loop begins again."""
    for moment in range(100):
        callback, answers = Callback(lambda asked: asked), list[int]()
        try:
            has_come = interrupt(callback, answers, moment)
        except KeyboardInterrupt:
            assert answers in ([1, 2, STOP], [1, STOP, STOP], [STOP, STOP, STOP])
        else:
            assert not has_come and answers == [1, 2, 3] and moment > 6
            return
        answers.clear()
        callback.run(calling(answers), 0)
        assert answers == [1, 2, 3]
