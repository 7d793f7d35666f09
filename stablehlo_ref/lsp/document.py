"""Documents: the programs in a text, their errors, and what is at an offset."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property

import stablehlo_ref.dialects.register_all  # noqa: F401
from stablehlo_ref.diagnostics import Diagnostic, Location, Source, split_text
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.lexer import Cursor
from stablehlo_ref.lsp.names import NameParser, Names, token_names
from stablehlo_ref.syntax.recovery import recover_with
from stablehlo_ref.verify import invalid_ops


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
