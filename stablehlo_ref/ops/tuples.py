"""Ops on tuples, and on the tokens that order side effects."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

from stablehlo_ref.define.assembly import Deduced, Types, first_result
from stablehlo_ref.define.attribute_codecs import Int32
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.facts import EXACT, KEEPS, MOVES
from stablehlo_ref.define.op import Attr, In, Ins, Op, Out
from stablehlo_ref.define.spec import size
from stablehlo_ref.define.type_constraints import any_value, token, tuple_value
from stablehlo_ref.ir.types import TOKEN, TokenType, TupleType, Type


def from_tuple(type: Type, count: int) -> tuple[Types, Types]:
    """Return the types of the elements of a tuple type, and the type."""
    if not isinstance(type, TupleType):
        raise ValueError(f"expected tuple type, got {type}")
    if len(type.elements) != count:
        raise ValueError(f"{count} operands present, but expected {len(type.elements)}")
    return type.elements, [type]


class Tuple(Op, op="tuple", computes_on_storage=True, returns_views=True, nans="moved", facts=KEEPS):
    """Create a tuple of `val`."""

    val = Ins(any_value)  # I1
    result = Out(tuple_value)

    syntax = ("operands attr-dict :", Deduced(first_result, from_tuple, is_short=True))

    @staticmethod
    def infer(val: Sequence[Type]) -> TupleType:
        return TupleType(tuple(val))

    @staticmethod
    def constraints(C: Checker, val: Sequence[Type], result: TupleType) -> None:
        C(1, result == TupleType(tuple(val)))

    @staticmethod
    def plan() -> Run:
        return tuple


class GetTupleElement(
    Op, op="get_tuple_element", computes_on_storage=True, returns_views=True, nans="moved", facts=MOVES
):
    """Return element number `index` of a tuple."""

    operand = In(tuple_value)  # I1
    index = Attr(Int32)  # I2
    result = Out(any_value)

    syntax = "operands [ $index ] attr-dict : functional_type"

    @staticmethod
    def infer(operand: TupleType, index: Int32) -> Type:
        return operand.elements[index]

    @staticmethod
    def constraints(C: Checker, operand: TupleType, index: Int32, result: Type) -> None:
        C(1, 0 <= index < size(operand.elements))
        C(2, result == operand.elements[index])

    @staticmethod
    def plan(index: Int32) -> Run:
        return itemgetter(index)


class AfterAll(Op, op="after_all", facts=EXACT):
    """Create a token that depends on `inputs`. Ops run one after the other anyway, so the value of a token is None."""

    inputs = Ins(token)  # I1
    result = Out(token)

    syntax = "operands attr-dict : same_type"

    @staticmethod
    def infer() -> TokenType:
        return TOKEN

    @staticmethod
    def plan() -> Run:
        return lambda inputs: None
