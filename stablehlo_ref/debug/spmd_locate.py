"""Which collective is wrong? Read each value of a partitioned program as shards of a value of the whole program.

A value of LOCAL, one array for each device, is *explained* by a value of GLOBAL if the arrays are its blocks in some
layout on the mesh, or add up to them along some axes. Which value of GLOBAL that may be follows from the program: the
op with the same name on the same operands; collectives and slices keep the value of their operand; and any value that
the arrays fit. The first value that should be explained and is not is suspect, with its operands, which may lack a
collective. A suspect is confirmed if the outputs are right with the right blocks in its place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from stablehlo_ref.debug.bounds.ball import real_dtype
from stablehlo_ref.debug.cut import Flat, is_observable, operands_of, subprogram
from stablehlo_ref.debug.evaluate import all_values, widened
from stablehlo_ref.define.definition import traits_of
from stablehlo_ref.distribution.layouts import DeviceMesh, Layout, Parts
from stablehlo_ref.distribution.meshes import Tiling
from stablehlo_ref.ir.arrays import Array, is_splat
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.numerics.dtypes import float_info, is_fractional, kind
from stablehlo_ref.program import Program

MOST_REPAIRS = 32  # runs with the right blocks in the place of a suspect
FOLDS: tuple[Callable[..., Any], ...] = (np.add, np.maximum, np.minimum)
# Ops that partitioners use to move blocks: their results are parts of the same value of GLOBAL.
MOVES = ("dynamic_slice", "slice", "concatenate", "reshape", "transpose", "pad", "dynamic_update_slice", "copy")

Run: TypeAlias = Callable[[Program, Sequence[Sequence[Array]]], Sequence[Sequence[Array]]]
Pieces: TypeAlias = Sequence[Array]  # of each device


class Reading(NamedTuple):
    """What arrays are of a value of GLOBAL: its blocks in a layout, or terms of them along the axes `partial`."""

    value: Value
    layout: Layout
    partial: Parts = ()


@dataclass(frozen=True)
class ShardFault:
    """An op of LOCAL that is wrong, or lacks a collective, and the first device on which that shows.

    `axis` is an axis of the mesh, None if none is known. `before` is where the op is that needs other shards.
    """

    what: str  # "wrong" or "missing"
    op: str
    place: str
    value: str
    device: int
    position: str
    axis: str | None
    reasons: tuple[str, ...]
    before: str | None = None
    is_confirmed: bool = True


class _Suspect(NamedTuple):
    fault: ShardFault
    start: int  # the index of the first op to run again
    value: Value
    pieces: Pieces


def near(x: Array, y: Array, scale: float | None = None) -> bool:
    """Return whether two arrays have the same elements up to half of their digits, compared with the largest."""
    if x is y or np.array_equal(x, y):
        return True
    if not is_fractional(y.dtype):
        return False
    with np.errstate(all="ignore"):
        a, b = widened(x), widened(y)
        known = np.isfinite(b)
        if not np.array_equal(known, np.isfinite(a)):
            return False
        apart = np.max(np.abs(a - b), where=known, initial=0.0)
        largest = np.max(np.abs(b), where=known, initial=0.0) if scale is None else scale
    return bool(apart <= largest * float(float_info(real_dtype(y.dtype)).eps) ** 0.5)


def scale_of(array: Array) -> float:
    """Return the largest magnitude of finite elements, but for those that many elements have, as those of a mask."""
    if not is_fractional(array.dtype):
        return 0.0
    with np.errstate(all="ignore"):
        magnitudes, counts = np.unique(np.abs(widened(array)), return_counts=True)
    is_finite = np.isfinite(magnitudes)
    is_rare = is_finite & (counts * 16 <= array.size)
    return float(np.max(magnitudes[is_rare if is_rare.any() else is_finite], initial=0.0))


def _content(array: Array) -> Hashable:
    """Return a key that equal arrays share; that of a splat, whose shards look alike, leaves out the shape."""
    if is_splat(array):
        return array.dtype, array.flat[0].tobytes()
    return array.dtype, array.shape, array.tobytes()


def first_apart(pieces: Pieces, expected: Pieces) -> int | None:
    """Return the first device whose array is another than expected; None if there is none."""
    return next((d for d, (x, y) in enumerate(zip(pieces, expected)) if not near(x, y)), None)


def moves_blocks(op: Operation) -> bool:
    """Return whether an op communicates, or takes or places parts of its operand."""
    return op.mnemonic in MOVES or communicates(op)


def communicates(op: Operation) -> bool:
    """Return whether an op is a collective."""
    return traits_of(op).communicates and bool(op.operands)


class Locator:
    """Finds the first op of LOCAL that is wrong. `run` runs a program on the inputs of all devices."""

    def __init__(
        self,
        programs: tuple[Program, Program],
        inputs: tuple[Sequence[Array], Sequence[Sequence[Array]]],
        tilings: tuple[Sequence[Tiling], Sequence[Tiling]],
        mesh: DeviceMesh,
        run: Run,
    ) -> None:
        self.mesh, self.run, self.tilings = mesh, run, tilings
        self.whole, self.flat = map(Flat, programs)
        self.ours = all_values(self.whole, inputs[0])
        wanted = [result for op in self.flat.ops for result in op.results if is_observable(result)]
        made = subprogram(self.flat, self.flat.ops, wanted, self.flat.arguments)
        found = run(made.program, inputs[1])
        self.pieces: dict[Value, Pieces] = dict(zip(self.flat.arguments, zip(*inputs[1])))
        self.pieces |= dict(zip(wanted, zip(*found)))
        self.expected: dict[Value, Value] = dict(zip(self.flat.arguments, self.whole.arguments))
        self.readings: dict[Value, Reading] = {}
        self.tainted: set[Value] = set()
        first: dict[Hashable, Value] = {}  # programs often have a constant several times
        self.same = {value: first.setdefault(_content(array), value) for value, array in self.ours.items()}
        self.index: dict[Hashable, list[Operation]] = defaultdict(list)
        for op in self.whole.ops:
            self.index[self._key(op, {})].append(op)
        self.scales = {value: scale_of(array) for value, array in self.ours.items()}

    def locate(self) -> ShardFault | None:
        """Return the first suspect that is confirmed, or else the first one; None if there is no suspect."""
        first = None
        for count, suspect in enumerate(self._suspects()):
            if count == MOST_REPAIRS:
                break
            first = first or suspect.fault
            if self._is_right_with(suspect):
                return suspect.fault
        return None if first is None else replace(first, is_confirmed=False)

    # --- reading ----------------------------------------------------------------------------------------------------

    def _key(self, op: Operation, expected: Mapping[Value, Value]) -> Hashable:
        values = [expected.get(operand, operand) for operand in op.operands]
        return op.name, tuple(self.same.get(value, value) for value in values)

    def _explained(self, value: Value, whole: Value) -> Reading | None:
        """Return what arrays are of a value of GLOBAL; None if they are not known to be of it."""
        pieces, ours = self.pieces[value], self.ours[whole]
        if not self._has_type(value, whole):
            return None
        layouts = list(self.mesh.layouts(ours.shape, pieces[0].shape))
        for layout in layouts:
            if self._fits(pieces, whole, layout):
                return Reading(whole, layout)
        for layout in layouts:
            free = [axis for axis in self.mesh.axes if axis not in layout.parts and axis.size > 1]
            for axes in (c for n in range(1, len(free) + 1) for c in combinations(free, n)):
                for fold in FOLDS if kind(ours.dtype) in ("floating", "integer") else ():
                    if self._fits(self._folded(pieces, axes, fold), whole, layout):
                        return Reading(whole, layout, axes)
        return None

    def _fits(self, pieces: Pieces, whole: Value, layout: Layout) -> bool:
        ours, tiling = self.ours[whole], self.mesh.tiling(layout)
        numbers = self.mesh.numbers(layout.parts)
        seen: set[tuple[int, int]] = set()  # devices often share arrays
        for device, piece in enumerate(pieces):
            key = id(piece), int(numbers[device])
            if key not in seen and not near(piece, tiling.split(ours, device), self.scales[whole]):
                return False
            seen.add(key)
        return True

    def _folded(self, pieces: Pieces, axes: Parts, fold: Callable[..., Any]) -> Pieces:
        found: list[Array] = list(pieces)
        for group in self.mesh.groups(axes):
            result = pieces[group[0]]
            for device in group[1:]:
                result = fold(result, pieces[device])
            for device in group:
                found[device] = result
        return found

    def _read(self, op: Operation) -> bool:
        """Explain the results of an op; return whether one should be explained and is not."""
        operands = operands_of(op)
        if self.tainted.intersection(operands):
            self.tainted.update(op.results)
            return False
        twins = [twin.results for twin in self.index.get(self._key(op, self.expected), ()) if op.operands]
        is_moved = moves_blocks(op)
        kept = [self.expected[o] for o in operands if o in self.expected][:1] if is_moved else []
        is_wrong = False
        for index, result in enumerate(op.results):
            if result not in self.pieces:
                continue
            candidates = [results[index] for results in twins if self._may_be(result, results[index])]
            candidates = candidates or [value for value in kept if self._has_type(result, value)]
            others = () if candidates and (communicates(op) or op.mnemonic == "dynamic_slice") else self.ours
            readings = (self._explained(result, value) for value in (*candidates, *others))
            if reading := next(filter(None, readings), None):
                self.readings[result], self.expected[result] = reading, reading.value
            elif candidates:
                self.expected[result] = candidates[0]
                is_wrong |= self._may_be(result, candidates[0])
        return is_wrong

    def _has_type(self, value: Value, whole: Value) -> bool:
        return whole in self.ours and self.ours[whole].dtype == self.pieces[value][0].dtype

    def _may_be(self, value: Value, whole: Value) -> bool:
        """Return whether arrays have the type of blocks of a value of GLOBAL."""
        shapes = self.ours[whole].shape if whole in self.ours else (), self.pieces[value][0].shape
        return self._has_type(value, whole) and next(self.mesh.layouts(*shapes), None) is not None

    # --- suspects ---------------------------------------------------------------------------------------------------

    def _suspects(self) -> Iterator[_Suspect]:
        """Yield what may be wrong, in the order of the program, the most likely first."""
        for argument in self.flat.arguments:
            if reading := self._explained(argument, self.expected[argument]):
                self.readings[argument] = reading
        for start, op in enumerate(self.flat.ops):
            if not self._read(op):
                continue
            results = [result for result in op.results if result in self.expected and result not in self.readings]
            of_results = (s for result in results for s in self._wrong(op, start, result))
            of_operands = (s for operand in dict.fromkeys(op.operands) for s in self._missing(op, start, operand))
            is_partial = any(self.readings[o].partial for o in op.operands if o in self.readings)
            is_first = communicates(op) or (moves_blocks(op) and not is_partial)
            for each in (of_results, of_operands) if is_first else (of_operands, of_results):
                yield from each
            self.tainted.update(results)
        for value, tiling, ours in zip(self.flat.outputs, self.tilings[1], self.whole.outputs):
            if value in self.readings and value not in self.tainted:
                yield from self._not_returned(value, [tiling.split(self.ours[ours], d) for d in range(self.mesh.count)])

    def _wrong(self, op: Operation, start: int, result: Value) -> Iterator[_Suspect]:
        """Yield an op as suspect, for each layout that its result may be meant to have, the best match first."""
        culprit = self._culprit(op)
        for layout, pieces in self._meant(result):
            operand = next((o for o in culprit.operands if o in self.readings), None)
            axes, reasons = self._why(culprit, self.readings.get(operand) if operand else None, layout)
            user = None if culprit is op else op
            yield self._suspect("wrong", culprit, result, pieces, start + 1, axes, reasons, user)

    def _culprit(self, op: Operation) -> Operation:
        """Return the first collective on the way from values that are explained to an op; the op if there is none.

        An op that moves the same elements on each device is right, if the collective before it is.
        """
        culprit, needed = op, set(op.operands) - self.readings.keys()
        if not needed and op.mnemonic in MOVES and op.mnemonic != "dynamic_slice":
            needed = set(op.operands)
        for other in reversed(self.flat.ops[: self.flat.ops.index(op)] if not communicates(op) else ()):
            if needed.intersection(other.results):
                needed.update(o for o in other.operands if o not in self.readings)
                culprit = other if communicates(other) else culprit
        return culprit

    def _meant(self, value: Value) -> list[tuple[Layout, Pieces]]:
        """Return the layouts that a value may be meant to have, and its pieces there; those it has most of first."""
        ours = self.ours[self.expected[value]]
        found = []
        for layout in self.mesh.layouts(ours.shape, self.pieces[value][0].shape):
            tiling = self.mesh.tiling(layout)
            found.append((layout, [tiling.split(ours, device) for device in range(self.mesh.count)]))
        return sorted(found, key=lambda pair: -sum(map(near, self.pieces[value], pair[1])))

    def _missing(self, op: Operation, start: int, operand: Value) -> Iterator[_Suspect]:
        """Yield an operand as suspect, that is shards of the right value, but others than the op needs."""
        reading = self.readings.get(operand)
        for layout, pieces in self._meant(operand) if reading else ():
            if reading and (reading.partial or layout != reading.layout):
                yield self._other_layout(operand, reading, layout, pieces, op, start)

    def _not_returned(self, value: Value, pieces: Pieces) -> Iterator[_Suspect]:
        """Yield an output that is shards of the right value, but others than the sharding says."""
        if first_apart(self.pieces[value], pieces) is not None:
            reading, end = self.readings[value], self.flat.block.operations[-1]
            for layout, found in self._meant(value):
                if first_apart(found, pieces) is None:
                    yield self._other_layout(value, reading, layout, pieces, end, len(self.flat.ops))

    def _other_layout(
        self, value: Value, reading: Reading, layout: Layout, pieces: Pieces, user: Operation, start: int
    ) -> _Suspect:
        axes = reading.partial or _difference(reading.layout, layout)
        have = f"split by {self.mesh.describe_layout(reading.layout)}"
        have = f"a partial result along {self.mesh.describe(reading.partial)}" if reading.partial else have
        needed = self.mesh.describe_layout(layout)
        reasons = (f"it is {have}", f"{user.name} at {user.location} needs it split by {needed}")
        owner = value.owner
        is_moved = isinstance(owner, Operation) and communicates(owner)
        op = owner if isinstance(owner, Operation) else user
        is_sum = op.mnemonic in ("all_reduce", "reduce_scatter")
        what = "wrong" if is_moved and (is_sum or not reading.partial) else "missing"
        return self._suspect(what, op, value, pieces, start, axes, reasons, user)

    def _suspect(
        self, what: str, op: Operation, value: Value, pieces: Pieces, start: int, axes: Parts,
        reasons: Sequence[str], before: Operation | None = None,
    ) -> _Suspect:  # fmt: skip
        device = first_apart(self.pieces[value], pieces) or 0
        got, expected = self.pieces[value][device], pieces[device]
        with np.errstate(all="ignore"):
            index = np.unravel_index(int(np.argmax(np.abs(widened(got) != widened(expected)))), got.shape)
        where = ", ".join(map(str, map(int, index)))
        reasons = (*reasons, f"at [{where}] it has {got[index]}, expected {expected[index]}")
        fault = ShardFault(
            what, op.name, str(op.location), value.origin, device, self.mesh.position(device),
            axes[0].name if axes else None, reasons, None if before is None else str(before.location),
        )  # fmt: skip
        return _Suspect(fault, start, value, pieces)

    def _why(self, op: Operation, reading: Reading | None, layout: Layout) -> tuple[Parts, list[str]]:
        """Return the axes that a collective should join, and how it does something else."""
        groups = op.properties.get("replica_groups", op.properties.get("source_target_pairs"))
        has = self.mesh.axes_between(groups) if isinstance(groups, tuple) and groups else ()
        if reading is None:
            return has, [f"its groups are along {self.mesh.describe(has)}"] if has else []
        needs = tuple(dict.fromkeys((*reading.partial, *_difference(reading.layout, layout))))
        text = f"split by {self.mesh.describe_layout(reading.layout)}"
        text = f"{text}, partial along {self.mesh.describe(reading.partial)}" if reading.partial else text
        reasons = [f"its operand is {text}, and its result is to be split by {self.mesh.describe_layout(layout)}"]
        if has:
            others = f", not {self.mesh.describe(needs) or 'any axis'}"
            fault = others if set(has) != set(needs) else ": their order, dimensions or offsets are wrong"
            reasons.append(f"its groups are along {self.mesh.describe(has)}{fault}")
        return needs or has, reasons

    def _is_right_with(self, suspect: _Suspect) -> bool:
        """Return whether the outputs are right with the right blocks in the place of a suspect."""
        made = subprogram(self.flat, self.flat.ops[suspect.start :], self.flat.outputs)
        values = {**self.pieces, suspect.value: suspect.pieces}
        feeds = [[values[feed][device] for feed in made.feeds] for device in range(self.mesh.count)]
        found = zip(*self.run(made.program, feeds)) if self.flat.outputs else ()
        for pieces, tiling, ours in zip(found, self.tilings[1], self.whole.outputs):
            whole = self.ours[ours]
            if any(not near(piece, tiling.split(whole, d), self.scales[ours]) for d, piece in enumerate(pieces)):
                return False
        return True


def _difference(some: Layout, others: Layout) -> Parts:
    """Return the axes that two layouts have in different places, in the order of the first."""
    places = [
        {part: (d, i) for d, parts in enumerate(layout.dimensions) for i, part in enumerate(parts)}
        for layout in (some, others)
    ]
    return tuple(p for p in dict.fromkeys((*some.parts, *others.parts)) if places[0].get(p) != places[1].get(p))
