"""A directory of programs that have been parsed and verified, so that loading them again takes less time.

A file has the name of a hash of the text, of how it was read, and of the versions of this package, Python and numpy.
What is in a file is data (`ir/compact.py`); nothing in it is executed, and a file that is not what it should be is
ignored. Errors of the file system are ignored too: a program is then loaded without the cache.
"""

from __future__ import annotations

import os
import platform
import tempfile
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from zlib import crc32

import numpy as np

from stablehlo_ref._version import __version__
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.diagnostics import Source
from stablehlo_ref.ir import compact
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.parsing import KnownModules

FORMAT = 1  # of the files
SUFFIX = ".stablehlo"
MAX_BYTES = 1 << 30  # of all files; those that were used least recently are removed


class ModuleCache(KnownModules):
    """Programs in a directory, which is made if it does not exist.

    Whoever can write to the directory decides what its programs are, so it should not be shared with others.
    """

    def __init__(self, directory: str | os.PathLike[str], max_bytes: int = MAX_BYTES) -> None:
        self.directory = Path(directory)
        self.max_bytes = max_bytes
        self._missing: dict[Source, Path] = {}

    def find(self, source: Source, allow_unregistered_dialect: bool) -> Operation | None:
        path = self.directory / _name(source, allow_unregistered_dialect)
        try:
            data = np.fromfile(path, np.uint8)
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
        with suppress(OSError, compact.NotCompact):
            content = compact.encode(module)
            if len(content) < self.max_bytes // 4:
                path.parent.mkdir(parents=True, exist_ok=True)
                _replace(path, _checksum(content).ljust(compact.ALIGNMENT, b"\0") + content)
                _remove_oldest(path.parent, self.max_bytes)


def _name(source: Source, allow_unregistered_dialect: bool) -> str:
    """Return the name of the file for a text."""
    versions = FORMAT, __version__, platform.python_version(), np.__version__
    key = blake2b(repr((*versions, allow_unregistered_dialect)).encode(), digest_size=32)
    key.update(source.text.encode("utf-8", "surrogatepass"))
    return key.hexdigest() + SUFFIX


def _remove_oldest(directory: Path, max_bytes: int) -> None:
    """Remove the files that were used least recently, so that the others have at most `max_bytes`."""
    found = [(entry.stat(), entry.path) for entry in os.scandir(directory) if entry.name.endswith(SUFFIX)]
    kept = 0
    for status, path in sorted(found, key=lambda file: file[0].st_mtime, reverse=True):
        kept += status.st_size
        if kept > max_bytes:
            os.unlink(path)


@cache
def _is_own(op: str) -> bool:
    """Return whether the class of an op is one of this package, which has the version in the key."""
    return op in REGISTRY and REGISTRY[op].op_class.__module__.startswith("stablehlo_ref.")


def _checksum(data: bytes | memoryview) -> bytes:
    return crc32(data).to_bytes(8, "little")


def _replace(path: Path, content: bytes) -> None:
    """Write a file at once: other processes see all of it or nothing."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
