"""Steps: closures over slot numbers that run a kernel, and empty the slots of values that are not used again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

from stablehlo_ref.define.bound import BoundOp
from stablehlo_ref.define.computation import Kernel, Run, Slots, Turns
from stablehlo_ref.define.definition import OpDefinition, Traits, segment_sizes
from stablehlo_ref.define.op import Ins
from stablehlo_ref.define.spec import is_complex, rank, shape
from stablehlo_ref.diagnostics import StablehloError
from stablehlo_ref.execute.ownership import is_exclusively_owned
from stablehlo_ref.execute.run import CONTEXT, Step
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.layout import NARROW, is_aligned, row_major, row_major_strides


def step_for(kernel: Kernel, ins: Sequence[int], outs: Sequence[int], dead: Sequence[int], traits: Traits) -> Step:
    """Return a step that runs a kernel on the slots `ins`, stores the results in `outs` and empties the slots `dead`.

    A kernel returns its only result by itself, and any other number of results as a sequence. There is a closure for
    each number of operands, as a general one takes about twice as long.
    """
    run, in_place = kernel.run, kernel.in_place
    if traits.effects:
        return _effect_step(run, tuple(ins), tuple(outs), tuple(dead))
    if in_place and len(outs) == 1 and ins[0] in dead and ins[0] not in ins[1:]:
        return _in_place_step(run, in_place, tuple(ins), outs[0], tuple(dead))
    drops_operands = not dead or set(dead) <= set(ins)  # no results, nor captured values
    if len(outs) == 1 and len(ins) in _BY_ARITY and drops_operands:
        return _BY_ARITY[len(ins)](run, *ins, outs[0], *dead)
    return _general_step(run, tuple(ins), tuple(outs), tuple(dead))


# What a step uses are defaults of its parameters, which take half the time and memory of variables of a closure.


def _unary(run: Run, operand: int, out: int, *dead: int) -> Step:
    if not dead:

        def step(slots: Slots, run: Run = run, operand: int = operand, out: int = out) -> None:
            slots[out] = run(slots[operand])

        return step

    def step_then_drop(slots: Slots, run: Run = run, operand: int = operand, out: int = out) -> None:
        slots[out] = run(slots[operand])
        slots[operand] = None

    return step_then_drop


def _binary(run: Run, lhs: int, rhs: int, out: int, *dead: int) -> Step:
    if not dead:

        def step(slots: Slots, run: Run = run, lhs: int = lhs, rhs: int = rhs, out: int = out) -> None:
            slots[out] = run(slots[lhs], slots[rhs])

        return step

    first, last = dead[0], dead[-1]

    def step_then_drop(
        slots: Slots,
        run: Run = run,
        lhs: int = lhs,
        rhs: int = rhs,
        out: int = out,
        first: int = first,
        last: int = last,
    ) -> None:
        slots[out] = run(slots[lhs], slots[rhs])
        slots[first] = slots[last] = None

    return step_then_drop


def _ternary(run: Run, a: int, b: int, c: int, out: int, *dead: int) -> Step:
    def step(
        slots: Slots, run: Run = run, a: int = a, b: int = b, c: int = c, out: int = out, dead: tuple[int, ...] = dead
    ) -> None:
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
    """Return a step whose kernel takes the context of the run as its first argument."""
    return _general_step(run, (CONTEXT, *ins), outs, dead)


def _in_place_step(run: Run, in_place: Run, ins: tuple[int, ...], out: int, dead: tuple[int, ...]) -> Step:
    """Return the step of an op after which the first operand is dead: `in_place` overwrites it if nothing else has it.

    A dead operand is not necessarily unused: it may be an argument that the caller keeps, or a view of it may be alive.
    """
    first, rest = ins[0], ins[1:]
    others = tuple(slot for slot in dead if slot != first)

    def step(slots: Slots) -> None:
        compute = in_place if is_exclusively_owned(slots, first) else run
        operand = slots[first]
        slots[first] = None
        slots[out] = compute(operand, *[slots[slot] for slot in rest])
        for slot in others:
            slots[slot] = None

    return step


def communicating_step(
    kernel: Kernel, ins: Sequence[int], outs: Sequence[int], dead: Sequence[int], traits: Traits
) -> Step:
    """Return a step that is a generator function, as its kernel is, of requests to other processes."""

    def step(slots: Slots) -> Turns:
        returned = yield from kernel.run(slots[CONTEXT], *[slots[slot] for slot in ins])
        for out, value in zip(outs, [returned] if len(outs) == 1 else returned):
            slots[out] = value
        for slot in dead:
            slots[slot] = None

    return step


def constant_step(slot: int, template: Slots) -> Step:
    """Return the step of a constant in a template, for observers; it fills the slot, which a loop may have emptied."""
    value = template[slot]

    def step(slots: Slots) -> None:
        slots[slot] = value

    return step


def raising_step(error: StablehloError) -> Step:
    """Return a step that raises an error: that of an op that cannot be planned, but may never be reached."""

    def step(slots: Slots) -> None:
        raise type(error)(error.diagnostics)

    return step


def with_grouped_operands(definition: OpDefinition, count: int, planned: Run | Kernel) -> Kernel:
    """Return what `plan` returned as a kernel that takes `count` operands, those of an `Ins` member one by one."""
    kernel = planned if isinstance(planned, Kernel) else Kernel(planned)
    if not definition.is_variadic:
        return kernel
    in_place = kernel.in_place and _grouping(definition, count, kernel.in_place)
    return replace(kernel, run=_grouping(definition, count, kernel.run), in_place=in_place)


def with_row_major_operands(kernel: Kernel, bound: BoundOp) -> Kernel:
    """Return a kernel whose results do not depend on the memory layout of its operands, which are tensors."""
    traits, run = bound.definition.traits, kernel.run
    first = int(traits.effects)
    tensors = {
        first + index: (
            shape(t),
            numpy_dtype(t.element_type).itemsize,
            NARROW if traits.rows_apart and not is_complex(t) else 0,
        )
        for index, t in enumerate(bound.operands)
        if isinstance(t, TensorType) and t.is_static and rank(t)
    }
    arrange = {index: row_major(*tensor) for index, tensor in tensors.items()}
    match list(arrange.items()):
        case []:
            return kernel
        case [(0, lhs)] if len(bound.operands) == 1:
            return Kernel(lambda x: run(lhs(x)), temporaries=kernel.temporaries)
        case [(0, lhs), (1, rhs)] if len(bound.operands) == 2:
            left, right = (row_major_strides(sizes, itemsize) for sizes, itemsize, _ in tensors.values())

            def of_two(x: Any, y: Any) -> Any:
                is_like_new = x.strides == left and y.strides == right and is_aligned(x) and is_aligned(y)
                return run(x, y) if is_like_new else run(lhs(x), rhs(y))

            return Kernel(of_two, temporaries=kernel.temporaries)

    def arranged(*arrays: Any) -> Any:
        return run(*[arrange[i](x) if i in arrange else x for i, x in enumerate(arrays)])

    return Kernel(arranged, temporaries=kernel.temporaries)


def _grouping(definition: OpDefinition, count: int, run: Run) -> Run:
    *members, last = definition.operands
    first = int(definition.traits.effects)
    if isinstance(last, Ins) and not any(isinstance(m, Ins) for m in members):
        single = len(members) + first
        return lambda *arrays: run(*arrays[:single], arrays[single:])
    if count == len(definition.operands) and not first and all(isinstance(m, Ins) for m in definition.operands):
        return lambda *arrays: run(*zip(arrays))  # each member has one
    spans = [slice(first + s.start, first + s.stop) for s in _spans(definition, count)]
    variadic = [isinstance(m, Ins) for m in definition.operands]

    def grouped(*arrays: Any) -> Any:
        groups = [arrays[span] if many else arrays[span.start] for span, many in zip(spans, variadic)]
        return run(*arrays[:first], *groups)

    return grouped


def _spans(definition: OpDefinition, count: int) -> list[slice]:
    """Return the slice of each member's operands among all `count` operands."""
    ends = list(accumulate(segment_sizes(definition.operands, count)))
    return [slice(start, stop) for start, stop in zip([0, *ends], ends)]
