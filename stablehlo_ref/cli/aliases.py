"""`stablehlo-interp aliases DIR`: commands with the names of StableHLO's own tools."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from stablehlo_ref.cli.console import FINE, guarded

COMMANDS = {
    "stablehlo-interp": "-m stablehlo_ref",
    "stablehlo-opt": "-m stablehlo_ref opt",
    "stablehlo-translate": "-m stablehlo_ref translate",
    "FileCheck": "-m filecheck",
}
NOT = '#!/bin/sh\nif "$@"; then exit 1; else exit 0; fi\n'


def main(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(prog="stablehlo-interp aliases", description=__doc__, allow_abbrev=False)
    parser.add_argument("directory", metavar="DIR", type=Path, help="where to write them; put it into PATH")
    options = parser.parse_args(arguments)

    def run() -> int:
        print("\n".join(map(str, write_aliases(options.directory))))
        return FINE

    return guarded("aliases", run)


def write_aliases(directory: Path) -> list[Path]:
    """Write `stablehlo-opt`, `stablehlo-translate`, `FileCheck` and `not` as scripts; return their paths.

    They run this package with the current Python; FileCheck needs the package `filecheck`.
    """
    directory.mkdir(parents=True, exist_ok=True)
    python = shlex.quote(sys.executable)
    scripts = {name: f'#!/bin/sh\nexec {python} {arguments} "$@"\n' for name, arguments in COMMANDS.items()}
    paths = []
    for name, text in {**scripts, "not": NOT}.items():
        path = directory / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        paths.append(path)
    return paths
