"""Elementwise ops of a chain as one function in machine code, which computes a block of elements, a vector at a time.

A block is seen as three dimensions at most, of which the last is contiguous in all tensors that are not broadcast along
it. Sizes, addresses and strides are in a frame, an array of integers; which operands are broadcast along the last
dimension is part of the code. What remains of a row is copied to and from a vector.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from stablehlo_ref.accelerate.machine.assembly import INDEX, Assembly, Kind, Register, literal
from stablehlo_ref.accelerate.machine.elementwise import elementwise
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import TensorType, Type
from stablehlo_ref.numerics.dtypes import numpy_dtype

VECTOR = 64  # bytes of the widest element type that are computed at once
OUTER = 2  # dimensions of a block besides the last
_WORD = 8
_SIZES, _TENSOR = (OUTER + 1) * _WORD, (OUTER + 1) * _WORD  # bytes of a frame: for sizes, and for each tensor
ADDRESSES = slice(OUTER + 1, None, OUTER + 1)  # where a frame has the addresses of tensors, which strides follow


@dataclass(frozen=True)
class Part:
    """An op, the slots of its operands and of its result, and whether NaNs of the result are made canonical."""

    op: Operation
    operands: tuple[int, ...]
    result: int
    dtype: DType
    is_canonical: bool

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

    def kinds(self, keys: Iterable[tuple[int, bool]]) -> dict[tuple[int, bool], Kind]:
        """Return the kinds of vectors of tensors, by slot and whether it is stored."""
        return {key: Kind((self.stores if key[1] else self.loads)[key[0]], self.width) for key in keys}

    def source(self, spread: Sequence[bool]) -> str:
        """Return the code for operands of which some are broadcast along the last dimension."""
        return _SegmentWriter(self, spread).text()


def frame_of(sizes: Sequence[int], strides: Sequence[Sequence[int]]) -> Array:
    """Return a frame for three sizes, and for tensors with strides along these; their addresses are 0."""
    return np.array([*sizes, *(n for x in strides for n in (0, *x[:-1]))], np.int64)


def dtype_of(type: Type) -> DType:
    """Return the dtype of a tensor type."""
    assert isinstance(type, TensorType)
    return numpy_dtype(type.element_type)


class Writer:
    """Writes a function of blocks: loops over the outer dimensions, in which `row` computes a row."""

    def __init__(self) -> None:
        self.code = Assembly()
        self.index = Kind(INDEX)
        self.sizes = [self._entry_word(n * _WORD) for n in range(OUTER + 1)]

    def row(self, indices: Sequence[Register]) -> None:
        """Write what computes the row at indices of the outer dimensions."""
        raise NotImplementedError

    def text(self) -> str:
        """Return the module."""
        self._loop(0, [])
        self.code.do("ret i64 0")
        return self.code.text

    def _entry_word(self, offset: int) -> Register:
        """Load a word of the frame before the loops."""
        code = self.code
        with code.at(code.entry):
            at = code.let(f"getelementptr i8, ptr %frame, i64 {offset}", self.index)
            return code.load(at.name, self.index)

    def _loop(self, axis: int, indices: list[Register]) -> None:
        """Write the loops over a dimension and those in it."""
        if axis == OUTER:
            return self.row(indices)
        return self.code.count(0, self.sizes[axis], 1, lambda i: self._loop(axis + 1, [*indices, i]))

    def pointer(self, number: int, indices: Sequence[Register]) -> str:
        """Return the pointer to a row of the tensor with a number in the frame."""
        code = self.code
        base, *strides = [self._entry_word(_SIZES + number * _TENSOR + n * _WORD) for n in range(OUTER + 1)]
        for i, stride in zip(indices, strides):
            base = code.binary("add", base, code.binary("mul", i, stride))
        return code.let(f"inttoptr i64 {base} to ptr", self.index).name

    def segment(
        self,
        segment: Segment,
        pointers: Mapping[tuple[int, bool], str],
        values: Mapping[int, Register],
        has_rest: bool = True,
    ) -> None:
        """Write a loop over a row. The keys of pointers are slots, and whether a tensor is stored.

        `values` are operands of one element. Without `has_rest`, the row consists of whole vectors.
        """
        width = segment.width
        spread = {slot: self.code.splat(values[slot], width) for slot in segment.loads if slot in values}
        run = self._vector_or_rest if has_rest else self._vector
        self.code.count(0, self.sizes[-1], width, lambda i: run(segment, i, pointers, dict(spread)))

    def _vector(
        self, segment: Segment, i: Register, pointers: Mapping[tuple[int, bool], str], values: dict[int, Register]
    ) -> None:
        kinds = segment.kinds(pointers)
        places = {key: self.code.address(pointers[key], i, Kind(kind.dtype)) for key, kind in kinds.items()}
        self._ops(segment, places, kinds, values)

    def _vector_or_rest(
        self, segment: Segment, i: Register, pointers: Mapping[tuple[int, bool], str], values: dict[int, Register]
    ) -> None:
        """Write the ops on a vector: of the row, or of the rest of it."""
        code = self.code
        left = code.binary("sub", self.sizes[-1], i)
        is_short = code.compare("slt", left, literal(self.index, segment.width))
        rare = code.intrinsic("expect", is_short, Register("false", is_short.kind))
        kinds = segment.kinds(pointers)
        cells = {key: self._zeros(kind) for key, kind in kinds.items()}
        places = {key: code.address(pointers[key], i, Kind(kind.dtype)) for key, kind in kinds.items()}
        code.when(rare, lambda: self._copy([(cells[k], places[k], kinds[k]) for k in kinds if not k[1]], left))
        used = {k: code.let(f"select i1 {is_short}, ptr {cells[k]}, ptr {places[k]}", self.index).name for k in kinds}
        self._ops(segment, used, kinds, values)
        code.when(rare, lambda: self._copy([(places[k], cells[k], kinds[k]) for k in kinds if k[1]], left))

    def _ops(
        self,
        segment: Segment,
        places: Mapping[tuple[int, bool], str],
        kinds: Mapping[tuple[int, bool], Kind],
        values: dict[int, Register],
    ) -> None:
        """Load a vector of each tensor before any is stored, which may be in the array of an operand."""
        for key, kind in kinds.items():
            if not key[1]:
                values[key[0]] = self.code.load(places[key], kind)
        for part in segment.parts:
            operands = [values[slot] for slot in part.operands]
            values[part.result] = elementwise(self.code, part.op, operands, part.is_canonical)
        for slot in segment.stores:
            self.code.store(values[slot], places[slot, True])

    def _zeros(self, kind: Kind) -> str:
        cell = self.code.cell(kind)
        self.code.entry.append(f"  store {kind.stored} zeroinitializer, ptr {cell}")
        return cell

    def _copy(self, pairs: Sequence[tuple[str, str, Kind]], count: Register) -> None:
        """Copy the first elements from each second place to the first one."""
        for target, source, kind in pairs:
            size = self.code.binary("mul", count, literal(self.index, kind.stored.dtype.itemsize))
            self.code.copy(target, source, size)


class _SegmentWriter(Writer):
    """Writes the function of one segment."""

    def __init__(self, segment: Segment, spread: Sequence[bool]) -> None:
        super().__init__()
        self._segment, self._spread = segment, spread

    def row(self, indices: Sequence[Register]) -> None:
        segment, values, pointers = self._segment, dict[int, Register](), dict[tuple[int, bool], str]()
        is_spread = [*self._spread, *[False] * len(segment.stores)]
        keys = [*((slot, False) for slot in segment.loads), *((slot, True) for slot in segment.stores)]
        for number, key in enumerate(keys):
            pointer = self.pointer(number, indices)
            if is_spread[number]:
                values[key[0]] = self.code.load(pointer, Kind(segment.loads[key[0]]))
            else:
                pointers[key] = pointer
        self.segment(segment, pointers, values)
