"""Operations as flat lists, for pickling and copying.

A program is a graph: operations point to their block and to the values that they use, values to the operation that
defines them. Pickle follows pointers recursively, and would exceed Python's recursion limit in nested regions and in
chains of location aliases. So pickled programs hold values by number, operations in the order of `Operation.walk`, and
location aliases separately from their targets.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from stablehlo_ref.diagnostics import Location
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.locations import DebugLocation, LocationAlias, nested_locations
from stablehlo_ref.ir.types import Type
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.limits.stack import is_large, on_enough_stack


class FlatValue(NamedTuple):
    """A value; `number` is its index among the results of its operation or the arguments of its block."""

    type: Type
    number: int
    name: str
    location: DebugLocation | None


class FlatBlock(NamedTuple):
    """A block: numbers of values, and how many operations it has."""

    label: str
    arguments: Sequence[int]
    size: int


class FlatOperation(NamedTuple):
    """An operation, whose operands and results are numbers of values."""

    name: str
    operands: Sequence[int]
    results: Sequence[int]
    properties: Mapping[str, object]
    attributes: Mapping[str, Any]
    regions: tuple[tuple[FlatBlock, ...], ...]
    successors: Sequence[str]
    location: Location
    debug_location: DebugLocation | None
    spelling: str


class FlatProgram(NamedTuple):
    """An operation and all inside it. `aliases` are pairs of a location alias and its target."""

    operations: list[FlatOperation]
    values: list[FlatValue]
    aliases: list[tuple[LocationAlias, DebugLocation | None]]


def flatten(root: Operation) -> FlatProgram:
    """Return an operation, which uses no values from outside, as flat lists."""
    numbers: dict[Value, int] = {}

    def number(values: Iterable[Value]) -> tuple[int, ...]:
        return tuple(numbers.setdefault(value, len(numbers)) for value in values)

    operations = [_flat_operation(op, number) for op in within_time(root.walk(), "the copy of the program")]
    values = [FlatValue(v.type, v.index, v.name, v.location) for v in numbers]
    locations = [*(op.debug_location for op in operations), *(v.location for v in values)]
    aliases = [(alias, alias.target) for alias in _aliases(locations)]
    return FlatProgram(operations, values, aliases)


def _flat_operation(op: Operation, number: Callable[[Iterable[Value]], tuple[int, ...]]) -> FlatOperation:
    regions = tuple(
        tuple(FlatBlock(b.label, number(b.arguments), len(b.operations)) for b in region.blocks)
        for region in op.regions
    )
    return FlatOperation(
        op.name, number(op.operands), number(op.results), op.properties, op.attributes, regions,
        tuple(op.successors), op.location, op.debug_location, op.spelling,
    )  # fmt: skip


def _aliases(locations: Iterable[DebugLocation | None]) -> Iterator[LocationAlias]:
    """Yield each alias that locations refer to, directly or not, once."""
    pending = [location for location in locations if location is not None]
    seen: set[int] = set()
    while pending:
        location = pending.pop()
        if id(location) in seen:
            continue
        seen.add(id(location))
        if isinstance(location, LocationAlias):
            yield location
        pending.extend(nested_locations(location))


def picklable(root: Operation) -> FlatProgram | bytes:
    """Return an operation as flat lists, pickled if this thread's stack is too small for nested types and locations."""
    flat = flatten(root)
    return flat if is_large() else on_enough_stack(root.location, 0, pickle.dumps, flat)


def restore(flat: FlatProgram | bytes) -> Operation:
    """Return a copy of the operation that was flattened."""
    if isinstance(flat, bytes):
        return restore(pickle.loads(flat))
    for alias, target in flat.aliases:
        alias.target = target
    values = [Value(v.type, None, v.number, v.name) for v in flat.values]
    for value, described in zip(values, flat.values):
        value.location = described.location
    # From the last operation to the first, those inside an operation are complete, and on top of the stack, before it.
    stack: list[Operation] = []
    for described_op in within_time(reversed(flat.operations), "the copy of the program"):
        stack.append(_restored(described_op, values, stack))
    (root,) = stack
    return root


def _restored(flat: FlatOperation, values: list[Value], stack: list[Operation]) -> Operation:
    regions = [
        Region([Block([values[a] for a in b.arguments], [stack.pop() for _ in range(b.size)], b.label) for b in blocks])
        for blocks in flat.regions
    ]
    operands = [values[operand] for operand in flat.operands]
    op = Operation(flat.name, operands, (), dict(flat.properties), dict(flat.attributes), regions, flat.location)
    op.results = [values[result] for result in flat.results]
    for result in op.results:
        result.owner = op
    op.successors = list(flat.successors) or ()
    op.debug_location, op.spelling = flat.debug_location, flat.spelling
    return op
