"""MLIR's shape dialect: arithmetic on shapes, and what is assumed of them.

A `!shape.shape` is an array of sizes, as a tensor of them is, and a `!shape.size` a number. A witness is nothing: the
op that gives it has checked what it stands for.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from stablehlo_ref.define import Attr, In, Ins, Op, Out
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.dialects.foreign import values
from stablehlo_ref.dialects.foreign.values import Array, Run, shape_like, size_like
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.kinds import Dims, Int, Kind, String
from stablehlo_ref.numerics.dtypes import INT64

tensor_or_shape = Kind("tensor or shape", lambda t: isinstance(t, TensorType) or values.shape.holds(t))


def number(value: Array) -> Array:
    return INT64.type(value)


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
    def plan() -> Run:
        return lambda arg: np.array(np.shape(arg), INT64)


class ConstShape(Op, op="const_shape", dialect="shape"):
    """A shape that is known."""

    sizes = Attr(Dims, name="shape")
    result = Out(shape_like)

    syntax = "attr-dict $sizes : type(results)"

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
    def plan(value: int) -> Run:
        return lambda: number(value)


class FromExtents(Op, op="from_extents", dialect="shape"):
    """A shape of sizes."""

    extents = Ins(size_like)
    shape = Out(shape_like)

    syntax = "operands attr-dict : type(operands) custom(yields_shape)"

    @staticmethod
    def plan() -> Run:
        return lambda extents: np.array(extents, INT64)


class SameShape(Op, dialect="shape"):
    """A shape as another type."""

    input = In(shape_like)
    result = Out(shape_like)

    syntax = "operands attr-dict : type(operands) -> type(results)"

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
    def plan() -> Run:
        return lambda shapes: np.array(together(*shapes), INT64)


class Concat(Op, op="concat", dialect="shape"):
    """The sizes of `lhs`, then those of `rhs`."""

    lhs = In(shape_like)
    rhs = In(shape_like)
    result = Out(shape_like)

    syntax = "operands attr-dict : type(operands) -> type(results)"

    @staticmethod
    def plan() -> Run:
        return lambda lhs, rhs: np.concatenate([lhs, rhs])


class SplitAt(Op, op="split_at", dialect="shape"):
    """The sizes before number `index` and those from there; a negative one counts from the end."""

    operand = In(shape_like)
    index = In(size_like)
    head = Out(shape_like)
    tail = Out(shape_like)

    @staticmethod
    def plan() -> Run:
        return lambda operand, index: (operand[: int(index)], operand[int(index) :])


# --- sizes ----------------------------------------------------------------------------------------------------------


class NumElements(Op, op="num_elements", dialect="shape"):
    """How many elements a tensor of this shape has."""

    shape = In(shape_like)
    result = Out(size_like)

    syntax = "operands attr-dict : type(operands) -> type(results)"

    @staticmethod
    def plan() -> Run:
        return lambda shape: number(prod(shape.tolist()))


class Rank(Op, op="rank", dialect="shape"):
    """How many sizes a shape has."""

    shape = In(shape_like)
    rank = Out(size_like)

    syntax = "operands attr-dict : type(operands) -> type(results)"

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
    def plan() -> Run:
        return lambda value, index: number(np.shape(value)[in_bounds(index, np.ndim(value))])


def in_bounds(index: Array, stop: int) -> int:
    if not 0 <= index < stop:
        raise EvaluationError(f"dimension {index} is out of bounds: there are {stop}")
    return int(index)


class SameSize(Op, dialect="shape"):
    """A size as another type."""

    arg = In(size_like)
    result = Out(size_like)

    @staticmethod
    def plan() -> Run:
        return lambda arg: arg


class SizeToIndex(SameSize, op="size_to_index"):
    """A size as an index."""

    syntax = "operands attr-dict : type(operands) custom(yields_index)"


class IndexToSize(SameSize, op="index_to_size"):
    """An index as a size."""

    syntax = "operands attr-dict custom(yields_size)"


class SizeArithmetic(Op, dialect="shape"):
    """The base of ops on two sizes."""

    lhs = In(size_like)
    rhs = In(size_like)
    result = Out(size_like)

    syntax = "operands attr-dict : type(operands) -> type(results)"

    combine: Callable[..., Any]

    @classmethod
    def plan(cls) -> Run:
        return cls.combine


class Add(SizeArithmetic, op="add"):
    """The sum."""

    combine = np.add


class Mul(SizeArithmetic, op="mul"):
    """The product."""

    combine = np.multiply


class Div(SizeArithmetic, op="div"):
    """The quotient, rounded down."""

    combine = np.floor_divide


class Max(SizeArithmetic, op="max"):
    """The larger size, or of two shapes the sizes that are larger."""

    lhs = In(size_like | shape_like)
    rhs = In(size_like | shape_like)
    result = Out(size_like | shape_like)

    combine = np.maximum


class Min(SizeArithmetic, op="min"):
    """The smaller size, or of two shapes the sizes that are smaller."""

    lhs = In(size_like | shape_like)
    rhs = In(size_like | shape_like)
    result = Out(size_like | shape_like)

    combine = np.minimum
