"""Where programs come from: files, text, bytes."""

from __future__ import annotations

import os
from pathlib import Path

import stablehlo_ref.dialects.registered  # noqa: F401  (all op classes, so that the parser knows them)
from stablehlo_ref.diagnostics import Location, MalformedError, Source
from stablehlo_ref.limits import Limits, check_type
from stablehlo_ref.program import Program
from stablehlo_ref.syntax.parser import parse as parse_module

BYTECODE = b"ML\xefR"  # how a file of it starts


def load(
    source: str | bytes | os.PathLike[str],
    *,
    allow_unregistered_dialect: bool = False,
    entry: str | None = None,
    limits: Limits | None = None,
) -> Program:
    """Reads and verifies a program: a path, MLIR text (a `str` with a newline), or `bytes` of text.

    Raises MalformedError (also where the file can't be read) or InvalidError, with the place in the text.
    """
    text, name = source, "<string>"
    if not isinstance(source, bytes) and not (isinstance(source, str) and "\n" in source):
        name = os.fspath(source)
        text = read(name)
    assert isinstance(text, str | bytes)
    program = parse(text, filename=name, allow_unregistered_dialect=allow_unregistered_dialect, entry=entry)
    program.limits = program.limits if limits is None else limits
    return program.verify()


def read(path: str) -> bytes:
    """The contents of a file; MalformedError if it can't be read, or starts like nothing that is a program."""
    try:
        with Path(path).open("rb") as file:
            head = file.read(4096)
            if b"\0" in head and not head.startswith(BYTECODE):  # a huge file of zeros need not be read to the end
                raise _no_program(head[: head.index(b"\0")], path)
            file.seek(0)
            return file.read()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise MalformedError(f"can't read the program: {reason}", Location(Source("", path), 0)) from None


def parse(
    text: str | bytes,
    *,
    filename: str = "<string>",
    first_line: int = 1,
    allow_unregistered_dialect: bool = False,
    entry: str | None = None,
) -> Program:
    """Reads a program without verifying it; MalformedError if the text is not MLIR. Lines count from `first_line`."""
    check_type("text", text, str | bytes, "a str, or bytes")
    data = text if isinstance(text, bytes) and text.isascii() else None
    source = Source(decode(text, filename) if isinstance(text, bytes) else text, filename, first_line, data)
    return Program(parse_module(source, allow_unregistered_dialect=allow_unregistered_dialect), entry)


def decode(data: bytes, filename: str) -> str:
    """Bytes as text: UTF-8; MalformedError for bytecode and for anything else that is not text."""
    if data.startswith(BYTECODE):
        raise MalformedError("MLIR bytecode is not read yet; convert it to text", Location(Source("", filename), 0))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _no_program(data[: error.start], filename) from None


def _no_program(start: bytes, filename: str) -> MalformedError:
    """The error of a file that is text up to a place."""
    text = start.decode("utf-8-sig", errors="replace")
    place = Location(Source(text + "\N{REPLACEMENT CHARACTER}", filename), len(text))
    return MalformedError("neither UTF-8 text nor MLIR bytecode", place)
