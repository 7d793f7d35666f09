"""The attributes and types of a file, both ways.

Those of a file that is read are decoded when they are first used, by the encodings of their dialects. Of a program that
is written, each distinct one is encoded once, as a sequence of bytes and of references to other entries, strings and
resources, whose numbers are known only when the whole program has been seen. Two values with the same encoding are the
same entry.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final, NamedTuple, NoReturn, Protocol, TypeAlias

from stablehlo_ref.bytecode.encoding import MAX_VARINT, ByteWriter, Cursor, Data
from stablehlo_ref.bytecode.sections import Resource, Strings
from stablehlo_ref.diagnostics import Source, StablehloError
from stablehlo_ref.ir.attributes import DenseElements, DenseResource, FloatAttribute, IntegerAttribute
from stablehlo_ref.ir.lexer import MAX_NESTING
from stablehlo_ref.ir.locations import UNKNOWN_LOCATION, resolve
from stablehlo_ref.ir.types import FloatType, IntegerType, Type
from stablehlo_ref.syntax.attribute_text import attribute_text
from stablehlo_ref.syntax.parser import Parser

MAX_TYPE_PARTS = 10_000  # of a type, shared parts counted as often as they occur; what uses types takes time for each
MAX_ATTRIBUTE_PARTS = 1 << 20
SHOWN = 80  # characters of an attribute in a message
LARGE_BLOB = 1 << 12  # bytes; larger ones are compared by a digest

Kind: TypeAlias = type


# --- from bytes -----------------------------------------------------------------------------------------------------


class Unset:
    """What stands for an entry that is not decoded."""


MISSING: Final = Unset()
OPEN: Final = Unset()  # being decoded


Decoders: TypeAlias = Mapping[str, Callable[["EntryReader"], Any]]  # of entries, by dialect


class EntryTable:
    """The attributes of a file, or its types: where each is encoded, and its value once it was used."""

    def __init__(self, what: str, count: int, max_parts: int, decoders: Decoders) -> None:
        self.what = what
        self.max_parts = max_parts
        self.decoders = decoders
        self.values: list[Any] = [MISSING] * count
        self.parts = [0] * count
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.dialects: list[str] = []
        self.is_custom: list[bool] = []  # else MLIR's text


class EntryReader(Cursor):
    """Reads one encoded attribute or type, whose parts are other entries, strings and resources."""

    __slots__ = ("depth", "entries")

    def __init__(self, data: bytes | memoryview, source: Source, base: int, entries: Entries, depth: int) -> None:
        self.data, self.source, self.base, self.position = data, source, base, 0  # faster than by the base class
        self.entries = entries
        self.depth = depth

    def attribute(self) -> Any:
        return self.entries.attribute(self.varint(), self.depth, self)

    def type(self) -> Type:
        return self.entries.type(self.varint(), self.depth, self)

    def optional_attribute(self) -> Any:
        """Return None for an attribute that is left out."""
        index, is_present = self.flagged_varint()
        return self.entries.attribute(index, self.depth, self) if is_present else None

    def items(self) -> tuple[Any, ...]:
        """Return the attributes of a list, where MLIR's text leaves out the types i64 and f64."""
        return tuple([untyped(self.attribute()) for _ in range(self.count("attributes"))])

    def string(self) -> str:
        return self.entries.strings.read(self)

    def resource(self) -> Resource:
        resources = self.entries.resources
        return resources[self.index(len(resources), "resource")]

    def blob(self) -> bytes | memoryview:
        """Return bytes that start with their number, without copying them."""
        return self.take(self.varint())

    def expected(self, what: str, found: object, offset: int) -> NoReturn:
        """Raise the error for an attribute that is not of the kind that is needed."""
        raise self.error(f"expected {what}, got {described(found)}", offset)

    def a(self, kind: Kind, what: str) -> Any:
        """Return the next attribute, which must be an instance of a class."""
        offset, found = self.offset, self.attribute()
        if not isinstance(found, kind):
            self.expected(what, found, offset)
        return found


class Entries:
    """Both tables, and what decodes them."""

    def __init__(
        self,
        contents: Cursor,
        offsets: Cursor,
        strings: Strings,
        resources: Sequence[Resource],
        dialects: Sequence[str],
        attribute_decoders: Decoders,
        type_decoders: Decoders,
    ) -> None:
        self.contents = contents
        self.strings = strings
        self.resources = resources
        self._parts = 0  # of the entry that is being decoded
        start = offsets.offset
        attributes, types = offsets.varint(), offsets.varint()
        if attributes + types > offsets.remaining:
            raise offsets.error(f"{attributes + types} attributes and types do not fit into their table", start)
        self.attributes = EntryTable("attribute", attributes, MAX_ATTRIBUTE_PARTS, attribute_decoders)
        self.types = EntryTable("type", types, MAX_TYPE_PARTS, type_decoders)
        end = 0
        for table in (self.attributes, self.types):
            end = _read_table(table, offsets, dialects, end)
        offsets.expect_end("the table of attributes and types")
        if end > len(contents.data):
            raise offsets.error(f"attributes and types of {end} bytes in {len(contents.data)} bytes", start)

    # --- values -------------------------------------------------------------------------------------------------

    def attribute(self, index: int, depth: int, reader: Cursor) -> Any:
        """Return the attribute at an index that was read from `reader`."""
        return self._entry(self.attributes, index, depth, reader)

    def type(self, index: int, depth: int, reader: Cursor) -> Type:
        """Return the type at an index that was read from `reader`."""
        return self._entry(self.types, index, depth, reader)  # type: ignore[no-any-return]

    def _entry(self, table: EntryTable, index: int, depth: int, reader: Cursor) -> Any:
        if index >= len(table.values):
            raise reader.error(f"{table.what} {index} does not exist; there are {len(table.values)}")
        value = table.values[index]
        if value is MISSING:
            value = self._decode(table, index, depth)
        elif value is OPEN:
            raise reader.error(f"{table.what} {index} contains itself")
        self._parts += table.parts[index]
        return value

    def _decode(self, table: EntryTable, index: int, depth: int) -> Any:
        reader = self.reader(table, index, depth + 1)
        if depth >= MAX_NESTING:
            raise reader.error(f"{table.what} nested more than {MAX_NESTING} levels deep")
        outer, self._parts = self._parts, 1
        table.values[index] = OPEN
        value = self._custom(table, index, reader) if table.is_custom[index] else self._assembly(table, reader)
        reader.expect_end(f"{table.what} {index}")
        if self._parts > table.max_parts:
            raise reader.error(
                f"{table.what} {index} has {self._parts} parts, more than the limit of {table.max_parts}"
            )
        table.values[index] = value
        table.parts[index] = self._parts
        self._parts = outer
        return value

    def reader(self, table: EntryTable, index: int, depth: int = 0) -> EntryReader:
        """Return a reader of an entry."""
        start = table.starts[index]
        data = self.contents.data[start : table.ends[index]]
        return EntryReader(data, self.contents.source, self.contents.base + start, self, depth)

    def _custom(self, table: EntryTable, index: int, reader: EntryReader) -> Any:
        dialect = table.dialects[index]
        if dialect not in table.decoders:
            raise reader.unsupported(f"unsupported encoding of {_article(table.what)} of dialect '{dialect}'")
        return table.decoders[dialect](reader)

    def _assembly(self, table: EntryTable, reader: EntryReader) -> Any:
        """Return an entry that is MLIR's text."""
        offset = reader.offset
        text = reader.terminated_string().decode("utf-8", "surrogateescape")
        parser = Parser(Source(text))
        try:
            value = parser.attribute() if table is self.attributes else parser.type()
            if parser.peek():
                raise parser.expected(f"the end of the {table.what}")
        except StablehloError as error:
            message = error.diagnostics[0].message
            raise reader.error(f"malformed text of {_article(table.what)}: {message}", offset) from error
        except RecursionError as error:
            raise reader.error(f"{table.what} nested too deeply for what is left of Python's stack", offset) from error
        return value


def _read_table(table: EntryTable, offsets: Cursor, dialects: Sequence[str], end: int) -> int:
    """Read where the entries of a table are, the first one at `end`, and return where the last one ends."""
    while len(table.starts) < len(table.values):
        dialect = dialects[offsets.index(len(dialects), "dialect")]
        lengths = offsets.varints(offsets.count("entries of a dialect"))
        places = list(accumulate((length >> 1 for length in lengths), initial=end))
        end = places[-1]
        table.starts += places[:-1]
        table.ends += places[1:]
        table.dialects += [dialect] * len(lengths)
        table.is_custom += [bool(length & 1) for length in lengths]
    if len(table.starts) != len(table.values):
        raise offsets.error(f"expected {len(table.values)} {table.what}s, got {len(table.starts)}")
    return end


def untyped(attribute: object) -> Any:
    """Return an integer of type i64 or a number of type f64 without its type, anything else as it is."""
    match attribute:
        case IntegerAttribute(value, IntegerType(64, "")):
            return IntegerAttribute(value)
        case FloatAttribute(value, FloatType("f64"), text):
            return FloatAttribute(value, None, text)
    return attribute


def described(attribute: Any) -> str:
    """Return what an attribute is, in a few words."""
    match attribute:
        case tuple():
            return "a list"
        case dict():
            return "a dictionary"
        case DenseElements(type=type) | DenseResource(type=type):
            return f"the elements of a {type}"
    text = attribute_text(attribute)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def _article(what: str) -> str:
    return f"an {what}" if what[0] in "aeiou" else f"a {what}"


# --- to bytes -------------------------------------------------------------------------------------------------------


class Reference(NamedTuple):
    """A placeholder in an encoding for an index that is not known yet."""

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
        """Write the number of bytes, then the bytes."""
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
