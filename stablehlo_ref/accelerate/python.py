"""Print a loop as the source of one Python function, for scalars and small tensors.

Each value is a local variable, named after its slot. An op becomes an expression, else a call of its kernel. Loops and
branches become part of the source. The plan runs what has an op without a kernel, such as one whose region captures
values.

Names in the source are made of letters and numbers only, such as `v7`; nothing of a program's text is in it. What is
not a small number, such as kernels and constants, is a global of the source.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import CodeType, FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from stablehlo_ref.accelerate.elements import expression
from stablehlo_ref.accelerate.ir import Body, Branch, Loop, Node, NotCompiled, dtype_of, is_scalar
from stablehlo_ref.define.computation import Kernel
from stablehlo_ref.define.context import Context
from stablehlo_ref.diagnostics import StablehloError
from stablehlo_ref.execute.guard import STEPS, WATCHED, small_bytes
from stablehlo_ref.execute.nans import canonical_results
from stablehlo_ref.execute.ownership import ONE_REFERENCE_TO_LOCAL, references
from stablehlo_ref.execute.run import located
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.limits.budget import check_time, reserve

if TYPE_CHECKING:
    from stablehlo_ref.execute.plan import FramePlanner

ITERATIONS, OPS = 256, 4096  # after which a loop checks the deadline, at most
MAX_NESTING = 15  # of Python's 20 nested blocks
_NUMBERS = {"zero": 0, "one": 1, "minus_one": -1}


class Locals:
    """The local variables of a running function, as the slots of its plan are: values that are alive."""

    def __init__(self, frame: FrameType) -> None:
        self._frame = frame

    def __iter__(self) -> Iterator[Any]:
        variables = self._frame.f_locals
        values = list(variables.values())
        if isinstance(variables, dict):
            variables.clear()  # a copy, which would keep values alive
        return iter(values)


def register(context: Context) -> int:
    """Add the local variables of the caller to the live values of the run; return their key in `context.frames`."""
    variables = Locals(sys._getframe(1))
    key = id(variables)
    context.frames[key] = variables
    return key


def count_iterations(context: Context, op: Operation, iterations: int) -> int:
    """Count up to so many iterations that a loop makes next; return how many. EvaluationError past the limit."""
    left = min(iterations, context.limits.max_steps - context.steps)
    context.steps += max(left - 1, 0)
    try:
        context.turn()
    except StablehloError as error:
        raise located(error, op) from None
    return left


class Generated:
    """A compiled function of slots, and its source; `ops` are those of each line."""

    def __init__(self, text: str, ops: Sequence[Operation | None], names: dict[str, Any]) -> None:
        self.text = text
        self._ops = ops
        names = {**names, "located": self._located}
        exec(compile(text, "<generated>", "exec", dont_inherit=True), names)
        self.run: Callable[..., Any] = names["run"]
        self._code: CodeType = self.run.__code__

    def _located(self, error: Exception) -> Exception:
        """Return an error that passes the function, at the location of the op whose line raised it."""
        traceback: TracebackType | None = error.__traceback__
        while traceback is not None and traceback.tb_frame.f_code is not self._code:
            traceback = traceback.tb_next
        op = self._ops[traceback.tb_lineno - 1] if traceback is not None else None
        return error if op is None else located(error, op)


class Printer:
    """Prints one loop. NotCompiled if the plan has to run it, as where an inner loop runs apart."""

    def __init__(self, frame: FramePlanner, runs_apart: Callable[[Operation], bool]) -> None:
        self.frame = frame
        self._runs_apart = runs_apart
        self._lines: list[str] = []
        self._ops: list[Operation | None] = []  # the op of each line
        self._depth = 1  # of indentation
        self._globals: dict[str, Any] = {}
        self._names: dict[int, str] = {}  # of globals, by identity
        self._loaded: dict[str, tuple[int, Value]] = {}  # slots that are read before the source writes them
        self._known: set[int] = set()  # slots that have a local variable
        self._same: dict[str, str] = {}  # variables that are not written, as another one has the same value
        self._loops = 0

    def function(self, loop: Loop) -> Generated:
        """Return a loop as a function of slots that hold the state, which it replaces, and captured values.

        It returns False, and does nothing, where values have the lanes of a region.
        """
        arguments = loop.body.block.arguments
        names, slots = self.read_all(arguments), self.frame.slots_of(arguments)
        self.drop(f"s0[{slot}]" for slot in slots)
        self.line("F = register(C)")
        with self.block("try:"):
            self.loop(loop)
            for name, slot in zip(names, slots):
                self.line(f"s0[{slot}] = {name}")
        self.line("except Exception as error: raise located(error) from error")
        self.line("finally: del C.frames[F]")
        self.line("return True")
        head = ["def run(s0):", "  C = s0[0]"]
        for name, (slot, value) in self._loaded.items():
            head.append(f"  {name} = s0[{slot}]")
            if is_scalar(value.type):
                head += [f"  if type({name}) is not {self._class_of(value)}:", f"    if {name}.ndim: return False"]
                head.append(f"    {name} = {name}[()]")
        self._globals |= {"renew": count_iterations, "register": register, "check_time": check_time}
        self._globals |= {"reserve": reserve, "sqrt": math.sqrt}
        text = "\n".join([*head, *self._lines]) + "\n"
        return Generated(text, [*[None] * len(head), *self._ops], self._globals)

    # --- lines --------------------------------------------------------------------------------------------------

    def line(self, text: str, op: Operation | None = None) -> None:
        """Append a line of the function's body."""
        self._lines.append("  " * self._depth + text)
        self._ops.append(op)

    @contextmanager
    def block(self, header: str, op: Operation | None = None) -> Iterator[None]:
        """Append a compound statement, whose lines are appended inside."""
        self.line(header, op)
        self._depth += 1
        before = len(self._lines)
        yield
        if len(self._lines) == before:
            self.line("pass")
        self._depth -= 1

    def refer(self, value: object, prefix: str = "k") -> str:
        """Return the name of a global that is `value`."""
        name = self._names.get(id(value))
        if name is None:
            name = self._names[id(value)] = f"{prefix}{len(self._names)}"
            self._globals[name] = value
        return name

    # --- values -------------------------------------------------------------------------------------------------

    def read(self, value: Value) -> str:
        """Return the name of a value."""
        slot = self.frame.slot(value)
        if slot in self.frame.constants:
            return self.refer(self.frame.frame.template[slot], "c")
        name = f"v{slot}"
        if name in self._same:
            return self._same[name]
        if slot not in self._known:
            self._known.add(slot)
            self._loaded[name] = slot, value
        return name

    def read_all(self, values: Iterable[Value]) -> list[str]:
        return list(map(self.read, values))

    def write(self, values: Iterable[Value]) -> list[str]:
        """Return the names of values that are written."""
        slots = self.frame.slots_of(values)
        self._known.update(slots)
        return [f"v{slot}" for slot in slots]

    def move(self, targets: Sequence[str], sources: Sequence[str]) -> None:
        """Assign values to variables, reading all of them before writing any."""
        pairs = [(t, s) for t, s in zip(targets, sources) if t != s]
        if pairs:
            self.line(f"{', '.join(t for t, _ in pairs)} = {', '.join(s for _, s in pairs)}")

    def drop(self, names: Iterable[str]) -> None:
        """Empty variables."""
        if names := [name for name in names if name not in self._same]:
            self.line(f"{' = '.join(names)} = None")

    def _tensors(self, values: Iterable[Value]) -> list[str]:
        """Return the variables of values that are tensors and no constants."""
        slots = self.frame.slots_of(v for v in values if not is_scalar(v.type))
        return [f"v{slot}" for slot in slots if slot not in self.frame.constants]

    def _class_of(self, value: Value) -> str:
        return self.refer(dtype_of(value).type, "t")

    # --- ops ----------------------------------------------------------------------------------------------------

    def body(self, body: Body) -> list[str]:
        """Print the ops of a body; return the names of its results."""
        if body.block not in self.frame.blocks:
            raise NotCompiled("ops that run as a chain")
        unwatched = 0  # bytes of small results
        for index, node in enumerate(body.nodes, 1):
            unwatched += small_bytes(node.op.result_types)
            if index % STEPS == 0 or unwatched > WATCHED:
                self.line(f"check_time(); reserve({unwatched})", node.op)
                unwatched = 0
            self.node(node)
        return self.read_all(body.results)

    def node(self, node: Node) -> None:
        """Print an op, and drop the tensors that it is the last to use. NotCompiled if only the plan runs it."""
        may_nest = self._depth < MAX_NESTING
        if isinstance(node, Loop) and may_nest and not self._runs_apart(node.op):
            self.inner_loop(node)
        elif isinstance(node, Branch) and may_nest:
            self.branch(node)
        elif node.kernel is not None:
            self.compute(node, node.kernel)
        else:
            raise NotCompiled(f"{node.op.name}, which only the plan runs")
        self.drop(self._tensors(node.dying))

    def compute(self, node: Node, kernel: Kernel) -> None:
        """Print the expression of an op, or the call of its kernel."""
        op = node.op
        code = expression(op, list(map(self.frame.constant, op.operands)))
        operands, results = self.read_all(op.operands), self.write(op.results)
        if code == "{0}":
            self._same[results[0]] = operands[0]
        elif code is not None:
            self._express(code, node, operands, results[0])
        else:
            self._call(node, kernel, operands, results)

    def _express(self, code: str, node: Node, operands: Sequence[str], result: str) -> None:
        """Print an expression; where its NaNs can be observed, the kernel computes them."""
        op, k = node.op, self.refer(node.kernel.run if node.kernel else None)
        types = {"": op.operands[0].type, "to_": op.results[0].type}
        names = {
            f"{prefix}{name}": self.refer(dtype_of(type).type(value), "z")
            for prefix, type in types.items()
            for name, value in _NUMBERS.items()
            if f"{{{prefix}{name}}}" in code
        }
        self.line(f"{result} = {code.format(*operands, k=k, **names)}", op)
        if node.is_canonical and dtype_of(op.operands[0]).kind == "f":
            self.line(f"if {result} != {result}: {result} = {k}({', '.join(operands)})[()]", op)

    def _call(self, node: Node, kernel: Kernel, operands: Sequence[str], results: Sequence[str]) -> None:
        """Print the call of a kernel: the form that overwrites the first operand, if nothing else has its array."""
        k, (first, *others) = self.refer(kernel.run), operands or [""]
        if kernel.in_place and len(results) == 1 and first in self._tensors(node.dying) and first not in others:
            count = self.refer(ONE_REFERENCE_TO_LOCAL, "n")
            owned = f"{self.refer(references)}({first}) == {count} and {first}.base is None and {first}.flags.writeable"
            k = f"({self.refer(kernel.in_place)} if {owned} else {k})"
        targets = f"{', '.join(results)} = " if results else ""
        self.line(f"{targets}{k}({', '.join(['C', *operands] if node.has_effects else operands)})", node.op)
        for result, value in zip(results, node.op.results):
            if is_scalar(value.type):
                self.line(f"if type({result}) is not {self._class_of(value)}: {result} = {result}[()]", node.op)

    # --- control flow -------------------------------------------------------------------------------------------

    def loop(self, loop: Loop) -> None:
        """Print a loop whose state is in the variables of the body's arguments."""
        left, o, ops = f"n{self._loops}", self.refer(loop.op, "o"), sum(1 for _ in loop.op.walk())
        self._loops += 1
        with self.block("while True:", loop.op):
            if loop.condition.counts or loop.body.counts:
                self.line(f"renew(C, {o}, 1)", loop.op)
                self._iteration(loop)
            else:
                with self.block(
                    f"for {left} in range(renew(C, {o}, {max(1, min(ITERATIONS, OPS // ops))}) - 1, -1, -1):", loop.op
                ):
                    self._iteration(loop)
                self.line("else: continue")
                self.line(f"C.steps -= {left}")
                self.line("break")

    def _iteration(self, loop: Loop) -> None:
        """Print the condition and the body of a loop; the variables of the state get their next values."""
        (test,) = self.body(loop.condition)
        self.line(f"if not {test}: break")
        state = self.write(loop.body.block.arguments)
        self.move(state, self.body(loop.body))
        self.drop(self._moved(loop.body, state))

    def inner_loop(self, loop: Loop) -> None:
        """Print a loop as an op of the source. As in the plan, operands keep the first state alive until it ends."""
        arguments = loop.body.block.arguments
        self.move(self.write(arguments), self.read_all(loop.op.operands))
        self.loop(loop)
        results = self.write(loop.op.results)
        self.move(results, self.read_all(arguments))
        for index, canonical in canonical_results(loop.op, self.frame.planner.canonical):
            self.line(f"{results[index]} = {self.refer(canonical)}({results[index]}, {results[index]})", loop.op)
        self.drop(self.write(arguments))

    def branch(self, branch: Branch) -> None:
        """Print a branch."""
        (chosen,), results = self.read_all(branch.op.operands), self.write(branch.op.results)
        last = len(branch.bodies) - 1
        for index, body in enumerate(branch.bodies):
            test = f"{chosen}" if dtype_of(branch.op.operands[0]).kind == "b" else f"{chosen} == {index}"
            header = "if True:" if not last else "else:" if index == last else f"{'elif' if index else 'if'} {test}:"
            with self.block(header, branch.op):
                self.move(results, self.body(body))
                self.drop(self._moved(body, results))

    def _moved(self, body: Body, results: Sequence[str]) -> list[str]:
        """Return the variables of tensors that a body computed and returned."""
        made = {value for node in body.nodes for value in node.op.results}
        names = self._tensors(value for value in body.results if value in made)
        return [name for name in dict.fromkeys(names) if name not in results]
