"""Ops between floats and quantized tensors: uniform_quantize, uniform_dequantize."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stablehlo_ref.define import In, Op, Out
from stablehlo_ref.kinds import float_tensor, quantized_tensor
from stablehlo_ref.numerics import open_cases
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.quantized import dequantize, quantize
from stablehlo_ref.spec import element_type, expressed_type, is_quantized, shape, with_element_type


class UniformDequantize(Op, op="uniform_dequantize"):
    """The floats that the elements of `operand` stand for."""

    on_storage = True
    elementwise = True

    operand = In(quantized_tensor)  # I1
    result = Out(float_tensor)

    syntax = "operands attr-dict : same_type"

    @staticmethod
    def infer(operand: Any) -> Any:
        return with_element_type(operand, expressed_type(operand))

    @staticmethod
    def constraints(C: Any, operand: Any, result: Any) -> None:
        C(1, shape(operand) == shape(result))
        C(2, element_type(result) == expressed_type(operand))

    @staticmethod
    def plan(operand: Any) -> Callable[[Any], Any]:
        return dequantize(operand)


class UniformQuantize(Op, op="uniform_quantize"):
    """The stored integers nearest to `operand`'s floats by the quantization parameters of the result."""

    on_storage = True
    elementwise = True

    operand = In(float_tensor | quantized_tensor)  # I1
    result = Out(quantized_tensor)

    syntax = "operands attr-dict : same_type"

    @staticmethod
    def constraints(C: Any, operand: Any, result: Any) -> None:
        C(1, shape(operand) == shape(result))
        C(2, expressed_type(result) == (expressed_type(operand) if is_quantized(operand) else element_type(operand)))

    @staticmethod
    def plan(operand: Any, result: Any) -> Callable[[Any], Any]:
        store = quantize(result)
        if not is_quantized(operand):
            return store
        express = dequantize(operand)
        return lambda stored: store(express(stored))

    @staticmethod
    def open_cases(operand: Any) -> Any:
        return None if is_quantized(operand) else open_cases.quantize(numpy_dtype(element_type(operand)))
