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

# Files whose ops belong to capabilities that are not evaluated, and those that need arguments or a probe directory.
NOT_YET = {
    "all_gather", "all_reduce", "all_to_all", "api_input_arguments", "collective_broadcast", "collective_permute",
    "collective_reduce", "dynamic_broadcast_in_dim", "dynamic_conv", "dynamic_gather", "dynamic_iota", "dynamic_pad",
    "dynamic_reshape", "get_dimension_size", "infeed", "outfeed", "partition_id", "printing", "probe",
    "quantized_ops", "reduce_scatter", "replica_id", "send_recv",
}  # fmt: skip


def is_evaluated(program: sr.Program) -> bool:
    roles = [op.definition.parameters if op.definition else {} for op in program.module.walk()]
    structural = {"builtin.module", "func.func", "func.return", "stablehlo.return"}
    names = [op.name for op in program.module.walk()]
    return all("plan" in r or "inline" in r or n in structural for r, n in zip(roles, names))


@needs_upstream
@pytest.mark.parametrize("path", [p for p in INTERPRET if p.stem not in NOT_YET], ids=lambda p: p.stem)
def test_interpret(path: Path) -> None:
    for line, part in split_text(path.read_text(encoding="utf-8")):
        sr.parse(part, filename=str(path), first_line=line).verify().run()


@needs_upstream
@pytest.mark.parametrize("path", TESTDATA, ids=lambda p: p.stem)
def test_sample_of_testdata(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if "RUN-DISABLED" in text or "chlo." in text:
        pytest.skip("upstream does not run it, or only after rewriting it")
    program = sr.load(path)
    if not is_evaluated(program):
        pytest.skip("needs an op that is not evaluated")
    program.run()


def test_there_are_ops() -> None:
    assert len(Op.registry) > 50
