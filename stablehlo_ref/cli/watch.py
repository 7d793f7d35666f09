"""The observers that options of `run` add: `-v`, `--trace-...`, `--break`, `--stats`, the progress bar."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from stablehlo_ref.cli.errors import CommandLineError
from stablehlo_ref.cli.progress import Progress
from stablehlo_ref.define.context import Observer
from stablehlo_ref.define.processes import Grid
from stablehlo_ref.diagnostics import ArgumentValueError
from stablehlo_ref.ir.core import Block, Operation, Value
from stablehlo_ref.ir.locations import file_of
from stablehlo_ref.ir.value_index import UnknownValueError
from stablehlo_ref.program import Program
from stablehlo_ref.suggestions import did_you_mean

if TYPE_CHECKING:
    from stablehlo_ref.debug.traces.observe import Profile

_match_line = re.compile(r".+:\d+").fullmatch


class Selection:
    """The ops and values that `--trace-ops` and `--trace-values` select; all without these options."""

    def __init__(self, options: argparse.Namespace, program: Program) -> None:
        self.values = [value for name in options.trace_values for value in _values(program, name, "--trace-values")]
        self._patterns: Sequence[str] = options.trace_ops
        self._owners = {id(value.owner) for value in self.values}
        _check_patterns(program, self._patterns)

    def names(self, program: Program) -> list[str] | None:
        """Return the names of the values and ops for a recorder; None for all."""
        if self.is_everything:
            return None
        ops = {op.name for op in program.module.walk() if _matches(op.name, self._patterns)}
        return [*(program.value_index.unique_name(value) for value in self.values), *sorted(ops)]

    @property
    def is_everything(self) -> bool:
        return not self._patterns and not self.values

    def __call__(self, op: Operation) -> bool:
        """Return whether an op is selected."""
        return self.is_everything or id(op) in self._owners or _matches(op.name, self._patterns)


def observers(options: argparse.Namespace, program: Program, grid: Grid, stack: ExitStack) -> Iterator[Observer]:
    """Yield the observers; CommandLineError for a name that is not in the program.

    At the end of `stack` traces are closed, the profile is written, and the progress bar is cleared.
    """
    selection = Selection(options, program)
    level = options.verbose or (0 if selection.is_everything or options.trace_to else 2)
    if level:
        from stablehlo_ref.debug.traces.observe import ValuePrinter  # here and below: imported when it is used

        arguments = [value for value in selection.values if isinstance(value.owner, Block)]
        yield ValuePrinter(program.value_index, min(level, 3), selection, arguments)
    if options.trace_to:
        from stablehlo_ref.debug.traces.record import Recorder

        try:
            recorder = Recorder(program.value_index, selection.names(program), options.trace_to, options.keep)
        except ArgumentValueError as error:
            raise CommandLineError(f"--keep: {error}") from None
        except OSError as error:
            raise CommandLineError(f"--trace-to {options.trace_to}: {error.strerror}") from None
        stack.callback(recorder.close)
        yield recorder
    if options.trap:
        from stablehlo_ref.debug.exceptions import ExceptionWatcher

        yield ExceptionWatcher(program, (), trap=options.trap)
    if options.profile or options.profile_output:
        from stablehlo_ref.debug.traces.observe import Profile

        profile = Profile()
        stack.callback(_write_profile, profile, options)
        yield profile
    if options.breaks:
        yield _debugger(options, program)
    elif sys.stderr.isatty() and not level:
        progress = Progress(program.step_count * grid.count)
        stack.callback(progress.close)
        yield progress


def _debugger(options: argparse.Namespace, program: Program) -> Observer:
    from stablehlo_ref.debug.debugger import Debugger  # imports `cmd`, which is rarely needed

    stops = [_value(program, name, "--break") for name in options.breaks]
    return Debugger(program.value_index, stops, sys.stdin, sys.stderr)


def _write_profile(profile: Profile, options: argparse.Namespace) -> None:
    if options.profile:
        print(profile, file=sys.stderr)
    if options.profile_output:
        try:
            options.profile_output.write_text(json.dumps(profile.speedscope(str(options.file))))
        except OSError as error:
            raise CommandLineError(f"--profile-output {options.profile_output}: {error.strerror}") from None


def dump_code(program: Program) -> None:
    """Print the source that hot loops and functions of a program became."""
    sources = [source for plan in program.plans.values() for source in plan.generated]
    for title, text in sources:
        print(f"# {title}\n{text}", file=sys.stderr)
    if not sources:
        print("no loop or function ran often enough to become Python source", file=sys.stderr)


def _values(program: Program, name: str, option: str) -> list[Value]:
    """Return the value of a name, or all values that a line of the model made, `model.py:12`."""
    made = [op for op in program.module.walk() if _is_of_line(op, name)] if _match_line(name) else []
    return [value for op in made for value in op.results] or [_value(program, name, option)]


def _is_of_line(op: Operation, line: str) -> bool:
    place = file_of(op.debug_location)
    return place is not None and f"/{place.filename}:{place.line}".endswith(f"/{line}")


def _value(program: Program, name: str, option: str) -> Value:
    try:
        return program.value(name)
    except UnknownValueError as error:
        diagnostic = error.diagnostics[0]
    try:
        return program.value(f"%{name}")  # as a shell may make it difficult to write %
    except UnknownValueError:
        raise CommandLineError("\n  ".join([f"{option}: {diagnostic.message}", *diagnostic.notes])) from None


def _check_patterns(program: Program, patterns: Sequence[str]) -> None:
    names = sorted({op.name for op in program.module.walk()} - {"builtin.module", "func.func", "func.return"})
    for pattern in patterns:
        if not any(_matches(name, [pattern]) for name in names):
            close = did_you_mean(pattern, names) or f"; there are {', '.join(names[:12])}"
            raise CommandLineError(f"--trace-ops: the program has no op '{pattern}'{close}")


def _matches(name: str, patterns: Sequence[str]) -> bool:
    """Return whether the name of an op, with or without its dialect, is one of patterns with wildcards."""
    return any(fnmatchcase(name, p) or fnmatchcase(name.partition(".")[2], p) for p in patterns)
