"""The survey of a backend's elementwise functions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from stablehlo_ref.cli.main import main
from stablehlo_ref.conform.survey import Refused, Row, functions, survey
from stablehlo_ref.debug.session import Session

KNOWN = "python:tests.conform.survey_backend:negate"


@pytest.fixture(scope="module")
def itself() -> Iterator[Session]:
    with Session("self") as session:
        yield session


def by_range(rows: list[Row]) -> dict[str, Row]:
    return {row.range: row for row in rows}


def test_errors_bias_and_worst_operands() -> None:
    with Session(KNOWN) as session:
        found = by_range(survey(session, "stablehlo.negate", "f32", samples=4096))
    worst = found["2^1 to 2^8"]
    assert worst.max_ulp == 3.0 and 2 <= worst.operand < 4 and worst.result == worst.exact + 3 * 2.0**-22
    assert 0 < worst.bias < 3 / 2 / 7 * 1.2  # one of seven powers of two, of one of two signs
    assert all(row.max_ulp == 0 for name, row in found.items() if name != "2^1 to 2^8")
    subnormal = found["subnormal"]
    assert subnormal.flushed > 0.9 * subnormal.tested and not subnormal.specials
    last = found["from 2^24"]
    assert last.specials > 1000 and last.special >= 2.0**100


@pytest.mark.parametrize("op", ["stablehlo.tanh", "stablehlo.log_plus_one", "chlo.erf_inv", "stablehlo.rsqrt"])
@pytest.mark.parametrize("type", ["f32", "bf16", "f16"])
def test_the_interpreter_is_correctly_rounded(itself: Session, op: str, type: str) -> None:
    rows = survey(itself, op, type, samples=256)
    assert all(row.max_ulp <= 0.5 + 1e-6 and not row.specials and not row.flushed for row in rows)


def test_all_values_of_narrow_types_are_tried(itself: Session) -> None:
    assert sum(row.tested for row in survey(itself, "stablehlo.sqrt", "bf16")) == 1 << 16


def test_functions_have_one_operand_and_its_type() -> None:
    assert {"stablehlo.tanh", "chlo.lgamma", "stablehlo.floor"} <= set(functions())
    assert not {"stablehlo.add", "stablehlo.is_finite", "stablehlo.convert", "chlo._asin_acos_kernel"} & set(
        functions()
    )


def test_refused_programs(capsys: pytest.CaptureFixture[str]) -> None:
    with Session("python:no_such_module:f") as session, pytest.raises(Refused, match="no_such_module"):
        survey(session, "stablehlo.negate", "f32")
    assert main(["survey", "--backend", "self", "--ops", "tanhh"]) == 2
    assert "there is no op 'tanhh'; did you mean" in capsys.readouterr().err


def test_command_line_writes_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = ["--markdown", str(tmp_path / "t.md"), "--json", str(tmp_path / "t.json")]
    assert main(["survey", "--backend", KNOWN, "--ops", "negate", "--types", "f32", "--samples", "512", *files]) == 0
    first = capsys.readouterr().out.splitlines()[1]
    assert first.startswith("stablehlo.negate") and "2^1 to 2^8" in first and "3.00" in first
    assert "| stablehlo.negate | 3.0*†|" in (tmp_path / "t.md").read_text().replace("† |", "†|")
    assert {row["op"] for row in json.loads((tmp_path / "t.json").read_text())} == {"stablehlo.negate"}


def jax_version() -> str:
    try:
        return version("jax")
    except PackageNotFoundError:
        return ""


@pytest.mark.skipif(jax_version() != "0.10.2", reason="other versions have other errors")
def test_finds_the_error_of_log_plus_one_in_xla() -> None:
    with Session("jax") as session:
        found = by_range(survey(session, "stablehlo.log_plus_one", "f64", samples=8192))
    assert found["2^-8 to 2^-1"].max_ulp > 100 and -0.5 < found["2^-8 to 2^-1"].operand < -0.25
    assert all(row.max_ulp < 3 for name, row in found.items() if name != "2^-8 to 2^-1")
