"""What `opt` prints: counts of ops, the graph of values, and ops that a consumer lacks; and what it leaves out."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache

from stablehlo_ref.diagnostics import Diagnostic
from stablehlo_ref.ir.attributes import DenseElements, DenseResource, rebuilt
from stablehlo_ref.ir.core import Operation, Region, Value, symbol_name
from stablehlo_ref.passes.registry import transformation


def op_counts(module: Operation) -> dict[str, int]:
    """Return the number of ops by name, in alphabetical order; the module itself counts too."""
    return dict(sorted(Counter(op.name for op in module.walk()).items()))


def as_table(counts: Mapping[str, int]) -> str:
    """Return counts as MLIR's `--print-op-stats` prints them."""
    width = max(map(len, counts), default=0)
    rows = (f"  {name:{width}} , {count}" for name, count in counts.items())
    return "\n".join(["Operations encountered:", "-----------------------", *rows]) + "\n"


def as_json(counts: Mapping[str, int]) -> str:
    """Return counts as a JSON object."""
    return json.dumps(counts, indent=2) + "\n"


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
    symbol = symbol_name(op)
    label = _quoted(op.name if symbol is None else f"{op.name} @{symbol}")
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
        for argument in block.arguments:
            numbers[argument] = len(numbers)
            label = _quoted(f"%{argument.name or f'arg{argument.index}'}: {argument.type}")
            yield f"{indent}  v{numbers[argument]} [label = {label}, shape = ellipse];"
        for op in block.operations:
            yield from _nodes(op, numbers, depth + 1)
    yield f"{indent}}}"


def _edges(op: Operation, numbers: dict[Operation | Value, int]) -> Iterator[str]:
    for operand in op.operands:
        source = operand.producer or operand
        if source in numbers and op in numbers:
            yield f"  v{numbers[source]} -> v{numbers[op]} [label = {_quoted(str(operand.type))}];"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def parse_supported(text: str) -> tuple[str, ...]:
    """Return the names in a list of ops, one a line; `*` stands for anything, `#` starts a comment."""
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return tuple(line for line in lines if line)


def unsupported_ops(module: Operation, supported: Iterable[str]) -> list[Diagnostic]:
    """Return an error for each op name in a module that is not supported, at the first place where it occurs.

    The module and its functions count as supported, as does what ends a block.
    """
    patterns = (*supported, "builtin.module", "func.func", "func.return", "stablehlo.return")

    @cache
    def is_supported(name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in patterns)

    found: dict[str, list[Operation]] = defaultdict(list)
    for op in module.walk():
        if not is_supported(op.name):
            found[op.name].append(op)
    times = {name: "once" if len(ops) == 1 else f"{len(ops)} times" for name, ops in found.items()}
    reason = "is not among the supported ops; the program has it"
    return [Diagnostic(f"'{name}' {reason} {times[name]}", ops[0].location) for name, ops in found.items()]


# --- what is left out -------------------------------------------------------------------------------------------------


@transformation("strip-debuginfo", "remove the locations of ops and arguments")
def strip_debuginfo(module: Operation) -> None:
    """Remove `loc(...)` of all operations and block arguments."""
    for op in module.walk():
        op.debug_location = None
        for argument in op.block_arguments:
            argument.location = None


PLACEHOLDER = "__elided__"  # MLIR's


def elide_constants(module: Operation, larger_than: int) -> None:
    """Replace tensor constants of more than `larger_than` elements by `dense_resource<__elided__>`, except splats.

    The result shows the structure of a program; it parses, but does not run.
    """

    def elided(attribute: object) -> object:
        match attribute:
            case DenseElements(type=type, array=array) if array.size > larger_than and any(array.strides):
                return DenseResource(PLACEHOLDER, type)
        return attribute

    for op in module.walk():
        op.properties, op.attributes = rebuilt(op.properties, elided), rebuilt(op.attributes, elided)
