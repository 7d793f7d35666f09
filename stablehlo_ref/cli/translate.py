"""`stablehlo-interp translate`: run a program, or convert it from and to portable artifacts.

Takes the options of MLIR's `stablehlo-translate`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from stablehlo_ref.bytecode.vhlo.artifact import serialize, target_version
from stablehlo_ref.cli import run
from stablehlo_ref.cli.console import Part, for_each_part, guarded, with_two_dashes, write_output
from stablehlo_ref.cli.options import (
    PROGRAM_HELP,
    CommandParser,
    add_limit_options,
    add_message_options,
    add_reading_options,
    limits_of,
)
from stablehlo_ref.cli.progress import showing_progress
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.limits.budget import activity
from stablehlo_ref.passes.strip_debuginfo import strip_debuginfo
from stablehlo_ref.syntax.printer import print_operation
from stablehlo_ref.syntax.value_names import number_values

DESCRIPTION = """\
Run a program, or convert it from and to portable artifacts.

Takes the options of MLIR's stablehlo-translate, and prints what it prints."""
EXAMPLES = """\
examples:
  stablehlo-interp translate --interpret tests.mlir --split-input-file
  stablehlo-interp translate --serialize model.mlir --target 1.9.0 -o model.mlirbc
  stablehlo-interp translate --deserialize model.mlirbc"""


def main(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code; a usage error ends the process."""
    command_line = parser()
    options = command_line.parse_args(with_two_dashes(arguments))
    if options.interpret:
        return run.main(_as_run(options), is_upstream=True)
    try:
        target_version(options.target)
    except UnsupportedError as error:
        command_line.error(str(error.diagnostics[0].message))
    return guarded(options.file, lambda: _convert(options))


def _convert(options: argparse.Namespace) -> int:
    outputs: list[str | bytes] = []

    def convert(part: Part) -> None:
        module = part.parse(options.allow_unregistered_dialect).verify().module
        if options.strip_debuginfo:
            strip_debuginfo(module)
        with activity("serializing" if options.serialize else "printing"):
            if options.serialize:
                outputs.append(serialize(module, options.target, options.allow_other_dialects))
                return
            number_values(module)
            outputs.append(print_operation(module, locations=options.mlir_print_debuginfo))

    with showing_progress():
        code = for_each_part(options.file, options.split_input_file, convert, limits_of(options))
    write_output(options.output, outputs)
    return code


def _as_run(options: argparse.Namespace) -> list[str]:
    """Return the command line without `translate` that does the same."""
    flags = {
        "--print-dense": options.interpreter_print_dense,
        "--split-input-file": options.split_input_file,
        "--allow-unregistered-dialect": options.allow_unregistered_dialect,
        "--verify-diagnostics": options.verify_diagnostics,
    }
    values = {
        "--args": options.args, "--probe-output-dir": options.probe_output_dir, "--max-seconds": options.max_seconds,
        "--max-total-bytes": options.max_total_bytes, "--max-errors": options.max_errors,
        "--diagnostics-format": options.diagnostics_format, "--color": options.color,
    }  # fmt: skip
    given = [f"{name}={value}" for name, value in values.items() if value is not None]
    return [*(name for name, is_set in flags.items() if is_set), *given, "--", options.file]


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = CommandParser("translate", DESCRIPTION, EXAMPLES)
    add = found.add_argument
    add("file", metavar="FILE", nargs="?", default="-", help=f"{PROGRAM_HELP}; standard input if left out")
    action = found.add_mutually_exclusive_group(required=True)
    action.add_argument("--interpret", action="store_true", help="run the program, as `stablehlo-interp FILE` does")
    action.add_argument("--serialize", action="store_true", help="write the program as a portable artifact")
    action.add_argument("--deserialize", action="store_true", help="print the program of an artifact as text")
    add_reading_options(found)
    converting = found.add_argument_group("options of --serialize and --deserialize")
    converting.add_argument("-o", dest="output", metavar="FILE", type=Path, help="where to write (standard output)")
    converting.add_argument(
        "--target", metavar="X.Y.Z", default="current", help="the version that can read it (newest)"
    )
    converting.add_argument("--allow-other-dialects", action="store_true", help="keep ops that artifacts do not have")
    converting.add_argument("--strip-debuginfo", action="store_true", help="leave out the locations of ops")
    converting.add_argument("--mlir-print-debuginfo", action="store_true", help="print the locations of ops")
    running = found.add_argument_group("options of --interpret")
    running.add_argument("--args", metavar="LIST", help="inputs as MLIR literals: [dense<...> : tensor<...>, ...]")
    running.add_argument("--interpreter-print-dense", action="store_true", help="print results as dense<...> literals")
    running.add_argument("--probe-output-dir", metavar="DIR", help="the directory for the files of interpreter.probe")
    add_limit_options(found)
    add_message_options(found)
    return found
