"""In which order attributes, types, names of ops and values are numbered: as MLIR does, so that bytes agree.

What is used more often comes first, and what has the same dialect stands together, but only as far as that makes no
number longer: numbers of up to 7 bits take one byte, those of up to 14 bits two, and so on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from stablehlo_ref.bytecode.pool import Encodings, Entry, Pool, Reference
from stablehlo_ref.ir.core import Value
from stablehlo_ref.limits.budget import within_time


class WrittenName(NamedTuple):
    """What is written of an op's name and attributes."""

    name: str
    is_registered: bool
    dictionary: int | None
    properties: Sequence[tuple[int | None, bool]] | None  # an attribute and whether it is optional; None without any
    suffix: bytes  # of the properties
    encodings: Encodings  # of the types
    is_replaced: bool  # by another revision of the op


@dataclass
class WrittenOp:
    """An operation as it is written, with indexes of the pool in place of attributes and types."""

    own: WrittenName
    location: int
    results: Sequence[int]
    operands: Sequence[Value]
    defined: Sequence[Value]
    successors: Sequence[int]
    regions: Sequence[WrittenRegion]
    is_isolated: bool = False


@dataclass
class WrittenBlock:
    arguments: Sequence[Value]
    types: Sequence[int]
    locations: Sequence[int]
    operations: Sequence[WrittenOp]


@dataclass
class WrittenRegion:
    blocks: Sequence[WrittenBlock]

    @property
    def value_count(self) -> int:
        """The number of values that the region defines, without those of regions inside it."""
        return sum(len(b.arguments) + sum(len(op.defined) for op in b.operations) for b in self.blocks)


@dataclass
class Ranking:
    """How often each thing is used, in the order of first uses."""

    counts: dict[int, int] = field(default_factory=dict)

    def add(self, index: int) -> bool:
        """Count a use; return whether it is the first."""
        is_first = index not in self.counts
        self.counts[index] = self.counts.get(index, 0) + 1
        return is_first

    def order(self, dialect: Mapping[int, int]) -> list[int]:
        """Return the things in the order of their numbers."""
        by_use = sorted(self.counts, key=lambda index: -self.counts[index])
        return list(_grouped(by_use, dialect))


def _grouped(indexes: list[int], dialect: Mapping[int, int]) -> Iterable[int]:
    """Sort by dialect within each range of numbers that take as many bytes."""
    start, length, first = 0, 0, 0
    for size in range(1, 9):
        length = (1 << 7 * size) - length
        part = indexes[start : start + length]
        if not part:
            return
        part.sort(key=lambda index: (dialect[index] != first, dialect[index]))
        first = dialect[part[-1]]
        start += length
        yield from part


class Numbering:
    """Numbers of everything in a program that is written."""

    def __init__(self, root: WrittenOp, pool: Pool) -> None:
        self.pool = pool
        self.values: dict[Value, int] = {}
        self.dialects: dict[str, int] = {}
        self.op_names: dict[tuple[str, bool], int] = {}  # indexes of `_names`
        self._attributes, self._types, self._names = Ranking(), Ranking(), Ranking()
        self.resource_order: dict[int, int] = {}
        self._walk(root)
        self.attributes = self._attributes.order(self._dialects_of(pool.attributes, self._attributes))
        self.types = self._types.order(self._dialects_of(pool.types, self._types))
        names = list(self.op_names)
        self.names = self._names.order({i: self.dialects[dialect_of(names[i][0])] for i in self._names.counts})
        self.attribute_numbers = {index: number for number, index in enumerate(self.attributes)}
        self.type_numbers = {index: number for number, index in enumerate(self.types)}
        self.name_numbers = {names[index]: number for number, index in enumerate(self.names)}

    def _dialects_of(self, entries: Sequence[Entry], ranking: Ranking) -> dict[int, int]:
        return {index: self.dialects[entries[index].dialect] for index in ranking.counts}

    # --- operations ---------------------------------------------------------------------------------------------

    def _walk(self, root: WrittenOp) -> None:
        """Number an op, then the regions inside it, those of later operations first."""
        self._op(root, 0)
        pending = [(region, 0) for region in root.regions]
        while pending:
            region, first = pending.pop()
            next_value = self._region(region, first)
            for op in (op for block in region.blocks for op in block.operations):
                pending += [(inner, 0 if op.is_isolated else next_value) for inner in op.regions]

    def _region(self, region: WrittenRegion, next_value: int) -> int:
        """Number a region without the regions inside it, and return the number after its last value."""
        for block in region.blocks:
            for argument, type, location in zip(block.arguments, block.types, block.locations):
                self.values[argument] = next_value
                next_value += 1
                self._entry("attribute", location)
                self._entry("type", type)
            for op in within_time(block.operations, "writing bytecode"):
                next_value = self._op(op, next_value)
        return next_value

    def _op(self, op: WrittenOp, next_value: int) -> int:
        own = op.own
        self._dialect(dialect_of(own.name))
        self._names.add(self.op_names.setdefault((own.name, own.is_registered), len(self.op_names)))
        for value, type in zip(op.defined, op.results):
            self.values[value] = next_value
            next_value += 1
            self._entry("type", type)
        if own.dictionary is not None:
            self._entry("attribute", own.dictionary)
        for attribute, _ in own.properties or ():
            if attribute is not None:
                self._entry("attribute", attribute)
        self._entry("attribute", op.location)
        return next_value

    # --- attributes and types -----------------------------------------------------------------------------------

    def _entry(self, kind: str, index: int) -> None:
        """Count a use of an entry; number what it is made of if it is the first use."""
        pending = [Reference(kind, index)]
        while pending:
            reference = pending.pop()
            if reference.kind == "resource":
                self.resource_order.setdefault(reference.number, len(self.resource_order))
                continue
            is_type = reference.kind == "type"
            if not (self._types if is_type else self._attributes).add(reference.number):
                continue
            entry = (self.pool.types if is_type else self.pool.attributes)[reference.number]
            self._dialect(entry.dialect)
            parts = [item for item in entry.items if isinstance(item, Reference) and item.kind != "string"]
            pending += reversed(parts)

    def _dialect(self, name: str) -> None:
        self.dialects.setdefault(name, len(self.dialects))


def dialect_of(op: str) -> str:
    """Return the dialect of an op."""
    return op.partition(".")[0]


def isolate(op: WrittenOp) -> None:
    """Find out which ops have regions that use no values from outside."""
    _outer_values(op)


def _outer_values(op: WrittenOp) -> set[Value]:
    """Return the values that the regions of an op use from outside, and note whether there are any."""
    used: set[Value] = set()
    inside: set[Value] = set()
    for block in (block for region in op.regions for block in region.blocks):
        inside.update(block.arguments)
        for inner in block.operations:
            inside.update(inner.defined)
            used.update(inner.operands)
            if inner.regions:
                used |= _outer_values(inner)
    outer = used - inside
    op.is_isolated = bool(op.regions) and not outer
    return outer
