"""Ops of MLIR's arith dialect from one type of numbers to another."""

from __future__ import annotations

from typing import Any

import numpy as np

from stablehlo_ref.define import Attr, In, Out
from stablehlo_ref.dialects.foreign.arith import DType, unsigned_dtype
from stablehlo_ref.dialects.foreign.values import Run, fixed_integer_like, float_like, integer_like, number_like
from stablehlo_ref.ir.types import IndexType
from stablehlo_ref.kinds import Opaque
from stablehlo_ref.numerics import conversion
from stablehlo_ref.numerics.dtypes import BOOL, INT8, numpy_dtype
from stablehlo_ref.ops.elementwise import Elementwise
from stablehlo_ref.spec import element_type, is_tensor, num_bits, shape, with_element_type


class Cast(Elementwise, dialect="arith"):
    """A conversion of the element type."""

    operand = In(number_like)
    fastmath = Attr(Opaque, default=None)
    rounding_mode = Attr(Opaque, default=None, name="roundingmode")
    result = Out(number_like)

    syntax = "operands custom(arith_flags) attr-dict : custom(cast_type)"

    @staticmethod
    def infer(operand: Any, result: Any) -> Any:
        return with_element_type(operand, element_type(result)) if is_tensor(operand) else result

    @staticmethod
    def constraints(C: Any, operand: Any, result: Any) -> None:
        C(1, is_tensor(operand) == is_tensor(result))
        if is_tensor(operand):
            C(2, shape(operand) == shape(result))

    @classmethod
    def plan(cls, operand: Any, result: Any) -> Run:
        return cls.conversion(numpy_dtype(element_type(operand)), numpy_dtype(element_type(result)))

    @staticmethod
    def conversion(source: DType, target: DType) -> Run:
        return conversion.convert(source, target)


def wider(C: Any, operand: Any, result: Any) -> None:
    """The constraints of casts to more bits."""
    Cast.constraints(C, operand, result)
    C(3, num_bits(element_type(operand)) < num_bits(element_type(result)))


def narrower(C: Any, operand: Any, result: Any) -> None:
    """The constraints of casts to fewer bits."""
    Cast.constraints(C, operand, result)
    C(3, num_bits(element_type(operand)) > num_bits(element_type(result)))


class ExtF(Cast, op="extf"):
    """A wider float."""

    operand = In(float_like)
    result = Out(float_like)
    constraints = staticmethod(wider)


class TruncF(Cast, op="truncf"):
    """A narrower float, rounded to nearest even."""

    operand = In(float_like)
    result = Out(float_like)
    constraints = staticmethod(narrower)


class FPToSI(Cast, op="fptosi"):
    """A float rounded toward zero, as a signed integer; the nearest where there is none."""

    operand = In(float_like)
    result = Out(fixed_integer_like)

    @staticmethod
    def conversion(source: DType, target: DType) -> Run:
        return conversion.convert(source, target) if target != BOOL else lambda x: np.less_equal(x, source.type(-1))


class FPToUI(Cast, op="fptoui"):
    """A float rounded toward zero, as an unsigned integer; the nearest where there is none."""

    operand = In(float_like)
    result = Out(fixed_integer_like)

    @staticmethod
    def conversion(source: DType, target: DType) -> Run:
        if target == BOOL:
            return lambda x: np.greater_equal(x, source.type(1))
        convert = conversion.convert(source, unsigned_dtype(target))
        return lambda x: convert(x).view(target)


class SignedCast(Cast):
    """Of integers with a sign: `true` is -1."""

    @staticmethod
    def conversion(source: DType, target: DType) -> Run:
        convert = conversion.convert(INT8 if source == BOOL else source, target)
        return (lambda x: convert(np.negative(x.astype(INT8)))) if source == BOOL else convert


class ExtSI(SignedCast, op="extsi"):
    """A wider integer of the same value, both having a sign."""

    operand = In(fixed_integer_like)
    result = Out(fixed_integer_like)
    constraints = staticmethod(wider)


class SIToFP(SignedCast, op="sitofp"):
    """A signed integer as a float."""

    operand = In(fixed_integer_like)
    result = Out(float_like)


def one_is_index(C: Any, operand: Any, result: Any) -> None:
    """The constraints of casts between `index` and other integers."""
    Cast.constraints(C, operand, result)
    C(3, isinstance(element_type(operand), IndexType) != isinstance(element_type(result), IndexType))


class IndexCast(SignedCast, op="index_cast"):
    """Between `index` and other integers, both having a sign."""

    operand = In(integer_like)
    result = Out(integer_like)
    constraints = staticmethod(one_is_index)

    @staticmethod
    def conversion(source: DType, target: DType) -> Run:
        return SignedCast.conversion(source, target) if target != BOOL else TruncI.conversion(source, target)


class UnsignedCast(Cast):
    """Of integers without a sign."""

    @staticmethod
    def conversion(source: DType, target: DType) -> Run:
        natural = source if source == BOOL else unsigned_dtype(source)
        convert = conversion.convert(natural, target)
        return lambda x: convert(x.view(natural))


class ExtUI(UnsignedCast, op="extui"):
    """A wider integer of the same value, both having no sign."""

    operand = In(fixed_integer_like)
    result = Out(fixed_integer_like)
    constraints = staticmethod(wider)


class UIToFP(UnsignedCast, op="uitofp"):
    """An unsigned integer as a float."""

    operand = In(fixed_integer_like)
    result = Out(float_like)


class IndexCastUI(UnsignedCast, op="index_castui"):
    """Between `index` and other integers, both having no sign."""

    operand = In(integer_like)
    result = Out(integer_like)
    constraints = staticmethod(one_is_index)

    @staticmethod
    def conversion(source: DType, target: DType) -> Run:
        return UnsignedCast.conversion(source, target) if target != BOOL else TruncI.conversion(source, target)


class TruncI(Cast, op="trunci"):
    """The low bits of an integer."""

    operand = In(fixed_integer_like)
    result = Out(fixed_integer_like)
    constraints = staticmethod(narrower)
    overflow = Attr(Opaque, default=None, name="overflowFlags")

    @staticmethod
    def conversion(source: DType, target: DType) -> Run:
        if target == BOOL:
            return lambda x: np.not_equal(x & source.type(1), 0)
        return conversion.convert(source, target)


class Bitcast(Cast, op="bitcast"):
    """The same bits as another type of the same width."""

    @staticmethod
    def constraints(C: Any, operand: Any, result: Any) -> None:
        Cast.constraints(C, operand, result)
        C(3, num_bits(element_type(operand)) == num_bits(element_type(result)))

    @staticmethod
    def conversion(source: DType, target: DType) -> Run:
        return lambda x: x.view(target)
