"""Bounds on intervals of operands, as fused code has them, and those of linear algebra: what is legal is inside."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import stablehlo_ref as sr
from spec_checks.test_bounds import STRICT, ball_of, elementwise
from stablehlo_ref.debug.bounds.ball import Ball
from stablehlo_ref.debug.bounds.transfer import transfer
from stablehlo_ref.debug.cut import Flat, fed_to
from stablehlo_ref.debug.evaluate import Evaluator
from stablehlo_ref.debug.judge import excess_of

SIZE = 400
UNARY = (
    "exponential", "exponential_minus_one", "log", "log_plus_one", "logistic", "tanh", "sine", "cosine", "tan", "sqrt",
    "rsqrt", "cbrt", "floor", "ceil", "sign", "round_nearest_even", "abs", "negate",
)  # fmt: skip
BINARY = ("add", "subtract", "multiply", "divide", "power", "atan2", "maximum", "minimum")


def intervals(draw: np.random.Generator, count: int) -> list[Ball]:
    """Return intervals of all sizes, near to zero and far from it, some of which contain it or an integer."""
    made = []
    for _ in range(count):
        center = (
            (draw.choice([1.0, 3.0, 20.0], SIZE) * draw.standard_normal(SIZE)).astype(np.float32).astype(np.float64)
        )
        center = np.where(draw.random(SIZE) < 0.3, np.round(center), center)
        radius = np.abs(draw.standard_normal(SIZE)) * 10.0 ** draw.integers(-8, 1, SIZE)
        made.append(Ball(center, np.where(draw.random(SIZE) < 0.2, 0.0, radius)))
    return made


@pytest.mark.parametrize("op", [*UNARY, *BINARY])
def test_results_for_operands_inside_are_inside(op: str) -> None:
    draw = np.random.default_rng(8)
    count = 2 if op in BINARY else 1
    flat = Flat(sr.load(elementwise(op, count, SIZE, "f32")))
    wide = sr.load(elementwise(op, count, SIZE, "f64"))
    operands = intervals(draw, count)
    found = transfer(flat.ops[0], fed_to(flat.ops[0]), operands, STRICT, Evaluator(flat))
    assert found is not None
    radius = np.broadcast_to(found[0].radius, SIZE)
    assert np.isfinite(radius).mean() > 0.3  # not all is unknown
    ends = [-1.0, 1.0, *draw.uniform(-1, 1, 8)]
    for first in ends:
        for second in ends if count == 2 else (0.0,):
            inside = [s.center + s.radius * share for s, share in zip(operands, (first, second))]
            (result,) = wide.run(*inside)
            with np.errstate(all="ignore"):
                rounded = result.astype(np.float32)
            assert excess_of(rounded, Ball(found[0].center, radius), STRICT) is None


# --- linear algebra -------------------------------------------------------------------------------------------------


def is_inside(text: str, inputs: list[np.ndarray], result: np.ndarray) -> bool:
    return excess_of(result, ball_of(text, inputs), STRICT) is None


@pytest.mark.parametrize("n", [1, 8, 60, 127, 1024])
def test_transforms_in_f32(n: int) -> None:
    draw = np.random.default_rng(n)
    type = f"tensor<2x{n}xcomplex<f32>>"
    text = f"""func.func @main(%x: {type}) -> {type} {{
      %r = stablehlo.fft %x, type = FFT, length = [{n}] : ({type}) -> {type}
      return %r : {type} }}"""
    x = (draw.standard_normal((2, n)) + 1j * draw.standard_normal((2, n))).astype(np.complex64)
    roots = np.exp(-2j * np.pi * np.outer(np.arange(n), np.arange(n)) / n).astype(np.complex64)
    legal = np.fft.fft(x.astype(np.complex128)).astype(np.complex64)
    assert is_inside(text, [x], legal)
    assert n > 60 or is_inside(text, [x], (x @ roots).astype(np.complex64))
    wrong = legal.copy()
    wrong[0, n // 2] *= 1.001
    assert not is_inside(text, [x], wrong)


def triangular(n: int) -> str:
    return f"""func.func @main(%a: tensor<{n}x{n}xf32>, %b: tensor<{n}x3xf32>) -> tensor<{n}x3xf32> {{
      %r = "stablehlo.triangular_solve"(%a, %b) <{{left_side = true, lower = true, unit_diagonal = false,
        transpose_a = #stablehlo<transpose NO_TRANSPOSE>}}>
        : (tensor<{n}x{n}xf32>, tensor<{n}x3xf32>) -> tensor<{n}x3xf32>
      return %r : tensor<{n}x3xf32> }}"""


def substituted(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    x = np.zeros_like(b)
    for i in range(len(a)):
        total = b[i].copy()
        for j in range(i):
            total = total - a[i, j] * x[j]
        x[i] = total / a[i, i]
    return x


@pytest.mark.parametrize("n", [1, 5, 40])
def test_triangular_solves_in_f32(n: int) -> None:
    draw = np.random.default_rng(n)
    a = (np.tril(draw.standard_normal((n, n))) / n + np.eye(n)).astype(np.float32)
    b = draw.standard_normal((n, 3)).astype(np.float32)
    legal = substituted(a, b)
    assert is_inside(triangular(n), [a, b], legal)
    assert is_inside(triangular(n), [a, b], np.linalg.inv(a).astype(np.float32) @ b)
    legal[-1, 0] *= np.float32(1.001)
    assert not is_inside(triangular(n), [a, b], legal)


@pytest.mark.parametrize("n", [1, 5, 40])
def test_cholesky_in_f32(n: int) -> None:
    draw = np.random.default_rng(n)
    root = draw.standard_normal((n, n)) / n + np.eye(n)
    a = (root @ root.T).astype(np.float32)
    text = f"""func.func @main(%a: tensor<{n}x{n}xf32>) -> tensor<{n}x{n}xf32> {{
      %r = stablehlo.cholesky %a, lower = true : tensor<{n}x{n}xf32>
      return %r : tensor<{n}x{n}xf32> }}"""
    legal = np.linalg.cholesky(a)
    assert legal.dtype == np.float32 and is_inside(text, [a], legal)
    legal[-1, 0] += np.float32(0.01)
    assert not is_inside(text, [a], legal)


FORMULAS: dict[str, Callable[..., np.ndarray]] = {
    "as the spec": lambda x, scale, offset, mean, var, eps: (x - mean) / np.sqrt(var + eps) * scale + offset,
    "folded": lambda x, s, o, mean, var, eps: x * (s / np.sqrt(var + eps)) + (o - mean * (s / np.sqrt(var + eps))),
}


@pytest.mark.parametrize("formula", FORMULAS)
def test_batch_normalisation_in_f32(formula: str) -> None:
    draw = np.random.default_rng(9)
    x = draw.standard_normal((64, 4)).astype(np.float32)
    scale, offset, mean = draw.standard_normal((3, 4)).astype(np.float32)
    var = np.abs(draw.standard_normal(4)).astype(np.float32)
    text = """func.func @main(%x: tensor<64x4xf32>, %s: tensor<4xf32>, %o: tensor<4xf32>, %m: tensor<4xf32>,
        %v: tensor<4xf32>) -> tensor<64x4xf32> {
      %r = "stablehlo.batch_norm_inference"(%x, %s, %o, %m, %v) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}>
        : (tensor<64x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<64x4xf32>
      return %r : tensor<64x4xf32> }"""
    legal = FORMULAS[formula](x, scale, offset, mean, var, np.float32(1e-3))
    assert legal.dtype == np.float32
    inputs = [x, scale, offset, mean, var]
    assert is_inside(text, inputs, legal)
    assert not is_inside(text, inputs, legal * np.float32(1.001))


def test_dots_round_as_their_algorithm_says() -> None:
    text = """func.func @main(%x: tensor<8x64xf32>, %y: tensor<64x5xf32>) -> tensor<8x5xf32> {
      %r = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0],
        algorithm = <lhs_precision_type = TYPE, rhs_precision_type = TYPE, accumulation_type = f32,
          lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1,
          allow_imprecise_accumulation = false> : (tensor<8x64xf32>, tensor<64x5xf32>) -> tensor<8x5xf32>
      return %r : tensor<8x5xf32> }"""
    draw = np.random.default_rng(4)
    inputs = [draw.standard_normal(shape).astype(np.float32) for shape in ((8, 64), (64, 5))]
    (rounded,) = sr.load(text.replace("TYPE", "bf16")).run(*inputs)
    for type, is_legal in (("bf16", True), ("tf32", False), ("f32", False)):
        assert is_inside(text.replace("TYPE", type), inputs, rounded) == is_legal
