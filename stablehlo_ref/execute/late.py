"""Ops whose types only a run will tell: each plans itself when it is reached, once for each set of operand types.

So dynamism needs no second planner: an op on `tensor<?xf32>` is the op on the type that its operand turns out to have,
and the same constraints are checked again on that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from stablehlo_ref.define import Op, check_constraints, group_by_member
from stablehlo_ref.diagnostics import EvaluationError, InvalidError
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import TensorType, Type, tensor_type
from stablehlo_ref.spec import bounds, compatible, element_type, rank, with_element_type

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
        shaping = shaping_values(definition, arrays)
        key = (tuple(map(np.shape, arrays)), tuple(value.tobytes() for value in shaping.values()))
        planned = plans.get(key)
        if planned is None:
            if len(plans) >= KEPT_PLANS:
                plans.clear()
            operands = [concrete_type(v.type, a) for v, a in zip(op.operands, arrays)]
            results = result_types(op, operands, shaping)
            planned = plans[key] = run_for(op, bodies, operands, results, shaping)
        return planned(*arguments)

    return run


def shaping_values(definition: type[Op], arrays: Sequence[Any]) -> dict[str, np.ndarray]:
    """The values of the operands that decide the result's shape."""
    if not definition.shaping:
        return {}
    given = group_by_member(definition.operands, arrays)
    return {name: np.asarray(given[name]) for name in definition.shaping}


def is_shaped(op: Operation, operands: list[Type], constants: dict[str, Any]) -> bool:
    """Whether constants decide the result's shape, if operands do at all, and decide it as the program declares."""
    definition = op.definition
    assert definition is not None
    if not definition.shaping:
        return True
    if not constants.keys() >= set(definition.shaping):
        return False
    try:
        return bool(result_types(op, operands, {name: constants[name] for name in definition.shaping}))
    except EvaluationError:  # to be told when the op is reached
        return False


def result_types(op: Operation, operands: list[Type], shaping: dict[str, Any]) -> list[Type]:
    """The types of the results for these types of operands, and these values of those that decide on shapes.

    EvaluationError where the op's constraints do not hold on them, or a result is not as the program declares it.
    """
    definition = op.definition
    assert definition is not None
    regions = [region.function_type for region in op.regions]
    values_for = partial(definition.values_for, op, operands, regions=regions, constants=shaping)
    try:
        if definition.shaping:  # of numbers that break a constraint nothing can be inferred
            check_constraints(op, values_for(results=list(map(_unsized, op.result_types))))
        values = values_for(results=op.result_types)
        inferred = _inferred(op, values) if "infer" in definition.parameters else op.result_types
        results = [_refined(declared, result) for declared, result in zip(op.result_types, inferred)]
        for result, declared in zip(results, op.result_types):
            if not _is_as_declared(result, declared):
                raise _not_as_declared(op, result, declared)
        check_constraints(op, values_for(results=results))
    except InvalidError as error:
        raise EvaluationError(error.diagnostics) from None
    return results


def _inferred(op: Operation, values: dict[str, Any]) -> tuple[Any, ...]:
    """The result types; where there are none, as sizes do not go together, InvalidError for the constraint on them."""
    definition = op.definition
    assert definition is not None
    try:
        return definition.infer_types(values)
    except ValueError:
        check_constraints(op, values)
        raise


def _is_as_declared(result: Type, declared: Type) -> bool:
    """Whether the types agree, and the sizes lie between 0 and the bounds that are declared."""
    if not compatible(result, declared):
        return False
    if not isinstance(result, TensorType):
        return True
    return all(n is None or 0 <= n <= (n if most is None else most) for n, most in zip(result.shape, bounds(declared)))


def refined_results(op: Operation) -> list[int]:
    """Which results of an op with regions are declared with sizes that the values which become them may not have."""
    lists = [*[region.function_type.outputs for region in op.regions], op.operand_types]
    sources = [types for types in lists if len(types) == len(op.results)]
    return [i for i, result in enumerate(op.results) if any(_says_more(result.type, types[i]) for types in sources)]


def _says_more(declared: Type, source: Type) -> bool:
    both = isinstance(declared, TensorType) and isinstance(source, TensorType)
    return both and any(n is not None and m is None for n, m in zip(declared.shape, source.shape))  # type: ignore[attr-defined]


def check_type(op: Operation, declared: Type, value: Any) -> None:
    """EvaluationError unless a result of an op is of the type that the program declares."""
    result = concrete_type(declared, value)
    if not _is_as_declared(result, declared):
        raise _not_as_declared(op, result, declared)


def _not_as_declared(op: Operation, result: Type, declared: Type) -> EvaluationError:
    return EvaluationError(f"'{op.name}' op gives {result} here, where {declared} is declared")


def _unsized(type: Type) -> Type:
    """The type with all its sizes unknown."""
    return tensor_type((None,) * rank(type), type.element_type) if isinstance(type, TensorType) else type


def _refined(declared: Type, inferred: Type) -> Type:
    """The inferred shape with the declared element type."""
    return with_element_type(inferred, element_type(declared)) if isinstance(inferred, TensorType) else inferred


def concrete_type(type: Type, value: Any) -> Type:
    """The type that a value of a declared type turned out to have."""
    return tensor_type(np.shape(value), type.element_type) if isinstance(type, TensorType) else type
