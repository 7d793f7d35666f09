"""The account of a run: the sources of exceptional values, and what ops do to them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from stablehlo_ref.arrays.statistics import statistics
from stablehlo_ref.debug.exceptions.elements import element_at, first_index, is_float
from stablehlo_ref.debug.exceptions.findings import FOLLOWED, ORIGINS, Effect, Event, Finding, Kind, Reach
from stablehlo_ref.debug.exceptions.slices import Slicer, place_of, place_of_op
from stablehlo_ref.debug.traces.follow import Frame
from stablehlo_ref.define.processes import ProcessId
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.value_index import ValueIndex

LOSSY_SLICE = 256  # ops of the slice of what is not followed: there are many of these
SHARED = 63  # the bit of all sources after the first 63
Key: TypeAlias = tuple[Value, Kind]

WORDS = {
    Kind.NAN: "NaN", Kind.OVERFLOW: "an infinity by overflow", Kind.DIVISION: "an infinity by division by zero",
    Kind.UNDERFLOW: "numbers that underflow", Kind.CANCELLATION: "a cancellation",
}  # fmt: skip


@dataclass
class _Source:
    """A finding in the making. `bit` is 0 if its values are not followed."""

    finding: Finding
    bit: int
    value: Value
    processes: dict[ProcessId, None] = field(default_factory=dict)


@dataclass
class _Counted:
    effect: Effect
    kills: bool
    bits: int = 0


class Ledger:
    """Counts sources and effects by op. The first source of a kind in `trap` raises EvaluationError."""

    def __init__(self, index: ValueIndex, trap: Collection[Kind] = ()) -> None:
        self._index = index
        self._trap = trap
        self._sources: dict[Key, _Source] = {}
        self._effects: dict[tuple[Operation, bool], _Counted] = {}

    def source(
        self,
        kind: Kind,
        value: Value,
        array: Any,
        where: Array,
        frame: Frame,
        process: ProcessId,
        operands: Sequence[Any] = (),
        exact: bool = True,
        lost_bits: int = 0,
    ) -> int:
        """Count elements `where` exceptional values come up, and return the bit of their source."""
        key = value, kind
        if key not in self._sources:
            event = _event(frame, process, value, array, where, operands, exact, self._index)
            bit = 1 << min(sum(s.bit != 0 for s in self._sources.values()), SHARED) if kind in FOLLOWED else 0
            finding = Finding(kind, place_of(self._index, value), str(value.type), exact, event)
            self._sources[key] = _Source(finding, bit, value)
            if kind in self._trap:
                raise _trapped(finding, where, value, operands)
        source = self._sources[key]
        source.finding.elements += int(np.count_nonzero(where))
        source.finding.runs += 1
        source.finding.lost_bits = max(source.finding.lost_bits, lost_bits)
        source.processes[process] = None
        return source.bit

    def effect(self, op: Operation, kills: bool, bits: int, where: Array, frame: Frame, exact: bool) -> None:
        """Count elements that an op passes on, or kills."""
        if not where.any():
            return
        if (op, kills) not in self._effects:
            first = frame.address, first_index(where)
            self._effects[op, kills] = _Counted(Effect(place_of_op(self._index, op), 0, 0, exact, first), kills)
        counted = self._effects[op, kills]
        counted.bits |= bits
        counted.effect.elements += int(np.count_nonzero(where))
        counted.effect.runs += 1

    def findings(self, kinds: Collection[Kind], reached: Sequence[int]) -> list[Finding]:
        """Return the findings of some kinds; `reached` are the sources of the exceptional elements of each output."""
        slicer = Slicer(self._index)
        found = []
        for source in self._sources.values():
            finding = source.finding
            if finding.kind not in kinds and finding.kind not in ORIGINS:
                continue
            finding.processes = tuple(source.processes)
            if finding.kind not in ORIGINS and isinstance(source.value.owner, Operation):
                finding.slice = slicer(source.value.owner.operands, None if source.bit else LOSSY_SLICE)
            if source.bit:
                finding.outputs = tuple(i for i, bits in enumerate(reached) if bits & source.bit)
                finding.reach = Reach.OUTPUT if finding.outputs else Reach.MASKED
                finding.propagated, finding.killed = (self._with(source.bit, kills) for kills in (False, True))
            found.append(finding)
        return found

    def _with(self, bit: int, kills: bool) -> list[Effect]:
        return [c.effect for c in self._effects.values() if c.kills == kills and c.bits & bit]


def _event(
    frame: Frame,
    process: ProcessId,
    value: Value,
    array: Any,
    where: Array,
    operands: Sequence[Any],
    exact: bool,
    index: ValueIndex,
) -> Event:
    at = first_index(where) if where.ndim else ()
    is_op = isinstance(value.owner, Operation)
    shown = element_at(array, at) if is_float(array) else ""
    address = frame.address if is_op else index.unique_name(value)
    given = tuple(_shown(x, at, exact) for x in operands)
    return Event(address, frame.turns if is_op else (), process, at, given, shown)


def _shown(value: Any, at: tuple[int, ...], exact: bool) -> str:
    """Return the element of an operand that an elementwise op uses, or else statistics of all elements."""
    array = np.asarray(value) if isinstance(value, np.ndarray | np.generic) else None
    if array is None:
        return "?"
    if array.ndim == 0 or (exact and array.ndim == len(at) and all(i < n for i, n in zip(at, array.shape))):
        return element_at(array, at)
    return str(statistics(array))


def call_text(op: str | None, event: Event) -> str:
    """Return `log(-1.0) = nan`."""
    name = (op or "").partition(".")[2]
    return f"{name}({', '.join(event.operands)}) = {event.result}" if event.operands else f"it is {event.result}"


def _trapped(finding: Finding, where: Array, value: Value, operands: Sequence[Any]) -> EvaluationError:
    op = value.owner
    assert isinstance(op, Operation)
    first = finding.first
    count = f"{np.count_nonzero(where)} of {where.size} elements"
    example = f"at {list(first.index)}: {call_text(op.name, first)}"
    message = f"'{op.name}' op generates {WORDS[finding.kind]}: {count}; {example}"
    notes = [f"at {first.address} in process {first.process}"] if first.turns or first.process != (0, 0) else []
    notes += [f"operand {i}: {_summary(operand)}" for i, operand in enumerate(operands)]
    return EvaluationError(message, op.location, notes=notes)


def _summary(value: Any) -> str:
    return str(statistics(np.asarray(value))) if isinstance(value, np.ndarray | np.generic) else "not an array"
