"""Loops that run often become generated Python source, and machine code where that is available.

A loop is compiled after some turns (policy.py). From then on its turns, and those of later runs, are turns of the
generated loop: the state passes from the slots of the plan to local variables, and back at the end.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Iterator
from time import perf_counter
from types import FrameType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from stablehlo_ref.accelerate import policy
from stablehlo_ref.accelerate.machine.compiler import is_available, reason_of
from stablehlo_ref.accelerate.machine.hot import MachineLoop
from stablehlo_ref.accelerate.machine.loops import LoopWriter, written
from stablehlo_ref.accelerate.python.expressions import is_scalar, scalar_type
from stablehlo_ref.accelerate.python.writer import Generated, NotSuitable, Writer
from stablehlo_ref.budget import check_time, reserve
from stablehlo_ref.define.computation import Slots
from stablehlo_ref.define.context import Context
from stablehlo_ref.diagnostics import StablehloError
from stablehlo_ref.execute.run import CONTEXT, located
from stablehlo_ref.ir.core import Operation

if TYPE_CHECKING:
    from stablehlo_ref.accelerate import PlanAccelerator
    from stablehlo_ref.execute.plan import FramePlanner

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


def count_turns(context: Context, op: Operation, turns: int) -> int:
    """Count up to so many turns that a loop makes next, and return how many; EvaluationError past the limit."""
    left = min(turns, context.limits.max_steps - context.steps)
    context.steps += max(left - 1, 0)
    try:
        context.turn()
    except StablehloError as error:
        raise located(error, op) from None
    return left


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
                self._machine = MachineLoop(self._op, writer, count_turns)
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


def loop_source(planner: FramePlanner, loop: Operation, hot: HotLoop) -> Generated:
    """Return the source of a loop, a function of the slots of the plan, which hold the state and captured values.

    It returns False where it has left the loop before a turn.
    """
    known = cast("PlanAccelerator", planner.planner.accelerator).loops
    writer = Writer(planner, lambda op: op in known and known[op].runs_apart)
    source, (cond, body) = writer.source, (region.block for region in loop.regions)
    if cond not in planner.blocks or body not in planner.blocks:
        raise NotSuitable
    state = planner.blocks[body].arguments
    names = writer.write(state)
    for name, slot, value in zip(names, state, body.arguments):
        source.line(f"{name} = s0[{slot}]")
        if is_scalar(value.type):
            with source.block(f"if type({name}) is not {source.refer(scalar_type(value.type), 't')}:"):
                source.line(f"if {name}.ndim: return False")  # as where lanes are arguments
                source.line(f"{name} = {name}[()]")
    writer.drop(f"s0[{slot}]" for slot in state)
    source.line("F = register(C)")
    with source.block("try:"):
        writer.loop(loop)
    source.line("except Exception as error: raise located(error) from error")
    source.line("finally: del C.frames[F]")
    for name, slot in zip(names, state):
        source.line(f"s0[{slot}] = {name}")
    source.line("return n0 >= 0")
    most = max(1, min(TURNS, OPS // max(writer.ops, 1)))

    def renew(context: Context, op: Operation, turns: int = most) -> int:
        """Count turns that follow; return -1 at one of the outermost loop if machine code takes over."""
        return -1 if op is loop and hot.takes_over(context) else count_turns(context, op, turns)

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
