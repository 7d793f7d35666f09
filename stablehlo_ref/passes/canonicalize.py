"""Canonicalize: erase dead ops, hoist and merge constants, select the branch of a constant `case`."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from stablehlo_ref.define.bound import constant_array
from stablehlo_ref.define.definition import definition_of, is_constant_like
from stablehlo_ref.ir.core import Operation, Region
from stablehlo_ref.ir.rewrite import Rewriter
from stablehlo_ref.passes.effects import is_pure
from stablehlo_ref.passes.equivalence import operation_key
from stablehlo_ref.passes.registry import Pass, PassOption, flag


def canonicalize(module: Operation, test_convergence: bool = False) -> None:
    """Do what MLIR's pass of this name does for StableHLO's ops, until nothing changes.

    Pure ops that nothing uses are erased. Equal constants become one at the start of the function (or other isolated
    region) that they are in. A `case` with a constant index becomes the ops of the branch it selects, and an
    `unrealized_conversion_cast` between equal types its operands.
    `test_convergence` changes nothing, since the pass always converges.
    """
    while True:
        with Rewriter(module) as rewriter:
            has_changed = _select_branches(module, rewriter)
            _fold_casts(module, rewriter)
        with Rewriter(module) as rewriter:
            erase_dead(module, rewriter)
        if not has_changed:
            break
    for op in module.walk():
        for region in op.regions if _is_isolated(op) else ():
            hoist_constants(region)


def erase_dead(root: Operation, rewriter: Rewriter) -> None:
    """Erase the pure ops inside `root` that nothing uses."""
    for op in reversed(list(root.walk())):
        if not rewriter.is_used(op) and op is not root and is_pure(op) and not _is_inside_erased(op, rewriter):
            rewriter.erase(op)


def _is_inside_erased(op: Operation, rewriter: Rewriter) -> bool:
    parent = op.parent_op
    return parent is not None and rewriter.is_erased(parent)


def _is_isolated(op: Operation) -> bool:
    definition = definition_of(op)
    return definition is not None and definition.traits.isolated_from_above


def _select_branches(module: Operation, rewriter: Rewriter) -> bool:
    """Replace each `case` with a constant index that is in range by its branch; return whether there was any.

    One inside of another is visited in the next round.
    """
    has_changed = False
    replaced: set[Operation] = set()
    for op in list(module.walk()):
        if op.name != "stablehlo.case" or any(parent in replaced for parent in _parents(op)):
            continue
        index = constant_array(op.operands[0])
        if index is not None and 0 <= int(index) < len(op.regions):
            rewriter.inline(op, op.regions[int(index)].block, [])
            replaced.add(op)
            has_changed = True
    return has_changed


def _fold_casts(module: Operation, rewriter: Rewriter) -> None:
    """Replace the results of casts between equal types by the operands."""
    for op in module.walk():
        is_cast = op.name == "builtin.unrealized_conversion_cast" and not rewriter.is_erased(op)
        if is_cast and op.operand_types == op.result_types:
            rewriter.replace(op, op.operands)


def _parents(op: Operation) -> Iterator[Operation]:
    parent = op.parent_op
    while parent is not None:
        yield parent
        parent = parent.parent_op


def hoist_constants(region: Region) -> None:
    """Move the constants of an isolated region to its start, one of each."""
    if not region.blocks or not _has_constants(region):
        return
    root = region.parent
    assert root is not None
    entry = region.blocks[0]
    first: dict[Hashable, Operation] = {}
    moved: list[Operation] = []
    with Rewriter(root) as rewriter:
        for op in _inside(region):
            if not is_constant_like(op):
                continue
            kept = first.setdefault(operation_key(op), op)
            if kept is op:
                moved.append(op)
            else:
                rewriter.replace(op, kept.results)
    for op in moved:
        assert op.parent is not None
        if op.parent is not entry:
            op.parent.operations.remove(op)
            op.parent = entry
    in_front = set(moved)
    entry.operations = [*moved, *(op for op in entry.operations if op not in in_front)]


def _has_constants(region: Region) -> bool:
    return any(is_constant_like(op) for op in _inside(region))


def _inside(region: Region) -> Iterator[Operation]:
    """Yield the ops in a region and in regions inside it that are not isolated from it."""
    for block in region.blocks:
        for op in block.operations:
            yield op
            if not _is_isolated(op):
                for inner in op.regions:
                    yield from _inside(inner)


CONVERGENCE = PassOption("test-convergence", flag, "fail unless the pass converges, which it always does")
PASS = Pass("canonicalize", "erase dead ops, merge constants, fold constant branches", canonicalize, (CONVERGENCE,))
