"""Compare a partitioned program with the whole one, and locate the wrong collective: `stablehlo-interp spmd-check`."""

from __future__ import annotations

import argparse

from stablehlo_ref.cli.backend_options import given_inputs, program_of
from stablehlo_ref.cli.commands import AT_FAULT, FINE
from stablehlo_ref.cli.console import existing
from stablehlo_ref.cli.inputs import INPUTS
from stablehlo_ref.cli.options import (
    ENTRY,
    JSON,
    LIMITS,
    MESSAGES,
    CommandLineError,
    CommandParser,
    Group,
    converter,
    limits_of,
    option,
)
from stablehlo_ref.debug.contract import PRESETS, contract_of
from stablehlo_ref.debug.spmd_check import spmd_check
from stablehlo_ref.diagnostics import ArgumentValueError
from stablehlo_ref.reading.loading import load

DESCRIPTION = "Run a program and its partitioned form on shards of the same inputs, and find which collective is wrong."
EPILOG = """\
examples:
  stablehlo-interp spmd-check global.mlir local.mlir --mesh x=2,y=4 --random-inputs 0
  stablehlo-interp spmd-check global.mlir --random-inputs 0    # partitioned by --convert-global-to-local

exit codes: 0 if both compute the same under the contract, 1 if they do not, or one cannot be run, 2 for an error in the
command line"""


def run(options: argparse.Namespace) -> int:
    """Compare; return the exit code."""
    whole = program_of(options)
    limits = limits_of(options)
    local = load(existing(options.local), entry=options.local_entry, limits=limits) if options.local else None
    inputs = given_inputs(options, whole)
    try:
        found = spmd_check(
            whole, local, inputs, options.contract, mesh=options.mesh,
            in_shardings=options.in_shardings, out_shardings=options.out_shardings,
        )  # fmt: skip
    except ArgumentValueError as error:
        raise CommandLineError(error.diagnostics[0].message) from None
    print(found.to_json() if options.json else found)
    return AT_FAULT if found.is_wrong else FINE


IN = "the shardings of all inputs, such as '[{\"x\"}, {}], []'; their attributes if left out"
LOCAL = "what each device runs; made by --convert-global-to-local if left out"
OPTIONS = Group("", [
    option("GLOBAL", "the whole program", dest="file"),
    option("LOCAL", LOCAL, dest="local", nargs="?"),
    option("--mesh X=N,...", "the axes of the mesh; those of the shardings if left out"),
    option("--in-shardings S", IN),
    option("--out-shardings S", "those of all outputs"),
    option("--contract C", "what rounding may do", converter(contract_of), default=PRESETS["xla-cpu"]),
    ENTRY,
    option("--local-entry NAME", "the function of LOCAL to run"),
    JSON,
])  # fmt: skip


def parser() -> CommandParser:
    """Return the parser of the command line."""
    return CommandParser("spmd-check", DESCRIPTION, EPILOG, OPTIONS, INPUTS, LIMITS, MESSAGES)
