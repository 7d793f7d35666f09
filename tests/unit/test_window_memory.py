"""What operations with windows declare as temporaries is what they allocate beside their results, or little more."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.unit.test_matrix_memory import SLACK, excess

CONVOLUTION = """func.func @main(%a: {a}, %b: {b}) -> {r} {{
  %r = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {{{window}}}
    {{batch_group_count = 1 : i64, feature_group_count = {groups} : i64}} : ({a}, {b}) -> {r}
  return %r : {r}
}}"""
SHAPES = [
    ("16x64x64x16", "3x3x16x16", "16x64x64x16", "pad = [[1, 1], [1, 1]]", 1),
    ("1x256x256x16", "3x3x16x16", "1x256x256x16", "pad = [[1, 1], [1, 1]]", 1),
    ("16x64x64x16", "1x1x16x16", "16x64x64x16", "pad = [[0, 0], [0, 0]]", 1),
    ("16x64x64x16", "3x3x1x16", "16x64x64x16", "pad = [[1, 1], [1, 1]]", 16),
    ("16x32x32x16", "3x3x16x16", "16x63x63x16", "pad = [[1, 1], [1, 1]], lhs_dilate = [2, 2]", 1),
]
DTYPES = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "i8": np.int8}


@pytest.mark.parametrize("reproducible", [False, True])
@pytest.mark.parametrize("element", DTYPES)
@pytest.mark.parametrize(("lhs", "rhs", "result", "window", "groups"), SHAPES)
def test_convolution(
    lhs: str, rhs: str, result: str, window: str, groups: int, element: str, reproducible: bool
) -> None:
    sums = "i32" if element == "i8" else element
    types = {"a": f"tensor<{lhs}x{element}>", "b": f"tensor<{rhs}x{element}>", "r": f"tensor<{result}x{sums}>"}
    random = np.random.default_rng(0)
    a, b = (random.integers(-4, 4, tuple(map(int, x.split("x")))).astype(DTYPES[element]) for x in (lhs, rhs))
    undeclared = excess(CONVOLUTION.format(**types, window=window, groups=groups), a, b, reproducible=reproducible)
    assert -4 * SLACK <= undeclared <= SLACK
