"""Layouts: which axes of a mesh split the dimensions of a tensor, the blocks of devices, and groups along axes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from math import prod
from typing import TypeAlias

import numpy as np

from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.distribution.meshes import MOST_DEVICES, Span, Tiling, groups_of, merge, shard_type, spans, text
from stablehlo_ref.distribution.sdy_attributes import Mesh, Sharding
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.types import TensorType, Type

Parts: TypeAlias = tuple[Span, ...]  # axes or parts of them, from major to minor


@dataclass(frozen=True)
class Layout:
    """The parts of axes that split each dimension of a tensor, major first, and those along which it is unreduced.

    Only the device `single` computes a tensor that has one; all devices hold it.
    """

    mesh: Mesh
    dimensions: tuple[Parts, ...]
    unreduced: Parts = ()
    reduction: str = "sum"
    single: int | None = None

    @property
    def counts(self) -> tuple[int, ...]:
        """The number of shards of each dimension."""
        return tuple(prod(part.size for part in parts) for parts in self.dimensions)

    @property
    def parts(self) -> Parts:
        """All parts that split dimensions."""
        return tuple(part for parts in self.dimensions for part in parts)

    def shard_type(self, whole: Type) -> Type:
        """Return the type of a device's shard. UnsupportedError if a size is unknown."""
        return shard_type(whole, self.counts)


def layout_of(sharding: Sharding | None, mesh: Mesh, type: Type) -> Layout:
    """Return the layout that a sharding says; without one, all devices hold the whole tensor."""
    rank = len(type.shape) if isinstance(type, TensorType) else 0
    if sharding is None:
        return Layout(mesh, ((),) * rank)
    if mesh.is_maximal:
        return Layout(Mesh(()), ((),) * rank, single=mesh.device_ids[0])
    dimensions = tuple(tuple(merge(spans(d.axes, mesh))) for d in sharding.dimensions)
    return Layout(mesh, dimensions, tuple(spans(sharding.unreduced, mesh)), sharding.reduction)


class DeviceMesh:
    """The devices of a mesh by id, where they are along its axes, and the layouts that tensors may have on it.

    UnsupportedError for a mesh that is too large.
    """

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

    @property
    def axes(self) -> Parts:
        """All axes, whole."""
        return tuple(Span(name, 1, size) for name, size in self.mesh.axes)

    def coordinate(self, device: int, name: str) -> int:
        """Return where a device is along an axis."""
        return int(self._coordinates[name][device])

    def position(self, device: int) -> str:
        """Return where a device is: `x=1,y=0`."""
        return ",".join(f"{name}={self.coordinate(device, name)}" for name in self.mesh.sizes)

    def axes_between(self, groups: Iterable[Sequence[int]]) -> Parts:
        """Return the axes along which the positions of devices of one group differ."""
        groups = [list(group) for group in groups]
        names = [n for n, along in self._coordinates.items() if any(np.ptp(along[group]) for group in groups if group)]
        return tuple(Span(name, 1, self.mesh.sizes[name]) for name in names)

    def tiling(self, layout: Layout) -> Tiling:
        """Return the blocks of devices."""
        return Tiling(layout.counts, tuple(map(self.numbers, layout.dimensions)), self.count)

    def layouts(self, whole: Sequence[int], local: Sequence[int]) -> Iterator[Layout]:
        """Yield the layouts, by whole axes, in which a tensor has blocks of the shape `local`."""
        if len(whole) != len(local) or any(n == 0 or m % n for m, n in zip(whole, local)):
            return
        for dimensions in self._dimensions([m // n for m, n in zip(whole, local)], self.axes):
            yield Layout(self.mesh, dimensions)

    def _dimensions(self, sizes: Sequence[int], free: Parts) -> Iterator[tuple[Parts, ...]]:
        if not sizes:
            yield ()
            return
        free = tuple(axis for axis in free if axis.size > 1)
        chosen = [c for n in range(len(free) + 1) for c in combinations(free, n) if prod(a.size for a in c) == sizes[0]]
        for axes in chosen:
            for rest in self._dimensions(sizes[1:], tuple(axis for axis in free if axis not in axes)):
                yield from ((parts, *rest) for parts in permutations(axes))

    def describe(self, parts: Sequence[Span]) -> str:
        """Return axes as they are written: `"x", "y"`."""
        return ", ".join(text(part, self.mesh) for part in parts)

    def describe_layout(self, layout: Layout) -> str:
        """Return a layout as it is written: `[{"x"}, {}]`."""
        return f"[{', '.join(f'{{{self.describe(parts)}}}' for parts in layout.dimensions)}]"
