"""Loops and functions that run often become generated Python source, and loops machine code where that is available.

A loop is compiled after some turns, a function after some calls (policy.py). From then on its turns, and those of later
runs, are turns of the generated loop: the state passes from the slots of the plan to local variables, and back at the
end.
"""

from __future__ import annotations

import math
import operator
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from math import prod
from time import perf_counter
from types import FrameType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from stablehlo_ref.accelerate import policy
from stablehlo_ref.accelerate.machine.compiler import Answer, Callback, Compiled, address, is_available, reason_of
from stablehlo_ref.accelerate.machine.functions import settle
from stablehlo_ref.accelerate.machine.loops import LoopWriter, written
from stablehlo_ref.accelerate.machine.python_ops import FIRST
from stablehlo_ref.accelerate.machine.tensors import HEAD, Field
from stablehlo_ref.accelerate.python.expressions import is_scalar, scalar_type
from stablehlo_ref.accelerate.python.writer import Generated, NotSuitable, Writer
from stablehlo_ref.define.computation import Slots
from stablehlo_ref.define.context import Context
from stablehlo_ref.diagnostics import LimitError, StablehloError
from stablehlo_ref.execute.ownership import is_exclusively_owned
from stablehlo_ref.execute.run import CONTEXT, located
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Block, Operation, Value
from stablehlo_ref.limits.budget import check_time, reserve

if TYPE_CHECKING:
    from stablehlo_ref.accelerate import PlanAccelerator
    from stablehlo_ref.execute.plan import FramePlanner

TURNS = 256  # after which a loop checks the deadline, at most
OPS = 4096  # of so many ops together
MACHINE_OPS = 1 << 20  # about a millisecond: after so many ops machine code checks the limits
MAX_KEPT = 1 << 18  # bytes of memory that a loop in machine code keeps between runs


class Locals:
    """The local variables of a running function, as the slots of its plan are: values that are alive."""

    def __init__(self, frame: FrameType) -> None:
        self._frame = frame

    def __iter__(self) -> Iterator[Any]:
        variables = self._frame.f_locals
        values = list(variables.values())
        if isinstance(variables, dict):
            variables.clear()  # a copy, which would keep values alive
        return iter(values)


def register(context: Context) -> int:
    """Add the local variables of the caller to the live values of the run; return their key in `context.frames`."""
    variables = Locals(sys._getframe(1))
    key = id(variables)
    context.frames[key] = variables
    return key


def count_turns(context: Context, op: Operation, turns: int) -> int:
    """Count up to so many turns that a loop makes next, and return how many; EvaluationError past the limit."""
    left = min(turns, context.limits.max_steps - context.steps)
    context.steps += max(left - 1, 0)
    try:
        context.turn()
    except StablehloError as error:
        raise located(error, op) from None
    return left


class MachineFrame:
    """The arrays of one run of a loop in machine code, and a frame with their addresses."""

    def __init__(self, fields: Sequence[Field]) -> None:
        self.words = np.zeros(HEAD + len(fields), np.int64)
        self.arrays: list[Array | None] = [None] * len(fields)
        for field in fields:
            if field.slot is None:
                constant = np.empty(field.shape, field.dtype) if field.constant is None else field.constant
                self.fill(field, np.require(constant, requirements=["C", "A"]))

    def fill(self, field: Field, value: Array) -> None:
        self.arrays[field.number] = value
        self.words[HEAD + field.number] = address(value)


class MachineLoop:
    """A loop in machine code, as a function of the slots of its plan."""

    def __init__(self, op: Operation, writer: LoopWriter) -> None:
        self.text = writer.code.text
        self._code = Compiled(self.text)
        self._fields = writer.arrays.fields
        self._op, self._loops, self._python_ops = op, writer.loops, writer.python.ops
        self._turns = max(1, MACHINE_OPS // max(writer.ops + writer.arrays.work, 1))  # between checks of limits
        # Memory of the loop's own, and what no run uses: of one run at most, and none if it is large.
        self._own_bytes = sum(_bytes(field) for field in self._fields if _is_own(field))
        self._unused: deque[MachineFrame] = deque(maxlen=int(self._own_bytes <= MAX_KEPT))

    def __call__(self, slots: Slots) -> bool:
        """Run the loop from the state in slots to its end; return False if the plan has to do that."""
        context: Context = slots[CONTEXT]
        if not self._fits(slots):
            return False
        try:
            frame = self._frame(slots)
        except (LimitError, MemoryError):  # the plan may need less memory, and else has the op that needs too much
            return False
        context.frames[id(frame)] = frame.arrays
        try:
            self._run(context, slots, frame)
        finally:
            del context.frames[id(frame)]
        return True

    def _frame(self, slots: Slots) -> MachineFrame:
        """Return an unused frame; LimitError unless there is room for it and for copies of values, made in slots."""
        shared = [field for field in self._fields if not _may_use(slots, field)]
        reserve(self._own_bytes + sum(_bytes(field) for field in shared))
        for field in shared:
            if field.slot is not None and not _may_use(slots, field):  # still, after other copies
                slots[field.slot] = slots[field.slot].copy()
        try:
            return self._unused.pop()
        except IndexError:
            return MachineFrame(self._fields)

    def _run(self, context: Context, slots: Slots, frame: MachineFrame) -> None:
        for field in self._fields:
            if field.slot is not None:
                frame.fill(field, np.array(slots[field.slot], order="C") if field.by_value else slots[field.slot])
                if field.is_state:
                    slots[field.slot] = None
        Callback(self._answer(context, frame)).run(self._code, address(frame.words))
        context.steps -= int(frame.words[0])
        for field in self._fields:
            if field.slot is not None:
                value, frame.arrays[field.number] = frame.arrays[field.number], None
                if field.is_state and value is not None:
                    slots[field.slot] = value if value.ndim else value[()]
        self._unused.append(frame)

    def _fits(self, slots: Slots) -> bool:
        """Return whether values have the shapes of their types, as they have not where they are of all lanes."""
        return all(field.slot is None or slots[field.slot].shape == field.shape for field in self._fields)

    def _answer(self, context: Context, frame: MachineFrame) -> Answer:
        """Return a function that counts turns of a loop, and returns how many.

        A negative number asks for results of a function, or of an op that Python computes.
        """
        op = self._op

        def answer(asked: int) -> int:
            nonlocal op
            try:
                if asked <= FIRST:
                    python_op = self._python_ops[FIRST - asked]
                    op = python_op.op
                    python_op.compute(frame.arrays)
                    return 0
                if asked < 0:
                    return settle(asked)
                op = self._loops[asked]
                return count_turns(context, op, self._turns)
            except Exception as error:
                raise located(error, op) from None

        return answer


def _bytes(field: Field) -> int:
    return field.dtype.itemsize * prod(field.shape)


def _is_own(field: Field) -> bool:
    """Return whether a field is an array that is not that of a slot or of a constant."""
    is_constant = field.constant is not None and _is_addressable(field.constant)
    return field.slot is None and not is_constant


def _may_use(slots: Slots, field: Field) -> bool:
    """Return whether a loop may have the array in a slot, and write to it if need be; True for other fields."""
    if field.slot is None or field.by_value:
        return True
    may_write = not field.is_written or is_exclusively_owned(slots, field.slot)
    return may_write and _is_addressable(slots[field.slot])


def _is_addressable(array: Array) -> bool:
    return array.flags.c_contiguous and array.flags.aligned


class HotLoop:
    """Counts the turns of a loop, runs generated source once it is hot, and machine code once that has taken long."""

    def __init__(self, planner: FramePlanner, op: Operation) -> None:
        self._planner, self._op = planner, op
        self._left = policy.HOT
        self._run: Callable[[Slots], bool] | None = None  # generated source
        self._writer: LoopWriter | None = None  # of machine code, until the loop is compiled
        self._machine: MachineLoop | None = None
        self._seconds = 0.0  # that generated Python has taken
        self._started = 0.0
        self._ended = 0.0  # when it last left a turn to the plan
        self._runs = 0
        self._has_left = False
        cast("PlanAccelerator", planner.planner.accelerator).loops[op] = self

    def __call__(self, slots: Slots) -> bool:
        """Finish the loop, by machine code or generated source; return False if the plan has to go on."""
        if self._run is None:
            self._left -= 1
            if self._left >= 0:
                return False
            self._run = self._generated()
        if not slots[CONTEXT].jit or not (self._writer or self._machine):
            return self._run(slots)
        if self._is_hot(self._seconds):
            self._compile()
        if self._machine is not None and self._machine(slots):
            return True
        self._runs += 1
        self._has_left = False
        self._started, ended = perf_counter(), self._ended
        if ended:
            self._seconds += min(self._started - ended, policy.TURN)
        ran = self._run(slots)
        now = perf_counter()
        self._seconds += now - self._started
        self._ended = 0.0 if ran else now
        return self(slots) if self._has_left and not ran else ran

    def takes_over(self, context: Context) -> bool:
        """Return whether generated Python has taken so long that it leaves the rest of the loop to machine code."""
        if self._writer and context.jit and self._is_hot(self._seconds + perf_counter() - self._started):
            self._has_left = True
            return True
        return False

    @property
    def runs_apart(self) -> bool:
        """Whether the loop is, or may become, machine code, and runs long enough each time."""
        return self._machine is not None or (self._writer is not None and self._seconds > policy.SHORT_RUN * self._runs)

    def _is_hot(self, seconds: float) -> bool:
        return self._writer is not None and policy.is_loop_hot(seconds, self._runs, self._writer.lines)

    def _generated(self) -> Callable[[Slots], bool]:
        """Return the generated source; write the machine code, if there is any, which does not need llvmlite."""
        if is_available():
            try:
                self._writer = written(self._planner, self._op)
            except Exception as error:
                self._report(f", not as machine code: {reason_of(error)}")
        try:
            generated = loop_source(self._planner, self._op, self)
        except (NotSuitable, RecursionError):
            return lambda slots: False
        self._report("", generated.text)
        return generated.run

    def _compile(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            try:
                self._machine = MachineLoop(self._op, writer)
                self._report(", as machine code", self._machine.text)
            except Exception as error:
                self._report(f", not as machine code: {reason_of(error)}")

    def _report(self, what: str, text: str = "") -> None:
        self._planner.planner.generated.append((f"{self._op.name} at {self._op.location}{what}", text))


def hot_loop(planner: FramePlanner, op: Operation) -> HotLoop | None:
    """Return what finishes a `while` by generated code; None for other ops."""
    if op.name != "stablehlo.while" or planner.lanes is not None:
        return None
    if any(len(region.blocks) != 1 for region in op.regions) or planner.planner.communicates(op):
        return None
    return HotLoop(planner, op)


class HotFunction:
    """Counts the calls of a function, and runs generated source once it has proven hot."""

    def __init__(self, planner: FramePlanner, block: Block) -> None:
        self._planner, self._block = planner, block
        self._left = policy.HOT_CALLS
        self._run: Callable[[Slots], bool] | None = None

    def __call__(self, slots: Slots) -> bool:
        """Run the source on the values in slots once it exists; return whether it ran."""
        if self._run is None:
            self._left -= 1
            if self._left >= 0:
                return False
            self._run = self._generated()
        return self._run(slots)

    def _generated(self) -> Callable[[Slots], bool]:
        try:
            generated = function_source(self._planner, self._block)
        except (NotSuitable, RecursionError):
            return lambda slots: False
        self._planner.planner.generated.append((self._planner.frame.name, generated.text))
        return generated.run


def hot_function(planner: FramePlanner, block: Block) -> HotFunction | None:
    """Return what runs the block of a function by generated source; None if it has few ops, or very many."""
    if block not in planner.blocks or planner.lanes is not None or planner.frame.block.communicates:
        return None
    count = len(planner.blocks[block].ops)
    return HotFunction(planner, block) if policy.FEW_OPS <= count <= policy.MANY_OPS else None


def function_source(planner: FramePlanner, block: Block) -> Generated:
    """Return the source of a function, which takes arguments from slots and stores results there."""
    writer, plan = _writer(planner), planner.blocks[block]

    def write() -> None:
        for name, slot in zip(writer.block(block), plan.results):
            if slot not in planner.constants:
                writer.source.line(f"s0[{slot}] = {name}")

    return _finished(writer, plan.arguments, block.arguments, write, "return True", count_turns)


def loop_source(planner: FramePlanner, loop: Operation, hot: HotLoop) -> Generated:
    """Return the source of a loop, a function of the slots of the plan, which hold the state and captured values.

    It returns False where it has left the loop before a turn.
    """
    writer, (cond, body) = _writer(planner), (region.block for region in loop.regions)
    if cond not in planner.blocks or body not in planner.blocks:
        raise NotSuitable
    state = planner.blocks[body].arguments

    def write() -> None:
        writer.loop(loop)
        for name, slot in zip(writer.write(state), state):
            writer.source.line(f"s0[{slot}] = {name}")

    def count(context: Context, op: Operation, turns: int) -> int:
        """Count turns that follow; return -1 at one of the outermost loop if machine code takes over."""
        return -1 if op is loop and hot.takes_over(context) else count_turns(context, op, turns)

    return _finished(writer, state, body.arguments, write, "return n0 >= 0", count)


def _writer(planner: FramePlanner) -> Writer:
    known = cast("PlanAccelerator", planner.planner.accelerator).loops
    return Writer(planner, lambda op: op in known and known[op].runs_apart)


def _finished(
    writer: Writer, slots: Sequence[int], values: Sequence[Value], write: Callable[[], None], end: str,
    count: Callable[[Context, Operation, int], int],
) -> Generated:  # fmt: skip
    """Write the source that takes values out of slots, and what `write` writes, and compile it."""
    source = writer.source
    for name, slot, value in zip(writer.write(slots), slots, values):
        source.line(f"{name} = s0[{slot}]")
        if is_scalar(value.type):
            with source.block(f"if type({name}) is not {source.refer(scalar_type(value.type), 't')}:"):
                source.line(f"if {name}.ndim: return False")  # as where lanes are arguments
                source.line(f"{name} = {name}[()]")
    writer.drop(f"s0[{slot}]" for slot in slots)
    source.line("F = register(C)")
    with source.block("try:"):
        write()
    source.line("except Exception as error: raise located(error) from error")
    source.line("finally: del C.frames[F]")
    source.line(end)
    most = max(1, min(TURNS, OPS // max(writer.ops, 1)))

    def renew(context: Context, op: Operation, turns: int = most) -> int:
        return count(context, op, turns)

    source.globals |= {
        "renew": renew, "register": register, "check_time": check_time, "reserve": reserve, "index": operator.index,
        "sqrt": math.sqrt,
    }  # fmt: skip
    return source.finish("s0", _prologue(writer))


def _prologue(writer: Writer) -> list[str]:
    """Return lines that load what the source reads from slots."""
    lines = ["  C = s0[0]"]
    for name, (slot, value) in writer.loaded.items():
        lines.append(f"  {name} = s0[{slot}]")
        if value is not None and is_scalar(value.type):
            expected = writer.source.refer(scalar_type(value.type), "t")
            lines.append(f"  if type({name}) is not {expected}: {name} = {name}[()]")
    return lines + [f"  {name} = {writer.source.refer(np.zeros(1, x))}.copy()" for name, x in writer.scratch.items()]
