"""Functions of Python that machine code calls."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Generator

from stablehlo_ref.accelerate.machine.compiler import RENEW, Compiled
from stablehlo_ref.accelerate.machine.functions import settle

Answer = Callable[[int], int]

STOP = -1


class Callback:
    """A function that machine code may call, and that is called no more after its first error, which `run` raises.

    An error must not pass machine code, which would go on as if the call had returned 0.
    """

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._start()

    def _start(self) -> None:
        self._errors: list[BaseException] = []
        answers = _answers(self._answer, self._errors)
        next(answers)
        self._function = RENEW(answers.send)
        self._pointer = ctypes.cast(self._function, ctypes.c_void_p).value  # converting a function takes longer

    def run(self, code: Compiled, frame: int, turns: int = 0) -> None:
        """Run machine code that may call the function."""
        code.run(frame, self._pointer, turns)
        if self._errors:
            self._fail()

    def _fail(self) -> None:
        """Raise the first error. A second interrupt may have ended the generator."""
        error = self._errors[0]
        self._start()
        raise error


def _answers(answer: Answer, errors: list[BaseException]) -> Generator[int, int, None]:
    """Yield the answer to each number that is sent, and STOP once there are errors, to which the first is added.

    A signal may raise KeyboardInterrupt at any time, also between two calls of `answer`. As `yield` is inside of `try`,
    an interrupt while the generator resumes is caught as well; as `try` is inside of a loop, so is one after that.
    """
    result = 0
    while True:
        try:
            while True:
                asked = yield result
                result = STOP if errors else answer(asked)
        except GeneratorExit:
            return
        except BaseException as error:
            errors.append(error)
            result = STOP


class _OfThread(threading.local):
    def __init__(self) -> None:
        self.callback = Callback(settle)


_OF_THREAD = _OfThread()


def run_code(code: Compiled, frame: int) -> None:
    """Run machine code that calls Python for nothing but results of functions that are in doubt."""
    _OF_THREAD.callback.run(code, frame)
