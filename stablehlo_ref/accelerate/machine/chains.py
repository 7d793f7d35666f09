"""Chains in machine code, on whole tensors in a few calls: when they are compiled, and where their results are stored.

A chain without reductions is one segment, whose rows are what its tensors have contiguous.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np

from stablehlo_ref.accelerate.machine.assembly import NotCompiled
from stablehlo_ref.accelerate.machine.compiler import Compiled, address, reason_of, run_code
from stablehlo_ref.accelerate.machine.rows import (
    ADDRESSES,
    OUTER,
    REDUCE,
    SUM,
    SUMS,
    VIEWS,
    Part,
    RowPlan,
    RowWriter,
    Segment,
    Tensor,
    frame_of,
)
from stablehlo_ref.accelerate.policy import TimedCode, weight
from stablehlo_ref.define.computation import Slots
from stablehlo_ref.execute.ownership import is_exclusive_view, is_exclusively_owned
from stablehlo_ref.execute.regions import recognised_op
from stablehlo_ref.execute.run import CONTEXT, BlockPlan
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.limits.budget import check_time, reserve
from stablehlo_ref.numerics.workers import share

MAX_SCRATCH = 1 << 20  # bytes of scratch rows
PIECE = 1 << 22  # elements of a call, divided by the weight of the ops: some 0.2 ms
MAX_PIECE = 1 << 18
MAX_VARIANTS = 4  # of the code of a chain: one for each set of operands that are broadcast along rows
MAX_BOUND = 64  # forms of operands, by shapes and strides, that are known

Report = Callable[[str, str], None]  # is told what has become of a chain, with the code


@dataclass(frozen=True)
class Chain:
    """What a chain computes: from `inputs`, the results of `parts` one by one, of which those in `kept` are stored."""

    shape: tuple[int, ...]
    rows: int | None
    inputs: Sequence[Tensor]
    scalars: Sequence[int]  # slots of operands of rank 0
    parts: Sequence[Part]
    kept: frozenset[int]  # slots
    dead: frozenset[int]  # slots that are empty after the chain
    exact_sums: bool  # whether sums are exact

    @property
    def results(self) -> list[Tensor]:
        """The tensors that are stored."""
        return [part.result for part in self.parts if part.result.slot in self.kept]

    @property
    def weight(self) -> int:
        """The weight of the ops, for LLVM."""
        return sum(weight(part.op) for part in self.parts)


class MachineChain:
    """The step of a chain: it times the plan of its ops, and compiles the chain once that has taken long."""

    def __init__(self, chain: Chain, plan: BlockPlan, report: Report) -> None:
        self._chain, self._plan, self._report = chain, plan, report
        self._results, self._reused = chain.results, reused_operands(chain)
        self._timed = TimedCode[WholeChain](chain.weight, report)

    def __call__(self, slots: Slots) -> None:
        """Run the chain: by machine code, or by the plan of its ops as long as that has not taken long."""
        check_time()
        if not self._timed.may_run(slots[CONTEXT]):
            self._plan.run(slots)
        elif self._timed.code is None:
            self._timed.timed(lambda: self._plan.run(slots), lambda: WholeChain(self._chain, self._report))
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
    last = {slot: number for number, part in enumerate(chain.parts) for slot in part.operands}
    free = {t.slot: t for t in chain.inputs if t.slot in chain.dead and not t.is_row}
    found: dict[int, int] = {}
    for number, part in enumerate(chain.parts):
        result = part.result
        if result.slot not in chain.kept or result.is_row:
            continue
        for slot, tensor in free.items():
            if last[slot] <= number and tensor.dtype == result.dtype:
                found[result.slot] = free.pop(slot).slot
                break
    return found


def _phases(chain: Chain) -> list[Segment | Part]:
    """Return what a row goes through: segments of ops on its elements, and ops that have one result for the row.

    A segment comes after what has one result for the row, unless that depends on the segment.
    """
    found: list[Segment | Part] = []
    run: list[Part] = []
    for part in chain.parts:
        if not part.result.is_row and part.op.name not in VIEWS:
            run.append(part)
            continue
        if not {p.result.slot for p in run}.isdisjoint(part.operands):
            found.append(_segment(chain, run))
            run = []
        found.append(part)
    return [*found, _segment(chain, run)] if run else found


def _segment(chain: Chain, run: Sequence[Part]) -> Segment:
    """Return the ops of a run; they store what is a result of the chain, or what other parts use."""
    made = {part.result.slot: part.dtype for part in run}
    others = {slot for part in chain.parts if part.result.slot not in made for slot in part.operands}
    loads = {slot: dtype for p in run for slot, dtype in zip(p.operands, p.operand_dtypes) if slot not in made}
    stores = {slot: dtype for slot, dtype in made.items() if slot in others or slot in chain.kept}
    return Segment(run, loads, stores)


class _Bound(NamedTuple):
    """The code for operands of some strides, and for each call a frame without addresses, and offsets from these."""

    code: Compiled
    pieces: Sequence[tuple[Array, Array]]


class WholeChain:
    """A chain on whole tensors.

    Raises
    ------
    NotCompiled
        If the ops of the chain have to run one by one.
    """

    def __init__(self, chain: Chain, report: Report) -> None:
        self._chain, self._report = chain, report
        self._plan = _planned(chain)
        self._most = min(MAX_PIECE, max(1, PIECE // chain.weight))
        self._codes: dict[tuple[bool, ...], Compiled] = {}  # by which operands are broadcast along rows
        self._bound: dict[object, _Bound | None] = {}  # by the form of operands

    def bound(self, slots: Slots) -> _Bound | None:
        """Return the code for operands like those in slots; None, of which `report` is told, if there is none."""
        arrays = [np.asarray(slots[tensor.slot]) for tensor in self._plan.operands]
        form = tuple([(x.shape, x.strides, x.flags.aligned) for x in arrays])
        try:
            return self._bound[form]
        except KeyError:  # or another thread has cleared it
            check_time()
        found = None
        try:
            found = self._bind(arrays)
        except Exception as error:
            self._report(f"one by one: {reason_of(error)}", "")
        if len(self._bound) >= MAX_BOUND:
            self._bound.clear()
        self._bound[form] = found
        return found

    def _code(self, spread: tuple[bool, ...]) -> Compiled:
        """Return the code for operands of which some are broadcast; NotCompiled if there are too many variants."""
        if spread not in self._codes:
            if len(self._codes) >= MAX_VARIANTS:
                raise NotCompiled("too many variants")
            self._codes[spread] = Compiled(RowWriter(self._plan, spread).text())
            self._report("as machine code", self._codes[spread].text)
        return self._codes[spread]

    def run(self, bound: _Bound, slots: Slots, results: Mapping[int, Array]) -> None:
        """Compute the chain into arrays of its results, by slot."""
        arrays = [np.asarray(slots[tensor.slot]) for tensor in self._plan.operands]
        arrays += [results[tensor.slot] for tensor in self._plan.results]

        def work(pieces: Iterable[tuple[Array, Array]]) -> None:
            scratch = [np.empty(self._plan.length or 0, tensor.dtype) for tensor in self._plan.scratch]
            bases = np.array([address(x) for x in (*arrays, *scratch)], np.int64)
            for template, offsets in pieces:
                frame = template.copy()
                frame[ADDRESSES] = bases + offsets
                run_code(bound.code, address(frame))

        share(work, bound.pieces)

    def _bind(self, arrays: Sequence[Array]) -> _Bound:
        """Find, or compile, the code for operands like these; NotCompiled if there is none."""
        plan, (shape, rows) = self._plan, (self._chain.shape, self._chain.rows)
        if any(not x.flags.aligned or x.dtype != t.dtype for x, t in zip(arrays, plan.operands)):
            raise NotCompiled("elements of another form")
        outer = len(shape) if rows is None else rows
        strides = [_strides(t, shape, outer, x.strides) for t, x in zip(plan.operands, arrays)]
        strides += [_strides(t, shape, outer) for t in plan.results]
        strides += [[*[0] * outer, *_strides(t, shape, outer)[outer:]] for t in plan.scratch]
        sizes, strides = _three(shape, strides, rows)
        self._check(sizes, strides)
        spread = tuple(x[-1] == 0 for x in strides[: len(arrays)])
        pieces = _pieces(sizes, strides, self._most, OUTER if rows is None else OUTER - 1)
        return _Bound(self._code(spread), list(pieces))

    def _check(self, sizes: Sequence[int], strides: Sequence[Sequence[int]]) -> None:
        plan = self._plan
        steps = [x[-1] for x in strides]
        if any(step not in (0, t.dtype.itemsize) for step, t in zip(steps, plan.tensors)):
            raise NotCompiled("elements that are apart")
        widths = [phase.width for phase in plan.phases if isinstance(phase, Segment)]
        if (sizes[0] * sizes[1] > 1 or plan.length is not None) and sizes[-1] < max(widths, default=1):
            raise NotCompiled("short rows")
        for phase in plan.phases:
            if isinstance(phase, Part) and phase.op.name == REDUCE:
                slots = [t.slot for t in plan.operands]
                if phase.operands[0] in slots and not steps[slots.index(phase.operands[0])]:
                    raise NotCompiled("a reduction of one element")


def _planned(chain: Chain) -> RowPlan:
    phases = _phases(chain)
    if chain.rows is None and len(phases) != 1:
        raise NotCompiled("a chain of several segments")
    length = None if chain.rows is None else prod(chain.shape[chain.rows :])
    in_memory = {t.slot for t in chain.inputs if not t.is_row}
    stored: dict[int, DType] = {}
    for phase in phases:
        if isinstance(phase, Segment):
            stored |= phase.stores
        else:
            _check(phase, in_memory | stored.keys(), chain.exact_sums)
    if missing := {t.slot for t in chain.results if not t.is_row} - stored.keys():
        raise NotCompiled(f"{len(missing)} results that no segment stores")
    scratch = [Tensor(slot, chain.shape, dtype, False) for slot, dtype in stored.items() if slot not in chain.kept]
    sums = {p.dtype for p in phases if isinstance(p, Part) and p.op.name == REDUCE and p.dtype.kind == "f"}
    if sums:
        scratch.append(Tensor(SUMS, chain.shape, max(sums, key=lambda dtype: dtype.itemsize), False))
    if sum((length or 1) * tensor.dtype.itemsize for tensor in scratch) > MAX_SCRATCH:
        raise NotCompiled("long rows")
    dtypes = {slot: dtype for part in chain.parts for slot, dtype in zip(part.operands, part.operand_dtypes)}
    scalars = [Tensor(slot, (), dtypes[slot], True) for slot in dict.fromkeys(chain.scalars)]
    return RowPlan(phases, length, [*chain.inputs, *scalars], chain.results, scratch)


def _check(part: Part, in_memory: Collection[int], exact_sums: bool) -> None:
    """Raise NotCompiled for a reduction of what is not in memory, or in another order than that of `row_sum`."""
    if part.op.name != REDUCE:
        return
    body = recognised_op(part.op.regions[0])
    if body is None or part.operands[0] not in in_memory or set(part.operand_dtypes) != {part.dtype}:
        raise NotCompiled("a reduction of other elements")
    if body.name == SUM and part.dtype.kind == "f" and exact_sums:
        raise NotCompiled("exact sums")


def merged(shape: Sequence[int], strides: Sequence[Sequence[int]]) -> tuple[list[int], list[list[int]]]:
    """Merge dimensions that lie one after the other in all tensors; return sizes, and the strides of each tensor."""
    sizes: list[int] = []
    columns: list[list[int]] = []
    for n, *column in zip(shape, *strides):
        if n == 1:
            continue
        if sizes and all(outer == inner * n for outer, inner in zip(columns[-1], column)):
            sizes[-1], columns[-1] = sizes[-1] * n, column
        else:
            sizes.append(n)
            columns.append(column)
    return sizes, [list(x) for x in zip(*columns)] if sizes else [[] for _ in strides]


def _strides(tensor: Tensor, shape: Sequence[int], outer: int, strides: Sequence[int] | None = None) -> list[int]:
    """Return the strides of a tensor, or of a new one in C order, along the dimensions of a chain."""
    if tensor.is_row and strides is not None and len(strides) < outer:
        return [0] * len(shape)  # a scalar
    own = [*shape[:outer], *[1] * (len(shape) - outer)] if tensor.is_row else shape
    if strides is None:
        strides = [tensor.dtype.itemsize * prod(own[axis + 1 :]) for axis in range(len(own))]
    found = [*strides[:outer], *[0] * (len(shape) - outer)] if tensor.is_row else list(strides)
    return [0 if n == 1 else stride for n, stride in zip(own, found)]


def _three(
    shape: Sequence[int], strides: Sequence[Sequence[int]], rows: int | None
) -> tuple[list[int], list[list[int]]]:
    """Merge dimensions to three, of which the last is a row."""
    sizes, columns = merged(shape[:rows], [x[:rows] for x in strides])
    if rows is not None:
        lengths, steps = merged(shape[rows:], [x[rows:] for x in strides])
        if len(lengths) != 1:
            raise NotCompiled("rows of elements that are apart")
        sizes, columns = [*sizes, *lengths], [[*x, *step] for x, step in zip(columns, steps)]
    missing = OUTER + 1 - len(sizes)
    if missing < 0 or not sizes:
        raise NotCompiled("elements that are apart")
    return [*[1] * missing, *sizes], [[*[0] * missing, *x] for x in columns]


def _pieces(
    sizes: Sequence[int], strides: Sequence[Sequence[int]], most: int, last: int
) -> Iterator[tuple[Array, Array]]:
    """Yield frames, and offsets of addresses, of parts of about `most` elements; `last` is the last axis to split."""
    axis = next(a for a in range(len(sizes)) if prod(sizes[a + 1 :]) <= most or a == last)
    step = max(1, most // prod(sizes[axis + 1 :]))
    table = np.array(strides, np.int64)
    for outer in product(*map(range, sizes[:axis])):
        for start in range(0, sizes[axis], step):
            part = [*[1] * axis, min(step, sizes[axis] - start), *sizes[axis + 1 :]]
            first = np.array([*outer, start, *[0] * (OUTER - axis)], np.int64)
            yield frame_of(part, strides), table @ first
