"""Ask what `reduce` looks for: what a command accepts, what a pass changes, or how a backend goes wrong.

Calls are cached, counted, in parallel, and kept in a directory from which a search can go on.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import signal
import subprocess
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from queue import Queue

import numpy as np

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.debug.backends import command_files, save_arrays
from stablehlo_ref.debug.contract import Contract, contract_of
from stablehlo_ref.debug.diff import Diff, diff
from stablehlo_ref.debug.diff_passes import differences
from stablehlo_ref.debug.fused import words_of
from stablehlo_ref.debug.session import Session
from stablehlo_ref.diagnostics import ArgumentValueError, EvaluationError, LimitError, StablehloError, file_errors
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.limits import Limits
from stablehlo_ref.limits.budget import check_time, time_left
from stablehlo_ref.limits.files import read_text
from stablehlo_ref.program import Program
from stablehlo_ref.reading.loading import load

Predicate = Callable[[str, Sequence[Array]], Hashable]  # from a program and its inputs to a fingerprint, or None


class OutOfCalls(Exception):
    """The limit of calls is reached."""


@dataclass(frozen=True, eq=False)
class Variant:
    """A program and its inputs."""

    program: Program
    inputs: tuple[Array, ...]

    @cached_property
    def text(self) -> str:
        """The program as MLIR text."""
        return str(self.program)

    @cached_property
    def key(self) -> str:
        """A hash of the text and the inputs."""
        digest = hashlib.sha256(self.text.encode())
        for array in self.inputs:
            digest.update(f"{array.dtype}{array.shape}".encode() + array.tobytes())
        return digest.hexdigest()


class CachedPredicate:
    """Asks a predicate, each candidate once, for at most `max_calls` times; `jobs` calls at a time.

    Answers are also kept in the file `answers.jsonl` of `folder`, the best candidate in `best.mlir` and `best.npz`.
    """

    def __init__(self, predicate: Predicate, max_calls: int, jobs: int, folder: Path | None) -> None:
        self.calls = 0
        self._predicate = predicate
        self._max_calls = max_calls
        self._jobs = jobs
        self._folder = folder
        self._answers: dict[str, str] = {}
        if folder is not None:
            with file_errors(folder, "keep answers"):
                folder.mkdir(parents=True, exist_ok=True)
                self._answers = _read(folder / "answers.jsonl")

    def answer(self, candidate: Variant) -> str:
        """Return the text of the fingerprint of a candidate, "None" for none."""
        if candidate.key not in self._answers:
            self._keep(candidate, self.answer_again(candidate))
        return self._answers[candidate.key]

    def answer_again(self, candidate: Variant) -> str:
        """Return what a call of the predicate returns now; OutOfCalls at the limit of their number or of the time."""
        if self.calls >= self._max_calls:
            raise OutOfCalls
        self.calls += 1
        try:
            answer = repr(self._predicate(candidate.text, candidate.inputs))
            check_time("the search")  # as the predicate may take any error for an answer
        except LimitError:
            raise OutOfCalls from None
        return answer

    def first(self, candidates: Sequence[Variant], fingerprint: str) -> Variant | None:
        """Return the first candidate in order that has a fingerprint; more than one job look ahead."""
        for start in range(0, len(candidates), self._jobs):
            batch = candidates[start : start + self._jobs]
            self._look_ahead(batch)
            for candidate in batch:
                if self.answer(candidate) == fingerprint:
                    return candidate
        return None

    def _look_ahead(self, batch: Sequence[Variant]) -> None:
        unknown = [c for c in {c.key: c for c in batch}.values() if c.key not in self._answers]
        unknown = unknown[: self._max_calls - self.calls]
        if len(unknown) > 1:
            with ThreadPoolExecutor(len(unknown)) as pool:
                for candidate, answer in zip(unknown, list(pool.map(self.answer_again, unknown))):
                    self._keep(candidate, answer)

    def _keep(self, candidate: Variant, answer: str) -> None:
        self._answers[candidate.key] = answer
        if self._folder is not None:
            with (self._folder / "answers.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps([candidate.key, answer]) + "\n")

    def save(self, best: Variant) -> None:
        """Write the best candidate so far, if there is a directory for it."""
        if self._folder is not None:
            (self._folder / "best.mlir").write_text(best.text, encoding="utf-8")
            save_arrays(self._folder / "best.npz", best.inputs)


def _read(path: Path) -> dict[str, str]:
    """Return the answers in a file; a last line that is not complete does not count. EvaluationError for others."""
    if not path.exists():
        return {}
    try:
        lines = read_text(path).split("\n")[:-1]
        return dict(json.loads(line) for line in lines)
    except (ValueError, TypeError, RecursionError) as error:
        raise EvaluationError(f"cannot read {path}: expected [key, answer] in each line, but {error}") from None


@checks_arguments
def by_command(command: str, seconds: float = 120.0) -> Predicate:
    """Return the predicate of a command that exits with 0 for interesting programs; what it prints is the fingerprint.

    `{program}` in the command is a file of MLIR text, `{inputs}` an `.npz` file with members `arr_0`, `arr_1`, ...;
    without `{program}`, the file is the last argument. A program is not interesting if the command takes longer than
    `seconds`. The predicate raises FileError, an OSError, if the command cannot be run.
    """
    words = _words(command)
    return lambda program, inputs: _printed(words, program, inputs, seconds)


@checks_arguments
def by_pass(command: str, contract: str | Contract = "xla-cpu", seconds: float = 120.0) -> Predicate:
    """Return the predicate of a pass that is wrong: a command that prints a program, which means something else.

    The command is given as for `by_command`. What it prints is run on the inputs, within `seconds`, and judged as
    `diff_passes` does; that it cannot be read or run is not interesting.
    """
    words = _words(command)
    rules = contract_of(contract)
    limits = Limits(max_seconds=seconds)

    def run(program: str, inputs: Sequence[Array]) -> Hashable:
        printed = _printed(words, program, inputs, seconds)
        try:
            before, after = (load(text, limits=limits) for text in (program, f"{printed or ''}\n"))
            ours, theirs = ([np.asarray(array) for array in p.run(*inputs)] for p in (before, after))
            return "wrong" if differences(before, inputs, ours, theirs, rules) else None
        except StablehloError:
            return None

    return run


def _words(command: str) -> list[str]:
    """Return the words of a command, the last one the file of the program if it has no other place."""
    try:
        words = shlex.split(command)
    except ValueError as error:  # an open quote
        raise ArgumentValueError(f"command must be one of a shell, got {command!r}: {error}") from None
    return words if any("{program}" in word for word in words) else [*words, "{program}"]


def _printed(words: Sequence[str], program: str, inputs: Sequence[Array], seconds: float) -> str | None:
    """Return what a command prints, without the folder of its files; None if it fails or takes too long.

    Then its child processes are killed.
    """
    with (
        command_files(words, program, inputs) as (filled, folder),
        file_errors(words[0], "run the command"),
        subprocess.Popen(
            filled, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace", process_group=0
        ) as process,
    ):
        try:
            printed, _ = process.communicate(timeout=time_left(seconds))
        except BaseException as error:  # also KeyboardInterrupt
            os.killpg(process.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                check_time("the command")
                return None
            raise
    return None if process.returncode else printed.replace(str(folder), "")


class ByBackend:
    """The predicate of how a backend goes wrong: the kind of failure and its words, or the suspect op.

    It may be called from as many threads as there are sessions. `located` are the ops that `diff` named, by the text of
    the program, as positions among its ops.
    """

    def __init__(self, sessions: Sequence[Session], contract: Contract) -> None:
        self.located: dict[str, tuple[int, ...]] = {}
        self._free: Queue[Session] = Queue()
        self._contract = contract
        for session in sessions:
            self._free.put(session)

    def __call__(self, program: str, inputs: Sequence[Array]) -> Hashable:
        session = self._free.get()
        try:
            found = diff(load(program), inputs, session, self._contract)
        except StablehloError:
            return None
        finally:
            self._free.put(session)
        self.located[program] = found.located
        return fingerprint_of(found)


@checks_arguments
def by_backend(session: Session | Sequence[Session], contract: str | Contract) -> ByBackend:
    """Return the predicate of how a backend goes wrong; with several sessions it may be called from several threads."""
    rules = contract_of(contract)
    sessions = [session] if isinstance(session, Session) else session
    if not sessions:
        raise ArgumentValueError("session must be a Session or several, got none")
    return ByBackend(sessions, rules)


def fingerprint_of(found: Diff) -> Hashable:
    """Return what a smaller program must still show of a difference; None if nothing is wrong."""
    if found.failure:
        return words_of(found.failure.outcome)
    if found.inner:
        return fingerprint_of(found.inner[0].found)
    if found.suspects:
        return "wrong op", found.suspects[0].op.name
    if found.group is not None and found.group.excess is not None:
        return "wrong group", tuple(sorted({op.name for op in found.group.ops}))
    if found.outputs.beyond:
        return found.verdict, tuple(sorted({op.name for op in found.not_explained}))
    return None
