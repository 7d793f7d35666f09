"""What a run shows of exceptional values: plain data, with a form in JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from stablehlo_ref.define.processes import ProcessId


class Kind(StrEnum):
    """What happens, or where an exceptional value comes from. The values are the names on the command line."""

    NAN = "nan"  # from operands that are not NaN
    OVERFLOW = "overflow"  # an infinity from finite operands
    DIVISION = "division-by-zero"  # an infinity that is exact: 1 / 0, log(0)
    UNDERFLOW = "underflow"  # a zero or subnormal number that is not exact, from normal operands
    CANCELLATION = "cancellation"  # a sum that loses most of the bits of what is added
    INPUT = "input"  # an input of the program has NaN or infinities
    CONSTANT = "constant"  # a constant has
    UNKNOWN = "unknown"  # it comes from a loop or call whose values are not followed


GENERATIONS = (Kind.NAN, Kind.OVERFLOW, Kind.DIVISION, Kind.UNDERFLOW, Kind.CANCELLATION)
ORIGINS = (Kind.INPUT, Kind.CONSTANT, Kind.UNKNOWN)
FOLLOWED = (Kind.NAN, Kind.OVERFLOW, Kind.DIVISION, *ORIGINS)  # through the run, to outputs


class Reach(StrEnum):
    """What becomes of exceptional values."""

    OUTPUT = "reaches an output"
    MASKED = "masked, harmless"
    NOT_FOLLOWED = "not followed"  # as the numbers after an underflow or a cancellation look like any others


@dataclass(frozen=True)
class Place:
    """An op, or an argument: its value's unique name, and where it is in the program and in the model."""

    name: str
    op: str | None
    location: str
    model_location: str | None = None

    def __str__(self) -> str:
        return f"{self.op or 'argument'} {self.name} at {self.location}"


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
    """What an op does to exceptional values that come to it: passes them on, or removes some of them (a *kill*).

    `elements` are, if it passes them on, those of its results; if it kills, those of its operands that are gone. With
    `exact`, they are counted element by element; else an op that has a result with exceptions passes on all of
    its operands, and only what has gone from all its results is killed.
    """

    place: Place
    elements: int
    runs: int
    exact: bool
    first: tuple[str, tuple[int, ...]]  # the address of the op when it first had the effect, and the first element


@dataclass(frozen=True)
class Slice:
    """What a value is computed from: ops, the nearest first, and the inputs and constants at the end."""

    ops: tuple[Place, ...] = ()
    inputs: tuple[Place, ...] = ()
    constants: tuple[Place, ...] = ()
    left_out: int = 0  # ops beyond the limit


@dataclass
class Finding:
    """Where exceptional values come from, how many, and what becomes of them."""

    kind: Kind
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
    killed: list[Effect] = field(default_factory=list)
    slice: Slice = field(default_factory=Slice)


_RANK = {Reach.OUTPUT: 0, Reach.NOT_FOLLOWED: 1, Reach.MASKED: 2}


@dataclass
class Exceptions:
    """What a run shows of exceptional values. `findings` are ranked: those that reach an output come first."""

    findings: list[Finding]
    kinds: tuple[Kind, ...]
    ops: int  # that ran and were looked at, each time counted
    threshold: int | None = None  # of lost bits; None is half of those of the type

    def __post_init__(self) -> None:
        self.findings.sort(key=lambda f: (_RANK[f.reach], FOLLOWED.index(f.kind) if f.kind in FOLLOWED else 9))

    def reaching(self, reach: Reach) -> list[Finding]:
        """Return the findings of which this becomes."""
        return [finding for finding in self.findings if finding.reach is reach]

    @property
    def is_harmless(self) -> bool:
        """Whether no NaN and no infinity reaches an output."""
        return not self.reaching(Reach.OUTPUT)

    def to_json(self) -> dict[str, Any]:
        """Return dictionaries, lists, numbers and strings."""
        return {"schema": 1, "harmless": self.is_harmless, **asdict(self)}

    def __str__(self) -> str:
        from stablehlo_ref.debug.exceptions.text import text_of  # the text is in terms of this module

        return text_of(self)
