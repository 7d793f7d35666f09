"""Ops that change element types, of parts of complex numbers and of quantized tensors too."""

from __future__ import annotations

import re

import numpy as np

from stablehlo_ref.define.assembly import (
    AsmParser,
    AsmPrinter,
    Deduced,
    Directive,
    Draft,
    Irregular,
    Types,
    first_result,
    member_value,
)
from stablehlo_ref.define.attribute_codecs import Int32
from stablehlo_ref.define.computation import FindChoices, Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.facts import EXACT, MOVES, rounds
from stablehlo_ref.define.op import Attr, In, Op, Out, type_of, without_change
from stablehlo_ref.define.spec import (
    baseline_type,
    bitwidth,
    compatible,
    complex_element_type,
    dim,
    element_type,
    expressed_type,
    is_complex,
    is_quantized,
    num_bits,
    rank,
    real_type,
    shape,
    storage_type,
    with_element_type,
)
from stablehlo_ref.define.type_constraints import (
    complex_tensor,
    float_tensor,
    per_tensor_quantized,
    quantized_tensor,
    tensor,
    tensor_of,
)
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import ComplexType, TensorType, Type
from stablehlo_ref.numerics import complexes, conversion, implementation_defined
from stablehlo_ref.numerics.dtypes import INT64, numpy_dtype
from stablehlo_ref.numerics.quantized import dequantize, quantize
from stablehlo_ref.ops.elementwise import Elementwise


class Convert(Elementwise, op="convert", facts=rounds(underflow="unless zero")):
    """Convert `operand` to another element type.

    Floats are rounded once. Integers that do not fit wrap around; floats that do not fit an integer type saturate.
    """

    operand = In(tensor)  # I1
    result = Out(tensor)

    syntax = "operands attr-dict : same_type"

    @staticmethod
    def constraints(C: Checker, operand: TensorType, result: TensorType) -> None:
        C(1, shape(operand) == shape(result))

    @staticmethod
    def plan(operand: TensorType, result: TensorType) -> Run:
        return conversion.convert(numpy_dtype(element_type(operand)), numpy_dtype(element_type(result)))

    @staticmethod
    def implementation_defined(operand: TensorType, result: TensorType) -> FindChoices:
        return implementation_defined.convert(numpy_dtype(element_type(operand)), numpy_dtype(element_type(result)))


class BitcastConvert(Op, op="bitcast_convert", computes_on_storage=True, returns_views=True, facts=EXACT):
    """Reinterpret the bits of `operand` as another element type, in little-endian order.

    A wider element type removes the last dimension; a narrower one adds a dimension at the end.
    """

    operand = In(tensor | quantized_tensor)  # I1
    result = Out(tensor | quantized_tensor)

    syntax = "operands attr-dict : functional_type"

    @staticmethod
    def constraints(C: Checker, operand: TensorType, result: TensorType) -> None:
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

    batching_rule = without_change

    @staticmethod
    def plan(operand: TensorType, result: TensorType) -> Run:
        return conversion.bitcast(numpy_dtype(stored(operand)), numpy_dtype(stored(result)))


def stored(x: TensorType) -> Type:
    """Return the element type in which a tensor is stored."""
    stored_type: Type = storage_type(x) if is_quantized(x) else element_type(x)
    return stored_type


class ExponentMantissa(Directive):
    """`e5m10`."""

    members = ("exponent_bits", "mantissa_bits")
    _match = re.compile(r"e(\d{1,9})m(\d{1,9})").fullmatch

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        match = self._match(parser.peek())
        if not match:
            raise parser.expected("a format such as 'e5m10'")
        parser.advance()
        draft.members |= zip(self.members, map(int, match.groups()))

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        exponent, mantissa = (member_value(op, name) for name in self.members)
        if exponent < 0 or mantissa < 0:
            raise Irregular
        printer.value(f"e{exponent}m{mantissa}")


class ReducePrecision(Elementwise, op="reduce_precision", nans="observed", facts=rounds(underflow="unless zero")):
    """Round `operand` to a float format with `exponent_bits` and `mantissa_bits`, and convert it back."""

    operand = In(float_tensor | per_tensor_quantized)  # I1
    exponent_bits = Attr(Int32)  # I2
    mantissa_bits = Attr(Int32)  # I3
    output = Out(float_tensor | per_tensor_quantized)

    syntax = ("operands, format =", ExponentMantissa(), "attr-dict : same_type")

    infer = type_of("operand")

    @staticmethod
    def constraints(
        C: Checker, operand: TensorType, exponent_bits: Int32, mantissa_bits: Int32, output: TensorType
    ) -> None:
        C(1, compatible(baseline_type(operand), baseline_type(output)))
        C(2, 1 <= exponent_bits)
        C(3, 0 <= mantissa_bits)

    @classmethod
    def plan(cls, operand: TensorType, exponent_bits: Int32, mantissa_bits: Int32) -> Run:
        return conversion.reduce_precision(numpy_dtype(element_type(operand)), exponent_bits, mantissa_bits)


# --- complex numbers ------------------------------------------------------------------------------------------------

part_tensor = tensor_of(
    "tensor of type f32 or f64", lambda t: float_tensor.holds(t) and bitwidth(element_type(t)) >= 32
)


def from_complex(type: Type, count: int) -> tuple[Types, Types]:
    """Return the types of the parts of a complex tensor type, and the type."""
    if not isinstance(type, TensorType) or not isinstance(type.element_type, ComplexType):
        raise ValueError(f"expected tensor with complex element type, got {type}")
    return [TensorType(type.shape, type.element_type.element, type.bounds, type.encoding)] * count, [type]


class Complex(Elementwise, op="complex", nans="moved", facts=MOVES):
    """Combine real parts `lhs` and imaginary parts `rhs` to complex numbers."""

    lhs = In(part_tensor)  # I1
    rhs = In(part_tensor)  # I2
    result = Out(complex_tensor)

    syntax = ("operands attr-dict :", Deduced(first_result, from_complex, is_short=True))

    @staticmethod
    def infer(lhs: TensorType) -> TensorType:
        return with_element_type(lhs, ComplexType(element_type(lhs)))

    @staticmethod
    def constraints(C: Checker, lhs: TensorType, rhs: TensorType, result: TensorType) -> None:
        C(1, compatible(lhs, rhs))
        C(2, shape(result) == shape(lhs))
        C(3, element_type(result) == ComplexType(element_type(lhs)))

    @staticmethod
    def plan(lhs: TensorType) -> Run:
        return complexes.complex(numpy_dtype(element_type(lhs)))


class Part(Elementwise, facts=MOVES):
    """Base of `real` and `imag`. The real part of a real number is the number, its imaginary part is zero."""

    operand = In(float_tensor | complex_tensor)  # I1
    result = Out(float_tensor)

    syntax = "operands attr-dict : same_type"

    @staticmethod
    def infer(operand: TensorType) -> TensorType:
        return real_type(operand)

    @staticmethod
    def constraints(C: Checker, operand: TensorType, result: TensorType) -> None:
        C(1, shape(result) == shape(operand))
        C(2, element_type(result) == (complex_element_type(operand) if is_complex(operand) else element_type(operand)))


class Real(Part, op="real", returns_views=True, nans="moved"):
    """Extract the real part of each element."""

    @staticmethod
    def plan(operand: TensorType) -> Run:
        return complexes.real(numpy_dtype(element_type(operand))) if is_complex(operand) else lambda operand: operand


class Imag(Part, op="imag", nans="moved"):
    """Extract the imaginary part of each element."""

    @staticmethod
    def plan(operand: TensorType) -> Run:
        dtype = numpy_dtype(element_type(operand))
        if is_complex(operand):
            return complexes.imag(dtype)
        zero = conversion.convert(INT64, dtype)(np.zeros((), INT64))
        return lambda operand: np.broadcast_to(zero, operand.shape)


# --- quantized tensors -----------------------------------------------------------------------------------------------


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
