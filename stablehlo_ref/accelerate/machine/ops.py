"""Ops of machine code on scalars in registers and tensors in memory: elementwise ops in nests, views, copies, sums.

Sums of floats are reduced by the tree of their schedule (algorithms/reduction_schedule.py): on each level, adjacent
elements are added, and a surplus element at the end is kept, to be added last. The order of other reductions makes no
difference. Maxima and minima are those of IEEE 754-2019, for which -0 is less than +0; which of several NaNs they
return cannot be observed, as NaNs are made canonical where they can be. Products are calls of BLAS, by numpy's loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from math import prod

from stablehlo_ref.accelerate.elements import elementwise, has_code
from stablehlo_ref.accelerate.ir import Node, NotCompiled, dtype_of, is_plain, shape_of
from stablehlo_ref.accelerate.machine.assembly import INDEX, NARROW, Assembly, Kind, Register, computed, literal
from stablehlo_ref.accelerate.machine.products import Product
from stablehlo_ref.accelerate.machine.tensors import VECTOR, Held, Memory, Nests, Pending, offset, squeezed
from stablehlo_ref.execute.regions import recognised_op
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ops.control_flow import OptimizationBarrier
from stablehlo_ref.ops.data_movement import BroadcastInDim, Concatenate, Pad, Reshape, Transpose
from stablehlo_ref.ops.dot_general import DotGeneral
from stablehlo_ref.ops.reduction import Reduce
from stablehlo_ref.ops.slicing import DynamicSlice, DynamicUpdateSlice, Slice

SUM = "stablehlo.add"
FOLDS = ("stablehlo.maximum", "stablehlo.minimum", "stablehlo.and", "stablehlo.or")  # idempotent, in any order
LANES = 64  # elements that are reduced in registers
STEP = 16  # sums that are computed at a time


def shape_in_loop(value: Value) -> tuple[int, ...]:
    """Return the shape of a tensor of a loop; NotCompiled for one that machine code does not have."""
    if not is_plain(value.type) or dtype_of(value) in NARROW or not prod(shape_of(value)):
        raise NotCompiled(f"a value of type {value.type}")
    return shape_of(value)


class Ops:
    """Writes ops, on tensors of the shapes that `shape` returns."""

    def __init__(self, code: Assembly, shape: Callable[[Value], tuple[int, ...]]) -> None:
        self.code = code
        self.shape = shape
        self.nests = Nests(code)
        self.arrays = self.nests.arrays

    def is_one(self, value: Value) -> bool:
        """Return whether a value is one element, which is in a register."""
        return prod(self.shape(value)) == 1

    def constant(self, constant: Array) -> Register:
        """Return a constant whose elements are all the same."""
        kind = Kind(computed(constant.dtype))
        return literal(kind, constant.reshape(-1)[0].astype(kind.dtype))

    def compute(self, node: Node, operands: Sequence[Held]) -> Held:
        """Write an op, by a rule or by its instructions; NotCompiled if it has neither."""
        rule = RULES.get(node.op_class)
        if len(node.op.results) != 1 or not (rule or has_code(node.op)):
            raise NotCompiled(node.op.name)
        if node.op_class in _VIEWS and isinstance(operands[0], Register):
            return operands[0]
        found = rule(self, node, operands) if rule else self._on_elements(node, operands)
        return self.element(found, node.op.results[0]) if self.is_one(node.op.results[0]) else found

    def element(self, x: Held, value: Value) -> Register:
        """Return a value of one element."""
        if isinstance(x, Register):
            return x
        memory = self.memory(x, self.shape(value))
        if self.nests.is_stored(memory):
            self.nests.flush()
        return self.code.load(memory.pointer, Kind(memory.dtype))

    def _on_elements(self, node: Node, operands: Sequence[Held]) -> Held:
        """Write an elementwise op: on registers, or in a nest."""
        (result,), registers = node.op.results, [x for x in operands if isinstance(x, Register)]
        emit = partial(elementwise, self.code, node.op, is_canonical=node.is_canonical)
        if len(registers) == len(operands):
            return emit(registers)
        return self.nests.add(self.shape(result), computed(dtype_of(result)), operands, emit)

    # --- tensors in memory --------------------------------------------------------------------------------------

    def memory(self, x: Held, shape: tuple[int, ...]) -> Memory:
        """Return a tensor in memory, where it is stored if need be."""
        if isinstance(x, Memory):
            return x
        if isinstance(x, Pending):
            return self.nests.memory(x)
        spilled = self.arrays.scratch(x.kind.dtype, shape)
        self.assign(x, spilled)
        return spilled

    def contiguous(self, x: Held, shape: tuple[int, ...]) -> Memory:
        """Return a tensor in memory in row-major order."""
        memory = self.memory(x, shape)
        return memory if memory.is_contiguous else self.copied(memory)

    def copied(self, x: Memory, is_field: bool = False) -> Memory:
        """Return a copy in memory of the code's own, which the loop may write to; in a field, if `is_field`."""
        target = self.arrays.scratch(x.dtype, x.shape, is_field)
        self.assign(x, target)
        return target

    def own(self, x: Memory, dies: bool) -> Memory:
        """Return memory that an op in the loop may write to: a copy, unless `x` is not used again."""
        self.nests.flush()
        may_write = dies and self.arrays.writers[x.buffer] == self.arrays.loop and self.arrays.is_whole(x)
        return x if may_write else self.copied(x)

    def assign(self, x: Held, target: Memory) -> None:
        """Copy a tensor to a place in memory that no op which is still to be written reads."""
        if isinstance(x, Register) and prod(target.shape) == 1:
            self.nests.flush()
            return self.code.store(x, target.pointer, target.dtype)
        if isinstance(x, Pending) and x.term.nest is self.nests.open:
            self.nests.store(x.term, target)
            return self.nests.flush()
        if isinstance(x, Pending | Memory):
            source = self.memory(x, target.shape)
            self.nests.flush()
            if source.buffer == target.buffer:
                source = self.copied(source)
            if source.is_contiguous and target.is_contiguous and source.dtype == target.dtype:
                return self.arrays.copy(source, target)
            x = source
        copy = self.nests.add(target.shape, target.dtype, [x], lambda operands: operands[0])
        self.nests.store(copy.term, target)
        return self.nests.flush()

    def canonical(self, x: Held, shape: tuple[int, ...]) -> Held:
        """Replace NaNs by the canonical one."""
        if isinstance(x, Register):
            return self.code.canonical(x)
        memory = self.memory(x, shape)
        return self.nests.add(shape, memory.dtype, [memory], lambda operands: self.code.canonical(*operands))

    # --- rules --------------------------------------------------------------------------------------------------

    def _reshape(self, node: Node, operands: Sequence[Held]) -> Held:
        (x,), shape = operands, self.shape(node.op.results[0])
        if isinstance(x, Pending) and squeezed(shape) == x.term.nest.shape:
            return Pending(x.term, shape)
        return self.contiguous(x, self.shape(node.op.operands[0])).reshaped(shape)

    def _broadcast_in_dim(self, node: Node, operands: Sequence[Held]) -> Held:
        (x,), shape, given = operands, self.shape(node.op.results[0]), self.shape(node.op.operands[0])
        dims: Sequence[int] = node.op.properties["broadcast_dimensions"]
        if squeezed(shape) == squeezed(given) and list(dims) == sorted(dims):
            return self._reshape(node, operands)
        memory, strides = self.memory(x, given), [0] * len(shape)
        for axis, stride, n in zip(dims, memory.strides, given):
            strides[axis] = stride if n == shape[axis] else 0
        return self.arrays.view(memory, 0, shape, tuple(strides))

    def _transpose(self, node: Node, operands: Sequence[Held]) -> Held:
        (x,), shape = operands, self.shape(node.op.results[0])
        memory, order = self.memory(x, self.shape(node.op.operands[0])), node.op.properties["permutation"]
        return self.arrays.view(memory, 0, shape, tuple(memory.strides[axis] for axis in order))

    def _concatenate(self, node: Node, operands: Sequence[Held]) -> Held:
        """Let each operand be computed or copied to its place."""
        (result,), axis, start, others = node.op.results, node.op.properties["dimension"], 0, []
        target = self.arrays.scratch(dtype_of(result), self.shape(result))
        for x, value in zip(operands, node.op.operands):
            place = self.arrays.view(target, start * target.strides[axis], self.shape(value))
            start += self.shape(value)[axis]
            if isinstance(x, Pending) and x.term.nest is self.nests.open:
                self.nests.store(x.term, place)
            else:
                others.append((x, place))
        self.nests.flush()
        for x, place in others:
            self.assign(x, place)
        return target

    def _pad(self, node: Node, operands: Sequence[Held]) -> Held:
        """Fill a new array, and copy the operand to its place."""
        (x, value), p, shape = operands, node.op.properties, self.shape(node.op.results[0])
        low, high, interior = p["edge_padding_low"], p["edge_padding_high"], p["interior_padding"]
        if not isinstance(value, Register) or any(interior) or min([*low, *high], default=0) < 0:
            raise NotCompiled(node.op.name)
        target = self.arrays.scratch(value.kind.dtype, shape)
        self.assign(value, target)
        start = sum(n * stride for n, stride in zip(low, target.strides))
        self.assign(x, self.arrays.view(target, start, self.shape(node.op.operands[0])))
        return target

    def _slice(self, node: Node, operands: Sequence[Held]) -> Held:
        whole, p = self.memory(operands[0], self.shape(node.op.operands[0])), node.op.properties
        start = sum(n * stride for n, stride in zip(p["start_indices"], whole.strides))
        strides = tuple(n * step for n, step in zip(whole.strides, p["strides"]))
        return self.arrays.view(whole, start, self.shape(node.op.results[0]), strides)

    def _dynamic_slice(self, node: Node, operands: Sequence[Held]) -> Held:
        whole, shape = self.memory(operands[0], self.shape(node.op.operands[0])), self.shape(node.op.results[0])
        return self.arrays.sliced(whole, operands[1:], shape)

    def _dynamic_update_slice(self, node: Node, operands: Sequence[Held]) -> Held:
        """Write an update of a slice, in place."""
        (whole, new, *starts), (value, update, *_) = operands, node.op.operands
        target = self.own(self.memory(whole, self.shape(value)), value in node.dying)
        self.assign(new, self.arrays.sliced(target, starts, self.shape(update)))
        return self.arrays.changed(target)

    def _reduce(self, node: Node, operands: Sequence[Held]) -> Held:
        """Write a reduction along the last axes by one op, row by row."""
        op, body, (x, init, *_) = node.op, reduction_of(node.op), operands
        shape, kept, dtype = self.shape(op.operands[0]), self.shape(op.results[0]), dtype_of(op.results[0])
        is_minor = sorted(op.properties["dimensions"]) == list(range(len(kept), len(shape)))
        has_rows = is_minor and dtype not in NARROW
        if body is None or not has_rows or prod(shape) < 2 * prod(kept) or not isinstance(init, Register):
            raise NotCompiled(op.name)
        if is_sum(body, dtype) and node.frame.planner.mode.exact_sums:
            raise NotCompiled("exact sums")
        rows, length = self.contiguous(x, shape), prod(shape) // prod(kept)
        self.nests.flush()
        self.arrays.work += prod(shape) // 4
        target = self.arrays.scratch(dtype, kept)

        def reduce_row(i: Register) -> None:
            row = self.arrays.view(rows, offset(self.code, [i], [length]), (length,), (1,))
            result = reduced_row(self, body, row, init)
            result = self.code.canonical(result) if node.is_canonical and dtype.kind == "f" else result
            self.code.store(result, self.code.address(target.pointer, i, Kind(dtype)))

        self.code.count(0, literal(Kind(INDEX), prod(kept)), 1, reduce_row)
        return target

    def _product(self, node: Node, operands: Sequence[Held]) -> Held:
        """Write a product of matrices, which are copied to another address where the kernel may do so."""
        op, product = node.op, Product(node.op, node.frame.planner.mode.reproducible)
        product.check(node.kernel.run if node.kernel else None)
        first, second = (self.contiguous(x, self.shape(value)) for x, value in zip(operands, op.operands))
        if product.depends_on_addresses:
            first = self.copied(first, is_field=True)
        if product.depends_on_addresses or (product.may_be_transposes and isinstance(operands[1], Memory)):
            second = self.copied(second, is_field=True)
        self.nests.flush()
        self.arrays.work += product.work // 4
        target = self.arrays.scratch(product.dtype, self.shape(op.results[0]))
        product.write(self.code, first, second, target)
        return self.canonical(target, target.shape) if node.is_canonical else target


_VIEWS = (Slice, DynamicSlice, Reshape, BroadcastInDim, Transpose, OptimizationBarrier)  # of the first operand
RULES: Mapping[type | None, Callable[[Ops, Node, Sequence[Held]], Held]] = {
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


# --- reductions -----------------------------------------------------------------------------------------------------


def reduction_of(op: Operation) -> Operation | None:
    """Return the op by which a reduction reduces one tensor, if it has code for that; else None."""
    body = recognised_op(op.regions[0]) if len(op.operands) == 2 else None
    if body is None or body.name not in (SUM, *FOLDS) or not has_code(body):
        return None
    return body if len({dtype_of(v) for v in (*op.operands, *op.results)}) == 1 else None


def is_sum(body: Operation, dtype: DType) -> bool:
    """Return whether the body of a reduction is an addition of floats."""
    return body.name == SUM and dtype.kind == "f"


def reduced_row(ops: Ops, body: Operation, row: Memory, init: Register) -> Register:
    """Append the reduction of a contiguous row by an op, one of `FOLDS` or a sum, in a loop."""
    code, (length,), dtype = ops.code, row.shape, row.dtype

    def combined(x: Register, y: Register) -> Register:
        return elementwise(code, body, [x, y])

    if is_sum(body, dtype):
        scratch = ops.arrays.scratch(dtype, (length // 2,)).pointer if length > LANES else ""
        return combined(init, row_sum(code, row.pointer, scratch, length, dtype))
    if body.name in FOLDS:
        return row_fold(code, row.pointer, length, init, combined)
    return combined(init, row_fold(code, row.pointer, length, literal(init.kind, 0), combined))


def row_sum(code: Assembly, row: str, scratch: str, size: int, dtype: DType) -> Register:
    """Append the sum of a row of floats; `scratch` is a pointer to room for half as many elements."""
    tails: list[Register] = []  # surplus elements
    while size > LANES:
        levels = 1 if size % 8 else 3
        if size % 2:
            tails.append(_element(code, row, size - 1, dtype))
        size >>= levels
        _levels(code, row, scratch, size, dtype, levels)
        row = scratch
    x = code.load(row, Kind(dtype, size))
    while size > 1:
        if size % 2:
            tails.append(code.element(x, size - 1))
        size //= 2
        x = _pairs(code, x, size)
    return code.binary("fadd", x, reduce(lambda tail, last: code.binary("fadd", last, tail), tails)) if tails else x


def _element(code: Assembly, row: str, number: int, dtype: DType) -> Register:
    return code.load(code.address(row, literal(Kind(INDEX), number), Kind(dtype)), Kind(dtype))


def _pairs(code: Assembly, x: Register, count: int) -> Register:
    """Add the elements of each of the first `count` pairs."""
    return code.binary("fadd", *[code.shuffled(x, range(first, 2 * count, 2)) for first in (0, 1)])


def _levels(code: Assembly, row: str, scratch: str, size: int, dtype: DType, levels: int) -> None:
    """Write `size` sums of so many levels, which may be in place: an element is read before one is stored there."""
    index, one = Kind(INDEX), Kind(dtype)

    def sums(first: Register, count: int) -> None:
        at = code.binary("shl", first, literal(index, levels))
        x = code.load(code.address(row, at, one), Kind(dtype, count << levels))
        for level in reversed(range(levels)):
            x = _pairs(code, x, count << level)
        code.store(x, code.address(scratch, first, one))

    whole = size - size % STEP
    code.count(0, literal(index, whole), STEP, lambda i: sums(i, STEP))
    if rest := size % STEP:
        sums(literal(index, whole), rest)


def row_fold(code: Assembly, row: str, size: int, start: Register, emit: Callable[..., Register]) -> Register:
    """Append the reduction of a row in any order by `emit`, for which `start` is an identity, or idempotent."""
    index, dtype, found = Kind(INDEX), start.kind.dtype, start
    width = 2 * VECTOR // dtype.itemsize
    steps = size // width
    if steps:
        cell, kind = code.variable(code.splat(start, width)), Kind(dtype, width)

        def step(first: Register) -> None:
            code.store(emit(code.load(cell, kind), code.load(code.address(row, first, Kind(dtype)), kind)), cell)

        code.count(0, literal(index, steps * width), width, step)
        found = code.load(cell, kind)
        while (half := found.kind.count // 2) > 0:
            found = emit(code.shuffled(found, range(half)), code.shuffled(found, range(half, 2 * half)))
    for number in range(steps * width, size):
        found = emit(found, _element(code, row, number, dtype))
    return found
