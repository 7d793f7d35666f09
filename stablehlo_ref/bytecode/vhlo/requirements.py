"""From which version of StableHLO on a portable artifact can have an op, an attribute or a type."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from stablehlo_ref.bytecode.vhlo.versions import (
    ATTRIBUTES,
    FIRST,
    FUTURES_IN_CUSTOM_CALLS,
    MIXED_REDUCTIONS,
    RULES,
    TYPED_CUSTOM_CALLS,
    TYPES,
    Version,
    history_of,
)
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.attributes import (
    DenseArray,
    DenseElements,
    FloatAttribute,
    IntegerAttribute,
    StructAttribute,
    TypeAttribute,
)
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import (
    BufferType,
    ComplexType,
    FunctionType,
    FutureType,
    QuantizedType,
    TensorType,
    TupleType,
    Type,
    UnrankedTensorType,
    integer_type,
)

REDUCTIONS = frozenset((
    "all_reduce", "reduce", "reduce_scatter", "reduce_window", "scatter", "select_and_scatter",
))  # fmt: skip


def unavailable(what: str, since: Version, target: Version) -> UnsupportedError:
    """Return the error for what a target does not have."""
    return UnsupportedError(f"failed to convert VHLO to v{target}: {what} needs version {since} or later")


# --- ops ------------------------------------------------------------------------------------------------------------


def check_op(op: Operation, base: str, target: Version) -> None:
    """Refuse an op, or a form of it, that the target does not have; attributes are checked elsewhere."""
    history = history_of(base)
    if history.since > target:
        raise unavailable(f"op '{op.name}'", history.since, target)
    for since, revision in history.later(history.revision_at(target)):
        if revision.is_variadic and len(op.operands) != 1:
            raise unavailable(f"'{op.name}' with {len(op.operands)} operands", since, target)
        if revision.has_regions and op.regions:
            raise unavailable(f"'{op.name}' with regions", since, target)
    for rule in _rules(op, base):
        if RULES[rule] > target:
            raise unavailable(rule, RULES[rule], target)


def _rules(op: Operation, base: str) -> Iterable[str]:
    """Return the rules of later versions that an op makes use of."""
    if base in REDUCTIONS and any(map(_differ, op.operand_types, op.result_types)):
        yield MIXED_REDUCTIONS
    if base != "custom_call":
        return
    if isinstance(op.properties.get("backend_config"), dict) or op.properties.get("api_version") == 4:
        yield TYPED_CUSTOM_CALLS
    if any(isinstance(type, FutureType) for type in op.operand_types):
        yield FUTURES_IN_CUSTOM_CALLS


def _differ(operand: Type, result: Type) -> bool:
    return getattr(operand, "element_type", None) != getattr(result, "element_type", None)


# --- attributes -----------------------------------------------------------------------------------------------------


def check_attribute(attribute: Any, target: Version) -> None:
    """Refuse an attribute that the target does not have, or that is made of one."""
    match attribute:
        case tuple():
            _check_all(attribute, target)
        case dict():
            _check_all(attribute.values(), target)
        case StructAttribute(name, fields):
            since = ATTRIBUTES.get(name.removeprefix("stablehlo."), FIRST)
            if since > target:
                raise unavailable(f"attribute '#{name}'", since, target)
            _check_all(fields.values(), target)
        case IntegerAttribute(type=type) | FloatAttribute(type=type) if type is not None:
            check_type(type, target)
        case TypeAttribute(type) | DenseElements(type=type) | DenseArray(element_type=type):
            check_type(type, target)


def _check_all(attributes: Iterable[Any], target: Version) -> None:
    for attribute in attributes:
        check_attribute(attribute, target)


# --- types ----------------------------------------------------------------------------------------------------------


def check_type(type: Type, target: Version) -> None:
    """Refuse a type that the target does not have, or that is made of one."""
    since = TYPES.get(_kind(type), FIRST)
    if since > target:
        raise unavailable(f"type {type}", since, target)
    for part in _parts(type):
        check_type(part, target)


def _kind(type: Type) -> str:
    """Return the name under which the table of versions has a type."""
    match type:
        case BufferType():
            return "memref"
        case FutureType():
            return "future"
        case QuantizedType(quantization_dimension=int()):
            return "quantized per axis"
        case TensorType() | TupleType() | FunctionType() | QuantizedType():
            return ""
    return str(type)


def _parts(type: Type) -> Iterable[Type]:
    match type:
        case TensorType(element_type=part) | UnrankedTensorType(part) | ComplexType(part):
            return (part,)
        case BufferType(element_type=part):
            return (part,)
        case TupleType(parts) | FutureType(parts):
            return parts
        case FunctionType(inputs, outputs):
            return (*inputs, *outputs)
        case QuantizedType(storage, expressed):
            return integer_type(storage.width), expressed
    return ()
