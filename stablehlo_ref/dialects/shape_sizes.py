"""Conversion and arithmetic ops of MLIR's shape dialect on sizes."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.op import In, Op, Out
from stablehlo_ref.define.type_constraints import index
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.dialects.mlir_types import Implied, shape_like, size, size_like
from stablehlo_ref.dialects.shape import YIELDS_SIZE, length, propagates_errors, size_value
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.types import INDEX, Type


class SizeToIndex(Op, op="size_to_index", dialect="shape"):
    """Convert a size to an index."""

    arg = In(size_like)
    result = Out(index)

    syntax = ("operands attr-dict : type(operands)", Implied([INDEX]))

    @staticmethod
    def plan() -> Run:
        return lambda arg: arg


class IndexToSize(Op, op="index_to_size", dialect="shape"):
    """Convert an index to a size."""

    arg = In(index)
    result = Out(size)

    syntax = ("operands attr-dict", YIELDS_SIZE)

    @staticmethod
    def plan() -> Run:
        return lambda arg: arg


class SizeArithmetic(Op, dialect="shape"):
    """The base class of arithmetic on two sizes."""

    lhs = In(size_like)
    rhs = In(size_like)
    result = Out(size_like)

    syntax = "operands attr-dict : type(operands) -> type(results)"

    combine: Callable[..., Any]

    @staticmethod
    def constraints(C: Checker, lhs: Type, rhs: Type, result: Type) -> None:
        C(1, propagates_errors(result, lhs, rhs))

    @classmethod
    def plan(cls) -> Run:
        return lambda lhs, rhs: size_value(cls.combine(int(lhs), int(rhs)))


class Add(SizeArithmetic, op="add"):
    """Add sizes."""

    combine = staticmethod(operator.add)


class Mul(SizeArithmetic, op="mul"):
    """Multiply sizes."""

    combine = staticmethod(operator.mul)


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


class Max(Extreme, op="max"):
    """Return the maximum of two sizes, or of two shapes size by size."""

    combine = np.maximum


class Min(Extreme, op="min"):
    """Return the minimum of two sizes, or of two shapes size by size."""

    combine = np.minimum
