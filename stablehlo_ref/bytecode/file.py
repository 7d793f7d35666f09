"""A bytecode file with its tables: what its operations refer to by index, decoded when it is first used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from stablehlo_ref.bytecode.encoding import Cursor
from stablehlo_ref.bytecode.encodings import locations, plain
from stablehlo_ref.bytecode.encodings import vhlo as vhlo_encodings
from stablehlo_ref.bytecode.entries import MISSING, Entries, EntryReader, described
from stablehlo_ref.bytecode.properties import properties_of, read_op_properties, stated
from stablehlo_ref.bytecode.sections import (
    Resource,
    Section,
    Strings,
    read_dialects,
    read_properties,
    read_resources,
    read_sections,
)
from stablehlo_ref.bytecode.vhlo.ops import attribute_names, known_op, to_stablehlo
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.define.plugins import PluginError, load_dialect
from stablehlo_ref.ir.attributes import Attribute
from stablehlo_ref.ir.locations import UNKNOWN_LOCATION, DebugLocation
from stablehlo_ref.ir.types import Type
from stablehlo_ref.syntax.parser import COMPLETE_DIALECTS, KNOWN_DIALECTS

ATTRIBUTE_DECODERS = {table.dialect: table.read for table in (*plain.ATTRIBUTES.values(), vhlo_encodings.ATTRIBUTES)}
TYPE_DECODERS = {table.dialect: table.read for table in (*plain.TYPES.values(), vhlo_encodings.TYPES)}

# How many entries of dictionaries the ops of a file may copy: per byte of the file, and in any case.
COPIES_PER_BYTE, COPIES = 16, 10_000


class Template(NamedTuple):
    """What ops have in common that have the same name, attributes and properties."""

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
        if not isinstance(found, locations.LOCATIONS):
            raise cursor.error(f"expected a location, got attribute {index}")
        return found

    def _undecoded_parts(self, index: int, cursor: Cursor) -> list[int]:
        table = self.entries.attributes
        if index >= len(table.values):
            raise cursor.error(f"attribute {index} does not exist; there are {len(table.values)}")
        if not table.is_custom[index] or table.dialects[index] != "builtin":
            return []
        start = table.starts[index]
        if self.entries.contents.data[start : start + 1] in locations.WITHOUT_PARTS:
            return []
        parts = locations.location_parts(self.entries.reader(table, index))
        values = table.values
        return [part for part in parts if part < len(values) and values[part] is MISSING]

    # --- names and attributes of ops ----------------------------------------------------------------------------

    def template(self, name: int, attributes: int, properties: int, in_function: bool, cursor: Cursor) -> Template:
        """Return what ops have in common that have these indexes, -1 for what they lack."""
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
    """Split attributes as written into members and the discardable rest."""
    definition = REGISTRY.get(op)
    if definition is None:
        known = {name for name, _ in properties_of(op) or ()}
        own = {name: value for name, value in written.items() if name in known} | dict(inherent)
        return own, {name: value for name, value in written.items() if name not in own}
    return definition.decode({**written, **inherent})
