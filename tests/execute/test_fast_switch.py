"""The switch `fast`: one plan for each value, both kept, and none of the fast paths for observers."""

from __future__ import annotations

import numpy as np
import pytest

import stablehlo_ref as sr

PROGRAM = """
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %x, %x : tensor<f32>
  return %0 : tensor<f32>
}
"""


@pytest.mark.parametrize("fast", [True, False])
def test_fast_gives_the_same_result(fast: bool) -> None:
    program = sr.parse(PROGRAM).plan(fast=fast)
    (result,) = program.run(np.float32(1.5), fast=fast)
    assert result == 3


def test_fast_must_be_a_boolean() -> None:
    with pytest.raises(TypeError, match="fast"):
        sr.parse(PROGRAM).run(np.float32(1), fast=0)  # type: ignore[arg-type]


def test_observer_sees_ops_of_a_program_that_was_planned_fast() -> None:
    class Names(sr.Observer):
        def __init__(self) -> None:
            self.names: list[str] = []

        def after(self, op: object, results: object) -> None:
            self.names.append(op.name)  # type: ignore[attr-defined]

    names = Names()
    sr.parse(PROGRAM).plan(fast=True).run(np.float32(1), observer=names)
    assert names.names == ["stablehlo.add"]
