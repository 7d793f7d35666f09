"""Text or bytes to a program, before it is verified."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from mmap import mmap

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.diagnostics import (
    ArgumentValueError,
    Diagnostic,
    Location,
    MalformedError,
    Source,
    StablehloError,
    UnsupportedError,
)
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.lexer import Cursor
from stablehlo_ref.limits.stack import needs_stack
from stablehlo_ref.program import Program
from stablehlo_ref.reading.foreign_formats import foreign_bytes, foreign_text
from stablehlo_ref.syntax.parser import parse as parse_module
from stablehlo_ref.syntax.value_names import number_values
from stablehlo_ref.verify import invalid_ops

BYTECODE = b"ML\xefR"  # the magic number of MLIR bytecode

Data = bytes | bytearray | memoryview | mmap


class NullCache:
    """A cache of modules that were parsed and verified, which keeps none; `module_cache.ModuleCache` keeps them."""

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Let programs that are read inside come from here."""
        token = _cache.set(self)
        try:
            yield
        finally:
            _cache.reset(token)

    def find(self, source: Source, allow_unregistered_dialect: bool) -> Operation | None:
        """Return the verified module of a text, if the cache has it."""
        return None

    def store(self, module: Operation) -> None:
        """Add a module that `find` did not find and that has been verified since."""

    def problem(self) -> str | None:
        """Return why the cache cannot keep modules that it should keep; None if there is no reason."""
        return None


_cache: ContextVar[NullCache] = ContextVar("cache", default=NullCache())  # noqa: B039  (it has no state)


def cache_in(directory: str | os.PathLike[str] | None) -> NullCache:
    """Return the cache in a directory, one that keeps nothing for None. It must be a path."""
    if directory is None:
        return NullCache()
    path = os.fspath(directory)
    if not isinstance(path, str) or not path or "\0" in path:
        raise ArgumentValueError(f"cache must be the path of a directory, got {directory!r}")
    from stablehlo_ref.reading.module_cache import ModuleCache  # imported when it is needed

    return ModuleCache(directory)


@needs_stack(lambda text: None)
@checks_arguments
def parse(
    text: str | bytes | bytearray | memoryview,
    *,
    filename: str = "<string>",
    first_line: int = 1,
    allow_unregistered_dialect: bool = False,
    entry: str | None = None,
) -> Program:
    """Parse a program without verifying it: MLIR text, or MLIR bytecode (portable artifacts too).

    Lines count from `first_line`. MalformedError, with the place, for anything else.
    """
    if isinstance(text, str):
        return _parse_text(Source(text, filename, first_line), allow_unregistered_dialect, entry)
    return parse_data(text, filename, first_line, allow_unregistered_dialect, entry)


def parse_data(
    data: Data, filename: str, first_line: int = 1, allow_unregistered_dialect: bool = False, entry: str | None = None
) -> Program:
    """Parse the contents of a file, which are bytecode or text; arrays of bytecode are views of `data`."""
    if bytes(data[:4]) == BYTECODE:
        from stablehlo_ref.bytecode.reader import read as read_bytecode  # imported when it is needed

        if isinstance(data, bytearray) or not memoryview(data).readonly:
            data = bytes(data)  # views of it must not change
        module = read_bytecode(data, filename, allow_unregistered_dialect)
        number_values(module)  # bytecode has no names of values
        return Program(module, entry)
    raw = bytes(data)
    source = Source(decode(raw, filename), filename, first_line, raw if raw.isascii() else None)
    return _parse_text(source, allow_unregistered_dialect, entry)


def _parse_text(source: Source, allow_unregistered_dialect: bool, entry: str | None) -> Program:
    if (module := _cache.get().find(source, allow_unregistered_dialect)) is not None:
        return Program(module, entry, verified=True)
    try:
        return Program(parse_module(source, allow_unregistered_dialect=allow_unregistered_dialect), entry)
    except (MalformedError, UnsupportedError) as error:
        first = error
    raise type(first)(_all_errors(source, allow_unregistered_dialect, first))


def _all_errors(source: Source, allow_unregistered_dialect: bool, first: StablehloError) -> list[Diagnostic]:
    """Return all errors of a malformed program: those of the parser, and of the verifier in what could be read."""
    from stablehlo_ref.syntax.recovery import recover  # imported when it is needed

    if message := foreign_text(source.text):
        return [Diagnostic(message, Location(source, _start(source)))]
    if not first.diagnostics[0].location or first.diagnostics[0].location.offset == _start(source):
        return list(first.diagnostics)  # of a text that does not even start like a program
    found = recover(source, allow_unregistered_dialect)
    errors = found.errors or list(first.diagnostics)
    if found.module is not None:
        with suppress(Exception):  # what is left of the module may lack what the verifier relies on
            lost = found.lost_symbols
            errors += [e for e in invalid_ops(found.module, found.poisoned) if not (lost and _on_symbols(e))]
    return sorted(errors, key=lambda error: error.location.offset if error.location else 0)


def _on_symbols(error: Diagnostic) -> bool:
    """Return whether an error may be about a symbol, which an op with an error may define."""
    return "symbol" in error.message


def _start(source: Source) -> int:
    """Return the offset of the first token of a text."""
    return Cursor(source).start


def decode(data: bytes, filename: str) -> str:
    """Decode UTF-8; MalformedError for bytes that are not text."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise not_a_program(data, error.start, filename) from None


_find_control_character = re.compile(r"[\0-\x08\x0e-\x1f\x7f]").search


def not_a_program(data: bytes, end: int, filename: str) -> MalformedError:
    """Return the error for a file that is text up to a byte at `end` that cannot be text."""
    text = data[:end].decode("utf-8-sig", errors="replace")
    no_excerpt = Location(Source("", filename), 0)
    if message := foreign_bytes(data) or foreign_text(text):
        return MalformedError(message, no_excerpt)
    if _find_control_character(text):
        return MalformedError("neither UTF-8 text nor MLIR bytecode", no_excerpt)
    place = Location(Source(text + "\N{REPLACEMENT CHARACTER}", filename), len(text))
    return MalformedError("neither UTF-8 text nor MLIR bytecode", place)
