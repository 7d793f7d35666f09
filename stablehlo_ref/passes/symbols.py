"""The symbols of a module: its functions, which calls which, what refers to which, and what nothing uses."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, count
from typing import Any, TypeAlias, cast

from stablehlo_ref.define.attribute_codecs import ListCodec, SymbolCodec
from stablehlo_ref.define.definition import definition_of
from stablehlo_ref.distribution.process_groups import MeshAxes
from stablehlo_ref.distribution.sdy_attributes import Sharding, Shardings
from stablehlo_ref.ir.attributes import OpaqueAttribute, SymbolReference, Verbatim, rebuilt
from stablehlo_ref.ir.core import Operation, symbol_name
from stablehlo_ref.ir.graph import postorder
from stablehlo_ref.passes.registry import transformation

# --- functions and calls ----------------------------------------------------------------------------------------------


def functions(module: Operation) -> dict[str, Operation]:
    """Return the functions of a module by name, in the order of the text."""
    operations = module.regions[0].block.operations
    return {name: op for op in operations if op.name == "func.func" and (name := symbol_name(op)) is not None}


def callees(operations: Iterable[Operation]) -> set[str]:
    """Return the names of the functions that the `func.call` ops among some ops call."""
    return {str(op.properties["callee"]) for op in operations if op.name == "func.call"}


def bottom_up(graph: Mapping[str, Collection[str]]) -> list[frozenset[str]]:
    """Return the strongly connected components of a call graph, callees before callers, by Kosaraju's algorithm."""
    calls = {name: [callee for callee in sorted(called) if callee in graph] for name, called in graph.items()}
    callers: dict[str, list[str]] = {name: [] for name in graph}
    for name, called in calls.items():
        for callee in called:
            callers[callee].append(name)
    seen: set[str] = set()
    order = [name for root in graph for name in postorder(root, calls.__getitem__, seen)]
    seen = set()
    components = [frozenset(postorder(root, callers.__getitem__, seen)) for root in reversed(order) if root not in seen]
    return components[::-1]


# --- references -------------------------------------------------------------------------------------------------------


Rename: TypeAlias = Callable[[str], str]

_SYMBOL = re.compile(r'@(?:"([^"]*)"|([\w$.\-]+))')


def symbols_used_by(op: Operation) -> Iterator[str]:
    """Yield the names of the symbols that an op and those inside it refer to."""
    for inner in op.walk():
        yield from symbols_of(inner)


def symbols_of(op: Operation) -> list[str]:
    """Return the names of the symbols that an op itself refers to."""
    found: list[str] = []

    def note(name: str) -> str:
        found.append(name)
        return name

    _with_names(op, note)
    return found


def unused_name(name: str, taken: set[str]) -> str:
    """Return `name`, or `name_0` and so on, whichever is not taken, and take it."""
    candidates = chain([name], (f"{name}_{index}" for index in count()))
    found = next(candidate for candidate in candidates if candidate not in taken)
    taken.add(found)
    return found


def rename_uses(op: Operation, names: Mapping[str, str]) -> None:
    """Let an op itself refer to symbols by their new names."""
    op.properties, op.attributes = _with_names(op, lambda name: names.get(name, name))


def _with_names(op: Operation, rename: Rename) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the properties and attributes of an op with other names of symbols."""

    def renamed(attribute: object) -> object:
        return _renamed(attribute, rename)

    def renamed_string(attribute: object) -> object:
        return rename(attribute) if isinstance(attribute, str) else attribute

    properties = {
        name: rebuilt(value, renamed_string if _is_symbol(op, name) else renamed)
        for name, value in op.properties.items()
    }
    return properties, rebuilt(op.attributes, renamed)


def _is_symbol(op: Operation, name: str) -> bool:
    """Return whether a property holds names of symbols as plain strings."""
    definition = definition_of(op)
    member = definition.attributes.get(name) if definition else None
    return member is not None and _holds_symbols(member.codec)


def _holds_symbols(codec: object) -> bool:
    return isinstance(codec, SymbolCodec) or (isinstance(codec, ListCodec) and _holds_symbols(codec.element))


def _renamed(attribute: object, rename: Rename) -> object:
    match attribute:
        case SymbolReference(path=(root, *nested)):  # names in a symbol are its own
            return SymbolReference((rename(root), *nested))
        case OpaqueAttribute(text=text) if "@" in text:
            return OpaqueAttribute(_in_text(text, rename))
        case Verbatim(parts=parts):
            return replace(attribute, parts=tuple(_in_text(part, rename) for part in parts))
        case MeshAxes(attribute=struct):
            return MeshAxes(rebuilt(struct, lambda inner: _renamed(inner, rename)))
        case Sharding(mesh=str(mesh)):
            return replace(attribute, mesh=rename(mesh))
        case Shardings(shardings=shardings):
            return Shardings(tuple(cast(Sharding, _renamed(sharding, rename)) for sharding in shardings))
    return attribute


def _in_text(text: str, rename: Rename) -> str:
    def spelled(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        new = rename(name)
        return match[0] if new == name else f'@"{new}"' if match[1] else f"@{new}"

    return _SYMBOL.sub(spelled, text)


@transformation("symbol-dce", "erase private symbols that nothing uses")
def symbol_dce(module: Operation) -> None:
    """Erase the symbols that are private and cannot be reached from what is public."""
    block = module.regions[0].block
    symbols = {name: op for op in block.operations if (name := symbol_name(op)) is not None}
    live: set[str] = set()
    pending = [name for name, op in symbols.items() if not is_discardable(op, live)] + symbols_of(module)
    pending += [name for op in block.operations if symbol_name(op) is None for name in symbols_used_by(op)]
    while pending:
        name = pending.pop()
        if name in symbols and name not in live:
            live.add(name)
            pending += symbols_used_by(symbols[name])
    block.operations = [op for op in block.operations if symbol_name(op) is None or symbol_name(op) in live]


def is_discardable(op: Operation, used: set[str]) -> bool:
    """Return whether an op defines a private symbol that is not in `used`."""
    name = symbol_name(op)
    return name is not None and op.properties.get("sym_visibility") == "private" and name not in used
