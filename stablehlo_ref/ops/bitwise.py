"""Elementwise ops on the bits of booleans and integers."""

from __future__ import annotations

import operator

import numpy as np

from stablehlo_ref.define.facts import EXACT
from stablehlo_ref.define.op import In, Out
from stablehlo_ref.define.type_constraints import boolean_tensor, integer_tensor
from stablehlo_ref.numerics import implementation_defined, integers
from stablehlo_ref.numerics.kernels import same_kernel
from stablehlo_ref.ops.elementwise import BinaryElementwise, UnaryElementwise


class BinaryBitwise(BinaryElementwise, commutative=True, facts=EXACT):
    """Base of the commutative ops on two operands of booleans or integers."""

    lhs = In(boolean_tensor | integer_tensor)  # I1
    rhs = In(boolean_tensor | integer_tensor)  # I2
    result = Out(boolean_tensor | integer_tensor)


class And(BinaryBitwise, op="and"):
    """Compute the AND of `lhs` and `rhs`: logical on booleans, bitwise on integers."""

    scalar = operator.and_
    boolean = same_kernel(np.logical_and)
    integer = integers.bitwise_and


class Or(BinaryBitwise, op="or"):
    """Compute the OR of `lhs` and `rhs`: logical on booleans, bitwise on integers."""

    scalar = operator.or_
    boolean = same_kernel(np.logical_or)
    integer = integers.bitwise_or


class Xor(BinaryBitwise, op="xor"):
    """Compute the XOR of `lhs` and `rhs`: logical on booleans, bitwise on integers."""

    scalar = operator.xor
    boolean = same_kernel(np.not_equal)
    integer = integers.bitwise_xor


class Not(UnaryElementwise, op="not", facts=EXACT):
    """Compute the NOT of `operand`: logical on booleans, bitwise on integers."""

    operand = In(boolean_tensor | integer_tensor)  # I1
    result = Out(boolean_tensor | integer_tensor)

    scalar = operator.invert
    boolean = same_kernel(np.logical_not)
    integer = integers.bitwise_not


class Shift(BinaryElementwise, facts=EXACT):
    """Base of shifts of `lhs` by `rhs` bits.

    `rhs` is read as unsigned. A shift by the bit width or more, which is implementation-defined, shifts out all bits.
    """

    lhs = In(integer_tensor)  # I1
    rhs = In(integer_tensor)  # I2
    result = Out(integer_tensor)

    choices = implementation_defined.shift


class ShiftLeft(Shift, op="shift_left"):
    """Shift `lhs` left by `rhs` bits, filling with zeros."""

    integer = integers.shift_left


class ShiftRightArithmetic(Shift, op="shift_right_arithmetic"):
    """Shift `lhs` right by `rhs` bits, filling with copies of the most significant bit."""

    integer = integers.shift_right_arithmetic


class ShiftRightLogical(Shift, op="shift_right_logical"):
    """Shift `lhs` right by `rhs` bits, filling with zeros."""

    integer = integers.shift_right_logical


class BitCount(UnaryElementwise, facts=EXACT):
    """Base of the ops that count bits of each integer."""

    operand = In(integer_tensor)  # I1
    result = Out(integer_tensor)


class CountLeadingZeros(BitCount, op="count_leading_zeros"):
    """Count the leading zero bits of each element."""

    integer = integers.count_leading_zeros


class Popcnt(BitCount, op="popcnt"):
    """Count the set bits of each element."""

    integer = integers.popcnt
