"""Runs tests/failing: valid programs with errors at run time, expected by `// expected-error@+1 {{message}}`."""

from __future__ import annotations

from pathlib import Path

import pytest

import stablehlo_ref as sr
from stablehlo_ref.diagnostics import split_text
from tests.lit import expected_errors

FOLDER = Path(__file__).parent / "failing"
PARTS = [
    (path, line, part) for path in sorted(FOLDER.glob("*.mlir")) for line, part in split_text(path.read_text("utf-8"))
]


@pytest.mark.parametrize("path, first_line, part", PARTS, ids=[f"{path.stem}:{line}" for path, line, _ in PARTS])
def test_run_fails_with_the_expected_errors(path: Path, first_line: int, part: str) -> None:
    expected = expected_errors(part, first_line)
    program = sr.parse(part, filename=path.name, first_line=first_line).verify()
    with pytest.raises((sr.EvaluationError, sr.UnsupportedError)) as error:
        program.run()
    found = error.value.diagnostics
    assert [d.line for d in found] == [line for line, _ in expected], found
    for diagnostic, (_, message) in zip(found, expected):
        assert message in diagnostic.message
