"""The command `stablehlo-interp exceptions`, and `run --trap`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stablehlo_ref.cli.main import main

Capture = pytest.CaptureFixture[str]
PROGRAM = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.log %x : tensor<2xf32>
  %1 = stablehlo.compare EQ, %0, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %2 = stablehlo.select %1, %0, %x : tensor<2xi1>, tensor<2xf32>
  return %2 : tensor<2xf32>
}
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    found = tmp_path / "log.mlir"
    found.write_text(PROGRAM)
    return str(found)


def test_exit_code_says_whether_outputs_are_reached(path: str, capsys: Capture) -> None:
    assert main(["exceptions", path, "--input", "x=[1, -1]"]) == 0
    assert capsys.readouterr().out.startswith("1 source of exceptions: 1 masked;")
    assert main(["exceptions", path, "--input", "x=[1, 0]"]) == 1
    assert f"{path}:2:8: stablehlo.log %0 generates an infinity by division by zero" in capsys.readouterr().out


def test_json_and_kinds(path: str, capsys: Capture) -> None:
    assert main(["exceptions", path, "--input", "x=[0, -1]", "--kinds", "nan", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["kinds"] == ["nan"] and [f["kind"] for f in found["findings"]] == ["nan"] and found["harmless"]


def test_errors(path: str, capsys: Capture) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["exceptions", path, "--kinds", "nam"])
    assert "unknown kind of exception 'nam'; there are nan, overflow," in capsys.readouterr().err
    assert main(["exceptions", path]) == 1
    assert "missing" in capsys.readouterr().err
    assert main(["exceptions", path, "--input", "x=[1, 1]", "--partitions", "2"]) == 0


def test_trap_stops_at_the_first_generation(path: str, capsys: Capture) -> None:
    assert main([path, "--input", "x=[1, -1]", "--trap", "inf"]) == 0
    capsys.readouterr()
    assert main([path, "--input", "x=[1, -1]", "--trap", "nan,inf"]) == 1
    error = capsys.readouterr().err
    expected = "error: 'stablehlo.log' op generates NaN: 1 of 2 elements; at [1]: log(-1.000000e+00) = nan"
    assert f"{path}:2:8: {expected}" in error and "operand 0: min -1, max 1, mean 0" in error
