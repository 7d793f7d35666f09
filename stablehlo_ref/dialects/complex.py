"""MLIR's complex dialect: arithmetic on scalars of type `complex<f32>` and `complex<f64>`."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from stablehlo_ref.define.assembly import Deduced, first_operand, first_result
from stablehlo_ref.define.attribute_codecs import NO_FAST_MATH, FastMath, Opaque
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.definition import Syntax
from stablehlo_ref.define.facts import CONSTANT, EXACT, MOVES, function
from stablehlo_ref.define.mode import Mode
from stablehlo_ref.define.op import Attr, In, Op, Out
from stablehlo_ref.define.type_constraints import TypeConstraint
from stablehlo_ref.dialects.chlo_elementwise import Conj
from stablehlo_ref.dialects.mlir_types import COMPARED, FLAGS, BinaryF, boolean, define_like
from stablehlo_ref.ir.attributes import FloatAttribute
from stablehlo_ref.ir.types import ComplexType, FloatType, Type
from stablehlo_ref.numerics import complexes, elementary
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.ops import elementary as ops
from stablehlo_ref.ops import elementwise


def part_type(type: Type) -> Type:
    """Return the type of the parts of a complex type; any other type itself."""
    return type.element if isinstance(type, ComplexType) else type


number = TypeConstraint("complex number", lambda t: isinstance(t, ComplexType))
part = TypeConstraint("floating-point number", lambda t: isinstance(t, FloatType))


def part_of(type: Type) -> Type | None:
    """Return the type of the parts of a complex type; None for any other type."""
    return type.element if isinstance(type, ComplexType) else None


class Constant(Op, op="constant", dialect="complex", facts=CONSTANT):
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

    syntax = ("operands attr-dict :", Deduced(first_result, lambda t, n: ([part_type(t)] * n, [t])))

    floating = complexes.complex

    @staticmethod
    def constraints(C: Checker, real: Type, imaginary: Type, complex_: Type) -> None:
        C(1, real == imaginary == part_of(complex_))

    @classmethod
    def plan(cls, mode: Mode, real: Type) -> Run:
        return cls.kernel(real, mode)


class Unary(elementwise.Elementwise, dialect="complex", facts=function()):
    """The base class of functions of one number."""

    complex_ = In(number)
    fastmath = Attr(FastMath, default=NO_FAST_MATH)
    result = Out(number)

    syntax: ClassVar[Syntax] = ("operands", FLAGS, "attr-dict : same_type")

    @staticmethod
    def infer(complex_: Type) -> Type:
        return complex_

    @staticmethod
    def constraints(C: Checker, complex_: Type, result: Type) -> None:
        C(1, complex_ == result)

    @classmethod
    def plan(cls, mode: Mode, complex_: Type) -> Run:
        return cls.kernel(complex_, mode)


class Part(Unary, facts=function()):
    """The base class of functions of one number whose result is real."""

    result = Out(part)

    syntax = ("operands", FLAGS, "attr-dict :", Deduced(first_operand, lambda t, n: ([t] * n, [part_type(t)])))

    @staticmethod
    def infer(complex_: Type) -> Type:
        return part_type(complex_)

    @staticmethod
    def constraints(C: Checker, complex_: Type, result: Type) -> None:
        C(1, result == part_of(complex_))


class Abs(Part, op="abs"):
    """Return the modulus."""

    complex = complexes.abs


class Angle(Part, op="angle"):
    """Return the angle, in [-pi, pi]."""

    @classmethod
    def plan(cls, complex_: Type) -> Run:
        angle = elementary.atan2(numpy_dtype(part_type(complex_)))
        return lambda z: angle(np.imag(z), np.real(z))


class Im(Part, op="im", nans="moved", facts=MOVES):
    """Return the imaginary part."""

    complex = complexes.imag


class Re(Part, op="re", nans="moved", facts=MOVES):
    """Return the real part."""

    complex = complexes.real


define_like(
    Unary,
    {
        "conj": Conj,
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


class Sign(Unary, op="sign"):
    """Return the number divided by its modulus; zero for zero."""

    complex = complexes.sign


class Binary(BinaryF, dialect="complex"):
    """The base class of functions of two numbers."""

    lhs = In(number)
    rhs = In(number)
    result = Out(number)


define_like(
    Binary,
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


class Comparison(elementwise.Elementwise, dialect="complex", facts=EXACT):
    """The base class of comparisons of two numbers."""

    lhs = In(number)
    rhs = In(number)
    result = Out(boolean)

    syntax = ("operands attr-dict :", COMPARED)

    @staticmethod
    def constraints(C: Checker, lhs: Type, rhs: Type) -> None:
        C(1, lhs == rhs)

    @classmethod
    def plan(cls, mode: Mode, lhs: Type) -> Run:
        return cls.kernel(lhs, mode)


class Eq(Comparison, op="eq"):
    """Return whether two numbers are equal."""

    complex = complexes.compare("EQ")


class Neq(Comparison, op="neq"):
    """Return whether two numbers differ."""

    complex = complexes.compare("NE")
