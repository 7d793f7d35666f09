"""Find the first value that differs between two traces: `stablehlo-interp diff-traces`."""

from __future__ import annotations

import argparse
from pathlib import Path

from stablehlo_ref.cli.commands import AT_FAULT, FINE
from stablehlo_ref.cli.options import JSON, MESSAGES, CommandParser, Group, count, option, usage_errors
from stablehlo_ref.debug.trace_diff import diff_traces
from stablehlo_ref.debug.traces.trace import Trace

DESCRIPTION = "Find the first value, in the order of the program, that differs between two traces."
EPILOG = """\
examples:
  stablehlo-interp model.mlir --random-inputs 0 --trace-to before
  stablehlo-interp model.mlir --random-inputs 0 --trace-to after --keep dot_general
  stablehlo-interp diff-traces before after

exit codes: 0 if the values that both have are the same, 1 if one differs, 2 for an error in the command line"""


def run(options: argparse.Namespace) -> int:
    """Compare; return the exit code."""
    found = diff_traces(_load(options.a), _load(options.b), options.ulp)
    print(found.to_json() if options.json else found)
    return AT_FAULT if found.differences else FINE


def _load(path: Path) -> Trace:
    with usage_errors():
        return Trace.load(path)


OPTIONS = Group("", [
    option("A", "a folder that `run --trace-to` wrote, or an .npz file with values by name", Path, dest="a"),
    option("B", "another", Path, dest="b"),
    option("--ulp N", "how many representable numbers apart floats may be (all bits count)", count),
    JSON,
])  # fmt: skip


def parser() -> CommandParser:
    """Return the parser of the command line."""
    return CommandParser("diff-traces", DESCRIPTION, EPILOG, OPTIONS, MESSAGES)
