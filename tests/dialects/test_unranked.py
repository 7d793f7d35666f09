"""Tensors without a rank: CHLO's ops on them, and shape.shape_of, are verified, but not evaluated."""

from __future__ import annotations

import numpy as np
import pytest

import stablehlo_ref as sr

VALID = [
    "%0 = chlo.tan %x : tensor<*xf32> -> tensor<*xf32>",
    "%0 = chlo.is_inf %x : tensor<*xf32> -> tensor<*xi1>",
    "%0 = shape.shape_of %x : tensor<*xf32> -> tensor<?xindex>",
    "%0 = chlo.next_after %x, %x : tensor<*xf32>, tensor<*xf32> -> tensor<*xf32>",
    '%0 = "chlo.constant_like"(%x) {value = 1 : i64} : (tensor<*xf32>) -> tensor<*xi64>',
    "%0:2 = chlo.top_k(%x, k = 8) : tensor<*xf32> -> (tensor<*xf32>, tensor<*xi32>)",
    "%0 = chlo.broadcast_add %x, %y : (tensor<*xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>",
    "%0 = chlo.broadcast_add %y, %y : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<*xf32>",
    "%0 = chlo.broadcast_complex %x, %y : (tensor<*xf32>, tensor<2x4xf32>) -> tensor<*xcomplex<f32>>",
    "%0 = chlo.broadcast_select %p, %x, %y : (tensor<4xi1>, tensor<*xf32>, tensor<2x4xf32>) -> tensor<*xf32>",
    "%0 = chlo.broadcast_compare %x, %y {broadcast_dimensions = array<i64: 1>, comparison_direction = "
    "#chlo<comparison_direction EQ>} : (tensor<*xf32>, tensor<2x4xf32>) -> tensor<*xi1>",
]
INVALID = {
    "%0 = chlo.tan %x : tensor<*xf32> -> tensor<*xf64>": "(C1)",
    "%0 = chlo.is_inf %x : tensor<*xf32> -> tensor<*xi32>": "must be tensor of boolean type, but is tensor<*xi32>",
    "%0 = chlo.broadcast_add %x, %y : (tensor<*xf32>, tensor<2x4xf32>) -> tensor<*xf64>": "(C5)",
    "%0 = chlo.mulhi %i, %i : tensor<*xi32>, tensor<*xi32> -> tensor<*xi32>": "must be tensor of integer type",
    "%0 = stablehlo.abs %x : tensor<*xf32>": "but is tensor<*xf32>",
}


def program(op: str) -> str:
    """Return a program with an op on unranked and ranked arguments."""
    arguments = "%x: tensor<*xf32>, %y: tensor<2x4xf32>, %p: tensor<4xi1>, %i: tensor<*xi32>"
    return f"func.func @main({arguments}) {{\n  {op}\n  return\n}}\n"


@pytest.mark.parametrize("op", VALID)
def test_takes_unranked_tensors(op: str) -> None:
    text = str(sr.load(program(op)))
    assert str(sr.load(text)) == text


@pytest.mark.parametrize(("op", "reason"), INVALID.items())
def test_rejects_other_element_types_and_ops(op: str, reason: str) -> None:
    with pytest.raises(sr.InvalidError) as raised:
        sr.load(program(op))
    assert reason in str(raised.value)


UNKNOWN = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.broadcast_add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<*xf32>
  %1 = chlo.broadcast_add %0, %x : (tensor<*xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
"""


def test_a_run_on_unranked_tensors_is_an_error_at_the_op() -> None:
    with pytest.raises(sr.UnsupportedError, match="expected tensors with a rank") as raised:
        sr.load(UNKNOWN).run(np.ones(4, np.float32))
    assert raised.value.diagnostics[0].line == 3


def test_refining_shapes_finds_the_rank() -> None:
    refined = sr.load(UNKNOWN).transform("stablehlo-refine-shapes")
    np.testing.assert_array_equal(refined.run(np.ones(4, np.float32))[0], np.full(4, 3, np.float32))
