"""Load programs from files, text, bytes, archives and objects of frameworks."""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from mmap import ACCESS_READ, mmap
from pathlib import Path
from stat import S_ISREG
from typing import IO, Any, cast

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.arrays.files import array_errors, map_array, reason_of
from stablehlo_ref.arrays.interop import require
from stablehlo_ref.diagnostics import (
    ArgumentTypeError,
    Location,
    MalformedError,
    Source,
    StablehloError,
    file_error,
    file_errors,
)
from stablehlo_ref.frameworks.jax import from_jax, is_jax
from stablehlo_ref.frameworks.torch import from_torch, is_torch
from stablehlo_ref.limits import Limits
from stablehlo_ref.limits.budget import limited
from stablehlo_ref.limits.files import contents, is_regular, open_file, start_of, watched
from stablehlo_ref.limits.stack import needs_stack
from stablehlo_ref.program import Program
from stablehlo_ref.reading.parsing import BYTECODE, HEAD, Data, cache_in, foreign_archive, not_a_program, parse_data
from stablehlo_ref.reading.parsing import parse as parse  # part of the public interface

SHOWN_NAME = 60  # characters of a name that a message shows


def load_bundle(folder: Path, function: str | None = None) -> Program:
    """Return the program of a function in a bundle, with its weights and constants bound.

    A bundle has `functions/<name>.meta`, which says where each input comes from (an argument, a weight or a constant),
    the program itself in `functions/<name>.bytecode` or `.mlir`, the weights in `data/` and constants in `constants/`,
    in numpy's format. `function` may be left out if there is only one, or one called `forward`.

    MalformedError for a folder that is not a bundle, or if one of its files is missing or malformed.
    """
    functions = {path.stem: path for path in sorted((folder / "functions").glob("*.meta"))}
    if not functions:
        raise _malformed(folder, "not a StableHLO bundle: it has no functions/*.meta")
    name = function or ("forward" if "forward" in functions else next(iter(functions)))
    if name not in functions or (function is None and name != "forward" and len(functions) > 1):
        raise _malformed(folder, f"choose one of the bundle's functions: {', '.join(functions)}")
    program = _program(functions[name].with_suffix(""))
    bound: dict[int, Any] = {}
    for index, location in enumerate(_input_locations(functions[name])):
        file = _file(folder, location)
        if file is not None:
            bound[index] = _array(file)
    unknown = [index for index in bound if index >= len(program.entry.inputs)]
    if unknown:
        raise _malformed(
            functions[name], f"input {unknown[0]} has a weight, but @{program.entry.name} has no such input"
        )
    return program.bind(bound)


def _program(stem: Path) -> Program:
    for suffix in (".bytecode", ".mlir"):
        path = stem.with_suffix(suffix)
        if path.is_file():
            return parse_data(_read(path), str(path))
    raise _malformed(stem, "the bundle has neither .bytecode nor .mlir for this function")


def _input_locations(path: Path) -> list[Mapping[str, Any]]:
    try:
        locations = json.loads(_read(path))["input_locations"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _malformed(path, f"not the description of a function: {error}") from None
    if not (isinstance(locations, list) and all(isinstance(location, Mapping) for location in locations)):
        raise _malformed(path, "'input_locations' is not a list of objects")
    return locations


def _file(folder: Path, location: Mapping[str, Any]) -> Path | None:
    """Return the file with the value of an input; None for an argument of the call."""
    match location.get("type_"):
        case "parameter":
            root, name = folder / "data", str(location.get("name"))
        case "constant":
            root, name = folder / "constants", str(location.get("position"))
        case _:
            return None
    place = root / name
    try:
        if not place.resolve().is_relative_to(root.resolve()):
            raise _malformed(folder, f"a weight outside of the bundle: {name}")
        return next((p for p in (place, place.with_name(place.name + ".npy")) if _is_file(p)), place)
    except (OSError, ValueError, RuntimeError) as error:  # too long, with a zero byte or a surrogate, a cycle of links
        raise _malformed(folder, f"no name of a file: {name[:SHOWN_NAME]!a}: {reason_of(error)}") from None


def _is_file(path: Path) -> bool:
    """Return whether a file exists; OSError if none can, where `Path.is_file` returns False from Python 3.14 on."""
    try:
        return S_ISREG(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def _array(path: Path) -> Any:
    with array_errors(path, "cannot read the weight", lambda message: _malformed(path, message)):
        return map_array(path)


def _read(path: Path) -> bytes:
    try:
        with open_file(path) as file:
            return contents(file, str(path))
    except OSError as error:
        raise _malformed(path, f"cannot read the file: {error.strerror}") from None


def _malformed(path: Path, message: str) -> MalformedError:
    return MalformedError(message, Location(Source("", str(path)), 0))


@checks_arguments
def link(programs: Sequence[Program], *, entry: str | None = None) -> Program:
    """Return one verified program with the functions of all: bodies replace declarations of the same name.

    Private symbols that collide are renamed with all their uses. Its entry is `entry`, else `main`, else the only
    function. InvalidError, with both places, for a function that is defined twice or declared with another type.

    >>> model = sr.link([sr.load("model.mlir"), sr.load("kernels.mlir")])
    """
    from stablehlo_ref.passes.link import link as link_modules  # rarely needed

    return Program(link_modules([program.module for program in programs]), entry).verify()


GZIP, ZSTANDARD, ZIP = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04"

_STARTS_LIKE_MLIR = re.compile(r'\s*(?:module\b|func\.func\b|"[\w.]+"\s*\(|[#!][\w$.\-]+\s*=|//|%[\w$.\-]+\s*=)')

Loadable = str | os.PathLike[str] | Data | IO[Any]


@checks_arguments
def load(
    source: object,
    *,
    allow_unregistered_dialect: bool = False,
    entry: str | None = None,
    limits: Limits | None = None,
    cache: str | os.PathLike[str] | None = None,
) -> Program:
    """Load and verify a program.

    `source` is a path; MLIR text (a `str` with a newline, or one that starts like MLIR); bytes of text, of bytecode
    or of a portable artifact; an open file; or an object of a framework that holds a program: `jax.export.Exported`,
    `jax.stages.Lowered`, `torch.export.ExportedProgram`. A file may also be compressed (`.gz`, `.zst`), the result of
    JAX's `Exported.serialize()`, a `.pt2` file of PyTorch, or a folder with a StableHLO bundle. The format of a file is
    recognised by its contents. Constants of bytecode are mapped, not copied.

    `cache` is a directory in which programs are kept as they are once they have been parsed and verified, so that
    another load of the same text takes less time; it is made if it does not exist. Keep it writable by you alone.

    Raises MalformedError or InvalidError, with the place; EvaluationError if that takes longer than
    `limits.max_seconds`. The MalformedError of a file that cannot be read is an OSError too, such as FileNotFoundError.
    """
    with limited(limits or Limits()):
        modules = cache_in(cache)
        with modules.in_use():
            program = open_program(source, allow_unregistered_dialect, entry)
        program.limits = program.limits if limits is None else limits
        program.verify()
        modules.store(program.module)
        return program


@needs_stack(lambda source: None)
def open_program(source: Any, allow_unregistered_dialect: bool = False, entry: str | None = None) -> Program:
    """Return the program that `load` returns, without verifying it unless reading it requires that."""
    if isinstance(source, str) and ("\n" in source or _STARTS_LIKE_MLIR.match(source)):
        return parse(source, allow_unregistered_dialect=allow_unregistered_dialect, entry=entry)
    if isinstance(source, Data):
        return _from_data(source, "<string>", allow_unregistered_dialect, entry)
    if isinstance(source, str | os.PathLike):
        return _from_path(os.fspath(source), allow_unregistered_dialect, entry)
    if is_jax(source):
        return from_jax(source)
    if is_torch(source):
        return from_torch(source)
    if hasattr(source, "read"):
        name = str(getattr(source, "name", "<file>"))
        with file_errors(name, "read the program"):
            found = contents(watched(source, name), name)
        data = found.encode() if isinstance(found, str) else found
        return _from_data(data, name, allow_unregistered_dialect, entry)
    raise ArgumentTypeError(
        f"expected a path, text, bytes, a file, or a program of JAX or PyTorch, got {type(source).__name__}"
    )


def _from_path(path: str, allow_unregistered_dialect: bool, entry: str | None) -> Program:
    with file_errors(path, "read the program"):
        is_folder = Path(path).is_dir()
    if is_folder:
        return load_bundle(Path(path), entry)
    data = read(path)
    if bytes(data[:4]) == ZIP:
        if not Path(path).is_file():
            raise MalformedError("archives of PyTorch are read from regular files only", start_of(path))
        return from_torch(_torch_archive(path))
    return _from_data(data, path, allow_unregistered_dialect, entry)


def _from_data(data: Data, filename: str, allow_unregistered_dialect: bool, entry: str | None) -> Program:
    data = unpacked(data, filename)
    return parse_data(data, filename, 1, allow_unregistered_dialect, entry)


def _torch_archive(path: str) -> Any:
    import zipfile  # rarely needed

    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except Exception as error:  # of zipfile, of many kinds
        raise MalformedError(f"cannot read the archive: {error}", start_of(path)) from None
    if message := foreign_archive(names):
        raise MalformedError(message, start_of(path))
    torch = require("torch")
    try:
        return torch.export.load(path)
    except Exception as error:
        reason = str(error).partition("\n")[0]
        raise MalformedError(f"cannot read the archive of PyTorch: {reason}", start_of(path)) from None


# --- files ----------------------------------------------------------------------------------------------------------


def read(path: str) -> Data:
    """Return the contents of a file: of text, its bytes; of anything else, a map of it.

    MalformedError if the file cannot be read, or neither is text nor has a known format.
    """
    try:
        with open_file(path) as file:
            return _contents(file, path)
    except StablehloError:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        hint = "; sr.parse takes text" if re.search(r"[\s{}%@]", path) else ""
        message, place = f"cannot read the program: {reason}{hint}", start_of(path)
        raise (
            file_error(error, message, place) if isinstance(error, OSError) else MalformedError(message, place)
        ) from None


def _contents(file: io.BufferedReader, path: str) -> Data:
    head = file.peek(HEAD)[:HEAD]
    if _is_binary(head):
        with suppress(OSError, ValueError):  # of file systems without maps, such as procfs
            if is_regular(file):
                return mmap(file.fileno(), 0, access=ACCESS_READ)
        return contents(file, path)
    if b"\0" in head:  # rejected without reading the rest, which may be huge
        raise not_a_program(head, head.index(b"\0"), path)
    return contents(file, path)


def _is_binary(head: bytes) -> bool:
    """Return whether a file starts like bytecode, an archive, or something with bytecode in it."""
    return head.startswith((BYTECODE, GZIP, ZSTANDARD, ZIP)) or (b"\0" in head and BYTECODE in head)


def unpacked(data: Data, filename: str) -> Data:
    """Return the program in compressed data, or in what `jax.export.Exported.serialize` gives; other data as it is."""
    head = bytes(data[:HEAD])
    if head.startswith((GZIP, ZSTANDARD)):
        return _decompressed(data, filename, is_gzip=head.startswith(GZIP))
    if b"\0" in head and not head.startswith((BYTECODE, ZIP)):
        return _embedded(data, filename)
    return data


def _decompressed(data: Data, filename: str, is_gzip: bool) -> bytes:
    """Return what was compressed, piece by piece, as a few bytes may be gigabytes."""
    import gzip  # rarely needed

    file: Any = data if isinstance(data, mmap) else io.BytesIO(data)
    try:
        stream = gzip.GzipFile(fileobj=file) if is_gzip else require("zstandard").ZstdDecompressor().stream_reader(file)
        return contents(cast("IO[bytes]", stream), filename)
    except StablehloError:
        raise
    except Exception as error:  # of many kinds, and a class of zstandard's own
        raise MalformedError(f"cannot decompress the program: {error}", start_of(filename)) from None


def _embedded(data: Data, filename: str) -> Data:
    """Return the bytecode in a FlatBuffer, which stores a vector of bytes after its length of 32 bits."""
    view = memoryview(data)
    start = data.find(BYTECODE) if not isinstance(data, memoryview) else bytes(data).find(BYTECODE)
    length = int.from_bytes(view[start - 4 : start], "little") if start >= 4 else 0
    if not 4 <= length <= len(view) - start:
        head = bytes(view[:HEAD])
        raise not_a_program(head, head.index(b"\0"), filename)
    return view[start : start + length]
