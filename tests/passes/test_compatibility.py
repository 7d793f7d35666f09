"""Passes that replace ops by others that compute the same: of older versions, on shapes, on quantized tensors."""

from __future__ import annotations

import numpy as np
import pytest

import stablehlo_ref as sr
from tests.passes.programs import transformed

GATHER = """\
func.func @main(%x: tensor<3x4x5xi32>, %i: tensor<2x3x{indices}xi8>) -> tensor<2x3x2xi32> {{
  %0 = "stablehlo.gather"(%x, %i) <{{
    dimension_numbers = #stablehlo.gather<
      offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [1],
      start_index_map = [1], index_vector_dim = 2>,
    indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 2>
  }}> : (tensor<3x4x5xi32>, tensor<2x3x{indices}xi8>) -> tensor<2x3x2xi32>
  return %0 : tensor<2x3x2xi32>
}}
"""


def test_batching_dimensions_become_indices() -> None:
    text = GATHER.format(indices=1)
    before = sr.load(text)
    x = np.arange(60, dtype=np.int32).reshape(3, 4, 5)
    i = np.int8([[3, 0, 1], [2, 100, -1]])[..., None]
    after = transformed(before.transform(), "stablehlo-compatibility-expander", target="1.0.0")
    assert "operand_batching_dims" not in str(after)
    expected = [[x[b, np.clip(i[a, b, 0], 0, 3), :2] for b in range(3)] for a in range(2)]
    np.testing.assert_array_equal(after.run(x, i)[0], expected)
    kept = transformed(before.transform(), "stablehlo-compatibility-expander", target="1.1.0")
    assert str(kept) == str(before)


def test_versions_that_do_not_exist() -> None:
    with pytest.raises(sr.MalformedError, match=r"option 'target' of pass .*greater than current"):
        sr.load(GATHER.format(indices=1)).transform("stablehlo-compatibility-expander{target=99.0.0}")


SHAPES = """\
func.func @main(%x: tensor<?x1xf32>, %y: tensor<4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %rows = tensor.dim %x, %c0 : tensor<?x1xf32>
  %0 = tensor.from_elements %rows, %c4 : tensor<2xindex>
  %1 = shape.shape_of %x : tensor<?x1xf32> -> tensor<2xindex>
  %2 = shape.broadcast %1, %0 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
  %3 = stablehlo.dynamic_broadcast_in_dim %y, %2, dims = [1] : (tensor<4xf32>, tensor<2xindex>) -> tensor<?x4xf32>
  return %3 : tensor<?x4xf32>
}
"""


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_shapes_are_computed_as_before(rows: int) -> None:
    before = sr.load(SHAPES)
    after = transformed(before.transform(), "shape-legalize-to-stablehlo")
    assert "index" not in str(after) and "shape." not in str(after)
    arguments = np.zeros((rows, 1), np.float32), np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(after.run(*arguments)[0], before.run(*arguments)[0])


def test_broadcast_of_a_size_of_zero() -> None:
    """A broadcast of 0 and 1 is 0, which is not their maximum."""
    t = "tensor<1xindex>"
    text = f"func.func @main(%x: {t}, %y: {t}) -> {t} {{\n  %0 = shape.broadcast %x, %y : {t}, {t} -> {t}\n"
    text += f"  return %0 : {t}\n}}"
    after = transformed(sr.load(text), "shape-legalize-to-stablehlo")
    for x, y, expected in ((0, 1, 0), (1, 0, 0), (1, 5, 5), (5, 5, 5)):
        assert after.run(np.int64([x]), np.int64([y]))[0] == [expected]


ASSERTION = """\
func.func @main(%x: tensor<i1>) {{
  %holds = stablehlo.constant dense<{holds}> : tensor<i1>
  %n = stablehlo.constant dense<7> : tensor<i32>
  stablehlo.custom_call @shape_assertion({operand}, %n) {{error_message = "{{0}} is odd", has_side_effect = true}}
    : (tensor<i1>, tensor<i32>) -> ()
  return
}}
"""


@pytest.mark.parametrize(
    ("holds", "operand", "error"),
    [
        ("true", "%holds", None),
        ("false", "%holds", "4:3: error: 7 is odd"),
        ("true", "%x", "4:3: error: expects static assert_what"),
    ],
)
def test_shape_assertions(holds: str, operand: str, error: str | None) -> None:
    program = sr.load(ASSERTION.format(holds=holds, operand=operand))
    if error is None:
        assert "shape_assertion" not in str(program.transform("stablehlo-check-shape-assertions"))
        return
    with pytest.raises(sr.InvalidError, match=error):
        program.transform("stablehlo-check-shape-assertions")
    assert "custom_call" not in str(
        program.transform("stablehlo-check-shape-assertions{enable-shape-assertions=false}")
    )


QDQ = """\
func.func @main(%x: tensor<4x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<4x!quant.uniform<{storage}:f32, 0.25:-1>> {{
  %0 = stablehlo.uniform_dequantize %x : (tensor<4x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<4xf32>
  %1 = stablehlo.{op} : tensor<4xf32>
  %2 = stablehlo.uniform_quantize %1 : (tensor<4xf32>) -> tensor<4x!quant.uniform<{storage}:f32, 0.25:-1>>
  return %2 : tensor<4x!quant.uniform<{storage}:f32, 0.25:-1>>
}}
"""


@pytest.mark.parametrize(
    ("op", "storage", "is_fused"),
    [("tanh %0", "i8", True), ("add %0, %0", "i8", True), ("add %0, %0", "i16", False)],  # add has one storage type
)
def test_ops_between_dequantization_and_quantization(op: str, storage: str, is_fused: bool) -> None:
    text = QDQ.format(op=op, storage=storage)
    after = transformed(sr.load(text), "stablehlo-legalize-qdq-to-quantized-op")
    assert ("uniform_dequantize" not in str(after)) == is_fused
    x = np.int8([-128, -7, 3, 127])
    np.testing.assert_array_equal(after.run(x)[0], sr.load(text).run(x)[0])
