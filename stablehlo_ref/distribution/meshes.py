"""Meshes: grids of devices with named axes, groups along axes (spec, "StableHLO Mesh"), and tensors split over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any, TypeAlias

import numpy as np

from stablehlo_ref.define.spec import Size, element_type, make_tensor_type, shape
from stablehlo_ref.diagnostics import EvaluationError, UnsupportedError
from stablehlo_ref.distribution.axes import Span, overlap
from stablehlo_ref.distribution.sdy_attributes import Mesh, invalid_mesh
from stablehlo_ref.ir.arrays import Array, RuntimeValue
from stablehlo_ref.ir.attributes import Attribute, DenseElements, IntegerAttribute, StructAttribute
from stablehlo_ref.ir.types import TensorType, Type

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
    made: Type = make_tensor_type(sizes, whole.element_type)
    return made


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


class Devices:
    """The devices of a mesh by id, and where they are along its axes. UnsupportedError for a mesh that is too large."""

    def __init__(self, mesh: Mesh) -> None:
        self.mesh = mesh
        self.count = mesh.count
        if self.count > MOST_DEVICES:
            raise UnsupportedError(f"a mesh of {self.count} devices; at most {MOST_DEVICES} are supported")
        order = np.argsort(mesh.device_ids) if mesh.axes and mesh.device_ids else np.arange(self.count)
        coordinates = np.unravel_index(order, tuple(mesh.sizes.values())) if mesh.axes else ()
        self._coordinates = dict(zip(mesh.sizes, coordinates))

    def numbers(self, parts: Sequence[Span]) -> Array:
        """Return each device's number along parts of axes, the last of which varies fastest."""
        numbers: Array = np.zeros(self.count, np.int64)
        for part in parts:
            rest = self.mesh.sizes[part.name] // part.high
            numbers = numbers * part.size + self._coordinates[part.name] // rest % part.size
        return numbers

    def groups(self, parts: Sequence[Span]) -> tuple[tuple[int, ...], ...]:
        """Return the groups of devices that differ along parts of axes only, each in the order of their numbers."""
        return groups_of(self.mesh, parts)
