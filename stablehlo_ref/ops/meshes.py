"""Meshes: grids of devices with named axes, and the groups of devices along some of them (spec, "StableHLO Mesh")."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from stablehlo_ref.ir.attributes import DenseElements, IntegerAttribute, OpaqueAttribute, StructAttribute

Sizes = dict[str, int]  # of axes, by name
Axis = tuple[str, int, int]  # name, pre-size, size

MOST_DEVICES = 1 << 20  # of a mesh


def groups_along(references: Any, mesh: Any) -> tuple[tuple[int, ...], ...]:
    """One group of devices for each position on the other axes of the mesh; in a group the last axis varies fastest.

    ValueError where attributes are no mesh, or no axes of it.
    """
    sizes, device_ids = read_mesh(mesh)
    check_mesh(sizes, device_ids)
    if not isinstance(references, tuple):
        raise ValueError("axes are a list")
    places = positions(sizes, [read_axis(reference, sizes) for reference in references])
    devices = np.array(device_ids or range(prod(sizes.values())), np.int64)
    outside = [p for p, (_, place) in enumerate(places) if place is None]
    inside = [p for _, p in sorted((place, p) for p, (_, place) in enumerate(places) if place is not None)]
    grid = devices.reshape([size for size, _ in places]).transpose(outside + inside)
    return tuple(map(tuple, grid.reshape(-1, prod(places[p][0] for p in inside)).tolist()))


def positions(sizes: Sizes, axes: Sequence[Axis]) -> list[tuple[int, int | None]]:
    """The mesh with its axes cut into factors: the size of each, and where `axes` list it, None where they do not.

    A sub-axis is a factor of an axis: of one of size `n`, split into (pre-size, size, the rest), the one in the middle.
    """
    cuts = {name: {1, n} for name, n in sizes.items()}
    for name, before, size in axes:
        cuts[name] |= {before, before * size}
    factors = [(name, low, high) for name in sizes for low, high in pairwise(sorted(cuts[name]))]
    for name, low, high in factors:
        if high % low or high > sizes[name]:
            raise ValueError(f"sub-axes of {name!r} are no factors of its size {sizes[name]}")
    spans = [(name, range(before, before * size)) for name, before, size in axes]
    places = [[n for n, (name, span) in enumerate(spans) if name == of and low in span] for of, low, _ in factors]
    if any(len(found) > 1 for found in places):
        raise ValueError("axes overlap")
    return [(high // low, found[0] if found else None) for (_, low, high), found in zip(factors, places)]


def check_mesh(sizes: Sizes, device_ids: Sequence[int]) -> None:
    """ValueError unless the sizes are positive, and there is one device for each position."""
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"axis {name!r} has size {size}")
    count = prod(sizes.values())
    if count > MOST_DEVICES:
        raise ValueError(f"more than {MOST_DEVICES} devices")
    if device_ids and len(device_ids) != count:
        raise ValueError(f"{len(device_ids)} device_ids for {count} devices")
    if sizes and device_ids and sorted(device_ids) != list(range(count)):
        raise ValueError(f"device_ids are not the numbers below {count}")


def read_mesh(attribute: Any) -> tuple[Sizes, Sequence[int]]:
    """The axes' sizes by name and the ids of the devices, none where they are in order. ValueError for no mesh."""
    if isinstance(attribute, OpaqueAttribute | str):  # <["x"=2, "y"=4], device_ids=[...]> of Shardy
        text, _, ids = str(getattr(attribute, "text", attribute)).partition("device_ids")
        axes = [(name, int(size)) for name, size in re.findall(r'"([^"]+)"\s*=\s*(-?\d+)', text)]
        return _by_name(axes), [int(i) for i in re.findall(r"-?\d+", ids)]
    try:
        fields = _fields(attribute)
        axes = [(axis["name"], axis["size"].value) for axis in map(_fields, fields["axes"])]
    except (AttributeError, KeyError, TypeError):
        raise ValueError("it has no axes with names and sizes") from None
    devices = fields.get("device_ids")
    return _by_name(axes), devices.array.reshape(-1).tolist() if isinstance(devices, DenseElements) else ()


def _by_name(axes: Sequence[tuple[str, int]]) -> Sizes:
    if len(dict(axes)) < len(axes):
        raise ValueError("two of its axes have one name")
    return dict(axes)


def read_axis(attribute: Any, sizes: Sizes) -> Axis:
    """An axis of a mesh or a factor of one, by its name, or by its number. ValueError for anything else."""
    if isinstance(attribute, IntegerAttribute):
        names = dict(enumerate(sizes))
        if attribute.value not in names:
            raise ValueError(f"it has no axis number {attribute.value}")
        return names[attribute.value], 1, sizes[names[attribute.value]]
    fields = {"name": attribute} if isinstance(attribute, str) else _fields(attribute)
    name: Any = fields.get("name") if isinstance(fields, Mapping) else None
    if name not in sizes:
        raise ValueError(f"it has no axis {name!r}")
    if fields.get("sub_axis_info") is None:
        return name, 1, sizes[name]
    part = _fields(fields["sub_axis_info"])
    before, size = part["pre_size"].value, part["size"].value
    if before < 1 or size < 1:
        raise ValueError(f"a sub-axis of {name!r} has pre-size {before} and size {size}")
    return name, before, size


def _fields(attribute: Any) -> Any:
    return attribute.fields if isinstance(attribute, StructAttribute) else attribute
