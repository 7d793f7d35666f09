"""Loops that run often become code: machine code where that is available and pays off, else Python.

When that is decided is in policy.py. From then on the rest of a loop, and its later runs, are runs of the code: the
state passes from the slots of the plan to it, and back at the end.

In machine code, variables are cells of memory, which LLVM turns into registers. The addresses of the arrays of the
loop's state, and of other values, come in an array of words (machine/tensors.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from functools import cached_property
from math import prod
from time import perf_counter
from typing import TYPE_CHECKING, cast

import numpy as np

from stablehlo_ref.accelerate import policy
from stablehlo_ref.accelerate.ir import Body, Branch, Loop, NotCompiled, dtype_of, node_of
from stablehlo_ref.accelerate.machine.assembly import INDEX, Assembly, Kind, Register, literal
from stablehlo_ref.accelerate.machine.compiler import Callback, address, compiled, is_available, reason_of, words_of
from stablehlo_ref.accelerate.machine.functions import settle
from stablehlo_ref.accelerate.machine.ops import Ops, shape_in_loop
from stablehlo_ref.accelerate.machine.tensors import SMALL, Field, Held, Memory, Pending, is_splat
from stablehlo_ref.accelerate.python import Printer, count_iterations
from stablehlo_ref.define.computation import Slots
from stablehlo_ref.define.context import Context
from stablehlo_ref.diagnostics import LimitError
from stablehlo_ref.execute.nans import canonical_results
from stablehlo_ref.execute.ownership import is_exclusively_owned
from stablehlo_ref.execute.run import CONTEXT, located
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.limits.budget import reserve

if TYPE_CHECKING:
    from stablehlo_ref.accelerate import PlanAccelerator
    from stablehlo_ref.execute.plan import FramePlanner

MAX_OPS = 2000  # of a loop, which take LLVM about 0.3 s
SWAPPED = 1 << 14  # elements of a tensor that is copied in each iteration
MACHINE_OPS = 1 << 20  # about a millisecond: after so many ops machine code checks the limits


class MachineLoop:
    """A loop in machine code, as a function of the slots of its plan."""

    def __init__(self, op: Operation, writer: LoopWriter) -> None:
        self.text = writer.code.text
        self._code = compiled(self.text)
        self._op, self._loops, self._fields = op, writer.loops, writer.arrays.fields
        self._iterations = max(1, MACHINE_OPS // max(writer.count + writer.arrays.work, 1))  # between checks of limits

    def __call__(self, slots: Slots) -> bool:
        """Run the loop from the state in slots to its end; return False if the plan has to do that."""
        context: Context = slots[CONTEXT]
        if any(field.slot and slots[field.slot].shape != field.shape for field in self._fields):  # as with lanes
            return False
        try:
            arrays = self._arrays(slots)
        except (LimitError, MemoryError):  # the plan may need less memory, and else has the op that needs too much
            return False
        words, state = words_of(arrays), [(field.slot, x) for field, x in zip(self._fields, arrays) if field.is_state]
        for slot, _ in state:
            slots[slot] = None
        context.frames[id(arrays)] = arrays
        try:
            Callback(self._answer(context)).run(self._code, address(words))
        finally:
            del context.frames[id(arrays)]
        context.steps -= int(words[0])
        for slot, x in state:
            slots[slot] = x if x.ndim else x[()]
        return True

    def _arrays(self, slots: Slots) -> list[Array]:
        """Return the arrays of fields; LimitError unless there is room for them, and for copies of values in slots."""
        shared = [field for field in self._fields if not _may_use(slots, field)]
        reserve(sum(map(_bytes, shared)) + sum(_bytes(x) for x in self._fields if not x.slot and x.constant is None))
        for field in shared:
            if not _may_use(slots, field):  # still, after other copies
                slots[field.slot] = slots[field.slot].copy()
        return [_array(slots, field) for field in self._fields]

    def _answer(self, context: Context) -> Callable[[int], int]:
        """Return a function that counts iterations of a loop, and returns how many.

        A negative number asks for results of a function.
        """
        op = self._op

        def answer(asked: int) -> int:
            nonlocal op
            try:
                if asked < 0:
                    return settle(asked)
                op = self._loops[asked]
                return count_iterations(context, op, self._iterations)
            except Exception as error:
                raise located(error, op) from None

        return answer


def _array(slots: Slots, field: Field) -> Array:
    """Return the array of a field, which is new if it is the code's own, or if the code gets a copy."""
    if field.slot:
        value: Array = slots[field.slot]
        return np.array(value, order="C") if field.by_value else value
    return np.empty(field.shape, field.dtype) if field.constant is None else field.constant


def _bytes(field: Field) -> int:
    return field.dtype.itemsize * prod(field.shape)


def _may_use(slots: Slots, field: Field) -> bool:
    """Return whether a loop may have the array in a slot, and write to it if need be; True for other fields."""
    if not field.slot or field.by_value:
        return True
    flags = slots[field.slot].flags
    may_write = not field.is_written or is_exclusively_owned(slots, field.slot)
    return may_write and flags.c_contiguous and flags.aligned


class HotLoop:
    """Counts the iterations of a loop in the plan, and their seconds, and finishes it by code once it is hot."""

    def __init__(self, frame: FramePlanner, op: Operation) -> None:
        self._frame, self._op, self._left = frame, op, policy.HOT
        self._seconds, self._last = 0.0, 0.0
        self._was_written = False
        self._writer: LoopWriter | None = None  # of machine code, until that is compiled
        self._machine: MachineLoop | None = None
        self._loops = cast("PlanAccelerator", frame.planner.accelerator).loops
        self._loops[op] = self

    def __call__(self, slots: Slots) -> bool:
        """Finish the loop by code; return False if the plan has to run its next iteration."""
        if self._left:
            self._left -= 1
            return False
        if slots[CONTEXT].jit and is_available():
            if self._waits():
                return False
            if self._machine is not None and self._machine(slots):
                return True
        return self._python(slots)

    def _waits(self) -> bool:
        """Return whether the plan runs the loop until machine code pays off; compile it when that is so."""
        now = perf_counter()
        try:
            if not self._was_written:
                self._was_written, self._last = True, now
                self._writer = LoopWriter(self._frame, self._loop)  # which does not need llvmlite
            if self._writer is None:
                return False
            self._seconds += min(now - self._last, policy.ITERATION)
            self._last = now
            if not policy.is_hot(self._seconds, self._writer.expected):
                return True
            writer, self._writer = self._writer, None
            self._machine = MachineLoop(self._op, writer)
            self._report(", as machine code", self._machine.text)
        except Exception as error:
            self._report(f", not as machine code: {reason_of(error)}")
        return False

    @cached_property
    def _loop(self) -> Loop:
        node = node_of(self._frame, self._op)
        if not isinstance(node, Loop):
            raise NotCompiled("a loop that only the plan runs")
        return node

    @cached_property
    def _python(self) -> Callable[[Slots], bool]:
        """The loop as Python source; what leaves it to the plan if there is none."""
        try:
            generated = Printer(self._frame, self._runs_apart).function(self._loop)
        except (NotCompiled, RecursionError):
            return lambda slots: False
        self._report("", generated.text)
        return generated.run

    def _runs_apart(self, op: Operation) -> bool:
        """Return whether a loop is, or may become, machine code."""
        hot = self._loops.get(op)
        return hot is not None and (hot._machine or hot._writer) is not None

    def _report(self, what: str, text: str = "") -> None:
        self._frame.planner.generated.append((f"{self._op.name} at {self._op.location}{what}", text))


def hot_loop(frame: FramePlanner, op: Operation) -> HotLoop | None:
    """Return what finishes a `while` by code; None for other ops."""
    if op.name != "stablehlo.while" or frame.lanes is not None:
        return None
    if any(len(region.blocks) != 1 for region in op.regions) or frame.planner.communicates(op):
        return None
    return HotLoop(frame, op)


# --- machine code ---------------------------------------------------------------------------------------------------


class LoopWriter:
    """Writes the function of one loop. Raises NotCompiled if an op of it does not become machine code."""

    def __init__(self, frame: FramePlanner, loop: Loop) -> None:
        self.frame = frame
        self.code = Assembly()
        self.ops = Ops(self.code, shape_in_loop)
        self.arrays, self.nests = self.ops.arrays, self.ops.nests
        self.values: dict[Value, Held] = {}
        self.loops: list[Operation] = []
        self.count = 0  # of ops
        self._write(loop)
        lines = self.code.text.count("\n")
        self.expected = policy.SECONDS_OF_LINE * max(0, lines - policy.USUAL_LINES)  # that LLVM needs more than usual

    # --- the function -------------------------------------------------------------------------------------------

    def _write(self, loop: Loop) -> None:
        code = self.code
        code.entry += ["  %n = alloca i64", "  store i64 0, ptr %n"]
        arguments, returned = loop.body.block.arguments, loop.body.results
        state, places = list[Held](), list[Memory]()
        for argument, value in zip(arguments, returned):
            state.append(self._entering(argument, None))
            field = self.arrays.fields[-1]
            field.is_state, field.is_written = True, value is not argument
            places.append(self.arrays.whole[-1])
            if field.is_written and prod(field.shape) > SMALL:  # else a copy is on the stack, or in registers
                self.arrays.writers[-1] = self.arrays.loop
        for result, place in zip(self.loop(loop, state), places):
            if not (isinstance(result, Memory) and result.buffer == place.buffer):
                self.ops.assign(result, place)
        code.store(code.load("%n", Kind(INDEX)), "%words")  # iterations that are counted and have not begun
        code.do("ret i64 0")
        code.label("stop")
        code.do("ret i64 -1")

    # --- values -------------------------------------------------------------------------------------------------

    def held(self, value: Value) -> Held:
        """Return the register or the memory of a value."""
        constant = self.frame.constant(value)
        if constant is not None and is_splat(constant):
            return self.ops.constant(constant)
        if value not in self.values:
            self.values[value] = self._entering(value, constant)
        held = self.values[value]
        if isinstance(held, Memory):
            self.arrays.check(held)
        return held

    def _entering(self, value: Value, constant: Array | None) -> Held:
        memory = self.arrays.enter(dtype_of(value), self.ops.shape(value))
        field = self.arrays.fields[-1]
        if constant is None:
            field.slot = self.frame.slot(value)
        else:
            field.constant = np.require(constant, requirements=["C", "A"])
        field.by_value = self.ops.is_one(value)
        if not field.by_value:
            return memory
        with self.code.at(self.code.entry):
            return self.code.load(memory.pointer, Kind(memory.dtype))

    # --- blocks -------------------------------------------------------------------------------------------------

    def body(self, body: Body) -> list[Held]:
        """Write the ops of a body; return its results."""
        for node in body.nodes:
            self.count += 1
            if self.count > MAX_OPS:
                raise NotCompiled(f"more than {MAX_OPS} ops")
            if isinstance(node, Loop):
                results = self.inner_loop(node)
            elif isinstance(node, Branch):
                results = self.branch(node)
            else:
                results = [self.ops.compute(node, [self.held(value) for value in node.op.operands])]
            self.values.update(zip(node.op.results, results))
        return [self.held(value) for value in body.results]

    # --- control flow -------------------------------------------------------------------------------------------

    def loop(self, loop: Loop, operands: Sequence[Held]) -> list[Held]:
        """Write a loop; return its results."""
        code, op, arguments = self.code, loop.op, loop.body.block.arguments
        varies = [v is not a for v, a in zip(loop.body.results, arguments)]
        self.loops.append(op)
        number = len(self.loops)
        outer, self.arrays.loop = self.arrays.loop, number
        dying = [number == 1 or value in loop.dying for value in op.operands]
        start = [self._carried(x, a, outer, d) if v else x for x, v, a, d in zip(operands, varies, arguments, dying)]
        cells = {i: code.variable(x) for i, x in enumerate(start) if varies[i] and isinstance(x, Register)}
        head, inside, after = (code.name("L") for _ in range(3))
        self.nests.flush()
        code.do(f"br label %{head}")
        code.label(head)
        self._check(number - 1)
        state: list[Held] = [code.load(cells[i], _register(x).kind) if i in cells else x for i, x in enumerate(start)]
        arrays = {i: x for i, x in enumerate(state) if varies[i] and isinstance(x, Memory)}
        self.values.update(zip((*loop.condition.block.arguments, *arguments), (*state, *state)))
        (test,) = self.body(loop.condition)
        self.nests.flush()
        for x in arrays.values():
            self.arrays.check(x)
        code.do(f"br i1 {_register(test)}, label %{inside}, label %{after}")
        code.label(inside)
        following = self.body(loop.body)
        for i, cell in cells.items():
            code.store(_register(following[i]), cell)
        self._carry_on(arrays, following)
        self.nests.flush()
        code.do(f"br label %{head}")
        code.label(after)
        self.arrays.loop = outer
        for i, x in arrays.items():
            self.arrays.writers[x.buffer] = outer
            state[i] = self.arrays.changed(x)
        return state

    def _carried(self, x: Held, argument: Value, outer: int, dies: bool) -> Held:
        """Return the initial value of a loop's state: memory is what the loop may write to."""
        if isinstance(x, Register) and self.ops.is_one(argument):
            return x
        inner, self.arrays.loop = self.arrays.loop, outer
        own = self.ops.own(self.ops.memory(x, self.ops.shape(argument)), dies)
        self.arrays.loop = inner
        self.arrays.writers[own.buffer] = inner
        return self.arrays.changed(own)

    def _carry_on(self, state: Mapping[int, Memory], following: Sequence[Held]) -> None:
        """Write the next state to the arrays of the state: in place, if the ops that compute it allow that."""
        nests, late = self.nests, []
        for i, target in state.items():
            x = following[i]
            nest = x.term.nest if isinstance(x, Pending) else None
            if isinstance(x, Pending) and nest is nests.open and nest is not None and nest.may_overwrite(target):
                nests.store(x.term, target)
            elif not isinstance(x, Memory) or not (x.buffer == target.buffer and self.arrays.is_whole(x)):
                late.append((x, target))
        written = {target.buffer for target in state.values()}
        sources = [(x if isinstance(x, Register) else self.ops.memory(x, t.shape), t) for x, t in late]
        nests.flush()
        for source, target in [(self._apart(x, written), target) for x, target in sources]:
            self.ops.assign(source, target)

    def _apart(self, x: Register | Memory, written: Set[int]) -> Register | Memory:
        """Return a tensor outside of arrays that are written before it is read."""
        if not isinstance(x, Memory) or x.buffer not in written:
            return x
        if prod(x.shape) > SWAPPED:
            raise NotCompiled("tensors that change places")
        return self.ops.copied(x)

    def inner_loop(self, loop: Loop) -> list[Held]:
        """Write a loop in a loop."""
        results = self.loop(loop, [self.held(value) for value in loop.op.operands])
        for number, _ in canonical_results(loop.op, self.frame.planner.canonical):
            results[number] = self.ops.canonical(results[number], self.ops.shape(loop.op.results[number]))
        return results

    def branch(self, branch: Branch) -> list[Held]:
        """Write a branch."""
        code, op, chosen = self.code, branch.op, _register(self.held(branch.op.operands[0]))
        are_one = list(map(self.ops.is_one, op.results))
        targets = [self.arrays.scratch(dtype_of(r), self.ops.shape(r)) for r in op.results]
        labels, after = [code.name("L") for _ in branch.bodies], code.name("L")
        self.nests.flush()
        is_if = int(chosen.kind.dtype.kind == "b")  # true selects the first one, an index out of range the last one
        cases = " ".join(f"{chosen.kind} {is_if + n}, label %{label}" for n, label in enumerate(labels[:-1]))
        code.do(f"switch {chosen.kind} {chosen}, label %{labels[-1]} [{cases}]")
        before, changed = list(self.arrays.versions), set[int]()
        for label, body in zip(labels, branch.bodies):
            self.arrays.versions[: len(before)] = before
            code.label(label)
            for x, target in zip(self.body(body), targets):
                self.ops.assign(x, target)
            self.nests.flush()
            changed |= {b for b, version in enumerate(before) if self.arrays.versions[b] != version}
            code.do(f"br label %{after}")
        code.label(after)
        for buffer in changed:
            self.arrays.changed(self.arrays.whole[buffer])
        return [self.ops.element(x, r) if one else x for x, r, one in zip(targets, op.results, are_one)]

    # --- counts of iterations ----------------------------------------------------------------------------------------

    def _check(self, number: int) -> None:
        """Count an iteration; if none is left, ask how many more the run may take."""
        code, index = self.code, Kind(INDEX)
        left, renew, go = code.load("%n", index), code.name("L"), code.name("L")
        code.do(f"br i1 {code.rarely(code.compare('sle', left, literal(index, 0)))}, label %{renew}, label %{go}")
        code.label(renew)
        got = code.let(f"call i64 %renew(i64 {number})", index)
        code.store(got, "%n")
        stops = code.compare("sle", got, literal(index, 0))  # 0 after an error that was not caught
        code.do(f"br i1 {stops}, label %stop, label %{go}")
        code.label(go)
        code.store(code.binary("sub", code.load("%n", index), literal(index, 1)), "%n")


def _register(held: Held) -> Register:
    if not isinstance(held, Register):
        raise NotCompiled("a large tensor")
    return held
