"""`stablehlo-interp exceptions`: find where NaN and infinities come from, and whether they reach an output."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from stablehlo_ref.cli.backend_options import add_backend_options, program_of, session_of
from stablehlo_ref.cli.commands import AT_FAULT, FINE
from stablehlo_ref.cli.console import guarded
from stablehlo_ref.cli.errors import CommandLineError
from stablehlo_ref.cli.options import (
    PROGRAM_HELP,
    CommandParser,
    add_limit_options,
    add_message_options,
    count,
    limits_of,
)
from stablehlo_ref.cli.process_inputs import inputs_of_processes
from stablehlo_ref.cli.run import add_grid_options, add_input_options, exception_kinds
from stablehlo_ref.debug.exceptions import GENERATIONS, Exceptions, backend_exceptions, exceptions, exceptions_parallel
from stablehlo_ref.define.processes import Grid
from stablehlo_ref.limits.budget import limited

DESCRIPTION = "Find where NaN, infinities, underflow and cancellation come from, and whether they reach an output."
EPILOG = """\
examples:
  stablehlo-interp exceptions model.mlir --random-inputs 0
  stablehlo-interp exceptions model.mlir --random-inputs 0 --kinds nan,inf --json
  stablehlo-interp model.mlir --random-inputs 0 --trap nan              # stops at the first NaN

kinds: nan, overflow, division-by-zero (inf is both), underflow, cancellation, all

exit codes: 0 if no NaN and no infinity reaches an output, 1 if one does, or if the backend has one that the interpreter
has not, or for an error in the program, 2 for an error in the command line"""


def main(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code."""
    options = parser().parse_args(arguments)
    return guarded(str(options.file), lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    with limited(limits_of(options)):
        found = _found(options)
    print(found.to_json() if options.json else found)
    return FINE if found.is_harmless and not found.only_in_backend else AT_FAULT


def _found(options: argparse.Namespace) -> Exceptions:
    program = program_of(options)
    program.limits = limits_of(options)
    grid = Grid(options.replicas or 1, options.partitions or 1)
    inputs = inputs_of_processes(options, program, grid, program.limits)
    if grid.count == 1:
        found = exceptions(program, *inputs[0], kinds=options.kinds, threshold=options.threshold)
        if options.backend is not None:
            with session_of(options) as session:
                found.only_in_backend = backend_exceptions(program, inputs[0], session)
        return found
    if options.backend is not None:
        raise CommandLineError("--backend compares one process: it excludes --replicas and --partitions")
    sizes = {"num_replicas": grid.num_replicas, "num_partitions": grid.num_partitions}
    return exceptions_parallel(program, inputs, kinds=options.kinds, threshold=options.threshold, **sizes)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = CommandParser("exceptions", DESCRIPTION, EPILOG)
    add = found.add_argument
    add("file", metavar="FILE", help=PROGRAM_HELP)
    add("--kinds", metavar="KIND,KIND", type=exception_kinds, default=GENERATIONS, help="what to look for: see below")
    add("--threshold", metavar="BITS", type=count, help="what a cancellation loses; half of the type's if left out")
    add("--backend", metavar="B", help="say which NaN and infinities only a backend has: see `stablehlo-interp diff`")
    add("--json", action="store_true", help="print one line of JSON")
    add("--entry", metavar="NAME", help="the function to run")
    add_input_options(found)
    add_grid_options(found)
    add_backend_options(found, judges=False)
    add_limit_options(found)
    add_message_options(found, verifies=False)
    return found
