"""Sorts of more elements than short rows have: by value, and by keys packed with indices."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import stablehlo_ref as sr

N = 5000
ELEMENTS = {
    "i32": np.int32, "ui32": np.uint32, "i64": np.int64, "ui16": np.uint16, "i8": np.int8, "i1": np.bool_,
    "i4": ml_dtypes.int4, "f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16, "f16": np.float16,
}  # fmt: skip


def numbers(element: str) -> np.ndarray:
    rng = np.random.default_rng(0)
    if np.dtype(ELEMENTS[element]).kind in "iub" or element == "i4":
        return rng.integers(-8 if element == "i4" else 0, 8 if element == "i4" else 1000, N).astype(ELEMENTS[element])
    x = np.round(rng.standard_normal(N), 2)
    x[::100], x[1::100], x[2::100], x[3::100] = 0.0, -0.0, np.nan, -np.inf
    return x.astype(ELEMENTS[element])


def sort(element: str, direction: str, values: np.ndarray, with_indices: bool) -> list[np.ndarray]:
    t, s = f"tensor<{N}x{element}>", f"tensor<{element}>"
    second = (f", tensor<{N}xi32>", ", %i", ", %c: tensor<i32>, %d: tensor<i32>") if with_indices else ("", "", "")
    result = f"({t}{second[0]})" if with_indices else t
    text = f"""func.func @main(%x: {t}, %i: tensor<{N}xi32>) -> {result} {{
      %0{":2" if with_indices else ""} = "stablehlo.sort"(%x{second[1]}) <{{dimension = 0 : i64, is_stable = true}}> ({{
        ^bb0(%a: {s}, %b: {s}{second[2]}):
          %1 = stablehlo.compare {direction}, %a, %b : ({s}, {s}) -> tensor<i1>
          stablehlo.return %1 : tensor<i1>
      }}) : ({t}{second[0]}) -> {result}
      return %0{"#0, %0#1" if with_indices else ""} : {result.strip("()")}
    }}"""
    return list(sr.parse(text).run(values, np.arange(N, dtype=np.int32)))


@pytest.mark.parametrize("direction", ["LT", "GT"])
@pytest.mark.parametrize("element", ELEMENTS)
def test_sorts_are_stable(element: str, direction: str) -> None:
    values = numbers(element)
    key = values.astype(np.float64)
    last = np.where(np.isnan(key), np.inf, key)  # NaNs are last in ascending order, and first in descending order
    order = np.argsort(last if direction == "LT" else -last, kind="stable")
    expected = values[order]
    (alone,) = sort(element, direction, values, with_indices=False)
    assert alone.tobytes() == expected.tobytes()
    first, indices = sort(element, direction, values, with_indices=True)
    assert first.tobytes() == expected.tobytes()
    np.testing.assert_array_equal(indices, order)
