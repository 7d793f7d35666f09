"""Record the sources of exceptional values, what ops do to them, and backward slices: what a value is computed from."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeAlias

import numpy as np

from stablehlo_ref.arrays.digest import statistics
from stablehlo_ref.debug.cut import CALLS, operands_of
from stablehlo_ref.debug.exceptions.findings import (
    FOLLOWED,
    ORIGINS,
    WORDS,
    BackwardSlice,
    Effect,
    Event,
    ExceptionKind,
    Finding,
    Place,
    Reach,
    call_text,
)
from stablehlo_ref.debug.exceptions.taint import element_at, first_index, is_float
from stablehlo_ref.debug.traces.record import Frame
from stablehlo_ref.define.definition import is_constant_like
from stablehlo_ref.define.processes import ProcessId
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.locations import model_location
from stablehlo_ref.ir.value_index import ValueIndex, defining_op
from stablehlo_ref.passes.call_graph import functions
from stablehlo_ref.syntax.places import defined_at

MOST = 32  # ops of a slice
LOSSY_SLICE = 256  # ops of the slice of what is not followed: there are many of these
SHARED = 63  # the bit of all sources after the first 63
Key: TypeAlias = tuple[Value, ExceptionKind]


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
    removes: bool
    bits: int = 0


class SourceTable:
    """Counts sources and effects by op. The first source of a kind in `trap` raises EvaluationError."""

    def __init__(self, index: ValueIndex, trap: Collection[ExceptionKind] = ()) -> None:
        self._index = index
        self._trap = trap
        self._sources: dict[Key, _Source] = {}
        self._effects: dict[tuple[Operation, bool], _Counted] = {}

    def source(
        self,
        kind: ExceptionKind,
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

    def effect(self, op: Operation, removes: bool, bits: int, where: Array, frame: Frame, exact: bool) -> None:
        """Count elements that an op passes on, or removes."""
        if not where.any():
            return
        if (op, removes) not in self._effects:
            first = frame.address, first_index(where)
            self._effects[op, removes] = _Counted(Effect(place_of_op(self._index, op), 0, 0, exact, first), removes)
        counted = self._effects[op, removes]
        counted.bits |= bits
        counted.effect.elements += int(np.count_nonzero(where))
        counted.effect.runs += 1

    def findings(self, kinds: Collection[ExceptionKind], reached: Sequence[int]) -> list[Finding]:
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
                finding.propagated, finding.removed = (self._with(source.bit, removes) for removes in (False, True))
            found.append(finding)
        return found

    def _with(self, bit: int, removes: bool) -> list[Effect]:
        return [c.effect for c in self._effects.values() if c.removes == removes and c.bits & bit]


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


def place_of(index: ValueIndex, value: Value) -> Place:
    """Return the name of a value and where it is computed."""
    owner = value.owner
    location = owner.debug_location if isinstance(owner, Operation) else value.location
    op = owner.name if isinstance(owner, Operation) else None
    return Place(index.unique_name(value), op, str(defined_at(value) or ""), model_location(location))


def place_of_op(index: ValueIndex, op: Operation) -> Place:
    """Return the name of an op's first result and where the op is."""
    name = index.unique_name(op.results[0]) if op.results else op.name
    return Place(name, op.name, str(op.location), model_location(op.debug_location))


class Slicer:
    """Finds backward slices in a module."""

    def __init__(self, index: ValueIndex, most: int = MOST) -> None:
        self._index = index
        self._most = most
        self._known: dict[Value, Place] = {}
        self._direct: dict[Value, Sequence[Value]] = {}
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
            owner = value.owner
            if isinstance(owner, Operation):
                if is_constant_like(owner):
                    constants.append(value)
                    continue
                ops[owner] = None
            sources = self._sources(value)
            if not sources and isinstance(owner, Block):
                inputs.append(value)
            pending.extend(sources)
        shown = tuple(place_of_op(self._index, op) for op in islice(ops, self._most))
        return BackwardSlice(shown, self._places(inputs), self._places(constants), len(ops) - len(shown))

    def _places(self, values: Sequence[Value]) -> tuple[Place, ...]:
        for value in values:
            if value not in self._known:
                self._known[value] = place_of(self._index, value)
        return tuple(self._known[value] for value in values)

    def _sources(self, value: Value) -> Sequence[Value]:
        """Return the values that a value directly depends on."""
        if value not in self._direct:
            self._direct[value] = self._find_sources(value)
        return self._direct[value]

    def _find_sources(self, value: Value) -> Sequence[Value]:
        if isinstance(value.owner, Block):
            return self._of_argument(value, value.owner)
        op = value.owner
        if op is None:
            return []
        function = self._functions.get(str(op.properties.get(CALLS.get(op.name, ""), "")))
        if function is not None:
            return yielded(function.regions, value.index)
        return [*yielded(op.regions, value.index), *operands_of(op)] if op.regions else op.operands

    def _of_argument(self, value: Value, block: Block) -> list[Value]:
        op = defining_op(value)
        if op is None:
            return []
        if op.name == "func.func":
            calls = self._callers[str(op.properties["sym_name"])]
            return [call.operands[value.index] for call in calls if value.index < len(call.operands)]
        if op.name == "stablehlo.while":
            return [op.operands[value.index], *yielded(op.regions[1:], value.index)]
        return op.operands


def yielded(regions: Iterable[Region], index: int) -> list[Value]:
    """Return what the terminators of regions return at an index."""
    ends = [block.operations[-1].operands for region in regions for block in region.blocks if block.operations]
    return [values[index] for values in ends if index < len(values)]
