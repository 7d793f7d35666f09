"""Products of matrices that a loop overwrites, as machine code."""

from __future__ import annotations

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.accelerate import policy
from stablehlo_ref.accelerate.machine import compiler


@pytest.mark.skipif(not compiler.is_available(), reason="needs llvmlite (the extra jit)")
@pytest.mark.parametrize("following", ["%a, %b", "%negated, %negated", "%negated, %b"])
def test_product_of_the_state_of_a_loop(following: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "SECONDS", -1.0)
    program = sr.parse(f"""
      !matrix = tensor<8x64xf32>
      !square = tensor<8x8xf32>
      func.func @main(%x: !matrix, %y: !square) -> !square {{
        %zero = stablehlo.constant dense<0> : tensor<i32>
        %r:4 = stablehlo.while(%i = %zero, %a = %x, %b = %x, %c = %y) : tensor<i32>, !matrix, !matrix, !square
        cond {{
          %turns = stablehlo.constant dense<40> : tensor<i32>
          %more = stablehlo.compare LT, %i, %turns : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %more : tensor<i1>
        }} do {{
          %z = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : (!matrix, !matrix) -> !square
          %d = stablehlo.subtract %z, %c : !square
          %negated = stablehlo.negate %a : !matrix
          %one = stablehlo.constant dense<1> : tensor<i32>
          %next = stablehlo.add %i, %one : tensor<i32>
          stablehlo.return %next, {following}, %d : tensor<i32>, !matrix, !matrix, !square
        }}
        return %r#3 : !square
      }}""")
    generator = np.random.default_rng(0)
    inputs = [generator.standard_normal(x.shape).astype(x.dtype) for x in program.inputs]
    expected = program.run(*inputs, fast=False)[0].tobytes()
    for _ in range(3):
        assert program.run(*inputs)[0].tobytes() == expected
    assert any(title.endswith("as machine code") for plan in program.plans.values() for title, _ in plan.generated)
