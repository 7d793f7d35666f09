"""Where did a backend go wrong? Compare a backend with the interpreter, and find the ops that no contract allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from stablehlo_ref.debug.contract import Contract, contract_of
from stablehlo_ref.debug.cut import LITERALS, Flat, is_observable, single
from stablehlo_ref.debug.evaluate import Evaluator
from stablehlo_ref.debug.evidence import Evidence
from stablehlo_ref.debug.fused import Group, distance, find_group
from stablehlo_ref.debug.judge import Judge, Judgement, Verdict, same_bits
from stablehlo_ref.debug.loops import can_enter, turns
from stablehlo_ref.debug.probe import Probed, probe
from stablehlo_ref.debug.repro import Repro
from stablehlo_ref.debug.session import Outcome, Session
from stablehlo_ref.debug.statistics import Suspicion, suspicions
from stablehlo_ref.debug.values import Values, backend_values, checked
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.program import Program

SUMS = tuple(
    f"stablehlo.{name}" for name in ("dot_general", "dot", "convolution", "reduce", "reduce_window", "scatter")
)
MAX_BYTES = 1 << 30  # of intermediate values that one program returns


@dataclass
class Diff:
    """What `diff` found. `suspects` are the ops that are certainly wrong, in the order of the program."""

    backend: str
    contract: Contract
    ops: int
    failure: Outcome | None = None  # of the whole program
    same: bool = False  # all outputs have the interpreter's bits
    errors: list[float] = field(default_factory=list)  # relative norms by output
    judgements: list[Judgement] = field(default_factory=list)
    stopped: Outcome | None = None  # why intermediate values are missing
    suspicions: list[Suspicion] = field(default_factory=list)  # by statistical tests: never certain
    inner: list[Inner] = field(default_factory=list)  # turns of loops in which something is wrong
    group: Group | None = None  # a fault that vanishes where intermediate values are outputs
    outputs_changed: bool = False  # once intermediate values are outputs too
    probed: Probed | None = None
    workarounds: list[str] = field(default_factory=list)  # switches of the backend that make `repro` right
    repro: Repro | None = None  # the first suspect or the group as a program that checks itself
    compilations: int = 0
    origin: str = "given"  # where the inputs come from: what the caller knows of them
    evidence: Evidence | None = field(default=None, repr=False)

    @property
    def suspects(self) -> list[Judgement]:
        return [judgement for judgement in self.judgements if judgement.verdict is Verdict.WRONG]

    @property
    def is_wrong(self) -> bool:
        """Whether the backend failed, or computed something that the contract does not allow."""
        return bool(self.failure or self.suspects or self.inner or (self.group and self.group.is_certain))

    def __str__(self) -> str:
        from stablehlo_ref.debug.text_report import text_of  # the report is in terms of this module

        return text_of(self)

    def to_json(self) -> str:
        """Return all of the result in one line of JSON; docs/reference/json.md describes it."""
        from stablehlo_ref.debug.report.document import json_text

        return json_text(self)

    def to_html(self) -> str:
        """Return a report as one HTML page that needs no network; ImportError without the extra `report`."""
        from stablehlo_ref.debug.report.page import report

        return report(self)

    def to_model_explorer(self) -> str:
        """Return the errors of ops as JSON, custom node data of Google's Model Explorer for the program's file."""
        from stablehlo_ref.debug.report.model_explorer import node_data_text

        return node_data_text(self)

    def _repr_html_(self) -> str:
        from stablehlo_ref.debug.report.page import summary

        return summary(self)


@dataclass
class Inner:
    """What is wrong in one turn of a loop, fed with what the backend fed to the loop."""

    loop: Operation
    turn: int
    found: Diff


def diff(
    program: Program,
    inputs: Sequence[Any],
    backend: str | Session,
    contract: str | Contract = "xla-cpu",
    *,
    max_bytes: int = MAX_BYTES,
) -> Diff:
    """Compare a backend with the interpreter on a program and its inputs, and locate what the contract does not allow.

    `backend` is a description (`jax`, `cpp`, `python:module:function`, ...) or a `Session`, `contract` a preset with
    overrides. Intermediate values are outputs of at most `max_bytes` for one compilation. Raises the interpreter's
    errors, EvaluationError for a bad contract; what the backend does wrong is part of what is returned.
    """
    rules = contract if isinstance(contract, Contract) else contract_of(contract)
    if isinstance(backend, Session):
        return _Search(program, inputs, backend, rules, max_bytes).run()
    with Session(backend) as session:
        return _Search(program, inputs, session, rules, max_bytes).run()


class _Search:
    def __init__(
        self, program: Program, inputs: Sequence[Any], session: Session, contract: Contract, max_bytes: int
    ) -> None:
        self.flat = Flat(program)
        self.program = program
        self.inputs = [np.asarray(array) for array in inputs]
        self.session = session
        self.max_bytes = max_bytes
        self.evaluate = Evaluator(self.flat)
        self.found = Diff(session.description, contract, len(self.flat.ops))
        self.found.evidence = self.evidence = Evidence(program, self.flat, self.inputs)
        for value in (*self.flat.arguments, *self.flat.outputs):
            if not is_observable(value):
                raise EvaluationError(f"`diff` needs static tensors as inputs and outputs, got {value.type}")

    def run(self) -> Diff:
        found = self.found
        ours = self.program.run(*self.inputs)
        outcome = self.session.run_twice(str(self.program), self.inputs)
        if not outcome.failure:
            outcome = checked(outcome, [value.type for value in self.flat.outputs])
        if outcome.failure:
            found.failure = outcome
        else:
            found.errors = [distance(x, y) for x, y in zip(outcome.results, ours)]
            found.same = all(map(same_bits, outcome.results, ours))
            if not found.same:
                self._locate(outcome.results, ours)
        found.compilations = self.session.compilations
        return found

    def _locate(self, outputs: Sequence[Array], ours: Sequence[Array]) -> None:
        values = backend_values(self.flat, self.inputs, self.session, self.max_bytes)
        self.found.stopped = values.failure
        self.evidence.judge = judge = Judge(values.arrays, self.found.contract, self.evaluate)
        self.found.judgements = [judge(op) for op in self.flat.ops[: values.seen] if op.name not in LITERALS]
        if self.found.suspects:
            self._confirm(judge)
            return
        sums = [j.op for j in self.found.judgements if j.verdict in (Verdict.LEGAL, Verdict.PERMITTED)]
        self.found.suspicions = suspicions(judge, [op for op in sums if op.name in SUMS])
        self._enter_loops(judge)
        if self.found.inner:
            self.found.repro = self.found.inner[0].found.repro
        elif values.seen == len(self.flat.ops):
            self._look_for_fusion(values, outputs, ours)

    def _confirm(self, judge: Judge) -> None:
        """Run the first suspect alone on numbers for which each legal order of operations gives the same bits."""
        first = self.found.suspects[0]
        values = judge.values
        self.found.probed = probe(self.flat, first.op, values, self.found.contract, self.session, self.evaluate)
        made = single(self.flat, first.op)
        feeds = [values[v] if v in values else self.evaluate.constant(v) for v in made.feeds]
        self.found.repro = Repro(made, feeds, judge.bounds(first.op) or [], self._comment(first.op, first.excess))
        self._find_workarounds()

    def _enter_loops(self, judge: Judge) -> None:
        """Compare single turns of the loops whose results are not the interpreter's."""
        for judgement in self.found.judgements:
            if judgement.verdict is Verdict.NOT_JUDGED and can_enter(judgement.op, judge.values):
                for turn, body, feeds in turns(self.flat, judgement.op, judge.values, self.evaluate):
                    found = _Search(body.program, feeds, self.session, self.found.contract, self.max_bytes).run()
                    if found.is_wrong:
                        self.found.inner.append(Inner(judgement.op, turn, found))
                        break

    def _comment(self, op: Operation, excess: object) -> str:
        contract = f"Returns true within the bounds of the contract {self.found.contract}"
        return f"{op.name} at {op.location}, run by {self.session.description}: {excess}\n{contract}"

    def _find_workarounds(self) -> None:
        """Find the switches of the backend that make the small program right; those that fail are not reported."""
        repro = self.found.repro
        if repro is None:
            return
        for name, setting in self.session.switches().items():
            outcome = self.session.run(str(repro.program.program), list(repro.feeds), setting)
            if not outcome.failure and repro.is_within(outcome.results, self.found.contract):
                self.found.workarounds.append(name)

    def _look_for_fusion(self, values: Values, outputs: Sequence[Array], ours: Sequence[Array]) -> None:
        """Search with suffix cuts if the outputs are others than those of the program with intermediate values."""
        returned = [values.arrays.get(value) for value in self.flat.outputs]
        pairs = [(x, y) for x, y in zip(outputs, returned) if y is not None]
        self.found.outputs_changed = not all(same_bits(x, y) for x, y in pairs)
        if self.found.outputs_changed:
            group = find_group(
                self.flat, values.arrays, outputs, ours, self.session, self.found.contract, self.evaluate
            )
            self.found.group = group
            if group is not None and group.excess is not None:
                comment = self._comment(group.ops[-1], group.excess)
                self.found.repro = Repro(group.program, group.arrays, group.bounds, comment)
                self._find_workarounds()
