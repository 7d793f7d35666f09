"""Imports every module that defines ops; importing this one makes all of them known to the parser."""

from stablehlo_ref.dialects import builtin, check, func, interpreter
from stablehlo_ref.ops import (
    bitwise,
    comparison,
    constants,
    control_flow,
    conversion,
    data_movement,
    dot_general,
    elementary,
    elementwise,
    extensibility,
    reduction,
    slicing,
    tuples,
)

__all__ = [
    "bitwise",
    "builtin",
    "check",
    "comparison",
    "constants",
    "control_flow",
    "conversion",
    "data_movement",
    "dot_general",
    "elementary",
    "elementwise",
    "extensibility",
    "func",
    "interpreter",
    "reduction",
    "slicing",
    "tuples",
]
