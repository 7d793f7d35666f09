"""Check the promises of gather and scatter about their indices: that they are sorted, and that they are unique."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from stablehlo_ref.algorithms.indexed_windows import IndexedWindows
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Block, Operation

COMMUTATIVE = frozenset(f"stablehlo.{op}" for op in ("add", "and", "maximum", "minimum", "multiply", "or", "xor"))


def are_sorted(starts: Mapping[int, Array]) -> bool:
    """Return whether indices are in lexicographic order; `starts` maps dimensions to components."""
    order: Array | int = 0
    for _, component in sorted(starts.items()):
        previous, following = component.reshape(-1)[:-1], component.reshape(-1)[1:]
        comparison = (following > previous).view(np.int8) - (following < previous).view(np.int8)
        order = np.where(order == 0, comparison, order)
    return not np.any(order < 0)


def are_repeated(windows: IndexedWindows, starts: list[Array]) -> bool:
    """Return whether two updates in bounds write the same element."""
    numbers, within = windows.row_numbers(starts), windows.in_bounds(starts)
    if within is not None:
        numbers = numbers[within]
    return len(np.unique(numbers)) < len(numbers)


def depends_on_order(block: Block) -> bool:
    """Return whether results of an update computation can depend on the order of updates, other than by rounding."""
    arguments, returned = block.arguments, block.operations[-1].operands
    pairs = zip(arguments, arguments[len(arguments) // 2 :])
    return not all(
        isinstance(op := value.owner, Operation) and op.name in COMMUTATIVE and set(op.operands) == set(pair)
        for value, pair in zip(returned, pairs)
    )
