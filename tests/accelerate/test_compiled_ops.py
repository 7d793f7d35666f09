"""Ops in loops in machine code: products, gathers, reductions, and those that call kernels; needs the extra `jit`."""

from __future__ import annotations

import math

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.accelerate import policy
from stablehlo_ref.accelerate.machine import ops
from tests.accelerate.test_compiled_loops import check, loop, needs_llvmlite


@pytest.fixture(autouse=True)
def _compiled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "SECONDS", -1.0)


@needs_llvmlite
def test_few_ops_without_machine_code_are_called() -> None:
    body = """
      %key, %value = "stablehlo.sort"(%x, %x) <{dimension = 0 : i64}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
        %less = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %less : tensor<i1>
      }) : (!vec, !vec) -> (!vec, !vec)
      %sum = stablehlo.add %key, %x : !vec
      %part = stablehlo.slice %sum [1:4] : (!vec) -> tensor<3xf32>
      %roots = stablehlo.cbrt %part : tensor<3xf32>
      %tail = stablehlo.slice %value [3:1000] : (!vec) -> tensor<997xf32>
      %joined = stablehlo.concatenate %roots, %tail, dim = 0 : (tensor<3xf32>, tensor<997xf32>) -> !vec
      %half = stablehlo.multiply %joined, %joined : !vec
      %less = stablehlo.subtract %half, %value : !vec
      %sine = stablehlo.sine %less : !vec
      %tangent = stablehlo.tan %sine : !vec
      %y = stablehlo.cosine %tangent : !vec
    """
    check(loop("!vec", body, "%y"), np.linspace(-3, 3, 1000, dtype=np.float32))


@needs_llvmlite
def test_an_error_of_a_kernel_that_machine_code_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ops, "COST", 0)
    program = loop("tensor<f32>", "%y = stablehlo.cbrt %x : tensor<f32>", "%y", turns=1000)
    check(program, np.float32(2))
    monkeypatch.setattr(ops.Called, "compute", lambda *_: 1 // 0)
    with pytest.raises(sr.StablehloError) as raised:
        program.run(np.float32(2))
    assert "15:" in str(raised.value)


@needs_llvmlite
def test_a_reduction_whose_body_has_no_instructions_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ops, "COST", 0)
    body = """
      %k = stablehlo.constant dense<0.5> : tensor<f32>
      %s = "stablehlo.reduce"(%x, %k) <{dimensions = array<i64: 0>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %p, %q = stablehlo.optimization_barrier %a, %b : tensor<f32>, tensor<f32>
        %c = stablehlo.add %p, %q : tensor<f32>
        stablehlo.return %c : tensor<f32>
      }) : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
      %t = stablehlo.tanh %s : tensor<f32>
      %w = stablehlo.broadcast_in_dim %t, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %y = stablehlo.multiply %x, %w : tensor<8xf32>
    """
    check(loop("tensor<8xf32>", body, "%y"), np.ones(8, np.float32))


TREE = """
  %child = "stablehlo.gather"(%x, %places) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0],
      index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>
  }> : (tensor<90x3xf32>, tensor<4xi64>) -> tensor<4x3xf32>
  %largest, %which = "stablehlo.reduce"(%child, %numbers, %none, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %n: tensor<i32>, %b: tensor<f32>, %m: tensor<i32>):
    %greater = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %equal = stablehlo.compare EQ, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %first = stablehlo.compare LT, %n, %m : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %tie = stablehlo.and %equal, %first : tensor<i1>
    %left = stablehlo.or %greater, %tie : tensor<i1>
    %c = stablehlo.select %greater, %a, %b : tensor<i1>, tensor<f32>
    %k = stablehlo.select %left, %n, %m : tensor<i1>, tensor<i32>
    stablehlo.return %c, %k : tensor<f32>, tensor<i32>
  }) : (tensor<4x3xf32>, tensor<4x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<3xf32>, tensor<3xi32>)
  %padded = stablehlo.pad %which, %one, low = [-1], high = [0], interior = [0] : (tensor<3xi32>, tensor<i32>)
    -> tensor<2xi32>
  %signs = stablehlo.convert %padded : (tensor<2xi32>) -> tensor<2xf32>
  %product = stablehlo.dot_general %matrix, %largest, contracting_dims = [1] x [0]
    : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
  %news = stablehlo.add %product, %signs : tensor<2xf32>
  %at = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
  %y = "stablehlo.scatter"(%x, %at, %news) <{
    scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0]>
  }> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.subtract %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<90x3xf32>, tensor<1xi32>, tensor<2xf32>) -> tensor<90x3xf32>
"""


@needs_llvmlite
def test_search_of_a_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gather rows, of which some indices are out of bounds, take a maximum and its place, and update a row."""
    constants = """
      %places = stablehlo.constant dense<[3, -1, 89, 200]> : tensor<4xi64>
      %numbers = stablehlo.iota dim = 0 : tensor<4x3xi32>
      %none = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %matrix = stablehlo.constant dense<[[1.0, -0.5, 0.25], [0.3, 2.0, 1.0]]> : tensor<2x3xf32>
    """
    monkeypatch.setattr(ops, "COST", 0)
    program = loop("tensor<90x3xf32>", constants + TREE, "%y")
    check(program, np.linspace(-1, 1, 270, dtype=np.float32).reshape(90, 3))


@needs_llvmlite
@pytest.mark.parametrize("element", ["i8", "ui16", "i32", "f32", "f64"])
@pytest.mark.parametrize("dim", [0, 1])
def test_broadcast_of_a_vector(dim: int, element: str) -> None:
    vector, matrix = f"tensor<5x{element}>", f"tensor<5x5x{element}>"
    body = f"""
      %s = stablehlo.slice %x [0:5, 2:3] : ({matrix}) -> tensor<5x1x{element}>
      %v = stablehlo.reshape %s : (tensor<5x1x{element}>) -> {vector}
      %b = stablehlo.broadcast_in_dim %v, dims = [{dim}] : ({vector}) -> {matrix}
      %y = stablehlo.subtract %x, %b : {matrix}
    """
    program = loop(matrix, body, "%y")
    check(program, np.arange(25).astype(program.inputs[0].dtype).reshape(5, 5))


@needs_llvmlite
@pytest.mark.parametrize("element", ["f32", "f64"])
@pytest.mark.parametrize(
    ("lhs", "rhs", "dims", "result"),
    [
        ("2x2", "2x2", "contracting_dims = [1] x [0]", "2x2"),
        ("3x5", "4x5", "contracting_dims = [1] x [1]", "3x4"),
        ("5x3", "5x4", "contracting_dims = [0] x [0]", "3x4"),
        ("5", "5x70", "contracting_dims = [0] x [0]", "70"),
        ("70x33", "33", "contracting_dims = [1] x [0]", "70"),
        ("33x70", "33", "contracting_dims = [0] x [0]", "70"),
        ("40", "40", "contracting_dims = [0] x [0]", ""),
        ("1x40", "40x1", "contracting_dims = [1] x [0]", "1x1"),
        ("4x1", "1x3", "contracting_dims = [1] x [0]", "4x3"),
        ("3x2x5", "3x5x4", "batching_dims = [0] x [0], contracting_dims = [2] x [1]", "3x2x4"),
        ("2x3x4", "3x4x2", "contracting_dims = [1, 2] x [0, 1]", "2x2"),
        ("3x2x4", "3x4x2", "contracting_dims = [0, 2] x [0, 1]", "2x2"),
    ],
)
def test_products(lhs: str, rhs: str, dims: str, result: str, element: str) -> None:
    a, b, c = (f"tensor<{'x'.join([*filter(None, [shape]), element])}>" for shape in (lhs, rhs, result))
    count = math.prod(int(n) for n in result.split("x") if n)
    body = f"""
      %z = stablehlo.dot_general %x, %b, {dims} : ({a}, {b}) -> {c}
      %flat = stablehlo.reshape %z : ({c}) -> tensor<{count}x{element}>
      %part = stablehlo.slice %flat [0:1] : (tensor<{count}x{element}>) -> tensor<1x{element}>
      %scalar = stablehlo.reshape %part : (tensor<1x{element}>) -> tensor<{element}>
      %all = stablehlo.broadcast_in_dim %scalar, dims = [] : (tensor<{element}>) -> {a}
      %s = stablehlo.add %x, %all : {a}
      %t = stablehlo.abs %s : {a}
      %y = stablehlo.sqrt %t : {a}
    """
    program = loop(a, body, "%y", inputs=f", %b: {b}")
    generator = np.random.default_rng(0)
    check(program, *(generator.standard_normal(x.shape).astype(x.dtype) for x in program.inputs))


@needs_llvmlite
@pytest.mark.parametrize("op", ["sine", "cosine", "tan"])
def test_trigonometric_functions_of_all_magnitudes(op: str) -> None:
    """Compute numbers of all exponents, and those next to multiples of pi/2, on vectors with small and large ones."""
    generator = np.random.default_rng(0)
    x = generator.integers(0, 1 << 32, 1000, np.uint32).view(np.float32)
    x[:400] = np.arange(1, 401) * np.float32(np.pi / 2)
    x[400:410] = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, 2.0**30, -(2.0**30), 3.4e38, -16367173 * 2.0**72]
    body = f"""
      %u = stablehlo.{op} %x : !vec
      %signs = stablehlo.compare LT, %i, %i : (!index, !index) -> tensor<i1>
      %y = stablehlo.select %signs, %x, %u : tensor<i1>, !vec
    """
    check(loop("!vec", body, "%y", turns=40), generator.permutation(x))


@needs_llvmlite
def test_a_loop_without_ops() -> None:
    program = sr.parse("""
      func.func @main(%x: tensor<i1>) -> tensor<i1> {
        %0 = stablehlo.while(%y = %x) : tensor<i1>
        cond {
          stablehlo.return %y : tensor<i1>
        } do {
          stablehlo.return %y : tensor<i1>
        }
        return %0 : tensor<i1>
      }""")
    assert not check(program, False, compiled=False)
    for _ in range(3):
        with pytest.raises(sr.EvaluationError, match="the limit of"):  # of time or of iterations
            program.run(True, limits=sr.Limits(max_seconds=0.1))
