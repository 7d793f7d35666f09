"""Backward slices: what a value is computed from, through loops, branches and calls."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from itertools import islice

from stablehlo_ref.debug.cut import operands_of
from stablehlo_ref.debug.exceptions.findings import Place, Slice
from stablehlo_ref.debug.origins import CALLS
from stablehlo_ref.execute.regions import CONSTANTS
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.locations import model_location
from stablehlo_ref.ir.value_index import ValueIndex, defining_op
from stablehlo_ref.passes.call_graph import functions
from stablehlo_ref.syntax.places import defined_at

MOST = 32  # ops of a slice


def place_of(index: ValueIndex, value: Value) -> Place:
    """Return the name of a value and where it is computed."""
    owner = value.owner
    location = owner.debug_location if isinstance(owner, Operation) else value.location
    op = owner.name if isinstance(owner, Operation) else None
    return Place(index.unique_name(value), op, str(defined_at(value) or ""), model_location(location))


def place_of_op(index: ValueIndex, op: Operation) -> Place:
    """Return the name of an op's first result and where the op is."""
    name = index.unique_name(op.results[0]) if op.results else op.name
    return Place(name, op.name, str(op.location), model_location(op.debug_location))


class Slicer:
    """Finds backward slices in a module."""

    def __init__(self, index: ValueIndex, most: int = MOST) -> None:
        self._index = index
        self._most = most
        self._known: dict[Value, Place] = {}
        self._direct: dict[Value, Sequence[Value]] = {}
        self._functions = functions(index.module)
        self._callers: dict[str, list[Operation]] = defaultdict(list)
        for op in index.module.walk():
            if op.name in CALLS:
                self._callers[str(op.properties[CALLS[op.name]])].append(op)

    def __call__(self, values: Iterable[Value], most: int | None = None) -> Slice:
        """Return what values are computed from, breadth first; after `most` ops no further ones are looked at."""
        pending, seen = deque(values), set[Value]()
        ops: dict[Operation, None] = {}
        inputs, constants = [], []
        while pending and (most is None or len(ops) < most):
            value = pending.popleft()
            if value in seen:
                continue
            seen.add(value)
            owner = value.owner
            if isinstance(owner, Operation):
                if owner.name in CONSTANTS:
                    constants.append(value)
                    continue
                ops[owner] = None
            sources = self._sources(value)
            if not sources and isinstance(owner, Block):
                inputs.append(value)
            pending.extend(sources)
        shown = tuple(place_of_op(self._index, op) for op in islice(ops, self._most))
        return Slice(shown, self._places(inputs), self._places(constants), len(ops) - len(shown))

    def _places(self, values: Sequence[Value]) -> tuple[Place, ...]:
        for value in values:
            if value not in self._known:
                self._known[value] = place_of(self._index, value)
        return tuple(self._known[value] for value in values)

    def _sources(self, value: Value) -> Sequence[Value]:
        """Return the values that a value directly depends on."""
        if value not in self._direct:
            self._direct[value] = self._find_sources(value)
        return self._direct[value]

    def _find_sources(self, value: Value) -> Sequence[Value]:
        if isinstance(value.owner, Block):
            return self._of_argument(value, value.owner)
        op = value.owner
        if op is None:
            return []
        function = self._functions.get(str(op.properties.get(CALLS.get(op.name, ""), "")))
        if function is not None:
            return _yielded(function.regions, value.index)
        return [*_yielded(op.regions, value.index), *operands_of(op)] if op.regions else op.operands

    def _of_argument(self, value: Value, block: Block) -> list[Value]:
        op = defining_op(value)
        if op is None:
            return []
        if op.name == "func.func":
            calls = self._callers[str(op.properties["sym_name"])]
            return [call.operands[value.index] for call in calls if value.index < len(call.operands)]
        if op.name == "stablehlo.while":
            return [op.operands[value.index], *_yielded(op.regions[1:], value.index)]
        return op.operands


def _yielded(regions: Iterable[Region], index: int) -> list[Value]:
    """Return what the terminators of regions return at an index."""
    ends = [block.operations[-1].operands for region in regions for block in region.blocks if block.operations]
    return [values[index] for values in ends if index < len(values)]
