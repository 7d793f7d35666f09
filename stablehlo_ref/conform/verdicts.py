"""Verdicts: what a backend does with one case, judged by bounds that are proved, never by a guessed tolerance."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any

import numpy as np

from stablehlo_ref.conform.cases import Case, case
from stablehlo_ref.debug.contract import Contract
from stablehlo_ref.debug.diff import diff
from stablehlo_ref.debug.session import Outcome, Session
from stablehlo_ref.diagnostics import StablehloError
from stablehlo_ref.limits import Limits
from stablehlo_ref.program import Program
from stablehlo_ref.reading.parsing import parse

LIMITS = Limits(max_seconds=30.0)  # of the interpreter, for a case


class Cell(Enum):
    """What is said of a case."""

    PASS = "pass"
    LEGAL = "legal"  # other bits than the interpreter's, which the spec or the contract permits
    SUSPICIOUS = "suspicious"  # far from the interpreter, without a proof that it is wrong
    FAIL = "fail"
    REFUSES = "refuses"
    BLOCKED = "blocked"  # by a more basic op that fails or is refused
    ACCEPTS = "accepts"  # what is invalid
    DIES = "dies"
    HANGS = "hangs"
    FLAKY = "flaky"  # two runs return different bits
    UNTESTED = "untested"

    @property
    def is_bad(self) -> bool:
        """Whether the backend has a fault, which a known failure may name."""
        return self in (Cell.FAIL, Cell.ACCEPTS, Cell.DIES, Cell.HANGS, Cell.FLAKY, Cell.SUSPICIOUS)


FAILURES = {"refused": Cell.REFUSES, "died": Cell.DIES, "timed out": Cell.HANGS, "unstable": Cell.FLAKY}


@dataclass(frozen=True)
class Record:
    """The verdict on a case: `detail` says why, in a line; equal fingerprints are the same fault."""

    name: str
    cell: Cell
    detail: str = ""
    seconds: float = 0.0

    @property
    def op(self) -> str:
        """The op of a case of one op; `chain` for several."""
        kind, first, *_ = self.name.split("/")
        return "chain" if kind == "chain" else first

    @property
    def element(self) -> str:
        """The element type of a case of one op; "" for others."""
        kind, *rest = self.name.split("/")
        return rest[1] if kind in ("op", "exhaustive") else ""

    @property
    def fingerprint(self) -> str:
        """The op, the verdict and the message without numbers and names of values."""
        return f"{self.op}: {self.cell.value}: {re.sub(r'%?[0-9]+|0x[0-9a-f]+', 'N', self.detail)[:120]}"

    def as_dictionary(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        return {**asdict(self), "cell": self.cell.value}


def judge(name: str, session: Session, contract: Contract) -> Record:
    """Return the verdict on what a backend does with the case of a name."""
    started = time.perf_counter()
    made = case(name)
    if made is None:
        return Record(name, Cell.UNTESTED, "no members were found that satisfy the constraints")
    cell, detail = _judge_invalid(made, session) if made.broken else _judge_valid(made, session, contract)
    return Record(name, cell, detail, time.perf_counter() - started)


def _judge_invalid(made: Case, session: Session) -> tuple[Cell, str]:
    outcome = session.run(made.text, made.inputs)
    if outcome.failure in ("", "unstable"):
        return Cell.ACCEPTS, f"a program that breaks {made.broken}"
    if outcome.failure == "refused":
        return Cell.PASS, ""
    return FAILURES.get(outcome.failure, Cell.DIES), _line(outcome.reason)


def _judge_valid(made: Case, session: Session, contract: Contract) -> tuple[Cell, str]:
    try:
        program = parse(made.text).verify()
        program.limits = LIMITS
        expected = program.run(*made.inputs)
    except StablehloError as error:
        return Cell.UNTESTED, _line(str(error))
    outcome = session.run(made.text, made.inputs)
    if outcome.failure:
        return FAILURES.get(outcome.failure, Cell.DIES), _line(outcome.reason)
    if _are_same(outcome, expected):
        return Cell.PASS, ""
    return _judge_difference(program, made, session, contract)


def _are_same(outcome: Outcome, expected: Any) -> bool:
    """Return whether all results have the expected bits, where NaNs are equal to NaNs."""
    pairs = list(zip(outcome.results, map(np.asarray, expected)))
    return len(pairs) == len(expected) and all(
        x.dtype == y.dtype and x.shape == y.shape and _same_bits(x, y) for x, y in pairs
    )


def _same_bits(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> bool:
    if x.tobytes() == y.tobytes():
        return True
    unsigned = f"u{x.dtype.itemsize}"
    if x.dtype.kind == "c" or x.dtype.itemsize > 8:
        return False
    with np.errstate(all="ignore"):
        nans = (x != x) & (y != y)
        return bool(np.all(nans | (np.ascontiguousarray(x).view(unsigned) == np.ascontiguousarray(y).view(unsigned))))


def _judge_difference(program: Program, made: Case, session: Session, contract: Contract) -> tuple[Cell, str]:
    found = diff(program, made.inputs, session, contract)
    if found.failure:
        return FAILURES.get(found.failure.failure, Cell.DIES), _line(found.failure.reason)
    if found.is_explained:
        return Cell.LEGAL, ", ".join(dict.fromkeys(p for j in found.judgements for p in j.permissions))
    is_wrong = found.verdict == "wrong"
    first = found.suspects[0] if found.suspects else None
    detail = f"{first.op.name}: {first.excess}" if first is not None else str(found).splitlines()[0]
    return Cell.FAIL if is_wrong else Cell.SUSPICIOUS, _line(detail)


def _line(text: str) -> str:
    return " ".join(text.split())[:300]


def counts(records: Mapping[str, Record]) -> dict[str, int]:
    """Return how many records there are of each cell."""
    found = {cell.value: 0 for cell in Cell}
    for record in records.values():
        found[record.cell.value] += 1
    return {name: number for name, number in found.items() if number}
