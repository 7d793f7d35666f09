"""`Program.guarantees` and `--profile`: which results are the same on every machine."""

from __future__ import annotations

from pathlib import Path

import pytest

import stablehlo_ref as sr
from stablehlo_ref.cli.main import main

PROGRAM = """
func.func @main(%a: tensor<2x2xf32>, %x: tensor<2xf64>) -> (tensor<2x2xf32>, tensor<2xf64>) {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0]
    : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.tanh %0 : tensor<2x2xf32>
  %2 = stablehlo.exponential %x : tensor<2xf64>
  return %1, %2 : tensor<2x2xf32>, tensor<2xf64>
}
"""


def test_default_names_what_depends_on_the_machine() -> None:
    rows = {(row.op, row.element_type): row for row in sr.parse(PROGRAM).guarantees()}
    assert not rows["stablehlo.dot_general", "f32"].is_same_everywhere
    assert not rows["stablehlo.exponential", "f64"].is_same_everywhere
    assert rows["stablehlo.tanh", "f32"].is_same_everywhere


def test_reproducible_runs_are_the_same_everywhere() -> None:
    found = sr.parse(PROGRAM).guarantees(reproducible=True)
    assert found.is_same_everywhere
    assert "stablehlo.dot_general f32: the exact sum of products, rounded once; same everywhere" in str(found)


def test_profile_prints_guarantees(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "program.mlir"
    path.write_text(PROGRAM)
    main([str(path), "--random-inputs", "0", "--profile", "--mode=reproducible"])
    assert "stablehlo.exponential f64: correctly rounded; same everywhere" in capsys.readouterr().err


def test_powers_are_functions_in_every_dialect() -> None:
    rows = sr.parse("""func.func @main(%x: tensor<2xf64>, %z: complex<f64>) -> (tensor<2xf64>, complex<f64>) {
      %0 = chlo.broadcast_power %x, %x : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
      %1 = complex.pow %z, %z : complex<f64>
      return %0, %1 : tensor<2xf64>, complex<f64> }""").guarantees()
    assert [row.is_same_everywhere for row in rows] == [False, False]
