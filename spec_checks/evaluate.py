"""One op on arrays: built, verified, planned and run as a program would, without a program's text around it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import stablehlo_ref  # noqa: F401  (registers the ops)
from stablehlo_ref.define import Op, check_constraints
from stablehlo_ref.diagnostics import Location, Source
from stablehlo_ref.execute.plan import FramePlanner, Planner
from stablehlo_ref.execute.run import Context, FunctionPlan
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.types import TensorType, tensor_type
from stablehlo_ref.limits import Limits
from stablehlo_ref.loading import parse
from stablehlo_ref.numerics.dtypes import element_type_of
from stablehlo_ref.spec import compatible, element_type, storage_type, with_element_type

NOWHERE = Location(Source(""), 0)


def type_of(array: np.ndarray) -> TensorType:
    """The tensor type of an array."""
    return tensor_type(array.shape, element_type_of(array.dtype))


def region(text: str) -> Region:
    """A region from `(%a: tensor<f32>, ...) -> (...) { ... func.return ... }`."""
    module = parse(f"func.func @body{text}\n").module
    return module.regions[0].block.operations[0].regions[0]


def combine(op: str, element: Any) -> Region:
    """The body `return op(%a, %b)` on scalars of an element type."""
    t = f"tensor<{element}>"
    text = f'%0 = "stablehlo.{op}"(%a, %b) : ({t}, {t}) -> {t}'
    return region(f"(%a: {t}, %b: {t}) -> {t} {{ {text} func.return %0 : {t} }}")


def operation(
    name: str,
    operands: Sequence[np.ndarray],
    bodies: Sequence[Region] = (),
    result: Any = None,
    types: Sequence[Any] = (),
    **attributes: Any,
) -> Operation:
    """An op on operands of `types`, or else of the arrays' own. `result` is its type(s), inferred if left out."""
    definition = Op.registry[name if "." in name else f"stablehlo.{name}"]
    values = [Value(type, None, index) for index, type in enumerate(types or map(type_of, operands))]
    regions = list(bodies)
    if result is None:
        draft = Operation(definition.name, definition, values, (), attributes, {}, regions, NOWHERE)
        unknown = [None] * len(definition.outputs)
        members = definition.group(draft.properties, draft.operand_types, unknown, function_types(draft))
        result = definition.infer_types(members)
    types = result if isinstance(result, tuple | list) else (result,)
    return Operation(definition.name, definition, values, types, attributes, {}, regions, NOWHERE)


def function_types(op: Operation) -> list[Any]:
    return [region.function_type for region in op.regions]


def evaluate(
    name: str,
    *operands: np.ndarray,
    bodies: Sequence[Region] = (),
    result: Any = None,
    types: Sequence[Any] = (),
    **attributes: Any,
) -> Any:
    """The op's result on arrays (a tuple where it has several). Its constraints must hold: InvalidError if not."""
    op = operation(name, operands, bodies, result, types, **attributes)
    assert op.definition is not None
    check_constraints(op, op.definition.bind(op))
    terminator = Operation("func.return", None, list(op.results), (), {}, {}, [], NOWHERE)
    module = Operation("builtin.module", None, [], (), {}, {}, [], NOWHERE)
    frame = FunctionPlan(name)
    with np.errstate(all="ignore"):
        FramePlanner(Planner(module, Limits()), frame).plan(Block(op.operands, [op, terminator]))
        results = [np.asarray(r) for r in frame.call(Context(), list(operands))]
    for array, value in zip(results, op.results):
        stored = with_element_type(value.type, storage_type(value.type) or element_type(value.type))
        assert compatible(type_of(array), stored), f"{name} gave {type_of(array)}, not {value.type}"
    return results[0] if len(results) == 1 else tuple(results)
