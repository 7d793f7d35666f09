"""MLIR's tensor dialect: slices, padding, and tensors whose elements a region computes.

Offsets, sizes, strides and padding are static where an attribute has them. Where it has `DYNAMIC`, the next of the
operands of type `index` has the number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from stablehlo_ref.define.assembly import AsmParser, AsmPrinter, Deduced, Directive, Draft, Irregular, member_value
from stablehlo_ref.define.attribute_codecs import Dims, Presence, SegmentSizes
from stablehlo_ref.define.bound import Site
from stablehlo_ref.define.computation import RegionFunction, Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.op import Attr, Body, In, Ins, Op, Out, type_of
from stablehlo_ref.define.spec import compatible, element_type, num_bits, rank, shape, size
from stablehlo_ref.define.type_constraints import anything
from stablehlo_ref.define.type_constraints import index as index_value
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.dialects.mlir_types import CAST, DYNAMIC, any_tensor
from stablehlo_ref.dialects.tensor import SIZES, numbers_text, parse_numbers, with_sizes
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import INDEX, FunctionType, IndexType, TensorType, Type
from stablehlo_ref.numerics.dtypes import INT64, numpy_dtype

STRIDED = {"static_offsets": "", "static_sizes": "", "static_strides": ""}
UPDATED = Deduced(CAST.shown, lambda a, b, n: ([a, b] + [INDEX] * (n - 2), [b]), "into")


class Numbers(Directive):
    """Lists `[1, %n, 3]`, one for each of `lists`, each after its keyword if it has one; and the sizes of segments.

    `before` is the number of operands before them: `%source`, or `%source into %dest`.
    """

    def __init__(self, lists: dict[str, str], before: int = 1, flag: str = "") -> None:
        self.lists = lists
        self.before = before
        self.flag = flag
        self.members = (*lists, "operand_segment_sizes", *((flag,) if flag else ()))

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.operands.append(parser.operand())
        if self.before > 1:
            parser.expect("into")
            draft.operands.append(parser.operand())
        if self.flag and parser.accept(self.flag):
            draft.members[self.flag] = True
        sizes = [1] * self.before
        for member, keyword in self.lists.items():
            if keyword:
                parser.expect(keyword)
            draft.members[member] = numbers = parse_numbers(parser, draft)
            sizes.append(numbers.count(DYNAMIC))
        draft.members["operand_segment_sizes"] = tuple(sizes)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        dynamic = iter(op.operands[self.before :])
        names = list(map(printer.operand, op.operands[: self.before]))
        lists = [kw + numbers_text(printer, member_value(op, m), dynamic) for m, kw in self.lists.items()]
        flag = [self.flag] if self.flag and op.properties.get(self.flag) else []
        if next(dynamic, None) is not None:
            raise Irregular
        first = " into ".join(names)
        if any(self.lists.values()):
            printer.value(" ".join((first, *flag, *lists)))
        else:
            printer.value(first + " ".join(lists))


class Bitcast(Op, op="bitcast", dialect="tensor", computes_on_storage=True, returns_views=True):
    """Return the bits of each element of `source` as a number of another type of the same width."""

    source = In(any_tensor)
    dest = Out(any_tensor)

    syntax = ("operands attr-dict :", CAST)

    @staticmethod
    def constraints(C: Checker, source: TensorType, dest: TensorType) -> None:
        C(1, shape(source) == shape(dest))
        C(2, num_bits(element_type(source)) == num_bits(element_type(dest)))

    @staticmethod
    def plan(dest: TensorType) -> Run:
        dtype = numpy_dtype(element_type(dest))
        return lambda source: np.asarray(source).view(dtype)


class Strided(Op, dialect="tensor", computes_on_storage=True):
    """The base class of ops on `source[offsets][sizes][strides]`."""

    static_offsets = Attr(Dims)
    static_sizes = Attr(Dims)
    static_strides = Attr(Dims)
    operand_segment_sizes = Attr(SegmentSizes, name="operandSegmentSizes")


def window(x: Array, offsets: Sequence[int], sizes: Sequence[int], strides: Sequence[int]) -> tuple[slice, ...]:
    """Return the index of a strided part of `x`. EvaluationError if it is not inside."""
    for dim, (start, count, stride) in enumerate(zip(offsets, sizes, strides)):
        if start < 0 or count < 0 or stride < 1 or (count and start + (count - 1) * stride >= x.shape[dim]):
            part = f"[{start}] [{count}] [{stride}]"
            raise EvaluationError(f"the slice {part} of dimension {dim} is not inside its size {x.shape[dim]}")
    return tuple(slice(a, a + n * s, s) for a, n, s in zip(offsets, sizes, strides))


def known(operands: Iterable[Array], *lists: Dims) -> list[list[int]]:
    """Return the numbers of attributes, with the next operand for each that is dynamic."""
    dynamic = iter(operands)
    return [[int(next(dynamic)) if n == DYNAMIC else n for n in static] for static in lists]


def kept_dimensions(sizes: Sequence[int], declared: TensorType) -> list[int] | None:
    """Return the dimensions that a slice of these sizes keeps if its type lacks some of size 1, or None."""
    rest, missing = list(declared.shape), len(sizes) - rank(declared)
    kept = []
    for dim, n in enumerate(sizes):
        if n == 1 and missing and not (rest and rest[0] == 1):
            missing -= 1
        elif rest and (n == DYNAMIC or rest[0] in (None, n)):
            rest.pop(0)
            kept.append(dim)
        else:
            return None
    return None if rest or missing else kept


def is_slice(slice: TensorType, static_sizes: Dims, whole: TensorType) -> bool:
    """Return whether a type is that of a slice, perhaps without some dimensions of size 1."""
    return kept_dimensions(static_sizes, slice) is not None and element_type(slice) == element_type(whole)


def slice_shape(sizes: Sequence[int], declared: TensorType) -> list[int]:
    """Return the shape of a slice of these sizes. EvaluationError if it is not of the declared type."""
    kept = kept_dimensions(sizes, declared)
    if kept is None:
        raise EvaluationError(f"a slice of the sizes {list(sizes)} is not a {declared}")
    return [sizes[dim] for dim in kept]


class ExtractSlice(Strided, op="extract_slice"):
    """Return a slice of `source`; the result may lack dimensions of size 1."""

    source = In(any_tensor)
    positions = Ins(index_value)
    result = Out(any_tensor)

    syntax = (Numbers(STRIDED), "attr-dict :", CAST)

    @staticmethod
    def constraints(
        C: Checker,
        source: TensorType,
        positions: Sequence[IndexType],
        static_offsets: Dims,
        static_sizes: Dims,
        static_strides: Dims,
        operand_segment_sizes: SegmentSizes,
        result: TensorType,
    ) -> None:
        C(1, size(static_offsets) == size(static_sizes) == size(static_strides) == rank(source))
        dynamic = [n.count(DYNAMIC) for n in (static_offsets, static_sizes, static_strides)]
        C(2, list(operand_segment_sizes) == [1, *dynamic] and size(positions) == sum(dynamic))
        C(3, is_slice(result, static_sizes, source))

    @staticmethod
    def plan(static_offsets: Dims, static_sizes: Dims, static_strides: Dims, result: TensorType) -> Run:
        def run(source: Array, positions: tuple[Array, ...]) -> Array:
            offsets, sizes, strides = known(positions, static_offsets, static_sizes, static_strides)
            part = np.asarray(source)[window(source, offsets, sizes, strides)]
            return part.reshape(slice_shape(sizes, result))

        return run


class InsertSlice(Strided, op="insert_slice"):
    """Return a copy of `dest` with `source`, which may lack dimensions of size 1, in place of a slice."""

    source = In(any_tensor)
    dest = In(any_tensor)
    positions = Ins(index_value)
    result = Out(any_tensor)

    syntax = (Numbers(STRIDED, before=2), "attr-dict :", UPDATED)

    infer = type_of("dest")

    @staticmethod
    def constraints(
        C: Checker,
        source: TensorType,
        dest: TensorType,
        positions: Sequence[IndexType],
        static_offsets: Dims,
        static_sizes: Dims,
        static_strides: Dims,
        operand_segment_sizes: SegmentSizes,
        result: TensorType,
    ) -> None:
        C(1, size(static_offsets) == size(static_sizes) == size(static_strides) == rank(dest))
        dynamic = [n.count(DYNAMIC) for n in (static_offsets, static_sizes, static_strides)]
        C(2, list(operand_segment_sizes) == [1, 1, *dynamic] and size(positions) == sum(dynamic))
        C(3, is_slice(source, static_sizes, dest))
        C(4, compatible(dest, result))

    @staticmethod
    def plan(source: TensorType, static_offsets: Dims, static_sizes: Dims, static_strides: Dims) -> Run:
        declared = source

        def run(source: Array, dest: Array, positions: tuple[Array, ...]) -> Array:
            offsets, sizes, strides = known(positions, static_offsets, static_sizes, static_strides)
            place = window(dest, offsets, sizes, strides)
            slice_shape(sizes, declared)
            result = np.array(dest)
            result[place] = np.asarray(source).reshape(sizes)
            return result

        return run


# --- regions --------------------------------------------------------------------------------------------------------


def elements(body: RegionFunction, sizes: Sequence[int], type: TensorType) -> Array:
    """Return the tensor of what `body` returns for the indices of each element."""
    dtype = numpy_dtype(element_type(type))
    if body.is_elementwise:
        indices = np.meshgrid(*[np.arange(n, dtype=INT64) for n in sizes], indexing="ij", sparse=True)
        return np.broadcast_to(np.asarray(body(*indices)[0], dtype), sizes)
    result = np.empty(sizes, dtype)
    for index in np.ndindex(*sizes):
        result[index] = body(*map(INT64.type, index))[0]
    return result


class Generate(Op, op="generate", dialect="tensor", shape_operands=("dynamic_extents",)):
    """Return the tensor of what `body` returns for the indices of each element."""

    dynamic_extents = Ins(index_value)
    body = Body()
    result = Out(any_tensor)

    syntax = ("operands $body attr-dict :", SIZES)

    @staticmethod
    def infer(site: Site, result: TensorType) -> TensorType:
        return with_sizes(result, result.shape, site.constants.get("dynamic_extents"))

    @staticmethod
    def constraints(
        C: Checker, site: Site, dynamic_extents: Sequence[IndexType], body: FunctionType, result: TensorType
    ) -> None:
        C(1, "dynamic_extents" in site.constants or size(dynamic_extents) == result.shape.count(None))
        C(2, body.inputs == (INDEX,) * rank(result) and body.outputs == (element_type(result),))

    @staticmethod
    def plan(body: RegionFunction, result: TensorType) -> Run:
        sizes = [n or 0 for n in result.shape]
        return lambda dynamic_extents: elements(body, sizes, result)


class Pad(Op, op="pad", dialect="tensor"):
    """Surround `source` with what `region` returns for the indices of each element of the result."""

    source = In(any_tensor)
    padding = Ins(index_value)
    static_low = Attr(Dims)
    static_high = Attr(Dims)
    nofold = Attr(Presence, default=False)
    operand_segment_sizes = Attr(SegmentSizes, name="operandSegmentSizes")
    region = Body()
    result = Out(any_tensor)

    syntax = (Numbers({"static_low": "low", "static_high": "high"}, flag="nofold"), "$region attr-dict :", CAST)

    @staticmethod
    def constraints(
        C: Checker,
        source: TensorType,
        padding: Sequence[IndexType],
        static_low: Dims,
        static_high: Dims,
        operand_segment_sizes: SegmentSizes,
        region: FunctionType,
        result: TensorType,
    ) -> None:
        C(1, size(static_low) == size(static_high) == rank(source) == rank(result))
        dynamic = [static_low.count(DYNAMIC), static_high.count(DYNAMIC)]
        C(2, list(operand_segment_sizes) == [1, *dynamic] and size(padding) == sum(dynamic))
        C(3, element_type(source) == element_type(result))
        C(4, all(DYNAMIC in (low, high) or n + low + high == m
                 for n, low, high, m in zip(shape(source), static_low, static_high, shape(result))))  # fmt: skip
        C(5, region.inputs == (INDEX,) * rank(result) and region.outputs == (element_type(result),))

    @staticmethod
    def plan(static_low: Dims, static_high: Dims, region: RegionFunction, result: TensorType) -> Run:
        def run(source: Array, padding: tuple[Array, ...]) -> Array:
            low, high = known(padding, static_low, static_high)
            sizes = [a + n + b for a, n, b in zip(low, source.shape, high)]
            if min((0, *low, *high)) < 0 or any(m not in (None, n) for m, n in zip(result.shape, sizes)):
                raise EvaluationError(f"padding {source.shape} by {low} and {high} does not give a {result}")
            padded = np.array(elements(region, sizes, result))
            padded[tuple(slice(a, a + n) for a, n in zip(low, source.shape))] = source
            return padded

        return run


class Yield(Op, op="yield", dialect="tensor", terminator=True):
    """Return `value` from the region of a `generate` or `pad`."""

    value = In(anything)

    syntax = "operands attr-dict : type(operands)"

    @staticmethod
    def constraints(C: Checker, value: Type) -> None:
        C(1, not isinstance(value, TensorType))
