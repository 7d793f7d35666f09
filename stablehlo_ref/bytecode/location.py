"""Where in a bytecode file something is: a byte offset, and what the file says about the origin of an op there."""

from __future__ import annotations

from stablehlo_ref.diagnostics import Location, Source
from stablehlo_ref.ir.locations import DebugLocation, short_location


class ByteLocation(Location):
    """An offset in a file of bytes. It prints as `file.mlirbc: byte 123`, then the place or the name in the model.

    The source has no text, so that diagnostics show no excerpt; line and column are 1 and the offset plus 1.
    """

    __slots__ = ("debug_location",)

    def __init__(self, source: Source, offset: int, debug_location: DebugLocation | None = None) -> None:
        self.source = source
        self.offset = offset
        self.debug_location = debug_location

    def __str__(self) -> str:
        place = f"{self.source.filename}: byte {self.offset}"
        return ", ".join(filter(None, (place, short_location(self.debug_location))))

    def excerpt(self) -> str:
        return ""
