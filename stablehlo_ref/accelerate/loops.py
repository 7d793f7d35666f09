"""Loops and functions that run often become generated Python source.

A loop is compiled after some turns, a function after some calls (policy.py). From then on its turns, and those of later
runs, are turns of the generated loop: the state passes from the slots of the plan to local variables, and back at the
end.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from stablehlo_ref.accelerate import policy
from stablehlo_ref.accelerate.machine.compiler import is_available
from stablehlo_ref.accelerate.machine.hot import Machine, Renew
from stablehlo_ref.accelerate.python.expressions import is_scalar, scalar_type
from stablehlo_ref.accelerate.python.source import Generated
from stablehlo_ref.accelerate.python.writer import NotSuitable, Writer
from stablehlo_ref.budget import check_time, reserve
from stablehlo_ref.define.context import Context
from stablehlo_ref.diagnostics import StablehloError
from stablehlo_ref.execute.run import located
from stablehlo_ref.ir.core import Block, Operation, Value

if TYPE_CHECKING:
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


def _renew(most: int, machine: Machine | None = None) -> Renew:
    def renew(context: Context, op: Operation, turns: int = most) -> int:
        """Count up to so many turns that a loop makes next, and return how many; EvaluationError past the limit.

        At a turn of the outermost loop, return -1 if machine code takes over.
        """
        if machine is not None and op is machine.op and machine.takes_over(context):
            return -1
        left = min(turns, context.limits.max_steps - context.steps)
        context.steps += left - 1 if left > 0 else 0
        try:
            context.turn()
        except StablehloError as error:
            raise located(error, op) from None
        return left

    return renew


class Hot:
    """Counts the turns of a loop or the calls of a function, and runs generated source once it has proven hot."""

    def __init__(
        self,
        generate: Callable[[Machine | None], Generated],
        planner: FramePlanner,
        hot: int,
        op: Operation | None,
        is_loop: bool = False,
    ) -> None:
        self._generate = generate
        self._is_loop = is_loop
        self._machine: Machine | None = None
        self._op = op  # the loop, or the op that a region belongs to
        self._planner = planner
        self._left = hot
        self._run: Callable[[list[Any]], bool] | None = None

    def __call__(self, slots: list[Any]) -> bool:
        """Run the source on the values in slots once it exists; return whether it ran."""
        if self._run is None:
            self._left -= 1
            if self._left >= 0:
                return False
            self._run = self._generated()
        return self._run(slots) if self._machine is None else self._machine(slots, self._run)

    def _generated(self) -> Callable[[list[Any]], bool]:
        if self._is_loop and self._op is not None and is_available():
            machine = Machine(self._planner, self._op, _renew)
            self._machine = machine if machine.may_compile else None
        try:
            generated = self._generate(self._machine)
        except (NotSuitable, RecursionError):
            return lambda slots: False
        title = f"{self._op.name} at {self._op.location}" if self._op else self._planner.frame.name
        self._planner.planner.generated.append((title, generated.text))
        return generated.run


def hot_loop(planner: FramePlanner, op: Operation) -> Hot | None:
    """Return what finishes a `while` by generated source; None for other ops."""
    if op.name != "stablehlo.while" or planner.lanes is not None:
        return None
    if any(len(region.blocks) != 1 for region in op.regions) or planner.planner.communicates(op):
        return None
    return Hot(lambda machine: loop_source(planner, op, machine), planner, policy.HOT, op, is_loop=True)


def hot_function(planner: FramePlanner, block: Block, captures: Sequence[Value] = ()) -> Hot | None:
    """Return what runs the block of a function by generated source; None if it has few ops, or very many.

    The values that it captures are further arguments.
    """
    if block not in planner.blocks or planner.lanes is not None or planner.frame.block.communicates:
        return None
    ops = planner.blocks[block].ops
    if len(ops) > policy.MANY_OPS or (
        len(ops) < policy.FEW_OPS and not any(op.regions or op.name == "func.call" for op in ops)
    ):
        return None
    op = block.parent.parent if block.parent else None
    return Hot(lambda machine: function_source(planner, block, captures), planner, policy.HOT_CALLS, op)


def loop_source(planner: FramePlanner, op: Operation, machine: Machine | None = None) -> Generated:
    """Return the source of a loop, a function of the slots of the plan, which hold the state and captured values.

    With `machine` it may leave the loop before a turn, and return False.
    """
    writer = Writer(planner)
    cond, body = (region.block for region in op.regions)
    if cond not in planner.blocks or body not in planner.blocks:
        raise NotSuitable
    for region in op.regions:
        writer.uses.add(region.block)
    state = planner.blocks[body].arguments
    names = _take(writer, state, body.arguments)
    with _running(writer):
        writer.loop(writer.frame, op)
    for name, slot in zip(names, state):
        writer.source.line(f"s0[{slot}] = {name}")
    writer.source.line("return n0 >= 0")
    return _finish(writer, machine)


def function_source(planner: FramePlanner, block: Block, captures: Sequence[Value] = ()) -> Generated:
    """Return the source of the block of a function, which takes arguments from slots and stores results there."""
    writer = Writer(planner)
    writer.uses.add(block)
    plan = planner.blocks[block]
    _take(writer, plan.arguments, [*block.arguments, *captures])
    with _running(writer):
        results = writer.block(writer.frame, block)
    for name, slot in zip(results, plan.results):
        if slot not in planner.constants:
            writer.source.line(f"s0[{slot}] = {name}")
    writer.source.line("return True")
    return _finish(writer)


def _take(writer: Writer, slots: Sequence[int], values: Sequence[Value]) -> list[str]:
    """Take values out of slots; return False before that if a scalar is an array, as where lanes are arguments."""
    line = writer.source.line
    names = writer.write(writer.frame, slots)
    for name, slot, value in zip(names, slots, values):
        line(f"{name} = s0[{slot}]")
        if is_scalar(value.type):
            with writer.source.block(f"if type({name}) is not {writer.source.refer(scalar_type(value.type), 't')}:"):
                line(f"if {name}.ndim: return False")
                line(f"{name} = {name}[()]")
    writer.drop(f"s0[{slot}]" for slot in slots)
    return names


class _running:
    """Write the statement around the ops of a function, which locates errors."""

    def __init__(self, writer: Writer) -> None:
        self.source = writer.source

    def __enter__(self) -> None:
        self.source.line("F = register(C)")
        self.source.line("try:")
        self.source.depth += 1
        self.before = len(self.source.lines)

    def __exit__(self, *error: object) -> None:
        if len(self.source.lines) == self.before:
            self.source.line("pass")
        self.source.depth -= 1
        self.source.line("except Exception as error: raise located(error) from error")
        self.source.line("finally: del C.frames[F]")


def _finish(writer: Writer, machine: Machine | None = None) -> Generated:
    """Load what the source reads from slots, and compile it."""
    prologue = ["  C = s0[0]"]
    for name, (slot, value) in writer.loaded.items():
        prologue.append(f"  {name} = s0[{slot}]")
        if value is not None and is_scalar(value.type):
            expected = writer.source.refer(scalar_type(value.type), "t")
            prologue.append(f"  if type({name}) is not {expected}: {name} = {name}[()]")
    for callee in writer.with_slots:
        template = writer.source.refer(callee.planner.frame.template)
        prologue.append(f"  {callee.slots} = {template}.copy(); {callee.slots}[0] = C")
    for name, dtype in writer.expressions.scratch.items():
        prologue.append(f"  {name} = {writer.source.refer(np.zeros(1, dtype))}.copy()")
    renew = _renew(max(1, min(TURNS, OPS // max(writer.ops, 1))), machine)
    writer.source.globals |= {
        "renew": renew, "register": register, "check_time": check_time, "reserve": reserve, "index": operator.index,
        "sqrt": math.sqrt,
    }  # fmt: skip
    return writer.source.finish("s0", prologue)
