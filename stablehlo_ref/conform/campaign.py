"""Campaigns: many cases, judged by several processes, with the verdicts in one SQLite file from which they are resumed."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, islice
from multiprocessing import get_context
from pathlib import Path
from time import monotonic

from stablehlo_ref.conform import cases
from stablehlo_ref.conform.verdicts import Cell, Record, judge
from stablehlo_ref.debug.contract import contract_of
from stablehlo_ref.debug.session import Session

SHARD = 25  # cases that a worker is given at a time

Show = Callable[[int, int], None]  # the number of cases that were judged, and of all


@dataclass(frozen=True)
class Profile:
    """How many cases a campaign has, and how long it may take."""

    exhaustive: float  # the fraction of all cases
    rounds: int
    chains: int
    invalid: int
    seconds: float
    most: int = 1 << 30

    def names(self, ops: Sequence[str]) -> list[str]:
        """Return the names of the cases: all of a type's values first, then ops, chains, and what must be rejected."""
        every = list(cases.exhaustive(ops))
        step = round(1 / self.exhaustive) if self.exhaustive else len(every) + 1
        found = chain(
            every[::step],
            cases.single(ops, self.rounds),
            cases.chains((2, 3, 5, 8), self.chains),
            cases.invalid(ops, self.invalid),
        )
        return list(islice(found, self.most))


PROFILES = {
    "smoke": Profile(0.1, 1, 100, 0, 110.0),
    "pr": Profile(1.0, 1, 500, 1, 570.0),
    "nightly": Profile(1.0, 4, 4000, 3, float("inf"), 20_000),
}


@dataclass(frozen=True)
class Settings:
    """The backend of a campaign as `diff` takes it, the contract, and the time of each case."""

    backend: str
    contract: str = "strict"
    seconds: float = 30.0
    python: str = ""


# --- workers ----------------------------------------------------------------------------------------------------------

_sessions: dict[Settings, Session] = {}  # of this process


def judge_shard(settings: Settings, names: Sequence[str]) -> list[Record]:
    """Judge cases in this process, whose session with the backend is kept."""
    session = _sessions.get(settings)
    if session is None:
        session = _sessions[settings] = Session(settings.backend, seconds=settings.seconds, python=settings.python)
    contract = contract_of(settings.contract)
    return [judge(name, session, contract) for name in names]


# --- the file ---------------------------------------------------------------------------------------------------------


class Results:
    """The verdicts of a campaign in a SQLite file, or in memory for ":memory:"."""

    def __init__(self, path: Path | str = ":memory:") -> None:
        self._file = sqlite3.connect(path)
        self._file.execute(
            "CREATE TABLE IF NOT EXISTS records (name TEXT PRIMARY KEY, cell TEXT, detail TEXT, seconds REAL)"
        )

    def add(self, records: Iterable[Record]) -> None:
        """Store records; those of a name that is there are replaced."""
        rows = [(r.name, r.cell.value, r.detail, r.seconds) for r in records]
        with self._file:
            self._file.executemany("INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?)", rows)

    def records(self) -> dict[str, Record]:
        """Return all records by the names of cases."""
        rows = self._file.execute("SELECT name, cell, detail, seconds FROM records ORDER BY rowid")
        return {name: Record(name, Cell(cell), detail, seconds) for name, cell, detail, seconds in rows}

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
) -> None:
    """Judge the cases that have no verdict yet; stop after `seconds`.

    Any `concurrent.futures.Executor` runs the shards, by default `jobs` processes. A worker that dies loses the case
    that it was at, which is recorded, and nothing else.
    """
    known = results.records()
    left = [name for name in names if name not in known]
    shards = [left[i : i + SHARD] for i in range(0, len(left), SHARD)]
    done, end = len(names) - len(left), monotonic() + seconds
    if executor is not None:
        for records in _submitted(executor, settings, shards, end, 2 * jobs):
            results.add(records)
            show(done := done + len(records), len(names))
        return
    while shards and monotonic() < end:
        with closing(_Pool(jobs)) as pool:
            try:
                for records in _submitted(pool.executor, settings, shards, end, 2 * jobs):
                    results.add(records)
                    show(done := done + len(records), len(names))
                return
            except BrokenProcessPool:
                pass
        judged = results.records()
        shards = [rest for shard in shards if (rest := [name for name in shard if name not in judged])]
        if shards and len(shards[0]) == 1:  # the case at which a worker died, alone
            results.add([Record(shards[0][0], Cell.UNTESTED, "the process that judged the case died")])
            shards = shards[1:]
        else:
            shards = [[name] for name in shards[0]] + shards[1:] if shards else []


class _Pool:
    def __init__(self, jobs: int) -> None:
        self.executor = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"))

    def close(self) -> None:
        self.executor.shutdown(wait=True, cancel_futures=True)


def _submitted(
    executor: Executor, settings: Settings, shards: Sequence[Sequence[str]], end: float, most: int
) -> Iterator[list[Record]]:
    """Yield the records of shards as they come, with `most` shards under way; no new ones after `end`."""
    waiting = iter(shards)
    pending: set[Future[list[Record]]] = {
        executor.submit(judge_shard, settings, list(shard)) for shard in islice(waiting, most)
    }
    while pending:
        finished, pending = wait(pending, return_when="FIRST_COMPLETED")
        for future in finished:
            yield future.result()
        if monotonic() < end:
            pending |= {executor.submit(judge_shard, settings, list(s)) for s in islice(waiting, len(finished))}
        else:
            for future in pending:
                future.cancel()
            pending = {future for future in pending if not future.cancelled()}
