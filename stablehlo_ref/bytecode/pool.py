"""The attributes and types of a program that is written: each distinct one once, with its encoding.

An encoding is a sequence of bytes and of references to other entries, strings and resources, whose numbers are known
only when the whole program has been seen. Two values with the same encoding are the same entry.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

from stablehlo_ref.bytecode.encoding import MAX_VARINT, ByteWriter, Data
from stablehlo_ref.ir.attributes import DenseResource
from stablehlo_ref.ir.locations import UNKNOWN_LOCATION, resolve
from stablehlo_ref.ir.types import Type

LARGE_BLOB = 1 << 12  # bytes; larger ones are compared by a digest


class Reference(NamedTuple):
    """What an encoding has in a place whose bytes are not known yet."""

    kind: str  # "attribute", "type", "optional" (an attribute), "string" or "resource"
    target: int | str  # the index in the pool's list of that kind, the string itself, or the key of the resource


@dataclass(frozen=True, eq=False)
class Blob:
    """Bytes that are not copied; `key` identifies them."""

    data: Data
    key: bytes


Item: TypeAlias = bytes | Reference | Blob


@dataclass(frozen=True, eq=False)
class Entry:
    """An attribute or a type: the dialect that it belongs to, and its encoding."""

    dialect: str
    items: tuple[Item, ...]
    is_custom: bool  # else MLIR's text


class Encodings(Protocol):
    """How attributes and types are encoded: as in MLIR, or as in VHLO."""

    def write_attribute(self, writer: EntryWriter, attribute: object) -> None:
        """Write an attribute or a location, and set `writer.dialect`."""

    def write_type(self, writer: EntryWriter, type: Type) -> None:
        """Write a type, and set `writer.dialect`."""


class Pool:
    """All attributes, types, strings and resources of a program."""

    def __init__(self, plain: Encodings) -> None:
        self.plain = plain  # encodes locations and names of attributes
        self.attributes: list[Entry] = []
        self.types: list[Entry] = []
        self.resources: dict[str, DenseResource] = {}  # by key
        self._entries: dict[object, int] = {}  # by encoding
        self._types: dict[tuple[Encodings, Type], int] = {}
        self._objects: dict[tuple[Encodings, int], tuple[object, int]] = {}  # by identity; the object stays alive

    def attribute(self, attribute: object, encodings: Encodings) -> int:
        """Return the index of an attribute."""
        known = self._objects.get((encodings, id(attribute)))
        if known is None:
            writer = EntryWriter(self, encodings)
            encodings.write_attribute(writer, attribute)
            known = attribute, self._add(self.attributes, "attribute", writer)
            self._objects[encodings, id(attribute)] = known
        return known[1]

    def dictionary(self, entries: Mapping[str, Any], encodings: Encodings) -> int:
        """Return the index of the dictionary of an op's attributes."""
        writer = EntryWriter(self, encodings)
        writer.dialect = "builtin"
        writer.varint(1)
        writer.dictionary(entries)
        return self._add(self.attributes, "attribute", writer)

    def location(self, location: Any) -> int:
        """Return the index of a location, resolved from aliases. Locations may be nested to any depth."""
        location = resolve(location) or UNKNOWN_LOCATION
        pending = [location]
        while pending:
            parts = [part for part in location_parts(pending[-1]) if (self.plain, id(part)) not in self._objects]
            if parts:
                pending += parts
            else:
                self.attribute(pending.pop(), self.plain)
        return self.attribute(location, self.plain)

    def type(self, type: Type, encodings: Encodings) -> int:
        """Return the index of a type."""
        index = self._types.get((encodings, type))
        if index is None:
            writer = EntryWriter(self, encodings)
            encodings.write_type(writer, type)
            index = self._types[encodings, type] = self._add(self.types, "type", writer)
        return index

    def _add(self, entries: list[Entry], kind: str, writer: EntryWriter) -> int:
        items = tuple(writer.items())
        key = kind, writer.dialect, tuple(item.key if isinstance(item, Blob) else item for item in items)
        if key not in self._entries:
            self._entries[key] = len(entries)
            entries.append(Entry(writer.dialect, items, writer.is_custom))
        return self._entries[key]


def location_parts(location: object) -> list[Any]:
    """Return the locations that a location is made of."""
    parts = [getattr(location, name, None) for name in ("child", "callee", "caller")]
    parts += getattr(location, "locations", ())
    return [part for part in map(resolve, parts) if part is not None]


class EntryWriter(ByteWriter):
    """Collects the encoding of one attribute or type."""

    def __init__(self, pool: Pool, encodings: Encodings) -> None:
        super().__init__()
        self.pool = pool
        self.encodings = encodings  # of what it consists of
        self.dialect = ""
        self.is_custom = True
        self._items: list[Item] = []

    def items(self) -> list[Item]:
        """Return all that was written, in order."""
        if self._open:
            self._items.append(bytes(self._open))
            self._open.clear()
        return self._items

    def _refer(self, kind: str, target: int | str) -> None:
        self.items().append(Reference(kind, target))

    def signed_varints(self, values: Sequence[int]) -> None:
        """Write a list that starts with its length."""
        self.varint(len(values))
        for value in values:
            self.signed_varint(value)

    def bits(self, bits: int, width: int) -> None:
        """Write a number of `width` bits, which `numbers.read_bits` reads."""
        if width <= 8:
            self.byte(bits)
            return
        words = [bits >> shift & MAX_VARINT for shift in range(0, max(bits.bit_length(), 1), 64)]
        if width > 64:
            self.varint(len(words))
        for word in words:
            self.signed_varint(word - (word >> 63 << 64))

    def text(self, text: str) -> None:
        """Write MLIR's text instead of an encoding."""
        self._items.clear()
        self._open = bytearray(text.encode("utf-8", "surrogateescape") + b"\0")
        self.is_custom = False

    def blob(self, data: Data) -> None:
        """Write bytes after their number."""
        self.varint(len(data))
        if len(data) < LARGE_BLOB:
            self._open += data
            return
        self.items().append(Blob(data, hashlib.blake2b(data, digest_size=16).digest()))

    def string(self, string: str) -> None:
        self._refer("string", string)

    def resource(self, resource: DenseResource) -> None:
        self.pool.resources.setdefault(resource.key, resource)
        self._refer("resource", resource.key)

    def attribute(self, attribute: object) -> None:
        self._refer("attribute", self.pool.attribute(attribute, self.encodings))

    def optional_attribute(self, attribute: object) -> None:
        if attribute is None:
            self.varint(0)
        else:
            self._refer("optional", self.pool.attribute(attribute, self.encodings))

    def location(self, location: Any) -> None:
        self._refer("attribute", self.pool.attribute(resolve(location) or UNKNOWN_LOCATION, self.pool.plain))

    def type(self, type: Type) -> None:
        self._refer("type", self.pool.type(type, self.encodings))

    def dictionary(self, entries: Mapping[str, Any], of_names: Encodings | None = None) -> None:
        """Write the entries of a dictionary, sorted by the bytes of their names as MLIR keeps them."""
        self.varint(len(entries))
        for name, value in sorted(entries.items(), key=lambda entry: entry[0].encode("utf-8", "surrogateescape")):
            self._refer("attribute", self.pool.attribute(name, of_names or self.pool.plain))
            self.attribute(value)
