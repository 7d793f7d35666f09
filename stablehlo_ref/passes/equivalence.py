"""When two operations compute the same: keys that are equal for such operations only."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping

import numpy as np

from stablehlo_ref.define.definition import attributes_of
from stablehlo_ref.ir.attributes import DenseElements, DenseResource, StructAttribute
from stablehlo_ref.ir.core import Operation, Region, Value


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
        case DenseElements(type=type, array=array):
            return type, _digest(array)
        case DenseResource(type=type, array=array) if array is not None:
            return type, _digest(array)
        case StructAttribute(name=name, fields=fields):
            return name, frozen(fields)
        case bool() | int() | float():
            return type_name(value), repr(value)
    return value if isinstance(value, Hashable) else id(value)


def type_name(value: object) -> str:
    """Return the name of a value's class, so that `True`, `1` and `1.0` stay apart."""
    return type(value).__name__


def _digest(array: np.ndarray) -> Hashable:
    if array.size and not any(array.strides):  # a splat
        return array.shape, "splat", array.reshape(-1)[:1].tobytes()
    data = np.ascontiguousarray(array)
    if data.nbytes <= 64:
        return array.shape, data.tobytes()
    return array.shape, hashlib.blake2b(data.reshape(-1).view(np.uint8).data, digest_size=32).digest()
