"""Documents: the programs in a text, their errors, what is at an offset, and what each name refers to."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import stablehlo_ref.dialects.register_all  # noqa: F401
from stablehlo_ref.diagnostics import Diagnostic, Location, MalformedError, Source, split_text
from stablehlo_ref.ir.core import Operation, Value, symbol_name
from stablehlo_ref.ir.lexer import LABEL, SUFFIX, SYMBOL, Cursor
from stablehlo_ref.ir.types import Type
from stablehlo_ref.syntax.recovery import RecoveringParser, recover_with
from stablehlo_ref.text.tokens import Tokens
from stablehlo_ref.verify import invalid_ops

# --- names: SSA values from the parser, symbols, aliases and labels from the tokens -----------------------------------


_find_values = re.compile(rf"%({SUFFIX})(?:\#\d+)?", re.ASCII).finditer


@dataclass(frozen=True)
class Name:
    """An occurrence of a name, and the offset of its definition; None if it has none in the text."""

    start: int
    end: int
    definition: int | None
    value: Value | None = None

    @property
    def is_definition(self) -> bool:
        return self.start == self.definition


class NameParser(RecoveringParser):
    """Parses a program, which may have errors, and records where values are defined and used."""

    def __init__(self, source: Source, allow_unregistered_dialect: bool = False) -> None:
        super().__init__(source, allow_unregistered_dialect)
        self.uses: dict[int, tuple[str, Value]] = {}  # by offset
        self.defined_at: dict[Value, int] = {}

    def value_names(self) -> Iterator[Name]:
        """Yield the occurrences of names of values."""
        for value, offset in self.defined_at.items():
            yield Name(offset, offset + 1 + len(value.name.partition("#")[0]), offset, value)
        for offset, (name, value) in self.uses.items():
            yield Name(offset, offset + 1 + len(name), self.defined_at.get(value), value)

    # --- recording ----------------------------------------------------------------------------------------------

    def _repeat(self, *_: object) -> None:
        """Parse repeated lines as others, which records the offsets of their operands."""
        return

    def _value(self, name: str, offset: int, type: Type | None) -> Value:
        poisoned = self._poisoned_value(name)
        value = super()._value(name, offset, type)
        self.uses[offset] = name, poisoned or value
        return value

    def arguments(self, names: Sequence[tuple[str, int]], types: Sequence[Type]) -> list[Value]:
        values = super().arguments(names, types)
        self.defined_at |= dict(zip(values, (offset for _, offset in names)))
        return values

    def define(self, name: str, value: Value, offset: int) -> Value:
        value = super().define(name, value, offset)
        self.defined_at.setdefault(value, self._place(name, offset))
        return value

    def _place(self, name: str, offset: int) -> int:
        """Return where a name is defined: in the list of results at `offset`, or where it was last read."""
        if not self.text.startswith("%", offset):
            return self.places.get(name, (offset,))[0]
        base = name.partition("#")[0]
        return next((m.start() for m in _find_values(self.text, offset) if m[1] == base), offset)

    def _poison(self, name: str, op: Operation) -> None:
        super()._poison(name, op)
        line = self.text.rfind("\n", 0, op.location.offset) + 1
        self.defined_at[self.scope.values[name]] = self._place(name, self.text.find("%", line))

    def _malformed(self, start: int) -> Operation:
        """Record the known values in the text of an op that could not be read."""
        scope = self.scope
        for match in _find_values(self.text, start, max(start, self.position)):
            value = scope.values.get(match[0][1:], scope.values.get(match[1]))
            if value is not None:
                self.uses.setdefault(match.start(), (match[0][1:], value))
        return super()._malformed(start)


class Names:
    """The names in a text, by offset."""

    def __init__(self, names: Iterable[Name]) -> None:
        found = {name.start: name for name in sorted(names, key=lambda name: name.is_definition)}
        self.names = [found[start] for start in sorted(found)]
        self._starts = [name.start for name in self.names]

    def at(self, offset: int) -> Name | None:
        """Return the name around or directly before an offset."""
        index = bisect_right(self._starts, offset) - 1
        return self.names[index] if index >= 0 and offset <= self.names[index].end else None

    def of(self, definition: int) -> list[Name]:
        """Return all occurrences of the name that is defined at an offset."""
        return [name for name in self.names if name.definition == definition]

    def definitions(self) -> list[Name]:
        return [name for name in self.names if name.is_definition]


def token_names(source: Source, module: Operation | None) -> Iterator[Name]:
    """Yield the occurrences of symbols, aliases and labels; none if the text cannot be split into tokens."""
    try:
        tokens = Tokens(source)
    except MalformedError:
        return
    ops = sorted(_symbols(module)) if module is not None else []
    functions = [offset for offset, _ in ops]
    known: dict[tuple[str, int], int] = {}
    for (offset, name), after in zip(ops, [*functions[1:], len(source.text)]):
        own = range(bisect_left(tokens.starts, offset), bisect_left(tokens.starts, after))
        places = (tokens.starts[i] for i in own if tokens.kinds[i] == SYMBOL and tokens.values[i] == f"@{name}")
        known.setdefault((f"@{name}", 0), next(places, offset))
    found = []
    for index, (kind, text, start) in enumerate(zip(tokens.kinds, tokens.values, tokens.starts)):
        if kind == SYMBOL:
            found.append((text, 0, start))
        elif kind == LABEL:
            found.append((text, bisect_right(functions, start), start))
            if tokens.starts_line(index):
                known.setdefault((text, found[-1][1]), start)
        elif tokens.is_alias(index):
            found.append((text, 0, start))
            if tokens.starts_line(index) and tokens.kinds[index + 1] == "=":
                known.setdefault((text, 0), start)
    for text, function, start in found:
        yield Name(start, start + len(text), known.get((text, function)))


def _symbols(module: Operation) -> Iterator[tuple[int, str]]:
    for op in module.walk():
        if (name := symbol_name(op)) is not None:
            yield op.location.offset, name


# --- documents --------------------------------------------------------------------------------------------------------


class Lines:
    """The lines of a text; converts between offsets in characters and positions."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0, *(index + 1 for index, character in enumerate(text) if character == "\n")]

    def position(self, offset: int) -> tuple[int, int]:
        """Return the line and the UTF-16 column of the character at `offset`."""
        line = bisect_right(self.starts, offset) - 1
        return line, units(self.text[self.starts[line] : offset])

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a position; one behind the end of its line is the end of the line."""
        if line >= len(self.starts):
            return len(self.text)
        content = self.text[self.starts[line] :].partition("\n")[0]
        if content.isascii():
            return self.starts[line] + min(column, len(content))
        encoded = content.encode("utf-16-le", "surrogatepass")[: 2 * column]
        return self.starts[line] + len(encoded.decode("utf-16-le", "ignore"))


def units(text: str) -> int:
    """Return the number of UTF-16 code units of a text."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


class Chunk:
    """One program of a document: the text between lines `// -----`. Offsets are those in its own text."""

    def __init__(self, text: str, start: int, filename: str) -> None:
        self.source = Source(text, filename)
        self.start = start  # in the document
        parser = NameParser(self.source)
        recovered = recover_with(parser)
        self.module = recovered.module
        self.errors = list(recovered.errors)
        if self.module is not None:
            self.errors += invalid_ops(self.module, recovered.poisoned)
        self._parser = parser

    @property
    def text(self) -> str:
        return self.source.text

    @cached_property
    def names(self) -> Names:
        return Names([*self._parser.value_names(), *token_names(self.source, self.module)])

    @cached_property
    def _ops(self) -> dict[int, Operation]:
        """The ops by the offset of their name; of several, as in `applies`, the outermost."""
        found: dict[int, Operation] = {}
        for op in self.module.walk() if self.module is not None else ():
            if not op.name.startswith("<"):  # what stands for an op that could not be read
                found.setdefault(op.location.offset, op)
        return found

    def op_at(self, offset: int) -> Operation | None:
        """Return the op whose name is around an offset."""
        starts = sorted(self._ops)
        index = bisect_right(starts, offset) - 1
        if index < 0 or offset > end_of_token(self.source, starts[index]):
            return None
        return self._ops[starts[index]]

    def function_around(self, offset: int) -> int:
        """Return the offset of the last function that starts before an offset; 0 if there is none."""
        starts = (op.location.offset for op in self._ops.values() if op.name == "func.func")
        return max((start for start in starts if start <= offset), default=0)


class Document:
    """A text that is being edited."""

    def __init__(self, text: str, filename: str) -> None:
        self.text = text
        self.lines = Lines(text)
        self.parts = []
        for first_line, part in split_text(text):
            self.parts.append(Chunk(part, text.index(part, self._start_of(first_line)), filename))

    def _start_of(self, line: int) -> int:
        return self.lines.starts[min(line, len(self.lines.starts)) - 1]

    def part_at(self, offset: int) -> Chunk:
        """Return the part around an offset."""
        starts = [part.start for part in self.parts]
        return self.parts[max(bisect_right(starts, offset) - 1, 0)]

    def errors(self) -> list[tuple[Chunk, Diagnostic]]:
        return [(part, error) for part in self.parts for error in part.errors]


def end_of_token(source: Source, offset: int) -> int:
    """Return where the token at an offset ends; the offset itself at the end of a line."""
    if offset >= len(source.text) or source.text[offset] in "\r\n":
        return offset
    cursor = Cursor(source)
    cursor.position = offset
    cursor.advance()
    return max(cursor.position, offset)


def range_of(part: Chunk, location: Location | None) -> tuple[int, int]:
    """Return the offsets in the document between which the token at a location is; the start without one."""
    if location is None:
        return part.start, part.start
    return part.start + location.offset, part.start + end_of_token(part.source, location.offset)
