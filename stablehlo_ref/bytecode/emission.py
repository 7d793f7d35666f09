"""The sections of a bytecode file, from operations whose attributes and types are in a pool."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import TypeVar

from stablehlo_ref.bytecode.encoding import Emitter, encode_varint
from stablehlo_ref.bytecode.encodings import numbers
from stablehlo_ref.bytecode.numbering import Numbering, WrittenBlock, WrittenOp, WrittenRegion, dialect_of
from stablehlo_ref.bytecode.pool import Blob, Entry, Pool, Reference
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
from stablehlo_ref.ir.core import Value
from stablehlo_ref.ir.locations import UNKNOWN_LOCATION
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.syntax.printer import blob_alignment, blob_elements

Use = tuple[bool, int, int]  # whether its op was replaced, the number of the op, the number of the operand


def use_orders(root: WrittenOp) -> dict[Value, list[int]]:
    """Return, for each value whose uses are out of order, the position in MLIR's list of each use, latest op first."""
    ops = list(_preorder(root))
    changed = {operand for op in ops if op.own.is_replaced for operand in op.operands}
    replaced = {value for op in ops if op.own.is_replaced for value in op.defined}
    uses: dict[Value, list[Use]] = {}
    for number, op in enumerate(ops if changed else ()):
        for index, operand in enumerate(op.operands):
            if operand in changed:
                uses.setdefault(operand, []).append((op.own.is_replaced, number, index))
    return {
        value: order
        for value, found in uses.items()
        if len(found) > 1 and value not in replaced and (order := _order(found))
    }


def _order(uses: Sequence[Use]) -> list[int] | None:
    """Return the positions of uses, those of the latest ops first; None if they are in order."""
    newest_first = sorted(uses, reverse=True)
    positions = {use: position for position, use in enumerate(newest_first)}
    order = [positions[use] for use in sorted(uses, key=lambda use: use[1:], reverse=True)]
    return None if order == list(range(len(order))) else order


def _preorder(root: WrittenOp) -> Iterator[WrittenOp]:
    pending = [root]
    while pending:
        op = pending.pop()
        yield op
        inner = [inner for region in op.regions for block in region.blocks for inner in block.operations]
        pending.extend(reversed(inner))


def encoded_orders(values: Sequence[Value], orders: dict[Value, list[int]]) -> list[int]:
    """Return the numbers that state the orders of a block's arguments or an op's results; none if there is no order."""
    given = [(index, orders[value]) for index, value in enumerate(values) if value in orders]
    if not given:
        return []
    numbers = [len(given)] if len(values) != 1 else []
    for index, order in given:
        numbers += [index] if len(values) != 1 else []
        numbers += _encoded_order(order)
    return numbers


def _encoded_order(order: list[int]) -> list[int]:
    """Return the length of an order and the order, or pairs of positions if fewer than half of them are moved."""
    moved = [number for pair in enumerate(order) if pair[0] != pair[1] for number in reversed(pair)]
    if len(moved) // 2 < len(order) // 2:
        return [len(moved) << 1 | 1, *moved]
    return [len(order) << 1, *order]


T = TypeVar("T")


def emit(root: WrittenOp, pool: Pool, version: int, producer: str) -> bytes:
    """Return the file that holds an operation."""
    return b"".join(_FileEmitter(root, pool, version).file(producer).parts())


class _Strings:
    """The strings of a file, numbered as they are first used."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def number(self, string: str) -> int:
        return self.numbers.setdefault(string, len(self.numbers))

    def section(self) -> Emitter:
        encoded = [string.encode("utf-8", "surrogateescape") for string in self.numbers]
        emitter = Emitter()
        emitter.varint(len(encoded))
        for string in reversed(encoded):
            emitter.varint(len(string) + 1)
        for string in encoded:
            emitter.data(string + b"\0")
        return emitter


class _FileEmitter:
    def __init__(self, root: WrittenOp, pool: Pool, version: int) -> None:
        self.root = root
        self.pool = pool
        self.version = version
        self.numbering = Numbering(root, pool)
        self.strings = _Strings()
        self.properties: dict[bytes, int] = {}
        self.orders = use_orders(root) if version >= FormatVersion.USE_LIST_ORDERS else {}
        self.unknown_location = pool.location(UNKNOWN_LOCATION)

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
        emitter.section(Section.STRINGS, self.strings.section())
        if self.version >= FormatVersion.PROPERTIES:
            emitter.section(Section.PROPERTIES, self._properties())
        return emitter

    # --- dialects, attributes and types -------------------------------------------------------------------------

    def _dialects(self) -> Emitter:
        emitter, numbering = Emitter(), self.numbering
        emitter.varint(len(numbering.dialects))
        for dialect in numbering.dialects:
            number = self.strings.number(dialect)
            emitter.varint(number if self.version < FormatVersion.DIALECT_VERSIONS else number << 1)
        names = list(numbering.name_numbers)
        if self.version >= FormatVersion.ELIDED_LOCATIONS:
            emitter.varint(len(names))

        def write_name(name: tuple[str, bool]) -> None:
            number = self.strings.number(name[0].partition(".")[2])
            if self.version < FormatVersion.PROPERTIES:
                emitter.varint(number)
            else:
                emitter.flagged_varint(number, name[1])

        self._write_groups(emitter, names, lambda name: dialect_of(name[0]), write_name)
        return emitter

    def _write_groups(
        self, emitter: Emitter, items: Sequence[T], dialect: Callable[[T], str], write: Callable[[T], None]
    ) -> None:
        """Write items after the number of their dialect and their number, for each run of one dialect."""
        for name, run in groupby(items, dialect):
            group = list(run)
            emitter.varint(self.numbering.dialects[name])
            emitter.varint(len(group))
            for item in group:
                write(item)

    def _entries(self) -> tuple[Emitter, Emitter]:
        """Return the lengths of attributes and types, and their encodings."""
        offsets, contents = Emitter(), Emitter()
        attributes = [self.pool.attributes[index] for index in self.numbering.attributes]
        types = [self.pool.types[index] for index in self.numbering.types]
        offsets.varint(len(attributes))
        offsets.varint(len(types))

        def write_entry(entry: Entry) -> None:
            start = len(contents)
            for item in entry.items:
                self._item(contents, item)
            offsets.flagged_varint(len(contents) - start, entry.is_custom)

        for entries in (attributes, types):
            self._write_groups(offsets, entries, lambda entry: entry.dialect, write_entry)
        return offsets, contents

    def _item(self, emitter: Emitter, item: bytes | Reference | Blob) -> None:
        match item:
            case bytes():
                emitter.data(item)
            case Blob(data):
                emitter.blob(data)
            case Reference("string", index):
                emitter.varint(self.strings.number(self.pool.strings[index]))
            case Reference("type", index):
                emitter.varint(self.numbering.type_numbers[index])
            case Reference("optional", index):
                emitter.flagged_varint(self.numbering.attribute_numbers[index], True)
            case Reference("resource", index):
                emitter.varint(self.numbering.resource_order[index])
            case Reference(_, index):
                emitter.varint(self.numbering.attribute_numbers[index])

    # --- operations ---------------------------------------------------------------------------------------------

    def _ir(self) -> Emitter:
        emitter = Emitter()
        emitter.flagged_varint(1, False)
        self._op(emitter, self.root)
        return emitter

    def _op(self, emitter: Emitter, op: WrittenOp) -> None:
        numbering = self.numbering
        emitter.varint(numbering.name_numbers[op.own.name, op.own.is_registered])
        orders = encoded_orders(op.defined, self.orders) if self.orders else []
        emitter.byte(_mask(op) | bool(orders) * HAS_USE_LIST_ORDERS)
        emitter.varint(numbering.attribute_numbers[op.location])
        if op.own.dictionary is not None:
            emitter.varint(numbering.attribute_numbers[op.own.dictionary])
        if op.own.properties is not None:
            emitter.varint(self._properties_number(op))
        self._list(emitter, [numbering.type_numbers[type] for type in op.results])
        self._list(emitter, [numbering.values[operand] for operand in op.operands])
        self._list(emitter, op.successors)
        for number in orders:
            emitter.varint(number)
        if op.regions:
            self._regions(emitter, op)

    def _list(self, emitter: Emitter, values: Sequence[int]) -> None:
        """Write a list, nothing if it is empty."""
        if values:
            emitter.varint(len(values))
            for value in values:
                emitter.varint(value)

    def _regions(self, emitter: Emitter, op: WrittenOp) -> None:
        emitter.flagged_varint(len(op.regions), op.is_isolated)
        has_section = op.is_isolated and self.version >= FormatVersion.LAZY_LOADING
        content = Emitter() if has_section else emitter
        for region in op.regions:
            self._region(content, region)
        if has_section:
            emitter.section(Section.IR, content)

    def _region(self, emitter: Emitter, region: WrittenRegion) -> None:
        emitter.varint(len(region.blocks))
        if region.blocks:
            emitter.varint(region.value_count)
        for block in region.blocks:
            self._block(emitter, block)

    def _block(self, emitter: Emitter, block: WrittenBlock) -> None:
        emitter.flagged_varint(len(block.operations), bool(block.arguments))
        if block.arguments:
            emitter.varint(len(block.arguments))
            for type, location in zip(block.types, block.locations):
                self._argument(emitter, type, location)
            if self.version >= FormatVersion.USE_LIST_ORDERS:
                orders = encoded_orders(block.arguments, self.orders)
                emitter.byte(bool(orders) * HAS_USE_LIST_ORDERS)
                for number in orders:
                    emitter.varint(number)
        for op in within_time(block.operations, "writing bytecode"):
            self._op(emitter, op)

    def _argument(self, emitter: Emitter, type: int, location: int) -> None:
        number = self.numbering.type_numbers[type]
        if self.version < FormatVersion.ELIDED_LOCATIONS:
            emitter.varint(number)
            emitter.varint(self.numbering.attribute_numbers[location])
            return
        has_location = location != self.unknown_location
        emitter.flagged_varint(number, has_location)
        if has_location:
            emitter.varint(self.numbering.attribute_numbers[location])

    # --- properties ---------------------------------------------------------------------------------------------

    def _properties_number(self, op: WrittenOp) -> int:
        encoded = b"".join(self._property(*property) for property in op.own.properties or ()) + op.own.suffix
        return self.properties.setdefault(encoded, len(self.properties))

    def _property(self, attribute: int | None, is_optional: bool) -> bytes:
        if attribute is None:
            return encode_varint(0)
        number = self.numbering.attribute_numbers[attribute]
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
        if self.numbering.resource_order:
            offsets.varint(self.numbering.dialects["builtin"])
            offsets.varint(len(self.numbering.resource_order))
        for index in self.numbering.resource_order:
            resource = self.pool.resources[index]
            start = len(contents)
            if resource.array is not None:
                self._resource(contents, resource)
            offsets.varint(self.strings.number(resource.key))
            offsets.varint(len(contents) - start)
            offsets.byte(BLOB)
        return offsets, contents

    def _resource(self, emitter: Emitter, resource: DenseResource) -> None:
        data, alignment = numbers.bytes_of(blob_elements(resource)), blob_alignment(resource)
        if alignment & (alignment - 1):
            raise UnsupportedError(f"bytecode cannot align resource '{resource.key}' to {alignment} bytes")
        emitter.varint(alignment)
        emitter.varint(len(data))
        emitter.align(alignment)
        emitter.blob(data)


def _mask(op: WrittenOp) -> int:
    """Return the byte that says what an op has."""
    return (
        (op.own.dictionary is not None) * HAS_ATTRIBUTES
        | bool(op.results) * HAS_RESULTS
        | bool(op.operands) * HAS_OPERANDS
        | bool(op.successors) * HAS_SUCCESSORS
        | bool(op.regions) * HAS_REGIONS
        | (op.own.properties is not None) * HAS_PROPERTIES
    )
