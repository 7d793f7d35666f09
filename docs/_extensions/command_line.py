"""Generates the reference of the command line from the help of its commands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from stablehlo_ref.cli.commands import COMMANDS


def page() -> str:
    """Return the page: what each command prints for `--help`."""
    parts = ["# Command line"]
    for command in ("", *COMMANDS):
        name = f"stablehlo-interp {command}".strip()
        parts += [f"## {name}", f"```text\n{_help(command)}\n```"]
    return "\n\n".join(parts) + "\n"


def _help(command: str) -> str:
    arguments = [sys.executable, "-m", "stablehlo_ref", *command.split(), "--help"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True, env={"COLUMNS": "100", "PATH": ""})
    return done.stdout.strip()


def _generate(app: Any) -> None:
    path = Path(app.srcdir) / "reference" / "command-line.md"
    text = page()
    if not path.exists() or path.read_text("utf-8") != text:
        path.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    app.connect("builder-inited", _generate)
    return {"parallel_read_safe": True}
