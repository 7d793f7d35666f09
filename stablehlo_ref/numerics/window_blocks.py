"""Matrices of windows, for convolution: the order of their rows and terms, and the blocks that are copied at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, product
from math import ceil, prod
from typing import TypeAlias

from stablehlo_ref.numerics.contraction import Axes, Sizes, identity, matrices
from stablehlo_ref.numerics.kernels import ArrayKernel
from stablehlo_ref.numerics.window_views import (
    BATCH,
    FEATURE,
    OUTPUT_FEATURE,
    Convolution,
    Index,
    runs_along_windows,
)

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
class Block:
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


def blocks(layout: Layout, rows: Sequence[Piece], terms: Sequence[Piece]) -> Iterator[Block]:
    """Yield the blocks of all pairs of pieces."""
    for (row_index, count, _), (term_index, length, first) in product(rows, terms):
        windows, matrix = row_index + term_index, (count, length)
        if not layout.rows_first:
            windows, matrix = term_index + row_index, (length, count)
        sums = (*row_index[: layout.feature_position], slice(None), *row_index[layout.feature_position :])
        yield Block(windows, matrix, slice(first, first + length), sums, first > 0)


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
