"""The header of a bytecode file and its sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from itertools import accumulate
from typing import NamedTuple

from stablehlo_ref.bytecode.encoding import Cursor

MAGIC = b"ML\xefR"


class FormatVersion(IntEnum):
    """Versions of the format, each named after what it introduced."""

    FIRST = 0
    DIALECT_VERSIONS = 1
    LAZY_LOADING = 2  # regions that are isolated from above are sections
    USE_LIST_ORDERS = 3
    ELIDED_LOCATIONS = 4  # block arguments of unknown location say so in one bit
    PROPERTIES = 5  # inherent attributes apart from discardable ones
    NATIVE_SEGMENT_SIZES = 6


NEWEST = max(FormatVersion)


class Section(IntEnum):
    STRINGS = 0
    DIALECTS = 1
    ATTRIBUTES_AND_TYPES = 2
    ATTRIBUTE_AND_TYPE_OFFSETS = 3
    IR = 4
    RESOURCES = 5
    RESOURCE_OFFSETS = 6
    DIALECT_VERSION = 7
    PROPERTIES = 8

    @property
    def title(self) -> str:
        """`ATTRIBUTES_AND_TYPES` as `section 2 (attributes and types)`."""
        return f"section {int(self)} ({self.name.lower().replace('_', ' ')})"


OPTIONAL = frozenset((Section.RESOURCES, Section.RESOURCE_OFFSETS, Section.DIALECT_VERSION))


class Header(NamedTuple):
    """What stands before the sections."""

    version: int
    producer: str


def read_header(cursor: Cursor) -> Header:
    """Read magic number, version and producer; UnsupportedError for a version that is too new."""
    if bytes(cursor.data[: len(MAGIC)]) != MAGIC:
        raise cursor.error("expected MLIR bytecode, which starts with 'ML\\xefR'")
    cursor.take(len(MAGIC))
    offset, version = cursor.offset, cursor.varint()
    if version > NEWEST:
        raise cursor.unsupported(f"unsupported version {version} of MLIR bytecode; the newest is {NEWEST}", offset)
    return Header(version, cursor.terminated_string().decode("utf-8", "replace"))


def read_section(cursor: Cursor) -> tuple[Section, Cursor]:
    """Read the section at the cursor; its content is not copied."""
    offset, number = cursor.offset, cursor.byte()
    length = cursor.varint()
    if number & 0x7F > max(Section):
        raise cursor.error(f"unknown section {number & 0x7F}", offset)
    if number & 0x80:
        cursor.align(cursor.varint())
    return Section(number & 0x7F), cursor.part(length)


def read_sections(cursor: Cursor, version: int) -> Mapping[Section, Cursor]:
    """Read the sections up to the end; MalformedError if one is missing or occurs twice."""
    sections: dict[Section, Cursor] = {}
    while cursor.remaining:
        offset = cursor.offset
        section, content = read_section(cursor)
        if section in sections:
            raise cursor.error(f"duplicate {section.title}", offset)
        sections[section] = content
    optional = OPTIONAL if version >= FormatVersion.PROPERTIES else OPTIONAL | {Section.PROPERTIES}
    for section in Section:
        if section not in sections and section not in optional:
            raise cursor.error(f"missing {section.title}")
    if (Section.RESOURCES in sections) != (Section.RESOURCE_OFFSETS in sections):
        raise cursor.error("expected both sections of resources, or neither")
    return sections


BLOB = 0  # kind of a resource


class Strings:
    """The strings of a file. They may hold any bytes: those that are not UTF-8 become surrogates."""

    def __init__(self, section: Cursor) -> None:
        lengths = [section.varint() for _ in range(section.count("strings"))][::-1]
        if sum(lengths) != section.remaining or 0 in lengths:
            raise section.error(f"strings of {sum(lengths)} bytes in {section.remaining} bytes")
        data = bytes(section.take(section.remaining))
        ends = list(accumulate(lengths))
        self.values = [
            data[end - length : end - 1].decode("utf-8", "surrogateescape") for end, length in zip(ends, lengths)
        ]

    def read(self, cursor: Cursor) -> str:
        """Read an index and return the string."""
        return self.values[cursor.index(len(self.values), "string")]

    def at(self, cursor: Cursor, index: int) -> str:
        """Return a string by an index that was read from `cursor`."""
        if index >= len(self.values):
            raise cursor.error(f"string {index} does not exist; there are {len(self.values)}")
        return self.values[index]


class OpName(NamedTuple):
    name: str  # with the dialect
    was_registered: bool  # where the file was written; the properties of other ops are one attribute


def read_dialects(section: Cursor, strings: Strings, version: int) -> tuple[list[str], list[OpName]]:
    """Return the dialects of a file, by their numbers, and the names of its ops."""
    dialects = [_dialect(section, strings, version) for _ in range(section.count("dialects"))]
    if version >= FormatVersion.ELIDED_LOCATIONS:
        section.varint()  # the number of ops
    ops: list[OpName] = []
    while section.remaining:
        dialect = dialects[section.index(len(dialects), "dialect")]
        ops += [_op_name(section, strings, dialect, version) for _ in range(section.count("entries of a dialect"))]
    return dialects, ops


def _dialect(section: Cursor, strings: Strings, version: int) -> str:
    """Read the name of a dialect; its version, which some files state, does not change how they are read."""
    if version < FormatVersion.DIALECT_VERSIONS:
        return strings.read(section)
    index, has_version = section.flagged_varint()
    name, offset = strings.at(section, index), section.offset
    kind = read_section(section)[0] if has_version else Section.DIALECT_VERSION
    if kind != Section.DIALECT_VERSION:
        raise section.error(f"expected {Section.DIALECT_VERSION.title}, got {kind.title}", offset)
    return name


def _op_name(section: Cursor, strings: Strings, dialect: str, version: int) -> OpName:
    if version < FormatVersion.PROPERTIES:
        name, was_registered = strings.read(section), True
    else:
        index, was_registered = section.flagged_varint()
        name = strings.at(section, index)
    return OpName(f"{dialect}.{name}" if name else dialect, was_registered)


# --- resources ------------------------------------------------------------------------------------------------------


class Resource(NamedTuple):
    """A blob; `data` is a view of the file, None where only the key is declared; `alignment` in bytes."""

    key: str
    data: bytes | memoryview | None
    alignment: int = 0


def read_resources(offsets: Cursor, contents: Cursor, strings: Strings, dialects: Sequence[str]) -> list[Resource]:
    """Read the resources of dialects, which attributes refer to by index; those of tools are left out."""
    for _ in range(offsets.count("groups of external resources")):
        strings.read(offsets)
        for _ in range(offsets.count("resources")):
            _read_resource(offsets, contents, strings, is_external=True)
    found: list[Resource] = []
    while offsets.remaining:
        offsets.index(len(dialects), "dialect")
        for _ in range(offsets.count("resources")):
            found.append(_read_resource(offsets, contents, strings))
    return found


def _read_resource(offsets: Cursor, contents: Cursor, strings: Strings, is_external: bool = False) -> Resource:
    key = strings.read(offsets)
    content = contents.part(offsets.varint())
    if offsets.byte() != BLOB or not content.remaining or is_external:
        return Resource(key, None)
    alignment, size = content.varint(), content.varint()
    content.align(alignment)
    data = content.take(size)
    content.expect_end(f"resource '{key}'")
    return Resource(key, data, alignment)


# --- properties -----------------------------------------------------------------------------------------------------


def read_properties(section: Cursor | None) -> list[Cursor]:
    """Return a cursor for the properties at each index."""
    if section is None or not section.remaining:
        return []
    found = [section.part(section.varint()) for _ in range(section.count("properties"))]
    section.expect_end("the properties")
    return found
