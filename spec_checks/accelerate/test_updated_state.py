"""Compare loops that overwrite parts of arrays of their state, which are copied once, with the plans without it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stablehlo_ref as sr
from spec_checks.accelerate.test_generated_loops import LOOPS, check
from stablehlo_ref.accelerate import loops, policy

SET = """stablehlo.dynamic_update_slice ARRAY, VALUE, PLACE
      : (tensor<6xf32>, tensor<1xf32>, tensor<i32>) -> tensor<6xf32>"""
ADD = """"stablehlo.scatter"(ARRAY, %place, VALUE) ({
      ^bb0(%u: tensor<f32>, %v: tensor<f32>):
        %w = stablehlo.add %u, %v : tensor<f32>
        stablehlo.return %w : tensor<f32>
      }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], scatter_dims_to_operand_dims = [0]>}
      : (tensor<6xf32>, tensor<1xi32>, tensor<1xf32>) -> tensor<6xf32>"""
READ = "stablehlo.dynamic_slice ARRAY, PLACE, sizes = [1] : (tensor<6xf32>, tensor<i32>) -> tensor<1xf32>"
LOOP = """
func.func @main(%turns: tensor<i32>, %x: tensor<6xf32>, %y: tensor<6xf32>, %j0: tensor<i32>)
    -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:4 = stablehlo.while(%i = %zero, %p = %x, %q = FIRST, %j = %j0)
      : tensor<i32>, tensor<6xf32>, tensor<6xf32>, tensor<i32>
    cond {
      %less = stablehlo.compare LT, %i, %turns : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
    } do {
      %place = stablehlo.reshape %j : (tensor<i32>) -> tensor<1xi32>
      %s = READ-Q
      %t = stablehlo.add %s, %s : tensor<1xf32>
      %p1 = UPDATE-P
      %s2 = LATER
      %q1 = UPDATE-Q
      %j1 = stablehlo.add %j, %i : tensor<i32>
      %next = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %next, NEXT, %j1 : tensor<i32>, tensor<6xf32>, tensor<6xf32>, tensor<i32>
    }
  return %r#1, %r#2, LAST, %r#3 : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<i32>
}"""


@pytest.fixture(autouse=True)
def _hot_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "HOT", 1)
    monkeypatch.setattr(loops, "is_available", lambda: False)  # so that loops become Python


def one_of(*texts: str) -> st.SearchStrategy[str]:
    return st.sampled_from(texts)


@LOOPS
@given(
    one_of(SET, ADD), one_of(SET, ADD), one_of("%x", "%y"), one_of("%p", "%p1", "%q"),
    one_of("%p1, %q1", "%q1, %p1", "%p1, %p1", "%p1, %q"), one_of("%x", "%y"), st.data(),
)  # fmt: skip
def test_updates_of_state(
    first: str, second: str, start: str, later: str, following: str, last: str, data: st.DataObject
) -> None:
    parts = {
        "READ-Q": READ.replace("ARRAY", "%q").replace("PLACE", "%i"),
        "UPDATE-P": first.replace("ARRAY", "%p").replace("VALUE", "%t").replace("PLACE", "%j"),
        "LATER": READ.replace("ARRAY", later).replace("PLACE", "%j"),
        "UPDATE-Q": second.replace("ARRAY", "%q").replace("VALUE", "%s2").replace("PLACE", "%i"),
        "FIRST": start, "NEXT": following, "LAST": last,
    }  # fmt: skip
    text = LOOP
    for name, part in parts.items():
        text = text.replace(name, part)
    x, y = np.float32([1, 2, -0.0, np.nan, -np.nan, 6]), np.float32([7, -np.nan, 9, 10, -0.0, 12])
    turns, place = data.draw(st.integers(0, 8)), data.draw(st.integers(-2, 7))
    copies = x.copy(), y.copy()
    check(sr.parse(text), [np.array(turns, np.int32), x, y, np.array(place, np.int32)], runs=3)
    assert [x.tobytes(), y.tobytes()] == [copy.tobytes() for copy in copies]
