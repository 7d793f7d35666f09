"""The decompositions of CHLO's ops compute what the ops do: exactly, or within the error of an approximation."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import stablehlo_ref as sr
from spec_checks.examples import examples
from spec_checks.strategies import arrays, same
from tests.passes.programs import tensor, transformed

NAME = "chlo-legalize-to-stablehlo"
DTYPES = {
    "f32": np.dtype(np.float32), "f64": np.dtype(np.float64), "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16), "complex<f32>": np.dtype(np.complex64),
    "complex<f64>": np.dtype(np.complex128), "i32": np.dtype(np.int32), "ui64": np.dtype(np.uint64),
    "i64": np.dtype(np.int64), "i16": np.dtype(np.int16), "ui8": np.dtype(np.uint8),
}  # fmt: skip
# Errors in units of the last place of results of magnitude 1 and more, and of 1 for smaller ones.
APPROXIMATIONS = {
    "acos": 3, "acosh": 3, "asin": 3, "asinh": 3, "atan": 3, "atanh": 3, "bessel_i1e": 8, "cosh": 12, "digamma": 40,
    "erf": 4, "erf_inv": 20, "erfc": 6, "lgamma": 40, "sinh": 12, "square": 2, "tan": 0,
}  # fmt: skip
OF_REAL_NUMBERS = ("bessel_i1e", "digamma", "erf", "erf_inv", "erfc", "lgamma")
PROPERTY = examples(everyday=15, all=40, suppress_health_check=list(HealthCheck))


def results(text: str, *inputs: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return the results of a program before and after the pass, which leaves no op of CHLO."""
    after = transformed(sr.load(text), NAME)
    assert "chlo." not in str(after)
    return [np.asarray(r) for r in sr.load(text).run(*inputs)], [np.asarray(r) for r in after.run(*inputs)]


def unary(op: str, element: str, shape: tuple[int, ...], result: str | None = None) -> str:
    t, r = tensor(shape, element), tensor(shape, result or element)
    return f"func.func @main(%x: {t}) -> {r} {{\n  %0 = chlo.{op} %x : {t} -> {r}\n  return %0 : {r}\n}}\n"


def binary(op: str, element: str, *shapes: tuple[int, ...]) -> str:
    lhs, rhs, result = (tensor(shape, element) for shape in shapes)
    types = f"({lhs}, {rhs}) -> {result}"
    body = f"  %0 = chlo.{op} %x, %y : {types}\n  return %0 : {result}\n"
    return f"func.func @main(%x: {lhs}, %y: {rhs}) -> {result} {{\n{body}}}\n"


def samples(element: str) -> np.ndarray:
    rng = np.random.default_rng(7)
    values = np.concatenate([rng.normal(size=300), rng.uniform(-1, 1, 300), rng.uniform(-8, 8, 200)])
    values = values + 1j * rng.permutation(values) if element.startswith("complex") else values
    return values.astype(DTYPES[element])


def assert_near(found: np.ndarray, expected: np.ndarray, units: float) -> None:
    epsilon = float(ml_dtypes.finfo(expected.dtype).eps)
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    found, expected = found.astype(wide), expected.astype(wide)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(np.isfinite(found), finite)
    errors = np.abs(found[finite] - expected[finite]) / np.maximum(np.abs(expected[finite]), 1)
    assert np.max(errors, initial=0) <= units * epsilon


@pytest.mark.parametrize("element", ["f32", "f64", "f16", "bf16", "complex<f32>", "complex<f64>"])
@pytest.mark.parametrize("op", APPROXIMATIONS)
def test_approximations_are_within_their_error(op: str, element: str) -> None:
    if element.startswith("complex") and op in OF_REAL_NUMBERS:
        pytest.skip("takes real numbers only")
    x = samples(element)
    (expected,), (found,) = results(unary(op, element, x.shape), x)
    assert_near(found, expected, APPROXIMATIONS[op])


@pytest.mark.parametrize("element", ["f32", "f64", "f16"])
def test_zeta_and_polygamma_are_near(element: str) -> None:
    rng = np.random.default_rng(3)
    x, q = rng.uniform(1.5, 8, 200).astype(DTYPES[element]), rng.uniform(0.5, 8, 200).astype(DTYPES[element])
    (expected,), (found,) = same_types("zeta", element, x, q)
    assert_near(found, expected, 60)
    n = rng.integers(0, 5, 200).astype(DTYPES[element])
    (expected,), (found,) = same_types("polygamma", element, n, q)
    assert_near(found, expected, 200)


def same_types(op: str, element: str, *inputs: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
    t = tensor(inputs[0].shape, element)
    body = f"  %0 = chlo.{op} %x, %y : {t}, {t} -> {t}\n  return %0 : {t}\n"
    return results(f"func.func @main(%x: {t}, %y: {t}) -> {t} {{\n{body}}}\n", *inputs)


# --- exact decompositions -------------------------------------------------------------------------------------------


@PROPERTY
@given(data=st.data())
def test_exact_functions(data: st.DataObject) -> None:
    op, elements, result = data.draw(st.sampled_from((
        ("conj", ("f32", "complex<f64>"), None), ("is_inf", ("f32", "f64", "f16"), "i1"),
        ("is_pos_inf", ("f32", "bf16"), "i1"), ("is_neg_inf", ("f32", "f64"), "i1"),
    )))  # fmt: skip
    element = data.draw(st.sampled_from(elements))
    x = data.draw(arrays(DTYPES[element], (4,)))
    (expected,), (found,) = results(unary(op, element, x.shape, result), x)
    assert same(found, expected)


@PROPERTY
@given(data=st.data())
def test_next_after_and_mulhi(data: st.DataObject) -> None:
    op, elements = data.draw(st.sampled_from((
        ("next_after", ("f32", "f64", "f16", "bf16")), ("mulhi", ("i32", "i64", "ui64", "i16", "ui8")),
    )))  # fmt: skip
    element = data.draw(st.sampled_from(elements))
    inputs = [data.draw(arrays(DTYPES[element], (5,))) for _ in range(2)]
    (expected,), (found,) = same_types(op, element, *inputs)
    assert same(found, expected)


@st.composite
def broadcast_shapes(draw: st.DrawFn, count: int) -> list[tuple[int, ...]]:
    """Shapes that broadcast, and then their common shape."""
    common = draw(st.lists(st.integers(0, 3), max_size=3))
    shapes = []
    for _ in range(count):
        kept = draw(st.integers(0, len(common)))
        tail = common[len(common) - kept :]
        shapes.append(tuple(1 if draw(st.booleans()) else n for n in tail))
    return [*shapes, np.broadcast_shapes(*shapes)]


@PROPERTY
@given(data=st.data())
def test_broadcasting(data: st.DataObject) -> None:
    op = data.draw(st.sampled_from(("add", "subtract", "maximum", "power", "next_after", "atan2")))
    lhs, rhs, result = data.draw(broadcast_shapes(2))
    inputs = [data.draw(arrays(DTYPES["f32"], shape)) for shape in (lhs, rhs)]
    (expected,), (found,) = results(binary(f"broadcast_{op}", "f32", lhs, rhs, result), *inputs)
    assert same(found, expected)


@PROPERTY
@given(data=st.data())
def test_broadcasting_of_dynamic_shapes(data: st.DataObject) -> None:
    lhs, rhs, result = data.draw(broadcast_shapes(2))
    inputs = [data.draw(arrays(DTYPES["f32"], shape)) for shape in (lhs, rhs)]
    text = binary("broadcast_add", "f32", lhs, rhs, result)
    types = [tensor(shape, "f32") for shape in (lhs, rhs, result)]
    for static in sorted(types, key=len, reverse=True):
        text = text.replace(static, f"tensor<{'?x' * static.count('x')}f32>")
    (expected,), (found,) = results(text, *inputs)
    assert same(found, expected)


@PROPERTY
@given(data=st.data())
def test_broadcast_select(data: st.DataObject) -> None:
    *shapes, result = data.draw(broadcast_shapes(3))
    elements = ("i1", "i32", "i32")
    types = [tensor(shape, element) for shape, element in zip(shapes, elements)]
    t = tensor(result, "i32")
    text = (
        f"func.func @main(%p: {types[0]}, %x: {types[1]}, %y: {types[2]}) -> {t} {{\n"
        f'  %0 = "chlo.broadcast_select"(%p, %x, %y) : ({", ".join(types)}) -> {t}\n  return %0 : {t}\n}}\n'
    )
    dtypes = (np.dtype(bool), DTYPES["i32"], DTYPES["i32"])
    inputs = [data.draw(arrays(dtype, shape)) for dtype, shape in zip(dtypes, shapes)]
    (expected,), (found,) = results(text, *inputs)
    assert same(found, expected)


@pytest.mark.parametrize("is_dynamic", [False, True])
@PROPERTY
@given(data=st.data())
def test_top_k(is_dynamic: bool, data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from(((5,), (2, 4), (3, 1))))
    k = data.draw(st.integers(0, shape[-1]))
    x = data.draw(arrays(DTYPES["f32"], shape))
    t, v, i = (tensor(s, e) for s, e in ((shape, "f32"), ((*shape[:-1], k), "f32"), ((*shape[:-1], k), "i32")))
    if is_dynamic:
        t, v, i = (f"tensor<{'?x' * len(shape)}{e}>" for e in ("f32", "f32", "i32"))
    call = f"chlo.top_k(%x, k = {k}) : {t} -> ({v}, {i})"
    text = f"func.func @main(%x: {t}) -> ({v}, {i}) {{\n  %0:2 = {call}\n  return %0#0, %0#1 : {v}, {i}\n}}\n"
    expected, found = results(text, x)
    assert all(map(same, found, expected))


SCAN = """
func.func @main(%x: tensor<3x{n}xi32>, %init: tensor<3xi32>) -> (tensor<3x{n}xi32>, tensor<3xi32>) {
  %0:2 = "chlo.scan"(%x, %init) <{
    dimension = 1 : i64, is_reverse = {reverse}, operandSegmentSizes = array<i32: 1, 1>,
    resultSegmentSizes = array<i32: 1, 1>
  }> ({
  ^bb0(%a: tensor<3xi32>, %b: tensor<3xi32>):
    %1 = stablehlo.multiply %a, %b : tensor<3xi32>
    %2 = stablehlo.add %a, %b : tensor<3xi32>
    stablehlo.return %1, %2 : tensor<3xi32>, tensor<3xi32>
  }) : (tensor<3x{n}xi32>, tensor<3xi32>) -> (tensor<3x{n}xi32>, tensor<3xi32>)
  return %0#0, %0#1 : tensor<3x{n}xi32>, tensor<3xi32>
}
"""


@pytest.mark.parametrize("n", [0, 1, 4])
@pytest.mark.parametrize("reverse", ["true", "false"])
def test_scan(n: int, reverse: str) -> None:
    rng = np.random.default_rng(n)
    text = SCAN.replace("{n}", str(n)).replace("{reverse}", reverse)
    expected, found = results(text, rng.integers(-9, 9, (3, n), np.int32), rng.integers(-9, 9, (3,), np.int32))
    assert all(map(same, found, expected))


RAGGED = {
    "rows": ("tensor<2x11x5xf32>", "tensor<3x2x5x7xf32>", "tensor<3xi64>", "tensor<2x11x7xf32>",
             "lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], "
             "rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]"),
    "contraction": ("tensor<2x11x5xf32>", "tensor<2x5x7xf32>", "tensor<3xi64>", "tensor<3x2x11x7xf32>",
                    "lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], "
                    "rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [2]"),
    "batch": ("tensor<2x11x5xf32>", "tensor<2x5x7xf32>", "tensor<3xi64>", "tensor<2x11x7xf32>",
              "lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], "
              "rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0]"),
    "contraction with a larger rhs": (
        "tensor<11x5xf32>", "tensor<5x7x2xf32>", "tensor<3xi64>", "tensor<3x11x7x2xf32>",
        "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [1]"),
    "rows of a larger lhs": (
        "tensor<2x11x5xf32>", "tensor<3x5x7xf32>", "tensor<2x3xi64>", "tensor<2x11x7xf32>",
        "lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [1], "
        "rhs_group_dimensions = [0]"),
    "batch behind": (
        "tensor<11x2x5xf32>", "tensor<2x3x5x7xf32>", "tensor<2x3xi64>", "tensor<2x11x7xf32>",
        "lhs_batching_dimensions = [1], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], "
        "rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [0], rhs_group_dimensions = [1]"),
}  # fmt: skip


@pytest.mark.parametrize("mode", RAGGED)
def test_ragged_dot(mode: str) -> None:
    lhs, rhs, sizes, result, numbers = RAGGED[mode]
    text = f"""
func.func @main(%l: {lhs}, %r: {rhs}, %s: {sizes}) -> {result} {{
  %0 = "chlo.ragged_dot"(%l, %r, %s) <{{ragged_dot_dimension_numbers = #chlo.ragged_dot<{numbers}>}}>
    : ({lhs}, {rhs}, {sizes}) -> {result}
  return %0 : {result}
}}
"""
    rng = np.random.default_rng(5)
    operands = [rng.integers(-4, 5, [int(n) for n in t[7:-5].split("x")]).astype(np.float32) for t in (lhs, rhs)]
    sizes_by_mode = {"rows": [4, 0, 7], "contraction": [2, 0, 3], "batch": [1, 0, 1]}
    is_batched = sizes.startswith("tensor<2x")
    group_sizes = [[4, 0, 7], [1, 9, 1]] if is_batched else sizes_by_mode[mode.split()[0]]
    (expected,), (found,) = results(text, *operands, np.array(group_sizes, np.int64))
    np.testing.assert_array_equal(found, expected)


def test_constants() -> None:
    text = """
func.func @main(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2xi32>) {
  %0 = "chlo.constant_like"(%x) <{value = 3.5 : f32}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "chlo.constant"() <{value = dense<[1, 2]> : tensor<2xi32>}> : () -> tensor<2xi32>
  return %0, %1 : tensor<2x3xf32>, tensor<2xi32>
}
"""
    expected, found = results(text, np.zeros((2, 3), np.float32))
    assert all(map(same, found, expected))


def test_next_after_of_unordered_bits_is_not_supported() -> None:
    t = "tensor<2xf8E4M3FNUZ>"
    text = (
        f"func.func @main(%x: {t}) -> {t} {{\n  %0 = chlo.next_after %x, %x : {t}, {t} -> {t}\n  return %0 : {t}\n}}\n"
    )
    with pytest.raises(sr.UnsupportedError, match=r"failed to legalize operation 'chlo\.next_after'"):
        transformed(sr.load(text), NAME)
