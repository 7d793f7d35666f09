"""Upstream's interpreter tests, run in process where the shared suites are present."""

from __future__ import annotations

from pathlib import Path

import pytest

import stablehlo_ref as sr
from stablehlo_ref.console import split_text
from stablehlo_ref.define import Op
from tests.shared import UPSTREAM, needs_upstream

INTERPRET = sorted((UPSTREAM / "interpret").glob("*.mlir"))
TESTDATA = sorted((UPSTREAM / "testdata").glob("*.mlir"))[::25]
NEEDS_ARGUMENTS = {"api_input_arguments"}


@needs_upstream
@pytest.mark.parametrize("path", [p for p in INTERPRET if p.stem not in NEEDS_ARGUMENTS], ids=lambda p: p.stem)
def test_interpret(path: Path) -> None:
    for line, part in split_text(path.read_text(encoding="utf-8")):
        sr.parse(part, filename=str(path), first_line=line).verify().run()


@needs_upstream
@pytest.mark.parametrize("path", TESTDATA, ids=lambda p: p.stem)
def test_sample_of_testdata(path: Path) -> None:
    if "RUN-DISABLED" in path.read_text(encoding="utf-8"):
        pytest.skip("upstream does not run it")
    sr.load(path).run()


def test_there_are_ops() -> None:
    assert len(Op.registry) > 50
