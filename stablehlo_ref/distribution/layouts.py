"""Layouts: which axes of a mesh split the dimensions of a tensor, the blocks of devices, and groups along axes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, permutations
from math import prod
from typing import TypeAlias

import numpy as np

from stablehlo_ref.diagnostics import ArgumentValueError
from stablehlo_ref.distribution.axes import Span, span, text
from stablehlo_ref.distribution.meshes import MOST_DEVICES
from stablehlo_ref.distribution.sdy_attributes import AxisRef, DimensionSharding, Mesh, Sharding, SubAxis
from stablehlo_ref.distribution.sharding import Tiling
from stablehlo_ref.ir.arrays import Array

Parts: TypeAlias = tuple[Span, ...]  # axes or parts of them, from major to minor
Layout: TypeAlias = tuple[Parts, ...]  # those that split each dimension


class DeviceMesh:
    """The devices of a mesh with axes, and their positions on them. ArgumentValueError for more than `MOST_DEVICES`."""

    def __init__(self, mesh: Mesh) -> None:
        self.mesh, self.count = mesh, mesh.count
        if self.count > MOST_DEVICES:
            raise ArgumentValueError(f"expected a mesh of at most {MOST_DEVICES} devices, got {self.count}")
        order = np.argsort(mesh.device_ids) if mesh.device_ids else np.arange(self.count)
        self.coordinates = dict(zip(mesh.sizes, np.unravel_index(order, tuple(mesh.sizes.values()))))

    @property
    def axes(self) -> Parts:
        """All axes, whole."""
        return tuple(Span(name, 1, size) for name, size in self.mesh.axes)

    def position(self, device: int) -> str:
        """Return where a device is: `x=1,y=0`."""
        return ",".join(f"{name}={along[device]}" for name, along in self.coordinates.items())

    def numbers(self, parts: Sequence[Span]) -> Array:
        """Return the number of each device along axes, of which the last varies fastest."""
        found = np.zeros(self.count, np.int64)
        for part in parts:
            found = found * part.size + self._along(part)
        return found

    def _along(self, part: Span) -> Array:
        return np.asarray(self.coordinates[part.name] // (self.mesh.sizes[part.name] // part.high) % part.size)

    def groups(self, parts: Sequence[Span]) -> tuple[tuple[int, ...], ...]:
        """Return the groups of devices that differ in their positions along these axes only, in order of these."""
        rest = dict(self.coordinates)
        for part in parts:
            rest[part.name] = rest[part.name] - self._along(part) * (self.mesh.sizes[part.name] // part.high)
        where = np.ravel_multi_index(tuple(rest.values()), tuple(self.mesh.sizes.values()))
        ordered = np.lexsort((self.numbers(parts), where))
        return tuple(map(tuple, ordered.reshape(-1, prod(part.size for part in parts)).tolist()))

    def axes_between(self, groups: Iterable[Sequence[int]]) -> Parts:
        """Return the axes along which the positions of devices of one group differ."""
        groups = [list(group) for group in groups]
        names = [n for n, along in self.coordinates.items() if any(np.ptp(along[group]) for group in groups if group)]
        return tuple(Span(name, 1, self.mesh.sizes[name]) for name in names)

    def tiling(self, layout: Layout) -> Tiling:
        """Return the blocks of devices."""
        return Tiling(counts(layout), tuple(map(self.numbers, layout)), self.count)

    def layouts(self, whole: Sequence[int], local: Sequence[int]) -> Iterator[Layout]:
        """Yield the layouts, by whole axes, in which a tensor has blocks of the shape `local`."""
        if len(whole) != len(local) or any(n == 0 or m % n for m, n in zip(whole, local)):
            return
        yield from self._layouts([m // n for m, n in zip(whole, local)], self.axes)

    def _layouts(self, sizes: Sequence[int], free: Parts) -> Iterator[Layout]:
        if not sizes:
            yield ()
            return
        free = tuple(axis for axis in free if axis.size > 1)
        chosen = [c for n in range(len(free) + 1) for c in combinations(free, n) if prod(a.size for a in c) == sizes[0]]
        for axes in chosen:
            for rest in self._layouts(sizes[1:], tuple(axis for axis in free if axis not in axes)):
                yield from ((parts, *rest) for parts in permutations(axes))

    def describe(self, parts: Sequence[Span]) -> str:
        """Return axes as they are written: `"x", "y"`."""
        return ", ".join(text(part, self.mesh) for part in parts)

    def describe_layout(self, layout: Layout) -> str:
        """Return a layout as it is written: `[{"x"}, {}]`."""
        return f"[{', '.join(f'{{{self.describe(parts)}}}' for parts in layout)}]"


def counts(layout: Layout) -> tuple[int, ...]:
    """Return the number of blocks of each dimension."""
    return tuple(prod(part.size for part in parts) for parts in layout)


def used(layout: Layout) -> Parts:
    """Return all axes of a layout."""
    return tuple(part for parts in layout for part in parts)


def layout_of(sharding: Sharding, mesh: Mesh) -> Layout:
    """Return the layout of a sharding."""
    return tuple(tuple(span(axis, mesh) for axis in dimension.axes) for dimension in sharding.dimensions)


def sharding_of_layout(layout: Layout, mesh: Mesh, name: str) -> Sharding:
    """Return the sharding of a layout, on the mesh of this name."""
    dimensions = (DimensionSharding(tuple(_reference(part, mesh) for part in parts)) for parts in layout)
    return Sharding(name, tuple(dimensions), mesh_text=f"@{name}")


def _reference(part: Span, mesh: Mesh) -> AxisRef:
    is_whole = part.size == mesh.sizes[part.name]
    return AxisRef(part.name, None if is_whole else SubAxis(part.low, part.size))


def replicated(rank: int) -> Layout:
    """Return the layout of a tensor that each device has whole."""
    return ((),) * rank
