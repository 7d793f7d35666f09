"""Write a loop as the source of one Python function.

Each value is a local variable, named after its slot. An op becomes an expression, else a call of its kernel. What has
neither, such as an op whose region captures values, runs as the step of the plan: its operands are copied to slots, and
its results from slots. Loops and branches become part of the source.

Names in the source are made of letters and numbers only, such as `v7`; nothing of a program's text is in it. What is
not a small number, such as kernels and constants, is a global of the source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import CodeType, TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from stablehlo_ref.accelerate.python.expressions import (
    code_of,
    dtype_of,
    is_array,
    is_scalar,
    may_count,
    names_in,
    scalar_type,
    scatter_code,
    update_code,
)
from stablehlo_ref.define.computation import Kernel
from stablehlo_ref.define.definition import Traits, resolve
from stablehlo_ref.diagnostics import StablehloError
from stablehlo_ref.execute.dynamic import refined_results
from stablehlo_ref.execute.guard import STEPS, WATCHED, small_bytes
from stablehlo_ref.execute.liveness import captured, last_uses
from stablehlo_ref.execute.nans import canonical_results
from stablehlo_ref.execute.ownership import ONE_REFERENCE_TO_LOCAL, references
from stablehlo_ref.execute.run import Step, located
from stablehlo_ref.ir.core import Block, Operation, Value
from stablehlo_ref.numerics import floats
from stablehlo_ref.numerics.dtypes import FLOAT32, FLOAT64
from stablehlo_ref.ops.elementwise import on_element

if TYPE_CHECKING:
    from stablehlo_ref.execute.plan import FramePlanner

FILENAME = "<generated>"
MAX_NESTING = 15  # of Python's 20 nested blocks
MAX_OPS = 20_000  # ops of one function
_BRANCHES = ("stablehlo.if", "stablehlo.case")
_EXTREMA: Mapping[object, np.ufunc] = {floats.maximum: np.maximum, floats.minimum: np.minimum}
_WIDE = (FLOAT32, FLOAT64)
_UPDATE, _SCATTER = "stablehlo.dynamic_update_slice", "stablehlo.scatter"


class NotSuitable(Exception):
    """The source would have too many ops, or the ops run as chains."""


class Source:
    """The source of one function, `run`, while it is written."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.ops: list[Operation | None] = []  # the op of each line
        self.globals: dict[str, Any] = {}
        self.depth = 1  # of indentation
        self._names: dict[int, str] = {}  # of globals, by identity

    def line(self, text: str, op: Operation | None = None) -> None:
        """Append a line of the function's body."""
        self.lines.append("  " * self.depth + text)
        self.ops.append(op)

    @contextmanager
    def block(self, header: str, op: Operation | None = None) -> Iterator[None]:
        """Append a compound statement, whose lines are appended inside."""
        self.line(header, op)
        self.depth += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.line("pass")
        self.depth -= 1

    def refer(self, value: object, prefix: str = "k") -> str:
        """Return the name of a global that is `value`."""
        name = self._names.get(id(value))
        if name is None:
            name = self._names[id(value)] = f"{prefix}{len(self._names)}"
            self.globals[name] = value
        return name

    def finish(self, parameters: str, prologue: list[str]) -> Generated:
        """Compile the function; `prologue` are lines before its body."""
        head = [f"def run({parameters}):", *prologue]
        ops: list[Operation | None] = [None] * len(head)
        return Generated("\n".join([*head, *self.lines]) + "\n", ops + self.ops, self.globals)


class Generated:
    """A compiled function, and its source."""

    def __init__(self, text: str, ops: list[Operation | None], names: dict[str, Any]) -> None:
        self.text = text
        self._ops = ops
        names = {**names, "located": self._located}
        exec(compile(text, FILENAME, "exec", dont_inherit=True), names)
        self.run: Callable[..., Any] = names["run"]
        self._code: CodeType = self.run.__code__

    def _located(self, error: Exception) -> Exception:
        """Return an error that passes the function, at the location of the op whose line raised it."""
        traceback: TracebackType | None = error.__traceback__
        while traceback is not None and traceback.tb_frame.f_code is not self._code:
            traceback = traceback.tb_next
        op = self._ops[traceback.tb_lineno - 1] if traceback is not None else None
        return error if op is None else located(error, op)


class Writer:
    """Writes the source of one loop, whose inner loops in `apart` run as steps of the plan."""

    def __init__(self, planner: FramePlanner, apart: Callable[[Operation], bool]) -> None:
        self.source = Source()
        self.planner = planner
        self.loaded: dict[str, tuple[int, Value | None]] = {}  # slots that are read before the source writes them
        self.scratch: dict[str, np.dtype[Any]] = {}  # variables that are arrays of one element
        self.ops = 0
        self._apart = apart
        self._known: set[int] = set()  # slots that have a local variable
        self._same: dict[str, str] = {}  # variables of scalars that are not written, as another one has the same value
        self._constants: dict[str, Any] = {}  # scalars that are known
        self._owned: set[str] = set()  # variables of arrays that ufuncs have made and only ufuncs have read
        self._kernels: dict[Operation, tuple[Kernel, Traits] | None] = {}  # of ops whose kinds have none
        self._loops = 0

    # --- values -------------------------------------------------------------------------------------------------

    def read(self, slot: int, value: Value | None = None) -> str:
        """Return the name of a value that something other than a ufunc reads."""
        name = self.variable(slot, value)
        self._owned.discard(name)
        return name

    def variable(self, slot: int, value: Value | None = None) -> str:
        """Return the name of a value."""
        if slot in self.planner.constants:
            return self.constant(self.planner.frame.template[slot])
        name = _name(slot)
        if name in self._same:
            return self._same[name]
        if slot not in self._known:
            self._known.add(slot)
            self.loaded[name] = slot, value
        return name

    def constant(self, value: object) -> str:
        """Return the name of a value that is known."""
        name = self.source.refer(value, "c")
        if isinstance(value, np.generic):
            self._constants[name] = value
        return name

    def read_all(self, slots: Sequence[int], values: Iterable[Value | None] = ()) -> list[str]:
        """Return the names of values that are read."""
        values = list(values) or [None] * len(slots)
        return [self.read(slot, value) for slot, value in zip(slots, values)]

    def write(self, slots: Iterable[int]) -> list[str]:
        """Return the names of values that are written."""
        slots = list(slots)
        self._known.update(slots)
        return [_name(slot) for slot in slots]

    def move(self, targets: Sequence[str], sources: Sequence[str]) -> None:
        """Assign values to variables, reading all of them before writing any."""
        pairs = [(t, s) for t, s in zip(targets, sources) if t != s]
        if pairs:
            self.source.line(f"{', '.join(t for t, _ in pairs)} = {', '.join(s for _, s in pairs)}")

    def drop(self, names: Iterable[str]) -> None:
        """Empty variables."""
        if names := [name for name in names if name not in self._same]:
            self.source.line(f"{' = '.join(names)} = None")

    # --- blocks -------------------------------------------------------------------------------------------------

    def block(self, block: Block, keep: Iterable[Value] = ()) -> list[str]:
        """Write the ops of a block; return the names of its results."""
        self.body(block, keep)
        return self.read_all(self.planner.blocks[block].results, block.operations[-1].operands)

    def body(self, block: Block, keep: Iterable[Value] = ()) -> None:
        """Write the ops of a block."""
        plan = self.planner.blocks[block]
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
            self.op(op, ins, outs, step, dying.get(op, ()))

    def op(self, op: Operation, ins: Sequence[int], outs: Sequence[int], step: Step, dying: Sequence[Value]) -> None:
        """Write one op."""
        write = _STRUCTURES.get(op.name)
        if write is not None and self._may_nest() and not refined_results(op):
            if write(self, op, ins, outs, self._tensor_slots(dying)):
                return
        elif (kernel := self._kernel(op)) is not None:
            self._compute(op, ins, outs, dying, *kernel)
            return
        dead = [s for s in self.planner.slots_of(dying) if s not in self.planner.constants]
        self._run_step(op, ins, outs, step, dead)

    def _may_nest(self) -> bool:
        return self.source.depth < MAX_NESTING

    def _compute(
        self, op: Operation, ins: Sequence[int], outs: Sequence[int], dying: Sequence[Value],
        kernel: Kernel, traits: Traits,
    ) -> None:  # fmt: skip
        """Write the expression of an op, or the call of its kernel."""
        dead = [_name(s) for s in self._tensor_slots(dying)]
        names = [self.variable(*pair) for pair in zip(ins, op.operands)]
        ufunc = self._ufunc(op, names, kernel)
        if ufunc is not None and is_array(op.results[0].type):
            self._call_ufunc(op, names, outs, dead, ufunc)
            return self.drop(dead)
        operands = self.read_all(ins, op.operands)
        results = self.write(outs)
        known = [self._constants.get(name) for name in operands]
        is_canonical = op in self.planner.planner.canonical
        if op.name in (_UPDATE, _SCATTER) and self._overwrite(op, operands, results[0], dead, kernel, known):
            return self.drop(dead)
        code = code_of(op, known, is_canonical)
        if code is not None and None not in known:
            self._same[results[0]] = self.constant(kernel.run(*known))
        elif code == "{0}":
            self._same[results[0]] = operands[0]
        elif code is not None:
            self._express(code, op, operands, results[0], kernel)
        else:
            self._call(op, operands, results, dead, kernel, traits)
        return self.drop(dead)

    def _express(self, code: str, op: Operation, operands: Sequence[str], result: str, kernel: Kernel) -> None:
        """Write an expression, or statements that assign `{r}`."""
        code = code if "{r}" in code else "{r} = " + code
        for statement in code.splitlines():
            names = {name: self.source.refer(value, "z") for name, value in names_in(statement, op).items()}
            if "{T}" in statement:
                dtype = np.dtype(scalar_type(op.results[0].type))
                names["T"] = f"T{dtype.num}"
                self.scratch[names["T"]] = dtype
            k = self.source.refer(kernel.run) if "{k}" in statement else ""
            self.source.line(statement.format(*operands, r=result, k=k, index="index", **names), op)

    def _ufunc(self, op: Operation, names: Sequence[str], kernel: Kernel) -> np.ufunc | None:
        """Return the ufunc that computes an op: its kernel, or that of a maximum or minimum without wrong zeros.

        Such a zero can only be a result of two zeros, so there is none where an operand is known to have no zeros.
        """
        if isinstance(kernel.run, np.ufunc):
            return kernel.run
        ufunc = _EXTREMA.get(on_element(op)) if op.operands else None
        if ufunc is None or op in self.planner.planner.canonical or dtype_of(op.results[0].type) not in _WIDE:
            return None
        known = [self.source.globals.get(name) for name in names]
        is_certain = any(isinstance(x, np.ndarray) and x.flags.c_contiguous and x.all() for x in known)
        return ufunc if is_certain else None

    def _call_ufunc(
        self, op: Operation, operands: Sequence[str], outs: Sequence[int], dead: Sequence[str], ufunc: np.ufunc
    ) -> None:
        """Write the call of a ufunc. Its result takes the place of a dead array of its type that a ufunc has made."""
        (result,), type = self.write(outs), op.results[0].type
        free = self._owned.intersection(
            dead if ufunc not in _EXTREMA.values() else ()
        )  # which numpy does slowly in place
        out = [name for name, operand in zip(operands, op.operands) if name in free and operand.type == type][:1]
        self.source.line(f"{result} = {self.source.refer(ufunc)}({', '.join([*operands, *out])})", op)
        self._owned.add(result)

    def _overwrite(
        self, op: Operation, operands: list[str], result: str, dead: Sequence[str], kernel: Kernel, known: Sequence[Any]
    ) -> bool:
        """Write an update of the first operand, in place if nothing else has its array; return whether it is one."""
        if op.name == _SCATTER:
            code = None if op in self.planner.planner.canonical else scatter_code(op)
            whole, places, update = operands[:3]
            operands = [
                whole,
                update,
                *(f"{places}[{n}]" for n in range(len(op.properties["scatter_dims_to_operand_dims"]))),
            ]
        else:
            code, whole = update_code(op, known), operands[0]
        if code is None:
            return False
        may_reuse = whole in dead and whole not in operands[1:]
        own = f"{whole} if {self._is_own(whole)} else {whole}.copy()" if may_reuse else f"{whole}.copy()"
        self.source.line(f"{result} = {own}", op)
        self._express(code, op, operands, result, kernel)
        return True

    def _is_own(self, name: str) -> str:
        """Return the test whether a variable has an array to which nothing else refers."""
        count = self.source.refer(ONE_REFERENCE_TO_LOCAL, "n")
        return f"{self.source.refer(references)}({name}) == {count} and {name}.base is None and {name}.flags.writeable"

    def _call(
        self, op: Operation, operands: Sequence[str], results: Sequence[str], dead: Sequence[str], kernel: Kernel,
        traits: Traits,
    ) -> None:  # fmt: skip
        k = self.source.refer(kernel.run)
        if kernel.in_place and len(results) == 1 and operands[0] in dead and operands[0] not in operands[1:]:
            k = f"({self.source.refer(kernel.in_place)} if {self._is_own(operands[0])} else {k})"
        arguments = ", ".join(["C", *operands] if traits.effects else operands)
        targets = f"{', '.join(results)} = " if results else ""
        self.source.line(f"{targets}{k}({arguments})", op)
        for result, value in zip(results, op.results):
            self.as_scalar(result, value, op)

    def as_scalar(self, name: str, value: Value, op: Operation | None = None) -> None:
        """Make the value of a variable a numpy scalar if it may be an array of rank 0."""
        if is_scalar(value.type):
            self.source.line(
                f"if type({name}) is not {self.source.refer(scalar_type(value.type), 't')}: {name} = {name}[()]", op
            )

    def _tensor_slots(self, values: Iterable[Value]) -> list[int]:
        tensors = [v for v in values if not is_scalar(v.type)]
        return [s for s in self.planner.slots_of(tensors) if s not in self.planner.constants]

    def _kernel(self, op: Operation) -> tuple[Kernel, Traits] | None:
        """Return the kernel of an op; None if it has none, or cannot be planned, of which its step informs."""
        definition = resolve(op)
        if definition is None or "plan" not in definition.roles or definition.traits.communicates:
            return None
        if op.regions and any(captured(region) for region in op.regions):
            return None
        known = self.planner.known_kernel(op, self.planner.planner.kind(op))
        if known is not None:
            return known.kernel, known.traits
        if op not in self._kernels:
            try:
                self._kernels[op] = self.planner.kernel(op), definition.traits
            except StablehloError:
                self._kernels[op] = None
        return self._kernels[op]

    # --- steps --------------------------------------------------------------------------------------------------

    def _run_step(
        self, op: Operation, ins: Sequence[int], outs: Sequence[int], step: Step, dead: Sequence[int]
    ) -> None:
        """Write a call of the step of the plan, which empties the slots of dead values."""
        line, constants = self.source.line, self.planner.constants
        values = [*op.operands, *(value for region in op.regions for value in captured(region))]
        given = dict(zip(self.planner.slots_of(values), values))
        taken = {slot: self.read(slot, value) for slot, value in given.items() if slot not in constants}
        for slot, name in taken.items():
            line(f"s0[{slot}] = {name}")
        self.drop(taken[slot] for slot in taken if slot in dead and not is_scalar(given[slot].type))
        line(f"{self.source.refer(step)}(s0)", op)
        for name, slot, value in zip(self.write(outs), outs, op.results):
            line(f"{name} = s0[{slot}]; s0[{slot}] = None")
            if slot not in dead:
                self.as_scalar(name, value)
        # The plan still needs what it has not computed here.
        self.drop(f"s0[{slot}]" for slot in taken if slot not in dead and _name(slot) not in self.loaded)

    # --- control flow -------------------------------------------------------------------------------------------

    def loop(self, op: Operation) -> None:
        """Write a `while` whose state is in the variables of the body's arguments."""
        cond, body = (region.block for region in op.regions)
        state = self.write(self.planner.blocks[body].arguments)
        left, loop = f"n{self._loops}", self.source.refer(op, "o")
        self._loops += 1
        line, leave = self.source.line, f"if {left} < 0: break"  # as machine code takes over
        with self.source.block("while True:", op):
            if self._counts_nothing(cond) and self._counts_nothing(body):
                line(f"{left} = renew(C, {loop})", op)
                line(leave)
                with self.source.block(f"for {left} in range({left} - 1, -1, -1):"):
                    self._turn(op, state)
                line("else: continue")
                line(f"C.steps -= {left}")
                line("break")
            else:
                line(f"{left} = renew(C, {loop}, 1)", op)
                line(leave)
                self._turn(op, state)

    def _turn(self, op: Operation, state: Sequence[str]) -> None:
        """Write the condition and the body of a loop; the variables of the state get their next values."""
        cond, body = (region.block for region in op.regions)
        self.body(cond, keep=cond.arguments)
        (test,) = self.read_all(self.planner.blocks[cond].results, cond.operations[-1].operands)
        self.source.line(f"if not {test}: break")
        self.move(state, self.block(body))
        self.drop(self._moved(body, state))

    def _counts_nothing(self, block: Block) -> bool:
        """Return whether the ops of a block are expressions and calls of kernels that count no turns or calls."""
        for op in block.operations[:-1]:
            if op.name in _BRANCHES:
                if not all(len(r.blocks) == 1 and self._counts_nothing(r.block) for r in op.regions):
                    return False
                continue
            kernel = None if op.name in _STRUCTURES else self._kernel(op)
            if kernel is None or kernel[1].effects or may_count(op):
                return False
        return True

    def whole_loop(self, op: Operation, ins: Sequence[int], outs: Sequence[int], dead: Sequence[int]) -> bool:
        """Write a `while` as an op of the source."""
        cond, body = (region.blocks for region in op.regions)
        if len(cond) != 1 or len(body) != 1 or not {cond[0], body[0]} <= self.planner.blocks.keys():
            return False
        if self._apart(op):
            return False
        arguments = self.planner.blocks[body[0]].arguments
        state = self.write(arguments)
        self.move(state, self.read_all(ins, op.operands))
        # As in the plan, operands keep the initial state alive until the loop ends.
        self.loop(op)
        self.move(results := self.write(outs), state)
        for number, canonical in canonical_results(op, self.planner.planner.canonical):
            name = results[number]
            self.source.line(f"{name} = {self.source.refer(canonical)}({name}, {name})", op)
        self.drop([*state, *(_name(slot) for slot in dead)])
        return True

    def branches(self, op: Operation, ins: Sequence[int], outs: Sequence[int], dead: Sequence[int]) -> bool:
        """Write an `if` or a `case`."""
        blocks = [region.blocks for region in op.regions]
        if any(len(b) != 1 or b[0] not in self.planner.blocks for b in blocks):
            return False
        (chosen,) = self.read_all(ins, op.operands)
        results = self.write(outs)
        for header, (block,) in zip(self._headers(op, chosen, len(blocks)), blocks):
            with self.source.block(header, op):
                self.move(results, self.block(block))
                self.drop(self._moved(block, results))
        self.drop(_name(slot) for slot in dead)
        return True

    def _headers(self, op: Operation, chosen: str, count: int) -> list[str]:
        """Return the headers of the branches of an `if` or a `case`."""
        if op.name == "stablehlo.if":
            return [f"if {chosen}:", "else:"]
        tests = [f"{chosen} == {i}:" for i in range(count - 1)]
        return [*(f"{'elif' if i else 'if'} {test}" for i, test in enumerate(tests)), "else:" if tests else "if True:"]

    def _moved(self, block: Block, results: Sequence[str]) -> list[str]:
        """Return the variables of tensors that a branch computed and returned."""
        made = {slot for slots in self.planner.blocks[block].outs for slot in slots}
        names = [_name(s) for s in self._tensor_slots(block.operations[-1].operands) if s in made]
        return [name for name in dict.fromkeys(names) if name not in results]


def _name(slot: int) -> str:
    return f"v{slot}"


_STRUCTURES: Mapping[str, Callable[..., bool]] = {
    "stablehlo.while": Writer.whole_loop,
    **dict.fromkeys(_BRANCHES, Writer.branches),
}
