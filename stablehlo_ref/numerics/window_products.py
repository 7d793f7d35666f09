"""Sums of products of windows and kernels, for convolution.

Among the axes of the products (`window_views`) the batch and the windows are the rows of a matrix, the input features
and the elements of a window its terms. Blocks of that matrix are copied, in an order that runs along the array in
memory, and multiplied with the kernels, in an order that runs along the result. Where that does not pay, the products
are summed by elementwise operations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import ceil, inf, prod
from typing import Any, TypeAlias

import numpy as np

from stablehlo_ref.numerics.contraction import Arithmetic, Axes, Sizes, matrices, same
from stablehlo_ref.numerics.dtypes import kind
from stablehlo_ref.numerics.narrow import Array
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

Prepare: TypeAlias = Callable[[Array], Any]  # from kernels to the form in which `Multiply` takes them
Multiply: TypeAlias = Callable[[Array, Any], Array]

BLOCK_BYTES = 1 << 21  # of a copy of windows: it stays in the cache until it is multiplied
MOST_TERMS = 1 << 11  # in such a copy, so that it has enough rows
THIN = 2  # with so few output features to a group, multiplying matrices group by group does not pay
MOST_PHASES = 1 << 8  # of base dilation; with more, zeros are put between the elements of the array
FEW = 1 << 13  # multiplications: up to so many cost no more in order than by matrices, and round as others do
ONE_BY_ONE_ELEMENTS = 1 << 16  # of the result at a time, where its terms are added one by one


def convolution(c: Convolution, arithmetic: Arithmetic) -> tuple[Prepare, Multiply]:
    """Functions that prepare kernels, and that multiply an array with what is prepared; all of `arithmetic`'s dtype."""
    if 1 < prod(w.base_dilation for w in c.windows) <= MOST_PHASES:
        return _phase_by_phase(c, arithmetic)
    return _undilated(c, arithmetic)


def is_elementwise(c: Convolution) -> bool:
    """Whether elementwise operations multiply, and add in order: few numbers, or groups that are no matrices."""
    is_thin = c.groups > 1 and c.outputs <= THIN
    return is_thin or prod(c.sizes) * c.groups * c.outputs <= FEW


def _undilated(c: Convolution, arithmetic: Arithmetic) -> tuple[Prepare, Multiply]:
    if not is_elementwise(c):
        return _by_matrices(c, arithmetic)
    return _term_by_term(c) if runs_along_windows(c) else _by_einsum(c)


def _phase_by_phase(c: Convolution, arithmetic: Arithmetic) -> tuple[Prepare, Multiply]:
    """Base dilation as several convolutions without: each gives those of the results that meet the same elements.

    The zeros between elements are left out, which makes a difference where kernels are infinite or NaN.
    """
    dilated = _undilated(c, arithmetic)
    parts = []
    for phase in product(*(w.phases() for w in c.windows)):
        part = replace(c, windows=tuple(window for _, _, window in phase))
        places = (slice(None), slice(None), *(windows for windows, _, _ in phase))
        elements = (slice(None), slice(None), *(elements for _, elements, _ in phase))
        parts.append(
            (
                tuple(places[axis] for axis in c.result_order),
                tuple(elements[axis] for axis in c.rhs_order),
                *_undilated(part, arithmetic),
            )
        )

    def prepare(kernels: Array) -> Any:
        if kind(kernels.dtype) in ("floating", "complex") and not np.isfinite(kernels).all():
            return dilated[0](kernels)
        return [prepare_part(kernels[elements]) for _, elements, prepare_part, _ in parts]

    def multiply(x: Array, kernels: Any) -> Array:
        if not isinstance(kernels, list):
            return dilated[1](x, kernels)
        result = np.zeros(c.result_sizes, x.dtype)
        for (places, _, _, multiply_part), kernel in zip(parts, kernels):
            result[places] = multiply_part(x, kernel)
        return result

    return prepare, multiply


# --- by matrix multiplication -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Layout:
    """Rows and terms, as axes of products in the order to copy them in, and which of them come first in the copy.

    `at` says after how many of the rows' axes the output features stand in the sums.
    """

    rows: Axes
    terms: Axes
    rows_first: bool
    at: int

    @property
    def order(self) -> Axes:
        return self.rows + self.terms if self.rows_first else self.terms + self.rows

    def with_features(self, rows: Sizes, *features: int) -> Sizes:
        """Sizes, or axes, of the rows, with those of the output features among them."""
        return (*rows[: self.at], *features, *rows[self.at :])


@dataclass(frozen=True)
class _Block:
    """Some of the rows and terms of one group: where they are, and whether earlier terms are in the sums already."""

    windows: Index
    matrix: Sizes
    terms: slice
    sums: Index
    adds: bool


def _by_matrices(c: Convolution, arithmetic: Arithmetic) -> tuple[Prepare, Multiply]:
    layout, view = _layout(c), view_of_windows(c)
    is_view = c.terms == c.features and all(w.stride == 1 for w in c.windows)
    blocks = list(_blocks(c, layout, inf if is_view else BLOCK_BYTES // arithmetic.dtype.itemsize))
    row_sizes = tuple(c.sizes[axis] for axis in layout.rows)
    sums_sizes = layout.with_features(row_sizes, c.groups, c.outputs)
    result_sizes = layout.with_features(row_sizes, c.groups * c.outputs)
    to_result = tuple(layout.with_features(layout.rows, FEATURE).index(axis) for axis in c.result_order)
    order = (0, *(1 + axis for axis in layout.order))
    add = _adding(arithmetic, c.outputs, layout)
    copied = max(prod(block.matrix) for block in blocks)

    def multiply(x: Array, kernels: Array) -> Array:
        windows, sums = view(x).transpose(order), np.empty(sums_sizes, arithmetic.dtype)
        copy = None if is_view else np.empty(copied, arithmetic.dtype)
        for group in range(c.groups):
            group_windows, group_sums = windows[group], sums[(slice(None),) * layout.at + (group,)]
            group_kernels = kernels[:, group * c.outputs : (group + 1) * c.outputs]
            for block in blocks:
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


def _adding(arithmetic: Arithmetic, outputs: int, layout: _Layout) -> Callable[[Array, Array, Array, bool], None]:
    """A function that stores, or adds, the product of a block and a matrix of kernels in some of the sums."""
    features_last = layout.at == len(layout.rows)

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
    """A function from kernels to a matrix of terms, in this order, by output features."""
    dimension = {c.element_axis(axis): d for d, axis in enumerate(c.rhs_order) if axis != OUTPUT_FEATURE}
    arranged = matrices(c.rhs_sizes, (), tuple(dimension[axis] for axis in terms), rows_first=False)
    return arranged or same


def _layout(c: Convolution) -> _Layout:
    """What comes last in the copy runs along the array; otherwise rows follow the result, and terms the kernels."""
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


def _blocks(c: Convolution, layout: _Layout, limit: float) -> Iterator[_Block]:
    """Blocks of at most `limit` elements, if one row of not too many terms has no more.

    Rows before the output features come one by one, so that the sums of a block are a matrix.
    """
    most_terms = c.terms if limit == inf else min(c.terms, MOST_TERMS)
    singles = layout.at if layout.at < len(layout.rows) else 0
    rows = list(_pieces([c.sizes[axis] for axis in layout.rows], singles, limit / most_terms))
    terms = list(_pieces([c.sizes[axis] for axis in layout.terms], 0, most_terms))
    for (row_index, count, _), (term_index, length, first) in product(rows, terms):
        windows, matrix = row_index + term_index, (count, length)
        if not layout.rows_first:
            windows, matrix = term_index + row_index, (length, count)
        sums = (*row_index[: layout.at], slice(None), *row_index[layout.at :])
        yield _Block(windows, matrix, slice(first, first + length), sums, first > 0)


def _pieces(sizes: list[int], singles: int, limit: float) -> Iterator[tuple[Index, int, int]]:
    """Cuts an array of these sizes in pieces that are contiguous, with at most `limit` elements where that can be.

    The first `singles` axes are cut into single indices. Gives the index of a piece, its size, and where it begins.
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


# --- by elementwise operations ------------------------------------------------------------------------------------


def _by_einsum(c: Convolution) -> tuple[Prepare, Multiply]:
    """Where the input features or the batch are innermost in memory, einsum's inner loop runs along the groups."""
    view, n = view_of_windows(c), len(c.windows)
    group, batch, feature, output = 0, 1, 2, 3 + 2 * n
    windows, elements = range(3, 3 + n), range(3 + n, 3 + 2 * n)
    labels = [group, batch, feature, *windows, *elements]
    kernel_labels = [group, output, feature, *elements]
    result_axes = ((batch,), (group, output), *((w,) for w in windows))
    result_labels = [label for axis in c.result_order for label in result_axes[axis]]

    def multiply(x: Array, kernels: Array) -> Array:
        sums = np.einsum(view(x), labels, kernels, kernel_labels, result_labels, optimize=False)
        return sums.reshape(c.result_sizes)

    return _canonical_kernels(c), multiply


def _term_by_term(c: Convolution) -> tuple[Prepare, Multiply]:
    """Where windows are innermost in memory, the products of all windows are added to the sums, term by term."""
    view, n = view_of_windows(c), len(c.windows)
    batch, _, *counts = c.sizes[: SPATIAL + n]
    split = [(batch,), (c.groups, c.outputs), *((count,) for count in counts)]
    sums_sizes = [size for axis in c.result_order for size in split[axis]]
    places = {axis: sum(len(split[before]) for before in c.result_order[:d]) for d, axis in enumerate(c.result_order)}
    order = (places[FEATURE], places[BATCH], *(places[SPATIAL + j] for j in range(n)), places[FEATURE] + 1)
    step = max(1, ONE_BY_ONE_ELEMENTS // (batch * prod(counts) * c.outputs))
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
                values = windows[(some, slice(None), feature, *every_window, *element)][..., np.newaxis]
                factors = kernels[(some, slice(None), feature, *element)][spread]
                if feature == 0 and not any(element):
                    np.multiply(values, factors, out=target)
                else:
                    np.add(target, np.multiply(values, factors, out=term), out=target)
        return sums.reshape(c.result_sizes)

    return _canonical_kernels(c), multiply


def _canonical_kernels(c: Convolution) -> Prepare:
    """A function from kernels to a view with the axes group, output feature, input feature, elements of a window."""
    permutation, n = canonical(c.rhs_order), len(c.windows)
    sizes = (c.groups, c.outputs, *c.sizes[FEATURE : FEATURE + 1], *c.sizes[SPATIAL + n :])
    return lambda kernels: kernels.transpose(permutation).reshape(sizes)
