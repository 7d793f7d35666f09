"""Eliminate common subexpressions."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Hashable, MutableMapping

from stablehlo_ref.define.definition import definition_of
from stablehlo_ref.ir.core import Operation, Region
from stablehlo_ref.ir.rewrite import Rewriter
from stablehlo_ref.passes.effects import is_pure
from stablehlo_ref.passes.equivalence import operation_key
from stablehlo_ref.passes.registry import Pass

Known = MutableMapping[Hashable, Operation]


def cse(module: Operation) -> None:
    """Replace pure ops by earlier equal ones, in the same block or around it, and erase pure ops that nothing uses."""
    with Rewriter(module) as rewriter:
        for region in module.regions:
            _simplify_region(region, ChainMap(), rewriter)


def _simplify_region(region: Region, known: ChainMap[Hashable, Operation], rewriter: Rewriter) -> None:
    for block in region.blocks:
        here = known.new_child() if len(region.blocks) == 1 else ChainMap[Hashable, Operation]()
        for op in block.operations:
            _simplify(op, here, rewriter)


def _simplify(op: Operation, known: ChainMap[Hashable, Operation], rewriter: Rewriter) -> None:
    definition = definition_of(op)
    is_isolated = definition is None or definition.traits.isolated_from_above
    if is_pure(op):
        if not rewriter.is_used(op):
            rewriter.erase(op)
            return
        earlier = known.setdefault(operation_key(op), op)
        if earlier is not op:
            rewriter.replace(op, earlier.results)
            return
    for region in op.regions:
        _simplify_region(region, ChainMap() if is_isolated else known, rewriter)


PASS = Pass("cse", "eliminate common subexpressions", cse)
