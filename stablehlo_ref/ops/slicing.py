"""Ops that read or replace one slice of a tensor: slice, dynamic_slice, dynamic_update_slice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

from stablehlo_ref.define.assembly import AsmParser, AsmPrinter, Directive, Draft, Irregular, member_value
from stablehlo_ref.define.attribute_codecs import Dims
from stablehlo_ref.define.computation import Kernel, Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.facts import MOVES
from stablehlo_ref.define.op import Attr, In, Ins, Op, Out, type_of
from stablehlo_ref.define.spec import dim, element_type, make_tensor_type, most, rank, same, shape, size
from stablehlo_ref.define.type_constraints import integer_scalar, per_tensor_quantized, tensor
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.numerics.dtypes import numpy_dtype


class OperandsAndCommas(Directive):
    """Operands, each followed by a comma. MLIR prints `%0, , sizes` if a part of the list is empty."""

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        while parser.peek()[:1] == "%":
            draft.operands.append(parser.operand())
            parser.expect(",")
        if draft.operands:
            parser.accept(",")

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if not op.operands:
            raise Irregular
        printer.value(printer.operands(op.operands) + ",")


class SliceRanges(Directive):
    """`[start:limit:stride, ...]`, where a stride of 1 is omitted."""

    members = ("start_indices", "limit_indices", "strides")

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        ranges = parser.items(lambda: self._range(parser), "[", "]")
        for index, name in enumerate(self.members):
            draft.members[name] = tuple(r[index] for r in ranges)

    def _range(self, parser: AsmParser) -> tuple[int, int, int]:
        start = parser.integer()
        parser.expect(":")
        limit = parser.integer()
        return start, limit, parser.integer() if parser.accept(":") else 1

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        starts, limits, strides = (member_value(op, name) for name in self.members)
        if not len(starts) == len(limits) == len(strides):
            raise Irregular
        ranges = [f"{a}:{b}" if s == 1 else f"{a}:{b}:{s}" for a, b, s in zip(starts, limits, strides)]
        printer.value(f"[{', '.join(ranges)}]")


OWN_BYTES = 1 << 12  # smaller slices are copied, since a view would keep the memory of a large operand in use


class Slice(Op, op="slice", computes_on_storage=True, returns_views=True, nans="moved", facts=MOVES):
    """Take every `strides`-th element of `operand` from `start_indices` up to, not including, `limit_indices`."""

    operand = In(tensor | per_tensor_quantized)  # I1
    start_indices = Attr(Dims)  # I2
    limit_indices = Attr(Dims)  # I3
    strides = Attr(Dims)  # I4
    result = Out(tensor | per_tensor_quantized)

    syntax = ("operands", SliceRanges(), "attr-dict : functional_type")

    @staticmethod
    def infer(operand: TensorType, start_indices: Dims, limit_indices: Dims, strides: Dims) -> TensorType:
        sizes = [-((start - limit) // step) for start, limit, step in zip(start_indices, limit_indices, strides)]
        return make_tensor_type(sizes, element_type(operand))

    @staticmethod
    def constraints(
        C: Checker,
        infer: Callable[[], TensorType],
        operand: TensorType,
        start_indices: Dims,
        limit_indices: Dims,
        strides: Dims,
        result: TensorType,
    ) -> None:
        C(1, element_type(operand) == element_type(result))
        C(2, size(start_indices) == size(limit_indices) == size(strides) == rank(operand))
        C(3, all(0 <= start <= limit <= n for start, limit, n in zip(start_indices, limit_indices, most(operand))))
        C(4, all(0 < step for step in strides))
        C(5, shape(result) == shape(infer()))

    @staticmethod
    def batching_rule(
        operand: TensorType, start_indices: Dims, limit_indices: Dims, strides: Dims
    ) -> Mapping[str, object]:
        return {
            "start_indices": (0, *start_indices),
            "limit_indices": (dim(operand, 0), *limit_indices),
            "strides": (1, *strides),
        }

    @staticmethod
    def plan(start_indices: Dims, limit_indices: Dims, strides: Dims) -> Run:
        """Plan the view `result[result_index] = operand[start_indices + result_index * strides]`."""
        index = tuple(map(slice, start_indices, limit_indices, strides))
        return lambda operand: operand[index]


class DynamicSlice(Op, op="dynamic_slice", computes_on_storage=True, returns_views=True, nans="moved", facts=MOVES):
    """Take the slice of `operand` of `slice_sizes` that starts at `start_indices`, clamped so that it is in bounds."""

    operand = In(tensor | per_tensor_quantized)  # I1
    start_indices = Ins(integer_scalar)  # I2
    slice_sizes = Attr(Dims)  # I3
    result = Out(tensor | per_tensor_quantized)

    syntax = (OperandsAndCommas(), "sizes = $slice_sizes attr-dict : functional_type")

    @staticmethod
    def infer(operand: TensorType, slice_sizes: Dims) -> TensorType:
        return make_tensor_type(slice_sizes, element_type(operand))

    @staticmethod
    def constraints(
        C: Checker, operand: TensorType, start_indices: Sequence[TensorType], slice_sizes: Dims, result: TensorType
    ) -> None:
        C(1, element_type(operand) == element_type(result))
        C(2, size(start_indices) == size(slice_sizes) == rank(operand))
        C(3, same(start_indices))
        C(4, all(0 <= n <= whole for n, whole in zip(slice_sizes, shape(operand))))
        C(5, shape(result) == slice_sizes)

    @staticmethod
    def plan(operand: TensorType, slice_sizes: Dims) -> Run:
        """Plan a numpy slice of the operand, copied if it is small: see `semantics.data_movement.dynamic_slice`."""
        locate = locator(shape(operand), slice_sizes)
        if prod(slice_sizes) * numpy_dtype(element_type(operand)).itemsize <= OWN_BYTES:
            return lambda operand, start_indices: operand[locate(start_indices)].copy()
        return lambda operand, start_indices: operand[locate(start_indices)]


class DynamicUpdateSlice(Op, op="dynamic_update_slice", computes_on_storage=True, nans="moved", facts=MOVES):
    """Replace the slice of `operand` that starts at `start_indices`, clamped so that it is in bounds, by `update`."""

    operand = In(tensor | per_tensor_quantized)  # I1
    update = In(tensor | per_tensor_quantized)  # I2
    start_indices = Ins(integer_scalar)  # I3
    result = Out(tensor | per_tensor_quantized)

    syntax = "operands attr-dict : functional_type"

    infer = type_of("operand")

    @staticmethod
    def constraints(
        C: Checker, operand: TensorType, update: TensorType, start_indices: Sequence[TensorType], result: TensorType
    ) -> None:
        C(1, shape(operand) == shape(result) and element_type(operand) == element_type(result))
        C(2, element_type(update) == element_type(operand))
        C(3, rank(update) == rank(operand))
        C(4, size(start_indices) == rank(operand))
        C(5, same(start_indices))
        C(6, all(0 <= n <= whole for n, whole in zip(shape(update), shape(operand))))

    @staticmethod
    def plan(operand: TensorType, update: TensorType) -> Kernel:
        """Plan an assignment to a copy of the operand, or to the operand itself if it is not used again.

        See `semantics.data_movement.dynamic_update_slice`.
        """
        if shape(operand) == shape(update):
            return Kernel(lambda operand, update, start_indices: update)
        locate = locator(shape(operand), shape(update))

        def in_place(operand: Array, update: Array, start_indices: tuple[Array, ...]) -> Array:
            operand[locate(start_indices)] = update
            return operand

        def run(operand: Array, update: Array, start_indices: tuple[Array, ...]) -> Array:
            return in_place(operand.copy(), update, start_indices)

        return Kernel(run, in_place)


def locator(sizes: tuple[int, ...], slice_sizes: tuple[int, ...]) -> Callable[[tuple[Array, ...]], tuple[slice, ...]]:
    """Return a function from start indices to the slices at `clamp(0, start_indices, sizes - slice_sizes)`."""
    extents = tuple((whole - n, n) for whole, n in zip(sizes, slice_sizes))

    def locate(start_indices: tuple[Array, ...]) -> tuple[slice, ...]:
        index = []
        for start, (last, n) in zip(start_indices, extents):
            first = int(start)
            first = 0 if first < 0 else first if first < last else last
            index.append(slice(first, first + n))
        return tuple(index)

    return locate
