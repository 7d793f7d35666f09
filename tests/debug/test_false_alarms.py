"""Nothing is wrong with XLA on CPUs or with the C++ interpreter; tools/locate_faults.py --right has the long form."""

from __future__ import annotations

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.debug import Session, diff
from tests.debug.programs import LAYER
from tests.shared import MLIR_PYTHON, needs_mlir

NORMALISED = """
func.func @main(%x: tensor<16x64xf32>, %w: tensor<64x32xf32>, %b: tensor<32xf32>) -> tensor<16x32xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<32xf32>) -> tensor<16x32xf32>
  %2 = stablehlo.add %0, %1 : tensor<16x32xf32>
  %3 = stablehlo.logistic %2 : tensor<16x32xf32>
  %4 = stablehlo.multiply %2, %3 : tensor<16x32xf32>
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %5 = stablehlo.reduce(%4 init: %i) applies stablehlo.maximum across dimensions = [1]
    : (tensor<16x32xf32>, tensor<f32>) -> tensor<16xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<16xf32>) -> tensor<16x32xf32>
  %7 = stablehlo.subtract %4, %6 : tensor<16x32xf32>
  %8 = stablehlo.exponential %7 : tensor<16x32xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %9 = stablehlo.reduce(%8 init: %z) applies stablehlo.add across dimensions = [1]
    : (tensor<16x32xf32>, tensor<f32>) -> tensor<16xf32>
  %10 = stablehlo.broadcast_in_dim %9, dims = [0] : (tensor<16xf32>) -> tensor<16x32xf32>
  %11 = stablehlo.divide %8, %10 : tensor<16x32xf32>
  return %11 : tensor<16x32xf32>
}
"""
HALF = NORMALISED.replace("f32", "bf16").replace("0xFF800000", "0xFF80")


@needs_mlir
@pytest.mark.parametrize(
    ("backend", "contracts", "texts"),
    [("jax", ("xla-cpu", "xla-gpu"), (LAYER, NORMALISED, HALF)), ("cpp", ("strict",), (LAYER, NORMALISED))],
)
def test_nothing_is_called_wrong(backend: str, contracts: tuple[str, ...], texts: tuple[str, ...]) -> None:
    with Session(backend, python=MLIR_PYTHON) as session:
        for program in map(sr.load, texts):
            draw = np.random.default_rng(0)
            inputs = [draw.standard_normal(p.shape).astype(p.dtype) for p in program.inputs]
            for contract in contracts:
                found = diff(program, inputs, session, contract)
                assert not found.is_wrong, str(found)
