"""The symbols that operations refer to, and the removal of those that nothing uses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import cast

from stablehlo_ref.define.attribute_codecs import ListCodec, SymbolCodec
from stablehlo_ref.define.definition import definition_of
from stablehlo_ref.distribution.process_groups import MeshAxes
from stablehlo_ref.distribution.sdy_attributes import Sharding, Shardings
from stablehlo_ref.ir.attributes import OpaqueAttribute, StructAttribute, SymbolReference, Verbatim
from stablehlo_ref.ir.core import Operation, symbol_name
from stablehlo_ref.passes.registry import Pass

_SYMBOL = re.compile(r'@(?:"([^"]*)"|([\w$.\-]+))')


def symbols_used_by(op: Operation) -> Iterator[str]:
    """Yield the names of the symbols that an op and those inside it refer to."""
    for inner in op.walk():
        yield from symbols_of(inner)


def symbols_of(op: Operation) -> Iterator[str]:
    """Yield the names of the symbols that an op itself refers to."""
    for name, value in op.properties.items():
        yield from _strings(value) if _is_symbol(op, name) else _references(value)
    for attribute in op.attributes.values():
        yield from _references(attribute)


def rename_uses(op: Operation, names: Mapping[str, str]) -> None:
    """Let an op itself refer to symbols by their new names."""
    op.properties = {
        name: _renamed_strings(value, names) if _is_symbol(op, name) else _renamed(value, names)
        for name, value in op.properties.items()
    }
    op.attributes = {name: _renamed(value, names) for name, value in op.attributes.items()}


def _is_symbol(op: Operation, name: str) -> bool:
    """Return whether a property holds names of symbols as plain strings."""
    definition = definition_of(op)
    member = definition.attributes.get(name) if definition else None
    return member is not None and _holds_symbols(member.codec)


def _holds_symbols(codec: object) -> bool:
    return isinstance(codec, SymbolCodec) or (isinstance(codec, ListCodec) and _holds_symbols(codec.element))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for element in value:
            yield from _strings(element)


def _renamed_strings(value: object, names: Mapping[str, str]) -> object:
    if isinstance(value, str):
        return names.get(value, value)
    return tuple(_renamed_strings(element, names) for element in value) if isinstance(value, tuple) else value


def _references(value: object) -> Iterator[str]:
    match value:
        case SymbolReference(path=path):
            yield from path
        case OpaqueAttribute(text=text):
            yield from (quoted or bare for quoted, bare in _SYMBOL.findall(text))
        case Verbatim(parts=parts):
            yield from (quoted or bare for part in parts for quoted, bare in _SYMBOL.findall(part))
        case StructAttribute(fields=fields):
            for field in fields.values():
                yield from _references(field)
        case MeshAxes(attribute=attribute):
            yield from _references(attribute)
        case Sharding(mesh=str(mesh)):
            yield mesh
        case Shardings(shardings=shardings):
            for sharding in shardings:
                yield from _references(sharding)
        case dict():
            for element in value.values():
                yield from _references(element)
        case tuple():
            for element in value:
                yield from _references(element)


def _renamed(value: object, names: Mapping[str, str]) -> object:
    match value:
        case SymbolReference(path=(root, *nested)):
            return SymbolReference((names.get(root, root), *nested))
        case OpaqueAttribute(text=text) if "@" in text:
            return OpaqueAttribute(_SYMBOL.sub(lambda m: _spelled(m, names), text))
        case Verbatim(parts=parts):
            return replace(value, parts=tuple(_SYMBOL.sub(lambda m: _spelled(m, names), part) for part in parts))
        case StructAttribute(fields=fields):
            return replace(value, fields={name: _renamed(field, names) for name, field in fields.items()})
        case MeshAxes(attribute=attribute):
            return MeshAxes(cast(StructAttribute, _renamed(attribute, names)))
        case Sharding(mesh=str(mesh)) if mesh in names:
            return replace(value, mesh=names[mesh])
        case Shardings(shardings=shardings):
            return Shardings(tuple(cast(Sharding, _renamed(sharding, names)) for sharding in shardings))
        case dict():
            return {name: _renamed(element, names) for name, element in value.items()}
        case tuple():
            return tuple(_renamed(element, names) for element in value)
    return value


def _spelled(match: re.Match[str], names: Mapping[str, str]) -> str:
    new = names.get(match[1] or match[2])
    return match[0] if new is None else f'@"{new}"' if match[1] else f"@{new}"


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


DCE = Pass("symbol-dce", "erase private symbols that nothing uses", symbol_dce)
