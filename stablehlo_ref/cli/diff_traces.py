"""`stablehlo-interp diff-traces`: find the first value that differs between two traces."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from stablehlo_ref.cli.commands import AT_FAULT, FINE
from stablehlo_ref.cli.console import guarded
from stablehlo_ref.cli.errors import CommandLineError
from stablehlo_ref.cli.options import CommandParser, add_message_options, count
from stablehlo_ref.debug.trace_diff import diff_traces
from stablehlo_ref.debug.traces.trace import Trace
from stablehlo_ref.diagnostics import ArgumentValueError

DESCRIPTION = "Find the first value, in the order of the program, that differs between two traces."
EPILOG = """\
examples:
  stablehlo-interp model.mlir --random-inputs 0 --trace-to before
  stablehlo-interp model.mlir --random-inputs 0 --trace-to after --keep dot_general
  stablehlo-interp diff-traces before after

exit codes: 0 if the values that both have are the same, 1 if one differs, 2 for an error in the command line"""


def main(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code."""
    options = parser().parse_args(arguments)
    return guarded(str(options.a), lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    found = diff_traces(_load(options.a), _load(options.b), options.ulp)
    print(found.to_json() if options.json else found)
    return AT_FAULT if found.differences else FINE


def _load(path: Path) -> Trace:
    try:
        return Trace.load(path)
    except ArgumentValueError as error:
        raise CommandLineError(str(error)) from None


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = CommandParser("diff-traces", DESCRIPTION, EPILOG)
    add = found.add_argument
    add("a", metavar="A", type=Path, help="a folder that `run --trace-to` wrote, or an .npz file with values by name")
    add("b", metavar="B", type=Path, help="another")
    add("--ulp", metavar="N", type=count, help="how many representable numbers apart floats may be (all bits count)")
    add("--json", action="store_true", help="print one line of JSON")
    add_message_options(found, verifies=False)
    return found
