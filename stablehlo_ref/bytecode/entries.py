"""The attributes and types of a file: decoded when they are first used, by the encodings of their dialects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any, Final, NoReturn, TypeAlias

from stablehlo_ref.bytecode.encoding import Cursor
from stablehlo_ref.bytecode.sections import Resource, Strings
from stablehlo_ref.diagnostics import Source, StablehloError
from stablehlo_ref.ir.attributes import DenseElements, DenseResource, FloatAttribute, IntegerAttribute
from stablehlo_ref.ir.lexer import MAX_NESTING
from stablehlo_ref.ir.types import FloatType, IntegerType, Type
from stablehlo_ref.syntax.attribute_text import attribute_text
from stablehlo_ref.syntax.parser import Parser

MAX_TYPE_PARTS = 10_000  # of a type, shared parts counted as often as they occur; what uses types takes time for each
MAX_ATTRIBUTE_PARTS = 1 << 20
SHOWN = 80  # characters of an attribute in a message

Kind: TypeAlias = type


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
