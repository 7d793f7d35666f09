"""Which values of two traces belong together, also where their programs differ a little."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import TypeAlias

from stablehlo_ref.debug.traces.trace import Record, Trace

MOST_COMPARED = 30_000_000  # pairs of values, up to which sequences are aligned

Key: TypeAlias = tuple[object, ...]


def match(a: Trace, b: Trace) -> Iterator[tuple[Record, Record]]:
    """Yield the records that belong together, in the order of `a`.

    Values of the same name, op and type in the same order belong together. If the programs differ, those with the same
    location in the model or the same name in it do, and of the rest those that an alignment of the sequences of ops
    finds. What an `.npz` file has is found by name. Records of one value are told apart by their process and turns.
    """
    pairs = dict(_names(_first(a), _first(b)))
    of_b: dict[Key, list[Record]] = defaultdict(list)
    for record in b.records:
        of_b[record.name, record.process, record.turns].append(record)
    seen: dict[Key, int] = defaultdict(int)
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
    if _is_archive(a) or _is_archive(b):
        return _by_any_name(a, b)
    if [(r.name, r.op, r.type) for r in a] == [(r.name, r.op, r.type) for r in b]:
        return ((record.name, record.name) for record in a)
    return _aligned(a, b)


def _is_archive(records: Sequence[Record]) -> bool:
    return not any(record.type for record in records)


def _by_any_name(a: Sequence[Record], b: Sequence[Record]) -> Iterator[tuple[str, str]]:
    names = {name: record.name for record in b for name in (*record.names, record.name)}
    for record in a:
        found = next((names[name] for name in (record.name, *record.names) if name in names), None)
        if found is not None:
            yield record.name, found


def _aligned(a: Sequence[Record], b: Sequence[Record]) -> Iterator[tuple[str, str]]:
    """Yield the names of values that belong together: the unique ones by what they are called, then by alignment."""
    certain = {record.name: other.name for record, other in _by_unique_key(a, b)}
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


def _by_unique_key(a: Sequence[Record], b: Sequence[Record]) -> Iterator[tuple[Record, Record]]:
    of_a, of_b = _unique(a), _unique(b)
    for key, record in of_a.items():
        if key in of_b:
            yield record, of_b[key]


def _unique(records: Sequence[Record]) -> dict[Key, Record]:
    """Return the records that their op, type, location in the model and name in the text tell from all others."""
    found: dict[Key, list[Record]] = defaultdict(list)
    for record in records:
        if record.model_location is not None or _is_named(record.name):
            name = record.name if _is_named(record.name) else ""
            found[record.op, record.type, record.model_location, name].append(record)
    return {key: same[0] for key, same in found.items() if len(same) == 1}


def _is_named(name: str) -> bool:
    """Return whether a name is one that a person gave, `%log`, rather than a number, `%12`."""
    local = name.rpartition("/")[2].lstrip("%#")
    return not local.partition("#")[0].isdecimal()
