"""An observer that finds where exceptional values come from, how they go on, and what removes them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.debug.bounds.ball import smallest_normal
from stablehlo_ref.debug.bounds.reductions import adds_up
from stablehlo_ref.debug.exceptions.findings import GENERATIONS, ExceptionKind, Exceptions
from stablehlo_ref.debug.exceptions.sources import SourceTable, yielded
from stablehlo_ref.debug.exceptions.taint import (
    Taint,
    Taints,
    bits_of,
    carried,
    compact,
    expanded,
    has_exceptions,
    is_exact,
    is_float,
    is_real,
    masks,
    moved,
    moves,
    only_taint,
    rows_of,
    sum_of_bits,
    without_repetition,
)
from stablehlo_ref.debug.traces.record import Follower, Frame, is_input
from stablehlo_ref.define.definition import REGISTRY, facts_of, is_constant_like
from stablehlo_ref.define.processes import ProcessId
from stablehlo_ref.diagnostics import ArgumentValueError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Block, Operation, Value
from stablehlo_ref.ir.value_index import defining_op
from stablehlo_ref.numerics.dtypes import UINT64, mantissa_bits
from stablehlo_ref.numerics.narrow_floats import widen_if_narrow
from stablehlo_ref.passes.call_graph import functions
from stablehlo_ref.program import Program


class ExceptionWatcher(Follower):
    """Watches one run, of one process or a grid, as the observer of `Program.run`; `found` returns the findings.

    `kinds` are the kinds of generation that are looked for; origins (inputs, constants) always are. `threshold` is the
    number of bits that a cancellation loses at least; by default half of those of the type. The first generation of a
    kind in `trap` raises EvaluationError at the op.
    """

    sees_every_op = True

    @checks_arguments
    def __init__(
        self,
        program: Program,
        kinds: Iterable[ExceptionKind] = GENERATIONS,
        threshold: int | None = None,
        trap: Collection[ExceptionKind] = (),
    ) -> None:
        if threshold is not None and threshold < 0:
            raise ArgumentValueError(f"threshold must not be negative, got {threshold}")
        self.program = program
        self.kinds = tuple(kind for kind in GENERATIONS if kind in {*kinds, *trap})
        self.threshold = threshold
        self.ops = 0
        self._sources = SourceTable(program.value_index, trap)
        self._taints = Taints()
        self._sources_of: dict[Value, int] = {}  # in all turns and processes
        self._sent: dict[Operation, int] = {}  # the sources that went into ops with regions, or to other processes
        self._known: dict[tuple[ProcessId | None, Value], int] = {}  # inputs of a process, and constants
        self._programs: dict[Operation, Program] = {}  # ops that move elements, as programs that move taints
        super().__init__(program.value_index)

    def found(self, results: Sequence[Sequence[Any]]) -> Exceptions:
        """Return the findings after the run; `results` are those of each process."""
        reached = [self._reached(i, value, results) for i, value in enumerate(self._returned())]
        return Exceptions(self._sources.findings(self.kinds, reached), self.kinds, self.ops, self.threshold)

    def _returned(self) -> list[list[Value]]:
        """Return the values that are returned as each output, of which there is one for each return."""
        blocks = functions(self.program.module)[self.program.entry.name].regions[0].blocks
        ends = [block.operations[-1] for block in blocks if not block.operations[-1].successors]
        return [list(values) for values in zip(*(end.operands for end in ends))]

    def _reached(self, number: int, values: Sequence[Value], results: Sequence[Sequence[Any]]) -> int:
        """Return the sources of the exceptional elements of an output, in all processes."""
        bits = sum_of_bits(self._sources_of.get(value, 0) for value in values)
        wrong = [given[number] for given in results if number < len(given) and has_exceptions(given[number])]
        if wrong and not bits:
            kind = ExceptionKind.INPUT if is_input(self.index, values[0]) else ExceptionKind.UNKNOWN
            bits = self._origin(kind, values[0], wrong[0], self.frames[0])
        return bits

    # --- the run ------------------------------------------------------------------------------------------------

    def entered(self, frame: Frame, op: Operation, operands: Sequence[Any]) -> None:
        outer = frame.outer
        assert outer is not None
        if outer.op is not None and (outer.data is None or not _is_control_flow(outer.op.name)):
            return  # inside an op that is looked at as a whole
        frame.data = operands
        if _is_control_flow(op.name) or _communicates(op.name):
            bits = sum_of_bits(map(bits_of, self._operands(frame, op)))
            self._sent[op] = self._sent.get(op, 0) | bits

    def left(self, frame: Frame, op: Operation, results: Sequence[Any]) -> None:
        if frame.data is None:
            return
        if _is_control_flow(op.name):
            for value, result in zip(op.results, results):
                self._set(value, result, self._taint(value, result, frame, op))
        elif is_constant_like(op):
            self._set(op.results[0], results[0], self._given(ExceptionKind.CONSTANT, op.results[0], results[0], frame))
        else:
            self.ops += 1
            self._leaf(frame, op, results)

    def _leaf(self, frame: Frame, op: Operation, results: Sequence[Any]) -> None:
        taints = self._operands(frame, op)
        if any(type(taint) is not int or taint for taint in taints) or any(map(has_exceptions, results)):
            self._exceptional(frame, op, taints, results)
        else:
            for result in results:
                self._taints.set(result, 0)
        if len(results) == 1:
            self._rounding(frame, op, results[0])

    # --- taints -------------------------------------------------------------------------------------------------

    def _set(self, value: Value, data: Any, taint: Taint) -> None:
        """Keep the taint of a value, and its sources in all turns and processes."""
        self._taints.set(data, taint)
        if bits := bits_of(taint):
            self._sources_of[value] = self._sources_of.get(value, 0) | bits

    def _operands(self, frame: Frame, op: Operation) -> list[Taint]:
        return [self._operand(value, x, frame) for value, x in zip(op.operands, frame.data)]

    def _operand(self, value: Value, data: Any, frame: Frame) -> Taint:
        if is_input(self.index, value):
            return self._given(ExceptionKind.INPUT, value, data, frame, self.process.id)
        return self._taint(value, data, frame, defining_op(value) if isinstance(value.owner, Block) else None)

    def _taint(self, value: Value, data: Any, frame: Frame, around: Operation | None) -> Taint:
        """Return the taint of a value; if its memory is new, as of parts or copies, all that it may be a copy of.

        For a result of the op `around` it, that is what its regions return; else, all that went into the op.
        """
        taint = self._taints.of(data)
        if taint is None:
            taint = 0
            if has_exceptions(data):
                ends = yielded(around.regions, value.index) if around is not None and value.owner is around else ()
                taint = sum_of_bits(self._sources_of.get(end, 0) for end in ends)
                taint = taint or (self._sent.get(around, 0) if around else 0)
                taint = taint or self._origin(ExceptionKind.UNKNOWN, value, data, frame)
            self._taints.set(data, taint)
        return taint

    def _given(
        self, kind: ExceptionKind, value: Value, data: Any, frame: Frame, process: ProcessId | None = None
    ) -> Taint:
        """Return the taint of an input, which each process has its own of, or a constant."""
        if (process, value) not in self._known:
            taint = self._known[process, value] = self._origin(kind, value, data, frame) if has_exceptions(data) else 0
            self._set(value, data, bits_of(self._taints.of(data) or 0) | taint)
        return self._known[process, value]

    def _origin(self, kind: ExceptionKind, value: Value, array: Any, frame: Frame) -> int:
        """Return the bit of a value whose exceptions come from elsewhere."""
        where = masks(array).any if is_float(array) else np.asarray(True)
        return self._sources.source(kind, value, array, where, frame, self.process.id)

    # --- ops ----------------------------------------------------------------------------------------------------

    def _rounding(self, frame: Frame, op: Operation, result: Any) -> None:
        """Look for underflow and cancellation."""
        operands = frame.data
        found = {
            ExceptionKind.UNDERFLOW: underflow(op, operands, result) if ExceptionKind.UNDERFLOW in self.kinds else None,
            ExceptionKind.CANCELLATION: (
                cancellation(op, operands, result, self.threshold) if ExceptionKind.CANCELLATION in self.kinds else None
            ),
        }
        for kind, lossy in found.items():
            if lossy is not None:
                exact = _is_elementwise(op.name)
                where, process = lossy.where, self.process.id
                self._sources.source(kind, op.results[0], result, where, frame, process, operands, exact, lossy.bits)

    def _exceptional(self, frame: Frame, op: Operation, taints: Sequence[Taint], results: Sequence[Any]) -> None:
        """Find what an op does with exceptional operands, and which of its results are new."""
        operands, taint, followed = frame.data, only_taint(op, taints), None
        arrays = [] if taint else [expanded(t, x) for t, x in zip(taints, operands)]
        through: Sequence[Array]
        nan_through: Sequence[Array]
        if taint:  # all are kept
            through = nan_through = [np.asarray(UINT64.type(taint))] * len(results)
        elif moves(op) and (followed := moved(op, operands, arrays, self._programs)):
            through = nan_through = followed[0]
        elif _communicates(op.name) and (sent := self._sent[op]):
            through = nan_through = [np.asarray(UINT64.type(sent))] * len(results)
        else:
            nan_only = [np.where(masks(x).nan, t, UINT64.type(0)) for t, x in zip(arrays, operands)]
            through, nan_through = (carried(op, operands, given, results) for given in (arrays, nan_only))
        made: list[Array] = []
        for value, result, all_of, nan_of in zip(op.results, results, through, nan_through):
            made.append(self._result(frame, op, value, result, all_of, nan_of))
            self._set(value, result, compact(made[-1]))
        is_exact = followed is not None or (_is_elementwise(op.name) and len(made) == 1)
        for before, gone in zip(arrays, followed[1]) if followed else _removed(op, arrays, made, is_exact):
            bits = bits_of(np.where(gone, before, UINT64.type(0)))
            self._sources.effect(op, True, bits, gone, frame, is_exact)

    def _result(self, frame: Frame, op: Operation, value: Value, result: Any, through: Array, nan_of: Array) -> Array:
        """Return the taint of a result: the sources that come through the op, and those that are new."""
        if not is_float(result):
            bits = bits_of(through) if has_exceptions(result) else 0
            return np.full(np.shape(result) if not isinstance(result, tuple) else (), bits, UINT64)
        nan, inf = masks(result)
        taint = np.where(nan | inf, through, UINT64.type(0))
        passed = taint != 0
        self._sources.effect(op, False, bits_of(taint), passed, frame, is_exact(op))
        new_inf, pole = inf & ~passed, at_pole(op, frame.data)
        new = {
            ExceptionKind.NAN: nan & (nan_of == 0),
            ExceptionKind.OVERFLOW: new_inf & ~pole,
            ExceptionKind.DIVISION: new_inf & pole,
        }
        if not _is_elementwise(op.name) and not any(map(is_float, frame.data)):
            new = {ExceptionKind.UNKNOWN: (nan | inf) & ~passed}  # such as of the infeed
        for kind, where in new.items():
            if where.any():
                bit = self._sources.source(
                    kind, value, result, where, frame, self.process.id, frame.data, _is_elementwise(op.name)
                )
                taint = np.where(where, taint | UINT64.type(bit), taint)
        return taint


def _removed(
    op: Operation, arrays: Sequence[Array], made: Sequence[Array], is_elementwise: bool
) -> Iterator[tuple[Array, Array]]:
    """Yield the taint of each operand, and which of its exceptional elements are in no result."""
    every = UINT64.type(sum_of_bits(map(bits_of, made)))
    for taint in {id(v): a for v, a in zip(op.operands, arrays)}.values():
        left = made[0] if is_elementwise and taint.shape == made[0].shape else every
        yield taint, (taint != 0) & ((taint & left) == 0)


@cache
def _is_control_flow(name: str) -> bool:
    return name in REGISTRY and "plan_control_flow" in REGISTRY[name].roles


@cache
def _communicates(name: str) -> bool:
    return name in REGISTRY and REGISTRY[name].traits.communicates


@cache
def _is_elementwise(name: str) -> bool:
    return name in REGISTRY and REGISTRY[name].traits.elementwise


# --- generations: infinities by division, underflow, cancellation ---------------------------------------------------


class Lossy(NamedTuple):
    """Where results underflow, or lose bits by cancellation, and how many at most."""

    where: Array
    bits: int = 0


def at_pole(op: Operation, operands: Sequence[Any]) -> Array:
    """Return where an op has a pole, so that an infinite result is exact."""
    facts, arrays = facts_of(op), [np.asarray(x) for x in operands]
    if facts is None or facts.pole is None or len({array.shape for array in arrays}) > 1:
        return np.asarray(False)
    return np.asarray(facts.pole(*map(widen_if_narrow, arrays)))


def may_underflow(op: Operation, result: Any) -> bool:
    """Return whether an op is one whose results may be zero or subnormal by rounding, and some result is."""
    facts = facts_of(op)
    if facts is None or facts.underflow is None or not is_real(result) or not result.size:
        return False
    wide = widen_if_narrow(without_repetition(np.asarray(result)))
    tiny = smallest_normal(result.dtype)
    return not (wide.min() >= tiny or wide.max() <= -tiny)


def underflow(op: Operation, operands: Sequence[Any], result: Any) -> Lossy | None:
    """Return where a result is zero or subnormal although the operands are normal numbers; None if nowhere."""
    if not may_underflow(op, result) or not all(map(is_real, operands)):
        return None
    facts = facts_of(op)
    where = np.asarray(np.abs(widen_if_narrow(np.asarray(result))) < smallest_normal(result.dtype))
    tiny = np.ones(np.count_nonzero(where), bool)
    for operand in operands if tiny.size else ():
        array = np.asarray(operand)
        size = np.abs(widen_if_narrow(array[where] if array.shape == where.shape else array))
        is_normal = (size >= smallest_normal(operand.dtype)) & (size < np.inf)
        tiny &= is_normal if facts is not None and facts.underflow == "unless zero" else is_normal | (size == 0)
    where[where] = tiny
    return Lossy(where) if tiny.any() else None


def default_threshold(result: Any) -> int:
    """Return half of the bits of a type's significand, rounded up: 12 for f32, 27 for f64, 4 for bf16."""
    return (mantissa_bits(result.dtype) + 2) // 2


def cancellation(op: Operation, operands: Sequence[Any], result: Any, threshold: int | None) -> Lossy | None:
    """Return where a sum or difference loses `threshold` bits or more; None if nowhere.

    What is lost is how much smaller the result is than the larger term; in reductions and dots, than the sum of the
    magnitudes of all terms. Results that are exactly zero are not counted.
    """
    if not is_real(result) or not result.size or not all(map(is_real, operands)):
        return None
    least = 2.0 ** (default_threshold(result) if threshold is None else threshold)
    facts = facts_of(op)
    if facts is not None and facts.adds and len(operands) == 2:
        return _lossy(_larger(*map(np.asarray, operands)), np.asarray(result), least)
    if adds_up(op):
        terms = np.abs(widen_if_narrow(np.asarray(operands[0])))
        return _lossy(terms.sum(axis=tuple(op.properties["dimensions"])), np.asarray(result), least)
    if op.name == "stablehlo.dot_general" and all(map(np.size, operands)):
        sums = _sums_of_magnitudes(op, *map(np.asarray, operands))
        return _lossy(sums.reshape(result.shape), np.asarray(result), least)
    return None


def _sums_of_magnitudes(op: Operation, lhs: Array, rhs: Array) -> Array:
    """Return the sums of the magnitudes of the terms of a `dot_general`, in f64."""
    x, y = (rows_of(op, side, array.astype(np.float64)) for side, array in (("lhs", lhs), ("rhs", rhs)))
    with np.errstate(all="ignore"):
        return np.asarray(np.abs(x) @ np.abs(y).transpose(0, 2, 1))


def _larger(lhs: Array, rhs: Array) -> Array:
    return np.asarray(np.maximum(np.abs(widen_if_narrow(lhs)), np.abs(widen_if_narrow(rhs))))


def _lossy(terms: Array, result: Array, least: float) -> Lossy | None:
    """Return where a result is smaller than the terms by a factor of `least`, but neither 0 nor exceptional."""
    size = np.abs(widen_if_narrow(result))
    where = np.asarray(size <= terms * (1 / least))
    if not where.any():
        return None
    small, large = size[where].astype(np.float64), terms[where].astype(np.float64)
    where[where] = counts = (small > 0) & (large < np.inf)
    return Lossy(where, int((np.log2(large[counts]) - np.log2(small[counts])).max())) if counts.any() else None
