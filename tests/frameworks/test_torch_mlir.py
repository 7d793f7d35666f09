"""The backend for torch-mlir's end-to-end tests."""

from __future__ import annotations

import numpy as np
import pytest

from stablehlo_ref.frameworks.torch_mlir import RefBackend

MODULE = """
module attributes {torch.debug_module_name = "Two"} {
  func.func @forward(%x: tensor<?x2xf32>, %n: tensor<i64>) -> tensor<?x2xf32> {
    %0 = stablehlo.add %x, %x : tensor<?x2xf32>
    return %0 : tensor<?x2xf32>
  }
  func.func @both(%x: tensor<2xi64>) -> (tensor<2xi64>, tensor<2xi64>) {
    %0 = stablehlo.negate %x : tensor<2xi64>
    return %x, %0 : tensor<2xi64>, tensor<2xi64>
  }
  func.func @nothing() {
    return
  }
}
"""


@pytest.fixture
def invoker():
    backend = RefBackend()
    return backend.load(backend.compile(MODULE))


def test_functions_are_methods(invoker) -> None:
    x = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
    np.testing.assert_array_equal(invoker.forward(x, 7), x * 2)
    first, second = invoker.both(np.array([1, -2]))
    assert (first.tolist(), second.tolist()) == ([1, -2], [-1, 2])
    assert invoker.nothing() is None


def test_reports_unknown_functions(invoker) -> None:
    with pytest.raises(AttributeError, match="no function is called 'main'; there are forward, both, nothing"):
        invoker.main()
