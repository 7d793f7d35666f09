"""MLIR's shape dialect: shapes and their sizes.

At run time a `!shape.shape` is a 1-dimensional array of i64, as is a `tensor<?xindex>`, and a `!shape.size` is an i64.
A `!shape.witness` is None, because the op that returns it raises EvaluationError if its condition does not hold. There
are no error values either: an op whose result would be one, such as a division by zero, raises EvaluationError.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import Any, ClassVar

import numpy as np

from stablehlo_ref.define.assembly import AsmParser, AsmPrinter, Directive, Draft, implied, listed, member_value
from stablehlo_ref.define.attribute_codecs import Extents, Index, String
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.definition import Syntax
from stablehlo_ref.define.facts import CONSTANT
from stablehlo_ref.define.op import Attr, In, Ins, Op, Out, returns
from stablehlo_ref.define.spec import UNKNOWN, Size, dim, is_tensor, rank, size
from stablehlo_ref.define.type_constraints import TypeConstraint, index, unranked_tensor
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.dialects import mlir_types
from stablehlo_ref.dialects.mlir_types import define, identity, in_bounds, shape_like, size_like
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import INDEX, OpaqueType, TensorType, Type, tensor_type
from stablehlo_ref.numerics.dtypes import INT64


class ConstantShape(Directive):
    """`[1, 2]`, which MLIR does not allow in the dictionary too."""

    members = ("sizes",)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.members["sizes"] = parser.dimensions()
        draft.exclusive = ("shape",)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        sizes = listed(member_value(op, "sizes"))
        if op.attributes:  # MLIR prints no space after them
            printer.literal("[")
            sizes = sizes.removeprefix("[")
        printer.value(sizes)


YIELDS_SHAPE = implied([OpaqueType("!shape.shape")])
YIELDS_SIZE = implied([OpaqueType("!shape.size")], lambda n: [INDEX] * n)

tensor_or_shape = TypeConstraint("tensor or shape", lambda t: isinstance(t, TensorType) or mlir_types.shape.holds(t))


def size_value(value: int) -> Array:
    """Return a size as an i64. EvaluationError if it does not fit in 64 bits."""
    if not fits(value):
        raise EvaluationError(f"size {value} does not fit in 64 bits")
    return np.array(value, INT64)[()]


def fits(value: int) -> bool:
    """Return whether `value` fits in a signed 64-bit integer."""
    return bool(-(2**63) <= value < 2**63)


def length(x: Type) -> Size:
    """Return the number of sizes in a shape of type `x`; `UNKNOWN` for `!shape.shape` and unranked extents."""
    return dim(x, 0) if mlir_types.extents.holds(x) else UNKNOWN


def largest(lengths: Iterable[Size]) -> Size:
    """Return the maximum, 0 for no lengths; `UNKNOWN` if one of them is."""
    known = list(lengths)
    return UNKNOWN if any(n is UNKNOWN for n in known) else max(known, default=0)


def may_be_error(*types: Type) -> bool:
    """Return whether values of one of the types may be errors: `!shape.shape` or `!shape.size`."""
    return any(mlir_types.shape.holds(t) or mlir_types.size.holds(t) for t in types)


def propagates_errors(result: Type, *operands: Type) -> bool:
    """Return whether the result may be an error if an operand may be one."""
    return may_be_error(result) or not may_be_error(*operands)


def broadcast(*shapes: Array) -> tuple[int, ...]:
    """Return the shape to which `shapes` broadcast. EvaluationError if they do not."""
    try:
        return np.broadcast_shapes(*[tuple(s.tolist()) for s in shapes])
    except ValueError:
        raise EvaluationError(f"shapes {shape_list(shapes)} do not broadcast") from None


def shape_list(shapes: Sequence[Array]) -> str:
    """Return shapes as text for messages: `[2, 3], [2]`."""
    return ", ".join(str(s.tolist()) for s in shapes)


# --- shapes ---------------------------------------------------------------------------------------------------------


class Typed(Op, dialect="shape"):
    """The base class of ops whose text has all types."""

    syntax: ClassVar[Syntax] = "operands attr-dict : type(operands) -> type(results)"


class ShapeOf(Typed, op="shape_of", computes_on_storage=True):
    """Return the shape of a tensor."""

    arg = In(tensor_or_shape | unranked_tensor)
    result = Out(shape_like)

    @staticmethod
    def constraints(C: Checker, arg: Type, result: Type) -> None:
        C(1, propagates_errors(result, arg))
        C(2, not is_tensor(arg) or length(result) == rank(arg))

    plan = returns(lambda arg: np.array(np.shape(arg), INT64))


class ConstShape(Op, op="const_shape", dialect="shape", facts=CONSTANT):
    """Return a constant shape."""

    sizes = Attr(Extents, name="shape")
    result = Out(shape_like)

    syntax = ("attr-dict", ConstantShape(), ": type(results)")

    @staticmethod
    def constraints(C: Checker, sizes: Extents, result: Type) -> None:
        C(1, mlir_types.shape.holds(result) or result == tensor_type((size(sizes),), INDEX))
        C(2, all(map(fits, sizes)))

    @staticmethod
    def plan(sizes: Extents) -> Run:
        known = np.array(sizes, INT64)
        return lambda: known


class ConstSize(Op, op="const_size", dialect="shape"):
    """Return a constant size."""

    value = Attr(Index)
    result = Out(size_like)

    syntax = ("$value attr-dict", YIELDS_SIZE)

    @staticmethod
    def constraints(C: Checker, value: Index) -> None:
        C(1, fits(value))

    @staticmethod
    def plan(value: Index) -> Run:
        return lambda: size_value(value)


class FromExtents(Op, op="from_extents", dialect="shape"):
    """Return the shape with the given sizes."""

    extents = Ins(size_like)
    shape = Out(shape_like)

    syntax = ("operands attr-dict : type(operands)", YIELDS_SHAPE)

    @staticmethod
    def constraints(C: Checker, extents: Sequence[Type], shape: Type) -> None:
        C(1, length(shape) == size(extents))

    plan = returns(lambda extents: np.array(extents, INT64))


class SameShape(Typed):
    """The base class of conversions between types of shapes."""

    input = In(shape_like)
    result = Out(shape_like)

    @staticmethod
    def constraints(C: Checker, input: Type, result: Type) -> None:
        C(1, length(input) == length(result))

    plan = identity


class ToExtentTensor(SameShape, op="to_extent_tensor"):
    """Convert a shape to a tensor of sizes."""


class FromExtentTensor(SameShape, op="from_extent_tensor"):
    """Convert a tensor of sizes to a shape."""

    syntax = ("operands attr-dict : type(operands)", YIELDS_SHAPE)


class ValueAsShape(SameShape, op="value_as_shape"):
    """Reinterpret a tensor of sizes as a shape."""


class Broadcast(Typed, op="broadcast"):
    """Return the shape to which all shapes broadcast. EvaluationError if they do not."""

    shapes = Ins(shape_like)
    error = Attr(String, default=None)
    result = Out(shape_like)

    @staticmethod
    def constraints(C: Checker, shapes: Sequence[Type], result: Type) -> None:
        C(1, propagates_errors(result, *shapes))
        C(2, length(result) == largest(map(length, shapes)))

    plan = returns(lambda shapes: np.array(broadcast(*shapes), INT64))


class Concat(Typed, op="concat"):
    """Concatenate two shapes."""

    lhs = In(shape_like)
    rhs = In(shape_like)
    result = Out(shape_like)

    @staticmethod
    def constraints(C: Checker, lhs: Type, rhs: Type, result: Type) -> None:
        C(1, length(result) == length(lhs) + length(rhs))

    plan = returns(lambda lhs, rhs: np.concatenate([lhs, rhs]))


class SplitAt(Op, op="split_at", dialect="shape"):
    """Split a shape at `index`; a negative index counts from the end.

    EvaluationError if the index is out of range.
    """

    operand = In(shape_like)
    index = In(size_like)
    head = Out(shape_like)
    tail = Out(shape_like)

    @staticmethod
    def constraints(C: Checker, operand: Type, index: Type, head: Type, tail: Type) -> None:
        C(1, propagates_errors(head, operand, index) and propagates_errors(tail, operand, index))
        C(2, length(operand) == length(head) + length(tail))

    @staticmethod
    def plan(head: Type, tail: Type) -> Run:
        def run(operand: Array, index: Array) -> tuple[Array, Array]:
            count = len(operand)
            if not -count <= index <= count:
                raise EvaluationError(f"cannot split a shape of {count} sizes at index {index}")
            place = int(index) % count if index < 0 else int(index)
            if not (length(head) == place and length(tail) == count - place):
                raise EvaluationError(f"expected {head} and {tail}, got {place} and {count - place} sizes")
            return operand[:place], operand[place:]

        return run


# --- properties of shapes ---------------------------------------------------------------------------------------------


class NumElements(Typed, op="num_elements"):
    """Return the number of elements of a tensor of this shape."""

    shape = In(shape_like)
    result = Out(size_like)

    @staticmethod
    def constraints(C: Checker, shape: Type, result: Type) -> None:
        C(1, propagates_errors(result, shape))

    plan = returns(lambda shape: size_value(prod(shape.tolist())))


class Rank(Typed, op="rank"):
    """Return the rank of a shape."""

    shape = In(shape_like)
    rank = Out(size_like)

    @staticmethod
    def constraints(C: Checker, shape: Type, rank: Type) -> None:
        C(1, propagates_errors(rank, shape))

    plan = returns(lambda shape: size_value(len(shape)))


class GetExtent(Typed, op="get_extent"):
    """Return size `dim` of a shape. EvaluationError if `dim` is out of bounds."""

    shape = In(shape_like)
    dim = In(size_like)
    extent = Out(size_like)

    @staticmethod
    def constraints(C: Checker, shape: Type, dim: Type, extent: Type) -> None:
        C(1, propagates_errors(extent, shape, dim))

    plan = returns(lambda shape, dim: size_value(shape[in_bounds(dim, len(shape))]))


class Dim(Typed, op="dim", computes_on_storage=True):
    """Return the size of dimension `index` of a tensor. EvaluationError if `index` is out of bounds."""

    value = In(tensor_or_shape)
    index = In(size_like)
    extent = Out(size_like)

    @staticmethod
    def constraints(C: Checker, value: Type, index: Type, extent: Type) -> None:
        C(1, propagates_errors(extent, value, index))

    plan = returns(lambda value, index: size_value(np.shape(value)[in_bounds(index, np.ndim(value))]))


# --- sizes ----------------------------------------------------------------------------------------------------------


class SizeToIndex(Op, op="size_to_index", dialect="shape"):
    """Convert a size to an index."""

    arg = In(size_like)
    result = Out(index)

    syntax = ("operands attr-dict : type(operands)", implied([INDEX]))

    plan = identity


class IndexToSize(Op, op="index_to_size", dialect="shape"):
    """Convert an index to a size."""

    arg = In(index)
    result = Out(mlir_types.size)

    syntax = ("operands attr-dict", YIELDS_SIZE)

    plan = identity


class SizeArithmetic(Typed):
    """The base class of arithmetic on two sizes."""

    lhs = In(size_like)
    rhs = In(size_like)
    result = Out(size_like)

    combine: Callable[..., Any]

    @staticmethod
    def constraints(C: Checker, lhs: Type, rhs: Type, result: Type) -> None:
        C(1, propagates_errors(result, lhs, rhs))

    @classmethod
    def plan(cls) -> Run:
        return lambda lhs, rhs: size_value(cls.combine(int(lhs), int(rhs)))


class Div(SizeArithmetic, op="div"):
    """Divide sizes, rounding down. EvaluationError for a division by zero."""

    @staticmethod
    def combine(lhs: int, rhs: int) -> int:
        if not rhs:
            raise EvaluationError(f"division of size {lhs} by zero")
        return lhs // rhs


class Extreme(SizeArithmetic):
    """The base class of maximum and minimum of two sizes, or of shapes of equal rank size by size."""

    lhs = In(size_like | shape_like)
    rhs = In(size_like | shape_like)
    result = Out(size_like | shape_like)

    @staticmethod
    def constraints(C: Checker, lhs: Type, rhs: Type, result: Type) -> None:
        C(1, propagates_errors(result, lhs, rhs))
        C(2, shape_like.holds(lhs) == shape_like.holds(rhs) == shape_like.holds(result))
        C(3, length(lhs) == length(rhs) == length(result))

    @classmethod
    def plan(cls) -> Run:
        def run(lhs: Array, rhs: Array) -> Array:
            if np.shape(lhs) != np.shape(rhs):
                raise EvaluationError(f"shapes {lhs.tolist()}, {rhs.tolist()} have different ranks")
            result: Array = cls.combine(lhs, rhs)
            return result

        return run


for base, mnemonic, doc, combine in (
    (SizeArithmetic, "add", "Add sizes.", operator.add),
    (SizeArithmetic, "mul", "Multiply sizes.", operator.mul),
    (Extreme, "max", "Return the maximum of two sizes, or of two shapes size by size.", np.maximum),
    (Extreme, "min", "Return the minimum of two sizes, or of two shapes size by size.", np.minimum),
):
    define(base, mnemonic, doc, combine=staticmethod(combine))
