"""Loops that run often become code: machine code where that is available and pays off, else Python.

When that is decided is in policy.py. From then on the rest of a loop, and its later runs, are runs of the code: the
state passes from the slots of the plan to it, and back at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from math import prod
from time import perf_counter
from typing import TYPE_CHECKING, cast

import numpy as np

from stablehlo_ref.accelerate import policy
from stablehlo_ref.accelerate.ir import Loop, NotCompiled, body_of, node_of
from stablehlo_ref.accelerate.machine.compiler import Answer, Callback, address, compiled, is_available, reason_of
from stablehlo_ref.accelerate.machine.functions import settle
from stablehlo_ref.accelerate.machine.loops import LoopWriter
from stablehlo_ref.accelerate.machine.tensors import HEAD, Field
from stablehlo_ref.accelerate.python import count_iterations, python_function, python_loop
from stablehlo_ref.define.computation import Slots
from stablehlo_ref.define.context import Context
from stablehlo_ref.diagnostics import LimitError
from stablehlo_ref.execute.liveness import is_exclusively_owned
from stablehlo_ref.execute.run import CONTEXT, located
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Block, Operation
from stablehlo_ref.limits.budget import reserve

if TYPE_CHECKING:
    from stablehlo_ref.accelerate import PlanAccelerator
    from stablehlo_ref.execute.plan import FramePlanner

MACHINE_OPS = 1 << 20  # about a millisecond: after so many ops machine code checks the limits


class MachineLoop:
    """A loop in machine code, as a function of the slots of its plan."""

    def __init__(self, op: Operation, writer: LoopWriter) -> None:
        self.text = writer.code.text
        self._code = compiled(self.text)
        self._fields = writer.arrays.fields
        self._op, self._loops = op, writer.loops
        self._iterations = max(1, MACHINE_OPS // max(writer.count + writer.arrays.work, 1))  # between checks of limits
        self._own_bytes = sum(_bytes(field) for field in self._fields if _is_own(field))

    def __call__(self, slots: Slots) -> bool:
        """Run the loop from the state in slots to its end; return False if the plan has to do that."""
        context: Context = slots[CONTEXT]
        if not self._fits(slots):
            return False
        try:
            arrays = self._arrays(slots)
        except (LimitError, MemoryError):  # the plan may need less memory, and else has the op that needs too much
            return False
        frame = np.array([*[0] * HEAD, *map(address, arrays)], np.int64)
        state = [(field.slot, x) for field, x in zip(self._fields, arrays) if field.slot is not None and field.is_state]
        for slot, _ in state:
            slots[slot] = None
        context.frames[id(arrays)] = arrays
        try:
            Callback(self._answer(context)).run(self._code, address(frame))
        finally:
            del context.frames[id(arrays)]
        context.steps -= int(frame[0])
        for slot, x in state:
            slots[slot] = x if x.ndim else x[()]
        return True

    def _arrays(self, slots: Slots) -> list[Array]:
        """Return the arrays of fields; LimitError unless there is room for them, and for copies of values in slots."""
        shared = [field for field in self._fields if not _may_use(slots, field)]
        reserve(self._own_bytes + sum(_bytes(field) for field in shared))
        for field in shared:
            if field.slot is not None and not _may_use(slots, field):  # still, after other copies
                slots[field.slot] = slots[field.slot].copy()
        return [_array(slots, field) for field in self._fields]

    def _fits(self, slots: Slots) -> bool:
        """Return whether values have the shapes of their types, as they have not where they are of all lanes."""
        return all(field.slot is None or slots[field.slot].shape == field.shape for field in self._fields)

    def _answer(self, context: Context) -> Answer:
        """Return a function that counts iterations of a loop, and returns how many.

        A negative number asks for results of a function.
        """
        op = self._op

        def answer(asked: int) -> int:
            nonlocal op
            try:
                if asked < 0:
                    return settle(asked)
                op = self._loops[asked]
                return count_iterations(context, op, self._iterations)
            except Exception as error:
                raise located(error, op) from None

        return answer


def _array(slots: Slots, field: Field) -> Array:
    """Return the array of a field, which is new if it is the code's own, or if the code gets a copy."""
    if field.slot is not None:
        value: Array = slots[field.slot]
        return np.array(value, order="C") if field.by_value else value
    array = np.empty(field.shape, field.dtype) if field.constant is None else field.constant
    return np.require(array, requirements=["C", "A"])


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
    """Counts the iterations of a loop in the plan, and their seconds, and finishes it by code once it is hot."""

    def __init__(self, planner: FramePlanner, op: Operation) -> None:
        self._planner, self._op = planner, op
        self._left = policy.HOT
        self._seconds, self._last = 0.0, 0.0
        self._was_written = False
        self._writer: LoopWriter | None = None  # of machine code, until that is compiled
        self._machine: MachineLoop | None = None
        self._python: Callable[[Slots], bool] | None = None
        self._loops[op] = self

    @property
    def _loops(self) -> dict[Operation, HotLoop]:
        return cast("PlanAccelerator", self._planner.planner.accelerator).loops

    def __call__(self, slots: Slots) -> bool:
        """Finish the loop by code; return False if the plan has to run its next iteration."""
        if self._left:
            self._left -= 1
            return False
        if slots[CONTEXT].jit and is_available():
            if self._waits():
                return False
            if self._machine is not None and self._machine(slots):
                return True
        if self._python is None:
            self._python = self._as_python()
        return self._python(slots)

    def _waits(self) -> bool:
        """Return whether the plan runs the loop until machine code pays off; compile it when that is so."""
        now = perf_counter()
        if not self._was_written:
            self._was_written, self._last = True, now
            self._try(lambda: self._write(self._loop))
        if self._writer is None:
            return False
        self._seconds += min(now - self._last, policy.ITERATION)
        self._last = now
        if not policy.is_hot(self._seconds, policy.seconds_for(self._writer.lines)):
            return True
        writer, self._writer = self._writer, None
        self._try(lambda: self._compile(writer))
        return False

    @cached_property
    def _loop(self) -> Loop:
        node = node_of(self._planner, self._op)
        if not isinstance(node, Loop):
            raise NotCompiled("a loop that only the plan runs")
        return node

    def _write(self, loop: Loop) -> None:
        """Write the machine code, which does not need llvmlite."""
        self._writer = LoopWriter(self._planner, loop)

    def _compile(self, writer: LoopWriter) -> None:
        self._machine = MachineLoop(self._op, writer)
        self._report(", as machine code", self._machine.text)

    def _try(self, make: Callable[[], None]) -> None:
        try:
            make()
        except Exception as error:
            self._report(f", not as machine code: {reason_of(error)}")

    def _as_python(self) -> Callable[[Slots], bool]:
        try:
            loops = self._loops
            generated = python_loop(self._planner, self._loop, lambda op: op in loops and loops[op].runs_apart)
        except (NotCompiled, RecursionError):
            return lambda slots: False
        self._report("", generated.text)
        return generated.run

    @property
    def runs_apart(self) -> bool:
        """Whether the loop is, or may become, machine code."""
        return (self._machine or self._writer) is not None

    def _report(self, what: str, text: str = "") -> None:
        self._planner.planner.generated.append((f"{self._op.name} at {self._op.location}{what}", text))


def hot_loop(planner: FramePlanner, op: Operation) -> HotLoop | None:
    """Return what finishes a `while` by code; None for other ops."""
    if op.name != "stablehlo.while" or planner.lanes is not None:
        return None
    if any(len(region.blocks) != 1 for region in op.regions) or planner.planner.communicates(op):
        return None
    return HotLoop(planner, op)


class HotFunction:
    """Counts the calls of a function, and runs Python source once it is hot."""

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
            self._run = self._as_python()
        return self._run(slots)

    def _as_python(self) -> Callable[[Slots], bool]:
        loops = cast("PlanAccelerator", self._planner.planner.accelerator).loops
        try:
            body = body_of(self._planner, self._block)
            generated = python_function(self._planner, body, lambda op: op in loops and loops[op].runs_apart)
        except (NotCompiled, RecursionError):
            return lambda slots: False
        self._planner.planner.generated.append((self._planner.frame.name, generated.text))
        return generated.run


def hot_function(planner: FramePlanner, block: Block) -> HotFunction | None:
    """Return what runs the block of a function by Python source; None if it has few ops, or very many."""
    if block not in planner.blocks or planner.lanes is not None or planner.frame.block.communicates:
        return None
    count = len(planner.blocks[block].ops)
    return HotFunction(planner, block) if policy.FEW_OPS <= count <= policy.MANY_OPS else None
