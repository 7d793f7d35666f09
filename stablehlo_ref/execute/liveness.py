"""Which values a region captures, and where the values of a block are used last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from stablehlo_ref.ir.core import Block, Operation, Region, Value, location_of
from stablehlo_ref.limits.budget import within_time


def captured(region: Region) -> list[Value]:
    """Return the values that ops in a region use but that are defined outside, in order of first use."""
    inside: set[Value] = set()
    used: dict[Value, None] = {}
    for block in region.blocks:
        inside.update(block.arguments)
        for top in block.operations:
            for op in top.walk() if top.regions else (top,):
                inside.update(op.results)
                for inner in op.regions:
                    for b in inner.blocks:
                        inside.update(b.arguments)
                used.update(dict.fromkeys(op.operands))
    return [value for value in used if value not in inside]


def last_uses(block: Block, keep: Iterable[Value] = ()) -> dict[Operation, Sequence[Value]]:
    """Return, for the ops of a block, the values of the block that are not used after it, except `keep`.

    Ops after which all values are still used are left out.
    """
    *operations, terminator = block.operations
    needed = {*terminator.operands, *keep}
    defined = {*block.arguments, *chain.from_iterable([op.results for op in operations])}
    dying: dict[Operation, Sequence[Value]] = {}
    for op in within_time(reversed(operations), "planning", location_of):
        uses = op.operands + op.results
        for region in op.regions:
            uses += captured(region)
        if not needed.issuperset(uses):
            dying[op] = dead = []
            for value in uses:
                if value in defined and value not in needed:
                    dead.append(value)
                    needed.add(value)
    return dying
