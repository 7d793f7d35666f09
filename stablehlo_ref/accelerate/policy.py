"""When something is hot: once it has taken about as long, without code, as compiling it takes, so that may pay off.

The iterations of a loop are counted until it becomes Python source, which takes some 50 microseconds per op. Seconds
are counted until loops, chains and kernels become machine code.
"""

from __future__ import annotations

HOT = 30  # iterations after which a loop becomes Python source: as long as compiling takes
SECONDS = 0.05  # for a loop or a chain of usual length, with the import of llvmlite
ITERATION = 0.01  # seconds that one counts at most: the loop may have ended, and begun again much later
USUAL_LINES = 500  # of code, for which LLVM needs the usual time
SECONDS_OF_LINE = 1.5e-4  # that it needs for a further one


def is_hot(seconds: float, lines: int = 0) -> bool:
    """Return whether what has taken `seconds` pays off as code of so many lines, for which LLVM needs about as long."""
    return seconds > SECONDS + SECONDS_OF_LINE * max(0, lines - USUAL_LINES)
