"""Record the values that a run computes."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from stablehlo_ref.define.context import Observer
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.value_index import UnknownValueError, ValueIndex

Select: TypeAlias = Callable[[Operation], bool]


class Trace(Mapping[str, Any]):
    """The values of a run by name: `trace["%3"]`, `trace["@relu/%3"]`, `trace["jit(f)/conv"]`, `trace["args[0]"]`.

    A value is an array, a tuple of arrays, or None for a token; of an op that ran several times, in a loop or in a
    function that is called more than once, it is the list of its values in the order of evaluation.
    """

    def __init__(self, index: ValueIndex, values: Mapping[int, list[Any]], order: Sequence[Value]) -> None:
        self._index = index
        self._values = values
        self._order = order
        self.results: tuple[Any, ...] = ()  # of the run

    def __getitem__(self, name: str | Value) -> Any:
        values = self.all(name)
        return values[0] if len(values) == 1 else values

    def all(self, name: str | Value) -> list[Any]:
        """Return the values in the order of evaluation; UnknownValueError for a name without recorded values."""
        value = self._index.find(name) if isinstance(name, str) else name
        if id(value) not in self._values:
            raise UnknownValueError(f"{name!r} is not in the trace: it was not computed, or not selected")
        return self._values[id(value)]

    def select(self, op: str) -> dict[str, Any]:
        """Return the values of all ops of a name, such as `stablehlo.dot_general`, by the name of the value."""
        found = [v for v in self._order if isinstance(v.owner, Operation) and v.owner.name == op]
        return {self._name(value): self[value] for value in found}

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(map(self._name, self._order)))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _name(self, value: Value) -> str:
        return self._index.names(value)[0]


class Recorder(Observer):
    """Keeps the results of ops; with `store`, in files of that folder as they come.

    `select` decides which ops' results are kept.
    """

    def __init__(self, index: ValueIndex, select: Select | None = None, store: Path | None = None) -> None:
        self._index = index
        self._select = select
        self._store = store
        self._values: dict[int, list[Any]] = defaultdict(list)
        self._order: list[Value] = []
        self._files: list[dict[str, Any]] = []
        if store is not None:
            store.mkdir(parents=True, exist_ok=True)

    def after(self, op: Operation, results: Sequence[Any]) -> None:
        if self._select is None or self._select(op):
            for value, result in zip(op.results, results):
                self.record(value, result)

    def record(self, value: Value, result: Any) -> None:
        """Keep one more value of an op's result or of an argument."""
        if id(value) not in self._values:
            self._order.append(value)
        kept = result if self._store is None else self._write(self._store, value, result)
        self._values[id(value)].append(kept)

    def _write(self, folder: Path, value: Value, result: Any) -> Any:
        """Return an array as a map of the file that it is written to; other values as they are."""
        if not isinstance(result, np.ndarray | np.generic):
            return result
        path = folder / f"{len(self._files)}.npy"
        array = np.asarray(result)
        is_standard = array.dtype.isbuiltin == 1
        np.save(path, array if is_standard else array.view(f"u{array.dtype.itemsize}"))
        names = self._index.names(value)
        op = value.owner.name if isinstance(value.owner, Operation) else None
        self._files.append({"file": path.name, "names": names, "op": op, "type": str(value.type)})
        stored = np.load(path, mmap_mode="r") if array.size else array
        return stored if is_standard else stored.view(array.dtype)

    def trace(self) -> Trace:
        """Return what has been recorded; writes the index `index.json` of the stored files."""
        if self._store is not None:
            (self._store / "index.json").write_text(json.dumps(self._files, indent=1), encoding="utf-8")
        return Trace(self._index, self._values, self._order)
