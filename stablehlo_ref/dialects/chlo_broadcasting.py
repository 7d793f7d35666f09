"""CHLO's ops that broadcast their operands to a common shape, each the StableHLO op of its name on the results.

Without `broadcast_dimensions`, shapes are aligned at their last dimensions. With it, the operand of lower rank (the
first, if they are equal) has its dimension `i` at dimension `broadcast_dimensions[i]` of the other; for operands of one
shape it means nothing. Dimensions of size 1 are then repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from stablehlo_ref.define import Attr, In, Op, Out
from stablehlo_ref.dialects.chlo_elementwise import NextAfter, Polygamma, Zeta
from stablehlo_ref.ir.types import ComplexType
from stablehlo_ref.kinds import (
    Dims,
    OneOf,
    boolean_tensor,
    complex_tensor,
    float_tensor,
    integer_tensor,
    quantized_tensor,
    tensor,
)
from stablehlo_ref.ops import bitwise, comparison, conversion, elementary, elementwise
from stablehlo_ref.spec import (
    BOOLEAN,
    UNKNOWN,
    baseline_element_type,
    compatible,
    element_type,
    in_range,
    is_complex,
    is_sorted,
    is_unique,
    make_tensor_type,
    rank,
    shape,
    size,
)

Array = Any
Sizes = tuple[Any, ...]

NUMPY = None  # `broadcast_dimensions` left out


# --- shapes ---------------------------------------------------------------------------------------------------------


def aligned(types: Sequence[Any], broadcast_dimensions: tuple[int, ...] | None) -> list[Sizes]:
    """The shapes of operands with dimensions of size 1 put in, so that all have the same rank."""
    shapes = list(map(shape, types))
    largest = max(map(len, shapes))
    if broadcast_dimensions is NUMPY or shapes[0] == shapes[-1]:
        return [(1,) * (largest - len(s)) + s for s in shapes]
    smaller = min(range(len(shapes)), key=lambda i: len(shapes[i]))
    places = dict(zip(broadcast_dimensions, shapes[smaller]))
    shapes[smaller] = tuple(places.get(d, 1) for d in range(largest))
    return shapes


def broadcast_shape(shapes: Sequence[Sizes]) -> Sizes:
    """The shape to which shapes of one rank broadcast; ValueError if they do not."""
    return tuple(map(broadcast_size, zip(*shapes)))


def broadcast_size(sizes: Sequence[Any]) -> Any:
    larger = [s for s in sizes if s is UNKNOWN or s != 1]
    known = [s for s in larger if s is not UNKNOWN]
    if any(s != known[0] for s in known):
        raise ValueError(f"sizes that do not broadcast: {known}")
    return known[0] if known else larger[0] if larger else 1


def expansion(type: Any, sizes: Sizes, result_sizes: Sizes) -> Any:
    """A function from an array of `type` to the view that has `result_sizes`, `sizes` being its shape aligned."""
    if shape(type) == result_sizes:
        return lambda x: x
    return lambda x: np.broadcast_to(np.reshape(x, sizes), result_sizes)


class Broadcasting(Op, dialect="chlo"):
    """The base: `applies` is the op that is given the operands after they have been broadcast."""

    applies: ClassVar[type[Op]]

    syntax = "operands attr-dict : functional_type"

    @classmethod
    def apply(
        cls, types: dict[str, Any], broadcast_dimensions: tuple[int, ...] | None, role: str = "plan", **attributes: Any
    ) -> Any:
        """What a role of `applies` gives for operands of `types`, by its member and in its order."""
        shapes = aligned(list(types.values()), broadcast_dimensions)
        sizes = broadcast_shape(shapes)
        expand = [expansion(t, s, sizes) for t, s in zip(types.values(), shapes)]
        broadcast = {name: make_tensor_type(sizes, element_type(t)) for name, t in types.items()}
        run = cls.applies.call(role, broadcast | attributes)
        if run is None or all(shape(t) == sizes for t in types.values()):
            return run
        return lambda *operands: run(*[f(x) for f, x in zip(expand, operands)])


# --- two operands ---------------------------------------------------------------------------------------------------


class BroadcastBinary(Broadcasting):
    """An op of two operands of one element type."""

    lhs = In(tensor | quantized_tensor)
    rhs = In(tensor | quantized_tensor)
    broadcast_dimensions = Attr(Dims, default=NUMPY)
    result = Out(tensor | quantized_tensor)

    @classmethod
    def infer(cls, lhs: Any, rhs: Any, broadcast_dimensions: Any) -> Any:
        return make_tensor_type(broadcast_shape(aligned([lhs, rhs], broadcast_dimensions)), cls.result_element(lhs))

    @classmethod
    def result_element(cls, lhs: Any) -> Any:
        """The element type of the result."""
        return element_type(lhs)

    @classmethod
    def constraints(cls, C: Any, infer: Any, lhs: Any, rhs: Any, broadcast_dimensions: Any, result: Any) -> None:
        C(1, baseline_element_type(lhs) == baseline_element_type(rhs))
        if broadcast_dimensions is not NUMPY and shape(lhs) != shape(rhs):
            C(2, size(broadcast_dimensions) == min(rank(lhs), rank(rhs)))
            C(3, in_range(broadcast_dimensions, max(rank(lhs), rank(rhs))))
            C(4, is_unique(broadcast_dimensions) and is_sorted(broadcast_dimensions))
        C(5, compatible(result, infer()))

    @classmethod
    def plan(cls, lhs: Any, rhs: Any, broadcast_dimensions: Any) -> Any:
        names = [member.name for member in cls.applies.operands]
        return cls.apply(dict(zip(names, (lhs, rhs))), broadcast_dimensions)

    @classmethod
    def open_cases(cls, lhs: Any, rhs: Any, broadcast_dimensions: Any) -> Any:
        if "open_cases" not in cls.applies.parameters:
            return None
        names = [member.name for member in cls.applies.operands]
        return cls.apply(dict(zip(names, (lhs, rhs))), broadcast_dimensions, "open_cases")


class BroadcastAdd(BroadcastBinary, op="broadcast_add"):
    """`add` of operands that broadcast."""

    applies = elementwise.Add


class BroadcastAtan2(BroadcastBinary, op="broadcast_atan2"):
    """`atan2` of operands that broadcast."""

    applies = elementary.Atan2


class BroadcastDivide(BroadcastBinary, op="broadcast_divide"):
    """`divide` of operands that broadcast."""

    applies = elementwise.Divide


class BroadcastMaximum(BroadcastBinary, op="broadcast_maximum"):
    """`maximum` of operands that broadcast."""

    applies = elementwise.Maximum


class BroadcastMinimum(BroadcastBinary, op="broadcast_minimum"):
    """`minimum` of operands that broadcast."""

    applies = elementwise.Minimum


class BroadcastMultiply(BroadcastBinary, op="broadcast_multiply"):
    """`multiply` of operands that broadcast."""

    applies = elementwise.Multiply


class BroadcastPower(BroadcastBinary, op="broadcast_power"):
    """`power` of operands that broadcast."""

    applies = elementwise.Power


class BroadcastRemainder(BroadcastBinary, op="broadcast_remainder"):
    """`remainder` of operands that broadcast."""

    applies = elementwise.Remainder


class BroadcastShiftLeft(BroadcastBinary, op="broadcast_shift_left"):
    """`shift_left` of operands that broadcast."""

    applies = bitwise.ShiftLeft


class BroadcastShiftRightArithmetic(BroadcastBinary, op="broadcast_shift_right_arithmetic"):
    """`shift_right_arithmetic` of operands that broadcast."""

    applies = bitwise.ShiftRightArithmetic


class BroadcastShiftRightLogical(BroadcastBinary, op="broadcast_shift_right_logical"):
    """`shift_right_logical` of operands that broadcast."""

    applies = bitwise.ShiftRightLogical


class BroadcastSubtract(BroadcastBinary, op="broadcast_subtract"):
    """`subtract` of operands that broadcast."""

    applies = elementwise.Subtract


class BroadcastLogical(BroadcastBinary):
    lhs = In(boolean_tensor | integer_tensor)
    rhs = In(boolean_tensor | integer_tensor)
    result = Out(boolean_tensor | integer_tensor)


class BroadcastAnd(BroadcastLogical, op="broadcast_and"):
    """`and` of operands that broadcast."""

    applies = bitwise.And


class BroadcastOr(BroadcastLogical, op="broadcast_or"):
    """`or` of operands that broadcast."""

    applies = bitwise.Or


class BroadcastXor(BroadcastLogical, op="broadcast_xor"):
    """`xor` of operands that broadcast."""

    applies = bitwise.Xor


class BroadcastFloat(BroadcastBinary):
    lhs = In(float_tensor)
    rhs = In(float_tensor)
    result = Out(float_tensor)


class BroadcastNextAfter(BroadcastFloat, op="broadcast_next_after"):
    """`next_after` of operands that broadcast."""

    applies = NextAfter


class BroadcastPolygamma(BroadcastFloat, op="broadcast_polygamma"):
    """`polygamma` of operands that broadcast."""

    applies = Polygamma


class BroadcastZeta(BroadcastFloat, op="broadcast_zeta"):
    """`zeta` of operands that broadcast."""

    applies = Zeta


class BroadcastComplex(BroadcastFloat, op="broadcast_complex"):
    """`complex` of operands that broadcast."""

    result = Out(complex_tensor)

    applies = conversion.Complex

    @classmethod
    def result_element(cls, lhs: Any) -> Any:
        return ComplexType(element_type(lhs))


class BroadcastCompare(BroadcastBinary, op="broadcast_compare"):
    """`compare` of operands that broadcast."""

    comparison_direction = Attr(OneOf(comparison.ComparisonDirection, dialect="chlo"))
    compare_type = Attr(OneOf(comparison.ComparisonType, dialect="chlo"), default=None)
    result = Out(boolean_tensor)

    applies = comparison.Compare

    @classmethod
    def result_element(cls, lhs: Any) -> Any:
        return BOOLEAN

    @classmethod
    def constraints(  # type: ignore[override]
        cls, C: Any, infer: Any, lhs: Any, rhs: Any, broadcast_dimensions: Any, compare_type: Any, result: Any
    ) -> None:
        super().constraints(C, infer, lhs, rhs, broadcast_dimensions, result)
        C(6, compare_type != comparison.ComparisonType.TOTALORDER or not is_complex(lhs))

    @classmethod
    def plan(  # type: ignore[override]
        cls, lhs: Any, rhs: Any, broadcast_dimensions: Any, comparison_direction: Any, compare_type: Any
    ) -> Any:
        attributes = {"comparison_direction": comparison_direction, "compare_type": compare_type}
        return cls.apply({"lhs": lhs, "rhs": rhs}, broadcast_dimensions, **attributes)


# --- three operands -------------------------------------------------------------------------------------------------


class BroadcastSelect(Broadcasting, op="broadcast_select"):
    """`select` of operands that broadcast, aligned at their last dimensions."""

    pred = In(boolean_tensor)
    on_true = In(tensor)
    on_false = In(tensor)
    result = Out(tensor)

    applies = comparison.Select

    @staticmethod
    def infer(pred: Any, on_true: Any, on_false: Any) -> Any:
        sizes = broadcast_shape(aligned([pred, on_true, on_false], NUMPY))
        return make_tensor_type(sizes, element_type(on_true))

    @staticmethod
    def constraints(C: Any, infer: Any, on_true: Any, on_false: Any, result: Any) -> None:
        C(1, element_type(on_true) == element_type(on_false))
        C(2, compatible(result, infer()))

    @classmethod
    def plan(cls, pred: Any, on_true: Any, on_false: Any) -> Any:
        return cls.apply({"pred": pred, "on_true": on_true, "on_false": on_false}, NUMPY)
