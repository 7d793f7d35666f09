"""Strategies of scatter: write windows at given starts one after another, or all rows of all windows at once.

Elements of windows that are out of bounds are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import NamedTuple, TypeAlias

import numpy as np

from stablehlo_ref.algorithms.indexed_windows import Index, IndexedWindows, signed
from stablehlo_ref.algorithms.scatter_updates import ScatterUpdate, temporary_bytes
from stablehlo_ref.define.computation import RegionFunction
from stablehlo_ref.ir.arrays import Array, DType

Starts: TypeAlias = list[Array]  # the components of all start_index, of any integer dtype
Write: TypeAlias = Callable[[Sequence[Array], Starts, Sequence[Array]], None]

BOX = 1 << 12  # elements: windows of this size and larger are updated one after another


class WindowUpdate(NamedTuple):
    """A function that updates contiguous tensors in place, from starts and updates, and the bytes that it allocates."""

    write: Write
    temporaries: int


def plan_updates(windows: IndexedWindows, body: RegionFunction, unique: bool, dtypes: Sequence[DType]) -> WindowUpdate:
    """Return the update of windows by `body`, given the dtypes of updates, by the first strategy that applies.

    `unique` promises that no element is updated twice.
    """
    update = ScatterUpdate(body, windows.rows, unique)
    return window_by_window(windows, update, dtypes) or row_by_row(windows, update, body, dtypes)


def window_by_window(windows: IndexedWindows, update: ScatterUpdate, dtypes: Sequence[DType]) -> WindowUpdate | None:
    """Update one window after another, if they are large, and innermost in the updates, which keeps their order."""
    is_in_order = windows.batch_axes == tuple(range(len(windows.batch_axes)))
    if prod(windows.extents) < BOX or not is_in_order or update.adds_exactly:
        return None
    order, count = windows.batch_axes + windows.position_axes, prod(windows.batch_shape)

    def write(results: Sequence[Array], starts: Starts, updates: Sequence[Array]) -> None:
        news = [x.transpose(order).reshape(count, *windows.extents) for x in updates]
        columns = [np.broadcast_to(x, windows.batch_shape).reshape(-1).tolist() for x in windows.all_starts(starts)]
        for k, start in enumerate(zip(*columns)):
            low = [max(0, -first) for first in start]
            high = [min(n, whole - first) for first, n, whole in zip(start, windows.extents, windows.sizes)]
            if all(map(int.__lt__, low, high)):
                box: Index = tuple(slice(first + a, first + b) for first, a, b in zip(start, low, high))
                inside: Index = (k, *map(slice, low, high))
                update.box(results, box, [x[inside] for x in news])

    of_window = prod(windows.extents) * sum(dtype.itemsize for dtype in dtypes)
    return WindowUpdate(write, of_window + _copied(windows, order, dtypes))


def row_by_row(
    windows: IndexedWindows, update: ScatterUpdate, body: RegionFunction, dtypes: Sequence[DType]
) -> WindowUpdate:
    """Update all rows of all windows at once, by their row numbers."""
    order, row = windows.other_axes + windows.row_axes, windows.table_shape[1:]

    def write(results: Sequence[Array], starts: Starts, updates: Sequence[Array]) -> None:
        tables = [x.reshape(windows.table_shape) for x in results]
        news = [x.transpose(order).reshape(-1, *row) for x in updates]
        starts = [start if start.dtype == np.int32 else signed(start) for start in starts]
        numbers, within = windows.row_numbers(starts), windows.in_bounds(starts)
        if within is not None:
            numbers, news = numbers[within], [x[within] for x in news]
        update.rows(tables, numbers, news)

    count = prod(windows.shape) // prod(row)
    numbers = 0 if windows.starts_are_numbers else count * np.dtype(np.intp).itemsize
    rounds = temporary_bytes(body, windows.rows, prod(row), count)
    return WindowUpdate(write, numbers + rounds + _copied(windows, order, dtypes))


def _copied(windows: IndexedWindows, order: Sequence[int], dtypes: Sequence[DType]) -> int:
    """Return the bytes of the updates if they are copied to have their axes in this order."""
    is_copy = tuple(order) != tuple(range(len(windows.shape)))
    return prod(windows.shape) * sum(dtype.itemsize for dtype in dtypes) if is_copy else 0
