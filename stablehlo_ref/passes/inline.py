"""Inline calls of functions."""

from __future__ import annotations

from collections.abc import Sequence

from stablehlo_ref.diagnostics import LimitError
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.locations import CallSiteLocation, DebugLocation
from stablehlo_ref.ir.rewrite import Rewriter
from stablehlo_ref.passes.registry import transformation
from stablehlo_ref.passes.symbols import bottom_up, callees, functions, is_discardable, symbols_used_by

INLINED = "\n"  # in the origin of an inlined value, between its name `@relu/%3` and that of the call, `%t`
MAX_OPERATIONS = 1 << 20  # of a function after inlining: chains of functions that each call the next twice double them


@transformation("inline", "inline calls of functions")
def inline(module: Operation) -> None:
    """Replace each `func.call` by the body of the function, and erase private functions that nothing uses any more.

    Calls within a cycle of functions, of functions without a body or with several blocks, and calls that say
    `no_inline` stay. What a function calls is inlined first. Locations become `callsite(... at ...)`, and
    origins of values tell the call.
    LimitError, before any copy is made, for a function that would have more than MAX_OPERATIONS.
    """
    table = functions(module)
    graph = {name: callees(function.walk()) for name, function in table.items()}
    calls: dict[str, dict[Operation, str]] = {}  # of each function, and the functions that they call
    sizes: dict[str, int] = {}  # operations in each function after inlining, without the terminator
    for component in bottom_up(graph):
        for name in component:
            inlinable = {n for n in graph[name] - set(component) if n in table and len(table[n].regions[0].blocks) == 1}
            calls[name] = _inlinable_calls(table[name], inlinable)
            others = sum(1 for _ in table[name].walk()) - len(calls[name]) - 2  # the function, its terminator
            sizes[name] = others + sum(sizes[callee] for callee in calls[name].values())
            if calls[name] and sizes[name] > MAX_OPERATIONS:
                message = f"inlining makes this function longer than the limit of {MAX_OPERATIONS:,} operations"
                raise LimitError(message, table[name].location)
    for name in calls:
        _inline_calls(table[name], {op: table[callee] for op, callee in calls[name].items()})
    _erase_unused(module, set().union(*graph.values()) if graph else set())


def _inlinable_calls(function: Operation, inlinable: set[str]) -> dict[Operation, str]:
    if not inlinable:
        return {}
    named = {op: str(op.properties.get("callee")) for op in function.walk() if op.name == "func.call"}
    return {op: callee for op, callee in named.items() if callee in inlinable and "no_inline" not in op.attributes}


def _inline_calls(function: Operation, calls: dict[Operation, Operation]) -> None:
    if not calls:
        return
    with Rewriter(function) as rewriter:
        for op, callee in calls.items():
            made = rewriter.inline(op, callee.regions[0].block, op.operands)
            _add_call_site(made, op.debug_location)
            caller = op.results[0].origin if op.results else op.name
            for value in (result for inner in made for result in inner.results if result.origin):
                value.origin += INLINED + caller


def _add_call_site(operations: Sequence[Operation], caller: DebugLocation | None) -> None:
    """Let the locations of inlined ops, and of the arguments of their regions, tell where the call was."""
    if caller is None:
        return
    known: dict[int, CallSiteLocation] = {}

    def called(location: DebugLocation | None) -> DebugLocation | None:
        return None if location is None else known.setdefault(id(location), CallSiteLocation(location, caller))

    for op in (inner for outer in operations for inner in outer.walk()):
        op.debug_location = called(op.debug_location)
        for argument in op.block_arguments:
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
