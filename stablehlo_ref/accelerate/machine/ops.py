"""Ops of machine code on scalars in registers and tensors in memory: elementwise ops in nests, views, copies, sums.

What has no rule here is called: BLAS by the loop of numpy's matmul, other kernels by Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from math import prod

from stablehlo_ref.accelerate.elements import elementwise, has_code
from stablehlo_ref.accelerate.ir import Node, NotCompiled, dtype_of, shape_of
from stablehlo_ref.accelerate.machine.assembly import INDEX, Assembly, Kind, Register, computed, literal
from stablehlo_ref.accelerate.machine.nests import Groups, Held, Pending, Splat, squeezed
from stablehlo_ref.accelerate.machine.products import Product
from stablehlo_ref.accelerate.machine.reductions import is_sum, reduced_row, reduction_of
from stablehlo_ref.accelerate.machine.tensors import (
    Field,
    MachineArrays,
    Memory,
    Overwritten,
    clamped_start,
    is_one,
    offset,
)
from stablehlo_ref.define.computation import Run
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.numerics.dtypes import BOOL
from stablehlo_ref.ops.control_flow import OptimizationBarrier
from stablehlo_ref.ops.data_movement import BroadcastInDim, Concatenate, Pad, Reshape, Reverse, Transpose
from stablehlo_ref.ops.dot_general import DotGeneral
from stablehlo_ref.ops.reduction import Reduce
from stablehlo_ref.ops.slicing import DynamicSlice, DynamicUpdateSlice, Slice

FIRST = -(1 << 62)  # the argument of `renew` for the first op; others follow downwards, below all negated addresses
MAX_CALLED = 1 << 16  # elements of an operand or a result of a kernel that is called, which is copied
COST = 20  # of a call, as a number of ops on scalars in the plan
TENSOR_OP = 6  # the cost of an op on tensors
_WORK = 1 << 11  # what a call counts, as a number of instructions


@dataclass(frozen=True)
class Called:
    """An op that Python computes, its kernel, and the fields of operands and results, with their shapes."""

    op: Operation
    run: Run
    operands: Sequence[tuple[Field, tuple[int, ...]]]
    results: Sequence[tuple[Field, tuple[int, ...]]]

    def compute(self, arrays: Sequence[Array | None]) -> None:
        """Compute the results in the arrays of a frame."""
        operands = [_reshaped(arrays[field.number], shape) for field, shape in self.operands]
        computed = self.run(*operands)
        for (field, shape), result in zip(self.results, [computed] if len(self.results) == 1 else computed):
            _reshaped(arrays[field.number], shape)[...] = result


def _reshaped(x: Array | None, shape: tuple[int, ...]) -> Array:
    assert x is not None
    return x if x.shape == shape else x.reshape(shape)


class Ops:
    """Writes ops."""

    def __init__(self, code: Assembly, copying: Set[Operation] = frozenset()) -> None:
        self.code = code
        self.arrays = MachineArrays(code, copying)
        self.groups = Groups(code, self.arrays)
        self.loop = 0  # that is being written
        self.called: list[Called] = []
        self.cost = 0  # of other ops, if the plan ran them

    def check(self, x: Held) -> Held:
        """Return a value that has not been written over."""
        if isinstance(x, Memory):
            self.arrays.check(x)
        return x

    def check_saved(self) -> None:
        """Raise NotCompiled if calls cost more than machine code saves for the other ops."""
        if len(self.called) * COST > self.cost:
            raise NotCompiled(self.called[0].op.name)

    def compute(self, node: Node, operands: Sequence[Held]) -> list[Held]:
        """Write an op: by a rule, by its instructions, or as a call of its kernel."""
        op, rule = node.op, _RULES.get(node.op_class)
        is_scalar = len(op.results) == 1 and is_one(op.results[0])
        try:
            if is_scalar and all(isinstance(x, Register) for x in operands):
                self.cost += 1
                moved = _MOVED.get(node.op_class)
                return [self._on_scalars(node, operands) if moved is None else operands[moved]]
            if rule is None and not has_code(op):
                return self.call(node, operands)
            found = rule(self, node, operands) if rule else self._on_elements(node, operands)
        except Overwritten:
            raise
        except NotCompiled:
            return self.call(node, operands)
        self.cost += TENSOR_OP
        return [self.element(found, op.results[0]) if is_scalar else found]

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

    def own(self, x: Memory, loop: int, op: Operation) -> Memory:
        """Return memory that an op in a loop may write to: a copy, if need be."""
        self.groups.flush()
        may_write = self.arrays.writers[x.buffer] == loop and self.arrays.is_whole(x)
        return x if may_write and op not in self.arrays.copying else self.copied(x, loop)

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
        if not isinstance(value, Register) or any(interior) or min(*low, *high) < 0:
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
        target = self.own(self.memory(whole, shape_of(value)), self.loop, node.op)
        start = clamped_start(self.code, _registers(starts), target, shape_of(update))
        self.assign(new, self.arrays.view(target, start, shape_of(update)))
        return self.arrays.changed(target, node.op)

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

    # --- calls of Python ----------------------------------------------------------------------------------------

    def call(self, node: Node, operands: Iterable[Held]) -> list[Held]:
        """Write the call of a kernel. Its operands and results are fields of the frame, so Python has arrays for them.

        A call takes 1.3 microseconds more than that of a kernel in the plan, so it must not be one of many ops.
        """
        op, code, arrays = node.op, self.code, self.arrays
        is_large = any(prod(shape_of(x)) > MAX_CALLED for x in (*op.operands, *op.results) if not is_one(x))
        if node.kernel is None or node.counts or not op.results or is_large:
            raise NotCompiled(op.name)
        fields = [(self._field(x, shape_of(v)), shape_of(v)) for x, v in zip(operands, op.operands)]
        self.groups.flush()
        results = [arrays.scratch(dtype_of(v), shape_of(v), self.loop, is_field=True) for v in op.results]
        request = literal(Kind(INDEX), FIRST - len(self.called))
        got, go = code.let(f"call i64 %renew(i64 {request})", Kind(INDEX)), code.name("L")
        failed = code.let(f"icmp slt i64 {got}, 0", Kind(BOOL))
        code.do(f"br i1 {failed}, label %stop, label %{go}")
        code.label(go)
        of_results = [(arrays.field_of[x.buffer], x.shape) for x in results]
        self.called.append(Called(op, node.kernel.run, fields, of_results))
        arrays.work += _WORK + sum(prod(shape) for _, shape in (*fields, *of_results))
        return [self.element(x, v) if is_one(v) else x for x, v in zip(results, op.results)]

    def _field(self, x: Held, shape: tuple[int, ...]) -> Field:
        """Return the field of a tensor, which is copied to one if need be."""
        memory = self.contiguous(x, shape)
        if memory.buffer not in self.arrays.field_of or not self.arrays.is_whole(memory):
            memory = self.copied(memory, self.loop, is_field=True)
        return self.arrays.field_of[memory.buffer]


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
    Concatenate: Ops._concatenate,
    Pad: Ops._pad,
    Slice: Ops._slice,
    DynamicSlice: Ops._dynamic_slice,
    DynamicUpdateSlice: Ops._dynamic_update_slice,
    Reduce: Ops._reduce,
    DotGeneral: Ops._product,
}
