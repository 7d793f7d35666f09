"""Casts between types of VHLO and those of other dialects, which portable artifacts with other dialects contain."""

from __future__ import annotations

from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.rewrite import Rewriter

CAST = "builtin.unrealized_conversion_cast"


def fold_casts(module: Operation) -> None:
    """Erase casts whose results have the types of their operands, as upgrading an artifact makes them."""
    with Rewriter(module) as rewriter:
        for op in module.walk():
            if op.name == CAST and op.operand_types == op.result_types:
                rewriter.replace(op, op.operands)
