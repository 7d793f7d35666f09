"""Windows that gather reads and scatter writes: their positions as row numbers of the tensor, and how they are read.

A row is what is contiguous in a window: the trailing dimensions that the window covers completely and that are not
indexed. A tensor is a table of rows; a window has the row numbers `start + offset`, where only `start` depends on
indices. A row can be a whole window (an embedding lookup) or a single element.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, TypeAlias

import numpy as np

from stablehlo_ref.define.attribute_codecs import Dims
from stablehlo_ref.define.spec import is_sorted, without
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.limits.budget import reserve, within_time
from stablehlo_ref.numerics.dtypes import UINT64, bits_dtype, is_sub_byte_integer
from stablehlo_ref.numerics.integers import clamp_index, unpack
from stablehlo_ref.numerics.layout import contiguous

Index: TypeAlias = tuple[Any, ...]  # of integers and slices

OUT_OF_BOUNDS = 1 << 62  # an index that is out of bounds for every size, also after an offset is added


@dataclass(frozen=True)
class IndexedWindows:
    """Windows of a tensor of shape `sizes`, and the tensor of shape `shape` that contains all of them."""

    sizes: Dims
    extents: Dims  # sizes of a window, one for each dimension of the tensor
    shape: Dims
    window_axes: Mapping[int, int]  # from dimensions of the tensor to the axes of `shape` for positions in a window
    batching_axes: Mapping[int, int]  # from dimensions of the tensor to the axes of `shape` with the same index
    indexed: Dims  # the dimensions that the components of an index refer to

    # --- dimensions ---------------------------------------------------------------------------------------------

    @cached_property
    def lead(self) -> int:
        """The number of dimensions before those of a row."""
        for d in reversed(range(len(self.sizes))):
            if d not in self.window_axes or d in self.indexed or self.extents[d] != self.sizes[d]:
                return d + 1
        return 0

    @cached_property
    def row(self) -> int:
        """The number of elements in a row."""
        return prod(self.sizes[self.lead :])

    @cached_property
    def rows(self) -> int:
        """The number of rows in the tensor."""
        return prod(self.sizes[: self.lead])

    @cached_property
    def table_shape(self) -> Dims:
        """The shape of the tensor as a table of rows, 1-dimensional if rows are elements."""
        return (self.rows, self.row) if self.row > 1 else (self.rows,)

    @cached_property
    def position_axes(self) -> Dims:
        """The axes of `shape` for positions in a window, in order of the tensor's dimensions."""
        return tuple(self.window_axes[d] for d in sorted(self.window_axes))

    @cached_property
    def row_axes(self) -> Dims:
        return tuple(self.window_axes[d] for d in range(self.lead, len(self.sizes)))

    @cached_property
    def other_axes(self) -> Dims:
        """The axes of `shape` that are not axes of a row, in order."""
        return tuple(a for a in range(len(self.shape)) if a not in self.row_axes)

    @cached_property
    def batch_axes(self) -> Dims:
        """The axes of `shape` for the dimensions of the indices except `index_vector_dim`, in order."""
        return tuple(a for a in range(len(self.shape)) if a not in self.position_axes)

    @cached_property
    def batch_shape(self) -> Dims:
        return tuple(self.shape[a] for a in self.batch_axes)

    @cached_property
    def other_shape(self) -> Dims:
        return tuple(self.shape[a] for a in self.other_axes)

    # --- row numbers --------------------------------------------------------------------------------------------

    @cached_property
    def steps(self) -> Dims:
        """The distance in rows between adjacent elements along each dimension before those of a row."""
        return tuple(prod(self.sizes[d + 1 : self.lead]) for d in range(self.lead))

    @cached_property
    def offset(self) -> Array:
        """The row numbers without what depends on indices, as an array that broadcasts to `other_shape`."""
        offset = np.zeros((1,) * len(self.other_axes), np.intp)
        for d, axis in (*self.window_axes.items(), *self.batching_axes.items()):
            if d < self.lead and self.shape[axis] > 1:
                offset = offset + broadcastable(np.arange(self.shape[axis]) * self.steps[d], [axis], self.other_axes)
        return offset

    def row_numbers(self, starts: Sequence[Array], some: slice | None = None) -> Array:
        """Return the row number for each element of `other_shape`, flattened, given the starts of windows.

        They are of dtype intp; some are starts themselves, of their dtype. Those of windows that are not in bounds are
        arbitrary: callers clamp starts first, or leave out the elements that are not `in_bounds`. With `some`, a range
        of the first of `other_axes`, which must be a batch axis, return the numbers of that range.
        """
        numbers, sizes = self.offset, self.other_shape
        if some is not None:
            starts, sizes = [start[some] for start in starts], (some.stop - some.start, *sizes[1:])
            numbers = numbers[some] if len(numbers) > 1 else numbers
        if self.starts_are_numbers:
            return starts[0].reshape(-1)
        for start, d in zip(starts, self.indexed):
            if (step := self.steps[d]) > 1:
                start = np.multiply(start, step, dtype=np.intp)  # no warning, also of scalars
            numbers = np.add(numbers, broadcastable(start, self.batch_axes, self.other_axes), dtype=np.intp)
        return (numbers if numbers.shape == sizes else np.broadcast_to(numbers, sizes)).reshape(-1)

    @cached_property
    def starts_are_numbers(self) -> bool:
        """Whether row numbers are starts, which need no memory."""
        is_only_step = len(self.indexed) == 1 and self.steps[self.indexed[0]] == 1
        return is_only_step and self.offset.size == 1 and prod(self.batch_shape) == prod(self.other_shape)

    # --- starts -------------------------------------------------------------------------------------------------

    @cached_property
    def lasts(self) -> Dims:
        """The largest start in bounds for each of the dimensions `indexed`."""
        return tuple(self.sizes[d] - self.extents[d] for d in self.indexed)

    def clamped(self, starts: Sequence[Array]) -> list[Array]:
        """Return starts clamped so that windows are in bounds."""
        return list(map(_clamped, starts, self.lasts))

    def in_bounds(self, starts: Sequence[Array]) -> Array | None:
        """Return which elements of `other_shape`, flattened, are in bounds, given si32 or intp starts; None if all."""
        within: Array | bool = True
        for start, d, last in zip(starts, self.indexed, self.lasts):
            if not _all_up_to(start, last):
                position = broadcastable(start, self.batch_axes, self.other_axes)
                if d in self.window_axes:
                    position = position + broadcastable(
                        np.arange(self.extents[d]), [self.window_axes[d]], self.other_axes
                    )
                within = within & (position >= 0) & (position < self.sizes[d])
        return None if within is True else np.broadcast_to(within, self.other_shape).reshape(-1)

    def all_starts(self, starts: Sequence[Array]) -> list[Array]:
        """Return starts for each dimension of the tensor, as arrays that broadcast to `batch_shape`."""
        fixed = {
            d: broadcastable(np.arange(self.shape[a]), [a], self.batch_axes) for d, a in self.batching_axes.items()
        }
        by_dimension = fixed | dict(zip(self.indexed, starts))
        return [by_dimension.get(d, np.zeros((1,) * len(self.batch_axes), np.intp)) for d in range(len(self.sizes))]


def index_components(indices: Array, index_vector_dim: int) -> list[Array]:
    """Return the components of indices, each an array with one element per index."""
    if index_vector_dim == indices.ndim:
        return [indices]
    before: Index = (slice(None),) * index_vector_dim
    return [indices[(*before, i)] for i in range(indices.shape[index_vector_dim])]


def broadcastable(numbers: Array, axes: Sequence[int], all_axes: Sequence[int]) -> Array:
    """Reshape an array with dimensions for `axes`, in order, to one for `all_axes`, with size 1 for the others."""
    sizes = iter(numbers.shape)
    return numbers.reshape([next(sizes) if a in axes else 1 for a in all_axes])


def signed(start: Array) -> Array:
    """Return indices of any integer dtype as intp; those too large for it become `OUT_OF_BOUNDS`."""
    if is_sub_byte_integer(start.dtype):
        start = unpack(start.dtype)(start)
    if start.dtype == UINT64:
        start = np.minimum(start, UINT64.type(OUT_OF_BOUNDS))
    return start.astype(np.intp, copy=False)


def _clamped(start: Array, last: int) -> Array:
    """Clamp starts to [0, last]. Starts in bounds keep their dtype, as numpy accepts indices of most integer dtypes."""
    if start.dtype != UINT64 and not is_sub_byte_integer(start.dtype) and _all_up_to(start, last):
        return start
    return clamp_index(start, last)


def _all_up_to(start: Array, last: int) -> bool:
    """Return whether there are any starts and all are in [0, last]; negative starts are large when read as unsigned."""
    if not start.size:
        return False
    if start.dtype.kind == "i":
        last = min(last, int(np.iinfo(start.dtype).max))
    return int(start.view(bits_dtype(start.dtype)).max()) <= last


# --- reading --------------------------------------------------------------------------------------------------------

Starts: TypeAlias = list[Array]  # the components of all start_index, of any integer dtype
Read: TypeAlias = Callable[[Array, Starts], Array]

BLOCK = 1 << 16  # elements gathered at a time
INDICES = 1 << 14  # rows gathered at a time at most, so that their numbers need little memory
WINDOW = 32  # elements: windows of at least this size are copied as a whole, smaller ones row by row


def window_reader(windows: IndexedWindows) -> Read:
    """Return a function that reads the windows at any starts, which are clamped so that windows are in bounds."""
    read = whole_windows(windows) or rows(windows)

    def run(operand: Array, starts: Starts) -> Array:
        if not operand.flags.c_contiguous:
            reserve(0, operand.nbytes)
            operand = contiguous(operand)
        return read(operand, windows.clamped(starts))

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


def arranging(windows: IndexedWindows, axes: Sequence[int]) -> Callable[[Array], Array]:
    """Return a function to the tensor of windows from an array with these axes of it, except for some of size 1."""
    all_axes = (*axes, *without(range(len(windows.shape)), axes))
    sizes, order = tuple(windows.shape[a] for a in all_axes), tuple(np.argsort(all_axes).tolist())
    if is_sorted(all_axes):
        return lambda x: x.reshape(sizes)
    return lambda x: x.reshape(sizes).transpose(order)
