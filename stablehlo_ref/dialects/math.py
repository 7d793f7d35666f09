"""MLIR's math and complex dialects: functions of scalars and tensors, and of complex scalars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from stablehlo_ref.define.assembly import Deduced, first_operand, first_result
from stablehlo_ref.define.attribute_codecs import NO_FAST_MATH, FastMath, Opaque
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.definition import Syntax
from stablehlo_ref.define.facts import CONSTANT, EXACT, MOVES, SELECTS, STEPS, function, is_zero, rounds
from stablehlo_ref.define.mode import Mode
from stablehlo_ref.define.op import Attr, In, Op, Out, returns, type_of
from stablehlo_ref.define.spec import element_type
from stablehlo_ref.define.type_constraints import TypeConstraint
from stablehlo_ref.dialects import chlo_elementwise as chlo
from stablehlo_ref.dialects import mlir_types
from stablehlo_ref.dialects.arith import check_rounding
from stablehlo_ref.dialects.mlir_types import (
    COMPARED,
    FLAGS,
    LATER_FLAGS,
    alike,
    boolean,
    boolean_like,
    boolean_of,
    define,
    define_like,
    float_like,
    integer_like,
)
from stablehlo_ref.ir.attributes import FloatAttribute
from stablehlo_ref.ir.types import BOOLEAN, ComplexType, FloatType, Type
from stablehlo_ref.numerics import complexes, elementary, integers
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


# --- integers -------------------------------------------------------------------------------------------------------


class UnaryInteger(mlir_types.Unary, dialect="math"):
    """The base class of functions of one integer."""


UNCHANGED = same_kernel(lambda x: x)


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


# --- several operands -----------------------------------------------------------------------------------------------


class Binary(mlir_types.BinaryF, dialect="math"):
    """The base class of functions of two floats."""


define_like(Binary, {"atan2": ops.Atan2, "powf": elementwise.Power})


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

    infer = type_of("a")

    @staticmethod
    def constraints(C: Checker, a: Type, b: Type, c: Type, result: Type) -> None:
        C(1, a == b == c == result)

    @classmethod
    def plan(cls, mode: Mode, a: Type, rounding_mode: Opaque | None) -> Run:
        check_rounding(rounding_mode)
        return cls.kernel(a, mode)


# --- complex --------------------------------------------------------------------------------------------------------

number = TypeConstraint("complex number", lambda t: isinstance(t, ComplexType))
part = TypeConstraint("floating-point number", lambda t: isinstance(t, FloatType))


def part_of(type: Type) -> Type:
    """Return the type of the parts of a complex type; any other type itself."""
    return type.element if isinstance(type, ComplexType) else type


class ComplexConstant(Op, op="constant", dialect="complex", facts=CONSTANT):
    """Return the number whose real and imaginary parts are in `value`."""

    value = Attr(Opaque)
    complex = Out(number)

    syntax = "$value attr-dict : type(results)"

    @staticmethod
    def constraints(C: Checker, value: Opaque, complex: Type) -> None:
        C(1, isinstance(value, tuple) and len(value) == 2 and all(isinstance(x, FloatAttribute) for x in value))

    @staticmethod
    def plan(value: Opaque, complex: Type) -> Run:
        parts = [x.value for x in value if isinstance(x, FloatAttribute)] if isinstance(value, tuple) else []
        constant = numpy_dtype(complex).type(parts[0] + 1j * parts[1])
        return lambda: constant


class Create(elementwise.Elementwise, op="create", dialect="complex", nans="moved", facts=MOVES):
    """Return the number with these parts."""

    real = In(part)
    imaginary = In(part)
    complex_ = Out(number)

    syntax = ("operands attr-dict :", Deduced(first_result, lambda t, n: ([part_of(t)] * n, [t])))

    floating = complexes.complex

    @staticmethod
    def constraints(C: Checker, real: Type, imaginary: Type, complex_: Type) -> None:
        C(1, real == imaginary == part_of(complex_))

    @classmethod
    def plan(cls, mode: Mode, real: Type) -> Run:
        return cls.kernel(real, mode)


class ComplexFunction(elementwise.Elementwise, dialect="complex", facts=function()):
    """The base class of functions of one number."""

    complex_ = In(number)
    fastmath = Attr(FastMath, default=NO_FAST_MATH)
    result = Out(number)

    syntax: ClassVar[Syntax] = ("operands", FLAGS, "attr-dict : same_type")

    infer = type_of("complex_")

    @staticmethod
    def constraints(C: Checker, complex_: Type, result: Type) -> None:
        C(1, complex_ == result)

    @classmethod
    def plan(cls, mode: Mode, complex_: Type) -> Run:
        return cls.kernel(complex_, mode)


class Part(ComplexFunction, facts=function()):
    """The base class of functions of one number whose result is real."""

    result = Out(part)

    syntax = ("operands", FLAGS, "attr-dict :", Deduced(first_operand, lambda t, n: ([t] * n, [part_of(t)])))

    @staticmethod
    def infer(complex_: Type) -> Type:
        return part_of(complex_)

    @staticmethod
    def constraints(C: Checker, complex_: Type, result: Type) -> None:
        C(1, result == part_of(complex_))


class Angle(Part, op="angle"):
    """Return the angle, in [-pi, pi]."""

    @classmethod
    def plan(cls, complex_: Type) -> Run:
        angle = elementary.atan2(numpy_dtype(part_of(complex_)))
        return lambda z: angle(np.imag(z), np.real(z))


define_like(
    ComplexFunction,
    {
        "conj": chlo.Conj,
        "cos": ops.Cosine,
        "exp": ops.Exponential,
        "expm1": ops.ExponentialMinusOne,
        "log": ops.Log,
        "log1p": ops.LogPlusOne,
        "neg": elementwise.Negate,
        "rsqrt": ops.Rsqrt,
        "sin": ops.Sine,
        "sqrt": ops.Sqrt,
        "tan": ops.Tan,
        "tanh": ops.Tanh,
    },
    "complex",
)


class ComplexBinary(mlir_types.BinaryF, dialect="complex"):
    """The base class of functions of two numbers."""

    lhs = In(number)
    rhs = In(number)
    result = Out(number)


define_like(
    ComplexBinary,
    {
        "add": elementwise.Add,
        "atan2": ops.Atan2,
        "div": elementwise.Divide,
        "mul": elementwise.Multiply,
        "pow": elementwise.Power,
        "sub": elementwise.Subtract,
    },
    "complex",
)


class ComplexComparison(elementwise.BinaryElementwise, dialect="complex", facts=EXACT):
    """The base class of comparisons of two numbers."""

    lhs = In(number)
    rhs = In(number)
    result = Out(boolean)

    syntax = ("operands attr-dict :", COMPARED)

    infer = returns(BOOLEAN)

    @staticmethod
    def constraints(C: Checker, lhs: Type, rhs: Type) -> None:
        C(1, lhs == rhs)


# --- without a counterpart in StableHLO and CHLO --------------------------------------------------------------------

FUNCTIONS: Sequence[tuple[type[elementwise.Elementwise], str, str, Mapping[str, Any]]] = (
    (Unary, "exp2", "Return 2 to the power of the operand.",
     {"floating": elementary.exp2, "facts": function(monotone=True, underflow="always")}),
    (Unary, "log10", "Return the logarithm to base 10.",
     {"floating": elementary.log10, "facts": function(monotone=True, pole=is_zero)}),
    (Unary, "log2", "Return the logarithm to base 2.",
     {"floating": elementary.log2, "facts": function(monotone=True, pole=is_zero)}),
    (Unary, "trunc", "Round toward zero.", {"floating": elementary.trunc, "facts": STEPS}),
    (UnaryInteger, "absi", "Return the absolute value of a signed integer; the smallest integer is unchanged.",
     {"boolean": UNCHANGED, "integer": integers.abs}),
    (UnaryInteger, "ctlz", "Count the zero bits above the highest one.",
     {"boolean": integers.count_trailing_zeros, "integer": integers.count_leading_zeros}),
    (UnaryInteger, "ctpop", "Count the bits that are one.", {"boolean": UNCHANGED, "integer": integers.popcnt}),
    (UnaryInteger, "cttz", "Count the zero bits below the lowest one.",
     {"boolean": integers.count_trailing_zeros, "integer": integers.count_trailing_zeros}),
    (Predicate, "isinf", "Return whether a number is infinite.", {"floating": elementary.is_inf}),
    (Predicate, "isnan", "Return whether a number is NaN.", {"floating": elementary.is_nan}),
    (Predicate, "isnormal", "Return whether a number is neither zero, subnormal, infinite nor NaN.",
     {"floating": elementary.is_normal}),
    (Binary, "copysign", "Return `lhs` with the sign of `rhs`.",
     {"floating": elementary.copysign, "facts": SELECTS, "nans": "moved"}),
    (Part, "abs", "Return the modulus.", {"complex": complexes.abs}),
    (Part, "im", "Return the imaginary part.", {"complex": complexes.imag, "facts": MOVES, "nans": "moved"}),
    (Part, "re", "Return the real part.", {"complex": complexes.real, "facts": MOVES, "nans": "moved"}),
    (ComplexFunction, "sign", "Return the number divided by its modulus; zero for zero.", {"complex": complexes.sign}),
    (ComplexComparison, "eq", "Return whether two numbers are equal.", {"complex": complexes.compare("EQ")}),
    (ComplexComparison, "neq", "Return whether two numbers differ.", {"complex": complexes.compare("NE")}),
)  # fmt: skip
for base, mnemonic, doc, options in FUNCTIONS:
    define(base, mnemonic, doc, **options)
