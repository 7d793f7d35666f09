"""Layouts: which axes of a mesh split the dimensions of a tensor, the blocks of devices, and groups along axes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, permutations
from math import prod
from typing import TypeAlias

import numpy as np

from stablehlo_ref.distribution.axes import Span, span, text
from stablehlo_ref.distribution.sdy_attributes import Mesh, Sharding
from stablehlo_ref.distribution.sharding import Devices, Tiling

Parts: TypeAlias = tuple[Span, ...]  # axes or parts of them, from major to minor
Layout: TypeAlias = tuple[Parts, ...]  # those that split each dimension


class DeviceMesh(Devices):
    """The devices of a mesh with axes, and the layouts that tensors may have on it."""

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


def replicated(rank: int) -> Layout:
    """Return the layout of a tensor that each device has whole."""
    return ((),) * rank
