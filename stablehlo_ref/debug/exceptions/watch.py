"""An observer that finds where exceptional values come from, how they go on, and what removes them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.debug.exceptions.findings import GENERATIONS, ExceptionKind, Exceptions
from stablehlo_ref.debug.exceptions.flow import Flow, Scope, State, scopes_of, yielded
from stablehlo_ref.debug.exceptions.rules import at_pole, cancellation, underflow
from stablehlo_ref.debug.exceptions.sources import SourceTable
from stablehlo_ref.debug.exceptions.taint import (
    Taint,
    bits_of,
    carried,
    compact,
    expanded,
    has_exceptions,
    is_exact,
    is_float,
    masks,
    moved,
    moves,
    only_taint,
    sum_of_bits,
)
from stablehlo_ref.debug.traces.follow import Follower, Frame
from stablehlo_ref.define.definition import REGISTRY, is_constant_like
from stablehlo_ref.diagnostics import ArgumentValueError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Block, Operation, Value
from stablehlo_ref.ir.value_index import defining_op
from stablehlo_ref.numerics.dtypes import UINT64
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
        self._flow = Flow(program.module)
        self._sources = SourceTable(program.value_index, trap)
        self._constants: dict[Value, Taint] = {}
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
        scopes = list(scopes_of(self.stacks))
        bits = sum_of_bits(bits_of(scope.get(value, 0)) for scope in scopes for value in values)
        wrong = [given[number] for given in results if number < len(given) and has_exceptions(given[number])]
        if wrong and not bits:
            kind = ExceptionKind.INPUT if _is_input(values[0]) else ExceptionKind.UNKNOWN
            bits = self._origin(kind, values[0], wrong[0], self.frames[0])
        return bits

    # --- the run ------------------------------------------------------------------------------------------------

    def new_stack(self, entry: Frame) -> None:
        entry.data = State({})

    def entered(self, frame: Frame, op: Operation, operands: Sequence[Any]) -> None:
        assert frame.outer is not None
        above: State = frame.outer.data
        frame.data = state = State(above.inner, is_leaf=above.is_leaf)
        if above.is_leaf:  # inside an op that is looked at as a whole
            return
        self._flow.start_turn(op, frame.outer, frame.outer.counts[id(op)] - 1)
        state.operands = operands
        state.is_leaf = not _is_control_flow(op.name)
        if not state.is_leaf or _communicates(op.name):
            self._flow.enter(op, state, self._taints(frame, op))

    def left(self, frame: Frame, op: Operation, results: Sequence[Any]) -> None:
        state: State = frame.data
        if frame.outer is None or frame.outer.data.is_leaf:
            return
        if not state.is_leaf:
            self._control_flow(frame, op, results)
        elif is_constant_like(op):
            state.scope[op.results[0]] = self._constant(frame, op.results[0], results[0])
        else:
            self.ops += 1
            self._leaf(frame, op, results)
        state.operands = ()
        self._flow.drop(op, state.scope)

    def _control_flow(self, frame: Frame, op: Operation, results: Sequence[Any]) -> None:
        state: State = frame.data
        taints = self._flow.results(op, state) or [None] * len(results)
        for value, result, taint in zip(op.results, results, taints):
            state.scope[value] = self._from_inside(frame, op, value, result) if taint is None else taint

    def _from_inside(self, frame: Frame, op: Operation, value: Value, result: Any) -> Taint:
        """Return the taint of a result of control flow that is not followed value by value."""
        if not has_exceptions(result):
            return 0
        bits = yielded(op, scopes_of(self.stacks)) | self._flow.sent(op)
        return bits or self._origin(ExceptionKind.UNKNOWN, value, result, frame)

    def _leaf(self, frame: Frame, op: Operation, results: Sequence[Any]) -> None:
        state: State = frame.data
        taints = self._taints(frame, op)
        if any(type(taint) is not int or taint for taint in taints) or any(map(has_exceptions, results)):
            self._exceptional(frame, op, taints, results)
        else:
            state.scope.update(dict.fromkeys(op.results, 0))
        if len(results) == 1:
            self._rounding(frame, op, results[0])

    # --- taints -------------------------------------------------------------------------------------------------

    def _taints(self, frame: Frame, op: Operation) -> list[Taint]:
        return [self._taint(value, x, frame) for value, x in zip(op.operands, frame.data.operands)]

    def _taint(self, value: Value, array: Any, frame: Frame) -> Taint:
        """Return the taint of an operand, whose exceptional elements are looked for if it is new."""
        scope: Scope = frame.data.scope
        taint = scope.get(value)
        if taint is not None:
            return taint
        is_input = _is_input(value)
        taint = 0
        if has_exceptions(array):
            taint = 0 if is_input else self._flow.entered(value, scope)
            taint = taint or self._origin(
                ExceptionKind.INPUT if is_input else ExceptionKind.UNKNOWN, value, array, frame
            )
        if is_input:  # others may have another value in the next turn
            scope[value] = taint
        return taint

    def _constant(self, frame: Frame, value: Value, array: Any) -> Taint:
        if value not in self._constants:
            self._constants[value] = (
                self._origin(ExceptionKind.CONSTANT, value, array, frame) if has_exceptions(array) else 0
            )
        return self._constants[value]

    def _origin(self, kind: ExceptionKind, value: Value, array: Any, frame: Frame) -> int:
        """Return the bit of a value whose exceptions come from elsewhere."""
        where = masks(array).any if is_float(array) else np.asarray(True)
        return self._sources.source(kind, value, array, where, frame, self.process.id)

    # --- ops ----------------------------------------------------------------------------------------------------

    def _rounding(self, frame: Frame, op: Operation, result: Any) -> None:
        """Look for underflow and cancellation."""
        operands = frame.data.operands
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
        operands = frame.data.operands
        if taint := only_taint(op, taints):
            return self._kept(frame, op, taint, results[0])
        arrays = [expanded(taint, x) for taint, x in zip(taints, operands)]
        if moves(op) and (followed := moved(op, operands, arrays, self._programs)):
            return self._moved(frame, op, arrays, *followed)
        through = carried(op, operands, arrays)
        nan_only = [np.where(masks(x).nan, taint, UINT64.type(0)) for taint, x in zip(arrays, operands)]
        nan_through = carried(op, operands, nan_only)
        if sent := self._flow.sent(op) if _communicates(op.name) else 0:
            through = nan_through = [np.asarray(UINT64.type(sent)) for _ in results]
        made: list[Array] = []
        for value, result, all_of, nan_of in zip(op.results, results, through, nan_through):
            made.append(self._result(frame, op, value, result, all_of, nan_of))
            frame.data.scope[value] = compact(made[-1])
        self._count_removed(frame, op, arrays, made)

    def _kept(self, frame: Frame, op: Operation, taint: int, result: Any) -> None:
        """Follow elements that have one taint and are all in the result."""
        frame.data.scope[op.results[0]] = taint if has_exceptions(result) else 0  # which may be empty
        self._sources.effect(op, False, taint, masks(result).any, frame, True)

    def _moved(
        self, frame: Frame, op: Operation, taints: Sequence[Array], result: Array, gone: Sequence[Array]
    ) -> None:
        """Follow elements that are moved, or dropped."""
        frame.data.scope[op.results[0]] = compact(result)
        self._sources.effect(op, False, bits_of(result), result != 0, frame, True)
        for taint, where in zip(taints, gone):
            self._sources.effect(op, True, bits_of(taint[where]), where, frame, True)

    def _result(self, frame: Frame, op: Operation, value: Value, result: Any, through: Array, nan_of: Array) -> Array:
        """Return the taint of a result: the sources that come through the op, and those that are new."""
        if not is_float(result):
            bits = bits_of(through) if has_exceptions(result) else 0
            return np.full(np.shape(result) if not isinstance(result, tuple) else (), bits, UINT64)
        nan, inf = masks(result)
        taint = np.where(nan | inf, through, UINT64.type(0))
        passed = taint != 0
        self._sources.effect(op, False, bits_of(taint), passed, frame, is_exact(op))
        new_inf, pole = inf & ~passed, at_pole(op, frame.data.operands)
        new = {
            ExceptionKind.NAN: nan & (nan_of == 0),
            ExceptionKind.OVERFLOW: new_inf & ~pole,
            ExceptionKind.DIVISION: new_inf & pole,
        }
        if not _is_elementwise(op.name) and not any(map(is_float, frame.data.operands)):
            new = {ExceptionKind.UNKNOWN: (nan | inf) & ~passed}  # such as of the infeed
        for kind, where in new.items():
            if where.any():
                bit = self._sources.source(
                    kind, value, result, where, frame, self.process.id, frame.data.operands, _is_elementwise(op.name)
                )
                taint = np.where(where, taint | UINT64.type(bit), taint)
        return taint

    def _count_removed(self, frame: Frame, op: Operation, arrays: Sequence[Array], made: Sequence[Array]) -> None:
        """Count the exceptional elements of operands that are in no result."""
        is_elementwise = _is_elementwise(op.name) and len(made) == 1
        every = UINT64.type(sum_of_bits(map(bits_of, made)))
        for taint in {id(v): a for v, a in zip(op.operands, arrays)}.values():
            left = made[0] if is_elementwise and taint.shape == made[0].shape else every
            gone = (taint != 0) & ((taint & left) == 0)
            self._sources.effect(op, True, bits_of(np.where(gone, taint, UINT64.type(0))), gone, frame, is_elementwise)


@cache
def _is_control_flow(name: str) -> bool:
    return name in REGISTRY and "plan_control_flow" in REGISTRY[name].roles


@cache
def _communicates(name: str) -> bool:
    return name in REGISTRY and REGISTRY[name].traits.communicates


@cache
def _is_elementwise(name: str) -> bool:
    return name in REGISTRY and REGISTRY[name].traits.elementwise


def _is_input(value: Value) -> bool:
    op = defining_op(value) if isinstance(value.owner, Block) else None
    return op is not None and op.name == "func.func" and value.owner is op.regions[0].blocks[0]
