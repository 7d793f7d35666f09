"""MLIR's shape dialect: arithmetic on shapes, and what is assumed of them.

A `!shape.shape` is an array of sizes, as a tensor of them is, and a `!shape.size` a number. A witness is nothing: the
op that gives it has checked what it stands for. Shapes and sizes have no errors in them either: what would give one, as
a division by zero or a size that 64 bits can't hold, is an EvaluationError.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any

import numpy as np

from stablehlo_ref.define import Attr, In, Ins, Op, Out
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.dialects.foreign import values
from stablehlo_ref.dialects.foreign.values import Array, Run, in_bounds, shape_like, size_like
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.kinds import Dims, Int, Kind, String
from stablehlo_ref.numerics.dtypes import INT64
from stablehlo_ref.spec import UNKNOWN, dim, is_tensor, rank, size

tensor_or_shape = Kind("tensor or shape", lambda t: isinstance(t, TensorType) or values.shape.holds(t))


def number(value: int) -> Array:
    """A size; EvaluationError where 64 bits can't hold it."""
    if not fits(value):
        raise EvaluationError(f"size {value} does not fit into 64 bits")
    return INT64.type(value)


def fits(value: int) -> bool:
    return bool(-(2**63) <= value < 2**63)


def length(x: Any) -> Any:
    """How many sizes a shape of a type has, unknown of `!shape.shape`; the same of a tensor, which has a shape."""
    return dim(x, 0) if values.extents.holds(x) else UNKNOWN


def largest(lengths: Iterable[Any]) -> Any:
    """The largest of numbers, unknown if one of them is; 0 of none."""
    known = list(lengths)
    return UNKNOWN if any(n is UNKNOWN for n in known) else max(known, default=0)


def may_be_error(*types: Any) -> bool:
    """Whether some of the types are those of the dialect whose values may be errors."""
    return any(values.shape.holds(t) or values.size.holds(t) for t in types)


def passes_errors_on(result: Any, *operands: Any) -> bool:
    """Whether a result may be an error if an operand may be one."""
    return may_be_error(result) or not may_be_error(*operands)


def together(*shapes: Array) -> tuple[int, ...]:
    """The shape that tensors of these shapes broadcast to; EvaluationError if there is none."""
    try:
        return np.broadcast_shapes(*[tuple(s.tolist()) for s in shapes])
    except ValueError:
        raise EvaluationError(f"shapes {', '.join(str(s.tolist()) for s in shapes)} don't broadcast") from None


# --- shapes ---------------------------------------------------------------------------------------------------------


class ShapeOf(Op, op="shape_of", dialect="shape"):
    """The shape of a tensor."""

    on_storage = True

    arg = In(tensor_or_shape)
    result = Out(shape_like)

    syntax = "operands attr-dict : type(operands) -> type(results)"

    @staticmethod
    def constraints(C: Any, arg: Any, result: Any) -> None:
        C(1, passes_errors_on(result, arg))
        C(2, not is_tensor(arg) or length(result) == rank(arg))

    @staticmethod
    def plan() -> Run:
        return lambda arg: np.array(np.shape(arg), INT64)


class ConstShape(Op, op="const_shape", dialect="shape"):
    """A shape that is known."""

    sizes = Attr(Dims, name="shape")
    result = Out(shape_like)

    syntax = "attr-dict $sizes : type(results)"

    @staticmethod
    def constraints(C: Any, sizes: Any, result: Any) -> None:
        C(1, length(result) == size(sizes))
        C(2, all(map(fits, sizes)))

    @staticmethod
    def plan(sizes: Any) -> Run:
        known = np.array(sizes, INT64)
        return lambda: known


class ConstSize(Op, op="const_size", dialect="shape"):
    """A size that is known."""

    value = Attr(Int)
    result = Out(size_like)

    syntax = "$value attr-dict custom(yields_size)"

    @staticmethod
    def constraints(C: Any, value: int) -> None:
        C(1, fits(value))

    @staticmethod
    def plan(value: int) -> Run:
        return lambda: number(value)


class FromExtents(Op, op="from_extents", dialect="shape"):
    """A shape of sizes."""

    extents = Ins(size_like)
    shape = Out(shape_like)

    syntax = "operands attr-dict : type(operands) custom(yields_shape)"

    @staticmethod
    def constraints(C: Any, extents: Any, shape: Any) -> None:
        C(1, length(shape) == size(extents))

    @staticmethod
    def plan() -> Run:
        return lambda extents: np.array(extents, INT64)


class SameShape(Op, dialect="shape"):
    """A shape as another type."""

    input = In(shape_like)
    result = Out(shape_like)

    syntax = "operands attr-dict : type(operands) -> type(results)"

    @staticmethod
    def constraints(C: Any, input: Any, result: Any) -> None:
        C(1, length(input) == length(result))

    @staticmethod
    def plan() -> Run:
        return lambda input: input


class ToExtentTensor(SameShape, op="to_extent_tensor"):
    """A shape as a tensor."""


class FromExtentTensor(SameShape, op="from_extent_tensor"):
    """A tensor as a shape."""

    syntax = "operands attr-dict : type(operands) custom(yields_shape)"


class ValueAsShape(SameShape, op="value_as_shape"):
    """A tensor as a shape."""


class Broadcast(Op, op="broadcast", dialect="shape"):
    """The shape that all broadcast to."""

    shapes = Ins(shape_like)
    error = Attr(String, default=None)
    result = Out(shape_like)

    syntax = "operands attr-dict : type(operands) -> type(results)"

    @staticmethod
    def constraints(C: Any, shapes: Any, result: Any) -> None:
        C(1, passes_errors_on(result, *shapes))
        C(2, length(result) == largest(map(length, shapes)))

    @staticmethod
    def plan() -> Run:
        return lambda shapes: np.array(together(*shapes), INT64)


class Concat(Op, op="concat", dialect="shape"):
    """The sizes of `lhs`, then those of `rhs`."""

    lhs = In(shape_like)
    rhs = In(shape_like)
    result = Out(shape_like)

    syntax = "operands attr-dict : type(operands) -> type(results)"

    @staticmethod
    def constraints(C: Any, lhs: Any, rhs: Any, result: Any) -> None:
        C(1, length(result) == length(lhs) + length(rhs))

    @staticmethod
    def plan() -> Run:
        return lambda lhs, rhs: np.concatenate([lhs, rhs])


class SplitAt(Op, op="split_at", dialect="shape"):
    """The sizes before number `index` and those from there; a negative one counts from the end.

    EvaluationError where there is no such number.
    """

    operand = In(shape_like)
    index = In(size_like)
    head = Out(shape_like)
    tail = Out(shape_like)

    @staticmethod
    def constraints(C: Any, operand: Any, index: Any, head: Any, tail: Any) -> None:
        C(1, passes_errors_on(head, operand, index) and passes_errors_on(tail, operand, index))
        C(2, length(operand) == length(head) + length(tail))

    @staticmethod
    def plan(head: Any, tail: Any) -> Run:
        def run(operand: Array, index: Array) -> tuple[Array, Array]:
            count = len(operand)
            if not -count <= index <= count:
                raise EvaluationError(f"can't split {count} sizes at number {index}")
            place = int(index) % count if index < 0 else int(index)
            if not (length(head) == place and length(tail) == count - place):
                raise EvaluationError(f"{place} and {count - place} sizes are no {head} and {tail}")
            return operand[:place], operand[place:]

        return run


# --- sizes ----------------------------------------------------------------------------------------------------------


class NumElements(Op, op="num_elements", dialect="shape"):
    """How many elements a tensor of this shape has."""

    shape = In(shape_like)
    result = Out(size_like)

    syntax = "operands attr-dict : type(operands) -> type(results)"

    @staticmethod
    def constraints(C: Any, shape: Any, result: Any) -> None:
        C(1, passes_errors_on(result, shape))

    @staticmethod
    def plan() -> Run:
        return lambda shape: number(prod(shape.tolist()))


class Rank(Op, op="rank", dialect="shape"):
    """How many sizes a shape has."""

    shape = In(shape_like)
    rank = Out(size_like)

    syntax = "operands attr-dict : type(operands) -> type(results)"

    @staticmethod
    def constraints(C: Any, shape: Any, rank: Any) -> None:
        C(1, passes_errors_on(rank, shape))

    @staticmethod
    def plan() -> Run:
        return lambda shape: number(len(shape))


class GetExtent(Op, op="get_extent", dialect="shape"):
    """Size number `dim` of a shape."""

    shape = In(shape_like)
    dim = In(size_like)
    extent = Out(size_like)

    syntax = "operands attr-dict : type(operands) -> type(results)"

    @staticmethod
    def constraints(C: Any, shape: Any, dim: Any, extent: Any) -> None:
        C(1, passes_errors_on(extent, shape, dim))

    @staticmethod
    def plan() -> Run:
        return lambda shape, dim: number(shape[in_bounds(dim, len(shape))])


class Dim(Op, op="dim", dialect="shape"):
    """The size of dimension `index` of a tensor."""

    on_storage = True

    value = In(tensor_or_shape)
    index = In(size_like)
    extent = Out(size_like)

    syntax = "operands attr-dict : type(operands) -> type(results)"

    @staticmethod
    def constraints(C: Any, value: Any, index: Any, extent: Any) -> None:
        C(1, passes_errors_on(extent, value, index))

    @staticmethod
    def plan() -> Run:
        return lambda value, index: number(np.shape(value)[in_bounds(index, np.ndim(value))])
