"""The bounds of results of whole programs."""

from __future__ import annotations

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.debug.bounds.ball import Ball
from stablehlo_ref.debug.contract import contract_of
from stablehlo_ref.debug.cut import Flat
from stablehlo_ref.debug.diff_passes import differences
from stablehlo_ref.debug.evaluate import Evaluator
from stablehlo_ref.debug.explain import bounds_of
from stablehlo_ref.ir.arrays import Array

STRICT = contract_of("strict")
DOT = """func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<f32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %1 = stablehlo.sqrt %0 : tensor<f32>
  return %1 : tensor<f32>
}"""


def bounds(program: sr.Program, inputs: list[Array]) -> list[Ball]:
    flat = Flat(program.verify())
    return bounds_of(flat, inputs, STRICT, Evaluator(flat))


def beyond(program: sr.Program, inputs: list[Array], ours: Array, theirs: list[Array]) -> list[str]:
    return differences(program, inputs, [ours], theirs, STRICT, trusts_noise=False)


def test_a_bound_contains_results_of_other_rounding() -> None:
    x, y = np.float32([0.1, 0.2, 0.3]), np.float32([3, 5, 7])
    exact = np.sqrt(np.dot(x.astype(np.float64), y.astype(np.float64)))
    (bound,) = bounds(sr.parse(DOT), [x, y])
    assert bound.is_known and abs(float(bound.center) - exact) < 1e-12
    # Three products and additions and a root: at most four roundings of the result's size.
    assert np.spacing(np.float32(exact)) / 2 <= bound.radius <= 4 * np.spacing(np.float32(exact))
    ours = np.asarray(np.float32(exact))
    assert beyond(sr.parse(DOT), [x, y], ours, [np.nextafter(ours, np.float32(0))]) == []
    (message,) = beyond(sr.parse(DOT), [x, y], ours, [np.asarray(ours * np.float32(1 + 1e-5))])
    assert message.startswith("output 0 is beyond the bound of the whole program: 1 of 1 elements; at [] got ")
    assert beyond(sr.parse(DOT), [x, y], ours, []) == ["expected 1 output, got 0"]


# Attributes that have defaults are left out.
OMITTED = {
    "dot_general": """func.func @main(%x: tensor<2xf32>, %y: tensor<f32>) -> tensor<2xf32> {
      %0 = "stablehlo.dot_general"(%x, %y) <{dot_dimension_numbers = #stablehlo.dot<>}>
        : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }""",
    "cholesky": """func.func @main(%x: tensor<1x1xf32>, %y: tensor<f32>) -> tensor<1x1xf32> {
      %0 = "stablehlo.cholesky"(%x) : (tensor<1x1xf32>) -> tensor<1x1xf32>
      return %0 : tensor<1x1xf32>
    }""",
    "convolution": """func.func @main(%x: tensor<1x1x3xf32>, %y: tensor<1x1x1xf32>) -> tensor<1x1x3xf32> {
      %0 = "stablehlo.convolution"(%x, %y) <{dimension_numbers = #stablehlo.conv<[b, f, 0]x[o, i, 0]->[b, f, 0]>,
        feature_group_count = 1 : i64, batch_group_count = 1 : i64}>
        : (tensor<1x1x3xf32>, tensor<1x1x1xf32>) -> tensor<1x1x3xf32>
      return %0 : tensor<1x1x3xf32>
    }""",
}


@pytest.mark.parametrize("op", OMITTED)
def test_omitted_attributes_have_their_defaults(op: str) -> None:
    program = sr.parse(OMITTED[op]).verify()
    inputs = [np.full([n or 0 for n in p.type.shape], 4, np.float32) for p in program.entry.inputs]
    (bound,) = bounds(program, inputs)
    expected = 2.0 if op == "cholesky" else 16.0
    assert bound.is_known and np.all(np.abs(bound.center - expected) <= 1e-12)


@pytest.mark.parametrize(("type", "is_known"), [("f32", True), ("f8E3M4", False)])
def test_an_epsilon_that_the_type_rounds_to_zero_leaves_results_open(type: str, is_known: bool) -> None:
    f, types = f"tensor<1x{type}>", ", ".join([f"tensor<1x{type}>"] * 4)
    program = sr.parse(f"""
    func.func @main(%x: tensor<2x1x{type}>, %scale: {f}, %offset: {f}, %mean: {f}, %v: {f}) -> tensor<2x1x{type}> {{
      %0 = "stablehlo.batch_norm_inference"(%x, %scale, %offset, %mean, %v)
        <{{epsilon = 1.0e-5 : f32, feature_index = 1 : i64}}> : (tensor<2x1x{type}>, {types}) -> tensor<2x1x{type}>
      return %0 : tensor<2x1x{type}>
    }}""")
    dtypes = [p.dtype for p in program.inputs]
    x, ones, zeros = (np.array(n, dtypes[0]) for n in ([[1.0], [2.0]], [1.0], [0.0]))
    (bound,) = bounds(program, [x, ones, zeros, zeros, zeros])  # of variance 0
    assert bound.is_known is is_known


def test_complex_functions_of_operands_that_broadcast_have_bounds() -> None:
    program = sr.parse("""
    func.func @main(%x: tensor<2xcomplex<f32>>, %y: tensor<complex<f32>>) -> tensor<2xcomplex<f32>> {
      %0 = chlo.broadcast_power %x, %y : (tensor<2xcomplex<f32>>, tensor<complex<f32>>) -> tensor<2xcomplex<f32>>
      return %0 : tensor<2xcomplex<f32>>
    }""")
    (bound,) = bounds(program, [np.complex64([2, 3j]), np.complex64(2)])
    assert bound.is_known and np.all(np.abs(bound.center - [4, -9]) <= bound.radius + 1e-12)
