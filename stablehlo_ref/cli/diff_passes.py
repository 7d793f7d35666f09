"""Find the first pass of a pipeline whose output means something else: `stablehlo-interp diff-passes`."""

from __future__ import annotations

import argparse
from dataclasses import replace
from functools import partial
from pathlib import Path

from stablehlo_ref.cli.backend_options import given_inputs
from stablehlo_ref.cli.commands import AT_FAULT, FINE
from stablehlo_ref.cli.console import existing
from stablehlo_ref.cli.inputs import INPUTS
from stablehlo_ref.cli.options import (
    ENTRY,
    JSON,
    LIMITS,
    MESSAGES,
    CommandParser,
    Group,
    converter,
    limits_of,
    option,
)
from stablehlo_ref.debug.contract import PRESETS, contract_of
from stablehlo_ref.debug.diff_passes import MAX_SECONDS, Draw, diff_stages, draws_from
from stablehlo_ref.debug.pass_dumps import stages_of
from stablehlo_ref.limits.budget import limited

DESCRIPTION = "Run the program after each pass of a pipeline on the same inputs, and find the first pass that is wrong."
EPILOG = """\
examples:
  mlir-opt model.mlir --pass-pipeline=... --mlir-print-ir-after-all 2> dumps.mlir
  stablehlo-interp diff-passes dumps.mlir --random-inputs 0
  XLA_FLAGS='--xla_dump_to=dump --xla_dump_hlo_as_text --xla_dump_hlo_pass_re=.*' python model.py
  stablehlo-interp diff-passes dump --only 'module_0001*' --random-inputs 0

exit codes: 0 if no pass changes what the program means, 1 if one does, or if no programs can be compared, 2 for an
error in the command line"""


def run(options: argparse.Namespace) -> int:
    """Compare; return the exit code."""
    path = Path(existing(options.file))
    limits = limits_of(options)
    if limits.max_seconds is None:
        limits = replace(limits, max_seconds=MAX_SECONDS)
    with limited(limits):
        stages = stages_of(path, options.only)
    are_given = options.input or options.inputs or options.args or options.weights or options.random
    if options.random_inputs is None or are_given:
        draws: list[Draw] = [partial(given_inputs, options)]
    else:
        draws = draws_from(options.random_inputs)
    found = diff_stages(stages, options.contract, draws, options.entry, options.bisect, limits)
    print(found.to_json() if options.json else found)
    return AT_FAULT if found.first_wrong else FINE


OPTIONS = Group("", [
    option("DIR|FILE", "a folder of numbered programs, or a file with MLIR's `IR Dump After` headers", dest="file"),
    option("--contract C", "what a pass may do (default xla-cpu)", converter(contract_of), default=PRESETS["xla-cpu"]),
    option("--only GLOB", "the files of a folder, such as 'module_0001*'", default="*"),
    option("--bisect", "run few programs; the pass found may not be the first that is wrong"),
    ENTRY,
    JSON,
])  # fmt: skip


def parser() -> CommandParser:
    """Return the parser of the command line."""
    return CommandParser("diff-passes", DESCRIPTION, EPILOG, OPTIONS, INPUTS, LIMITS, MESSAGES)
