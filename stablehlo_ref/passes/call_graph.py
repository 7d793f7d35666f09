"""The functions of a module and which of them call which."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from stablehlo_ref.ir.core import Operation, symbol_name


def functions(module: Operation) -> dict[str, Operation]:
    """Return the functions of a module by name, in the order of the text."""
    operations = module.regions[0].block.operations
    return {name: op for op in operations if op.name == "func.func" and (name := symbol_name(op)) is not None}


def callees(operations: Iterable[Operation]) -> set[str]:
    """Return the names of the functions that the `func.call` ops among some ops call."""
    return {str(op.properties["callee"]) for op in operations if op.name == "func.call"}


def bottom_up(graph: Mapping[str, Collection[str]]) -> Iterator[frozenset[str]]:
    """Yield the strongly connected components of a call graph, each after those that it calls.

    Tarjan's algorithm without recursion, since chains of calls may be long.
    """
    index: dict[str, int] = {}
    lowest: dict[str, int] = {}
    component: list[str] = []
    open_nodes: set[str] = set()
    for root in graph:
        if root in index:
            continue
        pending: list[tuple[str, Iterator[str]]] = [(root, iter(sorted(graph[root])))]
        index[root] = lowest[root] = len(index)
        component.append(root)
        open_nodes.add(root)
        while pending:
            node, following = pending[-1]
            for callee in following:
                if callee not in graph:
                    continue
                if callee not in index:
                    index[callee] = lowest[callee] = len(index)
                    component.append(callee)
                    open_nodes.add(callee)
                    pending.append((callee, iter(sorted(graph[callee]))))
                    break
                if callee in open_nodes:
                    lowest[node] = min(lowest[node], index[callee])
            else:
                pending.pop()
                if pending:
                    caller = pending[-1][0]
                    lowest[caller] = min(lowest[caller], lowest[node])
                if lowest[node] == index[node]:
                    start = component.index(node)
                    members = frozenset(component[start:])
                    del component[start:]
                    open_nodes -= members
                    yield members
