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
from stablehlo_ref.debug.contract import PRESETS, Contract, contract_of
from stablehlo_ref.debug.cut import Flat, fed_to
from stablehlo_ref.debug.evaluate import Evaluator
from stablehlo_ref.debug.shadow import Shadow, exact, transfer

STRICT = PRESETS["strict"]
DTYPES = {"f32": np.dtype(np.float32), "f16": np.dtype(np.float16), "bf16": np.dtype(ml_dtypes.bfloat16)}


def shadow_of(text: str, inputs: Sequence[np.ndarray], contract: Contract = STRICT) -> Shadow:
    """Return the bound on the result of the only op of a program, on known operands."""
    flat = Flat(sr.load(text))
    op = flat.ops[-1]
    values = dict(zip(flat.arguments, inputs))
    evaluate = Evaluator(flat)
    operands = [exact(values[v] if v in values else evaluate.constant(v)) for v in fed_to(op)]
    found = transfer(op, fed_to(op), operands, contract, evaluate)
    assert found is not None
    return Shadow(found[0].center, np.broadcast_to(found[0].radius, found[0].center.shape), found[0].deviation)


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
    shadow = shadow_of(elementwise(op, 2, size, type), [x, y])
    (rounded,) = sr.load(elementwise(op, 2, size, type)).run(x, y)
    ratios = []
    for a, b, r, c, bound in zip(x, y, rounded, shadow.center, shadow.radius):
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
    shadow = shadow_of(elementwise(op, 1, 300, "f32"), [x])
    with mpmath.workdps(40):
        for value, center, bound in zip(x, shadow.center, shadow.radius):
            apart = abs(function(mpmath.mpf(float(value))) - mpmath.mpf(float(center)))
            assert apart <= 1e-6 * bound  # the center is far more precise than f32
            assert bound <= 1.01 * np.spacing(np.float32(abs(center)))


def test_intervals_contain_all_results() -> None:
    """Each function of each operand inside an interval is inside the interval of results."""
    draw = np.random.default_rng(3)
    centers, radii = draw.standard_normal((2, 200)) + 3, np.abs(draw.standard_normal((2, 200))) / 10
    for op, function in {"add": np.add, "multiply": np.multiply, "divide": np.divide, "maximum": np.maximum}.items():
        flat = Flat(sr.load(elementwise(op, 2, 200, "f32")))
        operands = [Shadow(c, r) for c, r in zip(centers, radii)]
        found = transfer(flat.ops[0], fed_to(flat.ops[0]), operands, STRICT, Evaluator(flat))
        assert found is not None
        for _ in range(20):
            inside = centers + radii * draw.uniform(-1, 1, radii.shape)
            assert np.all(np.abs(function(*inside) - found[0].center) <= found[0].radius)
    for op, function in {"tanh": np.tanh, "sine": np.sin, "log": np.log, "floor": np.floor, "sqrt": np.sqrt}.items():
        flat = Flat(sr.load(elementwise(op, 1, 200, "f32")))
        found = transfer(flat.ops[0], fed_to(flat.ops[0]), [Shadow(centers[0], radii[0])], STRICT, Evaluator(flat))
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
    shadow = shadow_of(dot(n, type), [x, y])
    true = [
        [sum(Fraction(float(a)) * Fraction(float(b)) for a, b in zip(x[i], y[:, j])) for j in range(5)]
        for i in range(8)
    ]
    for _ in range(3):
        found = sequential(x, y, draw.permutation(n)).astype(DTYPES[type])
        assert np.all(np.abs(found.astype(np.float64) - shadow.center) <= shadow.radius)
        errors = [abs(float(Fraction(float(found[i, j])) - true[i][j])) for i in range(8) for j in range(5)]
        ratio = np.median(shadow.radius.reshape(-1) / np.maximum(errors, 1e-300))
        assert ratio <= max(4, 2 * n)


def test_tf32_is_inside_its_contract_only() -> None:
    draw = np.random.default_rng(4)
    x, y = (draw.standard_normal(shape).astype(np.float32) for shape in ((8, 64), (64, 5)))
    short = [((a.view(np.uint32) + 0x1000) & 0xFFFFE000).view(np.float32) for a in (x, y)]
    found = sequential(*short, np.arange(64)).astype(np.float64)
    strict, tf32 = (shadow_of(dot(64, "f32"), [x, y], contract_of(c)) for c in ("strict", "strict,dot_algorithm=tf32"))
    assert np.all(np.abs(found - tf32.center) <= tf32.radius)
    assert np.any(np.abs(found - strict.center) > strict.radius)
