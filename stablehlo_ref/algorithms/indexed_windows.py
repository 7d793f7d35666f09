"""Where the windows lie that gather reads and scatter writes, as numbers of rows of the tensor.

A row is the part of a window that lies in one piece: the trailing dimensions of the tensor that the window has as a
whole and that no index moves. In the rows of a tensor a window has the row numbers `start + offset`, of which only
`start` depends on indices. Often the row is all of a window (an embedding), often it is one element.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from math import prod
from typing import Any

import numpy as np

from stablehlo_ref.numerics.dtypes import UINT64, bits_dtype, is_sub_byte_integer
from stablehlo_ref.numerics.integers import clamp_index, unpack

Array = Any
Dims = tuple[int, ...]

FEW = 32  # numbers: fewer are compared faster as Python's
FAR = 1 << 62  # an index that is out of bounds wherever it is used, and stays so when an offset is added


@dataclass(frozen=True)
class IndexedWindows:
    """The windows of a tensor of shape `sizes`, collected in another tensor, of shape `shape`."""

    sizes: Dims
    extents: Dims  # of a window, one for each dimension of the tensor
    shape: Dims
    window_axes: Mapping[int, int]  # from dimensions of the tensor to the axes of `shape` for places in a window
    batching_axes: Mapping[int, int]  # from dimensions to the axes of `shape` whose index is that of the dimension
    indexed: Dims  # the dimensions that the components of an index are for
    index_vector_dim: int

    # --- dimensions ---------------------------------------------------------------------------------------------

    @cached_property
    def lead(self) -> int:
        """The number of dimensions in front of those that make a row."""
        for d in reversed(range(len(self.sizes))):
            if d not in self.window_axes or d in self.indexed or self.extents[d] != self.sizes[d]:
                return d + 1
        return 0

    @cached_property
    def row(self) -> int:
        """The number of elements of a row."""
        return prod(self.sizes[self.lead :])

    @cached_property
    def rows(self) -> int:
        """The number of rows of the tensor."""
        return prod(self.sizes[: self.lead])

    @cached_property
    def table_shape(self) -> Dims:
        """The tensor as rows; as elements, where they are the rows."""
        return (self.rows, self.row) if self.row > 1 else (self.rows,)

    @cached_property
    def in_window(self) -> Dims:
        """The axes of `shape` for places in a window, in order of the tensor's dimensions."""
        return tuple(self.window_axes[d] for d in sorted(self.window_axes))

    @cached_property
    def row_axes(self) -> Dims:
        return tuple(self.window_axes[d] for d in range(self.lead, len(self.sizes)))

    @cached_property
    def other_axes(self) -> Dims:
        """The axes of `shape` that are none of a row, in order."""
        return tuple(a for a in range(len(self.shape)) if a not in self.row_axes)

    @cached_property
    def batch_axes(self) -> Dims:
        """The axes of `shape` for the dimensions of the indices, but for that of their components, in order."""
        return tuple(a for a in range(len(self.shape)) if a not in self.in_window)

    @cached_property
    def batch_shape(self) -> Dims:
        return tuple(self.shape[a] for a in self.batch_axes)

    @cached_property
    def other_shape(self) -> Dims:
        return tuple(self.shape[a] for a in self.other_axes)

    # --- row numbers --------------------------------------------------------------------------------------------

    @cached_property
    def steps(self) -> Dims:
        """The distance in rows of neighbours along each dimension in front of a row."""
        return tuple(prod(self.sizes[d + 1 : self.lead]) for d in range(self.lead))

    @cached_property
    def offset(self) -> Array:
        """The part of the row numbers that depends on no index, as an array that broadcasts to `other_shape`."""
        offset = np.zeros((1,) * len(self.other_axes), np.intp)
        for d, axis in (*self.window_axes.items(), *self.batching_axes.items()):
            if d < self.lead and self.shape[axis] > 1:
                offset = offset + spread(np.arange(self.shape[axis]) * self.steps[d], [axis], self.other_axes)
        return offset

    def row_numbers(self, starts: Sequence[Array], part: slice | None = None) -> Array:
        """For each of `other_shape`, flattened, the number of its row, by the starts of windows.

        A `part` of the first of `other_axes`, which then is a batch axis, gives the numbers for that part.
        """
        offset, shape = self.offset, self.other_shape
        if part is not None:
            starts = [start[part] for start in starts]
            offset = offset[part] if len(offset) > 1 else offset
            shape = (part.stop - part.start, *shape[1:])
        if self._starts_are_numbers:
            return starts[0].reshape(-1)
        if starts:
            steps = [self.steps[d] for d in self.indexed]
            starts = [start.astype(np.intp, copy=False) for start in starts]
            first = reduce(np.add, [s if n == 1 else s * n for s, n in zip(starts, steps)])
            offset = offset + spread(first, self.batch_axes, self.other_axes)
        return np.broadcast_to(offset, shape).reshape(-1)

    @cached_property
    def _starts_are_numbers(self) -> bool:
        is_only_step = len(self.indexed) == 1 and self.steps[self.indexed[0]] == 1
        return is_only_step and self.offset.size == 1 and prod(self.batch_shape) == prod(self.other_shape)

    # --- starts -------------------------------------------------------------------------------------------------

    def components(self, indices: Array) -> list[Array]:
        """The indices' components, one array of `batch_shape` for each of the dimensions `indexed`."""
        if self.index_vector_dim == indices.ndim:
            return [indices]
        before = (slice(None),) * self.index_vector_dim
        return [indices[(*before, i)] for i in range(len(self.indexed))]

    @cached_property
    def lasts(self) -> Dims:
        """The last start in bounds for each of the dimensions `indexed`."""
        return tuple(self.sizes[d] - self.extents[d] for d in self.indexed)

    def clamped(self, starts: Sequence[Array]) -> list[Array]:
        """The starts moved such that the windows are in bounds."""
        return list(map(_clamped, starts, self.lasts))

    def in_bounds(self, starts: Sequence[Array]) -> Array | None:
        """Which of `other_shape`, flattened, are in bounds, by starts of dtype intp; None if all are."""
        within: Any = True
        for start, d, last in zip(starts, self.indexed, self.lasts):
            if not _all_up_to(start, last):
                place = spread(start, self.batch_axes, self.other_axes)
                if d in self.window_axes:
                    place = place + spread(np.arange(self.extents[d]), [self.window_axes[d]], self.other_axes)
                within = within & (place >= 0) & (place < self.sizes[d])
        return None if within is True else np.broadcast_to(within, self.other_shape).reshape(-1)

    def place(self, starts: Sequence[Array]) -> list[int]:
        """Where the only window starts, in each dimension of the tensor."""
        place = [0] * len(self.sizes)
        for d, start in zip(self.indexed, starts):
            place[d] = int(start.item())
        return place

    def places(self, starts: Sequence[Array]) -> list[Array]:
        """For each dimension of the tensor where the windows start, as arrays that broadcast to `batch_shape`."""
        fixed = {d: spread(np.arange(self.shape[a]), [a], self.batch_axes) for d, a in self.batching_axes.items()}
        places = fixed | dict(zip(self.indexed, starts))
        return [places.get(d, np.zeros((1,) * len(self.batch_axes), np.intp)) for d in range(len(self.sizes))]

    def indices(self, starts: Sequence[Array]) -> tuple[Array, ...]:
        """The indices into the dimensions in front of a row, as arrays that broadcast to `other_shape`."""
        indices = [spread(place, self.batch_axes, self.other_axes) for place in self.places(starts)[: self.lead]]
        for d, axis in self.window_axes.items():
            if d < self.lead:
                indices[d] = indices[d] + spread(np.arange(self.extents[d]), [axis], self.other_axes)
        return tuple(indices)


def spread(numbers: Array, axes: Sequence[int], all_axes: Sequence[int]) -> Array:
    """An array with dimensions for `axes` of `all_axes`, in order, with dimensions of size 1 for the others too."""
    sizes = iter(numbers.shape)
    return numbers.reshape([next(sizes) if a in axes else 1 for a in all_axes])


def signed(start: Array) -> Array:
    """Indices of any integer dtype as intp, those too large for it as `FAR`."""
    if is_sub_byte_integer(start.dtype):
        start = unpack(start.dtype)(start)
    return (np.minimum(start, UINT64.type(FAR)) if start.dtype == UINT64 else start).astype(np.intp, copy=False)


def _clamped(start: Array, last: int) -> Array:
    """Of `start`'s own dtype where nothing is to be done, for numpy takes indices of most."""
    if start.dtype != UINT64 and not is_sub_byte_integer(start.dtype) and _all_up_to(start, last):
        return start
    return clamp_index(start, last)


def _all_up_to(start: Array, last: int) -> bool:
    """Whether `0 <= start <= last` for all of them, and there is one; as unsigned, negative numbers are large ones."""
    if start.size < FEW:
        numbers = start.reshape(-1).tolist()
        return bool(numbers) and 0 <= min(numbers) and max(numbers) <= last
    if start.dtype.kind == "i":
        last = min(last, int(np.iinfo(start.dtype).max))
    return int(start.view(bits_dtype(start.dtype)).max()) <= last
