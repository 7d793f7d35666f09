"""Runs of a planned program on arrays as they are expected, without options: as `Program.run`, with less around them.

Whatever else is given, such as an array of another dtype, is left to the general way, which also reports what is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy import ndarray

from stablehlo_ref.define.context import Context
from stablehlo_ref.define.mode import DEFAULT, Mode
from stablehlo_ref.execute import run
from stablehlo_ref.execute.arguments import own_results, take_results
from stablehlo_ref.execute.evaluation import evaluation, model_locations, taking_results
from stablehlo_ref.execute.threads import blas_threads
from stablehlo_ref.ir.arrays import RuntimeValue
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.signature import Function, Parameters
from stablehlo_ref.limits import Limits, budget
from stablehlo_ref.limits.stack import is_large
from stablehlo_ref.numerics.numpy_settings import computing


class Planned(Protocol):
    """A program."""

    @property
    def module(self) -> Operation: ...
    @property
    def entry(self) -> Function: ...
    @property
    def inputs(self) -> Parameters: ...
    @property
    def limits(self) -> Limits: ...
    @property
    def plans(self) -> Mapping[tuple[bool, bool, Mode], run.FunctionPlan]: ...


def as_expected(entry: Function, arrays: Sequence[Any]) -> list[Any] | None:
    """Return arrays as the values that slots hold; None unless all are arrays of the types of the function's inputs."""
    expected = entry.arrays
    if expected is None or not isinstance(arrays, list | tuple) or len(arrays) != len(expected):
        return None
    arguments: list[Any] = []
    for array, (dtype, shape) in zip(arrays, expected):
        if type(array) is ndarray:
            if array.shape != shape or (array.dtype is not dtype and array.dtype != dtype) or not array.flags.aligned:
                return None
            arguments.append(array if shape else array[()])
        elif shape == () and isinstance(array, np.generic) and array.dtype == dtype:
            arguments.append(array)
        else:
            return None
    return arguments


class QuickRuns:
    """The quick runs of a program, once it has a plan with fast paths."""

    def __init__(self) -> None:
        self._run: QuickRun | None = None

    def __call__(self, program: Planned, arrays: Sequence[Any]) -> tuple[RuntimeValue, ...] | None:
        """Return the results of a run without options, at least one; None if it must be made in the general way."""
        if self._run is None:
            plan = program.plans.get((False, True, DEFAULT))
            if plan is None or len(program.inputs) < len(program.entry.inputs):
                return None
            self._run = QuickRun(program.module, program.entry, plan)
        return self._run(arrays, program.limits)


class QuickRun:
    """The quick runs of one plan."""

    def __init__(self, module: Operation, entry: Function, plan: run.FunctionPlan) -> None:
        self.module = module
        self.entry = entry
        self.plan = plan
        self.is_possible = entry.arrays is not None and bool(entry.outputs) and not plan.block.communicates

    def __call__(self, arrays: Sequence[Any], limits: Limits) -> tuple[RuntimeValue, ...] | None:
        """Return the results of a run; None if an array is not as expected."""
        if not self.is_possible or not is_large():
            return None
        arguments = as_expected(self.entry, arrays)
        if arguments is None:
            return None
        context = Context.plain(limits)
        if not self.plan.product_size:
            return self._results(context, arguments)
        with blas_threads(None, self.plan.product_size):
            return self._results(context, arguments)

    def _results(self, context: Context, arguments: list[Any]) -> tuple[RuntimeValue, ...]:
        in_force, current = budget.current.set(context.budget), run.current.set(context)
        try:
            with computing():
                results = self.plan.call(context, arguments)
                if not context.failures:
                    return own_results(results) or self._taken(context, results)
        except Exception:
            with model_locations(self.module), evaluation(context, self.entry.location):
                raise
        finally:
            run.current.reset(current)
            budget.current.reset(in_force)
        with model_locations(self.module), evaluation(context, self.entry.location):
            return ()  # it raises what checks have reported

    def _taken(self, context: Context, results: list[Any]) -> tuple[RuntimeValue, ...]:
        with taking_results(context, [results], self.entry):
            return take_results(results)
