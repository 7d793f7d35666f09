"""Debug locations, which are attributes of the builtin dialect."""

from __future__ import annotations

from typing import Any

from stablehlo_ref.bytecode.encoding import Cursor, encode_varint
from stablehlo_ref.bytecode.encodings.tables import ATTRIBUTE, NAME, VARINT, Encoding, FieldCodec, fielded, list_of
from stablehlo_ref.bytecode.entries import EntryReader
from stablehlo_ref.bytecode.pool import EntryWriter
from stablehlo_ref.ir.locations import (
    UNKNOWN_LOCATION,
    CallSiteLocation,
    DebugLocation,
    FileLocation,
    FusedLocation,
    NameLocation,
    UnknownLocation,
)

LOCATIONS = (CallSiteLocation, FileLocation, FusedLocation, NameLocation, UnknownLocation)
CALL_SITE, FILE, FUSED, FUSED_WITH_METADATA, NAMED, UNKNOWN, FILE_RANGE = 10, 11, 12, 13, 14, 15, 22

# The first bytes of locations that contain no other ones.
WITHOUT_PARTS = frozenset(encode_varint(code) for code in (FILE, UNKNOWN, FILE_RANGE))


def _location(reader: EntryReader) -> Any:
    offset, found = reader.offset, reader.attribute()
    if not isinstance(found, LOCATIONS):
        reader.expected("a location", found, offset)
    return found


def _child(reader: EntryReader) -> DebugLocation | None:
    found = _location(reader)
    return None if found == UNKNOWN_LOCATION else found


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


def _write_file_range(writer: EntryWriter, location: FileLocation) -> None:
    line, column, end = location.line, location.column, location.end or (0, 0)
    writer.attribute(location.filename)
    numbers = [line, column, end[1]] if line == end[0] else [line, column, *end]
    writer.varints([len(numbers), *numbers])


PART, CHILD = FieldCodec(_location, EntryWriter.location), FieldCodec(_child, EntryWriter.location)
PARTS = list_of(PART, "locations")
ENCODINGS = (
    fielded(CALL_SITE, CallSiteLocation, callee=PART, caller=PART),
    fielded(FILE, FileLocation, holds=lambda x: x.end is None, filename=NAME, line=VARINT, column=VARINT),
    fielded(FUSED, FusedLocation, holds=lambda x: x.metadata is None, locations=PARTS),
    fielded(FUSED_WITH_METADATA, FusedLocation, locations=PARTS, metadata=ATTRIBUTE),
    fielded(NAMED, NameLocation, name=NAME, child=CHILD),
    fielded(UNKNOWN, UnknownLocation, lambda: UNKNOWN_LOCATION),
    Encoding(FILE_RANGE, _file_range, _write_file_range, (FileLocation,)),
)


def location_parts(reader: Cursor) -> list[int]:
    """Return the indexes of the locations that the location at the cursor is made of."""
    code = reader.varint()
    if code == CALL_SITE:
        return reader.varints(2)
    if code in (FUSED, FUSED_WITH_METADATA):
        return reader.varints(reader.count("locations"))
    return reader.varints(2)[1:] if code == NAMED else []
