"""Write commands with the names of StableHLO's own tools: `stablehlo-interp aliases DIR`."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from stablehlo_ref.cli.commands import FINE

if TYPE_CHECKING:
    from stablehlo_ref.cli.options import CommandParser

COMMANDS = {
    "stablehlo-interp": "-m stablehlo_ref",
    "stablehlo-opt": "-m stablehlo_ref opt",
    "stablehlo-translate": "-m stablehlo_ref translate",
}
FILECHECK = """\
import importlib.util, runpy, sys
if importlib.util.find_spec("filecheck") is None:
    sys.exit({message!r})
runpy.run_module("filecheck", run_name="__main__")"""
NOT = '#!/bin/sh\nif "$@"; then exit 1; else exit 0; fi\n'


def write_aliases(directory: Path) -> list[Path]:
    """Write `stablehlo-opt`, `stablehlo-translate`, `FileCheck` and `not` as scripts; return their paths.

    They run this package with the Python that runs now; FileCheck needs the package `filecheck`.
    """
    from stablehlo_ref.arrays.interop import (
        how_to_install,  # imports numpy, and pytest imports this module at every start
    )

    directory.mkdir(parents=True, exist_ok=True)
    message = f"FileCheck: error: filecheck is not installed; run: {how_to_install('filecheck')}"
    commands = COMMANDS | {"FileCheck": f"-c {shlex.quote(FILECHECK.format(message=message))}"}
    python = shlex.quote(sys.executable)
    scripts = {name: f'#!/bin/sh\nexec {python} {arguments} "$@"\n' for name, arguments in commands.items()}
    paths = []
    for name, text in {**scripts, "not": NOT}.items():
        path = directory / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        paths.append(path)
    return paths


DESCRIPTION = """\
Write scripts with the names of StableHLO's own tools, so that RUN lines of other projects work:
stablehlo-translate, stablehlo-opt, stablehlo-interp, not, and FileCheck, which needs the
package filecheck (the extra `filecheck`)."""
EXAMPLES = """\
examples:
  stablehlo-interp aliases bin
  PATH="$PWD/bin:$PATH" stablehlo-opt model.mlir --canonicalize"""


def run(options: argparse.Namespace) -> int:
    """Write the scripts, and print their paths; return the exit code."""
    print("\n".join(map(str, write_aliases(options.directory))))
    return FINE


def parser() -> CommandParser:
    """Return the parser of the command line."""
    from stablehlo_ref.cli.options import CommandParser, Group, option  # pytest imports this module at every start

    where = option("DIR", "where to write them; put it into PATH", Path, dest="directory")
    return CommandParser("aliases", DESCRIPTION, EXAMPLES, Group("", [where]))
