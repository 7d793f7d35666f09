"""`stablehlo-interp link`: merge programs into one."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from stablehlo_ref.cli.commands import FINE
from stablehlo_ref.cli.console import existing, guarded, is_file, write_output
from stablehlo_ref.cli.options import CommandParser, add_limit_options, add_message_options, limits_of
from stablehlo_ref.limits.budget import limited
from stablehlo_ref.reading.loading import link, load
from stablehlo_ref.syntax.printer import print_operation

DESCRIPTION = "Merge programs into one: declarations in one refer to functions of others."
EXAMPLES = """\
examples:
  stablehlo-interp link model.mlir library.mlir -o linked.mlir"""


def main(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code."""
    options = parser().parse_args(arguments)

    def run() -> int:
        with limited(limits := limits_of(options)):
            programs = [
                load(existing(file), allow_unregistered_dialect=options.allow_unregistered_dialect, limits=limits)
                for file in options.files
            ]
            text = print_operation(link(programs).module, locations=is_file(options.output))
        write_output(options.output, [text])
        return FINE

    return guarded("link", run)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = CommandParser("link", DESCRIPTION, EXAMPLES)
    add = found.add_argument
    add("files", metavar="FILE", nargs="+", help="programs; declarations in one refer to functions of others")
    add("-o", dest="output", metavar="FILE", type=Path, help="where to write the program; standard output if left out")
    add("--allow-unregistered-dialect", action="store_true", help="accept ops of unregistered dialects")
    add_limit_options(found)
    add_message_options(found, verifies=False)
    return found
