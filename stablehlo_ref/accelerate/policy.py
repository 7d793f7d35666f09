"""When something is hot: once it has taken about as long, without code, as compiling it takes, so that may pay off.

Turns of loops and calls of functions are counted until they become generated Python, which takes some 50 microseconds
per op. Seconds are counted until loops, chains and kernels become machine code.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Generic, TypeVar

from stablehlo_ref.accelerate.machine.compiler import reason_of
from stablehlo_ref.accelerate.machine.functions import FUNCTIONS
from stablehlo_ref.define.context import Context
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ops.elementwise import on_element

HOT = 30  # turns after which a loop becomes generated Python: as long as compiling takes

HOT_CALLS = 80  # calls after which a function does, which has taken about as long by then as compiling takes
FEW_OPS = 4  # of a function that runs as fast in the plan
MANY_OPS = 4096  # of a function that takes too long to compile for what its calls would gain
SECONDS = 0.05  # for a loop, a chain or a function of usual length, with the import of llvmlite
WEIGHT_SECONDS = 3e-4  # that LLVM takes for an op
FUNCTION_WEIGHT = 50  # of an elementary function, other ops count 1
SHORT_RUN = 2e-5  # seconds of a run of a loop that is not worth the call of machine code
TURN = 0.01  # seconds that a turn in the plan counts at most: the loop may have ended, and begun again much later
USUAL_LINES = 500  # of code of a loop, for which LLVM needs the usual time
SECONDS_OF_LINE = 1.5e-4  # that it needs for a further one

T = TypeVar("T")
Code = TypeVar("Code")


def is_hot(seconds: float, expected: float) -> bool:
    """Return whether what has taken `seconds` pays off as code, for which LLVM needs `expected` more than usual."""
    return seconds > SECONDS + expected


def is_loop_hot(seconds: float, runs: int, lines: int) -> bool:
    """Return whether a loop that has taken `seconds` in some runs pays off as machine code of as many lines."""
    is_worth_calls = seconds > SHORT_RUN * runs
    return is_worth_calls and is_hot(seconds, SECONDS_OF_LINE * max(0, lines - USUAL_LINES))


def weight(op: Operation) -> int:
    """Return how many simple ops take LLVM as long as `op`."""
    return FUNCTION_WEIGHT if op.operands and on_element(op) in FUNCTIONS else 1


class TimedCode(Generic[Code]):
    """Code that is compiled after numpy has taken long for the same; `report` is told why there is none.

    `weight` is that of the ops, beyond those of a function of usual length.
    """

    def __init__(self, weight: int = 0, report: Callable[[str, str], None] | None = None) -> None:
        self._expected, self._report = weight * WEIGHT_SECONDS, report
        self._seconds = 0.0  # that numpy has taken
        self.code: Code | None = None
        self.has_failed = False

    def may_run(self, context: Context | None) -> bool:
        """Return whether a run may use code, and there is or may be any."""
        return context is not None and context.jit and not self.has_failed

    def timed(self, compute: Callable[[], T], compile: Callable[[], Code]) -> T:
        """Return what `compute` returns; compile the code if that has taken long, in all."""
        start = perf_counter()
        result = compute()
        self._seconds += perf_counter() - start
        if is_hot(self._seconds, self._expected):
            self._compile(compile)
        return result

    def _compile(self, compile: Callable[[], Code]) -> None:
        try:
            self.code = compile()
        except Exception as error:
            self.has_failed = True
            reason = reason_of(error)
            if self._report is not None:
                self._report(f"not as machine code: {reason}", "")
