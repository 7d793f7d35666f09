"""Inline calls of functions."""

from __future__ import annotations

from collections.abc import Sequence

from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.locations import CallSiteLocation, DebugLocation
from stablehlo_ref.ir.rewrite import Rewriter
from stablehlo_ref.passes.call_graph import bottom_up, callees, functions
from stablehlo_ref.passes.registry import Pass
from stablehlo_ref.passes.symbol_dce import is_discardable
from stablehlo_ref.passes.symbols import symbols_used_by


def inline(module: Operation) -> None:
    """Replace each `func.call` by the body of the function, and erase private functions that nothing uses any more.

    Calls within a cycle of functions, of functions without a body or with several blocks, and calls that say
    `no_inline` stay. What a function calls is inlined first. Locations become `callsite(... at ...)`.
    """
    table = functions(module)
    graph = {name: callees(function.walk()) for name, function in table.items()}
    for component in bottom_up(graph):
        for name in component:
            _inline_calls(table[name], {n: f for n, f in table.items() if n in graph[name] and n not in component})
    _erase_unused(module, set().union(*graph.values()) if graph else set())


def _inline_calls(function: Operation, table: dict[str, Operation]) -> None:
    inlinable = {name: callee for name, callee in table.items() if len(callee.regions[0].blocks) == 1}
    if not inlinable:
        return
    with Rewriter(function) as rewriter:
        for op in list(function.walk()):
            callee = inlinable.get(str(op.properties.get("callee"))) if op.name == "func.call" else None
            if callee is not None and "no_inline" not in op.attributes:
                made = rewriter.inline(op, callee.regions[0].block, op.operands)
                _add_call_site(made, op.debug_location)


def _add_call_site(operations: Sequence[Operation], caller: DebugLocation | None) -> None:
    """Let the locations of inlined ops, and of the arguments of their regions, tell where the call was."""
    if caller is None:
        return
    known: dict[int, CallSiteLocation] = {}

    def called(location: DebugLocation | None) -> DebugLocation | None:
        return None if location is None else known.setdefault(id(location), CallSiteLocation(location, caller))

    for op in (inner for outer in operations for inner in outer.walk()):
        op.debug_location = called(op.debug_location)
        for argument in (a for region in op.regions for block in region.blocks for a in block.arguments):
            argument.location = called(argument.location)


def _erase_unused(module: Operation, called: set[str]) -> None:
    """Erase functions that were called, and are neither public nor used now."""
    block = module.regions[0].block
    while True:
        used = {name for op in block.operations for name in symbols_used_by(op)}
        kept = [op for op in block.operations if not (is_discardable(op, used) and op.properties["sym_name"] in called)]
        if len(kept) == len(block.operations):
            return
        block.operations = kept


PASS = Pass("inline", "inline calls of functions", inline)
