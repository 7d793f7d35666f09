"""Structural equality of programs, which ignores names of values, explicit defaults and, by default, locations."""

from __future__ import annotations

import numpy as np

from stablehlo_ref.define.definition import definition_of
from stablehlo_ref.define.members import REQUIRED, Undecodable
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.attributes import DenseElements, DenseResource, FloatAttribute, IntegerAttribute, StructAttribute
from stablehlo_ref.ir.core import Block, Operation, Value
from stablehlo_ref.ir.locations import CallSiteLocation, FusedLocation, LocationAlias, NameLocation, resolve
from stablehlo_ref.ir.types import FLOATS, Type, integer_type

F64, I64 = FLOATS["f64"], integer_type(64)  # the types of numbers that are written without one


def difference(a: Operation, b: Operation, locations: bool = False) -> str | None:
    """Describe the first difference between two operations; return None if they are structurally equal."""
    values: dict[Value, Value] = {}  # from values of `a` to those of `b`
    ops_a, ops_b = list(a.walk()), list(b.walk())
    for op_a, op_b in zip(ops_a, ops_b):
        if found := _signature_difference(op_a, op_b, locations):
            return f"{op_a.location}: '{op_a.name}': different {found}"
        values |= zip(op_a.results, op_b.results)
        for block_a, block_b in zip(_blocks(op_a), _blocks(op_b)):
            values |= zip(block_a.arguments, block_b.arguments)
    if len(ops_a) != len(ops_b):
        return f"different numbers of operations: {len(ops_a)} and {len(ops_b)}"
    for op_a, op_b in zip(ops_a, ops_b):
        if [values.get(v, v) for v in op_a.operands] != op_b.operands:
            return f"{op_a.location}: '{op_a.name}': different operands"
    return None


def _blocks(op: Operation) -> list[Block]:
    return [block for region in op.regions for block in region.blocks]


def _signature_difference(a: Operation, b: Operation, locations: bool) -> str | None:
    """Return the first part of two operations that differs, except for their operands and the ops inside them."""
    blocks_a, blocks_b = _blocks(a), _blocks(b)
    parts = {
        "name": a.name == b.name,
        "operands": len(a.operands) == len(b.operands),
        "result types": a.result_types == b.result_types,
        "members": same_attribute(_members(a), _members(b)),
        "attributes": same_attribute(a.attributes, b.attributes),
        "regions": [len(r.blocks) for r in a.regions] == [len(r.blocks) for r in b.regions],
        "blocks": [len(block.operations) for block in blocks_a] == [len(block.operations) for block in blocks_b],
        "block arguments": [_argument_types(x) for x in blocks_a] == [_argument_types(x) for x in blocks_b],
        "successors": _successor_positions(a) == _successor_positions(b),
        "location": not locations or _same_locations(a, b),
    }
    return next((part for part, same in parts.items() if not same), None)


def _members(op: Operation) -> dict[str, object]:
    definition = definition_of(op)
    if definition is None:
        return op.properties
    known = definition.attributes
    defaults = {name: m.default for name, m in known.items() if m.default is not REQUIRED}
    return defaults | {name: value for name, value in op.properties.items() if not _is_omitted(name, value)}


def _is_omitted(name: str, value: object) -> bool:
    """Return whether an attribute is a list of no attributes of arguments or results, which pretty forms omit."""
    return name in ("arg_attrs", "res_attrs") and isinstance(value, tuple) and not any(value)


def _argument_types(block: Block) -> list[Type]:
    return [argument.type for argument in block.arguments]


def _successor_positions(op: Operation) -> list[int]:
    """Return the successors as indices of blocks, since labels are only names."""
    if not op.successors or op.parent is None or op.parent.parent is None:
        return []
    labels = [block.label for block in op.parent.parent.blocks]
    return [labels.index(label) if label in labels else -1 for label in op.successors]


def _same_locations(a: Operation, b: Operation) -> bool:
    arguments = zip([v for x in _blocks(a) for v in x.arguments], [v for x in _blocks(b) for v in x.arguments])
    pairs = [(a.debug_location, b.debug_location), *((x.location, y.location) for x, y in arguments)]
    return all(same_attribute(x, y) for x, y in pairs)


def same_attribute(a: object, b: object) -> bool:
    """Whether two attributes or locations are equal. NaNs are equal to themselves, and splats are not expanded."""
    a, b = _resolved(a), _resolved(b)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(same_attribute, a, b))
    if type(a) is not type(b):
        return False
    match a, b:
        case dict(), dict():
            return a.keys() == b.keys() and all(same_attribute(a[k], b[k]) for k in a)
        case DenseElements(), DenseElements():
            return a.type == b.type and _same_arrays(a.array, b.array)
        case DenseResource(), DenseResource():
            return a == b and same_attribute(a.array, b.array)
        case np.ndarray(), np.ndarray():
            return _same_arrays(a, b)
        case FloatAttribute(), FloatAttribute():
            return (a.type or F64) == (b.type or F64) and same_attribute(a.value, b.value)
        case IntegerAttribute(), IntegerAttribute():
            return (a.type or I64) == (b.type or I64) and a.value == b.value
        case StructAttribute(), StructAttribute():
            return a.name == b.name and same_attribute(_stated(a), _stated(b))
        case Undecodable(), Undecodable():
            return same_attribute(a.attribute, b.attribute)
        case NameLocation(), NameLocation():
            return a.name == b.name and same_attribute(a.child, b.child)
        case CallSiteLocation(), CallSiteLocation():
            return same_attribute(a.callee, b.callee) and same_attribute(a.caller, b.caller)
        case FusedLocation(), FusedLocation():
            return same_attribute(a.metadata, b.metadata) and same_attribute(a.locations, b.locations)
        case float(), float():
            return a == b or (a != a and b != b)
    return bool(a == b)


def _stated(attribute: StructAttribute) -> dict[str, object]:
    """Return the fields of a struct without numbers that are zero, which may be left out."""
    return {name: value for name, value in attribute.fields.items() if getattr(value, "value", None) != 0}


def _resolved(attribute: object) -> object:
    return resolve(attribute) if isinstance(attribute, LocationAlias) else attribute


def _same_arrays(a: Array, b: Array) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.size and not any(a.strides) and not any(b.strides):
        a, b = a.flat[0].reshape(1), b.flat[0].reshape(1)
    return bool(np.array_equal(_bits(a), _bits(b)))


def _bits(a: Array) -> Array:
    return np.ascontiguousarray(a).view(np.uint8)
