"""CHLO's structured ops: top_k and scan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, TypeAlias, TypeVar

import numpy as np

from stablehlo_ref.define.assembly import (
    AsmParser,
    AsmPrinter,
    Directive,
    Draft,
    attribute_dictionary,
    member_value,
)
from stablehlo_ref.define.attribute_codecs import Flag, Int, SegmentSizesCodec
from stablehlo_ref.define.computation import RegionFunction, Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.facts import FOLDS, ORDERS
from stablehlo_ref.define.op import Attr, Body, In, Ins, Op, Out, Outs
from stablehlo_ref.define.spec import (
    compatible,
    dim,
    element_type,
    is_complex,
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
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.top_k import top_k_indices

T = TypeVar("T")

# --- top_k ----------------------------------------------------------------------------------------------------------


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

    def decode(self, attribute: Attribute) -> tuple[int, ...]:
        sizes = super().decode(attribute)
        if len(sizes) != 2:
            raise self.mismatch()
        return sizes


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
        indices = [(slice(None),) * dimension + (step,) for step in order]
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


def split(values: Sequence[T], segments: Segments) -> tuple[tuple[T, ...], tuple[T, ...]]:
    """Split values into those of the first member and those of the second."""
    return tuple(values[: segments[0]]), tuple(values[segments[0] :])


def without_dimension(x: TensorType, dimension: int) -> TensorType:
    """Return the type of a slice at one index of `dimension`."""
    return make_tensor_type(without(shape(x), (dimension,)), element_type(x))
