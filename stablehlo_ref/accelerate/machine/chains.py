"""Chains in machine code: when they are compiled, and where their results are stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np

from stablehlo_ref.accelerate.groups import VIEWS
from stablehlo_ref.accelerate.machine.segments import Part, Segment
from stablehlo_ref.accelerate.machine.timing import TimedCode, weight
from stablehlo_ref.accelerate.machine.whole import WholeChain
from stablehlo_ref.budget import check_time, reserve
from stablehlo_ref.define.computation import Slots
from stablehlo_ref.execute.ownership import is_exclusive_view, is_exclusively_owned
from stablehlo_ref.execute.run import CONTEXT, BlockPlan
from stablehlo_ref.ir.arrays import Array, DType


class Tensor(NamedTuple):
    """A value of a chain: the shape that it has as a whole, and whether it has one element for each row."""

    slot: int
    shape: tuple[int, ...]
    dtype: DType
    is_row: bool


@dataclass(frozen=True)
class Chain:
    """What a chain computes: from `inputs`, the results of `parts` one by one, of which those in `kept` are stored."""

    shape: tuple[int, ...]
    rows: int | None
    inputs: Sequence[Tensor]
    scalars: Sequence[int]  # slots of operands of rank 0
    parts: Sequence[tuple[Part, Tensor]]
    kept: frozenset[int]  # slots
    dead: frozenset[int]  # slots that are empty after the chain

    @property
    def results(self) -> list[Tensor]:
        """The tensors that are stored."""
        return [result for _, result in self.parts if result.slot in self.kept]


class MachineChain:
    """The step of a chain: it times the plan of its ops, and compiles the chain once that has taken long."""

    def __init__(self, chain: Chain, plan: BlockPlan, report: Callable[[str, str], None]) -> None:
        self._chain, self._plan, self._report = chain, plan, report
        self._results, self._reused = chain.results, reused_operands(chain)
        self._weight = sum(weight(part.op) for part, _ in chain.parts)
        self._timed = TimedCode[WholeChain](self._weight, report)

    def __call__(self, slots: Slots) -> None:
        """Run the chain: by machine code, or by the plan of its ops as long as that has not taken long."""
        check_time()
        if not self._timed.may_run(slots[CONTEXT]):
            self._plan.run(slots)
        elif self._timed.code is None:
            self._timed.timed(lambda: self._plan.run(slots), self._compiled)
        else:
            self._run_code(self._timed.code, slots)

    def _run_code(self, code: WholeChain, slots: Slots) -> None:
        bound = code.bound(slots)
        if bound is None:
            return self._plan.run(slots)
        results = self._allocated(slots)
        code.run(bound, slots, results)
        for slot in self._chain.dead:
            slots[slot] = None
        for slot, array in results.items():
            slots[slot] = array

    def _compiled(self) -> WholeChain:
        return WholeChain(self._chain, phases(self._chain), self._weight, self._report)

    def _allocated(self, slots: Slots) -> dict[int, Array]:
        """Return the arrays of results by slot: those of operands that nothing else refers to, or else new ones."""
        found: dict[int, Array] = {}
        for out in self._results:
            operand = self._reused.get(out.slot)
            if operand is not None and _may_be_overwritten(slots, operand):
                found[out.slot] = slots[operand]
                continue
            reserve(prod(out.shape) * out.dtype.itemsize)
            found[out.slot] = np.empty(out.shape, out.dtype)
        return found


def _may_be_overwritten(slots: Slots, operand: int) -> bool:
    """Return whether nothing else refers to a contiguous operand, or to the array that it is a view of the whole of."""
    if is_exclusively_owned(slots, operand):
        return bool(slots[operand].flags.c_contiguous)
    is_whole = is_exclusive_view(slots, operand) and slots[operand].base.nbytes == slots[operand].nbytes
    return is_whole and bool(slots[operand].flags.c_contiguous)


def reused_operands(chain: Chain) -> Mapping[int, int]:
    """Return, for results, an operand whose array may become that of the result: no later part reads it.

    A part reads the elements at a place before it stores any there.
    """
    last = {slot: number for number, (part, _) in enumerate(chain.parts) for slot in part.operands}
    free = {t.slot: t for t in chain.inputs if t.slot in chain.dead and not t.is_row}
    found: dict[int, int] = {}
    for number, (_, result) in enumerate(chain.parts):
        if result.slot not in chain.kept or result.is_row:
            continue
        for slot, tensor in free.items():
            if last[slot] <= number and tensor.dtype == result.dtype:
                found[result.slot] = free.pop(slot).slot
                break
    return found


def phases(chain: Chain) -> list[Segment | Part]:
    """Return what a row goes through: segments of ops on its elements, and ops that have one result for the row.

    A segment comes after what has one result for the row, unless that depends on the segment.
    """
    found: list[Segment | Part] = []
    run: list[Part] = []
    for part, result in chain.parts:
        if not result.is_row and part.op.name not in VIEWS:
            run.append(part)
            continue
        if not {p.result for p in run}.isdisjoint(part.operands):
            found.append(_segment(chain, run))
            run = []
        found.append(part)
    return [*found, _segment(chain, run)] if run else found


def _segment(chain: Chain, run: Sequence[Part]) -> Segment:
    """Return the ops of a run; they store what is a result of the chain, or what other parts use."""
    made = {part.result: part.dtype for part in run}
    others = {slot for part, _ in chain.parts if part.result not in made for slot in part.operands}
    loads = {slot: dtype for p in run for slot, dtype in zip(p.operands, p.operand_dtypes) if slot not in made}
    stores = {slot: dtype for slot, dtype in made.items() if slot in others or slot in chain.kept}
    return Segment(run, loads, stores)
