"""Make a program small that shows a fault of a backend or a pass, or that a command accepts: `reduce`."""

from __future__ import annotations

import argparse
import shlex
from contextlib import ExitStack
from pathlib import Path

from stablehlo_ref.cli.backend_options import JUDGED_BACKEND, given_inputs, program_of, session_of
from stablehlo_ref.cli.commands import FINE
from stablehlo_ref.cli.inputs import INPUTS
from stablehlo_ref.cli.options import (
    ENTRY,
    LIMITS,
    MESSAGES,
    PROGRAM,
    CommandLineError,
    CommandParser,
    Group,
    converter,
    limits_of,
    option,
    positive,
)
from stablehlo_ref.debug.backends import save_arrays
from stablehlo_ref.debug.predicates import by_backend, by_command, by_pass
from stablehlo_ref.debug.reduce import MAX_CALLS, Predicate, Reduced, reduce
from stablehlo_ref.diagnostics import ArgumentValueError
from stablehlo_ref.limits.budget import limited

DESCRIPTION = "Make a program small that still shows a fault of a backend or a pass, or that a command still accepts."
EPILOG = """\
examples:
  stablehlo-interp reduce model.mlir --random-inputs 0 --predicate 'grep -q tanh {program}' -o small.mlir

  stablehlo-interp reduce model.mlir --random-inputs 0 --pass 'sed s/tanh/sine/ {program}' -o small.mlir

The command of --predicate or --pass gets the file of a program, as `{program}` or as its last argument, and an .npz
file with its inputs as `{inputs}`. That of --predicate exits with 0 if the program is interesting. What it prints must
stay the same, so that the search does not slip to another fault: print the kind of the error, or nothing."""


def run(options: argparse.Namespace) -> int:
    """Make the program small; return the exit code."""
    require_folder(options.output)
    with limited(limits_of(options)), ExitStack() as stack:
        program = program_of(options)
        arrays = given_inputs(options, program)
        predicate: Predicate
        if options.predicate is not None:
            predicate = by_command(options.predicate, options.seconds)
        elif options.wrong_pass is not None:
            predicate = by_pass(options.wrong_pass, options.contract, options.seconds)
        else:
            sessions = [stack.enter_context(session_of(options)) for _ in range(options.jobs)]
            predicate = by_backend(sessions, options.contract)
        found = reduce(
            program, arrays, predicate, max_calls=options.max_calls, jobs=options.jobs, folder=options.resume
        )
    print(saved(found, options.output))
    return FINE


def require_folder(path: Path) -> None:
    """Raise CommandLineError if the folder of a file to write does not exist: before a long search, not after it."""
    if not path.parent.is_dir():
        raise CommandLineError(f"cannot write {path}: there is no folder {path.parent}")


def saved(found: Reduced, path: Path) -> str:
    """Write a program that was made small, and its inputs beside it; return what to say."""
    path.write_text(str(found.program), encoding="utf-8")
    save_arrays(path.with_suffix(".npz"), found.inputs)
    return f"{found}\nwrote {path}, and its inputs to {path.with_suffix('.npz')}"


@converter
def _command(text: str) -> str:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ArgumentValueError(f"expected a command, got {text!r}: {error}") from None
    if not words:
        raise ArgumentValueError(f"expected a command, got {text!r}")
    return text


OPTIONS = (
    Group("", [PROGRAM]),
    Group("what the program must still show", [
        option("--predicate CMD", "a command that exits with 0 if a program is interesting", _command),
        option("--pass CMD", "a command that prints the program after a pass that changes what it means", _command,
               dest="wrong_pass"),
        option("--backend B", "a backend, as for `stablehlo-interp diff`, that goes wrong"),
    ], is_choice=True),
    Group("", [
        option("-o FILE", "where to write; inputs go to FILE's .npz", Path, dest="output", required=True),
        ENTRY,
        option("--max-calls N", f"of the predicate (default {MAX_CALLS})", positive, default=MAX_CALLS),
        option("--jobs N", "calls of the predicate at a time (default 1)", positive, default=1),
        option("--resume DIR", "keep answers and the best program there, and go on from there", Path),
    ]),
    INPUTS,
    JUDGED_BACKEND,
    LIMITS,
    MESSAGES,
)  # fmt: skip


def parser() -> CommandParser:
    """Return the parser of the command line."""
    return CommandParser("reduce", DESCRIPTION, EPILOG, *OPTIONS)
