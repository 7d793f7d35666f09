"""Constants whose data are resources at the end of the file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.cli.main import main

PROGRAM = """
func.func @main() -> tensor<2xi32> {
  %output = stablehlo.constant dense_resource<blob> : tensor<2xi32>
  func.return %output : tensor<2xi32>
}
"""
RESOURCES = '{-# dialect_resources: { builtin: { blob: "0x040000000100000000010000" } } #-}\n'


def test_reads_resources_at_the_end_of_the_file() -> None:
    (output,) = sr.load(PROGRAM + RESOURCES).run()
    np.testing.assert_array_equal(output, np.array([1, 256], np.int32))


def test_reports_missing_resource_at_planning() -> None:
    with pytest.raises(sr.MalformedError, match="no data found for dense_resource<blob>"):
        sr.load(PROGRAM).plan()


ELIDED = """
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<3xi1>, tensor<f64>) {
  %0 = stablehlo.constant dense_resource<__elided__> : tensor<2xf32>
  %1 = arith.constant dense_resource<__elided__> : tensor<2xf32>
  %2 = stablehlo.constant dense_resource<__elided__> : tensor<3xi1>
  %3 = chlo.constant dense_resource<named> : tensor<f64>
  return %0, %1, %2, %3 : tensor<2xf32>, tensor<2xf32>, tensor<3xi1>, tensor<f64>
}
"""


@pytest.mark.parametrize("op", ["stablehlo.constant", "arith.constant", "chlo.constant"])
def test_elided_elements_are_an_error_with_a_hint(op: str) -> None:
    program = sr.load(f"func.func @main() {{\n%0 = {op} dense_resource<__elided__> : tensor<2xf32>\nreturn\n}}")
    with pytest.raises(sr.MalformedError, match=r":2:6: error: no data .*<__elided__>.*--random-weights SEED"):
        program.run()


def test_random_weights_take_the_place_of_elided_elements() -> None:
    program, x = sr.load(ELIDED), np.zeros(2, np.float32)
    first, again, other = (program.with_random_weights(seed).run(x) for seed in (1, 1, 2))
    assert [r.dtype.name for r in first] == ["float32", "float32", "bool", "float64"]
    assert all(np.array_equal(a, b) for a, b in zip(first, again))
    assert not np.array_equal(first[0], other[0]) and not np.array_equal(first[0], first[1])
    with pytest.raises(sr.MalformedError):
        program.run(x)  # unchanged


def test_random_weights_are_printed_and_read_back() -> None:
    program, x = sr.load(ELIDED).with_random_weights(3), np.zeros(2, np.float32)
    again = sr.load(str(program))
    assert all(np.array_equal(a, b) for a, b in zip(program.run(x), again.run(x)))


def test_random_weights_are_limited() -> None:
    program = sr.load(ELIDED.replace("2xf32", "999999999999xf32"))
    with pytest.raises(sr.EvaluationError, match="larger than the limit"):
        program.with_random_weights(0)


def test_random_weights_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "elided.mlir"
    constant = "%0 = stablehlo.constant dense_resource<__elided__> : tensor<i1>"
    file.write_text(f"func.func @main() -> tensor<i1> {{\n{constant}\nreturn %0 : tensor<i1>\n}}")
    assert main([str(file)]) == 1
    assert "--random-weights SEED" in capsys.readouterr().err
    assert main([str(file), "--random-weights", "0"]) == 0
    assert capsys.readouterr().out.startswith("tensor<i1>")


@pytest.mark.parametrize("element, bits, low", [("ui8", 8, 0), ("i16", 16, -(2**15)), ("ui64", 64, 0), ("i32", 32, 0)])
def test_iota_counts_in_its_own_type(element: str, bits: int, low: int) -> None:
    """Numbers wrap around where the type does not have them, as conversions do."""
    program = sr.parse(f"""func.func @main() -> tensor<70000x{element}> {{
      %0 = stablehlo.iota dim = 0 : tensor<70000x{element}>
      return %0 : tensor<70000x{element}>
    }}""")
    assert program.run()[0].tolist() == [(i - low) % 2**bits + low for i in range(70_000)]
