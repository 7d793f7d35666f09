"""What a triangular system declares as temporaries is enough for stacks of small matrices, as for a large one."""

from __future__ import annotations

import tracemalloc

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


@pytest.mark.parametrize(("count", "rows", "columns"), [(4000, 9, 1), (1000, 32, 1), (100, 32, 64), (1, 700, 5)])
def test_temporaries_of_triangular_systems(
    count: int, rows: int, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared: list[int] = []
    monkeypatch.setattr(guard, "reserve", lambda values, temporaries=0: declared.append(temporaries))
    program = sr.load(SOLVE.format(a=f"{count}x{rows}x{rows}", b=f"{count}x{rows}x{columns}")).plan()
    a = np.tile(np.eye(rows, dtype=np.float32) + np.float32(0.125), (count, 1, 1))
    b = np.ones((count, rows, columns), np.float32)
    program.run(a, b)
    tracemalloc.start()
    try:
        program.run(a, b)
        allocated = tracemalloc.get_traced_memory()[1] - b.nbytes
    finally:
        tracemalloc.stop()
    assert allocated <= declared[-1] + (1 << 22)  # blocks of fixed size
