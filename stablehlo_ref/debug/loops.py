"""Single turns of loops: the body of a `while` as a program, fed with the state before a turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from stablehlo_ref.debug.cut import Flat, Segment, is_constant, is_observable, operands_of, segment
from stablehlo_ref.debug.evaluate import Evaluator
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Value

TURNS = (0, 1, 4)  # that are compared: the body is compiled once


def turns(
    flat: Flat, loop: Operation, values: Mapping[Value, Array], evaluate: Evaluator
) -> Iterator[tuple[int, Segment, list[Array]]]:
    """Yield the numbers of some turns of a `while`, the program of its body, and what it is fed in that turn.

    The state before the first turn is in `values`; later ones are what the interpreter computes from it.
    """
    condition, body = (_program(flat, loop, index) for index in range(2))
    state = [_known(value, values, evaluate) for value in loop.operands]
    for turn in range(max(TURNS) + 1):
        if not _run(condition, _feeds(condition, loop, 0, state, values))[0]:
            return
        feeds = _feeds(body, loop, 1, state, values)
        if turn in TURNS:
            yield turn, body, feeds
        state = list(_run(body, feeds))


def can_enter(loop: Operation, values: Mapping[Value, Array]) -> bool:
    """Return whether all that a loop uses is known: static tensors, whose values the backend returned."""
    return loop.name == "stablehlo.while" and all(
        is_observable(value) and (is_constant(value) or value in values) for value in operands_of(loop)
    )


def _program(flat: Flat, loop: Operation, index: int) -> Segment:
    *ops, terminator = loop.regions[index].block.operations
    return segment(flat, ops, terminator.operands)


def _feeds(
    made: Segment, loop: Operation, index: int, state: Sequence[Array], values: Mapping[Value, Array]
) -> list[Array]:
    block = loop.regions[index].block
    return [state[v.index] if v.owner is block else values[v] for v in made.feeds]


def _run(made: Segment, feeds: Sequence[Array]) -> Sequence[Array]:
    return made.program.run(*feeds)


def _known(value: Value, values: Mapping[Value, Array], evaluate: Evaluator) -> Array:
    return evaluate.constant(value) if is_constant(value) else values[value]
