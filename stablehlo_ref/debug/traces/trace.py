"""The values of a run by name, in memory or in files.

A trace in files is a folder: one `.npy` file for each array, and `index.jsonl` with one line of JSON for each value.
A line has the fields of `Record`. Its field `stored` is for an array an object such as
`{"file": "000012.npy", "dtype": "bfloat16", "shape": [2, 3]}`, without "file" if only its digest was kept;
`{"tuple": [...]}` of such objects for a tuple; null for a token. `digest` has the fields of a `Digest`,
of all values: statistics, a hash of the bits, a histogram of exponents.

Arrays whose dtype numpy has no name for (those of ml_dtypes: bfloat16, float8_*, int4, ...) are stored as the unsigned
integers of the same size with the same bits: `np.load(file).view(dtype)` has the numbers. Lines are written as values
come, so that those of a run that fails are there, and no more than one value is held for the trace.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from numbers import Integral
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import ml_dtypes
import numpy as np

from stablehlo_ref.argument_types import check_fields, checks_arguments
from stablehlo_ref.arrays.descriptions import Digest, digest
from stablehlo_ref.arrays.files import array_errors, map_array, member_names, read_npz, reason_of
from stablehlo_ref.arrays.host_values import as_numpy_saves
from stablehlo_ref.define.processes import ProcessId
from stablehlo_ref.diagnostics import ArgumentValueError, EvaluationError, UnknownIndexError, file_errors
from stablehlo_ref.ir.arrays import Array, RuntimeValue
from stablehlo_ref.ir.core import Value
from stablehlo_ref.ir.value_index import UnknownValueError
from stablehlo_ref.limits import check_type
from stablehlo_ref.limits.files import read_text
from stablehlo_ref.numerics.dtypes import kind
from stablehlo_ref.suggestions import did_you_mean


@dataclass(frozen=True, eq=False)
class Record:
    """One value that a run computed, or an argument.

    `name` is a name that no other value of the program has, `names` are all names: SSA names, numbers (`#12`), and the
    name in the location. `address` distinguishes the values that one op computes in calls and loops: `%0[2]/%t/%3` is
    `%3` in the function that the op of `%t` calls in turn 2 of the loop `%0`. `turns` are the turns of the loops around
    the op, in calling functions too, the outermost first.
    """

    number: int  # in the order of evaluation, from 0
    name: str
    names: tuple[str, ...]
    address: str
    op: str | None  # the name of the op; None for an argument
    type: str
    location: str  # `file:line:col` in the program
    model_location: str | None  # such as `jit(model)/add at model.py:12:0`
    turns: tuple[int, ...]
    process: ProcessId
    stored: Any  # the value, or the Stored that refers to its file
    digest: Any = None  # an arrays.descriptions.Digest, a tuple of them for a tuple; None in memory, and of a token
    value: Value | None = None  # the SSA value; None in a trace that was read from files

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "value": None}  # which refers to the whole program

    @property
    def data(self) -> Any:
        """The value: a numpy scalar or read-only array, a tuple of values, or None for a token.

        EvaluationError if `keep` did not select it; `run(..., until=record.address)` computes it again.
        """
        return self.stored.read() if isinstance(self.stored, Stored | Archived) else self.stored


class Values(Sequence[Any]):
    """The values of an op that runs more than once, in the order of evaluation.

    `values[n]` is the n-th, `values[outer, inner]` that in these turns of the loops around the op. `records` has the
    addresses.
    """

    @checks_arguments
    def __init__(self, records: Sequence[Record]) -> None:
        self.records = tuple(records)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return Values(self.records[key])
        if not isinstance(key, tuple):
            check_type("the number of a value", key, Integral, "an integer, a slice, or the turns of loops")
            if -len(self) <= key < len(self):
                return self.records[key].data
            raise UnknownIndexError(f"no value number {key}; there are {len(self)}")
        found = [record for record in self.records if record.turns == key]
        if not found:
            known = ", ".join(str(record.turns) for record in self.records[:4])
            raise UnknownIndexError(
                f"no value in turns {key}; there are {known}{', ...' if len(self.records) > 4 else ''}"
            )
        return found[0].data if len(found) == 1 else Values(found)

    def __len__(self) -> int:
        return len(self.records)

    def __repr__(self) -> str:
        return f"Values({list(self)!r})"


class Trace(Mapping[str, Any]):
    """The values of a run by name.

    A key is an SSA name (`%3`, `%0#1`; `@relu/%3` in another function than the entry), a location name (`jit(f)/conv`,
    `args[0]`), the number of an op in the entry (`12` or `"#12"`, `"@relu/#12"`), or an address (`%0[2]/%t/%3`). A
    value is an array, a tuple of arrays, or None for a token; of an op in a loop, or in a function that is called more
    than once, it is a `Values`, a sequence by turn. If several processes ran, it is a dictionary of these by process,
    and `process(replica, partition)` is the trace of one.

    `records` are all values in the order of evaluation; `results` are what the run returned. Iteration yields a unique
    name for each SSA value.
    """

    @checks_arguments
    def __init__(self, records: Sequence[Record], results: Any = (), known: Sequence[str] = ()) -> None:
        self.records = tuple(records)
        self.results = results
        self._known = known or [name for record in records for name in record.names]  # also of values not recorded
        self._by_name: dict[str, list[Record]] = defaultdict(list)
        for record in self.records:
            for name in {*record.names, record.name, record.address}:
                self._by_name[name].append(record)

    @classmethod
    @checks_arguments
    def load(cls, folder: Path | str) -> Trace:
        """Return the trace that a run stored in a folder; arrays are mapped when they are used. It has no `results`.

        An `.npz` file, of any tool, is read as a trace too: its arrays by their names. ArgumentValueError without one.
        """
        path = Path(folder)
        return cls(list((read_archive if path.is_file() else read_index)(path)))

    def __getitem__(self, name: str | int | Value) -> Any:
        records = self.find(name)
        by_process: dict[ProcessId, list[Record]] = defaultdict(list)
        for record in records:
            by_process[record.process].append(record)
        is_address = isinstance(name, str) and name not in records[0].names
        values = {p: found[0].data if is_address else _value(found) for p, found in by_process.items()}
        return values if len(self.processes) > 1 else values[records[0].process]

    @checks_arguments
    def find(self, name: str | int | Value) -> tuple[Record, ...]:
        """Return the records of a value, in the order of evaluation; UnknownValueError for a name without any."""
        if isinstance(name, Value):
            found = [record for record in self.records if record.value is name]
        else:
            found = self._by_name.get(f"#{name}" if isinstance(name, int) else name, [])
        if not found:
            raise UnknownValueError(self._reason(str(getattr(name, "name", name))))
        return tuple(record for record in found if record.name == found[-1].name)

    def _reason(self, name: str) -> str:
        if name in self._known:
            return f"{name!r} is not in the trace: it was not computed, or not selected"
        return f"no value is called {name!r}{did_you_mean(name, self._known)}"

    def all(self, name: str | int | Value) -> list[Any]:
        """Return the values of a name as a list in the order of evaluation, of all processes."""
        return [record.data for record in self.find(name)]

    @checks_arguments
    def select(self, op: str) -> dict[str, Any]:
        """Return the values of all ops of a name, `stablehlo.dot_general` or `chlo.*`, by their unique names."""
        found = [record.name for record in self.records if record.op and fnmatchcase(record.op, op)]
        return {name: self[name] for name in dict.fromkeys(found)}

    @checks_arguments
    def line(self, place: str) -> dict[str, Any]:
        """Return the values of the ops that a line of the model made, `model.py:12`, by their unique names.

        UnknownValueError, with similar places, if no op is from there.
        """
        made = [(record, _line_of(record)) for record in self.records]
        found = [record.name for record, line in made if line and (line == place or line.endswith(f"/{place}"))]
        if not found:
            lines = dict.fromkeys(line.rpartition("/")[2] for _, line in made if line)
            raise UnknownValueError(f"no value in the trace was made by {place!r}{did_you_mean(place, lines)}")
        return {name: self[name] for name in dict.fromkeys(found)}

    @property
    def processes(self) -> tuple[ProcessId, ...]:
        """The processes (replica id, partition id) that computed values."""
        return tuple(dict.fromkeys(record.process for record in self.records))

    @checks_arguments
    def process(self, replica: int, partition: int) -> Trace:
        """Return the trace of one process of a grid, without `results`."""
        return Trace([r for r in self.records if r.process == (replica, partition)], known=self._known)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(record.name for record in self.records))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"<Trace of {len(self)} values, {len(self.records)} records>"


def _value(records: Sequence[Record]) -> Any:
    return records[0].data if len(records) == 1 and not records[0].turns else Values(records)


def _line_of(record: Record) -> str:
    """Return the line of the model that made a value, `model.py:12`; "" if that is unknown."""
    _, _, place = (record.model_location or "").rpartition(" at ")
    return place.rpartition(":")[0]


# --- traces in files -------------------------------------------------------------------------------------------------

INDEX = "index.jsonl"
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


def read_index(folder: Path) -> Iterator[Record]:
    """Yield the records of a folder; ArgumentValueError for a folder without a trace."""
    path = folder / INDEX
    if not path.is_file():
        raise ArgumentValueError(f"{folder} has no trace: there is no {INDEX} in it")
    with file_errors(path, "read the trace"):
        text = read_text(path)
    for number, line in enumerate(text.removesuffix("\n").split("\n") if text else (), 1):
        try:
            yield _record(folder, json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ArgumentValueError(f"{path}:{number}: not a value of a trace: {reason_of(error)}") from None


def _record(folder: Path, fields: dict[str, Any]) -> Record:
    """Return the record of the fields of a line; an error of Python if they are not those of one."""
    given = {key: fields[key] for key in ("number", "name", "address", "op", "type", "location", "model_location")}
    tuples = {key: tuple(fields[key]) for key in ("names", "turns", "process")}
    found = _from_json(Digest.from_json, fields.get("digest"))
    _from_json(_check_stored, fields["stored"])
    record = Record(**{**given, **tuples, "digest": found, "stored": Stored(folder, fields["stored"])})
    check_fields(record)
    return record


def _check_stored(description: Mapping[str, Any]) -> None:
    """Raise ArgumentTypeError unless a description of an array names its file, if there is one, and its dtype."""
    check_type("the dtype of a value", description["dtype"], str, "a string")
    check_type("the file of a value", description.get("file", ""), str, "a string")


def read_archive(path: Path) -> Iterator[Record]:
    """Yield a record for each array of an `.npz` file; ArgumentValueError if it cannot be read.

    An array called `3` or `%3` has both names. Nothing else is known of it.
    """
    if not is_zipfile(path):
        raise ArgumentValueError(f"cannot read {path}: expected a folder with {INDEX}, or an .npz file")
    with array_errors(path, kind=ArgumentValueError):
        keys = member_names(path)
    for number, key in enumerate(keys):
        names = tuple(dict.fromkeys((key, f"%{key.removeprefix('%')}")))
        yield Record(
            number, key, names, address=key, op=None, type="", location="", model_location=None, turns=(),
            process=(0, 0), stored=Archived(path, key),
        )  # fmt: skip


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
