"""Upstream's interpreter tests, if the shared suites are present, run in this process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import stablehlo_ref as sr
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.diagnostics import split_text
from tests.shared import UPSTREAM, needs_upstream

INTERPRET = sorted((UPSTREAM / "interpret").glob("*.mlir"))
TESTDATA = sorted((UPSTREAM / "testdata").glob("*.mlir"))[::25]
NEEDS_ARGUMENTS = {"api_input_arguments"}


@needs_upstream
@pytest.mark.parametrize("path", [p for p in INTERPRET if p.stem not in NEEDS_ARGUMENTS], ids=lambda p: p.stem)
def test_checks_of_upstream_hold(path: Path) -> None:
    for line, part in split_text(path.read_text(encoding="utf-8")):
        sr.parse(part, filename=str(path), first_line=line).verify().run()


@needs_upstream
@pytest.mark.parametrize("path", TESTDATA, ids=lambda p: p.stem)
def test_checks_of_testdata_hold(path: Path) -> None:
    if "RUN-DISABLED" in path.read_text(encoding="utf-8"):
        pytest.skip("upstream does not run it")
    sr.load(path).run()


def test_every_op_of_the_spec_is_registered() -> None:
    pages = json.loads((Path(__file__).parents[1] / "spec_checks" / "labels.json").read_text("utf-8"))
    assert len(pages) == 108 and {f"stablehlo.{op}" for op in pages} <= REGISTRY.keys()
