"""Erase private symbols that nothing uses."""

from __future__ import annotations

from stablehlo_ref.ir.core import Operation, symbol_name
from stablehlo_ref.passes.registry import Pass
from stablehlo_ref.passes.symbols import symbols_of, symbols_used_by


def symbol_dce(module: Operation) -> None:
    """Erase the symbols that are private and cannot be reached from what is public."""
    block = module.regions[0].block
    symbols = {name: op for op in block.operations if (name := symbol_name(op)) is not None}
    live = {name for name, op in symbols.items() if not is_discardable(op, set())}
    pending = [op for op in block.operations if symbol_name(op) is None or symbol_name(op) in live]
    pending_names = list(symbols_of(module))
    while pending or pending_names:
        if pending:
            pending_names.extend(symbols_used_by(pending.pop()))
            continue
        name = pending_names.pop()
        if name in symbols and name not in live:
            live.add(name)
            pending.append(symbols[name])
    block.operations = [op for op in block.operations if symbol_name(op) is None or symbol_name(op) in live]


def is_discardable(op: Operation, used: set[str]) -> bool:
    """Return whether an op defines a private symbol that is not in `used`."""
    name = symbol_name(op)
    return name is not None and op.properties.get("sym_visibility") == "private" and name not in used


PASS = Pass("symbol-dce", "erase private symbols that nothing uses", symbol_dce)
