"""The ops on which a backend fails: on programs of these alone it refuses, dies or hangs as on the whole program."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from stablehlo_ref.debug.cut import Flat, is_observable, operands_of, segment
from stablehlo_ref.debug.fused import first_near, last
from stablehlo_ref.debug.session import Outcome, Session
from stablehlo_ref.debug.values import run_segment
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Value


def failing_ops(
    flat: Flat, values: Mapping[Value, Array], failure: Outcome, session: Session, most: int
) -> list[Operation]:
    """Return few adjacent ops on which a backend fails as on the whole program; [] if it does not, fed at a cut.

    `values` are those of the interpreter, for at most `most` runs. Ranges are halved; if neither half fails, the start
    and the end are moved.
    """
    left = most

    def fails(start: int, end: int) -> bool:
        nonlocal left
        ops = flat.ops[start:end]
        used = {operand for op in ops for operand in operands_of(op)}
        wanted = [r for op in ops for r in op.results if is_observable(r) and r not in used]
        made = segment(flat, ops, wanted)
        if left <= 0 or not wanted or any(value not in values for value in made.feeds):
            return False
        left -= 1
        return words_of(run_segment(session, made, dict(values))) == words_of(failure)

    low, high = 0, len(flat.ops)
    if not fails(low, high) or words_of(session.run(str(segment(flat, [], []).program), [])) == words_of(failure):
        return []  # not the program is at fault if the backend fails on an empty one
    while high - low > 1:
        middle = (low + high) // 2
        half = next((part for part in ((low, middle), (middle, high)) if fails(*part)), None)
        if half is None:
            return flat.ops[slice(*_narrowed(fails, low, middle, high))]
        low, high = half
    return flat.ops[low:high]


def _narrowed(fails: Callable[[int, int], bool], low: int, middle: int, high: int) -> tuple[int, int]:
    """Return the last start and the first end of a range that fails, around an op that both halves miss."""
    start = last(lambda index: fails(index, high), low, middle)
    return start, first_near(lambda index: fails(start, index), middle, high)


def words_of(failure: Outcome) -> tuple[str, str]:
    """Return the kind of a failure and the first line of its reason, without numbers and names of values."""
    first, *_ = failure.reason.splitlines() or [""]
    return failure.failure, re.sub(r"\d+|%\w+", "#", first)
