"""The lit-style tests of tests/interpret, run in process."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lit import run_file

FILES = sorted((Path(__file__).parent / "interpret").glob("*.mlir"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_interpret(path: Path) -> None:
    assert run_file(path) > 0, "a test without a check can't fail"
