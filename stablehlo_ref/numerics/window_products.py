"""Sums of products of windows and kernels, for convolution: views of all windows, multiplied as matrices.

The windows of an array are a view of it with two axes for each spatial one: which window, and which element of it. With
the batch and the input features these are the axes of the products: the batch and the windows are the rows of a matrix,
the input features and the elements of a window its terms. Blocks of that matrix are copied, in an order that runs along
the array in memory, and multiplied with the kernels, in an order that runs along the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import ceil, gcd, inf, prod
from typing import Any, TypeAlias

import numpy as np
from numpy.lib.stride_tricks import as_strided

from stablehlo_ref.numerics.contraction import Arithmetic, Axes, Sizes, matrices, same
from stablehlo_ref.numerics.dtypes import kind
from stablehlo_ref.numerics.narrow import Array

Index: TypeAlias = tuple[Any, ...]
Prepare: TypeAlias = Callable[[Array], Any]  # from kernels to the form in which `Multiply` takes them
Multiply: TypeAlias = Callable[[Array, Any], Array]

BLOCK_BYTES = 1 << 21  # of a copy of windows: it stays in the cache until it is multiplied
MOST_TERMS = 1 << 11  # in such a copy, so that it has enough rows
THIN = 2  # with so few output features to a group, multiplying matrices group by group does not pay
FEW = 1 << 13  # multiplications: up to so many cost no more in order than by matrices, and round as others do
ONE_BY_ONE_ELEMENTS = 1 << 16  # of the result at a time, where its terms are added one by one

BATCH, FEATURE, SPATIAL = 0, 1, 2  # the axes of canonical arrays; the spatial ones begin at 2
OUTPUT_FEATURE = BATCH  # the axis that kernels have instead


@dataclass(frozen=True)
class Window:
    """The windows along one spatial axis of an array of `size` elements.

    Element `k` of window `o` is number `(o * stride + k * dilation - low) / base_dilation` of the array, or else zero.
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
        """From the first element of the first window through the last of the last."""
        return (self.count - 1) * self.stride + (self.length - 1) * self.dilation + 1

    def placement(self) -> tuple[slice, slice]:
        """Those elements of the array that are within the extent, and where in it they are."""
        first = max(0, ceil(-self.low / self.base_dilation))
        stop = max(first, min(self.size, (self.extent - 1 - self.low) // self.base_dilation + 1))
        place = self.low + first * self.base_dilation
        return slice(first, stop), slice(place, place + (stop - first) * self.base_dilation, self.base_dilation)

    @property
    def is_filled(self) -> bool:
        """Whether all of the extent is elements of the array."""
        elements, places = self.placement()
        return self.base_dilation == 1 and elements.stop - elements.start == self.extent and places.start == 0

    def phases(self) -> Iterator[tuple[slice, slice, Window]]:
        """Without base dilation: windows and their elements that are not zeros in between, as windows of their own."""
        base = self.base_dilation
        every, each = base // gcd(self.stride, base), base // gcd(self.dilation, base)
        for o, k in product(range(min(every, self.count)), range(min(each, self.length))):
            first = o * self.stride + k * self.dilation - self.low
            if first % base == 0:
                count, length = ceil((self.count - o) / every), ceil((self.length - k) / each)
                stride, dilation = every * self.stride // base, each * self.dilation // base
                part = Window(self.size, count, length, -(first // base), stride, dilation)
                yield slice(o, None, every), slice(k, None, each), part


@dataclass(frozen=True)
class Convolution:
    """What is multiplied with what. An order gives the canonical axis of each dimension of an array.

    Canonical arrays have the axes batch, input feature, spatial ones; the result output features instead, the kernels
    output and input features, spatial axes. Groups split the batch or the features of the array (`grouped`), and the
    output features. `batch`, `features` and `outputs` are the sizes in one group.
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
    def is_elementwise(self) -> bool:
        """Whether elementwise operations multiply, and add in order: few numbers, or groups that are no matrices."""
        is_thin = self.groups > 1 and self.outputs <= THIN
        return is_thin or prod(self.sizes) * self.groups * self.outputs <= FEW

    @property
    def sizes(self) -> Sizes:
        """Of the axes of products: batch, input features, windows, elements of a window; in one group."""
        windows = self.windows
        return (self.batch, self.features, *(w.count for w in windows), *(w.length for w in windows))

    @property
    def result_sizes(self) -> Sizes:
        sizes = (self.batch, self.groups * self.outputs, *(w.count for w in self.windows))
        return tuple(sizes[axis] for axis in self.result_order)

    @property
    def rhs_sizes(self) -> Sizes:
        sizes = (self.groups * self.outputs, self.features, *(w.length for w in self.windows))
        return tuple(sizes[axis] for axis in self.rhs_order)

    def element_axis(self, axis: int) -> int:
        """The axis of products that a kernel's axis runs along; output features have none."""
        return axis if axis == FEATURE else axis + len(self.windows)


def convolution(c: Convolution, arithmetic: Arithmetic) -> tuple[Prepare, Multiply]:
    """Functions that prepare kernels, and that multiply an array with what is prepared; all of `arithmetic`'s dtype."""
    if any(w.base_dilation > 1 for w in c.windows):
        return _phase_by_phase(c, arithmetic)
    return _undilated(c, arithmetic)


def _undilated(c: Convolution, arithmetic: Arithmetic) -> tuple[Prepare, Multiply]:
    if not c.is_elementwise:
        return _by_matrices(c, arithmetic)
    return _term_by_term(c) if _runs_along_windows(c) else _by_einsum(c)


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


# --- the view of all windows --------------------------------------------------------------------------------------


def canonical(order: Axes) -> Axes:
    """The permutation of dimensions in this order that gives the canonical array."""
    return tuple(order.index(axis) for axis in range(len(order)))


def view_of_windows(c: Convolution) -> Callable[[Array], Array]:
    """A function from the array to a view with the axes group, batch, input feature, windows, elements of windows."""
    permutation = canonical(c.lhs_order)
    placements = [w.placement() for w in c.windows]
    elements: Index = (..., *(elements for elements, _ in placements))
    places: Index = (..., *(places for _, places in placements))
    splits = [c.groups if c.grouped == axis else 1 for axis in (BATCH, FEATURE)]
    sizes = (c.batch * splits[BATCH], c.features * splits[FEATURE], *(w.extent for w in c.windows))
    padded_sizes = tuple(sizes[axis] for axis in c.lhs_order)
    is_filled = all(w.is_filled for w in c.windows)
    group = c.batch if c.grouped == BATCH else c.features
    shape = (c.groups, *c.sizes)

    def view(x: Array) -> Array:
        x = x.transpose(permutation)[elements]
        if not is_filled:
            padded = np.zeros(padded_sizes, x.dtype).transpose(permutation)
            padded[places] = x
            x = padded
        batch, feature, *spatial = x.strides
        steps = [s * w.stride for s, w in zip(spatial, c.windows)], [s * w.dilation for s, w in zip(spatial, c.windows)]
        strides = (x.strides[c.grouped] * group, batch, feature, *steps[0], *steps[1])
        return as_strided(x, shape, strides, writeable=False)

    return view


def _runs_along_windows(c: Convolution) -> bool:
    """Whether runs of windows are longer in memory than runs of the elements of a window."""
    splits = [c.groups if c.grouped == axis else 1 for axis in (BATCH, FEATURE)]
    sizes = (c.batch * splits[BATCH], c.features * splits[FEATURE], *(w.size for w in c.windows))
    innermost = [axis for axis in c.lhs_order if sizes[axis] > 1][-1:] or [FEATURE]
    if innermost[0] < SPATIAL:
        return innermost[0] == BATCH
    w = c.windows[innermost[0] - SPATIAL]
    return w.count / min(w.stride, 2) >= w.length / min(w.dilation, 2)


# --- by matrix multiplication -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Block:
    """Some of the rows and terms of one group: where they are, and whether earlier terms are in the sums already."""

    windows: Index
    matrix: Sizes
    terms: slice
    sums: Index
    adds: bool


def _by_matrices(c: Convolution, arithmetic: Arithmetic) -> tuple[Prepare, Multiply]:
    rows, terms, rows_first = _orders(c)
    at = _place_of_features(c.result_order, rows)
    is_view = c.terms == c.features and all(w.stride == 1 for w in c.windows)
    blocks = list(_blocks(c, rows, terms, rows_first, at, inf if is_view else BLOCK_BYTES // arithmetic.dtype.itemsize))
    row_sizes = [c.sizes[axis] for axis in rows]
    sums_sizes = (*row_sizes[:at], c.groups, c.outputs, *row_sizes[at:])
    result_sizes = (*row_sizes[:at], c.groups * c.outputs, *row_sizes[at:])
    to_result = tuple((*rows[:at], FEATURE, *rows[at:]).index(axis) for axis in c.result_order)
    order = (0, *(1 + axis for axis in (rows + terms if rows_first else terms + rows)))
    copied = 0 if is_view else max(prod(block.matrix) for block in blocks)
    view, features_last = view_of_windows(c), at == len(rows)

    def multiply(x: Array, kernels: Array) -> Array:
        windows = view(x).transpose(order)
        sums, copy = np.empty(sums_sizes, arithmetic.dtype), np.empty(copied, arithmetic.dtype)
        for group in range(c.groups):
            group_windows, group_sums = windows[group], sums[(slice(None),) * at + (group,)]
            kernel = kernels[:, group * c.outputs : (group + 1) * c.outputs]
            for block in blocks:
                matrix = group_windows[block.windows]
                matrix = matrix.reshape(block.matrix) if is_view else _copied(matrix, copy).reshape(block.matrix)
                factors = (matrix if rows_first else matrix.T), kernel[block.terms]
                target = group_sums[block.sums]
                if features_last:
                    target = target.reshape(-1, c.outputs)
                else:
                    factors = factors[1].T, factors[0].T
                    target = target.reshape(c.outputs, -1)
                if block.adds:
                    target += arithmetic.matmul(*factors)
                else:
                    arithmetic.matmul(*factors, out=target)
        return sums.reshape(result_sizes).transpose(to_result)

    return _kernel_matrix(c, terms), multiply


def _copied(x: Array, copy: Array) -> Array:
    copy = copy[: x.size].reshape(x.shape)
    np.copyto(copy, x)
    return copy


def _kernel_matrix(c: Convolution, terms: Axes) -> Prepare:
    """A function from kernels to a matrix of terms, in this order, by output features."""
    dimension = {c.element_axis(axis): d for d, axis in enumerate(c.rhs_order) if axis != OUTPUT_FEATURE}
    arranged = matrices(c.rhs_sizes, (), tuple(dimension[axis] for axis in terms), rows_first=False)
    return arranged or same


def _orders(c: Convolution) -> tuple[Axes, Axes, bool]:
    """Rows and terms as axes of products, in the order to copy them in, and whether the rows come first.

    What comes last runs along the array. Apart from that the rows follow the result, and the terms the kernels.
    """
    lhs_rows = tuple(axis for axis in c.lhs_order if axis != FEATURE)
    result_rows = tuple(axis for axis in c.result_order if axis != FEATURE)
    lhs_terms = tuple(c.element_axis(axis) for axis in c.lhs_order if axis != BATCH)
    rhs_terms = tuple(c.element_axis(axis) for axis in c.rhs_order if axis != OUTPUT_FEATURE)
    if _runs_along_windows(c):
        return (result_rows if _last(result_rows, c.sizes) == _last(lhs_rows, c.sizes) else lhs_rows), rhs_terms, False
    return result_rows, (rhs_terms if _last(rhs_terms, c.sizes) == _last(lhs_terms, c.sizes) else lhs_terms), True


def _last(axes: Axes, sizes: Sizes) -> Axes:
    return tuple(axis for axis in axes if sizes[axis] > 1)[-1:]


def _place_of_features(result_order: Axes, rows: Axes) -> int:
    """Among the rows, where the output features stand in the result; at the end if it has the rows in another order."""
    in_order = tuple(axis for axis in result_order if axis != FEATURE) == rows
    return result_order.index(FEATURE) if in_order else len(rows)


def _blocks(c: Convolution, rows: Axes, terms: Axes, rows_first: bool, at: int, limit: float) -> Iterator[_Block]:
    """Blocks of at most `limit` elements, if one row of not too many terms has no more.

    Rows before the place `at` of the features come one by one, so that the sums of a block are a matrix.
    """
    row_sizes, term_sizes = [c.sizes[axis] for axis in rows], [c.sizes[axis] for axis in terms]
    most_terms = max(c.terms if limit == inf else 1, MOST_TERMS)
    most_rows = limit / min(c.terms, most_terms)
    for row_index, (count, _) in _pieces(row_sizes, at if at < len(rows) else 0, most_rows):
        for term_index, (length, first) in _pieces(term_sizes, 0, most_terms):
            indices, sizes = (row_index, term_index), (count, length)
            if not rows_first:
                indices, sizes = indices[::-1], sizes[::-1]
            sums = (*row_index[:at], slice(None), *row_index[at:])
            yield _Block(indices[0] + indices[1], sizes, slice(first, first + length), sums, first > 0)


def _pieces(sizes: list[int], singles: int, limit: float) -> Iterator[tuple[Index, tuple[int, int]]]:
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
            yield (*outer, slice(start, stop), *rest), ((stop - start) * inner, begin)
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
