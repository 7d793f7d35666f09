"""What operations with windows declare as temporaries is what they allocate beside their results, or little more."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.diagnostics import LimitError
from tests.ops.test_matrix_memory import SLACK, excess

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


WINDOWS = """func.func @main(%a: tensor<{of}xf32>, %b: tensor<f32>) -> tensor<{to}xf32> {{
  %r = "stablehlo.reduce_window"(%a, %b) <{{window_dimensions = array<i64: {window}>,
    window_strides = array<i64: {strides}>, padding = dense<{padding}> : tensor<{rank}x2xi64>}}> ({{
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    {body}
    stablehlo.return %c : tensor<f32>
  }}) : (tensor<{of}xf32>, tensor<f32>) -> tensor<{to}xf32>
  return %r : tensor<{to}xf32>
}}"""
BODIES = {
    "add": "%c = stablehlo.add %l, %r : tensor<f32>",
    "maximum": "%c = stablehlo.maximum %l, %r : tensor<f32>",
    "general": "%s = stablehlo.add %l, %r : tensor<f32>\n%c = stablehlo.multiply %s, %r : tensor<f32>",
}


SCANS = [
    ("2097152", "2097152", "1", "[[2097151, 0]]", "2097152"),
    ("512x4096", "1, 4096", "1, 1", "[[0, 0], [4095, 0]]", "512x4096"),
]
POOLS = [
    ("16x128x128x8", "1, 3, 3, 1", "1, 2, 2, 1", "[[0, 0], [0, 1], [0, 1], [0, 0]]", "16x64x64x8"),
    ("16x128x128x8", "1, 3, 3, 1", "1, 1, 1, 1", "[[0, 0], [1, 1], [1, 1], [0, 0]]", "16x128x128x8"),
    ("16x128x1024", "1, 1, 20", "1, 1, 1", "[[0, 0], [0, 0], [10, 9]]", "16x128x1024"),
]


@pytest.mark.parametrize(
    ("of", "window", "strides", "padding", "to", "body"),
    [*((*pool, body) for pool in POOLS for body in BODIES),
     *((*scan, body) for scan in SCANS for body in ("add", "maximum"))],
)  # fmt: skip
def test_reduce_window(of: str, window: str, strides: str, padding: str, to: str, body: str) -> None:
    x = np.zeros(tuple(map(int, of.split("x"))), np.float32)
    init = np.float32(-np.inf if body == "maximum" else 0)
    text = WINDOWS.format(
        of=of, window=window, strides=strides, padding=padding, to=to, body=BODIES[body], rank=window.count(",") + 1
    )
    undeclared = excess(text, x, init)
    assert undeclared <= SLACK


@pytest.mark.parametrize("body", ["add", "maximum"])
def test_reduce_window_of_dilated_elements(body: str) -> None:
    text = WINDOWS.format(
        of="500x500",
        window="20, 20",
        strides="7, 2",
        padding="[[0, 0], [0, 0]]",
        to="212x481",
        body=BODIES[body],
        rank=2,
    ).replace("padding =", "base_dilations = array<i64: 3, 2>, window_dilations = array<i64: 1, 2>, padding =")
    undeclared = excess(text, np.zeros((500, 500), np.float32), np.float32(0))
    assert undeclared <= SLACK


def test_padded_elements_of_few_are_reduced_in_parts() -> None:
    text = WINDOWS.format(
        of="1000", window="3", strides="1", padding="[[0, 0]]", to="9989999", body=BODIES["maximum"], rank=1
    ).replace("padding =", "base_dilations = array<i64: 10000>, window_dilations = array<i64: 1>, padding =")
    assert excess(text, np.zeros(1000, np.float32), np.float32(0)) <= SLACK


SELECT_AND_SCATTER = """func.func @main(
    %x: tensor<{of}xf32>, %s: tensor<{src}xf32>, %i: tensor<f32>) -> tensor<{of}xf32> {{
  %r = "stablehlo.select_and_scatter"(%x, %s, %i) <{{window_dimensions = array<i64: {window}>,
    window_strides = array<i64: {strides}>}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }}, {{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.{scatter} %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }}) : (tensor<{of}xf32>, tensor<{src}xf32>, tensor<f32>) -> tensor<{of}xf32>
  return %r : tensor<{of}xf32>
}}"""


@pytest.mark.parametrize("scatter", ["add", "maximum"])
@pytest.mark.parametrize(
    ("of", "src", "window", "strides", "is_cut"),
    [("18x128x128x8", "18x64x64x8", "1, 2, 2, 1", "1, 2, 2, 1", True),
     ("2048x1024", "2047x1023", "2, 2", "1, 1", False),
     ("128x128x130", "122x122x130", "7, 7, 1", "1, 1, 1", True),
     ("1024x1024", "1018x1018", "7, 7", "1, 1", False)],
)  # fmt: skip
def test_select_and_scatter(of: str, src: str, window: str, strides: str, is_cut: bool, scatter: str) -> None:
    random = np.random.default_rng(0)
    x, source = (random.integers(-4, 4, tuple(map(int, n.split("x")))).astype(np.float32) for n in (of, src))
    text = SELECT_AND_SCATTER.format(of=of, src=src, window=window, strides=strides, scatter=scatter)
    assert excess(text, x, source, np.float32(0)) <= SLACK // 4
    few = sr.Limits(max_total_bytes=2 * x.nbytes + source.nbytes + (1 << 24 if is_cut else 1 << 20))
    if is_cut:
        sr.load(text).run(x, source, np.float32(0), limits=few)
    else:
        with pytest.raises(LimitError, match="temporaries"):
            sr.load(text).run(x, source, np.float32(0), limits=few)


def test_select_and_scatter_by_pieces_is_that_of_single_images() -> None:
    random = np.random.default_rng(0)
    x, source = (random.normal(size=n).astype(np.float32) for n in ((21, 128, 128), (21, 63, 63)))
    window = {"window": "1, 3, 3", "strides": "1, 2, 2", "scatter": "add"}
    (whole,) = sr.load(SELECT_AND_SCATTER.format(of="21x128x128", src="21x63x63", **window)).run(x, source, 0.0)
    one = sr.load(SELECT_AND_SCATTER.format(of="1x128x128", src="1x63x63", **window))
    for i in range(21):
        np.testing.assert_array_equal(whole[i], one.run(x[i : i + 1], source[i : i + 1], 0.0)[0][0])


def test_a_small_select_and_scatter_needs_little() -> None:
    x, source = np.arange(16, dtype=np.float32).reshape(4, 4), np.ones((2, 2), np.float32)
    text = SELECT_AND_SCATTER.format(of="4x4", src="2x2", window="2, 2", strides="2, 2", scatter="add")
    (result,) = sr.load(text).run(x, source, np.float32(0), limits=sr.Limits(max_total_bytes=1 << 14))
    assert np.argwhere(result).tolist() == [[1, 1], [1, 3], [3, 1], [3, 3]]
