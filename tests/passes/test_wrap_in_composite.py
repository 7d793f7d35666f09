"""`stablehlo-wrap-in-composite`: ops become composites of the same name."""

from __future__ import annotations

import re

import stablehlo_ref as sr

TEXT = """
func.func @main(%x: tensor<2x3xf32>, %i: tensor<i32>) -> (tensor<2xf32>, tensor<f32>) {
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  %1 = stablehlo.reduce(%x init: %0) applies stablehlo.add across dimensions = [1]
      : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  %2 = "stablehlo.case"(%i) ({
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<i32>) -> tensor<f32>
  return %1, %2 : tensor<2xf32>, tensor<f32>
}
func.func private @stablehlo.reduce.impl() {
  return
}
"""


def test_attributes_version_and_decomposition() -> None:
    after = str(sr.parse(TEXT).transform("stablehlo-wrap-in-composite{op-names=stablehlo.reduce version=2}"))
    assert re.search(
        r'%1 = stablehlo.composite "stablehlo.reduce" %x, %0 \{composite_attributes = \{dimensions = array<i64: 1>\}, '
        r"decomposition = @stablehlo.reduce.impl_0, version = 2 : i32\}",
        after,
    )
    assert "func.func private @stablehlo.reduce.impl_0(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>)" in after


def test_regions_that_use_outer_values_stay() -> None:
    program = sr.parse(TEXT)
    assert str(program.transform("stablehlo-wrap-in-composite{op-names=stablehlo.case}")) == str(program)
