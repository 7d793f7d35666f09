"""Find where NaN and infinities come from, and whether they reach an output: `stablehlo-interp exceptions`."""

from __future__ import annotations

import argparse
from typing import Any

from stablehlo_ref.cli.backend_options import BACKEND, program_of, session_of
from stablehlo_ref.cli.commands import AT_FAULT, FINE
from stablehlo_ref.cli.inputs import GRID, INPUTS, grid_of, inputs_of_processes
from stablehlo_ref.cli.options import (
    ENTRY,
    JSON,
    LIMITS,
    MESSAGES,
    PROGRAM,
    CommandLineError,
    CommandParser,
    Group,
    converter,
    count,
    option,
    within_limits,
)
from stablehlo_ref.debug.exceptions import backend_exceptions, exceptions, exceptions_parallel
from stablehlo_ref.debug.exceptions.findings import GENERATIONS, Exceptions, kinds_of

DESCRIPTION = "Find where NaN, infinities, underflow and cancellation come from, and whether they reach an output."
EPILOG = """\
examples:
  stablehlo-interp exceptions model.mlir --random-inputs 0
  stablehlo-interp exceptions model.mlir --random-inputs 0 --kinds nan,inf --json
  stablehlo-interp exceptions model.mlir --random-inputs 0 --kinds nan --first   # stop at the first NaN

kinds: nan, overflow, division-by-zero (inf is both), underflow, cancellation, all

exit codes: 0 if no NaN and no infinity reaches an output, 1 if one does, or if the backend has one that the interpreter
has not, or for an error in the program, 2 for an error in the command line"""


def run(options: argparse.Namespace) -> int:
    """Look for exceptions; return the exit code."""
    with within_limits(options):
        found = _found(options)
    print(found.to_json() if options.json else found)
    return FINE if found.is_harmless and not found.only_in_backend else AT_FAULT


def _found(options: argparse.Namespace) -> Exceptions:
    program = program_of(options)
    grid = grid_of(options)
    inputs = inputs_of_processes(options, program, grid, program.limits)
    how: dict[str, Any] = {"kinds": options.kinds, "threshold": options.threshold, "first": options.first}
    if grid.count == 1:
        found = exceptions(program, *inputs[0], **how)
        if options.backend is not None:
            with session_of(options) as session:
                found.only_in_backend = backend_exceptions(program, inputs[0], session)
        return found
    if options.backend is not None:
        raise CommandLineError("--backend compares one process: it excludes --replicas and --partitions")
    sizes: dict[str, Any] = {"num_replicas": grid.num_replicas, "num_partitions": grid.num_partitions}
    return exceptions_parallel(program, inputs, **how, **sizes)


OPTIONS = Group("", [
    PROGRAM,
    option("--kinds KIND,KIND", "what to look for: see below", converter(kinds_of), default=GENERATIONS),
    option("--first", "stop at the first op that generates one, with an error"),
    option("--threshold BITS", "what a cancellation loses; half of the type's if left out", count),
    option("--backend B", "say which NaN and infinities only a backend has: see `stablehlo-interp diff`"),
    JSON,
    ENTRY,
])  # fmt: skip


def parser() -> CommandParser:
    """Return the parser of the command line."""
    return CommandParser("exceptions", DESCRIPTION, EPILOG, OPTIONS, INPUTS, GRID, BACKEND, LIMITS, MESSAGES)
