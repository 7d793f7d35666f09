"""Ops of MLIR's arith dialect that compare and choose."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np

from stablehlo_ref.define import Attr, In, Out
from stablehlo_ref.dialects.foreign.arith import unsigned_dtype
from stablehlo_ref.dialects.foreign.values import Run, boolean_like, float_like, integer_like
from stablehlo_ref.ir.attributes import IntegerAttribute
from stablehlo_ref.ir.types import BOOLEAN, integer_type
from stablehlo_ref.kinds import OneOf, Opaque, anything
from stablehlo_ref.numerics import integers
from stablehlo_ref.numerics.dtypes import BOOL, numpy_dtype
from stablehlo_ref.ops.elementwise import Elementwise
from stablehlo_ref.spec import compatible, element_type, is_tensor, shape, with_element_type

CmpIPredicate = Enum("CmpIPredicate", ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"], start=0)
CmpFPredicate = Enum(
    "CmpFPredicate",
    "false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true",
    start=0,
)


class Predicate(OneOf):
    """An enumeration that MLIR writes as its number, outside of pretty forms."""

    def decode(self, attribute: Any) -> Any:
        if isinstance(attribute, IntegerAttribute) and 0 <= attribute.value < len(self.enum):
            return list(self.enum)[attribute.value]
        return super().decode(attribute)

    def encode(self, value: Any) -> Any:
        return IntegerAttribute(value.value, integer_type(64))


class Comparison(Elementwise, dialect="arith"):
    """Whether a predicate holds of two numbers."""

    lhs = In(integer_like)
    rhs = In(integer_like)
    result = Out(boolean_like)

    @staticmethod
    def infer(lhs: Any) -> Any:
        return boolean_of(lhs)

    @staticmethod
    def constraints(C: Any, lhs: Any, rhs: Any, result: Any) -> None:
        C(1, compatible(lhs, rhs))
        C(2, compatible(result, boolean_of(lhs)))


def boolean_of(x: Any) -> Any:
    return with_element_type(x, BOOLEAN) if is_tensor(x) else BOOLEAN


class CmpI(Comparison, op="cmpi"):
    """Predicates with `s` take integers as signed, those with `u` as unsigned."""

    predicate = Attr(Predicate(CmpIPredicate, "arith"))

    syntax = "$predicate, operands attr-dict : custom(compared_type)"

    @staticmethod
    def plan(lhs: Any, predicate: Any) -> Run:
        dtype = numpy_dtype(element_type(lhs))
        name = predicate.name
        direction = (name if name in ("eq", "ne") else name[1:]).upper()
        if dtype == BOOL:  # true is -1 where it has a sign
            kernel = integers.compare(direction)(BOOL)
            return (lambda x, y: kernel(y, x)) if name[0] == "s" else kernel
        if name[0] != "u":
            return integers.compare(direction)(dtype)
        natural = unsigned_dtype(dtype)
        kernel = integers.compare(direction)(natural)
        return lambda x, y: kernel(x.view(natural), y.view(natural))


COMPARISONS = {
    "eq": np.equal,
    "ne": np.not_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lt": np.less,
    "le": np.less_equal,
}


class CmpF(Comparison, op="cmpf"):
    """Predicates with `o` hold of numbers only, those with `u` of NaN with anything too."""

    lhs = In(float_like)
    rhs = In(float_like)
    predicate = Attr(Predicate(CmpFPredicate, "arith"))
    fastmath = Attr(Opaque, default=None)

    syntax = "$predicate, operands custom(arith_flags) attr-dict : custom(compared_type)"

    @staticmethod
    def plan(predicate: Any) -> Run:
        name = predicate.name
        if name in ("true", "false"):
            return lambda x, y: np.full(np.shape(x), name == "true")[()]
        if name in ("ord", "uno"):
            return lambda x, y: ((x == x) & (y == y)) if name == "ord" else ((x != x) | (y != y))
        compare = COMPARISONS[name[1:]]
        if name[0] == "o":
            return lambda x, y: compare(x, y) & (x == x) & (y == y)
        return lambda x, y: compare(x, y) | (x != x) | (y != y)


class Select(Elementwise, op="select", dialect="arith"):
    """`true_value` where `condition` is true, else `false_value`."""

    on_storage = True
    condition = In(boolean_like)
    true_value = In(anything)
    false_value = In(anything)
    result = Out(anything)

    syntax = "operands attr-dict : custom(chosen_type)"

    @staticmethod
    def infer(true_value: Any) -> Any:
        return true_value

    @staticmethod
    def constraints(C: Any, condition: Any, true_value: Any, false_value: Any, result: Any) -> None:
        C(1, compatible(true_value, false_value, result))
        C(2, not is_tensor(condition) or shape(condition) == shape(result))

    @staticmethod
    def plan(condition: Any) -> Run:
        if not is_tensor(condition):
            return lambda condition, x, y: x if condition else y
        return lambda condition, x, y: np.where(condition, x, y)
