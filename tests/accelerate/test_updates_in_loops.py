"""Loops in machine code that use tensors after an op has changed them: ops change a copy where they have to."""

from __future__ import annotations

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.accelerate import policy
from tests.accelerate.test_compiled_loops import UPDATE, check, loop, needs_llvmlite


@pytest.fixture(autouse=True)
def _compiled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "SECONDS", -1.0)


@needs_llvmlite
def test_value_that_is_used_after_its_update() -> None:
    body = (
        UPDATE
        + """
      %z = stablehlo.dynamic_update_slice %x, %old, %one : (!vec, tensor<1xf32>, !index) -> !vec
      %a = stablehlo.dynamic_slice %y, %i, sizes = [1] : (!vec, !index) -> tensor<1xf32>
      %b = stablehlo.dynamic_update_slice %z, %a, %i : (!vec, tensor<1xf32>, !index) -> !vec
    """
    )
    check(loop("!vec", body, "%b"), np.arange(1000, dtype=np.float32))


@needs_llvmlite
def test_state_that_is_used_after_a_branch_and_a_loop_that_change_it() -> None:
    body = """
      %u = stablehlo.constant dense<-1.0> : tensor<1xf32>
      %two = stablehlo.constant dense<2> : !index
      %odd = stablehlo.remainder %i, %two : !index
      %y = "stablehlo.case"(%odd) ({
        %w = stablehlo.dynamic_update_slice %x, %u, %i : (!vec, tensor<1xf32>, !index) -> !vec
        stablehlo.return %w : !vec
      }, {
        stablehlo.return %x : !vec
      }) : (!index) -> !vec
      %l:2 = stablehlo.while(%j = %zero, %t = %y) : !index, !vec
      cond {
        %c = stablehlo.compare LT, %j, %two : (!index, !index) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %n = stablehlo.add %j, %one : !index
        %w = stablehlo.dynamic_update_slice %t, %u, %n : (!vec, tensor<1xf32>, !index) -> !vec
        stablehlo.return %n, %w : !index, !vec
      }
      %s = stablehlo.add %x, %y : !vec
      %z = stablehlo.subtract %s, %l#1 : !vec
    """
    check(loop("!vec", body, "%z", turns=40), np.arange(1000, dtype=np.float32))


@needs_llvmlite
def test_tensors_that_change_places() -> None:
    program = sr.parse("""func.func @main(%x: tensor<100xf64>, %y: tensor<100xf64>) -> tensor<100xf64> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %r:3 = stablehlo.while(%i = %zero, %a = %x, %b = %y) : tensor<i32>, tensor<100xf64>, tensor<100xf64>
      cond {
        %turns = stablehlo.constant dense<45> : tensor<i32>
        %c = stablehlo.compare LT, %i, %turns : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %one = stablehlo.constant dense<1> : tensor<i32>
        %next = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %next, %b, %a : tensor<i32>, tensor<100xf64>, tensor<100xf64>
      }
      return %r#1 : tensor<100xf64>
    }""")
    x, y = np.arange(100.0), -np.arange(100.0)
    np.testing.assert_array_equal(check(program, x, y), y)


@needs_llvmlite
def test_update_of_a_captured_tensor() -> None:
    body = """
      %v = stablehlo.dynamic_slice %k, %i, sizes = [1] : (!vec, !index) -> tensor<1xf32>
      %w = stablehlo.add %v, %v : tensor<1xf32>
      %y = stablehlo.dynamic_update_slice %k, %w, %i : (!vec, tensor<1xf32>, !index) -> !vec
      %s = stablehlo.slice %y [3:8] : (!vec) -> tensor<5xf32>
      %z = stablehlo.add %x, %s : tensor<5xf32>
    """
    program = loop("tensor<5xf32>", body, "%z", inputs=", %k: !vec")
    check(program, np.zeros(5, np.float32), np.arange(1000, dtype=np.float32))


@needs_llvmlite
@pytest.mark.parametrize("rows", [1, 3, 70])
@pytest.mark.parametrize("length", [37, 64, 100, 1000])
@pytest.mark.parametrize(("op", "element"), [("add", "f32"), ("maximum", "f32"), ("minimum", "i32"), ("add", "i32")])
def test_reductions_of_rows(op: str, element: str, rows: int, length: int) -> None:
    t, kept, one = (f"tensor<{sizes}{element}>" for sizes in (f"{rows}x{length}x", f"{rows}x", ""))
    body = f"""
      %start = stablehlo.slice %k [0:1] : (tensor<2x{element}>) -> tensor<1x{element}>
      %zeroth = stablehlo.reshape %start : (tensor<1x{element}>) -> {one}
      %s = stablehlo.reduce(%x init: %zeroth) applies stablehlo.{op} across dimensions = [1] : ({t}, {one}) -> {kept}
      %b = stablehlo.broadcast_in_dim %s, dims = [0] : ({kept}) -> {t}
      %y = stablehlo.subtract %x, %b : {t}
    """
    program = loop(t, body, "%y", turns=34, inputs=f", %k: tensor<2x{element}>")
    rng, dtype = np.random.default_rng(3), np.dtype({"f32": np.float32, "i32": np.int32}[element])
    x = (rng.standard_normal((rows, length)) * 1000).astype(dtype)
    check(program, x, np.zeros(2, dtype))
    if element == "f32":
        x[0, :4], x[-1, 5:7] = [-0.0, np.nan, np.inf, -np.inf], -0.0
        check(program, x, np.array([-0.0, 0.0], dtype))


# A loop that reverses, takes minima and divides beside the state, with NaN, infinities and subnormal numbers in it.
MANY_OPS = """func.func @main(%n: tensor<i32>, %x0: !T, %x1: !T) -> (tensor<i32>, !T, !T) {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:3 = stablehlo.while(%i = %c0, %s0 = %x0, %s1 = %x1) : tensor<i32>, !T, !T
  cond { %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1> } do {
    %p0 = stablehlo.compare GE, %s1, %s0 : (!T, !T) -> !B
    %v1 = stablehlo.select %p0, %s1, %s1 : !B, !T
    %v2 = stablehlo.sine %v1 : !T
    %v4 = stablehlo.reverse %v1, dims = [2] : !T
    %v5 = stablehlo.minimum %v1, %v4 : !T
    %v6 = stablehlo.add %v2, %v2 : !T
    %p7 = stablehlo.compare EQ, %s0, %v2 : (!T, !T) -> !B
    %v8 = stablehlo.select %p7, %s0, %s0 : !B, !T
    %p9 = stablehlo.compare EQ, %v4, %v1 : (!T, !T) -> !B
    %v10 = stablehlo.select %p9, %v4, %v2 : !B, !T
    %v12 = stablehlo.constant dense<3.0e38> : !T
    %v14 = stablehlo.maximum %v6, %v8 : !T
    %v15 = stablehlo.divide %v12, %v12 : !T
    %v16 = stablehlo.logistic %s0 : !T
    %v18 = stablehlo.divide %v1, %v4 : !T
    %v19 = stablehlo.add %v15, %v6 : !T
    %v20 = stablehlo.divide %v10, %v4 : !T
    %v22 = stablehlo.clamp %s0, %v5, %v16 : !T
    %v23 = stablehlo.subtract %v20, %v6 : !T
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %q26 = stablehlo.reduce(%v8 init: %z) applies stablehlo.maximum across dimensions = [2] : (!T, tensor<f32>) -> !R
    %v27 = stablehlo.broadcast_in_dim %q26, dims = [0, 1] : (!R) -> !T
    %q29 = stablehlo.reduce(%v19 init: %z) applies stablehlo.minimum across dimensions = [2] : (!T, tensor<f32>) -> !R
    %v30 = stablehlo.broadcast_in_dim %q29, dims = [0, 1] : (!R) -> !T
    %q32 = stablehlo.reduce(%v14 init: %z) applies stablehlo.maximum across dimensions = [2] : (!T, tensor<f32>) -> !R
    %v33 = stablehlo.broadcast_in_dim %q32, dims = [0, 1] : (!R) -> !T
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %v27, %v30 : tensor<i32>, !T, !T }
  return %r#0, %r#1, %r#2 : tensor<i32>, !T, !T
}"""
ALIASES = "!T = tensor<2x3x4xf32>\n!B = tensor<2x3x4xi1>\n!R = tensor<2x3xf32>\n"


def test_nans_of_many_ops_in_a_loop() -> None:
    """A row with NaN, or with an infinity whose sine is NaN, is NaN; others are their maximum, or not below zero."""
    nan, inf = np.nan, np.inf
    rows = [
        [nan, -0.0, inf, -inf], [1e-40, -1e-45, 0, 1], [0, inf, -1, nan],
        [-0.0, inf, -inf, 1e-40], [-1e-45, 0, 1, 0], [inf, -1, nan, -0.0],
    ]  # fmt: skip
    x = np.array(rows, np.float32).reshape(2, 3, 4)
    expected = [
        np.array([[largest] * 4 for largest in column], np.float32).reshape(2, 3, 4)
        for column in ([nan, 1, nan, inf, 1, nan], [nan, 0, nan, nan, 0, nan])
    ]
    program = sr.load(ALIASES + MANY_OPS)
    for _ in range(40):  # of which later ones run machine code
        count, *results = program.run(np.int32(1), x, x)
        assert count == 1
        for result, wanted in zip(results, expected):
            np.testing.assert_array_equal(np.asarray(result).view(np.uint32), wanted.view(np.uint32))


@needs_llvmlite
def test_an_element_of_another_tensor_does_not_end_a_nest() -> None:
    """Between two ops on the state, an element of `%k` is read; the last op reads what was just computed."""
    body = """
      %a = stablehlo.slice %k [0:1] : (tensor<4xi64>) -> tensor<1xi64>
      %b = stablehlo.reshape %a : (tensor<1xi64>) -> tensor<i64>
      %c = stablehlo.broadcast_in_dim %b, dims = [] : (tensor<i64>) -> !mat
      %d = stablehlo.add %x, %c : !mat
      %e = stablehlo.slice %k [1:2] : (tensor<4xi64>) -> tensor<1xi64>
      %f = stablehlo.reshape %e : (tensor<1xi64>) -> tensor<i64>
      %g = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<i64>) -> !mat
      %h = stablehlo.multiply %d, %g : !mat
    """
    last = """
      %l = stablehlo.slice %h [2:3, 3:4] : (!mat) -> tensor<1x1xi64>
      %m = stablehlo.reshape %l : (tensor<1x1xi64>) -> tensor<i64>
      %n = stablehlo.broadcast_in_dim %m, dims = [] : (tensor<i64>) -> !mat
      %y = stablehlo.xor %h, %n : !mat
    """
    x, k = np.arange(100).reshape(10, 10), np.array([3, 7, 0, 0])
    expected = x
    for _ in range(40):
        expected = (expected + 3) * 7
    for text, following, nests in ((body, "%h", 1), (body + last, "%y", 2)):
        program = loop("!mat", text, following, inputs=", %k: tensor<4xi64>", turns=40)
        result = check(program, x, k)
        (code,) = [code for plan in program.plans.values() for title, code in plan.generated if "machine" in title]
        assert code.count("store <8 x i64>") == nests
        if nests == 1:
            np.testing.assert_array_equal(result, expected)
