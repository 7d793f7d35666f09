"""CHLO's elementwise ops: functions of one operand, of two, predicates, constants.

CHLO has no spec of its own; the labels of constraints count within each op, here as in all of the dialect.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stablehlo_ref.define import Attr, In, Op, Out
from stablehlo_ref.ir.attributes import FloatAttribute, IntegerAttribute
from stablehlo_ref.ir.types import BOOLEAN
from stablehlo_ref.kinds import (
    AttributeKind,
    Dense,
    boolean_tensor,
    complex_tensor,
    float_tensor,
    integer_tensor,
    quantized_tensor,
    tensor,
)
from stablehlo_ref.numerics import (
    complex_elementary,
    complexes,
    elementary,
    floats,
    special_complex,
    special_elementary,
    special_error,
    special_gamma,
    special_zeta,
)
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.integers import same
from stablehlo_ref.numerics.special_bessel import bessel_i1e
from stablehlo_ref.numerics.special_integers import mulhi
from stablehlo_ref.ops.elementwise import Array, BinaryElementwise, Elementwise, Kernel, UnaryElementwise
from stablehlo_ref.spec import compatible, element_type, shape, with_element_type

float_or_complex = float_tensor | complex_tensor


class Function(UnaryElementwise, dialect="chlo"):
    """A function of one operand."""

    operand = In(float_or_complex)
    result = Out(float_or_complex)

    syntax = "operands attr-dict : type(operands) -> type(results)"

    @staticmethod
    def constraints(C: Any, operand: Any, result: Any) -> None:
        C(1, compatible(operand, result))


class RealFunction(Function):
    """A function of one operand that only real numbers have."""

    operand = In(float_tensor)
    result = Out(float_tensor)


# --- inverse trigonometric and hyperbolic functions -----------------------------------------------------------------


class AsinAcosKernel(Function, op="_asin_acos_kernel"):
    """What asin, acos and acosh of a complex number z have in common: the number w with which

    asin(z) = atan2(Re z, Re w) + i sign(Im z) Im w, acos(z) = atan2(Re w, Re z) - i sign(Im z) Im w.
    """

    operand = In(complex_tensor)
    result = Out(complex_tensor)

    complex = special_complex.asin_acos_kernel


class Acos(Function, op="acos"):
    """The angle, between 0 and pi, whose cosine is each element."""

    floating = special_elementary.acos
    complex = special_complex.acos


class Acosh(Function, op="acosh"):
    """The number, not negative, whose hyperbolic cosine is each element; NaN below 1."""

    floating = special_elementary.acosh
    complex = special_complex.acosh


class Asin(Function, op="asin"):
    """The angle, between -pi/2 and pi/2, whose sine is each element."""

    floating = special_elementary.asin
    complex = special_complex.asin


class Asinh(Function, op="asinh"):
    """The number whose hyperbolic sine is each element."""

    floating = special_elementary.asinh
    complex = special_complex.asinh


class Atan(Function, op="atan"):
    """The angle, between -pi/2 and pi/2, whose tangent is each element."""

    floating = special_elementary.atan
    complex = special_complex.atan


class Atanh(Function, op="atanh"):
    """The number whose hyperbolic tangent is each element; NaN beyond 1."""

    floating = special_elementary.atanh
    complex = special_complex.atanh


class Cosh(Function, op="cosh"):
    """The hyperbolic cosine of each element."""

    floating = special_elementary.cosh
    complex = special_complex.cosh


class Sinh(Function, op="sinh"):
    """The hyperbolic sine of each element."""

    floating = special_elementary.sinh
    complex = special_complex.sinh


class Tan(Function, op="tan"):
    """The tangent of each element."""

    floating = elementary.tan
    complex = complex_elementary.tan


# --- special functions ----------------------------------------------------------------------------------------------


class BesselI1e(Function, op="bessel_i1e"):
    """exp(-|x|) I1(x) of each element x, I1 being the modified Bessel function of the first kind and order 1."""

    floating = bessel_i1e


class Digamma(RealFunction, op="digamma"):
    """The logarithmic derivative of the gamma function; NaN at its poles, the negative integers, infinite at 0."""

    floating = special_gamma.digamma


class Erf(RealFunction, op="erf"):
    """The error function, 2 / sqrt(pi) times the integral of exp(-t*t) from 0 to each element."""

    floating = special_error.erf


class ErfInv(RealFunction, op="erf_inv"):
    """The number of which the error function is each element; infinite at -1 and 1, NaN beyond."""

    floating = special_error.erf_inv


class Erfc(RealFunction, op="erfc"):
    """One minus the error function of each element, exact where that is tiny."""

    floating = special_error.erfc


class Lgamma(RealFunction, op="lgamma"):
    """The logarithm of the absolute value of the gamma function; +inf at its poles and at both infinities."""

    floating = special_gamma.lgamma


class BinaryFunction(BinaryElementwise, dialect="chlo"):
    """A function of two operands of the same type."""

    lhs = In(float_tensor)
    rhs = In(float_tensor)
    result = Out(float_tensor)

    syntax = "operands attr-dict : type(operands) -> type(results)"

    @staticmethod
    def constraints(C: Any, lhs: Any, rhs: Any, result: Any) -> None:
        C(1, compatible(lhs, rhs, result))


class NextAfter(BinaryFunction, op="next_after"):
    """The number after `lhs` in the direction of `rhs`; `rhs` where they are equal."""

    floating = special_elementary.next_after


class Polygamma(BinaryFunction, op="polygamma"):
    """Derivative number `lhs` of digamma, which is number 0, at `rhs`; NaN unless `lhs` is a natural number."""

    floating = special_zeta.polygamma


class Zeta(BinaryFunction, op="zeta"):
    """The Hurwitz zeta function: the sum of (rhs + k)**-lhs for k = 0, 1, 2, ...

    NaN for lhs < 1, and for rhs < 0 unless lhs is an integer; at its poles inf where that is the limit, else NaN.
    """

    floating = special_zeta.zeta


# --- arithmetic -----------------------------------------------------------------------------------------------------


class Conj(Function, op="conj"):
    """The conjugate of each element, which is itself where it is real."""

    floating = same(lambda x: x)
    complex = complexes.conj


class Square(Function, op="square"):
    """The square of each element."""

    floating = special_elementary.square
    complex = special_complex.square


class Mulhi(BinaryFunction, op="mulhi"):
    """The upper half of the product of two integers, which has twice as many bits."""

    lhs = In(integer_tensor)
    rhs = In(integer_tensor)
    result = Out(integer_tensor)

    commutative = True
    integer = mulhi


# --- predicates -----------------------------------------------------------------------------------------------------


class Predicate(Elementwise, dialect="chlo"):
    """Whether something is true of each element."""

    operand = In(float_tensor)
    result = Out(boolean_tensor)

    syntax = "operands attr-dict : type(operands) -> type(results)"

    @staticmethod
    def infer(operand: Any) -> Any:
        return with_element_type(operand, BOOLEAN)

    @staticmethod
    def constraints(C: Any, operand: Any, result: Any) -> None:
        C(1, shape(operand) == shape(result))

    @classmethod
    def plan(cls, operand: Any) -> Kernel:
        return cls.kernel(operand)


class IsInf(Predicate, op="is_inf"):
    """Whether each element is infinite."""

    floating = floats.predicate(np.isinf)


class IsNegInf(Predicate, op="is_neg_inf"):
    """Whether each element is -inf."""

    floating = floats.predicate(lambda x: np.equal(x, -np.inf))


class IsPosInf(Predicate, op="is_pos_inf"):
    """Whether each element is +inf."""

    floating = floats.predicate(lambda x: np.equal(x, np.inf))


# --- constants ------------------------------------------------------------------------------------------------------


class Constant(Op, op="constant", dialect="chlo"):
    """The tensor `value`."""

    on_storage = True
    value = Attr(Dense)
    output = Out(tensor | quantized_tensor)

    syntax = "attr-dict $value"

    @staticmethod
    def infer(value: Any) -> Any:
        return value.type

    @staticmethod
    def constraints(C: Any, value: Any, output: Any) -> None:
        C(1, value.type == output)

    @staticmethod
    def plan(value: Any) -> Kernel:
        return lambda: value.array


class _Number(AttributeKind):
    """One number with its type, `1.5 : f32` or `true`; it stays as it was written."""

    name = "number"

    def decode(self, attribute: Any) -> Any:
        if isinstance(attribute, bool | IntegerAttribute | FloatAttribute):
            return attribute
        raise self._refuse()


class ConstantLike(Op, op="constant_like", dialect="chlo"):
    """A tensor with the shape of `operand` whose elements are all `value`."""

    value = Attr(_Number())
    operand = In(tensor)
    result = Out(tensor)

    @staticmethod
    def infer(value: Any, operand: Any) -> Any:
        return with_element_type(operand, type_of(value))

    @staticmethod
    def constraints(C: Any, value: Any, operand: Any, result: Any) -> None:
        C(1, type_of(value) == element_type(result))
        C(2, shape(operand) == shape(result))

    @staticmethod
    def plan(value: Any, result: Any) -> Kernel:
        number = value if isinstance(value, bool) else value.value
        splat = np.broadcast_to(np.asarray(number).astype(numpy_dtype(element_type(result))), shape(result))

        def run(operand: Array) -> Array:
            return splat

        return run


def type_of(number: Any) -> Any:
    """The element type that a number was written with."""
    return BOOLEAN if isinstance(number, bool) else number.type
