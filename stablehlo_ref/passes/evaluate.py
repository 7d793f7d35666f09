"""Evaluate ops whose operands are constants, by what their own classes plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from stablehlo_ref.define.bound import PlanSite, bind, constant_array
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.definition import OpDefinition, group_by_member, is_constant_like, resolve
from stablehlo_ref.diagnostics import StablehloError, UnsupportedError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.attributes import DenseElements
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.types import MeshTensorType, QuantizedType, TensorType, Type
from stablehlo_ref.passes.emit import read_only


def known_array(value: Value) -> Array | None:
    """Return the array of a value that is a constant; None of any other."""
    owner = value.owner
    if not isinstance(owner, Operation) or not is_constant_like(owner):
        return None
    if owner.name == "shape.const_shape":
        return np.asarray(owner.properties["sizes"], np.int64) if isinstance(value.type, TensorType) else None
    if owner.name == "stablehlo.constant":
        return constant_array(value)
    constant = owner.properties.get("value")
    return constant.array if isinstance(constant, DenseElements) and constant.type == value.type else None


def known_integers(value: Value) -> list[int] | None:
    """Return the elements of a constant of integers in row-major order; None of any other value."""
    array = known_array(value)
    if array is None or array.dtype.kind not in "iub":
        return None
    return [int(element) for element in array.reshape(-1)]


def evaluate(op: Operation, operands: Sequence[Array] | None = None) -> list[Array] | None:
    """Return the results of an op without effects or regions; None if it has any, or an operand is not known.

    `operands` are its operands where they are not constants of the program.
    """
    definition = resolve(op)
    if definition is None or not _is_evaluable(op, definition):
        return None
    known = [known_array(operand) for operand in op.operands] if operands is None else operands
    arrays = [array for array in known if array is not None]
    if len(arrays) != len(op.operands):
        return None
    try:
        return _run(op, definition, arrays)
    except (StablehloError, ValueError, OverflowError):  # reported if a run gets there
        return None


def _is_evaluable(op: Operation, definition: OpDefinition) -> bool:
    traits = definition.traits
    if op.regions or traits.effects or traits.communicates or "plan" not in definition.roles:
        return False
    return bool(op.results) and all(map(_is_plain, (*op.operand_types, *op.result_types)))


def _is_plain(type: Type) -> bool:
    if not isinstance(type, TensorType) or isinstance(type, MeshTensorType):
        return False
    return type.is_static and not isinstance(type.element_type, QuantizedType)


def _run(op: Operation, definition: OpDefinition, arrays: Sequence[Array]) -> list[Array]:
    shaping = group_by_member(definition.operands, arrays) if definition.traits.shape_operands else {}
    constants = {name: np.asarray(shaping[name]) for name in definition.traits.shape_operands}
    site = PlanSite(op, constants, _no_function)
    run: Run = bind(definition, site, op.operand_types, op.result_types, ()).call("plan")
    with np.errstate(all="ignore"):
        returned = run(*group_by_member(definition.operands, arrays).values())
    results = [returned] if len(op.results) == 1 else list(returned)
    return [read_only(np.asarray(result)) for result in results]


def _no_function(name: str) -> NoReturn:
    raise UnsupportedError(f"a constant does not depend on function @{name}")
