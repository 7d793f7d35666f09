"""Campaigns: many cases, judged by several processes, or written to files for backends that no process here can call.

A SQLite file keeps the verdicts, so that campaigns can be resumed.
"""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread, local
from time import monotonic
from typing import Any

import numpy as np

from stablehlo_ref._version import __version__
from stablehlo_ref.argument_types import check_fields, shown
from stablehlo_ref.arrays.files import array_errors, map_array
from stablehlo_ref.arrays.host_values import as_numpy_loads, as_numpy_saves
from stablehlo_ref.conform import cases
from stablehlo_ref.conform.cases import Case, case
from stablehlo_ref.conform.members import COMMON
from stablehlo_ref.conform.report import Known
from stablehlo_ref.conform.verdicts import Cell, Record, Recorded, judge
from stablehlo_ref.debug.bounds.ball import overflowed
from stablehlo_ref.debug.contract import Contract, contract_of
from stablehlo_ref.debug.cut import Flat
from stablehlo_ref.debug.evaluate import Evaluator
from stablehlo_ref.debug.explain import bounds_of
from stablehlo_ref.debug.session import Outcome, Session
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.diagnostics import EvaluationError, StablehloError, file_errors
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.limits import Limits
from stablehlo_ref.limits.budget import limited
from stablehlo_ref.limits.files import read_text
from stablehlo_ref.numerics.dtypes import element_type_of
from stablehlo_ref.reading.parsing import parse

ENDING = (Cell.REFUSES, Cell.DIES, Cell.HANGS)
SHARD = 5  # cases that a worker is given at a time

Show = Callable[[int, int], None]  # the number of cases that were judged, and of all

COMMON_NAMES = [*map(str, COMMON)]
LENGTHS = (2, 3, 5, 8)  # of chains


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
        queues = [[name for turn in zip_longest(*self._kinds(op)) for name in turn if name] for op in ops]
        turns = [list(filter(None, turn)) for turn in zip_longest(*queues)]
        chains = [f"chain/{LENGTHS[number % len(LENGTHS)]}/{number}" for number in range(self.chains)]
        each = -(-len(chains) // max(len(turns), 1))
        found = [name for i, turn in enumerate(turns) for name in (*turn, *chains[i * each : (i + 1) * each])]
        return found[: self.most]

    def _kinds(self, op: str) -> tuple[list[str], list[str], list[str]]:
        """Return the cases of an op on element types, of other kinds, and invalid ones; common types are first."""
        definition, rounds = REGISTRY[op], range(self.rounds)
        elements = [name for name, element in cases.ELEMENTS.items() if cases.takes(definition, element)]
        single = [f"op/{op}/{element}/{number}" for number in rounds for element in elements]
        common = [name for name in single if name.split("/")[2] in COMMON_NAMES][: len(COMMON_NAMES)]
        start = zlib.crc32(op.encode()) % max(len(common), 1)  # so that other ops have other types at first
        ordered = dict.fromkeys([*common[start:], *common[:start], *single])
        common = [element for element in COMMON_NAMES if element in elements and not cases.runs_in_grid(op)]
        others = [f"dynamic/{op}/{common[number % len(common)]}/{number}" for number in rounds if common]
        full = [name for name, element in cases.ELEMENTS.items() if cases.operands_of_each_value(definition, element)]
        others += [f"exhaustive/{op}/{element}/0" for element in full]
        labels = cases.labels_of(definition)
        return list(ordered), others, [f"invalid/{op}/{label}/{n}" for n in range(self.invalid) for label in labels]


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
    max_total_bytes: int | None = None  # of the interpreter's runs


# --- workers ----------------------------------------------------------------------------------------------------------

_sessions: dict[Settings, Session] = {}  # of this process


def judge_shard(settings: Settings, names: Sequence[str]) -> list[Record]:
    """Judge cases in this process, whose session with the backend is kept."""
    session = _sessions.get(settings)
    if session is None:
        session = _sessions[settings] = Session(settings.backend, seconds=settings.seconds, python=settings.python)
    contract = contract_of(settings.contract)
    covered = {name for name in names for entry in settings.known if entry.covers(Record(name, Cell.FAIL))}
    given = {} if settings.max_total_bytes is None else {"max_total_bytes": settings.max_total_bytes}
    with limited(Limits(**given)):
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

    Any `concurrent.futures.Executor` runs the shards, `jobs` at a time, by default as many processes. A worker that
    dies loses the case that it was at, which is recorded, and nothing else.
    """
    worker = _Worker(partial(judge_names, settings), executor, monotonic() + seconds)
    threads = ThreadPoolExecutor(jobs)

    def judge_all(names: Sequence[str]) -> None:
        left = _left(names, results)
        shards = [left[i : i + SHARD] for i in range(0, len(left), SHARD)]
        done = len(names) - len(left)
        for future in as_completed([threads.submit(worker, shard) for shard in shards]):
            results.add(records := future.result())
            show(done := done + len(records), len(names))

    try:
        judge_all([name for name in names if _first_of(name) == name])
        cells = {name: record.cell for name, record in results.records().items()}
        blocked = [name for name in _left(names, results) if cells.get(_first_of(name)) in ENDING]
        details = {name: f"{cells[_first_of(name)].value}, as {_first_of(name)}" for name in blocked}
        results.add(Record(name, Cell.BLOCKED, detail) for name, detail in details.items())
        judge_all(names)
    finally:
        worker.end = 0.0  # also after an interrupt
        threads.shutdown(cancel_futures=True)


def _first_of(name: str) -> str:
    """Return the name of the case that blocks one of the same op and type, if it fails: by default itself."""
    start, _, number = name.rpartition("/")
    return f"{start}/0" if number == "1" and name.startswith("op/") else name


def _left(names: Sequence[str], results: Results) -> list[str]:
    known = results.records()
    return [name for name in names if name not in known]


class _Worker:
    """Has shards judged on an executor, or on a process of this machine for each thread; none after `end`.

    The cases of a shard that is lost, with its process or with a worker of a cluster, are judged one by one.
    """

    def __init__(self, judged: Callable[[Sequence[str]], list[Record]], executor: Executor | None, end: float) -> None:
        self.end = end
        self._judged = judged
        self._executor = executor
        self._own = local()

    def __call__(self, names: Sequence[str]) -> list[Record]:
        if monotonic() >= self.end:
            return []
        executor = self._executor or getattr(self._own, "process", None)
        if executor is None:
            executor = self._own.process = ProcessPoolExecutor(
                1, mp_context=get_context("spawn"), initializer=_end_with_parent
            )
        try:
            return executor.submit(self._judged, list(names)).result()
        except Exception as error:
            self._own.process = None
            if len(names) > 1:
                return [record for name in names for record in self([name])]
            return [Record(names[0], Cell.UNTESTED, f"the case was lost: {type(error).__name__}: {error}")]


def _end_with_parent() -> None:
    """Let this process end when the one that started it does, also if that is killed; so do its backend's processes."""

    def watch() -> None:
        if (parent := parent_process()) is not None:
            parent.join()
            os._exit(1)

    Thread(target=watch, daemon=True).start()


# --- cases as files ---------------------------------------------------------------------------------------------------

# `export` writes a folder with `index.json`, which docs/how-to/judge-offline.md describes: for each case a program
# (`.mlirbc`, a portable artifact), inputs, expected results and bounds (`.npy`). `judge_files` reads results from
# another folder: `000012.0.npy` is the first of case 000012, and `000012.txt` says that there are none, and why.

FORMAT = 1
MAX_DIGITS = 18  # of the number of a case
INDEX = "index.json"
FAILURES = ("refused", "died", "timed out", "unstable")  # with which a .txt file may begin


def export(
    folder: Path, names: Sequence[str], contract: str = "strict", target: str = "current",
    show: Show = lambda done, total: None,
) -> tuple[int, int]:  # fmt: skip
    """Write cases to a folder; return how many, and how many of the names are left out.

    These have no program, or one that `target` lacks, or take or return something else than tensors. Programs of
    several ops are left out too, since verdicts on these need intermediate values.
    """
    rules = contract_of(contract)
    entries: list[dict[str, Any]] = []
    with file_errors(folder, f"write {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        for number, name in enumerate(names):
            made = None if name.startswith("chain/") else case(name)
            entry = None if made is None else _written(folder, f"{len(entries):06d}", made, rules, target)
            entries += [entry] if entry is not None else []
            show(number + 1, len(names))
        index = {
            "format": FORMAT,
            "stablehlo_ref": __version__,
            "target": target,
            "contract": contract,
            "cases": entries,
        }
        (folder / INDEX).write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")
    return len(entries), len(names) - len(entries)


def _written(folder: Path, id: str, made: Case, contract: Contract, target: str) -> dict[str, Any] | None:
    """Write the files of a case and return its entry in the index; None if that is not possible."""
    if made.broken:
        (folder / f"{id}.mlir").write_text(made.text, encoding="utf-8")
        return {"id": id, "name": made.name, "program": f"{id}.mlir", "rejected_by": made.broken}
    try:
        flat = Flat(made.program)
        if len(flat.ops) > 1:
            return None
        is_portable = "chlo." not in made.text  # there is no portable form of other dialects
        artifact = parse(made.text).serialize(target) if is_portable else made.text.encode()
        inputs, expected = (list(map(np.asarray, arrays)) for arrays in (made.inputs, made.expected))
        stored = [_stored(folder, f"{id}.in{i}.npy", array) for i, array in enumerate(inputs)]
        outputs = [_stored(folder, f"{id}.expected{i}.npy", array) for i, array in enumerate(expected)]
        bounds = bounds_of(flat, inputs, contract, Evaluator(flat))
    except (StablehloError, TypeError):  # the type of a token or a tuple is no element type
        return None
    for number, (output, bound, result) in enumerate(zip(outputs, bounds, expected)):
        if bound.is_known and bound.center.dtype.kind in "fc":
            known = overflowed(bound, result.dtype)
            for part, array in (("center", known.center), ("radius", np.broadcast_to(known.radius, result.shape))):
                np.save(folder / f"{id}.{part}{number}.npy", array)
                output[part] = f"{id}.{part}{number}.npy"
    file = f"{id}.{'mlirbc' if is_portable else 'mlir'}"
    (folder / file).write_bytes(artifact)
    return {"id": id, "name": made.name, "program": file, "inputs": stored, "outputs": outputs}


def _stored(folder: Path, name: str, array: Array) -> dict[str, Any]:
    """Write an array, and return how: types that numpy lacks are written as the bits of their elements."""
    saved, element = as_numpy_saves(array), str(element_type_of(array.dtype))
    np.save(folder / name, saved)
    stored = "numbers" if saved is array else "bits"
    return {"file": name, "element_type": element, "shape": list(array.shape), "stored": stored}


def judge_files(folder: Path, outputs: Path, contract: str | None = None) -> Iterator[Record]:
    """Yield the verdicts on the results in a folder, under the contract of the index unless another is given.

    They are those of a campaign that runs the backend. Cases without files are untested.
    """
    with file_errors(folder / INDEX, f"read {folder / INDEX}"):
        text = read_text(folder / INDEX)
    try:
        index = json.loads(text)
        entries = [(_id(entry["id"]), str(entry["name"])) for entry in index["cases"]]
        rules = contract_of(contract or index["contract"])
        version, format = index["stablehlo_ref"], index["format"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise EvaluationError(f"{folder / INDEX}: not an index of cases: {error}") from None
    if (format, version) != (FORMAT, __version__):
        raise EvaluationError(
            f"{folder / INDEX}: expected cases of stablehlo_ref {__version__}, got those of {version}: names stand for "
            "other programs there"
        )
    for id, name in entries:
        outcome = _outcome(outputs, id, name)
        yield Record(name, Cell.UNTESTED, "no results") if outcome is None else judge(name, Recorded(outcome), rules)


def _id(given: object) -> str:
    """Return the number of a case, the start of names of files; ValueError for anything else."""
    if not (isinstance(given, str) and given.isdecimal() and len(given) <= MAX_DIGITS):
        raise ValueError(f"expected an id such as '000012', got {shown(given)}")
    return given


def _outcome(outputs: Path, id: str, name: str) -> Outcome | None:
    """Return the outcome of a case, as the files of the backend say; None if there are none."""
    with suppress(FileNotFoundError), file_errors(path := outputs / f"{id}.txt", f"read {path}"):
        kind, _, reason = read_text(path, errors="replace").strip().partition(":")
        return Outcome((), kind, reason.strip()) if kind in FAILURES else Outcome((), "refused", f"{kind}: {reason}")
    made = case(name)
    if made is None:
        return None
    if made.broken:
        return Outcome() if (outputs / f"{id}.0.npy").exists() else None
    results = []
    for number, expected in enumerate(map(np.asarray, made.expected)):
        path = outputs / f"{id}.{number}.npy"
        if not path.exists():
            return None
        with array_errors(path):
            results.append(as_numpy_loads(map_array(path), expected.dtype))
    return Outcome(tuple(results))
