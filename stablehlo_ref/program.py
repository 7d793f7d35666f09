"""A program in memory: what `load` and `parse` give, and what runs."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

import stablehlo_ref.dialects.registered  # noqa: F401  (all op classes, so that the parser knows them)
from stablehlo_ref.diagnostics import EvaluationError, Location, MalformedError, Source, UnsupportedError
from stablehlo_ref.execute.choosing import choosing
from stablehlo_ref.execute.grid import run_grid
from stablehlo_ref.execute.plan import Planner
from stablehlo_ref.execute.run import Context, FunctionPlan, Observer, OnChoice, running
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.locations import name_of
from stablehlo_ref.ir.types import FunctionType, TensorType, TokenType, TupleType, Type
from stablehlo_ref.limits import Limits
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.layout import contiguous
from stablehlo_ref.processes import Grid, ProcessId
from stablehlo_ref.spec import without
from stablehlo_ref.syntax.parser import parse as parse_module
from stablehlo_ref.syntax.printer import print_operation
from stablehlo_ref.verify import verify

Inputs: TypeAlias = Sequence[Any] | Mapping[str, Any]  # of one process: in order, or by name


@dataclass(frozen=True)
class Parameter:
    """An input or output of a function. `names` are all names it goes by: in the text, and in its location."""

    name: str
    type: Type
    location: Location | None
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Function:
    """A function of a program, by its signature."""

    name: str
    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    is_public: bool
    location: Location


class Program:
    """A module and one of its functions, the entry: `entry` if given, else `main`, else the only function."""

    def __init__(self, module: Operation, entry: str | None = None, limits: Limits | None = None) -> None:
        self.module = module
        self.limits = limits or Limits()
        self._entry = entry
        self._verified = False
        self._stand_ins: dict[str, Any] = {}  # fields of the runs' contexts

    def verify(self) -> Program:
        """Checks the program against the spec, once; InvalidError if it breaks a rule."""
        if not self._verified:
            verify(self.module)
            self._verified = True
        return self

    def __str__(self) -> str:
        return print_operation(self.module)

    @cached_property
    def functions(self) -> dict[str, Function]:
        """The module's functions by name, in the order of the text."""
        ops = [op for op in self.module.regions[0].block.operations if op.name == "func.func"]
        return {op.properties["sym_name"]: _function(op) for op in ops}

    @cached_property
    def entry(self) -> Function:
        """The function that `run` runs. EvaluationError where that is not clear."""
        if self._entry is not None:
            if self._entry not in self.functions:
                known = _names(self.functions)
                raise EvaluationError(f"there is no function @{self._entry}; there are {known}", self.module.location)
            return self.functions[self._entry]
        if "main" in self.functions:
            return self.functions["main"]
        if len(self.functions) != 1:
            reason = f"choose one of {_names(self.functions)}" if self.functions else "there is none"
            raise EvaluationError(f"no function is called @main: {reason}", self.module.location)
        return next(iter(self.functions.values()))

    @property
    def inputs(self) -> tuple[Parameter, ...]:
        return self.entry.inputs

    @property
    def outputs(self) -> tuple[Parameter, ...]:
        return self.entry.outputs

    def with_entry(self, name: str) -> Program:
        """The same program that starts at another function."""
        program = Program(self.module, name, self.limits)
        program._verified = self._verified
        program._stand_ins = self._stand_ins
        return program

    def with_composites(self, overrides: Mapping[str, Callable[..., Any]], check: bool = False) -> Program:
        """The same program in which `overrides`, from names of composites, stand in for their decompositions.

        Each is called as `f(*operands, **composite_attributes)` and returns an array, or a sequence of the results.
        With `check` the decomposition is run too, and EvaluationError raised where the two disagree by more than 1e-4
        or, of coarser types, four units in the last place of 1; integers must be equal.
        """
        return self._with(composites=dict(overrides), check_composites=check)

    def with_custom_calls(self, handlers: Mapping[str, Callable[..., Sequence[Any]]]) -> Program:
        """The same program in which `handlers`, from targets of custom_calls, come before registered ones."""
        return self._with(custom_calls=dict(handlers))

    def _with(self, **stand_ins: Any) -> Program:
        program = copy(self)
        program._stand_ins = self._stand_ins | stand_ins
        return program

    def plan(self) -> Program:
        """Plans the entry now instead of at the first run."""
        if self.functions or self._entry is not None:
            _ = self._plan
        return self

    @property
    def step_count(self) -> int:
        """How many ops of the entry itself a run goes through."""
        return len(self._plan.block.steps)

    @cached_property
    def _plan(self) -> FunctionPlan:
        return self._planned()

    @cached_property
    def _plan_step_by_step(self) -> FunctionPlan:
        return self._planned(step_by_step=True)

    def _planned(self, step_by_step: bool = False) -> FunctionPlan:
        self.verify()
        with np.errstate(all="ignore"):
            return Planner(self.module, self.limits, step_by_step).function(self.entry.name)

    def _plan_for(self, context: Context) -> FunctionPlan:
        return self._plan if context.on_implementation_defined == "ignore" else self._plan_step_by_step

    def run(
        self,
        /,
        *arrays: Any,
        limits: Limits | None = None,
        observer: Observer | None = None,
        on_implementation_defined: OnChoice = "ignore",
        **named: Any,
    ) -> tuple[Any, ...]:
        """Runs the entry on arrays, one for each input in order, or by name; returns its results as new arrays.

        A name is that of the argument in the text, without `%`, or in its location (`args[0]`). dtypes and shapes
        must be those of `inputs`. Raises EvaluationError if they are not, or if a check of the program fails.
        What a run relies on although the spec leaves it open may `on_implementation_defined` "ignore", "warn" of by an
        ImplementationDefinedWarning or make an "error", an EvaluationError; both name a section of docs/choices.md.
        """
        context = Context(limits or self.limits, observer=observer, on_implementation_defined=on_implementation_defined)
        return self._run(arrays, named, context)

    def run_in(self, context: Context, /, *arrays: Any, **named: Any) -> tuple[Any, ...]:
        """`run` with a context of the caller's: options and an observer."""
        return self._run(arrays, named, context)

    def run_replicas(self, inputs_per_replica: Sequence[Inputs], **options: Any) -> list[tuple[Any, ...]]:
        """`run_parallel` with one partition: one process for each list of inputs."""
        return self.run_parallel(inputs_per_replica, num_replicas=len(inputs_per_replica), num_partitions=1, **options)

    def run_parallel(
        self,
        inputs_per_process: Sequence[Inputs],
        *,
        num_replicas: int | None = None,
        num_partitions: int | None = None,
        infeed: Iterable[Sequence[Any]] = (),
        outfeed: list[tuple[ProcessId, Sequence[Any]]] | None = None,
        limits: Limits | None = None,
        observer: Observer | None = None,
        on_implementation_defined: OnChoice = "ignore",
    ) -> list[tuple[Any, ...]]:
        """Runs the entry in each process of a grid at once; returns the results of each, as `run` does.

        Inputs are arrays in order, or by name, for each process in row-major order: (0, 0), (0, 1), ... of (replica id,
        partition id). The grid's size is that of the module's attributes `mhlo.num_replicas` and `mhlo.num_partitions`
        where it is not given; without those, that of the inputs, which are for replicas where nothing else is said.
        A read of the infeed, by whatever process, takes the next of `infeed`, a sequence of arrays; each write to the
        outfeed is appended to `outfeed`. What several processes get alike may be one read-only array.
        EvaluationError as in `run`, and where processes wait for one another so that none can go on.
        """
        grid = self.grid(len(inputs_per_process), num_replicas, num_partitions)
        context = Context(limits or self.limits, observer=observer, on_implementation_defined=on_implementation_defined)
        return self.run_parallel_in(context, grid, inputs_per_process, infeed, outfeed)

    def grid(self, count: int, num_replicas: int | None = None, num_partitions: int | None = None) -> Grid:
        """The grid of `count` processes that is meant. EvaluationError where it has more or fewer."""
        replicas = num_replicas or _size(self.module, "mhlo.num_replicas")
        partitions = num_partitions or _size(self.module, "mhlo.num_partitions")
        if replicas is None and partitions is None:
            partitions = 1
        grid = Grid(replicas or max(1, count // (partitions or 1)), partitions or max(1, count // (replicas or 1)))
        if len(grid.processes) != count:
            size = f"{grid.num_replicas} x {grid.num_partitions} processes (replicas x partitions)"
            raise EvaluationError(f"there are inputs for {count}, but the grid is of {size}", self.entry.location)
        return grid

    def run_parallel_in(
        self,
        context: Context,
        grid: Grid,
        inputs_per_process: Sequence[Inputs],
        infeed: Iterable[Sequence[Any]] = (),
        outfeed: list[tuple[ProcessId, Sequence[Any]]] | None = None,
    ) -> list[tuple[Any, ...]]:
        """`run_parallel` with a context of the caller's: options and an observer."""
        plan = self._plan_for(context)
        vars(context).update(self._stand_ins)
        inputs = [self._arguments(given) for given in inputs_per_process]
        reads = [lambda context, values=values: values for values in infeed]
        with np.errstate(all="ignore"), choosing(context), running(context):
            results = run_grid(context, grid, [(plan, list(arguments)) for arguments in inputs], reads, outfeed)
        if context.failures:
            raise EvaluationError(context.failures)
        kept = {id(leaf) for arguments in inputs for leaf in _leaves(arguments)}
        alike: dict[int, Any] = {}
        return [tuple(_owned_once(result, kept, alike) for result in of_process) for of_process in results]

    def _arguments(self, given: Inputs) -> list[Any]:
        in_order, named = ((), dict(given)) if isinstance(given, Mapping) else (given, {})
        return [_checked(p, a) for p, a in zip(self.inputs, _in_order(self.entry, in_order, named))]

    def _run(self, arrays: Sequence[Any], named: dict[str, Any], context: Context) -> tuple[Any, ...]:
        if not self.functions and self._entry is None and not arrays and not named:
            return ()
        vars(context).update(self._stand_ins)
        plan = self._plan_for(context)
        inputs = [_checked(p, a) for p, a in zip(self.inputs, _in_order(self.entry, arrays, named))]
        with np.errstate(all="ignore"), choosing(context), running(context):
            if plan.block.communicates:
                (results,) = run_grid(context, Grid(), [(plan, list(inputs))])
            else:
                results = plan.call(context, list(inputs))
        if context.failures:
            raise EvaluationError(context.failures)
        kept = {id(leaf) for leaf in _leaves(inputs)}
        try:
            return tuple(_owned(result, kept) for result in results)
        except MemoryError as error:
            raise EvaluationError(f"the results of @{self.entry.name}: {error}", self.entry.location) from None


def load(
    source: str | bytes | os.PathLike[str],
    *,
    allow_unregistered_dialect: bool = False,
    entry: str | None = None,
    limits: Limits | None = None,
) -> Program:
    """Reads and verifies a program: a path, MLIR text (a `str` with a newline), or `bytes` of text.

    Raises MalformedError (also where the file can't be read) or InvalidError, with the place in the text.
    """
    text, name = source, "<string>"
    if not isinstance(source, bytes) and not (isinstance(source, str) and "\n" in source):
        name = os.fspath(source)
        text = read(name)
    assert isinstance(text, str | bytes)
    program = parse(text, filename=name, allow_unregistered_dialect=allow_unregistered_dialect, entry=entry)
    program.limits = limits or program.limits
    return program.verify()


def read(path: str) -> bytes:
    """The contents of a file; MalformedError if it can't be read."""
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise MalformedError(f"can't read the program: {reason}", Location(Source("", path), 0)) from None


def parse(
    text: str | bytes,
    *,
    filename: str = "<string>",
    first_line: int = 1,
    allow_unregistered_dialect: bool = False,
    entry: str | None = None,
) -> Program:
    """Reads a program without verifying it; MalformedError if the text is not MLIR. Lines count from `first_line`."""
    data = text if isinstance(text, bytes) and text.isascii() else None
    source = Source(decode(text, filename) if isinstance(text, bytes) else text, filename, first_line, data)
    return Program(parse_module(source, allow_unregistered_dialect=allow_unregistered_dialect), entry)


def decode(data: bytes, filename: str) -> str:
    """Bytes as text: UTF-8; MalformedError for bytecode and for anything else that is not text."""
    if data.startswith(b"ML\xefR"):
        raise MalformedError("MLIR bytecode is not read yet; convert it to text", Location(Source("", filename), 0))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        text = data[: error.start].decode("utf-8-sig")
        place = Location(Source(text + "\N{REPLACEMENT CHARACTER}", filename), len(text))
        raise MalformedError("neither UTF-8 text nor MLIR bytecode", place) from None


# --- signatures -----------------------------------------------------------------------------------------------------


def _function(op: Operation) -> Function:
    signature: FunctionType = op.properties["function_type"]
    arguments: Sequence[Value | None] = op.regions[0].block.arguments if op.regions[0].blocks else ()
    arguments = arguments or [None] * len(signature.inputs)
    inputs = tuple(_input(op, i, t, v) for i, (t, v) in enumerate(zip(signature.inputs, arguments)))
    outputs = tuple(_output(op, i, t) for i, t in enumerate(signature.outputs))
    is_public = op.properties.get("sym_visibility") in (None, "public")
    return Function(op.properties["sym_name"], inputs, outputs, is_public, op.location)


def _input(op: Operation, index: int, type: Type, value: Value | None) -> Parameter:
    name = (value.name if value else "") or f"arg{index}"
    described = name_of(value.location) if value else None
    return Parameter(name, type, op.location, tuple(dict.fromkeys(n for n in (name, described) if n)))


def _output(op: Operation, index: int, type: Type) -> Parameter:
    attributes = op.properties.get("res_attrs") or ()
    described = attributes[index].get("jax.result_info") if index < len(attributes) else None
    name = described or f"result{index}"
    return Parameter(name, type, op.location, (name,))


def _size(module: Operation, name: str) -> int | None:
    """The size of the process grid that a module's attribute says."""
    return getattr(module.attributes.get(name), "value", None)


def _names(functions: dict[str, Function]) -> str:
    return ", ".join(f"@{name}" for name in functions) or "none"


# --- inputs and results ---------------------------------------------------------------------------------------------


def _in_order(entry: Function, arrays: Sequence[Any], named: dict[str, Any]) -> list[Any]:
    """Arguments given by position and by name, in the order of the function's inputs. Tokens may be left out."""
    tokens = [i for i, p in enumerate(entry.inputs) if isinstance(p.type, TokenType)]
    every = range(max(len(entry.inputs), len(arrays)))
    without_tokens = without(range(len(entry.inputs)), tokens)
    given = dict(zip(without_tokens if len(arrays) <= len(without_tokens) else every, arrays))
    for name, value in named.items():
        position = _position(entry, name)
        if position in given:
            raise EvaluationError(f"argument {name!r} of @{entry.name} is given twice", entry.location)
        given[position] = value
    given = dict.fromkeys(tokens) | given
    missing = [p.name for i, p in enumerate(entry.inputs) if i not in given]
    if missing or len(given) != len(entry.inputs):
        count = f"takes {len(entry.inputs)} arguments, but {len(given)} are given"
        which = f" (missing: {', '.join(missing)})" if missing else ""
        raise EvaluationError(f"@{entry.name} {count}{which}", entry.location)
    return [given[i] for i in range(len(entry.inputs))]


def _position(entry: Function, name: str) -> int:
    """Which input is called so: in the text, or else in its location."""
    by_location = {name: i for i, p in enumerate(entry.inputs) for name in p.names}
    position = (by_location | {p.name: i for i, p in enumerate(entry.inputs)}).get(name)
    if position is None:
        known = ", ".join(p.name for p in entry.inputs) or "none"
        raise EvaluationError(f"@{entry.name} has no argument {name!r}; it has {known}", entry.location)
    return position


def _checked(parameter: Parameter, value: Any) -> Any:
    try:
        return as_value(parameter.type, value)
    except ValueError as error:
        raise EvaluationError(f"argument '{parameter.name}': {error}", parameter.location) from None
    except UnsupportedError as error:
        reason = error.diagnostics[0].message
        raise UnsupportedError(f"argument '{parameter.name}': {reason}", parameter.location) from None


def as_value(type: Type, value: Any) -> Any:
    """What a slot holds for a value of `type`; ValueError where dtype, shape or structure is another."""
    if isinstance(type, TokenType):
        return None
    if isinstance(type, TupleType):
        if not isinstance(value, tuple | list) or len(value) != len(type.elements):
            raise ValueError(f"expected a tuple of {len(type.elements)} for {type}")
        return tuple(map(as_value, type.elements, value))
    if not isinstance(type, TensorType):
        raise ValueError(f"values of type {type} can't be passed")
    array = np.asarray(value)
    dtype = numpy_dtype(type.element_type)
    if array.dtype != dtype:
        raise ValueError(f"expected dtype {dtype} for {type}, got {array.dtype}")
    if not _fits(type, array.shape):
        raise ValueError(f"expected shape {re.sub('None', '?', str(type.shape))} for {type}, got {array.shape}")
    return array if array.ndim else array[()]


def _fits(type: TensorType, shape: tuple[int, ...]) -> bool:
    bounds = type.bounds or (None,) * type.rank
    return len(shape) == type.rank and all(
        declared in (None, size) and (bound is None or size <= bound)
        for declared, bound, size in zip(type.shape, bounds, shape)
    )


def _leaves(values: Sequence[Any]) -> list[Any]:
    return [leaf for v in values for leaf in (_leaves(v) if isinstance(v, tuple) else [v])]


def _owned_once(value: Any, kept: set[int], alike: dict[int, Any]) -> Any:
    """`_owned`, but where several processes have one array for their result: they all get one, which is read-only."""
    if id(value) not in alike:
        alike[id(value)] = _owned(value, kept)
    elif isinstance(owned := alike[id(value)], np.ndarray):
        owned.flags.writeable = False
    return alike[id(value)]


def _owned(value: Any, kept: set[int]) -> Any:
    """A result as a C-contiguous array that neither an input nor a constant of the program shares."""
    if value is None:
        return None
    if isinstance(value, tuple):
        return tuple(_owned(v, kept) for v in value)
    array = np.asarray(value)
    root: Any = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    shared = not root.flags.owndata or not root.flags.writeable or id(root) in kept or id(array) in kept
    kept.add(id(root))
    return contiguous(array) if shared or not array.flags.c_contiguous else array


