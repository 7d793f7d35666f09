"""The files of tests/text/programs: a function, what is passed to it, and what inlining it returns.

Comments at the start name the function, its operands and results with types, the dialects that MLIR has to know (apart
from func and arith) and definitions that the lines refer to. The lines themselves follow `// ----- inlined`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).parent / "programs"
_is_comment = re.compile(r"// (function|operand|result|dialect|global): (.*)").fullmatch


@dataclass(frozen=True)
class Program:
    """A file. `operands` and `results` are pairs of a value and its type."""

    name: str
    text: str
    lines: list[str]
    function: str = ""
    operands: list[tuple[str, str]] = field(default_factory=list)
    results: list[tuple[str, str]] = field(default_factory=list)
    dialects: list[str] = field(default_factory=list)
    globals: list[str] = field(default_factory=list)


def read(path: Path) -> Program:
    """Return the program of a file."""
    text, _, lines = path.read_text(encoding="utf-8").partition("// ----- inlined\n")
    found: dict[str, list[str]] = {"function": [], "operand": [], "result": [], "dialect": [], "global": []}
    kept = []
    for line in text.split("\n"):
        comment = _is_comment(line)
        if comment:
            found[comment[1]].append(comment[2])
        else:
            kept.append(line)
    (function,) = found["function"]
    operands, results = ([tuple(pair.split(": ", 1)) for pair in found[key]] for key in ("operand", "result"))
    return Program(
        path.stem,
        "\n".join(kept),
        lines.splitlines(),
        function.removeprefix("@"),
        operands,
        results,
        found["dialect"],
        found["global"],
    )


PROGRAMS = [read(path) for path in sorted(FOLDER.glob("*.mlir"))]
