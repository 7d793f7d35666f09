"""MLIR's arith dialect: arithmetic on scalars and tensors.

Floats are rounded to nearest even; other rounding modes are not supported.
Integers are signless: an op whose result depends on the sign has a signed and an unsigned form. Where MLIR's result is
undefined or poison, these ops return what StableHLO's do: `x / 0` has all bits set, `x % 0` is `x`, and shifts by the
bit width or more shift all bits out. The same holds for i1, where `true` is 1 as unsigned and -1 as signed integer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from stablehlo_ref.define.assembly import AsmParser, AsmPrinter, Directive, Draft, Irregular, member_value
from stablehlo_ref.define.attribute_codecs import NO_FAST_MATH, NO_OVERFLOW, FastMath, Opaque, Overflow
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.facts import CONSTANT, EXACT, SELECTS, divides_by_zero, rounds
from stablehlo_ref.define.mode import Mode
from stablehlo_ref.define.op import Attr, In, Op, Out
from stablehlo_ref.define.spec import num_bits
from stablehlo_ref.define.type_constraints import anything
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.dialects.mlir_types import FLAGS, constant_value, float_like, integer_like, type_of
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.attributes import IntegerAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import BOOLEAN, Type, integer_type
from stablehlo_ref.numerics import floats, integers
from stablehlo_ref.numerics.dtypes import bit_width, bits_dtype, is_signed
from stablehlo_ref.numerics.kernels import same_kernel
from stablehlo_ref.ops.elementwise import Elementwise

Factory: TypeAlias = Callable[[DType], Run]  # from the dtype of the operands to a kernel

NEAREST_EVEN = IntegerAttribute(0, integer_type(32))
I1_QUOTIENT = same_kernel(np.greater_equal)  # x / 1 = x, and x / 0 has all bits set
I1_REMAINDER = same_kernel(np.greater)  # x % 1 = 0 and x % 0 = x; also x << y and the logical x >> y


class TypedValue(Directive):
    """`dense<...> : type`, `5 : index`, `true`: a constant, whose type is that of the result."""

    members = ("value",)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        offset, value = parser.start, parser.attribute()
        type = BOOLEAN if isinstance(value, bool) else getattr(value, "type", None)
        if type is None:
            raise parser.error("expected a constant with a type", offset)
        draft.members["value"], draft.result_types = value, (type,)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        value = member_value(op, "value")
        if op.result_types != [BOOLEAN if isinstance(value, bool) else value.type]:
            raise Irregular
        printer.value(printer.attribute(value))


class Constant(Op, op="constant", dialect="arith", computes_on_storage=True, facts=CONSTANT):
    """Return the constant `value`, a scalar or a tensor."""

    value = Attr(Opaque)
    result = Out(anything)

    syntax = ("attr-dict", TypedValue())

    @staticmethod
    def constraints(C: Checker, value: Opaque, result: Type) -> None:
        C(1, type_of(value) == result)
        if isinstance(value, IntegerAttribute):
            C(2, -(2 ** (num_bits(result) - 1)) <= value.value < 2 ** num_bits(result))

    @staticmethod
    def plan(value: Opaque, result: Type) -> Run:
        array = constant_value(value, result)
        return lambda: array


# --- two operands of one type ---------------------------------------------------------------------------------------


def unsigned(factory: Factory) -> Factory:
    """Return a factory of kernels that interpret integer operands as unsigned."""

    def make(dtype: DType) -> Run:
        natural = unsigned_dtype(dtype)
        kernel = factory(natural)
        return lambda *operands: kernel(*[x.view(natural) for x in operands]).view(dtype)

    return make


def unsigned_dtype(dtype: DType) -> DType:
    """Return the unsigned dtype of the same width."""
    return np.dtype(f"u{dtype.name}") if bit_width(dtype) < 8 and is_signed(dtype) else bits_dtype(dtype)


def rounded(up: bool) -> Factory:
    """Return a factory of integer division kernels that round toward +inf if `up`, else toward -inf.

    `x / 0` has all bits set, as in truncating division.
    """

    def make(dtype: DType) -> Run:
        divide, remainder = integers.divide(dtype), integers.remainder(dtype)
        step = (integers.add if up else integers.subtract)(dtype)

        def run(x: Array, y: Array) -> Array:
            rest = remainder(x, y)
            is_positive = np.equal(np.less(rest, 0), np.less(y, 0))  # the fraction that truncation discards
            adjusts = np.not_equal(rest, 0) & np.not_equal(y, 0) & np.equal(is_positive, up)
            quotient: Array = step(divide(x, y), adjusts.astype(dtype))
            return quotient

        return run

    return make


class Binary(Elementwise, dialect="arith", facts=EXACT):
    """The base class of ops on two scalars or tensors of one type."""

    lhs = In(integer_like)
    rhs = In(integer_like)
    overflow = Attr(Overflow, default=NO_OVERFLOW, name="overflowFlags")
    fastmath = Attr(FastMath, default=NO_FAST_MATH)
    result = Out(integer_like)

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


class AddI(Binary, op="addi"):
    """Add integers modulo 2**bit width."""

    boolean = same_kernel(np.not_equal)
    integer = integers.add


class SubI(Binary, op="subi"):
    """Subtract integers modulo 2**bit width."""

    boolean = same_kernel(np.not_equal)
    integer = integers.subtract


class MulI(Binary, op="muli"):
    """Multiply integers modulo 2**bit width."""

    boolean = same_kernel(np.logical_and)
    integer = integers.multiply


class DivSI(Binary, op="divsi"):
    """Divide signed integers, rounding toward zero."""

    is_exact = Attr(Opaque, default=None, name="isExact")

    boolean = I1_QUOTIENT
    integer = integers.divide


class DivUI(Binary, op="divui"):
    """Divide unsigned integers, rounding toward zero."""

    is_exact = Attr(Opaque, default=None, name="isExact")

    boolean = I1_QUOTIENT
    integer = unsigned(integers.divide)


class FloorDivSI(Binary, op="floordivsi"):
    """Divide signed integers, rounding toward -inf."""

    boolean = I1_QUOTIENT
    integer = rounded(up=False)


class CeilDivSI(Binary, op="ceildivsi"):
    """Divide signed integers, rounding toward +inf."""

    boolean = I1_QUOTIENT
    integer = rounded(up=True)


class CeilDivUI(Binary, op="ceildivui"):
    """Divide unsigned integers, rounding up."""

    boolean = I1_QUOTIENT
    integer = unsigned(rounded(up=True))


class RemSI(Binary, op="remsi"):
    """Return the remainder of signed integer division, with the sign of `lhs`."""

    boolean = I1_REMAINDER
    integer = integers.remainder


class RemUI(Binary, op="remui"):
    """Return the remainder of unsigned integer division."""

    boolean = I1_REMAINDER
    integer = unsigned(integers.remainder)


class AndI(Binary, op="andi"):
    """Return the bitwise and."""

    boolean = same_kernel(np.logical_and)
    integer = integers.bitwise_and


class OrI(Binary, op="ori"):
    """Return the bitwise or."""

    boolean = same_kernel(np.logical_or)
    integer = integers.bitwise_or


class XOrI(Binary, op="xori"):
    """Return the bitwise exclusive or."""

    boolean = same_kernel(np.not_equal)
    integer = integers.bitwise_xor


class ShLI(Binary, op="shli"):
    """Shift `lhs` left by `rhs` bits."""

    boolean = I1_REMAINDER
    integer = integers.shift_left


class ShRSI(Binary, op="shrsi"):
    """Shift `lhs` right by `rhs` bits, filling with the sign bit."""

    is_exact = Attr(Opaque, default=None, name="isExact")

    boolean = same_kernel(lambda x, y: x)
    integer = integers.shift_right_arithmetic


class ShRUI(Binary, op="shrui"):
    """Shift `lhs` right by `rhs` bits, filling with zeros."""

    is_exact = Attr(Opaque, default=None, name="isExact")

    boolean = I1_REMAINDER
    integer = integers.shift_right_logical


class MaxSI(Binary, op="maxsi"):
    """Return the maximum of signed integers."""

    boolean = same_kernel(np.logical_and)
    integer = integers.maximum


class MaxUI(Binary, op="maxui"):
    """Return the maximum of unsigned integers."""

    boolean = same_kernel(np.logical_or)
    integer = unsigned(integers.maximum)


class MinSI(Binary, op="minsi"):
    """Return the minimum of signed integers."""

    boolean = same_kernel(np.logical_or)
    integer = integers.minimum


class MinUI(Binary, op="minui"):
    """Return the minimum of unsigned integers."""

    boolean = same_kernel(np.logical_and)
    integer = unsigned(integers.minimum)


class BinaryF(Binary, facts=rounds()):
    """The base class of ops on two floats or float tensors of one type."""

    lhs = In(float_like)
    rhs = In(float_like)
    result = Out(float_like)


class RoundedF(BinaryF):
    """The base class of ops on two floats whose result is rounded."""

    rounding_mode = Attr(Opaque, default=None, name="roundingmode")

    @classmethod
    def plan(cls, mode: Mode, lhs: Type, rounding_mode: Opaque | None) -> Run:
        check_rounding(rounding_mode)
        return cls.kernel(lhs, mode)


def check_rounding(mode: Opaque | None) -> None:
    """Raise UnsupportedError for a rounding mode other than to nearest even."""
    if mode not in (None, NEAREST_EVEN):
        raise UnsupportedError("unsupported rounding mode; expected to_nearest_even, or none")


class AddF(RoundedF, op="addf", facts=rounds(adds=True)):
    """Add floats."""

    floating = floats.add


class SubF(RoundedF, op="subf", facts=rounds(adds=True)):
    """Subtract floats."""

    floating = floats.subtract


class MulF(RoundedF, op="mulf", facts=rounds(underflow="unless zero")):
    """Multiply floats."""

    floating = floats.multiply


class DivF(RoundedF, op="divf", facts=rounds(pole=divides_by_zero, underflow="unless zero")):
    """Divide floats."""

    floating = floats.divide


class RemF(BinaryF, op="remf", facts=EXACT):
    """Return the remainder of float division, with the sign of `lhs`."""

    floating = floats.remainder


class MaximumF(BinaryF, op="maximumf", facts=SELECTS):
    """Return the maximum of floats; NaN if either is NaN."""

    floating = floats.maximum


class MinimumF(BinaryF, op="minimumf", facts=SELECTS):
    """Return the minimum of floats; NaN if either is NaN."""

    floating = floats.minimum


def ignoring_nan(choose: Run) -> Factory:
    """Return a factory of kernels that return the other operand where one is NaN.

    `np.fmax` and `np.fmin` cannot be used: they return NaN for a signaling NaN.
    """

    def run(x: Array, y: Array) -> Array:
        result: Array = np.where(np.isnan(x), y, np.where(np.isnan(y), x, choose(x, y)))[()]
        return result

    return floats.binary(same_kernel(run))


class MaxNumF(BinaryF, op="maxnumf", facts=SELECTS):
    """Return the maximum of floats; the other operand if one is NaN."""

    floating = ignoring_nan(np.maximum)


class MinNumF(BinaryF, op="minnumf", facts=SELECTS):
    """Return the minimum of floats; the other operand if one is NaN."""

    floating = ignoring_nan(np.minimum)


class NegF(Elementwise, op="negf", dialect="arith", nans="moved", facts=SELECTS):
    """Negate a float."""

    operand = In(float_like)
    fastmath = Attr(FastMath, default=NO_FAST_MATH)
    result = Out(float_like)

    floating = floats.negate

    syntax = ("operands", FLAGS, "attr-dict : same_type")

    @staticmethod
    def infer(operand: Type) -> Type:
        return operand

    @staticmethod
    def constraints(C: Checker, operand: Type, result: Type) -> None:
        C(1, operand == result)

    @classmethod
    def plan(cls, mode: Mode, operand: Type) -> Run:
        return cls.kernel(operand, mode)
