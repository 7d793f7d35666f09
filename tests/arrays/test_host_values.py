"""Arguments that have no dtype of their own: Python numbers and lists."""

from __future__ import annotations

import numpy as np
import pytest

import stablehlo_ref as sr

PROGRAM = sr.load("""
func.func @main(%x: tensor<2xf32>, %i: tensor<i8>, %h: tensor<bf16>, %b: tensor<i1>, %c: tensor<complex<f32>>)
    -> (tensor<2xf32>, tensor<i8>, tensor<bf16>, tensor<i1>, tensor<complex<f32>>) {
  return %x, %i, %h, %b, %c : tensor<2xf32>, tensor<i8>, tensor<bf16>, tensor<i1>, tensor<complex<f32>>
}""")
FINE = {"x": [1, 2.5], "i": -128, "h": 1.5, "b": True, "c": 2}


def test_numbers_without_loss_are_converted() -> None:
    x, i, h, b, c = PROGRAM.run(**FINE)
    assert x.dtype == np.float32
    assert x.tolist() == [1, 2.5]
    assert (int(i), float(h), bool(b), complex(c)) == (-128, 1.5, True, 2 + 0j)


def test_nan_and_infinities_are_converted() -> None:
    x, *_ = PROGRAM.run(**FINE | {"x": (float("nan"), float("inf"))})
    np.testing.assert_array_equal(x, np.float32([np.nan, np.inf]))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("x", [0.1, 1], r"0\.1 has no exact float32 for tensor<2xf32>; round it yourself: np\.float32\(0\.1\)"),
        ("x", [1e300, 1], "has no exact float32"),
        ("x", [2**24 + 1, 1], "16777217 has no exact float32"),
        ("x", [10**40, 1], "expected dtype float32 for tensor<2xf32>, got object"),
        ("x", ["1", "2"], "expected dtype float32 for tensor<2xf32>, got <U1"),
        ("x", [[1], [2, 3]], "expected an array for tensor<2xf32>"),
        ("x", [1], r"expected shape \(2,\) for tensor<2xf32>, got \(1,\)"),
        ("i", 128, "128 has no exact int8"),
        ("i", 1.5, "1.5 has no exact int8"),
        ("i", True, "expected dtype int8 for tensor<i8>, got bool"),
        ("h", 1.001, "1.001 has no exact bfloat16"),
        ("h", 1j, "1j has no exact bfloat16"),
        ("b", 1, "expected dtype bool for tensor<i1>, got int64"),
        ("x", np.float64([1, 2]), "expected dtype float32 for tensor<2xf32>, got float64"),
    ],
)
def test_numbers_that_would_change_are_errors(name: str, value: object, message: str) -> None:
    with pytest.raises(sr.EvaluationError, match=message):
        PROGRAM.run(**FINE | {name: value})


def test_objects_with_dlpack_only() -> None:
    class Tensor:
        def __dlpack__(self, **options: object) -> object:
            return np.float32([3, 4]).__dlpack__(**options)

        def __dlpack_device__(self) -> tuple[int, int]:
            return np.float32([3, 4]).__dlpack_device__()

    assert PROGRAM.run(**FINE | {"x": Tensor()})[0].tolist() == [3, 4]
