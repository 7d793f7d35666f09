"""MLIR's math dialect: functions of scalars and tensors."""

from __future__ import annotations

from stablehlo_ref.define.assembly import Deduced
from stablehlo_ref.define.attribute_codecs import NO_FAST_MATH, FastMath, Opaque
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.facts import EXACT, SELECTS, STEPS, function, is_zero, rounds
from stablehlo_ref.define.mode import Mode
from stablehlo_ref.define.op import Attr, In, Out
from stablehlo_ref.define.spec import element_type
from stablehlo_ref.dialects import chlo_elementwise as chlo
from stablehlo_ref.dialects import mlir_types
from stablehlo_ref.dialects.arith import check_rounding
from stablehlo_ref.dialects.mlir_types import (
    COMPARED,
    FLAGS,
    LATER_FLAGS,
    alike,
    boolean_like,
    boolean_of,
    define_like,
    float_like,
    integer_like,
)
from stablehlo_ref.ir.types import BOOLEAN, Type
from stablehlo_ref.numerics import elementary, integers
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.kernels import same_kernel
from stablehlo_ref.ops import comparison, elementwise
from stablehlo_ref.ops import elementary as ops


class Unary(mlir_types.UnaryF, dialect="math"):
    """The base class of functions of one float."""


OF_CHLO = ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "erf", "erfc", "sinh")

define_like(
    Unary,
    {
        **{name: chlo.FUNCTIONS[name] for name in OF_CHLO},
        "absf": elementwise.Abs,
        "cbrt": ops.Cbrt,
        "ceil": ops.Ceil,
        "cos": ops.Cosine,
        "exp": ops.Exponential,
        "expm1": ops.ExponentialMinusOne,
        "floor": ops.Floor,
        "log": ops.Log,
        "log1p": ops.LogPlusOne,
        "round": ops.RoundNearestAfz,
        "roundeven": ops.RoundNearestEven,
        "rsqrt": ops.Rsqrt,
        "sin": ops.Sine,
        "sqrt": ops.Sqrt,
        "tan": ops.Tan,
        "tanh": ops.Tanh,
    },
)


class Exp2(Unary, op="exp2", facts=function(monotone=True, underflow="always")):
    """Return 2 to the power of the operand."""

    floating = elementary.exp2


class Log10(Unary, op="log10", facts=function(monotone=True, pole=is_zero)):
    """Return the logarithm to base 10."""

    floating = elementary.log10


class Log2(Unary, op="log2", facts=function(monotone=True, pole=is_zero)):
    """Return the logarithm to base 2."""

    floating = elementary.log2


class Trunc(Unary, op="trunc", facts=STEPS):
    """Round toward zero."""

    floating = elementary.trunc


# --- integers -------------------------------------------------------------------------------------------------------


class UnaryInteger(mlir_types.Unary, dialect="math"):
    """The base class of functions of one integer."""


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
    def infer(operand: Type) -> Type:
        return boolean_of(operand)

    @staticmethod
    def constraints(C: Checker, operand: Type, result: Type) -> None:
        C(1, element_type(result) == BOOLEAN and alike(operand, result))


define_like(Predicate, {"isfinite": comparison.IsFinite})


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


class Binary(mlir_types.BinaryF, dialect="math"):
    """The base class of functions of two floats."""


define_like(Binary, {"atan2": ops.Atan2, "powf": elementwise.Power})


class CopySign(Binary, op="copysign", nans="moved", facts=SELECTS):
    """Return `lhs` with the sign of `rhs`."""

    floating = elementary.copysign


class IPowI(mlir_types.Binary, op="ipowi", dialect="math"):
    """Return an integer to the power of another, modulo 2**bit width; the integer part for a negative exponent."""

    integer = integers.power


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


class Fma(elementwise.Elementwise, op="fma", dialect="math", facts=rounds(adds=True)):
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
