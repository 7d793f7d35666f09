"""CHLO's ops in portable artifacts: some are composites, the others are decomposed."""

from __future__ import annotations

import re

import numpy as np
import pytest

import stablehlo_ref as sr

NAME = "chlo-pre-serialization-pipeline"
PROGRAM = """
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = chlo.erf %x {a.b = 1 : i32} : tensor<4xf32> -> tensor<4xf32>
  %v, %i = chlo.top_k(%0, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)
  %1 = chlo.erf %0 : tensor<4xf32> -> tensor<4xf32>
  %2 = chlo.broadcast_add %1, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %v, %1, %2 : tensor<4xf32>, tensor<2xf32>, tensor<4xf32>, tensor<4xf32>
}
func.func private @chlo.erf.impl_0()
"""


@pytest.fixture(scope="module")
def ready() -> sr.Program:
    return sr.parse(PROGRAM).transform(NAME)


def test_composites_keep_what_consumers_may_know(ready: sr.Program) -> None:
    composites = re.findall(r'composite (".*?") .*?\{(.*)\} :', str(ready))
    assert composites == [
        ('"chlo.erf"', "a.b = 1 : i32, decomposition = @chlo.erf.impl, version = 1 : i32"),
        (
            '"chlo.top_k"',
            "composite_attributes = {k = 2 : i64}, decomposition = @chlo.top_k.impl, version = 1 : i32",
        ),
        ('"chlo.erf"', "decomposition = @chlo.erf.impl_1, version = 1 : i32"),
    ]


def test_no_op_of_chlo_remains(ready: sr.Program) -> None:
    assert not any(op.name.startswith("chlo.") for op in ready.module.walk())


def test_artifacts_compute_the_same(ready: sr.Program) -> None:
    x = np.array([-1, 0.25, 3, -0.0], np.float32)
    again = sr.load(ready.serialize())
    for result, expected in zip(again.run(x), sr.parse(PROGRAM).run(x), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-6)
