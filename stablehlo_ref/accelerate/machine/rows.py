"""Rows of tensors as one function in machine code: elementwise ops and reductions, a vector of elements at a time.

A tensor is seen as three dimensions at most, of which the last, a row, is contiguous in all tensors that are not
broadcast along it. Sizes, addresses and strides are in a frame, an array of integers; which operands are broadcast
along rows is part of the code. Each row goes through segments, which are loops over its elements, and through
reductions and ops on one value per row between them. Values that only other segments or reductions need are in
scratch rows. What remains of a row after whole vectors is copied to and from a vector.

Sums of floats are reduced by the tree of algorithms/reduction_schedule.py: on each level, adjacent elements are added,
and a surplus element at the end is kept, to be added last. The order of other reductions makes no difference. Maxima
and minima are those of IEEE 754-2019, for which -0 is less than +0; which of several NaNs they return cannot be
observed, as NaNs are made canonical where they can be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from stablehlo_ref.accelerate.machine.assembly import INDEX, Assembly, Kind, Register, literal
from stablehlo_ref.accelerate.machine.elementwise import elementwise
from stablehlo_ref.accelerate.python.expressions import dtype_of
from stablehlo_ref.execute.regions import recognised_op
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.core import Operation

VIEWS = ("stablehlo.broadcast_in_dim", "stablehlo.reshape")
REDUCE = "stablehlo.reduce"
SUM = "stablehlo.add"
FOLDS = ("stablehlo.maximum", "stablehlo.minimum", "stablehlo.and", "stablehlo.or")  # idempotent, in any order

VECTOR = 64  # bytes of the widest element type that are computed at once
OUTER = 2  # dimensions besides rows
WORDS = OUTER + 1  # of a frame: for sizes, and for each tensor, whose address comes before strides
ADDRESSES = slice(WORDS, None, WORDS)  # where a frame has the addresses of tensors
SUMS = -1  # the slot of the scratch row of sums

LANES = 64  # elements that are reduced in registers
STEP = 16  # sums that are computed at a time

Emit = Callable[[Register, Register], Register]
Key = tuple[int, bool]  # a slot, and whether it is stored


class Tensor(NamedTuple):
    """A tensor in the frame: its shape as a whole, and whether it has one element for each row."""

    slot: int
    shape: tuple[int, ...]
    dtype: DType
    is_row: bool


@dataclass(frozen=True)
class Part:
    """An op, the slots of its operands, its result, and whether NaNs of that are made canonical."""

    op: Operation
    operands: tuple[int, ...]
    result: Tensor
    is_canonical: bool

    @property
    def dtype(self) -> DType:
        """The dtype of the result."""
        return self.result.dtype

    @property
    def operand_dtypes(self) -> list[DType]:
        """The dtypes of the operands."""
        return [dtype_of(type) for type in self.op.operand_types]


class Segment(NamedTuple):
    """Ops one after the other; the slots that they load, with dtypes, and those that they store."""

    parts: Sequence[Part]
    loads: dict[int, DType]
    stores: dict[int, DType]

    @property
    def width(self) -> int:
        """The number of elements of a vector."""
        dtypes = {*self.loads.values(), *(part.dtype for part in self.parts)}
        return VECTOR // max(dtype.itemsize for dtype in dtypes)

    def kinds(self, keys: Iterable[Key]) -> dict[Key, Kind]:
        """Return the kinds of vectors of tensors, by slot and whether it is stored."""
        return {key: Kind((self.stores if key[1] else self.loads)[key[0]], self.width) for key in keys}


class RowPlan(NamedTuple):
    """What a row goes through, with a row's number of elements if that is fixed, and the tensors of the frame."""

    phases: Sequence[Segment | Part]
    length: int | None
    operands: Sequence[Tensor]
    results: Sequence[Tensor]
    scratch: Sequence[Tensor] = ()

    @property
    def tensors(self) -> list[Tensor]:
        """The tensors in the order of the frame."""
        return [*self.operands, *self.results, *self.scratch]


def frame_of(sizes: Sequence[int], strides: Sequence[Sequence[int]]) -> Array:
    """Return a frame for three sizes, and for tensors with strides along these; their addresses are 0."""
    return np.array([*sizes, *(n for x in strides for n in (0, *x[:-1]))], np.int64)


class RowWriter:
    """Writes the function of a plan: loops over the outer dimensions, each turn of which computes a row.

    `spread` are the operands that are broadcast along rows, or have one element for each row.
    """

    def __init__(self, plan: RowPlan, spread: Sequence[bool]) -> None:
        self.code = Assembly()
        self._plan, self._spread = plan, spread
        self._sizes = [self._word(n) for n in range(WORDS)]
        if plan.length is not None:
            self._sizes[-1] = literal(Kind(INDEX), plan.length)

    def text(self) -> str:
        """Return the module."""
        self._loop(0, [])
        self.code.do("ret i64 0")
        return self.code.text

    def _word(self, number: int) -> Register:
        """Load a word of the frame before the loops."""
        code = self.code
        with code.at(code.entry):
            at = code.let(f"getelementptr i64, ptr %frame, i64 {number}", Kind(INDEX))
            return code.load(at.name, Kind(INDEX))

    def _loop(self, axis: int, indices: list[Register]) -> None:
        """Write the loops over a dimension and those in it."""
        if axis == OUTER:
            return self._row(indices)
        return self.code.count(0, self._sizes[axis], 1, lambda i: self._loop(axis + 1, [*indices, i]))

    def _row(self, indices: Sequence[Register]) -> None:
        plan, code = self._plan, self.code
        self._values: dict[int, Register] = {}  # of the row, by slot
        self._memory: dict[int, str] = {}  # pointers to elements of the row
        for number, tensor in enumerate(plan.tensors):
            pointer = self._pointer(number, indices)
            if number < len(self._spread) and self._spread[number]:
                self._values[tensor.slot] = code.load(pointer, Kind(tensor.dtype))
            else:
                self._memory[tensor.slot] = pointer
        for phase in plan.phases:
            if isinstance(phase, Segment):
                self._segment(phase)
            else:
                self._values[phase.result.slot] = value = self._value(phase)
                if phase.result in plan.results:
                    code.store(value, self._memory[phase.result.slot])

    def _pointer(self, number: int, indices: Sequence[Register]) -> str:
        """Return the pointer to a row of the tensor with a number in the frame."""
        code = self.code
        base, *strides = [self._word((1 + number) * WORDS + n) for n in range(WORDS)]
        for i, stride in zip(indices, strides):
            base = code.binary("add", base, code.binary("mul", i, stride))
        return code.let(f"inttoptr i64 {base} to ptr", Kind(INDEX)).name

    # --- segments -----------------------------------------------------------------------------------------------

    def _segment(self, segment: Segment) -> None:
        """Write a loop over the elements of a row; of whole vectors alone if there is no rest."""
        values, memory, length, width = self._values, self._memory, self._plan.length, segment.width
        pointers = {(slot, False): memory[slot] for slot in segment.loads if slot not in values}
        pointers |= {(slot, True): memory[slot] for slot in segment.stores}
        spread = {slot: self.code.splat(values[slot], width) for slot in segment.loads if slot in values}
        run = self._vector_or_rest if length is None or length % width else self._vector
        self.code.count(0, self._sizes[-1], width, lambda i: run(segment, i, pointers, dict(spread)))

    def _vector(self, segment: Segment, i: Register, pointers: Mapping[Key, str], values: dict[int, Register]) -> None:
        kinds = segment.kinds(pointers)
        places = {key: self.code.address(pointers[key], i, Kind(kind.dtype)) for key, kind in kinds.items()}
        self._ops(segment, places, kinds, values)

    def _vector_or_rest(
        self, segment: Segment, i: Register, pointers: Mapping[Key, str], values: dict[int, Register]
    ) -> None:
        """Write the ops on a vector: of the row, or of the rest of it."""
        code = self.code
        left = code.binary("sub", self._sizes[-1], i)
        is_short = code.compare("slt", left, literal(Kind(INDEX), segment.width))
        rare = code.intrinsic("expect", is_short, Register("false", is_short.kind))
        kinds = segment.kinds(pointers)
        cells = {key: self._zeros(kind) for key, kind in kinds.items()}
        places = {key: code.address(pointers[key], i, Kind(kind.dtype)) for key, kind in kinds.items()}
        code.when(rare, lambda: self._copy([(cells[k], places[k], kinds[k]) for k in kinds if not k[1]], left))
        used = {k: code.let(f"select i1 {is_short}, ptr {cells[k]}, ptr {places[k]}", Kind(INDEX)).name for k in kinds}
        self._ops(segment, used, kinds, values)
        code.when(rare, lambda: self._copy([(places[k], cells[k], kinds[k]) for k in kinds if k[1]], left))

    def _ops(
        self,
        segment: Segment,
        places: Mapping[Key, str],
        kinds: Mapping[Key, Kind],
        values: dict[int, Register],
    ) -> None:
        """Load a vector of each tensor before any is stored, which may be in the array of an operand."""
        for key, kind in kinds.items():
            if not key[1]:
                values[key[0]] = self.code.load(places[key], kind)
        for part in segment.parts:
            operands = [values[slot] for slot in part.operands]
            values[part.result.slot] = elementwise(self.code, part.op, operands, part.is_canonical)
        for slot in segment.stores:
            self.code.store(values[slot], places[slot, True])

    def _zeros(self, kind: Kind) -> str:
        cell = self.code.cell(kind)
        self.code.entry.append(f"  store {kind.stored} zeroinitializer, ptr {cell}")
        return cell

    def _copy(self, pairs: Sequence[tuple[str, str, Kind]], count: Register) -> None:
        """Copy the first elements from each second place to the first one."""
        for target, source, kind in pairs:
            size = self.code.binary("mul", count, literal(Kind(INDEX), kind.stored.dtype.itemsize))
            self.code.copy(target, source, size)

    # --- one value for each row ---------------------------------------------------------------------------------

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
            return combined(start, row_sum(code, row, self._memory[SUMS], length, part.dtype))
        width = VECTOR // part.dtype.itemsize
        if body.name in FOLDS:
            return row_fold(code, row, length, start, combined, width)
        return combined(start, row_fold(code, row, length, literal(start.kind, 0), combined, width))


def row_sum(code: Assembly, row: str, scratch: str, size: int, dtype: DType) -> Register:
    """Append the sum of a row of floats; `scratch` is a pointer to room for half as many elements."""
    tail: Register | None = None
    while size > LANES:
        levels = 1 if size % 8 else 3
        if size % 2:
            tail = _plus_tail(code, _element(code, row, size - 1, dtype), tail)
        size >>= levels
        _levels(code, row, scratch, size, dtype, levels)
        row = scratch
    x = code.load(row, Kind(dtype, size))
    while size > 1:
        if size % 2:
            tail = _plus_tail(code, code.element(x, size - 1), tail)
        size //= 2
        x = _pairs(code, x, size)
    return _plus_tail(code, x, tail)


def _plus_tail(code: Assembly, x: Register, tail: Register | None) -> Register:
    return x if tail is None else code.binary("fadd", x, tail)


def _element(code: Assembly, row: str, number: int, dtype: DType) -> Register:
    return code.load(code.address(row, literal(Kind(INDEX), number), Kind(dtype)), Kind(dtype))


def _every_second(code: Assembly, x: Register, first: int, count: int) -> Register:
    return code.shuffled([x], [(0, first + 2 * n) for n in range(count)])


def _pairs(code: Assembly, x: Register, count: int) -> Register:
    """Add the elements of each of the first `count` pairs."""
    return code.binary("fadd", _every_second(code, x, 0, count), _every_second(code, x, 1, count))


def _levels(code: Assembly, row: str, scratch: str, size: int, dtype: DType, levels: int) -> None:
    """Write `size` sums of so many levels, which may be in place: an element is read before one is stored there."""
    index, one = Kind(INDEX), Kind(dtype)

    def sums(first: Register, count: int) -> None:
        at = code.binary("shl", first, literal(index, levels))
        x = code.load(code.address(row, at, one), Kind(dtype, count << levels))
        for level in reversed(range(levels)):
            x = _pairs(code, x, count << level)
        code.store(x, code.address(scratch, first, one))

    whole = size - size % STEP
    code.count(0, literal(index, whole), STEP, lambda i: sums(i, STEP))
    if rest := size % STEP:
        sums(literal(index, whole), rest)


def row_fold(code: Assembly, row: str, size: int, start: Register, emit: Emit, width: int) -> Register:
    """Append the reduction of a row in any order by `emit`, for which `start` is an identity, or idempotent."""
    index, dtype = Kind(INDEX), start.kind.dtype
    steps, found = size // (2 * width), start
    if steps:
        cells = [code.variable(code.splat(start, width)) for _ in range(2)]

        def step(first: Register) -> None:
            for number, cell in enumerate(cells):
                at = code.binary("add", first, literal(index, number * width))
                x = code.load(code.address(row, at, Kind(dtype)), Kind(dtype, width))
                code.store(emit(code.load(cell, x.kind), x), cell)

        code.count(0, literal(index, steps * 2 * width), 2 * width, step)
        found = _halved(code, emit(*[code.load(cell, Kind(dtype, width)) for cell in cells]), emit)
    return _with_rest(code, row, range(steps * 2 * width, size), found, emit)


def _halved(code: Assembly, x: Register, emit: Emit) -> Register:
    """Reduce a vector of a power of two of elements."""
    while x.kind.count > 1:
        half = x.kind.count // 2
        x = emit(*[code.shuffled([x], [(0, first + n) for n in range(half)]) for first in (0, half)])
    return x


def _with_rest(code: Assembly, row: str, numbers: Sequence[int], found: Register, emit: Emit) -> Register:
    for number in numbers:
        found = emit(found, _element(code, row, number, found.kind.dtype))
    return found
