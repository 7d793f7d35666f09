"""Tells where a run relies on what the spec leaves open: each op's `open_cases`, asked before the op runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np

from stablehlo_ref.choices import Choice
from stablehlo_ref.define import group_by_member
from stablehlo_ref.diagnostics import Diagnostic, EvaluationError
from stablehlo_ref.execute.late import concrete_type, is_known, result_types, shaping_values
from stablehlo_ref.execute.observe import Observers
from stablehlo_ref.execute.quantized import expressed, is_on_expressed, quantizes_nan
from stablehlo_ref.execute.run import Context, Observer
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.spec import is_quantized

Found = Iterable[Choice]


class Choosing(Observer):
    """Reports each choice once for each op that needs it."""

    def __init__(self, report: Callable[[Diagnostic], None]) -> None:
        self.report = report
        self._said: set[tuple[Operation, Choice]] = set()
        self._may_be_open: dict[Operation, bool] = {}
        self._cases: dict[Any, Callable[..., Found] | None] = {}

    def before(self, op: Operation, operands: Sequence[Any]) -> None:
        for choice in self._found(op, operands):
            if (op, choice) not in self._said:
                self._said.add((op, choice))
                self.report(Diagnostic(f"'{op.name}' op: {choice}", op.location, "warning"))

    def _found(self, op: Operation, operands: Sequence[Any]) -> Found:
        if op not in self._may_be_open:
            self._may_be_open[op] = may_be_open(op)
        if not self._may_be_open[op] or _is_lifted(op, operands):
            return ()
        definition: Any = op.definition
        key = (op, *map(np.shape, operands))
        if key not in self._cases or definition.shaping:
            self._cases[key] = open_cases(op, operands)
        cases = self._cases[key]
        return () if cases is None else cases(*group_by_member(definition.operands, operands).values())


def may_be_open(op: Operation) -> bool:
    """Whether there are operands of these types for which the spec does not say what the op gives."""
    if op.definition is None:
        return False
    types = [*op.operand_types, *op.result_types]
    is_known = all(t.is_static for t in types if isinstance(t, TensorType))
    if is_on_expressed(op, types):
        return any(map(is_quantized, op.result_types)) and (is_known or op.definition.elementwise)
    if "open_cases" not in op.definition.parameters:
        return False
    return not is_known or bool(op.definition.shaping) or _planned(op, op.operand_types, {}) is not None


def open_cases(op: Operation, operands: Sequence[Any]) -> Callable[..., Found] | None:
    """What finds the choices that an op needs for operands like these."""
    assert op.definition is not None
    types = [concrete_type(v.type, x) for v, x in zip(op.operands, operands)]
    shaping = shaping_values(op.definition, operands)
    if not all(map(is_known, [*op.operand_types, *op.result_types])):
        result_types(op, types, shaping)  # that sizes do not go together is told before what is left open
    find = _on_expressed if is_on_expressed(op, [*types, *op.result_types]) else _planned
    return find(op, types, shaping)


def _on_expressed(op: Operation, operands: Sequence[Any], shaping: dict[str, Any]) -> Callable[..., Found]:
    definition = op.definition
    assert definition is not None
    types = [*map(expressed, operands)], [*map(expressed, op.result_types)]
    run = definition.call("plan", definition.values_for(op, *types, (), shaping))
    return quantizes_nan(run, operands, op.result_types)


def _planned(op: Operation, operand_types: Sequence[Any], constants: dict[str, Any]) -> Callable[..., Found] | None:
    definition = op.definition
    assert definition is not None
    bodies = [region.function_type for region in op.regions]
    values = definition.values_for(op, operand_types, op.result_types, bodies, constants)
    return definition.call("open_cases", values)  # type: ignore[no-any-return]


def _is_lifted(op: Operation, operands: Sequence[Any]) -> bool:
    """Whether the operands have an axis of lanes in front that the op's attributes do not count."""
    types = [(t, x) for t, x in zip(op.operand_types, operands) if isinstance(t, TensorType)]
    return not op.definition.elementwise and any(np.ndim(x) != t.rank for t, x in types)  # type: ignore[union-attr]


def choosing(context: Context) -> AbstractContextManager[None]:
    """While it lasts, runs in the context report what they choose, as its `on_implementation_defined` says."""
    return nullcontext() if context.on_implementation_defined == "ignore" else _reporting(context)


@contextmanager
def _reporting(context: Context) -> Iterator[None]:
    watching = context.observer
    report = context.warn if context.on_implementation_defined == "warn" else _stop
    context.observer = Observers(*filter(None, (Choosing(report), watching)))
    try:
        yield
    finally:
        context.observer = watching


def _stop(found: Diagnostic) -> None:
    raise EvaluationError(found.message, found.location)
