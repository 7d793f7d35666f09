"""A directory of programs that have been parsed and verified, so that loading them again takes less time.

A file has the name of a hash of the text, of how it was read, of the sources of this package, and of the versions of
Python, numpy and ml_dtypes. What is in a file is a pickle that may make objects of this package's classes of data and
nothing else, so no code in it is executed; a file that is not what it should be is ignored. Errors of the file system
are ignored too: a program is then loaded without the cache.
"""

from __future__ import annotations

import enum
import io
import os
import pickle
import platform
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache, partial
from hashlib import blake2b
from pathlib import Path
from types import FunctionType
from typing import Any
from zlib import crc32

import ml_dtypes
import numpy as np

from stablehlo_ref._version import __version__
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.diagnostics import LimitError, Location, Source, UnsupportedError
from stablehlo_ref.ir.arrays import Array, without_repetition
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.flat import FlatProgram, flatten, restore
from stablehlo_ref.ir.locations import LocationAlias
from stablehlo_ref.ir.types import Type
from stablehlo_ref.limits.budget import check_time
from stablehlo_ref.limits.stack import collection_paused, on_enough_stack
from stablehlo_ref.reading.parsing import NullCache

PACKAGES = tuple(f"stablehlo_ref.{name}." for name in ("define", "dialects", "distribution", "ir", "ops"))
ALIGNMENT = 64  # bytes, of arrays
LOADING, STORING = "loading from the cache", "storing in the cache"


class NotCompact(Exception):
    """A program that has no such form, or bytes that are not one."""


def encode(root: Operation) -> bytes:
    """Return a program whose operations come from one text; NotCompact if it has other values than data.

    LimitError if it takes too long, as `decode` does.
    """
    try:
        return on_enough_stack(root.location, 0, _encoded, root)
    except LimitError as error:
        raise error.at(root.location) from None
    except (pickle.PicklingError, UnsupportedError) as error:  # such as types that are nested too deeply
        raise NotCompact(str(error)) from None


def _encoded(root: Operation) -> bytes:
    file = io.BytesIO()
    pickler = _Pickler(file, root.location.source)
    pickler.dump(flatten(root))
    head = file.tell().to_bytes(8, "little") + file.getvalue()
    return b"".join((head.ljust(_aligned(len(head)), b" "), *pickler.arrays))


def decode(data: Array, source: Source) -> Operation:
    """Return the program in `data`, an array of bytes; its arrays are views of it. NotCompact for other bytes."""
    try:
        size = int.from_bytes(data[:8].tobytes(), "little")
        with collection_paused():
            return restore(_Unpickler(data[8 : 8 + size].tobytes(), data[_aligned(8 + size) :], source).program())
    except LimitError as error:
        raise error.at(Location(source, 0)) from None
    except Exception as error:  # whatever the bytes are
        raise NotCompact(str(error)) from error


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


@cache
def _members(cls: type) -> tuple[str, ...]:
    """Return the names of what instances of a class are made from; NotCompact unless it is one of our data classes."""
    names: tuple[str, ...] | None = getattr(cls, "_fields", None) if issubclass(cls, tuple) else None
    if is_dataclass(cls):
        names = tuple(field.name for field in fields(cls) if field.init)
    if issubclass(cls, enum.Enum):
        names = ("value",)
    if names is None or not cls.__module__.startswith(PACKAGES):
        raise NotCompact(f"{cls.__module__}.{cls.__qualname__} is not a class of data")
    return names


def _array(dtype: str, shape: list[int], full_shape: list[int], offset: int, size: int) -> Array:
    """Stand for `_Unpickler.array` in a pickle."""
    raise NotImplementedError


def _location(offset: int) -> Location:
    """Stand for `_Unpickler.location` in a pickle."""
    raise NotImplementedError


class _Pickler(pickle.Pickler):
    """Writes data as calls of their classes, and arrays to a list."""

    def __init__(self, file: io.BytesIO, source: Source) -> None:
        super().__init__(file, protocol=5)
        self.source = source
        self.arrays: list[bytes] = []
        self.offset = 0

    def reducer_override(self, value: object) -> Any:
        if isinstance(value, type | FunctionType):
            return NotImplemented  # is written as its name
        if isinstance(value, Location):
            check_time(STORING)
            if value.source is not self.source:
                raise NotCompact("ops of several texts")
            return _location, (value.offset,)
        if isinstance(value, np.ndarray):
            return _array, self._stored(value)
        if isinstance(value, LocationAlias):
            return LocationAlias, (value.alias,)
        cls: Any = type(value)
        return cls, tuple(getattr(value, name) for name in _members(cls))

    def _stored(self, array: Array) -> tuple[object, ...]:
        elements = without_repetition(array)
        data = np.ascontiguousarray(elements).tobytes()
        start = self.offset
        self.arrays.append(data.ljust(_aligned(len(data)), b"\0"))
        self.offset += len(self.arrays[-1])
        return elements.dtype.name, elements.shape, array.shape, start, len(data)


class _Unpickler(pickle.Unpickler):
    """Reads what `_Pickler` has written; calls nothing but classes of data, and the two methods here."""

    def __init__(self, data: bytes, arrays: Array, source: Source) -> None:
        super().__init__(io.BytesIO(data))
        self.arrays = arrays
        self.source = source

    def program(self) -> FlatProgram:
        """Return what was written."""
        flat: FlatProgram = self.load()
        self.memo.clear()  # which has methods of this object, so that all else in it would stay alive
        if any(isinstance(attribute, Type) for op in flat.operations for attribute in op.attributes.values()):
            raise NotCompact("a type is not an attribute")
        return flat

    def find_class(self, module: str, name: str) -> Callable[..., Any]:
        """Return a function that makes an object; not the class, whose attributes a pickle might set."""
        if module == __name__ and name in ("_array", "_location"):
            return self.array if name == "_array" else self.location
        found = getattr(sys.modules.get(module), name, None)
        if not isinstance(found, type):
            raise NotCompact(f"{module}.{name} is not a class of data")
        _members(found)  # raises unless it is one
        return partial(found)

    def array(self, dtype: str, shape: Sequence[int], full_shape: Sequence[int], offset: int, size: int) -> Array:
        """Return a view of the arrays."""
        array = self.arrays[offset : offset + size].view(np.dtype(dtype)).reshape(shape)
        array.flags.writeable = False
        return array if shape == full_shape else np.broadcast_to(array.copy(), full_shape)  # its base is one element

    def location(self, offset: int) -> Location:
        """Return a place in the text."""
        check_time(LOADING)
        return Location(self.source, offset)


FORMAT = 2  # of the files
SUFFIX = ".stablehlo"
TEMPORARY = ".stablehlo-part"  # the suffix of files that are being written
ABANDONED = 3600.0  # seconds after which the process that wrote a temporary file has ended, or is given up
MAX_BYTES = 1 << 30  # of all files; those that were used least recently are removed


class ModuleCache(NullCache):
    """Programs in a directory, which is made if it does not exist.

    Whoever can write to the directory decides what its programs are, so it should not be shared with others.
    """

    def __init__(self, directory: str | os.PathLike[str], max_bytes: int = MAX_BYTES) -> None:
        self.directory = Path(directory)
        self.max_bytes = max_bytes
        self._largest = max_bytes // 4  # bytes of a file
        self._missing: dict[Source, Path] = {}

    def find(self, source: Source, allow_unregistered_dialect: bool) -> Operation | None:
        path = self.directory / _name(source, allow_unregistered_dialect)
        try:
            data = _read(path, self._largest)
            content = data[ALIGNMENT:]
            if data[:8].tobytes() != _checksum(content.data):
                raise NotCompact("damaged")
            module = decode(content, source)
        except (OSError, MemoryError, NotCompact):
            self._missing[source] = path
            return None
        with suppress(OSError):
            os.utime(path)
        return module

    def store(self, module: Operation) -> None:
        path = self._missing.pop(module.location.source, None)
        if path is None or not all(_is_own(op.name) for op in module.walk()):
            return
        with suppress(OSError, MemoryError, NotCompact):
            content = encode(module)
            content = _checksum(content).ljust(ALIGNMENT, b"\0") + content
            if len(content) <= self._largest:
                path.parent.mkdir(parents=True, exist_ok=True)
                _replace(path, content)
                _remove_oldest(path.parent, self.max_bytes)

    def problem(self) -> str | None:
        """Return why programs cannot be kept in the directory, which is made; None if they can."""
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=self.directory).close()
        except OSError as error:
            return error.strerror or str(error)
        return None


def _name(source: Source, allow_unregistered_dialect: bool) -> str:
    """Return the name of the file for a text."""
    versions = FORMAT, __version__, _sources(), platform.python_version(), np.__version__, ml_dtypes.__version__
    key = blake2b(repr((*versions, allow_unregistered_dialect)).encode(), digest_size=32)
    key.update(source.text.encode("utf-8", "surrogatepass"))
    return key.hexdigest() + SUFFIX


@cache
def _sources() -> str:
    """Return a hash of the times and sizes of this package's files, which in a checkout change between versions."""
    root = os.path.dirname(os.path.dirname(__file__))
    paths = sorted(os.path.join(at, name) for at, _, names in os.walk(root) for name in names if name.endswith(".py"))
    states = [(path[len(root) :], status.st_mtime_ns, status.st_size) for path in paths if (status := os.stat(path))]
    return blake2b(repr(states).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def _read(path: Path, max_bytes: int) -> Array:
    """Return the bytes of a file; NotCompact if it is larger, or not a regular file, which might never end."""
    flags = getattr(os, "O_NONBLOCK", 0)  # so that opening a pipe does not wait
    with open(path, "rb", opener=lambda name, mode: os.open(name, mode | flags)) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > max_bytes:
            raise NotCompact("not a file of the cache")
        return np.fromfile(file, np.uint8)


def _remove_oldest(directory: Path, max_bytes: int) -> None:
    """Remove abandoned files, and those that were used least recently, so that the others have at most `max_bytes`."""
    kept, now = 0, time.time()
    for status, path in sorted(_files(directory), key=lambda file: file[0].st_mtime, reverse=True):
        is_abandoned = path.endswith(TEMPORARY) and now - status.st_mtime > ABANDONED
        kept += 0 if is_abandoned else status.st_size
        if is_abandoned or kept > max_bytes:
            with suppress(OSError):
                os.unlink(path)


def _files(directory: Path) -> Iterator[tuple[os.stat_result, str]]:
    """Yield the files that the cache has made, and their status."""
    with os.scandir(directory) as entries:
        for entry in entries:
            with suppress(OSError):
                if entry.name.endswith((SUFFIX, TEMPORARY)) and entry.is_file(follow_symlinks=False):
                    yield entry.stat(follow_symlinks=False), entry.path


@cache
def _is_own(op: str) -> bool:
    """Return whether the class of an op is one of this package, which has the version in the key."""
    return op in REGISTRY and REGISTRY[op].op_class.__module__.startswith("stablehlo_ref.")


def _checksum(data: bytes | memoryview) -> bytes:
    return crc32(data).to_bytes(8, "little")


def _replace(path: Path, content: bytes) -> None:
    """Write a file at once: other processes see all of it or nothing."""
    descriptor, temporary = tempfile.mkstemp(suffix=TEMPORARY, dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
