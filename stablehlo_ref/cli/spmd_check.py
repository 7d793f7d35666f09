"""`stablehlo-interp spmd-check`: compare a partitioned program with the whole one, and locate the wrong collective."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from stablehlo_ref.cli.backend_options import contract, given_inputs, program_of
from stablehlo_ref.cli.commands import AT_FAULT, FINE
from stablehlo_ref.cli.console import existing, guarded
from stablehlo_ref.cli.options import CommandParser, add_limit_options, add_message_options, limits_of
from stablehlo_ref.cli.run import add_input_options
from stablehlo_ref.debug.contract import PRESETS
from stablehlo_ref.debug.spmd_check import spmd_check
from stablehlo_ref.reading.loading import load

DESCRIPTION = "Run a program and its partitioned form on shards of the same inputs, and find which collective is wrong."
EPILOG = """\
examples:
  stablehlo-interp spmd-check global.mlir local.mlir --mesh x=2,y=4 --random-inputs 0
  stablehlo-interp spmd-check global.mlir --random-inputs 0    # partitioned by --convert-global-to-local

exit codes: 0 if both compute the same under the contract, 1 if they do not, or one cannot be run, 2 for an error in the
command line"""


def main(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code."""
    options = parser().parse_args(arguments)
    return guarded(str(options.file), lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    whole = program_of(options)
    whole.limits = limits_of(options)
    local = load(existing(options.local), entry=options.local_entry) if options.local else None
    if local is not None:
        local.limits = whole.limits
    found = spmd_check(
        whole, local, given_inputs(options, whole), options.contract, mesh=options.mesh,
        in_shardings=options.in_shardings, out_shardings=options.out_shardings,
    )  # fmt: skip
    print(found.to_json() if options.json else found)
    return AT_FAULT if found.is_wrong else FINE


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = CommandParser("spmd-check", DESCRIPTION, EPILOG)
    add = found.add_argument
    add("file", metavar="GLOBAL", help="the whole program")
    add(
        "local", metavar="LOCAL", nargs="?", help="what each device runs; made by --convert-global-to-local if left out"
    )
    add("--mesh", metavar="X=N,...", help="the axes of the mesh; those of the shardings if left out")
    shardings = "such as '[{\"x\"}, {}], []'; the attributes `sdy.sharding` or `mhlo.sharding` if left out"
    add("--in-shardings", metavar="S", help=f"the shardings of all inputs, {shardings}")
    add("--out-shardings", metavar="S", help="those of all outputs")
    text = "what rounding may do (default xla-cpu)"
    add("--contract", metavar="C", type=contract, default=PRESETS["xla-cpu"], help=text)
    add("--entry", metavar="NAME", help="the function of GLOBAL to run")
    add("--local-entry", metavar="NAME", help="the function of LOCAL to run")
    add("--json", action="store_true", help="print all of the result in one line of JSON instead")
    add_input_options(found)
    add_limit_options(found)
    add_message_options(found, verifies=False)
    return found
