"""Tensors in memory, the words by which code gets their arrays, and nests of loops that compute elementwise ops.

A tensor of one element is in a register. Code gets an array of words: the first one holds the number of iterations that
are left, the others the addresses of arrays, one for each `Field`. An array changes in place, and what it held before
can not be read again: the version of a tensor is compared with that of its array while code is written.

A nest computes ops on one shape, a vector at a time. What an op of it computes is stored only where it is needed
outside of the nest, which is known after the nest has been written: then the stores are added to it. An iteration loads
all its elements before it stores any, so a nest may overwrite an array that it reads at the same positions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod
from typing import Any, TypeAlias

from stablehlo_ref.accelerate.ir import NotCompiled
from stablehlo_ref.accelerate.machine.assembly import INDEX, MAX_STACK, Assembly, Kind, Register, computed, literal
from stablehlo_ref.ir.arrays import Array, DType

SMALL = 64  # elements of a tensor on the stack
MAX_SIZE = 1 << 20  # elements of a tensor in memory that is computed
VECTOR = 64  # bytes of an operand that are computed at once
MAX_APART = 1 << 14  # elements of a tensor whose elements are apart, and loaded one by one
SHORT = 100  # instructions of a nest that may be repeated for vectors of each size


@dataclass
class Field:
    """An array whose address code gets: of a slot, a constant, or memory for the code itself.

    With `by_value` the code gets a copy.
    """

    dtype: DType
    shape: tuple[int, ...]
    slot: int = 0  # which holds no value
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
        self.loop = 0  # that is being written
        self.work = 0  # on elements of arrays in one turn, as a number of instructions

    def enter(self, dtype: DType, shape: tuple[int, ...]) -> Memory:
        """Add a field, and load its address before the body of the function starts."""
        code, new = self.code, Field(dtype, shape)
        with code.at(code.entry):
            place = code.address("%words", literal(Kind(INDEX), 1 + len(self.fields)), Kind(INDEX))
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

    def scratch(self, dtype: DType, shape: tuple[int, ...], is_field: bool = False) -> Memory:
        """Return a new array of the code's own, which the loop may write to: on the stack if it is small."""
        if prod(shape) > MAX_SIZE:
            raise NotCompiled(f"a tensor of more than {MAX_SIZE} elements")
        if is_field or prod(shape) > SMALL or self.code.stack > MAX_STACK // 2:
            memory = self.enter(dtype, shape)
        else:
            memory = self.memory(self.code.cell(Kind(dtype, prod(shape))), dtype, shape)
        self.writers[memory.buffer] = self.loop
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
        self.work += prod(source.shape) // 8
        size = prod(source.shape) * source.dtype.itemsize
        symbol = "@llvm.memcpy.p0.p0.i64"
        self.code.declared[symbol] = f"declare void {symbol}(ptr, ptr, i64, i1)"
        self.code.do(f"call void {symbol}(ptr {target.pointer}, ptr {source.pointer}, i64 {size}, i1 false)")

    def view(
        self, x: Memory, start: Register | int, shape: tuple[int, ...], strides: tuple[int, ...] | None = None
    ) -> Memory:
        """Return a view that starts at an element of another."""
        pointer = x.pointer
        if start != 0:
            at = literal(Kind(INDEX), start) if isinstance(start, int) else start
            pointer = self.code.address(pointer, at, Kind(x.dtype))
        return replace(x, pointer=pointer, shape=shape, strides=x.strides if strides is None else strides)

    def sliced(self, x: Memory, starts: Sequence[Held], shape: tuple[int, ...]) -> Memory:
        """Return a slice; each start index, of any integer type, is clamped."""
        code, index, clamped = self.code, Kind(INDEX), list[Register]()
        for start, whole, size in zip((start for start in starts if isinstance(start, Register)), x.shape, shape):
            is_unsigned = start.kind.dtype.kind == "u"
            if start.kind.dtype.itemsize < 8:
                start = code.cast("zext" if is_unsigned else "sext", start, INDEX)
            start = replace(start, kind=index)
            if not is_unsigned:
                start = code.intrinsic("smax", start, literal(index, 0))
            clamped.append(code.intrinsic("umin", start, literal(index, whole - size)))
        return self.view(x, offset(code, clamped, x.strides), shape)


# --- nests ----------------------------------------------------------------------------------------------------------

Emit = Callable[[list[Register]], Register]


@dataclass(eq=False)
class Term:
    """An op of a nest, on scalars, tensors in memory, and other ops of the nest."""

    nest: Nest
    dtype: DType
    operands: Sequence[Register | Memory | Term]
    emit: Emit
    memory: Memory | None = None  # where the result is stored


@dataclass(frozen=True)
class Pending:
    """A tensor that an op of a nest computes."""

    term: Term
    shape: tuple[int, ...]


Held: TypeAlias = Register | Memory | Pending  # in a register: an element, or a tensor whose elements are all the same


@dataclass
class Place:
    """Where a loop over elements stores results: the lines to add to, indices, and the results of the ops."""

    lines: list[Any]
    indices: list[Register]
    results: dict[Term, Register]


@dataclass(eq=False)
class Nest:
    """Ops on tensors of one shape, without axes of one element."""

    shape: tuple[int, ...]
    loop: int  # that it is in
    terms: list[Term] = field(default_factory=list)
    stores: list[tuple[Term, Memory]] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    is_flat: bool = False

    def loads(self) -> Iterator[Memory]:
        for term in self.terms:
            for x in term.operands:
                if isinstance(x, Memory):
                    yield x

    def may_overwrite(self, target: Memory) -> bool:
        """Return whether the nest reads an array at the positions only at which it would be written."""
        same = (target.pointer, target.squeezed().strides)
        return all(x.buffer != target.buffer or (x.pointer, x.strides) == same for x in self.loads())


def is_splat(constant: Array) -> bool:
    """Return whether elements of a constant are all the same bits."""
    if not constant.size or not any(constant.strides):
        return constant.size > 0
    return constant.size <= MAX_SIZE and constant.tobytes() == constant.reshape(-1)[:1].tobytes() * constant.size


def squeezed(shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(n for n in shape if n != 1)


class Nests:
    """Collects elementwise ops, and writes the loops that compute them."""

    def __init__(self, code: Assembly) -> None:
        self.code = code
        self.arrays = MachineArrays(code)
        self.open: Nest | None = None

    def add(self, shape: tuple[int, ...], dtype: DType, operands: Sequence[Held], emit: Emit) -> Pending:
        """Add an op; return its result."""
        if prod(shape) > MAX_SIZE:
            raise NotCompiled(f"a tensor of more than {MAX_SIZE} elements")
        if self.open is None or self.open.shape != squeezed(shape):
            self.flush()
        nest = self.open = self.open or Nest(squeezed(shape), self.arrays.loop)
        term = Term(nest, dtype, [self._operand(x) for x in operands], emit)
        nest.terms.append(term)
        self.arrays.work += prod(shape) // 8
        return Pending(term, shape)

    def _operand(self, x: Held) -> Register | Memory | Term:
        if isinstance(x, Pending):
            return x.term if x.term.nest is self.open else self.memory(x).squeezed()
        if isinstance(x, Register):
            if x.kind.count != 1:
                raise NotCompiled("vectors")
            return x
        x = x.squeezed()
        if x.strides[-1:] not in ((), (0,), (1,)) and prod(x.shape) > MAX_APART:
            raise NotCompiled("a tensor whose elements are apart")
        return x

    def memory(self, x: Pending) -> Memory:
        """Return the memory in which a result is stored from now on."""
        term = x.term
        if term.nest is self.open:
            self.flush()
        if term.memory is None:
            term.memory = self.arrays.scratch(term.dtype, term.nest.shape)
            self.arrays.writers[term.memory.buffer] = term.nest.loop
            self.store(term, term.memory)
        self.arrays.check(term.memory)
        return term.memory.reshaped(x.shape)

    def store(self, term: Term, target: Memory) -> None:
        """Store a result in memory as well, when the loop of its nest runs."""
        target = target.squeezed()
        if term.nest is self.open:
            term.nest.stores.append((term, target))
            return
        if term.nest.is_flat and not target.is_contiguous:
            raise NotCompiled("a view that is written late")
        for place in term.nest.places:
            self._store(place, term, target)

    def is_stored(self, x: Memory) -> bool:
        """Return whether the nest that ops are added to stores results in the array of a tensor."""
        return self.open is not None and any(target.buffer == x.buffer for _, target in self.open.stores)

    def flush(self) -> None:
        """Write the loops of the nest that is open, and close it."""
        nest, self.open = self.open, None
        if nest is None:
            return
        touched = [*nest.loads(), *(target for _, target in nest.stores)]
        nest.is_flat = all(x.is_contiguous for x in touched)
        axes = (prod(nest.shape),) if nest.is_flat else nest.shape
        self._loops(nest, axes, [])
        for term, target in nest.stores:
            for place in nest.places:
                self._store(place, term, target)

    def _loops(self, nest: Nest, axes: Sequence[int], indices: list[Register]) -> None:
        """Write the loops over the axes that are left; the last one takes vectors, and then single elements."""
        if len(axes) > 1:
            self._loop(0, axes[0], 1, lambda i: self._loops(nest, axes[1:], [*indices, i]))
            return
        dtypes = [
            x.dtype if isinstance(x, Memory | Term) else x.kind.dtype for t in nest.terms for x in (t, *t.operands)
        ]
        width, start, before = VECTOR // max(x.itemsize for x in dtypes), 0, len(self.code.lines)
        while start < axes[0]:
            stop = start + (axes[0] - start) // width * width
            if start < stop:
                self._loop(start, stop, width, partial(self._elements, nest, indices, width))
            start, width = stop, width // 2 if len(self.code.lines) - before < SHORT else 1

    def _loop(self, start: int, stop: int, step: int, body: Callable[[Register], None]) -> None:
        index = Kind(INDEX)
        if start + step == stop:
            return body(literal(index, start))
        return self.code.count(start, literal(index, stop), step, body)

    def _elements(self, nest: Nest, outer: list[Register], width: int, i: Register) -> None:
        """Write the ops of a nest on `width` elements of a row."""
        code, indices = self.code, [*outer, i]
        loaded: dict[Register | Memory, Register] = {}
        for term in nest.terms:
            for x in term.operands:
                if isinstance(x, Memory) and x not in loaded:
                    loaded[x] = self._load(x, indices, width)
                elif isinstance(x, Register) and x not in loaded:
                    loaded[x] = code.splat(x, width)
        results: dict[Term, Register] = {}
        for term in nest.terms:
            results[term] = term.emit([results[x] if isinstance(x, Term) else loaded[x] for x in term.operands])
        place = Place([], indices, results)
        code.lines.append(place.lines)
        nest.places.append(place)

    def _load(self, x: Memory, indices: Sequence[Register], width: int) -> Register:
        code, pointer, step = self.code, self._address(x, indices), x.strides[-1] if x.strides else 1
        if step == 0:
            return code.splat(code.load(pointer, Kind(x.dtype)), width)
        if step == 1 or width == 1:
            return code.load(pointer, Kind(x.dtype, width))
        result = Register("poison", Kind(computed(x.dtype), width))
        for n in range(width):
            element = code.load(code.address(pointer, literal(Kind(INDEX), n * step), Kind(x.dtype)), Kind(x.dtype))
            result = code.let(f"insertelement {result.kind} {result}, {element.kind} {element}, i64 {n}", result.kind)
        return result

    def _store(self, place: Place, term: Term, target: Memory) -> None:
        code, x, step = self.code, place.results[term], target.strides[-1] if target.strides else 1
        with code.at(place.lines):
            pointer = self._address(target, place.indices)
            if step == 1:
                return code.store(x, pointer, target.dtype)
            for n in range(x.kind.count):
                to = code.address(pointer, literal(Kind(INDEX), n * step), Kind(target.dtype))
                code.store(code.element(x, n), to, target.dtype)
        return None

    def _address(self, x: Memory, indices: Sequence[Register]) -> str:
        code = self.code
        strides = x.strides if len(indices) == len(x.shape) else row_major([prod(x.shape)])
        return code.address(x.pointer, offset(code, indices, strides), Kind(x.dtype))
