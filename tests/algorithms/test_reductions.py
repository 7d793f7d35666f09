"""Test reductions of rows of few elements, and init values that make no difference."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce

import numpy as np
import pytest

import stablehlo_ref as sr

ROWS = 2048


def program(op: str, size: int, element: str, init: str) -> sr.Program:
    return sr.parse(f"""
        func.func @main(%x: tensor<{ROWS}x{size}x{element}>) -> tensor<{ROWS}x{element}> {{
          %init = stablehlo.constant dense<{init}> : tensor<{element}>
          %0 = stablehlo.reduce(%x init: %init) applies stablehlo.{op} across dimensions = [1]
              : (tensor<{ROWS}x{size}x{element}>, tensor<{element}>) -> tensor<{ROWS}x{element}>
          return %0 : tensor<{ROWS}x{element}>
        }}""")


def larger(x: float, y: float) -> float:
    """Return the maximum of IEEE 754-2019."""
    if math.isnan(x) or math.isnan(y):
        return math.nan
    return x if (x, math.copysign(1, x)) > (y, math.copysign(1, y)) else y


@pytest.mark.parametrize("size", [1, 2, 3, 15, 16])
@pytest.mark.parametrize("op, element, init, combine", [
    ("and", "i1", "true", lambda x, y: x and y),
    ("or", "i1", "true", lambda x, y: x or y),
    ("and", "i8", "-1", lambda x, y: x & y),
    ("xor", "ui16", "0", lambda x, y: x ^ y),
    ("add", "i8", "0", lambda x, y: (x + y + 128) % 256 - 128),
    ("add", "i8", "100", lambda x, y: (x + y + 128) % 256 - 128),
    ("maximum", "f32", "-1.5", larger),
])  # fmt: skip
def test_reduces_short_rows(
    op: str, element: str, init: str, combine: Callable[[float, float], float], size: int
) -> None:
    rng = np.random.default_rng(size)
    dtype = np.dtype({"i1": "?", "i8": "i1", "ui16": "u2", "f32": "f4"}[element])
    if dtype.kind == "f":
        x = rng.choice(np.array([-np.inf, -2, -0.0, 0.0, 1.5, np.inf, np.nan], dtype), (ROWS, size))
    else:
        x = rng.integers(0, 256, (ROWS, size)).astype(dtype)
    first = True if init == "true" else float(init)
    expected = [reduce(combine, row, dtype.type(first).item()) for row in x.tolist()]
    (result,) = program(op, size, element, init).run(x)
    np.testing.assert_array_equal(result, np.array(expected, dtype))
    if dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(result), np.signbit(np.array(expected, dtype)))


def test_result_is_not_the_argument_where_nothing_is_reduced() -> None:
    x = np.ones((ROWS, 1), np.bool_)
    (result,) = program("and", 1, "i1", "true").run(x)
    assert not np.shares_memory(x, result)
    np.testing.assert_array_equal(result, x[:, 0])
