"""What functions call: which communicate with other processes, and calls of which count as steps of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from functools import cache
from math import inf

from stablehlo_ref.define.definition import REGISTRY, resolve
from stablehlo_ref.define.local_tensors import CALLEES, callee
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.passes.call_graph import bottom_up

FEW_CALLS, FEW_NESTED = 1000, 64  # calls that a call may lead to, in all and inside each other, without being counted


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


def counted(functions: Mapping[str, Iterable[Operation]]) -> set[str]:
    """Return the names of the functions whose calls count for the limits of steps and depth.

    These are recursive ones, and those that lead to many calls: any other makes few for each iteration.
    """
    graph = {
        name: Counter(n for op in operations if _may_call(op.name) for n in _called(op))
        for name, operations in functions.items()
    }
    calls: dict[str, float] = {}  # that a call of each function leads to, with itself
    depths: dict[str, float] = {}
    for component in bottom_up(graph):
        for name in component:
            is_recursive = len(component) > 1 or name in graph[name]
            calls[name] = inf if is_recursive else 1 + sum(n * calls.get(c, 0) for c, n in graph[name].items())
            depths[name] = inf if is_recursive else 1 + max((depths.get(c, 0) for c in graph[name]), default=0)
    return {name for name in calls if calls[name] > FEW_CALLS or depths[name] > FEW_NESTED}


def _called(op: Operation) -> list[str]:
    """Return the names of the functions that an op calls, also of those that a host function may call."""
    return [callee(op), *op.properties.get("called_computations", ())]


@cache
def _may_call(name: str) -> bool:
    definition = REGISTRY.get(name)
    return definition is None or any(a in definition.attributes for a in (*CALLEES, "called_computations"))


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
