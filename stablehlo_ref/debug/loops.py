"""Regions as programs: single turns of loops, fed with the state before a turn, and the branch that is taken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from stablehlo_ref.debug.control_flow import BRANCHES, LOOP, branch_of
from stablehlo_ref.debug.cut import Flat, Segment, is_constant, is_observable, operands_of, segment
from stablehlo_ref.debug.evaluate import Evaluator
from stablehlo_ref.debug.fused import distance
from stablehlo_ref.debug.session import Session
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Value

MOST_TURNS = 64


@dataclass(frozen=True)
class Part:
    """A region as a program, what it is fed, and the turn of the loop; `region` is its index."""

    turn: int
    region: int
    program: Segment
    feeds: Sequence[Array]


def parts(
    flat: Flat, op: Operation, values: Mapping[Value, Array], evaluate: Evaluator, session: Session
) -> Iterator[Part]:
    """Yield the parts of a loop or of a branch to compare, the most different first.

    The first turns of a loop, at most `MOST_TURNS`, are run by the backend; those are yielded whose result is furthest
    from the interpreter's, for the condition and for the body. The state before the first turn is in `values`; later
    ones are what the interpreter computes from it.
    """
    if op.name in BRANCHES:
        yield from interpreted_parts(flat, op, values, evaluate, 1)
        return
    furthest: dict[int, tuple[float, Part]] = {}
    for part, ours in _turns(flat, op, values, evaluate):
        outcome = session.run(part.program.text, part.feeds)
        pairs = zip(outcome.results, ours)
        apart = float("inf") if outcome.failure else max((distance(x, y) for x, y in pairs), default=0.0)
        if apart > furthest.get(part.region, (0.0, part))[0]:
            furthest[part.region] = apart, part
        if outcome.failure:
            break
    for _, part in sorted(furthest.values(), key=lambda item: -item[0]):
        yield part


def interpreted_parts(
    flat: Flat, op: Operation, values: Mapping[Value, Array], evaluate: Evaluator, most: int
) -> list[Part]:
    """Return the bodies of the first turns of a loop, then its conditions; or the branch that is taken."""
    if op.name in BRANCHES:
        index = branch_of(op, evaluate.value(op.operands[0], values))
        made = _program(flat, op, index)
        return [Part(0, index, made, _feeds(made, op, index, (), values))]
    found = [part for part, _ in islice(_turns(flat, op, values, evaluate), 2 * most)]
    return sorted(found, key=lambda part: -part.region)


def _turns(
    flat: Flat, loop: Operation, values: Mapping[Value, Array], evaluate: Evaluator
) -> Iterator[tuple[Part, Sequence[Array]]]:
    """Yield the condition and the body of each turn with the interpreter's results."""
    condition, body = (_program(flat, loop, index) for index in range(2))
    state: Sequence[Array] = [evaluate.value(value, values) for value in loop.operands]
    for turn in range(MOST_TURNS):
        feeds = _feeds(condition, loop, 0, state, values)
        goes_on = condition.program.run(*feeds)
        yield Part(turn, 0, condition, feeds), goes_on
        if not goes_on[0]:
            return
        feeds = _feeds(body, loop, 1, state, values)
        state = body.program.run(*feeds)
        yield Part(turn, 1, body, feeds), state


def can_enter(op: Operation, values: Mapping[Value, Array]) -> bool:
    """Return whether all that a loop or branch uses is known: static tensors, whose values the backend returned."""
    return op.name in (LOOP, *BRANCHES) and all(
        is_observable(value) and (is_constant(value) or value in values) for value in operands_of(op)
    )


def _program(flat: Flat, op: Operation, index: int) -> Segment:
    *ops, terminator = op.regions[index].block.operations
    return segment(flat, ops, terminator.operands)


def _feeds(
    made: Segment, op: Operation, index: int, state: Sequence[Array], values: Mapping[Value, Array]
) -> list[Array]:
    block = op.regions[index].block
    return [np.asarray(state[v.index] if v.owner is block else values[v]) for v in made.feeds]
