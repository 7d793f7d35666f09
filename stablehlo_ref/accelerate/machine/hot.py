"""Decide which loops become machine code, and run those that have."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from math import prod
from time import perf_counter
from typing import TYPE_CHECKING, cast

import numpy as np

from stablehlo_ref.accelerate import policy
from stablehlo_ref.accelerate.machine.arrays import ADDRESS, Field
from stablehlo_ref.accelerate.machine.compiler import Answer, Callback, Compiled, reason_of
from stablehlo_ref.accelerate.machine.functions import settle
from stablehlo_ref.accelerate.machine.loops import LoopWriter
from stablehlo_ref.accelerate.machine.python_ops import FIRST
from stablehlo_ref.budget import reserve
from stablehlo_ref.define.computation import Slots
from stablehlo_ref.define.context import Context
from stablehlo_ref.diagnostics import LimitError
from stablehlo_ref.execute.ownership import is_exclusively_owned
from stablehlo_ref.execute.run import CONTEXT, located
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation

if TYPE_CHECKING:
    from stablehlo_ref.accelerate import PlanAccelerator
    from stablehlo_ref.execute.plan import FramePlanner

OPS = 1 << 20  # about a millisecond: after so many ops the limits are checked
MAX_KEPT = 1 << 18  # bytes of memory that a loop keeps between runs

Renew = Callable[[Context, Operation], int]


class MachineFrame:
    """The values of one run of a loop in machine code, `size` bytes, and the arrays to which its fields point."""

    def __init__(self, fields: Sequence[Field], size: int) -> None:
        self.buffer = np.zeros(size, np.uint8)
        self.address = self.buffer.ctypes.data
        self.left = self.buffer[:8].view(np.int64)  # turns that are counted and have not begun
        self.views = [self._view(field) for field in fields]
        self.arrays: list[Array] = [self.buffer]
        self.held: dict[int, Array] = {}  # of fields, by their offsets
        for field, view in zip(fields, self.views):
            if field.slot is None:
                self.fill(field, view, np.empty(field.shape, field.dtype) if field.constant is None else field.constant)

    def _view(self, field: Field) -> Array:
        dtype, shape = (ADDRESS, ()) if field.in_memory else (field.dtype, field.shape)
        size = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
        return self.buffer[field.offset : field.offset + size].view(dtype).reshape(shape)

    def fill(self, field: Field, view: Array, value: Array) -> None:
        """Store a value, or the address of its array."""
        if field.in_memory:
            value = np.require(value, requirements=["C", "A"])
            self.arrays.append(value)
            view[()] = value.ctypes.data
            self.held[field.offset] = value
        else:
            view[...] = value
            self.held[field.offset] = view


class MachineLoop:
    """A loop in machine code, as a function of the slots of its plan."""

    def __init__(self, op: Operation, writer: LoopWriter, make_renew: Callable[[int], Renew]) -> None:
        self.text = writer.code.text
        self._code = Compiled(self.text)
        self._fields, self._size = writer.arrays.layout.fields, writer.arrays.layout.size
        self._op, self._loops, self._python_ops = op, writer.loops, writer.python.ops
        self._renew = make_renew(max(1, OPS // max(writer.ops + writer.arrays.work, 1)))
        # Memory of the loop's own, and what no run uses: of one run at most, and none if it is large.
        self._own_bytes = self._size + sum(_bytes(field) for field in self._fields if _is_own(field))
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
            return MachineFrame(self._fields, self._size)

    def _run(self, context: Context, slots: Slots, frame: MachineFrame) -> None:
        kept = len(frame.arrays)
        for field, view in zip(self._fields, frame.views):
            if field.slot is not None:
                frame.fill(field, view, slots[field.slot])
                if field.is_state:
                    slots[field.slot] = None
        copies, context.budget.copies = context.budget.copies, None  # as code overwrites what kernels are called with
        try:
            Callback(self._answer(context, frame)).run(self._code, frame.address)
        finally:
            context.budget.copies = copies
        context.steps -= int(frame.left[0])
        self._give_back(slots, frame, kept)

    def _fits(self, slots: Slots) -> bool:
        """Return whether values have the shapes of their types, as they have not where they are of all lanes."""
        return all(field.slot is None or slots[field.slot].shape == field.shape for field in self._fields)

    def _give_back(self, slots: Slots, frame: MachineFrame, kept: int) -> None:
        arrays = iter(frame.arrays[kept:])
        for field, view in zip(self._fields, frame.views):
            if field.slot is not None:
                value = next(arrays) if field.in_memory else view
                del frame.held[field.offset]
                if field.is_state:
                    slots[field.slot] = value if field.in_memory else view[()] if not view.ndim else view.copy()
        del frame.arrays[kept:]
        self._unused.append(frame)

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
                    context.steps -= int(frame.left[0]) if op.regions else 0
                    python_op.compute(frame.held)
                    return 0
                if asked < 0:
                    return settle(asked)
                op = self._loops[asked]
                return self._renew(context, op)
            except Exception as error:
                raise located(error, op) from None

        return answer


def _bytes(field: Field) -> int:
    return field.dtype.itemsize * prod(field.shape)


def _is_own(field: Field) -> bool:
    """Return whether a field is an array in memory that is not that of a slot or of a constant."""
    is_constant = field.constant is not None and _is_addressable(field.constant)
    return field.in_memory and field.slot is None and not is_constant


def _may_use(slots: Slots, field: Field) -> bool:
    """Return whether a loop may have the array in a slot, and write to it if need be; True for other fields."""
    if field.slot is None or not field.in_memory:
        return True
    may_write = not field.is_written or is_exclusively_owned(slots, field.slot)
    return may_write and _is_addressable(slots[field.slot])


def _is_addressable(array: Array) -> bool:
    return array.flags.c_contiguous and array.flags.aligned


def machines_of(frame: FramePlanner) -> dict[Operation, Machine]:
    """Return the hot loops of a program that may become machine code."""
    return cast("PlanAccelerator", frame.planner.accelerator).machines


class Machine:
    """Times a loop that runs as generated Python, and makes it machine code once that has taken long."""

    def __init__(self, planner: FramePlanner, op: Operation, make_renew: Callable[[int], Renew]) -> None:
        self._planner, self.op, self._make_renew = planner, op, make_renew
        self._seconds = 0.0  # that generated Python has taken
        self._started = 0.0
        self._ended = 0.0  # when it last left a turn to the plan
        self._runs = 0
        self._has_left = False
        self._writer = self._write()  # until the loop is compiled
        self._loop: MachineLoop | None = None
        machines_of(planner)[op] = self

    def __call__(self, slots: Slots, run: Callable[[Slots], bool]) -> bool:
        """Finish the loop by machine code, or by `run`; return False if the plan has to go on."""
        if not slots[CONTEXT].jit or not (self.may_compile or self._loop):
            return run(slots)
        if self._is_hot(self._seconds):
            self._compile()
        if self._loop is not None and self._loop(slots):
            return True
        self._runs += 1
        self._has_left = False
        self._started, ended = perf_counter(), self._ended
        if ended:
            self._seconds += min(self._started - ended, policy.TURN)
        ran = run(slots)
        now = perf_counter()
        self._seconds += now - self._started
        self._ended = 0.0 if ran else now
        return self(slots, run) if self._has_left and not ran else ran

    @property
    def may_compile(self) -> bool:
        """Whether the loop can become machine code, and has not."""
        return self._writer is not None

    def takes_over(self, context: Context) -> bool:
        """Return whether generated Python has taken so long that it leaves the rest of the loop to machine code."""
        if self.may_compile and context.jit and self._is_hot(self._seconds + perf_counter() - self._started):
            self._has_left = True
            return True
        return False

    def takes_whole_loop(self) -> bool:
        """Return whether the loop is, or may become, machine code, and runs long enough each time."""
        return self._loop is not None or (self.may_compile and self._seconds > policy.SHORT_RUN * self._runs)

    def _is_hot(self, seconds: float) -> bool:
        return self._writer is not None and policy.is_loop_hot(seconds, self._runs, self._writer.lines)

    def _compile(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            try:
                self._loop = MachineLoop(self.op, writer, self._make_renew)
                self._report("as machine code", self._loop.text)
            except Exception as error:
                self._report(f"not as machine code: {reason_of(error)}")

    def _write(self) -> LoopWriter | None:
        """Write the code, which does not need llvmlite; return None if there is none."""
        try:
            return LoopWriter(self._planner, self.op)
        except Exception as error:
            self._report(f"not as machine code: {reason_of(error)}")
        return None

    def _report(self, what: str, text: str = "") -> None:
        self._planner.planner.generated.append((f"{self.op.name} at {self.op.location}, {what}", text))
