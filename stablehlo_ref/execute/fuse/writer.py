"""Write the blocks of a function or a loop as Python source.

Each value is a local variable, named after its slot. An op becomes an expression, else a call of its kernel. What has
neither, such as an op whose region captures values, runs as the step of the plan: its operands are copied to slots, and
its results from slots. Loops, branches and calls of functions become part of the source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from stablehlo_ref.define.computation import Kernel
from stablehlo_ref.define.definition import Traits, resolve
from stablehlo_ref.diagnostics import StablehloError
from stablehlo_ref.execute.dynamic import refined_results
from stablehlo_ref.execute.fuse.arrays import SourceArrays
from stablehlo_ref.execute.fuse.elements import Elements
from stablehlo_ref.execute.fuse.expressions import Expressions
from stablehlo_ref.execute.fuse.frames import Frame
from stablehlo_ref.execute.fuse.integers import Integers
from stablehlo_ref.execute.fuse.loop_state import LoopState
from stablehlo_ref.execute.fuse.scalar_code import is_scalar
from stablehlo_ref.execute.fuse.source import MAX_CALLS, MAX_NESTING, Source
from stablehlo_ref.execute.fuse.tensor_code import code_of, scalar_type
from stablehlo_ref.execute.guard import STEPS, WATCHED, small_bytes
from stablehlo_ref.execute.inlined import INLINED_CALLS, calls_of
from stablehlo_ref.execute.liveness import captured, last_uses
from stablehlo_ref.execute.nans import canonical_results
from stablehlo_ref.execute.run import Step
from stablehlo_ref.ir.core import Block, Operation, Value

if TYPE_CHECKING:
    from stablehlo_ref.execute.plan import FramePlanner

MAX_OPS = 20_000  # ops of one function


class NotSuitable(Exception):
    """The source would have too many ops, or the ops run as chains."""


class Writer:
    """Writes the source of one function."""

    def __init__(self, planner: FramePlanner) -> None:
        self.source = Source()
        self.frame = Frame(planner, 0)
        self.known: set[int] = set()  # slots of the outermost frame that have a local variable
        self.loaded: dict[str, tuple[int, Value | None]] = {}  # slots that are read before the source writes them
        self.callees: list[str] = []  # the functions that are being written
        self.same: dict[str, str] = {}  # variables of scalars that are not written, as another one has the same value
        self.constants: dict[str, Any] = {}  # scalars that are known
        self.calls: list[Operation] = []  # turns and calls that are written and not counted yet
        self.counted = 0  # the line before which they are counted
        self.with_slots: list[Frame] = []  # frames of callees that need a list of slots
        self.expressions = Expressions(self.source, planner.planner.canonical)
        self.elements, self.arrays, self.integers = Elements(self), SourceArrays(self), Integers(self)
        self.ops = self.frames = self.deepest = 0  # how many there are, and how deep calls are written inside calls
        self.may_leave: Operation | None = None  # the outermost loop, if machine code may take it over

    # --- values -------------------------------------------------------------------------------------------------

    def read(self, frame: Frame, slot: int, value: Value | None = None) -> str:
        """Return the name of a value that is read."""
        return self.ready(self.variable(frame, slot, value), value)

    def ready(self, name: str, value: Value | None) -> str:
        """Return the name of a value that a kernel takes."""
        if value is not None:
            name = self.integers.scalar(name, value.type)
        self.elements.make(name)
        self.arrays.read(name)
        return name

    def take(self, frame: Frame, slots: Iterable[int], values: Iterable[Value]) -> list[str]:
        """Return the names of values, of which scalars may be Python's numbers, to be written in several places."""
        names = []
        for slot, value in zip(slots, values):
            name = self.variable(frame, slot, value)
            if is_scalar(value.type):
                self.integers.atom(name)
            names.append(name if is_scalar(value.type) else self.ready(name, value))
        return names

    def variable(self, frame: Frame, slot: int, value: Value | None = None) -> str:
        """Return the name of a value that is read, or whose elements are."""
        if slot in frame.planner.constants:
            return self.constant(frame.planner.frame.template[slot])
        if frame.name(slot) in self.same:
            return self.same[frame.name(slot)]
        if frame is self.frame and slot not in self.known:
            self.known.add(slot)
            self.loaded[frame.name(slot)] = slot, value
        return frame.name(slot)

    def constant(self, value: object) -> str:
        """Return the name of a value that is known."""
        name = self.source.refer(value, "c")
        if isinstance(value, np.generic):
            self.constants[name] = value
        return name

    def read_all(self, frame: Frame, slots: Sequence[int], values: Iterable[Value | None] = ()) -> list[str]:
        """Return the names of values that are read."""
        values = list(values) or [None] * len(slots)
        return [self.read(frame, slot, value) for slot, value in zip(slots, values)]

    def write(self, frame: Frame, slots: Iterable[int]) -> list[str]:
        """Return the names of values that are written."""
        slots = list(slots)
        if frame is self.frame:
            self.known.update(slots)
        return [frame.name(slot) for slot in slots]

    def move(self, targets: Sequence[str], sources: Sequence[str]) -> None:
        """Assign values to variables, reading all of them before writing any."""
        pairs = [(t, s) for t, s in zip(targets, sources) if t != s]
        if pairs:
            self.source.line(f"{', '.join(t for t, _ in pairs)} = {', '.join(s for _, s in pairs)}")

    def drop(self, names: Iterable[str]) -> None:
        """Empty variables."""
        kept = self.elements.unmade.keys() | self.arrays.spread.keys() | self.arrays.updated | self.same.keys()
        if names := [name for name in names if name not in kept]:
            self.source.line(f"{' = '.join(names)} = None")

    # --- blocks -------------------------------------------------------------------------------------------------

    def block(self, frame: Frame, block: Block, keep: Iterable[Value] = ()) -> list[str]:
        """Write the ops of a block; return the names of its results."""
        self.body(frame, block, keep)
        return self.take(frame, frame.planner.blocks[block].results, block.operations[-1].operands)

    def body(self, frame: Frame, block: Block, keep: Iterable[Value] = ()) -> None:
        """Write the ops of a block."""
        plan = frame.planner.blocks[block]
        dying = last_uses(block, keep)
        unwatched = 0  # bytes of small results
        for step, op, ins, outs in zip(plan.steps, plan.ops, plan.ins, plan.outs):
            self.ops += 1
            if self.ops > MAX_OPS:
                raise NotSuitable
            unwatched += small_bytes(op.result_types)
            if self.ops % STEPS == 0 or unwatched > WATCHED:
                self.source.line(f"check_time(); reserve({unwatched})", op)
                unwatched = 0
            self.op(frame, op, ins, outs, step, dying.get(op, ()))

    def op(
        self, frame: Frame, op: Operation, ins: Sequence[int], outs: Sequence[int], step: Step, dying: Sequence[Value]
    ) -> None:
        """Write one op."""
        if op.name == INLINED_CALLS:
            calls = calls_of(op)
            self.calls += [call for call, _ in calls]
            self.deepest = max(self.deepest, *(len(self.callees) + depth + 1 for _, depth in calls))
            return
        write = _STRUCTURES.get(op.name)
        if write is not None and self._may_nest() and not refined_results(op):
            if write(self, frame, op, ins, outs, self._tensor_slots(frame, dying)):
                return
        elif (kernel := self._kernel(frame, op)) is not None:
            self._compute(frame, op, ins, outs, dying, *kernel)
            return
        dead = [s for s in frame.planner.slots_of(dying) if s not in frame.planner.constants]
        self._run_step(frame, op, ins, outs, step, dead)

    def _may_nest(self) -> bool:
        return self.source.depth < MAX_NESTING

    def _compute(
        self, frame: Frame, op: Operation, ins: Sequence[int], outs: Sequence[int], dying: Sequence[Value],
        kernel: Kernel, traits: Traits,
    ) -> None:  # fmt: skip
        """Write the expression of an op, or the call of its kernel."""
        dead = [frame.name(s) for s in self._tensor_slots(frame, dying)]
        names = [self.variable(frame, slot, value) for slot, value in zip(ins, op.operands)]
        if len(outs) == 1:
            (result,) = self.write(frame, outs)
            if self.integers.compute(frame, op, names, result):
                return
            names = self.integers.operands(op, names)
            if not op.regions and self.elements.compute(op, names, result, kernel, traits.elementwise):
                return self.drop(dead)
            if self.arrays.compute(op, names, result, dead, kernel):
                return self.drop(dead)
        ranges = self.integers.ranges(names)
        operands = [self.ready(name, None) for name in self.integers.operands(op, names)]
        results = self.write(frame, outs)
        known = [self.constants.get(name) for name in operands]
        code = self.expressions.with_canonical_nan(op, code_of(op, known, ranges))
        if code is not None and None not in known:
            self.same[results[0]] = self.constant(kernel.run(*known))
        elif code == "{0}":
            self.same[results[0]] = operands[0]
        elif code is not None:
            self.expressions.write(code, op, operands, results[0], kernel)
        else:
            self._call(op, operands, results, dead, self.source.refer(kernel.run), kernel, traits)
        self.drop(dead)

    def _call(
        self, op: Operation, operands: Sequence[str], results: Sequence[str], dead: Sequence[str], k: str,
        kernel: Kernel, traits: Traits,
    ) -> None:  # fmt: skip
        if kernel.in_place and len(results) == 1 and operands[0] in dead and operands[0] not in operands[1:]:
            k = f"({self.source.refer(kernel.in_place)} if {self.arrays.is_own(operands[0])} else {k})"
        if counts := bool(op.regions) or traits.effects:  # what it calls counts turns, or can be observed
            self._count_turns()
        arguments = ", ".join(["C", *operands] if traits.effects else operands)
        targets = ", ".join(results) + ("," if len(results) == 1 else "")
        match results:
            case [result]:
                self.source.line(f"{result} = {k}({arguments})", op)
            case []:
                self.source.line(f"{k}({arguments})", op)
            case _:
                self.source.line(f"{targets} = {k}({arguments})", op)
        if counts:
            self.count()
        for result, value in zip(results, op.results):
            self.as_scalar(result, value, op)

    def as_scalar(self, name: str, value: Value, op: Operation | None = None) -> None:
        """Make the value of a variable a numpy scalar if it may be an array of rank 0."""
        if is_scalar(value.type):
            self.source.line(
                f"if type({name}) is not {self.source.refer(scalar_type(value.type), 't')}: {name} = {name}[()]", op
            )

    def _tensor_slots(self, frame: Frame, values: Iterable[Value]) -> list[int]:
        tensors = [v for v in values if not is_scalar(v.type)]
        return [s for s in frame.planner.slots_of(tensors) if s not in frame.planner.constants]

    def _kernel(self, frame: Frame, op: Operation) -> tuple[Kernel, Traits] | None:
        """Return the kernel of an op; None if it has none, or cannot be planned, of which its step informs."""
        definition = resolve(op)
        if definition is None or "plan" not in definition.roles or definition.traits.communicates:
            return None
        if op.regions and any(captured(region) for region in op.regions):
            return None
        known = frame.planner.known_kernel(op, frame.planner.planner.kind(op))
        if known is not None:
            return known.kernel, known.traits
        try:
            return frame.planner.kernel(op), definition.traits
        except StablehloError:
            return None

    # --- steps --------------------------------------------------------------------------------------------------

    def _run_step(
        self, frame: Frame, op: Operation, ins: Sequence[int], outs: Sequence[int], step: Step, dead: Sequence[int]
    ) -> None:
        """Write a call of the step of the plan, which empties the slots of dead values."""
        line, constants = self.source.line, frame.planner.constants
        if frame is not self.frame and frame not in self.with_slots:
            self.with_slots.append(frame)
        values = [*op.operands, *(value for region in op.regions for value in captured(region))]
        given = dict(zip(frame.planner.slots_of(values), values))
        taken = {slot: self.read(frame, slot, value) for slot, value in given.items() if slot not in constants}
        for slot, name in taken.items():
            line(f"{frame.slots}[{slot}] = {name}")
        self.drop(taken[slot] for slot in taken if slot in dead and not is_scalar(given[slot].type))
        self._count_turns()
        line(f"{self.source.refer(step)}({frame.slots})", op)
        self.count()
        for name, slot, value in zip(self.write(frame, outs), outs, op.results):
            line(f"{name} = {frame.slots}[{slot}]; {frame.slots}[{slot}] = None")
            if slot not in dead:
                self.as_scalar(name, value)
        around = self.loaded if frame is self.frame else {}  # the plan still needs what it has not computed here
        kept = [f"{frame.slots}[{slot}]" for slot in taken if slot not in dead and frame.name(slot) not in around]
        self.drop(kept)

    def _count_turns(self) -> None:
        """Write the number of turns and the depth of calls to the context, before a line that counts them too.

        `count` must follow that line, so that calls after it are counted after it.
        """
        self.count()
        self.source.line(f"C.steps += N - n; N = n = 0; C.depth = D + {len(self.callees)}")

    @contextmanager
    def counting(self, op: Operation | None = None) -> Iterator[None]:
        """Count a turn of the loop `op`, and the calls that are written inside."""
        self.count()
        self.calls = [op] if op else []
        with self.elements.scope(), self.arrays.scope(), self.integers.scope():
            yield
        self.count()

    def count(self) -> None:
        """Count the calls since the last count, all at once before the ops between them.

        An error is that of the loop or call that is over the limit.
        """
        if self.calls:
            count, ops = len(self.calls), self.source.refer(tuple(self.calls), "o")
            renewed = f"  C.steps += N - n; n = N = 0; n = N = renew(C, {ops})"
            leave = ["  if n < 0: break"] if self.calls[0] is self.may_leave else []
            self.source.insert(self.counted, [f"if n < {count}:", renewed, *leave, f"n -= {count}"], self.calls[0])
        self.calls = []
        self.counted = len(self.source.lines)

    # --- control flow -------------------------------------------------------------------------------------------

    def loop(self, frame: Frame, op: Operation) -> None:
        """Write a `while` whose state is in the variables of the body's arguments."""
        state = LoopState(self, frame, op)
        state.split()
        self.integers.state(frame, op)
        self.integers.enter(frame, state.names, op, 0)
        with self.arrays.overwriting(op, state.names, self.integers.planned):
            self._turns(frame, op, state)
        self.integers.enter(frame, state.names, op, 0)
        self.integers.leave(state.names, op)
        state.join()

    def _turns(self, frame: Frame, op: Operation, state: LoopState) -> None:
        cond, body = (region.block for region in op.regions)
        counter = self.integers.counter(frame, state.names, op)
        self.count()
        first = len(self.source.lines)
        with self.source.block("while True:", op):
            with self.counting(op):
                self.body(frame, cond, keep=cond.arguments)
                (continues,), (value,) = frame.planner.blocks[cond].results, cond.operations[-1].operands
                test = self.integers.number(frame, self.variable(frame, continues, value), value)
            self.source.line(f"if not {test.operand}: break")
            with self.counting():
                self.integers.enter(frame, state.names, op, 1)
                self.body(frame, body)
                state.advance(counter and counter[0])
        self.source.count_by_range(first, counter and (state.names[counter[0]], counter[1]))
        self.count()

    def whole_loop(
        self, frame: Frame, op: Operation, ins: Sequence[int], outs: Sequence[int], dead: Sequence[int]
    ) -> bool:
        """Write a `while` as an op of the source."""
        cond, body = (region.blocks for region in op.regions)
        if len(cond) != 1 or len(body) != 1 or not {cond[0], body[0]} <= frame.planner.blocks.keys():
            return False
        if op in (machines := frame.planner.planner.machines) and machines[op].takes_whole_loop():
            return False
        arguments = frame.planner.blocks[body[0]].arguments
        state = self.write(frame, arguments)
        self.move(state, self.integers.moved(frame, self.take(frame, ins, op.operands), op.operands))
        # As in the plan, operands keep the initial state alive until the loop ends.
        self.loop(frame, op)
        self.move(results := self.write(frame, outs), state)
        self.integers.define_all(frame, results, op.results)
        for number, canonical in canonical_results(op, frame.planner.planner.canonical):
            name = results[number]
            self.source.line(f"{name} = {self.source.refer(canonical)}({name}, {name})", op)
        self.drop([*state, *(frame.name(slot) for slot in dead)])
        return True

    def branches(
        self, frame: Frame, op: Operation, ins: Sequence[int], outs: Sequence[int], dead: Sequence[int]
    ) -> bool:
        """Write an `if` or a `case`."""
        blocks = [region.blocks for region in op.regions]
        if any(len(b) != 1 or b[0] not in frame.planner.blocks for b in blocks):
            return False
        (chosen,) = self.integers.moved(frame, self.take(frame, ins, op.operands), op.operands)
        results = self.write(frame, outs)
        self.count()
        for header, (block,) in zip(self._headers(op, chosen, len(blocks)), blocks):
            with self.source.block(header, op):
                with self.counting():
                    values = self.integers.moved(frame, self.block(frame, block), block.operations[-1].operands)
                self.move(results, values)
                self.drop(self._moved(frame, block, results))
        self.integers.define_all(frame, results, op.results)
        self.count()
        self.drop(frame.name(slot) for slot in dead)
        return True

    def _headers(self, op: Operation, chosen: str, count: int) -> list[str]:
        """Return the headers of the branches of an `if` or a `case`."""
        if op.name == "stablehlo.if":
            return [f"if {chosen}:", "else:"]
        tests = [f"{chosen} == {i}:" for i in range(count - 1)]
        return [*(f"{'elif' if i else 'if'} {test}" for i, test in enumerate(tests)), "else:" if tests else "if True:"]

    def _moved(self, frame: Frame, block: Block, results: Sequence[str]) -> list[str]:
        """Return the variables of tensors that a branch computed and returned."""
        made = {slot for slots in frame.planner.blocks[block].outs for slot in slots}
        names = [frame.name(s) for s in self._tensor_slots(frame, block.operations[-1].operands) if s in made]
        return [name for name in dict.fromkeys(names) if name not in results]

    def call(self, frame: Frame, op: Operation, ins: Sequence[int], outs: Sequence[int], dead: Sequence[int]) -> bool:
        """Write the body of the function that an op calls."""
        name = op.properties["callee"]
        planner = frame.planner.planner.frames.get(name)
        if planner is None or name in self.callees or len(self.callees) == MAX_CALLS:
            return False
        function = planner.planner.functions[name]
        if len(function.regions[0].blocks) != 1:
            return False
        block = function.regions[0].block
        if block not in planner.blocks or [v.type for v in block.arguments] != op.operand_types:
            return False
        self.frames += 1
        callee = Frame(planner, self.frames)
        operands = self.take(frame, ins, op.operands)
        self.calls.append(op)
        arguments = [callee.name(slot) for slot in planner.blocks[block].arguments]
        self._bind(arguments, operands, op.operands)
        self.drop(frame.name(slot) for slot in dead if slot in ins)
        self.callees.append(name)
        self.integers.planned.add(block)
        self.deepest = max(self.deepest, len(self.callees))
        results = self.block(callee, block)
        self.callees.pop()
        self._bind(self.write(frame, outs), results, op.results)
        made = self._tensor_slots(callee, block.operations[-1].operands)
        self.drop(dict.fromkeys(callee.name(slot) for slot in made))
        self.drop(frame.name(slot) for slot in dead if slot not in ins)
        return True

    def _bind(self, names: Sequence[str], sources: Sequence[str], values: Sequence[Value]) -> None:
        """Give values of the source further names: scalars without a new variable."""
        scalars = {name: source for name, source, v in zip(names, sources, values) if is_scalar(v.type)}
        self.same.update(scalars)
        others = [(name, source) for name, source in zip(names, sources) if name not in scalars]
        self.move([name for name, _ in others], [source for _, source in others])


_STRUCTURES: Mapping[str, Callable[..., bool]] = {
    "stablehlo.while": Writer.whole_loop,
    "stablehlo.if": Writer.branches,
    "stablehlo.case": Writer.branches,
    "func.call": Writer.call,
}
