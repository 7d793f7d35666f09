"""A directory of programs that have been parsed and verified, so that loading them again takes less time.

A file has the name of a hash of the text, of how it was read, of the sources of this package, and of the versions of
Python, numpy and ml_dtypes.
What is in a file is data (`ir/compact.py`); nothing in it is executed, and a file that is not what it should be is
ignored. Errors of the file system are ignored too: a program is then loaded without the cache.
"""

from __future__ import annotations

import os
import platform
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from zlib import crc32

import ml_dtypes
import numpy as np

from stablehlo_ref._version import __version__
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.diagnostics import Source
from stablehlo_ref.ir import compact
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.reading.parsing import NullCache

FORMAT = 1  # of the files
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
            content = data[compact.ALIGNMENT :]
            if data[:8].tobytes() != _checksum(content.data):
                raise compact.NotCompact("damaged")
            module = compact.decode(content, source)
        except (OSError, MemoryError, compact.NotCompact):
            self._missing[source] = path
            return None
        with suppress(OSError):
            os.utime(path)
        return module

    def store(self, module: Operation) -> None:
        path = self._missing.pop(module.location.source, None)
        if path is None or not all(_is_own(op.name) for op in module.walk()):
            return
        with suppress(OSError, MemoryError, compact.NotCompact):
            content = compact.encode(module)
            content = _checksum(content).ljust(compact.ALIGNMENT, b"\0") + content
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
    root = os.path.dirname(__file__)
    paths = sorted(os.path.join(at, name) for at, _, names in os.walk(root) for name in names if name.endswith(".py"))
    states = [(path[len(root) :], status.st_mtime_ns, status.st_size) for path in paths if (status := os.stat(path))]
    return blake2b(repr(states).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def _read(path: Path, max_bytes: int) -> Array:
    """Return the bytes of a file; NotCompact if it is larger, or not a regular file, which might never end."""
    flags = getattr(os, "O_NONBLOCK", 0)  # so that opening a pipe does not wait
    with open(path, "rb", opener=lambda name, mode: os.open(name, mode | flags)) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > max_bytes:
            raise compact.NotCompact("not a file of the cache")
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
