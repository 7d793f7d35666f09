"""Functions and loops as generated source keep limits and canonical NaNs as their plans do."""

from __future__ import annotations

import ml_dtypes
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

CALLS_ITSELF = """
func.func @main(%n: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.constant dense<0> : tensor<i32>
  %1 = stablehlo.constant dense<1> : tensor<i32>
  %c = stablehlo.compare GT, %n, %0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %r = "stablehlo.if"(%c) ({
    %m = stablehlo.subtract %n, %1 : tensor<i32>
    %q = func.call @main(%m) : (tensor<i32>) -> tensor<i32>
    stablehlo.return %q : tensor<i32>
  }, {
    stablehlo.return %n : tensor<i32>
  }) : (tensor<i1>) -> tensor<i32>
  return %r : tensor<i32>
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
    monkeypatch.setattr(policy, "HOT_CALLS", 1)
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


def test_depth_of_calls_is_limited_as_in_the_plan() -> None:
    program = sr.load(CALLS_ITSELF)
    for _ in range(4):
        assert program.run(np.int32(9), limits=sr.Limits(max_depth=10)) == (0,)
        with pytest.raises(sr.EvaluationError, match="calls are nested deeper than the limit of 10"):
            program.run(np.int32(10), limits=sr.Limits(max_depth=10))


def test_memory_of_many_small_results_is_limited() -> None:
    elements, count = 60_000, 160  # 77 MB in pieces of less than 1 MB, all of which live until the end
    of = f"tensor<{elements}xf64>"
    values = [f"  %{i + 1} = stablehlo.add %{i}, %0 : {of}" for i in range(count)]
    sums = [f"  %s{i + 1} = stablehlo.add %s{i}, %{i + 1} : {of}" for i in range(count)]
    lines = [*values, f"  %s0 = stablehlo.add %0, %0 : {of}", *sums, f"  return %s{count} : {of}"]
    program = sr.load("\n".join([f"func.func @main(%0: {of}) -> {of} {{", *lines, "}"]))
    for _ in range(3):
        program.run(np.ones(elements))
    with pytest.raises(sr.EvaluationError, match="exceed the limit of 60 MB"):
        program.run(np.ones(elements), limits=sr.Limits(max_total_bytes=60_000_000))


def test_inner_loop_whose_reduction_captures_values() -> None:
    program, x = sr.load(STEP_IN_AN_INNER_LOOP), np.arange(8, dtype=np.int32)
    assert program.run(np.int32(5), x) == program.run(np.int32(5), x, fast=False)


def test_scalars_that_are_no_numpy_types_are_not_overwritten() -> None:
    """Ufuncs return scalars, into which nothing can be written, for bf16 and for `index`."""
    program = sr.load("""func.func @main(%x: tensor<bf16>, %i: index) -> (tensor<bf16>, index) {
      %0 = stablehlo.add %x, %x : tensor<bf16>
      %1 = stablehlo.multiply %0, %0 : tensor<bf16>
      %2 = arith.addi %i, %i : index
      %3 = arith.addi %2, %2 : index
      return %1, %3 : tensor<bf16>, index }""")
    for _ in range(4):
        x, i = program.run(np.array(3, ml_dtypes.bfloat16), 5)
        assert (float(x), int(i)) == (36.0, 20)


@pytest.mark.parametrize("bound", ("-1.0", "0.0", "-0.0", "0x7FC00001"))
@pytest.mark.parametrize("op", ("maximum", "minimum"))
@pytest.mark.parametrize("element", ("f32", "f64", "f16"))
def test_extrema_with_constants_as_in_the_plan(op: str, bound: str, element: str) -> None:
    bound = bound if element == "f32" or not bound.startswith("0x") else "2.0"
    of, dtype = f"tensor<7x{element}>", np.dtype(element.replace("f", "float"))
    program = sr.load(f"""func.func @main(%x: {of}) -> ({of}, {of}) {{
      %c = stablehlo.constant dense<{bound}> : {of}
      %0 = stablehlo.{op} %x, %c : {of}
      %1 = stablehlo.{op} %c, %x : {of}
      %2 = stablehlo.negate %1 : {of}
      %3 = stablehlo.{op} %2, %c : {of}
      %4 = stablehlo.abs %3 : {of}
      %5 = stablehlo.multiply %4, %0 : {of}
      return %5, %0 : {of}, {of} }}""")
    x = np.array([0.0, -0.0, 1.0, -2.0, np.nan, -np.nan, np.inf], dtype)
    expected = [y.tobytes() for y in program.run(x, fast=False)]
    for _ in range(3):
        assert [y.tobytes() for y in program.run(x)] == expected


def test_views_of_other_shapes_as_in_the_plan() -> None:
    program = sr.load("""func.func @main(%x: tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<1x5x1xf32>, tensor<2x2xf32>) {
      %y = stablehlo.add %x, %x : tensor<3x5xf32>
      %0 = stablehlo.slice %y [1:2, 0:5] : (tensor<3x5xf32>) -> tensor<1x5xf32>
      %1 = stablehlo.reshape %0 : (tensor<1x5xf32>) -> tensor<5xf32>
      %2 = stablehlo.multiply %1, %1 : tensor<5xf32>
      %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<5xf32>) -> tensor<5x1xf32>
      %4 = stablehlo.reshape %3 : (tensor<5x1xf32>) -> tensor<1x5x1xf32>
      %5 = stablehlo.add %4, %4 : tensor<1x5x1xf32>
      %6 = stablehlo.multiply %y, %y : tensor<3x5xf32>
      %7 = stablehlo.reshape %5 : (tensor<1x5x1xf32>) -> tensor<1x5xf32>
      %8 = stablehlo.slice %6 [1:3, 0:5] : (tensor<3x5xf32>) -> tensor<2x5xf32>
      %9 = stablehlo.concatenate %7, %8, dim = 0 : (tensor<1x5xf32>, tensor<2x5xf32>) -> tensor<3x5xf32>
      %10 = stablehlo.slice %9 [0:3:2, 1:5:2] : (tensor<3x5xf32>) -> tensor<2x2xf32>
      %11 = stablehlo.add %9, %y : tensor<3x5xf32>
      return %11, %5, %10 : tensor<3x5xf32>, tensor<1x5x1xf32>, tensor<2x2xf32> }""")
    x = np.arange(15, dtype=np.float32).reshape(3, 5)
    expected = [(y.shape, y.tobytes()) for y in program.run(x, fast=False)]
    for _ in range(3):
        assert [(y.shape, y.tobytes()) for y in program.run(x)] == expected


def test_large_constants_of_one_element_as_in_the_plan() -> None:
    program = sr.load("""func.func @main(%x: tensor<3x2000xf32>, %s: tensor<f32>) -> tensor<3x2000xf32> {
      %c = stablehlo.constant dense<0.1> : tensor<3x2000xf32>
      %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<3x2000xf32>
      %0 = stablehlo.multiply %c, %b : tensor<3x2000xf32>
      %1 = stablehlo.subtract %c, %x : tensor<3x2000xf32>
      %2 = stablehlo.multiply %1, %0 : tensor<3x2000xf32>
      %3 = stablehlo.divide %2, %c : tensor<3x2000xf32>
      return %3 : tensor<3x2000xf32> }""")
    x = np.linspace(-1, 1, 6000, dtype=np.float32).reshape(3, 2000)
    (expected,) = program.run(x, np.float32(3), fast=False)
    for _ in range(3):
        assert program.run(x, np.float32(3))[0].tobytes() == expected.tobytes()


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
