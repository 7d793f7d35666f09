"""Arrays in files, whose format is recognised by their contents: `.npy`, `.npz`, safetensors, raw elements, text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import IO, TypeAlias
from zipfile import ZipFile

from stablehlo_ref.arrays.files import TypeOf, array_errors, read_array, read_members, read_safetensors
from stablehlo_ref.cli.errors import CommandLineError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.limits.files import contents, open_file, seekable

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


def read_arrays(path: Path, type_of: TypeOf = lambda name: None) -> Array | Arrays | bytes:
    """Return the array of an `.npy` file, the arrays by name of an `.npz` or safetensors file, or other contents.

    Large arrays are compared with the types of their arguments, by name, before they are unpacked; the name of the
    array of an `.npy` file is "". The path may be that of a pipe. CommandLineError if the file cannot be read, or has
    another format.
    """
    with array_errors(path, kind=CommandLineError):
        if not path.exists():
            raise CommandLineError(f"cannot read {path}: no such file")
        with open_file(path) as file:
            return _read(seekable(file, str(path)), path, type_of)


def _read(file: IO[bytes], path: Path, type_of: TypeOf) -> Array | Arrays | bytes:
    head = file.read(16)
    file.seek(0)
    if head.startswith(NPY):
        length = file.seek(0, 2)
        file.seek(0)
        return read_array(file, length, type_of(""))
    if head.startswith(ZIP):
        return _read_npz(file, path, type_of)
    if _is_safetensors(head):
        return read_safetensors(contents(file, str(path)))
    for magic, what in OTHER_FORMATS.items():
        if head.startswith(magic):
            raise CommandLineError(f"cannot read {path}: it is {what}")
    return contents(file, str(path))


def _read_npz(file: IO[bytes], path: Path, type_of: TypeOf) -> Arrays:
    names = ZipFile(file).namelist()
    file.seek(0)
    others = [name for name in names if not name.endswith(".npy")]
    if others:
        is_torch = any(name.endswith("data.pkl") for name in others)
        what = "a file of PyTorch; save its arrays with safetensors" if is_torch else f"an archive with {others[0]}"
        raise CommandLineError(f"cannot read {path}: expected an .npz archive of .npy members, got {what}")
    return read_members(file, type_of)


def _is_safetensors(head: bytes) -> bool:
    """Return whether a file starts with the length of a JSON object, and the object."""
    return len(head) > 8 and head[8:9] == b"{" and 2 <= int.from_bytes(head[:8], "little") <= 100_000_000
