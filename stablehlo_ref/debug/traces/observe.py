"""Print values while a program runs."""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from typing import Any, TextIO

from stablehlo_ref.arrays.digest import statistics
from stablehlo_ref.arrays.value_text import type_text, value_text
from stablehlo_ref.define.context import Observer
from stablehlo_ref.define.processes import Process
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.locations import model_location
from stablehlo_ref.ir.types import TokenType
from stablehlo_ref.ir.value_index import ValueIndex
from stablehlo_ref.syntax.places import defined_at


class ValuePrinter(Observer):
    """Prints a line for each op when it has run, or its results (`-v`).

    With `level` 1 a line has the types of results and the smallest, largest and mean element, the number of NaNs, and
    the time; with 2 it has the results, large ones elided, and with 3 all elements. Locations are those in the text
    and, if the program has them, in the model. Only ops that `selects` accepts are printed, and block arguments among
    `arguments`, when an op uses them. Values have their names in `index`.
    """

    sees_every_op = True

    def __init__(
        self,
        index: ValueIndex,
        level: int = 3,
        selects: Callable[[Operation], bool] = lambda op: True,
        arguments: Collection[Value] = (),
        out: TextIO | None = None,
    ) -> None:
        self.out = out or sys.stderr
        self._index = index
        self._level = level
        self._selects = selects
        self._arguments = {id(value): value for value in arguments}
        self._users: dict[int, Operation] = {}  # the op that first uses an argument, at which it is printed
        self._prefix = ""
        self._started: dict[str, list[float]] = defaultdict(list)  # by process

    def resumes(self, process: Process) -> None:
        self._prefix = f"process {process.id}: " if process.grid.count > 1 else ""

    def before(self, op: Operation, operands: Sequence[Any]) -> None:
        used = {id(v): (v, x) for v, x in zip(op.operands, operands) if id(v) in self._arguments}
        for value, operand in used.values():
            if self._users.setdefault(id(value), op) is op:
                self._print(
                    f"{defined_at(value) or op.location}: {self._prefix}argument: {self._described(value, operand)}"
                )
        self._started[self._prefix].append(time.perf_counter())

    def after(self, op: Operation, results: Sequence[Any]) -> None:
        milliseconds = 1000 * (time.perf_counter() - self._started[self._prefix].pop())
        if not self._selects(op):
            return
        model = model_location(op.debug_location)
        end = (f", {milliseconds:.3f} ms" if self._level == 1 else "") + (f" ({model})" if model else "")
        head = f"{op.location}: {self._prefix}{op.name}"
        for result, value in zip(op.results, results):
            self._print(f"{head}: {self._described(result, value)}{end}")
        if not results:
            self._print(f"{head}{end}")

    def _described(self, result: Value, value: Any) -> str:
        name = self._index.unique_name(result)
        if value is None and not isinstance(result.type, TokenType):
            return f"{name} = not used"
        if self._level > 1:
            return f"{name} = {value_text(result.type, value, elides=self._level == 2)}"
        is_array = value is not None and not isinstance(value, tuple)
        return f"{name} = {type_text(result.type, value)}" + (f" {statistics(value)}" if is_array else "")

    def _print(self, line: str) -> None:
        print(line, file=self.out)
