"""Meshes: grids of devices with named axes, parts of axes (spans), groups along axes (spec, "StableHLO Mesh"), tilings.

An axis of size 8 that is split into 2, 2 and 2 has the spans (1, 2), (2, 4) and (4, 8); the axis itself has (1, 8).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from stablehlo_ref.define.spec import Size, element_type, make_tensor_type, shape
from stablehlo_ref.diagnostics import EvaluationError, UnsupportedError
from stablehlo_ref.distribution.sdy_attributes import AxisRef, DimensionSharding, Mesh, Sharding, invalid_mesh
from stablehlo_ref.ir.arrays import Array, RuntimeValue
from stablehlo_ref.ir.attributes import Attribute, DenseElements, IntegerAttribute, StructAttribute
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


Sizes: TypeAlias = dict[str, int]  # of axes, by name

MOST_DEVICES = 1 << 20  # of a mesh


def groups_along(references: Attribute, mesh: Attribute) -> tuple[tuple[int, ...], ...]:
    """Return one group of device ids for each position on the axes of the mesh that `references` do not list.

    In a group, the last listed axis varies fastest. ValueError for a malformed mesh or list of axes.
    """
    grid = read_mesh(mesh)
    if not isinstance(references, tuple):
        raise ValueError("expected a list of axes")
    return groups_of(grid, [read_axis(reference, grid.sizes) for reference in references])


def groups_of(mesh: Mesh, axes: Sequence[Span]) -> tuple[tuple[int, ...], ...]:
    """Return one group of device ids for each position on the axes of the mesh that are not listed."""
    factors = positions(mesh.sizes, axes)
    devices = np.array(mesh.device_ids or range(mesh.count), np.int64)
    others = [p for p, (_, index) in enumerate(factors) if index is None]
    listed = [p for _, p in sorted((index, p) for p, (_, index) in enumerate(factors) if index is not None)]
    grid = devices.reshape([size for size, _ in factors]).transpose(others + listed)
    return tuple(map(tuple, grid.reshape(-1, prod(factors[p][0] for p in listed)).tolist()))


def positions(sizes: Sizes, axes: Sequence[Span]) -> list[tuple[int, int | None]]:
    """Cut the axes of a mesh into factors; return the size of each and its index in `axes`, None if it is not listed.

    ValueError for sub-axes that are not factors, or that overlap.
    """
    cuts = {name: {1, n} for name, n in sizes.items()}
    for axis in axes:
        cuts[axis.name] |= {axis.low, axis.high}
    factors = [Span(name, low, high) for name in sizes for low, high in pairwise(sorted(cuts[name]))]
    for name, low, high in factors:
        if high % low or high > sizes[name]:
            raise ValueError(f"sub-axes of {name!r} are not factors of its size {sizes[name]}")
    indices = [[i for i, axis in enumerate(axes) if overlap(axis, factor)] for factor in factors]
    if any(len(found) > 1 for found in indices):
        raise ValueError("axes overlap")
    return [(factor.size, found[0] if found else None) for factor, found in zip(factors, indices)]


def read_mesh(attribute: object) -> Mesh:
    """Return a mesh, of Shardy or of StableHLO; ValueError for another attribute, and for a mesh that is not valid."""
    if isinstance(attribute, Mesh):
        mesh = attribute
    else:
        try:
            fields = _fields(attribute)
            axes = tuple((str(axis["name"]), int(axis["size"].value)) for axis in map(_fields, fields["axes"]))
        except (AttributeError, KeyError, TypeError):
            raise ValueError("expected a mesh with axes that have names and sizes") from None
        devices = fields.get("device_ids")
        mesh = Mesh(axes, tuple(devices.array.reshape(-1).tolist()) if isinstance(devices, DenseElements) else ())
    if reason := invalid_mesh(mesh):
        raise ValueError(reason)
    if mesh.count > MOST_DEVICES:
        raise ValueError(f"expected at most {MOST_DEVICES} devices, got {mesh.count}")
    return mesh


def read_axis(attribute: Attribute, sizes: Sizes) -> Span:
    """Return the axis or sub-axis of a mesh that an attribute refers to, by name or number; ValueError otherwise."""
    if isinstance(attribute, IntegerAttribute):
        names = dict(enumerate(sizes))
        if attribute.value not in names:
            raise ValueError(f"unknown axis number {attribute.value}")
        return Span(names[attribute.value], 1, sizes[names[attribute.value]])
    fields = {"name": attribute} if isinstance(attribute, str) else _fields(attribute)
    name = fields.get("name")
    if not isinstance(name, str):
        raise ValueError("expected the name or number of an axis")
    if name not in sizes:
        raise ValueError(f"unknown axis {name!r}")
    if fields.get("sub_axis_info") is None:
        return Span(name, 1, sizes[name])
    before, size = _sub_axis(name, _fields(fields["sub_axis_info"]))
    return Span(name, before, before * size)


def _sub_axis(name: str, fields: Mapping[str, Any]) -> tuple[int, int]:
    """Return pre-size and size of a sub-axis; ValueError unless they are positive."""
    try:
        before, size = int(fields["pre_size"].value), int(fields["size"].value)
    except (AttributeError, KeyError, TypeError):
        raise ValueError(f"expected a sub-axis of {name!r} with pre_size and size") from None
    if before < 1 or size < 1:
        raise ValueError(f"expected a sub-axis of {name!r} with positive pre-size and size, got {before} and {size}")
    return before, size


def _fields(attribute: object) -> Mapping[str, Any]:
    """Return the fields of a struct or dictionary attribute; of any other, none."""
    if isinstance(attribute, StructAttribute):
        return attribute.fields
    return attribute if isinstance(attribute, dict) else {}


# --- tensors in equal parts -----------------------------------------------------------------------------------------


def shard_type(whole: Type, counts: Sequence[int]) -> Type:
    """Return the type of a device's shard of a tensor whose dimensions are in so many parts each; of others, the type.

    Shards that are not all of the same size have that of the largest. UnsupportedError if a size is unknown.
    """
    if not isinstance(whole, TensorType) or prod(counts) == 1:
        return whole
    if not whole.is_static:
        raise UnsupportedError(f"{whole} cannot be sharded, as its sizes are unknown")
    sizes = [-(-(n or 0) // count) for n, count in zip(whole.shape, counts, strict=True)]
    return make_tensor_type(sizes, whole.element_type)


@dataclass(frozen=True)
class Tiling:
    """The number of parts of each dimension of a tensor, and for each dimension the part number of each device.

    Several devices may have the same part. The devices after the first `count` repeat the parts from the beginning.
    """

    parts: tuple[int, ...]
    part_numbers: tuple[Array, ...]
    count: int

    def part_type(self, whole: TensorType) -> TensorType:
        """Return the type of a device's part of a tensor."""
        sizes = [n // count for n, count in zip(shape(whole), self.parts, strict=True)]
        return make_tensor_type(sizes, element_type(whole))

    def whole_type(self, part: TensorType) -> TensorType:
        """Return the type of the tensor that has parts of this type."""
        sizes = [n * count for n, count in zip(shape(part), self.parts, strict=True)]
        return make_tensor_type(sizes, element_type(part))

    def splits(self, sizes: Sequence[Size]) -> bool:
        """Return whether a tensor of these sizes splits into equal parts."""
        return all(n % count == 0 for n, count in zip(sizes, self.parts))

    def split(self, whole: Array, device: int) -> Array:
        """Return a device's part; EvaluationError if the parts would have different sizes."""
        if not self.splits(whole.shape):
            parts = list(self.parts)
            raise EvaluationError(f"cannot split a tensor of shape {list(whole.shape)} into {parts} equal parts")
        return whole[self._box(device, [n // count for n, count in zip(whole.shape, self.parts)])]

    def shards(self, whole: RuntimeValue, count: int) -> list[RuntimeValue]:
        """Return the parts of `count` devices; all have a value that is no tensor."""
        return [self.split(whole, device) if isinstance(whole, np.ndarray) else whole for device in range(count)]

    def join(self, parts: Sequence[Array]) -> Array:
        """Return the whole tensor, given each device's part; a part that several devices have is that of the last."""
        if prod(self.parts) == 1:
            return parts[-1]
        sizes = parts[0].shape
        whole = np.empty([n * count for n, count in zip(sizes, self.parts)], parts[0].dtype)
        for device, part in enumerate(parts):
            whole[self._box(device, sizes)] = part
        return whole

    def _box(self, device: int, sizes: Sequence[int]) -> tuple[slice, ...]:
        """Return the index of a device's part, which has these sizes, in the whole tensor."""
        numbers = (int(part_number[device % self.count]) for part_number in self.part_numbers)
        return tuple(slice(number * size, (number + 1) * size) for number, size in zip(numbers, sizes))
