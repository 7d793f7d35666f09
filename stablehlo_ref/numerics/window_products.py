"""Sums of products of windows and kernels, for convolution.

Of the axes of the products (`window_views`), the batch and the windows are the rows of a matrix, and the input features
and the elements of a window are its terms. Blocks of that matrix are copied in the order of the array in memory, and
multiplied with the kernels in the order of the result. Where matrices are slower, products are summed by elementwise
operations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import ceil, inf, prod
from typing import Any, TypeAlias

import numpy as np

from stablehlo_ref import mode
from stablehlo_ref.budget import within_time
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.contraction import Arithmetic, Axes, Sizes, identity, matrices
from stablehlo_ref.numerics.dtypes import kind
from stablehlo_ref.numerics.window_views import (
    BATCH,
    FEATURE,
    OUTPUT_FEATURE,
    SPATIAL,
    Convolution,
    Index,
    canonical,
    runs_along_windows,
    view_of_windows,
)

Prepared: TypeAlias = Array | list[Any]  # kernels as `Multiply` takes them: a matrix, or one for each phase
Prepare: TypeAlias = Callable[[Array], Prepared]
Multiply: TypeAlias = Callable[[Array, Any], Array]  # of an array and prepared kernels
MultiplyBlock: TypeAlias = Callable[[Array, Array, Array, bool], None]  # block, kernels, sums, whether to add

BLOCK_BYTES = 1 << 21  # of a copy of windows, so that it is still in the cache when it is multiplied
EXACT_ROWS = 64  # of such a copy at least, where all terms of a row must be in one
MOST_TERMS = 1 << 11  # of such a copy, so that it has enough rows
THIN = 2  # with at most this many output features per group, multiplying matrices group by group is slower
MOST_PHASES = 1 << 8  # of base dilation; with more, zeros are inserted between the elements of the array
FEW = 1 << 13  # multiplications: up to this many are as fast in order as by matrices, and round as elsewhere
TERM_BY_TERM_ELEMENTS = 1 << 16  # of the result computed at a time, where terms are added one by one


def convolution(c: Convolution, arithmetic: Arithmetic) -> tuple[Prepare, Multiply]:
    """Return functions that prepare kernels, and multiply an array with prepared kernels; all of `arithmetic.dtype`."""
    if 1 < prod(w.base_dilation for w in c.windows) <= MOST_PHASES:
        return _phase_by_phase(c, arithmetic)
    return _undilated(c, arithmetic)


def is_elementwise(c: Convolution) -> bool:
    """Whether to use elementwise operations, which add in order: for few products, or with few outputs per group.

    Reproducible results need exact sums, which only matrices have.
    """
    if mode.current().reproducible:
        return False
    is_thin = c.groups > 1 and c.outputs <= THIN
    return is_thin or prod(c.sizes) * c.groups * c.outputs <= FEW


def _undilated(c: Convolution, arithmetic: Arithmetic) -> tuple[Prepare, Multiply]:
    if not is_elementwise(c):
        return _by_matrices(c, arithmetic)
    return _term_by_term(c) if runs_along_windows(c) else _by_einsum(c)


def _phase_by_phase(c: Convolution, arithmetic: Arithmetic) -> tuple[Prepare, Multiply]:
    """Split a convolution with base dilation into several without, each for the results that use the same elements.

    They skip the zeros between elements, which is not valid for infinite or NaN kernels: these use dilation.
    """
    dilated = _undilated(c, arithmetic)
    parts = []
    for phase in product(*(w.phases() for w in c.windows)):
        part = replace(c, windows=tuple(window for _, _, window in phase))
        positions = (slice(None), slice(None), *(windows for windows, _, _ in phase))
        elements = (slice(None), slice(None), *(elements for _, elements, _ in phase))
        parts.append(
            (
                tuple(positions[axis] for axis in c.result_order),
                tuple(elements[axis] for axis in c.rhs_order),
                *_undilated(part, arithmetic),
            )
        )

    def prepare(kernels: Array) -> Prepared:
        if kind(kernels.dtype) in ("floating", "complex") and not np.isfinite(kernels).all():
            return dilated[0](kernels)
        return [prepare_part(kernels[elements]) for _, elements, prepare_part, _ in parts]

    def multiply(x: Array, kernels: Prepared) -> Array:
        if not isinstance(kernels, list):
            return dilated[1](x, kernels)
        result = np.zeros(c.result_sizes, x.dtype)
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


def _by_matrices(c: Convolution, arithmetic: Arithmetic) -> tuple[Prepare, Multiply]:
    layout, view = _layout(c), view_of_windows(c)
    is_view = c.terms == c.features and all(w.stride == 1 for w in c.windows)
    most_terms = c.terms if is_view or arithmetic.is_exact else MOST_TERMS
    limit = BLOCK_BYTES // arithmetic.dtype.itemsize
    if arithmetic.is_exact:
        limit = max(limit, EXACT_ROWS * c.terms)
    blocks = list(_blocks(c, layout, inf if is_view else limit, most_terms))
    row_sizes = tuple(c.sizes[axis] for axis in layout.rows)
    sums_sizes = layout.with_features(row_sizes, c.groups, c.outputs)
    result_sizes = layout.with_features(row_sizes, c.groups * c.outputs)
    to_result = tuple(layout.with_features(layout.rows, FEATURE).index(axis) for axis in c.result_order)
    order = (0, *(1 + axis for axis in layout.order))
    add = _multiply_block(arithmetic, c.outputs, layout)
    copied = max(prod(block.matrix) for block in blocks)

    def multiply(x: Array, kernels: Array) -> Array:
        windows, sums = view(x).transpose(order), np.empty(sums_sizes, arithmetic.dtype)
        copy = None if is_view else np.empty(copied, arithmetic.dtype)
        for group in range(c.groups):
            group_windows, group_sums = windows[group], sums[(slice(None),) * layout.feature_position + (group,)]
            group_kernels = kernels[:, group * c.outputs : (group + 1) * c.outputs]
            for block in within_time(blocks):
                matrix = _as_matrix(group_windows[block.windows], block.matrix, copy)
                add(matrix, group_kernels[block.terms], group_sums[block.sums], block.adds)
        return sums.reshape(result_sizes).transpose(to_result)

    return _kernel_matrix(c, layout.terms), multiply


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


def _blocks(c: Convolution, layout: _Layout, limit: float, most_terms: int) -> Iterator[_Block]:
    """Yield blocks of at most `limit` elements, unless a single row of `most_terms` terms has more.

    Axes of rows before the output features are split into single indices, so that the sums of a block are a matrix.
    """
    most_terms = min(c.terms, most_terms)
    singles = layout.feature_position if layout.feature_position < len(layout.rows) else 0
    rows = list(_pieces([c.sizes[axis] for axis in layout.rows], singles, limit / most_terms))
    terms = list(_pieces([c.sizes[axis] for axis in layout.terms], 0, most_terms))
    for (row_index, count, _), (term_index, length, first) in product(rows, terms):
        windows, matrix = row_index + term_index, (count, length)
        if not layout.rows_first:
            windows, matrix = term_index + row_index, (length, count)
        sums = (*row_index[: layout.feature_position], slice(None), *row_index[layout.feature_position :])
        yield _Block(windows, matrix, slice(first, first + length), sums, first > 0)


def _pieces(sizes: list[int], singles: int, limit: float) -> Iterator[tuple[Index, int, int]]:
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


def _by_einsum(c: Convolution) -> tuple[Prepare, Multiply]:
    """Sum with einsum, whose inner loop runs along the groups if features or the batch are innermost in memory."""
    view, n = view_of_windows(c), len(c.windows)
    group, batch, feature, output = 0, 1, 2, 3 + 2 * n
    windows, elements = range(3, 3 + n), range(3 + n, 3 + 2 * n)
    labels = [group, batch, feature, *windows, *elements]
    kernel_labels = [group, output, feature, *elements]
    result_axes = ((batch,), (group, output), *((w,) for w in windows))
    result_labels = [label for axis in c.result_order for label in result_axes[axis]]

    def multiply(x: Array, kernels: Array) -> Array:
        sums: Array = np.einsum(view(x), labels, kernels, kernel_labels, result_labels, optimize=False)
        return sums.reshape(c.result_sizes)

    return _canonical_kernels(c), multiply


def _term_by_term(c: Convolution) -> tuple[Prepare, Multiply]:
    """Add products to the sums term by term, for all windows at once, if windows are innermost in memory."""
    view, n = view_of_windows(c), len(c.windows)
    batch, _, *counts = c.sizes[: SPATIAL + n]
    split = [(batch,), (c.groups, c.outputs), *((count,) for count in counts)]
    sums_sizes = [size for axis in c.result_order for size in split[axis]]
    starts = {axis: sum(len(split[before]) for before in c.result_order[:d]) for d, axis in enumerate(c.result_order)}
    order = (starts[FEATURE], starts[BATCH], *(starts[SPATIAL + j] for j in range(n)), starts[FEATURE] + 1)
    step = max(1, TERM_BY_TERM_ELEMENTS // (batch * prod(counts) * c.outputs))
    terms = list(product(*map(range, (c.features, *c.sizes[SPATIAL + n :]))))
    every_window = (slice(None),) * n
    spread = (slice(None), np.newaxis, *(np.newaxis,) * n, slice(None))

    def multiply(x: Array, kernels: Array) -> Array:
        windows, sums = view(x), np.empty(sums_sizes, x.dtype)
        canonical_sums = sums.transpose(order)
        for start in range(0, c.groups, step):
            some = slice(start, start + step)
            target = canonical_sums[some]
            term = np.empty_like(target)
            for feature, *element in terms:
                of_windows: Index = (some, slice(None), feature, *every_window, *element)
                of_kernels: Index = (some, slice(None), feature, *element)
                values, factors = windows[of_windows][..., np.newaxis], kernels[of_kernels][spread]
                if feature == 0 and not any(element):
                    np.multiply(values, factors, out=target)
                else:
                    np.add(target, np.multiply(values, factors, out=term), out=target)
        return sums.reshape(c.result_sizes)

    return _canonical_kernels(c), multiply


def _canonical_kernels(c: Convolution) -> Prepare:
    """Return a function from kernels to a view with axes group, output feature, input feature, elements of a window."""
    permutation, n = canonical(c.rhs_order), len(c.windows)
    sizes = (c.groups, c.outputs, *c.sizes[FEATURE : FEATURE + 1], *c.sizes[SPATIAL + n :])
    return lambda kernels: kernels.transpose(permutation).reshape(sizes)
