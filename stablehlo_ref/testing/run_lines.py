"""`// RUN:` lines of lit-style tests, run with this package's commands under the names of StableHLO's tools."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_RUN = re.compile(r"^\s*(?://|#|;)?\s*RUN:\s*(.*?)\s*$", re.M)
TIMEOUT = 300  # seconds


@dataclass(frozen=True)
class RunLine:
    """One command of a test file, before substitutions."""

    command: str
    line: int

    @property
    def interprets_parts(self) -> bool:
        """Whether the command only runs each part of the file."""
        try:
            words = shlex.split(self.command)
        except ValueError:  # an open quote, about which the shell complains
            return False
        known = {"--interpret", "-interpret", "--split-input-file", "-split-input-file", "%s"}
        tools = (["stablehlo-translate"], ["stablehlo-interp"])
        return words[:1] in tools and set(words[1:]) <= known and "|" not in self.command

    @property
    def splits(self) -> bool:
        return "split-input-file" in self.command


def run_lines(text: str) -> list[RunLine]:
    """Return the commands of a test file; lines that end with a backslash continue on the next line."""
    found: list[RunLine] = []
    pending = ""
    for match in _RUN.finditer(text):
        pending += match[1].removesuffix("\\")
        if not match[1].endswith("\\"):
            found.append(RunLine(pending.strip(), text.count("\n", 0, match.start()) + 1))
            pending = ""
    return found


@cache
def _tools() -> Path:
    """Write the commands that RUN lines may call into a directory of their own."""
    from stablehlo_ref.cli.aliases import write_aliases  # not at every start of pytest

    folder = Path(tempfile.mkdtemp(prefix="stablehlo-ref-"))
    write_aliases(folder)
    return folder


def scripts(lines: list[RunLine]) -> list[RunLine]:
    """Return the lines as separate scripts, or as one script if they share the file `%t`."""
    if not any("%t" in line.command for line in lines):
        return lines
    return [RunLine(" && ".join(f"{{ {line.command}; }}" for line in lines), lines[0].line)]


def execute(line: RunLine, path: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a shell, with lit's substitutions `%s`, `%S`, `%t`, `%%`."""
    with tempfile.TemporaryDirectory(prefix="stablehlo-ref-") as scratch:
        values = {"%s": str(path), "%S": str(path.parent), "%t": f"{scratch}/{path.name}.tmp", "%%": "%"}
        command = re.sub(r"%[sSt%]", lambda match: shlex.quote(values[match[0]]), line.command)
        environment = {"PATH": f"{_tools()}:{Path(sys.executable).parent}:/usr/bin:/bin"}
        return subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            capture_output=True, encoding="utf-8", errors="replace", check=False, cwd=scratch, env=environment,
            timeout=TIMEOUT,
        )  # fmt: skip
