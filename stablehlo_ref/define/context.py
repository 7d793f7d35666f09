"""The state and the options of one run; kernels of ops with effects take it as their first argument."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from mmap import mmap
from numbers import Integral
from operator import index
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypedDict, cast, get_args

import numpy as np

from stablehlo_ref.define.mode import DEFAULT, Mode
from stablehlo_ref.define.processes import Grid, Process
from stablehlo_ref.diagnostics import ArgumentTypeError, ArgumentValueError, Diagnostic, EvaluationError
from stablehlo_ref.ir.arrays import RuntimeValue
from stablehlo_ref.ir.core import Block, Operation
from stablehlo_ref.ir.types import Type
from stablehlo_ref.limits import MAX_THREADS, Limits, check_type
from stablehlo_ref.limits.budget import Budget, Memory, deadline_of
from stablehlo_ref.suggestions import did_you_mean


def live_bytes(frames: Iterable[Iterable[Any]]) -> int:
    """Return the bytes of all arrays in lists of values; memory that several arrays share is counted once.

    A view counts as the array that it is a view of, so a splat takes the memory of one element. Mapped files take none.
    """
    owners: dict[int, int] = {}
    for values in frames:
        for value in values:
            _add(owners, value)
    return sum(owners.values())


def _add(owners: dict[int, int], value: object) -> None:
    if isinstance(value, np.ndarray):
        while isinstance(value.base, np.ndarray):
            value = value.base
        base = value.base.obj if isinstance(value.base, memoryview) else value.base
        owners[id(value if base is None else base)] = 0 if isinstance(base, mmap) else value.nbytes
    elif isinstance(value, tuple | list):
        for element in value:
            _add(owners, element)


OnImplementationDefined: TypeAlias = Literal["ignore", "warn", "error"]


class ImplementationDefinedWarning(UserWarning):
    """A run relied on behaviour that the spec leaves to the implementation."""


def warn_in_python(found: Diagnostic) -> None:
    """Issue an ImplementationDefinedWarning at the location of a finding."""
    message = "\n  ".join((found.message, *found.notes))
    warnings.warn_explicit(message, ImplementationDefinedWarning, found.filename or "<unknown>", found.line or 0)


class Observer:
    """Is notified of each op as it runs, and of each block; those of `-v` and `--profile` are observers.

    Values are numpy scalars and read-only arrays, tuples of values, and None for a token or an unused result. Keeping a
    value is safe, but keeps its memory. `op.location` is the place in the program, `op.model_location` that in the
    model.

    Constants, and ops that are computed from constants alone, run when the program is planned, and are not notified,
    unless `sees_every_op` is set.
    """

    sees_every_op = False

    def before(self, op: Operation, operands: Sequence[Any]) -> None:
        """Called with the operands before the op runs."""

    def after(self, op: Operation, results: Sequence[Any]) -> None:
        """Called with the results after the op has run."""

    def enters(self, block: Block, arguments: Sequence[Any]) -> None:
        """Called with the arguments of a block, of a function or region, before its ops run."""

    def resumes(self, process: Process) -> None:
        """Called when a process of a grid starts or resumes; the ops that follow run in this process."""


class Observers(Observer):
    """Several observers as one."""

    def __init__(self, *observers: Observer) -> None:
        self.observers = observers
        self.sees_every_op = any(observer.sees_every_op for observer in observers)

    def before(self, op: Operation, operands: Sequence[Any]) -> None:
        for observer in self.observers:
            observer.before(op, operands)

    def after(self, op: Operation, results: Sequence[Any]) -> None:
        for observer in self.observers:
            observer.after(op, results)

    def enters(self, block: Block, arguments: Sequence[Any]) -> None:
        for observer in self.observers:
            observer.enters(block, arguments)

    def resumes(self, process: Process) -> None:
        for observer in self.observers:
            observer.resumes(process)


_OBSERVER = Observer | None
_ON_IMPLEMENTATION_DEFINED = get_args(OnImplementationDefined)


@dataclass
class Context:
    """The state and the options of one run. ArgumentTypeError or ArgumentValueError for a bad option."""

    limits: Limits = field(default_factory=Limits)
    depth: int = 0  # of nested calls
    steps: int = 0  # loop iterations and calls so far
    frames: dict[int, Iterable[Any]] = field(default_factory=dict)  # the values of the calls in progress, by identity
    captured: dict[object, Sequence[Any]] = field(default_factory=dict)  # what regions of ops in progress capture
    budget: Budget = field(default_factory=Budget, init=False)  # what is left of the limits
    failures: list[Diagnostic] = field(default_factory=list)  # of check ops
    checks: int = 0  # check ops that have run
    observer: Observer | None = None
    custom_calls: Mapping[str, Callable[..., Sequence[Any]]] = field(default_factory=dict)  # handlers of this run only
    on_implementation_defined: OnImplementationDefined = "ignore"
    warn: Callable[[Diagnostic], None] = warn_in_python
    overrides: Mapping[str, Callable[..., Any]] = field(default_factory=dict)  # functions that replace composites
    check_overrides: bool = False  # whether to run decompositions as well and compare the results
    probe_output_dir: Path | None = None
    process: Process = field(default_factory=Process)  # outside of a grid, that of a grid of one process
    probes: dict[str, list[tuple[Type, RuntimeValue]]] = field(default_factory=dict)  # types and values by probe id
    variables: dict[str, Any] = field(default_factory=dict)  # values of ml_program's globals after a store
    rng_seed: int = 0  # the seed of the op `rng`
    draws: int = 0  # how many times `rng` has drawn in this run
    exact_lapack: bool = False  # LAPACK custom calls compute in f64 instead of the program's precision
    reproducible: bool = False  # round results from exact ones, so that they are the same on every machine
    exact_sums: bool = False  # sums are exact, and rounded once
    threads: int | None = None  # by default chosen by the work
    fast: bool = True  # use fast paths: chains of ops fused block by block, loops as generated Python
    semantics: bool = False  # run ops by the functions of `semantics`, and not by the engine
    jit: bool = True  # let hot ones of these become machine code, where llvmlite is installed

    def __post_init__(self) -> None:
        check_type("limits", self.limits, Limits, "a Limits")
        check_type("observer", self.observer, _OBSERVER, "an Observer")
        check_type("custom_calls", self.custom_calls, Mapping, "a mapping from targets to handlers")
        check_type("overrides", self.overrides, Mapping, "a mapping from names of composites to functions")
        _check_functions("custom_calls", self.custom_calls)
        _check_functions("overrides", self.overrides)
        for name in ("check_overrides", "exact_lapack", "reproducible", "exact_sums", "fast", "jit", "semantics"):
            check_type(name, getattr(self, name), bool, "True or False")
        self.threads = _checked_threads(self.threads)
        if self.semantics and (self.overrides or self.on_implementation_defined != "ignore"):
            other = "overrides" if self.overrides else "on_implementation_defined"
            raise ArgumentValueError(f"a run by `semantics` does not have the option {other}")
        check_type("rng_seed", self.rng_seed, Integral, "an integer")
        if not 0 <= self.rng_seed < 1 << 64:
            raise ArgumentValueError(f"rng_seed must be between 0 and 2**64 - 1, got {self.rng_seed}")
        expected = ", ".join(map(repr, _ON_IMPLEMENTATION_DEFINED))
        check_type("on_implementation_defined", self.on_implementation_defined, str, f"one of {expected}")
        if self.on_implementation_defined not in _ON_IMPLEMENTATION_DEFINED:
            raise ArgumentValueError(
                f"on_implementation_defined must be one of {expected}, got {self.on_implementation_defined!r}"
            )
        memory = Memory(self.limits.max_total_bytes, lambda: live_bytes(self.frames.values()))
        self.budget = Budget(deadline_of(self.limits), memory)

    @classmethod
    def plain(cls, limits: Limits) -> Context:
        """Return a context with these limits and no other options, faster than by the constructor."""
        context = object.__new__(cls)
        frames: dict[int, Iterable[Any]] = {}
        memory = Memory(limits.max_total_bytes, lambda: live_bytes(frames.values()))
        context.__dict__ = {  # other defaults are attributes of the class
            "limits": limits,
            "frames": frames,
            "budget": Budget(deadline_of(limits), memory),
            "captured": {},
            "failures": [],
            "custom_calls": {},
            "warn": warn_in_python,
            "overrides": {},
            "process": Process((0, 0), _GRID, iter(()), []),
            "probes": {},
            "variables": {},
        }
        return context

    @property
    def mode(self) -> Mode:
        """How exact results are."""
        return Mode(self.reproducible, self.exact_sums) if self.reproducible or self.exact_sums else DEFAULT

    def resumes(self) -> None:
        """Tell the observer that the process of this context starts or resumes."""
        if self.observer is not None:
            self.observer.resumes(self.process)

    def turn(self) -> None:
        """Count a loop iteration or a call; EvaluationError past the limits of steps and of time."""
        self.steps += 1
        if self.steps > self.limits.max_steps:
            raise EvaluationError(f"more loop iterations and calls than the limit of {self.limits.max_steps}")
        self.check_time()

    def call(self) -> None:
        """Count a call; EvaluationError past the limits of depth, of steps and of time."""
        if self.depth >= self.limits.max_depth:
            raise EvaluationError(f"calls are nested deeper than the limit of {self.limits.max_depth}")
        self.turn()

    def check_time(self) -> None:
        """Raise LimitError past the limit of time."""
        if self.budget.deadline is not None:
            self.budget.deadline.check()


def _checked_threads(threads: int | None) -> int | None:
    check_type("threads", threads, Integral | None, "a number of threads")
    if threads is None:
        return None
    if isinstance(threads, bool):
        raise ArgumentTypeError(f"threads must be a number of threads, got {threads}")
    if not 1 <= threads <= MAX_THREADS:
        raise ArgumentValueError(f"threads must be between 1 and {MAX_THREADS}, got {threads}")
    return index(threads)


def _check_functions(option: str, functions: Mapping[str, object]) -> None:
    for name, function in functions.items():
        if not callable(function):
            raise ArgumentTypeError(f"{option}[{name!r}] must be a function, got {function!r}")


_GRID = Grid()


class RunOptions(TypedDict, total=False):
    """The options of a run, a dictionary; None stands for the default.

    `limits` are those of the run (default: the program's); `observer` is notified of each op. If a run relies on
    implementation-defined behaviour, `on_implementation_defined` decides whether to "ignore" that (default), to "warn"
    by an ImplementationDefinedWarning, or to raise an "error", an EvaluationError; both refer to a section of
    docs/choices.md.

    `custom_calls` are handlers by target, as for `register_custom_call`; they take precedence over registered ones.
    `overrides` are functions by names of composites that replace their decompositions. Each is called as
    `f(*operands, **composite_attributes)` and returns an array, or a sequence of the results. With `check_overrides`
    the decomposition is run as well, and EvaluationError raised if the results differ by more than 1e-4, or for
    coarser types four units in the last place of 1; integers must be equal. A handler or function that cannot be called
    is a StablehloError and TypeError, one whose name is not in the program a StablehloError and ValueError.

    `rng_seed`, an integer of 64 bits (default: 0), is the seed of the op `rng`. With `exact_lapack`, LAPACK custom
    calls compute in f64 and round once, instead of in the program's precision.

    With `reproducible`, results are the same on every machine, bit for bit: sums of products and elementary functions
    are rounded from exact ones, and UnsupportedError is raised for an op without such an implementation
    (docs/accuracy.md; `Program.guarantees` lists what holds). With `exact_sums`, reductions, windows, collectives and
    scatters that add floats, and batch normalization, compute exact sums, rounded once. With `fast=False` the run takes
    no fast paths (docs/explanation/fast-paths.md), and with `jit=False` none of these becomes machine code, which they
    only do where the extra `jit` is installed; results are the same, bit for bit.

    With `semantics`, ops run by the functions of `stablehlo_ref.semantics`, element by element as the spec describes
    them: slowly, and without the options `overrides` and `on_implementation_defined`. UnsupportedError for an op of
    another dialect without such a function.

    `threads`, at most 65536, is the number of threads of BLAS during the run, in the whole process, and the most, up to
    8, that share the blocks of large tensors. By default, unless a variable such as OPENBLAS_NUM_THREADS is set, there
    are as many as CPUs, in BLAS only for products that take some 20 ms.
    """

    limits: Limits | None
    observer: Observer | None
    on_implementation_defined: OnImplementationDefined | None
    custom_calls: Mapping[str, Callable[..., Sequence[Any]]] | None
    overrides: Mapping[str, Callable[..., Any]] | None
    check_overrides: bool | None
    rng_seed: int | None
    exact_lapack: bool | None
    reproducible: bool | None
    exact_sums: bool | None
    fast: bool | None
    threads: int | None
    jit: bool | None
    semantics: bool | None


OPTIONS = tuple(RunOptions.__annotations__)


def separated(options: RunOptions | None, keywords: Mapping[str, Any]) -> tuple[RunOptions, dict[str, Any]]:
    """Return options and inputs by name: if `options` is given, all keywords are inputs.

    A keyword with the name of an option counts as not given if it is None. ArgumentTypeError for an unknown option.
    """
    given = {name: value for name, value in keywords.items() if value is not None or name not in OPTIONS}
    if options is None:
        chosen = {name: value for name, value in given.items() if name in OPTIONS}
        return cast(RunOptions, chosen), {name: value for name, value in given.items() if name not in OPTIONS}
    check_type("options", options, Mapping, "a RunOptions")
    return checked_options(options), given


def checked_options(options: RunOptions) -> RunOptions:
    """Return options; ArgumentTypeError for one that is unknown."""
    for name in options:
        if name not in OPTIONS:
            hint = did_you_mean(str(name), OPTIONS) or f"; the options are {', '.join(OPTIONS)}"
            raise ArgumentTypeError(f"unknown option {name!r}{hint}")
    return options


def host_functions(module: Operation) -> dict[str, set[str]]:
    """Return the names in a program that each of the options `custom_calls` and `overrides` may refer to."""
    ops = list(module.walk())
    return {
        "custom_calls": {op.properties["call_target_name"] for op in ops if op.name == "stablehlo.custom_call"},
        "overrides": {op.properties["name"] for op in ops if op.name == "stablehlo.composite"},
    }


def check_host_functions(context: Context, names: Callable[[], Mapping[str, set[str]]]) -> None:
    """Raise ArgumentValueError for a handler or override that nothing in the program can call.

    `names` returns the names in the program by option.
    """
    for option, what in (("custom_calls", "targets of custom_call"), ("overrides", "composites")):
        given = getattr(context, option)
        there = names()[option] if given else ()
        for name in (name for name in given if name not in there):
            hint = f"its {what} are {', '.join(map(repr, sorted(there)))}" if there else f"it has no {what}"
            raise ArgumentValueError(f"{option} has {name!r}, which is not in the program; {hint}")
