"""A trace as a folder: one `.npy` file for each array, and `index.jsonl` with one line of JSON for each value.

A line has the fields of `trace.Record`. Its field `stored` is for an array an object such as
`{"file": "000012.npy", "dtype": "bfloat16", "shape": [2, 3]}`, without "file" if only its digest was kept;
`{"tuple": [...]}` of such objects for a tuple; null for a token. `digest` has the fields of `numerics.digest.Digest`,
of all values: statistics, a hash of the bits, a histogram of exponents.

Arrays whose dtype numpy has no name for (those of ml_dtypes: bfloat16, float8_*, int4, ...) are stored as the unsigned
integers of the same size with the same bits: `np.load(file).view(dtype)` has the numbers. Lines are written as values
come, so that those of a run that fails are there, and no more than one value is held for the trace.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from zipfile import is_zipfile

import ml_dtypes
import numpy as np

from stablehlo_ref.arrays.digest import Digest, digest
from stablehlo_ref.arrays.files import array_errors, map_array, member_names, read_npz, reason_of
from stablehlo_ref.arrays.host_values import as_numpy_saves
from stablehlo_ref.diagnostics import ArgumentValueError, EvaluationError, file_errors
from stablehlo_ref.ir.arrays import Array, RuntimeValue
from stablehlo_ref.limits import check_type
from stablehlo_ref.limits.files import read_text
from stablehlo_ref.numerics.dtypes import kind

INDEX = "index.jsonl"
T = TypeVar("T")
_NAME = re.compile(r"\d{6,}\.npy")


@dataclass(frozen=True)
class Stored:
    """A value in files of `folder`, as `index.jsonl` describes it."""

    folder: Path
    description: Any

    def read(self) -> Any:
        """Return the value: arrays are mapped, not read."""
        return _from_json(self._array, self.description)

    def _array(self, description: Mapping[str, Any]) -> Any:
        if "file" not in description:
            raise EvaluationError("only the digest of the value was kept, as `keep` does not select it")
        path, name = self.folder / description["file"], description["dtype"]
        with array_errors(path):
            array = map_array(path)
            dtype = np.dtype(getattr(ml_dtypes, name, name))
            array = array if array.dtype == dtype else array.view(dtype)
        return array if array.ndim else array[()]


@dataclass(frozen=True)
class Archived:
    """An array in an `.npz` file, by its name there."""

    path: Path
    key: str

    def read(self) -> Any:
        """Return the array; EvaluationError if it cannot be read. Elements of 8 or 16 unknown bits are their bits."""
        with array_errors(self.path, f"cannot read {self.key!r} of"):
            array = read_npz(self.path, self.key)[self.key]
            if array.dtype.kind == "V" and array.dtype.itemsize <= 2:
                array = array.view(f"u{array.dtype.itemsize}")
            kind(array.dtype)
            return array


class TraceFiles:
    """Writes values to a folder, which is created; the files of an earlier trace in it are removed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0
        with file_errors(folder, "write the trace"):
            folder.mkdir(parents=True, exist_ok=True)
            if (folder / INDEX).exists():
                for path in folder.iterdir():
                    if _NAME.fullmatch(path.name):
                        path.unlink()
            self._index = (folder / INDEX).open("w", encoding="utf-8")

    def write(self, value: RuntimeValue, keep: bool = True) -> Stored:
        """Write the arrays of a value, or describe them if they are not to be kept."""
        return Stored(self._folder, _to_json(lambda part: self._write(np.asarray(part), keep), value))

    def _write(self, array: Array, keep: bool) -> Mapping[str, Any]:
        if not keep:
            return {"dtype": array.dtype.name, "shape": list(array.shape)}
        name = f"{self._count:06d}.npy"
        self._count += 1
        np.save(self._folder / name, as_numpy_saves(array))
        return {"file": name, "dtype": array.dtype.name, "shape": list(array.shape)}

    def describe(self, record: Mapping[str, Any], stored: Stored) -> None:
        """Append the line of a value to the index."""
        fields = {**record, "digest": _to_json(Digest.to_json, record["digest"]), "stored": stored.description}
        line = json.dumps(fields, ensure_ascii=False)
        self._index.write(line + "\n")
        self._index.flush()

    def close(self) -> None:
        """Close the index."""
        self._index.close()


def read_index(folder: Path, record: Callable[[Mapping[str, Any]], T]) -> Iterator[T]:
    """Yield what `record` makes of the fields of each line of a folder; ArgumentValueError for one without a trace."""
    path = folder / INDEX
    if not path.is_file():
        raise ArgumentValueError(f"{folder} has no trace: there is no {INDEX} in it")
    with file_errors(path, "read the trace"):
        text = read_text(path)
    for number, line in enumerate(text.removesuffix("\n").split("\n") if text else (), 1):
        try:
            yield record(_fields(folder, json.loads(line)))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ArgumentValueError(f"{path}:{number}: not a value of a trace: {reason_of(error)}") from None


def _fields(folder: Path, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a record, from those of its line."""
    given = {key: fields[key] for key in ("number", "name", "address", "op", "type", "location", "model_location")}
    tuples = {key: tuple(fields[key]) for key in ("names", "turns", "process")}
    found = _from_json(Digest.from_json, fields.get("digest"))
    _from_json(_check_stored, fields["stored"])
    return {**given, **tuples, "digest": found, "stored": Stored(folder, fields["stored"])}


def _check_stored(description: Mapping[str, Any]) -> None:
    """Raise ArgumentTypeError unless a description of an array names its file, if there is one, and its dtype."""
    check_type("the dtype of a value", description["dtype"], str, "a string")
    check_type("the file of a value", description.get("file", ""), str, "a string")


def read_archive(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the fields of a record for each array of an `.npz` file; ArgumentValueError if it cannot be read.

    An array called `3` or `%3` has both names. Nothing else is known of it.
    """
    if not is_zipfile(path):
        raise ArgumentValueError(f"cannot read {path}: expected a folder with {INDEX}, or an .npz file")
    with array_errors(path, kind=ArgumentValueError):
        keys = member_names(path)
    for number, key in enumerate(keys):
        names = tuple(dict.fromkeys((key, f"%{key.removeprefix('%')}")))
        yield {
            "number": number, "name": key, "names": names, "address": key, "op": None, "type": "", "location": "",
            "model_location": None, "turns": (), "process": (0, 0), "stored": Archived(path, key),
        }  # fmt: skip


def digest_of(value: RuntimeValue) -> Any:
    """Return the digest of a value: a tuple of digests for a tuple, None for a token."""
    if isinstance(value, tuple):
        return tuple(map(digest_of, value))
    return None if value is None else digest(np.asarray(value))


def _to_json(function: Callable[[Any], object], value: Any) -> Any:
    """Return what a function makes of a value, or of each part of a tuple; None for a token."""
    if isinstance(value, tuple):
        return {"tuple": [_to_json(function, part) for part in value]}
    return None if value is None else function(value)


def _from_json(function: Callable[[Any], Any], fields: Any) -> Any:
    """Return what a function makes of fields, or of each part of a tuple; None for a token."""
    if fields is None:
        return None
    return tuple(_from_json(function, part) for part in fields["tuple"]) if "tuple" in fields else function(fields)
