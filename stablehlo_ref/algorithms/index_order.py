"""What gather and scatter may take for granted of their indices, tested: that they are sorted, that none repeats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from stablehlo_ref.algorithms.indexed_windows import IndexedWindows
from stablehlo_ref.ir.core import Block, Operation

Array = Any

IN_ANY_ORDER = frozenset(f"stablehlo.{op}" for op in ("add", "and", "maximum", "minimum", "multiply", "or", "xor"))


def components(indices: Array, index_vector_dim: int) -> Iterable[Array]:
    """The components of the indices, each an array of one for each index."""
    return [indices] if index_vector_dim == indices.ndim else np.moveaxis(indices, index_vector_dim, 0)


def are_sorted(starts: Mapping[int, Array]) -> bool:
    """Whether each index is lexicographically no less than the one before it; components come by dimension."""
    order: Any = 0
    for _, component in sorted(starts.items()):
        before, after = component.reshape(-1)[:-1], component.reshape(-1)[1:]
        order = np.where(order == 0, (after > before).view(np.int8) - (after < before).view(np.int8), order)
    return not np.any(order < 0)


def are_repeated(windows: IndexedWindows, starts: list[Array]) -> bool:
    """Whether two updates in bounds are of the same element."""
    numbers, within = windows.row_numbers(starts), windows.in_bounds(starts)
    if within is not None:
        numbers = numbers[within]
    return len(np.unique(numbers)) < len(numbers)


def depends_on_order(block: Block) -> bool:
    """Whether an update computation may give other results, but for rounding, if updates come in another order."""
    arguments, returned = block.arguments, block.operations[-1].operands
    pairs = zip(arguments, arguments[len(arguments) // 2 :])
    return not all(
        isinstance(op := value.owner, Operation) and op.name in IN_ANY_ORDER and set(op.operands) == set(pair)
        for value, pair in zip(returned, pairs)
    )
