"""The ops of the dialect `toy`."""

from __future__ import annotations

import numpy as np

from stablehlo_ref.define.attribute_codecs import Int
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.op import Attr, In, Op, Out
from stablehlo_ref.define.spec import compatible, rank
from stablehlo_ref.define.type_constraints import float_tensor, tensor
from stablehlo_ref.ir.types import TensorType


class Softsign(Op, op="softsign", dialect="toy", elementwise=True):
    """Return `x / (1 + |x|)` of each element."""

    operand = In(float_tensor)
    result = Out(float_tensor)

    syntax = "operands attr-dict : same_type"

    @staticmethod
    def infer(operand: TensorType) -> TensorType:
        return operand

    @staticmethod
    def constraints(C: Checker, operand: TensorType, result: TensorType) -> None:
        C(1, compatible(operand, result))

    @staticmethod
    def plan() -> Run:
        return lambda x: x / (1 + np.abs(x))


class Rotate(Op, op="rotate", dialect="toy"):
    """Rotate a tensor along `dimension`: each element moves `by` places, those at the end to the beginning."""

    operand = In(tensor)
    dimension = Attr(Int)
    by = Attr(Int, default=1)
    result = Out(tensor)

    syntax = "operands , dim = $dimension attr-dict : same_type"

    @staticmethod
    def infer(operand: TensorType) -> TensorType:
        return operand

    @staticmethod
    def constraints(C: Checker, operand: TensorType, dimension: Int, result: TensorType) -> None:
        C(1, compatible(operand, result))
        C(2, 0 <= dimension < rank(operand))

    @staticmethod
    def plan(dimension: Int, by: Int) -> Run:
        return lambda x: np.roll(x, by, dimension)
