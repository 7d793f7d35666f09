"""A directory of programs that have been parsed and verified, so that loading them again takes less time.

A file has the name of a hash of the text, of how it was read, of the sources of this package, and of the versions of
Python, numpy and ml_dtypes. What is in a file is data; nothing in it is executed, and a file that is not what it should
be is ignored. Errors of the file system are ignored too: a program is then loaded without the cache.
"""

from __future__ import annotations

import enum
import json
import os
import platform
import stat
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any
from zlib import crc32

import ml_dtypes
import numpy as np

from stablehlo_ref._version import __version__
from stablehlo_ref.argument_types import check_fields, fits
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.diagnostics import LimitError, Location, Source
from stablehlo_ref.ir.arrays import Array, without_repetition
from stablehlo_ref.ir.attributes import Attribute, rebuilt
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.flat import FlatBlock, FlatOperation, FlatProgram, FlatValue, flatten, restore
from stablehlo_ref.ir.locations import DebugLocation, LocationAlias
from stablehlo_ref.ir.types import Type
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.limits.stack import collection_paused
from stablehlo_ref.reading.parsing import NullCache

PACKAGES = tuple(f"stablehlo_ref.{name}." for name in ("define", "dialects", "distribution", "ir", "ops"))
ALIGNMENT = 64  # bytes, of arrays
LOADING, STORING = "loading from the cache", "storing in the cache"

_SCALARS = (str, int, float, bool, type(None))


class NotCompact(Exception):
    """A program that has no such form, or bytes that are not one."""


def encode(root: Operation) -> bytes:
    """Return a program whose operations come from one text; NotCompact if it has other values than data.

    LimitError if it takes too long, as `decode` does.
    """
    try:
        flat = flatten(root)
        if any(op.location.source is not root.location.source for op in flat.operations):
            raise NotCompact("ops of several texts")
        return _Encoder().program(flat)
    except LimitError as error:
        raise error.at(root.location) from None
    except RecursionError:
        raise NotCompact("nested too deeply") from None


def decode(data: Array, source: Source) -> Operation:
    """Return the program in `data`, an array of bytes; its arrays are views of it. NotCompact for other bytes."""
    try:
        size = int.from_bytes(data[:8].tobytes(), "little")
        with collection_paused():
            tables = json.loads(data[8 : 8 + size].tobytes())
            return restore(_Decoder(data[_aligned(8 + size) :], source).program(tables))
    except LimitError as error:
        raise error.at(Location(source, 0)) from None
    except Exception as error:  # whatever the bytes are
        raise NotCompact(str(error)) from error


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


@cache
def _class(name: str) -> type:
    """Return the data class, enum or named tuple `module:name`, of a module that has been imported."""
    module, _, name = name.partition(":")
    found = getattr(sys.modules.get(module), name, None) if module.startswith(PACKAGES) else None
    if not isinstance(found, type) or _members(found) is None:
        raise NotCompact(f"{module}:{name} is not a class of data")
    return found


@cache
def _members(cls: type) -> tuple[str, ...] | None:
    """Return the names of what instances of a class are made from; None unless it is a class of data."""
    if issubclass(cls, enum.Enum):
        return ("name",)
    if is_dataclass(cls):
        return tuple(field.name for field in fields(cls) if field.init)
    return getattr(cls, "_fields", None) if issubclass(cls, tuple) else None


def _checked(attribute: object) -> object:
    """Return an attribute, or a location that stands for one; NotCompact for other values, such as types."""
    if not fits(attribute, Attribute | DebugLocation):
        raise NotCompact(f"{'a type' if isinstance(attribute, Type) else repr(attribute)} is not an attribute")
    return attribute


class _Encoder:
    """Collects the objects that operations share, each after those that it refers to."""

    def __init__(self) -> None:
        self.rows: list[list[Any]] = []
        self.classes: dict[str, int] = {}
        self.kinds: dict[str, tuple[int, object]] = {}  # names, spellings and attributes of operations, by text
        self.arrays: list[bytes] = []
        self.offset = 0
        self._known: dict[object, int] = {}  # by identity, or by value for tuples of scalars

    def program(self, flat: FlatProgram) -> bytes:
        operations = [self._operation(op) for op in within_time(flat.operations, STORING)]
        values = [
            [self.item(v.type), v.number, v.name, self.item(v.location)] for v in within_time(flat.values, STORING)
        ]
        aliases = [[self.item(alias), self.item(target)] for alias, target in flat.aliases]
        tables = {
            "classes": list(self.classes), "objects": self.rows, "operations": operations, "values": values,
            "aliases": aliases, "kinds": [kind for _, kind in self.kinds.values()],
        }  # fmt: skip
        text = json.dumps(tables, separators=(",", ":")).encode()
        head = len(text).to_bytes(8, "little") + text
        return b"".join((head.ljust(_aligned(len(head)), b" "), *self.arrays))

    def _operation(self, op: FlatOperation) -> list[Any]:
        regions = [[[block.label, block.arguments, block.size] for block in blocks] for blocks in op.regions]
        rest = [self.item(op.debug_location), op.successors, regions]
        kind = op.name, op.spelling, tuple(self.mapping(op.properties)), tuple(self.mapping(op.attributes))
        number = self.kinds.setdefault(repr(kind), (len(self.kinds), kind))[0]
        return [number, op.operands, op.results, op.location.offset, *(rest if any(rest) else ())]

    def mapping(self, items: Mapping[str, object]) -> list[Any]:
        return [part for name, item in items.items() for part in (name, self.item(item))]

    def item(self, value: object) -> Any:
        """Return a scalar, or a list of the number of an object's row."""
        if type(value) in _SCALARS:
            return value
        if (number := self._known.get(id(value))) is None:
            row = self._row(value)
            number = self._known[id(value)] = len(self.rows)
            self.rows.append(row)
        return [number]

    def _row(self, value: Any) -> list[Any]:
        cls = type(value)
        if cls in (tuple, list):
            return [cls.__name__, *map(self.item, value)]
        if isinstance(value, dict):
            return ["dict", *self.mapping(value)]
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, LocationAlias):
            return ["alias", value.alias]
        name = f"{cls.__module__}:{cls.__qualname__}"
        members = _members(_class(name)) or ()
        number = self.classes.setdefault(name, len(self.classes))
        return [number, *[self.item(getattr(value, member)) for member in members]]

    def _array(self, array: Array) -> list[Any]:
        elements = without_repetition(array)
        data = np.ascontiguousarray(elements).tobytes()
        row = ["array", elements.dtype.name, list(elements.shape), list(array.shape), self.offset, len(data)]
        self.arrays.append(data.ljust(_aligned(len(data)), b"\0"))
        self.offset += len(self.arrays[-1])
        return row


class _Decoder:
    """Makes the objects of a table in order, and operations from them."""

    def __init__(self, arrays: Array, source: Source) -> None:
        self.arrays = arrays
        self.source = source
        self.objects: list[Any] = []
        self.kinds: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = []

    def program(self, tables: Mapping[str, Any]) -> FlatProgram:
        classes = list(map(_class, tables["classes"]))
        for kind, *parts in within_time(tables["objects"], LOADING):
            self.objects.append(self._object(classes[kind] if isinstance(kind, int) else kind, parts))
        for name, spelling, properties, attributes in tables["kinds"]:
            discardable = rebuilt(self.mapping(attributes), _checked)
            if not _is_own(name):
                raise NotCompact(f"'{name}' is an op of another package")
            members = self.mapping(properties)
            for each in ("arg_attrs", "res_attrs"):  # of functions
                rebuilt(members.get(each) or (), _checked)
            self.kinds.append((name, spelling, members, discardable))
        item, operations = self.item, [self._operation(*row) for row in within_time(tables["operations"], LOADING)]
        values = [
            FlatValue(item(t), number, name, item(location))
            for t, number, name, location in within_time(tables["values"], LOADING)
        ]
        aliases = [(item(a), item(target)) for a, target in tables["aliases"]]
        if not all(target is None or isinstance(target, DebugLocation) for _, target in aliases):
            raise NotCompact("the target of an alias is no location")
        return FlatProgram(operations, values, aliases)

    def item(self, part: object) -> Any:
        return self.objects[part[0]] if type(part) is list else part

    def mapping(self, parts: list[Any]) -> dict[str, Any]:
        return dict(zip(parts[::2], map(self.item, parts[1::2])))

    def _operation(
        self,
        kind: int,
        operands: list[int],
        results: list[int],
        offset: int,
        debug_location: Any = None,
        successors: list[str] | tuple[()] = (),
        regions: Any = (),
    ) -> FlatOperation:
        name, spelling, properties, attributes = self.kinds[kind]
        blocks = regions and tuple(tuple(FlatBlock(label, a, size) for label, a, size in region) for region in regions)
        location = Location(self.source, offset)
        return FlatOperation(
            name, operands, results, properties, attributes, blocks, successors, location, self.item(debug_location),
            spelling,
        )  # fmt: skip

    def _object(self, kind: Any, parts: list[Any]) -> Any:
        if isinstance(kind, type):
            if issubclass(kind, enum.Enum):
                return kind[parts[0]]
            made = kind(*map(self.item, parts))
            if is_dataclass(made):
                check_fields(made)
            return made
        match kind:
            case "tuple":
                return tuple(map(self.item, parts))
            case "list":
                return list(map(self.item, parts))
            case "dict":
                return self.mapping(parts)
            case "array":
                return self._array(*parts)
            case "alias":
                return LocationAlias(*parts)
        raise NotCompact(f"unknown kind {kind!r}")

    def _array(self, dtype: str, shape: list[int], full_shape: list[int], offset: int, size: int) -> Array:
        array = self.arrays[offset : offset + size].view(np.dtype(dtype)).reshape(shape)
        array.flags.writeable = False
        return array if shape == full_shape else np.broadcast_to(array.copy(), full_shape)  # its base is one element


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
