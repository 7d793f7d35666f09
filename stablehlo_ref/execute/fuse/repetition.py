"""Loops whose state repeats, so that most of their turns need not be run.

Iterations such as Newton's method are often written with a fixed number of turns, and reach a state that a turn no
longer changes, or that they return to after a few turns. If turns depend on nothing but the state, all that follow are
known then: as many periods as are left can be skipped. The source compares the state, bit by bit, each time that it
checks limits, so this takes no time that matters.
"""

from __future__ import annotations

from typing import Any

from stablehlo_ref.define.context import Context
from stablehlo_ref.execute.fuse.ranges import Planned
from stablehlo_ref.execute.fuse.scalar_code import is_plain
from stablehlo_ref.execute.guard import byte_size
from stablehlo_ref.ir.core import Operation

MAX_STATE = 1 << 16  # bytes of a state that is compared


def may_repeat(loop: Operation, counter: int, planned: Planned) -> bool:
    """Return whether turns of a loop depend on its state alone, of which nothing but the test reads value `counter`."""
    body = loop.regions[1].block
    argument, following = body.arguments[counter], body.operations[-1].operands[counter]
    if [*planned.uses[argument], *planned.uses[following]] != [planned.owner(following), body.operations[-1]]:
        return False
    types = loop.operand_types
    return all(map(is_plain, types)) and sum(map(byte_size, types)) <= MAX_STATE


def bits_of(*values: Any) -> list[Any]:
    """Return the bits of the values of a state: arrays, scalars of numpy, and Python's numbers."""
    return [value if isinstance(value, int) else value.tobytes() for value in values]


def skipped(context: Context, uncounted: int, turns: int, period: int, cost: int) -> int:
    """Return how many of the turns of a loop that are left can be skipped, and count them as steps.

    These are whole periods, within the limit of steps, of which `uncounted` have been used since they were counted, and
    each turn takes `cost`.
    """
    left = (context.limits.max_steps - context.steps - uncounted) // cost
    found = max(min(turns, left), 0) // period * period
    context.steps += found * cost
    return found
