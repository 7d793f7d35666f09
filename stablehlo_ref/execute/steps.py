"""Steps: closures over slot numbers, one shape for each arity, that call a planned `run` and drop what dies then."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

from stablehlo_ref.define import Ins, Op, segment_sizes
from stablehlo_ref.diagnostics import StablehloError
from stablehlo_ref.execute.run import CONTEXT, Slots, Step, Turns

Run = Callable[..., Any]


def step_for(run: Run, ins: Sequence[int], outs: Sequence[int], dead: Sequence[int], effects: bool = False) -> Step:
    """A step that calls `run` on the slots `ins`, stores what it returns in `outs` and empties the slots `dead`.

    With one result `run` returns it; with any other number it returns that many in a sequence.
    """
    in_place = getattr(run, "in_place", None)
    if effects:
        return _effect_step(run, tuple(ins), tuple(outs), tuple(dead))
    if in_place and len(outs) == 1 and ins[0] in dead and ins[0] not in ins[1:]:
        return _in_place_step(run, in_place, tuple(ins), outs[0], tuple(dead))
    if len(outs) == 1 and len(ins) in _BY_ARITY and not set(outs) & set(dead):
        return _BY_ARITY[len(ins)](run, *ins, outs[0], *dead)
    return _general_step(run, tuple(ins), tuple(outs), tuple(dead))


def _unary(run: Run, operand: int, out: int, *dead: int) -> Step:
    def step(slots: Slots) -> None:
        slots[out] = run(slots[operand])

    def step_then_drop(slots: Slots) -> None:
        slots[out] = run(slots[operand])
        slots[operand] = None

    return step_then_drop if dead else step


def _binary(run: Run, lhs: int, rhs: int, out: int, *dead: int) -> Step:
    def step(slots: Slots) -> None:
        slots[out] = run(slots[lhs], slots[rhs])

    def step_then_drop(slots: Slots) -> None:
        slots[out] = run(slots[lhs], slots[rhs])
        slots[first] = None

    def step_then_drop_both(slots: Slots) -> None:
        slots[out] = run(slots[lhs], slots[rhs])
        slots[lhs] = slots[rhs] = None

    if not dead:
        return step
    first = dead[0]
    return step_then_drop if len(dead) == 1 else step_then_drop_both


def _ternary(run: Run, a: int, b: int, c: int, out: int, *dead: int) -> Step:
    def step(slots: Slots) -> None:
        slots[out] = run(slots[a], slots[b], slots[c])
        for slot in dead:
            slots[slot] = None

    return step


_BY_ARITY: dict[int, Callable[..., Step]] = {1: _unary, 2: _binary, 3: _ternary}


def _general_step(run: Run, ins: tuple[int, ...], outs: tuple[int, ...], dead: tuple[int, ...]) -> Step:
    def one_result(slots: Slots) -> None:
        slots[outs[0]] = run(*[slots[slot] for slot in ins])
        for slot in dead:
            slots[slot] = None

    def results(slots: Slots) -> None:
        for out, value in zip(outs, run(*[slots[slot] for slot in ins])):
            slots[out] = value
        for slot in dead:
            slots[slot] = None

    return one_result if len(outs) == 1 else results


def _effect_step(run: Run, ins: tuple[int, ...], outs: tuple[int, ...], dead: tuple[int, ...]) -> Step:
    """`run` gets the run's context first."""
    return _general_step(run, (CONTEXT, *ins), outs, dead)


def _owned_count() -> int:
    """What `sys.getrefcount` says of an array that only a local variable holds."""
    array = object()
    return sys.getrefcount(array)


_OWNED = _owned_count()


def _in_place_step(run: Run, in_place: Run, ins: tuple[int, ...], out: int, dead: tuple[int, ...]) -> Step:
    """The first operand dies here: where nobody else holds it, nor a view of it, `in_place` may write into it."""
    first, rest = ins[0], ins[1:]
    others = tuple(slot for slot in dead if slot != first)

    def step(slots: Slots) -> None:
        operand = slots[first]
        slots[first] = None
        free = sys.getrefcount(operand) <= _OWNED and operand.base is None and operand.flags.writeable
        slots[out] = (in_place if free else run)(operand, *[slots[slot] for slot in rest])
        for slot in others:
            slots[slot] = None

    return step


def communicating_step(run: Run, ins: Sequence[int], outs: Sequence[int], dead: Sequence[int]) -> Step:
    """A step whose `run` is a generator of rendezvous, and so is the step."""

    def step(slots: Slots) -> Turns:
        returned = yield from run(slots[CONTEXT], *[slots[slot] for slot in ins])
        for out, value in zip(outs, [returned] if len(outs) == 1 else returned):
            slots[out] = value
        for slot in dead:
            slots[slot] = None

    return step


def refusing_step(error: StablehloError) -> Step:
    """The step of an op that cannot be planned, and may never be reached."""

    def step(slots: Slots) -> None:
        raise type(error)(error.diagnostics)

    return step


def in_a_row(definition: type[Op], count: int, run: Run) -> Run:
    """`run` taking its operands in a row, where it wants those of an `Ins` member as one tuple."""
    if not any(isinstance(m, Ins) for m in definition.operands):
        return run
    *members, last = definition.operands
    if isinstance(last, Ins) and not any(isinstance(m, Ins) for m in members):
        single = len(members) + definition.effects

        def grouped(*arrays: Any) -> Any:
            return run(*arrays[:single], arrays[single:])
    else:
        first = int(definition.effects)
        spans = [slice(first + s.start, first + s.stop) for s in _spans(definition, count)]
        variadic = [isinstance(m, Ins) for m in definition.operands]

        def grouped(*arrays: Any) -> Any:
            parts = [arrays[span] if many else arrays[span.start] for span, many in zip(spans, variadic)]
            return run(*arrays[:first], *parts)

    in_place = getattr(run, "in_place", None)
    if in_place:
        grouped.in_place = in_a_row(definition, count, in_place)  # type: ignore[attr-defined]
    return grouped


def _spans(definition: type[Op], count: int) -> list[slice]:
    """Where each member's operands stand among all `count`."""
    ends = list(accumulate(segment_sizes(definition.operands, count)))
    return [slice(start, stop) for start, stop in zip([0, *ends], ends)]
