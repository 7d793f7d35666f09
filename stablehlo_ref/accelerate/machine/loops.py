"""Write a `while` as machine code: its turns, branches, inner loops and the functions that it calls.

Variables of the source are cells of memory, which LLVM turns into registers. The state of the loop comes in a frame, a
buffer with a field for each value; for a tensor in memory, the field is the address of its array.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

from stablehlo_ref.accelerate import elements
from stablehlo_ref.accelerate.ir import Loop, NotCompiled, shape_of
from stablehlo_ref.accelerate.machine import tensors
from stablehlo_ref.accelerate.machine.assembly import INDEX, Assembly, Kind, Register, literal
from stablehlo_ref.accelerate.machine.large import Held, Large, Pending, Splat
from stablehlo_ref.accelerate.machine.python_ops import TENSOR_OP, PythonOps
from stablehlo_ref.accelerate.machine.python_ops import check as check_kernel
from stablehlo_ref.accelerate.machine.reductions import Site
from stablehlo_ref.accelerate.machine.special import SPECIAL
from stablehlo_ref.accelerate.machine.tensors import MAX_SIZE, Memory, Overwritten, fits_registers
from stablehlo_ref.define.computation import Run
from stablehlo_ref.diagnostics import StablehloError
from stablehlo_ref.execute.dynamic import refined_results
from stablehlo_ref.execute.nans import canonical_results
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Block, Operation, Value
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.numerics.dtypes import numpy_dtype

if TYPE_CHECKING:
    from stablehlo_ref.execute.plan import FramePlanner

MAX_OPS = 2000  # of a loop, which take LLVM about 0.3 s
MAX_COPIES = 8  # ops that change a copy
SMALL = 1 << 14  # elements of a tensor that is copied in each turn


class LoopWriter:
    """Writes the function of one loop. Raises NotCompiled if an op of it does not become machine code."""

    def __init__(self, planner: FramePlanner, loop: Operation, copying: Set[Operation]) -> None:
        self.planner = planner
        self.code = Assembly()
        self.large = Large(self.code, copying)
        self.arrays = self.large.arrays
        self.python = PythonOps(self.large)
        self.values: dict[Value, Held] = {}
        self.loops: list[Operation] = []
        self.ops = 0
        self.cost = 0  # of ops in machine code, if they were in generated Python
        self._write(loop)
        self.lines = self.code.text.count("\n")

    # --- the function -------------------------------------------------------------------------------------------

    def _write(self, loop: Operation) -> None:
        code = self.code
        code.entry += ["  %n = alloca i64", "  store i64 0, ptr %n"]
        body = loop.regions[1].block
        returned = body.operations[-1].operands
        state, places = list[Held](), list[str]()
        for argument, value in zip(body.arguments, returned):
            state.append(self._entering(argument, None))
            field = self.arrays.fields[-1]
            field.is_state, field.is_written = True, value is not argument
            places.append(self.arrays.whole[-1].pointer)
            if field.is_written and not field.by_value:
                self.arrays.writers[-1] = self.large.loop
        results = self.loop(loop, state)
        self.python.check_saved(self.cost)
        for argument, value, result, place in zip(body.arguments, returned, results, places):
            if isinstance(result, Register) and value is not argument:
                code.store(result, place)
        code.store(code.load("%n", Kind(INDEX)), "%frame")  # turns that are counted and have not begun
        code.do("ret i64 0")
        code.label("stop")
        code.do("ret i64 -1")

    # --- values -------------------------------------------------------------------------------------------------

    def held(self, value: Value) -> Held:
        """Return the register or the memory of a value."""
        constant = self.planner.constant(value)
        if constant is not None and fits_registers(value):
            return literal(Kind(constant.dtype, constant.size), constant)
        if value not in self.values:
            self.values[value] = _splat(constant) or self._entering(value, constant)
        return self.large.check(self.values[value])

    def _entering(self, value: Value, constant: Array | None) -> Held:
        memory = self.arrays.enter(numpy_dtype(_tensor_type(value).element_type), shape_of(value))
        field = self.arrays.fields[-1]
        field.slot, field.constant = (self.planner.slot(value), None) if constant is None else (None, constant)
        field.by_value = fits_registers(value)
        if not field.by_value:
            return memory
        with self.code.at(self.code.entry):
            return self.code.load(memory.pointer, Kind(memory.dtype, prod(memory.shape)))

    def register(self, value: Value) -> Register:
        return _register(self.held(value))

    # --- blocks -------------------------------------------------------------------------------------------------

    def block(self, block: Block) -> list[Held]:
        """Write the ops of a block; return its results."""
        for op in block.operations[:-1]:
            if op.results and all(self.planner.constant(result) is not None for result in op.results):
                continue
            self.ops += 1
            if self.ops > MAX_OPS:
                raise NotCompiled(f"more than {MAX_OPS} ops")
            if refined_results(op):
                raise NotCompiled(op.name)
            structure = _STRUCTURES.get(op.name)
            results = structure(self, op) if structure else self._compute(op)
            self.values.update(zip(op.results, results))
        return [self.held(value) for value in block.operations[-1].operands]

    def _compute(self, op: Operation) -> list[Held]:
        held = [self.held(value) for value in op.operands]
        operands = [x for x in held if isinstance(x, Register)]
        is_small = fits_registers(op.results[0]) and len(operands) == len(held)
        if is_small and op.name in MOVES:
            return [tensors.moved(self.code, op, operands, self._kernel(op))]
        if not self.large.has_rule(op) and not elements.has_code(op):
            return self._in_python(op, held)
        self.cost += 1 if not shape_of(op.results[0]) else TENSOR_OP
        is_canonical = op in self.planner.planner.canonical
        if not is_small:
            return [self.large.compute(op, held, is_canonical)]
        return [elements.elementwise(self.code, op, operands, is_canonical)]

    def _in_python(self, op: Operation, operands: Sequence[Held]) -> list[Held]:
        check_kernel(op)
        self.large.groups.flush()
        return self.python.write(op, self._kernel(op), operands)

    def _kernel(self, op: Operation) -> Run:
        known = self.planner.known_kernel(op, self.planner.planner.kind(op))
        try:
            return (known.kernel if known else self.planner.kernel(op)).run
        except StablehloError as error:
            raise NotCompiled(op.name) from error

    # --- control flow -------------------------------------------------------------------------------------------

    def loop(self, op: Operation, operands: Sequence[Held]) -> list[Held]:
        """Write a `while`; return its results."""
        code, (condition, body) = self.code, _blocks(op)
        varies = [v is not a for v, a in zip(body.operations[-1].operands, body.arguments)]
        self.loops.append(op)
        number = len(self.loops)
        outer, self.large.loop = self.large.loop, number
        start = [self._carried(op, x, a, outer) if v else x for x, v, a in zip(operands, varies, body.arguments)]
        cells = {i: self._cell(x) for i, x in enumerate(start) if varies[i] and isinstance(x, Register)}
        head, inside, after = (code.name("L") for _ in range(3))
        self.large.groups.flush()
        code.do(f"br label %{head}")
        code.label(head)
        self._check(number - 1)
        state: list[Held] = [code.load(cells[i], _register(x).kind) if i in cells else x for i, x in enumerate(start)]
        arrays = {i: x for i, x in enumerate(state) if varies[i] and isinstance(x, Memory)}
        self.values.update(zip((*condition.arguments, *body.arguments), (*state, *state)))
        (test,) = self.block(condition)
        self.large.groups.flush()
        for x in arrays.values():
            self.arrays.check(x)
        code.do(f"br i1 {_register(test)}, label %{inside}, label %{after}")
        code.label(inside)
        following = self.block(body)
        for i, cell in cells.items():
            code.store(_register(following[i]), cell)
        self._carry_on(arrays, following)
        self.large.groups.flush()
        code.do(f"br label %{head}")
        code.label(after)
        self.large.loop = outer
        for i, x in arrays.items():
            self.arrays.writers[x.buffer] = outer
            state[i] = self.arrays.changed(x, op)
        return state

    def _carried(self, op: Operation, x: Held, argument: Value, outer: int) -> Held:
        """Return the initial value of a loop's state: memory is what the loop may write to."""
        if isinstance(x, Register):
            return x
        inner, self.large.loop = self.large.loop, outer
        own = self.large.own(self.large.memory(x, shape_of(argument)), outer, op)
        self.large.loop = inner
        self.arrays.writers[own.buffer] = inner
        return self.arrays.changed(own, op)

    def _carry_on(self, state: Mapping[int, Memory], following: Sequence[Held]) -> None:
        """Write the next state to the arrays of the state: in place, if the ops that compute it allow that."""
        groups, late = self.large.groups, []
        for i, target in state.items():
            x = following[i]
            group = x.node.group if isinstance(x, Pending) else None
            if isinstance(x, Pending) and group is groups.open and group is not None and group.may_overwrite(target):
                groups.store(x.node, target)
            elif not isinstance(x, Memory) or not (x.buffer == target.buffer and self.arrays.is_whole(x)):
                late.append((x, target))
        written = {target.buffer for target in state.values()}
        sources = [(x if isinstance(x, Splat) else self.large.memory(x, t.shape), t) for x, t in late]
        groups.flush()
        for source, target in [(self._apart(x, written), target) for x, target in sources]:
            self.large.assign(source, target)

    def _apart(self, x: Splat | Memory, written: Set[int]) -> Splat | Memory:
        """Return a tensor outside of arrays that are written before it is read."""
        if not isinstance(x, Memory) or x.buffer not in written:
            return x
        if prod(x.shape) > SMALL:
            raise NotCompiled("tensors that change places")
        return self.large.copied(x, self.large.loop)

    def _cell(self, x: Register) -> str:
        cell = self.code.cell(x.kind)
        self.code.store(x, cell)
        return cell

    def inner_loop(self, op: Operation) -> list[Held]:
        """Write a `while` in the loop."""
        results = self.loop(op, [self.held(value) for value in op.operands])
        for number, _ in canonical_results(op, self.planner.planner.canonical):
            results[number] = self.large.canonical(results[number], shape_of(op.results[number]))
        return results

    def branches(self, op: Operation) -> list[Held]:
        """Write an `if` or a `case`."""
        code, chosen = self.code, self.register(op.operands[0])
        cells = [code.cell(_kind(_tensor_type(r))) if fits_registers(r) else None for r in op.results]
        labels, after = [code.name("L") for _ in op.regions], code.name("L")
        self.large.groups.flush()
        code.do(_branch(op, chosen, labels))
        before, outcomes = list(self.arrays.versions), []
        changed: dict[int, int] = {}  # the last changes of arrays
        for label, block in zip(labels, _blocks(op)):
            self.arrays.versions[: len(before)] = before
            code.label(label)
            held = self.block(block)
            outcomes.append([x if c else self._stored(x, r) for x, c, r in zip(held, cells, op.results)])
            for cell, result in zip(cells, held):
                if cell is not None:
                    code.store(_register(result), cell)
            after_it = self.arrays.versions
            changed |= {b: after_it[b] for b, version in enumerate(before) if after_it[b] != version}
            self.large.groups.flush()
            code.do(f"br label %{after}")
        code.label(after)
        for buffer, version in changed.items():
            self.arrays.versions[buffer] = self.arrays.new_version(self.arrays.changes[version])
        loaded = zip(op.results, cells, zip(*outcomes))
        return [code.load(c, _kind(_tensor_type(r))) if c else self._joined(x) for r, c, x in loaded]

    def _stored(self, x: Held, result: Value) -> tuple[Memory, list[str]]:
        """Return the memory that a branch returns, and the place for instructions at its end."""
        memory = self.large.contiguous(x, shape_of(result))
        self.large.groups.flush()
        end: list[str] = []
        self.code.lines.append(end)
        return memory, end

    def _joined(self, outcomes: Sequence[tuple[Memory, list[str]]]) -> Memory:
        """Return the memory that all branches return, or to which all copy their results."""
        first = outcomes[0][0]
        if all(x.pointer == first.pointer for x, _ in outcomes):
            return replace(first, version=self.arrays.versions[first.buffer])
        target = self.arrays.scratch(first.dtype, first.shape, self.large.loop)
        for x, end in outcomes:
            with self.code.at(end):
                self.arrays.copy(x, target)
        return target

    # --- counts of turns ----------------------------------------------------------------------------------------

    def _check(self, number: int) -> None:
        """Use one of the turns that are counted; if none is left, ask whether the run may go on, and for how many."""
        code, index = self.code, Kind(INDEX)
        left, renew, go = code.load("%n", index), code.name("L"), code.name("L")
        code.do(f"br i1 {code.compare('sle', left, literal(index, 0))}, label %{renew}, label %{go}")
        code.label(renew)
        got = code.let(f"call i64 %renew(i64 {number})", index)
        code.store(got, "%n")
        stops = code.compare("sle", got, literal(index, 0))  # 0 after an error that was not caught
        code.do(f"br i1 {stops}, label %stop, label %{go}")
        code.label(go)
        code.store(code.binary("sub", code.load("%n", index), literal(index, 1)), "%n")

    # --- products, reductions, gathers, scatters ----------------------------------------------------------------

    def special(self, op: Operation) -> list[Held]:
        """Write an op by a rule of its own, or else the call of its kernel."""
        held = [self.held(value) for value in op.operands]
        try:
            results = SPECIAL[op.name](Site(self.large, self.planner, op, self._kernel(op)), held)
        except NotCompiled:
            return self._in_python(op, held)
        self.cost += TENSOR_OP
        return results

    # --- slices and updates -------------------------------------------------------------------------------------

    def _memory(self, value: Value) -> Memory:
        return self.large.memory(self.held(value), shape_of(value))

    def slice(self, op: Operation) -> list[Held]:
        """Write a slice."""
        whole, starts, steps = (
            self._memory(op.operands[0]),
            op.properties["start_indices"],
            op.properties["strides"],
        )
        at = sum(n * stride for n, stride in zip(starts, whole.strides))
        return [self._sliced(op, whole, literal(Kind(INDEX), at), steps)]

    def dynamic_slice(self, op: Operation) -> list[Held]:
        """Write a slice at indices that are clamped."""
        whole, starts = self._memory(op.operands[0]), [self.register(x) for x in op.operands[1:]]
        start = tensors.clamped_start(self.code, starts, whole, shape_of(op.results[0]))
        return [self._sliced(op, whole, start, [1] * len(starts))]

    def _sliced(self, op: Operation, whole: Memory, start: Register, steps: Sequence[int]) -> Held:
        self.large.groups.flush()
        shape = shape_of(op.results[0])
        if fits_registers(op.results[0]):
            return tensors.sliced(self.code, whole, start, steps, shape)
        return self.arrays.view(whole, start, shape, tuple(n * step for n, step in zip(whole.strides, steps)))

    def dynamic_update_slice(self, op: Operation) -> list[Held]:
        """Write an update of a slice: in place if the tensor is in memory."""
        operand, update = op.operands[:2]
        new, whole = self.held(update), self._memory(operand)
        starts = [self.register(x) for x in op.operands[2:]]
        target = whole if fits_registers(operand) else self.large.own(whole, self.large.loop, op)
        start = tensors.clamped_start(self.code, starts, target, shape_of(update))
        if isinstance(new, Register):
            tensors.updated(self.code, target, new, start, shape_of(update))
        else:
            self.large.assign(new, self.arrays.view(target, start, shape_of(update)))
        if fits_registers(operand):
            return [self.code.load(target.pointer, _kind(_tensor_type(operand)))]
        return [self.arrays.changed(target, op)]


def written(planner: FramePlanner, loop: Loop) -> LoopWriter:
    """Write a loop, again where an op has to change a copy of its operand."""
    copying: set[Operation] = set()
    while True:
        try:
            return LoopWriter(planner, loop.op, copying)
        except Overwritten as error:
            if error.op is None or error.op in copying or len(copying) == MAX_COPIES:
                raise
            copying.add(error.op)


def _splat(constant: Array | None) -> Splat | None:
    """Return a constant whose elements are all the same bits as one scalar."""
    if constant is None or not 0 < constant.size <= MAX_SIZE:
        return None
    first = constant.reshape(-1)[0]
    is_splat = not any(constant.strides) or constant.tobytes() == first.tobytes() * constant.size
    return Splat(literal(Kind(constant.dtype), first), constant.shape) if is_splat else None


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


MOVES = frozenset(  # move elements
    f"stablehlo.{name}" for name in ("slice", "reshape", "broadcast_in_dim", "concatenate", "transpose", "reverse")
)


def _kind(type: TensorType) -> Kind:
    return Kind(numpy_dtype(type.element_type), type.size)


def _register(held: Held) -> Register:
    if not isinstance(held, Register):
        raise NotCompiled("a large tensor")
    return held


_STRUCTURES: Mapping[str, Callable[[LoopWriter, Operation], list[Held]]] = {
    "stablehlo.while": LoopWriter.inner_loop,
    "stablehlo.if": LoopWriter.branches,
    "stablehlo.case": LoopWriter.branches,
    **dict.fromkeys(SPECIAL, LoopWriter.special),
    "stablehlo.slice": LoopWriter.slice,
    "stablehlo.dynamic_slice": LoopWriter.dynamic_slice,
    "stablehlo.dynamic_update_slice": LoopWriter.dynamic_update_slice,
}
