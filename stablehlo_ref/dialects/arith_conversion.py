"""Comparison, selection and conversion ops of MLIR's arith dialect."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Annotated, TypeAlias

import numpy as np

from stablehlo_ref.define.assembly import AsmParser, AsmPrinter, Directive, Draft, Irregular
from stablehlo_ref.define.attribute_codecs import NO_FAST_MATH, NO_OVERFLOW, EnumCodec, FastMath, Opaque, Overflow
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.facts import CHOOSES, EXACT, rounds
from stablehlo_ref.define.op import Attr, In, Out, type_of
from stablehlo_ref.define.spec import element_type, is_tensor, num_bits, shape, with_element_type
from stablehlo_ref.define.type_constraints import TypeConstraint, anything
from stablehlo_ref.dialects.arith import check_rounding, unsigned_dtype
from stablehlo_ref.dialects.mlir_types import (
    CAST,
    COMPARED,
    FLAGS,
    alike,
    boolean_like,
    boolean_of,
    define,
    fixed_integer_like,
    float_like,
    integer_like,
    number_like,
)
from stablehlo_ref.ir.arrays import DType
from stablehlo_ref.ir.attributes import Attribute, IntegerAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import BOOLEAN, IndexType, Type, integer_type
from stablehlo_ref.numerics import conversion, integers
from stablehlo_ref.numerics.dtypes import BOOL, INT8, numpy_dtype
from stablehlo_ref.ops.elementwise import Elementwise

CmpIPredicate = Enum("CmpIPredicate", ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"], start=0)
CmpFPredicate = Enum(
    "CmpFPredicate",
    "false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true",
    start=0,
)


class PredicateCodec(EnumCodec):
    """An enumeration that MLIR's generic form writes as an integer."""

    def read(self, attribute: Attribute) -> Enum | None:
        if isinstance(attribute, IntegerAttribute) and attribute.type in (None, integer_type(64)):
            return list(self.enum)[attribute.value] if 0 <= attribute.value < len(self.enum) else None
        return super().read(attribute)

    def encode(self, value: Enum) -> Attribute:
        return IntegerAttribute(value.value, integer_type(64))


IntegerPredicate: TypeAlias = Annotated[Enum, PredicateCodec(CmpIPredicate, "arith")]
FloatPredicate: TypeAlias = Annotated[Enum, PredicateCodec(CmpFPredicate, "arith")]


class Comparison(Elementwise, dialect="arith", facts=EXACT):
    """The base class of ops that compare two scalars or tensors by a predicate."""

    lhs = In(integer_like)
    rhs = In(integer_like)
    result = Out(boolean_like)

    @staticmethod
    def infer(lhs: Type) -> Type:
        return boolean_of(lhs)

    @staticmethod
    def constraints(C: Checker, lhs: Type, rhs: Type, result: Type) -> None:
        C(1, lhs == rhs)
        C(2, result == boolean_of(lhs))


class CmpI(Comparison, op="cmpi"):
    """Compare integers; predicates that start with `s` interpret them as signed, those with `u` as unsigned."""

    predicate = Attr(IntegerPredicate)

    syntax = ("$predicate, operands attr-dict :", COMPARED)

    @staticmethod
    def plan(lhs: Type, predicate: IntegerPredicate) -> Run:
        dtype = numpy_dtype(element_type(lhs))
        name = predicate.name
        direction = (name if name in ("eq", "ne") else name[1:]).upper()
        if dtype == BOOL:  # true is -1 as a signed integer
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
    """Compare floats; if an operand is NaN, predicates that start with `o` are false and those with `u` are true."""

    lhs = In(float_like)
    rhs = In(float_like)
    predicate = Attr(FloatPredicate)
    fastmath = Attr(FastMath, default=NO_FAST_MATH)

    syntax = ("$predicate, operands", FLAGS, "attr-dict :", COMPARED)

    @staticmethod
    def plan(predicate: FloatPredicate) -> Run:
        name = predicate.name
        if name in ("true", "false"):
            return lambda x, y: np.full(np.shape(x), name == "true")[()]
        if name in ("ord", "uno"):
            return lambda x, y: ((x == x) & (y == y)) if name == "ord" else ((x != x) | (y != y))
        compare = COMPARISONS[name[1:]]
        if name[0] == "o":
            return lambda x, y: compare(x, y) & (x == x) & (y == y)
        return lambda x, y: compare(x, y) | (x != x) | (y != y)


class ConditionAndType(Directive):
    """The type of the condition, unless it is `i1`, and the type of the other values."""

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        first = parser.type()
        condition, type = (first, parser.type()) if parser.accept(",") else (BOOLEAN, first)
        draft.operand_types, draft.result_types = (condition, type, type), (type,)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        condition, type, other = op.operand_types
        if not type == other == op.result_types[0]:
            raise Irregular
        printer.value(str(type) if condition == BOOLEAN else f"{condition}, {type}")


class Select(Elementwise, op="select", dialect="arith", computes_on_storage=True, nans="moved", facts=CHOOSES):
    """Select `true_value` where `condition` is true and `false_value` elsewhere."""

    condition = In(boolean_like)
    true_value = In(anything)
    false_value = In(anything)
    result = Out(anything)

    syntax = ("operands attr-dict :", ConditionAndType())

    infer = type_of("true_value")

    @staticmethod
    def constraints(C: Checker, condition: Type, true_value: Type, false_value: Type, result: Type) -> None:
        C(1, true_value == false_value == result)
        C(2, not is_tensor(condition) or shape(condition) == shape(result))

    @staticmethod
    def plan(condition: Type) -> Run:
        if not is_tensor(condition):
            return lambda condition, x, y: x if condition else y
        return lambda condition, x, y: np.where(condition, x, y)


class Cast(Elementwise, dialect="arith", facts=EXACT):
    """The base class of conversions between element types of scalars or tensors."""

    operand = In(number_like)
    result = Out(number_like)

    syntax = ("operands", FLAGS, "attr-dict :", CAST)

    @staticmethod
    def infer(operand: Type, result: Type) -> Type:
        return with_element_type(operand, element_type(result)) if is_tensor(operand) else result

    @staticmethod
    def constraints(C: Checker, operand: Type, result: Type) -> None:
        C(1, alike(operand, result))

    @classmethod
    def plan(cls, operand: Type, result: Type) -> Run:
        return cls.conversion(numpy_dtype(element_type(operand)), numpy_dtype(element_type(result)))

    @staticmethod
    def conversion(source: DType, target: DType) -> Run:
        """Return the kernel that converts from dtype `source` to dtype `target`."""
        return conversion.convert(source, target)


class UnsignedCast(Cast):
    """The base class of conversions that interpret the operand as unsigned."""

    non_negative = Attr(Opaque, default=None, name="nonNeg")


class TruncF(Cast, op="truncf", facts=rounds(underflow="unless zero")):
    """Convert floats to a narrower float type, rounding to nearest even."""

    operand = In(float_like)
    rounding_mode = Attr(Opaque, default=None, name="roundingmode")
    fastmath = Attr(FastMath, default=NO_FAST_MATH)
    result = Out(float_like)

    @staticmethod
    def constraints(C: Checker, operand: Type, result: Type) -> None:
        narrower(C, operand, result)

    @classmethod
    def plan(cls, operand: Type, result: Type, rounding_mode: Opaque | None) -> Run:
        check_rounding(rounding_mode)
        return super().plan(operand, result)


def wider(C: Checker, operand: Type, result: Type) -> None:
    """Check the constraints of conversions to a wider element type."""
    Cast.constraints(C, operand, result)
    C(3, num_bits(element_type(operand)) < num_bits(element_type(result)))


def narrower(C: Checker, operand: Type, result: Type) -> None:
    """Check the constraints of conversions to a narrower element type."""
    Cast.constraints(C, operand, result)
    C(3, num_bits(element_type(operand)) > num_bits(element_type(result)))


def one_is_index(C: Checker, operand: Type, result: Type) -> None:
    """Check the constraints of conversions between `index` and fixed-width integers."""
    Cast.constraints(C, operand, result)
    C(3, isinstance(element_type(operand), IndexType) != isinstance(element_type(result), IndexType))


def same_width(C: Checker, operand: Type, result: Type) -> None:
    """Check the constraints of conversions that keep the bits."""
    Cast.constraints(C, operand, result)
    C(2, num_bits(element_type(operand)) == num_bits(element_type(result)))


def from_signed(source: DType, target: DType) -> Run:
    """Return the kernel that converts signed integers; `true` is -1."""
    if source != BOOL:
        return conversion.convert(source, target)
    convert = conversion.convert(INT8, target)
    return lambda x: convert(np.negative(x.astype(INT8)))


def from_unsigned(source: DType, target: DType) -> Run:
    """Return the kernel that converts unsigned integers."""
    natural = source if source == BOOL else unsigned_dtype(source)
    convert = conversion.convert(natural, target)
    return lambda x: convert(x.view(natural))


def to_signed(source: DType, target: DType) -> Run:
    """Return the kernel that converts floats to signed integers."""
    return conversion.convert(source, target) if target != BOOL else lambda x: np.less_equal(x, source.type(-1))


def to_unsigned(source: DType, target: DType) -> Run:
    """Return the kernel that converts floats to unsigned integers."""
    if target == BOOL:
        return lambda x: np.greater_equal(x, source.type(1))
    convert = conversion.convert(source, unsigned_dtype(target))
    return lambda x: convert(x).view(target)


def truncated(otherwise: Callable[[DType, DType], Run]) -> Callable[[DType, DType], Run]:
    """Return what makes kernels that convert integers to booleans by their lowest bit, and to other types otherwise."""

    def make(source: DType, target: DType) -> Run:
        return otherwise(source, target) if target != BOOL else lambda x: np.not_equal(x & source.type(1), 0)

    return make


def _cast(
    base: type[Cast], mnemonic: str, doc: str, source: TypeConstraint, target: TypeConstraint, *,
    conversion: Callable[[DType, DType], Run], constraints: Callable[..., None] = Cast.constraints, **options: object,
) -> None:  # fmt: skip
    """Define a conversion from types to others; `conversion` makes its kernel."""
    members = {"operand": In(source), "result": Out(target)}
    roles = {"constraints": staticmethod(constraints), "conversion": staticmethod(conversion)}
    define(base, mnemonic, doc, **members, **roles, **options)


_cast(Cast, "extf", "Convert floats to a wider float type.", float_like, float_like, constraints=wider,
      conversion=conversion.convert, fastmath=Attr(FastMath, default=NO_FAST_MATH))  # fmt: skip
_cast(Cast, "extsi", "Convert signed integers to a wider integer type.", fixed_integer_like, fixed_integer_like,
      constraints=wider, conversion=from_signed)  # fmt: skip
_cast(UnsignedCast, "extui", "Convert unsigned integers to a wider integer type.", fixed_integer_like,
      fixed_integer_like, constraints=wider, conversion=from_unsigned)  # fmt: skip
_cast(Cast, "trunci", "Truncate integers to their low bits.", fixed_integer_like, fixed_integer_like,
      constraints=narrower, conversion=truncated(conversion.convert),
      overflow=Attr(Overflow, default=NO_OVERFLOW, name="overflowFlags"))  # fmt: skip
_cast(Cast, "sitofp", "Convert signed integers to floats.", fixed_integer_like, float_like, conversion=from_signed,
      facts=rounds())  # fmt: skip
_cast(UnsignedCast, "uitofp", "Convert unsigned integers to floats.", fixed_integer_like, float_like,
      conversion=from_unsigned, facts=rounds())  # fmt: skip
_cast(Cast, "fptosi", "Convert floats to signed integers, rounding toward zero; out-of-range values saturate.",
      float_like, fixed_integer_like, conversion=to_signed)  # fmt: skip
_cast(Cast, "fptoui", "Convert floats to unsigned integers, rounding toward zero; out-of-range values saturate.",
      float_like, fixed_integer_like, conversion=to_unsigned)  # fmt: skip
_cast(Cast, "index_cast", "Convert between `index` and signed integers.", integer_like, integer_like,
      constraints=one_is_index, conversion=truncated(from_signed))  # fmt: skip
_cast(UnsignedCast, "index_castui", "Convert between `index` and unsigned integers.", integer_like, integer_like,
      constraints=one_is_index, conversion=truncated(from_unsigned))  # fmt: skip
_cast(Cast, "bitcast", "Reinterpret bits as another element type of the same width.", number_like, number_like,
      constraints=same_width, conversion=lambda source, target: lambda x: x.view(target), nans="observed")  # fmt: skip
