"""Meshes: grids of devices with named axes, and groups of devices along some axes (spec, "StableHLO Mesh")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import prod
from typing import Any, TypeAlias

import numpy as np

from stablehlo_ref.distribution.sdy_attributes import Mesh, invalid_mesh
from stablehlo_ref.ir.attributes import Attribute, DenseElements, IntegerAttribute, StructAttribute

Sizes: TypeAlias = dict[str, int]  # of axes, by name
Axis: TypeAlias = tuple[str, int, int]  # name, pre-size, size

MOST_DEVICES = 1 << 20  # of a mesh


def groups_along(references: Attribute, mesh: Attribute) -> tuple[tuple[int, ...], ...]:
    """Return one group of device ids for each position on the axes of the mesh that `references` do not list.

    In a group, the last listed axis varies fastest. ValueError for a malformed mesh or list of axes.
    """
    grid = read_mesh(mesh)
    if not isinstance(references, tuple):
        raise ValueError("expected a list of axes")
    return groups_of(grid, [read_axis(reference, grid.sizes) for reference in references])


def groups_of(mesh: Mesh, axes: Sequence[Axis]) -> tuple[tuple[int, ...], ...]:
    """Return one group of device ids for each position on the axes of the mesh that are not listed."""
    factors = positions(mesh.sizes, axes)
    devices = np.array(mesh.device_ids or range(mesh.count), np.int64)
    others = [p for p, (_, index) in enumerate(factors) if index is None]
    listed = [p for _, p in sorted((index, p) for p, (_, index) in enumerate(factors) if index is not None)]
    grid = devices.reshape([size for size, _ in factors]).transpose(others + listed)
    return tuple(map(tuple, grid.reshape(-1, prod(factors[p][0] for p in listed)).tolist()))


def positions(sizes: Sizes, axes: Sequence[Axis]) -> list[tuple[int, int | None]]:
    """Cut the axes of a mesh into factors; return the size of each and its index in `axes`, None if it is not listed.

    A sub-axis (pre-size, size) of an axis of size `n` is the middle one of the factors (pre-size, size, rest) of `n`.
    ValueError for sub-axes that are not factors, or that overlap.
    """
    cuts = {name: {1, n} for name, n in sizes.items()}
    for name, before, size in axes:
        cuts[name] |= {before, before * size}
    factors = [(name, low, high) for name in sizes for low, high in pairwise(sorted(cuts[name]))]
    for name, low, high in factors:
        if high % low or high > sizes[name]:
            raise ValueError(f"sub-axes of {name!r} are not factors of its size {sizes[name]}")
    spans = [(name, range(before, before * size)) for name, before, size in axes]
    indices = [[i for i, (name, span) in enumerate(spans) if name == of and low in span] for of, low, _ in factors]
    if any(len(found) > 1 for found in indices):
        raise ValueError("axes overlap")
    return [(high // low, found[0] if found else None) for (_, low, high), found in zip(factors, indices)]


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


def read_axis(attribute: Attribute, sizes: Sizes) -> Axis:
    """Return the axis or sub-axis of a mesh that an attribute refers to, by name or number; ValueError otherwise."""
    if isinstance(attribute, IntegerAttribute):
        names = dict(enumerate(sizes))
        if attribute.value not in names:
            raise ValueError(f"unknown axis number {attribute.value}")
        return names[attribute.value], 1, sizes[names[attribute.value]]
    fields = {"name": attribute} if isinstance(attribute, str) else _fields(attribute)
    name = fields.get("name")
    if not isinstance(name, str):
        raise ValueError("expected the name or number of an axis")
    if name not in sizes:
        raise ValueError(f"unknown axis {name!r}")
    if fields.get("sub_axis_info") is None:
        return name, 1, sizes[name]
    return name, *_sub_axis(name, _fields(fields["sub_axis_info"]))


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
