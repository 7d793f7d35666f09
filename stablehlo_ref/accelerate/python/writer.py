"""Write the blocks of a function or a loop as Python source.

Each value is a local variable, named after its slot. An op becomes an expression, else a call of its kernel. What has
neither, such as an op whose region captures values, runs as the step of the plan: its operands are copied to slots, and
its results from slots. Loops, branches and calls of functions become part of the source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from stablehlo_ref.accelerate.machine.hot import machines_of
from stablehlo_ref.accelerate.python.arrays import SourceArrays, Uses
from stablehlo_ref.accelerate.python.expressions import Expressions, code_of, is_scalar, scalar_type
from stablehlo_ref.accelerate.python.source import MAX_NESTING, Frame, Source
from stablehlo_ref.define.computation import Kernel
from stablehlo_ref.define.definition import Traits, resolve
from stablehlo_ref.diagnostics import StablehloError
from stablehlo_ref.execute.dynamic import refined_results
from stablehlo_ref.execute.guard import STEPS, WATCHED, small_bytes
from stablehlo_ref.execute.liveness import captured, last_uses
from stablehlo_ref.execute.nans import canonical_results
from stablehlo_ref.execute.run import Step
from stablehlo_ref.ir.core import Block, Operation, Value

if TYPE_CHECKING:
    from stablehlo_ref.execute.plan import FramePlanner

MAX_OPS = 20_000  # ops of one function
_BRANCHES = ("stablehlo.if", "stablehlo.case")


class NotSuitable(Exception):
    """The source would have too many ops, or the ops run as chains."""


class Writer:
    """Writes the source of one function."""

    def __init__(self, planner: FramePlanner) -> None:
        self.source = Source()
        self.frame = Frame(planner, 0)
        self.known: set[int] = set()  # slots of the outermost frame that have a local variable
        self.loaded: dict[str, tuple[int, Value | None]] = {}  # slots that are read before the source writes them
        self.same: dict[str, str] = {}  # variables of scalars that are not written, as another one has the same value
        self.constants: dict[str, Any] = {}  # scalars that are known
        self.with_slots: list[Frame] = []  # frames of callees that need a list of slots
        self.expressions = Expressions(self.source, planner.planner.canonical)
        self.arrays = SourceArrays(self)
        self.uses = Uses()
        self.kernels: dict[Operation, tuple[Kernel, Traits] | None] = {}  # of ops whose kinds have none
        self.ops = self.frames = self.loops = 0  # how many there are

    # --- values -------------------------------------------------------------------------------------------------

    def read(self, frame: Frame, slot: int, value: Value | None = None) -> str:
        """Return the name of a value that is read."""
        name = self.variable(frame, slot, value)
        self.arrays.read(name)
        return name

    def variable(self, frame: Frame, slot: int, value: Value | None = None) -> str:
        """Return the name of a value, which may be a scalar that is not yet broadcast."""
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
        kept = self.arrays.spread.keys() | self.arrays.updated | self.same.keys()
        if names := [name for name in names if name not in kept]:
            self.source.line(f"{' = '.join(names)} = None")

    # --- blocks -------------------------------------------------------------------------------------------------

    def block(self, frame: Frame, block: Block, keep: Iterable[Value] = ()) -> list[str]:
        """Write the ops of a block; return the names of its results."""
        self.body(frame, block, keep)
        return self.read_all(frame, frame.planner.blocks[block].results, block.operations[-1].operands)

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
            if self.arrays.compute(op, names, result, dead, kernel):
                return self.drop(dead)
        operands = self.read_all(frame, ins, op.operands)
        results = self.write(frame, outs)
        known = [self.constants.get(name) for name in operands]
        code = self.expressions.with_canonical_nan(op, code_of(op, known))
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
        arguments = ", ".join(["C", *operands] if traits.effects else operands)
        targets = ", ".join(results) + ("," if len(results) == 1 else "")
        match results:
            case [result]:
                self.source.line(f"{result} = {k}({arguments})", op)
            case []:
                self.source.line(f"{k}({arguments})", op)
            case _:
                self.source.line(f"{targets} = {k}({arguments})", op)
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
        if op not in self.kernels:
            try:
                self.kernels[op] = frame.planner.kernel(op), definition.traits
            except StablehloError:
                self.kernels[op] = None
        return self.kernels[op]

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
        line(f"{self.source.refer(step)}({frame.slots})", op)
        for name, slot, value in zip(self.write(frame, outs), outs, op.results):
            line(f"{name} = {frame.slots}[{slot}]; {frame.slots}[{slot}] = None")
            if slot not in dead:
                self.as_scalar(name, value)
        around = self.loaded if frame is self.frame else {}  # the plan still needs what it has not computed here
        kept = [f"{frame.slots}[{slot}]" for slot in taken if slot not in dead and frame.name(slot) not in around]
        self.drop(kept)

    # --- control flow -------------------------------------------------------------------------------------------

    def loop(self, frame: Frame, op: Operation) -> None:
        """Write a `while` whose state is in the variables of the body's arguments."""
        cond, body = (region.block for region in op.regions)
        state = self.write(frame, frame.planner.blocks[body].arguments)
        left, loop = f"n{self.loops}", self.source.refer(op, "o")
        self.loops += 1
        line, leave = self.source.line, f"if {left} < 0: break"  # as machine code takes over
        with self.arrays.overwriting(op, state, self.uses), self.source.block("while True:", op):
            if self._counts_nothing(frame, cond) and self._counts_nothing(frame, body):
                line(f"{left} = renew(C, {loop})", op)
                line(leave)
                with self.source.block(f"for {left} in range({left} - 1, -1, -1):"):
                    self._turn(frame, op, state)
                line("else: continue")
                line(f"C.steps -= {left}")
                line("break")
            else:
                line(f"{left} = renew(C, {loop}, 1)", op)
                line(leave)
                self._turn(frame, op, state)

    def _turn(self, frame: Frame, op: Operation, state: Sequence[str]) -> None:
        """Write the condition and the body of a loop; the variables of the state get their next values."""
        cond, body = (region.block for region in op.regions)
        with self.arrays.scope():
            self.body(frame, cond, keep=cond.arguments)
            (test,) = self.read_all(frame, frame.planner.blocks[cond].results, cond.operations[-1].operands)
        self.source.line(f"if not {test}: break")
        with self.arrays.scope():
            self.move(state, self.block(frame, body))
            self.drop(self._moved(frame, body, state))

    def _counts_nothing(self, frame: Frame, block: Block) -> bool:
        """Return whether the ops of a block are expressions and calls of kernels that count no turns or calls."""
        for op in block.operations[:-1]:
            if op.name in _BRANCHES:
                if not all(len(r.blocks) == 1 and self._counts_nothing(frame, r.block) for r in op.regions):
                    return False
                continue
            kernel = None if op.regions or op.name in _STRUCTURES else self._kernel(frame, op)
            if kernel is None or kernel[1].effects:
                return False
        return True

    def whole_loop(
        self, frame: Frame, op: Operation, ins: Sequence[int], outs: Sequence[int], dead: Sequence[int]
    ) -> bool:
        """Write a `while` as an op of the source."""
        cond, body = (region.blocks for region in op.regions)
        if len(cond) != 1 or len(body) != 1 or not {cond[0], body[0]} <= frame.planner.blocks.keys():
            return False
        if op in (machines := machines_of(frame.planner)) and machines[op].takes_whole_loop():
            return False
        arguments = frame.planner.blocks[body[0]].arguments
        state = self.write(frame, arguments)
        self.move(state, self.read_all(frame, ins, op.operands))
        # As in the plan, operands keep the initial state alive until the loop ends.
        self.loop(frame, op)
        self.move(results := self.write(frame, outs), state)
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
        (chosen,) = self.read_all(frame, ins, op.operands)
        results = self.write(frame, outs)
        for header, (block,) in zip(self._headers(op, chosen, len(blocks)), blocks):
            with self.source.block(header, op):
                with self.arrays.scope():
                    values = self.block(frame, block)
                self.move(results, values)
                self.drop(self._moved(frame, block, results))
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
        if planner is None or name in planner.planner.counted:
            return False
        function = planner.planner.functions[name]
        if len(function.regions[0].blocks) != 1:
            return False
        block = function.regions[0].block
        if block not in planner.blocks or [v.type for v in block.arguments] != op.operand_types:
            return False
        self.frames += 1
        callee = Frame(planner, self.frames)
        operands = self.read_all(frame, ins, op.operands)
        arguments = [callee.name(slot) for slot in planner.blocks[block].arguments]
        self._bind(arguments, operands, op.operands)
        self.drop(frame.name(slot) for slot in dead if slot in ins)
        self.uses.add(block)
        results = self.block(callee, block)
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
    **dict.fromkeys(_BRANCHES, Writer.branches),
    "func.call": Writer.call,
}
