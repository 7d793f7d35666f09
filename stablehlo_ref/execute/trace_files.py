"""A trace as a folder: one `.npy` file for each array, and `index.jsonl` with one line of JSON for each value.

A line has the fields of `trace.Record`. Its field `stored` is for an array an object such as
`{"file": "000012.npy", "dtype": "bfloat16", "shape": [2, 3]}`; `{"tuple": [...]}` of such objects for a tuple; null for
a token. Arrays whose dtype numpy has no name for (those of ml_dtypes: bfloat16, float8_*, int4, ...) are stored as the
unsigned integers of the same size with the same bits: `np.load(file).view(dtype)` has the numbers. Lines are written as
values come, so that those of a run that fails are there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from stablehlo_ref.ir.arrays import RuntimeValue
from stablehlo_ref.numerics.saved_arrays import as_numpy_saves

INDEX = "index.jsonl"
_NAME = re.compile(r"\d{6,}\.npy")


@dataclass(frozen=True)
class Stored:
    """A value in files of `folder`, as `index.jsonl` describes it."""

    folder: Path
    description: Any

    def read(self) -> Any:
        """Return the value: arrays are mapped, not read."""
        if self.description is None:
            return None
        if "tuple" in self.description:
            return tuple(Stored(self.folder, part).read() for part in self.description["tuple"])
        path, name = self.folder / self.description["file"], self.description["dtype"]
        shape = self.description["shape"]
        array = np.load(path, mmap_mode="r" if shape and 0 not in shape else None, allow_pickle=False)
        dtype = np.dtype(getattr(ml_dtypes, name, name))
        array = array if array.dtype == dtype else array.view(dtype)
        return array if array.ndim else array[()]


class TraceFiles:
    """Writes values to a folder, which is created; the files of an earlier trace in it are removed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / INDEX).exists():
            for path in folder.iterdir():
                if _NAME.fullmatch(path.name):
                    path.unlink()
        self._index = (folder / INDEX).open("w", encoding="utf-8")

    def write(self, value: RuntimeValue) -> Stored:
        """Write the arrays of a value."""
        return Stored(self._folder, self._write(value))

    def _write(self, value: RuntimeValue) -> Any:
        if value is None:
            return None
        if isinstance(value, tuple):
            return {"tuple": [self._write(part) for part in value]}
        array = np.asarray(value)
        name = f"{self._count:06d}.npy"
        self._count += 1
        np.save(self._folder / name, as_numpy_saves(array))
        return {"file": name, "dtype": array.dtype.name, "shape": list(array.shape)}

    def describe(self, record: Mapping[str, Any], stored: Stored) -> None:
        """Append the line of a value to the index."""
        line = json.dumps({**record, "stored": stored.description}, ensure_ascii=False)
        self._index.write(line + "\n")
        self._index.flush()

    def close(self) -> None:
        """Close the index."""
        self._index.close()


def read_index(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the fields of each record of a folder; ValueError for a folder without a trace."""
    path = folder / INDEX
    if not path.is_file():
        raise ValueError(f"{folder} has no trace: there is no {INDEX} in it")
    for line in path.read_text(encoding="utf-8").splitlines():
        fields = json.loads(line)
        tuples = {key: tuple(fields[key]) for key in ("names", "turns", "process")}
        yield {**fields, **tuples, "stored": Stored(folder, fields["stored"])}
