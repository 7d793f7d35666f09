"""Programs with dynamic shapes: unknown and bounded dimensions, loops, calls, and shapes that do not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stablehlo_ref as sr

F32 = np.float32


def run(text: str, *arrays: Any) -> Any:
    results = sr.load(text + "\n").run(*arrays)
    return results[0] if len(results) == 1 else results


def rejection(text: str, *arrays: Any) -> str:
    with pytest.raises(sr.EvaluationError) as error:
        run(text, *arrays)
    return str(error.value)


ADD = """\
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.add %x, %y : tensor<?xf32>
  return %0 : tensor<?xf32>
}"""


def test_runs_one_program_on_many_shapes() -> None:
    program = sr.load(ADD + "\n")
    for size in (0, 1, 5, 2, 5):
        (result,) = program.run(np.arange(size, dtype=F32), np.ones(size, F32))
        assert result.tolist() == [n + 1 for n in range(size)]


def test_rejects_operands_of_different_shapes() -> None:
    message = rejection(ADD, np.zeros(2, F32), np.zeros(3, F32))
    assert "<string>:2:8: error: 'stablehlo.add' op (C1)" in message
    assert "lhs = tensor<2xf32>" in message and "rhs = tensor<3xf32>" in message


def test_rejects_results_of_undeclared_shapes() -> None:
    text = """func.func @main(%x: tensor<?xf64>) -> tensor<2xf64> {
      %0 = stablehlo.abs %x : (tensor<?xf64>) -> tensor<2xf64>
      return %0 : tensor<2xf64>
    }"""
    assert run(text, -np.ones(2)).tolist() == [1, 1]
    message = rejection(text, np.ones(3))
    assert "tensor<3xf64>" in message and "tensor<2xf64>" in message


RESHAPE = """\
func.func @main(%x: tensor<6xf32>, %shape: tensor<2xi32>) -> tensor<?x3xf32> {
  %0 = stablehlo.dynamic_reshape %x, %shape : (tensor<6xf32>, tensor<2xi32>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}"""


@pytest.mark.parametrize(
    ("shape", "reason"),
    [((3, 2), "tensor<3x2xf32>"), ((3, 3), "(shape)"), ((-2, -3), "tensor<-2x-3xf32>"), ((2, 3), "")],
)
def test_dynamic_reshape_checks_its_shape_operand(shape: tuple[int, int], reason: str) -> None:
    arguments = np.arange(6, dtype=F32), np.array(shape, np.int32)
    if not reason:
        assert run(RESHAPE, *arguments).shape == shape
    else:
        assert reason in rejection(RESHAPE, *arguments)


# --- control flow ---------------------------------------------------------------------------------------------------

DOUBLING = """\
func.func @main(%x: tensor<?xi32>, %n: tensor<i32>) -> tensor<?xi32> {
  %0 = stablehlo.constant dense<0> : tensor<i32>
  %1 = stablehlo.constant dense<1> : tensor<i32>
  %2:2 = stablehlo.while(%i = %0, %y = %x) : tensor<i32>, tensor<?xi32> cond {
    %3 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  } do {
    %3 = stablehlo.add %i, %1 : tensor<i32>
    %4 = stablehlo.concatenate %y, %y, dim = 0 : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
    stablehlo.return %3, %4 : tensor<i32>, tensor<?xi32>
  }
  return %2#1 : tensor<?xi32>
}"""


def test_loop_state_may_change_its_shape() -> None:
    x = np.array([1, 2], np.int32)
    for turns in range(4):
        assert run(DOUBLING, x, np.int32(turns)).tolist() == [1, 2] * 2**turns


BRANCHES = """\
func.func @main(%p: tensor<i1>, %x: tensor<2xf32>) -> tensor<i32> {
  %0 = "stablehlo.if"(%p) ({
    %1 = stablehlo.convert %x : (tensor<2xf32>) -> tensor<?xf32>
    stablehlo.return %1 : tensor<?xf32>
  }, {
    %1 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<?xf32>
    stablehlo.return %1 : tensor<?xf32>
  }) : (tensor<i1>) -> tensor<?xf32>
  %2 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  return %2 : tensor<i32>
}"""


def test_branches_may_return_different_shapes() -> None:
    assert run(BRANCHES, np.True_, np.zeros(2, F32)) == 2
    assert run(BRANCHES, np.False_, np.zeros(2, F32)) == 4


CALLS = """\
func.func @main(%x: tensor<?xf32>) -> (tensor<f32>, tensor<f32>) {
  %0 = call @sum(%x) : (tensor<?xf32>) -> tensor<f32>
  %1 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %2 = call @sum(%1) : (tensor<?xf32>) -> tensor<f32>
  return %0, %2 : tensor<f32>, tensor<f32>
}
func.func private @sum(%x: tensor<?xf32>) -> tensor<f32> {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%x init: %0) applies stablehlo.add across dimensions = [0]
    : (tensor<?xf32>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}"""


def test_calls_one_function_with_two_shapes() -> None:
    assert run(CALLS, np.arange(4, dtype=F32)) == (6, 12)


# --- bounds ---------------------------------------------------------------------------------------------------------

BOUNDED = "tensor<?x2xf32, #stablehlo.bounds<3, ?>>"
DOUBLED = f"""\
func.func @main(%x: {BOUNDED}) -> {BOUNDED} {{
  %0 = stablehlo.add %x, %x : {BOUNDED}
  return %0 : {BOUNDED}
}}"""


@pytest.mark.parametrize("size", [0, 2, 3])
def test_accepts_sizes_within_bounds(size: int) -> None:
    assert run(DOUBLED, np.ones((size, 2), F32)).tolist() == [[2, 2]] * size


def test_rejects_arguments_beyond_their_bound() -> None:
    message = rejection(DOUBLED, np.ones((4, 2), F32))
    assert "argument 'x'" in message and BOUNDED in message and "(4, 2)" in message


def test_rejects_results_beyond_their_bound() -> None:
    text = """func.func @main(%n: tensor<1xi32>) -> tensor<?xi32, #stablehlo.bounds<3>> {
      %0 = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi32>) -> tensor<?xi32, #stablehlo.bounds<3>>
      return %0 : tensor<?xi32, #stablehlo.bounds<3>>
    }"""
    assert run(text, np.array([3], np.int32)).tolist() == [0, 1, 2]
    message = rejection(text, np.array([4], np.int32))
    assert "tensor<4xi32>" in message and "#stablehlo.bounds<3>" in message


SET = """\
func.func @main(%x: tensor<4xf32>, %n: tensor<i32>) -> (tensor<f32>, tensor<i32>) {
  %0 = stablehlo.set_dimension_size %x, %n, dim = 0
    : (tensor<4xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<4>>
  %1 = stablehlo.constant dense<0.0> : tensor<f32>
  %2 = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0]
    : (tensor<?xf32, #stablehlo.bounds<4>>, tensor<f32>) -> tensor<f32>
  %3 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?xf32, #stablehlo.bounds<4>>) -> tensor<i32>
  return %2, %3 : tensor<f32>, tensor<i32>
}"""


def test_set_dimension_size() -> None:
    x = np.array([1, 2, 4, 8], F32)
    assert run(SET, x, np.int32(3)) == (7, 3)
    assert run(SET, x, np.int32(0)) == (0, 0)


@pytest.mark.parametrize("size", [-1, 5])
def test_set_dimension_size_rejects_sizes_out_of_range(size: int) -> None:
    assert "'stablehlo.set_dimension_size' op" in rejection(SET, np.ones(4, F32), np.int32(size))


# --- other shapes that depend on values -----------------------------------------------------------------------------


def test_real_dynamic_slice_rejects_limits_out_of_bounds() -> None:
    text = """func.func @main(%x: tensor<4xi32>, %limit: tensor<1xi32>) -> tensor<?xi32> {
      %0 = stablehlo.constant dense<1> : tensor<1xi32>
      %1 = "stablehlo.real_dynamic_slice"(%x, %0, %limit, %0)
        : (tensor<4xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xi32>
      return %1 : tensor<?xi32>
    }"""
    x = np.arange(4, dtype=np.int32)
    assert run(text, x, np.array([3], np.int32)).tolist() == [1, 2]
    assert "(C3)" in rejection(text, x, np.array([5], np.int32))


def test_shape_computed_from_another_shape() -> None:
    text = """func.func @main(%x: tensor<?x?xf32>) -> tensor<?xf32> {
      %0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
      %1 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
      %2 = stablehlo.multiply %0, %1 : tensor<i32>
      %3 = stablehlo.reshape %2 : (tensor<i32>) -> tensor<1xi32>
      %4 = stablehlo.dynamic_reshape %x, %3 : (tensor<?x?xf32>, tensor<1xi32>) -> tensor<?xf32>
      return %4 : tensor<?xf32>
    }"""
    assert run(text, np.arange(6, dtype=F32).reshape(2, 3)).tolist() == [0, 1, 2, 3, 4, 5]


def test_quantized_tensors_of_dynamic_shape() -> None:
    type = "tensor<?x!quant.uniform<i8:f32, 0.5:1>>"
    text = f"""func.func @main(%x: {type}) -> {type} {{
      %0 = stablehlo.add %x, %x : {type}
      return %0 : {type}
    }}"""
    assert run(text, np.array([1, 3, 5], np.int8)).tolist() == [1, 5, 9]


def test_rejects_sizes_that_the_element_type_cannot_represent() -> None:
    text = """func.func @main(%shape: tensor<1xi8>) -> tensor<1xi8> {
      %0 = arith.constant 200 : index
      %1 = stablehlo.compute_reshape_shape %0, %shape : (index, tensor<1xi8>) -> tensor<1xi8>
      return %1 : tensor<1xi8>
    }"""
    assert run(text, np.array([100], np.int8)).tolist() == [100]
    assert "tensor<1xi8> cannot represent the sizes [200]" in rejection(text, np.array([-1], np.int8))
