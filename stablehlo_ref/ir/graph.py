"""The control flow graph of a region: which block is entered from which, what dominates what, which values are live."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from stablehlo_ref.ir.core import Block, Region, Value, defined_values

T = TypeVar("T")


def successors(block: Block, labels: Mapping[str, Block]) -> list[Block]:
    """Return the blocks that the terminator of `block` may branch to; `labels` are those of the region's blocks."""
    last = block.operations[-1] if block.operations else None
    return [labels[label] for label in last.successors if label in labels] if last is not None else []


def labelled(region: Region) -> dict[str, Block]:
    """Return the blocks of a region by their labels."""
    return {block.label: block for block in region.blocks if block.label}


def postorder(root: T, following: Callable[[T], Iterable[T]], seen: set[T]) -> list[T]:
    """Return the nodes of a graph that can be reached from one, each after those that follow, without those seen.

    They are added to `seen`. There is no recursion, since paths may be long.
    """
    found: list[T] = []
    pending = [] if root in seen else [(root, iter(following(root)))]
    seen.add(root)
    while pending:
        node, rest = pending[-1]
        after = next((other for other in rest if other not in seen), None)
        if after is None:
            found.append(node)
            pending.pop()
        else:
            seen.add(after)
            pending.append((after, iter(following(after))))
    return found


def reachable(region: Region, start: Block | None = None) -> list[Block]:
    """Return the blocks that can be reached from a block, by default the entry, in reverse postorder."""
    labels = labelled(region)
    return postorder(start or region.blocks[0], lambda block: successors(block, labels), set())[::-1]


def dominated(region: Region) -> dict[Block, list[Block]]:
    """Return the dominator tree: for each reachable block, those that it dominates immediately, in textual order.

    The algorithm of Cooper, Harvey and Kennedy.
    """
    order, labels = reachable(region), labelled(region)
    number = {block: index for index, block in enumerate(order)}
    predecessors: list[list[int]] = [[] for _ in order]
    for block in order:
        for following in successors(block, labels):
            predecessors[number[following]].append(number[block])
    parent = _immediate_dominators(predecessors)
    children: dict[Block, list[Block]] = {block: [] for block in order}
    for block in region.blocks[1:]:
        if block in number:
            children[order[parent[number[block]]]].append(block)
    return children


def _immediate_dominators(predecessors: Sequence[Sequence[int]]) -> list[int]:
    """Return the number of each block's immediate dominator; blocks are numbered in reverse postorder."""
    parent = [0] + [-1] * (len(predecessors) - 1)
    changed = True
    while changed:
        changed = False
        for block in range(1, len(predecessors)):
            known = [p for p in predecessors[block] if parent[p] >= 0]
            found = known[0]
            for other in known[1:]:
                found = _common_dominator(parent, found, other)
            if parent[block] != found:
                parent[block], changed = found, True
    return parent


def _common_dominator(parent: Sequence[int], a: int, b: int) -> int:
    while a != b:
        if a > b:
            a = parent[a]
        else:
            b = parent[b]
    return a


def live_values(blocks: Sequence[Block], labels: Mapping[str, Block]) -> dict[Block, set[Value]]:
    """Return the values defined in other `blocks` that each block or its successors use."""
    defined = {block: set(defined_values(block)) for block in blocks}
    everything = set().union(*defined.values())
    used = {b: {operand for op in b.operations for inner in op.walk() for operand in inner.operands} for b in blocks}
    live = {block: (used[block] & everything) - defined[block] for block in blocks}
    predecessors: dict[Block, list[Block]] = {block: [] for block in blocks}
    for block in blocks:
        for following in successors(block, labels):
            predecessors[following].append(block)
    pending = list(blocks)
    while pending:
        block = pending.pop()
        for before in predecessors[block]:
            more = live[block] - defined[before] - live[before]
            if more:
                live[before] |= more
                pending.append(before)
    return live
