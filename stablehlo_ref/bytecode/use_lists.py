"""Orders in which values are used, where MLIR would not have them in the order of the operations.

MLIR keeps the uses of a value from the newest to the oldest. A reader makes them in the order of the operations, so an
order has to be written only where some use is newer than those of later operations: that of an op which was replaced
by another revision of it. The order means nothing, but files with it are what MLIR itself writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stablehlo_ref.bytecode.numbering import WrittenOp
from stablehlo_ref.ir.core import Value

Use = tuple[bool, int, int]  # whether its op was replaced, the number of the op, the number of the operand


def use_orders(root: WrittenOp) -> dict[Value, list[int]]:
    """Return, for each value whose uses are out of order, the position in MLIR's list of each use, latest op first."""
    ops = list(_preorder(root))
    changed = {operand for op in ops if op.is_replaced for operand in op.operands}
    replaced = {value for op in ops if op.is_replaced for value in op.defined}
    uses: dict[Value, list[Use]] = {}
    for number, op in enumerate(ops if changed else ()):
        for index, operand in enumerate(op.operands):
            if operand in changed:
                uses.setdefault(operand, []).append((op.is_replaced, number, index))
    return {
        value: order
        for value, found in uses.items()
        if len(found) > 1 and value not in replaced and (order := _order(found))
    }


def _order(uses: Sequence[Use]) -> list[int] | None:
    """Return the positions of uses, those of the latest ops first; None if they are in order."""
    newest_first = sorted(uses, reverse=True)
    positions = {use: position for position, use in enumerate(newest_first)}
    order = [positions[use] for use in sorted(uses, key=lambda use: use[1:], reverse=True)]
    return None if order == list(range(len(order))) else order


def _preorder(root: WrittenOp) -> Iterator[WrittenOp]:
    pending = [root]
    while pending:
        op = pending.pop()
        yield op
        inner = [inner for region in op.regions for block in region.blocks for inner in block.operations]
        pending.extend(reversed(inner))


def encoded_orders(values: Sequence[Value], orders: dict[Value, list[int]]) -> list[int]:
    """Return the numbers that state the orders of a block's arguments or an op's results; none if there is no order."""
    given = [(index, orders[value]) for index, value in enumerate(values) if value in orders]
    if not given:
        return []
    numbers = [len(given)] if len(values) != 1 else []
    for index, order in given:
        numbers += [index] if len(values) != 1 else []
        numbers += _encoded_order(order)
    return numbers


def _encoded_order(order: list[int]) -> list[int]:
    """Return the length of an order and the order, or pairs of positions if fewer than half of them are moved."""
    moved = [number for pair in enumerate(order) if pair[0] != pair[1] for number in reversed(pair)]
    if len(moved) // 2 < len(order) // 2:
        return [len(moved) << 1 | 1, *moved]
    return [len(order) << 1, *order]
