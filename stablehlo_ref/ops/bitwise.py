"""Elementwise ops on the bits of booleans and integers."""

from __future__ import annotations

import operator

import numpy as np

from stablehlo_ref.define import In, Out
from stablehlo_ref.kinds import boolean_tensor, integer_tensor
from stablehlo_ref.numerics import integers, open_cases
from stablehlo_ref.numerics.integers import same
from stablehlo_ref.ops.elementwise import BinaryElementwise, UnaryElementwise


class BinaryBitwise(BinaryElementwise):
    lhs = In(boolean_tensor | integer_tensor)  # I1
    rhs = In(boolean_tensor | integer_tensor)  # I2
    result = Out(boolean_tensor | integer_tensor)

    commutative = True


class And(BinaryBitwise, op="and"):
    """The bits that are set in both `lhs` and `rhs`."""

    scalar = operator.and_
    boolean = same(np.logical_and)
    integer = integers.bitwise_and


class Or(BinaryBitwise, op="or"):
    """The bits that are set in `lhs` or `rhs`."""

    scalar = operator.or_
    boolean = same(np.logical_or)
    integer = integers.bitwise_or


class Xor(BinaryBitwise, op="xor"):
    """The bits that are set in one of `lhs` and `rhs`."""

    scalar = operator.xor
    boolean = same(np.not_equal)
    integer = integers.bitwise_xor


class Not(UnaryElementwise, op="not"):
    """The bits that are not set in `operand`."""

    operand = In(boolean_tensor | integer_tensor)  # I1
    result = Out(boolean_tensor | integer_tensor)

    scalar = operator.invert
    boolean = same(np.logical_not)
    integer = integers.bitwise_not


class Shift(BinaryElementwise):
    """By `rhs` bits as an unsigned number; where that is the bit width or more, all bits are shifted out."""

    lhs = In(integer_tensor)  # I1
    rhs = In(integer_tensor)  # I2
    result = Out(integer_tensor)

    open = open_cases.shift


class ShiftLeft(Shift, op="shift_left"):
    """`lhs` with its bits moved up by `rhs`, zeros coming in."""

    integer = integers.shift_left


class ShiftRightArithmetic(Shift, op="shift_right_arithmetic"):
    """`lhs` with its bits moved down by `rhs`, copies of the uppermost bit coming in."""

    integer = integers.shift_right_arithmetic


class ShiftRightLogical(Shift, op="shift_right_logical"):
    """`lhs` with its bits moved down by `rhs`, zeros coming in."""

    integer = integers.shift_right_logical


class BitCount(UnaryElementwise):
    operand = In(integer_tensor)  # I1
    result = Out(integer_tensor)


class CountLeadingZeros(BitCount, op="count_leading_zeros"):
    """The number of zero bits above the uppermost one bit."""

    integer = integers.count_leading_zeros


class Popcnt(BitCount, op="popcnt"):
    """The number of one bits."""

    integer = integers.popcnt
