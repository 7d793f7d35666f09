"""Campaigns: many cases, judged by several processes. A SQLite file keeps the verdicts, so that they can be resumed."""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from itertools import zip_longest
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from time import monotonic

from stablehlo_ref.argument_types import check_fields
from stablehlo_ref.conform import cases
from stablehlo_ref.conform.known import Known
from stablehlo_ref.conform.members import COMMON
from stablehlo_ref.conform.verdicts import Cell, Record, judge
from stablehlo_ref.debug.contract import contract_of
from stablehlo_ref.debug.session import Session
from stablehlo_ref.diagnostics import ArgumentValueError, EvaluationError
from stablehlo_ref.suggestions import did_you_mean

ENDING = (Cell.REFUSES, Cell.DIES, Cell.HANGS)
SHARD = 5  # cases that a worker is given at a time

Judged = Callable[[Sequence[str]], list[Record]]
Show = Callable[[int, int], None]  # the number of cases that were judged, and of all


COMMON_NAMES = [*map(str, COMMON)]


@dataclass(frozen=True)
class Profile:
    """How many cases a campaign has, and how long it may take."""

    rounds: int  # of each op on each element type
    chains: int
    invalid: int  # programs that break each constraint
    seconds: float
    most: int = 1 << 30

    def names(self, ops: Sequence[str]) -> list[str]:
        """Return the names of the cases: of each op in turn, so that all are judged if time runs out."""
        queues = [_alternating(*self._kinds(op)) for op in ops]
        turns = [list(filter(None, turn)) for turn in zip_longest(*queues)]
        chains = list(cases.chains((2, 3, 5, 8), self.chains))
        each = -(-len(chains) // max(len(turns), 1))
        found = [name for i, turn in enumerate(turns) for name in (*turn, *chains[i * each : (i + 1) * each])]
        return found[: self.most]

    def _kinds(self, op: str) -> tuple[list[str], list[str], list[str]]:
        """Return the cases of an op on element types, of other kinds, and invalid ones; common types are first."""
        single = list(cases.single([op], self.rounds))
        common = [name for name in single if name.split("/")[2] in COMMON_NAMES][: len(COMMON_NAMES)]
        start = zlib.crc32(op.encode()) % max(len(common), 1)  # so that other ops have other types at first
        ordered = dict.fromkeys([*common[start:], *common[:start], *single])
        others = [*cases.dynamic([op], self.rounds), *cases.exhaustive([op])]
        return list(ordered), others, list(cases.invalid([op], self.invalid))


def _alternating(*queues: Sequence[str]) -> list[str]:
    return [name for turn in zip_longest(*queues) for name in turn if name is not None]


def select(patterns: Sequence[str], known: Sequence[str] = ()) -> list[str]:
    """Return the ops that patterns with wildcards select, of all or of those that are `known`; all for no pattern.

    `add` is `stablehlo.add`, and `erf` is `chlo.erf`. ArgumentValueError for a pattern that selects none.
    """
    ops, found = known or cases.names_of_ops(), list[str]()
    for pattern in patterns:
        forms = ((pattern, f"stablehlo.{pattern}"), (f"*.{pattern}",))
        matching = next(
            filter(None, ([op for op in ops if any(fnmatchcase(op, f) for f in form)] for form in forms)), []
        )
        if not matching:
            names = [*ops, *(op.partition(".")[2] for op in ops)]
            raise ArgumentValueError(f"there is no op {pattern!r}{did_you_mean(pattern, names)}")
        found += matching
    return list(dict.fromkeys(found or ops))


PROFILES = {
    "smoke": Profile(1, 200, 1, 110.0),
    "pr": Profile(2, 500, 1, 570.0),
    "nightly": Profile(4, 4000, 3, float("inf"), 20_000),
}


@dataclass(frozen=True)
class Settings:
    """The backend of a campaign as `diff` takes it, the contract, the time of each case, and the known failures."""

    backend: str
    contract: str = "strict"
    seconds: float = 30.0
    python: str = ""
    known: tuple[Known, ...] = ()


# --- workers ----------------------------------------------------------------------------------------------------------

_sessions: dict[Settings, Session] = {}  # of this process


def judge_shard(settings: Settings, names: Sequence[str]) -> list[Record]:
    """Judge cases in this process, whose session with the backend is kept."""
    session = _sessions.get(settings)
    if session is None:
        session = _sessions[settings] = Session(settings.backend, seconds=settings.seconds, python=settings.python)
    contract = contract_of(settings.contract)
    covered = {name for name in names for entry in settings.known if entry.covers(Record(name, Cell.FAIL))}
    return [judge(name, session, contract, is_known=name in covered) for name in names]


JudgeNames = Callable[[Settings, Sequence[str]], list[Record]]

# --- the file ---------------------------------------------------------------------------------------------------------


class Results:
    """The verdicts of a campaign in a SQLite file, or in memory for ":memory:"."""

    def __init__(self, path: Path | str = ":memory:") -> None:
        self._path = path
        with self._errors():
            self._file = sqlite3.connect(path)
            self._file.execute(
                "CREATE TABLE IF NOT EXISTS records"
                " (name TEXT PRIMARY KEY, cell TEXT, detail TEXT, seconds REAL, uses TEXT)"
            )

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Convert what sqlite3 raises, and the errors of values that are no verdicts, to EvaluationError."""
        try:
            yield
        except (sqlite3.Error, ValueError, TypeError, AttributeError) as error:
            raise EvaluationError(f"cannot keep verdicts in {self._path}: {error}") from None

    def add(self, records: Iterable[Record]) -> None:
        """Store records; those of a name that is there are replaced."""
        rows = [(r.name, r.cell.value, r.detail, r.seconds, " ".join(r.uses)) for r in records]
        with self._errors(), self._file:
            self._file.executemany("INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?)", rows)

    def records(self) -> dict[str, Record]:
        """Return all records by the names of cases."""
        with self._errors():
            rows = self._file.execute("SELECT name, cell, detail, seconds, uses FROM records ORDER BY rowid")
            found = [
                Record(n, Cell(cell), detail, seconds, tuple(uses.split())) for n, cell, detail, seconds, uses in rows
            ]
            for record in found:
                check_fields(record)
        return {record.name: record for record in found}

    def close(self) -> None:
        """Close the file."""
        self._file.close()


# --- running ----------------------------------------------------------------------------------------------------------


def run(
    names: Sequence[str],
    settings: Settings,
    results: Results,
    *,
    executor: Executor | None = None,
    jobs: int = 1,
    seconds: float = float("inf"),
    show: Show = lambda done, total: None,
    judge_names: JudgeNames = judge_shard,
) -> None:
    """Judge the cases that have no verdict yet; no new ones after `seconds`.

    The second case of an op and a type, which has the op several times, is blocked if the first one was refused or did
    not end.

    Any `concurrent.futures.Executor` runs the shards, by default `jobs` processes. A worker that dies loses the case
    that it was at, which is recorded, and nothing else.
    """
    end = monotonic() + seconds
    firsts = [name for name in names if _first_of(name) == name]
    _run_all(firsts, results, executor, jobs, end, partial(judge_names, settings), show)
    cells = {name: record.cell for name, record in results.records().items()}
    blocked = [name for name in _left(names, results) if cells.get(_first_of(name)) in ENDING]
    results.add(Record(name, Cell.BLOCKED, f"{cells[_first_of(name)].value}, as {_first_of(name)}") for name in blocked)
    _run_all(names, results, executor, jobs, end, partial(judge_names, settings), show)


def _first_of(name: str) -> str:
    """Return the name of the case that blocks one of the same op and type, if it fails: by default itself."""
    start, _, number = name.rpartition("/")
    return f"{start}/0" if number == "1" and name.startswith("op/") else name


def _run_all(
    names: Sequence[str], results: Results, executor: Executor | None, jobs: int, end: float, judged: Judged, show: Show
) -> None:
    most = 2 * jobs
    while (left := _left(names, results)) and monotonic() < end:
        shards = [left[i : i + SHARD] for i in range(0, len(left), SHARD)]
        with _pool(jobs) if executor is None else nullcontext(executor) as pool:
            try:
                for records in _submitted(pool, judged, shards, end, most):
                    results.add(records)
                    show(len(names) - len(_left(names, results)), len(names))
                return
            except BrokenProcessPool:
                if executor is not None:
                    raise
        for name in _left(names, results)[: most * SHARD]:  # among which is one at which a process died
            if monotonic() < end:
                results.add(_judged_alone(name, judged))


def _left(names: Sequence[str], results: Results) -> list[str]:
    known = results.records()
    return [name for name in names if name not in known]


def _judged_alone(name: str, judged: Judged) -> list[Record]:
    with _pool(1) as pool:
        try:
            return pool.submit(judged, [name]).result()
        except BrokenProcessPool:
            return [Record(name, Cell.UNTESTED, "the process that judged the case died")]


def _end_with_parent() -> None:
    """Let this process end when the one that started it does, also if that is killed; so do its backend's processes."""

    def watch() -> None:
        if (parent := parent_process()) is not None:
            parent.join()
            os._exit(1)

    Thread(target=watch, daemon=True).start()


def _pool(jobs: int) -> Executor:
    return ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_end_with_parent)


def _submitted(
    executor: Executor, judged: Judged, shards: Sequence[Sequence[str]], end: float, most: int
) -> Iterator[list[Record]]:
    """Yield the records of shards as they come, with `most` shards under way; no new ones after `end`.

    The cases of a shard that is lost, as with a worker of a cluster, are judged alone.
    """
    waiting, pending = deque(shards), dict[Future[list[Record]], Sequence[str]]()
    while True:
        while waiting and len(pending) < most and monotonic() < end:
            shard = waiting.popleft()
            pending[executor.submit(judged, list(shard))] = shard
        if not pending:
            return
        for future in wait(pending, return_when="FIRST_COMPLETED").done:
            shard = pending.pop(future)
            error = future.exception()
            if isinstance(error, BrokenProcessPool):
                raise error
            if error is None:
                yield future.result()
            elif len(shard) > 1:
                waiting.extendleft([name] for name in reversed(shard))
            else:
                yield [Record(shard[0], Cell.UNTESTED, f"the case was lost: {type(error).__name__}: {error}")]
        if monotonic() >= end:
            pending = {future: shard for future, shard in pending.items() if not future.cancel()}
