"""When something is hot: once it has taken about as long, without code, as compiling it takes, so that may pay off.

The iterations of a loop are counted until it becomes Python source, which takes some 50 microseconds per op. Seconds
are counted until loops, chains and kernels become machine code.
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

HOT = 30  # iterations after which a loop becomes Python source: as long as compiling takes
ITERATIONS, OPS = 256, 4096  # after which a loop in Python checks the deadline, at most
SECONDS = 0.05  # for a loop, a chain or a function of usual length, with the import of llvmlite
WEIGHT_SECONDS = 3e-4  # that LLVM takes for an op
FUNCTION_WEIGHT = 50  # of an elementary function, other ops count 1
ITERATION = 0.01  # seconds that one counts at most: the loop may have ended, and begun again much later
USUAL_LINES = 500  # of code of a loop, for which LLVM needs the usual time
SECONDS_OF_LINE = 1.5e-4  # that it needs for a further one

T = TypeVar("T")
Code = TypeVar("Code")


def is_hot(seconds: float, expected: float = 0.0) -> bool:
    """Return whether what has taken `seconds` pays off as code, for which LLVM needs `expected` more than usual."""
    return seconds > SECONDS + expected


def seconds_for(lines: int) -> float:
    """Return how many seconds more than usual LLVM needs for so many lines."""
    return SECONDS_OF_LINE * max(0, lines - USUAL_LINES)


def iterations_of(ops: int) -> int:
    """Return how many iterations of a loop of so many ops Python counts at a time."""
    return max(1, min(ITERATIONS, OPS // max(ops, 1)))


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
