"""Ops that convert between floating-point and quantized tensors: uniform_quantize, uniform_dequantize."""

from __future__ import annotations

from stablehlo_ref.define.computation import FindChoices, Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.facts import rounds
from stablehlo_ref.define.op import In, Op, Out
from stablehlo_ref.define.spec import element_type, expressed_type, is_quantized, shape, with_element_type
from stablehlo_ref.define.type_constraints import float_tensor, quantized_tensor
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.numerics import implementation_defined
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.quantized import dequantize, quantize


class UniformDequantize(Op, op="uniform_dequantize", computes_on_storage=True, elementwise=True, facts=rounds()):
    """Convert the quantized tensor `operand` to floating-point numbers."""

    operand = In(quantized_tensor)  # I1
    result = Out(float_tensor)

    syntax = "operands attr-dict : same_type"

    @staticmethod
    def infer(operand: TensorType) -> TensorType:
        return with_element_type(operand, expressed_type(operand))

    @staticmethod
    def constraints(C: Checker, operand: TensorType, result: TensorType) -> None:
        C(1, shape(operand) == shape(result))
        C(2, element_type(result) == expressed_type(operand))

    @staticmethod
    def plan(operand: TensorType) -> Run:
        return dequantize(operand)


class UniformQuantize(Op, op="uniform_quantize", computes_on_storage=True, elementwise=True, facts=rounds()):
    """Quantize `operand` by the quantization parameters of the result.

    A quantized operand is dequantized first.
    """

    operand = In(float_tensor | quantized_tensor)  # I1
    result = Out(quantized_tensor)

    syntax = "operands attr-dict : same_type"

    @staticmethod
    def constraints(C: Checker, operand: TensorType, result: TensorType) -> None:
        C(1, shape(operand) == shape(result))
        C(2, expressed_type(result) == (expressed_type(operand) if is_quantized(operand) else element_type(operand)))

    @staticmethod
    def plan(operand: TensorType, result: TensorType) -> Run:
        store = quantize(result)
        if not is_quantized(operand):
            return store
        express = dequantize(operand)
        return lambda stored: store(express(stored))

    @staticmethod
    def implementation_defined(operand: TensorType) -> FindChoices:
        return None if is_quantized(operand) else implementation_defined.quantize(numpy_dtype(element_type(operand)))
