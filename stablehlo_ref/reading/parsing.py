"""Text or bytes to a program, before it is verified."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
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
from stablehlo_ref.syntax.parser import parse as parse_module
from stablehlo_ref.syntax.value_names import number_values
from stablehlo_ref.verify import invalid_ops

HEAD = 4096  # bytes or characters that identify a format

FROM_HLO = "give its text, as `as_hlo_text(print_large_constants=True)` of the module in XLA prints it"
FROM_TORCH = "give the exported program to `stablehlo_ref.from_torch`"
FROM_TENSORFLOW = "export its functions with `experimental_get_compiler_ir(...)(stage='stablehlo')`"
FROM_ONNX = "import it with torch-mlir or onnx-mlir, or export the model from its framework"
FROM_PYTHON = "run it, and save the text of the program that it makes"
PYTHON = "Python source"

# Formats of text: a pattern at its start, after blanks, what it is, and how to get StableHLO from it.
_TEXTS = (
    (r"ML(?:\xef|\ufffd|\udcef)R", "MLIR bytecode decoded as text", "read the file in binary mode and pass the bytes"),
    (r"\{ lambda ?[;:]", "a jaxpr", "lower the function with `jax.jit(f).lower(...).as_text()`"),
    (r"graph\((?:%|\))|graph\(\):", "TorchScript or torch.fx text", FROM_TORCH),
    (r"opcode +name +target", "a table of torch.fx", FROM_TORCH),
    (r"; ModuleID|source_filename = |target (?:datalayout|triple) = ", "LLVM IR", ""),
    (r"#!|\"{3}|(?:async +)?def +\w+\(|class +\w+[(:]|if __name__ ==", PYTHON, FROM_PYTHON),
    (
        r"(?:import|from) +[\w.]+(?: +(?:import|as)\b|,|[ \t\r]*(?:\n|$))|@[\w.]+\s*\n(?:def|class)\b",
        PYTHON,
        FROM_PYTHON,
    ),
    (r"(?i:<!doctype html|<html\b|<head\b)", "HTML", "download the file itself, not the page that shows it"),
    (r"<\?xml|<svg\b", "XML", ""),
    (r"\{\s*\"|\{\s*\}\s*$|\[\s*[\[{\"\d\]]", "JSON", ""),
    (r"ir_version:|opset_import \{", "ONNX in text format", FROM_ONNX),
    (r"node \{|saved_model_schema_version:", "a TensorFlow graph in text format", FROM_TENSORFLOW),
    (r"```|#+ \w[^=\n]*\n", "Markdown", "take out what is not the program"),
    (r"version https://git-lfs", "a pointer of Git LFS", "fetch the file with `git lfs pull`"),
)
_PATTERNS = [(re.compile(rf"\s*(?:{pattern})"), what, advice) for pattern, what, advice in _TEXTS]
_match_hlo = re.compile(r"(?:\s|//[^\n]*\n)*+(?:HloModule\b|ENTRY\b|%[\w.\-]+ \([^\n]*-> [^\n]*\{)").match
_match_comments = re.compile(r"(?:\s|(?:#|//)[^\n]*\n)*").match

# Formats of bytes, by how they start.
_MAGIC = (
    (rb"\x08[\x03-\x20][\x12\x1a\x22\x2a\x32\x3a\x42]", "an ONNX model", FROM_ONNX),
    (rb"\x08\x01\x12", "a TensorFlow SavedModel", FROM_TENSORFLOW),
    (rb"\n[\x00-\xff]{1,5}?\n[\x01-\x7f][\w/:.\-]*\x12", "a TensorFlow GraphDef", FROM_TENSORFLOW),
    (rb"\n[\x01-\x7f][\w.\-]+\x12", "a serialized HloModuleProto", FROM_HLO),
    (rb"[\x00-\xff]{4}TFL3", "a TensorFlow Lite model", "export the model from its framework again"),
    (rb"\x89HDF\r\n", "an HDF5 file", "export the model from its framework again"),
    (rb"\x93NUMPY", "a NumPy array", "give arrays with `--input NAME=FILE`"),
    (rb"\x80[\x02-\x05]", "a pickle of Python", "load it in Python and export the model"),
    (rb"[\x00-\xff]{8}\{\"", "a safetensors file", "give weights with `--weights FILE` or `Program.bind`"),
    (rb"PK\x03\x04", "a ZIP archive", "give its path, if it is an exported program of PyTorch"),
    (rb"GGUF", "a GGUF file", ""),
    (rb"BC\xc0\xde", "LLVM bitcode", ""),
    (rb"\x7fELF|MZ|\xcf\xfa\xed\xfe", "an executable or a library", ""),
    (rb"\x89PNG|\xff\xd8\xff|GIF8", "a picture", ""),
    (rb"%PDF", "a PDF document", ""),
    (rb"\xff\xfe|\xfe\xff", "text in UTF-16", "save it in UTF-8"),
    (rb"BZh|\xfd7zXZ\x00|7z\xbc\xaf", "a file in a compressed format that is not read here", "decompress it"),
)
_MAGIC_PATTERNS = [(re.compile(pattern), what, advice) for pattern, what, advice in _MAGIC]


def is_hlo(text: str) -> bool:
    """Return whether a text is an HLO module."""
    return _match_hlo(text) is not None


def foreign_text(text: str) -> str | None:
    """Return the message for a text in another format than MLIR; None if it is not recognised."""
    head = text[:HEAD]
    comments = _match_comments(head)
    start = comments.end() if comments else 0
    for pattern, what, advice in _PATTERNS:
        if pattern.match(head) or (what == PYTHON and pattern.match(head, start)):
            return _message(what, advice)
    return None


def foreign_bytes(head: bytes) -> str | None:
    """Return the message for a file that starts with `head` and is neither text nor bytecode; None if unrecognised."""
    for pattern, what, advice in _MAGIC_PATTERNS:
        if pattern.match(head[:HEAD]):
            return _message(what, advice)
    return None


def foreign_archive(names: Sequence[str]) -> str | None:
    """Return the message for a ZIP archive of these files; None for an exported program of PyTorch."""
    parts = [name.split("/") for name in names]
    if names and all(name.endswith(".npy") for name in names):
        return _message("an .npz file of arrays", "give inputs with `--inputs FILE`, weights with `--weights FILE`")
    if any(part[1:2] == ["code"] for part in parts):
        return _message("a TorchScript archive", FROM_TORCH)
    if any(part[1:] == ["data.pkl"] for part in parts):
        return _message("a file of `torch.save`", f"if it has weights, give them with `--weights FILE`; {FROM_TORCH}")
    if any(part[-1].endswith((".pt2", ".json", ".pt")) for part in parts):
        return None
    return _message("a ZIP archive", "give the program in it")


def _message(what: str, advice: str) -> str:
    return f"this is {what}, not StableHLO" + (f"; {advice}" if advice else "")


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
    if is_hlo(source.text):
        from stablehlo_ref.hlo.ops import to_module  # imported when it is needed

        return Program(to_module(source), entry)
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
            lost = found.lost_symbols  # which ops with an error may define
            errors += [e for e in invalid_ops(found.module, found.poisoned) if not (lost and "symbol" in e.message)]
    return sorted(errors, key=lambda error: error.location.offset if error.location else 0)


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
