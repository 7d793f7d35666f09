"""CHLO's structured ops: top_k, scan and ragged_dot."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Annotated, TypeAlias

import numpy as np

from stablehlo_ref.define.assembly import AsmParser, AsmPrinter, Directive, Draft, attribute_dictionary, member_value
from stablehlo_ref.define.attribute_codecs import Dims, EnumCodec, Flag, Int, ListCodec, SegmentSizesCodec
from stablehlo_ref.define.computation import Kernel, RegionFunction, Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.facts import FOLDS, ORDERS, SUMS
from stablehlo_ref.define.mode import Mode
from stablehlo_ref.define.op import Attr, Body, Group, In, Ins, Op, Out, Outs
from stablehlo_ref.define.spec import (
    axes,
    compatible,
    dim,
    dims,
    element_type,
    in_range,
    is_complex,
    is_unique,
    make_tensor_type,
    rank,
    same,
    shape,
    size,
    without,
)
from stablehlo_ref.define.type_constraints import integer_tensor, of_any_rank, tensor
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.attributes import Attribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import FunctionType, TensorType, integer_type
from stablehlo_ref.numerics.contraction import converted_bytes
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.integers import clamp_index
from stablehlo_ref.numerics.top_k import top_k_indices
from stablehlo_ref.ops.dot_general import DotGeneral, Precision, dot_products
from stablehlo_ref.ops.dot_products import DotDimensions


class TopK(Op, op="top_k", dialect="chlo", facts=ORDERS):
    """Return the `k` largest elements along the last dimension in descending order, and their indices.

    Floats are ordered by IEEE-754's totalOrder, in which NaN is larger than +inf. Equal elements are ordered by index,
    also without `is_stable`.
    """

    operand = In(of_any_rank(tensor))
    k = Attr(Int)
    is_stable = Attr(Flag, default=True)
    values = Out(of_any_rank(tensor))
    indices = Out(of_any_rank(integer_tensor))

    syntax = "( operands, k = $k (, is_stable = $is_stable)? ) attr-dict : type(operands) -> ( type(results) )"

    @staticmethod
    def infer(operand: TensorType, k: Int) -> Sequence[TensorType]:
        sizes = (*shape(operand)[:-1], k)
        return make_tensor_type(sizes, element_type(operand)), make_tensor_type(sizes, integer_type(32))

    @staticmethod
    def constraints(
        C: Checker,
        infer: Callable[[], Sequence[TensorType]],
        operand: TensorType,
        k: Int,
        values: TensorType,
        indices: TensorType,
    ) -> None:
        C(1, rank(operand) >= 1)
        C(2, 0 <= k <= dim(operand, rank(operand) - 1))
        C(3, compatible(values, infer()[0]))
        C(4, compatible(indices, infer()[1]))

    @staticmethod
    def plan(operand: TensorType, k: Int, indices: TensorType) -> Run:
        if is_complex(operand):
            raise UnsupportedError(f"'chlo.top_k' op: unsupported element type {element_type(operand)}")
        largest = top_k_indices(numpy_dtype(element_type(operand)))
        index_dtype = numpy_dtype(element_type(indices))

        def run(operand: Array) -> tuple[Array, Array]:
            found = largest(operand, k)
            return np.take_along_axis(operand, found, axis=-1), found.astype(index_dtype)

        return run


# --- scan -----------------------------------------------------------------------------------------------------------


class SegmentsCodec(SegmentSizesCodec):
    """The numbers of operands (or results) of two variadic members."""

    name = "list of two 32-bit integers"
    samples = ((1, 1), (2, 1), (1, 2), (0, 1), (1, 0))

    def read(self, attribute: Attribute) -> tuple[int, ...] | None:
        sizes = super().read(attribute)
        return sizes if sizes is not None and len(sizes) == 2 else None


Segments: TypeAlias = Annotated[tuple[int, ...], SegmentsCodec()]


class ScanForm(Directive):
    """`(%inputs) inits (%inits) dimension = 0 attributes {...} {...} : functional_type`."""

    members = ("dimension", "operand_segment_sizes", "result_segment_sizes")

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        inputs = parser.items(parser.operand, "(", ")")
        parser.expect("inits")
        inits = parser.items(parser.operand, "(", ")")
        draft.operands = inputs + inits
        parser.expect("dimension")
        parser.expect("=")
        draft.members["dimension"] = parser.integer()
        draft.exclusive = ("dimension", "operandSegmentSizes", "resultSegmentSizes")
        attribute_dictionary(parser, draft, "attributes")
        draft.regions = [parser.region()]
        parser.expect(":")
        parser.functional_type(draft)
        outputs = len(draft.result_types) - len(inits)
        if outputs < 0:
            message = f"expected at least {len(inits)} results, one for each init, got {len(draft.result_types)}"
            raise parser.error(message, draft.offset)
        draft.members["operand_segment_sizes"] = (len(inputs), len(inits))
        draft.members["result_segment_sizes"] = (outputs, len(inits))

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        count = member_value(op, "operand_segment_sizes")[0]
        inputs, inits = op.operands[:count], op.operands[count:]
        printer.literal("(")
        printer.value(f"{printer.operands(inputs)}) inits ({printer.operands(inits)})")
        printer.value(f"dimension = {member_value(op, 'dimension')}")
        printer.dictionary(op, self.members, "attributes")
        printer.value("")
        printer.region(op.regions[0])
        printer.value(f": {printer.functional_type(op)}")


class Scan(Op, op="scan", dialect="chlo", isolated_from_above=True, facts=FOLDS):
    """Call `body` for each index of `dimension` in order, with slices of the inputs and loop-carried values.

    The operands are the inputs and the initial carried values. `body` returns slices of the outputs and the next
    carried values. The results are the outputs and the final carried values. `is_reverse` visits indices in descending
    order. Without inputs, `scan_dim_size` is the number of indices. `is_associative` has no effect: it permits other
    evaluation orders, which are not used.
    """

    inputs_and_inits = Ins(tensor)
    operand_segment_sizes = Attr(Segments, name="operandSegmentSizes")
    result_segment_sizes = Attr(Segments, name="resultSegmentSizes")
    dimension = Attr(Int)
    scan_dim_size = Attr(Int, default=None)
    is_reverse = Attr(Flag, default=False)
    is_associative = Attr(Flag, default=None)
    body = Body()
    outputs_and_carries = Outs(tensor)

    syntax = (ScanForm(),)

    @staticmethod
    def constraints(
        C: Checker,
        inputs_and_inits: Sequence[TensorType],
        operand_segment_sizes: Segments,
        result_segment_sizes: Segments,
        dimension: Int,
        scan_dim_size: Int | None,
        body: FunctionType,
        outputs_and_carries: Sequence[TensorType],
    ) -> None:
        C(1, sum(operand_segment_sizes) == size(inputs_and_inits))
        C(2, sum(result_segment_sizes) == size(outputs_and_carries))
        C(3, operand_segment_sizes[1] == result_segment_sizes[1])
        inputs, inits = split(inputs_and_inits, operand_segment_sizes)
        outputs, carries = split(outputs_and_carries, result_segment_sizes)
        C(4, 0 < size(inputs) + size(outputs))
        C(5, all(0 <= dimension < rank(x) for x in inputs + outputs))
        given = () if scan_dim_size is None else (scan_dim_size,)
        C(6, same((*given, *[dim(x, dimension) for x in inputs + outputs])))
        arguments = [without_dimension(x, dimension) for x in inputs] + list(inits)
        returned = [without_dimension(x, dimension) for x in outputs] + list(carries)
        C(7, body == FunctionType(tuple(arguments), tuple(returned)))
        C(8, all(compatible(init, carry) for init, carry in zip(inits, carries)))

    @staticmethod
    def plan(
        operand_segment_sizes: Segments,
        result_segment_sizes: Segments,
        dimension: Int,
        is_reverse: Flag,
        body: RegionFunction,
        outputs_and_carries: Sequence[TensorType],
        inputs_and_inits: Sequence[TensorType],
    ) -> Run:
        count, produced = operand_segment_sizes[0], result_segment_sizes[0]
        outputs = outputs_and_carries[:produced]
        steps = range(dim((*inputs_and_inits[:count], *outputs)[0], dimension))
        order = reversed(steps) if is_reverse else steps
        indices = [along(dimension, step) for step in order]
        dtypes = [numpy_dtype(element_type(x)) for x in outputs]

        def run(operands: tuple[Array, ...]) -> list[Array] | Array:
            inputs, carries = operands[:count], list(operands[count:])
            results = [np.empty(shape(x), dtype) for x, dtype in zip(outputs, dtypes)]
            for index in indices:
                returned = body(*[x[index] for x in inputs], *carries)
                for result, part in zip(results, returned):
                    result[index] = part
                carries = returned[produced:]
            results += carries
            return results[0] if len(results) == 1 else results

        return run


def split(values: Sequence[TensorType], segments: Segments) -> tuple[tuple[TensorType, ...], ...]:
    """Split values into those of the first member and those of the second."""
    return tuple(values[: segments[0]]), tuple(values[segments[0] :])


def without_dimension(x: TensorType, dimension: int) -> TensorType:
    """Return the type of a slice at one index of `dimension`."""
    return make_tensor_type(without(shape(x), (dimension,)), element_type(x))


# --- ragged_dot -----------------------------------------------------------------------------------------------------

Axes: TypeAlias = tuple[int, ...]
Part: TypeAlias = tuple[slice, Array | None]  # the slice of the ragged dimension with a group, and the group's mask

MAX_PLANS = 256  # cached kernels for products of different shapes

ChloPrecision: TypeAlias = Annotated[Precision, EnumCodec(Precision, dialect="chlo")]
ChloPrecisionConfig: TypeAlias = Annotated[tuple[Precision, ...], ListCodec(ChloPrecision)]


@dataclass(frozen=True, slots=True)
class RaggedDimensions(DotDimensions):
    """The attribute `ragged_dot_dimension_numbers`."""

    lhs_ragged_dimensions: Dims
    rhs_group_dimensions: Dims

    def of_one_group(self) -> DotDimensions:
        """Return the dimensions for the slice of `rhs` that one group is multiplied by."""
        batching, contracting = (
            tuple(d - sum(removed < d for removed in self.rhs_group_dimensions) for d in dimensions)
            for dimensions in (self.rhs_batching_dimensions, self.rhs_contracting_dimensions)
        )
        return DotDimensions(self.lhs_batching_dimensions, batching, self.lhs_contracting_dimensions, contracting)


class RaggedDot(Op, op="ragged_dot", dialect="chlo", row_major=True, nans="computed", facts=SUMS):
    """Compute dot_general with dimension `lhs_ragged_dimensions[0]` of `lhs` split into consecutive groups.

    `group_sizes` lists the sizes of the groups. If the ragged dimension is

    - a free dimension of `lhs`, each group of rows is multiplied by the slice of `rhs` with the group's index in
      dimension `rhs_group_dimensions[0]`; rows in no group are zero;
    - contracting, each group is contracted separately, and the groups are the first dimension of the result;
    - batching, the groups have no effect.

    The last dimension of `group_sizes` is the number of groups. It may be preceded by the batching dimensions of `lhs`
    and by the dimensions of the ragged dimension's kind that come before it.
    """

    lhs = In(tensor)
    rhs = In(tensor)
    group_sizes = In(integer_tensor)
    lhs_batching_dimensions = Attr(Dims, default=())
    rhs_batching_dimensions = Attr(Dims, default=())
    lhs_contracting_dimensions = Attr(Dims, default=())
    rhs_contracting_dimensions = Attr(Dims, default=())
    lhs_ragged_dimensions = Attr(Dims, default=())
    rhs_group_dimensions = Attr(Dims, default=())
    precision_config = Attr(ChloPrecisionConfig, default=())
    result = Out(tensor)

    ragged_dot_dimension_numbers = Group("chlo.ragged_dot", as_type=RaggedDimensions, is_required=True)

    @staticmethod
    def infer(
        lhs: TensorType, rhs: TensorType, group_sizes: TensorType, ragged_dot_dimension_numbers: RaggedDimensions
    ) -> TensorType:
        d = ragged_dot_dimension_numbers
        lhs_others = without(axes(lhs), d.lhs_batching_dimensions + d.lhs_contracting_dimensions)
        rhs_summed = d.rhs_batching_dimensions + d.rhs_contracting_dimensions + d.rhs_group_dimensions
        groups = dims(group_sizes, (rank(group_sizes) - 1,))
        leading = groups if d.lhs_ragged_dimensions[0] in d.lhs_contracting_dimensions else ()
        sizes = leading + dims(lhs, d.lhs_batching_dimensions + lhs_others) + dims(rhs, without(axes(rhs), rhs_summed))
        return make_tensor_type(sizes, element_type(lhs))

    @staticmethod
    def constraints(
        C: Checker,
        infer: Callable[[], TensorType],
        lhs: TensorType,
        rhs: TensorType,
        group_sizes: TensorType,
        lhs_batching_dimensions: Dims,
        rhs_batching_dimensions: Dims,
        lhs_contracting_dimensions: Dims,
        rhs_contracting_dimensions: Dims,
        lhs_ragged_dimensions: Dims,
        rhs_group_dimensions: Dims,
        precision_config: ChloPrecisionConfig,
        result: TensorType,
    ) -> None:
        C(1, size(lhs_batching_dimensions) == size(rhs_batching_dimensions))
        C(2, size(lhs_contracting_dimensions) == size(rhs_contracting_dimensions))
        C(3, are_different(lhs_batching_dimensions + lhs_contracting_dimensions, rank(lhs)))
        C(4, are_different(rhs_batching_dimensions + rhs_contracting_dimensions + rhs_group_dimensions, rank(rhs)))
        C(5, dims(lhs, lhs_batching_dimensions) == dims(rhs, rhs_batching_dimensions))
        C(6, dims(lhs, lhs_contracting_dimensions) == dims(rhs, rhs_contracting_dimensions))
        C(7, size(lhs_ragged_dimensions) == 1 and in_range(lhs_ragged_dimensions, rank(lhs)))
        before = before_ragged(lhs, lhs_ragged_dimensions[0], lhs_batching_dimensions, lhs_contracting_dimensions)
        C(8, rank(group_sizes) in (1, 1 + size(before)))
        C(9, rank(group_sizes) == 1 or shape(group_sizes)[:-1] == dims(lhs, before))
        is_result_dimension = lhs_ragged_dimensions[0] not in lhs_batching_dimensions + lhs_contracting_dimensions
        C(10, size(rhs_group_dimensions) == is_result_dimension)
        C(11, all(dim(rhs, d) == dim(group_sizes, rank(group_sizes) - 1) for d in rhs_group_dimensions))
        C(12, size(precision_config) in (0, 2))
        C(13, element_type(lhs) == element_type(rhs))
        C(13, is_complex(lhs) == is_complex(result))
        C(14, shape(result) == shape(infer()))

    @staticmethod
    def plan(
        mode: Mode,
        lhs: TensorType,
        rhs: TensorType,
        group_sizes: TensorType,
        ragged_dot_dimension_numbers: RaggedDimensions,
        result: TensorType,
    ) -> Kernel:
        d = ragged_dot_dimension_numbers
        (ragged,), numbers = d.lhs_ragged_dimensions, d.of_one_group()
        multiply = multiplication(lhs, result, numbers, mode)
        dtypes = [numpy_dtype(element_type(x)) for x in (lhs, rhs, result)]
        sizes = (size(lhs), size(rhs) // max(1, prod(dims(rhs, d.rhs_group_dimensions))), size(result))  # of one group
        copied = sum(count * dtype.itemsize for count, dtype in zip(sizes, dtypes))
        temporaries = copied + converted_bytes(dtypes, sizes[0] + sizes[1], sizes[2], mode.reproducible)
        if ragged in d.lhs_batching_dimensions:
            return Kernel(lambda lhs, rhs, group_sizes: multiply(lhs, rhs), temporaries=temporaries)
        before = before_ragged(lhs, ragged, d.lhs_batching_dimensions, d.lhs_contracting_dimensions)
        if ragged in d.lhs_contracting_dimensions:
            run = sum_by_groups(multiply, numbers, before, ragged, lhs, result)
        else:
            run = rows_by_groups(multiply, d.rhs_group_dimensions[0], before, ragged, lhs, result)
        return Kernel(run, temporaries=temporaries)


def are_different(dimensions: Axes, count: int) -> bool:
    """Return whether these are distinct dimensions of a tensor of rank `count`."""
    return in_range(dimensions, count) and is_unique(dimensions)


def before_ragged(lhs: TensorType, ragged: int, batching: Axes, contracting: Axes) -> Axes:
    """Return the dimensions of `lhs` that correspond to all but the last dimension of `group_sizes`."""
    if ragged in batching:
        return batching[: batching.index(ragged)]
    if ragged in contracting:
        return batching + contracting[: contracting.index(ragged)]
    return batching + tuple(d for d in range(ragged) if d not in batching + contracting)


def multiplication(lhs: TensorType, result: TensorType, numbers: DotDimensions, mode: Mode) -> Run:
    """Return dot_general on arrays of any shape, with the element types of `lhs` and `result`."""

    @lru_cache(maxsize=MAX_PLANS)
    def plan(lhs_shape: Axes, rhs_shape: Axes) -> Kernel:
        left, right = (make_tensor_type(sizes, element_type(lhs)) for sizes in (lhs_shape, rhs_shape))
        sizes = shape(DotGeneral.infer(left, right, numbers))
        return dot_products(left, right, numbers, make_tensor_type(sizes, element_type(result)), mode)

    return lambda lhs, rhs: plan(lhs.shape, rhs.shape)(lhs, rhs)


def parts_of(group_sizes: Array, count: int) -> Iterator[Part]:
    """Yield the groups of the ragged dimension, which has `count` elements.

    A mask has axes for the dimensions before and for the ragged one. Groups are clipped to the end of the dimension,
    and negative sizes count as 0.
    """
    ends = np.minimum(np.cumsum(clamp_index(group_sizes, count), axis=-1), count)
    starts = np.concatenate([np.zeros_like(ends[..., :1]), ends[..., :-1]], axis=-1)
    if ends.ndim == 1:
        yield from ((slice(start, end), None) for start, end in zip(starts.tolist(), ends.tolist()))
        return
    positions = np.arange(count)
    for start, end in zip(np.moveaxis(starts, -1, 0), np.moveaxis(ends, -1, 0)):
        yield slice(None), (positions >= start[..., np.newaxis]) & (positions < end[..., np.newaxis])


def spread(mask: Array, dimensions: Sequence[int], count: int) -> Array:
    """Return a mask whose axes are `dimensions` of an array of rank `count` in that rank, with size 1 elsewhere."""
    sizes = dict(zip(dimensions, mask.shape))
    return mask.transpose(np.argsort(dimensions).tolist()).reshape([sizes.get(d, 1) for d in range(count)])


def along(dimension: int, part: slice | int) -> tuple[slice | int, ...]:
    """Return the index that selects `part` of one dimension."""
    return (slice(None),) * dimension + (part,)


def sum_by_groups(
    multiply: Run, numbers: DotDimensions, before: Axes, ragged: int, lhs: TensorType, result: TensorType
) -> Run:
    """Return the kernel for a contracting ragged dimension: for each group, the product of slices of both operands."""
    pairs = dict(zip(numbers.lhs_batching_dimensions, numbers.rhs_batching_dimensions))
    pairs |= dict(zip(numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions))
    masked = (*before, ragged)
    rhs_masked, count = [pairs[d] for d in masked], dim(lhs, ragged)

    def run(lhs: Array, rhs: Array, group_sizes: Array) -> Array:
        out = np.empty(shape(result), numpy_dtype(element_type(result)))
        for group, (part, mask) in enumerate(parts_of(group_sizes, count)):
            left, right = lhs[along(ragged, part)], rhs[along(pairs[ragged], part)]
            if mask is not None:
                left = np.where(spread(mask, masked, lhs.ndim), left, left.dtype.type(0))
                right = np.where(spread(mask, rhs_masked, rhs.ndim), right, right.dtype.type(0))
            out[group] = multiply(left, right)
        return out

    return run


def rows_by_groups(
    multiply: Run, group_dimension: int, before: Axes, ragged: int, lhs: TensorType, result: TensorType
) -> Run:
    """Return the kernel for a free ragged dimension: rows of `lhs` times the group's slice of `rhs`.

    The dimensions of the result are those before the ragged one, the ragged one, and others.
    """
    row, count = len(before), dim(lhs, ragged)

    def run(lhs: Array, rhs: Array, group_sizes: Array) -> Array:
        out = np.zeros(shape(result), numpy_dtype(element_type(result)))
        for group, (part, mask) in enumerate(parts_of(group_sizes, count)):
            product = multiply(lhs[along(ragged, part)], np.take(rhs, group, axis=group_dimension))
            if mask is not None:
                product = np.where(spread(mask, range(row + 1), out.ndim), product, out)
            out[along(row, part)] = product
        return out

    return run
