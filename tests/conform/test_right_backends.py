"""A backend with other bits that are legal is not called wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from stablehlo_ref.conform.verdicts import Cell, judge
from stablehlo_ref.debug.contract import contract_of
from stablehlo_ref.debug.session import Session

OPS = ("tanh", "exponential", "log", "sine", "logistic", "rsqrt", "power", "atan2", "dot_general", "sort", "reduce")


def test_legal_bits_are_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    names = [f"op/stablehlo.{op}/f32/{number}" for op in OPS for number in range(4)]
    with Session("python:different:run") as session:
        found = {name: judge(name, session, contract_of("xla-cpu")) for name in names}
    assert [record for record in found.values() if record.cell.is_bad or record.cell is Cell.REFUSES] == []
    assert sum(record.cell is Cell.LEGAL for record in found.values()) >= 10
