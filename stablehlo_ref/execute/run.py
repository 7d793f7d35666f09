"""Running a plan: a tight loop over steps on a list of slots, and what one run carries along."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from numbers import Integral
from operator import length_hint
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, TypeAlias, TypedDict, get_args

from stablehlo_ref.diagnostics import Diagnostic, EvaluationError, InternalError, StablehloError, UnsupportedError
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.limits import Limits, check_type
from stablehlo_ref.ops.outside import ask_outside
from stablehlo_ref.processes import Process

Slots: TypeAlias = list[Any]
Turns: TypeAlias = Generator[Any, Any, None]
Step: TypeAlias = Callable[[Slots], Turns | None]

OnChoice: TypeAlias = Literal["ignore", "warn", "error"]

MANY_DIMENSIONS = 31  # of tensors with more some kernels would need arrays of more than numpy's 64
CONTEXT = 0  # the slot that holds the run's context


class ImplementationDefinedWarning(UserWarning):
    """A run relied on what the spec leaves open."""


def warn_in_python(found: Diagnostic) -> None:
    """A warning of Python's, at the place in the program's text."""
    message = "\n  ".join((found.message, *found.notes))
    warnings.warn_explicit(message, ImplementationDefinedWarning, found.filename or "<unknown>", found.line or 0)


@dataclass
class Context:
    """What one run carries along: its limits, how deep in calls it is, what its checks found, who watches it."""

    limits: Limits = field(default_factory=Limits)
    depth: int = 0
    steps: int = 0
    deadline: float | None = None
    failures: list[Diagnostic] = field(default_factory=list)
    observer: Observer | None = None
    custom_calls: Mapping[str, Callable[..., Sequence[Any]]] = field(default_factory=dict)  # handlers of this run only
    on_implementation_defined: OnChoice = "ignore"  # what to do where the spec leaves open what an op does
    warn: Callable[[Diagnostic], None] = warn_in_python
    overrides: Mapping[str, Callable[..., Any]] = field(default_factory=dict)  # what composites do in this run
    check_overrides: bool = False  # whether their decompositions are run too, and compared
    probe_output_dir: Path | None = None
    process: Process = field(default_factory=Process)  # outside of any grid it is the only one
    probes: dict[str, list[tuple[Any, Any]]] = field(default_factory=dict)  # types and values by probe id
    variables: dict[str, Any] = field(default_factory=dict)  # of the module, that were stored to
    rng_seed: int = 0  # of what `rng` draws
    draws: int = 0  # how often it has drawn in this run

    def __post_init__(self) -> None:
        """TypeError or ValueError for options that are none."""
        check_type("limits", self.limits, Limits, "a Limits")
        check_type("observer", self.observer, Observer | None, "an Observer")
        check_type("custom_calls", self.custom_calls, Mapping, "a mapping from targets to handlers")
        check_type("overrides", self.overrides, Mapping, "a mapping from names of composites to functions")
        check_type("check_overrides", self.check_overrides, bool, "True or False")
        check_type("rng_seed", self.rng_seed, Integral, "an integer")
        if not 0 <= self.rng_seed < 1 << 64:
            raise ValueError(f"rng_seed is a number of 64 bits that is not negative, not {self.rng_seed}")
        if self.on_implementation_defined not in get_args(OnChoice):
            expected = ", ".join(map(repr, get_args(OnChoice)))
            raise ValueError(f"on_implementation_defined is one of {expected}, not {self.on_implementation_defined!r}")
        if self.limits.max_seconds is not None:
            self.deadline = perf_counter() + self.limits.max_seconds

    def turn(self) -> None:
        """Counts a turn of a loop or a call; EvaluationError past the limits of steps and of time."""
        self.steps += 1
        if self.steps > self.limits.max_steps:
            raise EvaluationError(f"more loop turns and calls than the limit of {self.limits.max_steps}")
        if self.deadline is not None and perf_counter() > self.deadline:
            raise EvaluationError(f"the run takes longer than the limit of {self.limits.max_seconds} seconds")


class RunOptions(TypedDict, total=False):
    """Options of a run in Python: fields of its context."""

    limits: Limits | None
    observer: Observer | None
    on_implementation_defined: OnChoice
    custom_calls: Mapping[str, Callable[..., Sequence[Any]]] | None
    overrides: Mapping[str, Callable[..., Any]] | None
    check_overrides: bool
    rng_seed: int


_current: ContextVar[Context | None] = ContextVar("context", default=None)


@contextmanager
def running(context: Context) -> Iterator[None]:
    """Makes `context` that of the run in progress, which regions that ops call as functions belong to."""
    token = _current.set(context)
    try:
        yield
    finally:
        _current.reset(token)


def current_context() -> Context:
    """The context of the run in progress; a new one outside of any."""
    return _current.get() or Context()


class Observer:
    """Sees each op as it runs; `-v`, `--stats` and the progress bar are observers."""

    def before(self, op: Operation, operands: Sequence[Any]) -> None:
        """Called with the op's operands, which it must not hold on to."""

    def after(self, op: Operation, results: Sequence[Any]) -> None:
        """Called with the op's results."""

    def goes_on(self, process: Process) -> None:
        """Called when a process of a grid goes on: what follows is its."""


_UNOBSERVED = Observer()


class BlockPlan:
    """The steps of a block; arguments and results are slots. Captured values stand in slots of the blocks above.

    Where `communicates`, some steps are generator functions that yield rendezvous with other processes.
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
        """Runs the steps; an error gets the location of the op that it came from."""
        if slots[CONTEXT].observer is not None:
            return self._run_observed(slots, slots[CONTEXT].observer)
        steps = iter(self.steps)
        try:
            for step in steps:
                step(slots)
        except Exception as error:
            raise located(error, self.ops[len(self.ops) - length_hint(steps) - 1]) from error

    def go(self, slots: Slots) -> Turns:
        """Runs the steps of a block that communicates: yields what they yield, and is sent what they wait for."""
        observer = slots[CONTEXT].observer or _UNOBSERVED
        for step, op, ins, outs in zip(self.steps, self.ops, self.ins, self.outs):
            try:
                _tell(observer.before, op, [slots[slot] for slot in ins])
                turns = step(slots)
                if turns is not None:
                    yield from turns
                _tell(observer.after, op, [slots[out] for out in outs])
            except Exception as error:
                raise located(error, op) from error

    def _run_observed(self, slots: Slots, observer: Observer) -> None:
        for step, op, ins, outs in zip(self.steps, self.ops, self.ins, self.outs):
            try:
                _tell(observer.before, op, [slots[slot] for slot in ins])
                step(slots)
                _tell(observer.after, op, [slots[out] for out in outs])
            except Exception as error:
                raise located(error, op) from error


def _tell(notify: Callable[[Operation, Sequence[Any]], None], op: Operation, values: Sequence[Any]) -> None:
    ask_outside("the observer", lambda: notify(op, values))


def located(error: Exception, op: Operation) -> StablehloError:
    """The error as a user sees it: a StablehloError at the place of the op."""
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
    """A planned function: a block, and the list of slots that each call starts from (constants in place)."""

    __slots__ = ("block", "name", "template")

    def __init__(self, name: str) -> None:
        self.name = name
        self.block = BlockPlan()
        self.template: Slots = [None]

    def call(self, context: Context, arguments: list[Any]) -> list[Any]:
        """Runs the function on arrays, which it takes from the list, and returns its results.

        Raises EvaluationError past the limit of call depth.
        """
        slots = self._enter(context, arguments)
        try:
            self.block.run(slots)
        finally:
            context.depth -= 1
        return [slots[slot] for slot in self.block.results]

    def go(self, context: Context, arguments: list[Any]) -> Generator[Any, Any, list[Any]]:
        """`call` of a function that communicates: yields what it yields."""
        slots = self._enter(context, arguments)
        try:
            yield from self.block.go(slots)
        finally:
            context.depth -= 1
        return [slots[slot] for slot in self.block.results]

    def _enter(self, context: Context, arguments: list[Any]) -> Slots:
        if context.depth >= context.limits.max_depth:
            raise EvaluationError(f"calls are nested deeper than the limit of {context.limits.max_depth}")
        context.turn()
        slots = self.template.copy()
        slots[CONTEXT] = context
        for slot in reversed(self.block.arguments):
            slots[slot] = arguments.pop()  # so that the slots alone hold them
        context.depth += 1
        return slots
