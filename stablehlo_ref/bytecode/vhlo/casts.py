"""Casts between types of VHLO and those of other dialects, which portable artifacts with other dialects contain."""

from __future__ import annotations

from stablehlo_ref.bytecode.vhlo.ops import vhlo_name
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.rewrite import Rewriter

CAST = "builtin.unrealized_conversion_cast"
TO_VHLO = "vhlo"  # the spelling of a cast whose result has a type of VHLO


def fold_casts(module: Operation) -> None:
    """Erase casts whose results have the types of their operands, as upgrading an artifact makes them."""
    with Rewriter(module) as rewriter:
        for op in module.walk():
            if op.name == CAST and op.operand_types == op.result_types:
                rewriter.replace(op, op.operands)


def insert_casts(module: Operation) -> None:
    """Insert casts between values of ops that VHLO has and those of others; the types of a cast are equal here."""
    with Rewriter(module) as rewriter:
        for op in list(module.walk()):
            for region in op.regions if op.name != "builtin.module" else ():
                for block in region.blocks:
                    for argument in block.arguments:
                        _cast_uses(rewriter, argument, op, block.operations[0] if block.operations else None)
            for result in op.results:
                _cast_uses(rewriter, result, op, None)


def _cast_uses(rewriter: Rewriter, value: Value, owner: Operation, first: Operation | None) -> None:
    """Let ops on the other side use a cast of a value, after its owner or, of an argument, before the first op."""
    is_vhlo = vhlo_name(owner) is not None
    uses = [(user, index) for user, index in rewriter.uses(value) if (vhlo_name(user) is not None) != is_vhlo]
    if not uses:
        return
    cast = Operation(CAST, [value], [value.type], {}, {}, [], owner.location)
    cast.debug_location, cast.spelling = owner.debug_location, "" if is_vhlo else TO_VHLO
    if first is None:
        rewriter.insert_after(owner, cast)
    else:
        rewriter.insert_before(first, cast)
    for user, index in uses:
        rewriter.set_operand(user, index, cast.results[0])
