"""Watch a run: print its values, measure the time of its ops, or stop it at a prompt."""

from __future__ import annotations

import cmd
import sys
import time
import tracemalloc
from collections import ChainMap
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TextIO, TypeAlias

from stablehlo_ref.arrays.descriptions import statistics, type_text, value_text
from stablehlo_ref.debug.traces.record import Follower, Frame
from stablehlo_ref.define.context import Observer
from stablehlo_ref.define.processes import Process
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.types import TokenType
from stablehlo_ref.ir.value_index import ValueIndex
from stablehlo_ref.suggestions import did_you_mean
from stablehlo_ref.syntax.places import defined_at


def summary(value: Value, data: Any) -> str:
    """Return the type and the statistics of a value."""
    is_array = data is not None and not isinstance(data, tuple)
    return type_text(value.type, data) + (f" {statistics(data)}" if is_array else "")


def with_model(text: str, op: Operation) -> str:
    """Return a text with the place of an op in the model, if that is known."""
    return f"{text} ({op.model_location})" if op.model_location else text


class ValuePrinter(Follower):
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
        super().__init__(index)
        self.out = out or sys.stderr
        self._level = level
        self._selects = selects
        self._arguments = {id(value) for value in arguments}

    def argument(self, inner: Frame, op: Operation, value: Value, data: Any) -> None:
        if id(value) in self._arguments:
            place = defined_at(value) or op.location
            self._print(f"{place}: {self._of_process()}argument: {self._described(value, data)}")

    def entered(self, frame: Frame, op: Operation, operands: Sequence[Any]) -> None:
        frame.data = time.perf_counter()

    def left(self, frame: Frame, op: Operation, results: Sequence[Any]) -> None:
        milliseconds = 1000 * (time.perf_counter() - frame.data)
        if not self._selects(op):
            return
        end = with_model(f", {milliseconds:.3f} ms" if self._level == 1 else "", op)
        head = f"{op.location}: {self._of_process()}{op.name}"
        shown = [f": {self._described(result, value)}" for result, value in zip(op.results, results)]
        for text in shown or [""]:
            self._print(f"{head}{text}{end}")

    def _of_process(self) -> str:
        return f"process {self.process.id}: " if self.process.grid.count > 1 else ""

    def _described(self, result: Value, value: Any) -> str:
        name = self.index.unique_name(result)
        if value is None and not isinstance(result.type, TokenType):
            return f"{name} = not used"
        if self._level > 1:
            return f"{name} = {value_text(result.type, value, elides=self._level == 2)}"
        return f"{name} = {summary(result, value)}"

    def _print(self, line: str) -> None:
        print(line, file=self.out)


# --- the time of each op, by kind and by place, and the peak of memory (`--profile`) ---------------------------------

SHOWN = 20  # places that the text lists


Stack: TypeAlias = tuple[Operation, ...]  # an op and those around it, the outermost first


@dataclass(slots=True)
class _Timed:
    """An op in progress, and the seconds that ops inside took."""

    stack: Stack
    start: float = 0.0
    inner: float = 0.0


class Profile(Observer):
    """Measures each op. Ops of a grid of processes are counted together; one that waits for others takes no time.

    As a context manager it also measures the peak of memory.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._measured: dict[Stack, tuple[float, int]] = {}  # seconds of its own, and the count
        self._frames = [_Timed(())]
        self._waiting: dict[int, tuple[float, list[_Timed]]] = {}  # processes, and since when they wait
        self._process = 0
        self.peak_bytes: int | None = None

    def __enter__(self) -> Profile:
        tracemalloc.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.peak_bytes = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()

    def before(self, op: Operation, operands: Sequence[Any]) -> None:
        stack = (*self._frames[-1].stack, op)
        self._measured.setdefault(stack, (0.0, 0))
        self._frames.append(_Timed(stack, self._clock()))

    def after(self, op: Operation, results: Sequence[Any]) -> None:
        frame = self._frames.pop()
        elapsed = self._clock() - frame.start
        own, count = self._measured[frame.stack]
        self._measured[frame.stack] = own + elapsed - frame.inner, count + 1
        self._frames[-1].inner += elapsed

    def resumes(self, process: Process) -> None:
        if id(process) == self._process:
            return
        now = self._clock()
        self._waiting[self._process] = now, self._frames
        self._process = id(process)
        paused, self._frames = self._waiting.get(self._process, (now, [_Timed(())]))
        for frame in self._frames:
            frame.start += now - paused

    def __str__(self) -> str:
        kinds, places = self.by_op(), self._sums(lambda op: with_model(f"{op.name}  {op.location}", op))
        more = [f"... and {len(places) - SHOWN} more"] if len(places) > SHOWN else []
        memory = [] if self.peak_bytes is None else [f"{self.peak_bytes:12d} bytes at the peak"]
        return "\n".join(["by op:", *_table(kinds), "by place:", *_table(places)[:SHOWN], *more, *memory])

    def by_op(self) -> dict[str, tuple[float, int]]:
        """Return the seconds without those of inner ops, and the count, of each kind of op, the slowest first."""
        return self._sums(lambda op: op.name)

    def _sums(self, key: Callable[[Operation], str]) -> dict[str, tuple[float, int]]:
        found: dict[str, tuple[float, int]] = {}
        for stack, (own, runs) in self._measured.items():
            seconds, count = found.get(key(stack[-1]), (0.0, 0))
            found[key(stack[-1])] = seconds + own, count + runs
        return dict(sorted(found.items(), key=lambda entry: entry[1], reverse=True))

    def speedscope(self, name: str) -> dict[str, Any]:
        """Return the profile in the JSON format of https://www.speedscope.app, one sample for each stack of ops."""
        frames = {op: number for number, op in enumerate(dict.fromkeys(stack[-1] for stack in self._measured))}
        samples = [[frames[op] for op in stack] for stack in self._measured]
        weights = [max(own, 0.0) for own, _ in self._measured.values()]
        profile = {
            "type": "sampled", "name": name, "unit": "seconds", "startValue": 0, "endValue": sum(weights),
            "samples": samples, "weights": weights,
        }  # fmt: skip
        return {
            "$schema": "https://www.speedscope.app/file-format-schema.json",
            "shared": {"frames": list(map(_frame, frames))},
            "profiles": [profile],
            "name": name,
            "exporter": "stablehlo_ref",
        }


def _frame(op: Operation) -> dict[str, Any]:
    place = op.location
    label = f"{op.name} @{op.properties['callee']}" if "callee" in op.properties else op.name
    where = f" {op.model_location}" if op.model_location else ""
    return {"name": f"{label}{where}", "file": place.filename, "line": place.line, "col": place.column}


def _table(sums: Mapping[str, tuple[float, int]]) -> list[str]:
    """Return a line for each entry: the seconds, the fraction of all, and the count."""
    whole = sum(own for own, _ in sums.values()) or 1.0
    return [f"{own:12.6f} s {100 * own / whole:5.1f} % {count:10d}  {name}" for name, (own, count) in sums.items()]


# --- the debugger, which stops a run at values (`--break VALUE`) -----------------------------------------------------

COMMANDS = ("values", "print", "where", "up", "down", "list", "break", "delete", "continue", "next", "step", "quit")
AROUND = 3  # lines of the text that `list` shows before and after the op


class Quit(BaseException):
    """The user ends the run. Not an Exception, which would become an error of an op."""


class Debugger(Follower, cmd.Cmd):
    """Stops a run when one of `stops` has been computed, or is used if it is a block argument.

    The data of a frame are the values computed so far in it, by name. The first line of a command's docstring is its
    help.
    """

    sees_every_op = True
    prompt = "(stablehlo) "

    def __init__(self, index: ValueIndex, stops: Collection[Value], source: TextIO, out: TextIO) -> None:
        Follower.__init__(self, index)
        cmd.Cmd.__init__(self, stdin=source, stdout=out)
        self.use_rawinput = source is sys.stdin and sys.stdin.isatty()
        self.stops = {id(value): value for value in stops}
        self.stop_at_depth: float = -1  # where `next` and `step` stop: an op at most this deep

    def new_stack(self, entry: Frame) -> None:
        entry.data = {}

    def argument(self, inner: Frame, op: Operation, value: Value, data: Any) -> None:
        self._add([(value, data)], inner.outer or inner)
        if id(value) in self.stops:
            self._stop(op, value, data)

    def entered(self, frame: Frame, op: Operation, operands: Sequence[Any]) -> None:
        frame.data = {}

    def left(self, frame: Frame, op: Operation, results: Sequence[Any]) -> None:
        self._add(zip(op.results, results), self.frames[-1])
        for value, data in zip(op.results, results):
            if id(value) in self.stops:
                self._stop(op, value, data)
                return
        if len(self.frames) <= self.stop_at_depth:
            self._stop(op, op.results[0] if op.results else None, results[0] if results else None)

    def _add(self, values: Iterable[tuple[Value, Any]], frame: Frame) -> None:
        known = frame.data
        for value, data in values:
            known[f"%{value.name}" if value.name else f"{len(known)}"] = value, data

    def _stop(self, op: Operation, value: Value | None, data: Any) -> None:
        """Read and run commands until one resumes the run."""
        self.stop_at_depth = -1
        self.op, self.depth = op, len(self.frames) - 1
        self.cmdloop(f"{self.place(op)}\n{self.described(value, data) if value else op.name}")

    # --- values -----------------------------------------------------------------------------------------------

    def do_values(self, _: str) -> None:
        """values: list the values computed so far in this frame, with their statistics"""
        for value, data in self.frames[self.depth].data.values():
            self.say(self.described(value, data))

    def do_print(self, line: str) -> None:
        """print %3 [full]: print a value of this frame or of those around it; `full` prints all elements"""
        name, _, rest = line.partition(" ")
        found = self._find(name)
        if found is not None:
            value, data = found
            self.say(f"%{value.name} = {value_text(value.type, data, elides=rest.strip() != 'full')}")

    def _find(self, name: str) -> tuple[Value, Any] | None:
        name = name if name.startswith("%") else f"%{name}"
        frames = self.frames[self.depth :: -1]
        known: Mapping[str, tuple[Value, Any]] = ChainMap(*(frame.data for frame in frames))
        if name not in known:
            self.say(f"no value {name} yet{did_you_mean(name, known) or '; `values` lists them'}")
        return known.get(name)

    # --- frames -----------------------------------------------------------------------------------------------

    def do_where(self, _: str) -> None:
        """where: print the ops in progress, the innermost last; > marks the current frame"""
        for depth in range(len(self.frames)):
            mark = ">" if depth == self.depth else " "
            self.say(f"{mark} {depth} {self.place(self._current(depth))}")

    def do_up(self, _: str) -> None:
        """up: go to the frame of the op that calls this one or has it in a region"""
        self._move(self.depth - 1)

    def do_down(self, _: str) -> None:
        """down: go to the frame of the call in progress, one further in"""
        self._move(self.depth + 1)

    def do_list(self, _: str) -> None:
        """list: print the lines of the program around the op"""
        location = self._current(self.depth).location
        first, lines = location.source.first_line, location.source.text.split("\n")
        for number in range(max(location.line - AROUND, first), location.line + AROUND + 1):
            if number - first < len(lines):
                self.say(f"{'>' if number == location.line else ' '}{number:6} {lines[number - first][:160]}")

    def _move(self, depth: int) -> None:
        if not 0 <= depth < len(self.frames):
            self.say("no frame there; `where` lists them")
            return
        self.depth = depth
        self.say(self.place(self._current(depth)))

    def _current(self, depth: int) -> Operation:
        """Return the op in progress in a frame."""
        inner = self.frames[depth + 1 :]
        return inner[0].op if inner and inner[0].op else self.op

    # --- running ----------------------------------------------------------------------------------------------

    def do_break(self, line: str) -> None:
        """break %7: stop when a value has been computed too (also @f/%7, or the name in its location)"""
        try:
            value = self.index.find(line.strip())
        except EvaluationError as error:
            self.say(error.diagnostics[0].message)
            return
        self.stops[id(value)] = value

    def do_delete(self, _: str) -> None:
        """delete: remove all breakpoints"""
        self.stops.clear()

    def do_continue(self, _: str) -> bool:
        """continue: run on, to the next breakpoint"""
        return True

    def do_next(self, _: str) -> bool:
        """next: run to the end of the next op of this function or region"""
        self.stop_at_depth = len(self.frames)
        return True

    def do_step(self, _: str) -> bool:
        """step: run to the end of the next op, in a call or region too"""
        self.stop_at_depth = float("inf")
        return True

    def do_quit(self, _: str) -> bool:
        """quit: end the run"""
        raise Quit

    do_v, do_p, do_w, do_u, do_d, do_l = do_values, do_print, do_where, do_up, do_down, do_list
    do_c, do_n, do_s, do_q = do_continue, do_next, do_step, do_quit
    do_EOF = do_quit  # noqa: N815  (the name that cmd.Cmd looks for)

    # --- the interface of cmd.Cmd -------------------------------------------------------------------------------

    def do_help(self, arg: str) -> None:
        """help: print this"""
        for name in COMMANDS:
            self.say(getattr(self, f"do_{name}").__doc__)
        self.say("each but `break` and `delete` may be one letter")

    def default(self, line: str) -> None:
        if line.startswith("%"):
            self.do_print(line)
            return
        hint = did_you_mean(line.partition(" ")[0], COMMANDS) or "; help lists them"
        self.say(f"unknown command {line!r}{hint}")

    def emptyline(self) -> bool:
        """Do nothing."""
        return False

    def place(self, op: Operation) -> str:
        """Return where an op is: in the text, and in the model."""
        return with_model(f"{op.location}: {op.name}", op)

    def described(self, value: Value, data: Any) -> str:
        """Return the name, type and statistics of a value."""
        return f"%{value.name}: {summary(value, data)}"

    def say(self, text: str) -> None:
        """Print a line."""
        print(text, file=self.stdout)
