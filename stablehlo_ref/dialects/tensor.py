"""MLIR's tensor dialect: access to sizes and elements, and reshaping."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, TypeAlias

import numpy as np

from stablehlo_ref.define.assembly import (
    AsmParser,
    AsmPrinter,
    Deduced,
    Directive,
    Draft,
    Irregular,
    first_operand,
    first_result,
    listed,
    member_value,
)
from stablehlo_ref.define.attribute_codecs import Dims, Int, Integers, ListCodec
from stablehlo_ref.define.bound import Site
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.op import Attr, In, Ins, Op, Out, returns, type_of
from stablehlo_ref.define.spec import (
    UNKNOWN,
    Size,
    compatible,
    element_type,
    make_tensor_type,
    rank,
    shape,
    size,
    without,
)
from stablehlo_ref.define.type_constraints import anything, size_vector
from stablehlo_ref.define.type_constraints import index as index_value
from stablehlo_ref.dialects.mlir_types import CAST, DYNAMIC, any_tensor, identity, in_bounds, static_tensor
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.types import INDEX, IndexType, TensorType, Type
from stablehlo_ref.numerics.dtypes import INT64, numpy_dtype

Reassociation: TypeAlias = Annotated[tuple[tuple[int, ...], ...], ListCodec(Integers)]


ELEMENT_OF = Deduced(first_operand, lambda t, n: ([t] + [INDEX] * (n - 1), [element_type(t)]))
INSERTED = Deduced(first_result, lambda t, n: ([element_type(t), t] + [INDEX] * (n - 2), [t]))
SPLAT = Deduced(first_result, lambda t, n: ([element_type(t)] + [INDEX] * (n - 1), [t]))
SIZES = Deduced(first_result, lambda t, n: ([INDEX] * n, [t]))
INTO = Deduced(CAST.shown, CAST.follow, "into")


class Dim(Op, op="dim", dialect="tensor", computes_on_storage=True):
    """Return the size of dimension `index` of `source`. EvaluationError if `index` is out of bounds."""

    source = In(any_tensor)
    index = In(index_value)
    result = Out(index_value)

    syntax = ("attr-dict operands :", Deduced(first_operand, lambda t, n: ([t, INDEX], [INDEX])))

    plan = returns(lambda source, index: INT64.type(source.shape[in_bounds(index, source.ndim)]))


class Rank(Op, op="rank", dialect="tensor", computes_on_storage=True):
    """Return the number of dimensions of `tensor`."""

    tensor = In(any_tensor)
    result = Out(index_value)

    syntax = ("operands attr-dict :", Deduced(first_operand, lambda t, n: ([t] * n, [INDEX])))

    plan = returns(lambda tensor: INT64.type(tensor.ndim))


class Extract(Op, op="extract", dialect="tensor", computes_on_storage=True):
    """Return the element of `tensor` at `indices`. EvaluationError if an index is out of bounds."""

    tensor = In(any_tensor)
    indices = Ins(index_value)
    result = Out(anything)

    syntax = ("$tensor [ $indices ] attr-dict :", ELEMENT_OF)

    @staticmethod
    def infer(tensor: TensorType) -> Type:
        return tensor.element_type

    @staticmethod
    def constraints(C: Checker, tensor: TensorType, indices: Sequence[IndexType], result: Type) -> None:
        C(1, size(indices) == rank(tensor))
        C(2, result == element_type(tensor))

    plan = returns(lambda tensor, indices: np.asarray(tensor)[tuple(map(in_bounds, indices, tensor.shape))])


class Insert(Op, op="insert", dialect="tensor", computes_on_storage=True):
    """Return a copy of `dest` with `scalar` at `indices`. EvaluationError if an index is out of bounds."""

    scalar = In(anything)
    dest = In(any_tensor)
    indices = Ins(index_value)
    result = Out(any_tensor)

    syntax = ("$scalar into $dest [ $indices ] attr-dict :", INSERTED)

    infer = type_of("dest")

    @staticmethod
    def constraints(
        C: Checker, scalar: Type, dest: TensorType, indices: Sequence[IndexType], result: TensorType
    ) -> None:
        C(1, size(indices) == rank(dest))
        C(2, scalar == element_type(dest))
        C(3, compatible(dest, result))

    @staticmethod
    def plan() -> Run:
        def run(scalar: Array, dest: Array, indices: tuple[Array, ...]) -> Array:
            result = np.array(dest)
            result[tuple(map(in_bounds, indices, dest.shape))] = scalar
            return result

        return run


class FromElements(Op, op="from_elements", dialect="tensor", computes_on_storage=True):
    """Return a tensor of `elements` in row-major order."""

    elements = Ins(anything)
    result = Out(static_tensor)

    syntax = ("operands attr-dict :", Deduced(first_result, lambda t, n: ([element_type(t)] * n, [t])))

    @staticmethod
    def constraints(C: Checker, elements: Sequence[Type], result: TensorType) -> None:
        C(1, size(result) == len(elements))
        C(2, all(e == element_type(result) for e in elements))

    @staticmethod
    def plan(result: TensorType) -> Run:
        sizes, dtype = shape(result), numpy_dtype(element_type(result))
        return lambda elements: np.array(elements, dtype).reshape(sizes)


class Cast(Op, op="cast", dialect="tensor", computes_on_storage=True, returns_views=True):
    """Return `source` as a tensor type with more or fewer static sizes. EvaluationError if sizes differ."""

    source = In(any_tensor)
    dest = Out(any_tensor)

    syntax = ("operands attr-dict :", CAST)

    infer = type_of("source")

    @staticmethod
    def constraints(C: Checker, source: TensorType, dest: TensorType) -> None:
        C(1, compatible(source, dest))

    plan = identity


class Empty(Op, op="empty", dialect="tensor", computes_on_storage=True, shape_operands=("dynamic_sizes",)):
    """Return a tensor with unspecified elements, here zeros; `dynamic_sizes` are the sizes that the type omits."""

    dynamic_sizes = Ins(index_value)
    result = Out(any_tensor)

    syntax = ("( operands ) attr-dict :", SIZES)

    @staticmethod
    def infer(site: Site, result: TensorType) -> TensorType:
        return with_sizes(result, result.shape, site.constants.get("dynamic_sizes"))

    @staticmethod
    def constraints(C: Checker, site: Site, dynamic_sizes: Sequence[IndexType], result: TensorType) -> None:
        C(1, "dynamic_sizes" in site.constants or size(dynamic_sizes) == result.shape.count(None))

    @staticmethod
    def plan(result: TensorType) -> Run:
        sizes, dtype = shape(result), numpy_dtype(element_type(result))
        return lambda dynamic_sizes: np.zeros(sizes, dtype)


def with_sizes(result: TensorType, sizes: Sequence[int | None], operand: Array | None) -> TensorType:
    """Return `result` with `sizes`, where None stands for the next element of `operand` if that is known."""
    dynamic = iter(() if operand is None else operand.tolist())
    return make_tensor_type([next(dynamic, UNKNOWN) if n is None else n for n in sizes], result.element_type)


class Splat(
    Op, op="splat", dialect="tensor", computes_on_storage=True, returns_views=True, shape_operands=("dynamic_sizes",)
):
    """Return a tensor whose elements are all `input`."""

    input = In(anything)
    dynamic_sizes = Ins(index_value)
    result = Out(any_tensor)

    syntax = ("$input ( [ $dynamic_sizes ] )? attr-dict :", SPLAT)

    infer = staticmethod(Empty.infer)

    @staticmethod
    def constraints(
        C: Checker, site: Site, input: Type, dynamic_sizes: Sequence[IndexType], result: TensorType
    ) -> None:
        C(1, "dynamic_sizes" in site.constants or size(dynamic_sizes) == result.shape.count(None))
        C(2, input == element_type(result))

    @staticmethod
    def plan(result: TensorType) -> Run:
        return lambda input, dynamic_sizes: np.broadcast_to(input, shape(result))


class Reshape(
    Op, op="reshape", dialect="tensor", computes_on_storage=True, returns_views=True, shape_operands=("shape",)
):
    """Return the elements of `source` in the shape `shape`."""

    source = In(any_tensor)
    shape = In(size_vector)
    result = Out(any_tensor)

    syntax = "$source ( $shape ) attr-dict : functional_type"

    @staticmethod
    def infer(site: Site, source: TensorType, result: TensorType) -> TensorType:
        known = site.constants.get("shape")
        return result if known is None else make_tensor_type(known.tolist(), element_type(source))

    @staticmethod
    def constraints(C: Checker, source: TensorType, result: TensorType) -> None:
        C(1, size(source) == size(result))
        C(2, element_type(source) == element_type(result))

    @staticmethod
    def plan(result: TensorType) -> Run:
        return lambda source, sizes: source.reshape(shape(result))


def parse_numbers(parser: AsmParser, draft: Draft) -> tuple[int, ...]:
    """Parse `[1, %n, 3]`, with `DYNAMIC` for each operand."""

    def number() -> int:
        if parser.peek()[:1] != "%":
            return parser.integer()
        draft.operands.append(parser.operand())
        return DYNAMIC

    return tuple(parser.items(number, "[", "]"))


def numbers_text(printer: AsmPrinter, static: Sequence[int], dynamic: Iterator[Value]) -> str:
    """Return `[1, %n, 3]`; Irregular if there are too few operands."""
    written = []
    for n in static:
        operand = next(dynamic, None) if n == DYNAMIC else None
        if n == DYNAMIC and operand is None:
            raise Irregular
        written.append(str(n) if operand is None else printer.operand(operand))
    return f"[{', '.join(written)}]"


class ReassociationForm(Directive):
    """`[[0, 1], [2]]`, followed by `output_shape [2, %n, 3]` if dimensions are expanded."""

    def __init__(self, *members: str) -> None:
        self.members = members

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.members["reassociation"] = tuple(parser.items(parser.dimensions, "[", "]"))
        if "static_output_shape" in self.members:
            parser.expect("output_shape")
            draft.members["static_output_shape"] = parse_numbers(parser, draft)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        printer.value(listed(map(listed, member_value(op, "reassociation"))))
        if "static_output_shape" in self.members:
            written = numbers_text(printer, member_value(op, "static_output_shape"), iter(op.operands[1:]))
            printer.value(f"output_shape {written}")


class Regroup(Op, dialect="tensor", computes_on_storage=True, returns_views=True):
    """The base class of ops that merge or split adjacent dimensions.

    Each group in `reassociation` lists adjacent dimensions of the tensor of higher rank.
    """

    src = In(any_tensor)
    reassociation = Attr(Reassociation)
    result = Out(any_tensor)


class CollapseShape(Regroup, op="collapse_shape"):
    """Merge each group of adjacent dimensions into one."""

    syntax = ("$src", ReassociationForm("reassociation"), "attr-dict :", INTO)

    @staticmethod
    def infer(src: TensorType, reassociation: Reassociation) -> TensorType:
        return make_tensor_type([product(src, group) for group in reassociation], element_type(src))

    @staticmethod
    def constraints(
        C: Checker,
        infer: Callable[[], TensorType],
        src: TensorType,
        reassociation: Reassociation,
        result: TensorType,
    ) -> None:
        C(1, covers_in_order(reassociation, src))
        C(2, compatible(result, infer()))

    @staticmethod
    def plan(result: TensorType) -> Run:
        return lambda src: src.reshape(shape(result))


def covers_in_order(reassociation: Reassociation, x: TensorType) -> bool:
    """Return whether the groups list all dimensions of `x` in order; without groups, whether all sizes are 1."""
    if not reassociation:
        return all(n == 1 for n in shape(x))
    return [d for group in reassociation for d in group] == list(range(rank(x)))


def product(x: TensorType, dims: Sequence[int]) -> Size:
    """Return the product of some sizes, `UNKNOWN` if one of them is."""
    sizes = [shape(x)[d] for d in dims]
    return UNKNOWN if any(n is UNKNOWN for n in sizes) else int(np.prod(sizes, dtype=int))


class ExpandShape(Regroup, op="expand_shape", shape_operands=("output_shape",)):
    """Split each dimension into a group of adjacent dimensions."""

    output_shape = Ins(index_value)
    static_output_shape = Attr(Dims, default=None)

    syntax = ("$src", ReassociationForm("reassociation", "static_output_shape"), "attr-dict :", INTO)

    @staticmethod
    def infer(site: Site, static_output_shape: Dims | None, result: TensorType) -> TensorType:
        written = result.shape if static_output_shape is None else static_output_shape
        sizes = [None if n == DYNAMIC else n for n in written]
        return with_sizes(result, sizes, site.constants.get("output_shape"))

    @staticmethod
    def constraints(
        C: Checker,
        src: TensorType,
        reassociation: Reassociation,
        output_shape: Sequence[IndexType],
        static_output_shape: Dims | None,
        result: TensorType,
    ) -> None:
        C(1, size(reassociation) == rank(src) and covers_in_order(reassociation, result))
        C(2, all(n == product(result, group) for n, group in zip(shape(src), reassociation)))
        sizes = result.shape if static_output_shape is None else static_output_shape
        C(3, size(sizes) == rank(result) and all(n in (DYNAMIC, m) for n, m in zip(sizes, shape(result))))
        C(4, size(output_shape) == sizes.count(DYNAMIC))
        C(5, element_type(src) == element_type(result))

    @staticmethod
    def plan(result: TensorType) -> Run:
        return lambda src, output_shape: src.reshape(shape(result))


class Concat(Op, op="concat", dialect="tensor", computes_on_storage=True):
    """Concatenate `inputs` along dimension `dim`."""

    dim = Attr(Int)
    inputs = Ins(any_tensor)
    result = Out(any_tensor)

    syntax = "dim ( $dim ) operands attr-dict : functional_type"

    @staticmethod
    def infer(dim: Int, inputs: Sequence[TensorType]) -> TensorType:
        sizes = list(shape(inputs[0]))
        sizes[dim] = sum(shape(x)[dim] for x in inputs)
        return make_tensor_type(sizes, element_type(inputs[0]))

    @staticmethod
    def constraints(
        C: Checker, infer: Callable[[], TensorType], dim: Int, inputs: Sequence[TensorType], result: TensorType
    ) -> None:
        C(1, size(inputs) > 0 and 0 <= dim < rank(result) and all(rank(x) == rank(result) for x in inputs))
        C(2, all(element_type(x) == element_type(result) for x in inputs))
        C(3, all(without(shape(x), [dim]) == without(shape(result), [dim]) for x in inputs))
        C(4, compatible(result, infer()))

    @staticmethod
    def plan(dim: Int) -> Run:
        return lambda inputs: np.concatenate(inputs, dim)
