"""Values that are no tensors: tuples, and the tokens by which effects are put in order."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any

from stablehlo_ref.define import Attr, In, Ins, Op, Out
from stablehlo_ref.ir.types import TOKEN, TupleType
from stablehlo_ref.kinds import Int32, anything, token, tuple_value
from stablehlo_ref.spec import size


class Tuple(Op, op="tuple"):
    """The tuple of `val`."""

    on_storage = True
    val = Ins(anything)  # I1
    result = Out(tuple_value)

    syntax = "operands attr-dict : tuple_type"

    @staticmethod
    def infer(val: Any) -> Any:
        return TupleType(tuple(val))

    @staticmethod
    def constraints(C: Any, val: Any, result: Any) -> None:
        C(1, result == TupleType(tuple(val)))

    @staticmethod
    def plan() -> Callable[..., Any]:
        return tuple


class GetTupleElement(Op, op="get_tuple_element"):
    """The element number `index` of a tuple."""

    on_storage = True
    operand = In(tuple_value)  # I1
    index = Attr(Int32)  # I2
    result = Out(anything)

    syntax = "operands [ $index ] attr-dict : functional_type"

    @staticmethod
    def infer(operand: Any, index: Any) -> Any:
        return operand.elements[index]

    @staticmethod
    def constraints(C: Any, operand: Any, index: Any, result: Any) -> None:
        C(1, 0 <= index < size(operand.elements))
        C(2, result == operand.elements[index])

    @staticmethod
    def plan(index: Any) -> Callable[..., Any]:
        return itemgetter(index)


class AfterAll(Op, op="after_all"):
    """A token for when all `inputs` are there. Ops run one after the other anyway, so a token carries nothing."""

    inputs = Ins(token)  # I1
    result = Out(token)

    syntax = "operands attr-dict : same_type"

    @staticmethod
    def infer() -> Any:
        return TOKEN

    @staticmethod
    def plan() -> Callable[..., Any]:
        return lambda inputs: None
