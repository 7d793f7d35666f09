"""Matrices that a reproducible run multiplies repeatedly are converted once, and again after any change."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import stablehlo_ref as sr
from stablehlo_ref.limits import Limits
from stablehlo_ref.numerics import exact_products, thin_products

Array = npt.NDArray[np.float32]

SIZE, TURNS = 48, 50  # more turns than a loop needs to become generated source

UPDATES = {
    "nothing": "stablehlo.return %m : tensor<48x48xf32>",
    "a row": """%r = stablehlo.reshape %v : (tensor<48xf32>) -> tensor<1x48xf32>
      %k = stablehlo.constant dense<7> : tensor<i32>
      %u = stablehlo.dynamic_update_slice %m, %r, %k, %k
        : (tensor<48x48xf32>, tensor<1x48xf32>, tensor<i32>, tensor<i32>) -> tensor<48x48xf32>
      stablehlo.return %u : tensor<48x48xf32>""",
    "all of it": """%u = stablehlo.negate %m : tensor<48x48xf32>
      %w = stablehlo.negate %u : tensor<48x48xf32>
      %x = stablehlo.subtract %one, %w : tensor<48x48xf32>
      stablehlo.return %x : tensor<48x48xf32>""",
}


def program(update: str, every: int) -> sr.Program:
    """Return a loop of products of a matrix with a vector, which updates the matrix in some turns."""
    return sr.parse(f"""
func.func @main(%m0: tensor<48x48xf32>, %v0: tensor<48xf32>) -> (tensor<48x48xf32>, tensor<48xf32>) {{
  %i0 = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1.0> : tensor<48x48xf32>
  %s:3 = stablehlo.while(%i = %i0, %m = %m0, %v = %v0) : tensor<i32>, tensor<48x48xf32>, tensor<48xf32>
  cond {{
    %n = stablehlo.constant dense<{TURNS}> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }} do {{
    %p = stablehlo.dot_general %m, %v, contracting_dims = [1] x [0]
      : (tensor<48x48xf32>, tensor<48xf32>) -> tensor<48xf32>
    %sign = stablehlo.sign %p : tensor<48xf32>
    %d = stablehlo.constant dense<{every}> : tensor<i32>
    %j = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %j : tensor<i32>
    %rest = stablehlo.remainder %next, %d : tensor<i32>
    %is = stablehlo.compare EQ, %rest, %i0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %new = "stablehlo.if"(%is) ({{
      {UPDATES[update]}
    }}, {{ stablehlo.return %m : tensor<48x48xf32> }}) : (tensor<i1>) -> tensor<48x48xf32>
    %flipped = stablehlo.reverse %sign, dims = [0] : tensor<48xf32>
    stablehlo.return %next, %new, %flipped : tensor<i32>, tensor<48x48xf32>, tensor<48xf32>
  }}
  return %s#1, %s#2 : tensor<48x48xf32>, tensor<48xf32>
}}""")


def expected(m: Array, v: Array, update: str, every: int) -> tuple[Array, Array]:
    """Compute the loop in f64, which is exact for small integers."""
    matrix, vector = m.astype(np.float64), v.astype(np.float64)
    for i in range(1, TURNS + 1):
        product = np.einsum("ij,j->i", matrix, vector)
        if i % every == 0 and update == "a row":
            matrix[7] = vector
        elif i % every == 0 and update == "all of it":
            matrix = 1 - matrix
        vector = np.sign(product)[::-1]
    return matrix.astype(np.float32), vector.astype(np.float32)


@pytest.fixture
def operands(monkeypatch: pytest.MonkeyPatch) -> tuple[Array, Array]:
    monkeypatch.setattr(exact_products, "LARGE", 64)
    g = np.random.default_rng(0)
    return g.integers(-4, 5, (SIZE, SIZE)).astype(np.float32), g.integers(-1, 2, SIZE).astype(np.float32)


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("every", [1, 2, 3, 7])
@pytest.mark.parametrize("path", ["steps", "fast", "compiled at once"])
def test_results_follow_changes_of_the_matrix(
    operands: tuple[Array, Array], update: str, every: int, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if path == "compiled at once":
        monkeypatch.setattr(pytest.importorskip("stablehlo_ref.accelerate.policy"), "SECONDS", 0.0)
    loop = program(update, every)
    for _ in range(3):
        results = loop.run(*operands, reproducible=True, fast=path != "steps")
        for result, value in zip(results, expected(*operands, update, every)):
            np.testing.assert_array_equal(result, value)


def test_each_matrix_is_converted_twice_at_most(operands: tuple[Array, Array], monkeypatch: pytest.MonkeyPatch) -> None:
    by_rows, calls = thin_products._by_rows, []
    monkeypatch.setattr(thin_products, "_by_rows", lambda *xs: calls.append(xs) or by_rows(*xs))
    program("nothing", 2).run(*operands, reproducible=True)
    assert len(calls) == 1  # and the copy


def test_the_caller_may_change_an_argument_between_runs(operands: tuple[Array, Array]) -> None:
    loop, (m, v) = program("nothing", 2), operands
    for _ in range(3):
        np.testing.assert_array_equal(loop.run(m, v, reproducible=True)[1], expected(m, v, "nothing", 2)[1])
        m += 1


def test_a_run_without_room_for_copies_makes_none(
    operands: tuple[Array, Array], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thin_products, "_Copy", None)
    limits = Limits(max_total_bytes=63 * 12 * SIZE * SIZE)
    results = program("nothing", 2).run(*operands, reproducible=True, limits=limits)
    np.testing.assert_array_equal(results[1], expected(*operands, "nothing", 2)[1])
