"""CHLO's binary and ternary ops with implicit broadcasting: each broadcasts its operands and applies another op.

Without `broadcast_dimensions`, shapes are aligned at their last dimensions, as in numpy. With it, dimension `i` of the
operand of lower rank (of `lhs` if the ranks are equal) is aligned with dimension `broadcast_dimensions[i]` of the
other; the attribute is ignored if both shapes are equal. Dimensions of size 1 are then expanded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Annotated, Any, ClassVar, TypeAlias

import numpy as np

from stablehlo_ref.define.attribute_codecs import Dims, EnumCodec
from stablehlo_ref.define.bound import call_role
from stablehlo_ref.define.computation import FindChoices, Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.mode import DEFAULT, Mode
from stablehlo_ref.define.op import Attr, In, Op, Out
from stablehlo_ref.define.spec import (
    UNKNOWN,
    Size,
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
from stablehlo_ref.define.type_constraints import (
    boolean_tensor,
    complex_tensor,
    float_tensor,
    integer_tensor,
    of_any_rank,
    quantized_tensor,
    tensor,
)
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.dialects.chlo_elementwise import NextAfter, Polygamma, Zeta
from stablehlo_ref.dialects.mlir_types import define
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.types import BOOLEAN, ComplexType, TensorType, Type
from stablehlo_ref.ops import comparison, conversion, elementary, elementwise

Sizes: TypeAlias = tuple[Size, ...]

NUMPY = None  # the value of `broadcast_dimensions` where it is omitted


# --- shapes ---------------------------------------------------------------------------------------------------------


def aligned(types: Sequence[TensorType], broadcast_dimensions: Dims | None) -> list[Sizes]:
    """Return the shapes of operands expanded to one rank by dimensions of size 1.

    ValueError if `broadcast_dimensions` do not say where the dimensions of the smaller operand are.
    """
    shapes = list(map(shape, types))
    largest = max(map(len, shapes))
    if broadcast_dimensions is NUMPY or shapes[0] == shapes[-1]:
        return [(1,) * (largest - len(s)) + s for s in shapes]
    smaller = min(range(len(shapes)), key=lambda i: len(shapes[i]))
    if not in_range(broadcast_dimensions, largest):
        raise ValueError(f"broadcast_dimensions {broadcast_dimensions} are out of range")
    places = dict(zip(broadcast_dimensions, shapes[smaller], strict=True))
    shapes[smaller] = tuple(places.get(d, 1) for d in range(largest))
    return shapes


def broadcast_shape(shapes: Sequence[Sizes]) -> Sizes:
    """Return the shape to which shapes of one rank broadcast. ValueError if they do not."""
    return tuple(map(broadcast_size, zip(*shapes)))


def do_broadcast(types: Sequence[TensorType], broadcast_dimensions: Dims | None = NUMPY) -> bool:
    """Return whether operands broadcast to one shape."""
    try:
        broadcast_shape(aligned(types, broadcast_dimensions))
    except ValueError:
        return False
    return True


def broadcast_size(sizes: Sequence[Size]) -> Size:
    """Return the size to which `sizes` broadcast. ValueError if they do not."""
    larger = [s for s in sizes if s is UNKNOWN or s != 1]
    known = [s for s in larger if s is not UNKNOWN]
    if any(s != known[0] for s in known):
        raise ValueError(f"sizes {known} do not broadcast")
    return known[0] if known else larger[0] if larger else 1


def expansion(type: TensorType, sizes: Sizes, result_sizes: Sizes) -> Callable[[Array], Array]:
    """Return a function that broadcasts an array of `type`, whose aligned shape is `sizes`, to `result_sizes`."""
    if shape(type) == result_sizes:
        return lambda x: x
    return lambda x: np.broadcast_to(np.reshape(x, sizes), result_sizes)


class Broadcasting(Op, dialect="chlo"):
    """The base class of ops that broadcast their operands and then compute the op `applies`."""

    applies: ClassVar[type[Op]]

    def __init_subclass__(cls, **options: Any) -> None:
        facts = cls.applies.definition.facts if hasattr(cls, "applies") else None
        super().__init_subclass__(**options, facts=facts)

    syntax = "operands attr-dict : functional_type"

    @classmethod
    def apply(
        cls, mode: Mode, types: Sequence[TensorType], broadcast_dimensions: Dims | None = NUMPY, role: str = "plan",
        **attributes: Enum | None,
    ) -> Any:  # fmt: skip
        """Return the function of arrays that a role of `applies` returns, preceded by broadcasting; None if it does.

        UnsupportedError for element types that CHLO accepts and `applies` does not.
        """
        applied = cls.applies.definition
        for member, type in zip(applied.operands, types):
            if not member.constraint.holds(type):
                reason = f"takes a {member.constraint.name}, got {type}"
                raise UnsupportedError(f"'{applied.name}', which the op is lowered to, {reason}")
        shapes = aligned(types, broadcast_dimensions)
        sizes = broadcast_shape(shapes)
        expand = [expansion(t, s, sizes) for t, s in zip(types, shapes)]
        broadcast = {m.name: make_tensor_type(sizes, element_type(t)) for m, t in zip(applied.operands, types)}
        run: Run | None = call_role(applied, role, {**broadcast, **attributes}, mode=mode)
        if run is None or all(shape(t) == sizes for t in types):
            return run
        return lambda *operands: run(*[f(x) for f, x in zip(expand, operands)])


# --- two operands ---------------------------------------------------------------------------------------------------


class BroadcastBinary(Broadcasting, nans="computed"):
    """The base class of ops on two operands of one element type."""

    lhs = In(of_any_rank(tensor | quantized_tensor))
    rhs = In(of_any_rank(tensor | quantized_tensor))
    broadcast_dimensions = Attr(Dims, default=NUMPY)
    result = Out(of_any_rank(tensor | quantized_tensor))

    @classmethod
    def infer(cls, lhs: TensorType, rhs: TensorType, broadcast_dimensions: Dims | None) -> TensorType:
        return make_tensor_type(broadcast_shape(aligned([lhs, rhs], broadcast_dimensions)), cls.result_element(lhs))

    @classmethod
    def result_element(cls, lhs: TensorType) -> Type:
        """Return the element type of the result."""
        return lhs.element_type

    @classmethod
    def constraints(
        cls,
        C: Checker,
        infer: Callable[[], TensorType],
        lhs: TensorType,
        rhs: TensorType,
        broadcast_dimensions: Dims | None,
        result: TensorType,
    ) -> None:
        C(1, baseline_element_type(lhs) == baseline_element_type(rhs))
        if do_broadcast([lhs, rhs], broadcast_dimensions):
            C(5, compatible(result, infer()))

    @staticmethod
    def preconditions(C: Checker, lhs: TensorType, rhs: TensorType, broadcast_dimensions: Dims | None) -> None:
        if broadcast_dimensions is not NUMPY and shape(lhs) != shape(rhs):
            C(2, size(broadcast_dimensions) == min(rank(lhs), rank(rhs)))
            C(3, in_range(broadcast_dimensions, max(rank(lhs), rank(rhs))))
            C(4, is_unique(broadcast_dimensions) and is_sorted(broadcast_dimensions))
        C(5, do_broadcast([lhs, rhs], broadcast_dimensions))

    @classmethod
    def plan(cls, mode: Mode, lhs: TensorType, rhs: TensorType, broadcast_dimensions: Dims | None) -> Run:
        run: Run = cls.apply(mode, (lhs, rhs), broadcast_dimensions)
        return run

    @classmethod
    def implementation_defined(cls, lhs: TensorType, rhs: TensorType, broadcast_dimensions: Dims | None) -> FindChoices:
        if "implementation_defined" not in cls.applies.definition.roles:
            return None
        find: FindChoices = cls.apply(DEFAULT, (lhs, rhs), broadcast_dimensions, "implementation_defined")
        return find


class BroadcastLogical(BroadcastBinary):
    """The base class of bitwise and logical ops."""

    lhs = In(of_any_rank(boolean_tensor | integer_tensor))
    rhs = In(of_any_rank(boolean_tensor | integer_tensor))
    result = Out(of_any_rank(boolean_tensor | integer_tensor))


class BroadcastFloat(BroadcastBinary):
    """The base class of ops on floats."""

    lhs = In(of_any_rank(float_tensor))
    rhs = In(of_any_rank(float_tensor))
    result = Out(of_any_rank(float_tensor))


APPLIED: Mapping[type[Op], Sequence[type[Op]]] = {
    BroadcastBinary: (
        elementwise.Add,
        elementary.Atan2,
        elementwise.Divide,
        elementwise.Maximum,
        elementwise.Minimum,
        elementwise.Multiply,
        elementwise.Power,
        elementwise.Remainder,
        comparison.ShiftLeft,
        comparison.ShiftRightArithmetic,
        comparison.ShiftRightLogical,
        elementwise.Subtract,
    ),
    BroadcastLogical: (comparison.And, comparison.Or, comparison.Xor),
    BroadcastFloat: (NextAfter, Polygamma, Zeta),
}
for base, every in APPLIED.items():
    for applied in every:
        mnemonic = applied.definition.mnemonic
        define(
            base, f"broadcast_{mnemonic}", f"Compute `{mnemonic}` of operands broadcast to one shape.", applies=applied
        )


class BroadcastComplex(BroadcastFloat, op="broadcast_complex", nans="moved"):
    """Compute `complex` of operands broadcast to one shape."""

    result = Out(of_any_rank(complex_tensor))

    applies = conversion.Complex

    @classmethod
    def result_element(cls, lhs: TensorType) -> Type:
        return ComplexType(lhs.element_type)


ChloComparisonDirection: TypeAlias = Annotated[
    comparison.ComparisonDirection, EnumCodec(comparison.ComparisonDirection, dialect="chlo")
]
ChloComparisonType: TypeAlias = Annotated[
    comparison.ComparisonType, EnumCodec(comparison.ComparisonType, dialect="chlo")
]


class BroadcastCompare(BroadcastBinary, op="broadcast_compare", nans="observed"):
    """Compute `compare` of operands broadcast to one shape."""

    comparison_direction = Attr(ChloComparisonDirection)
    compare_type = Attr(ChloComparisonType, default=None)
    result = Out(of_any_rank(boolean_tensor))

    applies = comparison.Compare

    @classmethod
    def result_element(cls, lhs: TensorType) -> Type:
        return BOOLEAN

    @classmethod
    def constraints(
        cls,
        C: Checker,
        infer: Callable[[], TensorType],
        lhs: TensorType,
        rhs: TensorType,
        broadcast_dimensions: Dims | None,
        compare_type: ChloComparisonType | None,
        result: TensorType,
    ) -> None:
        super().constraints(C, infer, lhs, rhs, broadcast_dimensions, result)
        C(6, compare_type != comparison.ComparisonType.TOTALORDER or not is_complex(lhs))

    @classmethod
    def plan(
        cls,
        mode: Mode,
        lhs: TensorType,
        rhs: TensorType,
        broadcast_dimensions: Dims | None,
        comparison_direction: ChloComparisonDirection,
        compare_type: ChloComparisonType | None,
    ) -> Run:
        run: Run = cls.apply(
            mode, (lhs, rhs), broadcast_dimensions, comparison_direction=comparison_direction, compare_type=compare_type
        )
        return run


# --- three operands -------------------------------------------------------------------------------------------------


class BroadcastSelect(Broadcasting, op="broadcast_select"):
    """Compute `select` of operands broadcast as in numpy."""

    pred = In(boolean_tensor)
    on_true = In(of_any_rank(tensor))
    on_false = In(of_any_rank(tensor))
    result = Out(of_any_rank(tensor))

    applies = comparison.Select

    @staticmethod
    def infer(pred: TensorType, on_true: TensorType, on_false: TensorType) -> TensorType:
        sizes = broadcast_shape(aligned([pred, on_true, on_false], NUMPY))
        return make_tensor_type(sizes, element_type(on_true))

    @staticmethod
    def constraints(
        C: Checker,
        infer: Callable[[], TensorType],
        pred: TensorType,
        on_true: TensorType,
        on_false: TensorType,
        result: TensorType,
    ) -> None:
        C(1, element_type(on_true) == element_type(on_false))
        if do_broadcast([pred, on_true, on_false]):
            C(2, compatible(result, infer()))

    @staticmethod
    def preconditions(C: Checker, pred: TensorType, on_true: TensorType, on_false: TensorType) -> None:
        C(2, do_broadcast([pred, on_true, on_false]))

    @classmethod
    def plan(cls, mode: Mode, pred: TensorType, on_true: TensorType, on_false: TensorType) -> Run:
        run: Run = cls.apply(mode, (pred, on_true, on_false))
        return run
