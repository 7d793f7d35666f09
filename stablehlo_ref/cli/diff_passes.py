"""`stablehlo-interp diff-passes`: find the first pass of a pipeline whose output means something else."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from stablehlo_ref.cli.backend_options import contract, given_inputs
from stablehlo_ref.cli.commands import AT_FAULT, FINE
from stablehlo_ref.cli.console import existing, guarded
from stablehlo_ref.cli.options import CommandParser, add_limit_options, add_message_options, limits_of
from stablehlo_ref.cli.run import add_input_options
from stablehlo_ref.debug.contract import PRESETS
from stablehlo_ref.debug.diff_passes import MAX_SECONDS, diff_stages, stages_of

DESCRIPTION = "Run the program after each pass of a pipeline on the same inputs, and find the first pass that is wrong."
EPILOG = """\
examples:
  mlir-opt model.mlir --pass-pipeline=... --mlir-print-ir-after-all 2> dumps.mlir
  stablehlo-interp diff-passes dumps.mlir --random-inputs 0
  XLA_FLAGS='--xla_dump_to=dump --xla_dump_hlo_as_text --xla_dump_hlo_pass_re=.*' python model.py
  stablehlo-interp diff-passes dump --only 'module_0001*' --random-inputs 0

exit codes: 0 if no pass changes what the program means, 1 if one does, or if no programs can be compared, 2 for an
error in the command line"""


def main(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code."""
    options = parser().parse_args(arguments)
    return guarded(str(options.file), lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    path = Path(existing(options.file))
    limits = limits_of(options)
    if limits.max_seconds is None:
        limits = replace(limits, max_seconds=MAX_SECONDS)
    stages = stages_of(path, options.only)
    draw = partial(given_inputs, options)
    found = diff_stages(stages, options.contract, draw, options.entry, options.bisect, limits)
    print(found.to_json() if options.json else found)
    return AT_FAULT if found.first_wrong else FINE


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = CommandParser("diff-passes", DESCRIPTION, EPILOG)
    add = found.add_argument
    add("file", metavar="DIR|FILE", help="a folder of numbered programs, or a file with MLIR's `IR Dump After` headers")
    add(
        "--contract",
        metavar="C",
        type=contract,
        default=PRESETS["xla-cpu"],
        help="what a pass may do (default xla-cpu)",
    )
    add("--only", metavar="GLOB", default="*", help="the files of a folder, such as 'module_0001*'")
    add("--bisect", action="store_true", help="run few programs; the pass found may not be the first that is wrong")
    add("--entry", metavar="NAME", help="the function to run")
    add("--json", action="store_true", help="print all of the result in one line of JSON instead")
    add_input_options(found)
    add_limit_options(found)
    add_message_options(found, verifies=False)
    return found
