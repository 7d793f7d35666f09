"""Compare two traces: the first value, in the order of the program, that is not the same in both."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.arrays.descriptions import Digest, element_text
from stablehlo_ref.arrays.host_values import as_numpy_loads
from stablehlo_ref.arrays.results import blockwise
from stablehlo_ref.debug.traces.trace import Record, Trace, digest_of
from stablehlo_ref.diagnostics import ArgumentValueError, EvaluationError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.dtypes import is_fractional
from stablehlo_ref.numerics.ulp import ulp_distance

INCOMPARABLE = 2**64 - 1  # the distance of a NaN from a number
SHOWN = 8
MOST_COMPARED = 30_000_000  # pairs of values, up to which sequences are aligned


@dataclass(frozen=True)
class Apart:
    """How two arrays of a type and shape differ."""

    elements: int  # that differ by more than is allowed
    ulps: int | None  # at most; None for integers, and where a NaN is compared with a number
    index: tuple[int, ...]  # of the first
    values: tuple[str, str]


@dataclass(frozen=True)
class Difference:
    """A value that differs: what it is in the first trace, and how the second differs.

    `reason` is "type", "shape", "bits" or "ulps". `apart` is None if the tensors were not both kept, so that only
    their digests can be compared.
    """

    name: str
    other: str  # its name in the second trace
    address: str
    op: str | None
    location: str
    model_location: str | None
    process: tuple[int, int]
    reason: str
    apart: Apart | None
    digests: tuple[Digest | None, Digest | None]

    def __str__(self) -> str:
        other = "" if self.other == self.name else f" ({self.other} in the other)"
        place = f" at {self.location}" if self.location else ""
        model = f", {self.model_location}" if self.model_location else ""
        head = f"{self.address}{other}: {self.op or 'argument'}{place}{model}: {self._how()}"
        return "\n".join([head, *(f"    {side}: {digest}" for side, digest in zip("AB", self.digests) if digest)])

    def _how(self) -> str:
        if self.apart is None:
            kept = "; not both tensors were kept" if self.reason == "bits" else ""
            return f"{_REASONS[self.reason]}{kept}"
        size = np.prod(self.digests[0].shape, dtype=int) if self.digests[0] else 0
        ulps = "" if self.apart.ulps is None else f", by at most {self.apart.ulps} ULPs"
        first, second = self.apart.values
        return f"{self.apart.elements} of {size} elements differ{ulps}; at {list(self.apart.index)}: {first}, {second}"


_REASONS = {"type": "types differ", "shape": "shapes differ", "bits": "bits differ", "ulps": "ULPs differ"}


@dataclass
class TraceDiff:
    """How two traces differ. `differences` are in the order of the first; `only` are names that only one has."""

    differences: list[Difference]
    compared: int  # values
    only: tuple[list[str], list[str]]

    @property
    def first(self) -> Difference | None:
        """The first difference in the order of the program; None if all that both have is the same."""
        return self.differences[0] if self.differences else None

    def to_json(self) -> str:
        """Return all of the result in one line of JSON; docs/reference/json.md describes it."""
        return json.dumps({"schema": 1, **asdict(self)}, allow_nan=False)

    def __str__(self) -> str:
        found = self.differences
        lines = [f"{len(found)} of {self.compared} values differ"]
        lines += [f"first: {found[0]}"] if found else []
        lines += [f"then: {difference}" for difference in found[1:SHOWN]]
        lines += [f"and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
        for side, names in zip("AB", self.only):
            more = ", ..." if len(names) > SHOWN else ""
            lines += [f"only in {side}: {', '.join(names[:SHOWN])}{more}"] if names else []
        return "\n".join(lines)


@checks_arguments
def diff_traces(a: Trace | Path | str, b: Trace | Path | str, ulps: int | None = None) -> TraceDiff:
    """Compare the values of two traces: folders, `.npz` files, or objects of `Trace`.

    Values differ if any bit does; with `ulps`, floats only if they are more representable numbers apart, where both
    tensors were kept. Values are matched by name, by location in the model, and by alignment of the ops where programs
    differ. ArgumentValueError for a path without a trace, and for negative `ulps`.
    """
    if ulps is not None and ulps < 0:
        raise ArgumentValueError(f"ulps must not be negative, got {ulps}")
    first, second = (trace if isinstance(trace, Trace) else Trace.load(trace) for trace in (a, b))
    pairs = list(match(first, second))
    differences = [difference for x, y in pairs for difference in _differences(x, y, ulps)]
    names = {x.name for x, _ in pairs}, {y.name for _, y in pairs}
    only = [[name for name in trace if name not in known] for trace, known in zip((first, second), names)]
    return TraceDiff(differences, len(pairs), (only[0], only[1]))


def _differences(a: Record, b: Record, ulps: int | None) -> Iterator[Difference]:
    """Yield how two records differ; for tuples, how each part does."""
    digests = _parts(a.digest), _parts(b.digest)
    if None not in digests[0] and digests[0] == digests[1]:
        return
    for x, y, *given in zip_longest(_parts(_data(a)), _parts(_data(b)), *digests):
        if x is not None and y is not None:  # one may have been saved as bits
            x, y = map(np.asarray, (x, y))
            x, y = as_numpy_loads(x, y.dtype), as_numpy_loads(y, x.dtype)
        known = given[0] or digest_of(x), given[1] or digest_of(y)
        if (how := _how(x, y, *known, ulps)) is not None:
            same = (a.name, b.name, a.address, a.op, a.location, a.model_location, a.process)
            yield Difference(*same, *how, known)


def _parts(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _data(record: Record) -> Any:
    """Return the value of a record; None if only its digest was kept."""
    try:
        return record.data
    except EvaluationError:
        if record.digest is None:
            raise
        return None


def _how(
    x: Array | None, y: Array | None, a: Digest | None, b: Digest | None, ulps: int | None
) -> tuple[str, Apart | None] | None:
    """Return the reason why two arrays differ, and how; None if they do not."""
    if a is None or b is None:
        return None if a is b else ("type", None)
    if a.dtype != b.dtype or a.shape != b.shape:
        return ("type" if a.dtype != b.dtype else "shape"), None
    if a.hash == b.hash:
        return None
    if x is None or y is None:
        return "bits", None
    apart = compare(x, y, ulps)
    return None if apart is None else ("bits" if ulps is None else "ulps", apart)


def compare(x: Array, y: Array, ulps: int | None) -> Apart | None:
    """Return how two arrays of a type and shape differ by more than `ulps`, or in a bit; None if they do not."""
    flat_x, flat_y = x.reshape(-1), y.reshape(-1)
    found = np.flatnonzero(~_same_bits(flat_x, flat_y))
    apart = ulp_distance(flat_x[found], flat_y[found]) if is_fractional(x.dtype) else None
    if apart is not None and ulps is not None:
        found, apart = found[apart > np.uint64(ulps)], apart[apart > np.uint64(ulps)]
    if not found.size:
        return None
    first, worst = int(found[0]), INCOMPARABLE if apart is None else int(apart.max())
    index = tuple(int(i) for i in np.unravel_index(first, x.shape))
    shown = element_text(flat_x[first]), element_text(flat_y[first])
    return Apart(found.size, worst if worst != INCOMPARABLE else None, index, shown)


@blockwise
def _same_bits(x: Array, y: Array) -> Array:
    """Return which elements of two 1-dimensional arrays have the same bits."""
    p, q = (np.ascontiguousarray(array).view(np.uint8).reshape(array.size, -1) for array in (x, y))
    return np.asarray((p == q).all(axis=1))


# --- which values of two traces belong together, also where their programs differ a little ---------------------------


def match(a: Trace, b: Trace) -> Iterator[tuple[Record, Record]]:
    """Yield the records that belong together, in the order of `a`.

    Values of the same name, op and type in the same order belong together. If the programs differ, those with the same
    location in the model or the same name in it do, and of the rest those that an alignment of the sequences of ops
    finds. What an `.npz` file has is found by name. Records of one value are told apart by their process and turns.
    """
    pairs = dict(_names(_first(a), _first(b)))
    of_b: dict[tuple[object, ...], list[Record]] = defaultdict(list)
    for record in b.records:
        of_b[record.name, record.process, record.turns].append(record)
    seen: dict[tuple[object, ...], int] = defaultdict(int)
    for record in a.records:
        key = pairs.get(record.name), record.process, record.turns
        position, seen[key] = seen[key], seen[key] + 1
        if position < len(of_b.get(key, ())):
            yield record, of_b[key][position]


def _first(trace: Trace) -> list[Record]:
    """Return one record of each value, in the order in which they are first computed."""
    found: dict[str, Record] = {}
    for record in trace.records:
        found.setdefault(record.name, record)
    return list(found.values())


def _names(a: Sequence[Record], b: Sequence[Record]) -> Iterator[tuple[str, str]]:
    if [(r.name, r.op, r.type) for r in a] == [(r.name, r.op, r.type) for r in b]:
        return ((record.name, record.name) for record in a)
    if all(any(record.type for record in records) for records in (a, b)):
        return _aligned(a, b)
    names = {name: record.name for record in b for name in (*record.names, record.name)}  # one is an archive
    found = ((r.name, next(filter(None, map(names.get, (r.name, *r.names))), None)) for r in a)
    return ((name, other) for name, other in found if other is not None)


def _aligned(a: Sequence[Record], b: Sequence[Record]) -> Iterator[tuple[str, str]]:
    """Yield the names of values that belong together: the unique ones by what they are called, then by alignment."""
    of_a, of_b = _unique(a), _unique(b)
    certain = {record.name: of_b[key].name for key, record in of_a.items() if key in of_b}
    yield from certain.items()
    taken = set(certain.values())
    rest_a = [record for record in a if record.name not in certain]
    rest_b = [record for record in b if record.name not in taken]
    if len(rest_a) * len(rest_b) > MOST_COMPARED:
        return
    keys_a, keys_b = ([(record.op, record.type) for record in rest] for rest in (rest_a, rest_b))
    for start_a, start_b, size in SequenceMatcher(None, keys_a, keys_b, autojunk=False).get_matching_blocks():
        for offset in range(size):
            yield rest_a[start_a + offset].name, rest_b[start_b + offset].name


def _unique(records: Sequence[Record]) -> dict[tuple[object, ...], Record]:
    """Return the records that their op, type, location in the model and name in the text tell from all others."""
    found: dict[tuple[object, ...], list[Record]] = defaultdict(list)
    for record in records:
        if record.model_location is not None or _is_named(record.name):
            name = record.name if _is_named(record.name) else ""
            found[record.op, record.type, record.model_location, name].append(record)
    return {key: same[0] for key, same in found.items() if len(same) == 1}


def _is_named(name: str) -> bool:
    """Return whether a name is one that a person gave, `%log`, rather than a number, `%12`."""
    local = name.rpartition("/")[2].lstrip("%#")
    return not local.partition("#")[0].isdecimal()
