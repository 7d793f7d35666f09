"""Test updates of few large rows by scatter, which are made in order."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import stablehlo_ref as sr
from stablehlo_ref.algorithms import scatter_updates

ROWS, WIDTH, COUNT = 3, 5, 400


def program(element: str, op: str) -> sr.Program:
    return sr.parse(f"""
      func.func @main(%x: tensor<{ROWS}x{WIDTH}x{element}>, %i: tensor<{COUNT}x1xi32>,
                      %u: tensor<{COUNT}x{WIDTH}x{element}>) -> tensor<{ROWS}x{WIDTH}x{element}> {{
        %0 = "stablehlo.scatter"(%x, %i, %u) <{{
          scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
            scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
        }}> ({{
        ^bb0(%old: tensor<{element}>, %new: tensor<{element}>):
          %1 = stablehlo.{op} %old, %new : tensor<{element}>
          stablehlo.return %1 : tensor<{element}>
        }}) : (tensor<{ROWS}x{WIDTH}x{element}>, tensor<{COUNT}x1xi32>, tensor<{COUNT}x{WIDTH}x{element}>)
          -> tensor<{ROWS}x{WIDTH}x{element}>
        return %0 : tensor<{ROWS}x{WIDTH}x{element}>
      }}""")


@pytest.mark.parametrize("elements", [100, 1 << 17])
@pytest.mark.parametrize("element, op", [("f32", "add"), ("f32", "multiply"), ("bf16", "add"), ("f16", "add"),
                                         ("f64", "maximum"), ("i8", "add")])  # fmt: skip
def test_updates_of_a_row_are_made_in_order(
    monkeypatch: pytest.MonkeyPatch, element: str, op: str, elements: int
) -> None:
    monkeypatch.setattr(scatter_updates, "MANY", 100)
    monkeypatch.setattr(scatter_updates, "ELEMENTS", elements)  # few of them, so that the updates of a row are cut
    dtype = np.dtype({"bf16": ml_dtypes.bfloat16, "f16": "f2", "f32": "f4", "f64": "f8", "i8": "i1"}[element])
    rng = np.random.default_rng(0)
    x, u = (given(rng, shape, dtype) for shape in ((ROWS, WIDTH), (COUNT, WIDTH)))
    indices = rng.integers(-1, ROWS + 1, (COUNT, 1)).astype(np.int32)  # some of which are out of bounds
    combine = {"add": np.add, "multiply": np.multiply, "maximum": np.maximum}[op]
    expected = x.copy()
    for index, update in zip(indices[:, 0].tolist(), u):
        if 0 <= index < ROWS:
            expected[index] = combine(expected[index], update)
    (result,) = program(element, op).run(x, indices, u)
    assert result.tobytes() == expected.tobytes()


def given(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> npt.NDArray[np.generic]:
    values = rng.integers(-128, 128, shape) if dtype.kind == "i" else rng.uniform(0.9, 1.1, shape)
    return values.astype(dtype)
