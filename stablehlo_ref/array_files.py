"""Arrays in `.npy`, `.npz` and safetensors files.

The headers of the first two are checked before anything is unpacked or allocated.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from math import prod
from pathlib import Path
from typing import IO, cast
from zipfile import BadZipFile, ZipFile

import ml_dtypes
import numpy as np

from stablehlo_ref.budget import reserve
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.interop import require
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.types import TensorType, Type
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.host_values import fits
from stablehlo_ref.numerics.saved_arrays import as_numpy_loads, is_saved_as

TypeOf = Callable[[str], Type | None]  # the type of the argument that an array is for, by its name; None if unknown

LARGE = 1 << 20  # bytes: arrays of more are compared with the type of the argument before they are read
ERRORS = (OSError, ValueError, EOFError, BadZipFile, NotImplementedError, RuntimeError)  # of zipfile and numpy


def read_npz(path: Path) -> dict[str, Array]:
    """Return the arrays of an `.npz` file by name; EvaluationError unless it is one."""
    try:
        with path.open("rb") as file:
            return read_members(file)
    except ERRORS as error:
        raise EvaluationError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None


def read_members(file: IO[bytes], type_of: TypeOf = lambda name: None) -> dict[str, Array]:
    """Return the arrays of an `.npz` archive by name; the only one is also for the argument called "".

    Raises one of `ERRORS` unless each of them is an array for its argument.
    """
    arrays: dict[str, Array] = {}
    archive = ZipFile(file)
    members = archive.infolist()
    for member in members:
        name = member.filename.removesuffix(".npy")
        type = type_of(name) or (type_of("") if len(members) == 1 else None)
        try:
            with archive.open(member) as part:
                arrays[name] = read_array(part, member.file_size, type)
        except ERRORS as error:
            raise ValueError(f"member {name}: {error}") from None
    return arrays


def read_array(file: IO[bytes], length: int, type: Type | None = None) -> Array:
    """Read an array in the format of `.npy` from a file of `length` bytes.

    ValueError if it is another format, if the file has another length than its header says, or if the array is not one
    for an argument of `type`; LimitError if there is no memory for it.
    """
    shape, dtype = read_header(file)
    nbytes = prod(shape) * dtype.itemsize
    if nbytes != length - file.tell():
        raise ValueError(f"its header says {nbytes} bytes of elements, but it has {length - file.tell()}")
    if type is not None and nbytes > LARGE:  # others are checked like any argument, once they are read
        _check(type, shape, dtype)
    reserve(nbytes)
    file.seek(0)
    return cast(Array, np.lib.format.read_array(file, allow_pickle=False))


def read_header(file: IO[bytes]) -> tuple[tuple[int, ...], DType]:
    """Read the header of an array in the format of `.npy`: its shape and dtype; ValueError for anything else."""
    version = np.lib.format.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"unsupported version {version[0]}.{version[1]} of the .npy format")
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(file)
    if dtype.hasobject:
        raise ValueError("it has Python objects, which are not read as they may run code")
    return shape, dtype


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
    try:
        tensors = package.deserialize(data)
    except package.SafetensorError as error:
        raise ValueError(_reason(data) or str(error)) from None
    return {name: _tensor(name, tensor) for name, tensor in tensors}


def _reason(data: bytes) -> str | None:
    """Return where the header is no JSON, which safetensors does not say."""
    try:
        json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    except ValueError as error:
        return f"its header is no JSON: {error}"
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
