"""Hold what a run shows of exceptional values: plain data, with forms in JSON and as text; and what they come from."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import cache, partial
from itertools import islice
from typing import Any

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.debug.cut import CALLS, LOOP, is_literal, operands_of
from stablehlo_ref.debug.traces.record import Place, place_of
from stablehlo_ref.define.processes import ProcessId
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.ir.core import Operation, Region, Value
from stablehlo_ref.ir.value_index import ValueIndex, defining_op
from stablehlo_ref.passes.symbols import functions
from stablehlo_ref.text.tokens import counted

SHOWN = 4  # ops, inputs, constants of a line
MOST = 32  # ops of a slice


class ExceptionKind(StrEnum):
    """What happens, or where an exceptional value comes from. The values are the names on the command line."""

    NAN = "nan"  # from operands that are not NaN
    OVERFLOW = "overflow"  # an infinity from finite operands
    DIVISION = "division-by-zero"  # an infinity that is exact: 1 / 0, log(0)
    UNDERFLOW = "underflow"  # a zero or subnormal number that is not exact, from normal operands
    CANCELLATION = "cancellation"  # a sum that loses most of the bits of what is added
    INPUT = "input"  # an input of the program has NaN or infinities
    CONSTANT = "constant"  # a constant has
    UNKNOWN = "unknown"  # it comes from a loop or call whose values are not followed


ORIGINS = (ExceptionKind.INPUT, ExceptionKind.CONSTANT, ExceptionKind.UNKNOWN)
GENERATIONS = tuple(kind for kind in ExceptionKind if kind not in ORIGINS)
FOLLOWED = (ExceptionKind.NAN, ExceptionKind.OVERFLOW, ExceptionKind.DIVISION, *ORIGINS)  # through the run, to outputs
WORDS = {
    ExceptionKind.NAN: "NaN",
    ExceptionKind.OVERFLOW: "an infinity by overflow",
    ExceptionKind.DIVISION: "an infinity by division by zero",
    ExceptionKind.UNDERFLOW: "numbers that underflow",
    ExceptionKind.CANCELLATION: "a cancellation",
}
GROUPS = {"inf": (ExceptionKind.OVERFLOW, ExceptionKind.DIVISION), "all": GENERATIONS}


@checks_arguments
def kinds_of(names: str | Iterable[ExceptionKind | str]) -> tuple[ExceptionKind, ...]:
    """Return the kinds of generations of names, `nan,inf` or a list; EvaluationError for an unknown name."""
    known = {str(kind): (kind,) for kind in GENERATIONS} | GROUPS
    found: list[ExceptionKind] = []
    for name in (str(given).strip() for given in (names.split(",") if isinstance(names, str) else names)):
        if name not in known:
            raise EvaluationError(f"unknown kind of exception {name!r}; there are {', '.join(known)}")
        found += known[name]
    return tuple(dict.fromkeys(found))


class Reach(StrEnum):
    """What becomes of exceptional values."""

    OUTPUT = "reaches an output"
    MASKED = "masked, harmless"
    NOT_FOLLOWED = "not followed"  # as the numbers after an underflow or a cancellation look like any others


@dataclass(frozen=True)
class Event:
    """One occurrence: the address and turns of the op, the process, the element, its operands and result as text.

    If `operands` are not elements, but whole operands (of a dot), their text is statistics.
    """

    address: str
    turns: tuple[int, ...]
    process: ProcessId
    index: tuple[int, ...]
    operands: tuple[str, ...]
    result: str


@dataclass
class Effect:
    """What an op does to exceptional values that come to it: passes them on, or removes some of them.

    `elements` are, if it passes them on, those of its results; if it removes them, those of its operands that are gone.
    With `exact`, they are counted element by element; else an op that has a result with exceptions passes on all of its
    operands, and removes only what has gone from all its results.
    """

    place: Place
    elements: int
    runs: int
    exact: bool
    first: tuple[str, tuple[int, ...]]  # the address of the op when it first had the effect, and the first element


@dataclass(frozen=True)
class BackwardSlice:
    """What a value is computed from: ops, the nearest first, and the inputs and constants at the end."""

    ops: tuple[Place, ...] = ()
    inputs: tuple[Place, ...] = ()
    constants: tuple[Place, ...] = ()
    left_out: int = 0  # ops beyond the limit, of those that were looked at


@dataclass
class Finding:
    """Where exceptional values come from, how many, and what becomes of them."""

    kind: ExceptionKind
    place: Place
    type: str
    exact: bool  # whether elements are compared one by one with those of operands
    first: Event
    elements: int = 0
    runs: int = 0  # of the op, in which it happened
    processes: tuple[ProcessId, ...] = ()
    lost_bits: int = 0  # by cancellation, at most
    reach: Reach = Reach.NOT_FOLLOWED
    outputs: tuple[int, ...] = ()  # the numbers of those that are reached
    propagated: list[Effect] = field(default_factory=list)  # in the order of the run
    removed: list[Effect] = field(default_factory=list)
    slice: BackwardSlice = field(default_factory=BackwardSlice)


@dataclass(frozen=True)
class OnlyInBackend:
    """A value with elements that are NaN or infinite in the backend, and not so in the interpreter.

    `kind` is "nan" or "inf": what the first of these elements, at `index`, is in the backend. If the value is the first
    on its way, as no operand of its op has such elements, `is_generated` is set.
    """

    place: Place
    kind: str
    elements: int
    size: int
    index: tuple[int, ...]
    backend: str
    interpreter: str
    is_generated: bool

    def __str__(self) -> str:
        how = "generated by" if self.is_generated else "passed on by"
        values = f"{self.backend}, not {self.interpreter}"
        return f"{how} {self.place}: {self.elements} of {self.size} elements; at {list(self.index)} {values}"


_RANK = {Reach.OUTPUT: 0, Reach.NOT_FOLLOWED: 1, Reach.MASKED: 2}


@dataclass
class Exceptions:
    """What a run shows of exceptional values. `findings` are ranked: those that reach an output come first."""

    findings: list[Finding]
    kinds: tuple[ExceptionKind, ...]
    ops: int  # that ran and were looked at, each time counted
    threshold: int | None = None  # of lost bits; None is half of those of the type
    only_in_backend: list[OnlyInBackend] = field(default_factory=list)  # with the command's --backend

    def __post_init__(self) -> None:
        self.findings.sort(key=lambda f: (_RANK[f.reach], FOLLOWED.index(f.kind) if f.kind in FOLLOWED else 9))

    @checks_arguments
    def reaching(self, reach: Reach) -> list[Finding]:
        """Return the findings whose values end like this."""
        return [finding for finding in self.findings if finding.reach is reach]

    @property
    def is_harmless(self) -> bool:
        """Whether no NaN and no infinity reaches an output."""
        return not self.reaching(Reach.OUTPUT)

    def document(self) -> dict[str, Any]:
        """Return all of the result as dictionaries, lists, numbers and strings; docs/reference/json.md describes it."""
        return {"schema": 1, "harmless": self.is_harmless, **asdict(self)}

    def to_json(self) -> str:
        """Return the document in one line of JSON."""
        return json.dumps(self.document(), allow_nan=False)

    def __str__(self) -> str:
        lines = [self._summary(), *(line for reach in Reach for line in _section(self.reaching(reach), reach))]
        if self.only_in_backend:
            lines += ["\nonly in the backend:", *(f"  {exception}" for exception in self.only_in_backend)]
        return "\n".join(lines)

    def _summary(self) -> str:
        counts = ", ".join(f"{n} {_COUNTED[reach]}" for reach in Reach if (n := len(self.reaching(reach))))
        looked = f"looked for {', '.join(self.kinds)} in {counted(self.ops, 'executed op')}"
        sources = counted(len(self.findings), "source")
        return f"{sources} of exceptions: {counts}; {looked}" if counts else f"no exceptions; {looked}"


def call_text(op: str | None, event: Event) -> str:
    """Return `log(-1.0) = nan`."""
    name = (op or "").partition(".")[2]
    return f"{name}({', '.join(event.operands)}) = {event.result}" if event.operands else f"it is {event.result}"


_NOT_FOLLOWED = "not followed to outputs, as the numbers look like any others"
_COUNTED = {Reach.OUTPUT: "to an output", Reach.NOT_FOLLOWED: "not followed", Reach.MASKED: "masked"}


def _section(findings: Sequence[Finding], reach: Reach) -> Iterator[str]:
    """Yield a paragraph for each finding; several constants that are masked are one line."""
    if not findings:
        return
    yield f"\n{_NOT_FOLLOWED if reach is Reach.NOT_FOLLOWED else reach}:"
    constants = [f for f in findings if f.kind is ExceptionKind.CONSTANT and reach is Reach.MASKED]
    is_many = len(constants) > SHOWN
    for finding in findings:
        if not (is_many and finding.kind is ExceptionKind.CONSTANT):
            yield from _paragraph(finding)
    if is_many:
        yield f"  {len(constants)} constants have NaN or infinities: {_listed([f.place for f in constants])}"


def _paragraph(finding: Finding) -> Iterator[str]:
    place = finding.place
    yield f"  {place.location}: {_what(finding)}"
    first = finding.first
    if finding.kind not in ORIGINS or first.result:
        index = list(first.index) if first.index else ""
        process = f" in process {first.process}" if len(finding.processes) > 1 or any(first.process) else ""
        yield f"      first at {first.address}{index}{process}: {call_text(place.op, first)}"
    if place.model_location:
        yield f"      in the model: {place.model_location}"
    if finding.outputs:
        outputs = f"output{'s' if len(finding.outputs) > 1 else ''} {', '.join(map(str, finding.outputs))}"
        through = [effect.place for effect in finding.propagated]
        yield f"      reaches {outputs}" + (f" through {_listed(through)}" if through else "")
    if finding.removed:
        yield f"      removed by {_listed([f'{effect.place} ({effect.elements})' for effect in finding.removed])}"
    if origins := [*finding.slice.inputs, *finding.slice.constants]:
        yield f"      computed from {_listed(origins)}"


def _what(finding: Finding) -> str:
    place = finding.place
    runs = f" in {finding.runs} runs" if finding.runs > 1 else ""
    elements = f"{counted(finding.elements, 'element')}{runs}"
    match finding.kind:
        case ExceptionKind.INPUT | ExceptionKind.CONSTANT:
            return f"{finding.kind} {place.name} has NaN or infinities: {elements}"
        case ExceptionKind.UNKNOWN:
            return f"{place.name} has NaN or infinities from where values are not followed: {elements}"
        case ExceptionKind.CANCELLATION:
            return f"{place.op} {place.name} loses up to {finding.lost_bits} bits by cancellation: {elements}"
    return f"{place.op} {place.name} generates {WORDS[finding.kind]}: {elements}"


def _listed(things: Sequence[object]) -> str:
    more = f", and {len(things) - SHOWN} more" if len(things) > SHOWN else ""
    return ", ".join(map(str, things[:SHOWN])) + more


# --- where values come from -----------------------------------------------------------------------------------------


class Slicer:
    """Finds backward slices in a module."""

    def __init__(self, index: ValueIndex) -> None:
        self._place = cache(partial(place_of, index))
        self._sources = cache(self._find_sources)
        self._functions = functions(index.module)
        self._callers: dict[str, list[Operation]] = defaultdict(list)
        for op in index.module.walk():
            if op.name in CALLS:
                self._callers[str(op.properties[CALLS[op.name]])].append(op)

    def __call__(self, values: Iterable[Value], most: int | None = None) -> BackwardSlice:
        """Return what values are computed from, breadth first; after `most` ops no further ones are looked at."""
        pending, seen = deque(values), set[Value]()
        ops: dict[Operation, None] = {}
        inputs, constants = [], []
        while pending and (most is None or len(ops) < most):
            value = pending.popleft()
            if value in seen:
                continue
            seen.add(value)
            if is_literal(value):
                constants.append(value)
                continue
            sources = self._sources(value)
            if isinstance(value.owner, Operation):
                ops[value.owner] = None
            elif not sources:
                inputs.append(value)
            pending.extend(sources)
        shown = [op.results[0] for op in islice(ops, MOST)]
        places = [tuple(map(self._place, found)) for found in (shown, inputs, constants)]
        return BackwardSlice(places[0], places[1], places[2], len(ops) - len(shown))

    def _find_sources(self, value: Value) -> Sequence[Value]:
        """Return the values that a value directly depends on."""
        op = defining_op(value)
        if op is None:
            return []
        if isinstance(value.owner, Operation):
            if (function := self._functions.get(str(op.properties.get(CALLS.get(op.name, ""), "")))) is not None:
                return yielded(function.regions, value.index)
            return [*yielded(op.regions, value.index), *operands_of(op)]
        if op.name == "func.func":
            calls = self._callers[str(op.properties["sym_name"])]
            return [call.operands[value.index] for call in calls if value.index < len(call.operands)]
        return [op.operands[value.index], *yielded(op.regions[1:], value.index)] if op.name == LOOP else op.operands


def yielded(regions: Iterable[Region], index: int) -> list[Value]:
    """Return what the terminators of regions return at an index."""
    ends = [block.operations[-1].operands for region in regions for block in region.blocks if block.operations]
    return [values[index] for values in ends if index < len(values)]
