"""The frame of a loop, and the tensors that are in memory while it runs.

The frame is a buffer with a field for each value that comes in or goes out. The field of a tensor in memory is the
address of its array. An array changes in place, and what it held before can not be read again: the version of a tensor
in memory is compared with that of its array while the code is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np

from stablehlo_ref.accelerate.machine.assembly import (
    ALIGNMENT,
    INDEX,
    Assembly,
    Kind,
    NotCompiled,
    Register,
    literal,
)
from stablehlo_ref.ir.arrays import Array, DType

ADDRESS = np.dtype(np.uint64)
MAX_SIZE = 1 << 20  # elements of a tensor in memory that is computed
HEAD = ALIGNMENT // 8  # words of a frame before its fields


@dataclass
class Field:
    """A value in the frame, at an offset in bytes: of a slot, a constant, or memory for the code itself."""

    offset: int
    dtype: DType
    shape: tuple[int, ...]
    in_memory: bool
    slot: int | None = None
    constant: Array | None = None
    is_state: bool = False
    is_written: bool = False


@dataclass
class Layout:
    """The fields of a frame; the first eight bytes hold the number of turns since the last check."""

    fields: list[Field] = field(default_factory=list)
    size: int = ALIGNMENT

    def add(self, dtype: DType, shape: tuple[int, ...], in_memory: bool) -> Field:
        new = Field(self.size, dtype, shape, in_memory)
        self.size += 8 if in_memory else -(-dtype.itemsize * prod(shape) // 8) * 8
        self.fields.append(new)
        return new


@dataclass(frozen=True)
class Memory:
    """A tensor in memory, or a view of one: the number of its array, a pointer, and strides in elements."""

    buffer: int
    pointer: str
    dtype: DType
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    version: int

    @property
    def is_contiguous(self) -> bool:
        return all(n == 1 or x == y for n, x, y in zip(self.shape, self.strides, row_major(self.shape)))

    def reshaped(self, shape: tuple[int, ...]) -> Memory:
        """Return a contiguous tensor in another shape."""
        return replace(self, shape=shape, strides=row_major(shape))

    def squeezed(self) -> Memory:
        """Return the view without axes of one element."""
        axes = [axis for axis, n in enumerate(self.shape) if n != 1]
        return replace(self, shape=tuple(self.shape[a] for a in axes), strides=tuple(self.strides[a] for a in axes))


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the strides of a row-major array in elements."""
    return tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))


def offset(code: Assembly, indices: Sequence[Register], strides: Sequence[int]) -> Register:
    """Return the number of an element, counted from the first."""
    total = literal(Kind(INDEX), 0)
    for i, stride in zip(indices, strides):
        if stride:
            total = code.binary("add", total, code.binary("mul", i, literal(i.kind, stride)))
    return total


class MachineArrays:
    """The arrays of a loop while its code is written."""

    def __init__(self, code: Assembly) -> None:
        self.code = code
        self.layout = Layout()
        self.writers: list[int] = []  # the loop in which each array may be updated; -1 for none
        self.versions: list[int] = []  # change with each update
        self.whole: list[Memory] = []
        self.fields: dict[int, Field] = {}  # of arrays
        self.work = 0  # on elements of arrays in one turn, as a number of instructions
        self._changes = 0

    def enter(self, new: Field) -> Register | Memory:
        """Load a field before the body of the function starts."""
        code = self.code
        with code.at(code.entry):
            pointer = self.pointer(new)
            if not new.in_memory:
                return code.load(pointer, Kind(new.dtype, prod(new.shape)))
            pointer = code.let(f"load ptr, ptr {pointer}, align 8", Kind(INDEX)).name
        memory = self.memory(pointer, new.dtype, new.shape)
        self.fields[memory.buffer] = new
        return memory

    def pointer(self, new: Field) -> str:
        return self.code.let(f"getelementptr i8, ptr %frame, i64 {new.offset}", Kind(INDEX)).name

    def memory(self, pointer: str, dtype: DType, shape: tuple[int, ...]) -> Memory:
        """Return a new array."""
        self.versions.append(0)
        self.writers.append(-1)
        self.whole.append(Memory(len(self.whole), pointer, dtype, shape, row_major(shape), 0))
        return self.whole[-1]

    def scratch(self, dtype: DType, shape: tuple[int, ...], loop: int) -> Memory:
        """Return a new array of the code's own, which a loop may write to."""
        if prod(shape) > MAX_SIZE:
            raise NotCompiled(f"a tensor of more than {MAX_SIZE} elements")
        memory = self.enter(self.layout.add(dtype, shape, in_memory=True))
        assert isinstance(memory, Memory)
        self.writers[memory.buffer] = loop
        return memory

    def inline(self, dtype: DType, shape: tuple[int, ...]) -> Memory:
        """Return new memory in the frame itself, for a small tensor."""
        new = self.layout.add(dtype, shape, in_memory=False)
        with self.code.at(self.code.entry):
            memory = self.memory(self.pointer(new), dtype, shape)
        self.fields[memory.buffer] = new
        return memory

    def is_whole(self, x: Memory) -> bool:
        """Return whether a tensor is all of an array."""
        whole = self.whole[x.buffer]
        return x.is_contiguous and x.pointer == whole.pointer and prod(x.shape) == prod(whole.shape)

    def check(self, memory: Memory) -> None:
        if memory.version != self.versions[memory.buffer]:
            raise NotCompiled("a tensor that is used after its update")

    def new_version(self) -> int:
        self._changes += 1
        return self._changes

    def changed(self, memory: Memory) -> Memory:
        """Return what an array holds after it has changed."""
        self.versions[memory.buffer] = self.new_version()
        return replace(memory, version=self.versions[memory.buffer])

    def copy(self, source: Memory, target: Memory) -> None:
        """Copy the elements of one contiguous array to another."""
        if not (source.is_contiguous and target.is_contiguous):
            raise NotCompiled("a copy of a view")
        self.work += prod(source.shape) // 8
        size = prod(source.shape) * source.dtype.itemsize
        self.code.copy(target.pointer, source.pointer, literal(Kind(INDEX), size))

    def view(
        self, x: Memory, start: Register | int, shape: tuple[int, ...], strides: tuple[int, ...] | None = None
    ) -> Memory:
        """Return a view that starts at an element of another."""
        pointer = x.pointer
        if start != 0:
            at = literal(Kind(INDEX), start) if isinstance(start, int) else start
            pointer = self.code.address(pointer, at, Kind(x.dtype))
        return replace(x, pointer=pointer, shape=shape, strides=x.strides if strides is None else strides)
