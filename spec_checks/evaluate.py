"""Evaluate one op on arrays: build, verify, plan and run it as a program would, without the text of a program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import stablehlo_ref.dialects.register_all  # noqa: F401
from stablehlo_ref.define.bound import Site, bind, bind_types
from stablehlo_ref.define.constraints import check_constraints
from stablehlo_ref.define.context import Context
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.define.mode import DEFAULT, Mode
from stablehlo_ref.define.spec import compatible, element_type, storage_type, with_element_type
from stablehlo_ref.diagnostics import Location, Source
from stablehlo_ref.execute.plan import FramePlanner, Planner
from stablehlo_ref.execute.run import FunctionPlan
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.types import TensorType, tensor_type
from stablehlo_ref.limits import Limits
from stablehlo_ref.numerics.dtypes import element_type_of
from stablehlo_ref.reading.parsing import parse

NOWHERE = Location(Source(""), 0)


def type_of(array: np.ndarray) -> TensorType:
    """Return the tensor type of an array."""
    return tensor_type(array.shape, element_type_of(array.dtype))


def region(text: str) -> Region:
    """Parse a region from `(%a: tensor<f32>, ...) -> (...) { ... func.return ... }`."""
    module = parse(f"func.func @body{text}\n").module
    return module.regions[0].block.operations[0].regions[0]


def combine(op: str, element: Any) -> Region:
    """Return the region `return op(%a, %b)` on scalars of an element type."""
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
    """Build an op on operands of `types`, by default those of the arrays. `result` types are inferred by default."""
    definition = REGISTRY[name if "." in name else f"stablehlo.{name}"]
    values = [Value(type, None, index) for index, type in enumerate(types or map(type_of, operands))]
    regions = list(bodies)
    if result is None:
        draft = Operation(definition.name, values, (), attributes, {}, regions, NOWHERE)
        unknown = [None] * len(definition.results)
        result = bind(definition, Site(draft), draft.operand_types, unknown, function_types(draft)).infer()
    types = result if isinstance(result, tuple | list) else (result,)
    return Operation(definition.name, values, types, attributes, {}, regions, NOWHERE)


def function_types(op: Operation) -> list[Any]:
    return [region.function_type for region in op.regions]


def evaluate(
    name: str,
    *operands: np.ndarray,
    bodies: Sequence[Region] = (),
    result: Any = None,
    types: Sequence[Any] = (),
    mode: Mode = DEFAULT,
    **attributes: Any,
) -> Any:
    """Return the result of an op on arrays, a tuple of several; InvalidError if a constraint does not hold."""
    op = operation(name, operands, bodies, result, types, **attributes)
    check_constraints(bind_types(op, REGISTRY[op.name]))
    terminator = Operation("func.return", list(op.results), (), {}, {}, [], NOWHERE)
    module = Operation("builtin.module", [], (), {}, {}, [], NOWHERE)
    frame = FunctionPlan(name)
    with np.errstate(all="ignore"):
        FramePlanner(Planner(module, Limits(), mode=mode), frame).plan(Block(op.operands, [op, terminator]))
        results = [np.asarray(r) for r in frame.call(Context(), list(operands))]
    for array, value in zip(results, op.results):
        stored = with_element_type(value.type, storage_type(value.type) or element_type(value.type))
        assert compatible(type_of(array), stored), f"{name} gave {type_of(array)}, not {value.type}"
    return results[0] if len(results) == 1 else tuple(results)
