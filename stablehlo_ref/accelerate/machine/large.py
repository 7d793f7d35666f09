"""Ops whose operands or results are in memory: elementwise ops in groups, views, copies.

Each group of elementwise ops is one loop over elements, a vector at a time. What an op of a group computes is stored
only where it is needed outside of the group, which is known after the loop has been written: then the stores are added
to it. A turn loads all its elements before it stores any, so a group may overwrite an array that it reads at the same
positions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from math import prod
from typing import Any, NamedTuple, TypeAlias

from stablehlo_ref.accelerate.elements import elementwise
from stablehlo_ref.accelerate.ir import NotCompiled, dtype_of, shape_of
from stablehlo_ref.accelerate.machine import tensors
from stablehlo_ref.accelerate.machine.assembly import INDEX, Assembly, Kind, Register, computed, literal
from stablehlo_ref.accelerate.machine.products import Product
from stablehlo_ref.accelerate.machine.tensors import MAX_SIZE, MachineArrays, Memory, offset, row_major
from stablehlo_ref.ir.arrays import DType
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.numerics.dtypes import numpy_dtype

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
class Node:
    """An op of a group, on scalars, tensors in memory, and other ops of the group."""

    group: Group
    dtype: DType
    operands: Sequence[Register | Memory | Node]
    emit: Emit
    memory: Memory | None = None  # where the result is stored


@dataclass(frozen=True)
class Pending:
    """A tensor that an op of a group computes."""

    node: Node
    shape: tuple[int, ...]


Held: TypeAlias = Register | Memory | Pending | Splat


@dataclass
class Place:
    """Where a loop over elements stores results: the lines to add to, indices, and the results of the ops."""

    lines: list[Any]
    indices: list[Register]
    results: dict[Node, Register]


@dataclass(eq=False)
class Group:
    """Ops on tensors of one shape, without axes of one element."""

    shape: tuple[int, ...]
    loop: int  # that it is in
    nodes: list[Node] = field(default_factory=list)
    stores: list[tuple[Node, Memory]] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    is_flat: bool = False

    def loads(self) -> Iterator[Memory]:
        for node in self.nodes:
            for x in node.operands:
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
        node = Node(group, dtype, [self._operand(x) for x in operands], emit)
        group.nodes.append(node)
        self.arrays.work += prod(shape) // 8
        return Pending(node, shape)

    def _operand(self, x: Register | Memory | Pending | Splat) -> Register | Memory | Node:
        if isinstance(x, Splat):
            return x.register
        if isinstance(x, Pending):
            return x.node if x.node.group is self.open else self.memory(x).squeezed()
        if isinstance(x, Register):
            if x.kind.count != 1:
                raise NotCompiled("a small tensor and a large one")
            return x
        x = x.squeezed()
        if x.strides[-1:] not in ((), (0,), (1,)) and prod(x.shape) > MAX_APART:
            raise NotCompiled("a tensor whose elements are apart")
        return x

    def memory(self, x: Pending) -> Memory:
        """Return the memory in which a result is stored from now on."""
        node = x.node
        if node.group is self.open:
            self.flush()
        if node.memory is None:
            node.memory = self.arrays.scratch(node.dtype, node.group.shape, node.group.loop)
            self.store(node, node.memory)
        self.arrays.check(node.memory)
        return node.memory.reshaped(x.shape)

    def store(self, node: Node, target: Memory) -> None:
        """Store a result in memory as well, when the loop of its group runs."""
        target = target.squeezed()
        if node.group is self.open:
            node.group.stores.append((node, target))
            return
        if node.group.is_flat and not target.is_contiguous:
            raise NotCompiled("a view that is written late")
        for place in node.group.places:
            self._store(place, node, target)

    def flush(self) -> None:
        """Write the loop of the group that ops have been added to."""
        group, self.open = self.open, None
        if group is None:
            return
        touched = [*group.loads(), *(target for _, target in group.stores)]
        group.is_flat = all(x.is_contiguous for x in touched)
        axes = (prod(group.shape),) if group.is_flat else group.shape
        self._loops(group, axes, [])
        for node, target in group.stores:
            for place in group.places:
                self._store(place, node, target)

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
        for node in group.nodes:
            for x in node.operands:
                if isinstance(x, Memory) and x not in loaded:
                    loaded[x] = self._load(x, indices, width)
                elif isinstance(x, Register) and x not in loaded:
                    loaded[x] = code.splat(x, width)
        results: dict[Node, Register] = {}
        for node in group.nodes:
            results[node] = node.emit([results[x] if isinstance(x, Node) else loaded[x] for x in node.operands])
        place = Place([], indices, results)
        code.lines.append(place.lines)
        group.places.append(place)

    def _load(self, x: Memory, indices: Sequence[Register], width: int) -> Register:
        code, pointer, step = self.code, self._address(x, indices), x.strides[-1] if x.strides else 1
        if step == 0:
            return code.splat(code.load(pointer, Kind(x.dtype)), width)
        if step == 1 or width == 1:
            return code.load(pointer, Kind(x.dtype, width))
        places = [code.address(pointer, literal(Kind(INDEX), n * step), Kind(x.dtype)) for n in range(width)]
        return code.shuffled([code.load(place, Kind(x.dtype)) for place in places], [(n, 0) for n in range(width)])

    def _store(self, place: Place, node: Node, target: Memory) -> None:
        if target.strides and target.strides[-1] != 1:
            raise NotCompiled("a tensor whose elements are apart")
        with self.code.at(place.lines):
            self.code.store(place.results[node], self._address(target, place.indices), target.dtype)

    def _address(self, x: Memory, indices: Sequence[Register]) -> str:
        code = self.code
        strides = x.strides if len(indices) == len(x.shape) else row_major([prod(x.shape)])
        return code.address(x.pointer, offset(code, indices, strides), Kind(x.dtype))


def _dtypes(group: Group) -> Iterator[DType]:
    for node in group.nodes:
        yield node.dtype
        yield from (x.dtype if isinstance(x, Memory | Node) else x.kind.dtype for x in node.operands)


class Large:
    """Writes ops on tensors in memory."""

    def __init__(self, code: Assembly, copying: Set[Operation] = frozenset()) -> None:
        self.code = code
        self.arrays = MachineArrays(code, copying)
        self.groups = Groups(code, self.arrays)
        self.loop = 0  # that is being written

    def check(self, x: Held) -> Held:
        """Return a value that has not been written over."""
        if isinstance(x, Memory):
            self.arrays.check(x)
        return x

    def memory(self, x: Held, shape: tuple[int, ...]) -> Memory:
        """Return a tensor in memory, where it is stored if need be."""
        if isinstance(x, Memory):
            return x
        if isinstance(x, Splat):
            x = self.groups.add(shape, x.register.kind.dtype, [x], lambda operands: operands[0], self.loop)
        if isinstance(x, Pending):
            return self.groups.memory(x)
        spilled = self.arrays.memory(self.code.cell(x.kind), x.kind.dtype, shape)
        self.code.store(x, spilled.pointer)
        return spilled

    def contiguous(self, x: Held, shape: tuple[int, ...]) -> Memory:
        """Return a tensor in memory in row-major order."""
        memory = self.memory(x, shape)
        return memory if memory.is_contiguous else self.copied(memory, self.loop)

    def copied(self, x: Memory, loop: int) -> Memory:
        """Return a copy in memory of the code's own, which `loop` may write to."""
        target = self.arrays.scratch(x.dtype, x.shape, loop)
        self.assign(x, target)
        return target

    def own(self, x: Memory, loop: int, op: Operation) -> Memory:
        """Return memory that an op in a loop may write to: a copy, if need be."""
        self.groups.flush()
        may_write = self.arrays.writers[x.buffer] == loop and self.arrays.is_whole(x)
        return x if may_write and op not in self.arrays.copying else self.copied(x, loop)

    def assign(self, x: Held, target: Memory) -> None:
        """Copy a tensor to a place in memory that no op which is still to be written reads."""
        if isinstance(x, Register):
            self.groups.flush()
            return tensors.updated(self.code, target, x, literal(Kind(INDEX), 0), target.shape)
        if isinstance(x, Pending) and x.node.group is self.groups.open:
            self.groups.store(x.node, target)
            return self.groups.flush()
        if isinstance(x, Pending | Memory):
            source = self.memory(x, target.shape)
            self.groups.flush()
            if source.buffer == target.buffer:
                source = self.copied(source, self.loop)
            if source.is_contiguous and target.is_contiguous and source.dtype == target.dtype:
                return self.arrays.copy(source, target)
            x = source
        copy = self.groups.add(target.shape, target.dtype, [x], lambda operands: operands[0], self.loop)
        self.groups.store(copy.node, target)
        return self.groups.flush()

    def canonical(self, x: Held, shape: tuple[int, ...]) -> Held:
        """Replace NaNs by the canonical one."""
        if isinstance(x, Register):
            return self.code.canonical(x)
        memory = self.memory(x, shape)
        return self.groups.add(
            shape, memory.dtype, [memory], lambda operands: self.code.canonical(*operands), self.loop
        )

    # --- ops ----------------------------------------------------------------------------------------------------

    def has_rule(self, op: Operation) -> bool:
        """Return whether an op moves elements by a rule."""
        return op.name in _RULES

    def compute(self, op: Operation, operands: Sequence[Held], is_canonical: bool) -> Held:
        """Write an op, one of whose operands or whose result is large."""
        rule = _RULES.get(op.name)
        if rule is not None:
            return rule(self, op, operands)
        return self.elementwise(op, operands, is_canonical, shape_of(op.results[0]), dtype_of(op.results[0].type))

    def product(self, product: Product, operands: Sequence[Held], op: Operation) -> Held:
        """Write a product of matrices, which are copied to another address where the kernel may do so."""
        first, second = (self.contiguous(x, shape_of(value)) for x, value in zip(operands, op.operands))
        if product.depends_on_addresses:
            first = self.copied(first, self.loop)
        if product.depends_on_addresses or (product.may_be_transposes and isinstance(operands[1], Memory)):
            second = self.copied(second, self.loop)
        self.groups.flush()
        self.arrays.work += product.work // 4
        result, shape = op.results[0], shape_of(op.results[0])
        if not tensors.fits_registers(result):
            target = self.arrays.scratch(product.dtype, shape, self.loop)
            product.write(self.code, first, second, target)
            return target
        kind = Kind(product.dtype, prod(shape))
        target = self.arrays.memory(self.code.cell(kind), product.dtype, shape)
        product.write(self.code, first, second, target)
        return self.code.load(target.pointer, kind)

    def elementwise(
        self, op: Operation, operands: Sequence[Held], is_canonical: bool, shape: tuple[int, ...], dtype: DType
    ) -> Held:
        """Write an elementwise op, whose result has this shape and dtype."""
        emit = partial(elementwise, self.code, op, is_canonical=is_canonical)
        is_same = op.name == "stablehlo.convert" and isinstance(x := operands[0], Memory) and x.dtype == dtype
        if is_same and not is_canonical:
            return operands[0]
        scalars = [x.register if isinstance(x, Splat) else x for x in operands]
        registers = [x for x in scalars if isinstance(x, Register)]
        if len(registers) == len(scalars):
            return Splat(emit(registers), shape)
        return self.groups.add(shape, computed(dtype), operands, emit, self.loop)

    def _alias(self, op: Operation, operands: Sequence[Held]) -> Held:
        return operands[0]

    def _reshape(self, op: Operation, operands: Sequence[Held]) -> Held:
        (x,), shape = operands, shape_of(op.results[0])
        if isinstance(x, Splat):
            return Splat(x.register, shape)
        if isinstance(x, Pending) and squeezed(shape) == x.node.group.shape:
            return Pending(x.node, shape)
        return self.contiguous(x, shape_of(op.operands[0])).reshaped(shape)

    def _broadcast_in_dim(self, op: Operation, operands: Sequence[Held]) -> Held:
        (x,), shape, given = operands, shape_of(op.results[0]), shape_of(op.operands[0])
        dims: Sequence[int] = op.properties["broadcast_dimensions"]
        if isinstance(x, Register) and x.kind.count == 1:
            return Splat(x, shape)
        if isinstance(x, Splat):
            return Splat(x.register, shape)
        if squeezed(shape) == squeezed(given) and list(dims) == sorted(dims):
            return self._reshape(op, operands)
        memory, strides = self.memory(x, given), [0] * len(shape)
        for axis, stride, n in zip(dims, memory.strides, given):
            strides[axis] = stride if n == shape[axis] else 0
        return self.arrays.view(memory, 0, shape, tuple(strides))

    def _transpose(self, op: Operation, operands: Sequence[Held]) -> Held:
        (x,), shape = operands, shape_of(op.results[0])
        if isinstance(x, Splat):
            return Splat(x.register, shape)
        memory = self.memory(x, shape_of(op.operands[0]))
        return self.arrays.view(memory, 0, shape, tuple(memory.strides[axis] for axis in op.properties["permutation"]))

    def _concatenate(self, op: Operation, operands: Sequence[Held]) -> Held:
        """Let each operand be computed or copied to its place."""
        type, shape, axis = op.results[0].type, shape_of(op.results[0]), op.properties["dimension"]
        assert isinstance(type, TensorType)
        target = self.arrays.scratch(numpy_dtype(type.element_type), shape, self.loop)
        places, start = [], 0
        for value in op.operands:
            places.append(self.arrays.view(target, start * target.strides[axis], shape_of(value)))
            start += shape_of(value)[axis]
        others = []
        for x, place in zip(operands, places):
            if isinstance(x, Pending) and x.node.group is self.groups.open:
                self.groups.store(x.node, place)
            else:
                others.append((x, place))
        self.groups.flush()
        for x, place in others:
            self.assign(x, place)
        return target


_RULES: Mapping[str, Callable[[Large, Operation, Sequence[Held]], Held]] = {
    "stablehlo.optimization_barrier": Large._alias,
    "stablehlo.reshape": Large._reshape,
    "stablehlo.broadcast_in_dim": Large._broadcast_in_dim,
    "stablehlo.transpose": Large._transpose,
    "stablehlo.concatenate": Large._concatenate,
}
