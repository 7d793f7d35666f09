"""Link modules into one: bodies meet declarations, private symbols that collide are renamed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from stablehlo_ref.define.builder import build_operation
from stablehlo_ref.diagnostics import ArgumentValueError, Diagnostic, InvalidError
from stablehlo_ref.ir.core import Block, Operation, Region, symbol_name
from stablehlo_ref.ir.rewrite import clone
from stablehlo_ref.passes.analysis import frozen, operation_key
from stablehlo_ref.passes.symbols import rename_uses, unused_name
from stablehlo_ref.verify import is_declaration


def link(modules: Sequence[Operation]) -> Operation:
    """Return a new module with copies of the operations of all modules, in their order.

    A declaration refers to the public symbol of its name in another module, and their types must agree. Private symbols
    keep their names where nothing else has them, and get a number appended otherwise; equal ones (such as two meshes)
    become one. InvalidError, with both places, for a public symbol that is defined twice, a declaration of another
    type, or attributes of modules that differ; ArgumentValueError if there are no modules.
    """
    if not modules:
        raise ArgumentValueError("expected at least one module to link")
    parts = [[clone(op, {}) for op in module.regions[0].block.operations] for module in modules]
    public = _public_definitions(parts)
    _check_declarations(parts, public)
    taken = {name for part in parts for op in part if (name := symbol_name(op)) is not None}
    linked: list[Operation] = []
    private: dict[str, list[Operation]] = defaultdict(list)
    for part in parts:
        linked.extend(_renamed(part, public, private, taken))
    region = Region([Block([], linked)])
    first = modules[0]
    module = build_operation("builtin.module", [], [], first.location, members=first.properties, regions=[region])
    module.attributes = _merged_attributes(modules)
    return module


def is_private(op: Operation) -> bool:
    """Return whether a symbol is visible in its module only. Functions say so; others, such as meshes, all are."""
    return op.name != "func.func" or op.properties.get("sym_visibility") == "private"


def _public_definitions(parts: Sequence[Sequence[Operation]]) -> dict[str, Operation]:
    found: dict[str, Operation] = {}
    for op in (op for part in parts for op in part):
        name = symbol_name(op)
        if name is None or is_declaration(op) or is_private(op):
            continue
        if name in found:
            raise _conflict(f"public symbol @{name} is defined twice", op, found[name], "first defined here")
        found[name] = op
    return found


def _check_declarations(parts: Sequence[Sequence[Operation]], public: dict[str, Operation]) -> None:
    for op in (op for part in parts for op in part if is_declaration(op)):
        name = symbol_name(op) or ""
        definition = public.get(name)
        if definition is None or definition.name != "func.func":
            continue
        declared, defined = op.properties["function_type"], definition.properties["function_type"]
        if declared != defined:
            message = f"@{name} is declared as {declared}, but defined as {defined}"
            raise _conflict(message, op, definition, "defined here")


def _conflict(message: str, op: Operation, other: Operation, note: str) -> InvalidError:
    return InvalidError([Diagnostic(message, op.location), Diagnostic(note, other.location, "note")])


def _renamed(
    part: Sequence[Operation], public: dict[str, Operation], private: dict[str, list[Operation]], taken: set[str]
) -> list[Operation]:
    """Return the operations of one module under names that are unique in all; those that exist already are left out."""
    names: dict[str, str] = {}
    kept: list[Operation] = []
    own = {name for op in part if (name := symbol_name(op)) is not None and not is_declaration(op)}
    for op in part:
        name = symbol_name(op)
        if name is None:
            kept.append(op)
        elif is_declaration(op):
            if name not in public and not any(is_declaration(other) for other in private[name]):
                private[name].append(op)
                kept.append(op)
        elif not is_private(op):
            kept.append(op)
        elif (same := _equal_to(op, private[name])) is not None and not op.regions:
            names[name] = symbol_name(same) or name
        else:
            if name in public or private[name]:
                names[name] = unused_name(name, taken)
            private[name].append(op)
            kept.append(op)
    _rename(part, {old: new for old, new in names.items() if old in own and old != new})
    return kept


def _equal_to(op: Operation, others: Sequence[Operation]) -> Operation | None:
    """Return an op that says the same as `op`, but perhaps for its name."""

    def key(op: Operation) -> object:
        named = clone(op, {})
        named.properties = {**named.properties, "sym_name": ""}
        return operation_key(named)

    return next((other for other in others if not is_declaration(other) and key(other) == key(op)), None)


def _rename(part: Sequence[Operation], names: dict[str, str]) -> None:
    if not names:
        return
    for op in part:
        name = symbol_name(op)
        if name in names:
            op.properties = {**op.properties, "sym_name": names[name]}
        for inner in op.walk():
            rename_uses(inner, names)


def _merged_attributes(modules: Sequence[Operation]) -> dict[str, object]:
    merged: dict[str, object] = {}
    for module in modules:
        for name, value in module.attributes.items():
            if name in merged and frozen(merged[name]) != frozen(value):
                raise InvalidError(f"modules have different values of the attribute '{name}'", module.location)
            merged[name] = value
    return merged
