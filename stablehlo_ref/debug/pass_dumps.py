"""The programs of a pipeline, one after each pass, as compilers dump them: in one text, or in a folder of files.

A text has MLIR's headers `// -----// IR Dump After ... //----- //`; XLA and JAX write folders of numbered files.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from stablehlo_ref.diagnostics import ArgumentValueError, file_errors
from stablehlo_ref.program import Program
from stablehlo_ref.reading.loading import read
from stablehlo_ref.reading.parsing import decode, parse, parse_data

SUFFIXES = (".mlir", ".mlirbc", ".txt", ".hlo", ".bc")

_HEADER = re.compile(r"^// -----// IR Dump (After|Before) (.+?) //----- //[^\n]*\n?", re.M)
_PASS = re.compile(r"\w+: ([\w\-.]+)|\w+ \(([\w\-.]+)\)")  # `CSEPass: cse{...}`, or `CSE (cse)` before 2025
_FUNCTIONS = re.compile(r"^(?:func\.)?func\b[^@(\n]*@([\w$.\-]+)", re.M)
_XLA_FILE = re.compile(r"(module_\d+\..+?)\.(?:(\d{4})\.(.+)|(before|\w*after)_optimizations)\.(?:txt|hlo)")


class Stage(NamedTuple):
    """The program after a pass: as text or as a file."""

    name: str
    filename: str
    text: str | None = None
    first_line: int = 1

    @property
    def place(self) -> str:
        """The file, and the line of a text in it."""
        return self.filename if self.text is None else f"{self.filename}:{self.first_line}"

    def read(self, entry: str | None = None) -> Program:
        """Return the program, which is not verified."""
        if self.text is None:
            return parse_data(bytes(read(self.filename)), self.filename, entry=entry)
        return parse(self.text, filename=self.filename, first_line=self.first_line, entry=entry)


def stages_of(path: Path, only: str = "*") -> list[Stage]:
    """Return the programs of a folder or a file, in the order of the passes; ArgumentValueError if there are none."""
    with file_errors(path, f"read {path}"):
        is_folder = path.is_dir()
    if is_folder:
        found = _of_folder(path, only)
    else:
        found = _of_text(decode(bytes(read(str(path))), str(path)), str(path))
    if not found:
        raise ArgumentValueError(f"no programs after passes in {path}")
    return found


def _of_text(text: str, filename: str) -> list[Stage]:
    headers = list(_HEADER.finditer(text))
    starts = [0, *(header.end() for header in headers)]
    ends = [*(header.start() for header in headers), len(text)]
    found = []
    for header, start, end in zip((None, *headers), starts, ends):
        if part := text[start:end].strip():
            first_line = text.count("\n", 0, text.index(part[0], start)) + 1
            functions = _FUNCTIONS.findall(part)
            where = f" on @{functions[0]}" if len(functions) == 1 and is_partial(part) else ""
            found.append(Stage(f"{_name(header)}{where}" if header else "the input", filename, part, first_line))
    return found


def is_partial(text: str | None) -> bool:
    """Return whether a text has functions without a module: those that a pass on functions prints."""
    return text is not None and _FUNCTIONS.match(text) is not None


def _name(header: re.Match[str]) -> str:
    """Return the name of a pass, `canonicalize`."""
    match = _PASS.match(header[2])
    name = (match[1] or match[2]) if match else header[2]
    return f"before {name}" if header[1] == "Before" else name


def _of_folder(folder: Path, only: str) -> list[Stage]:
    files = [path for path in folder.rglob("*") if path.is_file() and path.suffix in SUFFIXES]
    files = [path for path in files if fnmatchcase(path.name, only)]
    named = [(_XLA_FILE.fullmatch(path.name), path) for path in files]
    if any(match for match, _ in named):
        modules = sorted({match[1] for match, _ in named if match})
        if len(modules) > 1:
            listed = ", ".join(modules[:8])
            raise ArgumentValueError(f"{folder} has dumps of several modules; choose by `only`: {listed}")
        ordered = sorted(((_xla_order(match), path) for match, path in named if match), key=lambda pair: pair[0])
        return [Stage(_xla_name(path), str(path)) for _, path in ordered]
    files.sort(key=lambda path: _natural(str(path.relative_to(folder))))
    return [Stage(path.stem, str(path)) for path in files]


def _xla_order(match: re.Match[str]) -> tuple[int, str]:
    return (int(match[2]), match[3]) if match[2] else (-1 if match[4] == "before" else 1 << 30, match[4])


def _xla_name(path: Path) -> str:
    """Return `simplification/algsimp` for `...0006.simplification.after_algsimp.before_dce.txt`."""
    match = re.search(r"\.\d{4}\.(.+?)\.after_(.+?)(?:\.before_.+)?\.\w+$", path.name)
    return f"{match[1]}/{match[2]}" if match else path.name.rsplit(".", 2)[-2]


def _natural(name: str) -> list[tuple[bool, int | str]]:
    """Return a key that sorts numbers in names by their values."""
    return [(not part.isdecimal(), int(part) if part.isdecimal() else part) for part in re.split(r"(\d+)", name)]
