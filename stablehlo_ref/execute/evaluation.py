"""What surrounds a run: its budget, floating-point state and threads, reports of choices and of failed checks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from stablehlo_ref.define.context import Context
from stablehlo_ref.define.processes import Grid, Outfeed
from stablehlo_ref.diagnostics import Diagnostic, EvaluationError, LimitError, StablehloError
from stablehlo_ref.execute import run
from stablehlo_ref.execute.arguments import bytes_to_copy, take_results, take_results_of_processes
from stablehlo_ref.execute.grid import run_grid
from stablehlo_ref.execute.implementation_defined import report_choices
from stablehlo_ref.execute.threads import blas_threads
from stablehlo_ref.ir.arrays import RuntimeValue
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.signature import Function
from stablehlo_ref.limits import budget
from stablehlo_ref.limits.stack import is_large, on_enough_stack
from stablehlo_ref.numerics.workers import at_most
from stablehlo_ref.targets.spmd import device_count

BUFFER = 1024  # elements
SMALL = 1 << 14  # bytes of copies for which no memory is reserved, as for the results of small ops

T = TypeVar("T")


def evaluate(module: Operation, entry: Function, plan: run.FunctionPlan, context: Context, work: Callable[[], T]) -> T:
    """Return what `work` returns, which runs a plan in a context, with all that surrounds a run.

    Raises EvaluationError at the end of a run in which checks failed. An error that ends the run is reported after
    these checks, at the location of the entry if it has none, as for a limit that is reached before the first op.
    """
    if not (plan.product_size or context.threads or context.on_implementation_defined != "ignore"):
        return _evaluate(module, entry, context, work)  # an op takes 1 µs, and so does each of what follows
    with (
        blas_threads(context.threads, plan.product_size),
        at_most(context.threads),
        report_choices(context),
    ):
        return _evaluate(module, entry, context, work)


def run_plan(
    module: Operation, entry: Function, plan: run.FunctionPlan, inputs: list[Any], context: Context
) -> tuple[Any, ...]:
    """Return the results of the entry, planned, in a context; a plan that communicates runs on all devices it names."""

    def work() -> tuple[Any, ...]:
        if plan.block.communicates:
            grid = Grid(num_partitions=device_count(module))
            results = run_grid(context, grid, [(plan, list(inputs)) for _ in grid.processes])[0]
        else:
            results = plan.call(context, inputs)
        if context.failures:
            return ()
        if sum([getattr(x, "nbytes", SMALL) for x in results]) < SMALL or bytes_to_copy(results) <= SMALL:
            return take_results(results)
        with taking_results(context, [results], entry):
            return take_results(results)

    if is_large():
        return evaluate(module, entry, plan, context, work)
    return on_enough_stack(module.location, 0, evaluate, module, entry, plan, context, work)


def run_processes(
    module: Operation,
    entry: Function,
    plan: run.FunctionPlan,
    inputs: Sequence[list[Any]],
    context: Context,
    grid: Grid,
    infeed: Iterable[Sequence[Any]],
    outfeed: Outfeed | None,
) -> list[tuple[RuntimeValue, ...]]:
    """Return the results of the entry, planned, in each process of a grid, as `take_results_of_processes` does."""
    reads = ((lambda context, values=values: values) for values in infeed)
    programs = [(plan, arguments) for arguments in inputs]
    results = evaluate(module, entry, plan, context, lambda: run_grid(context, grid, programs, reads, outfeed))
    with taking_results(context, results, entry):
        return take_results_of_processes(results)


class computing(np.errstate):
    """Compute without warnings of floating-point errors, and with buffers of `BUFFER` elements.

    If an operand is broadcast along short rows, numpy copies it into a buffer, to compute several rows at a time. Rows
    of 600 elements or more take less time without that, up to a half, and those of half a buffer a sixth.
    """

    def __init__(self) -> None:
        super().__init__(all="ignore")

    def __enter__(self) -> None:
        super().__enter__()
        np.setbufsize(BUFFER)  # until the end, as errors are ignored


def _evaluate(module: Operation, entry: Function, context: Context, work: Callable[[], T]) -> T:
    in_force, current = budget.current.set(context.budget), run.current.set(context)
    try:
        with computing():
            context.resumes()
            results = work()
    except (StablehloError, RecursionError) as error:
        found = with_model_locations(_reported(error, entry, context.failures), module)
        if found is error:
            raise
        raise found from (None if isinstance(error, RecursionError) else error)
    finally:
        run.current.reset(current)
        budget.current.reset(in_force)
    if context.failures:
        raise with_model_locations(EvaluationError(context.failures), module)
    return results


def _reported(
    error: StablehloError | RecursionError, entry: Function, failures: Sequence[Diagnostic]
) -> StablehloError:
    """Return what a run reports: the checks that failed, then the error that ended it."""
    if isinstance(error, RecursionError):
        message = f"the run is nested too deeply for Python's recursion limit of {sys.getrecursionlimit()}"
        return EvaluationError(message, entry.location)
    if not failures and error.diagnostics[0].location:
        return error
    first, *others = error.diagnostics
    return type(error)([*failures, replace(first, location=first.location or entry.location), *others])


@contextmanager
def taking_results(context: Context, results: list[list[Any]], entry: Function) -> Iterator[None]:
    """Reserve memory for copies of results, lists of which are taken inside; EvaluationError if there is none."""
    context.frames[id(results)] = results
    try:
        budget.reserve(sum(map(bytes_to_copy, results)))
        yield
    except LimitError as error:
        raise error.at(entry.location) from None
    except MemoryError as error:
        raise EvaluationError(f"out of memory for the results of @{entry.name}: {error}", entry.location) from None
    finally:
        del context.frames[id(results)]


def with_model_locations(error: StablehloError, module: Operation) -> StablehloError:
    """Add to an error where its ops come from in the model, if the program says so in the `loc(...)` of the op."""
    places = {op.location.offset: where for op in module.walk() if (where := op.model_location)}
    sources = {id(op.location.source) for op in module.walk()}

    def located(found: Diagnostic) -> Diagnostic:
        location = found.location
        if location is None or id(location.source) not in sources or location.offset not in places:
            return found
        note = f"in the model: {places[location.offset]}"
        return found if note in found.notes else replace(found, notes=(*found.notes, note))

    error.diagnostics = tuple(map(located, error.diagnostics))
    error.args = (error.diagnostics,)
    return error
