"""What passes ask about ops: whether they have effects, which compute the same, and what is constant."""

from __future__ import annotations

import hashlib
from collections.abc import Container, Hashable, Mapping, Sequence
from typing import NoReturn

import numpy as np

from stablehlo_ref.define.bound import PlanSite, bind, constant_array
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.definition import (
    OpDefinition,
    attributes_of,
    definition_of,
    group_by_member,
    is_constant_like,
    resolve,
    traits_of,
)
from stablehlo_ref.diagnostics import StablehloError, UnsupportedError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.attributes import DenseElements, DenseResource, StructAttribute
from stablehlo_ref.ir.core import Operation, Region, Value
from stablehlo_ref.ir.types import MeshTensorType, QuantizedType, TensorType, Type
from stablehlo_ref.passes.emit import read_only

# --- effects ----------------------------------------------------------------------------------------------------------


# Ops whose effects are those of functions or regions that run later, or that a compiler must not merge.
WITH_EFFECTS = frozenset(
    (
        "func.call",
        "func.call_indirect",
        "stablehlo.composite",
        "stablehlo.async_start",
        "stablehlo.async_done",
        "ml_program.global_load",
    )
)


def is_pure(op: Operation, assume_no_undeclared: bool = False) -> bool:
    """Return whether an op, with all inside it, does nothing but compute its results from its operands.

    Ops of dialects without classes, terminators and symbols are not pure. A custom call is unless it says
    `has_side_effect = true`, as for MLIR. With `assume_no_undeclared` calls have no effects but those in their regions.
    """
    assumed = WITH_EFFECTS if assume_no_undeclared else ()
    return _has_no_effect(op, assumed) and all(
        _has_no_effect(inner, assumed) or traits_of(inner).terminator for inner in op.walk() if inner is not op
    )


def _has_no_effect(op: Operation, assumed: Container[str]) -> bool:
    definition = definition_of(op)
    if op.name in assumed:
        return True
    if definition is None or op.name in WITH_EFFECTS or definition.traits.terminator:
        return False
    if op.name == "stablehlo.custom_call":
        return op.properties.get("has_side_effect", False) is False
    if "sym_name" in definition.attributes:
        return False
    return not (definition.traits.effects or definition.traits.communicates)


# --- equivalence: keys that are equal for operations only that compute the same ---------------------------------------


def operation_key(op: Operation, numbers: Mapping[Value, Hashable] | None = None) -> Hashable:
    """Return a key of an op's name, operands, attributes, result types and regions.

    An attribute that is omitted is equal to its default. `numbers` replace values that are defined inside a region
    under comparison.
    """
    known = numbers or {}
    return (
        op.name,
        tuple(known.get(operand, operand) for operand in op.operands),
        tuple(op.result_types),
        frozen(attributes_of(op)),
        frozen(op.attributes),
        tuple(op.successors),
        tuple(_region_key(region, known) for region in op.regions),
    )


def _region_key(region: Region, outer: Mapping[Value, Hashable]) -> Hashable:
    numbers = dict(outer)
    base = len(numbers)
    for block in region.blocks:
        for value in (*block.arguments, *(r for op in block.operations for r in op.results)):
            numbers[value] = ("inside", base + len(numbers))
    return tuple(
        (
            block.label if len(region.blocks) > 1 else "",
            tuple(argument.type for argument in block.arguments),
            tuple(operation_key(op, numbers) for op in block.operations),
        )
        for block in region.blocks
    )


def frozen(value: object) -> Hashable:
    """Return a hashable value that is equal for equal attributes; tensor constants are compared by their bits."""
    match value:
        case Mapping():
            return tuple(sorted((name, frozen(item)) for name, item in value.items())) if value else ()
        case tuple() | list():
            return tuple(map(frozen, value))
        case DenseElements(type=type, array=array) | DenseResource(type=type, array=array) if array is not None:
            return type, _digest(array)
        case StructAttribute(name=name, fields=fields):
            return name, frozen(fields)
        case bool() | int() | float():
            return value.__class__.__name__, repr(value)  # so that `True`, `1` and `1.0` stay apart
    return value if isinstance(value, Hashable) else id(value)


def _digest(array: np.ndarray) -> Hashable:
    if array.size and not any(array.strides):  # a splat
        return array.shape, "splat", array.reshape(-1)[:1].tobytes()
    data = np.ascontiguousarray(array)
    if data.nbytes <= 64:
        return array.shape, data.tobytes()
    return array.shape, hashlib.blake2b(data.reshape(-1).view(np.uint8).data, digest_size=32).digest()


def defined_by(value: Value, name: str) -> Operation | None:
    """Return the op of a name, of StableHLO if it has no dialect, that a value is a result of; None for another op."""
    full_name = name if "." in name else f"stablehlo.{name}"
    return value.producer if value.producer and value.producer.name == full_name else None


# --- constants --------------------------------------------------------------------------------------------------------


def known_array(value: Value) -> Array | None:
    """Return the array of a value that is a constant; None of any other."""
    owner = value.producer
    if owner is None or not is_constant_like(owner):
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
    if definition is None or op.regions or "plan" not in definition.roles:
        return None
    if definition.traits.effects or definition.traits.communicates or not op.results:
        return None
    if not all(map(is_plain, (*op.operand_types, *op.result_types))):
        return None
    known = [known_array(operand) for operand in op.operands] if operands is None else operands
    arrays = [array for array in known if array is not None]
    if len(arrays) != len(op.operands):
        return None
    try:
        return _run(op, definition, arrays)
    except (StablehloError, ValueError, OverflowError):  # reported if a run gets there
        return None


def is_plain(type: Type) -> bool:
    """Return whether a type is a tensor of known sizes, not quantized and on no mesh."""
    if not isinstance(type, TensorType) or isinstance(type, MeshTensorType):
        return False
    return type.is_static and not isinstance(type.element_type, QuantizedType)


def _run(op: Operation, definition: OpDefinition, arrays: Sequence[Array]) -> list[Array]:
    shaping = group_by_member(definition.operands, arrays) if definition.traits.shape_operands else {}
    constants = {name: np.asarray(shaping[name]) for name in definition.traits.shape_operands}
    site = PlanSite(op, constants, function=_no_function)
    run: Run = bind(definition, site, op.operand_types, op.result_types, ()).call("plan")
    with np.errstate(all="ignore"):
        returned = run(*group_by_member(definition.operands, arrays).values())
    results = [returned] if len(op.results) == 1 else list(returned)
    return [read_only(np.asarray(result)) for result in results]


def _no_function(name: str) -> NoReturn:
    raise UnsupportedError(f"a constant does not depend on function @{name}")
