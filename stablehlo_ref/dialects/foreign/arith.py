"""MLIR's arith dialect: arithmetic on numbers and tensors. Integers have no sign; ops that need one say which.

What MLIR leaves open is as in StableHLO's own ops: `x / 0` has all bits set, the remainder is then `x`, and shifts by
the bit width or more shift everything out; so of booleans too, where `true` is 1, or -1 if it has a sign.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from stablehlo_ref.define import Attr, In, Op, Out
from stablehlo_ref.dialects.foreign.values import (
    Array,
    Run,
    float_like,
    integer_like,
    number,
    type_of,
)
from stablehlo_ref.ir.attributes import IntegerAttribute
from stablehlo_ref.kinds import Opaque, anything
from stablehlo_ref.numerics import floats, integers
from stablehlo_ref.numerics.dtypes import bit_width, bits_dtype, is_signed
from stablehlo_ref.ops.elementwise import Elementwise
from stablehlo_ref.spec import compatible, num_bits

DType = np.dtype[Any]
Factory = Callable[[DType], Run]

QUOTIENT_OF_BITS = integers.same(np.greater_equal)  # x / 1 is x, and x / 0 has all bits set
REMAINDER_OF_BITS = integers.same(np.greater)  # x rem 1 is 0, and x rem 0 is x; a shift by 1 or 0 gives the same


class Constant(Op, op="constant", dialect="arith"):
    """A number or a tensor."""

    on_storage = True
    value = Attr(Opaque)
    result = Out(anything)

    syntax = "attr-dict custom(typed_value)"

    @staticmethod
    def constraints(C: Any, value: Any, result: Any) -> None:
        C(1, type_of(value) == result)
        if isinstance(value, IntegerAttribute):
            C(2, -(2 ** (num_bits(result) - 1)) <= value.value < 2 ** num_bits(result))

    @staticmethod
    def plan(value: Any, result: Any) -> Run:
        known = number(value, result)
        return lambda: known


# --- two operands of one type ---------------------------------------------------------------------------------------


def unsigned(factory: Factory) -> Factory:
    """Kernels that take integers as having no sign."""

    def made(dtype: DType) -> Run:
        natural = unsigned_dtype(dtype)
        kernel = factory(natural)
        return lambda *operands: kernel(*[x.view(natural) for x in operands]).view(dtype)

    return made


def unsigned_dtype(dtype: DType) -> DType:
    return np.dtype(f"u{dtype.name}") if bit_width(dtype) < 8 and is_signed(dtype) else bits_dtype(dtype)


def rounded(up: bool) -> Factory:
    """Kernels of quotients rounded up or else down, instead of toward zero; x / 0 has all bits set all the same."""

    def made(dtype: DType) -> Run:
        divide, remainder = integers.divide(dtype), integers.remainder(dtype)
        step = (integers.add if up else integers.subtract)(dtype)

        def run(x: Array, y: Array) -> Array:
            rest = remainder(x, y)
            is_above = np.equal(np.less(rest, 0), np.less(y, 0))  # the quotient that has been cut off
            is_off = np.not_equal(rest, 0) & np.not_equal(y, 0) & np.equal(is_above, up)
            return step(divide(x, y), is_off.astype(dtype))

        return run

    return made


class Binary(Elementwise, dialect="arith"):
    """The base of ops on two numbers, or tensors of them."""

    lhs = In(integer_like)
    rhs = In(integer_like)
    overflow = Attr(Opaque, default=None, name="overflowFlags")
    fastmath = Attr(Opaque, default=None)
    result = Out(integer_like)

    syntax = "operands custom(arith_flags) attr-dict : same_type"

    @staticmethod
    def infer(lhs: Any) -> Any:
        return lhs

    @staticmethod
    def constraints(C: Any, lhs: Any, rhs: Any, result: Any) -> None:
        C(1, compatible(lhs, rhs, result))

    @classmethod
    def plan(cls, lhs: Any) -> Run:
        return cls.kernel(lhs)


class AddI(Binary, op="addi"):
    """The sum, modulo two to the bit width."""

    boolean = integers.same(np.not_equal)
    integer = integers.add


class SubI(Binary, op="subi"):
    """The difference, modulo two to the bit width."""

    boolean = integers.same(np.not_equal)
    integer = integers.subtract


class MulI(Binary, op="muli"):
    """The product, modulo two to the bit width."""

    boolean = integers.same(np.logical_and)
    integer = integers.multiply


class DivSI(Binary, op="divsi"):
    """The quotient of signed integers, rounded toward zero."""

    boolean = QUOTIENT_OF_BITS
    integer = integers.divide


class DivUI(Binary, op="divui"):
    """The quotient of unsigned integers, rounded down."""

    boolean = QUOTIENT_OF_BITS
    integer = unsigned(integers.divide)


class FloorDivSI(Binary, op="floordivsi"):
    """The quotient of signed integers, rounded down."""

    boolean = QUOTIENT_OF_BITS
    integer = rounded(up=False)


class CeilDivSI(Binary, op="ceildivsi"):
    """The quotient of signed integers, rounded up."""

    boolean = QUOTIENT_OF_BITS
    integer = rounded(up=True)


class CeilDivUI(Binary, op="ceildivui"):
    """The quotient of unsigned integers, rounded up."""

    boolean = QUOTIENT_OF_BITS
    integer = unsigned(rounded(up=True))


class RemSI(Binary, op="remsi"):
    """The remainder of signed integers, with the sign of `lhs`."""

    boolean = REMAINDER_OF_BITS
    integer = integers.remainder


class RemUI(Binary, op="remui"):
    """The remainder of unsigned integers."""

    boolean = REMAINDER_OF_BITS
    integer = unsigned(integers.remainder)


class AndI(Binary, op="andi"):
    """The bits that are set in both."""

    boolean = integers.same(np.logical_and)
    integer = integers.bitwise_and


class OrI(Binary, op="ori"):
    """The bits that are set in one or both."""

    boolean = integers.same(np.logical_or)
    integer = integers.bitwise_or


class XOrI(Binary, op="xori"):
    """The bits that are set in one of them."""

    boolean = integers.same(np.not_equal)
    integer = integers.bitwise_xor


class ShLI(Binary, op="shli"):
    """`lhs` shifted left."""

    boolean = REMAINDER_OF_BITS
    integer = integers.shift_left


class ShRSI(Binary, op="shrsi"):
    """`lhs` shifted right, its sign coming after."""

    boolean = integers.same(lambda x, y: x)
    integer = integers.shift_right_arithmetic


class ShRUI(Binary, op="shrui"):
    """`lhs` shifted right, zeros coming after."""

    boolean = REMAINDER_OF_BITS
    integer = integers.shift_right_logical


class MaxSI(Binary, op="maxsi"):
    """The larger of signed integers."""

    boolean = integers.same(np.logical_and)
    integer = integers.maximum


class MaxUI(Binary, op="maxui"):
    """The larger of unsigned integers."""

    boolean = integers.same(np.logical_or)
    integer = unsigned(integers.maximum)


class MinSI(Binary, op="minsi"):
    """The smaller of signed integers."""

    boolean = integers.same(np.logical_or)
    integer = integers.minimum


class MinUI(Binary, op="minui"):
    """The smaller of unsigned integers."""

    boolean = integers.same(np.logical_and)
    integer = unsigned(integers.minimum)


class BinaryF(Binary):
    lhs = In(float_like)
    rhs = In(float_like)
    result = Out(float_like)


class AddF(BinaryF, op="addf"):
    """The sum."""

    floating = floats.add


class SubF(BinaryF, op="subf"):
    """The difference."""

    floating = floats.subtract


class MulF(BinaryF, op="mulf"):
    """The product."""

    floating = floats.multiply


class DivF(BinaryF, op="divf"):
    """The quotient."""

    floating = floats.divide


class RemF(BinaryF, op="remf"):
    """The remainder, with the sign of `lhs`."""

    floating = floats.remainder


class MaximumF(BinaryF, op="maximumf"):
    """The larger number, NaN if one of them is."""

    floating = floats.maximum


class MinimumF(BinaryF, op="minimumf"):
    """The smaller number, NaN if one of them is."""

    floating = floats.minimum


def number_of(choose: Run) -> Factory:
    """Kernels that give the number of a number and NaN; `np.fmax` gives a NaN where one is signaling."""

    def run(x: Array, y: Array) -> Array:
        return np.where(np.isnan(x), y, np.where(np.isnan(y), x, choose(x, y)))[()]

    return floats.binary(floats.same(run))


class MaxNumF(BinaryF, op="maxnumf"):
    """The larger number; of a number and NaN the number."""

    floating = number_of(np.maximum)


class MinNumF(BinaryF, op="minnumf"):
    """The smaller number; of a number and NaN the number."""

    floating = number_of(np.minimum)


class NegF(Elementwise, op="negf", dialect="arith"):
    """The negative."""

    operand = In(float_like)
    fastmath = Attr(Opaque, default=None)
    result = Out(float_like)

    floating = floats.negate

    syntax = "operands custom(arith_flags) attr-dict : same_type"

    @staticmethod
    def infer(operand: Any) -> Any:
        return operand

    @staticmethod
    def constraints(C: Any, operand: Any, result: Any) -> None:
        C(1, compatible(operand, result))

    @classmethod
    def plan(cls, operand: Any) -> Run:
        return cls.kernel(operand)
