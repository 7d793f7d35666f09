"""What the bodies of reductions and scatters compute."""

from __future__ import annotations

from stablehlo_ref.ir.core import Region
from stablehlo_ref.ir.types import ComplexType, FloatType, TensorType

NEVER_ROUND = frozenset(
    f"stablehlo.{name}"
    for name in (
        "compare", "select", "maximum", "minimum", "and", "or", "xor", "not", "constant", "return", "negate", "abs",
        "bitcast_convert", "is_finite", "sign", "clamp", "reshape", "broadcast_in_dim", "floor", "ceil",
        "round_nearest_even", "round_nearest_afz", "real", "imag",
    )
)  # fmt: skip


def recognised(region: Region) -> str | None:
    """Return the op that a body applies to its two arguments, such as `add`; `second` if it returns the second."""
    block = region.block
    *ops, terminator = block.operations
    if not ops and terminator.operands == block.arguments[1:]:
        return "second"
    if len(ops) != 1 or terminator.operands != ops[0].results or len(block.arguments) != 2:
        return None
    arguments = block.arguments
    return ops[0].name.partition(".")[2] if ops[0].operands in (arguments, arguments[::-1]) else None


def is_exact_body(region: Region) -> bool:
    """Return whether no op of a body rounds: integers, and comparisons and choices of floating-point numbers."""
    return all(
        op.name in NEVER_ROUND or not any(map(_is_fractional, (*op.operand_types, *op.result_types)))
        for op in (inner for outer in region.block.operations for inner in outer.walk())
    )


def _is_fractional(type: object) -> bool:
    return not isinstance(type, TensorType) or isinstance(type.element_type, FloatType | ComplexType)
