"""MLIR's complex dialect: arithmetic on scalars of type `complex<f32>` and `complex<f64>`."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from stablehlo_ref.define.assembly import Deduced, first_operand, first_result
from stablehlo_ref.define.attribute_codecs import NO_FAST_MATH, FastMath, Opaque
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.definition import Syntax
from stablehlo_ref.define.facts import (
    CONSTANT,
    EXACT,
    MOVES,
    SELECTS,
    divides_by_zero,
    function,
    is_minus_one,
    is_zero,
    power_of_zero,
    rounds,
)
from stablehlo_ref.define.mode import Mode
from stablehlo_ref.define.op import Attr, In, Op, Out
from stablehlo_ref.define.type_constraints import TypeConstraint
from stablehlo_ref.dialects.mlir_types import COMPARED, FLAGS, boolean
from stablehlo_ref.ir.attributes import FloatAttribute
from stablehlo_ref.ir.types import ComplexType, FloatType, Type
from stablehlo_ref.numerics import complex_elementary, complexes, elementary
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.ops.elementwise import Elementwise


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


class Create(Elementwise, op="create", dialect="complex", nans="moved", facts=MOVES):
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


class Unary(Elementwise, dialect="complex", facts=function()):
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
        return part_of(complex_) or complex_

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
        angle = elementary.atan2(numpy_dtype(part_of(complex_) or complex_))
        return lambda z: angle(np.imag(z), np.real(z))


class Im(Part, op="im", nans="moved", facts=MOVES):
    """Return the imaginary part."""

    complex = complexes.imag


class Re(Part, op="re", nans="moved", facts=MOVES):
    """Return the real part."""

    complex = complexes.real


class Conj(Unary, op="conj", nans="moved", facts=MOVES):
    """Return the conjugate."""

    complex = complexes.conj


class Cos(Unary, op="cos"):
    """Return the cosine."""

    complex = complex_elementary.cosine


class Exp(Unary, op="exp"):
    """Return e to the power of the operand."""

    complex = complex_elementary.exponential


class ExpM1(Unary, op="expm1"):
    """Return e to the power of the operand, minus one."""

    complex = complex_elementary.exponential_minus_one


class Log(Unary, op="log", facts=function(pole=is_zero)):
    """Return the natural logarithm."""

    complex = complex_elementary.log


class Log1p(Unary, op="log1p", facts=function(pole=is_minus_one)):
    """Return the natural logarithm of one plus the operand."""

    complex = complex_elementary.log_plus_one


class Neg(Unary, op="neg", nans="moved", facts=SELECTS):
    """Negate a number."""

    complex = complexes.negate


class Rsqrt(Unary, op="rsqrt", facts=function(pole=is_zero)):
    """Return the reciprocal of the square root."""

    complex = complex_elementary.rsqrt


class Sign(Unary, op="sign"):
    """Return the number divided by its modulus; zero for zero."""

    complex = complexes.sign


class Sin(Unary, op="sin"):
    """Return the sine."""

    complex = complex_elementary.sine


class Sqrt(Unary, op="sqrt"):
    """Return the square root."""

    complex = complex_elementary.sqrt


class Tan(Unary, op="tan"):
    """Return the tangent."""

    complex = complex_elementary.tan


class Tanh(Unary, op="tanh"):
    """Return the hyperbolic tangent."""

    complex = complex_elementary.tanh


class Binary(Elementwise, dialect="complex", facts=rounds()):
    """The base class of functions of two numbers."""

    lhs = In(number)
    rhs = In(number)
    fastmath = Attr(FastMath, default=NO_FAST_MATH)
    result = Out(number)

    syntax = ("operands", FLAGS, "attr-dict : same_type")

    @staticmethod
    def infer(lhs: Type) -> Type:
        return lhs

    @staticmethod
    def constraints(C: Checker, lhs: Type, rhs: Type, result: Type) -> None:
        C(1, lhs == rhs == result)

    @classmethod
    def plan(cls, mode: Mode, lhs: Type) -> Run:
        return cls.kernel(lhs, mode)


class Add(Binary, op="add", facts=rounds(adds=True)):
    """Add two numbers."""

    complex = complexes.add


class Atan2(Binary, op="atan2", facts=function()):
    """Return the angle of the point whose coordinates are `rhs` and `lhs`, extended to complex numbers."""

    complex = complex_elementary.atan2


class Div(Binary, op="div", facts=rounds(pole=divides_by_zero)):
    """Divide `lhs` by `rhs`."""

    complex = complexes.divide


class Mul(Binary, op="mul"):
    """Multiply two numbers."""

    complex = complexes.multiply


class Pow(Binary, op="pow", facts=function(pole=power_of_zero)):
    """Return `lhs` to the power of `rhs`."""

    complex = complex_elementary.power


class Sub(Binary, op="sub", facts=rounds(adds=True)):
    """Subtract `rhs` from `lhs`."""

    complex = complexes.subtract


class Comparison(Elementwise, dialect="complex", facts=EXACT):
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
