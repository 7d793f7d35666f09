"""Merge programs into one: `stablehlo-interp link`."""

from __future__ import annotations

import argparse
from pathlib import Path

from stablehlo_ref.cli.commands import FINE
from stablehlo_ref.cli.console import existing, is_file, write_output
from stablehlo_ref.cli.options import LIMITS, MESSAGES, UNREGISTERED, CommandParser, Group, limits_of, option
from stablehlo_ref.limits.budget import limited
from stablehlo_ref.reading.loading import link, load
from stablehlo_ref.syntax.printer import print_operation

DESCRIPTION = "Merge programs into one: declarations in one refer to functions of others."
EXAMPLES = """\
examples:
  stablehlo-interp link model.mlir library.mlir -o linked.mlir"""


def run(options: argparse.Namespace) -> int:
    """Merge programs; return the exit code."""
    with limited(limits := limits_of(options)):
        programs = [
            load(existing(file), allow_unregistered_dialect=options.allow_unregistered_dialect, limits=limits)
            for file in options.files
        ]
        text = print_operation(link(programs).module, locations=is_file(options.output))
    write_output(options.output, [text])
    return FINE


OPTIONS = Group("", [
    option("FILE", "programs; declarations in one refer to functions of others", dest="files", nargs="+"),
    option("-o FILE", "where to write the program; standard output if left out", Path, dest="output"),
    UNREGISTERED,
])  # fmt: skip


def parser() -> CommandParser:
    """Return the parser of the command line."""
    return CommandParser("link", DESCRIPTION, EXAMPLES, OPTIONS, LIMITS, MESSAGES)
