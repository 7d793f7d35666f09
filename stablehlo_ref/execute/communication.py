"""Which functions and ops communicate with other processes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from functools import cache

from stablehlo_ref.define.definition import REGISTRY, resolve
from stablehlo_ref.define.processes import CALLEES, callee
from stablehlo_ref.ir.core import Operation


def communicating(functions: Mapping[str, Iterable[Operation]]) -> set[str]:
    """Return the names of the functions that communicate with other processes, directly or in what they call.

    `functions` are lists of the ops in each.
    """
    callers: dict[str, list[str]] = {}
    pending: list[str] = []
    for name, operations in functions.items():
        for op in operations:
            if _may_communicate(op.name):
                pending += [name] if _itself_communicates(op) else []
                callers.setdefault(callee(op), []).append(name)
    found: set[str] = set()
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += callers.get(name, ())
    return found


def communicates(op: Operation, functions: Set[str]) -> bool:
    """Return whether an op, or an op in its regions, communicates, given the names of the functions that do."""
    inside = op.walk() if op.regions else (op,)
    return any(_may_communicate(o.name) and (callee(o) in functions or _itself_communicates(o)) for o in inside)


@cache
def _may_communicate(name: str) -> bool:
    """Return whether ops of a name communicate or call functions, or may do so depending on their attributes."""
    definition = REGISTRY.get(name)
    if definition is None or definition.variant or definition.traits.communicates:
        return True
    return any(name in definition.attributes for name in CALLEES)


def _itself_communicates(op: Operation) -> bool:
    definition = resolve(op)
    return definition is not None and definition.traits.communicates
