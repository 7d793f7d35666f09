"""MLIR's math dialect: functions of scalars and tensors."""

from __future__ import annotations

from typing import ClassVar

from stablehlo_ref.define.assembly import Deduced
from stablehlo_ref.define.attribute_codecs import NO_FAST_MATH, FastMath, Opaque
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.definition import Syntax
from stablehlo_ref.define.facts import (
    EXACT,
    SELECTS,
    STEPS,
    between_poles_of_tangent,
    function,
    is_minus_one,
    is_one,
    is_zero,
    power_of_zero,
    rounds,
)
from stablehlo_ref.define.mode import Mode
from stablehlo_ref.define.op import Attr, In, Out
from stablehlo_ref.define.spec import element_type
from stablehlo_ref.dialects.arith import check_rounding
from stablehlo_ref.dialects.mlir_types import (
    COMPARED,
    FLAGS,
    LATER_FLAGS,
    alike,
    boolean_like,
    float_like,
    integer_like,
)
from stablehlo_ref.ir.types import BOOLEAN, Type
from stablehlo_ref.numerics import elementary, floats, integers, special
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.kernels import same_kernel
from stablehlo_ref.ops.elementwise import Elementwise


class Unary(Elementwise, dialect="math", facts=function(monotone=True)):
    """The base class of functions of one float."""

    operand = In(float_like)
    fastmath = Attr(FastMath, default=NO_FAST_MATH)
    result = Out(float_like)

    syntax: ClassVar[Syntax] = ("operands", FLAGS, "attr-dict : same_type")

    @staticmethod
    def infer(operand: Type) -> Type:
        return operand

    @staticmethod
    def constraints(C: Checker, operand: Type, result: Type) -> None:
        C(1, operand == result)

    @classmethod
    def plan(cls, mode: Mode, operand: Type) -> Run:
        return cls.kernel(operand, mode)


class AbsF(Unary, op="absf", nans="moved", facts=SELECTS):
    """Return the absolute value."""

    floating = floats.abs


class Acos(Unary, op="acos"):
    """Return the arc cosine, in [0, pi]."""

    floating = elementary.acos


class Acosh(Unary, op="acosh"):
    """Return the inverse hyperbolic cosine."""

    floating = elementary.acosh


class Asin(Unary, op="asin"):
    """Return the arc sine, in [-pi/2, pi/2]."""

    floating = elementary.asin


class Asinh(Unary, op="asinh"):
    """Return the inverse hyperbolic sine."""

    floating = elementary.asinh


class Atan(Unary, op="atan"):
    """Return the arc tangent, in [-pi/2, pi/2]."""

    floating = elementary.atan


class Atanh(Unary, op="atanh", facts=function(monotone=True, pole=is_one)):
    """Return the inverse hyperbolic tangent."""

    floating = elementary.atanh


class Cbrt(Unary, op="cbrt"):
    """Return the cube root."""

    floating = elementary.cbrt


class Ceil(Unary, op="ceil", facts=STEPS):
    """Round toward +inf."""

    floating = floats.ceil


class Cos(Unary, op="cos", facts=function(slope=1.0, spread=2.0)):
    """Return the cosine."""

    floating = elementary.cosine


class Cosh(Unary, op="cosh", facts=function(monotone=True, least=(0.0, 1.0))):
    """Return the hyperbolic cosine."""

    floating = elementary.cosh


class Erf(Unary, op="erf"):
    """Return the error function."""

    floating = special.erf


class Erfc(Unary, op="erfc", facts=function(monotone=True, underflow="always")):
    """Return one minus the error function."""

    floating = special.erfc


class Exp(Unary, op="exp", facts=function(monotone=True, underflow="always")):
    """Return e to the power of the operand."""

    floating = elementary.exponential


class Exp2(Unary, op="exp2", facts=function(monotone=True, underflow="always")):
    """Return 2 to the power of the operand."""

    floating = elementary.exp2


class ExpM1(Unary, op="expm1"):
    """Return e to the power of the operand, minus one."""

    floating = elementary.exponential_minus_one


class Floor(Unary, op="floor", facts=STEPS):
    """Round toward -inf."""

    floating = floats.floor


class Log(Unary, op="log", facts=function(monotone=True, pole=is_zero)):
    """Return the natural logarithm."""

    floating = elementary.log


class Log10(Unary, op="log10", facts=function(monotone=True, pole=is_zero)):
    """Return the logarithm to base 10."""

    floating = elementary.log10


class Log1p(Unary, op="log1p", facts=function(monotone=True, pole=is_minus_one)):
    """Return the natural logarithm of one plus the operand."""

    floating = elementary.log_plus_one


class Log2(Unary, op="log2", facts=function(monotone=True, pole=is_zero)):
    """Return the logarithm to base 2."""

    floating = elementary.log2


class Round(Unary, op="round", facts=STEPS):
    """Round to the nearest integer, ties away from zero."""

    floating = floats.round_nearest_afz


class RoundEven(Unary, op="roundeven", facts=STEPS):
    """Round to the nearest integer, ties to even."""

    floating = floats.round_nearest_even


class Rsqrt(Unary, op="rsqrt", facts=function(monotone=True, pole=is_zero)):
    """Return the reciprocal of the square root."""

    floating = elementary.rsqrt


class Sin(Unary, op="sin", facts=function(slope=1.0, spread=2.0)):
    """Return the sine."""

    floating = elementary.sine


class Sinh(Unary, op="sinh"):
    """Return the hyperbolic sine."""

    floating = elementary.sinh


class Sqrt(Unary, op="sqrt", facts=rounds(monotone=True)):
    """Return the square root."""

    floating = floats.sqrt


class Tan(Unary, op="tan", facts=function(monotone=between_poles_of_tangent)):
    """Return the tangent."""

    floating = elementary.tan


class Tanh(Unary, op="tanh"):
    """Return the hyperbolic tangent."""

    floating = elementary.tanh


class Trunc(Unary, op="trunc", facts=STEPS):
    """Round toward zero."""

    floating = elementary.trunc


# --- integers -------------------------------------------------------------------------------------------------------


class UnaryInteger(Elementwise, dialect="math", facts=EXACT):
    """The base class of functions of one integer."""

    operand = In(integer_like)
    result = Out(integer_like)

    syntax = "operands attr-dict : same_type"

    infer = staticmethod(Unary.infer)
    constraints = staticmethod(Unary.constraints)

    @classmethod
    def plan(cls, mode: Mode, operand: Type) -> Run:
        return cls.kernel(operand, mode)


class AbsI(UnaryInteger, op="absi"):
    """Return the absolute value of a signed integer; the smallest integer is unchanged."""

    boolean = same_kernel(lambda x: x)
    integer = integers.abs


class CtLz(UnaryInteger, op="ctlz"):
    """Count the zero bits above the highest one."""

    boolean = integers.count_trailing_zeros
    integer = integers.count_leading_zeros


class CtPop(UnaryInteger, op="ctpop"):
    """Count the bits that are one."""

    boolean = same_kernel(lambda x: x)
    integer = integers.popcnt


class CtTz(UnaryInteger, op="cttz"):
    """Count the zero bits below the lowest one."""

    boolean = integers.count_trailing_zeros
    integer = integers.count_trailing_zeros


# --- predicates -----------------------------------------------------------------------------------------------------


class Predicate(Unary, facts=EXACT):
    """The base class of predicates of one float."""

    result = Out(boolean_like)

    syntax = ("operands", LATER_FLAGS, "attr-dict :", COMPARED)

    @staticmethod
    def constraints(C: Checker, operand: Type, result: Type) -> None:
        C(1, element_type(result) == BOOLEAN and alike(operand, result))


class IsFinite(Predicate, op="isfinite"):
    """Return whether a number is neither infinite nor NaN."""

    floating = floats.is_finite


class IsInf(Predicate, op="isinf"):
    """Return whether a number is infinite."""

    floating = elementary.is_inf


class IsNaN(Predicate, op="isnan"):
    """Return whether a number is NaN."""

    floating = elementary.is_nan


class IsNormal(Predicate, op="isnormal"):
    """Return whether a number is neither zero, subnormal, infinite nor NaN."""

    floating = elementary.is_normal


# --- several operands -----------------------------------------------------------------------------------------------


class Binary(Elementwise, dialect="math", facts=function()):
    """The base class of functions of two floats."""

    lhs = In(float_like)
    rhs = In(float_like)
    fastmath = Attr(FastMath, default=NO_FAST_MATH)
    result = Out(float_like)

    syntax: ClassVar[Syntax] = ("operands", FLAGS, "attr-dict : same_type")

    @staticmethod
    def infer(lhs: Type) -> Type:
        return lhs

    @staticmethod
    def constraints(C: Checker, lhs: Type, rhs: Type, result: Type) -> None:
        C(1, lhs == rhs == result)

    @classmethod
    def plan(cls, mode: Mode, lhs: Type) -> Run:
        return cls.kernel(lhs, mode)


class Atan2(Binary, op="atan2", facts=function(underflow="unless zero")):
    """Return the angle of the point whose coordinates are `rhs` and `lhs`."""

    floating = elementary.atan2


class CopySign(Binary, op="copysign", nans="moved", facts=SELECTS):
    """Return `lhs` with the sign of `rhs`."""

    floating = elementary.copysign


class PowF(Binary, op="powf", facts=function(pole=power_of_zero, underflow="unless zero")):
    """Return `lhs` to the power of `rhs`."""

    floating = elementary.power


class IPowI(Elementwise, op="ipowi", dialect="math", facts=EXACT):
    """Return an integer to the power of another, modulo 2**bit width; the integer part for a negative exponent."""

    lhs = In(integer_like)
    rhs = In(integer_like)
    result = Out(integer_like)

    syntax = "operands attr-dict : same_type"

    integer = integers.power
    infer = staticmethod(Binary.infer)
    constraints = staticmethod(Binary.constraints)

    @classmethod
    def plan(cls, mode: Mode, lhs: Type) -> Run:
        return cls.kernel(lhs, mode)


class FPowI(Binary, op="fpowi"):
    """Return a float to the power of an integer."""

    rhs = In(integer_like)

    syntax = ("operands", FLAGS, "attr-dict :", Deduced(lambda types, _: types, lambda a, b, n: ([a, b], [a]), ","))

    @staticmethod
    def constraints(C: Checker, lhs: Type, rhs: Type, result: Type) -> None:
        C(1, lhs == result)
        C(2, alike(lhs, rhs))

    @classmethod
    def plan(cls, mode: Mode, lhs: Type, rhs: Type) -> Run:
        return elementary.power_of_integer(
            numpy_dtype(element_type(lhs)), numpy_dtype(element_type(rhs)), mode.reproducible
        )


class Fma(Elementwise, op="fma", dialect="math", facts=rounds(adds=True)):
    """Return `a * b + c`, rounded once."""

    a = In(float_like)
    b = In(float_like)
    c = In(float_like)
    fastmath = Attr(FastMath, default=NO_FAST_MATH)
    rounding_mode = Attr(Opaque, default=None, name="roundingmode")
    result = Out(float_like)

    syntax = ("operands", FLAGS, "attr-dict : same_type")

    floating = elementary.fused_multiply_add

    @staticmethod
    def infer(a: Type) -> Type:
        return a

    @staticmethod
    def constraints(C: Checker, a: Type, b: Type, c: Type, result: Type) -> None:
        C(1, a == b == c == result)

    @classmethod
    def plan(cls, mode: Mode, a: Type, rounding_mode: Opaque | None) -> Run:
        check_rounding(rounding_mode)
        return cls.kernel(a, mode)
