"""Bounds of `stablehlo_ref.debug`: no legal rounding is outside, in exact arithmetic, and they are not much larger."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import ml_dtypes
import mpmath
import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.debug.bounds.ball import Ball, exact
from stablehlo_ref.debug.bounds.transfer import transfer
from stablehlo_ref.debug.contract import PRESETS, Contract, contract_of
from stablehlo_ref.debug.cut import Flat, fed_to
from stablehlo_ref.debug.evaluate import Evaluator
from stablehlo_ref.debug.judge import excess_of

STRICT = PRESETS["strict"]
DTYPES = {"f32": np.dtype(np.float32), "f16": np.dtype(np.float16), "bf16": np.dtype(ml_dtypes.bfloat16)}


def ball_of(text: str, inputs: Sequence[np.ndarray], contract: Contract = STRICT) -> Ball:
    """Return the bound on the result of the only op of a program, on known operands."""
    flat = Flat(sr.load(text))
    op = flat.ops[-1]
    values = dict(zip(flat.arguments, inputs))
    evaluate = Evaluator(flat)
    operands = [exact(values[v] if v in values else evaluate.constant(v)) for v in fed_to(op)]
    found = transfer(op, fed_to(op), operands, contract, evaluate)
    assert found is not None
    return Ball(found[0].center, np.broadcast_to(found[0].radius, found[0].center.shape))


def elementwise(op: str, count: int, size: int, type: str) -> str:
    names = [f"%x{i}" for i in range(count)]
    parameters = ", ".join(f"{name}: tensor<{size}x{type}>" for name in names)
    return f"""func.func @main({parameters}) -> tensor<{size}x{type}> {{
      %r = stablehlo.{op} {", ".join(names)} : tensor<{size}x{type}>
      return %r : tensor<{size}x{type}> }}"""


ARITHMETIC: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
}


@pytest.mark.parametrize("type", DTYPES)
@pytest.mark.parametrize("op", ARITHMETIC)
def test_arithmetic_against_fractions(op: str, type: str) -> None:
    """The correctly rounded result is inside, and the median bound is at most 4 times the error."""
    draw = np.random.default_rng(1)
    size = 500
    x, y = ((draw.standard_normal(size) * 2.0 ** draw.integers(-6, 6, size)).astype(DTYPES[type]) for _ in range(2))
    ball = ball_of(elementwise(op, 2, size, type), [x, y])
    (rounded,) = sr.load(elementwise(op, 2, size, type)).run(x, y)
    ratios = []
    for a, b, r, c, bound in zip(x, y, rounded, ball.center, ball.radius):
        true = ARITHMETIC[op](Fraction(float(a)), Fraction(float(b)))
        error = abs(Fraction(float(r)) - true)
        assert abs(Fraction(float(r)) - Fraction(float(c))) <= Fraction(float(bound))
        assert error <= Fraction(float(bound)) * (1 + Fraction(1, 2**20))
        if error:
            ratios.append(float(Fraction(float(bound)) / error))
    assert np.median(ratios or [1]) <= 4


@pytest.mark.parametrize(
    ("op", "function"),
    [
        ("exponential", mpmath.exp),
        ("tanh", mpmath.tanh),
        ("log_plus_one", mpmath.log1p),
        ("sine", mpmath.sin),
        ("cosine", mpmath.cos),
        ("cbrt", mpmath.cbrt),
        ("logistic", lambda x: 1 / (1 + mpmath.exp(-x))),
        ("exponential_minus_one", mpmath.expm1),
    ],
)
def test_elementary_functions_against_mpmath(op: str, function: Callable[[Any], Any]) -> None:
    """The true value is inside by all but the permitted rounding, also for intervals of operands."""
    draw = np.random.default_rng(2)
    x = np.abs(draw.standard_normal(300)).astype(np.float32)
    ball = ball_of(elementwise(op, 1, 300, "f32"), [x])
    with mpmath.workdps(40):
        for value, center, bound in zip(x, ball.center, ball.radius):
            apart = abs(function(mpmath.mpf(float(value))) - mpmath.mpf(float(center)))
            assert apart <= 1e-6 * bound  # the center is far more precise than f32
            ulps = 5 if op == "logistic" else 1.01  # the spec's formula may be computed in f32
            assert bound <= ulps * np.spacing(np.float32(abs(center)))


def test_intervals_contain_all_results() -> None:
    """Each function of each operand inside an interval is inside the interval of results."""
    draw = np.random.default_rng(3)
    centers, radii = draw.standard_normal((2, 200)) + 3, np.abs(draw.standard_normal((2, 200))) / 10
    for op, function in {"add": np.add, "multiply": np.multiply, "divide": np.divide, "maximum": np.maximum}.items():
        flat = Flat(sr.load(elementwise(op, 2, 200, "f32")))
        operands = [Ball(c, r) for c, r in zip(centers, radii)]
        found = transfer(flat.ops[0], fed_to(flat.ops[0]), operands, STRICT, Evaluator(flat))
        assert found is not None
        for _ in range(20):
            inside = centers + radii * draw.uniform(-1, 1, radii.shape)
            assert np.all(np.abs(function(*inside) - found[0].center) <= found[0].radius)
    for op, function in {"tanh": np.tanh, "sine": np.sin, "log": np.log, "floor": np.floor, "sqrt": np.sqrt}.items():
        flat = Flat(sr.load(elementwise(op, 1, 200, "f32")))
        found = transfer(flat.ops[0], fed_to(flat.ops[0]), [Ball(centers[0], radii[0])], STRICT, Evaluator(flat))
        assert found is not None
        for _ in range(20):
            inside = centers[0] + radii[0] * draw.uniform(-1, 1, radii[0].shape)
            assert np.all(np.abs(function(inside) - found[0].center) <= found[0].radius)


def dot(n: int, type: str) -> str:
    return f"""func.func @main(%x: tensor<8x{n}x{type}>, %y: tensor<{n}x5x{type}>) -> tensor<8x5x{type}> {{
      %r = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
        : (tensor<8x{n}x{type}>, tensor<{n}x5x{type}>) -> tensor<8x5x{type}>
      return %r : tensor<8x5x{type}> }}"""


def sequential(x: np.ndarray, y: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return the product of matrices summed in f32 in an order."""
    total = np.zeros((x.shape[0], y.shape[1]), np.float32)
    for k in order:
        total = total + x[:, k : k + 1].astype(np.float32) * y[k : k + 1].astype(np.float32)
    return total


@pytest.mark.parametrize("type", DTYPES)
@pytest.mark.parametrize("n", [1, 7, 64, 300])
def test_dots_against_fractions(type: str, n: int) -> None:
    """Sums in f32 in any order are inside the bound, which is at most 2 n times the median error."""
    draw = np.random.default_rng(n)
    x, y = (draw.standard_normal(shape).astype(DTYPES[type]) for shape in ((8, n), (n, 5)))
    ball = ball_of(dot(n, type), [x, y])
    true = [
        [sum(Fraction(float(a)) * Fraction(float(b)) for a, b in zip(x[i], y[:, j])) for j in range(5)]
        for i in range(8)
    ]
    for _ in range(3):
        found = sequential(x, y, draw.permutation(n)).astype(DTYPES[type])
        assert np.all(np.abs(found.astype(np.float64) - ball.center) <= ball.radius)
        errors = [abs(float(Fraction(float(found[i, j])) - true[i][j])) for i in range(8) for j in range(5)]
        ratio = np.median(ball.radius.reshape(-1) / np.maximum(errors, 1e-300))
        assert ratio <= max(4, 2 * n)


def test_tf32_is_inside_its_contract_only() -> None:
    draw = np.random.default_rng(4)
    x, y = (draw.standard_normal(shape).astype(np.float32) for shape in ((8, 64), (64, 5)))
    short = [((a.view(np.uint32) + 0x1000) & 0xFFFFE000).view(np.float32) for a in (x, y)]
    found = sequential(*short, np.arange(64)).astype(np.float64)
    strict, tf32 = (ball_of(dot(64, "f32"), [x, y], contract_of(c)) for c in ("strict", "strict,dot_algorithm=tf32"))
    assert np.all(np.abs(found - tf32.center) <= tf32.radius)
    assert np.any(np.abs(found - strict.center) > strict.radius)


def is_inside(ball: Ball, *values: float) -> bool:
    """Return whether a legal value is not ruled out, in any element."""
    return excess_of(np.array(values), ball, STRICT) is None


@pytest.mark.parametrize("values", [[1e308, 1e308, -1e308], [1e308, 1e308, -1e308, -1e308]])
def test_partial_sums_that_overflow_depend_on_the_order(values: list[float]) -> None:
    text = f"""func.func @main(%x: tensor<1x{len(values)}xf64>) -> tensor<1xf64> {{
      %z = stablehlo.constant dense<0.0> : tensor<f64>
      %r = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1]
        : (tensor<1x{len(values)}xf64>, tensor<f64>) -> tensor<1xf64>
      return %r : tensor<1xf64> }}"""
    ball = ball_of(text, [np.array([values])])
    for legal in (np.inf, np.nan, sum(sorted(values, key=abs, reverse=True)[::2]), 1e308):
        assert is_inside(ball, legal)
    known = ball_of(text, [np.array([[np.inf, *values[1:2], *[0.0] * (len(values) - 2)]])])
    assert is_inside(known, np.inf) and not is_inside(known, 0.0)


def test_select_and_scatter_selects_by_signed_operands() -> None:
    """The source is added to the largest operand by its signed value, not to the one of the largest magnitude."""
    text = """func.func @main(%x: tensor<2xf32>, %s: tensor<1xf32>) -> tensor<2xf32> {
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %r = "stablehlo.select_and_scatter"(%x, %s, %z) <{window_dimensions = array<i64: 2>}> ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %g = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
          stablehlo.return %g : tensor<i1>
      }, {
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %t = stablehlo.add %a, %b : tensor<f32>
          stablehlo.return %t : tensor<f32>
      }) : (tensor<2xf32>, tensor<1xf32>, tensor<f32>) -> tensor<2xf32>
      return %r : tensor<2xf32> }"""
    ball = ball_of(text, [np.float32([-3, 1]), np.float32([0.1])])
    ulp = float(np.spacing(np.float32(0.1)))
    assert ball.center.tolist() == [0, float(np.float32(0.1))]
    assert ball.radius[0] < 1e-30 and ulp / 2 <= ball.radius[1] <= 2 * ulp


def test_scatter_counts_the_terms_of_each_element() -> None:
    text = """func.func @main(%x: tensor<2xf32>, %i: tensor<100x1xi32>, %u: tensor<100xf32>) -> tensor<2xf32> {
      %r = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
          inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %t = stablehlo.add %a, %b : tensor<f32>
          stablehlo.return %t : tensor<f32>
      }) : (tensor<2xf32>, tensor<100x1xi32>, tensor<100xf32>) -> tensor<2xf32>
      return %r : tensor<2xf32> }"""
    indices = np.zeros((100, 1), np.int32)
    indices[0] = 1
    ball = ball_of(text, [np.float32([0, 99]), indices, np.ones(100, np.float32)])
    ulp = float(np.spacing(np.float32(99)))
    assert ball.center.tolist() == [99, 100]
    assert 98 * ulp / 2 <= ball.radius[0] <= 101 * ulp and ball.radius[1] <= 2 * ulp


def test_subnormals_may_convert_to_false_where_they_are_flushed() -> None:
    text = """func.func @main(%x: tensor<2xf32>) -> tensor<2xi1> {
      %r = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xi1>
      return %r : tensor<2xi1> }"""
    x = np.float32([1e-40, 1])
    assert ball_of(text, [x], PRESETS["xla-cpu"]).radius.tolist() == [np.inf, 0]
    assert ball_of(text, [x]).radius.tolist() == [0, 0]


def test_integers_that_are_not_known_convert_to_numbers_that_are_not() -> None:
    flat = Flat(
        sr.load("""func.func @main(%x: tensor<2xi1>) -> tensor<2xf32> {
      %r = stablehlo.convert %x : (tensor<2xi1>) -> tensor<2xf32>
      return %r : tensor<2xf32> }""")
    )
    mask = Ball(np.array([True, False]), np.array([np.inf, 0.0]))
    found = transfer(flat.ops[0], fed_to(flat.ops[0]), [mask], STRICT, Evaluator(flat))
    assert found is not None and np.isinf(found[0].radius).tolist() == [True, False]


def test_elementary_functions_may_overflow_within_their_bound() -> None:
    x = np.nextafter(np.float32(np.log(np.finfo(np.float32).max)), np.float32(0))
    ball = ball_of(elementwise("exponential", 1, 1, "f32"), [x[None]], contract_of("tpu"))
    assert excess_of(np.array([np.inf], np.float32), ball, STRICT) is None


@pytest.mark.parametrize(("algorithm", "parts", "kept"), [("bf16x3", 2, 1), ("bf16x6", 3, 2)])
def test_products_of_parts_are_inside_their_contract(algorithm: str, parts: int, kept: int) -> None:
    """Products of bf16 parts whose numbers add up to at most `kept`, added in f32, are inside for single products."""
    draw = np.random.default_rng(5)
    x, y = (draw.uniform(1, 2, shape).astype(np.float32) for shape in ((8, 1), (1, 5)))
    found = np.zeros((8, 5), np.float32)
    for i, a in enumerate(parts_of(x, parts)):
        for j, b in enumerate(parts_of(y, parts)):
            found = found + a * b if i + j <= kept else found
    ball = ball_of(dot(1, "f32"), [x, y], contract_of(f"strict,dot_algorithm={algorithm}"))
    assert np.all(np.abs(found.astype(np.float64) - ball.center) <= ball.radius)


def parts_of(x: np.ndarray, count: int) -> list[np.ndarray]:
    """Return bf16 numbers, in f32, whose sum is near `x`."""
    found: list[np.ndarray] = []
    for _ in range(count):
        found.append((x - sum(found)).astype(ml_dtypes.bfloat16).astype(np.float32))
    return found
