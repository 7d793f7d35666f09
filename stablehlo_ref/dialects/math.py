"""MLIR's math dialect: functions of scalars and tensors."""

from __future__ import annotations

from stablehlo_ref.define.attribute_codecs import Opaque
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.mode import Mode
from stablehlo_ref.define.op import Attr, In, Out
from stablehlo_ref.define.spec import element_type
from stablehlo_ref.dialects.mlir_types import alike, boolean_like, float_like, integer_like
from stablehlo_ref.ir.types import BOOLEAN, Type
from stablehlo_ref.numerics import elementary, floats, integers, math_functions, special_elementary, special_error
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.kernels import same_kernel
from stablehlo_ref.ops.elementwise import Elementwise


class Unary(Elementwise, dialect="math"):
    """The base class of functions of one float."""

    operand = In(float_like)
    fastmath = Attr(Opaque, default=None)
    result = Out(float_like)

    syntax = "operands custom(arith_flags) attr-dict : same_type"

    @staticmethod
    def infer(operand: Type) -> Type:
        return operand

    @staticmethod
    def constraints(C: Checker, operand: Type, result: Type) -> None:
        C(1, operand == result)

    @classmethod
    def plan(cls, mode: Mode, operand: Type) -> Run:
        return cls.kernel(operand, mode)


class AbsF(Unary, op="absf", nans="moved"):
    """Return the absolute value."""

    floating = floats.abs


class Acos(Unary, op="acos"):
    """Return the arc cosine, in [0, pi]."""

    floating = special_elementary.acos


class Acosh(Unary, op="acosh"):
    """Return the inverse hyperbolic cosine."""

    floating = special_elementary.acosh


class Asin(Unary, op="asin"):
    """Return the arc sine, in [-pi/2, pi/2]."""

    floating = special_elementary.asin


class Asinh(Unary, op="asinh"):
    """Return the inverse hyperbolic sine."""

    floating = special_elementary.asinh


class Atan(Unary, op="atan"):
    """Return the arc tangent, in [-pi/2, pi/2]."""

    floating = special_elementary.atan


class Atanh(Unary, op="atanh"):
    """Return the inverse hyperbolic tangent."""

    floating = special_elementary.atanh


class Cbrt(Unary, op="cbrt"):
    """Return the cube root."""

    floating = elementary.cbrt


class Ceil(Unary, op="ceil"):
    """Round toward +inf."""

    floating = floats.ceil


class Cos(Unary, op="cos"):
    """Return the cosine."""

    floating = elementary.cosine


class Cosh(Unary, op="cosh"):
    """Return the hyperbolic cosine."""

    floating = special_elementary.cosh


class Erf(Unary, op="erf"):
    """Return the error function."""

    floating = special_error.erf


class Erfc(Unary, op="erfc"):
    """Return one minus the error function."""

    floating = special_error.erfc


class Exp(Unary, op="exp"):
    """Return e to the power of the operand."""

    floating = elementary.exponential


class Exp2(Unary, op="exp2"):
    """Return 2 to the power of the operand."""

    floating = math_functions.exp2


class ExpM1(Unary, op="expm1"):
    """Return e to the power of the operand, minus one."""

    floating = elementary.exponential_minus_one


class Floor(Unary, op="floor"):
    """Round toward -inf."""

    floating = floats.floor


class Log(Unary, op="log"):
    """Return the natural logarithm."""

    floating = elementary.log


class Log10(Unary, op="log10"):
    """Return the logarithm to base 10."""

    floating = math_functions.log10


class Log1p(Unary, op="log1p"):
    """Return the natural logarithm of one plus the operand."""

    floating = elementary.log_plus_one


class Log2(Unary, op="log2"):
    """Return the logarithm to base 2."""

    floating = math_functions.log2


class Round(Unary, op="round"):
    """Round to the nearest integer, ties away from zero."""

    floating = floats.round_nearest_afz


class RoundEven(Unary, op="roundeven"):
    """Round to the nearest integer, ties to even."""

    floating = floats.round_nearest_even


class Rsqrt(Unary, op="rsqrt"):
    """Return the reciprocal of the square root."""

    floating = elementary.rsqrt


class Sin(Unary, op="sin"):
    """Return the sine."""

    floating = elementary.sine


class Sinh(Unary, op="sinh"):
    """Return the hyperbolic sine."""

    floating = special_elementary.sinh


class Sqrt(Unary, op="sqrt"):
    """Return the square root."""

    floating = floats.sqrt


class Tan(Unary, op="tan"):
    """Return the tangent."""

    floating = elementary.tan


class Tanh(Unary, op="tanh"):
    """Return the hyperbolic tangent."""

    floating = elementary.tanh


class Trunc(Unary, op="trunc"):
    """Round toward zero."""

    floating = math_functions.trunc


# --- integers -------------------------------------------------------------------------------------------------------


class UnaryInteger(Elementwise, dialect="math"):
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

    boolean = math_functions.count_trailing_zeros
    integer = integers.count_leading_zeros


class CtPop(UnaryInteger, op="ctpop"):
    """Count the bits that are one."""

    boolean = same_kernel(lambda x: x)
    integer = integers.popcnt


class CtTz(UnaryInteger, op="cttz"):
    """Count the zero bits below the lowest one."""

    boolean = math_functions.count_trailing_zeros
    integer = math_functions.count_trailing_zeros


# --- predicates -----------------------------------------------------------------------------------------------------


class Predicate(Unary):
    """The base class of predicates of one float."""

    result = Out(boolean_like)

    syntax = "operands attr-dict : custom(compared_type)"

    @staticmethod
    def constraints(C: Checker, operand: Type, result: Type) -> None:
        C(1, element_type(result) == BOOLEAN and alike(operand, result))


class IsFinite(Predicate, op="isfinite"):
    """Return whether a number is neither infinite nor NaN."""

    floating = floats.is_finite


class IsInf(Predicate, op="isinf"):
    """Return whether a number is infinite."""

    floating = math_functions.is_inf


class IsNaN(Predicate, op="isnan"):
    """Return whether a number is NaN."""

    floating = math_functions.is_nan


class IsNormal(Predicate, op="isnormal"):
    """Return whether a number is neither zero, subnormal, infinite nor NaN."""

    floating = math_functions.is_normal


# --- several operands -----------------------------------------------------------------------------------------------


class Binary(Elementwise, dialect="math"):
    """The base class of functions of two floats."""

    lhs = In(float_like)
    rhs = In(float_like)
    fastmath = Attr(Opaque, default=None)
    result = Out(float_like)

    syntax = "operands custom(arith_flags) attr-dict : same_type"

    @staticmethod
    def infer(lhs: Type) -> Type:
        return lhs

    @staticmethod
    def constraints(C: Checker, lhs: Type, rhs: Type, result: Type) -> None:
        C(1, lhs == rhs == result)

    @classmethod
    def plan(cls, mode: Mode, lhs: Type) -> Run:
        return cls.kernel(lhs, mode)


class Atan2(Binary, op="atan2"):
    """Return the angle of the point whose coordinates are `rhs` and `lhs`."""

    floating = elementary.atan2


class CopySign(Binary, op="copysign", nans="moved"):
    """Return `lhs` with the sign of `rhs`."""

    floating = math_functions.copysign


class PowF(Binary, op="powf"):
    """Return `lhs` to the power of `rhs`."""

    floating = elementary.power


class IPowI(Elementwise, op="ipowi", dialect="math"):
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

    syntax = "operands custom(arith_flags) attr-dict : custom(base_and_power)"

    @staticmethod
    def constraints(C: Checker, lhs: Type, rhs: Type, result: Type) -> None:
        C(1, lhs == result)
        C(2, alike(lhs, rhs))

    @classmethod
    def plan(cls, mode: Mode, lhs: Type, rhs: Type) -> Run:
        return math_functions.power_of_integer(
            numpy_dtype(element_type(lhs)), numpy_dtype(element_type(rhs)), mode.reproducible
        )


class Fma(Elementwise, op="fma", dialect="math"):
    """Return `a * b + c`, rounded once."""

    a = In(float_like)
    b = In(float_like)
    c = In(float_like)
    fastmath = Attr(Opaque, default=None)
    rounding_mode = Attr(Opaque, default=None, name="roundingmode")
    result = Out(float_like)

    syntax = "operands custom(arith_flags) attr-dict : same_type"

    floating = math_functions.fused_multiply_add

    @staticmethod
    def infer(a: Type) -> Type:
        return a

    @staticmethod
    def constraints(C: Checker, a: Type, b: Type, c: Type, result: Type) -> None:
        C(1, a == b == c == result)

    @classmethod
    def plan(cls, mode: Mode, a: Type) -> Run:
        return cls.kernel(a, mode)
