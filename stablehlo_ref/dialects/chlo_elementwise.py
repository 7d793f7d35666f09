"""CHLO's elementwise ops: unary and binary functions, predicates and constants.

CHLO has no spec; constraints of its ops are numbered from C1 within each op, in the order in which they are checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypeAlias

import numpy as np

from stablehlo_ref.define.attribute_codecs import AttributeCodec, Dense
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.facts import (
    ALGORITHM,
    EXACT,
    LEAST_OF_LGAMMA,
    MOVES,
    Facts,
    above_zero,
    between_poles_of_tangent,
    function,
    is_natural_negated,
    is_one,
    rounds,
)
from stablehlo_ref.define.op import Attr, In, Op, Out
from stablehlo_ref.define.spec import compatible, element_type, shape, with_element_type
from stablehlo_ref.define.type_constraints import (
    boolean_tensor,
    complex_tensor,
    float_tensor,
    integer_tensor,
    of_any_rank,
    tensor,
)
from stablehlo_ref.dialects.mlir_types import define
from stablehlo_ref.ir.attributes import FloatAttribute, IntegerAttribute
from stablehlo_ref.ir.types import BOOLEAN, FLOATS, NONE, TensorType, Type, integer_type
from stablehlo_ref.numerics import complex_elementary, complexes, elementary, floats, implementation_defined, special
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.integers import mulhi
from stablehlo_ref.numerics.kernels import KernelFactory, same_kernel
from stablehlo_ref.ops import constants
from stablehlo_ref.ops.elementwise import BinaryElementwise, UnaryElementwise

float_or_complex = float_tensor | complex_tensor
MONOTONE = function(monotone=True)


class Function(UnaryElementwise, dialect="chlo", facts=MONOTONE):
    """The base class of functions of one operand."""

    operand = In(of_any_rank(float_or_complex))
    result = Out(of_any_rank(float_or_complex))

    syntax = "operands attr-dict : type(operands) -> type(results)"

    @staticmethod
    def constraints(C: Checker, operand: TensorType, result: TensorType) -> None:
        C(1, compatible(operand, result))


class RealFunction(Function):
    """The base class of functions that are defined for real operands only."""

    operand = In(of_any_rank(float_tensor))
    result = Out(of_any_rank(float_tensor))


# --- functions ------------------------------------------------------------------------------------------------------


class AsinAcosKernel(Function, op="_asin_acos_kernel", facts=ALGORITHM):
    """Compute the value w from which asin and acos of a complex number z follow.

    asin(z) = atan2(Re z, Re w) + i sign(Im z) Im w, acos(z) = atan2(Re w, Re z) - i sign(Im z) Im w.
    """

    operand = In(of_any_rank(complex_tensor))
    result = Out(of_any_rank(complex_tensor))

    complex = complex_elementary.asin_acos_kernel


Row: TypeAlias = tuple[str, KernelFactory, KernelFactory | None, Facts]
# The documentation of functions, their kernels for real and for complex operands, if they have such, and their facts.
ROWS: Mapping[str, Row] = {
    "acos": ("Compute the arc cosine of each element, in [0, pi] for real operands.",
             elementary.acos, complex_elementary.acos, MONOTONE),
    "acosh": ("Compute the inverse hyperbolic cosine of each element; NaN for real operands below 1.",
              elementary.acosh, complex_elementary.acosh, MONOTONE),
    "asin": ("Compute the arc sine of each element, in [-pi/2, pi/2] for real operands.",
             elementary.asin, complex_elementary.asin, MONOTONE),
    "asinh": ("Compute the inverse hyperbolic sine of each element.",
              elementary.asinh, complex_elementary.asinh, MONOTONE),
    "atan": ("Compute the arc tangent of each element, in [-pi/2, pi/2] for real operands.",
             elementary.atan, complex_elementary.atan, MONOTONE),
    "atanh": ("Compute the inverse hyperbolic tangent of each element; NaN for real operands outside [-1, 1].",
              elementary.atanh, complex_elementary.atanh, function(monotone=True, pole=is_one)),
    "cosh": ("Compute the hyperbolic cosine of each element.",
             elementary.cosh, complex_elementary.cosh, function(monotone=True, least=(0.0, 1.0))),
    "sinh": ("Compute the hyperbolic sine of each element.", elementary.sinh, complex_elementary.sinh, MONOTONE),
    "tan": ("Compute the tangent of each element.",
            elementary.tan, complex_elementary.tan, function(monotone=between_poles_of_tangent)),
    "erf": ("Compute the error function: 2 / sqrt(pi) times the integral of exp(-t*t) from 0 to each element.",
            special.erf, None, MONOTONE),
    "erf_inv": ("Compute the inverse error function of each element; infinite at -1 and 1, NaN outside [-1, 1].",
                special.erf_inv, None, function(monotone=True, pole=is_one)),
    "erfc": ("Compute one minus the error function of each element, without cancellation for large elements.",
             special.erfc, None, function(monotone=True, underflow="always")),
    "lgamma": ("Compute the logarithm of the absolute value of the gamma function; "
               "+inf at its poles and at infinities.",
               special.lgamma, None,
               function(monotone=above_zero, least=LEAST_OF_LGAMMA, pole=is_natural_negated)),
}  # fmt: skip
FUNCTIONS = {
    mnemonic: define(Function if of_complex else RealFunction, mnemonic, doc, floating=of_reals, complex=of_complex,
                     facts=facts)
    for mnemonic, (doc, of_reals, of_complex, facts) in ROWS.items()
}  # fmt: skip


class BesselI1e(Function, op="bessel_i1e", facts=function(slope=0.5, underflow="unless zero")):
    """Compute exp(-|x|) I1(x) for each element x, where I1 is the modified Bessel function of the first kind."""

    floating = special.bessel_i1e


class Digamma(RealFunction, op="digamma", facts=function(monotone=above_zero, pole=is_natural_negated)):
    """Compute the logarithmic derivative of the gamma function; NaN at negative integers, infinite at 0."""

    floating = special.digamma
    choices = implementation_defined.digamma


class BinaryFunction(BinaryElementwise, dialect="chlo", facts=function()):
    """The base class of functions of two operands of the same type."""

    lhs = In(of_any_rank(float_tensor))
    rhs = In(of_any_rank(float_tensor))
    result = Out(of_any_rank(float_tensor))

    syntax = "operands attr-dict : type(operands) -> type(results)"

    @staticmethod
    def constraints(C: Checker, lhs: TensorType, rhs: TensorType, result: TensorType) -> None:
        C(1, compatible(lhs, rhs, result))


class NextAfter(BinaryFunction, op="next_after", facts=EXACT):
    """Return the next representable number after `lhs` in the direction of `rhs`; `rhs` if they are equal."""

    floating = floats.next_after


class Polygamma(
    BinaryFunction, op="polygamma", facts=function(pole=lambda n, x: is_natural_negated(x), underflow="always")
):
    """Compute the `lhs`-th derivative of the digamma function at `rhs`; NaN unless `lhs` is a natural number."""

    floating = special.polygamma
    choices = implementation_defined.polygamma


class Zeta(
    BinaryFunction, op="zeta", facts=function(pole=lambda x, q: (x == 1) | is_natural_negated(q), underflow="always")
):
    """Compute the Hurwitz zeta function: the sum of (rhs + k)**-lhs for k = 0, 1, 2, ...

    The result is NaN for lhs < 1, and for rhs < 0 unless lhs is an integer. At a pole it is the limit, or NaN if there
    is no limit.
    """

    floating = special.zeta
    choices = implementation_defined.zeta


# --- arithmetic -----------------------------------------------------------------------------------------------------


class Conj(Function, op="conj", nans="moved", facts=MOVES):
    """Compute the complex conjugate of each element; real elements are unchanged."""

    floating = same_kernel(lambda x: x)
    complex = complexes.conj


class Square(Function, op="square", facts=rounds(monotone=True, least=(0.0, 0.0), underflow="unless zero")):
    """Compute the square of each element."""

    floating = floats.square
    complex = complex_elementary.square


class Mulhi(BinaryFunction, op="mulhi", commutative=True, facts=EXACT):
    """Return the high half of the double-width product of two integers."""

    lhs = In(integer_tensor)
    rhs = In(integer_tensor)
    result = Out(integer_tensor)

    integer = mulhi


# --- predicates -----------------------------------------------------------------------------------------------------


class Predicate(UnaryElementwise, dialect="chlo", facts=EXACT):
    """The base class of predicates on floats."""

    operand = In(of_any_rank(float_tensor))
    result = Out(of_any_rank(boolean_tensor))

    syntax = "operands attr-dict : type(operands) -> type(results)"

    @staticmethod
    def infer(operand: TensorType) -> TensorType:
        return with_element_type(operand, BOOLEAN)

    @staticmethod
    def constraints(C: Checker, operand: TensorType, result: TensorType) -> None:
        C(1, shape(operand) == shape(result))


for mnemonic, doc, holds in (
    ("is_inf", "Return whether each element is infinite.", np.isinf),
    ("is_neg_inf", "Return whether each element is -inf.", lambda x: np.equal(x, -np.inf)),
    ("is_pos_inf", "Return whether each element is +inf.", lambda x: np.equal(x, np.inf)),
):
    define(Predicate, mnemonic, doc, floating=floats.predicate(holds))


# --- constants ------------------------------------------------------------------------------------------------------


class Constant(constants.Constant, op="constant", dialect="chlo"):
    """Return the constant tensor `value`."""

    syntax = "attr-dict $value"

    @staticmethod
    def constraints(C: Checker, value: Dense, output: TensorType) -> None:
        C(1, value.type == output)


Number: TypeAlias = bool | IntegerAttribute | FloatAttribute


class NumberCodec(AttributeCodec[Number]):
    """A typed number such as `1.5 : f32` or `true`, kept as an attribute."""

    name = "number"
    kinds = bool | IntegerAttribute | FloatAttribute
    samples = (FloatAttribute(1.5, FLOATS["f32"]), IntegerAttribute(-3, integer_type(32)), True)


NumberValue: TypeAlias = Annotated[Number, NumberCodec()]


class ConstantLike(Op, op="constant_like", dialect="chlo", facts=MOVES):
    """Return a tensor with the shape of `operand` whose elements are all `value`."""

    value = Attr(NumberValue)
    operand = In(of_any_rank(tensor))
    result = Out(of_any_rank(tensor))

    @staticmethod
    def infer(value: NumberValue, operand: TensorType) -> TensorType:
        return with_element_type(operand, type_of(value))

    @staticmethod
    def constraints(C: Checker, value: NumberValue, operand: TensorType, result: TensorType) -> None:
        C(1, type_of(value) == element_type(result))
        C(2, shape(operand) == shape(result))

    @staticmethod
    def plan(value: NumberValue, result: TensorType) -> Run:
        number = value if isinstance(value, bool) else value.value
        splat = np.broadcast_to(np.asarray(number).astype(numpy_dtype(element_type(result))), shape(result))
        return lambda operand: splat


def type_of(number: Number) -> Type:
    """Return the element type that a number was written with, `none` without one."""
    return BOOLEAN if isinstance(number, bool) else number.type or NONE
