"""Ops in loops in machine code: broadcasts, products and functions; needs the extra `jit`."""

from __future__ import annotations

import math

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.accelerate import policy
from tests.accelerate.test_compiled_loops import check, loop, needs_llvmlite


@pytest.fixture(autouse=True)
def _compiled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "SECONDS", -1.0)


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
@pytest.mark.parametrize("op", ["sine", "cosine"])
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
