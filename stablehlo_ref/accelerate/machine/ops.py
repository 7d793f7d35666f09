"""Ops of machine code on scalars in registers and tensors in memory: elementwise ops in nests, views, copies, sums.

Products are calls of BLAS, by the loop of numpy's matmul.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import prod

from stablehlo_ref.accelerate.elements import elementwise, has_code
from stablehlo_ref.accelerate.ir import Node, NotCompiled, dtype_of, shape_of
from stablehlo_ref.accelerate.machine.assembly import INDEX, Assembly, Kind, Register, computed, literal
from stablehlo_ref.accelerate.machine.nests import Groups, Held, Pending, Splat, squeezed
from stablehlo_ref.accelerate.machine.products import Product
from stablehlo_ref.accelerate.machine.reductions import is_sum, reduced_row, reduction_of
from stablehlo_ref.accelerate.machine.tensors import (
    MachineArrays,
    Memory,
    clamped_start,
    is_one,
    offset,
)
from stablehlo_ref.ir.arrays import DType
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ops.control_flow import OptimizationBarrier
from stablehlo_ref.ops.data_movement import BroadcastInDim, Concatenate, Pad, Reshape, Reverse, Transpose
from stablehlo_ref.ops.dot_general import DotGeneral
from stablehlo_ref.ops.reduction import Reduce
from stablehlo_ref.ops.slicing import DynamicSlice, DynamicUpdateSlice, Slice


class Ops:
    """Writes ops."""

    def __init__(self, code: Assembly) -> None:
        self.code = code
        self.arrays = MachineArrays(code)
        self.groups = Groups(code, self.arrays)
        self.loop = 0  # that is being written

    def compute(self, node: Node, operands: Sequence[Held]) -> Held:
        """Write an op, by a rule or by its instructions; NotCompiled if it has neither."""
        rule, moved = _RULES.get(node.op_class), _MOVED.get(node.op_class)
        if len(node.op.results) != 1:
            raise NotCompiled(node.op.name)
        is_scalar, is_coded = is_one(node.op.results[0]), has_code(node.op)
        if is_scalar and all(isinstance(x, Register) for x in operands) and (is_coded or moved is not None):
            return self._on_scalars(node, operands) if moved is None else operands[moved]
        if rule is None and not is_coded:
            raise NotCompiled(node.op.name)
        found = rule(self, node, operands) if rule else self._on_elements(node, operands)
        return self.element(found, node.op.results[0]) if is_scalar else found

    def element(self, x: Held, value: Value) -> Register:
        """Return a value of one element."""
        if isinstance(x, Register):
            return x
        memory = self.memory(x, shape_of(value))
        self.groups.flush()
        return self.code.load(memory.pointer, Kind(memory.dtype))

    def _on_scalars(self, node: Node, operands: Sequence[Held]) -> Register:
        registers = [x for x in operands if isinstance(x, Register)]
        return elementwise(self.code, node.op, registers, node.is_canonical)

    def _on_elements(self, node: Node, operands: Sequence[Held]) -> Held:
        (result,) = node.op.results
        return self.elementwise(node.op, operands, node.is_canonical, shape_of(result), dtype_of(result))

    def elementwise(
        self, op: Operation, operands: Sequence[Held], is_canonical: bool, shape: tuple[int, ...], dtype: DType
    ) -> Held:
        """Write an elementwise op, whose result has this shape and dtype."""
        emit = partial(elementwise, self.code, op, is_canonical=is_canonical)
        scalars = [x.register if isinstance(x, Splat) else x for x in operands]
        registers = [x for x in scalars if isinstance(x, Register)]
        if len(registers) == len(scalars):
            return Splat(emit(registers), shape)
        return self.groups.add(shape, computed(dtype), operands, emit, self.loop)

    # --- tensors in memory --------------------------------------------------------------------------------------

    def memory(self, x: Held, shape: tuple[int, ...]) -> Memory:
        """Return a tensor in memory, where it is stored if need be."""
        if isinstance(x, Memory):
            return x
        if isinstance(x, Splat):
            x = self.groups.add(shape, x.register.kind.dtype, [x], lambda operands: operands[0], self.loop)
        if isinstance(x, Pending):
            return self.groups.memory(x)
        spilled = self.arrays.scratch(x.kind.dtype, shape, self.loop)
        self.code.store(x, spilled.pointer)
        return spilled

    def contiguous(self, x: Held, shape: tuple[int, ...]) -> Memory:
        """Return a tensor in memory in row-major order."""
        memory = self.memory(x, shape)
        return memory if memory.is_contiguous else self.copied(memory, self.loop)

    def copied(self, x: Memory, loop: int, is_field: bool = False) -> Memory:
        """Return a copy in memory of the code's own, which `loop` may write to; in the frame, if `is_field`."""
        target = self.arrays.scratch(x.dtype, x.shape, loop, is_field)
        self.assign(x, target)
        return target

    def own(self, x: Memory, loop: int, dies: bool) -> Memory:
        """Return memory that an op in a loop may write to: a copy, unless `x` is not used again."""
        self.groups.flush()
        may_write = dies and self.arrays.writers[x.buffer] == loop and self.arrays.is_whole(x)
        return x if may_write else self.copied(x, loop)

    def assign(self, x: Held, target: Memory) -> None:
        """Copy a tensor to a place in memory that no op which is still to be written reads."""
        if isinstance(x, Register):
            self.groups.flush()
            return self.code.store(x, target.pointer)
        if isinstance(x, Pending) and x.term.group is self.groups.open:
            self.groups.store(x.term, target)
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
        self.groups.store(copy.term, target)
        return self.groups.flush()

    def canonical(self, x: Held, shape: tuple[int, ...]) -> Held:
        """Replace NaNs by the canonical one."""
        if isinstance(x, Register):
            return self.code.canonical(x)
        memory = self.memory(x, shape)
        return self.groups.add(
            shape, memory.dtype, [memory], lambda operands: self.code.canonical(*operands), self.loop
        )

    # --- rules --------------------------------------------------------------------------------------------------

    def _reshape(self, node: Node, operands: Sequence[Held]) -> Held:
        (x,), shape = operands, shape_of(node.op.results[0])
        if isinstance(x, Splat | Register):
            return Splat(x.register if isinstance(x, Splat) else x, shape)
        if isinstance(x, Pending) and squeezed(shape) == x.term.group.shape:
            return Pending(x.term, shape)
        return self.contiguous(x, shape_of(node.op.operands[0])).reshaped(shape)

    def _broadcast_in_dim(self, node: Node, operands: Sequence[Held]) -> Held:
        (x,), shape, given = operands, shape_of(node.op.results[0]), shape_of(node.op.operands[0])
        dims: Sequence[int] = node.op.properties["broadcast_dimensions"]
        if isinstance(x, Splat | Register) or (squeezed(shape) == squeezed(given) and list(dims) == sorted(dims)):
            return self._reshape(node, operands)
        memory, strides = self.memory(x, given), [0] * len(shape)
        for axis, stride, n in zip(dims, memory.strides, given):
            strides[axis] = stride if n == shape[axis] else 0
        return self.arrays.view(memory, 0, shape, tuple(strides))

    def _transpose(self, node: Node, operands: Sequence[Held]) -> Held:
        (x,), shape = operands, shape_of(node.op.results[0])
        if isinstance(x, Splat):
            return Splat(x.register, shape)
        memory, order = self.memory(x, shape_of(node.op.operands[0])), node.op.properties["permutation"]
        return self.arrays.view(memory, 0, shape, tuple(memory.strides[axis] for axis in order))

    def _reverse(self, node: Node, operands: Sequence[Held]) -> Held:
        (x,), shape, axes = operands, shape_of(node.op.results[0]), node.op.properties["dimensions"]
        if isinstance(x, Splat):
            return x
        memory = self.memory(x, shape)
        start = sum((shape[axis] - 1) * memory.strides[axis] for axis in axes)
        strides = tuple(-n if axis in axes else n for axis, n in enumerate(memory.strides))
        return self.arrays.view(memory, start, shape, strides)

    def _concatenate(self, node: Node, operands: Sequence[Held]) -> Held:
        """Let each operand be computed or copied to its place."""
        (result,), axis, start, others = node.op.results, node.op.properties["dimension"], 0, []
        target = self.arrays.scratch(dtype_of(result), shape_of(result), self.loop)
        for x, value in zip(operands, node.op.operands):
            place = self.arrays.view(target, start * target.strides[axis], shape_of(value))
            start += shape_of(value)[axis]
            if isinstance(x, Pending) and x.term.group is self.groups.open:
                self.groups.store(x.term, place)
            else:
                others.append((x, place))
        self.groups.flush()
        for x, place in others:
            self.assign(x, place)
        return target

    def _pad(self, node: Node, operands: Sequence[Held]) -> Held:
        """Fill a new array, and copy the operand to its place."""
        (x, value), p, shape = operands, node.op.properties, shape_of(node.op.results[0])
        low, high, interior = p["edge_padding_low"], p["edge_padding_high"], p["interior_padding"]
        if not isinstance(value, Register) or any(interior) or min([*low, *high], default=0) < 0:
            raise NotCompiled(node.op.name)
        target = self.arrays.scratch(value.kind.dtype, shape, self.loop)
        self.assign(Splat(value, shape), target)
        start = sum(n * stride for n, stride in zip(low, target.strides))
        self.assign(x, self.arrays.view(target, start, shape_of(node.op.operands[0])))
        return target

    def _slice(self, node: Node, operands: Sequence[Held]) -> Held:
        whole, p = self.memory(operands[0], shape_of(node.op.operands[0])), node.op.properties
        start = sum(n * stride for n, stride in zip(p["start_indices"], whole.strides))
        strides = tuple(n * step for n, step in zip(whole.strides, p["strides"]))
        return self.arrays.view(whole, start, shape_of(node.op.results[0]), strides)

    def _dynamic_slice(self, node: Node, operands: Sequence[Held]) -> Held:
        whole, shape = self.memory(operands[0], shape_of(node.op.operands[0])), shape_of(node.op.results[0])
        return self.arrays.view(whole, clamped_start(self.code, _registers(operands[1:]), whole, shape), shape)

    def _dynamic_update_slice(self, node: Node, operands: Sequence[Held]) -> Held:
        """Write an update of a slice, in place."""
        (whole, new, *starts), (value, update, *_) = operands, node.op.operands
        target = self.own(self.memory(whole, shape_of(value)), self.loop, value in node.dying)
        start = clamped_start(self.code, _registers(starts), target, shape_of(update))
        self.assign(new, self.arrays.view(target, start, shape_of(update)))
        return self.arrays.changed(target)

    def _reduce(self, node: Node, operands: Sequence[Held]) -> Held:
        """Write a reduction along the last axes by one op, row by row."""
        op, body, (x, init, *_) = node.op, reduction_of(node.op), operands
        shape, kept, dtype = shape_of(op.operands[0]), shape_of(op.results[0]), dtype_of(op.results[0])
        is_minor = sorted(op.properties["dimensions"]) == list(range(len(kept), len(shape)))
        if body is None or not is_minor or prod(shape) < 2 * prod(kept) or not isinstance(init, Register):
            raise NotCompiled(op.name)
        if is_sum(body, dtype) and node.planner.planner.mode.exact_sums:
            raise NotCompiled(op.name)
        rows, length = self.contiguous(x, shape), prod(shape) // prod(kept)
        self.groups.flush()
        self.arrays.work += prod(shape) // 4
        target = self.arrays.scratch(dtype, kept, self.loop)

        def reduce_row(i: Register) -> None:
            row = self.arrays.view(rows, offset(self.code, [i], [length]), (length,), (1,))
            result = reduced_row(self.arrays, self.loop, body, row, init)
            result = self.code.canonical(result) if node.is_canonical and dtype.kind == "f" else result
            self.code.store(result, self.code.address(target.pointer, i, Kind(dtype)))

        self.code.count(0, literal(Kind(INDEX), prod(kept)), 1, reduce_row)
        return target

    def _product(self, node: Node, operands: Sequence[Held]) -> Held:
        """Write a product of matrices, which are copied to another address where the kernel may do so."""
        op, product = node.op, Product(node.op, node.planner.planner.mode.reproducible)
        product.check(node.kernel.run if node.kernel else None)
        first, second = (self.contiguous(x, shape_of(value)) for x, value in zip(operands, op.operands))
        if product.depends_on_addresses:
            first = self.copied(first, self.loop, is_field=True)
        if product.depends_on_addresses or (product.may_be_transposes and isinstance(operands[1], Memory)):
            second = self.copied(second, self.loop, is_field=True)
        self.groups.flush()
        self.arrays.work += product.work // 4
        target = self.arrays.scratch(product.dtype, shape_of(op.results[0]), self.loop)
        product.write(self.code, first, second, target)
        return self.canonical(target, target.shape) if node.is_canonical else target


def _registers(operands: Sequence[Held]) -> list[Register]:
    return [x for x in operands if isinstance(x, Register)]


_MOVED: Mapping[type | None, int] = {  # the operand that is the result, where all of them are one element
    **dict.fromkeys((Slice, DynamicSlice, Reshape, BroadcastInDim, Concatenate, Transpose, Reverse), 0),
    OptimizationBarrier: 0,
    DynamicUpdateSlice: 1,
}
_RULES: Mapping[type | None, Callable[[Ops, Node, Sequence[Held]], Held]] = {
    OptimizationBarrier: lambda ops, node, operands: operands[0],
    Reshape: Ops._reshape,
    BroadcastInDim: Ops._broadcast_in_dim,
    Transpose: Ops._transpose,
    Reverse: Ops._reverse,
    Concatenate: Ops._concatenate,
    Pad: Ops._pad,
    Slice: Ops._slice,
    DynamicSlice: Ops._dynamic_slice,
    DynamicUpdateSlice: Ops._dynamic_update_slice,
    Reduce: Ops._reduce,
    DotGeneral: Ops._product,
}
