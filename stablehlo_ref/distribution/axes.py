"""Axes of a mesh and parts of them, as spans: what overlaps, what merges, what is left of them.

An axis of size 8 that is split into 2, 2 and 2 has the spans (1, 2), (2, 4) and (4, 8); the axis itself has (1, 8).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import prod
from typing import NamedTuple

from stablehlo_ref.distribution.sdy_attributes import AxisRef, DimensionSharding, Mesh, Sharding
from stablehlo_ref.ir.lexer import quoted
from stablehlo_ref.ir.types import BufferType, OpaqueType, TensorType, TupleType, Type, UnrankedTensorType


class Span(NamedTuple):
    """A part of an axis: the product of the parts before it, and that product times its own size."""

    name: str
    low: int
    high: int

    @property
    def size(self) -> int:
        return self.high // self.low


def span(axis: AxisRef, mesh: Mesh) -> Span:
    """Return the span of an axis that the mesh has."""
    if axis.part is None:
        return Span(axis.name, 1, mesh.sizes[axis.name])
    return Span(axis.name, axis.part.pre_size, axis.part.pre_size * axis.part.size)


def spans(axes: Iterable[AxisRef], mesh: Mesh) -> list[Span]:
    """Return the spans of axes that the mesh has."""
    return [span(axis, mesh) for axis in axes]


def text(part: Span, mesh: Mesh) -> str:
    """Return a span as an axis is written."""
    whole = part.low == 1 and part.high == mesh.sizes[part.name]
    return quoted(part.name) + ("" if whole else f":({part.low}){part.size}")


def overlap(x: Span, y: Span) -> bool:
    """Return whether two spans have a part in common."""
    return x.name == y.name and max(x.low, y.low) < min(x.high, y.high)


def covers(x: Span, y: Span) -> bool:
    """Return whether a span has all parts of another."""
    return x.name == y.name and x.low <= y.low and y.high <= x.high


def in_mesh_order(parts: Sequence[Span], mesh: Mesh) -> list[Span]:
    """Return spans in the order of the mesh."""
    order = {name: index for index, name in enumerate(mesh.sizes)}
    return sorted(parts, key=lambda part: (order[part.name], part.low, part.high))


def merge(parts: Iterable[Span]) -> list[Span]:
    """Return spans in which neighbours that are consecutive parts of an axis are one."""
    merged: list[Span] = []
    for part in parts:
        last = merged[-1] if merged else None
        if last and last.name == part.name and last.high == part.low:
            merged[-1] = Span(part.name, last.low, part.high)
        else:
            merged.append(part)
    return merged


def without_suffix(parts: Sequence[Span], suffix: Sequence[Span], mesh: Mesh) -> list[Span]:
    """Return what is left of spans without those at their end; ValueError if they do not end so."""
    left = list(parts)
    for part in reversed(suffix):
        last = left[-1] if left else None
        if last is None or last.name != part.name or last.high != part.high or part.low % last.low:
            raise ValueError(f"axis {text(part, mesh)} is not at the end of the operand's sharding")
        left.pop()
        if last.low < part.low:
            left.append(Span(part.name, last.low, part.low))
    return left


# --- whether axes are valid on a mesh ---------------------------------------------------------------------------------


def check_axes(axes: Sequence[AxisRef], mesh: Mesh, seen: set[AxisRef]) -> None:
    """Check a list of axes, and add them to those seen before; ValueError for an axis that is unknown or seen."""
    for axis in axes:
        if axis.name not in mesh.sizes:
            raise ValueError(f"unknown axis {quoted(axis.name)}")
        if axis in seen:
            raise ValueError(f"duplicate axis {axis}")
        seen.add(axis)
    for first, second in pairwise(axes):
        if first.part and second.part and len(merge(spans((first, second), mesh))) == 1:
            raise ValueError(f"consecutive sub-axes {first} and {second} must be written as one")


def check_sorted(axes: Sequence[AxisRef], mesh: Mesh, what: str) -> None:
    """Check that axes of the mesh are in its order; ValueError otherwise."""
    parts = spans(axes, mesh)
    if in_mesh_order(parts, mesh) != parts:
        raise ValueError(f"expected {what} axes in the order of the mesh")


def check_sub_axes(axes: Iterable[AxisRef], mesh: Mesh) -> None:
    """Check that sub-axes are proper factors of their axes and that no two axes overlap; ValueError otherwise."""
    axes = list(axes)
    for axis in axes:
        if axis.part:
            _check_part(axis, mesh.sizes[axis.name])
    for first, second in pairwise(in_mesh_order(spans(axes, mesh), mesh)):
        if overlap(first, second):
            raise ValueError(f"overlapping axes {text(first, mesh)} and {text(second, mesh)}")


def _check_part(axis: AxisRef, whole: int) -> None:
    assert axis.part is not None
    before, size = axis.part.pre_size, axis.part.size
    if before < 1 or size < 2:
        raise ValueError(f"expected a sub-axis with a pre-size of at least 1 and a size of at least 2, got {axis}")
    if whole % (before * size):
        raise ValueError(f"sub-axis {axis} is not a factor of the axis, whose size is {whole}")
    if size == whole:
        raise ValueError(f"sub-axis {axis} is the whole axis")


# --- whether shardings are valid ------------------------------------------------------------------------------------


def check_sharding(sharding: Sharding, type: Type | None, mesh: Mesh, manual: Mapping[str, object]) -> None:
    """Check the sharding of a value on a mesh; ValueError if it is not valid.

    `type` is None for an op without results; `manual` are axes that surrounding manual computations have bound.
    """
    is_plain = not (sharding.dimensions or sharding.replicated or sharding.unreduced)
    if mesh.is_maximal:
        if not is_plain:
            raise ValueError("a sharding on one device has no dimensions, replicated or unreduced axes")
        return
    shape = _sharded_shape(type, len(sharding.dimensions))
    if shape is None:
        if not is_plain:
            raise ValueError(f"a sharding of {type or 'an op without results'} has no dimensions or axes")
        return
    if len(sharding.dimensions) != len(shape):
        raise ValueError(f"expected {len(shape)} dimensions in the sharding of {type}, got {len(sharding.dimensions)}")
    seen: set[AxisRef] = set()
    for number, dimension in enumerate(sharding.dimensions):
        _check_priority(number, dimension)
        check_axes(dimension.axes, mesh, seen)
    for what, axes in (("replicated", sharding.replicated), ("unreduced", sharding.unreduced)):
        if axes:
            check_axes(axes, mesh, seen)
            check_sorted(axes, mesh, what)
    if any(axis.part for axis in seen):
        check_sub_axes(seen, mesh)
    for axis in sharding.axes if manual else ():
        if axis.name in manual:
            raise ValueError(f"axis {quoted(axis.name)} is already bound by a surrounding sdy.manual_computation")


def _sharded_shape(type: Type | None, rank: int) -> tuple[int | None, ...] | None:
    """Return the shape of a type that can be sharded; None for other types, ValueError for some that are neither.

    A type of another dialect may have any shape; it is taken to be of this rank.
    """
    match type:
        case TupleType((element,)):
            return _sharded_shape(element, rank)
        case OpaqueType():
            return (None,) * rank
        case TupleType():
            raise ValueError(f"expected a tuple of one element, got {type}")
        case UnrankedTensorType():
            raise ValueError(f"expected a tensor with a rank, got {type}")
        case TensorType() | BufferType():
            return type.shape
    return None


def _check_priority(number: int, dimension: DimensionSharding) -> None:
    if dimension.priority is not None and dimension.is_closed and not dimension.axes:
        raise ValueError(f"dimension {number} has a priority, but no axes and is closed")


def sharded_size(dimension: DimensionSharding, mesh: Mesh) -> int:
    """Return the number of parts of a dimension."""
    return prod(part.size for part in spans(dimension.axes, mesh))
