"""A program in memory: what `load` and `parse` return, and what runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, MutableSequence, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

import numpy as np

import stablehlo_ref.dialects.register_all  # noqa: F401  (all op classes, for parsers and copies of programs)
from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.arrays.interop import to_array
from stablehlo_ref.arrays.weights import Weights, weights_of, with_random_constants
from stablehlo_ref.define.context import (
    OPTIONS,
    Context,
    Observer,
    OnImplementationDefined,
    RunOptions,
    check_host_functions,
    checked_options,
    host_functions,
    separated,
)
from stablehlo_ref.define.mode import DEFAULT, Mode
from stablehlo_ref.define.processes import GRID_SIZES, Grid, ProcessId, declared_grid
from stablehlo_ref.diagnostics import ArgumentTypeError, EvaluationError
from stablehlo_ref.display.guarantees import Guarantees, guarantees
from stablehlo_ref.display.html import summary
from stablehlo_ref.execute.arguments import (
    arguments_in_order,
    array_dtype,
    as_expected,
    check_argument,
    check_numbered_arguments,
    without_mapping,
)
from stablehlo_ref.execute.evaluation import run_plan, run_processes
from stablehlo_ref.execute.grid import on_shards
from stablehlo_ref.execute.plan import Planner
from stablehlo_ref.execute.run import FunctionPlan
from stablehlo_ref.ir.arrays import RuntimeValue
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.flat import picklable, restore
from stablehlo_ref.ir.signature import Function, Parameters, function_of, shortened
from stablehlo_ref.ir.value_index import ValueIndex
from stablehlo_ref.limits import Limits, check_type
from stablehlo_ref.limits.budget import activity, in_force, limited
from stablehlo_ref.limits.stack import collection_paused, needs_stack
from stablehlo_ref.syntax.printer import print_operation
from stablehlo_ref.verify import verify

if TYPE_CHECKING:
    from stablehlo_ref.debug.traces.record import Select
    from stablehlo_ref.debug.traces.trace import Trace

Inputs: TypeAlias = Sequence[Any] | Mapping[str, Any]  # of one process: in order, or by name


class Program:
    """A module and the function that `run` runs: `entry` if given, else `main`, else the only public one.

    Programs can be pickled and copied, without their plans: a copy is planned when it first runs.
    """

    @checks_arguments
    def __init__(
        self, module: Operation, entry: str | None = None, limits: Limits | None = None, verified: bool = False
    ) -> None:
        self.module = module
        self.limits = Limits() if limits is None else limits
        self._entry = entry
        self._verified = verified
        self._bound: Mapping[int, RuntimeValue] = {}
        self.plans: dict[tuple[bool, bool, Mode], FunctionPlan] = {}  # by `step_by_step`, `fast`, how exact
        self._on_shards: dict[Grid, Program] = {}

    def __getstate__(self) -> dict[str, object]:
        return {
            "module": picklable(self.module), "limits": self.limits, "entry": self._entry, "verified": self._verified,
            "bound": self._bound,
        }  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        Program.__init__(self, restore(state["module"]), state["entry"], state["limits"], state["verified"])
        self._bound = state["bound"]

    def verify(self) -> Program:
        """Check the program against the spec, unless that has been done; InvalidError for each rule that it breaks."""
        if not self._verified:
            with activity("verifying"):
                verify(self.module)
            self._verified = True
        return self

    def __str__(self) -> str:
        return print_operation(self.module)

    def __repr__(self) -> str:
        return summary(self)

    def _repr_html_(self) -> str:
        from stablehlo_ref.display.html import program_html  # imported in notebooks only

        return program_html(self)

    def guarantees(self, *, reproducible: bool = False, exact_sums: bool = False) -> Guarantees:
        """Return what a run guarantees for the bits of results, by op and element type; options as in `run`."""
        return guarantees(self.module, Mode(reproducible, exact_sums))

    @needs_stack(lambda program: program.module.location)
    def serialize(self, target: str = "current", allow_other_dialects: bool = False) -> bytes:
        """Return the program as a portable artifact for a version of StableHLO, such as "1.9.0", and all later ones.

        UnsupportedError, with the place, for what that version does not have. Ops and attributes of other dialects are
        among these unless `allow_other_dialects`; whether others can read them is not promised.
        """
        from stablehlo_ref.bytecode.vhlo.artifact import serialize  # bytecode is imported when it is needed

        return serialize(self.verify().module, target, allow_other_dialects)

    @needs_stack(lambda program: program.module.location)
    def transform(self, *passes: str) -> Program:
        """Return a new program: this one after passes, in order; this one does not change.

        Each of `passes` is the name of a pass or a pipeline, with options in braces. MalformedError for an unknown pass
        or option; a pass that cannot transform the program raises UnsupportedError or InvalidError, with the place.

        >>> program.transform("inline", "symbol-dce", "canonicalize")
        >>> program.transform("stablehlo-refine-arguments{types=tensor<4xf32>}", "stablehlo-refine-shapes")
        """
        from stablehlo_ref.passes.catalog import transformed  # the passes are imported when they are needed

        return self._with(transformed(self.verify().module, passes, self.limits))

    # --- functions ----------------------------------------------------------------------------------------------

    @cached_property
    def functions(self) -> dict[str, Function]:
        """The signatures of the module's functions by name, in the order of the text."""
        ops = [op for op in self.module.regions[0].block.operations if op.name == "func.func"]
        return {op.properties["sym_name"]: function_of(op, array_dtype) for op in ops}

    @cached_property
    def entry(self) -> Function:
        """The signature of the function that `run` runs. EvaluationError if there is no such function, or a choice."""
        names = shortened([f"@{name}" for name in self.functions])
        if self._entry is not None:
            if self._entry not in self.functions:
                raise EvaluationError(f"there is no function @{self._entry}; there are {names}", self.module.location)
            return self.functions[self._entry]
        if "main" in self.functions:
            return self.functions["main"]
        candidates = [f for f in self.functions.values() if f.is_public] or list(self.functions.values())
        if len(candidates) != 1:
            reason = f"choose one of {names}" if self.functions else "the program has no functions"
            raise EvaluationError(f"no function is called @main: {reason}", self.module.location)
        return candidates[0]

    @property
    def inputs(self) -> Parameters:
        """The inputs of the entry, without those that `bind` gave a value, by number or name."""
        return Parameters(self._open_entry.inputs)

    @property
    def outputs(self) -> Parameters:
        """The outputs of the entry, by number or name."""
        return Parameters(self.entry.outputs)

    def with_entry(self, name: str) -> Program:
        """Return the same program with another entry."""
        return Program(self.module, name, self.limits, self._verified)

    def bind(self, weights: Weights | Mapping[int, Any]) -> Program:
        """Return the same program with weights as the values of some inputs, which `inputs` then lacks.

        `weights` maps names (`q.weight`, `states.q.weight` or as in an argument `states['q.weight']`) or numbers
        to arrays, is a sequence (for arguments `states[0]`, `states[1]`, ...), or the path of a `.npz`, `.safetensors`,
        `.pt` or `.pth` file or a folder of `.npy` files. Weights of arguments that the exporter dropped are ignored.
        EvaluationError that lists each name that may mean several arguments, is missing, or has another shape or dtype.
        """
        inputs = self.entry.inputs
        if isinstance(weights, Mapping) and weights and all(isinstance(key, int) for key in weights):
            numbered = {int(key): to_array(value) for key, value in weights.items()}
            if wrong := numbered.keys() - range(len(inputs)):
                raise EvaluationError(f"@{self.entry.name} has no input {min(wrong)}", self.entry.location)
        else:
            with limited(self.limits):
                numbered = weights_of(inputs, weights)  # type: ignore[arg-type]
        origin = os.fspath(weights) if isinstance(weights, str | os.PathLike) else None
        return self._with(self.module, {**self._bound, **check_numbered_arguments(inputs, numbered, origin)})

    def with_random_weights(self, seed: int) -> Program:
        """Return the same program with random elements in constants whose elements its text leaves out.

        These are resources without data, such as `dense_resource<__elided__>`. The same seed gives the same numbers.
        """
        return self._with(with_random_constants(self.module, seed, self.limits.max_bytes))

    def _with(self, module: Operation, bound: Mapping[int, RuntimeValue] | None = None) -> Program:
        """Return a program with the entry, limits and bound inputs of this one, verified if this one is."""
        program = Program(module, self._entry, self.limits, self._verified)
        program._bound = self._bound if bound is None else bound
        return program

    @cached_property
    def _open_entry(self) -> Function:
        """The signature of the entry without the inputs that are bound."""
        return replace(self.entry, inputs=tuple(p for i, p in enumerate(self.entry.inputs) if i not in self._bound))

    def value(self, name: str) -> Value:
        """Return the SSA value called `%3`, `@relu/%3` (in another function than the entry), or by its location.

        UnknownValueError, an EvaluationError and KeyError, if nothing or more than one value has the name.
        """
        return self.value_index.find(name)

    @cached_property
    def value_index(self) -> ValueIndex:
        """The names of all values."""
        return ValueIndex(self._runnable, self.entry.name)

    @checks_arguments
    def on_shards(self, grid: Grid) -> Program:
        """Return the program that each process of a grid runs: on shards, if tensors have shardings of Shardy."""
        if grid.count > 1 and grid not in self._on_shards:
            module = on_shards(self.verify().module, self.entry.name, grid, self._bound)
            self._on_shards[grid] = self if module is self.module else self._with(module)
        return self._on_shards.get(grid, self)

    @cached_property
    def _runnable(self) -> Operation:
        """The module as it runs: functions that `interpreter.run_parallel` runs compute on shards."""
        return on_shards(self.module)

    @property
    def _is_empty(self) -> bool:
        """Whether there is nothing to run, which is not an error unless a function is asked for."""
        return not self.functions and self._entry is None

    @cached_property
    def _names_of_host_functions(self) -> dict[str, set[str]]:
        """The names of the program that the options `custom_calls` and `overrides` may refer to."""
        return host_functions(self.verify().module)

    # --- plans --------------------------------------------------------------------------------------------------

    def plan(self, *, fast: bool = True, reproducible: bool = False, exact_sums: bool = False) -> Program:
        """Plan the entry now instead of at the first run with these options, which are those of `run`."""
        check_type("fast", fast, bool, "True or False")
        _ = self._is_empty or self._planned(False, fast, Mode(reproducible, exact_sums))
        return self

    @property
    def step_count(self) -> int:
        """The number of steps in the plan of the entry, not counting those of functions and regions that it calls."""
        return len(self._planned(False, False).block.steps)

    @needs_stack(lambda program: program.module.location)
    def _planned(self, step_by_step: bool, fast: bool, mode: Mode = DEFAULT) -> FunctionPlan:
        kind = step_by_step, fast, mode
        if kind not in self.plans:
            self.verify()
            with np.errstate(all="ignore"), activity("planning"), collection_paused():
                self.plans[kind] = Planner(self._runnable, self.limits, *kind).function(self.entry.name)
        return self.plans[kind]

    def _plan_for(self, context: Context) -> FunctionPlan:
        if context.semantics:
            from stablehlo_ref.walk.walker import WalkedFunction  # imports mpmath

            return WalkedFunction(self.verify()._runnable, self.entry.name)
        observer = context.observer
        step_by_step = context.on_implementation_defined != "ignore" or getattr(observer, "sees_every_op", False)
        kind = step_by_step, context.fast and not step_by_step and observer is None, context.mode
        if (plan := self.plans.get(kind)) is not None:
            return plan
        with in_force(context.budget):
            return self._planned(*kind)

    # --- runs ---------------------------------------------------------------------------------------------------

    def run(
        self,
        /,
        *arrays: object,
        until: str | Sequence[str] | None = None,
        options: RunOptions | None = None,
        limits: Limits | None = None,
        observer: Observer | None = None,
        on_implementation_defined: OnImplementationDefined | None = None,
        custom_calls: Mapping[str, Callable[..., Sequence[Any]]] | None = None,
        overrides: Mapping[str, Callable[..., Any]] | None = None,
        check_overrides: bool | None = None,
        rng_seed: int | None = None,
        exact_lapack: bool | None = None,
        reproducible: bool | None = None,
        exact_sums: bool | None = None,
        fast: bool | None = None,
        threads: int | None = None,
        jit: bool | None = None,
        semantics: bool | None = None,
        **named: object,
    ) -> tuple[Any, ...]:
        """Run the entry on arrays, one for each input in order, or by name; return its results as new arrays.

        The name of an input is that of the argument in the text, without `%`, or that in its location (`args[0]`).
        Inputs may also be a single mapping by name. dtypes and shapes must be those of `inputs`. Raises EvaluationError
        if they are not, or if a check of the program fails.

        With `until`, names or addresses of values (see `Trace`), the run stops once it has computed and returns these.

        The other keywords are the fields of `RunOptions`. They may be given as `options=RunOptions(...)`; then all
        other keywords are inputs, so that an input may be called `limits`.
        """
        if (
            until is None and options is None and limits is None and observer is None
            and on_implementation_defined is None and custom_calls is None and overrides is None
            and check_overrides is None and rng_seed is None and exact_lapack is None and reproducible is None
            and exact_sums is None and fast is None and threads is None and jit is None and not semantics and not named
        ):  # fmt: skip
            return self._run(arrays, named, Context.plain(self.limits), trees=True)
        given = {name: value for name, value in locals().items() if name in OPTIONS}
        options, named = separated(options, {**given, **named})
        if until is not None:
            from stablehlo_ref.debug.traces.record import Until

            with in_force((context := self._context(**options)).budget):
                stop = Until(self.value_index, until)
            context.observer = stop.beside(context.observer)
            return stop.reached(lambda: self._run(arrays, named, context, trees=True), self.entry)
        return self._run(arrays, named, self._context(**options), trees=True)

    def run_in(self, context: Context, /, *arrays: object, **named: object) -> tuple[Any, ...]:
        """Run the entry as `run` does, in a context that has the options and the observer."""
        check_type("context", context, Context, "a Context")
        return self._run(arrays, named, context)

    def trace(
        self,
        /,
        *arrays: object,
        only: Select | None = None,
        store: str | os.PathLike[str] | None = None,
        keep: str | None = None,
        options: RunOptions | None = None,
        **named: object,
    ) -> Trace:
        """Run the entry as `run` does and return the values of all ops by name, and the results as `trace.results`.

        `only` selects what is kept: a function of the op, or names of values (`%3`, `jit(f)/conv`) or of ops, with
        wildcards (`stablehlo.dot_general`, `chlo.*`), one or several. With `store` values are written to files in that
        folder as they come, and mapped when they are used; `Trace.load` reads them. Of those in whose names a regular
        expression `keep` is not found, only statistics are written. If the run fails, the error has the values until
        then as its attribute `trace`. Inputs by name may be mixed with the options of `run`.

        >>> trace = program.trace(image, only="stablehlo.convolution")
        """
        from stablehlo_ref.debug.traces.record import Recorder, recording

        options, named = separated(options, named)
        with in_force((context := self._context(**options)).budget):
            recorder = Recorder(self.value_index, only, store, keep)
        with recording(recorder):
            context.observer = recorder.beside(context.observer)
            return recorder.trace(self._run(arrays, named, context, trees=True))

    def run_replicas(
        self, inputs_per_replica: Sequence[Inputs], **options: Unpack[RunOptions]
    ) -> list[tuple[Any, ...]]:
        """Run the entry in one process for each item of `inputs_per_replica`: `run_parallel` with one partition."""
        if sizes := options.keys() & set(GRID_SIZES):
            raise ArgumentTypeError(f"run_replicas has no option {min(sizes)!r}, which run_parallel has")
        check_type("inputs_per_replica", inputs_per_replica, Sequence | np.ndarray, "a list of inputs")
        return self.run_parallel(inputs_per_replica, num_replicas=len(inputs_per_replica), num_partitions=1, **options)

    def run_parallel(
        self,
        inputs_per_process: Sequence[Inputs],
        *,
        num_replicas: int | None = None,
        num_partitions: int | None = None,
        infeed: Iterable[Sequence[Any]] = (),
        outfeed: MutableSequence[tuple[ProcessId, Sequence[Any]]] | None = None,
        **options: Unpack[RunOptions],
    ) -> list[tuple[Any, ...]]:
        """Run the entry in all processes of a grid; return the results of each process, as `run` does.

        `inputs_per_process` has the arrays of each process, in order or by name, for the processes in row-major order:
        (0, 0), (0, 1), ... of (replica id, partition id); of a program with shardings, shards. Sizes of the grid that
        are not given are `mhlo.num_replicas` and `mhlo.num_partitions` of the module; without these, they follow from
        the number of inputs, which are for replicas unless `num_replicas` is given. A read of the infeed takes the next
        item of `infeed`, a sequence of arrays; each write to the outfeed is appended to `outfeed`. Processes may share
        arrays that they return, read-only. Options and errors are those of `run`; a deadlock is an EvaluationError.
        """
        check_type("inputs_per_process", inputs_per_process, Sequence | np.ndarray, "a list of inputs")
        check_type("infeed", infeed, Iterable, "an iterable of sequences of arrays")
        check_type("outfeed", outfeed, MutableSequence | None, "a list")
        grid = self.grid(len(inputs_per_process), num_replicas, num_partitions)
        return self.on_shards(grid).run_parallel_in(self._context(**options), grid, inputs_per_process, infeed, outfeed)

    def trace_parallel(
        self,
        inputs_per_process: Sequence[Inputs],
        *,
        only: Select | None = None,
        store: str | os.PathLike[str] | None = None,
        keep: str | None = None,
        **options: Any,
    ) -> Trace:
        """Run the entry as `run_parallel` does, with its options, and return the values of all processes.

        >>> trace = program.trace_parallel([[x], [y]], num_replicas=2, num_partitions=1)
        """
        from stablehlo_ref.debug.traces.record import Recorder, recording

        check_type("inputs_per_process", inputs_per_process, Sequence | np.ndarray, "a list of inputs")
        program = self.on_shards(self.grid(len(inputs_per_process), *map(options.get, GRID_SIZES)))
        recorder = Recorder(program.value_index, only, store, keep)
        options["observer"] = recorder.beside(options.get("observer"))
        with recording(recorder):
            return recorder.trace(program.run_parallel(inputs_per_process, **options))

    def grid(self, count: int, num_replicas: int | None = None, num_partitions: int | None = None) -> Grid:
        """Return the grid of `count` processes. EvaluationError if the sizes are invalid or of another count."""
        return declared_grid(self.module, count, num_replicas, num_partitions, self.entry.location)

    @needs_stack(lambda program: program.module.location, frames=0)
    @checks_arguments
    def run_parallel_in(
        self,
        context: Context,
        grid: Grid,
        inputs_per_process: Sequence[Inputs],
        infeed: Iterable[Any] = (),  # checked when it is read
        outfeed: MutableSequence[tuple[ProcessId, Sequence[Any]]] | None = None,
    ) -> list[tuple[Any, ...]]:
        """Run the entry as `run_parallel` does, in a context that has the options and the observer."""
        check_host_functions(context, lambda: self._names_of_host_functions)
        with in_force(context.budget):
            plan = self._plan_for(context)
            inputs = [
                self._arguments((), given) if isinstance(given, Mapping) else self._arguments(given, {})
                for given in inputs_per_process
            ]
            return run_processes(self.module, self.entry, plan, inputs, context, grid, infeed, outfeed)

    def _context(self, **options: Unpack[RunOptions]) -> Context:
        given = {name: option for name, option in checked_options(options).items() if option is not None}
        return Context(**{"limits": self.limits} | given) if given else Context.plain(self.limits)  # type: ignore[arg-type]

    def _flat(self, arrays: tuple[Any, ...], named: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return without_mapping(arrays, named)  # programs of frameworks take containers apart instead

    def _arguments(self, arrays: Sequence[Any], named: Mapping[str, Any], trees: bool = False) -> list[Any]:
        if not (named or self._bound) and (arguments := as_expected(self.entry, arrays)) is not None:
            return arguments
        arrays, named = self._flat(tuple(arrays), dict(named)) if trees else (arrays, named)
        given = arguments_in_order(self._open_entry, arrays, named, self.module)
        unbound = (check_argument(p, value, named) for p, value in zip(self._open_entry.inputs, given))
        return [self._bound[i] if i in self._bound else next(unbound) for i in range(len(self.entry.inputs))]

    def _run(
        self, arrays: tuple[Any, ...], named: dict[str, Any], context: Context, trees: bool = False
    ) -> tuple[Any, ...]:
        check_host_functions(context, lambda: self._names_of_host_functions)
        if self._is_empty and not arrays and not named:
            return ()
        arguments = self._arguments(arrays, named, trees)
        return run_plan(self.module, self.entry, self._plan_for(context), arguments, context)
