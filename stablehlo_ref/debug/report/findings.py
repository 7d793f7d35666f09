"""What a report shows first: each finding with its op, its values, and the ops around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from stablehlo_ref.arrays.statistics import statistics
from stablehlo_ref.debug.diff import Diff
from stablehlo_ref.debug.evidence import Evidence
from stablehlo_ref.debug.judge import Judgement
from stablehlo_ref.debug.report.document import Document
from stablehlo_ref.debug.report.measure import Deviation, deviations
from stablehlo_ref.debug.text_report import confirmed_text, inner_text
from stablehlo_ref.ir.core import Operation, Value

SHOWN_USERS = 5  # of an op, in its slice

WRONG, SUSPICIOUS = "certainly wrong", "suspicious"


@dataclass(frozen=True)
class Neighbour:
    """An op in a slice: its role, its document (None for an argument of the program), the backend's value."""

    role: str  # "operand", "this op", "user"
    name: str
    op: Document | None
    value: str
    anchor: str


@dataclass
class Finding:
    """Ops that are wrong or suspicious; `where` says in which turn of which loops."""

    verdict: str
    ops: list[Document]
    anchors: list[str]  # the numbers of the ops in the program table
    excess: Document | None = None
    where: str = ""
    notes: list[str] = field(default_factory=list)
    slice: list[Neighbour] = field(default_factory=list)
    deviations: list[Deviation] = field(default_factory=list)
    repro: str | None = None


def findings(found: Diff, document: Document, prefix: str = "", where: str = "") -> Iterator[Finding]:
    """Yield what was found, the most certain first; `prefix` is that of numbers of ops in the program table."""
    if found.evidence is None:
        return
    made = _Findings(found, document, found.evidence, prefix, where)
    for inner, inside in zip(found.inner, document["loops"]):
        yield from findings(inner.found, inside["found"], f"{prefix}{inside['op']}.", inner_text(inner))
    yield from made.suspects()
    yield from made.group()
    yield from made.not_explained()


@dataclass
class _Findings:
    found: Diff
    document: Document
    evidence: Evidence
    prefix: str
    where: str

    def __post_init__(self) -> None:
        self.indices = {op: index for index, op in enumerate(self.evidence.flat.ops)}

    def suspects(self) -> Iterator[Finding]:
        repro = None if self.found.group else self.document["repro"]
        for judgement in self.found.suspects:
            made = self._of(WRONG, judgement.op)
            made.excess = made.ops[0]["excess"]
            made.deviations = self._deviations(judgement)
            if judgement is self.found.suspects[0]:
                made.notes = [confirmed_text(self.found), *self._workarounds()]
            made.repro, repro = repro, None
            yield made

    def group(self) -> Iterator[Finding]:
        group = self.found.group
        if group is not None and group.ops:
            made = self._of(WRONG if group.is_certain else SUSPICIOUS, *group.ops)
            made.excess = self.document["group"]["excess"]
            made.notes = ["only where no intermediate value is an output: the ops are wrong together"]
            made.notes += self._workarounds()
            made.repro = self.document["repro"]
            yield made

    def not_explained(self) -> Iterator[Finding]:
        judgements = {judgement.op: judgement for judgement in self.found.judgements}
        for op in self.found.not_explained:
            made = self._of(SUSPICIOUS, op)
            made.notes = ["far beyond what rounding makes of the backend's own operands"]
            made.deviations = self._deviations(judgements[op])
            yield made

    def _of(self, verdict: str, *ops: Operation) -> Finding:
        numbers = [self._index(op) for op in ops]
        documents = [self.document["ops"][number] for number in numbers]
        slice = list(self._slice(ops))
        return Finding(verdict, documents, [f"{self.prefix}{n}" for n in numbers], where=self.where, slice=slice)

    def _index(self, op: Operation) -> int:
        return self.indices[op]

    def _workarounds(self) -> list[str]:
        return [f"right with: {', '.join(self.found.workarounds)}"] if self.found.workarounds else []

    def _deviations(self, judgement: Judgement) -> list[Deviation]:
        judge = self.evidence.judge
        return [] if judge is None else list(deviations(judge, judgement))

    def _slice(self, ops: Sequence[Operation]) -> Iterator[Neighbour]:
        """Yield the values that ops use, the ops, and the ops that use their results."""
        listed = self.document["ops"]
        inside = {name for op in ops for name in listed[self._index(op)]["results"]}
        used = dict.fromkeys(chain.from_iterable(listed[self._index(op)]["operands"] for op in ops))
        defined = {name: number for number, op in enumerate(listed) for name in op["results"]}
        for name in used:
            if name not in inside:
                yield self._neighbour("operand", name, defined.get(name))
        for op in ops:
            yield self._neighbour("this op", listed[self._index(op)]["results"][0], self._index(op))
        users = [n for n, op in enumerate(listed) if inside.intersection(op["operands"])]
        outside = [n for n in users if not inside.intersection(listed[n]["results"])]
        for number in outside[:SHOWN_USERS]:
            yield self._neighbour("user", next(iter(listed[number]["results"]), ""), number)

    def _neighbour(self, role: str, name: str, number: int | None) -> Neighbour:
        flat = self.evidence.flat
        if number is None:
            known = {argument.origin: argument for argument in flat.arguments}
            return Neighbour(role, name, None, self._value(known.get(name)), "")
        results = flat.ops[number].results
        value = self._value(results[0]) if results else ""
        return Neighbour(role, name, self.document["ops"][number], value, f"{self.prefix}{number}")

    def _value(self, value: Value | None) -> str:
        """Return the type and the statistics of a value of the backend."""
        if value is None:
            return ""
        judge = self.evidence.judge
        array = None if judge is None else judge.values.get(value)
        return str(value.type) + (f": {statistics(array)}" if array is not None else "")
