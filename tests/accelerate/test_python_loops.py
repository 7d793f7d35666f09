"""Loops as Python source keep canonical NaNs as their plans do."""

from __future__ import annotations

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.accelerate import loops, policy

SUBTRACT_IN_A_LOOP = """
func.func @main(%x: tensor<f32>, %n: tensor<i32>) -> tensor<f32> {
  %0 = stablehlo.constant dense<0> : tensor<i32>
  %1 = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%a = %x, %i = %0) : tensor<f32>, tensor<i32>
  cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %b = stablehlo.subtract %a, %a : tensor<f32>
    %j = stablehlo.add %i, %1 : tensor<i32>
    stablehlo.return %b, %j : tensor<f32>, tensor<i32>
  }
  return %r#0 : tensor<f32>
}
"""

STEP_IN_AN_INNER_LOOP = """
func.func @main(%a: tensor<i32>, %x: tensor<8xi32>) -> tensor<i32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %s = %zero) : tensor<i32>, tensor<i32>
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %q:2 = stablehlo.while(%j = %zero, %t = %s) : tensor<i32>, tensor<i32>
    cond {
      %n = stablehlo.constant dense<5> : tensor<i32>
      %c = stablehlo.compare LT, %j, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %u = "stablehlo.reduce"(%x, %t) ({
      ^bb0(%l: tensor<i32>, %m: tensor<i32>):
        %y = stablehlo.add %l, %m : tensor<i32>
        %z = stablehlo.xor %y, %a : tensor<i32>
        stablehlo.return %z : tensor<i32>
      }) {dimensions = array<i64: 0>} : (tensor<8xi32>, tensor<i32>) -> tensor<i32>
      %k = stablehlo.add %j, %one : tensor<i32>
      stablehlo.return %k, %u : tensor<i32>, tensor<i32>
    }
    %k = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %k, %q#1 : tensor<i32>, tensor<i32>
  }
  return %r#1 : tensor<i32>
}
"""


@pytest.fixture(autouse=True)
def _hot_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "HOT", 1)
    monkeypatch.setattr(loops, "is_available", lambda: False)  # so that loops become Python


def test_results_of_loops_inside_functions_have_canonical_nans() -> None:
    program = sr.load(SUBTRACT_IN_A_LOOP)
    for _ in range(3):
        (result,) = program.run(np.float32(np.inf), np.int32(2))
        assert np.asarray(result).view(np.uint32) == 0x7FC00000


def test_loop_without_turns_keeps_the_argument() -> None:
    program = sr.load(SUBTRACT_IN_A_LOOP)
    for _ in range(3):
        assert program.run(np.float32(1.5), np.int32(0)) == (1.5,)


def test_inner_loop_whose_reduction_captures_values() -> None:
    program, x = sr.load(STEP_IN_AN_INNER_LOOP), np.arange(8, dtype=np.int32)
    assert program.run(np.int32(5), x) == program.run(np.int32(5), x, fast=False)


@pytest.mark.parametrize("element", ("i8", "ui16", "i32", "i64", "f16", "bf16", "f32", "f64", "complex<f32>"))
@pytest.mark.parametrize("dim", (0, 1))
def test_broadcasts_of_tiny_tensors_in_loops(dim: int, element: str) -> None:
    of, to = f"tensor<2x{element}>", f"tensor<2x2x{element}>"
    program = sr.load(f"""func.func @main(%x: {of}, %y: {to}) -> {to} {{
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %r:3 = stablehlo.while(%i = %zero, %a = %x, %b = %y) : tensor<i32>, {of}, {to}
      cond {{
        %turns = stablehlo.constant dense<6> : tensor<i32>
        %more = stablehlo.compare LT, %i, %turns : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %more : tensor<i1>
      }} do {{
        %c = stablehlo.broadcast_in_dim %a, dims = [{dim}] : ({of}) -> {to}
        %d = stablehlo.add %c, %c : {to}
        %e = stablehlo.reverse %a, dims = [0] : {of}
        %next = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %next, %e, %d : tensor<i32>, {of}, {to}
      }}
      return %r#2 : {to} }}""")
    x, y = (np.array(values).astype(p.dtype) for values, p in zip(([1, 2], [[0, 0], [0, 0]]), program.inputs))
    for _ in range(3):
        (result,) = program.run(x, y)
        assert result.astype(complex).tolist() == ([[4, 4], [2, 2]] if dim == 0 else [[4, 2], [4, 2]])


@pytest.mark.parametrize(("body", "result"), [("%c = stablehlo.add %a, %b : tensor<f64>", "%c"), ("", "%b")])
@pytest.mark.parametrize("jit", [False, None])
def test_scatter_that_promotes(body: str, result: str, jit: bool | None) -> None:
    program = sr.parse(f"""
      func.func @main(%x: tensor<4xf64>, %at: tensor<1xi32>, %u: tensor<f32>) -> tensor<4xf64> {{
        %zero = stablehlo.constant dense<0> : tensor<i32>
        %one = stablehlo.constant dense<1> : tensor<i32>
        %turns = stablehlo.constant dense<100> : tensor<i32>
        %r:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<4xf64>
        cond {{
          %p = stablehlo.compare LT, %i, %turns : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %p : tensor<i1>
        }} do {{
          %j = stablehlo.add %i, %one : tensor<i32>
          %narrow = stablehlo.convert %y : (tensor<4xf64>) -> tensor<4xf32>
          %next = "stablehlo.scatter"(%narrow, %at, %u) <{{scatter_dimension_numbers =
            #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}}> ({{
          ^bb0(%a: tensor<f64>, %b: tensor<f64>):
            {body}
            stablehlo.return {result} : tensor<f64>
          }}) : (tensor<4xf32>, tensor<1xi32>, tensor<f32>) -> tensor<4xf64>
          stablehlo.return %j, %next : tensor<i32>, tensor<4xf64>
        }}
        return %r#1 : tensor<4xf64>
      }}""")
    x, at, u = np.arange(4) / 3, np.int32([2]), np.float32(0.1)
    (expected,) = program.run(x, at, u, fast=False)
    for _ in range(3):
        (found,) = program.run(x, at, u, **({} if jit is None else {"jit": jit}))
        assert np.asarray(found).dtype == np.float64
        assert np.asarray(found).tobytes() == np.asarray(expected).tobytes()
