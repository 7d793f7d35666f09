"""`--break VALUE`: a prompt that shows the values of a run where it stops, as a debugger does."""

from __future__ import annotations

import cmd
import sys
from collections.abc import Collection, Iterable, Sequence
from typing import Any, TextIO

from stablehlo_ref.arrays.digest import statistics
from stablehlo_ref.arrays.value_text import type_text, value_text
from stablehlo_ref.debug.traces.follow import Follower, Frame
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.ir.core import Block, Operation, Value
from stablehlo_ref.ir.locations import model_location
from stablehlo_ref.ir.value_index import ValueIndex
from stablehlo_ref.suggestions import did_you_mean

COMMANDS = ("values", "print", "where", "up", "down", "list", "break", "delete", "continue", "next", "step", "quit")
AROUND = 3  # lines of the text that `list` shows before and after the op


class Quit(BaseException):
    """The user ends the run. Not an Exception, which would become an error of an op."""


class Debugger(Follower):
    """Stops a run when one of `stops` has been computed, or is used if it is a block argument.

    The data of a frame are the values computed so far in it, by name.
    """

    sees_every_op = True

    def __init__(self, index: ValueIndex, stops: Collection[Value], source: TextIO, out: TextIO) -> None:
        super().__init__(index)
        self.source, self.out = source, out
        self.stops = {id(value): value for value in stops}
        self.stop_at_depth: float = -1  # where `next` and `step` stop: an op at most this deep
        self._users: dict[int, Operation] = {}  # the op that first uses a block argument, at which the run stops

    def new_stack(self, entry: Frame) -> None:
        entry.data = {}

    def entered(self, frame: Frame, op: Operation, operands: Sequence[Any]) -> None:
        frame.data = {}
        arguments = {id(v): (v, x) for v, x in zip(op.operands, operands) if isinstance(v.owner, Block)}
        self.frames.pop()  # the op is not in progress yet
        self._add(arguments.values())
        for value, data in arguments.values():
            if id(value) in self.stops and self._users.setdefault(id(value), op) is op:
                self.prompt(op, value, data)
        self.frames.append(frame)

    def left(self, frame: Frame, op: Operation, results: Sequence[Any]) -> None:
        self._add(zip(op.results, results))
        for value, data in zip(op.results, results):
            if id(value) in self.stops:
                self.prompt(op, value, data)
                return
        if len(self.frames) <= self.stop_at_depth:
            self.prompt(op, op.results[0] if op.results else None, results[0] if results else None)

    def _add(self, values: Iterable[tuple[Value, Any]]) -> None:
        known = self.frames[-1].data
        for value, data in values:
            known[f"%{value.name}" if value.name else f"{len(known)}"] = value, data

    def prompt(self, op: Operation, value: Value | None, data: Any) -> None:
        """Read and run commands until one resumes the run."""
        self.stop_at_depth = -1
        Prompt(self, op, value, data).cmdloop()


class Prompt(cmd.Cmd):
    """The commands of the debugger. The first line of a method's docstring is its help."""

    prompt = "(stablehlo) "

    def __init__(self, debugger: Debugger, op: Operation, value: Value | None, data: Any) -> None:
        super().__init__(stdin=debugger.source, stdout=debugger.out)
        self.use_rawinput = debugger.source is sys.stdin and sys.stdin.isatty()
        self.debugger = debugger
        self.op = op
        self.depth = len(debugger.frames) - 1
        self.intro = f"{place(op)}\n{described(value, data) if value else op.name}"

    # --- values -----------------------------------------------------------------------------------------------

    def do_values(self, _: str) -> None:
        """values: list the values computed so far in this frame, with their statistics"""
        for value, data in self.debugger.frames[self.depth].data.values():
            self.say(described(value, data))

    def do_print(self, line: str) -> None:
        """print %3 [full]: print a value of this frame or of those around it; `full` prints all elements"""
        name, _, rest = line.partition(" ")
        found = self._find(name)
        if found is not None:
            value, data = found
            self.say(f"%{value.name} = {value_text(value.type, data, elides=rest.strip() != 'full')}")

    def _find(self, name: str) -> tuple[Value, Any] | None:
        name = name if name.startswith("%") else f"%{name}"
        frames = self.debugger.frames[: self.depth + 1]
        for frame in reversed(frames):
            if name in frame.data:
                found: tuple[Value, Any] = frame.data[name]
                return found
        known = [known for frame in frames for known in frame.data]
        self.say(f"no value {name} yet{did_you_mean(name, known) or '; `values` lists them'}")
        return None

    # --- frames -----------------------------------------------------------------------------------------------

    def do_where(self, _: str) -> None:
        """where: print the ops in progress, the innermost last; > marks the current frame"""
        for depth in range(len(self.debugger.frames)):
            mark = ">" if depth == self.depth else " "
            self.say(f"{mark} {depth} {place(self._current(depth))}")

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
        if not 0 <= depth < len(self.debugger.frames):
            self.say("no frame there; `where` lists them")
            return
        self.depth = depth
        self.say(place(self._current(depth)))

    def _current(self, depth: int) -> Operation:
        """Return the op in progress in a frame."""
        inner = self.debugger.frames[depth + 1 :]
        return inner[0].op if inner and inner[0].op else self.op

    # --- running ----------------------------------------------------------------------------------------------

    def do_break(self, line: str) -> None:
        """break %7: stop when a value has been computed too (also @f/%7, or the name in its location)"""
        try:
            value = self.debugger.index.find(line.strip())
        except EvaluationError as error:
            self.say(error.diagnostics[0].message)
            return
        self.debugger.stops[id(value)] = value

    def do_delete(self, _: str) -> None:
        """delete: remove all breakpoints"""
        self.debugger.stops.clear()

    def do_continue(self, _: str) -> bool:
        """continue: run on, to the next breakpoint"""
        return True

    def do_next(self, _: str) -> bool:
        """next: run to the end of the next op of this function or region"""
        self.debugger.stop_at_depth = len(self.debugger.frames)
        return True

    def do_step(self, _: str) -> bool:
        """step: run to the end of the next op, in a call or region too"""
        self.debugger.stop_at_depth = float("inf")
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

    def say(self, text: str) -> None:
        """Print a line."""
        print(text, file=self.stdout)


def place(op: Operation) -> str:
    """Return where an op is: in the text, and in the model."""
    model = model_location(op.debug_location)
    return f"{op.location}: {op.name}" + (f" ({model})" if model else "")


def described(value: Value, data: Any) -> str:
    """Return the name, type and statistics of a value."""
    is_array = data is not None and not isinstance(data, tuple)
    return f"%{value.name}: {type_text(value.type, data)}" + (f" {statistics(data)}" if is_array else "")
