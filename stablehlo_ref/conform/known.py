"""Known failures: faults of a backend that a file names, so that a campaign fails for new ones only.

The file is TOML, with one table for each fault:

    [[known]]
    op = "stablehlo.tanh"       # with wildcards
    type = "f8*"                # with wildcards; any if left out
    reason = "https://github.com/openxla/xla/issues/1"

An entry that no case needs any more is reported, once all of its cases are judged: it is healed.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from stablehlo_ref.conform.verdicts import Cell, Record
from stablehlo_ref.diagnostics import EvaluationError, file_errors
from stablehlo_ref.limits.files import read_text


@dataclass(frozen=True)
class Known:
    """An entry: which cases may fail, and why."""

    op: str
    type: str
    reason: str

    def covers(self, record: Record) -> bool:
        """Return whether the entry is about the op and the element type of a record."""
        return fnmatchcase(record.op, self.op) and fnmatchcase(record.element, self.type)

    def __str__(self) -> str:
        return f"{self.op} {self.type}: {self.reason}"


def read_known(path: Path) -> list[Known]:
    """Return the entries of a file; EvaluationError if it cannot be read or has something else."""
    with file_errors(path, f"read {path}"):
        text = read_text(path)
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise EvaluationError(f"{path}: {error}") from None
    entries = document.get("known", [])
    found = []
    for number, entry in enumerate(entries if isinstance(entries, list) else [entries], 1):
        if not isinstance(entry, dict) or not {"op", "reason"} <= entry.keys() <= {"op", "type", "reason"}:
            raise EvaluationError(f"{path}: entry {number} of 'known': expected op, reason, and maybe type")
        if not all(isinstance(value, str) for value in entry.values()):
            raise EvaluationError(f"{path}: entry {number} of 'known': expected texts")
        found.append(Known(entry["op"], entry.get("type", "*"), entry["reason"]))
    return found


def split(
    records: Mapping[str, Record], known: Sequence[Known], left: Iterable[str] = ()
) -> tuple[list[Record], list[Known]]:
    """Return the bad records that no entry covers, and the entries that are healed.

    These cover cases but no bad one, and none of those that are `left`, for which there was no time.
    """
    bad = [record for record in records.values() if record.cell.is_bad]
    open = [*bad, *(Record(name, Cell.UNTESTED) for name in left)]
    new = [record for record in bad if not any(entry.covers(record) for entry in known)]
    healed = [
        entry
        for entry in known
        if any(entry.covers(record) for record in records.values()) and not any(entry.covers(record) for record in open)
    ]
    return new, healed
