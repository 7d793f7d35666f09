"""Debug locations, which are attributes of the builtin dialect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from stablehlo_ref.bytecode.encoding import Cursor, encode_varint
from stablehlo_ref.bytecode.entries import EntryReader
from stablehlo_ref.bytecode.pool import EntryWriter
from stablehlo_ref.ir.locations import (
    UNKNOWN_LOCATION,
    CallSiteLocation,
    FileLocation,
    FusedLocation,
    NameLocation,
    UnknownLocation,
)

LOCATIONS = (CallSiteLocation, FileLocation, FusedLocation, NameLocation, UnknownLocation)
CALL_SITE, FILE, FUSED, FUSED_WITH_METADATA, NAME, UNKNOWN, FILE_RANGE = 10, 11, 12, 13, 14, 15, 22

# The first bytes of locations that contain no other ones.
WITHOUT_PARTS = frozenset(encode_varint(code) for code in (FILE, UNKNOWN, FILE_RANGE))

# --- from bytes -----------------------------------------------------------------------------------------------------


def _location(reader: EntryReader) -> Any:
    offset, found = reader.offset, reader.attribute()
    if not isinstance(found, LOCATIONS):
        reader.expected("a location", found, offset)
    return found


def _call_site(reader: EntryReader) -> CallSiteLocation:
    return CallSiteLocation(_location(reader), _location(reader))


def _file(reader: EntryReader) -> FileLocation:
    return FileLocation(reader.a(str, "a string"), reader.varint(), reader.varint())


def _file_range(reader: EntryReader) -> FileLocation:
    """Read up to four numbers: a line, a column, the last column and, in front of that, the last line if it differs."""
    filename = reader.a(str, "a string")
    offset, count = reader.offset, reader.count("numbers")
    if count > 4:
        raise reader.error(f"expected at most 4 numbers in a range of lines, got {count}", offset)
    given = reader.varints(count)
    line, column = (*given, 0, 0)[:2]
    end = (given[2] if count == 4 else line, given[-1]) if count > 2 else None
    return FileLocation(filename, line, column, end)


def _fused(reader: EntryReader) -> FusedLocation:
    return FusedLocation(tuple([_location(reader) for _ in range(reader.count("locations"))]))


def _fused_with_metadata(reader: EntryReader) -> FusedLocation:
    return FusedLocation(_fused(reader).locations, reader.attribute())


def _name(reader: EntryReader) -> NameLocation:
    name, child = reader.a(str, "a string"), _location(reader)
    return NameLocation(name, None if child == UNKNOWN_LOCATION else child)


DECODERS: Mapping[int, Callable[[EntryReader], Any]] = {
    CALL_SITE: _call_site,
    FILE: _file,
    FUSED: _fused,
    FUSED_WITH_METADATA: _fused_with_metadata,
    NAME: _name,
    UNKNOWN: lambda reader: UNKNOWN_LOCATION,
    FILE_RANGE: _file_range,
}


def location_parts(reader: Cursor) -> list[int]:
    """Return the indexes of the locations that the location at the cursor is made of."""
    code = reader.varint()
    if code == CALL_SITE:
        return reader.varints(2)
    if code in (FUSED, FUSED_WITH_METADATA):
        return reader.varints(reader.count("locations"))
    return reader.varints(2)[1:] if code == NAME else []


# --- to bytes -------------------------------------------------------------------------------------------------------


def write_location(writer: EntryWriter, location: object) -> None:
    """Write a location. NotImplementedError for anything else."""
    match location:
        case UnknownLocation():
            writer.varint(UNKNOWN)
        case FileLocation(filename, line, column, end):
            _write_file(writer, filename, line, column, end)
        case NameLocation(name, child):
            writer.varint(NAME)
            writer.attribute(name)
            writer.location(child)
        case CallSiteLocation(callee, caller):
            writer.varint(CALL_SITE)
            writer.location(callee)
            writer.location(caller)
        case FusedLocation(locations, metadata):
            writer.varint(FUSED if metadata is None else FUSED_WITH_METADATA)
            writer.varint(len(locations))
            for part in locations:
                writer.location(part)
            if metadata is not None:
                writer.attribute(metadata)
        case _:
            raise NotImplementedError


def _write_file(writer: EntryWriter, filename: str, line: int, column: int, end: tuple[int, int] | None) -> None:
    writer.varint(FILE if end is None else FILE_RANGE)
    writer.attribute(filename)
    if end is None:
        writer.varint(line)
        writer.varint(column)
    else:
        writer.varints([line, column, end[1]] if line == end[0] else [line, column, *end])
