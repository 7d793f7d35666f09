"""Programs with calls become one function; the ops that remain are those that MLIR's passes leave."""

from __future__ import annotations

from collections import Counter

from hypothesis import given

import stablehlo_ref as sr
from tests.passes.programs import PROPERTY, programs
from tests.shared import UPSTREAM, ask_mlir, needs_mlir, needs_upstream

FLATTEN = ("inline", "symbol-dce", "canonicalize", "cse")


def flattened(text: str) -> Counter[str]:
    """How often each op occurs in a program after flattening."""
    module = sr.parse(text).transform(*FLATTEN).module
    return Counter(op.name for op in module.walk() if op is not module)


def flattened_by_mlir(text: str) -> Counter[str]:
    """How often each op occurs in a program after flattening by MLIR."""
    return Counter(ask_mlir("passes/mlir_flatten.py")(text))


@needs_mlir
@PROPERTY
@given(text=programs())
def test_generated_programs_have_the_ops_that_mlir_leaves(text: str) -> None:
    assert flattened(text) == flattened_by_mlir(text)


@needs_mlir
@needs_upstream
def test_exports_have_the_ops_that_mlir_leaves() -> None:
    for path in sorted((UPSTREAM / "testdata").glob("*.mlir"))[::60]:
        text = path.read_text("utf-8")
        assert flattened(text) == flattened_by_mlir(text), path.name


NESTED = """
module {
  func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = call @relu(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %1 = call @relu_0(%0) : (tensor<2xf32>) -> tensor<2xf32>
    return %1 : tensor<2xf32>
  }
  func.func private @relu(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = call @relu_0(%x) : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func private @relu_0(%x: tensor<2xf32>) -> tensor<2xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<2xf32>
    %unused = stablehlo.negate %x : tensor<2xf32>
    %0 = stablehlo.maximum %x, %zero : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func private @unused(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
}
"""


def test_one_function_without_calls_and_dead_code_remains() -> None:
    assert flattened(NESTED) == {
        "func.func": 1, "stablehlo.constant": 1, "stablehlo.maximum": 2, "func.return": 1
    }  # fmt: skip
