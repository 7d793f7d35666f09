"""Calls of a predicate: cached, counted, in parallel, and kept in a directory from which a search can go on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from stablehlo_ref.debug.archives import save_arrays
from stablehlo_ref.diagnostics import EvaluationError, file_errors
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.program import Program

Predicate = Callable[[str, Sequence[Array]], Hashable]  # from a program and its inputs to a fingerprint, or None


class OutOfCalls(Exception):
    """The limit of calls is reached."""


@dataclass(frozen=True, eq=False)
class Candidate:
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


class Asker:
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

    def answer(self, candidate: Candidate) -> str:
        """Return the text of the fingerprint of a candidate, "None" for none."""
        if candidate.key not in self._answers:
            self._keep(candidate, self.answer_again(candidate))
        return self._answers[candidate.key]

    def answer_again(self, candidate: Candidate) -> str:
        """Return what a call of the predicate returns now; OutOfCalls at the limit."""
        if self.calls >= self._max_calls:
            raise OutOfCalls
        self.calls += 1
        return repr(self._predicate(candidate.text, candidate.inputs))

    def first(self, candidates: Sequence[Candidate], fingerprint: str) -> Candidate | None:
        """Return the first candidate in order that has a fingerprint; more than one job look ahead."""
        for start in range(0, len(candidates), self._jobs):
            batch = candidates[start : start + self._jobs]
            self._look_ahead(batch)
            for candidate in batch:
                if self.answer(candidate) == fingerprint:
                    return candidate
        return None

    def _look_ahead(self, batch: Sequence[Candidate]) -> None:
        unknown = [c for c in {c.key: c for c in batch}.values() if c.key not in self._answers]
        unknown = unknown[: self._max_calls - self.calls]
        if len(unknown) > 1:
            with ThreadPoolExecutor(len(unknown)) as pool:
                for candidate, answer in zip(unknown, list(pool.map(self.answer_again, unknown))):
                    self._keep(candidate, answer)

    def _keep(self, candidate: Candidate, answer: str) -> None:
        self._answers[candidate.key] = answer
        if self._folder is not None:
            with (self._folder / "answers.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps([candidate.key, answer]) + "\n")

    def save(self, best: Candidate) -> None:
        """Write the best candidate so far, if there is a directory for it."""
        if self._folder is not None:
            (self._folder / "best.mlir").write_text(best.text, encoding="utf-8")
            save_arrays(self._folder / "best.npz", best.inputs)


def _read(path: Path) -> dict[str, str]:
    """Return the answers in a file; a last line that is not complete does not count. EvaluationError for others."""
    if not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    try:
        return dict(json.loads(line) for line in lines)
    except (ValueError, TypeError) as error:
        raise EvaluationError(f"cannot read {path}: expected [key, answer] in each line, but {error}") from None
