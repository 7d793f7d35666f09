"""What surrounds a run: floating-point state, reports of choices and of failed checks."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

from stablehlo_ref.define.context import Context
from stablehlo_ref.diagnostics import Diagnostic, EvaluationError, LimitError, Location, StablehloError
from stablehlo_ref.execute.arguments import bytes_to_copy
from stablehlo_ref.execute.grid import run_in_progress
from stablehlo_ref.execute.implementation_defined import report_choices
from stablehlo_ref.execute.run import FunctionPlan
from stablehlo_ref.execute.threads import blas_threads
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.signature import Function
from stablehlo_ref.limits.budget import reserve
from stablehlo_ref.numerics.layout import computing
from stablehlo_ref.numerics.workers import at_most


@contextmanager
def evaluation(context: Context, entry: Location | None, plan: FunctionPlan | None = None) -> Iterator[None]:
    """Set up all that a run needs: floating-point errors are ignored, choices and failed checks are reported.

    If a plan is given, the number of threads suits it.
    """
    threads = blas_threads(context.threads, plan.product_size) if plan else nullcontext()
    with (
        threads,
        at_most(context.threads),
        computing(),
        report_choices(context),
        run_in_progress(context),
        report_failures(context, entry),
    ):
        yield


@contextmanager
def taking_results(context: Context, results: list[list[Any]], entry: Function) -> Iterator[None]:
    """Reserve memory for copies of results, lists of which are taken inside; EvaluationError if there is none."""
    context.frames[id(results)] = results
    try:
        reserve(sum(map(bytes_to_copy, results)))
        yield
    except LimitError as error:
        raise error.at(entry.location) from None
    except MemoryError as error:
        raise EvaluationError(f"out of memory for the results of @{entry.name}: {error}", entry.location) from None
    finally:
        del context.frames[id(results)]


@contextmanager
def report_failures(context: Context, entry: Location | None) -> Iterator[None]:
    """Raise EvaluationError at the end of a run in which checks failed.

    An error that ends the run is reported after these checks, at the location of the entry if it has none, as for a
    limit that is reached before the first op.
    """
    try:
        yield
    except RecursionError:
        message = f"the run is nested too deeply for Python's recursion limit of {sys.getrecursionlimit()}"
        raise EvaluationError(message, entry) from None
    except StablehloError as error:
        if not context.failures and error.diagnostics[0].location:
            raise
        first, *others = error.diagnostics
        first = replace(first, location=first.location or entry)
        raise type(error)([*context.failures, first, *others]) from error
    if context.failures:
        raise EvaluationError(context.failures)


@contextmanager
def model_locations(module: Operation) -> Iterator[None]:
    """Add to errors where the op comes from in the model, if the program says so in the `loc(...)` of the op."""
    try:
        yield
    except StablehloError as error:
        known = {op.location.offset: where for op in module.walk() if (where := op.model_location)}
        sources = {id(op.location.source) for op in module.walk()}
        error.diagnostics = tuple(_with_model_location(d, known, sources) for d in error.diagnostics)
        error.args = (error.diagnostics,)
        raise


def _with_model_location(found: Diagnostic, known: Mapping[int, str], sources: Collection[int]) -> Diagnostic:
    location = found.location
    if location is None or id(location.source) not in sources or location.offset not in known:
        return found
    note = f"in the model: {known[location.offset]}"
    return found if note in found.notes else replace(found, notes=(*found.notes, note))
