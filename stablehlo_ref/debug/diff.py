"""Where did a backend go wrong? Compare a backend with the interpreter, and find the ops that no contract allows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.arrays.interop import to_arrays
from stablehlo_ref.debug.contract import Contract, contract_of
from stablehlo_ref.debug.cut import Flat, is_constant, is_constant_op, is_observable, operands_of, set_turn, single
from stablehlo_ref.debug.evaluate import (
    MAX_BYTES,
    BackendValues,
    Evaluator,
    all_values,
    backend_values,
    can_enter,
    checked,
    distance,
    furthest_runs,
    most_compilations,
    run_again,
    same_bits,
)
from stablehlo_ref.debug.exceptions import only_in_backend
from stablehlo_ref.debug.exceptions.findings import OnlyInBackend
from stablehlo_ref.debug.explain import Beyond, Sensitivity, beyond, far_from_rounding, sensitivities
from stablehlo_ref.debug.fused import FaultyGroup, Repro, failing_ops, find_group, workarounds
from stablehlo_ref.debug.judge import Judge, Judgement, Verdict, wrong_in_isolation
from stablehlo_ref.debug.session import Outcome, Session
from stablehlo_ref.define.definition import is_constant_like
from stablehlo_ref.diagnostics import ArgumentValueError, EvaluationError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.program import Program
from stablehlo_ref.text.tokens import counted

_FOR_A_LOOP = 3  # compilations: its condition, its body, and its body with all values as outputs
_SETTINGS = 3  # of the backend that are tried in any case


@dataclass
class Setup:
    """What was compared: the program and its inputs, the backend and the contract."""

    program: Program
    flat: Flat
    inputs: Sequence[Array]
    backend: str
    contract: Contract
    judge: Judge  # with the backend's values
    compilations: int = 0
    versions: Mapping[str, str] = field(default_factory=dict)  # of the backend, as far as it says
    origin: str = "given"  # where the inputs come from: what the caller knows of them


@dataclass
class Outputs:
    """How the outputs of the program are apart from the interpreter's."""

    same: bool = False  # all have the interpreter's bits
    errors: list[float] = field(default_factory=list)  # relative norms
    are_reproducible: bool = True  # two runs return the same bits; else rounding explains both
    sensitivities: list[Sensitivity] = field(default_factory=list)  # if no op is certainly wrong
    beyond: list[Beyond] = field(default_factory=list)  # those that are not explained, if no op is certainly wrong


@dataclass(frozen=True)
class Failure:
    """How the backend failed on the whole program, and where."""

    outcome: Outcome
    ops: Sequence[Operation] = ()  # on which it fails also without the others
    unstable: Operation | None = None  # the first op with other bits in a second run, on the same operands


@dataclass(frozen=True)
class Confirmation:
    """Further runs of the first suspect: with the same program, and as a program of its own on the same operands."""

    is_repeated: bool
    is_wrong_alone: bool


@dataclass(repr=False)
class Diff:
    """What `diff` found. `suspects` are the ops that are certainly wrong, in the order of the program."""

    setup: Setup
    failure: Failure | None = None
    outputs: Outputs = field(default_factory=Outputs)
    judgements: list[Judgement] = field(default_factory=list)
    stopped: Outcome | None = None  # why intermediate values are missing
    inner: list[Inner] = field(default_factory=list)  # turns of a loop, or a branch, in which something is wrong
    group: FaultyGroup | None = None  # a fault that vanishes where intermediate values are outputs
    not_explained: list[Operation] = field(default_factory=list)  # ops without a bound, far beyond rounding
    confirmation: Confirmation | None = None  # of the first suspect
    repro: Repro | None = None  # the first suspect or the group as a program that checks itself
    exceptions: list[OnlyInBackend] = field(default_factory=list)  # NaN and infinities that the interpreter has not

    @property
    def suspects(self) -> list[Judgement]:
        return [judgement for judgement in self.judgements if judgement.verdict is Verdict.WRONG]

    @property
    def located(self) -> tuple[int, ...]:
        """The positions of the ops that are named, among the ops of the program: a loop, the first suspect, a group."""
        ops = [self.inner[0].loop] if self.inner else [judgement.op for judgement in self.suspects[:1]]
        failing = self.failure.ops if self.failure else ()
        ops = ops or list(self.group.ops if self.group is not None else failing or self.not_explained)
        return tuple(index for index, op in enumerate(self.setup.flat.ops) if op in ops)

    @property
    def is_located(self) -> bool:
        """Whether ops are certainly wrong, alone or together, here or in a turn of a loop."""
        return bool(self.suspects or self.inner or (self.group and self.group.is_certain))

    @property
    def is_wrong(self) -> bool:
        """Whether the backend failed, or certainly computed something that the contract does not allow."""
        return bool(self.failure or self.is_located or any(b.excess for b in self.outputs.beyond))

    @property
    def is_explained(self) -> bool:
        """Whether the contract allows the outputs, or rounding explains them: nothing that is wrong is known."""
        return not self.is_wrong and not self.outputs.beyond

    @property
    def verdict(self) -> str:
        """What is said of the backend: "failed", "wrong", "not located", "suspicious", "same" or "not wrong"."""
        if self.failure:
            return "failed"
        if self.is_explained:
            return "same" if self.outputs.same else "not wrong"
        if not self.located:
            return "not located"
        return "wrong" if self.is_located else "suspicious"

    @property
    def unjudged(self) -> list[Operation]:
        """The ops of which nothing is said: there is no bound, the spec leaves it open, or values are missing."""
        judged = {j.op for j in self.judgements if j.verdict is not Verdict.NOT_JUDGED}
        return [op for op in self.setup.flat.ops if op not in judged and not is_constant_like(op)]

    def __repr__(self) -> str:
        made, ops = self.setup, counted(len(self.setup.flat.ops), "op")
        return f"<Diff of {made.backend} under {made.contract.name}: {self.verdict}, {ops}>"

    def __str__(self) -> str:
        from stablehlo_ref.debug.report import report_lines  # the report is in terms of this module

        return "\n".join(report_lines(self))

    def to_json(self) -> str:
        """Return all of the result in one line of JSON; docs/reference/json.md describes it."""
        from stablehlo_ref.debug.report.document import document

        return json.dumps(document(self), allow_nan=False)

    def to_html(self) -> str:
        """Return a report as one HTML page that needs no network; ImportError without the extra `report`."""
        from stablehlo_ref.debug.report.page import report

        return report(self)

    def to_model_explorer(self) -> str:
        """Return the errors of ops as JSON, custom node data of Google's Model Explorer for the program's file."""
        from stablehlo_ref.debug.report.document import node_data

        return json.dumps(node_data(self), indent=1, allow_nan=False)

    def _repr_html_(self) -> str:
        from stablehlo_ref.debug.report.page import summary

        return summary(self)


@dataclass
class Inner:
    """What is wrong in one turn of a loop, fed with what the backend fed to the loop."""

    loop: Operation
    turn: int
    found: Diff


@checks_arguments
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
    errors, EvaluationError for a bad contract and a backend that cannot be opened; what the backend does wrong is part
    of what is returned.
    """
    if max_bytes < 0:
        raise ArgumentValueError(f"max_bytes must not be negative, got {max_bytes}")
    rules = contract_of(contract)
    if isinstance(backend, Session):
        return _Locator(program, inputs, backend, rules, max_bytes).run()
    with Session(backend) as session:
        session.open()
        return _Locator(program, inputs, session, rules, max_bytes).run()


class _Locator:
    def __init__(
        self, program: Program, inputs: Sequence[Any], session: Session, contract: Contract, max_bytes: int
    ) -> None:
        self.flat = Flat(program)
        self.program = program
        self.inputs = to_arrays(inputs)
        self.session = session
        self.compiled_before = session.compilations  # for other programs
        self.max_bytes = max_bytes
        self.explains = True  # whether to tell how outputs differ; not of turns of loops
        self.seconds = 0.0  # that the interpreter takes
        self.evaluate = Evaluator(self.flat)
        self.contract = contract
        nothing = Judge({}, contract, self.evaluate)
        self.found = Diff(Setup(program, self.flat, self.inputs, session.description, contract, nothing))
        for value in (*self.flat.arguments, *self.flat.outputs):
            if not is_observable(value):
                raise EvaluationError(f"`diff` needs static tensors as inputs and outputs, got {value.type}")

    def run(self) -> Diff:
        found = self.found
        started = perf_counter()
        ours = self.program.run(*self.inputs)
        self.seconds = perf_counter() - started
        outcome = self.session.run_twice(str(self.program), self.inputs)
        if outcome.failure == "unstable" and self._is_rounding(outcome, ours):
            found.outputs.are_reproducible = False
            outcome = Outcome(outcome.results)
        outcome = checked(outcome, self.flat.outputs)
        if outcome.failure:
            found.failure = self._located_failure(outcome)
        else:
            found.outputs.errors = [distance(x, y) for x, y in zip(outcome.results, ours)]
            found.outputs.same = all(map(same_bits, outcome.results, ours))
            if not found.outputs.same:
                self._locate(outcome.results, ours)
            found.setup.versions = self.session.versions()
        found.setup.compilations = self.compilations
        return found

    def _is_rounding(self, unstable: Outcome, ours: Sequence[Array]) -> bool:
        """Return whether rounding explains the results of both runs, as of threads that add up in any order."""
        for results in (unstable.results, unstable.second):
            if checked(Outcome(results), self.flat.outputs).failure:
                return False
            found = sensitivities(self.program, self.inputs, ours, results, self.contract, 6 * self.seconds)
            if not found or not all(s.is_explained for s in found):
                return False
        return True

    @property
    def compilations(self) -> int:
        """How many programs the backend was given in this search."""
        return self.session.compilations - self.compiled_before

    def _locate(self, outputs: Sequence[Array], ours: Sequence[Array]) -> None:
        values = backend_values(self.flat, self.inputs, self.session, self.max_bytes)
        self.found.stopped = values.failure
        self.found.exceptions = only_in_backend(self.flat, self.inputs, values.arrays)
        self.found.setup.judge = judge = Judge(values.arrays, self.contract, self.evaluate)
        self.found.judgements = [judge(op) for op in self.flat.ops[: values.seen] if not is_constant_like(op)]
        if not self.found.suspects:
            wrong = {j.op: j for j in wrong_in_isolation(judge, self.found.judgements, self.session)}
            self.found.judgements = [wrong.get(j.op, j) for j in self.found.judgements]
        if self.found.suspects:
            self._enter(judge, [self.found.suspects[0].op])
            if not self.found.inner:
                self._confirm(judge, values)
            return
        self._enter(judge, [j.op for j in self.found.judgements if j.verdict is Verdict.NOT_JUDGED])
        if self.found.inner:
            return
        if values.seen == len(self.flat.ops):
            self._look_for_fusion(judge, outputs, ours)
            if self.found.is_wrong:
                return
        elif not self.explains:
            self._look_for_fusion(self._ours_judged(), outputs, ours)
        if self.explains:
            self._explain(judge, values, outputs, ours)

    def _explain(self, judge: Judge, values: BackendValues, outputs: Sequence[Array], ours: Sequence[Array]) -> None:
        """Say how far outputs are off beside what rounding makes, and which nothing explains."""
        found, budget = self.found, 6 * self.seconds
        made = sensitivities(self.program, self.inputs, ours, outputs, self.contract, budget)
        found.outputs.sensitivities = made
        is_explained = bool(made) and all(s.is_explained for s in made)
        if is_explained:
            found.group = None
        elif values.seen < len(self.flat.ops):
            hidden = self._ours_judged()
            self._look_for_fusion(hidden, outputs, ours)
            if found.group is not None and len(found.group.ops) == 1:
                self._enter(hidden, found.group.ops)
        if found.is_wrong:
            return
        explained = {s.output for s in made if s.is_explained}
        found.outputs.beyond = list(beyond(self.inputs, outputs, ours, judge, found.judgements, explained))
        if found.outputs.beyond:
            found.not_explained = list(far_from_rounding(judge, found.judgements))

    def _ours_judged(self) -> Judge:
        """Return a judge with the interpreter's values in the place of those that the backend did not return."""
        return Judge(all_values(self.flat, self.inputs), self.contract, self.evaluate)

    def _located_failure(self, outcome: Outcome) -> Failure:
        """Find the op that is unstable, or the ops that a backend refuses or on which it dies."""
        if outcome.failure == "unstable":
            return Failure(outcome, unstable=self._unstable())
        if outcome.failure not in ("refused", "died"):
            return Failure(outcome)
        most = most_compilations(self.flat) - self.compilations
        return Failure(outcome, failing_ops(self.flat, all_values(self.flat, self.inputs), outcome, self.session, most))

    def _unstable(self) -> Operation | None:
        """Return the first op whose results differ between two runs with all intermediate values, not its operands."""
        first = backend_values(self.flat, self.inputs, self.session, self.max_bytes)
        second = run_again(first, self.session)
        same = {value for value, array in first.arrays.items() if value in second and same_bits(array, second[value])}
        differ = (op for op in self.flat.ops[: first.seen] if any(r in second and r not in same for r in op.results))
        op = next(differ, None)
        known = same.union(self.flat.arguments)
        return op if op and all(v in known or is_constant(v) for v in operands_of(op)) else None

    def _confirm(self, judge: Judge, seen: BackendValues) -> None:
        """Run the first suspect again: with the same program, and alone on the same operands."""
        first = self.found.suspects[0]
        again = {**judge.values, **run_again(seen, self.session, first.op)}
        is_repeated = all(same_bits(again[result], judge.values[result]) for result in first.op.results)
        is_repeated = is_repeated or Judge(again, self.contract, self.evaluate)(first.op).verdict is Verdict.WRONG
        made = single(self.flat, first.op)
        feeds = judge.operands(first.op)
        repro = Repro(made, feeds, judge.bounds(first.op), self._comment(first.op, first.excess))
        outcome = self.session.run(made.text, feeds)
        is_wrong_alone = bool(outcome.failure) or not repro.is_within(outcome.results, self.contract)
        self.found.confirmation = Confirmation(is_repeated, is_wrong_alone)
        self._keep(repro)

    def _enter(self, judge: Judge, ops: Sequence[Operation]) -> None:
        """Compare turns of loops, and branches; end at the first that is wrong."""
        for op in (op for op in ops if can_enter(op, judge.values)):
            if self.compilations + _FOR_A_LOOP > most_compilations(self.flat):
                return
            for run in furthest_runs(op, judge.values, self.evaluate, self.session):
                rest = _Locator(run.program.program, run.feeds, self.session, self.contract, self.max_bytes)
                rest.explains = False
                set_turn(rest.flat.ops, op, run.turn)
                found = rest.run()
                if found.is_wrong and not found.failure:  # a failure is of the cut: the whole program ran
                    self.found.inner.append(Inner(op, run.turn, found))
                    self.found.repro = found.repro
                    return

    def _comment(self, op: Operation, excess: object) -> str:
        contract = f"Returns true within the bounds of the contract {self.contract}"
        return f"{op.name} at {op.location}, run by {self.session.description}: {excess}\n{contract}"

    def _keep(self, repro: Repro) -> None:
        """Keep a small program, with the settings of the backend that make it right."""
        most = max(most_compilations(self.flat) - self.compilations, _SETTINGS)
        self.found.repro = replace(repro, workarounds=tuple(workarounds(repro, self.session, self.contract, most)))

    def _look_for_fusion(self, judge: Judge, outputs: Sequence[Array], ours: Sequence[Array]) -> None:
        """Search with suffix cuts if the outputs are others than those of the program with intermediate values.

        If the backend does not return these, they are the interpreter's.
        """
        group = find_group(judge, outputs, ours, self.session, self.found.stopped is not None)
        is_all = group is not None and len(group.ops) == sum(not is_constant_op(op) for op in self.flat.ops)
        self.found.group = None if is_all and group and not group.is_certain else group
        if group is not None and group.excess is not None:
            comment = self._comment(group.ops[-1], group.excess)
            self._keep(replace(group.repro, comment=comment))
