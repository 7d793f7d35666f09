"""Composites and custom_calls by what a program has in their place."""

from __future__ import annotations

import numpy as np
import pytest

import stablehlo_ref as sr

TEXT = """
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.composite "test.scaled" %x {
    composite_attributes = {by = 2.0 : f32, axes = [0, 1], how = "up"}, decomposition = @scaled
  } : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func private @scaled(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.add %x, %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
"""
X = np.array([1, 2, 3], np.float32)


def test_an_override_gets_operands_and_attributes() -> None:
    given = {}

    def scaled(x: np.ndarray, **attributes: object) -> np.ndarray:
        given.update(attributes)
        return x * np.float32(10)

    program = sr.load(TEXT)
    np.testing.assert_array_equal(program.run(X, overrides={"test.scaled": scaled})[0], X * 10)
    assert given == {"by": 2.0, "axes": (0, 1), "how": "up"}
    np.testing.assert_array_equal(program.run(X)[0], X * 2)


def test_an_override_and_its_decomposition_are_compared() -> None:
    program = sr.load(TEXT)
    right = {"test.scaled": lambda x, by, **_: [x * np.float32(by)]}
    np.testing.assert_array_equal(program.run(X, overrides=right, check_overrides=True)[0], X * 2)
    wrong = {"test.scaled": lambda x, **_: x}
    with pytest.raises(sr.EvaluationError, match=r"'test\.scaled' and its decomposition disagree on result #0: 3 of 3"):
        program.run(X, overrides=wrong, check_overrides=True)


def test_what_an_override_returns_is_checked() -> None:
    program = sr.load(TEXT)
    with pytest.raises(sr.EvaluationError, match=r"returned float64 \(3,\) for a result tensor<3xf32>"):
        program.run(X, overrides={"test.scaled": lambda x, **_: x.astype(np.float64)})
    with pytest.raises(sr.EvaluationError, match="returned 2 results, not 1"):
        program.run(X, overrides={"test.scaled": lambda x, **_: (x, x)})


def test_an_override_is_one_run_s() -> None:
    program = sr.load(TEXT)
    np.testing.assert_array_equal(program.run(X, overrides={"test.scaled": lambda x, **_: x})[0], X)
    np.testing.assert_array_equal(program.run(X)[0], X * 2)


def test_processes_of_a_grid_have_the_overrides() -> None:
    overrides = {"test.scaled": lambda x, **_: x}
    for (result,) in sr.load(TEXT).run_replicas([[X], [X]], overrides=overrides):
        np.testing.assert_array_equal(result, X)


def test_handlers_of_one_run() -> None:
    text = """
    func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
      %0 = stablehlo.custom_call @test.only_here(%x) : (tensor<3xf32>) -> tensor<3xf32>
      return %0 : tensor<3xf32>
    }
    """
    program = sr.load(text)
    np.testing.assert_array_equal(program.run(X, custom_calls={"test.only_here": lambda call, x: [x + 1]})[0], X + 1)
    with pytest.raises(sr.UnsupportedError, match="no handler is registered"):
        program.run(X)
