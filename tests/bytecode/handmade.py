"""Bytecode files made by hand, from MLIR's description of the format: the reader must not be tested by the writer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from stablehlo_ref.bytecode.encoding import ByteLocation
from stablehlo_ref.bytecode.reader import read
from stablehlo_ref.diagnostics import StablehloError
from stablehlo_ref.dialects import register_all  # noqa: F401
from stablehlo_ref.ir.core import Operation

MAGIC = b"ML\xefR"
STRINGS, DIALECTS, ENTRIES, OFFSETS, IR, RESOURCES, RESOURCE_OFFSETS, DIALECT_VERSION, PROPERTIES = range(9)


# Strings and dialects of files whose ops are `test.f` and `test.g`, with numbers 1 and 2.
TEST_STRINGS = ("builtin", "module", "test", "f", "g")
TEST_DIALECTS = (("builtin", ("module",)), ("test", ("f", "g")))


def varint(value: int) -> bytes:
    """Encode an integer: as many zero bits as bytes follow, a one bit, the value, the lowest bits first."""
    for length in range(1, 9):
        if value < 1 << 7 * length:
            return (value << length | 1 << length - 1).to_bytes(length, "little")
    return b"\0" + value.to_bytes(8, "little")


def varints(*values: int) -> bytes:
    return b"".join(map(varint, values))


def section(number: int, content: bytes) -> bytes:
    return bytes([number]) + varint(len(content)) + content


def aligned_section(number: int, content: bytes, alignment: int, offset: int) -> bytes:
    """Return a section at an offset of the file that is padded so that its content is aligned."""
    head = bytes([number | 0x80]) + varint(len(content)) + varint(alignment)
    return head + b"\xcb" * (-(offset + len(head)) % alignment) + content


@dataclass
class File:
    """The parts of a file; without changes, a module with nothing in it, of version 6."""

    version: int = 6
    strings: Sequence[str] = ("builtin", "module")
    dialects: Sequence[tuple[str, Sequence[str]]] = (("builtin", ("module",)),)  # with names of ops
    attributes: Sequence[bytes] = (varint(15),)  # of the builtin dialect; an unknown location
    types: Sequence[bytes] = ()
    ir: bytes = b""
    properties: Sequence[bytes] = ()
    extra: Mapping[int, bytes] = field(default_factory=dict)

    def string_section(self) -> bytes:
        data = [text.encode() + b"\0" for text in self.strings]
        return varints(len(data), *(len(text) for text in reversed(data))) + b"".join(data)

    def dialect_section(self) -> bytes:
        shift = self.version >= 1  # the lowest bit says whether the dialect has a version
        numbers = [self.strings.index(name) << shift for name, _ in self.dialects]
        content = varints(len(self.dialects), *numbers)
        if self.version >= 4:
            content += varint(sum(len(ops) for _, ops in self.dialects))
        for number, (_, ops) in enumerate(self.dialects):
            names = [self.strings.index(op) for op in ops]
            if self.version >= 5:
                names = [name << 1 | 1 for name in names]  # registered
            content += varints(number, len(ops), *names) if ops else b""
        return content

    def offset_section(self) -> bytes:
        content = varints(len(self.attributes), len(self.types))
        for entries in (self.attributes, self.types):
            if entries:
                content += varints(0, len(entries), *(len(entry) << 1 | 1 for entry in entries))
        return content

    def sections(self) -> dict[int, bytes]:
        sections = {
            STRINGS: self.string_section(),
            DIALECTS: self.dialect_section(),
            OFFSETS: self.offset_section(),
            ENTRIES: b"".join([*self.attributes, *self.types]),
            IR: self.ir or empty_module(self.version),
        }
        if self.version >= 5:
            lengths = [varint(len(entry)) + entry for entry in self.properties]
            sections[PROPERTIES] = varint(len(self.properties)) + b"".join(lengths)
        return sections | dict(self.extra)

    def data(self) -> bytes:
        return assembled(self.sections(), self.version)


def assembled(sections: Mapping[int, bytes], version: int = 6, producer: str = "hand") -> bytes:
    """Return a file of the given sections."""
    body = b"".join(section(number, content) for number, content in sections.items())
    return MAGIC + varint(version) + producer.encode() + b"\0" + body


HAS_ATTRIBUTES, HAS_RESULTS, HAS_OPERANDS, HAS_SUCCESSORS, HAS_REGIONS, HAS_USE_LISTS, HAS_PROPERTIES = (
    1 << bit for bit in range(7)
)


def op(name: int, mask: int, *rest: bytes, location: int = 0) -> bytes:
    """Return an operation: the number of its name, what it has, its location, and the rest as bytes."""
    return varint(name) + bytes([mask]) + varint(location) + b"".join(rest)


def isolated(version: int, *regions: bytes) -> bytes:
    """Return regions that use no values from above: a section from version 2 on."""
    head = varint(len(regions) << 1 | 1)
    content = b"".join(regions)
    return head + (section(IR, content) if version >= 2 else content)


def block(*ops: bytes, arguments: bytes = b"") -> bytes:
    """Return a block; `arguments` are encoded with their number in front."""
    return varint(len(ops) << 1 | bool(arguments)) + arguments + b"".join(ops)


def region(values: int, *blocks: bytes) -> bytes:
    """Return a region that defines a number of values."""
    return varint(len(blocks)) + (varint(values) if blocks else b"") + b"".join(blocks)


def module(version: int, *ops: bytes, values: int = 0) -> bytes:
    """Return the section with the operations of a module whose name has number 0."""
    inner = isolated(version, region(values, block(*ops)))
    return block(op(0, HAS_REGIONS, inner))


def empty_module(version: int) -> bytes:
    return module(version)


# --- reading files ----------------------------------------------------------------------------------------------------


def read_file(file: File | bytes, allow_unregistered_dialect: bool = True) -> Operation:
    data = file if isinstance(file, bytes) else file.data()
    return read(data, "hand.mlirbc", allow_unregistered_dialect)


def error_of(data: bytes, allow_unregistered_dialect: bool = True) -> StablehloError:
    """Return the error that reading a file raises; it must have the offset of a byte."""
    with pytest.raises(StablehloError) as raised:
        read_file(data, allow_unregistered_dialect)
    assert isinstance(raised.value.diagnostics[0].location, ByteLocation)
    return raised.value


def operations(module: Operation) -> list[Operation]:
    return module.regions[0].block.operations
