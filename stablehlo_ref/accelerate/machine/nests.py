"""Nests of loops over elements, in which elementwise ops are computed, a vector at a time.

What an op of a group computes is stored only where it is needed outside of the group, which is known after the loop has
been written: then the stores are added to it. An iteration loads all its elements before it stores any, so a group may
overwrite an array that it reads at the same positions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import prod
from typing import Any, NamedTuple, TypeAlias

from stablehlo_ref.accelerate.ir import NotCompiled
from stablehlo_ref.accelerate.machine.assembly import INDEX, Assembly, Kind, Register, computed, literal
from stablehlo_ref.accelerate.machine.tensors import MAX_SIZE, MachineArrays, Memory, offset, row_major
from stablehlo_ref.ir.arrays import Array, DType

VECTOR = 64  # bytes of an operand that are computed at once
MAX_APART = 1 << 14  # elements of a tensor whose elements are apart, and loaded one by one
SHORT = 100  # instructions of a group that may be repeated for vectors of each size

Emit = Callable[[list[Register]], Register]


@dataclass(frozen=True)
class Splat:
    """A tensor whose elements are all one scalar."""

    register: Register
    shape: tuple[int, ...]


@dataclass(eq=False)
class Term:
    """An op of a group, on scalars, tensors in memory, and other ops of the group."""

    group: Group
    dtype: DType
    operands: Sequence[Register | Memory | Term]
    emit: Emit
    memory: Memory | None = None  # where the result is stored


@dataclass(frozen=True)
class Pending:
    """A tensor that an op of a group computes."""

    term: Term
    shape: tuple[int, ...]


Held: TypeAlias = Register | Memory | Pending | Splat


@dataclass
class Place:
    """Where a loop over elements stores results: the lines to add to, indices, and the results of the ops."""

    lines: list[Any]
    indices: list[Register]
    results: dict[Term, Register]


@dataclass(eq=False)
class Group:
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
        """Return whether the group reads an array at the positions only at which it would be written."""
        same = (target.pointer, target.squeezed().strides)
        return all(x.buffer != target.buffer or (x.pointer, x.strides) == same for x in self.loads())


class Count(NamedTuple):
    """A number of elements that is not known before the code runs, and whether a vector may not divide it."""

    register: Register
    has_rest: bool


def is_splat(constant: Array) -> bool:
    """Return whether elements of a constant are all the same bits."""
    if not constant.size or not any(constant.strides):
        return constant.size > 0
    return constant.size <= MAX_SIZE and constant.tobytes() == constant.reshape(-1)[:1].tobytes() * constant.size


def squeezed(shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(n for n in shape if n != 1)


class Groups:
    """Collects elementwise ops, and writes the loops that compute them."""

    def __init__(self, code: Assembly, arrays: MachineArrays) -> None:
        self.code = code
        self.arrays = arrays
        self.open: Group | None = None
        self.count: Count | None = None  # of the elements of all groups, else that of their shapes

    def add(
        self, shape: tuple[int, ...], dtype: DType, operands: Sequence[Register | Memory | Pending | Splat], emit: Emit,
        loop: int,
    ) -> Pending:  # fmt: skip
        """Add an op; return its result."""
        if prod(shape) > MAX_SIZE:
            raise NotCompiled(f"a tensor of more than {MAX_SIZE} elements")
        if self.open is None or self.open.shape != squeezed(shape):
            self.flush()
        group = self.open = self.open or Group(squeezed(shape), loop)
        term = Term(group, dtype, [self._operand(x) for x in operands], emit)
        group.terms.append(term)
        self.arrays.work += prod(shape) // 8
        return Pending(term, shape)

    def _operand(self, x: Register | Memory | Pending | Splat) -> Register | Memory | Term:
        if isinstance(x, Splat):
            return x.register
        if isinstance(x, Pending):
            return x.term if x.term.group is self.open else self.memory(x).squeezed()
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
        if term.group is self.open:
            self.flush()
        if term.memory is None:
            term.memory = self.arrays.scratch(term.dtype, term.group.shape, term.group.loop)
            self.store(term, term.memory)
        self.arrays.check(term.memory)
        return term.memory.reshaped(x.shape)

    def store(self, term: Term, target: Memory) -> None:
        """Store a result in memory as well, when the loop of its group runs."""
        target = target.squeezed()
        if term.group is self.open:
            term.group.stores.append((term, target))
            return
        if term.group.is_flat and not target.is_contiguous:
            raise NotCompiled("a view that is written late")
        for place in term.group.places:
            self._store(place, term, target)

    def flush(self) -> None:
        """Write the loop of the group that ops have been added to."""
        group, self.open = self.open, None
        if group is None:
            return
        touched = [*group.loads(), *(target for _, target in group.stores)]
        group.is_flat = all(x.is_contiguous for x in touched)
        axes = (prod(group.shape),) if group.is_flat else group.shape
        self._loops(group, axes, [])
        for term, target in group.stores:
            for place in group.places:
                self._store(place, term, target)

    def _loops(self, group: Group, axes: Sequence[int], indices: list[Register]) -> None:
        """Write the loops over the axes that are left; the last one takes vectors, and then single elements."""
        if len(axes) > 1:
            self._loop(0, axes[0], 1, lambda i: self._loops(group, axes[1:], [*indices, i]))
            return
        width, start, before = VECTOR // max(x.itemsize for x in _dtypes(group)), 0, len(self.code.lines)
        if self.count is not None:
            self._counted(group, width, *self.count)
        while self.count is None and start < axes[0]:
            stop = start + (axes[0] - start) // width * width
            if start < stop:
                self._loop(start, stop, width, partial(self._row_elements, group, indices, width))
            start, width = stop, width // 2 if len(self.code.lines) - before < SHORT else 1

    def _counted(self, group: Group, width: int, count: Register, has_rest: bool) -> None:
        """Write the loops over a number of elements that is not known."""
        code = self.code
        whole = code.binary("and", count, literal(count.kind, -width)) if has_rest else count
        code.count(0, whole, width, partial(self._row_elements, group, [], width))
        if has_rest:
            code.count(whole, count, 1, partial(self._row_elements, group, [], 1))

    def _row_elements(self, group: Group, indices: list[Register], width: int, i: Register) -> None:
        self._elements(group, [*indices, i], width)

    def _loop(self, start: int, stop: int, step: int, body: Callable[[Register], None]) -> None:
        index = Kind(INDEX)
        if start + step == stop:
            return body(literal(index, start))
        return self.code.count(start, literal(index, stop), step, body)

    def _elements(self, group: Group, indices: list[Register], width: int) -> None:
        """Write the ops of a group on `width` elements."""
        code = self.code
        loaded: dict[Register | Memory, Register] = {}
        for term in group.terms:
            for x in term.operands:
                if isinstance(x, Memory) and x not in loaded:
                    loaded[x] = self._load(x, indices, width)
                elif isinstance(x, Register) and x not in loaded:
                    loaded[x] = code.splat(x, width)
        results: dict[Term, Register] = {}
        for term in group.terms:
            results[term] = term.emit([results[x] if isinstance(x, Term) else loaded[x] for x in term.operands])
        place = Place([], indices, results)
        code.lines.append(place.lines)
        group.places.append(place)

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


def _dtypes(group: Group) -> Iterator[DType]:
    for term in group.terms:
        yield term.dtype
        yield from (x.dtype if isinstance(x, Memory | Term) else x.kind.dtype for x in term.operands)
