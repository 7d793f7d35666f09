"""The backend `faulty:...`."""

from __future__ import annotations

import numpy as np

from stablehlo_ref.debug.backends.base import open_backend
from tests.debug.programs import compare, suspects

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
    (found,) = open_backend("faulty:shifted:stablehlo.negate").run(CHECKED, [x])
    assert found.tolist() == [4, 1, 2, 3]
    assert suspects(compare(CHECKED, "faulty:shifted:stablehlo.negate", "strict", [x])) == ["negate"]
