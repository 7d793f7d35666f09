"""Ops between element types: convert, bitcast_convert, reduce_precision, and the parts of complex numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from stablehlo_ref.define import Attr, In, Op, Out
from stablehlo_ref.ir.types import ComplexType
from stablehlo_ref.kinds import (
    Int32,
    Kind,
    complex_tensor,
    float_tensor,
    per_tensor_quantized,
    quantized_tensor,
    tensor,
)
from stablehlo_ref.numerics import complexes, conversion, open_cases
from stablehlo_ref.numerics.dtypes import INT64, numpy_dtype
from stablehlo_ref.ops.elementwise import Elementwise, Kernel
from stablehlo_ref.spec import (
    baseline_type,
    bitwidth,
    compatible,
    complex_element_type,
    dim,
    element_type,
    is_complex,
    is_quantized,
    num_bits,
    rank,
    real_type,
    shape,
    storage_type,
    with_element_type,
)


class Convert(Elementwise, op="convert"):
    """The values of `operand` in another element type: floats rounded once, integers wrapped, saturated from floats."""

    operand = In(tensor)  # I1
    result = Out(tensor)

    syntax = "operands attr-dict : same_type"

    @staticmethod
    def constraints(C: Any, operand: Any, result: Any) -> None:
        C(1, shape(operand) == shape(result))

    @staticmethod
    def plan(operand: Any, result: Any) -> Kernel:
        return conversion.convert(numpy_dtype(element_type(operand)), numpy_dtype(element_type(result)))

    @staticmethod
    def open_cases(operand: Any, result: Any) -> Any:
        return open_cases.convert(numpy_dtype(element_type(operand)), numpy_dtype(element_type(result)))


class BitcastConvert(Op, op="bitcast_convert"):
    """The bits of `operand` as another element type, little-endian: a wider one takes up the last dimension, a
    narrower one adds one."""

    on_storage = True
    operand = In(tensor | quantized_tensor)  # I1
    result = Out(tensor | quantized_tensor)

    syntax = "operands attr-dict : functional_type"

    @staticmethod
    def constraints(C: Any, operand: Any, result: Any) -> None:
        bits, result_bits = num_bits(stored(operand)), num_bits(stored(result))
        if result_bits == bits:
            C(1, shape(result) == shape(operand))
        elif result_bits < bits:
            C(1, rank(result) == rank(operand) + 1 and shape(result)[:-1] == shape(operand)
              and dim(result, rank(operand)) * result_bits == bits)  # fmt: skip
        else:
            C(1, rank(result) == rank(operand) - 1 and shape(result) == shape(operand)[:-1]
              and dim(operand, rank(result)) * bits == result_bits)  # fmt: skip
        C(2, is_complex(operand) == is_complex(result))

    @staticmethod
    def lift() -> Any:
        return {}

    @staticmethod
    def plan(operand: Any, result: Any) -> Kernel:
        return conversion.bitcast(numpy_dtype(stored(operand)), numpy_dtype(stored(result)))


def stored(x: Any) -> Any:
    """The element type whose bits a tensor holds."""
    return storage_type(x) if is_quantized(x) else element_type(x)


class ReducePrecision(Elementwise, op="reduce_precision"):
    """`operand` rounded to a format of `exponent_bits` and `mantissa_bits`, and back."""

    operand = In(float_tensor | per_tensor_quantized)  # I1
    exponent_bits = Attr(Int32)  # I2
    mantissa_bits = Attr(Int32)  # I3
    output = Out(float_tensor | per_tensor_quantized)

    syntax = "operands, format = custom(exponent_mantissa) attr-dict : same_type"

    @staticmethod
    def infer(operand: Any) -> Any:
        return operand

    @staticmethod
    def constraints(C: Any, operand: Any, exponent_bits: Any, mantissa_bits: Any, output: Any) -> None:
        C(1, compatible(baseline_type(operand), baseline_type(output)))
        C(2, 1 <= exponent_bits)
        C(3, 0 <= mantissa_bits)

    @classmethod
    def plan(cls, operand: Any, exponent_bits: int, mantissa_bits: int) -> Kernel:
        return conversion.reduce_precision(numpy_dtype(element_type(operand)), exponent_bits, mantissa_bits)


# --- complex numbers ------------------------------------------------------------------------------------------------

part_tensor = Kind("tensor of type f32 or f64", lambda t: float_tensor.holds(t) and bitwidth(element_type(t)) >= 32)


class Complex(Elementwise, op="complex"):
    """The complex numbers whose real parts are `lhs` and whose imaginary parts are `rhs`."""

    lhs = In(part_tensor)  # I1
    rhs = In(part_tensor)  # I2
    result = Out(complex_tensor)

    syntax = "operands attr-dict : complex_type"

    @staticmethod
    def infer(lhs: Any) -> Any:
        return with_element_type(lhs, ComplexType(element_type(lhs)))

    @staticmethod
    def constraints(C: Any, lhs: Any, rhs: Any, result: Any) -> None:
        C(1, compatible(lhs, rhs))
        C(2, shape(result) == shape(lhs))
        C(3, element_type(result) == ComplexType(element_type(lhs)))

    @staticmethod
    def plan(lhs: Any) -> Kernel:
        return complexes.complex(numpy_dtype(element_type(lhs)))


class Part(Elementwise):
    """Of real numbers, the real part is themselves and the imaginary part zero."""

    operand = In(float_tensor | complex_tensor)  # I1
    result = Out(float_tensor)

    syntax = "operands attr-dict : same_type"

    @staticmethod
    def infer(operand: Any) -> Any:
        return real_type(operand)

    @staticmethod
    def constraints(C: Any, operand: Any, result: Any) -> None:
        C(1, shape(result) == shape(operand))
        C(2, element_type(result) == (complex_element_type(operand) if is_complex(operand) else element_type(operand)))


class Real(Part, op="real"):
    """The real part of each element."""

    @staticmethod
    def plan(operand: Any) -> Kernel:
        return complexes.real(numpy_dtype(element_type(operand))) if is_complex(operand) else lambda operand: operand


class Imag(Part, op="imag"):
    """The imaginary part of each element."""

    @staticmethod
    def plan(operand: Any) -> Kernel:
        dtype = numpy_dtype(element_type(operand))
        if is_complex(operand):
            return complexes.imag(dtype)
        zero = conversion.convert(INT64, dtype)(np.zeros((), INT64))
        return lambda operand: np.broadcast_to(zero, operand.shape)
