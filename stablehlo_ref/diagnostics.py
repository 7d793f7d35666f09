"""Where in a file something is, what is wrong with it, and one exception per phase that may find it so."""

from __future__ import annotations

from binascii import unhexlify
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

SHOWN_LINE = 160  # columns of a source line that a diagnostic shows


class Source:
    """A program's text and the name of the file it came from; `data` are its bytes, where all of them are ASCII."""

    def __init__(self, text: str, filename: str = "<string>", first_line: int = 1, data: bytes | None = None) -> None:
        self.text = text
        self.filename = filename
        self.first_line = first_line
        self._data = data

    def unhex(self, start: int, end: int) -> bytes:
        """The bytes that the text from `start` to `end` spells in hexadecimal; ValueError if it does not."""
        if self._data is None:
            return unhexlify(self.text[start:end])
        return unhexlify(memoryview(self._data)[start:end])  # large constants are read without copying their text

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        found = self.text.find("\n")
        while found >= 0:
            starts.append(found + 1)
            found = self.text.find("\n", found + 1)
        return starts

    def line_column(self, offset: int) -> tuple[int, int]:
        """The line and column of the character at `offset`, both counted from 1."""
        line = bisect_right(self._line_starts, offset)
        return line - 1 + self.first_line, offset - self._line_starts[line - 1] + 1

    def line_at(self, offset: int) -> str:
        """The whole line that holds the character at `offset`."""
        start = self._line_starts[bisect_right(self._line_starts, offset) - 1]
        end = self.text.find("\n", start)
        return self.text[start : end if end >= 0 else None].rstrip("\r")


class Location:
    """A place in a source; line and column are only worked out when somebody asks."""

    __slots__ = ("offset", "source")

    def __init__(self, source: Source, offset: int) -> None:
        self.source = source
        self.offset = offset

    @property
    def filename(self) -> str:
        return self.source.filename

    @property
    def line(self) -> int:
        return self.source.line_column(self.offset)[0]

    @property
    def column(self) -> int:
        return self.source.line_column(self.offset)[1]

    def __str__(self) -> str:
        line, column = self.source.line_column(self.offset)
        return f"{self.source.filename}:{line}:{column}"

    def excerpt(self) -> str:
        """The source line with a caret below the place, cut to a window around it where the line is long."""
        line, column = self.source.line_at(self.offset), self.column - 1
        if len(line) > SHOWN_LINE:
            start = max(0, min(column - SHOWN_LINE // 2, len(line) - SHOWN_LINE))
            line, column = line[start : start + SHOWN_LINE], column - start
        indent = "".join("\t" if c == "\t" else " " for c in line[:column])
        return f"{line}\n{indent}^"


@dataclass(frozen=True)
class Diagnostic:
    """One finding. `line` and `column` count from 1 and are None where no text stands behind it."""

    message: str
    location: Location | None = None
    severity: str = "error"
    notes: tuple[str, ...] = field(default=())

    @property
    def filename(self) -> str | None:
        return self.location.filename if self.location else None

    @property
    def line(self) -> int | None:
        return self.location.line if self.location else None

    @property
    def column(self) -> int | None:
        return self.location.column if self.location else None

    def __str__(self) -> str:
        prefix = f"{self.location}: " if self.location else ""
        parts = [f"{prefix}{self.severity}: {self.message}"]
        if self.location and self.location.source.text:
            parts.append(self.location.excerpt())
        return "\n".join([*parts, *(f"  {note}" for note in self.notes)])


class StablehloError(Exception):
    """Anything that is wrong with a program or its inputs; `diagnostics` says what and where."""

    def __init__(
        self, message: str | Sequence[Diagnostic], location: Location | None = None, notes: Sequence[str] = ()
    ) -> None:
        if isinstance(message, str):
            message = [Diagnostic(message, location, notes=tuple(notes))]
        self.diagnostics: tuple[Diagnostic, ...] = tuple(message)
        super().__init__(self.diagnostics)

    def __str__(self) -> str:
        return "\n".join(map(str, self.diagnostics))


class MalformedError(StablehloError):
    """The text (or bytecode) is not MLIR."""


class InvalidError(StablehloError):
    """The program is MLIR, but breaks a rule of the spec; the message names the constraint."""


class EvaluationError(StablehloError):
    """The program is valid, but this run of it failed: a check, an input, a size known only now, a limit."""


class UnsupportedError(StablehloError):
    """The program needs something that this project does not evaluate."""


class InternalError(StablehloError):
    """This project is at fault: something that cannot happen in a verified program. Please report it."""
