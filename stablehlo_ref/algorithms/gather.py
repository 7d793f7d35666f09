"""Strategies of gather: read the windows of a tensor at given starts, each fastest for some shapes of windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TypeAlias

import numpy as np

from stablehlo_ref.algorithms.indexed_windows import IndexedWindows
from stablehlo_ref.define.spec import is_sorted, without
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.numerics.dtypes import bits_dtype

Starts: TypeAlias = list[Array]
Read: TypeAlias = Callable[[Array, Starts], Array]

BLOCK = 1 << 16  # elements gathered at a time
INDICES = 1 << 14  # rows gathered at a time at most, so that their numbers need little memory
WINDOW = 32  # elements: windows of at least this size are copied as a whole, smaller ones row by row


def window_reader(windows: IndexedWindows) -> Read:
    """Return a function that reads the windows at any starts, which are clamped so that windows are in bounds."""
    read = whole_windows(windows) or rows(windows)
    read_strided = by_index(windows) or read

    def run(operand: Array, starts: Starts) -> Array:
        is_contiguous = operand.flags.c_contiguous
        return (read if is_contiguous else read_strided)(operand, windows.clamped(starts))

    return run


def whole_windows(windows: IndexedWindows) -> Read | None:
    """Index a strided view of all windows, if they are large: numpy copies their contiguous runs as single elements."""
    lead, inner = windows.lead, windows.lead - 1
    count = prod(windows.extents[:lead])
    if count == 1 or count * windows.row < WINDOW:
        return None
    counts = tuple(n - extent + 1 for n, extent in zip(windows.sizes[:lead], windows.extents[:lead]))
    arrange = arranging(windows, windows.batch_axes + windows.position_axes)

    def run(operand: Array, starts: Starts) -> Array:
        operand = np.ascontiguousarray(operand)
        bits = operand if operand.itemsize > 8 else operand.view(bits_dtype(operand.dtype))
        piece = f"V{windows.extents[inner] * windows.row * operand.itemsize}"
        strides = operand.strides[:lead] + operand.strides[:inner]
        view: Array = np.ndarray(counts + windows.extents[:inner], piece, bits, 0, strides)
        first, *others = windows.all_starts([x.astype(np.intp, copy=False) for x in starts])[:lead]
        found = view[(np.broadcast_to(first, windows.batch_shape or (1,)), *others)]
        return arrange(np.ascontiguousarray(found).view(operand.dtype))

    return run


def rows(windows: IndexedWindows) -> Read:
    """Read rows by their numbers, block by block if there are many."""
    arrange = arranging(windows, windows.other_axes + windows.row_axes)
    count = windows.other_shape[0] if windows.other_shape else 1
    each = prod(windows.other_shape[1:])  # rows for each index of the first axis
    step = max(1, min(BLOCK // windows.row, INDICES) // each)

    def run(operand: Array, starts: Starts) -> Array:
        table = operand.reshape(windows.table_shape)
        return arrange(table.take(windows.row_numbers(starts), 0, mode="clip"))

    def run_blockwise(operand: Array, starts: Starts) -> Array:
        table = operand.reshape(windows.table_shape)
        out = np.empty((count * each, *table.shape[1:]), table.dtype)
        for start in within_time(range(0, count, step)):
            some = slice(start, min(start + step, count))
            table.take(windows.row_numbers(starts, some), 0, out[some.start * each : some.stop * each], "clip")
        return arrange(out)

    return run_blockwise if count > step and windows.other_axes[0] in windows.batch_axes else run


def by_index(windows: IndexedWindows) -> Read | None:
    """Index each dimension, if less than the tensor is read: it need not be copied if it is not contiguous."""
    if prod(windows.shape) >= prod(windows.sizes):
        return None
    arrange = arranging(windows, windows.other_axes + windows.row_axes)

    def run(operand: Array, starts: Starts) -> Array:
        first, *others = windows.indices([x.astype(np.intp, copy=False) for x in starts])
        return arrange(operand[(np.broadcast_to(first, windows.other_shape or (1,)), *others)])

    return run


def arranging(windows: IndexedWindows, axes: Sequence[int]) -> Callable[[Array], Array]:
    """Return a function to the tensor of windows from an array with these axes of it, except for some of size 1."""
    all_axes = (*axes, *without(range(len(windows.shape)), axes))
    sizes, order = tuple(windows.shape[a] for a in all_axes), tuple(np.argsort(all_axes).tolist())
    if is_sorted(all_axes):
        return lambda x: x.reshape(sizes)
    return lambda x: x.reshape(sizes).transpose(order)
