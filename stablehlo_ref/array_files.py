"""Arrays in `.npy` and `.npz` files, whose headers are checked before anything is unpacked or allocated."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import IO, cast
from zipfile import BadZipFile, ZipFile

import numpy as np

from stablehlo_ref.budget import reserve
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.types import TensorType, Type
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.host_values import fits
from stablehlo_ref.numerics.saved_arrays import is_saved_as

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
