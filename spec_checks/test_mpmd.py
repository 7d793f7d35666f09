"""Compare mpmd ops with their semantics: a program that moves tensors between meshes."""

from __future__ import annotations

from functools import partial

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import stablehlo_ref as sr
from spec_checks.strategies import arrays, same
from stablehlo_ref.semantics import mpmd as oracle

TEXT = """
!m = !mpmd.mesh_tensor<"m", tensor<3xi32>>
!n = !mpmd.mesh_tensor<"n", tensor<3xi32>>
func.func @main(%x: tensor<3xi32>, %y: !n) -> tensor<3xi32>
    attributes {topology = #mpmd.topology<<"m": <["x"=3]>>, <"n": <["x"=2]>>>} {
  %0 = mpmd.named_tensor %x name="x" : tensor<3xi32>
  %1 = mpmd.assign %0 : (tensor<3xi32>) -> !m
  %2 = mpmd.fragment<mesh="m", origin=["f"]> (%1, %1) (%a: tensor<3xi32>, %b: tensor<3xi32>) {
    %c = stablehlo.multiply %a, %b : tensor<3xi32>
    mpmd.return %c : tensor<3xi32>
  } : (!m, !m) -> !m
  %3 = mpmd.transfer %2 : (!m) -> !n
  %4 = mpmd.fragment_call<mesh="n", origin=[]> @difference(%3, %y) : (!n, !n) -> !n
  %5 = mpmd.unassign %4 : (!n) -> tensor<3xi32>
  %6 = mpmd.unassign %y : (!n) -> tensor<3xi32>
  %7:2 = mpmd.for (%5, %6) {{iterations = {count} : ui32}} (%a: tensor<3xi32>, %b: tensor<3xi32>, %i: tensor<ui32>) {
    %c = stablehlo.convert %i : (tensor<ui32>) -> tensor<i32>
    %d = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %e = mpmd.call @difference(%a, %d) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
    mpmd.return %b, %e : tensor<3xi32>, tensor<3xi32>
  } : tensor<3xi32>, tensor<3xi32>
  %8 = mpmd.named_computation<"negate"> (%7#0) (%a: tensor<3xi32>) {
    %b = stablehlo.negate %a : tensor<3xi32>
    mpmd.return %b : tensor<3xi32>
  } : (tensor<3xi32>) -> tensor<3xi32>
  %9 = mpmd.broadcast %8 : tensor<3xi32>
  %10 = mpmd.reduce<{reduction}> {operands} : ({types}) -> tensor<3xi32>
  return %10 : tensor<3xi32>
}
func.func private @difference(%a: tensor<3xi32>, %b: tensor<3xi32>) -> tensor<3xi32> {
  %0 = stablehlo.subtract %a, %b : tensor<3xi32>
  return %0 : tensor<3xi32>
}
""".replace("{{", "{").replace("}}", "}")


@settings(max_examples=40, deadline=None)
@given(data=st.data(), iterations=st.integers(1, 4))
def test_moves_and_computations(data: st.DataObject, iterations: int) -> None:
    x, y = (data.draw(arrays(np.dtype(np.int32), (3,))) for _ in range(2))
    reduction = data.draw(st.sampled_from(("none", "add", "max", "min", "mul", "or", "and")))
    count = 1 if reduction == "none" else data.draw(st.integers(1, 3))
    operands = ["%9", "%x", "%6"][:count]
    text = TEXT.replace("{count}", str(iterations)).replace("{reduction}", reduction)
    text = text.replace("{operands}", ", ".join(operands)).replace("{types}", ", ".join(["tensor<3xi32>"] * count))
    (actual,) = sr.load(text).run(x, y)
    assert same(actual, expected(x, y, iterations, reduction.upper(), count)), text


def expected(x: np.ndarray, y: np.ndarray, iterations: int, reduction: str, count: int) -> np.ndarray:
    difference = partial(oracle.call, callee=lambda a, b: (a - b,))
    with np.errstate(all="ignore"):
        placed = oracle.assign(oracle.named_tensor(x))
        (product,) = oracle.fragment((placed, placed), lambda a, b: (a * b,))
        (left,) = oracle.fragment_call((oracle.transfer(product), y), lambda a, b: (a - b,))
        pair = oracle.unassign(left), oracle.unassign(y)
        first, _ = oracle.for_(pair, iterations, lambda a, b, i: (b, *difference((a, i.astype(np.int32)))))
        (negated,) = oracle.named_computation((first,), lambda a: (-a,))
        return oracle.reduce((oracle.broadcast(negated), x, y)[:count], reduction)
