"""Loops and functions that run often become generated Python source.

Compiling an op takes about as long as running it thirty times, so a loop is compiled after that many turns. From then
on its turns, and those of later runs, are turns of the generated loop: the state passes from the slots of the plan to
local variables, and back at the end.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from stablehlo_ref.budget import check_time
from stablehlo_ref.define.context import Context
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.execute.fuse.scalar_code import is_scalar
from stablehlo_ref.execute.fuse.source import Generated
from stablehlo_ref.execute.fuse.tensor_code import scalar_type
from stablehlo_ref.execute.fuse.writer import TooLarge, Writer
from stablehlo_ref.execute.run import located
from stablehlo_ref.ir.core import Operation

if TYPE_CHECKING:
    from stablehlo_ref.execute.plan import FramePlanner

HOT = 30  # turns or calls, after which a loop or function is compiled
TURNS = 256  # after which a loop checks the deadline, at most
OPS = 4096  # of so many ops together


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


def _renew(turns: int) -> Callable[[Context, Sequence[Operation]], int]:
    def renew(context: Context, ops: Sequence[Operation]) -> int:
        """Check the limits of steps and time before turns and calls; return how many follow until the next check."""
        left = context.limits.max_steps - context.steps
        if left >= len(ops):
            check_time()
            return min(max(turns, len(ops)), left)
        context.steps += left
        try:
            context.turn()
        except EvaluationError as error:
            raise located(error, ops[left]) from None
        raise AssertionError("the limit of steps is reached")

    return renew


def hot_loop(planner: FramePlanner, op: Operation) -> HotLoop | None:
    """Return what finishes a `while` by generated source; None for other ops, and without fast paths."""
    if op.name != "stablehlo.while" or not planner.planner.fast or planner.lanes is not None:
        return None
    return None if planner.planner.communicates(op) else HotLoop(planner, op)


class HotLoop:
    """Counts the turns of a `while`, and runs it as generated source once it has proven hot."""

    def __init__(self, planner: FramePlanner, op: Operation) -> None:
        self.planner = planner
        self.op = op
        self.turns = 0
        self._run: Callable[[list[Any]], bool] | None = None

    def __call__(self, slots: list[Any]) -> bool:
        """Count a turn whose state is in its slots; return whether all turns that are left have run."""
        if self._run is None:
            self.turns += 1
            if self.turns <= HOT:
                return False
            self._run = self._generate()
        return self._run(slots)

    def _generate(self) -> Callable[[list[Any]], bool]:
        try:
            generated = loop_source(self.planner, self.op)
        except TooLarge:
            return lambda slots: False
        self.planner.planner.generated.append(generated.text)
        return generated.run


def loop_source(planner: FramePlanner, op: Operation) -> Generated:
    """Return the source of a loop, a function of the slots of the plan, which hold the state and captured values."""
    writer = Writer(planner)
    body = op.regions[1].block
    state = planner.blocks[body].arguments
    names = writer.write(writer.frame, state)
    line = writer.source.line
    for name, slot, value in zip(names, state, body.arguments):
        line(f"{name} = s0[{slot}]; s0[{slot}] = None")
        writer.as_scalar(name, value)
    with _running(writer):
        writer.loop(writer.frame, op)
    for name, slot in zip(names, state):
        line(f"s0[{slot}] = {name}")
    line("return True")
    return _finish(writer, "s0", ["  C = s0[0]"])


class _running:
    """Write the statement around the ops of a function: it counts turns, and locates errors."""

    def __init__(self, writer: Writer) -> None:
        self.source = writer.source

    def __enter__(self) -> None:
        self.source.line("n = N = 0")
        self.source.line("F = register(C)")
        self.source.line("try:")
        self.source.depth += 1

    def __exit__(self, *error: object) -> None:
        self.source.depth -= 1
        self.source.line("except Exception as error: raise located(error) from error")
        with self.source.block("finally:"):
            self.source.line("C.steps += N - n")
            self.source.line("del C.frames[F]")


def _finish(writer: Writer, parameters: str, prologue: list[str]) -> Generated:
    """Load what the source reads from slots, and compile it."""
    for slot, value in writer.loaded.items():
        name = writer.frame.name(slot)
        prologue.append(f"  {name} = s0[{slot}]")
        if value is not None and is_scalar(value.type):
            expected = writer.source.refer(scalar_type(value.type), "t")
            prologue.append(f"  if type({name}) is not {expected}: {name} = {name}[()]")
    for callee in writer.with_slots:
        template = writer.source.refer(callee.planner.frame.template)
        prologue.append(f"  {callee.slots} = {template}.copy(); {callee.slots}[0] = C")
    for name, dtype in writer.scratch.items():
        prologue.append(f"  {name} = {writer.source.refer(np.zeros(1, dtype))}.copy()")
    renew = _renew(max(1, min(TURNS, OPS // max(writer.ops, 1))))
    writer.source.globals |= {"renew": renew, "register": register, "check_time": check_time, "index": operator.index}
    return writer.source.finish(parameters, prologue)
