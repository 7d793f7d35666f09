"""custom_call targets for ops whose result shapes are operands."""

from __future__ import annotations

import numpy as np

import stablehlo_ref as sr


def test_dynamic_reduce_window() -> None:
    """Sum windows of size 2 and stride 1, with one element of low padding."""
    text = """
    func.func @main(%x: tensor<?xi32>) -> tensor<?xi32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %two = stablehlo.constant dense<2> : tensor<1xi32>
      %one = stablehlo.constant dense<1> : tensor<1xi32>
      %edges = stablehlo.constant dense<[[1, 0]]> : tensor<1x2xi32>
      %0 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %zero, %two, %one, %one, %one, %edges) {
        called_computations = [@sum]
      } : (tensor<?xi32>, tensor<i32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1x2xi32>)
        -> tensor<?xi32>
      return %0 : tensor<?xi32>
    }
    func.func private @sum(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {
      %0 = stablehlo.add %a, %b : tensor<i32>
      return %0 : tensor<i32>
    }
    """
    reshaped = """
      %1 = stablehlo.reshape %a : (tensor<i32>) -> tensor<1xi32>
      %2 = stablehlo.reshape %1 : (tensor<1xi32>) -> tensor<i32>
      %0 = stablehlo.add %2, %b : tensor<i32>
    """
    for body in (text, text.replace("%0 = stablehlo.add %a, %b : tensor<i32>", reshaped)):
        program = sr.load(body)
        assert program.run(np.array([1, 2, 3, 4], np.int32))[0].tolist() == [1, 3, 5, 7]
        assert program.run(np.array([], np.int32))[0].tolist() == []
