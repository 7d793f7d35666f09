"""Whether the bits of the same rows depend on the batch, on padding, layout and order."""

from __future__ import annotations

import pytest

from stablehlo_ref.cli.main import main
from stablehlo_ref.conform.survey import RELATIONS, Relation, Subject, check, subjects
from stablehlo_ref.debug.session import Session

NEGATE = Subject("stablehlo.negate", 1)


def checked(backend: str, subject: Subject, type: str = "f32") -> dict[str, Relation]:
    with Session(backend) as session:
        return {found.relation: found for found in check(session, subject, type)}


@pytest.mark.parametrize("name", ["stablehlo.negate", "stablehlo.power", "stablehlo.reduce", "chlo.erf"])
def test_elementwise_ops_and_sums_of_rows_have_the_same_bits(name: str) -> None:
    subject = next(s for s in subjects() if s.name == name)
    for type in ("f32", "bf16"):
        found = checked("self", subject, type)
        assert tuple(found) == RELATIONS and all(relation.holds for relation in found.values())


def test_a_difference_between_batches() -> None:
    found = checked("python:tests.conform.survey_backend:by_batch", NEGATE)
    assert [name for name, relation in found.items() if not relation.holds] == ["batch"]
    assert (found["batch"].different, found["batch"].max_ulp) == (67, 2)  # the columns of one row


def test_a_difference_between_layouts() -> None:
    found = checked("python:tests.conform.survey_backend:by_transpose", NEGATE)
    assert [name for name, relation in found.items() if not relation.holds] == ["layout"]
    assert found["layout"].different == 1


def test_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    backend = ["--backend", "python:tests.conform.survey_backend:by_batch"]
    assert main(["survey", *backend, "--relations", "--ops", "negate,abs", "--types", "f32"]) == 0
    out = capsys.readouterr().out
    assert "stablehlo.negate f32: bits differ by batch (67 elements, at most 2 ULP)" in out
    assert "0 of 2 ops and types have the same bits" in out
