"""Ops of MLIR's shape dialect on sizes."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from stablehlo_ref.define import In, Op, Out
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.dialects.foreign.shape import length, number, passes_errors_on
from stablehlo_ref.dialects.foreign.values import Array, Run, shape_like, size, size_like
from stablehlo_ref.kinds import index


class SizeToIndex(Op, op="size_to_index", dialect="shape"):
    """A size as an index."""

    arg = In(size_like)
    result = Out(index)

    syntax = "operands attr-dict : type(operands) custom(yields_index)"

    @staticmethod
    def plan() -> Run:
        return lambda arg: arg


class IndexToSize(Op, op="index_to_size", dialect="shape"):
    """An index as a size."""

    arg = In(index)
    result = Out(size)

    syntax = "operands attr-dict custom(yields_size)"

    @staticmethod
    def plan() -> Run:
        return lambda arg: arg


class SizeArithmetic(Op, dialect="shape"):
    """The base of ops on two sizes."""

    lhs = In(size_like)
    rhs = In(size_like)
    result = Out(size_like)

    syntax = "operands attr-dict : type(operands) -> type(results)"

    combine: Callable[..., Any]

    @staticmethod
    def constraints(C: Any, lhs: Any, rhs: Any, result: Any) -> None:
        C(1, passes_errors_on(result, lhs, rhs))

    @classmethod
    def plan(cls) -> Run:
        return lambda lhs, rhs: number(cls.combine(int(lhs), int(rhs)))


class Add(SizeArithmetic, op="add"):
    """The sum."""

    combine = staticmethod(operator.add)


class Mul(SizeArithmetic, op="mul"):
    """The product."""

    combine = staticmethod(operator.mul)


class Div(SizeArithmetic, op="div"):
    """The quotient, rounded down."""

    @staticmethod
    def combine(lhs: int, rhs: int) -> int:
        if not rhs:
            raise EvaluationError(f"size {lhs} divided by 0")
        return lhs // rhs


class Extreme(SizeArithmetic):
    """The base of ops that choose of two sizes, or size by size of two shapes of one rank."""

    lhs = In(size_like | shape_like)
    rhs = In(size_like | shape_like)
    result = Out(size_like | shape_like)

    @staticmethod
    def constraints(C: Any, lhs: Any, rhs: Any, result: Any) -> None:
        C(1, passes_errors_on(result, lhs, rhs))
        C(2, shape_like.holds(lhs) == shape_like.holds(rhs) == shape_like.holds(result))
        C(3, length(lhs) == length(rhs) == length(result))

    @classmethod
    def plan(cls) -> Run:
        def run(lhs: Array, rhs: Array) -> Array:
            if np.shape(lhs) != np.shape(rhs):
                raise EvaluationError(f"shapes {lhs.tolist()}, {rhs.tolist()} have different ranks")
            return cls.combine(lhs, rhs)

        return run


class Max(Extreme, op="max"):
    """The larger size, or of two shapes the sizes that are larger."""

    combine = np.maximum


class Min(Extreme, op="min"):
    """The smaller size, or of two shapes the sizes that are smaller."""

    combine = np.minimum
