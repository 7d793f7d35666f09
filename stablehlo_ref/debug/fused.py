"""Faults that vanish where intermediate values are outputs: found by suffix cuts, with the original outputs kept.

The last ops, fed at the cut with values that the backend itself returned without the fault, are run for later and later
cuts; the last cut at which the fault persists is where the group starts. It ends at the first op for which the ops from
there on, with no other outputs than the results that none of them uses, are wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isfinite

import numpy as np

from stablehlo_ref.debug.contract import Contract
from stablehlo_ref.debug.cut import CONSTANTS, Flat, Segment, fed_to, is_constant, operands_of, segment
from stablehlo_ref.debug.evaluate import Evaluator
from stablehlo_ref.debug.judge import Excess, excess_of
from stablehlo_ref.debug.session import Session
from stablehlo_ref.debug.shadow import Shadow, dtype_of, exact, transfer, used
from stablehlo_ref.debug.values import run_segment
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Value

NOISE = 8.0  # how much larger than the distance of two legal runs a fault must be to be searched for


@dataclass(frozen=True)
class Group:
    """Ops that are wrong only together, the program that shows it, and where its result exceeds the bound.

    Without `excess` the group is suspicious: it changes the result far more than other legal runs do, but its rounding
    errors have no bound that rules it out.
    """

    ops: tuple[Operation, ...]
    program: Segment
    arrays: tuple[Array, ...]  # what the program is fed
    bounds: tuple[Shadow | None, ...]  # of its results
    excess: Excess | None

    @property
    def is_certain(self) -> bool:
        return self.excess is not None


@dataclass
class _Search:
    flat: Flat
    arrays: Mapping[Value, Array]
    session: Session
    contract: Contract
    evaluate: Evaluator
    threshold: float
    composed: dict[int, Composed] = field(default_factory=dict)  # by where they start

    def persists(self, start: int) -> bool:
        """Return whether the outputs are far off if the ops from `start` are run on the values of `arrays`."""
        results = self._run(segment(self.flat, self.flat.ops[start:], self.flat.outputs))
        return results is not None and self._is_far(self.flat.outputs, results)

    def violates(self, start: int, end: int) -> bool:
        """Return whether values that leave the ops from `start` to `end` are beyond their bounds, or far off."""
        made = self._leaving(start, end)
        results = self._run(made)
        if results is None:
            return False
        if self._is_far(made.wanted, results):
            return True
        return self._excess(made, results, self._shadows(start, end)) is not None

    def group(self, start: int, end: int) -> Group | None:
        """Return the ops between two cuts that the value depends on that exceeds its bound, or else is furthest off."""
        made = self._leaving(start, end)
        results = self._run(made)
        if not results:
            return None
        shadows = self._shadows(start, end)
        found = self._excess(made, results, shadows)
        apart = {value: distance(x, self.arrays[value]) for value, x in zip(made.wanted, results)}
        value, excess = found if found else (max(apart, key=apart.__getitem__), None)
        ops = self.flat.slice_of(start, end, value)
        bounds = tuple(shadows.get(wanted) for wanted in made.wanted)
        return Group(tuple(op for op in ops if op.name not in CONSTANTS), made, self._feeds(made), bounds, excess)

    def _shadows(self, start: int, end: int) -> Mapping[Value, Shadow]:
        if start not in self.composed:
            self.composed = {start: Composed(self.arrays, self.contract, self.evaluate)}
        made = self.composed[start]
        made.extend(self.flat.ops[start + made.count : end])
        return made.shadows

    def _excess(
        self, made: Segment, results: Sequence[Array], shadows: Mapping[Value, Shadow]
    ) -> tuple[Value, Excess] | None:
        for value, result in zip(made.wanted, results):
            shadow = shadows.get(value)
            if shadow is not None and (found := excess_of(result, shadow, self.contract)):
                return value, found
        return None

    def _leaving(self, start: int, end: int) -> Segment:
        """Return the ops between two cuts as a program, without outputs that may hide the fault.

        These are results that the ops themselves use, and those that nothing uses.
        """
        ops = self.flat.ops[start:end]
        used = {operand for op in ops for operand in operands_of(op)}
        live = self.flat.live_after(start, end)
        return segment(self.flat, ops, [value for value in live if value in self.arrays and value not in used])

    def _run(self, made: Segment) -> tuple[Array, ...] | None:
        if any(value not in self.arrays for value in made.feeds):
            return None
        outcome = run_segment(self.session, made, dict(self.arrays))
        return None if outcome.failure else outcome.results

    def _feeds(self, made: Segment) -> tuple[Array, ...]:
        return tuple(self.arrays[value] for value in made.feeds)

    def _is_far(self, values: Sequence[Value], results: Sequence[Array]) -> bool:
        pairs = [(x, self.arrays[v]) for v, x in zip(values, results) if v in self.arrays]
        return any(distance(x, y) > self.threshold for x, y in pairs)


def find_group(
    flat: Flat,
    arrays: Mapping[Value, Array],
    outputs: Sequence[Array],
    ours: Sequence[Array],
    session: Session,
    contract: Contract,
    evaluate: Evaluator,
) -> Group | None:
    """Return the group of ops whose fault vanishes where intermediate values are outputs; None without such a fault.

    `arrays` are the values of the backend with all intermediate values as outputs, `outputs` those of the program as it
    is, and `ours` the interpreter's. If outputs differ no more than legal runs do, there is nothing to search.
    """
    returned = [arrays.get(value) for value in flat.outputs]
    apart = max((distance(x, y) for x, y in zip(outputs, returned) if y is not None), default=0.0)
    noise = max((distance(x, y) for x, y in zip(ours, returned) if y is not None), default=0.0)
    if not apart > max(NOISE * noise, 1e-12):
        return None
    search = _Search(flat, arrays, session, contract, evaluate, max(NOISE * noise, min(apart, 1.0) / 8))
    start = last(search.persists, 0, len(flat.ops))
    end = first_near(lambda index: search.violates(start, index), start + 1, len(flat.ops))
    return search.group(start, end)


def last(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the last index in [low, high) for which `holds`, which it does from `low` on up to there."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def first_near(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return what `_first` does, with few calls if that is near `low`: by doubling the distance."""
    step = 1
    while low + step < high and not holds(low + step):
        low, step = low + step + 1, 2 * step
    return _first(holds, low, min(low + step, high))


def _first(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the first index in [low, high] from which on `holds`, which it does at `high`."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


class Composed:
    """The shadows of the results of ops in order, from known values that they are fed."""

    def __init__(self, arrays: Mapping[Value, Array], contract: Contract, evaluate: Evaluator) -> None:
        self.shadows: dict[Value, Shadow] = {}
        self.count = 0  # ops so far
        self._arrays, self._contract, self._evaluate = arrays, contract, evaluate
        self._made: set[Value] = set()

    def extend(self, ops: Sequence[Operation]) -> None:
        """Add ops that follow the ones so far."""
        for op in ops:
            self.count += 1
            self._made.update(op.results)
            operands = [self._operand(value) for value in fed_to(op)]
            known = [operand for operand in operands if operand is not None]
            if len(known) == len(operands):
                found = transfer(op, fed_to(op), known, self._contract, self._evaluate)
                if found and not self._evaluate.choices(op, [operand.center for operand in known]):
                    self.shadows.update(zip(op.results, found))

    def _operand(self, value: Value) -> Shadow | None:
        if value in self._made:
            return used(self.shadows[value], dtype_of(value)) if value in self.shadows else None
        if value in self._arrays:
            return exact(self._arrays[value])
        return exact(self._evaluate.constant(value)) if is_constant(value) else None


def distance(actual: Array, expected: Array) -> float:
    """Return the norm of the difference relative to that of the expected array; infinity if specials differ."""
    if actual.dtype.kind in "biu":
        return float(np.mean(actual != expected)) if actual.size else 0.0
    wide = np.complex128 if actual.dtype.kind == "c" else np.float64
    x, y = (np.asarray(a).astype(wide).reshape(-1) for a in (actual, expected))
    with np.errstate(all="ignore"):
        apart, norm = float(np.linalg.norm(x - y)), float(np.linalg.norm(y))
        if not (isfinite(apart) and isfinite(norm)):
            finite = np.isfinite(x) & np.isfinite(y)
            if not np.array_equal(x[~finite], y[~finite], equal_nan=True):
                return inf
            apart, norm = float(np.linalg.norm((x - y)[finite])), float(np.linalg.norm(y[finite]))
    return apart / norm if norm else apart
