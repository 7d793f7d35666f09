"""Conversion ops of MLIR's arith dialect."""

from __future__ import annotations

import numpy as np

from stablehlo_ref.define.attribute_codecs import FastMath, Opaque, Overflow
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.facts import EXACT, rounds
from stablehlo_ref.define.op import Attr, In, Out
from stablehlo_ref.define.spec import element_type, is_tensor, num_bits, with_element_type
from stablehlo_ref.dialects.arith import check_rounding, unsigned_dtype
from stablehlo_ref.dialects.mlir_types import (
    CAST,
    FLAGS,
    alike,
    fixed_integer_like,
    float_like,
    integer_like,
    number_like,
)
from stablehlo_ref.ir.arrays import DType
from stablehlo_ref.ir.types import IndexType, Type
from stablehlo_ref.numerics import conversion
from stablehlo_ref.numerics.dtypes import BOOL, INT8, numpy_dtype
from stablehlo_ref.ops.elementwise import Elementwise


class Cast(Elementwise, dialect="arith", facts=EXACT):
    """The base class of conversions between element types of scalars or tensors."""

    operand = In(number_like)
    fastmath = Attr(FastMath, default=None)
    rounding_mode = Attr(Opaque, default=None, name="roundingmode")
    result = Out(number_like)

    syntax = ("operands", FLAGS, "attr-dict :", CAST)

    @staticmethod
    def infer(operand: Type, result: Type) -> Type:
        return with_element_type(operand, element_type(result)) if is_tensor(operand) else result

    @staticmethod
    def constraints(C: Checker, operand: Type, result: Type) -> None:
        C(1, alike(operand, result))

    @classmethod
    def plan(cls, operand: Type, result: Type, rounding_mode: Opaque | None) -> Run:
        check_rounding(rounding_mode)
        return cls.conversion(numpy_dtype(element_type(operand)), numpy_dtype(element_type(result)))

    @staticmethod
    def conversion(source: DType, target: DType) -> Run:
        """Return the kernel that converts from dtype `source` to dtype `target`."""
        return conversion.convert(source, target)


def wider(C: Checker, operand: Type, result: Type) -> None:
    """Check the constraints of conversions to a wider element type."""
    Cast.constraints(C, operand, result)
    C(3, num_bits(element_type(operand)) < num_bits(element_type(result)))


def narrower(C: Checker, operand: Type, result: Type) -> None:
    """Check the constraints of conversions to a narrower element type."""
    Cast.constraints(C, operand, result)
    C(3, num_bits(element_type(operand)) > num_bits(element_type(result)))


class ExtF(Cast, op="extf"):
    """Convert floats to a wider float type."""

    operand = In(float_like)
    result = Out(float_like)
    constraints = staticmethod(wider)


class TruncF(Cast, op="truncf", facts=rounds(underflow="unless zero")):
    """Convert floats to a narrower float type, rounding to nearest even."""

    operand = In(float_like)
    result = Out(float_like)
    constraints = staticmethod(narrower)


class FPToSI(Cast, op="fptosi"):
    """Convert floats to signed integers, rounding toward zero; out-of-range values saturate."""

    operand = In(float_like)
    result = Out(fixed_integer_like)

    @staticmethod
    def conversion(source: DType, target: DType) -> Run:
        return conversion.convert(source, target) if target != BOOL else lambda x: np.less_equal(x, source.type(-1))


class FPToUI(Cast, op="fptoui"):
    """Convert floats to unsigned integers, rounding toward zero; out-of-range values saturate."""

    operand = In(float_like)
    result = Out(fixed_integer_like)

    @staticmethod
    def conversion(source: DType, target: DType) -> Run:
        if target == BOOL:
            return lambda x: np.greater_equal(x, source.type(1))
        convert = conversion.convert(source, unsigned_dtype(target))
        return lambda x: convert(x).view(target)


class SignedCast(Cast):
    """The base class of conversions that interpret the operand as signed; `true` is -1."""

    @staticmethod
    def conversion(source: DType, target: DType) -> Run:
        convert = conversion.convert(INT8 if source == BOOL else source, target)
        return (lambda x: convert(np.negative(x.astype(INT8)))) if source == BOOL else convert


class ExtSI(SignedCast, op="extsi"):
    """Convert signed integers to a wider integer type."""

    operand = In(fixed_integer_like)
    result = Out(fixed_integer_like)
    constraints = staticmethod(wider)


class SIToFP(SignedCast, op="sitofp", facts=rounds()):
    """Convert signed integers to floats."""

    operand = In(fixed_integer_like)
    result = Out(float_like)


def one_is_index(C: Checker, operand: Type, result: Type) -> None:
    """Check the constraints of conversions between `index` and fixed-width integers."""
    Cast.constraints(C, operand, result)
    C(3, isinstance(element_type(operand), IndexType) != isinstance(element_type(result), IndexType))


class IndexCast(SignedCast, op="index_cast"):
    """Convert between `index` and signed integers."""

    operand = In(integer_like)
    result = Out(integer_like)
    constraints = staticmethod(one_is_index)

    @staticmethod
    def conversion(source: DType, target: DType) -> Run:
        return SignedCast.conversion(source, target) if target != BOOL else TruncI.conversion(source, target)


class UnsignedCast(Cast):
    """The base class of conversions that interpret the operand as unsigned."""

    @staticmethod
    def conversion(source: DType, target: DType) -> Run:
        natural = source if source == BOOL else unsigned_dtype(source)
        convert = conversion.convert(natural, target)
        return lambda x: convert(x.view(natural))


class ExtUI(UnsignedCast, op="extui"):
    """Convert unsigned integers to a wider integer type."""

    operand = In(fixed_integer_like)
    non_negative = Attr(Opaque, default=None, name="nonNeg")
    result = Out(fixed_integer_like)
    constraints = staticmethod(wider)


class UIToFP(UnsignedCast, op="uitofp", facts=rounds()):
    """Convert unsigned integers to floats."""

    operand = In(fixed_integer_like)
    non_negative = Attr(Opaque, default=None, name="nonNeg")
    result = Out(float_like)


class IndexCastUI(UnsignedCast, op="index_castui"):
    """Convert between `index` and unsigned integers."""

    operand = In(integer_like)
    non_negative = Attr(Opaque, default=None, name="nonNeg")
    result = Out(integer_like)
    constraints = staticmethod(one_is_index)

    @staticmethod
    def conversion(source: DType, target: DType) -> Run:
        return UnsignedCast.conversion(source, target) if target != BOOL else TruncI.conversion(source, target)


class TruncI(Cast, op="trunci"):
    """Truncate integers to their low bits."""

    operand = In(fixed_integer_like)
    result = Out(fixed_integer_like)
    constraints = staticmethod(narrower)
    overflow = Attr(Overflow, default=None, name="overflowFlags")

    @staticmethod
    def conversion(source: DType, target: DType) -> Run:
        if target == BOOL:
            return lambda x: np.not_equal(x & source.type(1), 0)
        return conversion.convert(source, target)


class Bitcast(Cast, op="bitcast", nans="observed"):
    """Reinterpret bits as another element type of the same width."""

    @staticmethod
    def constraints(C: Checker, operand: Type, result: Type) -> None:
        Cast.constraints(C, operand, result)
        C(2, num_bits(element_type(operand)) == num_bits(element_type(result)))

    @staticmethod
    def conversion(source: DType, target: DType) -> Run:
        return lambda x: x.view(target)
