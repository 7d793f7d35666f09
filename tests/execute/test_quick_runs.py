"""Runs of a program that has run before, on arrays as they are expected, do the same as first runs with less work."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.define.context import OPTIONS

PROGRAM = """
func.func @main(%x: tensor<f32>, %y: tensor<2xi32>) -> (tensor<f32>, tensor<2xi32>, tensor<2xi32>) {
  %0 = stablehlo.add %x, %x : tensor<f32>
  return %0, %y, %y : tensor<f32>, tensor<2xi32>, tensor<2xi32>
}
"""
CHECK = """
func.func @main(%x: tensor<i1>) -> tensor<i1> {
  %0 = stablehlo.constant dense<true> : tensor<i1>
  check.expect_eq %x, %0 : tensor<i1>
  return %0 : tensor<i1>
}
"""
X, Y = np.float32(1.5), np.array([1, 2], np.int32)


@pytest.fixture
def program() -> sr.Program:
    """A program that has run."""
    program = sr.parse(PROGRAM)
    program.run(X, Y)
    return program


@pytest.mark.parametrize("x", [X, np.array(X), 1.5])
def test_results_are_arrays_of_their_own(program: sr.Program, x: object) -> None:
    first, second, third = program.run(x, Y)
    assert isinstance(first, np.ndarray) and first.dtype == np.float32 and first == 3
    second[0] = 9
    assert list(third) == [1, 2] and list(Y) == [1, 2]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [((X,), "1 is given"), ((X, Y[:1]), "expected shape"), ((X, Y.astype(np.int64)), "expected dtype")],
)
def test_wrong_arguments_are_errors(program: sr.Program, arrays: tuple[object, ...], message: str) -> None:
    with pytest.raises(sr.EvaluationError, match=message):
        program.run(*arrays)


def test_arrays_that_are_not_contiguous(program: sr.Program) -> None:
    assert list(program.run(X, np.arange(4, dtype=np.int32)[::-2])[1]) == [3, 1]


def test_sums_do_not_depend_on_where_rows_are() -> None:
    program = sr.parse("""
      func.func @main(%x: tensor<1x8xf32>, %y: tensor<2x8xf32>) -> tensor<1x2xf32> {
        %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [1]
            : (tensor<1x8xf32>, tensor<2x8xf32>) -> tensor<1x2xf32>
        return %0 : tensor<1x2xf32>
      }""")
    generator = np.random.default_rng(0)
    for _ in range(100):
        x, y = generator.normal(size=(1, 8)).astype("f4"), generator.normal(size=(2, 8)).astype("f4")
        apart = np.zeros((2, 9), "f4")[:, :8]
        apart[...] = y
        assert program.run(x, y)[0].tobytes() == program.run(x, apart)[0].tobytes()


def test_results_that_are_views_are_copied() -> None:
    program = sr.parse("""
      func.func @main(%x: tensor<6xi32>) -> (tensor<3xi32>, tensor<6xi32>, tensor<2xi32>) {
        %0 = stablehlo.add %x, %x : tensor<6xi32>
        %1 = stablehlo.slice %0 [0:6:2] : (tensor<6xi32>) -> tensor<3xi32>
        %2 = stablehlo.slice %x [1:3] : (tensor<6xi32>) -> tensor<2xi32>
        return %1, %0, %2 : tensor<3xi32>, tensor<6xi32>, tensor<2xi32>
      }""")
    x = np.arange(6, dtype=np.int32)
    program.run(x)
    for result in (results := program.run(x)):
        assert result.flags.c_contiguous and result.flags.owndata and result.flags.writeable
        result[...] = -1
    assert [r.tolist() for r in program.run(x)] == [[0, 4, 8], [0, 2, 4, 6, 8, 10], [1, 2]]
    assert not any(np.shares_memory(a, b) for a in (x, *results) for b in (x, *results) if a is not b)


def test_failed_checks_are_reported() -> None:
    program = sr.parse(CHECK)
    program.run(np.True_)
    messages = []
    for _ in range(2):
        with pytest.raises(sr.EvaluationError) as raised:
            program.run(np.False_)
        messages.append(str(raised.value))
    assert messages[0] == messages[1]
    assert program.run(np.True_)[0]


def test_limits_of_the_program_hold(program: sr.Program) -> None:
    program.limits = sr.Limits(max_steps=1, max_depth=1)
    program.run(X, Y)
    program.limits = sr.Limits(max_seconds=1e-9)
    with pytest.raises(sr.EvaluationError, match="limit"):
        sr.parse(PROGRAM).run(X, Y, limits=program.limits)


def test_bound_inputs_are_not_given(program: sr.Program) -> None:
    bound = program.bind({0: X})
    assert bound.run(Y)[0] == 3
    with pytest.raises(sr.EvaluationError, match="takes 1 argument"):
        bound.run(X, Y)


def test_runs_in_a_thread(program: sr.Program) -> None:
    results: list[object] = []
    thread = threading.Thread(target=lambda: results.append(program.run(X, Y)[0]))
    thread.start()
    thread.join()
    assert results == [3]


def test_leaves_no_work_for_the_garbage_collector(program: sr.Program) -> None:
    program.run(X, Y)
    gc.collect()
    gc.disable()
    try:
        program.run(X, Y)
        assert gc.collect() == 0
    finally:
        gc.enable()


@pytest.mark.parametrize("option", ["until", *OPTIONS])
def test_no_option_is_passed_over(program: sr.Program, option: str) -> None:
    with pytest.raises((TypeError, ValueError), match=option):
        program.run(X, Y, **{option: object()})  # type: ignore[arg-type]
