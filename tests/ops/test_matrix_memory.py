"""What products of matrices, triangular systems and scatter declare as temporaries is enough for what they allocate."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.diagnostics import LimitError
from stablehlo_ref.execute import guard

SOLVE = """func.func @main(%a: tensor<{a}xf32>, %b: tensor<{b}xf32>) -> tensor<{b}xf32> {{
  %x = "stablehlo.triangular_solve"(%a, %b) <{{
    left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>
  }}> : (tensor<{a}xf32>, tensor<{b}xf32>) -> tensor<{b}xf32>
  return %x : tensor<{b}xf32>
}}"""
DOT = """func.func @main(%a: tensor<{m}x{k}x{e}>, %b: tensor<{k}x{n}x{e}>) -> tensor<{m}x{n}x{e}> {{
  %x = stablehlo.dot %a, %b : (tensor<{m}x{k}x{e}>, tensor<{k}x{n}x{e}>) -> tensor<{m}x{n}x{e}>
  return %x : tensor<{m}x{n}x{e}>
}}"""
SLACK = 1 << 22  # blocks of fixed size


def excess(text: str, *arguments: np.ndarray[Any, Any], **options: bool) -> int:
    """Run a program of one op, and return how many bytes it allocates beside its result and what it declares."""
    declared: list[int] = []
    program = sr.load(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(guard, "reserve", lambda values, temporaries=0: declared.append(temporaries))
        program.run(*arguments, **options)
        tracemalloc.start()
        try:
            (result,) = program.run(*arguments, **options)
            allocated = tracemalloc.get_traced_memory()[1] - result.nbytes
        finally:
            tracemalloc.stop()
    return allocated - declared[-1]


@pytest.mark.parametrize(("count", "rows", "columns"), [(4000, 9, 1), (1000, 32, 1), (100, 32, 64), (1, 700, 5)])
def test_temporaries_of_triangular_systems(count: int, rows: int, columns: int) -> None:
    a = np.tile(np.eye(rows, dtype=np.float32) + np.float32(0.125), (count, 1, 1))
    b = np.ones((count, rows, columns), np.float32)
    text = SOLVE.format(a=f"{count}x{rows}x{rows}", b=f"{count}x{rows}x{columns}")
    assert excess(text, a, b) <= SLACK


@pytest.mark.parametrize("reproducible", [False, True])
@pytest.mark.parametrize(
    ("element", "dtype"),
    [("f16", "float16"), ("f32", "float32"), ("f64", "float64"), ("complex<f32>", "complex64"),
     ("complex<f64>", "complex128")],
)  # fmt: skip
@pytest.mark.parametrize(("m", "k", "n"), [(500, 500, 500), (100, 2000, 100), (3, 500, 2000)])
def test_temporaries_of_products(m: int, k: int, n: int, element: str, dtype: str, reproducible: bool) -> None:
    random = np.random.default_rng(0)
    a, b = random.normal(size=(m, k)).astype(dtype), random.normal(size=(k, n)).astype(dtype)
    assert excess(DOT.format(m=m, k=k, n=n, e=element), a, b, reproducible=reproducible) <= SLACK


EINSUM = """func.func @main(%a: tensor<32x300x400x{e}>, %b: tensor<400x32x200x{e}>) -> tensor<300x32x200x{e}> {{
  %x = "stablehlo.einsum"(%a, %b) <{{einsum_config = "bik,kbj->ibj"}}>
    : (tensor<32x300x400x{e}>, tensor<400x32x200x{e}>) -> tensor<300x32x200x{e}>
  return %x : tensor<300x32x200x{e}>
}}"""
RAGGED = """func.func @main(
    %a: tensor<4000x512x{e}>, %b: tensor<4x512x512x{e}>, %g: tensor<4xi32>) -> tensor<4000x512x{e}> {{
  %x = "chlo.ragged_dot"(%a, %b, %g) {{ragged_dot_dimension_numbers = #chlo.ragged_dot<
    lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
    lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}}
    : (tensor<4000x512x{e}>, tensor<4x512x512x{e}>, tensor<4xi32>) -> tensor<4000x512x{e}>
  return %x : tensor<4000x512x{e}>
}}"""
SCATTER = """func.func @main(
    %t: tensor<1000000xf32>, %i: tensor<1000000x1xi32>, %u: tensor<1000000xf32>) -> tensor<1000000xf32> {{
  %x = "stablehlo.scatter"(%t, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<
    inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}> ({{
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.add %l, %r : tensor<f32>
    {body}
    stablehlo.return %c : tensor<f32>
  }}) : (tensor<1000000xf32>, tensor<1000000x1xi32>, tensor<1000000xf32>) -> tensor<1000000xf32>
  return %x : tensor<1000000xf32>
}}"""


@pytest.mark.parametrize(("element", "dtype"), [("f32", "float32"), ("f16", "float16")])
def test_temporaries_of_einsum(element: str, dtype: str) -> None:
    assert excess(EINSUM.format(e=element), np.ones((32, 300, 400), dtype), np.ones((400, 32, 200), dtype)) <= SLACK


@pytest.mark.parametrize(("element", "dtype"), [("f32", "float32"), ("f16", "float16")])
def test_temporaries_of_ragged_products(element: str, dtype: str) -> None:
    a, b = np.ones((4000, 512), dtype), np.ones((4, 512, 512), dtype)
    assert excess(RAGGED.format(e=element), a, b, np.array([100, 3000, 0, 900], np.int32)) <= SLACK


@pytest.mark.parametrize(
    "body", ["%c = stablehlo.multiply %s, %r : tensor<f32>", "%c = stablehlo.maximum %l, %r : tensor<f32>"]
)
def test_temporaries_of_scatter(body: str) -> None:
    indices = np.random.default_rng(0).integers(0, 1000000, (1000000, 1)).astype(np.int32)
    values = np.ones(1000000, np.float32)
    assert excess(SCATTER.format(body=body), values, indices, values) <= SLACK


FFT = """func.func @main(%x: tensor<{n}xcomplex<f32>>) -> tensor<{n}xcomplex<f32>> {{
  %r = stablehlo.fft %x, type = FFT, length = [{n}] : (tensor<{n}xcomplex<f32>>) -> tensor<{n}xcomplex<f32>>
  return %r : tensor<{n}xcomplex<f32>>
}}"""


@pytest.mark.parametrize(("n", "least"), [(1 << 20, 40), (500_009, 110)])  # bytes an element of the process, measured
def test_a_long_fft_reserves_what_numpy_allocates(n: int, least: int) -> None:
    x = np.ones(n, np.complex64)
    with pytest.raises(LimitError, match="temporaries"):
        sr.load(FFT.format(n=n)).run(x, limits=sr.Limits(max_total_bytes=2 * x.nbytes + least * n))
    sr.load(FFT.format(n=n)).run(x, limits=sr.Limits(max_total_bytes=2 * x.nbytes + 180 * n))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_large_triangular_system_is_converted_by_blocks(dtype: type[np.floating[Any]]) -> None:
    n = 1024
    a, b = (np.eye(n) + 0.001).astype(dtype), np.ones((n, n), dtype)
    text = SOLVE.format(a=f"{n}x{n}", b=f"{n}x{n}").replace("f32", np.dtype(dtype).name.replace("float", "f"))
    limits = sr.Limits(max_total_bytes=a.nbytes + 2 * b.nbytes + 15 * n * n)  # 16 bytes an element before, and `b`
    (x,) = sr.load(text).run(a, b, limits=limits)
    np.testing.assert_allclose(np.tril(a).T @ x, b, rtol=1e-3)
