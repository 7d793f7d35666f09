"""The sections of a bytecode file, from a program whose attributes and types are in a pool.

Attributes, types, names of ops and values are numbered as MLIR does, so that bytes agree. What is used more often comes
first, and what has the same dialect stands together, but only as far as that makes no number longer: numbers of up to 7
bits take one byte, those of up to 14 bits two, and so on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple, TypeVar

from stablehlo_ref.bytecode.encoding import Emitter, encode_varint
from stablehlo_ref.bytecode.encodings import numbers
from stablehlo_ref.bytecode.entries import Blob, Encodings, Entry, Item, Pool, Reference
from stablehlo_ref.bytecode.reader import (
    HAS_ATTRIBUTES,
    HAS_OPERANDS,
    HAS_PROPERTIES,
    HAS_REGIONS,
    HAS_RESULTS,
    HAS_SUCCESSORS,
    HAS_USE_LIST_ORDERS,
)
from stablehlo_ref.bytecode.sections import BLOB, MAGIC, FormatVersion, Section
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.attributes import DenseResource
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.locations import UNKNOWN_LOCATION
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.syntax.printer import blob_alignment, blob_elements

T = TypeVar("T")
Use = tuple[bool, int, int]  # whether its op was replaced, the number of the op, the number of the operand


class WrittenName(NamedTuple):
    """The name and attributes of an op as they are written: attributes by their indexes in the pool."""

    name: str
    is_registered: bool
    dictionary: int | None
    properties: Sequence[tuple[int | None, bool]] | None  # an attribute and whether it is optional; None without any
    suffix: bytes  # of the properties
    encodings: Encodings  # of the types
    is_replaced: bool  # by another revision of the op


@dataclass
class WrittenProgram:
    """An op with all inside it, and indexes of the pool: of locations, and of the types of values."""

    root: Operation
    pool: Pool
    names: dict[Operation, WrittenName] = field(default_factory=dict)
    locations: dict[Operation | Value, int] = field(default_factory=dict)  # of ops and of arguments of blocks
    types: dict[Value, int] = field(default_factory=dict)


def emit(program: WrittenProgram, version: int, producer: str) -> bytes:
    """Return the file that holds a program."""
    return b"".join(_FileEmitter(program, version).file(producer).parts())


# --- order of uses --------------------------------------------------------------------------------------------------


def use_orders(program: WrittenProgram) -> dict[Value, list[int]]:
    """Return, for each value whose uses are out of order, the position in MLIR's list of each use, latest op first."""
    ops = list(program.root.walk())
    replaced = {op for op in ops if program.names[op].is_replaced}
    changed = {operand for op in replaced for operand in op.operands}
    uses: dict[Value, list[Use]] = {}
    for number, op in enumerate(ops if changed else ()):
        for index, operand in enumerate(op.operands):
            if operand in changed and operand.owner not in replaced:
                uses.setdefault(operand, []).append((op in replaced, number, index))
    return {value: order for value, found in uses.items() if len(found) > 1 and (order := _order(found))}


def _order(uses: Sequence[Use]) -> list[int] | None:
    """Return the positions of uses, those of the latest ops first; None if they are in order."""
    newest_first = sorted(uses, reverse=True)
    positions = {use: position for position, use in enumerate(newest_first)}
    order = [positions[use] for use in sorted(uses, key=lambda use: use[1:], reverse=True)]
    return None if order == list(range(len(order))) else order


def encoded_orders(values: Sequence[Value], orders: dict[Value, list[int]]) -> list[int]:
    """Return the numbers that state the orders of a block's arguments or an op's results; none if there is no order."""
    given = [(index, orders[value]) for index, value in enumerate(values) if value in orders]
    if not given:
        return []
    written = [len(given)] if len(values) != 1 else []
    for index, order in given:
        written += [index] if len(values) != 1 else []
        written += _encoded_order(order)
    return written


def _encoded_order(order: list[int]) -> list[int]:
    """Return the length of an order and the order, or pairs of positions if fewer than half of them are moved."""
    moved = [number for pair in enumerate(order) if pair[0] != pair[1] for number in reversed(pair)]
    if len(moved) // 2 < len(order) // 2:
        return [len(moved) << 1 | 1, *moved]
    return [len(order) << 1, *order]


# --- numbers --------------------------------------------------------------------------------------------------------


class Numbering:
    """The numbers of values, dialects, names, attributes and types of a program, each kind in ascending order."""

    def __init__(self, program: WrittenProgram) -> None:
        self.program = program
        self.values: dict[Value, int] = {}
        self.dialects: dict[str, int] = {}
        self.resources: dict[str, int] = {}  # by key
        self.isolated: set[Operation] = set()  # ops whose regions use no values from outside
        self._names: Counter[tuple[str, bool]] = Counter()  # how often each is used, in the order of first uses
        self._attributes: Counter[int] = Counter()
        self._types: Counter[int] = Counter()
        self._outer_values(program.root)
        self._walk(program.root)
        pool = program.pool
        self.names = self._numbers(self._names, lambda name: dialect_of(name[0]))
        self.attributes = self._numbers(self._attributes, lambda index: pool.attributes[index].dialect)
        self.types = self._numbers(self._types, lambda index: pool.types[index].dialect)

    def _outer_values(self, op: Operation) -> set[Value]:
        """Return the values that the regions of an op use from outside, and note whether there are any."""
        used: set[Value] = set()
        inside: set[Value] = set()
        for block in (block for region in op.regions for block in region.blocks):
            inside.update(block.arguments)
            for inner in block.operations:
                inside.update(inner.results)
                used.update(inner.operands)
                if inner.regions:
                    used |= self._outer_values(inner)
        outer = used - inside
        if op.regions and not outer:
            self.isolated.add(op)
        return outer

    def _numbers(self, counts: Counter[T], dialect: Callable[[T], str]) -> dict[T, int]:
        """Number things by how often they are used, and by dialect within each range of numbers of as many bytes."""
        by_use = [thing for thing, _ in counts.most_common()]
        ordered: list[T] = []
        length, first = 0, 0
        for size in range(1, 9):
            length = (1 << 7 * size) - length
            part = [(self.dialects[dialect(t)], t) for t in by_use[len(ordered) : len(ordered) + length]]
            part.sort(key=lambda each: (each[0] != first, each[0]))
            ordered += [thing for _, thing in part]
            first = part[-1][0] if part else first
        return {thing: number for number, thing in enumerate(ordered)}

    def _walk(self, root: Operation) -> None:
        """Number an op, then the regions inside it, those of later operations first."""
        self._op(root, 0)
        pending = [(region, 0) for region in root.regions]
        while pending:
            region, first = pending.pop()
            next_value = self._region(region, first)
            for op in (op for block in region.blocks for op in block.operations):
                pending += [(inner, 0 if op in self.isolated else next_value) for inner in op.regions]

    def _region(self, region: Region, next_value: int) -> int:
        """Number a region without the regions inside it, and return the number after its last value."""
        for block in region.blocks:
            for argument in block.arguments:
                self.values[argument] = next_value
                next_value += 1
                self._entry("attribute", self.program.locations[argument])
                self._entry("type", self.program.types[argument])
            for op in within_time(block.operations, "writing bytecode"):
                next_value = self._op(op, next_value)
        return next_value

    def _op(self, op: Operation, next_value: int) -> int:
        own = self.program.names[op]
        self._dialect(dialect_of(own.name))
        self._names[own.name, own.is_registered] += 1
        for result in op.results:
            self.values[result] = next_value
            next_value += 1
            self._entry("type", self.program.types[result])
        for attribute in (own.dictionary, *(attribute for attribute, _ in own.properties or ())):
            if attribute is not None:
                self._entry("attribute", attribute)
        self._entry("attribute", self.program.locations[op])
        return next_value

    def _entry(self, kind: str, index: int) -> None:
        """Count a use of an entry; at its first use, count and number its parts too."""
        pending = [(kind, index)]
        while pending:
            kind, index = pending.pop()
            counts = self._types if kind == "type" else self._attributes
            counts[index] += 1
            if counts[index] > 1:
                continue
            entry = (self.program.pool.types if kind == "type" else self.program.pool.attributes)[index]
            self._dialect(entry.dialect)
            for item in reversed(entry.items):
                match item:
                    case Reference("resource", str(key)):
                        self.resources.setdefault(key, len(self.resources))
                    case Reference(kind, int(index)):
                        pending.append((kind, index))

    def _dialect(self, name: str) -> None:
        self.dialects.setdefault(name, len(self.dialects))


def dialect_of(op: str) -> str:
    """Return the dialect of an op."""
    return op.partition(".")[0]


# --- sections -------------------------------------------------------------------------------------------------------


class _FileEmitter:
    def __init__(self, program: WrittenProgram, version: int) -> None:
        self.program = program
        self.pool = program.pool
        self.version = version
        self.numbering = Numbering(program)
        self.strings: dict[str, int] = {}  # by their numbers, in the order of first uses
        self.properties: dict[bytes, int] = {}
        self.orders = use_orders(program) if version >= FormatVersion.USE_LIST_ORDERS else {}
        self.unknown_location = self.pool.location(UNKNOWN_LOCATION)

    def file(self, producer: str) -> Emitter:
        emitter = Emitter()
        emitter.data(MAGIC)
        emitter.varint(self.version)
        emitter.data(producer.encode() + b"\0")
        emitter.section(Section.DIALECTS, self._dialects())
        offsets, entries = self._entries()
        emitter.section(Section.ATTRIBUTE_AND_TYPE_OFFSETS, offsets)
        emitter.section(Section.ATTRIBUTES_AND_TYPES, entries)
        emitter.section(Section.IR, self._ir())
        offsets, resources = self._resources()
        emitter.section(Section.RESOURCE_OFFSETS, offsets)
        emitter.section(Section.RESOURCES, resources)
        emitter.section(Section.STRINGS, self._strings())
        if self.version >= FormatVersion.PROPERTIES:
            emitter.section(Section.PROPERTIES, self._properties())
        return emitter

    def _string(self, string: str) -> int:
        return self.strings.setdefault(string, len(self.strings))

    def _strings(self) -> Emitter:
        encoded = [string.encode("utf-8", "surrogateescape") + b"\0" for string in self.strings]
        emitter = Emitter()
        emitter.varints([len(encoded), *map(len, reversed(encoded))])
        emitter.data(b"".join(encoded))
        return emitter

    # --- dialects, attributes and types -------------------------------------------------------------------------

    def _dialects(self) -> Emitter:
        emitter, numbering, version = Emitter(), self.numbering, self.version
        emitter.varint(len(numbering.dialects))
        for dialect in numbering.dialects:
            emitter.varint(self._string(dialect) << (version >= FormatVersion.DIALECT_VERSIONS))
        if version >= FormatVersion.ELIDED_LOCATIONS:
            emitter.varint(len(numbering.names))

        def write_name(name: tuple[str, bool]) -> None:
            number = self._string(name[0].partition(".")[2])
            emitter.varint(number << 1 | name[1] if version >= FormatVersion.PROPERTIES else number)

        self._write_groups(emitter, numbering.names, lambda name: dialect_of(name[0]), write_name)
        return emitter

    def _write_groups(
        self, emitter: Emitter, items: Iterable[T], dialect: Callable[[T], str], write: Callable[[T], None]
    ) -> None:
        """Write items after the number of their dialect and their number, for each run of one dialect."""
        for name, run in groupby(items, dialect):
            group = list(run)
            emitter.varints([self.numbering.dialects[name], len(group)])
            for item in group:
                write(item)

    def _entries(self) -> tuple[Emitter, Emitter]:
        """Return the lengths of attributes and types, and their encodings."""
        offsets, contents = Emitter(), Emitter()
        attributes = [self.pool.attributes[index] for index in self.numbering.attributes]
        types = [self.pool.types[index] for index in self.numbering.types]
        offsets.varints([len(attributes), len(types)])

        def write_entry(entry: Entry) -> None:
            start = len(contents)
            for item in entry.items:
                self._item(contents, item)
            offsets.flagged_varint(len(contents) - start, entry.is_custom)

        for entries in (attributes, types):
            self._write_groups(offsets, entries, lambda entry: entry.dialect, write_entry)
        return offsets, contents

    def _item(self, emitter: Emitter, item: Item) -> None:
        match item:
            case bytes():
                emitter.data(item)
            case Blob(data):
                emitter.blob(data)
            case Reference("string", str(string)):
                emitter.varint(self._string(string))
            case Reference("resource", str(key)):
                emitter.varint(self.numbering.resources[key])
            case Reference("type", int(index)):
                emitter.varint(self.numbering.types[index])
            case Reference(kind, int(index)):
                number = self.numbering.attributes[index]
                emitter.varint(number << 1 | 1 if kind == "optional" else number)

    # --- operations ---------------------------------------------------------------------------------------------

    def _ir(self) -> Emitter:
        emitter = Emitter()
        emitter.flagged_varint(1, False)
        self._op(emitter, self.program.root, {})
        return emitter

    def _op(self, emitter: Emitter, op: Operation, labels: dict[str, int]) -> None:
        """Write an op; `labels` are the numbers of the blocks around it."""
        numbering, own = self.numbering, self.program.names[op]
        mask, rest = 0, [numbering.attributes[self.program.locations[op]]]
        if own.dictionary is not None:
            mask |= HAS_ATTRIBUTES
            rest.append(numbering.attributes[own.dictionary])
        if own.properties is not None:
            mask |= HAS_PROPERTIES
            rest.append(self._properties_number(own))
        for flag, values in (
            (HAS_RESULTS, [numbering.types[self.program.types[result]] for result in op.results]),
            (HAS_OPERANDS, [numbering.values[operand] for operand in op.operands]),
            (HAS_SUCCESSORS, [labels[label] for label in op.successors]),
        ):
            if values:
                mask |= flag
                rest += [len(values), *values]
        if orders := encoded_orders(op.results, self.orders) if self.orders else []:
            mask |= HAS_USE_LIST_ORDERS
            rest += orders
        emitter.varint(numbering.names[own.name, own.is_registered])
        emitter.byte(mask | HAS_REGIONS if op.regions else mask)
        emitter.varints(rest)
        if op.regions:
            self._regions(emitter, op)

    def _regions(self, emitter: Emitter, op: Operation) -> None:
        is_isolated = op in self.numbering.isolated
        emitter.flagged_varint(len(op.regions), is_isolated)
        has_section = is_isolated and self.version >= FormatVersion.LAZY_LOADING
        content = Emitter() if has_section else emitter
        for region in op.regions:
            self._region(content, region)
        if has_section:
            emitter.section(Section.IR, content)

    def _region(self, emitter: Emitter, region: Region) -> None:
        emitter.varint(len(region.blocks))
        if region.blocks:
            emitter.varint(sum(len(b.arguments) + sum(len(op.results) for op in b.operations) for b in region.blocks))
        labels = {block.label: number for number, block in enumerate(region.blocks)}
        for block in region.blocks:
            self._block(emitter, block, labels)

    def _block(self, emitter: Emitter, block: Block, labels: dict[str, int]) -> None:
        emitter.flagged_varint(len(block.operations), bool(block.arguments))
        if block.arguments:
            emitter.varint(len(block.arguments))
            for argument in block.arguments:
                self._argument(emitter, argument)
            if self.version >= FormatVersion.USE_LIST_ORDERS:
                orders = encoded_orders(block.arguments, self.orders)
                emitter.byte(bool(orders) * HAS_USE_LIST_ORDERS)
                emitter.varints(orders)
        for op in within_time(block.operations, "writing bytecode"):
            self._op(emitter, op, labels)

    def _argument(self, emitter: Emitter, argument: Value) -> None:
        type, location = self.numbering.types[self.program.types[argument]], self.program.locations[argument]
        has_location = location != self.unknown_location
        if self.version < FormatVersion.ELIDED_LOCATIONS:
            emitter.varint(type)
        else:
            emitter.flagged_varint(type, has_location)
        if has_location or self.version < FormatVersion.ELIDED_LOCATIONS:
            emitter.varint(self.numbering.attributes[location])

    # --- properties ---------------------------------------------------------------------------------------------

    def _properties_number(self, own: WrittenName) -> int:
        encoded = b"".join(self._property(*property) for property in own.properties or ()) + own.suffix
        return self.properties.setdefault(encoded, len(self.properties))

    def _property(self, attribute: int | None, is_optional: bool) -> bytes:
        if attribute is None:
            return encode_varint(0)
        number = self.numbering.attributes[attribute]
        return encode_varint(number << 1 | 1 if is_optional else number)

    def _properties(self) -> Emitter:
        emitter = Emitter()
        emitter.varint(len(self.properties))
        for encoded in self.properties:
            emitter.varint(len(encoded))
            emitter.data(encoded)
        return emitter

    # --- resources ----------------------------------------------------------------------------------------------

    def _resources(self) -> tuple[Emitter, Emitter]:
        """Return keys and lengths of the resources, and their contents."""
        offsets, contents = Emitter(), Emitter()
        offsets.varint(0)  # groups of external resources
        if self.numbering.resources:
            offsets.varints([self.numbering.dialects["builtin"], len(self.numbering.resources)])
        for key in self.numbering.resources:
            resource, start = self.pool.resources[key], len(contents)
            if resource.array is not None:
                self._resource(contents, resource)
            offsets.varints([self._string(key), len(contents) - start])
            offsets.byte(BLOB)
        return offsets, contents

    def _resource(self, emitter: Emitter, resource: DenseResource) -> None:
        data, alignment = numbers.bytes_of(blob_elements(resource)), blob_alignment(resource)
        if alignment & (alignment - 1):
            raise UnsupportedError(f"bytecode cannot align resource '{resource.key}' to {alignment} bytes")
        emitter.varints([alignment, len(data)])
        emitter.align(alignment)
        emitter.blob(data)
