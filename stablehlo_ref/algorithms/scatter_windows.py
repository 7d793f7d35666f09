"""Write the windows of scatter at given starts: row by row, or one large window after another.

Parts of windows that are out of bounds are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from types import EllipsisType
from typing import TypeAlias

import numpy as np

from stablehlo_ref.algorithms.indexed_windows import IndexedWindows, signed
from stablehlo_ref.algorithms.scatter_updates import ScatterUpdate
from stablehlo_ref.ir.arrays import Array

Starts: TypeAlias = list[Array]  # the components of all start_index, of any integer dtype
Write: TypeAlias = Callable[[Sequence[Array], Starts, Sequence[Array]], None]
Index: TypeAlias = tuple[slice | EllipsisType, ...]
WriteBox: TypeAlias = Callable[[Sequence[Array], Sequence[int], list[Array]], None]

BOX = 1 << 12  # elements: windows of this size and larger are updated one after another


def window_writer(windows: IndexedWindows, update: ScatterUpdate) -> Write:
    """Return a function that updates contiguous tensors in place, given the starts and the updates."""
    if prod(windows.batch_shape) == 1:
        return _one_box(windows, update)
    may_split = windows.batch_axes == tuple(range(len(windows.batch_axes))) and not update.adds_exactly
    return (_boxes if may_split and prod(windows.extents) >= BOX else _numbered_rows)(windows, update)


def _numbered_rows(windows: IndexedWindows, update: ScatterUpdate) -> Write:
    """Update all rows of all windows at once, by their row numbers."""
    order, row = windows.other_axes + windows.row_axes, windows.table_shape[1:]

    def write(results: Sequence[Array], starts: Starts, updates: Sequence[Array]) -> None:
        tables = [x.reshape(windows.table_shape) for x in results]
        news = [x.transpose(order).reshape(-1, *row) for x in updates]
        few = windows.few_row_numbers(starts, clamp=False) if windows.are_few else None
        if few is not None:
            update.rows(tables, few, news)
            return
        starts = [start if start.dtype == np.int32 else signed(start) for start in starts]
        numbers, within = windows.row_numbers(starts), windows.in_bounds(starts)
        if within is not None:
            numbers, news = numbers[within], [x[within] for x in news]
        update.rows(tables, numbers, news)

    return write


def _one_box(windows: IndexedWindows, update: ScatterUpdate) -> Write:
    """Update the only window."""
    write_box = _write_box(windows, update)
    return lambda results, starts, updates: write_box(
        results, windows.start_of_one(starts), [x.reshape(windows.extents) for x in updates]
    )


def _boxes(windows: IndexedWindows, update: ScatterUpdate) -> Write:
    """Update one window after another."""
    order, count = windows.batch_axes + windows.position_axes, prod(windows.batch_shape)
    write_box = _write_box(windows, update)

    def write(results: Sequence[Array], starts: Starts, updates: Sequence[Array]) -> None:
        news = [x.transpose(order).reshape(count, *windows.extents) for x in updates]
        columns = [np.broadcast_to(x, windows.batch_shape).reshape(-1).tolist() for x in windows.all_starts(starts)]
        for k, start in enumerate(zip(*columns) if columns else [()] * count):
            write_box(results, start, [x[k, ...] for x in news])

    return write


def _write_box(windows: IndexedWindows, update: ScatterUpdate) -> WriteBox:
    """Return a function that updates the part of one window that is in bounds, given where the window starts."""
    bounds = list(zip(windows.extents, windows.sizes))

    def write_box(results: Sequence[Array], start: Sequence[int], news: list[Array]) -> None:
        if all(0 <= first <= whole - n for first, (n, whole) in zip(start, bounds)):
            update.box(results, tuple([slice(first, first + n) for first, (n, _) in zip(start, bounds)]), news)
            return
        low = [max(0, -first) for first in start]
        high = [min(n, whole - first) for first, (n, whole) in zip(start, bounds)]
        if all(map(int.__lt__, low, high)):
            part: Index = (*map(slice, low, high), ...)
            inside: Index = (*[slice(first + a, first + b) for first, a, b in zip(start, low, high)], ...)
            update.box(results, inside, [x[part] for x in news])

    return write_box
