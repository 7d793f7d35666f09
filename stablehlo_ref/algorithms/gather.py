"""Implementations of gather: read the windows of a tensor at given starts, each fastest for some shapes of windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TypeAlias

import numpy as np

from stablehlo_ref.algorithms.indexed_windows import IndexedWindows
from stablehlo_ref.budget import within_time
from stablehlo_ref.define.spec import is_sorted, without
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.dtypes import bits_dtype

Starts: TypeAlias = list[Array]
Read: TypeAlias = Callable[[Array, Starts], Array]

BLOCK = 1 << 16  # elements gathered at a time
INDICES = 1 << 14  # rows gathered at a time at most, so that their numbers stay in the cache
WINDOW = 32  # elements: windows of at least this size are copied as a whole, smaller ones row by row


def window_reader(windows: IndexedWindows) -> Read:
    """Return a function that reads the windows at any starts, which are clamped so that windows are in bounds."""
    if prod(windows.batch_shape) == 1:
        return _one_window(windows)
    read, read_strided = _contiguous_reader(windows), _by_index(windows)
    is_small = prod(windows.shape) < prod(windows.sizes)

    def run(operand: Array, starts: Starts) -> Array:
        use_strides = is_small and not operand.flags.c_contiguous
        return (read_strided if use_strides else read)(operand, windows.clamped(starts))

    return _few_rows(windows, run) if windows.are_few else run


def _few_rows(windows: IndexedWindows, general: Read) -> Read:
    """Read the rows of few windows; `general` does so if the operand is not contiguous."""
    arrange = arranging(windows, windows.other_axes + windows.row_axes)

    def run(operand: Array, starts: Starts) -> Array:
        numbers = windows.few_row_numbers(starts, clamp=True)
        if numbers is None or not operand.flags.c_contiguous:
            return general(operand, starts)
        return arrange(operand.reshape(windows.table_shape).take(numbers, 0, mode="clip"))

    return run


def _contiguous_reader(windows: IndexedWindows) -> Read:
    """Return the fastest implementation for contiguous tensors. Other tensors are copied first."""
    window = prod(windows.extents[: windows.lead])
    if window > 1 and _is_take(windows):
        return _along_one_dimension(windows)
    if window == 1 or window * windows.row < WINDOW:
        return _rows(windows)
    return _windows(windows)


def _is_take(windows: IndexedWindows) -> bool:
    """Return whether the windows are slices of size 1 along one dimension and whole along the others, as in np.take."""
    whole = tuple(1 if d in windows.indexed else n for d, n in enumerate(windows.sizes))
    return len(windows.indexed) == 1 and windows.extents == whole and not windows.batching_axes


def _one_window(windows: IndexedWindows) -> Read:
    """Read the only window as a slice."""
    bounds = [(whole - n, n) for whole, n in zip(windows.sizes, windows.extents)]

    def run(operand: Array, starts: Starts) -> Array:
        clamped = [min(max(first, 0), last) for first, (last, _) in zip(windows.start_of_one(starts), bounds)]
        index = tuple([slice(first, first + n) for first, (_, n) in zip(clamped, bounds)])
        return operand[index].reshape(windows.shape).copy()

    return run


def _rows(windows: IndexedWindows) -> Read:
    """Read rows by their numbers, block by block if there are many, so that the numbers stay in the cache."""
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
            part = slice(start, min(start + step, count))
            table.take(windows.row_numbers(starts, part), 0, out[part.start * each : part.stop * each], "clip")
        return arrange(out)

    return run_blockwise if count > step and windows.other_axes[0] in windows.batch_axes else run


def _along_one_dimension(windows: IndexedWindows) -> Read:
    """Read slices along one dimension with np.take."""
    (d,) = windows.indexed
    others = [windows.window_axes[i] for i in range(len(windows.sizes)) if i != d]
    arrange = arranging(windows, (*others[:d], *windows.batch_axes, *others[d:]))
    return lambda operand, starts: arrange(operand.take(starts[0], d, mode="clip"))


def _windows(windows: IndexedWindows) -> Read:
    """Index a strided view of all windows, whose contiguous parts numpy copies as single elements."""
    lead, inner = windows.lead, windows.lead - 1
    counts = tuple(n - extent + 1 for n, extent in zip(windows.sizes[:lead], windows.extents[:lead]))
    arrange = arranging(windows, windows.batch_axes + windows.position_axes)

    def run(operand: Array, starts: Starts) -> Array:
        operand = np.ascontiguousarray(operand)
        bits = operand if operand.itemsize > 8 else operand.view(bits_dtype(operand.dtype))
        piece = f"V{windows.extents[inner] * windows.row * operand.itemsize}"
        strides = operand.strides[:lead] + operand.strides[:inner]
        view: Array = np.ndarray(counts + windows.extents[:inner], piece, bits, 0, strides)
        first, *others = windows.all_starts([x.astype(np.intp, copy=False) for x in starts])[:lead]
        found = view[(np.broadcast_to(first, windows.batch_shape), *others)]
        return arrange(np.ascontiguousarray(found).view(operand.dtype))

    return run


def _by_index(windows: IndexedWindows) -> Read:
    """Index each dimension, which copies no more than what is read, for example of a transposed operand."""
    arrange = arranging(windows, windows.other_axes + windows.row_axes)

    def run(operand: Array, starts: Starts) -> Array:
        if not windows.lead:
            return arrange(np.broadcast_to(operand, windows.other_shape + windows.sizes))
        first, *others = windows.indices([x.astype(np.intp, copy=False) for x in starts])
        return arrange(operand[(np.broadcast_to(first, windows.other_shape), *others)])

    return run


def arranging(windows: IndexedWindows, axes: Sequence[int]) -> Callable[[Array], Array]:
    """Return a function to the tensor of windows from an array with these axes of it, except for some of size 1."""
    all_axes = (*axes, *without(range(len(windows.shape)), axes))
    sizes, order = tuple(windows.shape[a] for a in all_axes), tuple(np.argsort(all_axes).tolist())
    if is_sorted(all_axes):
        return lambda x: x.reshape(sizes)
    return lambda x: x.reshape(sizes).transpose(order)
