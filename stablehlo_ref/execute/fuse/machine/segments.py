"""Elementwise ops of a chain as one function in machine code, which computes a block of elements, a vector at a time.

A block is seen as three dimensions at most, of which the last is contiguous in all tensors that are not broadcast along
it. Sizes, addresses and strides are in a frame, an array of integers; which operands are broadcast along the last
dimension is part of the code. What remains of a row is copied to and from a vector.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from stablehlo_ref.execute.fuse.machine.assembly import INDEX, Assembly, Kind, NotCompiled, Register, literal
from stablehlo_ref.execute.fuse.machine.elementwise import elementwise
from stablehlo_ref.execute.fuse.machine.tensors import is_plain
from stablehlo_ref.ir.arrays import DType
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import TensorType, Type
from stablehlo_ref.numerics.dtypes import numpy_dtype

VECTOR = 64  # bytes of the widest element type that are computed at once
OUTER = 2  # dimensions of a block besides the last
_WORD = 8
_SIZES, _TENSOR = (OUTER + 1) * _WORD, (OUTER + 1) * _WORD  # bytes of a frame: for sizes, and for each tensor


@dataclass(frozen=True)
class Part:
    """An op, the slots of its operands and of its result, and whether NaNs of the result are made canonical."""

    op: Operation
    operands: tuple[int, ...]
    result: int
    dtype: DType
    is_canonical: bool


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

    def source(self, spread: Sequence[bool]) -> str:
        """Return the code for operands of which some are broadcast along the last dimension."""
        return _Writer(self, spread).text()


def emit(code: Assembly, part: Part, operands: list[Register]) -> Register:
    """Append the instructions of an op; NotCompiled if it has none."""
    result = elementwise(code, part.op, operands)
    if result is None:
        raise NotCompiled(part.op.name)
    return code.canonical(result) if part.is_canonical and part.dtype.kind == "f" else result


def has_code(part: Part) -> bool:
    """Return whether an op has instructions for its types."""
    types = [*part.op.operand_types, *part.op.result_types]
    if not all(isinstance(type, TensorType) and is_plain(type) for type in types):
        return False
    code = Assembly()
    try:
        emit(code, part, [Register("%x", Kind(dtype_of(type), 4)) for type in part.op.operand_types])
    except NotCompiled:
        return False
    return True


def dtype_of(type: Type) -> DType:
    """Return the dtype of a tensor type."""
    assert isinstance(type, TensorType)
    return numpy_dtype(type.element_type)


class _Writer:
    """Writes the function of a segment."""

    def __init__(self, segment: Segment, spread: Sequence[bool]) -> None:
        self.segment = segment
        self.spread = dict(zip(segment.loads, spread))
        self.code = Assembly()
        self.index = Kind(INDEX)
        self.sizes = [self._entry_word(n * _WORD) for n in range(OUTER + 1)]
        self.width = segment.width

    def text(self) -> str:
        """Return the module."""
        code = self.code
        self._loop(0, [])
        code.do("ret i64 0")
        lines = [*code.entry, "  br label %start", "start:", *code.lines]
        head = "define i64 @run(ptr %frame, ptr %renew, i64 %turns) {"
        return "\n".join([*code.declared.values(), head, *lines, "}"]) + "\n"

    def _entry_word(self, offset: int) -> Register:
        """Load a word of the frame before the loops."""
        code, lines = self.code, self.code.lines
        code.lines = code.entry
        at = code.let(f"getelementptr i8, ptr %frame, i64 {offset}", self.index)
        loaded = code.let(f"load i64, ptr {at}, align 8", self.index)
        code.lines = lines
        return loaded

    def _loop(self, axis: int, indices: list[Register]) -> None:
        """Write the loops over a dimension and those in it."""
        if axis == OUTER:
            return self._row(indices)
        return self.code.count(0, self.sizes[axis], 1, lambda i: self._loop(axis + 1, [*indices, i]))

    def _row(self, indices: Sequence[Register]) -> None:
        code, values = self.code, dict[int, Register]()
        pointers: dict[tuple[int, bool], str] = {}
        tensors = [*((slot, False) for slot in self.segment.loads), *((slot, True) for slot in self.segment.stores)]
        for number, key in enumerate(tensors):
            base, *strides = [self._entry_word(_SIZES + number * _TENSOR + n * _WORD) for n in range(OUTER + 1)]
            for i, stride in zip(indices, strides):
                base = code.binary("add", base, code.binary("mul", i, stride))
            pointers[key] = code.let(f"inttoptr i64 {base} to ptr", self.index).name
        for slot, dtype in self.segment.loads.items():
            if self.spread[slot]:
                values[slot] = code.splat(code.load(pointers.pop((slot, False)), Kind(dtype)), self.width)
        code.count(0, self.sizes[-1], self.width, lambda i: self._vector(i, pointers, dict(values)))

    def _vector(self, i: Register, pointers: dict[tuple[int, bool], str], values: dict[int, Register]) -> None:
        """Write the ops on a vector: of the row, or of the rest of it."""
        code, segment = self.code, self.segment
        left = code.binary("sub", self.sizes[-1], i)
        is_short = code.compare("slt", left, literal(self.index, self.width))
        kinds = {key: Kind((segment.stores if key[1] else segment.loads)[key[0]], self.width) for key in pointers}
        cells = {key: self._zeros(kind) for key, kind in kinds.items()}
        places = {key: code.address(pointers[key], i, Kind(kind.dtype)) for key, kind in kinds.items()}
        self._where(is_short, lambda: self._copy([(cells[k], places[k], kinds[k]) for k in kinds if not k[1]], left))
        used = {k: code.let(f"select i1 {is_short}, ptr {cells[k]}, ptr {places[k]}", self.index).name for k in kinds}
        for key, kind in kinds.items():
            if not key[1]:
                values[key[0]] = code.load(used[key], kind)
        for part in segment.parts:
            values[part.result] = emit(code, part, [values[slot] for slot in part.operands])
        for slot in segment.stores:
            code.store(values[slot], used[slot, True])
        self._where(is_short, lambda: self._copy([(places[k], cells[k], kinds[k]) for k in kinds if k[1]], left))

    def _zeros(self, kind: Kind) -> str:
        cell = self.code.cell(kind)
        self.code.entry.append(f"  store {kind.stored} zeroinitializer, ptr {cell}")
        return cell

    def _where(self, condition: Register, body: Callable[[], None]) -> None:
        code, inside, after = self.code, self.code.name("R"), self.code.name("R")
        rare = code.intrinsic("expect", condition, Register("false", condition.kind))
        code.do(f"br i1 {rare}, label %{inside}, label %{after}")
        code.label(inside)
        body()
        code.do(f"br label %{after}")
        code.label(after)

    def _copy(self, pairs: Sequence[tuple[str, str, Kind]], count: Register) -> None:
        """Copy the first elements from each second place to the first one."""
        code, symbol = self.code, "@llvm.memcpy.p0.p0.i64"
        code.declared[symbol] = f"declare void {symbol}(ptr, ptr, i64, i1)"
        for target, source, kind in pairs:
            size = code.binary("mul", count, literal(self.index, kind.stored.dtype.itemsize))
            code.do(f"call void {symbol}(ptr {target}, ptr {source}, i64 {size}, i1 false)")
