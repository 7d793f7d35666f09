"""A program in memory: what `load` and `parse` give, and what runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableSequence, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeAlias, Unpack

import numpy as np

from stablehlo_ref.arguments import checked, in_order, leaves, owned, owned_once
from stablehlo_ref.diagnostics import EvaluationError, Location, StablehloError
from stablehlo_ref.execute.choosing import choosing
from stablehlo_ref.execute.grid import going_on, run_grid
from stablehlo_ref.execute.plan import Planner
from stablehlo_ref.execute.run import Context, FunctionPlan, Observer, OnChoice, RunOptions
from stablehlo_ref.ir.attributes import IntegerAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.limits import Limits, check_type
from stablehlo_ref.processes import Grid, ProcessId
from stablehlo_ref.signature import Function, Parameter, function_of
from stablehlo_ref.syntax.printer import print_operation
from stablehlo_ref.targets.spmd import device_count
from stablehlo_ref.verify import verify

Inputs: TypeAlias = Sequence[Any] | Mapping[str, Any]  # of one process: in order, or by name


class Program:
    """A module and one of its functions, the entry: `entry` if given, else `main`, else the only function."""

    def __init__(self, module: Operation, entry: str | None = None, limits: Limits | None = None) -> None:
        self.module = module
        self.limits = Limits() if limits is None else limits
        self._entry = entry
        self._verified = False

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
        return {op.properties["sym_name"]: function_of(op) for op in ops}

    @cached_property
    def entry(self) -> Function:
        """The function that `run` runs. EvaluationError where that is not clear."""
        if self._entry is not None:
            if self._entry not in self.functions:
                known = self._names
                raise EvaluationError(f"there is no function @{self._entry}; there are {known}", self.module.location)
            return self.functions[self._entry]
        if "main" in self.functions:
            return self.functions["main"]
        if len(self.functions) != 1:
            reason = f"choose one of {self._names}" if self.functions else "there is none"
            raise EvaluationError(f"no function is called @main: {reason}", self.module.location)
        return next(iter(self.functions.values()))

    @property
    def _names(self) -> str:
        return ", ".join(f"@{name}" for name in self.functions) or "none"

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
    def _device_count(self) -> int:
        return device_count(self.module)

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
        custom_calls: Mapping[str, Callable[..., Sequence[Any]]] | None = None,
        overrides: Mapping[str, Callable[..., Any]] | None = None,
        check_overrides: bool = False,
        rng_seed: int = 0,
        **named: Any,
    ) -> tuple[Any, ...]:
        """Runs the entry on arrays, one for each input in order, or by name; returns its results as new arrays.

        A name is that of the argument in the text, without `%`, or in its location (`args[0]`). dtypes and shapes
        must be those of `inputs`. Raises EvaluationError if they are not, or if a check of the program fails.
        What a run relies on although the spec leaves it open may `on_implementation_defined` "ignore", "warn" of by an
        ImplementationDefinedWarning or make an "error", an EvaluationError; both name a section of docs/choices.md.

        `custom_calls`, handlers by target as `register_custom_call` takes them, come before registered ones.
        `overrides`, functions by names of composites, stand in for their decompositions. Each is called as
        `f(*operands, **composite_attributes)` and returns an array, or a sequence of the results. With
        `check_overrides` the decomposition is run too, and EvaluationError raised where the two disagree by more than
        1e-4 or, of coarser types, four units in the last place of 1; integers must be equal.
        `rng_seed`, of 64 bits, decides what `rng` draws.
        """
        context = self._context(
            limits=limits,
            observer=observer,
            on_implementation_defined=on_implementation_defined,
            custom_calls=custom_calls,
            overrides=overrides,
            check_overrides=check_overrides,
            rng_seed=rng_seed,
        )
        return self._run(arrays, named, context)

    def run_in(self, context: Context, /, *arrays: Any, **named: Any) -> tuple[Any, ...]:
        """`run` with a context of the caller's: options and an observer."""
        return self._run(arrays, named, context)

    def run_replicas(
        self, inputs_per_replica: Sequence[Inputs], **options: Unpack[RunOptions]
    ) -> list[tuple[Any, ...]]:
        """`run_parallel` with one partition: one process for each list of inputs."""
        check_type("inputs_per_replica", inputs_per_replica, Sequence | np.ndarray, "a list of inputs")
        return self.run_parallel(inputs_per_replica, num_replicas=len(inputs_per_replica), num_partitions=1, **options)

    def run_parallel(
        self,
        inputs_per_process: Sequence[Inputs],
        *,
        num_replicas: int | None = None,
        num_partitions: int | None = None,
        infeed: Iterable[Sequence[Any]] = (),
        outfeed: list[tuple[ProcessId, Sequence[Any]]] | None = None,
        **options: Unpack[RunOptions],
    ) -> list[tuple[Any, ...]]:
        """Runs the entry in each process of a grid at once; returns the results of each, as `run` does.

        Inputs are arrays in order, or by name, for each process in row-major order: (0, 0), (0, 1), ... of (replica id,
        partition id). The grid's size is that of the module's attributes `mhlo.num_replicas` and `mhlo.num_partitions`
        where it is not given; without those, that of the inputs, which are for replicas where nothing else is said.
        A read of the infeed, by whatever process, takes the next of `infeed`, a sequence of arrays; each write to the
        outfeed is appended to `outfeed`. What several processes get alike may be one read-only array.
        Options are those of `run`. EvaluationError as there, and where processes wait so that none can go on.
        """
        check_type("inputs_per_process", inputs_per_process, Sequence | np.ndarray, "a list of inputs")
        check_type("infeed", infeed, Iterable, "an iterable of sequences of arrays")
        check_type("outfeed", outfeed, MutableSequence | None, "a list")
        grid = self.grid(len(inputs_per_process), num_replicas, num_partitions)
        return self.run_parallel_in(self._context(**options), grid, inputs_per_process, infeed, outfeed)

    def grid(self, count: int, num_replicas: int | None = None, num_partitions: int | None = None) -> Grid:
        """The grid of `count` processes that is meant. EvaluationError where there is none, or it has more or fewer."""
        try:
            grid = self._grid(count, num_replicas, num_partitions)
        except EvaluationError as error:
            raise EvaluationError(error.diagnostics[0].message, self.entry.location) from None
        if grid.count != count:
            raise EvaluationError(f"there are inputs for {count}, but the grid is of {grid}", self.entry.location)
        return grid

    def _grid(self, count: int, num_replicas: int | None, num_partitions: int | None) -> Grid:
        """The grid of the sizes that are given, or else are the module's, or else go with `count` processes."""
        replicas = _size(self.module, "mhlo.num_replicas") if num_replicas is None else num_replicas
        partitions = _size(self.module, "mhlo.num_partitions") if num_partitions is None else num_partitions
        if replicas is None:
            replicas = count // Grid(num_partitions=1 if partitions is None else partitions).count or 1
        if partitions is None:
            partitions = count // Grid(replicas).count or 1
        return Grid(replicas, partitions)

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
        inputs = [
            self._arguments((), dict(given)) if isinstance(given, Mapping) else self._arguments(given, {})
            for given in inputs_per_process
        ]
        reads = (lambda context, values=values: values for values in infeed)
        with evaluating(context, self.entry.location):
            results = run_grid(context, grid, [(plan, list(arguments)) for arguments in inputs], reads, outfeed)
        kept = {id(leaf) for arguments in inputs for leaf in leaves(arguments)}
        alike: dict[int, Any] = {}
        with self._copying():
            return [tuple(owned_once(result, kept, alike) for result in of_process) for of_process in results]

    def _context(self, **options: Unpack[RunOptions]) -> Context:
        given = {name: option for name, option in options.items() if option is not None}
        return Context(**{"limits": self.limits} | given)  # type: ignore[arg-type]

    def _arguments(self, arrays: Sequence[Any], named: dict[str, Any]) -> list[Any]:
        return [checked(p, a) for p, a in zip(self.inputs, in_order(self.entry, arrays, named))]

    def _run(self, arrays: Sequence[Any], named: dict[str, Any], context: Context) -> tuple[Any, ...]:
        if not self.functions and self._entry is None and not arrays and not named:
            return ()
        plan = self._plan_for(context)
        inputs = self._arguments(arrays, named)
        with evaluating(context, self.entry.location):
            if plan.block.communicates:
                grid = Grid(num_partitions=self._device_count)
                results, *_ = run_grid(context, grid, [(plan, list(inputs)) for _ in grid.processes])
            else:
                results = plan.call(context, list(inputs))
        kept = {id(leaf) for leaf in leaves(inputs)}
        with self._copying():
            return tuple(owned(result, kept) for result in results)

    @contextmanager
    def _copying(self) -> Iterator[None]:
        """Around what copies results: EvaluationError where there is no memory for that."""
        try:
            yield
        except MemoryError as error:
            raise EvaluationError(f"the results of @{self.entry.name}: {error}", self.entry.location) from None


@contextmanager
def evaluating(context: Context, entry: Location | None) -> Iterator[None]:
    """Around all that a run evaluates."""
    with np.errstate(all="ignore"), choosing(context), going_on(context), reporting(context, entry):
        yield


@contextmanager
def reporting(context: Context, entry: Location | None) -> Iterator[None]:
    """Raises what the checks of a run found when it ends; if an error ends it, that comes last.

    An error that is of no op, as of a limit that is reached before the first, is at the entry.
    """
    try:
        yield
    except StablehloError as error:
        if not context.failures and error.diagnostics[0].location:
            raise
        first, *others = error.diagnostics
        first = replace(first, location=first.location or entry)
        raise type(error)([*context.failures, first, *others]) from error
    if context.failures:
        raise EvaluationError(context.failures)


def _size(module: Operation, name: str) -> int | None:
    """The size of the process grid that a module's attribute says."""
    attribute = module.attributes.get(name)
    return attribute.value if isinstance(attribute, IntegerAttribute) else None
