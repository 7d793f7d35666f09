"""Sources, locations in them, diagnostics, and one exception class per phase."""

from __future__ import annotations

import re
from binascii import unhexlify
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike, fspath
from typing import Any

BLOCK = 1024  # characters whose line breaks are counted together
SHOWN_LINE = 160  # columns of a source line that a diagnostic shows
SHOWN_ERRORS = 20  # diagnostics of an exception that its text shows
MAX_ERRORS = 1000  # in one program, before the parser and the verifier stop


class Source:
    """The text of a program and the name of its file; `data` are its bytes, if all of them are ASCII."""

    def __init__(self, text: str, filename: str = "<string>", first_line: int = 1, data: bytes | None = None) -> None:
        self.text = text
        self.filename = filename
        self.first_line = first_line
        self._data = data

    def unhex(self, start: int, end: int) -> bytes:
        """Return the bytes of the hexadecimal digits from `start` to `end`; ValueError for other characters."""
        if self._data is None:
            return unhexlify(self.text[start:end])
        return unhexlify(memoryview(self._data)[start:end])  # without a copy of the text of large constants

    @cached_property
    def _blocks(self) -> list[tuple[int, int]]:
        """For each block of the text, the line breaks before it and where the line starts that it starts in."""
        blocks = [(0, 0)]
        for start in range(0, len(self.text), BLOCK):
            breaks, line = blocks[-1]
            end = start + BLOCK
            blocks.append((breaks + self.text.count("\n", start, end), self.text.rfind("\n", start, end) + 1 or line))
        return blocks

    def _line(self, offset: int) -> tuple[int, int]:
        """Return the line breaks before the character at `offset`, and where its line starts."""
        block = min(offset // BLOCK, len(self._blocks) - 1)
        breaks, line = self._blocks[block]
        start = block * BLOCK
        return breaks + self.text.count("\n", start, offset), self.text.rfind("\n", start, offset) + 1 or line

    def line_column(self, offset: int) -> tuple[int, int]:
        """Return the line and column of the character at `offset`, both counted from 1."""
        breaks, start = self._line(offset)
        return breaks + self.first_line, offset - start + 1

    def line_at(self, offset: int) -> str:
        """Return the line that contains the character at `offset`."""
        _, start = self._line(offset)
        end = self.text.find("\n", start)
        return self.text[start : end if end >= 0 else None].rstrip("\r")


class Location:
    """An offset in a source; the line and column are computed on demand."""

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

    def __repr__(self) -> str:
        return f"<Location {self}>"

    def excerpt(self) -> str:
        """Return the source line and a caret below the location; a long line is cut to a window around it."""
        line, column = self.source.line_at(self.offset), self.column - 1
        if len(line) > SHOWN_LINE:
            start = max(0, min(column - SHOWN_LINE // 2, len(line) - SHOWN_LINE))
            line, column = line[start : start + SHOWN_LINE], column - start
        indent = "".join("\t" if c == "\t" else " " for c in line[:column])
        return f"{line}\n{indent}^"


@dataclass(frozen=True)
class Diagnostic:
    """A message about a location. `line` and `column` count from 1, and are None without a location.

    `subjects` are what an error about an op is about, most important first: names of attributes, numbers of operands.
    `related` is a note about another location; `definitions` are notes about where values are defined.
    """

    message: str
    location: Location | None = None
    severity: str = "error"
    notes: tuple[str, ...] = ()
    subjects: tuple[str | int, ...] = ()
    related: Diagnostic | None = None
    definitions: tuple[Diagnostic, ...] = ()

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
        parts += [f"  {note}" for note in self.notes]
        return "\n".join([*parts, *map(str, self.attached)])

    @property
    def attached(self) -> tuple[Diagnostic, ...]:
        """The notes about other locations."""
        return (self.related, *self.definitions) if self.related else self.definitions


class StablehloError(Exception):
    """An error in a program or its inputs, described by `diagnostics`: all that were found, in their order.

    If `Program.trace` raised it, `trace` has the values until then.
    """

    trace: Any = None

    def __init__(
        self,
        message: str | Sequence[Diagnostic],
        location: Location | None = None,
        notes: Sequence[str] = (),
        subjects: Sequence[str | int] = (),
    ) -> None:
        if isinstance(message, str):
            message = [Diagnostic(message, location, notes=tuple(notes), subjects=tuple(subjects))]
        self.diagnostics: tuple[Diagnostic, ...] = tuple(message)
        super().__init__(self.diagnostics)

    def __str__(self) -> str:
        return summary(self.diagnostics)


def summary(diagnostics: Sequence[Diagnostic], shown: int = SHOWN_ERRORS) -> str:
    """Return the text of the first `shown` diagnostics, and how many more there are."""
    lines = [str(diagnostic) for diagnostic in diagnostics[:shown]]
    if (hidden := len(diagnostics) - shown) > 0:
        lines.append(f"{hidden} more {'error' if hidden == 1 else 'errors'} not shown")
    return "\n".join(lines)


class MalformedError(StablehloError):
    """The text or bytecode is not MLIR."""


class InvalidError(StablehloError):
    """The program violates a rule of the spec; the message names the constraint."""


class EvaluationError(StablehloError):
    """A run of a valid program failed: a check, an input, a size that is only known at run time, or a limit."""


class LimitError(EvaluationError):
    """A limit of the time or the memory of a call was reached (`Limits`)."""

    def at(self, location: Location | None) -> LimitError:
        """Return the error with a location, which it lacks where a part of the work that has none noticed it."""
        first, *others = self.diagnostics
        return self if first.location else LimitError([replace(first, location=location), *others])


class UnsupportedError(StablehloError):
    """The program requires something that this project does not support."""


class InternalError(StablehloError):
    """A defect of this project, which cannot occur in a verified program. Please report it."""


# --- errors in the use of the package, which are also what Python raises for them ------------------------------------


class UsageError(StablehloError):
    """A call of this package is wrong, not the program: there is no location."""

    def __str__(self) -> str:
        return self.diagnostics[0].message


class ArgumentTypeError(UsageError, TypeError):
    """An argument has another type than the function takes."""


class ArgumentValueError(UsageError, ValueError):
    """An argument has a value that the function does not take."""


class UnknownNameError(UsageError, KeyError):
    """Nothing has the name."""


class UnknownIndexError(UsageError, IndexError):
    """Nothing has the number."""


class MissingAttributeError(UsageError, AttributeError):
    """An object has no such attribute."""


class MissingPackageError(UsageError, ImportError):
    """An optional package is not installed; the message says how to install it."""


class FileError(MalformedError, OSError):
    """A file cannot be read or written, or a command not run; `errno` and `strerror` say why."""


class MissingFileError(FileError, FileNotFoundError):
    """There is no such file."""


class ForbiddenFileError(FileError, PermissionError):
    """The file may not be read."""


class IsFolderError(FileError, IsADirectoryError):
    """The file is a folder."""


_FILE_ERRORS: dict[type[OSError], type[FileError]] = {
    FileNotFoundError: MissingFileError, PermissionError: ForbiddenFileError, IsADirectoryError: IsFolderError,
}  # fmt: skip


def file_error(error: OSError, message: str, location: Location) -> FileError:
    """Return the error about a file of the kind, with the number and the reason, that the system's error has."""
    found = _FILE_ERRORS.get(type(error), FileError)(message, location)
    found.errno, found.strerror, found.filename = error.errno, error.strerror, location.filename
    return found


@contextmanager
def file_errors(path: str | PathLike[str], action: str) -> Iterator[None]:
    """Let an OSError inside, or a ValueError for a path with a zero byte, be one about a path: `cannot {action}`."""
    place = Location(Source("", fspath(path)), 0)
    try:
        yield
    except StablehloError:
        raise
    except OSError as error:
        raise file_error(error, f"cannot {action}: {error.strerror or error}", place) from None
    except ValueError as error:
        raise ArgumentValueError(f"cannot {action}: {error}", place) from None


SPLIT = "// -----"
SPLIT_LINE = re.compile(rf"^[ \t]*(?://[ \t]*)?{SPLIT}[ \t\r]*$", re.M)  # MLIR also splits at one that is commented out


def split_text(text: str) -> Iterator[tuple[int, str]]:
    """Yield the parts of a text between lines `// -----`, with the number of their first lines."""
    first_line = 1
    for part in SPLIT_LINE.split(text):
        yield first_line, part
        first_line += part.count("\n")
