"""Sums of products of windows and kernels, for convolution.

Of the axes of the products (`window_views`), the batch and the windows are the rows of a matrix, and the input features
and the elements of a window are its terms. Blocks of that matrix are copied in the order of the array in memory, and
multiplied with the kernels in the order of the result. Where matrices are slower, products are summed by elementwise
operations. Each strategy is a class below; the first that applies is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, TypeAlias

import numpy as np

from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.numerics.contraction import (
    Arithmetic,
    Sizes,
    arithmetic,
    converted_bytes,
    elementwise_arithmetic,
    for_products,
    identity,
)
from stablehlo_ref.numerics.dtypes import kind
from stablehlo_ref.numerics.kernels import ArrayKernel
from stablehlo_ref.numerics.product_parts import converts_to_floats, product_by_rows
from stablehlo_ref.numerics.window_views import (
    BATCH,
    FEATURE,
    SPATIAL,
    Convolution,
    Index,
    Layout,
    WindowBlock,
    blocks,
    canonical,
    in_order,
    kernel_matrix,
    layout_of,
    pieces,
    rows_by_slabs,
    runs_along_windows,
    slab_bytes,
    slab_of,
    slab_step,
    store_sums,
    view_of_slab,
)

Sums: TypeAlias = Callable[[Array, Array], Array]  # of a view of windows and prepared kernels
Prepared: TypeAlias = Array | list[Any]  # kernels as `Multiply` takes them: a matrix, or one for each phase
Prepare: TypeAlias = Callable[[Array], Prepared]
Multiply: TypeAlias = Callable[[Array, Any], Array]  # of an array and prepared kernels
MultiplyBlock: TypeAlias = Callable[[Array, Array, Array, bool], None]  # block, kernels, sums, whether to add

BLOCK_BYTES = 1 << 21  # of a copy of windows, so that it is still in the cache when it is multiplied
EXACT_ROWS = 64  # of such a copy at least, where all terms of a row must be in one
MOST_TERMS = 1 << 11  # of such a copy, so that it has enough rows
THIN = 2  # with at most this many output features per group, multiplying matrices group by group is slower
MOST_PHASES = 1 << 8  # of base dilation; with more, zeros are inserted between the elements of the array
TERM_BY_TERM_ELEMENTS = 1 << 16  # of the result computed at a time, where terms are added one by one
FEW = 1 << 13  # multiplications: up to this many are as fast in order as by matrices, and round as elsewhere


@dataclass(frozen=True)
class ConvolutionStrategy:
    """A way to compute a convolution by an arithmetic; `dtypes` are those of the array, the kernels and the result."""

    c: Convolution
    arithmetic: Arithmetic
    dtypes: tuple[DType, DType, DType]

    @property
    def applies(self) -> bool:
        """Whether the strategy is right, and worth while, for this convolution."""
        return True

    def plan(self) -> tuple[Prepare, Multiply]:
        """Return functions that prepare kernels, and multiply an array with prepared kernels.

        The kernels have `arithmetic.dtype` already.
        """
        raise NotImplementedError

    @property
    def temporaries(self) -> int:
        """The bytes that are allocated beside kernels and the result, at most."""
        raise NotImplementedError


def convolution(c: Convolution, dtypes: tuple[DType, DType, DType], is_exact: bool) -> ConvolutionStrategy:
    """Return the first strategy that applies; `is_exact` is that of `contraction.arithmetic`."""
    return _choose(STRATEGIES, c, arithmetic_of(c, *dtypes, is_exact), dtypes)


def _choose(
    strategies: Sequence[type[ConvolutionStrategy]],
    c: Convolution,
    arithmetic: Arithmetic,
    dtypes: tuple[DType, DType, DType],
) -> ConvolutionStrategy:
    return next(strategy for each in strategies if (strategy := each(c, arithmetic, dtypes)).applies)


def arithmetic_of(c: Convolution, lhs: DType, rhs: DType, result: DType, is_exact: bool) -> Arithmetic:
    """Return how the products are summed."""
    sums = arithmetic(lhs, rhs, result, c.terms, is_exact)
    if is_elementwise(c, sums):
        return elementwise_arithmetic(lhs, rhs, result)
    return for_products(sums, c.terms * prod(c.result_sizes))


def is_elementwise(c: Convolution, sums: Arithmetic) -> bool:
    """Return whether to use elementwise operations, which add in order: for few products or few outputs per group.

    Only matrices have exact sums.
    """
    if sums.is_exact:
        return False
    is_thin = c.groups > 1 and c.outputs <= THIN
    return is_thin or prod(c.sizes) * c.groups * c.outputs <= FEW


class ByPhases(ConvolutionStrategy):
    """Split a convolution with base dilation into several without, each for the results that use the same elements.

    They skip the zeros between elements, which is not valid for infinite or NaN kernels: these use dilation.
    """

    @property
    def applies(self) -> bool:
        return 1 < prod(w.base_dilation for w in self.c.windows) <= MOST_PHASES

    @cached_property
    def phases(self) -> list[tuple[Index, Index, ConvolutionStrategy]]:
        """The windows and the elements of each phase, and its strategy, for an array that is converted."""
        found = []
        for phase in product(*(w.phases() for w in self.c.windows)):
            windows, elements, attributes = zip(*phase)
            found.append((windows, elements, self._undilated(replace(self.c, windows=attributes))))
        return found

    def _undilated(self, c: Convolution) -> ConvolutionStrategy:
        return _choose(STRATEGIES[1:], c, replace(self.arithmetic, load_lhs=identity), self.dtypes)

    @property
    def temporaries(self) -> int:
        c, sums = self.c, self.arithmetic
        loaded = 0 if sums.load_lhs is identity else prod(c.lhs_sizes) * sums.dtype.itemsize
        each = [
            strategy.temporaries + prod(strategy.c.result_sizes) * self.dtypes[2].itemsize
            for _, _, strategy in self.phases
        ]
        return loaded + max(each, default=0)

    def plan(self) -> tuple[Prepare, Multiply]:
        c, load, dtype = self.c, self.arithmetic.load_lhs, self.dtypes[2]
        every = (slice(None), slice(None))
        prepare_dilated, multiply_dilated = self._undilated(c).plan()
        phases = [
            (in_order((*every, *windows), c.result_order), in_order((*every, *elements), c.rhs_order), *strategy.plan())
            for windows, elements, strategy in self.phases
        ]

        def prepare(kernels: Array) -> Prepared:
            if kind(kernels.dtype) in ("floating", "complex") and not np.isfinite(kernels).all():
                return prepare_dilated(kernels)
            return [prepare_phase(kernels[elements]) for _, elements, prepare_phase, _ in phases]

        def multiply(x: Array, kernels: Prepared) -> Array:
            x = load(x)
            if not isinstance(kernels, list):
                return multiply_dilated(x, kernels)
            result = np.zeros(c.result_sizes, dtype)
            for (positions, _, _, multiply_phase), kernel in zip(phases, kernels):
                result[positions] = multiply_phase(x, kernel)
            return result

        return prepare, multiply


def _slabs_of(c: Convolution, arithmetic: Arithmetic, axes: Sequence[int]) -> tuple[int, int]:
    """Return the first of the axes that has several indices, and how many of these to compute at a time."""
    axis = next((axis for axis in axes if c.sizes[axis] > 1), axes[0])
    return axis, slab_step(c, axis, arithmetic)


# --- by matrix multiplication ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Slab:
    """A range of the rows: a view of its windows, its indices in the sums and its blocks."""

    view: ArrayKernel
    sums: Index
    blocks: Sequence[WindowBlock]


class ByMatrices(ConvolutionStrategy):
    """Multiply blocks of windows, copied as matrices, with the matrix of kernels."""

    @cached_property
    def layout(self) -> Layout:
        return layout_of(self.c)

    @cached_property
    def slabs_of(self) -> tuple[int, int]:
        """The first axis of the rows, and how many of its indices to compute at a time.

        A product without copies is one matrix, unless axes are split because they come before the output features.
        """
        rows = self.layout.rows
        axis, step = _slabs_of(self.c, self.arithmetic, rows)
        is_split = not _is_view(self.c) or rows.index(axis) < self.layout.singles
        return axis, step if is_split else self.c.sizes[axis]

    @property
    def temporaries(self) -> int:
        c, sums = self.c, self.arithmetic
        block = min(prod(c.sizes), _limits(c, sums)[0])
        rows = block // c.terms
        converted = block + c.terms * c.outputs, 2 * rows * c.outputs
        exact = converted_bytes(self.dtypes, *converted, is_exact=True) if sums.is_exact else 0
        copied = 0 if _is_view(c) else block * sums.dtype.itemsize
        return 2 * slab_bytes(c, sums, *self.slabs_of) + exact + copied

    def plan(self) -> tuple[Prepare, Multiply]:
        c, layout, arithmetic, dtype = self.c, self.layout, self.arithmetic, self.dtypes[2]
        is_view, is_stored = _is_view(c), arithmetic.store is identity
        row_sizes = tuple(c.sizes[axis] for axis in layout.rows)
        sums_sizes = layout.with_features(row_sizes, c.groups, c.outputs)
        result_sizes = layout.with_features(row_sizes, c.groups * c.outputs)
        to_result = tuple(layout.with_features(layout.rows, FEATURE).index(axis) for axis in c.result_order)
        order = (0, *(1 + axis for axis in layout.order))
        add = _multiply_block(arithmetic, c.outputs, layout)
        slabs = list(self._slabs())
        copied = max(prod(block.matrix) for slab in slabs for block in slab.blocks)
        before: Index = (slice(None),) * layout.feature_position

        def multiply_slab(slab: _Slab, x: Array, kernels: Array, sums: Array, copy: Array | None) -> None:
            windows = slab.view(x).transpose(order)
            for group in range(c.groups):
                group_windows, group_sums = windows[group], sums[(*before, group)]
                group_kernels = kernels[:, group * c.outputs : (group + 1) * c.outputs]
                for block in within_time(slab.blocks):
                    matrix = _as_matrix(group_windows[block.windows], block.matrix, copy)
                    add(matrix, group_kernels[block.terms], group_sums[block.sums], block.adds)

        def multiply(x: Array, kernels: Array) -> Array:
            copy = None if is_view else np.empty(copied, arithmetic.dtype)
            if len(slabs) == 1:
                sums = np.empty(sums_sizes, arithmetic.dtype)
                multiply_slab(slabs[0], x, kernels, sums, copy)
                return arithmetic.store(sums).reshape(result_sizes).transpose(to_result)
            results = np.empty(sums_sizes, dtype)
            for slab in slabs:
                target = results[slab.sums]
                sums = target if is_stored else np.empty(target.shape, arithmetic.dtype)
                multiply_slab(slab, x, kernels, sums, copy)
                if not is_stored:
                    store_sums(arithmetic, sums, target)
            return results.reshape(result_sizes).transpose(to_result)

        return kernel_matrix(c, layout.terms), multiply

    def _slabs(self) -> Iterator[_Slab]:
        """Yield slabs, which begin and end where blocks do; without padding and conversion, all rows are one slab."""
        c, layout, (axis, step) = self.c, self.layout, self.slabs_of
        position, (limit, most_terms) = layout.rows.index(axis), _limits(c, self.arithmetic)
        terms = list(pieces([c.sizes[axis] for axis in layout.terms], 0, most_terms))
        before = (slice(None),) * (position + 2 * (layout.feature_position <= position))
        for start, stop, rows in rows_by_slabs(c, layout, position, step, limit / most_terms):
            view = view_of_slab(c, axis, start, stop, self.arithmetic)
            yield _Slab(view, (*before, slice(start, stop)), list(blocks(layout, rows, terms)))


class ByRows(ConvolutionStrategy):
    """Convert and multiply the rows of the array group by group, if the whole array itself is the matrix of windows."""

    @property
    def applies(self) -> bool:
        c = self.c
        is_whole = all(w.is_filled and w.extent == w.size for w in c.windows)
        is_array = c.groups == 1 and _is_view(c) and is_whole and not runs_along_windows(c)
        in_order = c.lhs_order == c.result_order and c.lhs_order[-1] == FEATURE
        return is_array and in_order and converts_to_floats(self.arithmetic)

    temporaries = BLOCK_BYTES

    def plan(self) -> tuple[Prepare, Multiply]:
        c, arithmetic, dtype = self.c, self.arithmetic, self.dtypes[2]

        def multiply(x: Array, kernels: Array) -> Array:
            return product_by_rows(arithmetic, x.reshape(-1, c.terms), kernels, dtype).reshape(c.result_sizes)

        return kernel_matrix(c, layout_of(c).terms), multiply


def _is_view(c: Convolution) -> bool:
    """Return whether matrices are views of the array, since windows have one element and follow each other."""
    return c.terms == c.features and all(w.stride == 1 for w in c.windows)


def _limits(c: Convolution, arithmetic: Arithmetic) -> tuple[int, int]:
    """Return how many elements and how many terms of a row a block has at most."""
    limit = BLOCK_BYTES // arithmetic.dtype.itemsize
    if arithmetic.is_exact:
        return max(limit, EXACT_ROWS * c.terms), c.terms
    if _is_view(c):
        return prod(c.sizes), c.terms
    return limit, min(c.terms, MOST_TERMS)


def _as_matrix(x: Array, sizes: Sizes, copy: Array | None) -> Array:
    if copy is not None:
        copy = copy[: x.size].reshape(x.shape)
        np.copyto(copy, x)
        x = copy
    return x.reshape(sizes)


def _multiply_block(arithmetic: Arithmetic, outputs: int, layout: Layout) -> MultiplyBlock:
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


# --- by elementwise operations --------------------------------------------------------------------------------------


def by_einsum(c: Convolution) -> Sums:
    """Sum with einsum, whose inner loop runs along the groups if features or the batch are innermost in memory."""
    n = len(c.windows)
    group, batch, feature, output = 0, 1, 2, 3 + 2 * n
    windows, elements = range(3, 3 + n), range(3 + n, 3 + 2 * n)
    labels = [group, batch, feature, *windows, *elements]
    kernel_labels = [group, output, feature, *elements]
    result_axes = ((batch,), (group, output), *((w,) for w in windows))
    result_labels = [label for axis in c.result_order for label in result_axes[axis]]

    def multiply(windows: Array, kernels: Array) -> Array:
        sums: Array = np.einsum(windows, labels, kernels, kernel_labels, result_labels, optimize=False)
        return sums.reshape(c.result_sizes)

    return multiply


def term_by_term(c: Convolution) -> Sums:
    """Add products to the sums term by term, for all windows at once, if windows are innermost in memory."""
    n = len(c.windows)
    batch, _, *counts = c.sizes[: SPATIAL + n]
    split = [(batch,), (c.groups, c.outputs), *((count,) for count in counts)]
    sums_sizes = [size for axis in c.result_order for size in split[axis]]
    starts = {axis: sum(len(split[before]) for before in c.result_order[:d]) for d, axis in enumerate(c.result_order)}
    order = (starts[FEATURE], starts[BATCH], *(starts[SPATIAL + j] for j in range(n)), starts[FEATURE] + 1)
    step = max(1, TERM_BY_TERM_ELEMENTS // (batch * prod(counts) * c.outputs))
    terms = list(product(*map(range, (c.features, *c.sizes[SPATIAL + n :]))))
    every_window = (slice(None),) * n
    broadcast = (slice(None), np.newaxis, *(np.newaxis,) * n, slice(None))

    def multiply(windows: Array, kernels: Array) -> Array:
        sums = np.empty(sums_sizes, windows.dtype)
        canonical_sums = sums.transpose(order)
        for start in range(0, c.groups, step):
            some = slice(start, start + step)
            target = canonical_sums[some]
            term = np.empty_like(target)
            for feature, *element in terms:
                of_windows: Index = (some, slice(None), feature, *every_window, *element)
                of_kernels: Index = (some, slice(None), feature, *element)
                values, factors = windows[of_windows][..., np.newaxis], kernels[of_kernels][broadcast]
                if feature == 0 and not any(element):
                    np.multiply(values, factors, out=target)
                else:
                    np.add(target, np.multiply(values, factors, out=term), out=target)
        return sums.reshape(c.result_sizes)

    return multiply


def canonical_kernels(c: Convolution) -> Callable[[Array], Array]:
    """Return a function from kernels to a view with axes group, output feature, input feature, elements of a window."""
    permutation, n = canonical(c.rhs_order), len(c.windows)
    sizes = (c.groups, c.outputs, *c.sizes[FEATURE : FEATURE + 1], *c.sizes[SPATIAL + n :])
    return lambda kernels: kernels.transpose(permutation).reshape(sizes)


class ByElements(ConvolutionStrategy):
    """Sum products by elementwise operations, slab by slab; if nothing is padded and converted, all is one slab."""

    @property
    def applies(self) -> bool:
        return is_elementwise(self.c, self.arithmetic)

    @property
    def slabs_of(self) -> tuple[int, int]:
        return _slabs_of(self.c, self.arithmetic, [axis for axis in self.c.lhs_order if axis != FEATURE])

    @property
    def temporaries(self) -> int:
        return 2 * slab_bytes(self.c, self.arithmetic, *self.slabs_of) + BLOCK_BYTES

    def plan(self) -> tuple[Prepare, Multiply]:
        c, arithmetic, dtype, (axis, step) = self.c, self.arithmetic, self.dtypes[2], self.slabs_of
        method = term_by_term if runs_along_windows(c) else by_einsum
        count = c.sizes[axis]
        ranges = [(start, min(start + step, count)) for start in range(0, count, step)]
        views = [view_of_slab(c, axis, *some, arithmetic) for some in ranges]
        methods = {stop - start: method(slab_of(c, axis, start, stop)) for start, stop in ranges}
        before = (slice(None),) * c.result_order.index(axis)

        def multiply(x: Array, kernels: Array) -> Array:
            if len(ranges) == 1:
                return arithmetic.store(methods[count](views[0](x), kernels))
            results = np.empty(c.result_sizes, dtype)
            for (start, stop), view in within_time(zip(ranges, views)):
                sums = methods[stop - start](view(x), kernels)
                store_sums(arithmetic, sums, results[(*before, slice(start, stop))])
            return results

        return canonical_kernels(c), multiply


STRATEGIES = (ByPhases, ByElements, ByRows, ByMatrices)
