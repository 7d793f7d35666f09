"""Write a `while` as machine code: its turns, branches, inner loops and the functions that it calls.

Variables of the source are cells of memory, which LLVM turns into registers. The state of the loop comes in a frame, a
buffer with a field for each value; for a tensor in memory, the field is the address of its array.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from stablehlo_ref.define.computation import Run
from stablehlo_ref.diagnostics import StablehloError
from stablehlo_ref.execute.dynamic import refined_results
from stablehlo_ref.execute.fuse.machine import elementwise as elements
from stablehlo_ref.execute.fuse.machine import tensors
from stablehlo_ref.execute.fuse.machine.assembly import INDEX, Assembly, Kind, NotCompiled, Register, literal
from stablehlo_ref.execute.fuse.machine.tensors import Memory, fits_registers, shape_of
from stablehlo_ref.execute.inlined import COUNTED, calls_of
from stablehlo_ref.execute.nans import canonical_results
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.core import Block, Operation, Value
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.numerics.dtypes import numpy_dtype

if TYPE_CHECKING:
    from stablehlo_ref.execute.plan import FramePlanner

MAX_OPS = 2000  # of a loop, which take LLVM about 0.3 s
MAX_CALLS = 8  # calls inside calls
ADDRESS = np.dtype(np.uint64)
USED = 0  # the offset of the number of turns since the last check, in the frame
ALIGNMENT = 32


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
    """The fields of a frame."""

    fields: list[Field] = field(default_factory=list)
    size: int = ALIGNMENT

    def add(self, dtype: DType, shape: tuple[int, ...], in_memory: bool) -> Field:
        new = Field(self.size, dtype, shape, in_memory)
        length = 8 if in_memory else dtype.itemsize * int(np.prod(shape, dtype=np.int64))
        self.size += -(-length // 8) * 8
        self.fields.append(new)
        return new


Held = Register | Memory


class LoopWriter:
    """Writes the function of one loop. Raises NotCompiled if an op of it does not become machine code."""

    def __init__(self, planner: FramePlanner, loop: Operation) -> None:
        self.planner = planner
        self.code = Assembly()
        self.layout = Layout()
        self.values: dict[Value, Held] = {}
        self.versions: list[int] = []  # of each array in memory: changes with each update
        self.writers: list[int] = []  # the loop in which each array may be updated
        self.current = 0  # the loop that is being written
        self.arrays: list[Field] = []  # the fields of arrays in memory
        self.counted: list[tuple[Operation, ...]] = []  # turns and calls that are counted together
        self.pending: list[Operation] = []  # those that are written and not counted yet
        self.mark = 0  # the line before which they are counted
        self.callees: list[str] = []
        self.ops = self.deepest = self._changes = self._loops = 0
        self.rounds = False  # whether floats are rounded to integers
        self._write(loop)

    # --- the function -------------------------------------------------------------------------------------------

    def _write(self, loop: Operation) -> None:
        code = self.code
        code.entry += ["  %n = alloca i64", "  %N = alloca i64", "  %at = alloca i64"]
        code.entry += ["  store i64 %turns, ptr %n", "  store i64 %turns, ptr %N"]
        body = loop.regions[1].block
        returned = body.operations[-1].operands
        state, fields = [], []
        for argument, value in zip(body.arguments, returned):
            new = self._field(argument)
            new.slot, new.is_state, new.is_written = self.planner.slot(argument), True, value is not argument
            fields.append(new)
            state.append(self._entering(new))
            if new.in_memory and new.is_written:
                self.writers[-1] = self.current
        results = self.loop(self.planner, loop, state)
        for new, result in zip(fields, results):
            if isinstance(result, Register) and new.is_written:
                code.store(result, self._pointer(code, new.offset))
        code.store(self._used(code.load("%n", Kind(INDEX))), "%frame")
        code.do("ret i64 0")
        code.label("stop")
        code.do(f"ret i64 {code.load('%at', Kind(INDEX))}")

    @property
    def text(self) -> str:
        declared = "\n".join(self.code.declared.values())
        lines = [*self.code.entry, "  br label %start", "start:", *self.code.lines]
        head = "define i64 @run(ptr %frame, ptr %renew, i64 %turns) {"
        return "\n".join([declared, head, *lines, "}"]) + "\n"

    def _field(self, value: Value) -> Field:
        in_memory = not fits_registers(value)
        return self.layout.add(numpy_dtype(_tensor_type(value).element_type), shape_of(value), in_memory)

    def _pointer(self, code: Assembly, offset: int) -> str:
        return code.let(f"getelementptr i8, ptr %frame, i64 {offset}", Kind(INDEX)).name

    def _entering(self, new: Field) -> Held:
        """Load a field before the body of the function starts."""
        code, lines = self.code, self.code.lines
        code.lines = code.entry
        pointer = self._pointer(code, new.offset)
        if new.in_memory:
            pointer = code.let(f"load ptr, ptr {pointer}, align 8", Kind(INDEX)).name
            held: Held = self._new_memory(new, pointer)
        else:
            held = code.load(pointer, Kind(new.dtype, int(np.prod(new.shape, dtype=np.int64))))
        code.lines = lines
        return held

    def _new_memory(self, new: Field, pointer: str) -> Memory:
        self.arrays.append(new)
        self.versions.append(0)
        self.writers.append(-1)
        return Memory(len(self.arrays) - 1, pointer, new.dtype, new.shape, 0)

    # --- values -------------------------------------------------------------------------------------------------

    def held(self, frame: FramePlanner, value: Value) -> Held:
        """Return the register or the memory of a value."""
        constant = frame.constant(value)
        if constant is not None and fits_registers(value):
            return literal(Kind(constant.dtype, constant.size), constant)
        if value not in self.values:
            if constant is None and frame is not self.planner:
                raise NotCompiled("a value of another function")
            new = self._field(value)
            new.slot, new.constant = (None, constant) if constant is not None else (frame.slot(value), None)
            self.values[value] = self._entering(new)
        held = self.values[value]
        if isinstance(held, Memory) and held.version != self.versions[held.buffer]:
            raise NotCompiled("a tensor that is used after its update")
        return held

    def register(self, frame: FramePlanner, value: Value) -> Register:
        held = self.held(frame, value)
        if isinstance(held, Memory):
            raise NotCompiled(f"an op on a tensor of type {value.type}")
        return held

    def _new_version(self) -> int:
        self._changes += 1
        return self._changes

    def _changed(self, memory: Memory) -> Memory:
        """Return what an array holds after it has changed."""
        self.versions[memory.buffer] = self._new_version()
        return replace(memory, version=self.versions[memory.buffer])

    def _own(self, memory: Memory, loop: int) -> Memory:
        """Return memory that may be written to in a loop: a copy in memory of the code's own, if need be."""
        if self.writers[memory.buffer] == loop:
            return memory
        new = self.layout.add(memory.dtype, memory.shape, in_memory=True)
        copy = self._entering(new)
        assert isinstance(copy, Memory)
        size = int(np.prod(memory.shape, dtype=np.int64)) * memory.dtype.itemsize
        symbol = "@llvm.memcpy.p0.p0.i64"
        self.code.declared[symbol] = f"declare void {symbol}(ptr, ptr, i64, i1)"
        self.code.do(f"call void {symbol}(ptr {copy.pointer}, ptr {memory.pointer}, i64 {size}, i1 false)")
        self.writers[copy.buffer] = loop
        return copy

    # --- blocks -------------------------------------------------------------------------------------------------

    def block(self, frame: FramePlanner, block: Block) -> list[Held]:
        """Write the ops of a block; return its results."""
        for op in block.operations[:-1]:
            if op.results and all(frame.constant(result) is not None for result in op.results):
                continue
            if op.name == COUNTED:
                self.pending += [call for call, _ in calls_of(op)]
                self.deepest = max(self.deepest, *(len(self.callees) + depth + 1 for _, depth in calls_of(op)))
                continue
            self.ops += 1
            if self.ops > MAX_OPS:
                raise NotCompiled(f"more than {MAX_OPS} ops")
            if refined_results(op):
                raise NotCompiled(op.name)
            structure = _STRUCTURES.get(op.name)
            results = structure(self, frame, op) if structure else [self._compute(frame, op)]
            self.values.update(zip(op.results, results))
        return [self.held(frame, value) for value in block.operations[-1].operands]

    def _compute(self, frame: FramePlanner, op: Operation) -> Held:
        if len(op.results) != 1 or op.regions:
            raise NotCompiled(op.name)
        held = [self.held(frame, value) for value in op.operands]
        name = op.name.removeprefix("stablehlo.")
        if name in ("reshape", "convert", "optimization_barrier") and isinstance(held[0], Memory):
            return self._renamed(op, held[0])
        operands = [self.register(frame, value) for value in op.operands]
        if not fits_registers(op.results[0]):
            raise NotCompiled(f"a tensor of type {op.results[0].type}")
        if name in tensors.MOVES and name != op.name:
            return tensors.moved(self.code, op, operands, self._kernel(frame, op))
        self.rounds = self.rounds or name in elements.ROUNDING
        result = elements.elementwise(self.code, op, operands)
        if result is None:
            raise NotCompiled(op.name)
        is_float = result.kind.dtype.kind == "f"
        return self.code.canonical(result) if is_float and op in frame.planner.canonical else result

    def _renamed(self, op: Operation, memory: Memory) -> Memory:
        if numpy_dtype(_tensor_type(op.results[0]).element_type) != memory.dtype:
            raise NotCompiled(op.name)
        return replace(memory, shape=shape_of(op.results[0]))

    def _kernel(self, frame: FramePlanner, op: Operation) -> Run:
        known = frame.known_kernel(op)
        try:
            return (known.kernel if known else frame.kernel(op)).run
        except StablehloError as error:
            raise NotCompiled(op.name) from error

    # --- control flow -------------------------------------------------------------------------------------------

    def loop(self, frame: FramePlanner, op: Operation, operands: Sequence[Held]) -> list[Held]:
        """Write a `while`; return its results."""
        code, (condition, body) = self.code, _blocks(op)
        varies = [v is not a for v, a in zip(body.operations[-1].operands, body.arguments)]
        self._loops += 1
        outer, self.current = self.current, self._loops
        start = [self._carried(x, outer) if v else x for x, v in zip(operands, varies)]
        cells = {i: self._cell(x) for i, x in enumerate(start) if varies[i] and isinstance(x, Register)}
        head, inside, after = (code.name("L") for _ in range(3))
        self._count()
        code.do(f"br label %{head}")
        self._label(head, [op])
        state: list[Held] = [code.load(cells[i], _register(x).kind) if i in cells else x for i, x in enumerate(start)]
        arrays = {i: x for i, x in enumerate(state) if varies[i] and isinstance(x, Memory)}
        self.values.update(zip((*condition.arguments, *body.arguments), (*state, *state)))
        (test,) = self.block(frame, condition)
        self._count()
        if any(self.versions[x.buffer] != x.version for x in arrays.values()):
            raise NotCompiled("an update in a condition")
        code.do(f"br i1 {test}, label %{inside}, label %{after}")
        self._label(inside)
        following = self.block(frame, body)
        for i, cell in cells.items():
            code.store(_register(following[i]), cell)
        if any(_memory(following[i]).buffer != x.buffer for i, x in arrays.items()):
            raise NotCompiled("tensors that change places")
        self._count()
        code.do(f"br label %{head}")
        self._label(after)
        self.current = outer
        for i, x in arrays.items():
            self.writers[x.buffer] = outer
            state[i] = self._changed(x)
        return state

    def _carried(self, x: Held, outer: int) -> Held:
        """Return the initial value of a loop's state: memory is what the loop may write to."""
        if isinstance(x, Register):
            return x
        own = self._own(x, outer)
        self.writers[own.buffer] = self.current
        return self._changed(own)

    def _cell(self, x: Register) -> str:
        cell = self.code.cell(x.kind)
        self.code.store(x, cell)
        return cell

    def inner_loop(self, frame: FramePlanner, op: Operation) -> list[Held]:
        """Write a `while` in the loop."""
        results = self.loop(frame, op, [self.held(frame, value) for value in op.operands])
        for number, _ in canonical_results(op, frame.planner.canonical):
            results[number] = self.code.canonical(_register(results[number]))
        return results

    def branches(self, frame: FramePlanner, op: Operation) -> list[Held]:
        """Write an `if` or a `case`."""
        code, chosen = self.code, self.register(frame, op.operands[0])
        cells = [code.cell(elements.kind_of(_tensor_type(r))) if fits_registers(r) else None for r in op.results]
        labels, after = [code.name("L") for _ in op.regions], code.name("L")
        self._count()
        code.do(_branch(op, chosen, labels))
        before, outcomes = list(self.versions), []
        changed: set[int] = set()
        for label, block in zip(labels, _blocks(op)):
            self.versions[: len(before)] = before
            self._label(label)
            outcomes.append(self.block(frame, block))
            for cell, result in zip(cells, outcomes[-1]):
                if cell is not None:
                    code.store(_register(result), cell)
            changed.update(b for b, version in enumerate(before) if self.versions[b] != version)
            self._count()
            code.do(f"br label %{after}")
        self._label(after)
        for buffer in changed:
            self.versions[buffer] = self._new_version()
        loaded = zip(op.results, cells, zip(*outcomes))
        return [code.load(c, elements.kind_of(_tensor_type(r))) if c else self._joined(found) for r, c, found in loaded]

    def _joined(self, outcomes: Sequence[Held]) -> Memory:
        """Return the memory that all branches return."""
        first, *others = map(_memory, outcomes)
        if any(other.buffer != first.buffer for other in others):
            raise NotCompiled("branches that return different tensors")
        return replace(first, version=self.versions[first.buffer])

    def call(self, frame: FramePlanner, op: Operation) -> list[Held]:
        """Write the body of the function that an op calls."""
        name = op.properties["callee"]
        callee = frame.planner.frames.get(name)
        if callee is None or name in self.callees or len(self.callees) == MAX_CALLS:
            raise NotCompiled(f"a call of @{name}")
        (block,) = _blocks(frame.planner.functions[name])
        if [v.type for v in block.arguments] != op.operand_types:
            raise NotCompiled(f"a call of @{name}")
        self.values.update(zip(block.arguments, [self.held(frame, value) for value in op.operands]))
        self.pending.append(op)
        self.callees.append(name)
        self.deepest = max(self.deepest, len(self.callees))
        results = self.block(callee, block)
        self.callees.pop()
        return results

    # --- counts of turns and calls ------------------------------------------------------------------------------

    def _label(self, name: str, ops: Sequence[Operation] = ()) -> None:
        """Begin a block of instructions, in which turns of `ops` and calls are counted at once, before they run."""
        self.code.label(name)
        self.pending, self.mark = list(ops), len(self.code.lines)

    def _count(self) -> None:
        """Count the turns and calls since the last count; if too few are left, ask whether the run may go on."""
        if self.pending:
            number, code = len(self.counted), self.code
            self.counted.append(tuple(self.pending))
            after, code.lines = code.lines[self.mark :], code.lines[: self.mark]
            self._check(number, len(self.pending))
            code.lines += after
        self.pending, self.mark = [], len(self.code.lines)

    def _check(self, number: int, count: int) -> None:
        code, index = self.code, Kind(INDEX)
        left, renew, go = code.load("%n", index), code.name("L"), code.name("L")
        few = code.compare("slt", left, literal(index, count))
        code.do(f"br i1 {few}, label %{renew}, label %{go}")
        code.label(renew)
        got = code.let(f"call i64 %renew(i64 {number}, i64 {self._used(left)})", index)
        for cell, value in (("%n", got), ("%N", got), ("%at", literal(index, number + 1))):
            code.store(value, cell)
        stops = code.compare("slt", got, literal(index, 0))
        code.do(f"br i1 {stops}, label %stop, label %{go}")
        code.label(go)
        code.store(code.binary("sub", code.load("%n", index), literal(index, count)), "%n")

    def _used(self, left: Register) -> Register:
        """Return how many turns and calls have been counted since the last check."""
        return self.code.binary("sub", self.code.load("%N", left.kind), left)

    # --- slices and updates -------------------------------------------------------------------------------------

    def _in_memory(self, frame: FramePlanner, value: Value) -> Memory:
        held = self.held(frame, value)
        return held if isinstance(held, Memory) else tensors.spilled(self.code, held, shape_of(value))

    def _start(self, frame: FramePlanner, op: Operation, first: int, sizes: Sequence[int]) -> Register:
        starts = [self.register(frame, value) for value in op.operands[first:]]
        return tensors.clamped_start(self.code, starts, shape_of(op.operands[0]), sizes)

    def slice(self, frame: FramePlanner, op: Operation) -> list[Held]:
        """Write a slice of a tensor in memory."""
        whole = self._in_memory(frame, op.operands[0])
        at = sum(n * stride for n, stride in zip(op.properties["start_indices"], tensors.strides(whole.shape)))
        return [self._sliced(op, whole, literal(Kind(INDEX), at), op.properties["strides"])]

    def dynamic_slice(self, frame: FramePlanner, op: Operation) -> list[Held]:
        """Write a slice at indices that are clamped."""
        start = self._start(frame, op, 1, shape_of(op.results[0]))
        return [self._sliced(op, self._in_memory(frame, op.operands[0]), start, [1] * len(op.operands[1:]))]

    def _sliced(self, op: Operation, whole: Memory, start: Register, steps: Sequence[int]) -> Register:
        if not fits_registers(op.results[0]):
            raise NotCompiled(f"a slice of type {op.results[0].type}")
        return tensors.sliced(self.code, whole, start, steps, shape_of(op.results[0]))

    def dynamic_update_slice(self, frame: FramePlanner, op: Operation) -> list[Held]:
        """Write an update of a slice: in place if the tensor is in memory."""
        operand, update = op.operands[:2]
        new, start = self.register(frame, update), self._start(frame, op, 2, shape_of(update))
        whole = self._in_memory(frame, operand)
        target = whole if fits_registers(operand) else self._own(whole, self.current)
        tensors.updated(self.code, target, new, start, shape_of(update))
        if fits_registers(operand):
            return [self.code.load(target.pointer, elements.kind_of(_tensor_type(operand)))]
        return [self._changed(target)]


def _blocks(op: Operation) -> list[Block]:
    """Return the blocks of an op whose regions have one each."""
    if any(len(region.blocks) != 1 for region in op.regions):
        raise NotCompiled("a region of several blocks")
    return [region.block for region in op.regions]


def _branch(op: Operation, chosen: Register, labels: Sequence[str]) -> str:
    """Return the instruction that selects a branch; an index that is out of range selects the last one."""
    if op.name == "stablehlo.if":
        return f"br i1 {chosen}, label %{labels[0]}, label %{labels[1]}"
    cases = " ".join(f"i32 {n}, label %{label}" for n, label in enumerate(labels[:-1]))
    return f"switch i32 {chosen}, label %{labels[-1]} [{cases}]"


def _tensor_type(value: Value) -> TensorType:
    assert isinstance(value.type, TensorType)
    return value.type


def _register(held: Held) -> Register:
    if isinstance(held, Memory):
        raise NotCompiled("a large tensor")
    return held


def _memory(held: Held) -> Memory:
    if isinstance(held, Register):
        raise NotCompiled("a small tensor")
    return held


_STRUCTURES: Mapping[str, Callable[[LoopWriter, FramePlanner, Operation], list[Held]]] = {
    "stablehlo.while": LoopWriter.inner_loop,
    "stablehlo.if": LoopWriter.branches,
    "stablehlo.case": LoopWriter.branches,
    "func.call": LoopWriter.call,
    "stablehlo.slice": LoopWriter.slice,
    "stablehlo.dynamic_slice": LoopWriter.dynamic_slice,
    "stablehlo.dynamic_update_slice": LoopWriter.dynamic_update_slice,
}
