"""Run a program, or convert it from and to portable artifacts: `stablehlo-interp translate`.

Takes the options of MLIR's `stablehlo-translate`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from stablehlo_ref.bytecode.vhlo.artifact import serialize, target_version
from stablehlo_ref.cli import run as interpreting
from stablehlo_ref.cli.console import Chunk, for_each_part, write_output
from stablehlo_ref.cli.options import (
    LIMITS,
    PROGRAM_OR_STDIN,
    READING,
    CommandParser,
    Group,
    converter,
    messages,
    option,
)
from stablehlo_ref.limits.budget import activity
from stablehlo_ref.passes.inspection import strip_debuginfo
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


def run(options: argparse.Namespace) -> int:
    """Run or convert a program as the options say; return the exit code."""
    if options.interpret:
        return interpreting.run(_as_run(options), is_upstream=True)
    outputs: list[str | bytes] = []

    def convert(part: Chunk) -> None:
        module = part.parse(options.allow_unregistered_dialect).verify().module
        if options.strip_debuginfo:
            strip_debuginfo(module)
        with activity("serializing" if options.serialize else "printing"):
            if options.serialize:
                outputs.append(serialize(module, options.target, options.allow_other_dialects))
                return
            number_values(module)
            outputs.append(print_operation(module, locations=options.mlir_print_debuginfo))

    code = for_each_part(options, convert)
    write_output(options.output, outputs)
    return code


def _as_run(options: argparse.Namespace) -> argparse.Namespace:
    """Return the options of `run` that do the same."""
    given = {**vars(options), "args": [options.args] if options.args else [], "output": None}
    given["print_dense"] = options.interpreter_print_dense
    return argparse.Namespace(**{**vars(interpreting.parser().parse(["--", options.file])), **given})


@converter
def _checked_target(text: str) -> str:
    target_version(text)
    return text


OPTIONS = (
    Group("", [PROGRAM_OR_STDIN]),
    Group("what to do", [
        option("--interpret", "run the program, as `stablehlo-interp FILE` does"),
        option("--serialize", "write the program as a portable artifact"),
        option("--deserialize", "print the program of an artifact as text"),
    ], is_choice=True),
    READING,
    Group("options of --serialize and --deserialize", [
        option("-o FILE", "where to write (standard output)", Path, dest="output"),
        option("--target X.Y.Z", "the version that can read it (newest)", _checked_target, default="current"),
        option("--allow-other-dialects", "keep ops that artifacts do not have"),
        option("--strip-debuginfo", "leave out the locations of ops"),
        option("--mlir-print-debuginfo", "print the locations of ops"),
    ]),
    Group("options of --interpret", [
        option("--args LIST", "inputs as MLIR literals: [dense<...> : tensor<...>, ...]"),
        option("--interpreter-print-dense", "print results as dense<...> literals"),
        option("--probe-output-dir DIR", "the directory for the files of interpreter.probe", Path),
    ]),
    LIMITS,
    messages(),
)  # fmt: skip


def parser() -> CommandParser:
    """Return the parser of the command line."""
    return CommandParser("translate", DESCRIPTION, EXAMPLES, *OPTIONS, has_one_dash=True)
