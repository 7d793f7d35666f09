"""The option `exact_sums` for ops other than reduce: windows, collectives, scatter and batch normalization."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import stablehlo_ref as sr
from tests.numerics.test_exact_sums import rounded

Array = npt.NDArray[Any]
NUMPY = {"f64": np.float64, "f32": np.float32, "bf16": ml_dtypes.bfloat16}
SUM = """({{
  ^bb0(%a: tensor<{type}>, %b: tensor<{type}>):
    %s = stablehlo.add %a, %b : tensor<{type}>
    stablehlo.return %s : tensor<{type}>
  }})"""
NO_SPREAD, WIDE = "near", "far apart"


def exactly(terms: Iterable[Any], dtype: npt.DTypeLike) -> Any:
    return rounded(sum((Fraction(float(x)) for x in terms), Fraction(0)), dtype)[()]


def operand(shape: tuple[int, ...], type: str, exponents: str) -> Array:
    """Return numbers of which many cancel."""
    g = np.random.default_rng(len(shape))
    reach = {NO_SPREAD: 1, WIDE: 60}[exponents]
    x = g.standard_normal(shape) * np.exp2(g.integers(-reach, reach, shape))
    flat = x.reshape(-1)
    flat[1::3] = -flat[: len(flat[1::3]) * 3 : 3]
    return x.astype(NUMPY[type])


def evaluate(text: str, *operands: Array) -> list[Array]:
    program = sr.parse(text)
    results = program.run(*operands, exact_sums=True)
    for fast, plain in zip(results, program.run(*operands, exact_sums=True, fast=False)):
        assert np.asarray(fast).tobytes() == np.asarray(plain).tobytes()
    return list(map(np.asarray, results))


# --- windows --------------------------------------------------------------------------------------------------------

WINDOWS = """
func.func @main(%x: tensor<{shape}x{type}>, %init: tensor<{type}>) -> tensor<{result}x{type}> {{
  %0 = "stablehlo.reduce_window"(%x, %init) <{{window_dimensions = array<i64: {window}>{attributes}}}> {body}
    : (tensor<{shape}x{type}>, tensor<{type}>) -> tensor<{result}x{type}>
  return %0 : tensor<{result}x{type}>
}}
"""


def windows(x: Array, init: Any, window: tuple[int, ...], strides: tuple[int, ...], dilation: int, pad: int) -> Array:
    """Return the exact sums of windows of a matrix with `dilation` and `pad` in both dimensions."""
    padded = np.full([(n - 1) * dilation + 1 + 2 * pad for n in x.shape], init, x.dtype)
    inner = slice(pad, -pad or None, dilation)
    padded[inner, inner] = x
    counts = [(n - w) // s + 1 for n, w, s in zip(padded.shape, window, strides)]
    result = np.empty(counts, x.dtype)
    for i, j in np.ndindex(*counts):
        starts = i * strides[0], j * strides[1]
        part = padded[tuple(slice(s, s + w) for s, w in zip(starts, window))]
        result[i, j] = exactly([init, *part.flat], x.dtype)
    return result


@pytest.mark.parametrize("exponents", [NO_SPREAD, WIDE])
@pytest.mark.parametrize("type", NUMPY)
@pytest.mark.parametrize(
    ("window", "strides", "dilation", "pad", "init"),
    [
        ((2, 2), (1, 1), 1, 0, 0.0),
        ((3, 5), (2, 1), 2, 1, 0.375),
        ((7, 6), (1, 3), 1, 2, -0.0),
        ((1, 8), (1, 1), 1, 0, 0),
    ],
)
def test_windows(
    window: tuple[int, int], strides: tuple[int, int], dilation: int, pad: int, init: float, type: str, exponents: str
) -> None:
    x = operand((8, 8), type, exponents)
    x[2] = 0
    expected = windows(x, np.asarray(init, x.dtype), window, strides, dilation, pad)
    attributes = (
        f", window_strides = array<i64: {strides[0]}, {strides[1]}>"
        f", base_dilations = array<i64: {dilation}, {dilation}>"
        f", padding = dense<{pad}> : tensor<2x2xi64>"
    )
    text = WINDOWS.format(
        shape="8x8", type=type, window=f"{window[0]}, {window[1]}", attributes=attributes,
        body=SUM.format(type=type), result="x".join(map(str, expected.shape)),
    )  # fmt: skip
    (result,) = evaluate(text, x, np.asarray(init, x.dtype))
    np.testing.assert_array_equal(result, expected)


def cumulative(size: int, type: str, padding: str) -> str:
    return WINDOWS.format(
        shape=f"3x{size}", type=type, window=f"1, {size}", body=SUM.format(type=type), result=f"3x{size}",
        attributes=f", padding = dense<[[0, 0], [{padding}]]> : tensor<2x2xi64>",
    )  # fmt: skip


@pytest.mark.parametrize("type", ["f32", "f64"])
@pytest.mark.parametrize("exponents", [NO_SPREAD, WIDE])
@pytest.mark.parametrize("reverse", [False, True])
def test_cumulative_sums(reverse: bool, exponents: str, type: str) -> None:
    x = operand((3, 200), type, exponents)
    (result,) = evaluate(cumulative(200, type, "0, 199" if reverse else "199, 0"), x, np.zeros((), x.dtype))
    for row, sums in zip(x, result):
        for i in range(0, 200, 7):
            assert sums[i] == exactly(row[i:] if reverse else row[: i + 1], x.dtype)


@pytest.mark.parametrize("type", ["f32", "f64"])
@pytest.mark.parametrize("reverse", [False, True])
def test_cumulative_sums_of_zeros(reverse: bool, type: str) -> None:
    x = operand((3, 200), type, WIDE)
    x[0, 70:130], x[1, :150], x[2, 100:] = 0.0, -0.0, -x[2, 99::-1]
    if reverse:
        x = x[:, ::-1].copy()
    (result,) = evaluate(cumulative(200, type, "0, 199" if reverse else "199, 0"), x, np.array(-0.0, x.dtype))
    for row, sums in zip(x, result):
        for i in range(0, 200, 3):
            terms = row[i:] if reverse else row[: i + 1]
            expected = exactly(terms, x.dtype)
            assert sums[i] == expected
            assert expected != 0 or np.signbit(sums[i]) == bool((terms == 0).all() and np.signbit(terms).all())


@pytest.mark.parametrize("padding", ["299, 0", "0, 299"])
def test_cumulative_sums_along_columns(padding: str) -> None:
    text = WINDOWS.format(
        shape="300x100", type="f32", window="300, 1", body=SUM.format(type="f32"), result="300x100",
        attributes=f", padding = dense<[[{padding}], [0, 0]]> : tensor<2x2xi64>",
    )  # fmt: skip
    x = operand((300, 100), "f32", WIDE)
    (result,) = evaluate(text, x, np.zeros((), x.dtype))
    for i, j in product(range(0, 300, 23), range(0, 100, 9)):
        assert result[i, j] == exactly(x[: i + 1, j] if padding[0] != "0" else x[i:, j], x.dtype)


def test_special_terms_of_cumulative_sums() -> None:
    x = np.array([[-0.0, 0.0, 1.0, np.inf], [-0.0, -0.0, 1e308, 1e308], [1e308, 1e308, -1e308, 2.0**-1074]])
    (result,) = evaluate(cumulative(4, "f64", "3, 0"), x, np.array(-0.0))
    expected = np.array([[-0.0, 0.0, 1.0, np.inf], [-0.0, -0.0, 1e308, np.inf], [1e308, np.inf, 1e308, 1e308]])
    np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(np.signbit(result), np.signbit(expected))
    (result,) = evaluate(cumulative(4, "f64", "3, 0"), np.array([[np.inf, 1, -np.inf, 2]] * 3), np.array(0.0))
    np.testing.assert_array_equal(result, [[np.inf, np.inf, np.nan, np.nan]] * 3)


# --- collectives ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("type", ["f32", "f64"])
@pytest.mark.parametrize("op", ["all_reduce", "reduce_scatter", "cross-replica-sum"])
def test_collectives(op: str, type: str) -> None:
    xs = [operand((6, 30), type, WIDE)[i] for i in range(6)]
    xs[5][:9] = -xs[4][:9]
    xs[0][8], xs[4][8], xs[5][8] = 0, -0.0, -0.0
    size = 5 if op == "reduce_scatter" else 30
    attributes = {"reduce_scatter": ", scatter_dimension = 0 : i64"}.get(op, "")
    text = f"""
    func.func @main(%x: tensor<30x{type}>) -> tensor<{size}x{type}> {{
      %0 = "stablehlo.{op}"(%x) {"" if "sum" in op else SUM.format(type=type)} {{
        replica_groups = dense<[[0, 1, 2, 3, 4, 5]]> : tensor<1x6xi64>{attributes}
      }} : (tensor<30x{type}>) -> tensor<{size}x{type}>
      return %0 : tensor<{size}x{type}>
    }}"""
    results = sr.parse(text).run_replicas([[x] for x in xs], exact_sums=True)
    expected = np.array([exactly(column, xs[0].dtype) for column in zip(*xs)])
    for process, (result,) in enumerate(results):
        part = slice(process * 5, process * 5 + 5) if op == "reduce_scatter" else slice(None)
        np.testing.assert_array_equal(np.asarray(result), expected[part])


# --- scatter --------------------------------------------------------------------------------------------------------

SCATTER = """
func.func @main(%x: tensor<7x{n}x{type}>, %i: tensor<40x1xi32>, %u: tensor<40x{n}x{type}>) -> tensor<7x{n}x{type}> {{
  %0 = "stablehlo.scatter"(%x, %i, %u) <{{
    scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
  }}> {body} : (tensor<7x{n}x{type}>, tensor<40x1xi32>, tensor<40x{n}x{type}>) -> tensor<7x{n}x{type}>
  return %0 : tensor<7x{n}x{type}>
}}
"""


@pytest.mark.parametrize("type", NUMPY)
@pytest.mark.parametrize("n", [1, 3, 5000])
def test_scatter(n: int, type: str) -> None:
    x, updates = operand((7, n), type, NO_SPREAD), operand((40, n), type, WIDE)
    indices = np.random.default_rng(0).integers(0, 8, (40, 1)).astype(np.int32)  # 7 is out of bounds
    (result,) = evaluate(SCATTER.format(n=n, type=type, body=SUM.format(type=type)), x, indices, updates)
    for row, column in product(range(7), range(0, n, 499)):
        terms = [x[row, column], *updates[indices[:, 0] == row, column]]
        assert result[row, column] == exactly(terms, x.dtype)


def test_select_and_scatter() -> None:
    text = f"""
    func.func @main(%x: tensor<20xf32>, %u: tensor<18xf32>, %init: tensor<f32>) -> tensor<20xf32> {{
      %0 = "stablehlo.select_and_scatter"(%x, %u, %init) <{{window_dimensions = array<i64: 3>}}> ({{
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
      }}, {SUM.format(type="f32")[1:-1]}) : (tensor<20xf32>, tensor<18xf32>, tensor<f32>) -> tensor<20xf32>
      return %0 : tensor<20xf32>
    }}"""
    x, init = np.tile(np.array([0, 3, 1, 2], np.float32), 5), np.float32(0.5)
    updates = np.tile(np.array([1e8, 1, -1e8], np.float32), 6)
    (result,) = evaluate(text, x, updates, init)
    selected = [i + int(np.argmax(x[i : i + 3])) for i in range(18)]
    expected = [exactly([init, *(u for u, at in zip(updates, selected) if at == i)], np.float32) for i in range(20)]
    np.testing.assert_array_equal(result, expected)


# --- batch normalization --------------------------------------------------------------------------------------------


def columns(x: Array) -> Iterator[Array]:
    return iter(np.moveaxis(x, 1, 0).reshape(x.shape[1], -1))


@pytest.mark.parametrize("type", ["f32", "f64"])
@pytest.mark.parametrize("shape", [(16, 3, 5), (4, 2, 300)])
def test_batch_norm_training(shape: tuple[int, ...], type: str) -> None:
    x = operand(shape, type, WIDE)
    sizes, features = "x".join(map(str, shape)), shape[1]
    text = f"""
    func.func @main(%x: tensor<{sizes}x{type}>, %s: tensor<{features}x{type}>)
        -> (tensor<{sizes}x{type}>, tensor<{features}x{type}>, tensor<{features}x{type}>) {{
      %0:3 = "stablehlo.batch_norm_training"(%x, %s, %s) <{{epsilon = 0.001 : f32, feature_index = 1 : i64}}>
        : (tensor<{sizes}x{type}>, tensor<{features}x{type}>, tensor<{features}x{type}>)
        -> (tensor<{sizes}x{type}>, tensor<{features}x{type}>, tensor<{features}x{type}>)
      return %0#0, %0#1, %0#2 : tensor<{sizes}x{type}>, tensor<{features}x{type}>, tensor<{features}x{type}>
    }}"""
    _, means, variances = evaluate(text, x, np.ones(features, x.dtype))
    for column, mean, variance in zip(columns(x), means, variances):
        center = exactly(column, np.float64) / column.size
        assert mean == center.astype(x.dtype)
        squares = np.square(column - center.astype(x.dtype))
        assert variance == (exactly(squares, np.float64) / column.size).astype(x.dtype)


def test_batch_norm_grad() -> None:
    text = """
    func.func @main(%x: tensor<50x2xf32>, %v: tensor<2xf32>, %dy: tensor<50x2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
      %0:3 = "stablehlo.batch_norm_grad"(%x, %v, %v, %v, %dy) <{epsilon = 0.0 : f32, feature_index = 1 : i64}>
        : (tensor<50x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<50x2xf32>)
        -> (tensor<50x2xf32>, tensor<2xf32>, tensor<2xf32>)
      return %0#1, %0#2 : tensor<2xf32>, tensor<2xf32>
    }"""
    x, dy, ones = operand((50, 2), "f32", NO_SPREAD), operand((50, 2), "f32", WIDE), np.ones(2, np.float32)
    scale, offset = evaluate(text, x, ones, dy)
    for j in range(2):
        assert offset[j] == exactly(dy[:, j], np.float64).astype(np.float32)
        assert scale[j] == exactly((x[:, j] - 1) * dy[:, j], np.float64).astype(np.float32)


# --- nothing to add, or no dimensions -------------------------------------------------------------------------------


@pytest.mark.parametrize("type", NUMPY)
def test_scatter_of_indices_that_are_all_out_of_bounds(type: str) -> None:
    x, updates = operand((7, 3), type, WIDE), operand((40, 3), type, WIDE)
    text = SCATTER.format(n=3, type=type, body=SUM.format(type=type))
    (result,) = evaluate(text, x, np.full((40, 1), 7, np.int32), updates)
    np.testing.assert_array_equal(result, x)


@pytest.mark.parametrize("shape", [(0, 3), (0, 3, 2), (2, 3, 0)])
def test_batch_normalization_of_nothing(shape: tuple[int, ...]) -> None:
    """Means are 0 / 0; the gradients of scale and offset are empty sums."""
    x = "x".join(map(str, shape))
    text = f"""
    func.func @main(%x: tensor<{x}xf32>, %s: tensor<3xf32>)
        -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {{
      %0:3 = "stablehlo.batch_norm_training"(%x, %s, %s) <{{epsilon = 0.001 : f32, feature_index = 1 : i64}}>
        : (tensor<{x}xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<{x}xf32>, tensor<3xf32>, tensor<3xf32>)
      %1:3 = "stablehlo.batch_norm_grad"(%x, %s, %s, %s, %x) <{{epsilon = 0.001 : f32, feature_index = 1 : i64}}>
        : (tensor<{x}xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<{x}xf32>)
        -> (tensor<{x}xf32>, tensor<3xf32>, tensor<3xf32>)
      return %0#1, %0#2, %1#1, %1#2 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
    }}"""
    mean, variance, scale, offset = evaluate(text, np.zeros(shape, np.float32), np.ones(3, np.float32))
    assert np.isnan(mean).all()
    assert np.isnan(variance).all()
    np.testing.assert_array_equal([scale, offset], 0)


@pytest.mark.parametrize(
    ("x", "init", "expected"), [(0.25, 1, 1.25), (1e300, 1, 1e300), (np.inf, 1, np.inf), (-0.0, -0.0, -0.0)]
)
def test_window_without_dimensions(x: float, init: float, expected: float) -> None:
    text = f"""
    func.func @main(%x: tensor<f64>, %init: tensor<f64>) -> tensor<f64> {{
      %0 = "stablehlo.reduce_window"(%x, %init) <{{window_dimensions = array<i64>}}> {SUM.format(type="f64")}
        : (tensor<f64>, tensor<f64>) -> tensor<f64>
      return %0 : tensor<f64>
    }}"""
    (result,) = evaluate(text, np.float64(x), np.float64(init))
    assert result.tobytes() == np.float64(expected).tobytes()


# --- memory ---------------------------------------------------------------------------------------------------------


def far_apart(shape: tuple[int, ...]) -> Array:
    g = np.random.default_rng(1)
    return g.standard_normal(shape) * np.exp2(g.integers(-1000, 800, shape))


def matrix_windows(shape: tuple[int, int], window: tuple[int, int]) -> str:
    result = f"{shape[0] - window[0] + 1}x{shape[1] - window[1] + 1}"
    return WINDOWS.format(
        shape=f"{shape[0]}x{shape[1]}", type="f64", window=f"{window[0]}, {window[1]}", attributes="",
        body=SUM.format(type="f64"), result=result,
    )  # fmt: skip


def test_windows_need_little_memory() -> None:
    program, x = sr.parse(matrix_windows((260, 250), (3, 4))), far_apart((260, 250))
    tracemalloc.start()
    try:
        result = np.asarray(program.run(x, np.zeros(()), exact_sums=True)[0])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 25 * x.nbytes  # a window sum has 41 parts
    for i, j in product((0, 100, 257), (0, 7, 128, 246)):
        assert result[i, j] == exactly(x[i : i + 3, j : j + 4].flat, np.float64)


def test_windows_in_boxes_with_strides_and_dilations() -> None:
    x, init = operand((3, 90, 300), "f32", WIDE), np.float32(0.5)
    text = WINDOWS.format(
        shape="3x90x300", type="f32", window="2, 3, 4", body=SUM.format(type="f32"), result="2x43x98",
        attributes=", window_strides = array<i64: 1, 2, 3>, window_dilations = array<i64: 1, 2, 2>",
    )  # fmt: skip
    (result,) = evaluate(text, x, init)
    for i, j, k in product((0, 1), (0, 1, 20, 42), (0, 1, 50, 97)):
        terms = x[i : i + 2, 2 * j : 2 * j + 5 : 2, 3 * k : 3 * k + 7 : 2]
        assert result[i, j, k] == exactly([init, *terms.flat], np.float32)


def test_memory_that_exact_sums_need_is_limited() -> None:
    x, limits = far_apart((3, 100_000)), sr.Limits(max_total_bytes=30_000_000)
    x[:, -1] = np.inf  # otherwise sums are computed block by block
    with pytest.raises(sr.EvaluationError, match="for temporaries"):
        sr.parse(cumulative(100_000, "f64", "99999, 0")).run(x, np.zeros(()), exact_sums=True, limits=limits)
    rows, numbers = np.ones((7, 5000)), np.arange(40, dtype=np.int32).reshape(40, 1) % 7
    scatter = sr.parse(SCATTER.format(n=5000, type="f64", body=SUM.format(type="f64")))
    with pytest.raises(sr.EvaluationError, match="for temporaries"):
        limits = sr.Limits(max_total_bytes=20_000_000)
        scatter.run(rows, numbers, far_apart((40, 5000)), exact_sums=True, limits=limits)


def test_memory_of_exact_batch_norm_is_limited() -> None:
    big, small = "tensor<500000x2xf32>", "tensor<2xf32>"
    program = sr.parse(f"""
    func.func @main(%x: {big}, %v: {small}) -> {small} {{
      %0:3 = "stablehlo.batch_norm_grad"(%x, %v, %v, %v, %x) <{{epsilon = 0.0 : f32, feature_index = 1 : i64}}>
        : ({big}, {small}, {small}, {small}, {big}) -> ({big}, {small}, {small})
      return %0#1 : {small}
    }}""")
    operands, limits = (np.ones((500000, 2), np.float32), np.ones(2, np.float32)), sr.Limits(max_total_bytes=15_000_000)
    program.run(*operands, limits=limits)
    with pytest.raises(sr.EvaluationError, match="12 MB of them for temporaries"):
        program.run(*operands, exact_sums=True, limits=limits)
