"""The backend `faulty:...`."""

from __future__ import annotations

import numpy as np
import pytest

from stablehlo_ref.debug.backends import open_backend
from tests.debug.programs import compare, suspects
from tests.debug.test_diff import LOOP

CHECKED = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32>
  check.expect_eq_const %0, dense<[-1.0, -2.0, -3.0, -4.0]> : tensor<4xf32>
  %1 = stablehlo.abs %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
"""


def test_checks_of_a_program_may_fail() -> None:
    x = np.arange(1, 5, dtype=np.float32)
    (found,) = open_backend("python:tests.faulty:shifted:stablehlo.negate").run(CHECKED, [x])
    assert found.tolist() == [4, 1, 2, 3]
    assert suspects(compare(CHECKED, "python:tests.faulty:shifted:stablehlo.negate", "strict", [x])) == ["negate"]


def test_faults_in_loops() -> None:
    inputs = [np.asarray(3, np.int32), *np.linspace(0.1, 1, 16, dtype=np.float32).reshape(2, 8)]
    found = compare(LOOP, "python:tests.faulty:wrong-op:stablehlo.tanh", "xla-cpu", inputs)
    assert [suspects(inner.found) for inner in found.inner] == [["tanh"]]


WINDOW = """
func.func @main(%x: tensor<1x6xf32>) -> tensor<1x6xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %z) <{
    window_dimensions = array<i64: 1, 3>, padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
  }) : (tensor<1x6xf32>, tensor<f32>) -> tensor<1x6xf32>
  return %0 : tensor<1x6xf32>
}
"""


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("last-term", [3, 6, 9, 12, 9, 5]),
        ("dropped", [3, 6, 9, 12, 15, 0]),
        ("odd-dropped", [3, 6, 9, 12, 15, 11]),
    ],
)
def test_faults(fault: str, expected: list[float]) -> None:
    x = np.arange(1, 7, dtype=np.float32).reshape(1, 6)
    (found,) = open_backend(f"python:tests.faulty:{fault}:stablehlo.reduce_window").run(WINDOW, [x])
    assert found.tolist() == [expected]
