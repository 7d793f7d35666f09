"""Verdicts: what a backend does with one case, judged by bounds that are proved, never by a guessed tolerance."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np

from stablehlo_ref.conform.cases import ALONE, Case, case, element_name
from stablehlo_ref.conform.programs import DIALECTS
from stablehlo_ref.debug.contract import Contract
from stablehlo_ref.debug.cut import Flat
from stablehlo_ref.debug.diff import diff
from stablehlo_ref.debug.diff_passes import differences
from stablehlo_ref.debug.evaluate import same_bits
from stablehlo_ref.debug.explain import NOT_EXPLAINED
from stablehlo_ref.debug.session import Outcome, Session
from stablehlo_ref.diagnostics import StablehloError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.numerics.dtypes import is_fractional
from stablehlo_ref.program import Program
from stablehlo_ref.reading.parsing import parse


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


UNKNOWN = "?"
RANDOM = "stablehlo.rng"  # which returns other numbers in each run
BLOCKING = (Cell.FAIL, Cell.REFUSES, Cell.DIES, Cell.HANGS)
TELLING = re.compile(r"check failed|assert|fatal|error|exception|terminate|not supported|unimplemented", re.IGNORECASE)
FAILURES = {
    "refused": Cell.REFUSES, "died": Cell.DIES, "timed out": Cell.HANGS, "unstable": Cell.FLAKY,
    "wrong results": Cell.FAIL,
}  # fmt: skip


@dataclass(frozen=True)
class Record:
    """The verdict on a case: `detail` says why, in a line; equal fingerprints are the same fault.

    `uses` are the ops of the program, each with the element types of its operands and results.
    """

    name: str
    cell: Cell
    detail: str = ""
    seconds: float = 0.0
    uses: tuple[str, ...] = ()

    @property
    def op(self) -> str:
        """The op of a case of one op; `chain` for several."""
        kind, first, *_ = self.name.split("/")
        return "chain" if kind == "chain" else first

    @property
    def element(self) -> str:
        """The element type of a case of one op, `?` if it has unknown dimensions; "" for others."""
        kind, *rest = self.name.split("/")
        return UNKNOWN if kind == "dynamic" else rest[1] if kind in ("op", "exhaustive") else ""

    @property
    def type(self) -> str:
        """What the type of a known failure names: the element type, or the constraint that a program breaks."""
        return self.name.split("/")[2] if self.name.startswith("invalid/") else self.element

    @property
    def fingerprint(self) -> str:
        """The op, the verdict and the message without numbers and names of values; how a process died, for any op."""
        message = re.sub(r"\b0x[0-9a-f]+|%?[0-9]+", "N", self.detail)[:120]
        return message if self.cell is Cell.DIES else f"{self.op}: {self.cell.value}: {message}"


def judge(name: str, session: Session, contract: Contract, is_known: bool = False) -> Record:
    """Return the verdict on what a backend does with the case of a name; with one run if a fault `is_known`."""
    started = time.perf_counter()
    try:
        made = case(name)
    except Exception as error:  # a campaign goes on without the case
        return Record(name, Cell.UNTESTED, f"the generator failed: {type(error).__name__}: {_line(str(error))}")
    if made is None:
        return Record(name, Cell.UNTESTED, "no program was found")
    if made.needs:
        return Record(name, Cell.UNTESTED, f"backends are not given {made.needs}")
    try:
        cell, detail = _judge_invalid(made, session) if made.broken else _judge_valid(made, session, contract, is_known)
    except StablehloError as error:
        return Record(name, Cell.UNTESTED, _line(str(error)))
    uses = () if cell in (Cell.PASS, Cell.LEGAL) or made.broken else uses_of(made.text)
    return Record(name, cell, detail, time.perf_counter() - started, uses)


def uses_of(text: str) -> tuple[str, ...]:
    """Return the ops of a program, each with the element types of its operands and results: `stablehlo.add/f32`."""
    found = set()
    for op in parse(text).module.walk():
        for value in (*op.operands, *op.results):
            if op.name.startswith(DIALECTS) and isinstance(value.type, TensorType):
                found.add(f"{op.name}/{element_name(value.type.element_type)}")
    return tuple(sorted(found))


def with_blocked(records: Mapping[str, Record]) -> dict[str, Record]:
    """Return records in which a fault is blocked, if another op of the program has the same one alone."""
    alone: dict[str, set[str]] = {}  # the op and element type of faults in programs of one op; those of its cases
    for record in records.values():
        if record.element and record.cell in BLOCKING and len({use.split("/")[0] for use in record.uses}) == 1:
            alone.setdefault(f"{record.op}/{record.element}", set()).add(record.cell.value)
    found = dict(records)
    for name, record in records.items():
        others = [use for use in record.uses if not use.startswith(f"{record.op}/")]
        by = next((use for use in others if record.cell.value in alone.get(use, ())), "")
        if by and record.cell in BLOCKING:
            found[name] = replace(record, cell=Cell.BLOCKED, detail=f"{record.cell.value}, as {by} alone")
    return found


def _judge_invalid(made: Case, session: Session) -> tuple[Cell, str]:
    outcome = _run(session, made)
    if outcome.failure in ("", "unstable"):
        return Cell.ACCEPTS, f"a program that breaks {made.broken}"
    if outcome.failure == "refused":
        return Cell.PASS, ""
    return FAILURES.get(outcome.failure, Cell.DIES), meaning(outcome.reason)


def _judge_valid(made: Case, session: Session, contract: Contract, is_known: bool) -> tuple[Cell, str]:
    outcome = _run(session, made, is_known)
    if outcome.failure:
        return FAILURES.get(outcome.failure, Cell.DIES), meaning(outcome.reason)
    expected = list(map(np.asarray, made.expected))
    if len(outcome.results) == len(expected) and all(map(same_bits, outcome.results, expected)):
        return Cell.PASS, ""
    try:
        if made.grid != ALONE:
            return Cell.FAIL if _are_exact(made.expected) else Cell.SUSPICIOUS, "other results than the interpreter's"
        program = made.program
        if not (is_known or made.static):
            return _judge_difference(program, made, session, contract)
        if len(Flat(program).ops) > 1:  # judged by these results only, not by those of the ops inside
            beyond = differences(program, made.inputs, expected, outcome.results, contract, trusts_noise=False)
            if not beyond:
                return Cell.LEGAL, ""
            return Cell.SUSPICIOUS if NOT_EXPLAINED in beyond[0] else Cell.FAIL, _line(beyond[0])
        return _judge_difference(program, made, Recorded(outcome), contract)
    except StablehloError as error:
        return Cell.SUSPICIOUS, f"other results, which are not judged: {_line(str(error))}"


class Recorded(Session):
    """What a backend did with the program of one op, in place of the backend."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__("files of results")
        self._outcome = outcome

    def run(self, program: str, inputs: Sequence[Array], setting: Any = None) -> Outcome:
        """Return the outcome, if the program is of one op; `diff` asks for that op alone, too."""
        has_results = not self._outcome.failure and bool(self._outcome.results)
        if has_results and (setting or len(Flat(parse(program)).ops) != 1):
            return Outcome((), "stopped", "there are no results of this program")
        return self._outcome

    def _asked(self, attribute: str) -> dict[str, Any]:
        return {}


def _are_exact(results: Sequence[Any]) -> bool:
    """Return whether types have the numbers up to 8, so that sums and products of `few_numbers` are not rounded."""
    dtypes = {np.asarray(result).dtype for result in results if result is not None}
    few = np.arange(9.0)
    return all(
        not is_fractional(dtype) or bool(np.all(few.astype(dtype).astype(np.complex128) == few)) for dtype in dtypes
    )


def _run(session: Session, made: Case, is_known: bool = False) -> Outcome:
    """Return what a backend does, in a process that has started: its start is not part of the time of a case."""
    setting = None if made.grid == ALONE else made.grid
    outcome = session.run(made.text, made.inputs, setting)
    if outcome.failure != "timed out" or is_known:
        return outcome
    session.open()
    return session.run(made.text, made.inputs, setting)


def _judge_difference(program: Program, made: Case, session: Session, contract: Contract) -> tuple[Cell, str]:
    found = diff(program, made.inputs, session, contract)
    if found.failure is not None:
        outcome = found.failure.outcome
        if outcome.failure == "unstable" and any(op.name == RANDOM for op in program.module.walk()):
            return Cell.LEGAL, "random numbers"
        return FAILURES.get(outcome.failure, Cell.DIES), _line(outcome.reason)
    if found.is_explained:
        return Cell.LEGAL, ", ".join(dict.fromkeys(p for j in found.judgements for p in j.permissions))
    is_wrong = found.verdict == "wrong"
    first = found.suspects[0] if found.suspects else None
    detail = f"{first.op.name}: {first.excess}" if first is not None else str(found).splitlines()[0]
    return Cell.FAIL if is_wrong else Cell.SUSPICIOUS, _line(detail)


def meaning(reason: str) -> str:
    """Return the first line of a message that says what is wrong, without times and addresses."""
    lines = [line.strip() for line in reason.splitlines() if line.strip()]
    first = next((line for line in lines if TELLING.search(line)), lines[0] if lines else "")
    return _line(re.sub(r"^[FEW]\d{4} \S+ +\d+ |\b0x[0-9a-f]+", "", first))


def _line(text: str) -> str:
    return " ".join(text.split())[:300]


def counts(records: Mapping[str, Record]) -> dict[str, int]:
    """Return how many records there are of each cell."""
    found = Counter(record.cell for record in records.values())
    return {cell.value: found[cell] for cell in Cell if found[cell]}
