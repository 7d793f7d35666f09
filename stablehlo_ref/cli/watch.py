"""Watch a run: the observers for `-v`, `--trace`, `--trace-to` and `--break`, the profile, generated code."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from stablehlo_ref.cli.options import CommandLineError, usage_errors
from stablehlo_ref.define.context import Observer
from stablehlo_ref.ir.core import Block, Operation, Value
from stablehlo_ref.ir.locations import file_of
from stablehlo_ref.ir.value_index import UnknownValueError
from stablehlo_ref.limits.budget import activity
from stablehlo_ref.program import Program
from stablehlo_ref.suggestions import did_you_mean
from stablehlo_ref.syntax.mhlo import renamed

if TYPE_CHECKING:
    from stablehlo_ref.debug.traces.observe import Profile

_match_line = re.compile(r".+:\d+").fullmatch


class Selection:
    """The ops and values that `--trace` selects by names or patterns; all without it."""

    def __init__(self, program: Program, names: Sequence[str]) -> None:
        ops = {op.name for op in program.module.walk()} - {"builtin.module", "func.func", "func.return"}
        self._patterns = [name for name in names if any(_matches(op, [name]) for op in ops)]
        values = (_values(program, name, ops) for name in names if name not in self._patterns)
        self.values = list(chain.from_iterable(values))
        self._owners = {id(value.owner) for value in self.values}

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


def observers(options: argparse.Namespace, program: Program, stack: ExitStack) -> Iterator[Observer]:
    """Yield the observers; CommandLineError for a name that is not in the program. `stack` closes traces at its end."""
    selection = Selection(program, options.trace)
    level = options.verbose or (0 if selection.is_everything or options.trace_to else 2)
    if level:
        from stablehlo_ref.debug.traces.observe import ValuePrinter  # here and below: imported when it is used

        arguments = [value for value in selection.values if isinstance(value.owner, Block)]
        yield ValuePrinter(program.value_index, min(level, 3), selection, arguments)
    if options.trace_to:
        from stablehlo_ref.debug.traces.record import Recorder

        try:
            with usage_errors("--keep"):
                recorder = Recorder(program.value_index, selection.names(program), options.trace_to, options.keep)
        except OSError as error:
            raise CommandLineError(f"--trace-to {options.trace_to}: {error.strerror}") from None
        stack.callback(recorder.close)
        yield recorder
    if options.breaks:
        from stablehlo_ref.debug.traces.observe import Debugger  # imports `cmd`, which is rarely needed

        stops = [_value(program, name, "--break") for name in options.breaks]
        yield Debugger(program.value_index, stops, sys.stdin, sys.stderr)
    if not options.breaks and not level:
        stack.enter_context(activity("running"))


def print_profile(profile: Profile, program: Program, options: argparse.Namespace) -> None:
    """Print the profile of a run and what is guaranteed of its results; write it to the file of `--profile=FILE`."""
    guarantees = program.guarantees(
        reproducible="reproducible" in options.mode, exact_sums="exact-sums" in options.mode
    )
    print(f"{profile}\n\nbits of results:\n{guarantees}", file=sys.stderr)
    for dialect, ops in Counter(renamed(program.module)).items():
        print(f"{ops} ops of {dialect} were read as the equal ops of StableHLO and CHLO", file=sys.stderr)
    if options.profile:
        try:
            Path(options.profile).write_text(json.dumps(profile.speedscope(str(options.file))))
        except OSError as error:
            raise CommandLineError(f"--profile={options.profile}: {error.strerror}") from None


def dump_code(program: Program) -> None:
    """Print the source that hot loops and functions of a program became."""
    sources = [source for plan in program.plans.values() for source in plan.generated]
    for title, text in sources:
        print(f"# {title}\n{text}", file=sys.stderr)
    if not sources:
        print("no loop or function ran often enough to become Python source or machine code", file=sys.stderr)


def _values(program: Program, name: str, ops: Collection[str]) -> list[Value]:
    """Return the value of a name, or all values that a line of the model made, `model.py:12`."""
    made = [op for op in program.module.walk() if _is_of_line(op, name)] if _match_line(name) else []
    if found := [value for op in made for value in op.results]:
        return found
    try:
        return [_value(program, name, "--trace")]
    except CommandLineError:
        if hint := did_you_mean(name, sorted({*ops, *(op.partition(".")[2] for op in ops)})):
            raise CommandLineError(f"--trace: no value or op is called '{name}'{hint}") from None
        raise


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


def _matches(name: str, patterns: Sequence[str]) -> bool:
    """Return whether the name of an op, with or without its dialect, is one of patterns with wildcards."""
    return any(fnmatchcase(name, p) or fnmatchcase(name.partition(".")[2], p) for p in patterns)
