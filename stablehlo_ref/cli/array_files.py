"""Arrays in files, whose format is recognised by their contents: `.npy`, `.npz`, safetensors, raw elements, text."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO, TypeAlias, cast
from zipfile import BadZipFile, ZipFile

import numpy as np

from stablehlo_ref.cli.errors import CommandLineError
from stablehlo_ref.interop import require
from stablehlo_ref.ir.arrays import Array

NPY, ZIP = b"\x93NUMPY", b"PK"
# What else a file may be, and what to do with it.
OTHER_FORMATS = {
    b"\x80": "a pickle, which is not read as it may run code; save arrays with numpy.savez or safetensors",
    b"\x89HDF": "HDF5; convert it with numpy.savez",
    b"\x1f\x8b": "compressed with gzip; decompress it",
    b"\x28\xb5\x2f\xfd": "compressed with zstd; decompress it",
    b"ML\xefR": "MLIR bytecode, a program and not an array",
    b"\x89PNG": "a PNG image; convert it with numpy.save",
    b"\xff\xd8\xff": "a JPEG image; convert it with numpy.save",
}

Arrays: TypeAlias = Mapping[str, Array]


def read_arrays(path: Path) -> Array | Arrays | bytes:
    """Return the array of an `.npy` file, the arrays by name of an `.npz` or safetensors file, or other contents.

    The path may be that of a pipe. CommandLineError if the file cannot be read, or is something else.
    """
    try:
        with path.open("rb") as file:
            return _read(file if file.seekable() else io.BytesIO(file.read()), path)
    except (OSError, ValueError, EOFError, KeyError, struct.error, BadZipFile) as error:
        raise CommandLineError(f"cannot read {path}: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file"
    reason = error.strerror if isinstance(error, OSError) else None
    return reason or str(error).partition("\n")[0] or type(error).__name__


def _read(file: BinaryIO, path: Path) -> Array | Arrays | bytes:
    head = file.read(16)
    file.seek(0)
    if head.startswith(NPY):
        return cast(Array, np.lib.format.read_array(file, allow_pickle=False))
    if head.startswith(ZIP):
        return _read_npz(file, path)
    if _is_safetensors(head):
        return _read_safetensors(file.read())
    for magic, what in OTHER_FORMATS.items():
        if head.startswith(magic):
            raise CommandLineError(f"cannot read {path}: it is {what}")
    return file.read()


def _read_npz(file: BinaryIO, path: Path) -> Arrays:
    names = ZipFile(file).namelist()
    file.seek(0)
    others = [name for name in names if not name.endswith(".npy")]
    if others:
        is_torch = any(name.endswith("data.pkl") for name in others)
        what = "a file of PyTorch; save its arrays with safetensors" if is_torch else f"an archive with {others[0]}"
        raise CommandLineError(f"cannot read {path}: expected an .npz archive of .npy members, got {what}")
    with np.load(file, allow_pickle=False) as archive:
        return {name: _member(archive, name, path) for name in archive.files}


def _member(archive: np.lib.npyio.NpzFile, name: str, path: Path) -> Array:
    try:
        return cast(Array, archive[name])
    except (OSError, ValueError, EOFError, BadZipFile) as error:
        raise CommandLineError(f"cannot read {name} of {path}: {_reason(error)}") from None


def _is_safetensors(head: bytes) -> bool:
    """Return whether a file starts with the length of a JSON object, and the object."""
    return len(head) > 8 and head[8:9] == b"{" and 2 <= int.from_bytes(head[:8], "little") <= 100_000_000


def _read_safetensors(data: bytes) -> Arrays:
    length = int.from_bytes(data[:8], "little")
    json.loads(data[8 : 8 + length])  # a ValueError that says where, where safetensors has errors of its own
    loaded = require("safetensors").deserialize(data)
    return {name: _tensor(entry) for name, entry in loaded}


_SAFETENSORS = {
    "BOOL": "bool", "U8": "uint8", "I8": "int8", "I16": "int16", "U16": "uint16", "I32": "int32", "U32": "uint32",
    "I64": "int64", "U64": "uint64", "F16": "float16", "F32": "float32", "F64": "float64", "C64": "complex64",
}  # fmt: skip


def _tensor(entry: Mapping[str, object]) -> Array:
    """Return a tensor as an array; one of a type that numpy lacks as its bits, which take the type of the input."""
    data, shape = cast(bytes, entry["data"]), cast("list[int]", entry["shape"])
    name = _SAFETENSORS.get(str(entry["dtype"]))
    count = int(np.prod(shape, dtype=np.int64))
    bits = f"u{len(data) // max(count, 1) or 1}"
    return np.frombuffer(data, np.dtype(name or bits)).reshape(shape)
