"""Run one fault, or one right program, and say what `diff` made of it."""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from faults.programs import Case
from faults.reductions import REVERSED
from faults.rules import RULES, Fault, Rule, entry_of, fed_ops, fingerprint, flat, replaced

from stablehlo_ref.debug import Diff, Outcome, Session, diff
from stablehlo_ref.debug.cut import Flat
from stablehlo_ref.debug.evaluate import checked
from stablehlo_ref.diagnostics import StablehloError
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.reading.loading import load

GROUP = 5  # ops
FEW = 5  # ops of a program
SECONDS = {"self": 30.0, "jax": 30.0, "cpp": 5.0}  # of one run
SLOW = 1.5  # seconds that a plain run takes
CLEAR = 50.0  # how much larger than rounding the change of an output must be


class Faulty(Session):
    """Runs programs with a fault in another session."""

    def __init__(self, fault: Fault, inner: Session) -> None:
        super().__init__(f"{inner.description} with {fault.rule.name}")
        self.fault, self.inner, self.runs = fault, inner, 0

    def _exchange(self, program: str, inputs: Sequence[Any], setting: Any) -> Outcome:
        if not program:
            return Outcome()
        self.runs += 1
        try:
            wrong = self.fault.put_into(flat(program), self.runs)
        except (StablehloError, ValueError, AssertionError) as error:
            return Outcome((), "refused", f"{type(error).__name__}: {error}")
        if wrong is None:
            return Outcome((), "refused", "not applicable")
        return self.inner._exchange(str(wrong), inputs, None)


@dataclass(frozen=True)
class Trial:
    case: Case
    rule: Rule
    like: tuple[str, ...]
    executor: str  # a backend
    index: int

    @property
    def key(self) -> str:
        return f"{self.rule.name}|{self.case.name}|{self.index}|{self.executor}"

    @property
    def contract(self) -> str:
        return "xla-cpu" if self.executor == "jax" else "strict"


def in_order(cases: Sequence[Case], draw: random.Random) -> list[Case]:
    """Return programs in an order that is drawn, those of few ops last."""
    return sorted(draw.sample(cases, len(cases)), key=lambda case: case.ops < FEW)


def trials_of(rule: Rule, cases: Sequence[Case], seed: int) -> Iterator[Trial]:
    """Yield an op of each program in which the rule may apply."""
    draw = random.Random(f"{seed}:{rule.name}")
    for case in in_order(cases, draw):
        kinds = _kinds(rule, case)
        executor = "self" if rule.strict else draw.choice(("self", "jax"))
        if kinds:
            index = draw.randrange(len(kinds))
            yield Trial(case, rule, kinds[index], executor, index)


def trial_of(key: str, cases: Sequence[Case]) -> Trial:
    """Return the trial of a key."""
    name, program, index, executor = key.split("|")
    case = next(case for case in cases if case.name == program)
    return Trial(case, RULES[name], _kinds(RULES[name], case)[int(index)], executor, int(index))


def _kinds(rule: Rule, case: Case) -> list[tuple[str, ...]]:
    """Return the ops of a program in which a rule may apply, those that are alike once."""
    return list(dict.fromkeys(fingerprint(op) for op in fed_ops(entry_of(case.program)) if op.name in rule.ops))


def run(trial: Trial, sessions: dict[str, Session]) -> tuple[dict[str, Any], Diff | None]:
    """Return what is reported of a trial, and the comparison if the fault has an effect."""
    row: dict[str, Any] = {"rule": trial.rule.name, "group": trial.rule.group, "program": trial.case.name,
                           "executor": trial.executor, "contract": trial.contract, "op": trial.like[0],
                           "type": trial.like[2]}  # fmt: skip
    program = trial.case.program
    fault = Fault(trial.rule, trial.like)
    sites = list(fault.sites(entry_of(program)))
    if not sites:
        return row | {"result": "not applicable"}, None
    inputs = trial.case.inputs(trial.rule.inputs)
    text = str(program)
    faulty = Faulty(fault, sessions[trial.executor])
    reason, plain = effect(text, inputs, faulty, sessions)
    if reason:
        return row | {"result": reason}, None
    faulty = Faulty(fault, sessions[trial.executor])
    started = time.perf_counter()
    try:
        found = diff(program, inputs, faulty, trial.contract)
    except Exception as error:  # a defect of `diff`
        return row | {"result": f"raised {type(error).__name__}: {error}"}, None
    seconds = time.perf_counter() - started
    ops = sum(1 for op in Flat(program).ops for _ in op.walk())
    row |= {
        "result": outcome(found, {place(op) for op in sites}), "ops": ops, "sites": len(sites),
        "named": [f"{op.name} at {op.location.line}" for op in named(found)],
        "compilations": found.setup.compilations,
        "ratio": round((seconds - faulty.elapsed) / plain, 1), "seconds": round(seconds, 2), "plain": round(plain, 4),
    }  # fmt: skip
    return row, found


def effect(text: str, inputs: Sequence[Any], faulty: Faulty, sessions: dict[str, Session]) -> tuple[str, float]:
    """Return why a fault is not counted, "" if it changes an output clearly; and the seconds of a plain run."""
    try:
        if faulty.fault.put_into(flat(text), 1) is None:
            return "not applicable", 0.0
    except (StablehloError, ValueError, AssertionError) as error:
        return f"not valid: {type(error).__name__}: {str(error)[:150]}", 0.0
    ours, plain = plain_run(text, inputs, sessions["self"])
    if ours.failure or plain > SLOW:
        return "too slow" if plain > SLOW else "the interpreter fails", plain
    right, _ = plain_run(text, inputs, sessions[faulty.inner.description])
    if right.failure:
        return "the backend fails", plain
    wrongs = [faulty.run(text, inputs) for _ in range(2)]
    if any(w.failure for w in wrongs):
        return f"not valid: {next(w.reason for w in wrongs if w.failure)[:150]}", plain
    is_exact = faulty.fault.rule.strict
    changed = any(is_clear(*arrays, is_exact) for w in wrongs for arrays in zip(w.results, right.results, ours.results))
    return ("" if changed else "no effect"), plain


_PLAIN: dict[tuple[str, str, tuple[bytes, ...]], tuple[Outcome, float]] = {}
KEPT = 40


def plain_run(text: str, inputs: Sequence[Any], session: Session) -> tuple[Outcome, float]:
    """Return the results of a program without a fault, and the seconds of the run; the last are kept."""
    key = session.description, text, tuple(hashlib.sha256(x.tobytes()).digest() for x in inputs)
    if key not in _PLAIN:
        if len(_PLAIN) > KEPT:
            del _PLAIN[next(iter(_PLAIN))]
        started = time.perf_counter()
        found = checked(session.run(text, inputs), load(text).outputs)
        _PLAIN[key] = found, time.perf_counter() - started
    return _PLAIN[key]


def is_clear(wrong: Any, right: Any, ours: Any, is_exact: bool) -> bool:
    """Return whether a result is clearly another than the right one, whose error is taken to be that of ours."""
    if is_exact and right.tobytes() == ours.tobytes():
        return bool(wrong.tobytes() != right.tobytes())
    if wrong.dtype.kind in "biu" or wrong.dtype.name.startswith(("int", "uint")):
        return bool(np.any((wrong != right) & (right == ours)))
    x, y, z = (np.asarray(a).astype(np.complex128) for a in (wrong, right, ours))
    with np.errstate(all="ignore"):
        finite = np.isfinite(x) & np.isfinite(y) & np.isfinite(z)
        same = (y == z) | (np.isnan(y) & np.isnan(z))
        other = ~finite & same & ~((x == y) | (np.isnan(x) & np.isnan(y)))
        if np.any(other):
            return True
        size = np.max(np.abs(y[finite]), initial=0.0)
        eps = {1: 2.0**-3, 2: 2.0**-8, 4: 2.0**-23, 8: 2.0**-52}.get(wrong.itemsize, 2.0**-52)
        eps = 2.0**-23 if wrong.dtype == np.complex64 else eps
        noise = max(float(np.max(np.abs(y[finite] - z[finite]), initial=0.0)), eps * float(size))
        return bool(np.max(np.abs(x[finite] - y[finite]), initial=0.0) > CLEAR * noise)


def place(op: Operation) -> tuple[str, str]:
    return op.name, str(op.location)


def named(found: Diff) -> list[Operation]:
    """Return the op or the group that is named, in the innermost loop."""
    if found.failure:
        return [found.failure.unstable] if found.failure.unstable is not None else list(found.failure.ops)
    if found.inner:
        return named(found.inner[0].found)
    if found.suspects:
        return [found.suspects[0].op]
    return list(found.group.ops if found.group is not None else found.not_explained)


def outcome(found: Diff, wrong: set[tuple[str, str]]) -> str:
    ops = named(found)
    if not ops:
        return f"failed: {found.failure.outcome.failure}" if found.failure else "missed"
    if not any(place(op) in wrong for op in ops):
        return "wrong op"
    return "exact" if len(ops) == 1 else "group" if len(ops) <= GROUP else "large group"


def right_run(case: Case, kind: str, backend: str, contract: str, sessions: dict[str, Session]) -> dict[str, Any]:
    """Return what `diff` says of a backend in which nothing is wrong: "alarm", "other bits", "same bits", ..."""
    program, inputs = case.program, case.inputs(kind)
    text = str(program)
    if backend == "cpp" and "stablehlo.scatter" in text:  # which writes into its operand, as `diff` finds
        return {"result": "known to be wrong"}
    started = time.perf_counter()
    ours = sessions["self"].run(text, inputs)
    if ours.failure or time.perf_counter() - started > SLOW:
        return {"result": "the interpreter fails" if ours.failure else "too slow"}
    session = sessions[backend]
    theirs = session.run(text, inputs)
    if theirs.failure:
        return {"result": f"the backend fails: {theirs.reason[-200:]}"}
    found = diff(program, inputs, session, contract)
    result = "alarm" if not found.is_explained else "same bits" if found.outputs.same else "other bits"
    seconds = round(time.perf_counter() - started, 2)
    report = "" if found.is_explained else str(found)
    return {"result": result, "report": report, "ops": len(found.setup.flat.ops), "seconds": seconds}


class Reordered(Session):
    """Runs programs whose sums are in the reverse order, which is legal, in another session."""

    def __init__(self, inner: Session) -> None:
        super().__init__(f"{inner.description} with reversed sums")
        self.inner = inner

    def _exchange(self, program: str, inputs: Sequence[Any], setting: Any) -> Outcome:
        if not program:
            return Outcome()
        made = flat(program)
        try:
            replaced(made, (op for op in fed_ops(entry_of(made)) if op.name in REVERSED.ops), REVERSED)
        except (StablehloError, ValueError, AssertionError) as error:
            return Outcome((), "refused", str(error))
        return self.inner._exchange(str(made), inputs, None)
