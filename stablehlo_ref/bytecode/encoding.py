"""The primitives of MLIR bytecode: bytes, integers of variable length, aligned blobs, and errors with byte offsets.

An integer of variable length starts with as many zero bits, from the lowest up, as bytes follow the first one. Signed
integers are zigzag-encoded: 0, -1, 1, -2, ... are 0, 1, 2, 3, ...
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeAlias

from stablehlo_ref.diagnostics import Location, MalformedError, Source, UnsupportedError
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


Data: TypeAlias = bytes | bytearray | memoryview

PADDING = 0xCB
MAX_VARINT = (1 << 64) - 1
SMALL_BLOB = 256  # bytes; a smaller blob is copied

_find_zero = re.compile(rb"\0").search


class Cursor:
    """Reads bytes from first to last. `base` is the offset of the first one in the file, for messages."""

    __slots__ = ("base", "data", "position", "source")

    def __init__(self, data: bytes | memoryview, source: Source, base: int = 0) -> None:
        self.data = data
        self.source = source
        self.base = base
        self.position = 0

    # --- places and errors --------------------------------------------------------------------------------------

    @property
    def offset(self) -> int:
        """The offset of the next byte in the file."""
        return self.base + self.position

    @property
    def remaining(self) -> int:
        return len(self.data) - self.position

    def location(self, offset: int | None = None) -> ByteLocation:
        return ByteLocation(self.source, self.offset if offset is None else offset)

    def error(self, message: str, offset: int | None = None) -> MalformedError:
        """Return an error at `offset` in the file, by default at the next byte."""
        return MalformedError(message, self.location(offset))

    def unsupported(self, message: str, offset: int | None = None) -> UnsupportedError:
        """Return an error for what is well-formed but not known here."""
        return UnsupportedError(message, self.location(offset))

    def expect_end(self, what: str) -> None:
        if self.position != len(self.data):
            raise self.error(f"{self.remaining} unexpected bytes at the end of {what}")

    # --- values -------------------------------------------------------------------------------------------------

    def byte(self) -> int:
        try:
            value = self.data[self.position]
        except IndexError:
            raise self.error("unexpected end of data") from None
        self.position += 1
        return value

    def varint(self) -> int:
        """Return an unsigned integer of up to 64 bits."""
        data, position = self.data, self.position
        if position >= len(data):
            raise self.error("unexpected end of data")
        first = data[position]
        if first & 1:
            self.position = position + 1
            return first >> 1
        if first & 2 and position + 1 < len(data):
            self.position = position + 2
            return (first | data[position + 1] << 8) >> 2
        if first & 4 and position + 2 < len(data):
            self.position = position + 3
            return (first | data[position + 1] << 8 | data[position + 2] << 16) >> 3
        return self._long_varint(first)

    def _long_varint(self, first: int) -> int:
        if first == 0:
            self.position += 1
            return int.from_bytes(self.take(8), "little")
        length = (first & -first).bit_length()
        return int.from_bytes(self.take(length), "little") >> length

    def varints(self, count: int) -> list[int]:
        """Return `count` unsigned integers; faster than one by one."""
        data, position = self.data, self.position
        values: list[int] = []
        try:
            for _ in range(count):
                first = data[position]
                if first & 1:
                    values.append(first >> 1)
                    position += 1
                elif first & 2:
                    values.append((first | data[position + 1] << 8) >> 2)
                    position += 2
                elif first & 4:
                    values.append((first | data[position + 1] << 8 | data[position + 2] << 16) >> 3)
                    position += 3
                else:
                    self.position = position
                    values.append(self._long_varint(first))
                    position = self.position
        except IndexError:
            raise self.error("unexpected end of data", self.base + len(data)) from None
        self.position = position
        return values

    def signed_varint(self) -> int:
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def flagged_varint(self) -> tuple[int, bool]:
        """Return an integer and the flag in its lowest bit."""
        value = self.varint()
        return value >> 1, bool(value & 1)

    def count(self, what: str, smallest: int = 1) -> int:
        """Return the number of things that follow; MalformedError if they would not fit into what is left.

        `smallest` is the number of bytes that one of them takes at least.
        """
        count = self.varint()
        if count * smallest > len(self.data) - self.position:
            raise self.error(f"{count} {what} do not fit into the {self.remaining} bytes that are left")
        return count

    def index(self, size: int, what: str) -> int:
        """Return an index below `size`, the number of entries of a table."""
        offset, index = self.offset, self.varint()
        if index >= size:
            raise self.error(f"{what} {index} does not exist; there are {size}", offset)
        return index

    def signed_varints(self) -> tuple[int, ...]:
        """Return a list that starts with its length."""
        return tuple([self.signed_varint() for _ in range(self.count("integers"))])

    def take(self, length: int) -> bytes | memoryview:
        """Return the next `length` bytes without copying them."""
        if length > self.remaining:
            raise self.error(f"expected {length} bytes, but only {self.remaining} are left")
        start = self.position
        self.position = start + length
        return self.data[start : start + length]

    def part(self, length: int) -> Cursor:
        """Return a cursor of the next `length` bytes, and move past them."""
        start = self.offset
        return Cursor(self.take(length), self.source, start)

    def terminated_string(self) -> bytes:
        """Return the bytes up to the next zero byte, and move past it."""
        end = _find_zero(self.data, self.position)
        if end is None:
            raise self.error("unexpected end of data in a string", self.base + len(self.data))
        found = bytes(self.data[self.position : end.start()])
        self.position = end.end()
        return found

    def align(self, alignment: int) -> None:
        """Skip the padding in front of an offset that is a multiple of `alignment`."""
        if alignment < 1 or alignment & (alignment - 1):
            raise self.error(f"an alignment of {alignment} bytes is not a power of two")
        padding = self.take(-self.offset % alignment)
        if bytes(padding).strip(bytes((PADDING,))):
            raise self.error("expected padding bytes (0xCB)", self.offset - len(padding))


class ByteWriter:
    """Collects bytes and integers; subclasses have other things between them."""

    def __init__(self) -> None:
        self._open = bytearray()  # what follows the last other thing

    def byte(self, value: int) -> None:
        self._open.append(value)

    def data(self, data: bytes | bytearray) -> None:
        self._open += data

    def varint(self, value: int) -> None:
        self.varints((value,))

    def varints(self, values: Iterable[int]) -> None:
        """Write integers one after another, without a length."""
        for value in values:
            if 0 <= value < 0x80:
                self._open.append(value << 1 | 1)
            else:
                self._open += encode_varint(value)

    def signed_varint(self, value: int) -> None:
        self.varint((value << 1 ^ value >> 63) & MAX_VARINT)

    def flagged_varint(self, value: int, flag: bool) -> None:
        self.varint(value << 1 | flag)


class Emitter(ByteWriter):
    """Collects bytes. Large blobs are kept as they are until the end, and not copied."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[Data] = []
        self._size = 0
        self.alignment = 1  # of the first byte, so that aligned blobs are aligned in the file

    def __len__(self) -> int:
        return self._size + len(self._open)

    def parts(self) -> list[Data]:
        """Return all that was emitted, in order."""
        if self._open:
            self._parts.append(self._open)
            self._size += len(self._open)
            self._open = bytearray()
        return self._parts

    def blob(self, data: Data) -> None:
        """Emit bytes without copying them."""
        if len(data) < SMALL_BLOB:
            self._open += data
            return
        self.parts().append(data)
        self._size += len(data)

    def align(self, alignment: int) -> None:
        self._open += bytes((PADDING,)) * (-len(self) % alignment)
        self.alignment = max(self.alignment, alignment)

    def section(self, number: int, content: Emitter) -> None:
        """Emit a section; it is padded if its content is aligned and would not be at this place."""
        length, alignment = encode_varint(len(content)), content.alignment
        is_padded = (len(self) + 1 + len(length)) % alignment > 0
        self.byte(number | 0x80 if is_padded else number)
        self.data(length)
        if is_padded:
            self.varint(alignment)
            self.align(alignment)
        self.alignment = max(self.alignment, alignment)
        self.parts().extend(content.parts())
        self._size += len(content)


def encode_varint(value: int) -> bytes:
    """Return the shortest encoding of an unsigned integer; UnsupportedError if it has more than 64 bits."""
    if not 0 <= value <= MAX_VARINT:
        raise UnsupportedError(f"bytecode cannot encode {value} as an unsigned integer of 64 bits")
    length = max(1, -(-value.bit_length() // 7))
    if length > 8:
        return b"\0" + value.to_bytes(8, "little")
    return ((value << 1 | 1) << length - 1).to_bytes(length, "little")
