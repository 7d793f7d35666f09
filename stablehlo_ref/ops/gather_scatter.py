"""gather and scatter: slices of a tensor that are read from, or updated at, the positions that indices specify."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from stablehlo_ref.algorithms.indexed_windows import IndexedWindows, index_components, signed, window_reader
from stablehlo_ref.algorithms.scatter_updates import plan_updates
from stablehlo_ref.define.attribute_codecs import Dims, Flag, Int
from stablehlo_ref.define.bound import Site
from stablehlo_ref.define.choices import Choice
from stablehlo_ref.define.computation import FindChoices, Kernel, RegionFunction, Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.facts import FOLDS, MOVES
from stablehlo_ref.define.op import Attr, Body, Group, In, Ins, Op, Out, Outs
from stablehlo_ref.define.spec import (
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
    with_element_type,
    without,
)
from stablehlo_ref.define.type_constraints import integer_tensor, per_tensor_quantized, tensor
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Block, Operation
from stablehlo_ref.ir.types import FunctionType, TensorType, Type, tensor_type
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.integers import clamp_index
from stablehlo_ref.ops.dot_general import shifted
from stablehlo_ref.ops.reduction import Results, one_or_all, promotion


@dataclass(frozen=True, slots=True)
class GatherDimensions:
    """The attribute `dimension_numbers` of gather."""

    offset_dims: Dims
    collapsed_slice_dims: Dims
    operand_batching_dims: Dims
    start_indices_batching_dims: Dims
    start_index_map: Dims
    index_vector_dim: Int


@dataclass(frozen=True, slots=True)
class ScatterDimensions:
    """The attribute `scatter_dimension_numbers` of scatter."""

    update_window_dims: Dims
    inserted_window_dims: Dims
    input_batching_dims: Dims
    scatter_indices_batching_dims: Dims
    scatter_dims_to_operand_dims: Dims
    index_vector_dim: Int


class Gather(Op, op="gather", computes_on_storage=True, nans="moved", facts=MOVES):
    """Gather slices of `operand` that start at `start_indices`, clamped so that the slices are in bounds."""

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

    dimension_numbers = Group("stablehlo.gather", as_type=GatherDimensions, is_required=True)  # I3-I8

    @staticmethod
    def infer(
        operand: TensorType, start_indices: TensorType, dimension_numbers: GatherDimensions, slice_sizes: Dims
    ) -> TensorType:
        d = dimension_numbers
        batch_dim_sizes = without(shape(start_indices), [d.index_vector_dim])
        offset_dim_sizes = without(slice_sizes, d.collapsed_slice_dims + d.operand_batching_dims)
        return make_tensor_type(combine(batch_dim_sizes, offset_dim_sizes, d.offset_dims), element_type(operand))

    @staticmethod
    def constraints(
        C: Checker,
        infer: Callable[[], TensorType],
        operand: TensorType,
        start_indices: TensorType,
        offset_dims: Dims,
        collapsed_slice_dims: Dims,
        operand_batching_dims: Dims,
        start_indices_batching_dims: Dims,
        start_index_map: Dims,
        index_vector_dim: Int,
        slice_sizes: Dims,
        result: TensorType,
    ) -> None:
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
    def batching_rule(dimension_numbers: GatherDimensions, slice_sizes: Dims) -> Mapping[str, object]:
        """Make the lanes one more batching dimension."""
        d = dimension_numbers
        return {
            "offset_dims": shifted(d.offset_dims),
            "collapsed_slice_dims": shifted(d.collapsed_slice_dims),
            "operand_batching_dims": (0, *shifted(d.operand_batching_dims)),
            "start_indices_batching_dims": (0, *shifted(d.start_indices_batching_dims)),
            "start_index_map": shifted(d.start_index_map),
            "index_vector_dim": d.index_vector_dim + 1,
            "slice_sizes": (1, *slice_sizes),
        }

    @staticmethod
    def plan(operand: TensorType, dimension_numbers: GatherDimensions, slice_sizes: Dims, result: TensorType) -> Run:
        """Plan `result[result_index] = operand[full_start_index + full_batching_index + full_offset_index]`.

        See `semantics.gather_scatter.gather` for these indices. An `IndexedWindows` maps the dimensions of the operand
        to axes of the result. What depends on no value, full_batching_index + full_offset_index, is computed once, in
        units of contiguous rows of the operand; a run adds the clamped start_index and reads all rows in one numpy call
        (algorithms/indexed_windows.py).
        """
        if not size(operand) or not size(result):
            empty = np.zeros(shape(result), numpy_dtype(element_type(result)))
            return lambda operand, start_indices: empty
        numbers = dimension_numbers
        removed_dims = numbers.collapsed_slice_dims + numbers.operand_batching_dims
        batch_dims = without(axes(result), numbers.offset_dims)
        windows = IndexedWindows(
            sizes=shape(operand),
            extents=tuple(1 if d in removed_dims else n for d, n in enumerate(slice_sizes)),
            shape=shape(result),
            window_axes=dict(zip(without(axes(operand), removed_dims), numbers.offset_dims)),
            batching_axes=batching_axes(
                numbers.operand_batching_dims, numbers.start_indices_batching_dims, numbers.index_vector_dim, batch_dims
            ),
            indexed=numbers.start_index_map,
        )
        read = window_reader(windows)

        def run(operand: Array, start_indices: Array) -> Array:
            return read(operand, index_components(start_indices, numbers.index_vector_dim))

        return run

    @staticmethod
    def implementation_defined(
        operand: TensorType, dimension_numbers: GatherDimensions, slice_sizes: Dims, indices_are_sorted: Flag
    ) -> FindChoices:
        numbers = dimension_numbers
        lasts = [dim(operand, d) - slice_sizes[d] for d in numbers.start_index_map]

        def cases(operand: Array, start_indices: Array, *_: Array) -> Iterator[Choice]:
            full_start_index = map(clamp_index, index_components(start_indices, numbers.index_vector_dim), lasts)
            if not are_sorted(dict(zip(numbers.start_index_map, full_start_index))):
                yield Choice.UNSORTED_INDICES

        return cases if indices_are_sorted else None


class Scatter(Op, op="scatter", nans="computed", facts=replace(FOLDS, fusion="once")):
    """Update slices of `inputs` that start at `scatter_indices` with `updates`, by `update_computation`.

    The schedule, which is implementation-defined, is the index space of the updates in lexicographic order.
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

    scatter_dimension_numbers = Group("stablehlo.scatter", as_type=ScatterDimensions, is_required=True)  # I4-I9

    @staticmethod
    def infer(inputs: Sequence[TensorType], update_computation: FunctionType) -> Sequence[TensorType]:
        return tuple(with_element_type(x, element_type(e)) for x, e in zip(inputs, update_computation.outputs))

    @staticmethod
    def constraints(
        C: Checker,
        inputs: Sequence[TensorType],
        scatter_indices: TensorType,
        updates: Sequence[TensorType],
        update_window_dims: Dims,
        inserted_window_dims: Dims,
        input_batching_dims: Dims,
        scatter_indices_batching_dims: Dims,
        scatter_dims_to_operand_dims: Dims,
        index_vector_dim: Int,
        update_computation: FunctionType,
        results: Sequence[TensorType],
    ) -> None:
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
        inputs: Sequence[TensorType],
        updates: Sequence[TensorType],
        scatter_dimension_numbers: ScatterDimensions,
        unique_indices: Flag,
        update_computation: RegionFunction,
        results: Sequence[TensorType],
    ) -> Kernel:
        """Plan `results...[result_index] = update_computation(results...[result_index], updates...[update_index])`.

        See `semantics.gather_scatter.scatter` for the indices. As in gather, their sum is computed in units of
        contiguous rows. Rows that are updated once are updated all at once, by `update_computation` on arrays; further
        updates of a row follow in rounds, which keeps the order (algorithms/scatter_updates.py).
        """
        windows = scatter_windows(inputs[0], updates[0], scatter_dimension_numbers)
        write = plan_updates(
            windows, update_computation, unique_indices, [numpy_dtype(element_type(x)) for x in updates]
        )
        promote, dim = promotion(inputs, results), scatter_dimension_numbers.index_vector_dim
        is_empty = size(inputs[0]) == 0 or size(updates[0]) == 0

        def update(results: Sequence[Array], scatter_indices: Array, updates: Sequence[Array]) -> Results:
            if not is_empty:
                write.run(results, index_components(scatter_indices, dim), promote(updates))
            return one_or_all(results)

        def run(inputs: Sequence[Array], scatter_indices: Array, updates: Sequence[Array]) -> Results:
            return update([np.array(x, order="C") for x in promote(inputs)], scatter_indices, updates)

        def in_place(inputs: Sequence[Array], scatter_indices: Array, updates: Sequence[Array]) -> Results:
            is_contiguous = inputs[0].flags.c_contiguous
            return (update if is_contiguous else run)(inputs, scatter_indices, updates)

        may_reuse_input = len(inputs) == 1 and element_type(inputs[0]) == element_type(results[0])
        temporaries = 0 if is_empty else write.temporaries
        return Kernel(run, in_place if may_reuse_input else None, temporaries=temporaries)

    @staticmethod
    def implementation_defined(
        site: Site,
        inputs: Sequence[TensorType],
        updates: Sequence[TensorType],
        scatter_dimension_numbers: ScatterDimensions,
        indices_are_sorted: Flag,
        unique_indices: Flag,
    ) -> FindChoices:
        numbers = scatter_dimension_numbers
        windows = scatter_windows(inputs[0], updates[0], numbers)

        def cases(inputs: Sequence[Array], scatter_indices: Array, updates: Sequence[Array]) -> Iterator[Choice]:
            start_index = list(map(signed, index_components(scatter_indices, numbers.index_vector_dim)))
            if indices_are_sorted and not are_sorted(dict(zip(numbers.scatter_dims_to_operand_dims, start_index))):
                yield Choice.UNSORTED_INDICES
            if (unique_indices or depends_on_order(site.op.regions[0].block)) and are_repeated(windows, start_index):
                yield Choice.REPEATED_INDICES if unique_indices else Choice.SCATTER_ORDER

        return cases


def scatter_windows(input: TensorType, updates: TensorType, numbers: ScatterDimensions) -> IndexedWindows:
    """Return the windows of the inputs that updates are for, given the type of one of each."""
    window_dims = without(axes(input), numbers.inserted_window_dims + numbers.input_batching_dims)
    extents = dict(zip(window_dims, dims(updates, numbers.update_window_dims)))
    update_scatter_dims = without(axes(updates), numbers.update_window_dims)
    return IndexedWindows(
        sizes=shape(input),
        extents=tuple(extents.get(d, 1) for d in axes(input)),
        shape=shape(updates),
        window_axes=dict(zip(window_dims, numbers.update_window_dims)),
        batching_axes=batching_axes(
            numbers.input_batching_dims,
            numbers.scatter_indices_batching_dims,
            numbers.index_vector_dim,
            update_scatter_dims,
        ),
        indexed=numbers.scatter_dims_to_operand_dims,
    )


# --- constraints ----------------------------------------------------------------------------------------------------


def combine(batch_sizes: Sequence[int], offset_sizes: Sequence[int], offset_dims: Sequence[int]) -> tuple[int, ...]:
    """Return the shape with `offset_sizes` at the axes `offset_dims` and `batch_sizes` at the others, in order.

    ValueError if `offset_dims` are not that many axes of the shape.
    """
    count = len(batch_sizes) + len(offset_sizes)
    if sum(d in offset_dims for d in range(count)) != len(offset_sizes):
        raise ValueError(f"expected {len(offset_sizes)} of {count} axes, got {offset_dims}")
    batch, offset = iter(batch_sizes), iter(offset_sizes)
    return tuple(next(offset if d in offset_dims else batch) for d in range(count))


def index_size(indices: TensorType, index_vector_dim: int) -> int:
    """Return the number of components of an index."""
    return dim(indices, index_vector_dim) if index_vector_dim < rank(indices) else 1


def scalars(element_types: Sequence[Type]) -> tuple[TensorType, ...]:
    """Return the 0-dimensional tensor types of element types."""
    return tuple(tensor_type((), e) for e in element_types)


def batching_axes(
    batching_dims: Sequence[int], indices_batching_dims: Sequence[int], index_vector_dim: int, batch_dims: Sequence[int]
) -> dict[int, int]:
    """Return the axis of `batch_dims` whose index is the full_batching_index of each dimension of `batching_dims`."""
    return {
        d: batch_dims[d_start - (0 if d_start < index_vector_dim else 1)]
        for d, d_start in zip(batching_dims, indices_batching_dims)
    }


# --- promises of indices: that they are sorted, and that they are unique ---------------------------------------------


COMMUTATIVE = frozenset(f"stablehlo.{op}" for op in ("add", "and", "maximum", "minimum", "multiply", "or", "xor"))


def are_sorted(starts: Mapping[int, Array]) -> bool:
    """Return whether indices are in lexicographic order; `starts` maps dimensions to components."""
    order: Array | int = 0
    for _, component in sorted(starts.items()):
        previous, following = component.reshape(-1)[:-1], component.reshape(-1)[1:]
        comparison = (following > previous).view(np.int8) - (following < previous).view(np.int8)
        order = np.where(order == 0, comparison, order)
    return not np.any(order < 0)


def are_repeated(windows: IndexedWindows, starts: list[Array]) -> bool:
    """Return whether two updates in bounds write the same element."""
    numbers, within = windows.row_numbers(starts), windows.in_bounds(starts)
    if within is not None:
        numbers = numbers[within]
    return len(np.unique(numbers)) < len(numbers)


def depends_on_order(block: Block) -> bool:
    """Return whether results of an update computation can depend on the order of updates, other than by rounding."""
    arguments, returned = block.arguments, block.operations[-1].operands
    pairs = zip(arguments, arguments[len(arguments) // 2 :])
    return not all(
        isinstance(op := value.owner, Operation) and op.name in COMMUTATIVE and set(op.operands) == set(pair)
        for value, pair in zip(returned, pairs)
    )
