"""What products of matrices and triangular systems declare as temporaries is enough for what they allocate."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import stablehlo_ref as sr
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
