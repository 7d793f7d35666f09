"""Scripts with the names of StableHLO's own tools."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

COMMANDS = {
    "stablehlo-interp": "-m stablehlo_ref",
    "stablehlo-opt": "-m stablehlo_ref opt",
    "stablehlo-translate": "-m stablehlo_ref translate",
    "FileCheck": "-m filecheck",
}
NOT = '#!/bin/sh\nif "$@"; then exit 1; else exit 0; fi\n'


def write_aliases(directory: Path) -> list[Path]:
    """Write `stablehlo-opt`, `stablehlo-translate`, `FileCheck` and `not` as scripts; return their paths.

    They run this package with the Python that runs now; FileCheck needs the package `filecheck`.
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
