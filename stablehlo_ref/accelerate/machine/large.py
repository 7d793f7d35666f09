"""Ops whose operands or results are in memory: elementwise ops in groups, views, copies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import prod
from typing import TypeAlias

from stablehlo_ref.accelerate.machine import tensors
from stablehlo_ref.accelerate.machine.arrays import MachineArrays, Memory
from stablehlo_ref.accelerate.machine.assembly import INDEX, Assembly, Kind, Register, literal
from stablehlo_ref.accelerate.machine.elementwise import elementwise
from stablehlo_ref.accelerate.machine.groups import Groups, Pending, Splat, squeezed
from stablehlo_ref.accelerate.machine.products import Product
from stablehlo_ref.accelerate.python.expressions import shape_of
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.numerics.dtypes import numpy_dtype

Held: TypeAlias = Register | Memory | Pending | Splat


class Large:
    """Writes ops on tensors in memory."""

    def __init__(self, code: Assembly) -> None:
        self.code = code
        self.arrays = MachineArrays(code)
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

    def own(self, x: Memory, loop: int) -> Memory:
        """Return memory that a loop may write to: a copy, if need be."""
        self.groups.flush()
        may_write = self.arrays.writers[x.buffer] == loop and self.arrays.is_whole(x)
        return x if may_write else self.copied(x, loop)

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
            if source.is_contiguous and target.is_contiguous:
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
        return self._elementwise(op, operands, is_canonical)

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

    def _elementwise(self, op: Operation, operands: Sequence[Held], is_canonical: bool) -> Held:
        type = op.results[0].type
        assert isinstance(type, TensorType)
        dtype = numpy_dtype(type.element_type)
        emit = partial(elementwise, self.code, op, is_canonical=is_canonical)
        if op.name == "stablehlo.convert" and isinstance(operands[0], Memory) and operands[0].dtype == dtype:
            return operands[0]
        scalars = [x.register if isinstance(x, Splat) else x for x in operands]
        registers = [x for x in scalars if isinstance(x, Register)]
        if len(registers) == len(scalars):
            return Splat(emit(registers), shape_of(op.results[0]))
        return self.groups.add(shape_of(op.results[0]), dtype, operands, emit, self.loop)

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
