"""The data flow of a program as a graph in the DOT language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterator

from stablehlo_ref.ir.core import Block, Operation, Region, Value, symbol_name


def op_graph(module: Operation) -> str:
    """Return a graph with a node for each op and block argument, and an edge for each use of a value.

    Ops with regions are clusters; edges have the types of the values.
    """
    numbers: dict[Operation | Value, int] = {}
    body = [line for op in module.regions[0].block.operations for line in _nodes(op, numbers, 1)]
    edges = [line for op in module.walk() for line in _edges(op, numbers)]
    return "\n".join(["digraph G {", "  compound = true;", "  node [shape = box];", *body, *edges, "}"]) + "\n"


def _nodes(op: Operation, numbers: dict[Operation | Value, int], depth: int) -> Iterator[str]:
    indent = "  " * depth
    name = numbers[op] = len(numbers)
    label = _quoted(_label(op))
    if not op.regions:
        yield f"{indent}v{name} [label = {label}];"
        return
    yield f"{indent}subgraph cluster_{name} {{"
    yield f"{indent}  label = {label};"
    yield f'{indent}  v{name} [label = "", shape = plain];'  # the end of the edges to and from the op
    for region in op.regions:
        yield from _region(region, numbers, depth + 1)
    yield f"{indent}}}"


def _region(region: Region, numbers: dict[Operation | Value, int], depth: int) -> Iterator[str]:
    indent = "  " * depth
    yield f"{indent}subgraph cluster_r{len(numbers)} {{"
    yield f'{indent}  label = "";'
    for block in region.blocks:
        yield from _arguments(block, numbers, depth + 1)
        for op in block.operations:
            yield from _nodes(op, numbers, depth + 1)
    yield f"{indent}}}"


def _arguments(block: Block, numbers: dict[Operation | Value, int], depth: int) -> Iterator[str]:
    for argument in block.arguments:
        numbers[argument] = len(numbers)
        label = _quoted(f"%{argument.name or f'arg{argument.index}'}: {argument.type}")
        yield f"{'  ' * depth}v{numbers[argument]} [label = {label}, shape = ellipse];"


def _edges(op: Operation, numbers: dict[Operation | Value, int]) -> Iterator[str]:
    for operand in op.operands:
        source = operand.owner if isinstance(operand.owner, Operation) else operand
        if source in numbers and op in numbers:
            yield f"  v{numbers[source]} -> v{numbers[op]} [label = {_quoted(str(operand.type))}];"


def _label(op: Operation) -> str:
    symbol = symbol_name(op)
    return op.name if symbol is None else f"{op.name} @{symbol}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
