"""`stablehlo-interp aliases DIR`: commands with the names of StableHLO's own tools."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from stablehlo_ref.cli.alias_scripts import write_aliases
from stablehlo_ref.cli.console import guarded
from stablehlo_ref.cli.exit_codes import FINE


def main(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(prog="stablehlo-interp aliases", description=__doc__, allow_abbrev=False)
    parser.add_argument("directory", metavar="DIR", type=Path, help="where to write them; put it into PATH")
    options = parser.parse_args(arguments)

    def run() -> int:
        print("\n".join(map(str, write_aliases(options.directory))))
        return FINE

    return guarded("aliases", run)
