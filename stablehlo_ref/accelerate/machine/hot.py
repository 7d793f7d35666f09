"""Run loops that have become machine code."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from stablehlo_ref.accelerate.machine.compiler import Answer, Callback, Compiled, address
from stablehlo_ref.accelerate.machine.functions import settle
from stablehlo_ref.accelerate.machine.loops import LoopWriter
from stablehlo_ref.accelerate.machine.python_ops import FIRST
from stablehlo_ref.accelerate.machine.tensors import HEAD, Field
from stablehlo_ref.budget import reserve
from stablehlo_ref.define.computation import Slots
from stablehlo_ref.define.context import Context
from stablehlo_ref.diagnostics import LimitError
from stablehlo_ref.execute.ownership import is_exclusively_owned
from stablehlo_ref.execute.run import CONTEXT, located
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation

OPS = 1 << 20  # about a millisecond: after so many ops the limits are checked
MAX_KEPT = 1 << 18  # bytes of memory that a loop keeps between runs

CountTurns = Callable[[Context, Operation, int], int]


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

    def __init__(self, op: Operation, writer: LoopWriter, count_turns: CountTurns) -> None:
        self.text = writer.code.text
        self._code = Compiled(self.text)
        self._fields = writer.arrays.fields
        self._op, self._loops, self._python_ops = op, writer.loops, writer.python.ops
        self._count_turns = count_turns
        self._turns = max(1, OPS // max(writer.ops + writer.arrays.work, 1))  # between checks of limits
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
        copies, context.budget.copies = context.budget.copies, None  # as code overwrites what kernels are called with
        try:
            Callback(self._answer(context, frame)).run(self._code, address(frame.words))
        finally:
            context.budget.copies = copies
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
                return self._count_turns(context, op, self._turns)
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
