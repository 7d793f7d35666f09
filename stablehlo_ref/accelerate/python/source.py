"""Generated Python source: its lines, the objects that it refers to, and the op that each line comes from.

Names in the source are made of letters and numbers only, such as `v7`; nothing of a program's text is in it. What is
not a small number, such as kernels and constants, is a global of the source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, TracebackType
from typing import TYPE_CHECKING, Any

from stablehlo_ref.execute.run import located
from stablehlo_ref.ir.core import Operation

if TYPE_CHECKING:
    from stablehlo_ref.execute.plan import FramePlanner

FILENAME = "<generated>"
MAX_NESTING = 15  # of Python's 20 nested blocks


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


class Frame:
    """The values of one function in the source: `planner` knows their slots, `slots` is the name of their list."""

    def __init__(self, planner: FramePlanner, number: int) -> None:
        self.planner = planner
        self.slots = f"s{number}"
        self._prefix = f"v{number}_" if number else "v"

    def name(self, slot: int) -> str:
        return f"{self._prefix}{slot}"
