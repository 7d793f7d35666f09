"""Overrides of composites, and handlers of custom_calls."""

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


def test_override_gets_operands_and_attributes() -> None:
    given = {}

    def scaled(x: np.ndarray, **attributes: object) -> np.ndarray:
        given.update(attributes)
        return x * np.float32(10)

    program = sr.load(TEXT)
    np.testing.assert_array_equal(program.run(X, overrides={"test.scaled": scaled})[0], X * 10)
    assert given == {"by": 2.0, "axes": (0, 1), "how": "up"}
    np.testing.assert_array_equal(program.run(X)[0], X * 2)


def test_compares_overrides_with_decompositions() -> None:
    program = sr.load(TEXT)
    right = {"test.scaled": lambda x, by, **_: [x * np.float32(by)]}
    np.testing.assert_array_equal(program.run(X, overrides=right, check_overrides=True)[0], X * 2)
    wrong = {"test.scaled": lambda x, **_: x}
    with pytest.raises(sr.EvaluationError, match=r"'test\.scaled' and its decomposition disagree on result #0: 3 of 3"):
        program.run(X, overrides=wrong, check_overrides=True)


def test_checks_results_of_overrides() -> None:
    program = sr.load(TEXT)
    with pytest.raises(sr.EvaluationError, match="value #0: expected dtype float32 for tensor<3xf32>, got float64"):
        program.run(X, overrides={"test.scaled": lambda x, **_: x.astype(np.float64)})
    with pytest.raises(sr.EvaluationError, match="returned 2 values, not 1"):
        program.run(X, overrides={"test.scaled": lambda x, **_: (x, x)})


def test_overrides_are_per_run() -> None:
    program = sr.load(TEXT)
    np.testing.assert_array_equal(program.run(X, overrides={"test.scaled": lambda x, **_: x})[0], X)
    np.testing.assert_array_equal(program.run(X)[0], X * 2)


def test_override_cannot_write_to_operands() -> None:
    x = X.copy()
    with pytest.raises(sr.EvaluationError, match=r"'test\.scaled' raised ValueError: .*read-only"):
        sr.load(TEXT).run(x, overrides={"test.scaled": lambda x, **_: x.__iadd__(1)})
    assert x.tolist() == X.tolist()


def test_reports_override_of_another_shape_than_its_decomposition() -> None:
    text = TEXT.replace("3xf32", "?xf32")
    with pytest.raises(sr.EvaluationError, match=r"disagree on result #0: expected shape \(3,\), got \(1,\)"):
        sr.load(text).run(X, overrides={"test.scaled": lambda x, **_: x[:1]}, check_overrides=True)


def test_processes_of_a_grid_share_overrides() -> None:
    overrides = {"test.scaled": lambda x, **_: x}
    for (result,) in sr.load(TEXT).run_replicas([[X], [X]], overrides=overrides):
        np.testing.assert_array_equal(result, X)


def test_handlers_are_per_run() -> None:
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


CALLED = """
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.custom_call @test.calls(%x) {called_computations = [@f]} : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func private @f(%x: tensor<3xf32>) -> tensor<3xf32> {
  BODY
  return %0 : tensor<3xf32>
}
"""
GATHER = """%0 = "stablehlo.collective_broadcast"(%x) {replica_groups = dense<0> : tensor<1x1xi64>}
    : (tensor<3xf32>) -> tensor<3xf32>"""


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((), "@f is called with 0 values, not 1"),
        ((X, X), "@f is called with 2 values, not 1"),
        ((X[:2],), r"@f is called with value #0: expected shape \(3,\)"),
        ((X.astype(np.int64),), "@f is called with value #0: expected dtype float32"),
    ],
)
def test_computations_check_their_arguments(arguments: tuple[np.ndarray, ...], reason: str) -> None:
    program = sr.load(CALLED.replace("BODY", "%0 = stablehlo.add %x, %x : tensor<3xf32>"))
    assert program.run(X, custom_calls={"test.calls": lambda call, x: call.computations[0](x)})[0].tolist() == [2, 4, 6]
    with pytest.raises(sr.EvaluationError, match=reason):
        program.run(X, custom_calls={"test.calls": lambda call, x: call.computations[0](*arguments)})


def test_rejects_computations_that_communicate() -> None:
    program = sr.load(CALLED.replace("BODY", GATHER))
    with pytest.raises(sr.UnsupportedError, match="@f communicates with other processes"):
        program.run(X, custom_calls={"test.calls": lambda call, x: call.computations[0](x)})


def test_copies_buffers_that_a_handler_reuses() -> None:
    text = """
    func.func @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
      %0 = stablehlo.custom_call @test.next(%x) : (tensor<3xf32>) -> tensor<3xf32>
      %1 = stablehlo.custom_call @test.next(%0) : (tensor<3xf32>) -> tensor<3xf32>
      return %0, %1 : tensor<3xf32>, tensor<3xf32>
    }
    """
    buffer = np.zeros(3, np.float32)
    results = sr.load(text).run(X, custom_calls={"test.next": lambda call, x: [np.add(x, 1, out=buffer)]})
    assert [r.tolist() for r in results] == [[2, 3, 4], [3, 4, 5]]


@pytest.mark.parametrize("index", [0, 5, -1])
def test_rejects_invalid_indices_of_shape_operands(index: int) -> None:
    indices = f"indices_of_shape_operands = dense<{index}> : tensor<1xi64>"
    text = CALLED.replace("called_computations = [@f]", indices).replace("BODY", GATHER)
    with pytest.raises(sr.EvaluationError, match=r"<string>:3:8.*expected the indices of operands that are 1-dim"):
        sr.load(text).run(X, custom_calls={"test.calls": lambda call, x: [x]})


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError


def test_reports_exceptions_that_cannot_be_printed() -> None:
    def handler(*_: object) -> None:
        raise Unprintable

    with pytest.raises(sr.EvaluationError, match=r"@test\.calls raised .*Unprintable"):
        sr.load(CALLED.replace("BODY", GATHER)).run(X, custom_calls={"test.calls": handler})
