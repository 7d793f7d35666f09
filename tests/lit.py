"""Lit-style tests in this process: parts between `// -----` are programs whose checks must hold, or expect errors."""

from __future__ import annotations

from pathlib import Path

import stablehlo_ref as sr
from stablehlo_ref.diagnostics import split_text
from stablehlo_ref.syntax.printer import print_operation
from stablehlo_ref.testing.expected import expectations


def expected_errors(text: str, first_line: int = 1) -> list[tuple[int | None, str]]:
    """Return the errors that a text expects, with the lines that they are expected on; there must be at least one."""
    expected = [(e.line, e.text) for e in expectations(text, first_line) if e.severity == "error"]
    assert expected, "a test that expects no error cannot fail"
    return expected


def run_file(path: Path) -> int:
    """Run every part of a file: as it is, and as printed in both forms; return the number of checks."""
    text = path.read_text(encoding="utf-8")
    checks = 0
    for line, part in split_text(text):
        program = sr.parse(part, filename=str(path), first_line=line).verify()
        if not program.functions:
            continue
        checks += sum(op.name.startswith("check.") or _is_check_call(op) for op in program.module.walk())
        program.run()
        for generic in (False, True):
            again = print_operation(program.module, generic=generic)
            sr.parse(again, filename=f"{path} printed").verify().run()
    return checks


def _is_check_call(op: object) -> bool:
    return getattr(op, "properties", {}).get("call_target_name", "").startswith("check.")
