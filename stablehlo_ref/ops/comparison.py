"""Elementwise ops that compare, select, and work on bits."""

from __future__ import annotations

import operator
from enum import Enum

import numpy as np

from stablehlo_ref.define.assembly import Deduced
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.facts import CHOOSES, EXACT, SELECTS
from stablehlo_ref.define.mode import Mode
from stablehlo_ref.define.op import Attr, In, Out, type_of
from stablehlo_ref.define.spec import (
    baseline_element_type,
    baseline_type,
    compatible,
    element_type,
    is_complex,
    is_float,
    rank,
    shape,
    with_element_type,
)
from stablehlo_ref.define.type_constraints import (
    boolean_tensor,
    float_tensor,
    integer_tensor,
    per_tensor_quantized,
    tensor,
)
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.types import BOOLEAN, TensorType
from stablehlo_ref.numerics import complexes, floats, implementation_defined, integers
from stablehlo_ref.numerics.blocks import select
from stablehlo_ref.numerics.dtypes import kind, numpy_dtype
from stablehlo_ref.numerics.kernels import same_kernel
from stablehlo_ref.ops.elementwise import BinaryElementwise, Elementwise, UnaryElementwise


class ComparisonDirection(Enum):
    """The comparison, and its Python operator."""

    EQ = "=="
    NE = "!="
    GE = ">="
    GT = ">"
    LE = "<="
    LT = "<"


class ComparisonType(Enum):
    """How elements are compared; only TOTALORDER differs from what the element type implies."""

    FLOAT = "FLOAT"
    TOTALORDER = "TOTALORDER"
    SIGNED = "SIGNED"
    UNSIGNED = "UNSIGNED"
    NOTYPE = "NOTYPE"


class Compare(Elementwise, op="compare", facts=EXACT):
    """Compare `lhs` and `rhs` by `comparison_direction`.

    Floats compare as in IEEE 754, where NaN is unordered, or by the total order with `compare_type` TOTALORDER.
    """

    lhs = In(tensor | per_tensor_quantized)  # I1
    rhs = In(tensor | per_tensor_quantized)  # I2
    comparison_direction = Attr(ComparisonDirection)  # I3
    compare_type = Attr(ComparisonType, default=None)  # I4
    result = Out(boolean_tensor)

    syntax = "$comparison_direction, operands (, $compare_type)? attr-dict : functional_type"

    @staticmethod
    def infer(lhs: TensorType) -> TensorType:
        return with_element_type(lhs, BOOLEAN)

    @staticmethod
    def constraints(
        C: Checker, lhs: TensorType, rhs: TensorType, compare_type: ComparisonType | None, result: TensorType
    ) -> None:
        C(1, baseline_element_type(lhs) == baseline_element_type(rhs))
        C(2, shape(lhs) == shape(rhs) == shape(result))
        # The compare type that the spec requires follows from the element type; programs that state another one are
        # accepted, as by MLIR, and it is ignored.
        C(3, compare_type != ComparisonType.TOTALORDER or not is_complex(lhs))

    @classmethod
    def plan(
        cls, lhs: TensorType, comparison_direction: ComparisonDirection, compare_type: ComparisonType | None
    ) -> Run:
        dtype, direction = numpy_dtype(element_type(lhs)), comparison_direction.name
        is_total = compare_type == ComparisonType.TOTALORDER and is_float(lhs)
        if rank(lhs) == 0 and dtype.kind in "biuf" and not is_total:
            scalar: Run = getattr(operator, direction.lower())
            return scalar
        if is_total:
            return floats.compare(direction, "TOTALORDER")(dtype)
        compare = {"floating": floats.compare, "complex": complexes.compare}.get(kind(dtype), integers.compare)
        return compare(direction)(dtype)


class IsFinite(Elementwise, op="is_finite", facts=EXACT):
    """Return whether each element is finite: neither infinite nor NaN."""

    x = In(float_tensor | per_tensor_quantized)  # I1
    y = Out(boolean_tensor)

    syntax = "operands attr-dict : functional_type"

    floating = floats.is_finite

    @staticmethod
    def infer(x: TensorType) -> TensorType:
        return with_element_type(x, BOOLEAN)

    @staticmethod
    def constraints(C: Checker, x: TensorType, y: TensorType) -> None:
        C(1, shape(x) == shape(y))

    @classmethod
    def plan(cls, mode: Mode, x: TensorType) -> Run:
        return cls.kernel(x, mode)


class Select(Elementwise, op="select", nans="moved", facts=CHOOSES):
    """Select the element of `on_true` where `pred` is true, else that of `on_false`."""

    pred = In(boolean_tensor)  # I1
    on_true = In(tensor | per_tensor_quantized)  # I2
    on_false = In(tensor | per_tensor_quantized)  # I3
    result = Out(tensor | per_tensor_quantized)

    syntax = (
        "operands attr-dict :",
        Deduced(
            lambda operands, results: [*operands[:1], *results[:1]],
            lambda pred, type, n: ([pred] + [type] * (n - 1), [type]),
            ",",
            is_short=True,
        ),
    )

    infer = type_of("on_true")

    @staticmethod
    def constraints(
        C: Checker, pred: TensorType, on_true: TensorType, on_false: TensorType, result: TensorType
    ) -> None:
        C(1, rank(pred) == 0 or shape(pred) == shape(on_true))
        C(2, compatible(baseline_type(on_true), baseline_type(on_false), baseline_type(result)))

    @classmethod
    def plan(cls, pred: TensorType, on_true: TensorType) -> Run:
        kernel = select(numpy_dtype(element_type(on_true)))
        if not 0 < rank(pred) < rank(on_true):
            return kernel
        return lambda pred, on_true, on_false: kernel(per_lane(pred, on_true), on_true, on_false)


class Clamp(Elementwise, op="clamp", facts=SELECTS):
    """Clamp `operand` between `min` and `max`: `minimum(maximum(operand, min), max)`."""

    min = In(tensor | per_tensor_quantized)  # I1
    operand = In(tensor | per_tensor_quantized)  # I2
    max = In(tensor | per_tensor_quantized)  # I3
    result = Out(tensor | per_tensor_quantized)

    syntax = "operands attr-dict : same_type"

    boolean = integers.clamp
    integer = integers.clamp
    floating = floats.clamp
    complex = complexes.clamp

    infer = type_of("operand")

    @staticmethod
    def constraints(C: Checker, min: TensorType, operand: TensorType, max: TensorType, result: TensorType) -> None:
        C(1, rank(min) == 0 or shape(min) == shape(operand))
        C(2, rank(max) == 0 or shape(max) == shape(operand))
        C(3, baseline_element_type(min) == baseline_element_type(operand) == baseline_element_type(max))
        C(4, compatible(baseline_type(operand), baseline_type(result)))

    @classmethod
    def plan(cls, mode: Mode, min: TensorType, operand: TensorType, max: TensorType) -> Run:
        clamp = cls.kernel(operand, mode)
        if rank(min) in (0, rank(operand)) and rank(max) in (0, rank(operand)):
            return clamp
        return lambda min, operand, max: clamp(per_lane(min, operand), operand, per_lane(max, operand))


def per_lane(x: Array, whole: Array) -> Array:
    """Reshape `x`, in a batched region one scalar per lane, so that it broadcasts against the lanes of `whole`."""
    return x.reshape(-1, *[1] * (whole.ndim - 1)) if 0 < x.ndim < whole.ndim else x


# --- bits of booleans and integers -----------------------------------------------------------------------------------


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
