"""MLIR's shape dialect: arithmetic on shapes, and what is assumed of them.

A `!shape.shape` is an array of sizes, as a tensor of them is, and a `!shape.size` a number. A witness is nothing: the
op that gives it has checked what it stands for.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from stablehlo_ref.define import Attr, Body, In, Ins, Op, Out, Outs
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.dialects.foreign import values
from stablehlo_ref.dialects.foreign.values import Array, Run, boolean, shape_like, size_like, witness
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.kinds import Dims, Flag, Int, Kind, String, anything
from stablehlo_ref.numerics.dtypes import INT64
from stablehlo_ref.ops.control_flow import Go, PlanBlock, all_compatible, branch

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


# --- questions and assumptions --------------------------------------------------------------------------------------


def all_equal(*shapes: Array) -> bool:
    return all(np.array_equal(s, shapes[0]) for s in shapes)


def broadcastable(*shapes: Array) -> bool:
    try:
        together(*shapes)
    except EvaluationError:
        return False
    return True


class ShapeEq(Op, op="shape_eq", dialect="shape"):
    """Whether all shapes are the same."""

    shapes = Ins(shape_like)
    result = Out(boolean)

    syntax = "operands attr-dict : type(operands) custom(yields_boolean)"

    @staticmethod
    def plan() -> Run:
        return lambda shapes: np.bool_(all_equal(*shapes))


class IsBroadcastable(Op, op="is_broadcastable", dialect="shape"):
    """Whether the shapes broadcast."""

    shapes = Ins(shape_like)
    result = Out(boolean)

    syntax = "operands attr-dict : type(operands) custom(yields_boolean)"

    @staticmethod
    def plan() -> Run:
        return lambda shapes: np.bool_(broadcastable(*shapes))


class CstrBroadcastable(Op, op="cstr_broadcastable", dialect="shape"):
    """A witness that the shapes broadcast."""

    shapes = Ins(shape_like)
    result = Out(witness)

    syntax = "operands attr-dict : type(operands) custom(witness)"

    @staticmethod
    def plan() -> Run:
        def run(shapes: tuple[Array, ...]) -> None:
            together(*shapes)

        return run


class CstrEq(Op, op="cstr_eq", dialect="shape"):
    """A witness that all shapes are the same."""

    shapes = Ins(shape_like)
    result = Out(witness)

    syntax = "operands attr-dict : type(operands) custom(witness)"

    @staticmethod
    def plan() -> Run:
        def run(shapes: tuple[Array, ...]) -> None:
            if not all_equal(*shapes):
                raise EvaluationError(f"shapes {', '.join(str(s.tolist()) for s in shapes)} are not the same")

        return run


class CstrRequire(Op, op="cstr_require", dialect="shape"):
    """A witness that `pred` is true."""

    pred = In(boolean)
    msg = Attr(String)
    result = Out(witness)

    syntax = "operands, $msg attr-dict custom(witness_of_truth)"

    @staticmethod
    def plan(msg: str) -> Run:
        def run(pred: Array) -> None:
            if not pred:
                raise EvaluationError(msg)

        return run


class ConstWitness(Op, op="const_witness", dialect="shape"):
    """A witness that is known to hold, or not to."""

    passing = Attr(Flag)
    result = Out(witness)

    syntax = "$passing attr-dict custom(witness)"

    @staticmethod
    def plan(passing: bool) -> Run:
        def run() -> None:
            if not passing:
                raise EvaluationError("a witness that does not hold")

        return run


class AssumingAll(Op, op="assuming_all", dialect="shape"):
    """A witness of what all others witness."""

    inputs = Ins(witness)
    result = Out(witness)

    syntax = "operands attr-dict custom(witness_of_witnesses)"

    @staticmethod
    def plan() -> Run:
        return lambda inputs: None


class Assuming(Op, op="assuming", dialect="shape"):
    """Runs its region, which takes for granted what `witness` stands for."""

    witness = In(witness)
    body = Body()
    results = Outs(anything)

    syntax = "custom(assuming)"

    @staticmethod
    def constraints(C: Any, body: Any, results: Any) -> None:
        C(1, all_compatible(body.outputs, results))

    @staticmethod
    def inline(body: PlanBlock, results: tuple[int, ...]) -> Go:
        return branch(body, results)


class AssumingYield(Op, op="assuming_yield", dialect="shape"):
    """Ends the region of `assuming` and gives its results."""

    terminator = True
    inputs = Ins(anything)

    syntax = "operands attr-dict (: type(operands))?"
