"""Read a program from MLIR bytecode: its operations, in blocks in regions of operations.

What they refer to by index is decoded when it is first used. The attributes of ops with the same name, attributes and
properties are decoded once. Portable artifacts of any version are upgraded on the way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from mmap import mmap
from typing import Any, NamedTuple

from stablehlo_ref.bytecode.encoding import ByteLocation, Cursor
from stablehlo_ref.bytecode.encodings import builtin, plain
from stablehlo_ref.bytecode.encodings import vhlo as vhlo_encodings
from stablehlo_ref.bytecode.entries import MISSING, Entries, EntryReader, described
from stablehlo_ref.bytecode.properties import properties_of, read_op_properties, stated
from stablehlo_ref.bytecode.sections import (
    FormatVersion,
    Header,
    Resource,
    Section,
    Strings,
    read_dialects,
    read_header,
    read_properties,
    read_resources,
    read_section,
    read_sections,
)
from stablehlo_ref.bytecode.vhlo.ops import CAST, attribute_names, fold_casts, known_op, to_stablehlo
from stablehlo_ref.define.builder import build_operation
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.define.plugins import PluginError, load_dialect
from stablehlo_ref.diagnostics import Diagnostic, MalformedError, Source, UnsupportedError
from stablehlo_ref.ir.attributes import Attribute
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.lexer import MAX_NESTING
from stablehlo_ref.ir.locations import UNKNOWN_LOCATION, DebugLocation
from stablehlo_ref.ir.types import NONE, Type
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.limits.stack import FRAMES, collection_paused, on_enough_stack
from stablehlo_ref.syntax.parser import COMPLETE_DIALECTS, KNOWN_DIALECTS

ATTRIBUTE_DECODERS = {table.dialect: table.read for table in (*plain.ATTRIBUTES.values(), vhlo_encodings.ATTRIBUTES)}
TYPE_DECODERS = {table.dialect: table.read for table in (*plain.TYPES.values(), vhlo_encodings.TYPES)}

# How many entries of dictionaries the ops of a file may copy: per byte of the file, and in any case.
COPIES_PER_BYTE, COPIES = 16, 10_000


class Template(NamedTuple):
    """The parts that ops with the same name, attributes and properties share."""

    name: str
    members: Mapping[str, Any]
    attributes: Mapping[str, Attribute]
    size: int

    @classmethod
    def of(cls, name: str, members: Mapping[str, Any], attributes: Mapping[str, Attribute]) -> Template:
        """Return a template with its size."""
        return cls(name, members, attributes, len(members) + len(attributes))


class BytecodeFile:
    """The tables of a file, and the section with its operations, read after the header."""

    def __init__(self, cursor: Cursor, version: int, allow_unregistered_dialect: bool) -> None:
        self.source = cursor.source
        self.allow_unregistered_dialect = allow_unregistered_dialect
        self.version = version
        sections = read_sections(cursor, version)
        strings = Strings(sections[Section.STRINGS])
        dialects, self.ops = read_dialects(sections[Section.DIALECTS], strings, version)
        self.properties = read_properties(sections.get(Section.PROPERTIES))
        resources: list[Resource] = []
        if Section.RESOURCES in sections:
            offsets, contents = sections[Section.RESOURCE_OFFSETS], sections[Section.RESOURCES]
            resources = read_resources(offsets, contents, strings, dialects)
        self.entries = Entries(
            sections[Section.ATTRIBUTES_AND_TYPES], sections[Section.ATTRIBUTE_AND_TYPE_OFFSETS], strings, resources,
            dialects, ATTRIBUTE_DECODERS, TYPE_DECODERS,
        )  # fmt: skip
        self.ir = sections[Section.IR]
        self._types: dict[int, Type] = {}
        self._locations: dict[int, DebugLocation | None] = {}
        self._templates: dict[tuple[int, int, int, bool], Template] = {}
        self._copies_left = COPIES_PER_BYTE * len(cursor.data) + COPIES

    def types(self, indexes: list[int], cursor: Cursor) -> list[Type]:
        """Return the types at indexes that were read from `cursor`."""
        known = self._types
        try:
            return [known[index] for index in indexes]
        except KeyError:
            known |= {index: self.entries.type(index, 0, cursor) for index in indexes}
            return [known[index] for index in indexes]

    # --- locations ----------------------------------------------------------------------------------------------

    def location(self, index: int, cursor: Cursor) -> DebugLocation | None:
        """Return the location at an index that was read from `cursor`; None for the unknown one."""
        try:
            return self._locations[index]
        except KeyError:
            found = self._decoded_location(index, cursor)
            self._locations[index] = None if found is UNKNOWN_LOCATION else found
            return self._locations[index]

    def _decoded_location(self, index: int, cursor: Cursor) -> DebugLocation:
        """Decode a location after those that it is made of, however deep they are nested."""
        values = self.entries.attributes.values
        pending, opened = [index], set[int]()
        while pending:
            top = pending[-1]
            parts = self._undecoded_parts(top, cursor) if top not in opened else None
            if not parts:
                found = self.entries.attribute(pending.pop(), 0, cursor)
                continue
            opened.add(top)
            for part in parts:
                if part in opened and values[part] is MISSING:
                    raise cursor.error(f"location {part} contains itself")
            pending += parts
        if not isinstance(found, builtin.LOCATIONS):
            raise cursor.error(f"expected a location, got attribute {index}")
        return found

    def _undecoded_parts(self, index: int, cursor: Cursor) -> list[int]:
        table = self.entries.attributes
        if index >= len(table.values):
            raise cursor.error(f"attribute {index} does not exist; there are {len(table.values)}")
        if not table.is_custom[index] or table.dialects[index] != "builtin":
            return []
        start = table.starts[index]
        if self.entries.contents.data[start : start + 1] in builtin.WITHOUT_PARTS:
            return []
        parts = builtin.location_parts(self.entries.reader(table, index))
        values = table.values
        return [part for part in parts if part < len(values) and values[part] is MISSING]

    # --- names and attributes of ops ----------------------------------------------------------------------------

    def template(self, name: int, attributes: int, properties: int, in_function: bool, cursor: Cursor) -> Template:
        """Return the parts that ops with these indexes share; an index is -1 if an op lacks the item."""
        key = name, attributes, properties, in_function
        template = self._templates.get(key)
        if template is None:
            template = self._templates[key] = self._new_template(*key, cursor)
        self._copies_left -= template.size
        if self._copies_left < 0:
            raise cursor.error("the attributes of ops expand beyond what a file of this size may have")
        return template

    def _new_template(
        self, index: int, attributes: int, properties: int, in_function: bool, cursor: Cursor
    ) -> Template:
        if index >= len(self.ops):
            raise cursor.error(f"name {index} of an op does not exist; there are {len(self.ops)}")
        op = self.ops[index]
        written = self._dictionary(attributes, cursor) if attributes >= 0 else {}
        inherent = self._inherent(op.name, op.was_registered, properties, cursor) if properties >= 0 else {}
        if op.name.startswith("vhlo."):
            upgraded = to_stablehlo(op.name, written | inherent, in_function, cursor)
            return Template.of(*upgraded)
        self._check_name(op.name, cursor)
        return Template.of(op.name, *_split(op.name, stated(op.name, written), stated(op.name, inherent)))

    def _dictionary(self, index: int, cursor: Cursor) -> dict[str, Any]:
        found = self.entries.attribute(index, 0, cursor)
        if not isinstance(found, dict):
            raise cursor.error(f"expected a dictionary of attributes, got {described(found)}")
        return found

    def _inherent(self, op: str, was_registered: bool, index: int, cursor: Cursor) -> dict[str, Any]:
        """Return the inherent attributes of an op, from its properties."""
        if index >= len(self.properties):
            raise cursor.error(f"properties {index} do not exist; there are {len(self.properties)}")
        properties = self.properties[index]
        reader = EntryReader(properties.data, self.source, properties.base, self.entries, 0)
        if not was_registered:
            return self._dictionary(reader.varint(), reader)
        if op.startswith("vhlo."):
            return _read_vhlo_properties(op, reader)
        return read_op_properties(op, reader, self.version)

    def _check_name(self, name: str, cursor: Cursor) -> None:
        """Refuse unknown ops, but for those of dialects that may be in a program without being known."""
        dialect, dot, _ = name.partition(".")
        if name not in REGISTRY and dialect not in COMPLETE_DIALECTS:
            try:
                load_dialect(dialect)
            except PluginError as error:
                raise cursor.unsupported(str(error)) from error
        if name in REGISTRY or self.allow_unregistered_dialect:
            return
        if dialect in COMPLETE_DIALECTS:
            raise cursor.unsupported(f"unknown op '{name}' of dialect '{dialect}'")
        if not dot or dialect not in KNOWN_DIALECTS:
            raise cursor.error(f"'{name}' is of an unregistered dialect, which has to be allowed expressly")


def _read_vhlo_properties(name: str, reader: EntryReader) -> dict[str, Any]:
    """Read the attributes of an op of VHLO: the index of each, in the order of their names."""
    attributes = {attribute: reader.attribute() for attribute in attribute_names(*known_op(name, reader))}
    reader.expect_end(f"the properties of op '{name}'")
    return attributes


def _split(
    op: str, written: Mapping[str, Attribute], inherent: Mapping[str, Attribute]
) -> tuple[Mapping[str, Any], Mapping[str, Attribute]]:
    """Split attributes into members of the op and discardable attributes."""
    definition = REGISTRY.get(op)
    if definition is None:
        known = {name for name, _ in properties_of(op) or ()}
        own = {name: value for name, value in written.items() if name in known} | dict(inherent)
        return own, {name: value for name, value in written.items() if name not in own}
    return definition.decode({**written, **inherent})


# What an op has, as bits of a byte.
HAS_ATTRIBUTES, HAS_RESULTS, HAS_OPERANDS, HAS_SUCCESSORS = 1, 2, 4, 8
HAS_REGIONS, HAS_USE_LIST_ORDERS, HAS_PROPERTIES = 16, 32, 64

# How many integers follow that byte: a location, then what the op has of attributes, properties and results.
HEAD_LENGTHS = [1 + (mask & HAS_ATTRIBUTES) + (mask >> 6 & 1) + (mask >> 1 & 1) for mask in range(256)]

NORMALISED = frozenset(("builtin.module", "func.func"))  # ops that `build_operation` may change


class Forward(Value):
    """A value that is used before its definition: the operands to set once it is defined."""

    __slots__ = ("offset", "uses")

    def __init__(self, offset: int) -> None:
        super().__init__(NONE, None, 0)
        self.offset = offset
        self.uses: list[tuple[Operation, int]] = []


class OperationReader:
    """Reads operations whose values are numbered together: those outside of, or in one, region isolated from above."""

    def __init__(self, file: BytecodeFile, cursor: Cursor, depth: int) -> None:
        self.file = file
        self.cursor = cursor
        self.depth = depth
        self.values: list[Value | None] = []
        self.next_value = 0
        self.has_forward = False

    def top_level(self) -> list[Operation]:
        """Read the operations of the section, which is a block without arguments or values."""
        count, has_arguments = self.cursor.flagged_varint()
        if has_arguments:
            raise self.cursor.error("the outermost block has arguments")
        operations = self._operations(count, 0, "")
        self.cursor.expect_end(Section.IR.title)
        return operations

    # --- operations ---------------------------------------------------------------------------------------------

    def _operations(self, count: int, blocks: int, parent: str) -> list[Operation]:
        """Read the operations of a block in a region of `blocks` blocks, of an op of name `parent`."""
        if count > self.cursor.remaining:
            raise self.cursor.error(
                f"{count} operations do not fit into the {self.cursor.remaining} bytes that are left"
            )
        in_function = parent == "func.func"
        places = within_time(range(count), "parsing", lambda _: ByteLocation(self.file.source, self.cursor.offset))
        return [self._operation(blocks, in_function) for _ in places]

    def _operation(self, blocks: int, in_function: bool) -> Operation:
        cursor, file = self.cursor, self.file
        offset = cursor.base + cursor.position
        name, mask = cursor.varint(), cursor.byte()
        head = cursor.varints(HEAD_LENGTHS[mask])
        debug_location = file.location(head[0], cursor)
        attributes = head[1] if mask & HAS_ATTRIBUTES else -1
        properties = head[1 + (mask & HAS_ATTRIBUTES)] if mask & HAS_PROPERTIES else -1
        template = file.template(name, attributes, properties, in_function, cursor)
        types = file.types(cursor.varints(head[-1]), cursor) if mask & HAS_RESULTS else []
        operands = self._operands() if mask & HAS_OPERANDS else []
        successors = self._successors(blocks) if mask & HAS_SUCCESSORS else []
        if mask & HAS_USE_LIST_ORDERS:
            self._skip_use_list_orders(len(types))
        location = ByteLocation(file.source, offset, debug_location)
        op = _build(template, operands, types, location, debug_location, successors)
        if self.has_forward:
            self._note_forward(op)
        if mask & HAS_REGIONS:
            self._regions(op)
        if types:
            self._define(op.results)
        return op

    def _operands(self) -> list[Value]:
        cursor, values = self.cursor, self.values
        indexes = cursor.varints(cursor.varint())
        try:
            operands = [values[index] for index in indexes]
        except IndexError:
            raise cursor.error(f"value {max(indexes)} does not exist; there are {len(values)}") from None
        if None in operands:
            return [values[index] or self._forward(index) for index in indexes]
        return operands  # type: ignore[return-value]

    def _successors(self, blocks: int) -> list[str]:
        cursor = self.cursor
        return [f"bb{cursor.index(blocks, 'block')}" for _ in range(cursor.count("successors"))]

    def _skip_use_list_orders(self, values: int) -> None:
        """Skip the orders in which values are used, which do not matter here."""
        cursor = self.cursor
        for _ in range(cursor.count("orders of uses") if values > 1 else 1):
            if values > 1:
                cursor.index(values, "value")
            count, _ = cursor.flagged_varint()
            if count > cursor.remaining:
                raise cursor.error(f"{count} uses do not fit into the {cursor.remaining} bytes that are left")
            for _ in range(count):
                cursor.varint()

    # --- values -------------------------------------------------------------------------------------------------

    def _define(self, defined: list[Value]) -> None:
        """Give values the next numbers; outside of all regions they have none."""
        values = self.values
        if self.next_value + len(defined) > len(values):
            if not values:
                return
            raise self.cursor.error(f"the region defines more than the {len(values)} values that it announces")
        for index, value in enumerate(defined, self.next_value):
            if isinstance(forward := values[index], Forward):
                for op, operand in forward.uses:
                    op.operands[operand] = value
            values[index] = value
        self.next_value += len(defined)

    def _forward(self, index: int) -> Value:
        self.has_forward = True
        forward = self.values[index] = Forward(self.cursor.offset)
        return forward

    def _note_forward(self, op: Operation) -> None:
        for index, operand in enumerate(op.operands):
            if isinstance(operand, Forward):
                operand.uses.append((op, index))

    # --- regions and blocks -------------------------------------------------------------------------------------

    def _regions(self, op: Operation) -> None:
        cursor = self.cursor
        if self.depth >= MAX_NESTING:
            raise cursor.error(f"regions nested more than {MAX_NESTING} levels deep")
        count, is_isolated = cursor.flagged_varint()
        if count > cursor.remaining:
            raise cursor.error(f"{count} regions do not fit into the {cursor.remaining} bytes that are left")
        content = self._section() if is_isolated and self.file.version >= FormatVersion.LAZY_LOADING else cursor
        reader = OperationReader(self.file, content, self.depth) if is_isolated else self
        reader.depth += 1
        regions = [reader._region(op.name) for _ in range(count)]
        reader.depth -= 1
        if content is not cursor:
            content.expect_end("the regions of an op")
        if op.name == "builtin.module" and regions and not regions[0].blocks:
            regions[0] = Region([Block([], [])])  # which a module always has
        for region in regions:
            region.parent = op
        op.regions = regions

    def _section(self) -> Cursor:
        """Return the section of regions that see no values from above."""
        offset = self.cursor.offset
        section, content = read_section(self.cursor)
        if section != Section.IR:
            raise self.cursor.error(f"expected {Section.IR.title}, got {section.title}", offset)
        return content

    def _region(self, parent: str) -> Region:
        cursor = self.cursor
        count = cursor.count("blocks")
        if not count:
            return Region([])
        first, outer = len(self.values), self.next_value
        self.values += [None] * cursor.count("values")
        self.next_value = first
        region = Region([self._block(index, count, parent) for index in range(count)])
        for value in self.values[first:] if self.has_forward else ():
            if isinstance(value, Forward):
                raise cursor.error("an operand is a value that is not defined", value.offset)
        del self.values[first:]
        self.next_value = outer
        return region

    def _block(self, index: int, blocks: int, parent: str) -> Block:
        count, has_arguments = self.cursor.flagged_varint()
        arguments = self._arguments() if has_arguments else []
        operations = self._operations(count, blocks, parent)
        return Block(arguments, operations, f"bb{index}" if index else "")

    def _arguments(self) -> list[Value]:
        cursor = self.cursor
        arguments = [self._argument(index) for index in range(cursor.count("arguments of a block"))]
        self._define(arguments)
        if self.file.version >= FormatVersion.USE_LIST_ORDERS and cursor.byte():
            self._skip_use_list_orders(len(arguments))
        return arguments

    def _argument(self, index: int) -> Value:
        cursor, file = self.cursor, self.file
        if file.version >= FormatVersion.ELIDED_LOCATIONS:
            type, has_location = cursor.flagged_varint()
        else:
            type, has_location = cursor.varint(), True
        argument = Value(file.types([type], cursor)[0], None, index)
        argument.location = file.location(cursor.varint(), cursor) if has_location else None
        return argument


def _build(
    template: Template,
    operands: list[Value],
    types: list[Type] | tuple[Type, ...],
    location: ByteLocation,
    debug_location: DebugLocation | None,
    successors: list[str],
) -> Operation:
    name, members, attributes, _ = template
    if name in NORMALISED:
        return build_operation(
            name, operands, types, location, members=members, attributes=attributes, debug_location=debug_location
        )
    op = Operation(name, operands, types, {**members}, {**attributes}, [], location)
    op.debug_location = debug_location
    op.successors = successors
    return op


def read(data: bytes | memoryview | mmap, filename: str, allow_unregistered_dialect: bool = False) -> Operation:
    """Return the module that `data` encodes; its arrays are views of `data`, which must not change.

    Raises MalformedError for malformed bytecode and UnsupportedError for unknown encodings, both with the offset.
    """
    source = Source("", filename)
    cursor = Cursor(memoryview(data), source)
    header = read_header(cursor)
    try:
        with collection_paused():
            return on_enough_stack(ByteLocation(source, 0), FRAMES, _read, cursor, header, allow_unregistered_dialect)
    except (MalformedError, UnsupportedError) as error:
        raise type(error)([_with_note(diagnostic, header) for diagnostic in error.diagnostics]) from error


def _read(cursor: Cursor, header: Header, allow_unregistered_dialect: bool) -> Operation:
    try:
        file = BytecodeFile(cursor, header.version, allow_unregistered_dialect)
        operations = OperationReader(file, Cursor(bytes(file.ir.data), file.source, file.ir.base), 0).top_level()
    except RecursionError as error:  # Python's recursion limit is low
        message = "nested too deeply for what is left of Python's stack"
        raise MalformedError(message, ByteLocation(cursor.source, 0)) from error
    module = operations[0] if len(operations) == 1 else None
    if module is None or module.name != "builtin.module":
        location = ByteLocation(file.source, file.ir.base)
        module = build_operation("builtin.module", [], [], location, regions=[Region([Block([], operations)])])
    if CAST in (op.name for op in file.ops):
        fold_casts(module)
    return module


def _with_note(diagnostic: Diagnostic, header: Header) -> Diagnostic:
    """Add what a file says about its version and origin to an error."""
    note = f"in version {header.version} of MLIR bytecode, written by '{header.producer}'"
    return replace(diagnostic, notes=(*diagnostic.notes, note))
