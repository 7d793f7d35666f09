"""Products of few rows with a large matrix, which is converted block by block."""

from __future__ import annotations

import tracemalloc

import ml_dtypes
import numpy as np
import pytest

import stablehlo_ref as sr

TERMS, COLUMNS = 200, 11_000


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize(("element", "dtype"), [("bf16", ml_dtypes.bfloat16), ("f16", np.float16)])
@pytest.mark.parametrize("is_transposed", [False, True])
def test_sums_are_within_bounds(rows: int, element: str, dtype: type, is_transposed: bool) -> None:
    sizes, contracting = ((COLUMNS, TERMS), 1) if is_transposed else ((TERMS, COLUMNS), 0)
    lhs, rhs = f"tensor<{rows}x{TERMS}x{element}>", f"tensor<{sizes[0]}x{sizes[1]}x{element}>"
    program = sr.parse(f"""func.func @main(%x: {lhs}, %w: {rhs}) -> tensor<{rows}x{COLUMNS}xf32> {{
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [{contracting}]
        : ({lhs}, {rhs}) -> tensor<{rows}x{COLUMNS}xf32>
      return %0 : tensor<{rows}x{COLUMNS}xf32>
    }}""")
    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal(shape).astype(dtype) for shape in ((rows, TERMS), sizes))
    tracemalloc.start()
    (result,) = program.run(x, w)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    a, b = x.astype(np.float64), w.astype(np.float64)
    b = b.T if is_transposed else b
    bound = (TERMS + 2) * 2.0**-24 * (np.abs(a) @ np.abs(b))
    assert (np.abs(result - a @ b) <= bound).all()
    assert peak < w.nbytes  # a copy as f32 would take twice that
