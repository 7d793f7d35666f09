"""Comparison and selection ops of MLIR's arith dialect."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, TypeAlias

import numpy as np

from stablehlo_ref.define.assembly import AsmParser, AsmPrinter, Directive, Draft, Irregular
from stablehlo_ref.define.attribute_codecs import EnumCodec, FastMath
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.facts import CHOOSES, EXACT
from stablehlo_ref.define.op import Attr, In, Out
from stablehlo_ref.define.spec import element_type, is_tensor, shape, with_element_type
from stablehlo_ref.define.type_constraints import anything
from stablehlo_ref.dialects.arith import unsigned_dtype
from stablehlo_ref.dialects.mlir_types import COMPARED, FLAGS, boolean_like, float_like, integer_like
from stablehlo_ref.ir.attributes import Attribute, IntegerAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import BOOLEAN, Type, integer_type
from stablehlo_ref.numerics import integers
from stablehlo_ref.numerics.dtypes import BOOL, numpy_dtype
from stablehlo_ref.ops.elementwise import Elementwise

CmpIPredicate = Enum("CmpIPredicate", ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"], start=0)
CmpFPredicate = Enum(
    "CmpFPredicate",
    "false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true",
    start=0,
)


class PredicateCodec(EnumCodec):
    """An enumeration that MLIR's generic form writes as an integer."""

    def decode(self, attribute: Attribute) -> Enum:
        if (
            isinstance(attribute, IntegerAttribute)
            and attribute.type in (None, integer_type(64))
            and 0 <= attribute.value < len(self.enum)
        ):
            return list(self.enum)[attribute.value]
        return super().decode(attribute)

    def encode(self, value: Enum) -> Attribute:
        return IntegerAttribute(value.value, integer_type(64))


IntegerPredicate: TypeAlias = Annotated[Enum, PredicateCodec(CmpIPredicate, "arith")]
FloatPredicate: TypeAlias = Annotated[Enum, PredicateCodec(CmpFPredicate, "arith")]


class Comparison(Elementwise, dialect="arith", facts=EXACT):
    """The base class of ops that compare two scalars or tensors by a predicate."""

    lhs = In(integer_like)
    rhs = In(integer_like)
    result = Out(boolean_like)

    @staticmethod
    def infer(lhs: Type) -> Type:
        return boolean_of(lhs)

    @staticmethod
    def constraints(C: Checker, lhs: Type, rhs: Type, result: Type) -> None:
        C(1, lhs == rhs)
        C(2, result == boolean_of(lhs))


def boolean_of(x: Type) -> Type:
    """Return i1, or for a tensor type the tensor type of the same shape with element type i1."""
    result: Type = with_element_type(x, BOOLEAN) if is_tensor(x) else BOOLEAN
    return result


class CmpI(Comparison, op="cmpi"):
    """Compare integers; predicates that start with `s` interpret them as signed, those with `u` as unsigned."""

    predicate = Attr(IntegerPredicate)

    syntax = ("$predicate, operands attr-dict :", COMPARED)

    @staticmethod
    def plan(lhs: Type, predicate: IntegerPredicate) -> Run:
        dtype = numpy_dtype(element_type(lhs))
        name = predicate.name
        direction = (name if name in ("eq", "ne") else name[1:]).upper()
        if dtype == BOOL:  # true is -1 as a signed integer
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
    """Compare floats; if an operand is NaN, predicates that start with `o` are false and those with `u` are true."""

    lhs = In(float_like)
    rhs = In(float_like)
    predicate = Attr(FloatPredicate)
    fastmath = Attr(FastMath, default=None)

    syntax = ("$predicate, operands", FLAGS, "attr-dict :", COMPARED)

    @staticmethod
    def plan(predicate: FloatPredicate) -> Run:
        name = predicate.name
        if name in ("true", "false"):
            return lambda x, y: np.full(np.shape(x), name == "true")[()]
        if name in ("ord", "uno"):
            return lambda x, y: ((x == x) & (y == y)) if name == "ord" else ((x != x) | (y != y))
        compare = COMPARISONS[name[1:]]
        if name[0] == "o":
            return lambda x, y: compare(x, y) & (x == x) & (y == y)
        return lambda x, y: compare(x, y) | (x != x) | (y != y)


class ConditionAndType(Directive):
    """The type of the condition, unless it is `i1`, and the type of the other values."""

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        first = parser.type()
        condition, type = (first, parser.type()) if parser.accept(",") else (BOOLEAN, first)
        draft.operand_types, draft.result_types = (condition, type, type), (type,)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        condition, type, other = op.operand_types
        if not type == other == op.result_types[0]:
            raise Irregular
        printer.value(str(type) if condition == BOOLEAN else f"{condition}, {type}")


class Select(Elementwise, op="select", dialect="arith", computes_on_storage=True, nans="moved", facts=CHOOSES):
    """Select `true_value` where `condition` is true and `false_value` elsewhere."""

    condition = In(boolean_like)
    true_value = In(anything)
    false_value = In(anything)
    result = Out(anything)

    syntax = ("operands attr-dict :", ConditionAndType())

    @staticmethod
    def infer(true_value: Type) -> Type:
        return true_value

    @staticmethod
    def constraints(C: Checker, condition: Type, true_value: Type, false_value: Type, result: Type) -> None:
        C(1, true_value == false_value == result)
        C(2, not is_tensor(condition) or shape(condition) == shape(result))

    @staticmethod
    def plan(condition: Type) -> Run:
        if not is_tensor(condition):
            return lambda condition, x, y: x if condition else y
        return lambda condition, x, y: np.where(condition, x, y)
