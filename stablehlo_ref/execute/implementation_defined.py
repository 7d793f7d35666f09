"""Reports where a run relies on implementation-defined behaviour, as the role `implementation_defined` finds it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from stablehlo_ref.define.bound import Site, bind, bind_types, is_on_expressed
from stablehlo_ref.define.choices import Choice
from stablehlo_ref.define.computation import FindChoices
from stablehlo_ref.define.context import Context, Observer, Observers
from stablehlo_ref.define.definition import OpDefinition, definition_of, group_by_member
from stablehlo_ref.define.spec import is_quantized
from stablehlo_ref.diagnostics import Diagnostic, EvaluationError
from stablehlo_ref.execute.dynamic import concrete_type, is_static, result_types, shape_operand_values
from stablehlo_ref.execute.quantized import on_expressed_types, quantizes_nan
from stablehlo_ref.execute.steps import with_grouped_operands
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import TensorType


class ChoiceReporter(Observer):
    """Reports each choice once for each op that relies on it."""

    sees_every_op = True  # also those on constants

    def __init__(self, report: Callable[[Diagnostic], None]) -> None:
        self.report = report
        self._reported: set[tuple[Operation, Choice]] = set()
        self._candidates: dict[Operation, bool] = {}
        self._cases: dict[object, FindChoices] = {}

    def before(self, op: Operation, operands: Sequence[Any]) -> None:
        for choice in self._found(op, operands):
            if (op, choice) not in self._reported:
                self._reported.add((op, choice))
                self.report(Diagnostic(f"'{op.name}' op: {choice}", op.location, "warning"))

    def _found(self, op: Operation, operands: Sequence[Any]) -> Iterable[Choice]:
        definition = definition_of(op)
        if op not in self._candidates:
            self._candidates[op] = may_be_implementation_defined(op)
        if definition is None or not self._candidates[op] or _is_batched(op, definition, operands):
            return ()
        key = (op, *map(np.shape, operands))
        if key not in self._cases or definition.traits.shape_operands:
            self._cases[key] = implementation_defined_cases(op, definition, operands)
        cases = self._cases[key]
        return () if cases is None else cases(*group_by_member(definition.operands, operands).values())


def may_be_implementation_defined(op: Operation) -> bool:
    """Return whether there are operands of these types for which the spec does not define the result."""
    definition = definition_of(op)
    if definition is None:
        return False
    bound = bind_types(op, definition)
    is_known = all(map(is_static, (*bound.operands, *bound.results)))
    if is_on_expressed(bound):
        return any(map(is_quantized, op.result_types)) and (is_known or definition.traits.elementwise)
    if "implementation_defined" not in definition.roles:
        return False
    return not is_known or bool(definition.traits.shape_operands) or bound.call("implementation_defined") is not None


def implementation_defined_cases(op: Operation, definition: OpDefinition, operands: Sequence[Any]) -> FindChoices:
    """Return a function that finds the choices which an op relies on for operands of these shapes."""
    types = [concrete_type(v.type, x) for v, x in zip(op.operands, operands)]
    constants = shape_operand_values(definition, operands)
    if not all(map(is_static, [*op.operand_types, *op.result_types])):
        result_types(op, definition, types, constants)  # sizes that do not fit are reported before choices
    bodies = [region.function_type for region in op.regions]
    bound = bind(definition, Site(op, constants), types, op.result_types, bodies)
    if is_on_expressed(bound):
        kernel = with_grouped_operands(definition, len(types), on_expressed_types(bound).call("plan"))
        return quantizes_nan(kernel.run, types, op.result_types)
    return bound.call("implementation_defined")  # type: ignore[no-any-return]


def _is_batched(op: Operation, definition: OpDefinition, operands: Sequence[Any]) -> bool:
    """Return whether the operands have a leading axis of lanes, which the op's attributes do not account for."""
    types = [(t, x) for t, x in zip(op.operand_types, operands) if isinstance(t, TensorType)]
    return not definition.traits.elementwise and any(np.ndim(x) != t.rank for t, x in types)


@contextmanager
def report_choices(context: Context) -> Iterator[None]:
    """Let runs inside report choices as `context.on_implementation_defined` requires."""
    if context.on_implementation_defined == "ignore":
        yield
        return
    observer = context.observer
    report = context.warn if context.on_implementation_defined == "warn" else _stop
    context.observer = Observers(*filter(None, (ChoiceReporter(report), observer)))
    try:
        yield
    finally:
        context.observer = observer


def _stop(found: Diagnostic) -> None:
    raise EvaluationError(found.message, found.location)
