"""`stablehlo-interp reduce`: make a program small that shows a fault of a backend, or that a command accepts."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from stablehlo_ref.cli.backend_options import add_backend_options, given_inputs, program_of, session_of
from stablehlo_ref.cli.commands import FINE
from stablehlo_ref.cli.console import guarded
from stablehlo_ref.cli.errors import CommandLineError
from stablehlo_ref.cli.options import PROGRAM_HELP, CommandParser, add_message_options, positive
from stablehlo_ref.cli.run import add_input_options
from stablehlo_ref.debug.backends import save_arrays
from stablehlo_ref.debug.predicates import by_backend, by_command
from stablehlo_ref.debug.reduce import MAX_CALLS, Predicate, Reduced, reduce

DESCRIPTION = "Make a program small that still shows a fault of a backend, or that a command still accepts."
EPILOG = """\
examples:
  stablehlo-interp reduce model.mlir --random-inputs 0 --predicate 'grep -q tanh {program}' -o small.mlir

The command of --predicate gets the file of a program, as `{program}` or as its last argument, and an .npz file with
its inputs as `{inputs}`. It exits with 0 if the program is interesting. What it prints must stay the same, so that the
search does not slip to another fault: print the kind of the error, or nothing."""


def main(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code."""
    options = parser().parse_args(arguments)
    return guarded(str(options.file), lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    require_folder(options.output)
    program = program_of(options)
    arrays = given_inputs(options, program)
    with ExitStack() as stack:
        predicate: Predicate
        if options.predicate is not None:
            predicate = by_command(options.predicate, options.seconds)
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


def _command(text: str) -> str:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"expected a command, got {text!r}: {error}") from None
    if not words:
        raise argparse.ArgumentTypeError(f"expected a command, got {text!r}")
    return text


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = CommandParser("reduce", DESCRIPTION, EPILOG)
    add = found.add_argument
    add("file", metavar="FILE", help=PROGRAM_HELP)
    what = found.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--predicate", metavar="CMD", type=_command, help="a command that exits with 0 if a program is interesting"
    )
    what.add_argument("--backend", metavar="B", help="a backend, as for `stablehlo-interp diff`, that goes wrong")
    add("-o", dest="output", metavar="FILE", type=Path, required=True, help="where to write; inputs go to FILE's .npz")
    add("--entry", metavar="NAME", help="the function to run")
    add("--max-calls", metavar="N", type=positive, default=MAX_CALLS, help=f"of the predicate (default {MAX_CALLS})")
    add("--jobs", metavar="N", type=positive, default=1, help="calls of the predicate at a time (default 1)")
    add("--resume", metavar="DIR", type=Path, help="keep answers and the best program there, and go on from there")
    add_input_options(found)
    add_backend_options(found)
    add_message_options(found, verifies=False)
    return found
