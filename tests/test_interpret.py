"""The lit-style tests of tests/interpret, run in this process."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lit import run_file

FOLDER = Path(__file__).parent / "interpret"
FILES = sorted(FOLDER.rglob("*.mlir"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(FOLDER).with_suffix("")))
def test_checks_hold(path: Path) -> None:
    assert run_file(path) > 0, "a test without a check cannot fail"
