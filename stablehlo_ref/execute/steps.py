"""Steps: closures over slot numbers that run a kernel, and empty the slots of values that are not used again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

from stablehlo_ref.define.bound import BoundOp
from stablehlo_ref.define.computation import ControlFlow, Kernel, Run, Slots, Turns
from stablehlo_ref.define.definition import OpDefinition, Traits, segment_sizes
from stablehlo_ref.define.op import Ins
from stablehlo_ref.define.spec import is_complex, rank, shape
from stablehlo_ref.diagnostics import InternalError, StablehloError
from stablehlo_ref.execute.ownership import is_exclusively_owned
from stablehlo_ref.execute.run import CONTEXT, Step
from stablehlo_ref.ir.types import TensorType, Type
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.kernels import ArrayKernel
from stablehlo_ref.numerics.layout import NARROW, row_major


def step_for(kernel: Kernel, ins: Sequence[int], outs: Sequence[int], dead: Sequence[int], traits: Traits) -> Step:
    """Return a step that runs a kernel on the slots `ins`, stores the results in `outs` and empties the slots `dead`.

    A kernel returns its only result by itself, and any other number of results as a sequence. There is a closure for
    each number of operands, as a general one takes about twice as long.
    """
    run, in_place = kernel.run, kernel.in_place
    if traits.effects:  # the kernel takes the context of the run as its first argument
        ins = (CONTEXT, *ins)
    if traits.communicates:
        return _communicating_step(run, tuple(ins), tuple(outs), tuple(dead))
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


_BY_ARITY: dict[int, Callable[..., Step]] = {1: _unary, 2: _binary}


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


def _communicating_step(run: Run, ins: tuple[int, ...], outs: tuple[int, ...], dead: tuple[int, ...]) -> Step:
    """Return a step that is a generator function, as its kernel is, of requests to other processes."""

    def step(slots: Slots) -> Turns:
        returned = yield from run(*[slots[slot] for slot in ins])
        for out, value in zip(outs, [returned] if len(outs) == 1 else returned):
            slots[out] = value
        for slot in dead:
            slots[slot] = None

    return step


def raising_step(error: StablehloError) -> Step:
    """Return a step that raises an error: that of an op that cannot be planned, but may never be reached."""

    def step(slots: Slots) -> None:
        raise type(error)(error.diagnostics)

    return step


def control_flow_step(run: ControlFlow, finish: Callable[[Slots], None], communicates: bool) -> Step:
    """Return the step of control flow, after which `finish` is called."""

    def communicate(slots: Slots) -> Turns:
        yield from run(slots)
        finish(slots)

    def step(slots: Slots) -> None:
        for _ in run(slots):
            raise InternalError("a block was not expected to communicate with other processes")
        finish(slots)

    return communicate if communicates else step


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
    arrange = [_row_major(t, traits.rows_apart) for t in bound.operands]
    if not any(arrange):
        return kernel
    arrange[:0] = [None] * traits.effects

    def arranged(*arrays: Any) -> Any:
        return run(*[f(x) if f else x for f, x in zip(arrange, arrays)])

    return Kernel(arranged, temporaries=kernel.temporaries)


def _row_major(type: Type, rows_apart: bool) -> ArrayKernel | None:
    """Return what arranges an operand; None if it has one layout only. Rows of f32 and f64 may be apart."""
    if not isinstance(type, TensorType) or not type.is_static or not rank(type):
        return None
    narrowest = NARROW if rows_apart and not is_complex(type) else 0
    return row_major(shape(type), numpy_dtype(type.element_type).itemsize, narrowest)


def _grouping(definition: OpDefinition, count: int, run: Run) -> Run:
    first = int(definition.traits.effects)
    spans = [slice(first + s.start, first + s.stop) for s in _spans(definition, count)]
    variadic = [isinstance(m, Ins) for m in definition.operands]
    if variadic.index(True) == (last := len(variadic) - 1):
        single = first + last  # a list of members for each call would take twice as long
        return lambda *arrays: run(*arrays[:single], arrays[single:])

    def grouped(*arrays: Any) -> Any:
        groups = [arrays[span] if many else arrays[span.start] for span, many in zip(spans, variadic)]
        return run(*arrays[:first], *groups)

    return grouped


def _spans(definition: OpDefinition, count: int) -> list[slice]:
    """Return the slice of each member's operands among all `count` operands."""
    ends = list(accumulate(segment_sizes(definition.operands, count)))
    return [slice(start, stop) for start, stop in zip([0, *ends], ends)]
