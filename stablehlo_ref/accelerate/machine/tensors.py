"""Tensors in memory, and the frame, by which code gets their arrays.

A tensor of one element is in a register. A frame is an array of words: the first one holds the number of iterations
that are left, the others the addresses of arrays, one for each `Field`. An array changes in place, and what it held
before can not be read again: the version of a tensor is compared with that of its array while code is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from stablehlo_ref.accelerate.ir import NotCompiled, dtype_of, is_plain
from stablehlo_ref.accelerate.machine.assembly import INDEX, MAX_STACK, NARROW, Assembly, Kind, Register, literal
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.core import Value
from stablehlo_ref.ir.types import TensorType

ADDRESS = np.dtype(np.uint64)
SMALL = 64  # elements of a tensor on the stack
MAX_SIZE = 1 << 20  # elements of a tensor in memory that is computed
HEAD = 1  # words of a frame before its fields


@dataclass
class Field:
    """An array in the frame: of a slot, a constant, or memory for the code itself.

    With `by_value` the code gets a copy.
    """

    number: int
    dtype: DType
    shape: tuple[int, ...]
    slot: int | None = None
    constant: Array | None = None
    by_value: bool = False
    is_state: bool = False
    is_written: bool = False


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
        self.fields: list[Field] = []
        self.writers: list[int] = []  # the loop in which each array may be updated; -1 for none
        self.versions: list[int] = []  # of each array, the number of its last change
        self._changes = 0
        self.whole: list[Memory] = []
        self.work = 0  # on elements of arrays in one turn, as a number of instructions

    def enter(self, dtype: DType, shape: tuple[int, ...]) -> Memory:
        """Add a field, and load its address before the body of the function starts."""
        code, new = self.code, Field(len(self.fields), dtype, shape)
        with code.at(code.entry):
            place = code.address("%frame", literal(Kind(INDEX), HEAD + new.number), Kind(INDEX))
            pointer = code.let(f"load ptr, ptr {place}, align 8", Kind(INDEX)).name
        memory = self.memory(pointer, dtype, shape)
        self.fields.append(new)
        return memory

    def memory(self, pointer: str, dtype: DType, shape: tuple[int, ...]) -> Memory:
        """Return a new array."""
        self.versions.append(0)
        self.writers.append(-1)
        self.whole.append(Memory(len(self.whole), pointer, dtype, shape, row_major(shape), 0))
        return self.whole[-1]

    def scratch(self, dtype: DType, shape: tuple[int, ...], loop: int, is_field: bool = False) -> Memory:
        """Return a new array of the code's own, which a loop may write to: on the stack if it is small."""
        if prod(shape) > MAX_SIZE:
            raise NotCompiled(f"a tensor of more than {MAX_SIZE} elements")
        if is_field or prod(shape) > SMALL or self.code.stack > MAX_STACK // 2:
            memory = self.enter(dtype, shape)
        else:
            memory = self.memory(self.code.cell(Kind(dtype, prod(shape))), dtype, shape)
        self.writers[memory.buffer] = loop
        return memory

    def is_whole(self, x: Memory) -> bool:
        """Return whether a tensor is all of an array."""
        whole = self.whole[x.buffer]
        return x.is_contiguous and x.pointer == whole.pointer and prod(x.shape) == prod(whole.shape)

    def check(self, x: Memory) -> None:
        """Raise NotCompiled for a tensor that is used after its array has changed."""
        if x.version != self.versions[x.buffer]:
            raise NotCompiled("a tensor that is used after its update")

    def changed(self, x: Memory) -> Memory:
        """Return what an array holds after a change."""
        self._changes += 1
        self.versions[x.buffer] = self._changes
        return replace(x, version=self._changes)

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


def clamped_start(code: Assembly, starts: Sequence[Register], x: Memory, sizes: Sequence[int]) -> Register:
    """Return the place of a slice's first element; each start index, of any integer type, is clamped."""
    index, clamped = Kind(INDEX), []
    for start, whole, size in zip(starts, x.shape, sizes):
        last = whole - size
        if not last:
            clamped.append(literal(index, 0))
            continue
        is_unsigned = start.kind.dtype.kind == "u"
        if start.kind.dtype.itemsize < 8:
            start = code.cast("zext" if is_unsigned else "sext", start, INDEX)
        start = replace(start, kind=index)
        if not is_unsigned:
            start = code.intrinsic("smax", start, literal(index, 0))
        clamped.append(code.intrinsic("umin", start, literal(index, last)))
    strides = [stride if whole > size else 0 for stride, whole, size in zip(x.strides, x.shape, sizes)]
    return offset(code, clamped, strides)


def is_one(value: Value) -> bool:
    """Return whether a value is one element; NotCompiled for one that machine code does not have."""
    type = value.type
    if not isinstance(type, TensorType) or not is_plain(type) or not type.size or dtype_of(type) in NARROW:
        raise NotCompiled(f"a value of type {type}")
    return type.size == 1
