"""MLIR's arith dialect: arithmetic on numbers and tensors. Integers have no sign; ops that need one say which."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np

from stablehlo_ref.define import Attr, In, Op, Out
from stablehlo_ref.dialects.foreign.values import (
    Array,
    Run,
    boolean_like,
    float_like,
    integer_like,
    number_like,
)
from stablehlo_ref.ir.attributes import DenseElements, DenseResource, IntegerAttribute
from stablehlo_ref.ir.types import BOOLEAN, integer_type
from stablehlo_ref.kinds import OneOf, Opaque, anything
from stablehlo_ref.numerics import conversion, floats, integers
from stablehlo_ref.numerics.dtypes import BOOL, INT8, INT64, bit_width, bits_dtype, is_signed, numpy_dtype
from stablehlo_ref.ops.elementwise import Elementwise
from stablehlo_ref.spec import compatible, element_type, is_tensor, num_bits, shape, with_element_type

DType = np.dtype[Any]
Factory = Callable[[DType], Run]


class Constant(Op, op="constant", dialect="arith"):
    """A number or a tensor."""

    value = Attr(Opaque)
    result = Out(anything)

    syntax = "attr-dict custom(typed_value)"

    @staticmethod
    def plan(value: Any, result: Any) -> Run:
        known = number(value, result)
        return lambda: known


def number(value: Any, type: Any) -> Array:
    """An attribute as an array or number of a type."""
    if isinstance(value, DenseElements | DenseResource):
        return value.array
    dtype = numpy_dtype(element_type(type))
    written = getattr(value, "value", value)
    return np.array(written, INT64).astype(dtype)[()] if isinstance(value, IntegerAttribute) else dtype.type(written)


# --- two operands of one type ---------------------------------------------------------------------------------------


def unsigned(factory: Factory) -> Factory:
    """Kernels that take integers as having no sign."""

    def made(dtype: DType) -> Run:
        natural = unsigned_dtype(dtype)
        kernel = factory(natural)
        return lambda *operands: kernel(*[x.view(natural) for x in operands]).view(dtype)

    return made


def unsigned_dtype(dtype: DType) -> DType:
    return np.dtype(f"u{dtype.name}") if bit_width(dtype) < 8 and is_signed(dtype) else bits_dtype(dtype)


class Binary(Elementwise, dialect="arith"):
    """The base of ops on two numbers, or tensors of them."""

    lhs = In(integer_like)
    rhs = In(integer_like)
    overflow = Attr(Opaque, default=None, name="overflowFlags")
    fastmath = Attr(Opaque, default=None)
    result = Out(integer_like)

    syntax = "operands custom(arith_flags) attr-dict : same_type"

    @staticmethod
    def infer(lhs: Any) -> Any:
        return lhs

    @staticmethod
    def constraints(C: Any, lhs: Any, rhs: Any, result: Any) -> None:
        C(1, compatible(lhs, rhs, result))

    @classmethod
    def plan(cls, lhs: Any) -> Run:
        return cls.kernel(lhs)


class AddI(Binary, op="addi"):
    """The sum, modulo two to the bit width."""

    boolean = integers.same(np.not_equal)
    integer = integers.add


class SubI(Binary, op="subi"):
    """The difference, modulo two to the bit width."""

    boolean = integers.same(np.not_equal)
    integer = integers.subtract


class MulI(Binary, op="muli"):
    """The product, modulo two to the bit width."""

    boolean = integers.same(np.logical_and)
    integer = integers.multiply


class DivSI(Binary, op="divsi"):
    """The quotient of signed integers, rounded toward zero."""

    integer = integers.divide


class DivUI(Binary, op="divui"):
    """The quotient of unsigned integers, rounded down."""

    integer = unsigned(integers.divide)


class FloorDivSI(Binary, op="floordivsi"):
    """The quotient of signed integers, rounded down."""

    integer = integers.same(np.floor_divide)


class CeilDivSI(Binary, op="ceildivsi"):
    """The quotient of signed integers, rounded up."""

    integer = integers.same(lambda x, y: np.negative(np.floor_divide(np.negative(x), y)))


class CeilDivUI(Binary, op="ceildivui"):
    """The quotient of unsigned integers, rounded up."""

    integer = unsigned(integers.same(lambda x, y: np.floor_divide(x, y) + (np.remainder(x, y) != 0).astype(x.dtype)))


class RemSI(Binary, op="remsi"):
    """The remainder of signed integers, with the sign of `lhs`."""

    integer = integers.remainder


class RemUI(Binary, op="remui"):
    """The remainder of unsigned integers."""

    integer = unsigned(integers.remainder)


class AndI(Binary, op="andi"):
    """The bits that are set in both."""

    boolean = integers.same(np.logical_and)
    integer = integers.bitwise_and


class OrI(Binary, op="ori"):
    """The bits that are set in one or both."""

    boolean = integers.same(np.logical_or)
    integer = integers.bitwise_or


class XOrI(Binary, op="xori"):
    """The bits that are set in one of them."""

    boolean = integers.same(np.not_equal)
    integer = integers.bitwise_xor


class ShLI(Binary, op="shli"):
    """`lhs` shifted left."""

    integer = integers.shift_left


class ShRSI(Binary, op="shrsi"):
    """`lhs` shifted right, its sign coming after."""

    integer = integers.shift_right_arithmetic


class ShRUI(Binary, op="shrui"):
    """`lhs` shifted right, zeros coming after."""

    integer = integers.shift_right_logical


class MaxSI(Binary, op="maxsi"):
    """The larger of signed integers."""

    boolean = integers.same(np.logical_and)
    integer = integers.maximum


class MaxUI(Binary, op="maxui"):
    """The larger of unsigned integers."""

    boolean = integers.same(np.logical_or)
    integer = unsigned(integers.maximum)


class MinSI(Binary, op="minsi"):
    """The smaller of signed integers."""

    boolean = integers.same(np.logical_or)
    integer = integers.minimum


class MinUI(Binary, op="minui"):
    """The smaller of unsigned integers."""

    boolean = integers.same(np.logical_and)
    integer = unsigned(integers.minimum)


class BinaryF(Binary):
    lhs = In(float_like)
    rhs = In(float_like)
    result = Out(float_like)


class AddF(BinaryF, op="addf"):
    """The sum."""

    floating = floats.add


class SubF(BinaryF, op="subf"):
    """The difference."""

    floating = floats.subtract


class MulF(BinaryF, op="mulf"):
    """The product."""

    floating = floats.multiply


class DivF(BinaryF, op="divf"):
    """The quotient."""

    floating = floats.divide


class RemF(BinaryF, op="remf"):
    """The remainder, with the sign of `lhs`."""

    floating = floats.remainder


class MaximumF(BinaryF, op="maximumf"):
    """The larger number, NaN if one of them is."""

    floating = floats.maximum


class MinimumF(BinaryF, op="minimumf"):
    """The smaller number, NaN if one of them is."""

    floating = floats.minimum


class MaxNumF(BinaryF, op="maxnumf"):
    """The larger number; of a number and NaN the number."""

    floating = floats.binary(floats.same(np.fmax))


class MinNumF(BinaryF, op="minnumf"):
    """The smaller number; of a number and NaN the number."""

    floating = floats.binary(floats.same(np.fmin))


class NegF(Elementwise, op="negf", dialect="arith"):
    """The negative."""

    operand = In(float_like)
    fastmath = Attr(Opaque, default=None)
    result = Out(float_like)

    floating = floats.negate

    syntax = "operands custom(arith_flags) attr-dict : same_type"

    @staticmethod
    def infer(operand: Any) -> Any:
        return operand

    @classmethod
    def plan(cls, operand: Any) -> Run:
        return cls.kernel(operand)


# --- comparisons ----------------------------------------------------------------------------------------------------

CmpIPredicate = Enum("CmpIPredicate", ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"], start=0)
CmpFPredicate = Enum(
    "CmpFPredicate",
    "false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true",
    start=0,
)


class Predicate(OneOf):
    """An enumeration that MLIR writes as its number, outside of pretty forms."""

    def decode(self, attribute: Any) -> Any:
        if isinstance(attribute, IntegerAttribute) and 0 <= attribute.value < len(self.enum):
            return list(self.enum)[attribute.value]
        return super().decode(attribute)

    def encode(self, value: Any) -> Any:
        return IntegerAttribute(value.value, integer_type(64))


class Comparison(Elementwise, dialect="arith"):
    """Whether a predicate holds of two numbers."""

    lhs = In(integer_like)
    rhs = In(integer_like)
    result = Out(boolean_like)

    @staticmethod
    def infer(lhs: Any) -> Any:
        return boolean_of(lhs)

    @staticmethod
    def constraints(C: Any, lhs: Any, rhs: Any, result: Any) -> None:
        C(1, compatible(lhs, rhs))
        C(2, compatible(result, boolean_of(lhs)))


def boolean_of(x: Any) -> Any:
    return with_element_type(x, BOOLEAN) if is_tensor(x) else BOOLEAN


class CmpI(Comparison, op="cmpi"):
    """Predicates with `s` take integers as signed, those with `u` as unsigned."""

    predicate = Attr(Predicate(CmpIPredicate, "arith"))

    syntax = "$predicate, operands attr-dict : custom(compared_type)"

    @staticmethod
    def plan(lhs: Any, predicate: Any) -> Run:
        dtype = numpy_dtype(element_type(lhs))
        name = predicate.name
        direction = (name if name in ("eq", "ne") else name[1:]).upper()
        if dtype == BOOL:  # true is -1 where it has a sign
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
    """Predicates with `o` hold of numbers only, those with `u` of NaN with anything too."""

    lhs = In(float_like)
    rhs = In(float_like)
    predicate = Attr(Predicate(CmpFPredicate, "arith"))
    fastmath = Attr(Opaque, default=None)

    syntax = "$predicate, operands custom(arith_flags) attr-dict : custom(compared_type)"

    @staticmethod
    def plan(predicate: Any) -> Run:
        name = predicate.name
        if name in ("true", "false"):
            return lambda x, y: np.full(np.shape(x), name == "true")[()]
        if name in ("ord", "uno"):
            return lambda x, y: ((x == x) & (y == y)) if name == "ord" else ((x != x) | (y != y))
        compare = COMPARISONS[name[1:]]
        if name[0] == "o":
            return lambda x, y: compare(x, y) & (x == x) & (y == y)
        return lambda x, y: compare(x, y) | (x != x) | (y != y)


class Select(Elementwise, op="select", dialect="arith"):
    """`true_value` where `condition` is true, else `false_value`."""

    condition = In(boolean_like)
    true_value = In(anything)
    false_value = In(anything)
    result = Out(anything)

    syntax = "operands attr-dict : custom(chosen_type)"

    @staticmethod
    def infer(true_value: Any) -> Any:
        return true_value

    @staticmethod
    def constraints(C: Any, condition: Any, true_value: Any, false_value: Any, result: Any) -> None:
        C(1, compatible(true_value, false_value, result))
        C(2, not is_tensor(condition) or shape(condition) == shape(result))

    @staticmethod
    def plan(condition: Any) -> Run:
        if not is_tensor(condition):
            return lambda condition, x, y: x if condition else y
        return lambda condition, x, y: np.where(condition, x, y)


# --- conversions ----------------------------------------------------------------------------------------------------


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


class ExtF(Cast, op="extf"):
    """A wider float."""


class TruncF(Cast, op="truncf"):
    """A narrower float, rounded to nearest even."""


class FPToSI(Cast, op="fptosi"):
    """A float rounded toward zero, as a signed integer."""


class FPToUI(Cast, op="fptoui"):
    """A float rounded toward zero, as an unsigned integer."""

    @staticmethod
    def conversion(source: DType, target: DType) -> Run:
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


class SIToFP(SignedCast, op="sitofp"):
    """A signed integer as a float."""


class IndexCast(SignedCast, op="index_cast"):
    """Between `index` and other integers, both having a sign."""

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


class UIToFP(UnsignedCast, op="uitofp"):
    """An unsigned integer as a float."""


class IndexCastUI(UnsignedCast, op="index_castui"):
    """Between `index` and other integers, both having no sign."""


class TruncI(Cast, op="trunci"):
    """The low bits of an integer."""

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
