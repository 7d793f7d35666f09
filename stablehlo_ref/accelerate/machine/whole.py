"""A chain as one function in machine code, which computes whole tensors row by row, in a few calls.

Each row goes through segments, which are loops over its elements, and through reductions and ops on one value per row
between them. Values that only other segments or reductions need are in scratch rows. A chain without reductions
is one segment, whose rows are what its tensors have contiguous.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from stablehlo_ref import mode
from stablehlo_ref.accelerate.groups import FOLDS, REDUCE, SUM, VIEWS
from stablehlo_ref.accelerate.machine.assembly import Kind, NotCompiled, Register, literal
from stablehlo_ref.accelerate.machine.callbacks import run_code
from stablehlo_ref.accelerate.machine.compiler import Compiled, address
from stablehlo_ref.accelerate.machine.elementwise import elementwise
from stablehlo_ref.accelerate.machine.row_reductions import row_fold, row_sum
from stablehlo_ref.accelerate.machine.segments import (
    ADDRESSES,
    OUTER,
    VECTOR,
    Part,
    Segment,
    Writer,
    frame_of,
)
from stablehlo_ref.accelerate.machine.variants import Variants
from stablehlo_ref.define.computation import Slots
from stablehlo_ref.execute.regions import recognised_op
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.numerics.workers import share

if TYPE_CHECKING:
    from stablehlo_ref.accelerate.machine.chains import Chain

MAX_SCRATCH = 1 << 20  # bytes of scratch rows
PIECE = 1 << 22  # elements of a call, divided by the weight of the ops: some 0.2 ms
MAX_PIECE = 1 << 18

_SUMS = -1  # the slot of the scratch row of sums


class _Tensor(NamedTuple):
    """A tensor in the frame, and whether it has one element for each row."""

    slot: int
    dtype: DType
    is_row: bool


class _Plan(NamedTuple):
    """What a row goes through, with a row's number of elements if that is fixed, and the tensors of the frame."""

    phases: Sequence[Segment | Part]
    length: int | None
    operands: Sequence[_Tensor]
    results: Sequence[_Tensor]
    scratch: Sequence[_Tensor]

    @property
    def tensors(self) -> list[_Tensor]:
        return [*self.operands, *self.results, *self.scratch]


class _Bound(NamedTuple):
    """The code for operands of some strides, and for each call a frame without addresses, and offsets from these."""

    code: Compiled
    pieces: Sequence[tuple[Array, Array]]


class WholeChain:
    """A chain on whole tensors, which goes through `phases`: its segments and other parts.

    Raises
    ------
    NotCompiled
        If the ops of the chain have to run one by one.
    """

    def __init__(
        self, chain: Chain, phases: Sequence[Segment | Part], weight: int, report: Callable[[str, str], None]
    ) -> None:
        self._chain = chain
        self._plan = plan = _planned(chain, phases)
        self._most = min(MAX_PIECE, max(1, PIECE // weight))
        self._variants = Variants[_Bound](lambda spread: _RowWriter(plan, spread).text(), report)

    def bound(self, slots: Slots) -> _Bound | None:
        """Return the code for operands like those in slots; None if there is none."""
        arrays = [np.asarray(slots[tensor.slot]) for tensor in self._plan.operands]
        form = tuple([(x.shape, x.strides, x.flags.aligned) for x in arrays])
        return self._variants.bound(form, lambda: self._bind(arrays), "one by one")

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
        return _Bound(self._variants.code(spread), list(pieces))

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


def _planned(chain: Chain, phases: Sequence[Segment | Part]) -> _Plan:
    if chain.rows is None and len(phases) != 1:
        raise NotCompiled("a chain of several segments")
    length = None if chain.rows is None else prod(chain.shape[chain.rows :])
    segments = [phase for phase in phases if isinstance(phase, Segment)]
    parts = [phase for phase in phases if isinstance(phase, Part)]
    in_memory = {t.slot for t in chain.inputs if not t.is_row}
    for phase in phases:
        if isinstance(phase, Segment):
            in_memory.update(phase.stores)
        else:
            _check(phase, in_memory)
    stored = {slot: dtype for segment in segments for slot, dtype in segment.stores.items()}
    results = [_Tensor(t.slot, t.dtype, t.is_row) for t in chain.results]
    if missing := {t.slot for t in results if not t.is_row} - stored.keys():
        raise NotCompiled(f"{len(missing)} results that no segment stores")
    scratch = [_Tensor(slot, dtype, False) for slot, dtype in stored.items() if slot not in chain.kept]
    scratch += _row_of_sums(parts)
    if sum((length or 1) * tensor.dtype.itemsize for tensor in scratch) > MAX_SCRATCH:
        raise NotCompiled("long rows")
    return _Plan(phases, length, _operands(chain, segments, parts), results, scratch)


def _operands(chain: Chain, segments: Sequence[Segment], parts: Sequence[Part]) -> list[_Tensor]:
    """Return the operands of a chain, with those of rank 0 that are used as if they had one element for each row."""
    dtypes = {slot: dtype for segment in segments for slot, dtype in segment.loads.items()}
    dtypes |= {slot: dtype for part in parts for slot, dtype in zip(part.operands, part.operand_dtypes)}
    scalars = [slot for slot in dict.fromkeys(chain.scalars) if slot in dtypes]
    return [
        *(_Tensor(t.slot, t.dtype, t.is_row) for t in chain.inputs),
        *(_Tensor(slot, dtypes[slot], True) for slot in scalars),
    ]


def _row_of_sums(parts: Sequence[Part]) -> list[_Tensor]:
    """Return the scratch row for sums of floats, of the widest of their types, if there are such."""
    sums = {part.dtype for part in parts if part.op.name == REDUCE and part.dtype.kind == "f"}
    return [_Tensor(_SUMS, max(sums, key=lambda dtype: dtype.itemsize), False)] if sums else []


def _check(part: Part, in_memory: Collection[int]) -> None:
    """Raise NotCompiled for a reduction of what is not in memory, or in another order than that of `row_sum`."""
    if part.op.name != REDUCE:
        return
    body = recognised_op(part.op.regions[0])
    if body is None or part.operands[0] not in in_memory or set(part.operand_dtypes) != {part.dtype}:
        raise NotCompiled("a reduction of other elements")
    if body.name == SUM and part.dtype.kind == "f" and mode.current().exact_sums:
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


def _strides(tensor: _Tensor, shape: Sequence[int], outer: int, strides: Sequence[int] | None = None) -> list[int]:
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


class _RowWriter(Writer):
    """Writes the function of a chain; `spread` are the operands that have one element for each row."""

    def __init__(self, plan: _Plan, spread: Sequence[bool]) -> None:
        super().__init__()
        self._plan, self._spread = plan, spread
        if plan.length is not None:
            self.sizes[-1] = literal(self.index, plan.length)

    def row(self, indices: Sequence[Register]) -> None:
        plan, code = self._plan, self.code
        self._values: dict[int, Register] = {}  # of the row, by slot
        self._memory: dict[int, str] = {}  # pointers to elements of the row
        for number, tensor in enumerate(plan.tensors):
            pointer = self.pointer(number, indices)
            if number < len(self._spread) and self._spread[number]:
                self._values[tensor.slot] = code.load(pointer, Kind(tensor.dtype))
            else:
                self._memory[tensor.slot] = pointer
        for phase in plan.phases:
            if isinstance(phase, Segment):
                self._segment(phase)
            else:
                self._values[phase.result] = value = self._value(phase)
                if any(t.slot == phase.result for t in plan.results):
                    code.store(value, self._memory[phase.result])

    def _segment(self, segment: Segment) -> None:
        values, memory, length = self._values, self._memory, self._plan.length
        pointers = {(slot, False): memory[slot] for slot in segment.loads if slot not in values}
        pointers |= {(slot, True): memory[slot] for slot in segment.stores}
        self.segment(segment, pointers, values, length is None or length % segment.width != 0)

    def _value(self, part: Part) -> Register:
        """Write an op that has one result for the row."""
        if part.op.name in VIEWS:
            return self._values[part.operands[0]]
        if part.op.name != REDUCE:
            operands = [self._values[slot] for slot in part.operands]
            return elementwise(self.code, part.op, operands, part.is_canonical)
        body = recognised_op(part.op.regions[0])
        assert body is not None
        result = self._reduced(part, body)
        return self.code.canonical(result) if part.is_canonical and part.dtype.kind == "f" else result

    def _reduced(self, part: Part, body: Operation) -> Register:
        code, plan, (slot, init) = self.code, self._plan, part.operands
        row, start, length = self._memory[slot], self._values[init], plan.length
        assert length is not None

        def combined(x: Register, y: Register) -> Register:
            return elementwise(code, body, [x, y])

        if body.name == SUM and part.dtype.kind == "f":
            return combined(start, row_sum(code, row, self._memory[_SUMS], length, part.dtype))
        width = VECTOR // part.dtype.itemsize
        if body.name in FOLDS:
            return row_fold(code, row, length, start, combined, width)
        return combined(start, row_fold(code, row, length, literal(start.kind, 0), combined, width))
