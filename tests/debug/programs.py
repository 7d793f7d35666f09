"""Programs, and a session in this process, for tests of `stablehlo_ref.debug`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import stablehlo_ref as sr
from stablehlo_ref.debug import Contract, Diff, Outcome, Session, diff
from stablehlo_ref.debug.backends import Backend, open_backend
from stablehlo_ref.debug.session import answer

LAYER = """
func.func @main(%x: tensor<16x64xf32>, %w: tensor<64x32xf32>, %b: tensor<32xf32>)
    -> (tensor<16xf32>, tensor<16xi32>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<32xf32>) -> tensor<16x32xf32>
  %2 = stablehlo.add %0, %1 : tensor<16x32xf32>
  %3 = func.call @activation(%2) : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %4 = stablehlo.reduce(%3 init: %z) applies stablehlo.add across dimensions = [1]
    : (tensor<16x32xf32>, tensor<f32>) -> tensor<16xf32>
  %5 = stablehlo.transpose %3, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
  %6 = stablehlo.slice %5 [3:4, 0:16] : (tensor<32x16xf32>) -> tensor<1x16xf32>
  %7 = stablehlo.reshape %6 : (tensor<1x16xf32>) -> tensor<16xf32>
  %8 = stablehlo.subtract %4, %7 : tensor<16xf32>
  %9 = stablehlo.round_nearest_even %8 : tensor<16xf32>
  %10 = stablehlo.convert %9 : (tensor<16xf32>) -> tensor<16xi32>
  %11 = stablehlo.maximum %8, %7 : tensor<16xf32>
  %12 = stablehlo.divide %11, %4 : tensor<16xf32>
  return %12, %10 : tensor<16xf32>, tensor<16xi32>
}
func.func private @activation(%x: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0 = stablehlo.multiply %x, %x : tensor<16x32xf32>
  %1 = stablehlo.tanh %0 : tensor<16x32xf32>
  return %1 : tensor<16x32xf32>
}
"""

LOOP = """
func.func @main(%n: tensor<i32>, %x: tensor<8xf32>, %s: tensor<8xf32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %start = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %start, %v = %x) : tensor<i32>, tensor<8xf32>
    cond {
      %more = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %i, %one : tensor<i32>
      %1 = stablehlo.multiply %v, %s : tensor<8xf32>
      %2 = stablehlo.tanh %1 : tensor<8xf32>
      stablehlo.return %next, %2 : tensor<i32>, tensor<8xf32>
    }
  return %0#1 : tensor<8xf32>
}
"""


class InProcess(Session):
    """Runs a backend in this process, for backends that neither die nor hang."""

    def __init__(self, description: str, backend: Backend | None = None) -> None:
        super().__init__(description)
        self.backend = backend

    def _exchange(self, program: str, inputs: Sequence[Any], setting: Any) -> Outcome:
        try:
            return Outcome(tuple(answer(self.backend or open_backend(self.description), program, inputs, setting)))
        except Exception as error:
            return Outcome((), "refused", str(error))


def normal(program: sr.Program, seed: int = 0) -> list[np.ndarray]:
    """Return normally distributed inputs in f32."""
    draw = np.random.default_rng(seed)
    return [0.3 * draw.standard_normal(p.shape).astype(np.float32) for p in program.inputs]


def compare(
    text: str, backend: str, contract: str | Contract, inputs: Sequence[Any] | None = None, **options: Any
) -> Diff:
    """Return the difference of a backend in this process."""
    program = sr.load(text)
    return diff(program, normal(program) if inputs is None else inputs, InProcess(backend), contract, **options)


def suspects(found: Diff) -> list[str]:
    return [judgement.op.name.removeprefix("stablehlo.") for judgement in found.suspects]
