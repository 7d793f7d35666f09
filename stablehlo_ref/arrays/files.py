"""Arrays in `.npy`, `.npz` and safetensors files.

The headers of the first two are checked before anything is unpacked or allocated.
"""

from __future__ import annotations

import json
import os
import re
import warnings
from ast import literal_eval
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from math import prod
from pathlib import Path
from typing import IO, Literal, NamedTuple, cast
from zipfile import ZipFile

import ml_dtypes
import numpy as np

from stablehlo_ref.arrays.host_values import as_numpy_loads, fits, is_saved_as
from stablehlo_ref.arrays.interop import require
from stablehlo_ref.diagnostics import ArgumentValueError, EvaluationError, StablehloError
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.types import TensorType, Type
from stablehlo_ref.limits.budget import check_time, reserve, within_time
from stablehlo_ref.limits.files import PIECE, contents, is_regular, open_file, seekable
from stablehlo_ref.numerics.dtypes import numpy_dtype

TypeOf = Callable[[str], Type | None]  # the type of the argument that an array is for, by its name; None if unknown

MAX_HEADER = 10_000  # bytes, as in numpy
MAX_RANK = 64  # of numpy
PARSING = 5e-8  # seconds that safetensors takes for a byte of a header
LARGE = 1 << 20  # bytes: arrays of more are compared with the type of the argument before they are read


@contextmanager
def array_errors(
    path: Path, action: str = "cannot read", kind: Callable[[str], StablehloError] = EvaluationError
) -> Iterator[None]:
    """Convert exceptions for damaged or unreadable files to errors of a `kind`: `cannot read FILE`.

    zipfile, its decompressors, numpy, ast, json and safetensors raise exceptions of about twenty classes.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # of Python literals in headers
            warnings.simplefilter("ignore", DeprecationWarning)
            yield
    except StablehloError:
        raise
    except Exception as error:
        raise kind(f"{action} {path}: {reason_of(error)}") from None


def reason_of(error: Exception) -> str:
    """Return the first line of what an exception says, or its class."""
    reason = error.strerror if isinstance(error, OSError) else None
    return reason or str(error).partition("\n")[0] or type(error).__name__


# --- files of any format ----------------------------------------------------------------------------------------------

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


def read_arrays(path: Path, type_of: TypeOf = lambda name: None) -> Array | dict[str, Array] | bytes:
    """Return the array of an `.npy` file, the arrays by name of an `.npz` or safetensors file, or other contents.

    Large arrays are compared with the types of their arguments, by name, before they are unpacked; the name of the
    array of an `.npy` file is "". The path may be that of a pipe. ArgumentValueError if the file cannot be read, or has
    another format.
    """
    with array_errors(path, kind=ArgumentValueError):
        if not path.exists():
            raise ArgumentValueError(f"cannot read {path}: no such file")
        with open_file(path) as file:
            return _read_any(seekable(file, str(path)), path, type_of)


def _read_any(file: IO[bytes], path: Path, type_of: TypeOf) -> Array | dict[str, Array] | bytes:
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
            raise ArgumentValueError(f"cannot read {path}: it is {what}")
    return contents(file, str(path))


def _read_npz(file: IO[bytes], path: Path, type_of: TypeOf) -> dict[str, Array]:
    names = ZipFile(file).namelist()
    file.seek(0)
    others = [name for name in names if not name.endswith(".npy")]
    if others:
        is_torch = any(name.endswith("data.pkl") for name in others)
        what = "a file of PyTorch; save its arrays with safetensors" if is_torch else f"an archive with {others[0]}"
        raise ArgumentValueError(f"cannot read {path}: expected an .npz archive of .npy members, got {what}")
    return read_members(file, type_of)


def _is_safetensors(head: bytes) -> bool:
    """Return whether a file starts with the length of a JSON object, and the object."""
    return len(head) > 8 and head[8:9] == b"{" and 2 <= int.from_bytes(head[:8], "little") <= 100_000_000


# --- .npz and .npy ----------------------------------------------------------------------------------------------------


def read_npz(path: Path, only: str | None = None) -> dict[str, Array]:
    """Return the arrays of an `.npz` file by name, or one of them; EvaluationError unless it is such a file."""
    with array_errors(path), open_file(path) as file:
        return read_members(seekable(file, str(path)), only=only)


def member_names(path: Path) -> list[str]:
    """Return the names of the arrays of an `.npz` file; EvaluationError unless it is an archive."""
    with array_errors(path), open_file(path) as file:
        return [name.removesuffix(".npy") for name in ZipFile(seekable(file, str(path))).namelist()]


def read_members(file: IO[bytes], type_of: TypeOf = lambda name: None, only: str | None = None) -> dict[str, Array]:
    """Return the arrays of an `.npz` archive by name, or one; the only one is also for the argument called "".

    Raises an exception of any class, see `array_errors`, unless each of them is an array for its argument.
    """
    arrays: dict[str, Array] = {}
    archive = ZipFile(file)
    members = archive.infolist()
    for member in members:
        name = member.filename.removesuffix(".npy")
        if only not in (None, name):
            continue
        type = type_of(name) or (type_of("") if len(members) == 1 else None)
        try:
            with archive.open(member) as part:
                arrays[name] = read_array(part, member.file_size, type)
        except StablehloError:
            raise
        except Exception as error:
            raise ValueError(f"member {name}: {error}") from None
    return arrays


def read_array(file: IO[bytes], length: int, type: Type | None = None) -> Array:
    """Read an array in the format of `.npy` from a file of `length` bytes.

    ValueError if it is another format, if the file has another length than its header says, or if the array is not one
    for an argument of `type`; LimitError if there is no memory for it, or no time. Damaged archives raise others.
    """
    header = read_header(file, length)
    if type is not None and header.nbytes > LARGE:  # others are checked like any argument, once they are read
        _check(type, header.shape, header.dtype)
    reserve(header.nbytes)
    elements = memoryview(bytearray(header.nbytes))
    for start in range(0, header.nbytes, PIECE):
        check_time("reading the file")
        piece = file.read(len(elements[start : start + PIECE]))
        elements[start : start + len(piece)] = piece
        if len(piece) < min(PIECE, header.nbytes - start):
            raise ValueError("it ends within the elements")
    file.read(1)  # so that an archive compares the checksum
    return np.ndarray(header.shape, header.dtype, elements, order=header.order)


def map_array(path: Path) -> Array:
    """Return the array of an `.npy` file, mapped if it is a regular one; raises what `read_array` does."""
    with open_file(path) as file:
        if not is_regular(file):
            data = contents(file, str(path))
            return read_array(BytesIO(data), len(data))
        header = read_header(file, os.fstat(file.fileno()).st_size)
        if not header.shape or not header.nbytes:  # which numpy cannot map
            file.seek(0)
            return read_array(file, os.fstat(file.fileno()).st_size)
        return np.memmap(file, header.dtype, "r", file.tell(), header.shape, header.order)


class Header(NamedTuple):
    """What the header of an `.npy` file says."""

    shape: tuple[int, ...]
    dtype: DType
    order: Literal["C", "F"]

    @property
    def nbytes(self) -> int:
        return prod(self.shape) * self.dtype.itemsize


def read_header(file: IO[bytes], length: int) -> Header:
    """Read the header of an array in the format of `.npy`; ValueError unless its elements are the rest of `length`."""
    version = np.lib.format.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"unsupported version {version[0]}.{version[1]} of the .npy format")
    size = int.from_bytes(file.read(2 if version == (1, 0) else 4), "little")
    if size > MAX_HEADER:
        raise ValueError(f"its header has {size} bytes; expected at most {MAX_HEADER}")
    text = file.read(size).decode("latin1").strip()
    try:
        fields = literal_eval(re.sub(r"(\d)L\b", r"\1", text))  # Python 2 wrote (3L,)
    except (ValueError, SyntaxError, MemoryError, RecursionError):  # of deeply nested text
        raise ValueError("its header is not a dictionary") from None
    match fields:
        case {"descr": descr, "fortran_order": bool(is_fortran), "shape": tuple(shape)} if len(fields) == 3:
            dtype = np.lib.format.descr_to_dtype(descr)
        case _:
            raise ValueError("its header is not a dictionary of 'descr', 'fortran_order' and 'shape'")
    if not all(type(n) is int and 0 <= n < 1 << 63 for n in shape) or len(shape) > MAX_RANK:
        raise ValueError(f"its header has the invalid shape {shape}")
    if dtype.hasobject:
        raise ValueError("it has Python objects, which are not read as they may run code")
    header = Header(shape, dtype, "F" if is_fortran else "C")
    if header.nbytes != length - file.tell():
        raise ValueError(f"its header says {header.nbytes} bytes of elements, but it has {length - file.tell()}")
    return header


# Element types of safetensors.
_DTYPES = {
    "BOOL": np.bool_, "I8": np.int8, "I16": np.int16, "I32": np.int32, "I64": np.int64,
    "U8": np.uint8, "U16": np.uint16, "U32": np.uint32, "U64": np.uint64,
    "F16": np.float16, "BF16": ml_dtypes.bfloat16, "F32": np.float32, "F64": np.float64, "C64": np.complex64,
    "F8_E4M3": ml_dtypes.float8_e4m3fn, "F8_E4M3FNUZ": ml_dtypes.float8_e4m3fnuz, "F8_E5M2": ml_dtypes.float8_e5m2,
    "F8_E5M2FNUZ": ml_dtypes.float8_e5m2fnuz, "F8_E8M0": ml_dtypes.float8_e8m0fnu,
}  # fmt: skip


def read_safetensors(data: bytes) -> dict[str, Array]:
    """Return the arrays in the contents of a safetensors file, by name.

    ValueError for other contents or an unsupported element type, ImportError without the package `safetensors`.
    """
    package = require("safetensors")
    check_time("reading the file", needed=int.from_bytes(data[:8], "little") * PARSING)
    try:
        tensors = package.deserialize(data)
    except package.SafetensorError as error:
        raise ValueError(_reason(data) or str(error)) from None
    return {name: _tensor(name, tensor) for name, tensor in within_time(tensors, "reading the file")}


def _reason(data: bytes) -> str | None:
    """Return where the header is not JSON, which safetensors does not say."""
    try:
        json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    except (ValueError, RecursionError) as error:
        return f"its header is not JSON: {error}"
    return None


def _tensor(name: str, tensor: Mapping[str, object]) -> Array:
    dtype = _DTYPES.get(str(tensor["dtype"]))
    if dtype is None:
        raise ValueError(f"unsupported element type {tensor['dtype']} of '{name}'")
    return np.frombuffer(cast(bytes, tensor["data"]), dtype).reshape(cast("list[int]", tensor["shape"]))


def from_bits(type: Type, array: Array) -> Array:
    """Return an array from a file with the element type of its argument, if the file has the bits of such elements."""
    if not isinstance(type, TensorType) or array.dtype.isbuiltin == 2:  # of ml_dtypes: no bits
        return array
    return as_numpy_loads(array, numpy_dtype(type.element_type))


def narrowed(value: object, dtype: DType | None) -> object:
    """Return integers of 64 bits as those of `dtype`, if it has all of them; anything else as it is.

    PyTorch has int64 where JAX, and so torchax, has int32.
    """
    if not isinstance(value, np.ndarray) or value.dtype not in (np.int64, np.uint64) or dtype is None:
        return value
    narrow = value.astype(dtype) if dtype.kind in "iu" else value
    return narrow if np.array_equal(narrow, value) else value


def _check(type: Type, shape: tuple[int, ...], dtype: DType) -> None:
    """Raise ValueError unless an array is for an argument of `type`; bits that numpy has no dtype for may be."""
    if not isinstance(type, TensorType):
        return
    if not fits(type, shape):
        declared = str(type.shape).replace("None", "?")
        raise ValueError(f"expected shape {declared} for {type}, got {shape}")
    expected = numpy_dtype(type.element_type)
    if dtype.newbyteorder("=") != expected and not is_saved_as(dtype, expected):
        raise ValueError(f"expected dtype {expected} for {type}, got {dtype}")
