"""Sums of products of windows and kernels, for convolution.

Of the axes of the products (`window_views`), the batch and the windows are the rows of a matrix, and the input features
and the elements of a window are its terms. Blocks of that matrix are copied in the order of the array in memory, and
multiplied with the kernels in the order of the result. Where matrices are slower, products are summed by elementwise
operations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, product
from math import ceil, prod
from typing import Any, TypeAlias

import numpy as np

from stablehlo_ref import mode
from stablehlo_ref.budget import within_time
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.numerics import window_parts, window_sums
from stablehlo_ref.numerics.contraction import (
    Arithmetic,
    Axes,
    Sizes,
    arithmetic,
    converted_bytes,
    elementwise_arithmetic,
    for_products,
    identity,
    matrices,
)
from stablehlo_ref.numerics.dtypes import kind
from stablehlo_ref.numerics.kernels import ArrayKernel
from stablehlo_ref.numerics.wide_products import converts_to_floats, product_by_rows
from stablehlo_ref.numerics.window_views import (
    BATCH,
    FEATURE,
    OUTPUT_FEATURE,
    Convolution,
    Index,
    Window,
    in_order,
    runs_along_windows,
)

Prepared: TypeAlias = Array | list[Any]  # kernels as `Multiply` takes them: a matrix, or one for each phase
Prepare: TypeAlias = Callable[[Array], Prepared]
Multiply: TypeAlias = Callable[[Array, Any], Array]  # of an array and prepared kernels
Method: TypeAlias = Callable[[Convolution], window_sums.Sums]
_Piece: TypeAlias = tuple[Index, int, int]  # of an array: the index, the number of elements, and the first element
MultiplyBlock: TypeAlias = Callable[[Array, Array, Array, bool], None]  # block, kernels, sums, whether to add

BLOCK_BYTES = 1 << 21  # of a copy of windows, so that it is still in the cache when it is multiplied
EXACT_ROWS = 64  # of such a copy at least, where all terms of a row must be in one
MOST_TERMS = 1 << 11  # of such a copy, so that it has enough rows
THIN = 2  # with at most this many output features per group, multiplying matrices group by group is slower
MOST_PHASES = 1 << 8  # of base dilation; with more, zeros are inserted between the elements of the array
FEW = 1 << 13  # multiplications: up to this many are as fast in order as by matrices, and round as elsewhere


def convolution(c: Convolution, arithmetic: Arithmetic, dtype: DType) -> tuple[Prepare, Multiply]:
    """Return functions that prepare kernels, and multiply an array with prepared kernels.

    The array is one before, the kernels after they are converted to `arithmetic.dtype`. Results are of `dtype`.
    """
    if _is_phase_by_phase(c):
        return _phase_by_phase(c, arithmetic, dtype)
    return _undilated(c, arithmetic, dtype)


def arithmetic_of(c: Convolution, lhs: DType, rhs: DType, result: DType) -> Arithmetic:
    """Return how the products are summed."""
    if is_elementwise(c):
        return elementwise_arithmetic(lhs, rhs, result)
    return for_products(arithmetic(lhs, rhs, result, c.terms), c.terms * prod(c.result_sizes))


def temporaries(c: Convolution, lhs: DType, rhs: DType, result: DType) -> int:
    """Return the bytes that `convolution` allocates beside the result, at most."""
    sums, dtypes = arithmetic_of(c, lhs, rhs, result), (lhs, rhs, result)
    kernels = 2 * prod(c.rhs_sizes) * sums.dtype.itemsize
    if not _is_phase_by_phase(c):
        return kernels + _temporaries(c, sums, dtypes)
    loaded = 0 if sums.load_lhs is identity else prod(c.lhs_sizes) * sums.dtype.itemsize
    phases = [replace(c, windows=tuple(window for _, _, window in phase)) for phase in _phases(c)]
    each = [_temporaries(phase, sums, dtypes) + prod(phase.result_sizes) * result.itemsize for phase in phases]
    return kernels + loaded + max(each, default=0)


def _temporaries(c: Convolution, sums: Arithmetic, dtypes: Sequence[DType]) -> int:
    """Return the bytes of a part of the array and of the sums, before and after conversion, and of a block."""
    if not is_elementwise(c) and _is_by_rows(c, sums):
        return BLOCK_BYTES
    parts = 2 * window_parts.temporaries(c, sums, *_parts_of(c, sums))
    if is_elementwise(c):
        return parts + BLOCK_BYTES
    block = min(prod(c.sizes), _limits(c, sums)[0])
    rows, itemsize = block // c.terms, sums.dtype.itemsize
    exact = converted_bytes(dtypes, block + c.terms * c.outputs, 2 * rows * c.outputs) if sums.is_exact else 0
    return parts + exact + block * itemsize * (not _is_view(c))


def is_elementwise(c: Convolution) -> bool:
    """Whether to use elementwise operations, which add in order: for few products, or with few outputs per group.

    Reproducible results need exact sums, which only matrices have.
    """
    if mode.current().reproducible:
        return False
    is_thin = c.groups > 1 and c.outputs <= THIN
    return is_thin or prod(c.sizes) * c.groups * c.outputs <= FEW


def _undilated(c: Convolution, arithmetic: Arithmetic, dtype: DType) -> tuple[Prepare, Multiply]:
    if not is_elementwise(c):
        return _by_matrices(c, arithmetic, dtype)
    return _by_parts(c, arithmetic, dtype, window_sums.term_by_term if runs_along_windows(c) else window_sums.by_einsum)


def _is_phase_by_phase(c: Convolution) -> bool:
    return 1 < prod(w.base_dilation for w in c.windows) <= MOST_PHASES


def _parts_of(c: Convolution, arithmetic: Arithmetic) -> tuple[int, int]:
    """Return the first axis of the array or of the rows of matrices, and how many of its indices to compute at a time.

    A product without copies is one matrix, unless axes are split because they come before the output features.
    """
    if is_elementwise(c):
        rows, is_split = [axis for axis in c.lhs_order if axis != FEATURE], True
    else:
        layout = _layout(c)
        rows, is_split = list(layout.rows), not _is_view(c)
    axis = next((axis for axis in rows if c.sizes[axis] > 1), rows[0])
    if is_split or rows.index(axis) < layout.singles:
        return axis, window_parts.step(c, axis, arithmetic)
    return axis, c.sizes[axis]


def _is_view(c: Convolution) -> bool:
    """Return whether matrices are views of the array, since windows have one element and follow each other."""
    return c.terms == c.features and all(w.stride == 1 for w in c.windows)


def _phases(c: Convolution) -> Iterator[tuple[tuple[slice, slice, Window], ...]]:
    return product(*(w.phases() for w in c.windows))


def _phase_by_phase(c: Convolution, arithmetic: Arithmetic, dtype: DType) -> tuple[Prepare, Multiply]:
    """Split a convolution with base dilation into several without, each for the results that use the same elements.

    They skip the zeros between elements, which is not valid for infinite or NaN kernels: these use dilation.
    """
    load, arithmetic = arithmetic.load_lhs, replace(arithmetic, load_lhs=identity)
    dilated = _undilated(c, arithmetic, dtype)
    parts = []
    for phase in _phases(c):
        part = replace(c, windows=tuple(window for _, _, window in phase))
        positions = (slice(None), slice(None), *(windows for windows, _, _ in phase))
        elements = (slice(None), slice(None), *(elements for _, elements, _ in phase))
        parts.append(
            (in_order(positions, c.result_order), in_order(elements, c.rhs_order), *_undilated(part, arithmetic, dtype))
        )

    def prepare(kernels: Array) -> Prepared:
        if kind(kernels.dtype) in ("floating", "complex") and not np.isfinite(kernels).all():
            return dilated[0](kernels)
        return [prepare_part(kernels[elements]) for _, elements, prepare_part, _ in parts]

    def multiply(x: Array, kernels: Prepared) -> Array:
        if not isinstance(kernels, list):
            return dilated[1](load(x), kernels)
        x, result = load(x), np.zeros(c.result_sizes, dtype)
        for (positions, _, _, multiply_part), kernel in zip(parts, kernels):
            result[positions] = multiply_part(x, kernel)
        return result

    return prepare, multiply


# --- by matrix multiplication ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Layout:
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
class _Block:
    """A part of the rows and terms of one group."""

    windows: Index  # into the view of windows
    matrix: Sizes  # of the copy
    terms: slice
    sums: Index
    adds: bool  # whether the sums contain earlier terms


@dataclass(frozen=True)
class _Part:
    """A part of the rows: a view of its windows, its indices in the sums and its blocks."""

    view: ArrayKernel
    sums: Index
    blocks: Sequence[_Block]


def _by_matrices(c: Convolution, arithmetic: Arithmetic, dtype: DType) -> tuple[Prepare, Multiply]:
    layout, is_view, is_stored = _layout(c), _is_view(c), arithmetic.store is identity
    if _is_by_rows(c, arithmetic):
        return _kernel_matrix(c, layout.terms), _by_rows(c, arithmetic, dtype)
    row_sizes = tuple(c.sizes[axis] for axis in layout.rows)
    sums_sizes = layout.with_features(row_sizes, c.groups, c.outputs)
    result_sizes = layout.with_features(row_sizes, c.groups * c.outputs)
    to_result = tuple(layout.with_features(layout.rows, FEATURE).index(axis) for axis in c.result_order)
    order = (0, *(1 + axis for axis in layout.order))
    add = _multiply_block(arithmetic, c.outputs, layout)
    parts = list(_parts(c, arithmetic, layout))
    copied = max(prod(block.matrix) for part in parts for block in part.blocks)
    before: Index = (slice(None),) * layout.feature_position

    def multiply_part(part: _Part, x: Array, kernels: Array, sums: Array, copy: Array | None) -> None:
        windows = part.view(x).transpose(order)
        for group in range(c.groups):
            group_windows, group_sums = windows[group], sums[(*before, group)]
            group_kernels = kernels[:, group * c.outputs : (group + 1) * c.outputs]
            for block in within_time(part.blocks):
                matrix = _as_matrix(group_windows[block.windows], block.matrix, copy)
                add(matrix, group_kernels[block.terms], group_sums[block.sums], block.adds)

    def multiply(x: Array, kernels: Array) -> Array:
        copy = None if is_view else np.empty(copied, arithmetic.dtype)
        if len(parts) == 1:
            sums = np.empty(sums_sizes, arithmetic.dtype)
            multiply_part(parts[0], x, kernels, sums, copy)
            return arithmetic.store(sums).reshape(result_sizes).transpose(to_result)
        results = np.empty(sums_sizes, dtype)
        for part in parts:
            target = results[part.sums]
            sums = target if is_stored else np.empty(target.shape, arithmetic.dtype)
            multiply_part(part, x, kernels, sums, copy)
            if not is_stored:
                window_parts.store(arithmetic, sums, target)
        return results.reshape(result_sizes).transpose(to_result)

    return _kernel_matrix(c, layout.terms), multiply


def _is_by_rows(c: Convolution, arithmetic: Arithmetic) -> bool:
    """Return whether the whole array itself is the matrix of windows, and is converted."""
    is_whole = all(w.is_filled and w.extent == w.size for w in c.windows)
    is_array = c.groups == 1 and _is_view(c) and is_whole and not runs_along_windows(c)
    return is_array and converts_to_floats(arithmetic) and c.lhs_order == c.result_order and c.lhs_order[-1] == FEATURE


def _by_rows(c: Convolution, arithmetic: Arithmetic, dtype: DType) -> Multiply:
    def multiply(x: Array, kernels: Array) -> Array:
        return product_by_rows(arithmetic, x.reshape(-1, c.terms), kernels, dtype).reshape(c.result_sizes)

    return multiply


def _parts(c: Convolution, arithmetic: Arithmetic, layout: _Layout) -> Iterator[_Part]:
    """Yield parts, which begin and end where blocks do; without padding and conversion, all rows are one part."""
    axis, step = _parts_of(c, arithmetic)
    position, (limit, most_terms) = layout.rows.index(axis), _limits(c, arithmetic)
    terms = list(_pieces([c.sizes[axis] for axis in layout.terms], 0, most_terms))
    before = (slice(None),) * (position + 2 * (layout.feature_position <= position))
    for start, stop, rows in _rows_by_parts(c, layout, position, step, limit / most_terms):
        view = window_parts.view(c, axis, start, stop, arithmetic)
        yield _Part(view, (*before, slice(start, stop)), list(_blocks(layout, rows, terms)))


def _limits(c: Convolution, arithmetic: Arithmetic) -> tuple[int, int]:
    """Return how many elements and how many terms of a row a block has at most."""
    limit = BLOCK_BYTES // arithmetic.dtype.itemsize
    if arithmetic.is_exact:
        return max(limit, EXACT_ROWS * c.terms), c.terms
    if _is_view(c):
        return prod(c.sizes), c.terms
    return limit, min(c.terms, MOST_TERMS)


def _rows_by_parts(
    c: Convolution, layout: _Layout, position: int, step: int, limit: float
) -> Iterator[tuple[int, int, list[_Piece]]]:
    """Yield the pieces of rows of each part, by index in the part, with its first and last index at `position`."""
    sizes = [c.sizes[axis] for axis in layout.rows]
    for _, group in groupby(
        _pieces(sizes, layout.singles, limit), lambda piece: _range(piece, position, sizes)[0] // step
    ):
        pieces = list(group)
        start, stop = _range(pieces[0], position, sizes)[0], _range(pieces[-1], position, sizes)[1]
        yield start, stop, [_moved(piece, position, start) for piece in pieces]


def _range(piece: _Piece, position: int, sizes: Sequence[int]) -> tuple[int, int]:
    """Return the indices at a position that a piece has."""
    index = piece[0][position]
    if isinstance(index, int):
        return index, index + 1
    return (0, sizes[position]) if index == slice(None) else (index.start, index.stop)


def _moved(piece: _Piece, position: int, start: int) -> _Piece:
    """Return the piece with its index at a position relative to `start`."""
    index, count, first = piece
    old = index[position]
    new = (
        old
        if old == slice(None)
        else old - start
        if isinstance(old, int)
        else slice(old.start - start, old.stop - start)
    )
    return (*index[:position], new, *index[position + 1 :]), count, first


def _as_matrix(x: Array, sizes: Sizes, copy: Array | None) -> Array:
    if copy is not None:
        copy = copy[: x.size].reshape(x.shape)
        np.copyto(copy, x)
        x = copy
    return x.reshape(sizes)


def _multiply_block(arithmetic: Arithmetic, outputs: int, layout: _Layout) -> MultiplyBlock:
    """Return a function that stores the product of a block and a matrix of kernels in sums, or adds it to them."""
    features_last = layout.feature_position == len(layout.rows)

    def add(block: Array, kernels: Array, sums: Array, adds: bool) -> None:
        rows = block if layout.rows_first else block.T
        factors = (rows, kernels) if features_last else (kernels.T, rows.T)
        target = sums.reshape((-1, outputs) if features_last else (outputs, -1))
        if adds:
            target += arithmetic.matmul(*factors)
        else:
            arithmetic.matmul(*factors, out=target)

    return add


def _kernel_matrix(c: Convolution, terms: Axes) -> Prepare:
    """Return a function from kernels to a matrix of terms, in this order, by output features."""
    dimension = {c.element_axis(axis): d for d, axis in enumerate(c.rhs_order) if axis != OUTPUT_FEATURE}
    arranged = matrices(c.rhs_sizes, (), tuple(dimension[axis] for axis in terms), rows_first=False)
    return arranged or identity


def _layout(c: Convolution) -> _Layout:
    """Choose axis orders: the last axes of the copy follow the array, other rows the result, and terms the kernels."""
    lhs_rows = tuple(axis for axis in c.lhs_order if axis != FEATURE)
    result_rows = tuple(axis for axis in c.result_order if axis != FEATURE)
    lhs_terms = tuple(c.element_axis(axis) for axis in c.lhs_order if axis != BATCH)
    rhs_terms = tuple(c.element_axis(axis) for axis in c.rhs_order if axis != OUTPUT_FEATURE)
    rows_first = not runs_along_windows(c)
    rows = result_rows if rows_first or _last(result_rows, c.sizes) == _last(lhs_rows, c.sizes) else lhs_rows
    terms = lhs_terms if rows_first and _last(rhs_terms, c.sizes) != _last(lhs_terms, c.sizes) else rhs_terms
    return _Layout(rows, terms, rows_first, c.result_order.index(FEATURE) if rows == result_rows else len(rows))


def _last(axes: Axes, sizes: Sizes) -> Axes:
    return tuple(axis for axis in axes if sizes[axis] > 1)[-1:]


def _blocks(layout: _Layout, rows: Sequence[_Piece], terms: Sequence[_Piece]) -> Iterator[_Block]:
    """Yield the blocks of all pairs of pieces."""
    for (row_index, count, _), (term_index, length, first) in product(rows, terms):
        windows, matrix = row_index + term_index, (count, length)
        if not layout.rows_first:
            windows, matrix = term_index + row_index, (length, count)
        sums = (*row_index[: layout.feature_position], slice(None), *row_index[layout.feature_position :])
        yield _Block(windows, matrix, slice(first, first + length), sums, first > 0)


def _pieces(sizes: list[int], singles: int, limit: float) -> Iterator[_Piece]:
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


# --- by elementwise operations --------------------------------------------------------------------------------------


def _by_parts(c: Convolution, arithmetic: Arithmetic, dtype: DType, method: Method) -> tuple[Prepare, Multiply]:
    """Compute part by part by a method; if nothing is padded and converted, all is one part."""
    axis, step = _parts_of(c, arithmetic)
    count = c.sizes[axis]
    ranges = [(start, min(start + step, count)) for start in range(0, count, step)]
    views = [window_parts.view(c, axis, *some, arithmetic) for some in ranges]
    methods = {stop - start: method(window_parts.part(c, axis, start, stop)) for start, stop in ranges}
    before = (slice(None),) * c.result_order.index(axis)

    def multiply(x: Array, kernels: Array) -> Array:
        if len(ranges) == 1:
            return arithmetic.store(methods[count](views[0](x), kernels))
        results = np.empty(c.result_sizes, dtype)
        for (start, stop), view in within_time(zip(ranges, views)):
            sums = methods[stop - start](view(x), kernels)
            window_parts.store(arithmetic, sums, results[(*before, slice(start, stop))])
        return results

    return window_sums.canonical_kernels(c), multiply
