"""The header of a bytecode file and its sections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from stablehlo_ref.bytecode.encoding import Cursor

MAGIC = b"ML\xefR"


class Version(IntEnum):
    """Versions of the format, each named after what it introduced."""

    FIRST = 0
    DIALECT_VERSIONS = 1
    LAZY_LOADING = 2  # regions that are isolated from above are sections
    USE_LIST_ORDERS = 3
    ELIDED_LOCATIONS = 4  # block arguments of unknown location say so in one bit
    PROPERTIES = 5  # inherent attributes apart from discardable ones
    NATIVE_SEGMENT_SIZES = 6


NEWEST = max(Version)


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


@dataclass(frozen=True)
class Header:
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
    optional = OPTIONAL if version >= Version.PROPERTIES else OPTIONAL | {Section.PROPERTIES}
    for section in Section:
        if section not in sections and section not in optional:
            raise cursor.error(f"missing {section.title}")
    if (Section.RESOURCES in sections) != (Section.RESOURCE_OFFSETS in sections):
        raise cursor.error("expected both sections of resources, or neither")
    return sections
