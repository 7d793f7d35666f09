"""`stablehlo-interp aliases DIR`: commands with the names of StableHLO's own tools."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from stablehlo_ref.cli.alias_scripts import write_aliases
from stablehlo_ref.cli.console import guarded
from stablehlo_ref.cli.exit_codes import FINE
from stablehlo_ref.cli.options import CommandParser

DESCRIPTION = """\
Write scripts with the names of StableHLO's own tools, so that RUN lines of other projects work:
stablehlo-translate, stablehlo-opt, stablehlo-interp, not, and FileCheck, which needs the
package filecheck (the extra `filecheck`)."""
EXAMPLES = """\
examples:
  stablehlo-interp aliases bin
  PATH="$PWD/bin:$PATH" stablehlo-opt model.mlir --canonicalize"""


def main(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code."""
    options = parser().parse_args(arguments)

    def run() -> int:
        print("\n".join(map(str, write_aliases(options.directory))))
        return FINE

    return guarded("aliases", run)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = CommandParser("aliases", DESCRIPTION, EXAMPLES)
    found.add_argument("directory", metavar="DIR", type=Path, help="where to write them; put it into PATH")
    return found
