"""When something is hot: once it has taken about as long, without code, as compiling it takes, so that may pay off.

The iterations of a loop are counted until it becomes Python source, which takes some 50 microseconds per op. Seconds
are counted until loops, chains and kernels become machine code.
"""

from __future__ import annotations

HOT = 30  # iterations after which a loop becomes Python source: as long as compiling takes
SECONDS = 0.05  # for a loop or a chain of usual length, with the import of llvmlite
WEIGHT_SECONDS = 2e-4  # for an op of a chain, to be written and compiled
ITERATION = 0.01  # seconds that one counts at most: the loop may have ended, and begun again much later
USUAL_LINES = 500  # of code of a loop, for which LLVM needs the usual time
SECONDS_OF_LINE = 1.5e-4  # that it needs for a further one


def is_hot(seconds: float, expected: float = 0.0) -> bool:
    """Return whether what has taken `seconds` pays off as code, for which LLVM needs `expected` more than usual."""
    return seconds > SECONDS + expected
