"""Ops whose types are known only when a run reaches them: planned then, once for each tuple of operand types.

So dynamism needs no second planner: an op on `tensor<?xf32>` is the op on the type that its operand has in the run, and
the same constraints are checked again on that type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from stablehlo_ref.define.bound import BoundOp, Site, bind
from stablehlo_ref.define.computation import Kernel
from stablehlo_ref.define.constraints import check_constraints, check_preconditions
from stablehlo_ref.define.definition import OpDefinition, group_by_member
from stablehlo_ref.define.spec import bounds, compatible, element_type, rank, with_element_type
from stablehlo_ref.diagnostics import EvaluationError, InvalidError, LimitError
from stablehlo_ref.ir.arrays import Array, RuntimeValue
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import TensorType, Type, tensor_type
from stablehlo_ref.syntax.places import pinpointed

MAX_PLANS = 64  # of one op; when there are more, all are dropped


def is_static(type: Type) -> bool:
    """Return whether the type has no unknown dimension sizes."""
    return not isinstance(type, TensorType) or type.is_static


def is_dynamic(bound: BoundOp) -> bool:
    """Return whether types of the op are known only in a run."""
    return not all(map(is_static, (*bound.operands, *bound.results))) or not _has_known_result_shape(bound)


def dynamic_kernel(bound: BoundOp, plan: Callable[[BoundOp], Kernel]) -> Kernel:
    """Return a kernel that plans the op for the shapes of its arrays, and keeps the plans."""
    definition, op, site = bound.definition, bound.op, bound.site
    first = int(definition.traits.effects)
    plans: dict[object, Kernel] = {}

    def run(*arguments: Any) -> Any:
        arrays = arguments[first:]
        constants = shape_operand_values(definition, arrays)
        key = (tuple(map(np.shape, arrays)), tuple(value.tobytes() for value in constants.values()))
        planned = plans.get(key)
        if planned is None:
            if len(plans) >= MAX_PLANS:
                plans.clear()
            operands = [concrete_type(v.type, a) for v, a in zip(op.operands, arrays)]
            results = result_types(op, definition, operands, constants)
            refined = bind(definition, site.with_constants(constants), operands, results, bound.bodies)
            planned = plans[key] = plan(refined)
        return planned.run(*arguments)

    return Kernel(run)


def shape_operand_values(definition: OpDefinition, arrays: Sequence[Any]) -> dict[str, Array]:
    """Return the values of the operands that determine the result's shape, by member."""
    if not definition.traits.shape_operands:
        return {}
    given = group_by_member(definition.operands, arrays)
    return {name: np.asarray(given[name]) for name in definition.traits.shape_operands}


def _has_known_result_shape(bound: BoundOp) -> bool:
    """Return whether the operands that determine the result's shape are constants, and fit the declared type."""
    names = bound.definition.traits.shape_operands
    constants = bound.site.constants
    if not names:
        return True
    if not constants.keys() >= set(names):
        return False
    try:
        return bool(result_types(bound.op, bound.definition, bound.operands, {name: constants[name] for name in names}))
    except LimitError:
        raise
    except EvaluationError:  # to be reported if the op is reached
        return False


def result_types(
    op: Operation, definition: OpDefinition, operands: Sequence[Type], constants: Mapping[str, Array]
) -> list[Type]:
    """Return the types of the results for these types of operands and these values of shape operands.

    Raises EvaluationError if they violate a constraint of the op, or a result does not have its declared type.
    """
    site = Site(op, constants)
    regions = [region.function_type for region in op.regions]
    declared = op.result_types
    try:
        if definition.traits.shape_operands:  # `infer` may rely on the constraints
            check_constraints(bind(definition, site, operands, list(map(_without_sizes, declared)), regions))
        bound = bind(definition, site, operands, declared, regions)
        inferred = _inferred(bound) if "infer" in definition.roles else declared
        results = [_refined(d, result) for d, result in zip(declared, inferred)]
        for result, d in zip(results, declared):
            if not _is_as_declared(result, d):
                raise _not_as_declared(op, result, d)
        refined = bind(definition, site, operands, results, regions)
        check_constraints(refined)
        check_preconditions(refined)
    except InvalidError as error:
        raise EvaluationError([pinpointed(diagnostic, op.name) for diagnostic in error.diagnostics]) from None
    return results


def _inferred(bound: BoundOp) -> Sequence[Type]:
    """Return the inferred result types. If sizes do not fit, InvalidError for the constraint that they violate."""
    try:
        return bound.infer()
    except ValueError:
        check_constraints(bound)
        check_preconditions(bound)
        raise


def _is_as_declared(result: Type, declared: Type) -> bool:
    """Return whether the types are compatible, and the sizes are not negative and within the declared bounds."""
    if not compatible(result, declared):
        return False
    if not isinstance(result, TensorType):
        return True
    return all(n is None or 0 <= n <= (n if most is None else most) for n, most in zip(result.shape, bounds(declared)))


def refined_results(op: Operation) -> list[int]:
    """Return the indices of results of an op with regions that declare sizes which their sources leave unknown.

    Sources are the values that regions return and, for a loop that may not run, the operands.
    """
    lists = [*[region.function_type.outputs for region in op.regions], op.operand_types]
    sources = [types for types in lists if len(types) == len(op.results)]
    return [i for i, result in enumerate(op.results) if any(_says_more(result.type, types[i]) for types in sources)]


def _says_more(declared: Type, source: Type) -> bool:
    if not isinstance(declared, TensorType) or not isinstance(source, TensorType):
        return False
    return any(n is not None and m is None for n, m in zip(declared.shape, source.shape))


def check_type(op: Operation, declared: Type, value: RuntimeValue) -> None:
    """Raise EvaluationError unless a result of an op has its declared type."""
    result = concrete_type(declared, value)
    if not _is_as_declared(result, declared):
        raise _not_as_declared(op, result, declared)


def _not_as_declared(op: Operation, result: Type, declared: Type) -> EvaluationError:
    return EvaluationError(f"'{op.name}' op: expected a result of type {declared}, got {result}")


def _without_sizes(type: Type) -> Type:
    """Return the type with unknown dimension sizes."""
    return tensor_type((None,) * rank(type), type.element_type) if isinstance(type, TensorType) else type


def _refined(declared: Type, inferred: Type) -> Type:
    """Return the inferred shape with the declared element type."""
    return with_element_type(inferred, element_type(declared)) if isinstance(inferred, TensorType) else inferred


def concrete_type(type: Type, value: RuntimeValue) -> Type:
    """Return the type of a value, given its declared type."""
    return tensor_type(np.shape(value), type.element_type) if isinstance(type, TensorType) else type  # type: ignore[arg-type]
