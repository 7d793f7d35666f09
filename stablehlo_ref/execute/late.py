"""Ops whose types only a run will tell: each plans itself when it is reached, once for each set of operand types.

So dynamism needs no second planner: an op on `tensor<?xf32>` is the op on the type that its operand turns out to have,
and the same constraints are checked again on that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from stablehlo_ref.define import Op, check_constraints, group_by_member, surroundings
from stablehlo_ref.diagnostics import EvaluationError, InvalidError
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import TensorType, Type, tensor_type
from stablehlo_ref.spec import compatible, element_type, with_element_type

KEPT_PLANS = 64  # of one op, before all are forgotten


def is_known(type: Type) -> bool:
    """Whether the type has no unknown dimension."""
    return not isinstance(type, TensorType) or type.is_static


def late_run(op: Operation, bodies: Sequence[Any], run_for: Callable[..., Any]) -> Callable[..., Any]:
    """A `run` that plans the op for the arrays it gets, unless it has done so before for such arrays."""
    definition = op.definition
    assert definition is not None
    first = int(definition.effects)
    plans: dict[Any, Callable[..., Any]] = {}

    def run(*arguments: Any) -> Any:
        arrays = arguments[first:]
        shaping = _shaping(definition, arrays)
        key = (tuple(map(np.shape, arrays)), tuple(value.tobytes() for value in shaping.values()))
        planned = plans.get(key)
        if planned is None:
            if len(plans) >= KEPT_PLANS:
                plans.clear()
            operands, results = concrete_types(op, definition, arrays, shaping)
            planned = plans[key] = run_for(op, bodies, operands, results, shaping)
        return planned(*arguments)

    return run


def _shaping(definition: type[Op], arrays: Sequence[Any]) -> dict[str, np.ndarray]:
    """The values of the operands that decide the result's shape."""
    if not definition.shaping:
        return {}
    given = group_by_member(definition.operands, arrays)
    return {name: np.asarray(given[name]) for name in definition.shaping}


def concrete_types(
    op: Operation, definition: type[Op], arrays: Sequence[Any], shaping: dict[str, Any]
) -> tuple[list[Type], list[Type]]:
    """The types of operands and results for these arrays. EvaluationError where the op's constraints do not hold on
    them, or where the result is not of the type that the program declares."""
    operands = [concrete_type(v.type, a) for v, a in zip(op.operands, arrays)]
    regions = [region.function_type for region in op.regions]
    known = surroundings(op) | {"constants": shaping}
    try:
        values = definition.group(op.properties, operands, op.result_types, regions) | known
        inferred = definition.infer_types(values) if "infer" in definition.parameters else op.result_types
        results = [_refined(declared, result) for declared, result in zip(op.result_types, inferred)]
        for result, declared in zip(results, op.result_types):
            if not compatible(result, declared):
                raise EvaluationError(f"'{op.name}' op gives {result} here, where {declared} is declared")
        check_constraints(op, definition.group(op.properties, operands, results, regions) | known)
    except InvalidError as error:
        raise EvaluationError(error.diagnostics) from None
    return operands, results


def _refined(declared: Type, inferred: Type) -> Type:
    """The inferred shape with the declared element type."""
    return with_element_type(inferred, element_type(declared)) if isinstance(inferred, TensorType) else inferred


def concrete_type(type: Type, value: Any) -> Type:
    """The type that a value of a declared type turned out to have."""
    return tensor_type(np.shape(value), type.element_type) if isinstance(type, TensorType) else type
