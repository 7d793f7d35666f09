"""Running a plan: a tight loop over steps on a list of slots."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextvars import ContextVar
from operator import length_hint
from typing import Any, TypeAlias

from stablehlo_ref.define.computation import Slots, Turns
from stablehlo_ref.define.context import Context, Observer
from stablehlo_ref.diagnostics import Diagnostic, EvaluationError, InternalError, StablehloError, UnsupportedError
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.numerics.host_values import read_only, run_callback

Step: TypeAlias = Callable[[Slots], Turns | None]

MANY_DIMENSIONS = 31  # kernels for tensors of more dimensions may need arrays of more than numpy's 64
CONTEXT = 0  # the slot that holds the context of the run

current: ContextVar[Context | None] = ContextVar("context", default=None)


class running:
    """Make `context` that of the run in progress, which regions that ops call as functions take part in."""

    __slots__ = ("context", "token")

    def __init__(self, context: Context) -> None:
        self.context = context

    def __enter__(self) -> None:
        self.token = current.set(self.context)

    def __exit__(self, *error: object) -> None:
        current.reset(self.token)


def current_context() -> Context:
    """Return the context of the run in progress, or a new context outside of a run."""
    return current.get() or Context()


class BlockPlan:
    """The steps of a block. `arguments`, `results`, `ins` and `outs` are numbers of slots.

    A value that the block captures lives in a slot of an enclosing block of the same function. If `communicates` is
    set, some steps are generator functions that yield requests to other processes.
    """

    __slots__ = ("arguments", "communicates", "ins", "ops", "outs", "results", "steps")

    def __init__(self) -> None:
        self.arguments: tuple[int, ...] = ()
        self.results: tuple[int, ...] = ()
        self.steps: list[Step] = []
        self.ops: list[Operation] = []  # the op of each step
        self.ins: list[tuple[int, ...]] = []  # its operands' slots
        self.outs: list[tuple[int, ...]] = []  # its results' slots
        self.communicates = False

    def run(self, slots: Slots) -> None:
        """Run the steps. An error gets the location of the op that raised it."""
        if slots[CONTEXT].observer is not None:
            return self._run_observed(slots, slots[CONTEXT].observer)
        steps = iter(self.steps)
        try:
            for step in steps:
                step(slots)
        except Exception as error:
            # Which step failed? Counting steps (`enumerate`) would cost time in each of them. The iterator of a list
            # knows how many items are left, so the number is worked out from that, and only after an error.
            raise located(error, self.ops[len(self.ops) - length_hint(steps) - 1]) from error

    def coroutine(self, slots: Slots) -> Turns:
        """Run the steps of a block that communicates; yields their requests to other processes."""
        observer = slots[CONTEXT].observer
        for step, op, ins, outs in zip(self.steps, self.ops, self.ins, self.outs):
            try:
                if observer is not None:
                    _notify(observer.before, op, [slots[slot] for slot in ins])
                turns = step(slots)
                if turns is not None:
                    yield from turns
                if observer is not None:
                    _notify(observer.after, op, [slots[out] for out in outs])
            except Exception as error:
                raise located(error, op) from error

    def _run_observed(self, slots: Slots, observer: Observer) -> None:
        for step, op, ins, outs in zip(self.steps, self.ops, self.ins, self.outs):
            try:
                _notify(observer.before, op, [slots[slot] for slot in ins])
                step(slots)
                _notify(observer.after, op, [slots[out] for out in outs])
            except Exception as error:
                raise located(error, op) from error


def _notify(method: Callable[[Operation, Sequence[Any]], None], op: Operation, values: Sequence[Any]) -> None:
    """Call an observer's method; other steps may use the values after it, so it gets views that it cannot write to."""
    run_callback("the observer", lambda: method(op, [read_only(value) for value in values]))


def located(error: Exception, op: Operation) -> StablehloError:
    """Return an error as a StablehloError at the location of `op`, unless it already has a location."""
    if isinstance(error, StablehloError):
        if error.diagnostics and error.diagnostics[0].location:
            return error
        moved = [Diagnostic(d.message, op.location, d.severity, d.notes) for d in error.diagnostics]
        return type(error)(moved)
    if isinstance(error, MemoryError):
        return EvaluationError(f"'{op.name}' op: out of memory: {error}", op.location)
    if isinstance(error, RecursionError):
        return EvaluationError(f"'{op.name}' op: calls are nested too deeply", op.location)
    if isinstance(error, ValueError | IndexError) and _most_dimensions(op) > MANY_DIMENSIONS:
        message = f"'{op.name}' op on tensors of more than {MANY_DIMENSIONS} dimensions: {error}"
        return UnsupportedError(message, op.location)
    kind = type(error).__name__
    return InternalError(f"'{op.name}' op: internal error, please report it: {kind}: {error}", op.location)


def _most_dimensions(op: Operation) -> int:
    return max((len(getattr(type, "shape", ())) for type in (*op.operand_types, *op.result_types)), default=0)


class FunctionPlan:
    """A planned function: its block, and the list of slots, with constants filled in, that each call copies.

    `is_counted` is whether calls count for the limits of steps and depth.
    """

    __slots__ = ("block", "generated", "is_counted", "name", "product_size", "run_fast", "template")

    def __init__(self, name: str, product_size: float = 0.0, is_counted: bool = False) -> None:
        self.name = name
        self.is_counted = is_counted
        self.product_size = product_size  # multiplications of products in the program: execute/threads.py
        self.block = BlockPlan()
        self.template: Slots = [None]
        self.generated: list[tuple[str, str]] = []  # what is hot, and its source
        self.run_fast: Callable[[Slots], bool] | None = None  # may run the block; returns whether it did

    def call(self, context: Context, arguments: list[Any]) -> list[Any]:
        """Run the function and return its results. Empties the list of arguments; EvaluationError past `max_depth`."""
        slots = self._enter(context, arguments)
        try:
            if self.run_fast is None or not self.run_fast(slots):
                self.block.run(slots)
        finally:
            context.depth -= self.is_counted
            del context.frames[id(slots)]
        return [slots[slot] for slot in self.block.results]

    def coroutine(self, context: Context, arguments: list[Any]) -> Generator[Any, Any, list[Any]]:
        """Run a function that communicates; yields its requests to other processes."""
        slots = self._enter(context, arguments)
        try:
            yield from self.block.coroutine(slots)
        finally:
            context.depth -= self.is_counted
            del context.frames[id(slots)]
        return [slots[slot] for slot in self.block.results]

    def _enter(self, context: Context, arguments: list[Any]) -> Slots:
        if self.is_counted:
            context.call()
        else:
            context.check_time()
        slots = self.template.copy()
        slots[CONTEXT] = context
        for slot in reversed(self.block.arguments):
            slots[slot] = arguments.pop()  # so that the list does not keep arguments alive after their last use
        context.depth += self.is_counted
        context.frames[id(slots)] = slots
        return slots
