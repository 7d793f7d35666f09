"""Windows of arrays, for convolution: their positions, strided views of all windows, and matrices of them.

The view of all windows has two axes for each spatial axis of the array: the index of the window, and the index of the
element in the window. Together with the batch and the input features these are the axes of the products that are
summed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, product
from math import ceil, gcd, prod
from typing import Any, TypeAlias

import numpy as np
from numpy.lib.stride_tricks import as_strided

from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.numerics.contraction import Arithmetic, Axes, Sizes, identity, matrices
from stablehlo_ref.numerics.kernels import ArrayKernel, into_form

Index: TypeAlias = tuple[Any, ...]

BATCH, FEATURE, SPATIAL = 0, 1, 2  # axes of canonical arrays; spatial axes start at 2
OUTPUT_FEATURE = BATCH  # the axis of kernels at the position of the batch


@dataclass(frozen=True)
class Window:
    """The windows along one spatial axis of an array of `size` elements.

    Element `k` of window `o` is element `(o * stride + k * dilation - low) / base_dilation` of the array, or else zero.
    """

    size: int
    count: int
    length: int
    low: int
    stride: int
    dilation: int
    base_dilation: int = 1

    @property
    def extent(self) -> int:
        """The number of positions from the first element of the first window to the last element of the last window."""
        return (self.count - 1) * self.stride + (self.length - 1) * self.dilation + 1

    def placement(self) -> tuple[slice, slice]:
        """Return the elements of the array that are within the extent, and their positions in it."""
        first = max(0, ceil(-self.low / self.base_dilation))
        stop = max(first, min(self.size, (self.extent - 1 - self.low) // self.base_dilation + 1))
        start = self.low + first * self.base_dilation
        return slice(first, stop), slice(start, start + (stop - first) * self.base_dilation, self.base_dilation)

    @property
    def is_filled(self) -> bool:
        """Whether the whole extent consists of elements of the array."""
        elements, positions = self.placement()
        return self.base_dilation == 1 and elements.stop - elements.start == self.extent and positions.start == 0

    def phases(self) -> Iterator[tuple[slice, slice, Window]]:
        """Yield windows without base dilation that together have all elements of these windows that are not padding.

        Each comes with the slices of windows and of elements that it represents.
        """
        base = self.base_dilation
        every, each = base // gcd(self.stride, base), base // gcd(self.dilation, base)
        for o, k in product(range(min(every, self.count)), range(min(each, self.length))):
            first = o * self.stride + k * self.dilation - self.low
            if first % base == 0:
                count, length = ceil((self.count - o) / every), ceil((self.length - k) / each)
                stride, dilation = every * self.stride // base, each * self.dilation // base
                phase = Window(self.size, count, length, -(first // base), stride, dilation)
                yield slice(o, None, every), slice(k, None, each), phase


@dataclass(frozen=True)
class Convolution:
    """The sizes and dimension orders of a convolution. An order has the canonical axis of each dimension of an array.

    The canonical axes are batch, input feature, spatial axes for arrays; batch, output feature, spatial axes for
    results; and output feature, input feature, spatial axes for kernels. Groups split the axis `grouped` of the array,
    batch or feature, and the output features. `batch`, `features` and `outputs` are the sizes in one group.
    """

    windows: tuple[Window, ...]
    batch: int
    features: int
    outputs: int
    groups: int
    grouped: int
    lhs_order: Axes
    rhs_order: Axes
    result_order: Axes

    @property
    def terms(self) -> int:
        """The number of products in a sum."""
        return self.features * prod(w.length for w in self.windows)

    @property
    def sizes(self) -> Sizes:
        """The sizes of the axes of products in one group: batch, input features, windows, elements of a window."""
        windows = self.windows
        return (self.batch, self.features, *(w.count for w in windows), *(w.length for w in windows))

    @property
    def result_sizes(self) -> Sizes:
        sizes = (self.batch, self.groups * self.outputs, *(w.count for w in self.windows))
        return tuple(sizes[axis] for axis in self.result_order)

    @property
    def lhs_sizes(self) -> Sizes:
        return self._array_sizes(*(w.size for w in self.windows))

    @property
    def padded_sizes(self) -> Sizes:
        """The sizes of the array with its padding, and without what no window has."""
        return self._array_sizes(*(w.extent for w in self.windows))

    def _array_sizes(self, *spatial: int) -> Sizes:
        splits = [self.groups if self.grouped == axis else 1 for axis in (BATCH, FEATURE)]
        sizes = (self.batch * splits[BATCH], self.features * splits[FEATURE], *spatial)
        return tuple(sizes[axis] for axis in self.lhs_order)

    @property
    def rhs_sizes(self) -> Sizes:
        sizes = (self.groups * self.outputs, self.features, *(w.length for w in self.windows))
        return tuple(sizes[axis] for axis in self.rhs_order)

    def element_axis(self, axis: int) -> int:
        """Return the axis of products for a canonical axis of kernels other than output features."""
        return axis if axis == FEATURE else axis + len(self.windows)


# --- the view of all windows ----------------------------------------------------------------------------------------


def canonical(order: Axes) -> Axes:
    """Return the permutation from dimensions in this order to the canonical array."""
    return tuple(order.index(axis) for axis in range(len(order)))


def view_of_windows(
    c: Convolution, load: ArrayKernel = identity, dtype: DType | None = None, batch: slice = slice(None)
) -> Callable[[Array], Array]:
    """Return a function from arrays to views with axes group, batch, input feature, windows, elements of windows.

    They are views of a range of the `batch`, or of a copy of it that is padded, and converted to `dtype` by `load`.
    """
    permutation = canonical(c.lhs_order)
    placements = [w.placement() for w in c.windows]
    every = slice(None)
    elements = in_order((batch, every, *(elements for elements, _ in placements)), c.lhs_order)
    positions = in_order((every, every, *(positions for _, positions in placements)), c.lhs_order)
    is_filled, into = all(w.is_filled for w in c.windows), into_form(load)
    group = c.batch if c.grouped == BATCH else c.features
    shape, padded_sizes = (c.groups, *c.sizes), c.padded_sizes

    def padded(x: Array) -> Array:
        result = np.zeros(padded_sizes, dtype or x.dtype)
        if into is not None:
            into(x, out=result[positions])
        else:
            result[positions] = load(x)
        return result

    def view(x: Array) -> Array:
        x = (load(x[elements]) if is_filled else padded(x[elements])).transpose(permutation)
        batch, feature, *spatial = x.strides
        steps = [s * w.stride for s, w in zip(spatial, c.windows)], [s * w.dilation for s, w in zip(spatial, c.windows)]
        strides = (x.strides[c.grouped] * group, batch, feature, *steps[0], *steps[1])
        return as_strided(x, shape, strides, writeable=False)

    return view


def in_order(canonical: Index, order: Axes) -> Index:
    """Return the index of an array whose dimensions are in this order, given that of the canonical array."""
    return tuple(canonical[axis] for axis in order)


def runs_along_windows(c: Convolution) -> bool:
    """Return whether contiguous runs of windows are longer in memory than contiguous runs of elements of a window."""
    splits = [c.groups if c.grouped == axis else 1 for axis in (BATCH, FEATURE)]
    sizes = (c.batch * splits[BATCH], c.features * splits[FEATURE], *(w.size for w in c.windows))
    innermost = [axis for axis in c.lhs_order if sizes[axis] > 1][-1:] or [FEATURE]
    if innermost[0] < SPATIAL:
        return innermost[0] == BATCH
    w = c.windows[innermost[0] - SPATIAL]
    return w.count / min(w.stride, 2) >= w.length / min(w.dilation, 2)


# --- slabs: parts of the batch, or of the windows along one axis, padded and converted in turn ----------------------

SLAB_BYTES = 1 << 20  # of the padded and converted slab of the array, so that it is still in the cache when it is read
MOST_OVERLAP = 4  # a slab has at least so many times the elements along its axis that it shares with the next one


def slab_step(c: Convolution, axis: int, arithmetic: Arithmetic) -> int:
    """Return how many indices of the batch, or windows along `axis`, to compute at a time: all if slabs save nothing.

    `axis` is that of results in the canonical order.
    """
    count, each = c.sizes[axis], _bytes(c, arithmetic) // max(1, c.sizes[axis])
    if each == 0 or (axis == BATCH == c.grouped and c.groups > 1):
        return count
    some = max(1, SLAB_BYTES // each)
    if axis >= SPATIAL:
        w = c.windows[axis - SPATIAL]
        some = max(some, MOST_OVERLAP * ((w.length - 1) * w.dilation + 1 - w.stride) // w.stride)
    return min(some, count)


def slab_of(c: Convolution, axis: int, start: int, stop: int) -> Convolution:
    """Return the convolution that computes the results from `start` to `stop` along `axis`.

    For slabs of the batch, that is the convolution of this range of the array, and else of the whole array.
    """
    if axis == BATCH:
        return replace(c, batch=stop - start)
    windows, j = list(c.windows), axis - SPATIAL
    windows[j] = replace(windows[j], count=stop - start, low=windows[j].low - start * windows[j].stride)
    return replace(c, windows=tuple(windows))


def view_of_slab(c: Convolution, axis: int, start: int, stop: int, arithmetic: Arithmetic) -> ArrayKernel:
    """Return a function from an array to a view of the windows of a slab, padded and converted."""
    batch = slice(start, stop) if axis == BATCH and stop - start < c.batch else slice(None)
    return view_of_windows(slab_of(c, axis, start, stop), arithmetic.load_lhs, arithmetic.dtype, batch)


def slab_bytes(c: Convolution, arithmetic: Arithmetic, axis: int, step: int) -> int:
    """Return the bytes of a slab of the array that is padded and converted, and of the sums of a slab."""
    return _bytes(slab_of(c, axis, 0, step), arithmetic)


def store_sums(arithmetic: Arithmetic, sums: Array, results: Array) -> None:
    """Convert `sums` to `results`, an array of the same shape."""
    into = into_form(arithmetic.store)
    if into is not None:
        into(sums, out=results)
    else:
        results[...] = arithmetic.store(sums)


def _bytes(c: Convolution, arithmetic: Arithmetic) -> int:
    """Return the bytes of the padded and converted array, and of sums that are converted; 0 if both are used as is."""
    copies = 0 if all(w.is_filled for w in c.windows) and arithmetic.load_lhs is identity else prod(c.padded_sizes)
    sums = 0 if arithmetic.store is identity else prod(c.result_sizes)
    return (copies + sums) * arithmetic.dtype.itemsize


# --- matrices of windows: the order of their rows and terms, and the blocks that are copied at a time ---------------

Piece: TypeAlias = tuple[Index, int, int]  # of an array: the index, the number of elements, and the first element


@dataclass(frozen=True)
class Layout:
    """The order in which the axes of products are copied: axes of rows and of terms, and which of them come first."""

    rows: Axes
    terms: Axes
    rows_first: bool
    feature_position: int  # of the output features among the axes of rows in the sums

    @property
    def order(self) -> Axes:
        return self.rows + self.terms if self.rows_first else self.terms + self.rows

    @property
    def singles(self) -> int:
        """The number of axes that are split into single indices, so that the sums of a block are a matrix."""
        return self.feature_position if self.feature_position < len(self.rows) else 0

    def with_features(self, rows: Sizes, *features: int) -> Sizes:
        """Insert sizes (or axes) of the output features into those of the rows."""
        return (*rows[: self.feature_position], *features, *rows[self.feature_position :])


@dataclass(frozen=True)
class WindowBlock:
    """A range of the rows and terms of one group."""

    windows: Index  # into the view of windows
    matrix: Sizes  # of the copy
    terms: slice
    sums: Index
    adds: bool  # whether the sums contain earlier terms


def kernel_matrix(c: Convolution, terms: Axes) -> ArrayKernel:
    """Return a function from kernels to a matrix of terms, in this order, by output features."""
    dimension = {c.element_axis(axis): d for d, axis in enumerate(c.rhs_order) if axis != OUTPUT_FEATURE}
    arranged = matrices(c.rhs_sizes, (), tuple(dimension[axis] for axis in terms), rows_first=False)
    return arranged or identity


def layout_of(c: Convolution) -> Layout:
    """Choose axis orders: the last axes of the copy follow the array, other rows the result, and terms the kernels."""
    lhs_rows = tuple(axis for axis in c.lhs_order if axis != FEATURE)
    result_rows = tuple(axis for axis in c.result_order if axis != FEATURE)
    lhs_terms = tuple(c.element_axis(axis) for axis in c.lhs_order if axis != BATCH)
    rhs_terms = tuple(c.element_axis(axis) for axis in c.rhs_order if axis != OUTPUT_FEATURE)
    rows_first = not runs_along_windows(c)
    rows = result_rows if rows_first or _last(result_rows, c.sizes) == _last(lhs_rows, c.sizes) else lhs_rows
    terms = lhs_terms if rows_first and _last(rhs_terms, c.sizes) != _last(lhs_terms, c.sizes) else rhs_terms
    return Layout(rows, terms, rows_first, c.result_order.index(FEATURE) if rows == result_rows else len(rows))


def _last(axes: Axes, sizes: Sizes) -> Axes:
    return tuple(axis for axis in axes if sizes[axis] > 1)[-1:]


def blocks(layout: Layout, rows: Sequence[Piece], terms: Sequence[Piece]) -> Iterator[WindowBlock]:
    """Yield the blocks of all pairs of pieces."""
    for (row_index, count, _), (term_index, length, first) in product(rows, terms):
        windows, matrix = row_index + term_index, (count, length)
        if not layout.rows_first:
            windows, matrix = term_index + row_index, (length, count)
        sums = (*row_index[: layout.feature_position], slice(None), *row_index[layout.feature_position :])
        yield WindowBlock(windows, matrix, slice(first, first + length), sums, first > 0)


def pieces(sizes: list[int], singles: int, limit: float) -> Iterator[Piece]:
    """Split an array of these sizes into contiguous pieces of at most `limit` elements if possible.

    The first `singles` axes are split into single indices. Yields the index, size and first element of each piece.
    """
    axis = singles
    while axis < len(sizes) - 1 and prod(sizes[axis + 1 :]) > limit:
        axis += 1
    inner, rest = prod(sizes[axis + 1 :]), (slice(None),) * (len(sizes) - axis - 1)
    size = sizes[axis] if sizes else 1
    count = ceil(size / max(1, min(size, limit // inner)))
    step = ceil(size / count)
    begin = 0
    for outer in product(*map(range, sizes[:axis])):
        for start in range(0, size, step):
            stop = min(start + step, size)
            yield (*outer, slice(start, stop), *rest), (stop - start) * inner, begin
            begin += (stop - start) * inner


def rows_by_slabs(
    c: Convolution, layout: Layout, position: int, step: int, limit: float
) -> Iterator[tuple[int, int, list[Piece]]]:
    """Yield the pieces of rows of each slab, by index in the slab, with its first and last index at `position`."""
    sizes = [c.sizes[axis] for axis in layout.rows]
    for _, group in groupby(
        pieces(sizes, layout.singles, limit), lambda piece: _range(piece, position, sizes)[0] // step
    ):
        of_slab = list(group)
        start, stop = _range(of_slab[0], position, sizes)[0], _range(of_slab[-1], position, sizes)[1]
        yield start, stop, [_moved(piece, position, start) for piece in of_slab]


def _range(piece: Piece, position: int, sizes: Sequence[int]) -> tuple[int, int]:
    """Return the indices at a position that a piece has."""
    index = piece[0][position]
    if isinstance(index, int):
        return index, index + 1
    return (0, sizes[position]) if index == slice(None) else (index.start, index.stop)


def _moved(piece: Piece, position: int, start: int) -> Piece:
    """Return the piece with its index at a position relative to `start`."""
    index, count, first = piece
    new = index[position]
    if new != slice(None):
        new = new - start if isinstance(new, int) else slice(new.start - start, new.stop - start)
    return (*index[:position], new, *index[position + 1 :]), count, first
