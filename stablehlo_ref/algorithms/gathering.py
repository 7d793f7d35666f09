"""Ways to read the windows of a tensor at given starts, each the fastest for some shapes of windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from stablehlo_ref.algorithms.indexed_windows import IndexedWindows
from stablehlo_ref.numerics.dtypes import bits_dtype
from stablehlo_ref.spec import is_sorted, without

Array = Any
Starts = list[Array]
Read = Callable[[Array, Starts], Array]

BLOCK = 1 << 16  # elements that are gathered at a time, so that their indices stay in the cache
WINDOW = 32  # elements: windows of as many are read as such, smaller ones row by row


def reader(windows: IndexedWindows) -> Read:
    """Reads the windows at any starts, moved such that they are in bounds."""
    if prod(windows.batch_shape) == 1:
        return _one_window(windows)
    read, read_pieces = _of_one_piece(windows), _by_index(windows)
    few = prod(windows.shape) < prod(windows.sizes)

    def run(operand: Array, starts: Starts) -> Array:
        in_pieces = few and not operand.flags.c_contiguous
        return (read_pieces if in_pieces else read)(operand, windows.clamped(starts))

    return run


def _of_one_piece(windows: IndexedWindows) -> Read:
    """The fastest way for a tensor that lies in one piece; another one is copied first."""
    window = prod(windows.extents[: windows.lead])
    if window > 1 and _is_taking(windows):
        return _along_one_dimension(windows)
    if window == 1 or window * windows.row < WINDOW:
        return _rows(windows)
    return _windows(windows)


def _is_taking(windows: IndexedWindows) -> bool:
    """Whether the windows are all of the tensor but for one index along one dimension."""
    whole = tuple(1 if d in windows.indexed else n for d, n in enumerate(windows.sizes))
    return len(windows.indexed) == 1 and windows.extents == whole and not windows.batching_axes


def _one_window(windows: IndexedWindows) -> Read:
    """A slice, of which dimensions of size 1 come and go."""
    bounds = [(whole - n, n) for whole, n in zip(windows.sizes, windows.extents)]

    def run(operand: Array, starts: Starts) -> Array:
        place = [min(max(first, 0), last) for first, (last, _) in zip(windows.place(starts), bounds)]
        index = tuple([slice(first, first + n) for first, (_, n) in zip(place, bounds)])
        return operand[index].reshape(windows.shape).copy()

    return run


def _rows(windows: IndexedWindows) -> Read:
    """Rows by their numbers; large numbers of them block by block, so that the numbers stay in the cache."""
    placed = placing(windows, windows.other_axes + windows.row_axes)
    count = windows.other_shape[0] if windows.other_shape else 1
    each = prod(windows.other_shape[1:])  # rows for each index of the first axis
    step = max(1, BLOCK // (each * windows.row))

    def run(operand: Array, starts: Starts) -> Array:
        table = operand.reshape(windows.table_shape)
        return placed(table.take(windows.row_numbers(starts), 0, mode="clip"))

    def in_blocks(operand: Array, starts: Starts) -> Array:
        table = operand.reshape(windows.table_shape)
        out = np.empty((count * each, *table.shape[1:]), table.dtype)
        for start in range(0, count, step):
            part = slice(start, min(start + step, count))
            table.take(windows.row_numbers(starts, part), 0, out[part.start * each : part.stop * each], "clip")
        return placed(out)

    return in_blocks if count > step and windows.other_axes[0] in windows.batch_axes else run


def _along_one_dimension(windows: IndexedWindows) -> Read:
    (d,) = windows.indexed
    others = [windows.window_axes[i] for i in range(len(windows.sizes)) if i != d]
    placed = placing(windows, (*others[:d], *windows.batch_axes, *others[d:]))
    return lambda operand, starts: placed(operand.take(starts[0], d, mode="clip"))


def _windows(windows: IndexedWindows) -> Read:
    """By a view that has all windows there are; numpy copies those it is asked for, one contiguous piece at a time."""
    lead, inner = windows.lead, windows.lead - 1
    counts = tuple(n - extent + 1 for n, extent in zip(windows.sizes[:lead], windows.extents[:lead]))
    placed = placing(windows, windows.batch_axes + windows.in_window)

    def run(operand: Array, starts: Starts) -> Array:
        operand = np.ascontiguousarray(operand)
        bits = operand if operand.itemsize > 8 else operand.view(bits_dtype(operand.dtype))
        piece = f"V{windows.extents[inner] * windows.row * operand.itemsize}"
        strides = operand.strides[:lead] + operand.strides[:inner]
        view: Array = np.ndarray(counts + windows.extents[:inner], piece, bits, 0, strides)
        first, *others = windows.places(starts)[:lead]
        found = view[(np.broadcast_to(first, windows.batch_shape), *others)]
        return placed(np.ascontiguousarray(found).view(operand.dtype))

    return run


def _by_index(windows: IndexedWindows) -> Read:
    """By an index for each dimension: of a transposed operand, say, only what is read is copied."""
    placed = placing(windows, windows.other_axes + windows.row_axes)

    def run(operand: Array, starts: Starts) -> Array:
        if not windows.lead:
            return placed(np.broadcast_to(operand, windows.other_shape + windows.sizes))
        first, *others = windows.indices(starts)
        return placed(operand[(np.broadcast_to(first, windows.other_shape), *others)])

    return run


def placing(windows: IndexedWindows, found: Sequence[int]) -> Callable[[Array], Array]:
    """From an array whose dimensions are those axes of the windows' tensor, but for some of size 1, to that tensor."""
    found = (*found, *without(range(len(windows.shape)), found))
    sizes, order = tuple(windows.shape[a] for a in found), tuple(np.argsort(found).tolist())
    if is_sorted(found):
        return lambda x: x.reshape(sizes)
    return lambda x: x.reshape(sizes).transpose(order)
