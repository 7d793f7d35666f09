"""Gathers slices from places that indices say, and scatters updates to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from stablehlo_ref.algorithms.gathering import reader
from stablehlo_ref.algorithms.index_order import are_repeated, are_sorted, components, depends_on_order
from stablehlo_ref.algorithms.indexed_windows import IndexedWindows, signed
from stablehlo_ref.algorithms.updates import Update
from stablehlo_ref.choices import Choice
from stablehlo_ref.define import Attr, Body, Group, In, Ins, Op, Out, Outs
from stablehlo_ref.kinds import Dims, Flag, Int, integer_tensor, per_tensor_quantized, tensor
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.integers import clamp_index
from stablehlo_ref.ops.reduction import one_or_all, promotion
from stablehlo_ref.spec import (
    axes,
    dim,
    dims,
    element_type,
    in_range,
    is_promotable,
    is_sorted,
    is_unique,
    make_tensor_type,
    rank,
    same,
    shape,
    size,
    tensor_type,
    with_element_type,
    without,
)

Array = Any
Run = Callable[..., Any]

BOX = 1 << 12  # elements: windows of as many are updated one by one


class Gather(Op, op="gather"):
    """Gathers slices of `operand` that start at the indices in `start_indices`, moved so that they lie within."""

    on_storage = True
    operand = In(tensor | per_tensor_quantized)  # I1
    start_indices = In(integer_tensor)  # I2
    offset_dims = Attr(Dims, default=())  # I3
    collapsed_slice_dims = Attr(Dims, default=())  # I4
    operand_batching_dims = Attr(Dims, default=())  # I5
    start_indices_batching_dims = Attr(Dims, default=())  # I6
    start_index_map = Attr(Dims, default=())  # I7
    index_vector_dim = Attr(Int, default=0)  # I8
    slice_sizes = Attr(Dims)  # I9
    indices_are_sorted = Attr(Flag, default=False)  # I10
    result = Out(tensor | per_tensor_quantized)

    # In MLIR text, and only there, I3-I8 travel together as `dimension_numbers = #stablehlo.gather<...>`.
    dimension_numbers = Group(
        "stablehlo.gather", offset_dims, collapsed_slice_dims, operand_batching_dims,
        start_indices_batching_dims, start_index_map, index_vector_dim,
    )  # fmt: skip

    @staticmethod
    def infer(
        operand: Any, start_indices: Any, offset_dims: Any, collapsed_slice_dims: Any, operand_batching_dims: Any,
        index_vector_dim: Any, slice_sizes: Any,
    ) -> Any:  # fmt: skip
        batch_dim_sizes = without(shape(start_indices), [index_vector_dim])
        offset_dim_sizes = without(slice_sizes, collapsed_slice_dims + operand_batching_dims)
        return make_tensor_type(combine(batch_dim_sizes, offset_dim_sizes, offset_dims), element_type(operand))

    @staticmethod
    def constraints(
        C: Any, infer: Any, operand: Any, start_indices: Any, offset_dims: Any, collapsed_slice_dims: Any,
        operand_batching_dims: Any, start_indices_batching_dims: Any, start_index_map: Any, index_vector_dim: Any,
        slice_sizes: Any, result: Any,
    ) -> None:  # fmt: skip
        C(1, rank(operand) == size(offset_dims) + size(collapsed_slice_dims) + size(operand_batching_dims))
        C(2, 0 <= index_vector_dim <= rank(start_indices))
        C(3, size(start_index_map) == index_size(start_indices, index_vector_dim))
        C(4, is_unique(offset_dims) and is_sorted(offset_dims))
        C(5, in_range(offset_dims, rank(result)))
        C(6, is_unique(collapsed_slice_dims + operand_batching_dims))
        C(7, is_sorted(collapsed_slice_dims))
        C(8, in_range(collapsed_slice_dims, rank(operand)))
        C(20, size(slice_sizes) == rank(operand))
        C(9, all(slice_sizes[d] <= 1 for d in collapsed_slice_dims))
        C(10, is_sorted(operand_batching_dims))
        C(11, in_range(operand_batching_dims, rank(operand)))
        C(12, all(slice_sizes[d] <= 1 for d in operand_batching_dims))
        C(13, is_unique(start_indices_batching_dims))
        C(14, in_range(start_indices_batching_dims, rank(start_indices)))
        C(15, index_vector_dim not in start_indices_batching_dims)
        C(16, size(operand_batching_dims) == size(start_indices_batching_dims))
        C(17, dims(operand, operand_batching_dims) == dims(start_indices, start_indices_batching_dims))
        C(18, is_unique(start_index_map + operand_batching_dims))
        C(19, in_range(start_index_map, rank(operand)))
        C(21, all(0 <= n <= whole for n, whole in zip(slice_sizes, shape(operand))))
        C(22, shape(result) == shape(infer()))
        C(23, element_type(operand) == element_type(result))

    @staticmethod
    def lift(
        operand: Any, offset_dims: Any, collapsed_slice_dims: Any, operand_batching_dims: Any,
        start_indices_batching_dims: Any, start_index_map: Any, index_vector_dim: Any, slice_sizes: Any,
    ) -> Any:  # fmt: skip
        """The lanes are one more batching dimension."""
        return {
            "offset_dims": shifted(offset_dims),
            "collapsed_slice_dims": shifted(collapsed_slice_dims),
            "operand_batching_dims": (0, *shifted(operand_batching_dims)),
            "start_indices_batching_dims": (0, *shifted(start_indices_batching_dims)),
            "start_index_map": shifted(start_index_map),
            "index_vector_dim": index_vector_dim + 1,
            "slice_sizes": (1, *slice_sizes),
        }

    @staticmethod
    def plan(
        operand: Any, start_indices: Any, offset_dims: Any, collapsed_slice_dims: Any, operand_batching_dims: Any,
        start_indices_batching_dims: Any, start_index_map: Any, index_vector_dim: Any, slice_sizes: Any, result: Any,
    ) -> Run:  # fmt: skip
        if not size(operand) or not size(result):
            nothing = np.zeros(shape(result), numpy_dtype(element_type(result)))
            return lambda operand, start_indices: nothing
        removed = collapsed_slice_dims + operand_batching_dims
        windows = IndexedWindows(
            sizes=shape(operand),
            extents=tuple(1 if d in removed else n for d, n in enumerate(slice_sizes)),
            shape=shape(result),
            window_axes=dict(zip(without(axes(operand), removed), offset_dims)),
            batching_axes=batching_axes(
                operand_batching_dims, start_indices_batching_dims, index_vector_dim, without(axes(result), offset_dims)
            ),
            indexed=start_index_map,
            index_vector_dim=index_vector_dim,
        )
        read = reader(windows)

        def run(operand: Array, start_indices: Array) -> Array:
            return read(operand, windows.components(start_indices))

        return run

    @staticmethod
    def open_cases(
        operand: Any, start_index_map: Any, index_vector_dim: Any, slice_sizes: Any, indices_are_sorted: bool
    ) -> Any:
        lasts = [dim(operand, d) - slice_sizes[d] for d in start_index_map]

        def cases(operand: Array, start_indices: Array, *_: Array) -> Iterator[Choice]:
            starts = map(clamp_index, components(start_indices, index_vector_dim), lasts)
            if not are_sorted(dict(zip(start_index_map, starts))):
                yield Choice.UNSORTED_INDICES

        return cases if indices_are_sorted else None


class Scatter(Op, op="scatter"):
    """`inputs` with `updates` put to the places that `scatter_indices` say, by `update_computation`.

    The schedule is the index space of the updates in its own order.
    """

    inputs = Ins(tensor | per_tensor_quantized)  # I1
    scatter_indices = In(integer_tensor)  # I2
    updates = Ins(tensor | per_tensor_quantized)  # I3
    update_window_dims = Attr(Dims, default=())  # I4
    inserted_window_dims = Attr(Dims, default=())  # I5
    input_batching_dims = Attr(Dims, default=())  # I6
    scatter_indices_batching_dims = Attr(Dims, default=())  # I7
    scatter_dims_to_operand_dims = Attr(Dims, default=())  # I8
    index_vector_dim = Attr(Int, default=0)  # I9
    indices_are_sorted = Attr(Flag, default=False)  # I10
    unique_indices = Attr(Flag, default=False)  # I11
    update_computation = Body()  # I12
    results = Outs(tensor | per_tensor_quantized)

    # In MLIR text, and only there, I4-I9 travel together as `scatter_dimension_numbers = #stablehlo.scatter<...>`.
    scatter_dimension_numbers = Group(
        "stablehlo.scatter", update_window_dims, inserted_window_dims, input_batching_dims,
        scatter_indices_batching_dims, scatter_dims_to_operand_dims, index_vector_dim,
    )  # fmt: skip

    @staticmethod
    def infer(inputs: Any, update_computation: Any) -> Any:
        return tuple(with_element_type(x, element_type(e)) for x, e in zip(inputs, update_computation.outputs))

    @staticmethod
    def constraints(
        C: Any, inputs: Any, scatter_indices: Any, updates: Any, update_window_dims: Any, inserted_window_dims: Any,
        input_batching_dims: Any, scatter_indices_batching_dims: Any, scatter_dims_to_operand_dims: Any,
        index_vector_dim: Any, update_computation: Any, results: Any,
    ) -> None:  # fmt: skip
        C(5, 0 < size(inputs) == size(updates))
        C(1, same(map(shape, inputs)))
        C(2, rank(inputs[0]) == size(update_window_dims) + size(inserted_window_dims) + size(input_batching_dims))
        C(3, same(map(shape, updates)))
        C(6, all(element_type(u) == element_type(x) for u, x in zip(updates, inputs)))
        C(7, is_unique(update_window_dims) and is_sorted(update_window_dims))
        C(8, in_range(update_window_dims, rank(updates[0])))
        C(9, is_unique(inserted_window_dims + input_batching_dims))
        C(10, is_sorted(inserted_window_dims))
        C(11, in_range(inserted_window_dims, rank(inputs[0])))
        C(12, is_sorted(input_batching_dims))
        C(13, in_range(input_batching_dims, rank(inputs[0])))
        C(22, 0 <= index_vector_dim <= rank(scatter_indices))
        C(14, is_unique(scatter_indices_batching_dims))
        C(15, in_range(scatter_indices_batching_dims, rank(scatter_indices)))
        C(16, index_vector_dim not in scatter_indices_batching_dims)
        C(17, size(input_batching_dims) == size(scatter_indices_batching_dims))
        C(18, dims(inputs[0], input_batching_dims) == dims(scatter_indices, scatter_indices_batching_dims))
        C(19, size(scatter_dims_to_operand_dims) == index_size(scatter_indices, index_vector_dim))
        C(20, is_unique(scatter_dims_to_operand_dims + input_batching_dims))
        C(21, in_range(scatter_dims_to_operand_dims, rank(inputs[0])))
        update_scatter_dim_sizes = without(shape(scatter_indices), [index_vector_dim])
        update_window_dim_sizes = dims(updates[0], update_window_dims)
        C(4, shape(updates[0]) == combine(update_scatter_dim_sizes, update_window_dim_sizes, update_window_dims))
        C(4, all(n <= whole for n, whole in zip(
            update_window_dim_sizes, without(shape(inputs[0]), inserted_window_dims + input_batching_dims)
        )))  # fmt: skip
        E = tuple(map(element_type, update_computation.outputs))
        C(23, update_computation.inputs == scalars(E + E) and update_computation.outputs == scalars(E)
          and size(E) == size(inputs) and all(map(is_promotable, inputs, E)))  # fmt: skip
        C(24, tuple(map(shape, results)) == tuple(map(shape, inputs)))
        C(25, tuple(map(element_type, results)) == E)

    @staticmethod
    def plan(
        inputs: Any, scatter_indices: Any, updates: Any, update_window_dims: Any, inserted_window_dims: Any,
        input_batching_dims: Any, scatter_indices_batching_dims: Any, scatter_dims_to_operand_dims: Any,
        index_vector_dim: Any, unique_indices: Any, update_computation: Any, results: Any,
    ) -> Run:  # fmt: skip
        windows = scatter_windows(
            inputs[0], updates[0], update_window_dims, inserted_window_dims, input_batching_dims,
            scatter_indices_batching_dims, scatter_dims_to_operand_dims, index_vector_dim,
        )  # fmt: skip
        write = writer(windows, Update(update_computation, windows.rows, unique_indices))
        promote = promotion(inputs, results)
        is_empty = size(inputs[0]) == 0 or size(updates[0]) == 0

        def put(results: list[Array], scatter_indices: Array, updates: Sequence[Array]) -> Any:
            if not is_empty:
                starts = list(map(signed, windows.components(scatter_indices)))
                write(results, starts, promote(updates))
            return one_or_all(results)

        def run(inputs: Sequence[Array], scatter_indices: Array, updates: Sequence[Array]) -> Any:
            results = [np.array(x, order="C") for x in promote(inputs)]
            return put(results, scatter_indices, updates)

        def in_place(inputs: Sequence[Array], scatter_indices: Array, updates: Sequence[Array]) -> Any:
            in_one_piece = inputs[0].flags.c_contiguous
            return (put if in_one_piece else run)(list(inputs), scatter_indices, updates)

        if len(inputs) == 1 and element_type(inputs[0]) == element_type(results[0]):
            run.in_place = in_place  # type: ignore[attr-defined]
        return run

    @staticmethod
    def open_cases(
        inputs: Any, updates: Any, update_window_dims: Any, inserted_window_dims: Any, input_batching_dims: Any,
        scatter_indices_batching_dims: Any, scatter_dims_to_operand_dims: Any, index_vector_dim: Any,
        indices_are_sorted: bool, unique_indices: bool, regions: Any,
    ) -> Any:  # fmt: skip
        windows = scatter_windows(
            inputs[0], updates[0], update_window_dims, inserted_window_dims, input_batching_dims,
            scatter_indices_batching_dims, scatter_dims_to_operand_dims, index_vector_dim,
        )  # fmt: skip

        def cases(inputs: Sequence[Array], scatter_indices: Array, updates: Sequence[Array]) -> Iterator[Choice]:
            starts = list(map(signed, components(scatter_indices, index_vector_dim)))
            if indices_are_sorted and not are_sorted(dict(zip(scatter_dims_to_operand_dims, starts))):
                yield Choice.UNSORTED_INDICES
            if (unique_indices or depends_on_order(regions[0].block)) and are_repeated(windows, starts):
                yield Choice.REPEATED_INDICES if unique_indices else Choice.SCATTER_ORDER

        return cases


def scatter_windows(
    x: Any, update: Any, update_window_dims: Any, inserted_window_dims: Any, input_batching_dims: Any,
    scatter_indices_batching_dims: Any, scatter_dims_to_operand_dims: Any, index_vector_dim: int,
) -> IndexedWindows:  # fmt: skip
    """Where updates of type `update` are in inputs of type `x`."""
    window_dims = without(axes(x), inserted_window_dims + input_batching_dims)
    extents = dict(zip(window_dims, dims(update, update_window_dims)))
    return IndexedWindows(
        sizes=shape(x),
        extents=tuple(extents.get(d, 1) for d in axes(x)),
        shape=shape(update),
        window_axes=dict(zip(window_dims, update_window_dims)),
        batching_axes=batching_axes(
            input_batching_dims, scatter_indices_batching_dims, index_vector_dim,
            without(axes(update), update_window_dims),
        ),
        indexed=scatter_dims_to_operand_dims,
        index_vector_dim=index_vector_dim,
    )  # fmt: skip


# --- constraints ----------------------------------------------------------------------------------------------------


def combine(batch_sizes: Sequence[int], offset_sizes: Sequence[int], offset_dims: Sequence[int]) -> tuple[int, ...]:
    """The shape with `offset_sizes` at the axes `offset_dims` and `batch_sizes` at the others, in order.

    ValueError where these are not axes of it.
    """
    count = len(batch_sizes) + len(offset_sizes)
    if sum(d in offset_dims for d in range(count)) != len(offset_sizes):
        raise ValueError(f"{offset_dims} are not {len(offset_sizes)} of {count} axes")
    batch, offset = iter(batch_sizes), iter(offset_sizes)
    return tuple(next(offset if d in offset_dims else batch) for d in range(count))


def index_size(indices: Any, index_vector_dim: int) -> int:
    """The number of components of an index."""
    return dim(indices, index_vector_dim) if index_vector_dim < rank(indices) else 1


def scalars(element_types: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(tensor_type((), e) for e in element_types)


def shifted(dims: Sequence[int]) -> tuple[int, ...]:
    return tuple(d + 1 for d in dims)


def batching_axes(
    batching_dims: Sequence[int], indices_batching_dims: Sequence[int], index_vector_dim: int, batch_dims: Sequence[int]
) -> dict[int, int]:
    """For each of `batching_dims` the one of `batch_dims` whose index is the dimension's ("full_batching_index")."""
    return {
        d: batch_dims[d_start - (0 if d_start < index_vector_dim else 1)]
        for d, d_start in zip(batching_dims, indices_batching_dims)
    }


# --- scatter --------------------------------------------------------------------------------------------------------

Starts = list[Array]
Write = Callable[[Sequence[Array], Starts, Sequence[Array]], None]


def writer(windows: IndexedWindows, update: Update) -> Write:
    """Updates tensors that lie in one piece, in place."""
    if prod(windows.batch_shape) == 1:
        return _one_box(windows, update)
    batch_leads = windows.batch_axes == tuple(range(len(windows.batch_axes)))
    return (_boxes if batch_leads and prod(windows.extents) >= BOX else _numbered_rows)(windows, update)


def _numbered_rows(windows: IndexedWindows, update: Update) -> Write:
    order, row = windows.other_axes + windows.row_axes, windows.table_shape[1:]

    def write(results: Sequence[Array], starts: Starts, updates: Sequence[Array]) -> None:
        tables = [x.reshape(windows.table_shape) for x in results]
        news = [x.transpose(order).reshape(-1, *row) for x in updates]
        numbers, within = windows.row_numbers(starts), windows.in_bounds(starts)
        if within is not None:
            numbers, news = numbers[within], [x[within] for x in news]
        update.rows(tables, numbers, news)

    return write


def _one_box(windows: IndexedWindows, update: Update) -> Write:
    put = _put_box(windows, update)
    return lambda results, starts, updates: put(
        results, windows.place(starts), [x.reshape(windows.extents) for x in updates]
    )


def _boxes(windows: IndexedWindows, update: Update) -> Write:
    """Window after window."""
    order, count, put = windows.batch_axes + windows.in_window, prod(windows.batch_shape), _put_box(windows, update)

    def write(results: Sequence[Array], starts: Starts, updates: Sequence[Array]) -> None:
        news = [x.transpose(order).reshape(count, *windows.extents) for x in updates]
        columns = [np.broadcast_to(x, windows.batch_shape).reshape(-1).tolist() for x in windows.places(starts)]
        for k, place in enumerate(zip(*columns) if columns else [()] * count):
            put(results, place, [x[k, ...] for x in news])

    return write


def _put_box(windows: IndexedWindows, update: Update) -> Callable[[Sequence[Array], Sequence[int], list[Array]], None]:
    """Updates the part of a window that is in bounds."""
    bounds = list(zip(windows.extents, windows.sizes))

    def put(results: Sequence[Array], place: Sequence[int], news: list[Array]) -> None:
        low = [max(0, -first) for first in place]
        high = [min(n, whole - first) for first, (n, whole) in zip(place, bounds)]
        if all(map(int.__lt__, low, high)):
            part = tuple(map(slice, low, high))
            inside = tuple([slice(first + a, first + b) for first, a, b in zip(place, low, high)])
            update.elements([x[(*inside, ...)] for x in results], [x[(*part, ...)] for x in news])

    return put
