"""Compare loops whose state repeats, most of whose turns are skipped, with the plans that run each turn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stablehlo_ref as sr
from spec_checks.test_generated_loops import LOOPS, outcome
from stablehlo_ref.execute.fuse import loops

# The next state, of %x and %y, as ops on a type; the state stays the same, or returns after two, three or more turns.
BODIES = {
    "converges": """
      %a = stablehlo.multiply %x, %y : STATE
      %b = stablehlo.add %a, %z : STATE""",
    "alternates": """
      %a = stablehlo.negate %y : STATE
      %b = stablehlo.add %x, %z : STATE""",
    "rotates": """
      %a = stablehlo.subtract %z, %x : STATE
      %b = stablehlo.maximum %y, %a : STATE""",
    "grows": """
      %a = stablehlo.add %x, %y : STATE
      %b = stablehlo.multiply %y, %y : STATE""",
}
LOOP = """
func.func @main(%turns: tensor<i32>, %x0: STATE, %y0: STATE, %z: STATE) -> (tensor<i32>, STATE, STATE) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %x = %x0, %y = %y0) : tensor<i32>, STATE, STATE
    cond {
      %less = stablehlo.compare LT, %i, %turns : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
    } do {BODY
      %next = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %next, %b, %a : tensor<i32>, STATE, STATE
    }
  return %r#0, %r#1, %r#2 : tensor<i32>, STATE, STATE
}"""
VALUES = st.sampled_from([0.0, -0.0, 0.5, 1.0, -1.0, 3.0, np.inf, -np.inf, np.nan, -np.nan, 1e-45])


@pytest.fixture(autouse=True)
def _hot_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "HOT", 1)
    monkeypatch.setattr(loops, "TURNS", 4)
    monkeypatch.setattr(loops, "is_available", lambda: False)


@LOOPS
@given(
    st.sampled_from(sorted(BODIES)), st.sampled_from([(), (3,), (6,), (2, 5)]),
    st.lists(VALUES, min_size=3, max_size=9), st.integers(0, 90), st.integers(1, 100) | st.none(),
)  # fmt: skip
def test_loops_whose_state_repeats(
    body: str, shape: tuple[int, ...], values: list[float], turns: int, limit: int | None
) -> None:
    type = f"tensor<{''.join(f'{n}x' for n in shape)}f32>"
    program = sr.parse(LOOP.replace("BODY", BODIES[body]).replace("STATE", type))
    inputs = [np.int32(turns), *(np.resize(np.float32(values[i::3]), shape) for i in range(3))]
    limits = {} if limit is None else {"limits": sr.Limits(max_steps=limit)}
    expected = outcome(program, inputs, fast=False, **limits)
    assert [outcome(program, inputs, **limits) for _ in range(2)] == [expected] * 2
