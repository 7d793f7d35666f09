"""Values in regions and calls: captures, dynamic shapes, chains of calls, and when errors are reported."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.execute.plan import FramePlanner

ONE = np.float32(1)
PAIR, TRIPLE = np.arange(2, dtype=np.float32), np.arange(3, dtype=np.float32)


def chain(length: int) -> str:
    """Return a program of `length` nested calls."""
    signature = "(%x: tensor<f32>) -> tensor<f32>"
    text = ""
    for i in range(length):
        name = f"f{i}" if i else "main"
        call = f"%0 = func.call @f{i + 1}(%x) : (tensor<f32>) -> tensor<f32>"
        text += f"func.func @{name}{signature} {{\n  {call}\n  return %0 : tensor<f32>\n}}\n"
    return text + f"func.func @f{length}{signature} {{\n  return %x : tensor<f32>\n}}\n"


def test_limits_the_depth_of_calls() -> None:
    assert sr.load(chain(127)).run(ONE) == (1,)
    with pytest.raises(sr.EvaluationError, match="calls are nested deeper than the limit of 128"):
        sr.load(chain(500)).run(ONE)
    with pytest.raises(sr.EvaluationError, match="calls are nested deeper than the limit of 9"):
        sr.load(chain(100)).run(ONE, limits=sr.Limits(max_depth=9))


@pytest.mark.parametrize("fast", [True, False])
def test_limits_the_number_of_calls(fast: bool) -> None:
    """Sixty functions, each of which calls the next one twice, make 2**60 calls; six of them make few."""
    for count, limits in ((6, sr.Limits(max_steps=1)), (60, sr.Limits(max_steps=1000))):
        text = chain(count)
        for number in range(1, count + 1):
            call = f"func.call @f{number}(%{{}}) : (tensor<f32>) -> tensor<f32>"
            again = f"%0 = {call.format('x')}\n  %1 = {call.format('0')}\n  return %1"
            text = text.replace(f"%0 = {call.format('x')}\n  return %0", again)
        if count == 6:
            assert sr.load(text.replace("@f0", "@main")).run(ONE, limits=limits, fast=fast) == (1,)
            continue
        with pytest.raises(sr.EvaluationError, match="more loop iterations and calls than the limit of 1000"):
            sr.load(text).run(ONE, limits=limits, fast=fast)


def test_rejects_calls_of_declarations_in_every_run() -> None:
    callers, _, _ = chain(2).partition("func.func @f2")
    program = sr.load(callers + "func.func private @f2(tensor<f32>) -> tensor<f32>\n")
    for _ in range(2):
        with pytest.raises(sr.UnsupportedError, match="function @f2 is declared, but has no body"):
            program.run(ONE)


def test_does_not_overwrite_an_operand_that_is_passed_twice() -> None:
    program = sr.load("""
    func.func private @set(%a: tensor<3xf32>, %b: tensor<3xf32>, %u: tensor<1xf32>, %i: tensor<i32>)
        -> (tensor<3xf32>, tensor<3xf32>) {
      %0 = stablehlo.dynamic_update_slice %a, %u, %i : (tensor<3xf32>, tensor<1xf32>, tensor<i32>) -> tensor<3xf32>
      return %0, %b : tensor<3xf32>, tensor<3xf32>
    }
    func.func @main(%x: tensor<3xf32>, %u: tensor<1xf32>, %i: tensor<i32>) -> (tensor<3xf32>, tensor<3xf32>) {
      %0 = stablehlo.add %x, %x : tensor<3xf32>
      %1:2 = func.call @set(%0, %0, %u, %i)
        : (tensor<3xf32>, tensor<3xf32>, tensor<1xf32>, tensor<i32>) -> (tensor<3xf32>, tensor<3xf32>)
      return %1#0, %1#1 : tensor<3xf32>, tensor<3xf32>
    }
    """)
    changed, kept = program.run(TRIPLE, np.array([9], np.float32), np.int32(1))
    assert (changed.tolist(), kept.tolist()) == ([0, 9, 4], [0, 2, 4])


def test_loop_may_return_captured_values() -> None:
    program = sr.load("""
    func.func @main(%n: tensor<i32>, %x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %above = stablehlo.add %x, %x : tensor<2xf32>
      %0:3 = stablehlo.while(%i = %zero, %a = %x, %b = %x) : tensor<i32>, tensor<2xf32>, tensor<2xf32>
        cond {
          %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %p : tensor<i1>
        } do {
          %j = stablehlo.add %i, %one : tensor<i32>
          %c = stablehlo.add %b, %above : tensor<2xf32>
          stablehlo.return %j, %above, %c : tensor<i32>, tensor<2xf32>, tensor<2xf32>
        }
      return %0#1, %0#2, %above : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
    }
    """)
    results = program.run(np.int32(3), PAIR)
    assert [r.tolist() for r in results] == [[0, 2], [0, 7], [0, 2]]


BRANCHES = """
func.func @main(%x: tensor<?xf32>, %p: tensor<i1>) -> tensor<2xf32> {
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<?xf32>
  }, {
    stablehlo.return %x : tensor<?xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""


def test_checks_declared_result_sizes_of_branches() -> None:
    program = sr.load(BRANCHES)
    assert program.run(PAIR, np.bool_(True))[0].tolist() == [0, 1]
    with pytest.raises(
        sr.EvaluationError, match="expected a result of type tensor<2xf32>, got tensor<3xf32>"
    ) as raised:
        program.run(TRIPLE, np.bool_(True))
    assert raised.value.diagnostics[0].line == 3


RESHAPE = """
func.func @main(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  %shape = stablehlo.constant dense<[SIZES]> : tensor<RANKxi32>
  %0 = "stablehlo.if"(%p) ({
    %1 = stablehlo.dynamic_reshape %x, %shape : (tensor<4xf32>, tensor<RANKxi32>) -> RESULT
    stablehlo.return %x : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


@pytest.mark.parametrize(("sizes", "result"), [("5", "tensor<4xf32>"), ("2, 3", "tensor<?x?xf32>")])
def test_compares_constant_shapes_with_types_in_all_branches(sizes: str, result: str) -> None:
    text = RESHAPE.replace("SIZES", sizes).replace("RANK", str(sizes.count(",") + 1)).replace("RESULT", result)
    with pytest.raises(sr.InvalidError, match=r"\(shape\): shape\(result\) == output_shape"):
        sr.load(text)


def test_checks_negative_sizes_only_in_branches_that_run() -> None:
    text = RESHAPE.replace("SIZES", "-2, -2").replace("RANK", "2").replace("RESULT", "tensor<?x?xf32>")
    x = np.ones(4, np.float32)
    program = sr.load(text)
    assert program.run(x, np.bool_(False))[0].tolist() == [1, 1, 1, 1]
    reason = r"expected a result of type tensor<\?x\?xf32>, got tensor<-2x-2xf32>"
    with pytest.raises(sr.EvaluationError, match=reason) as raised:
        program.run(x, np.bool_(True))
    assert raised.value.diagnostics[0].line == 5


def test_collective_may_capture_values() -> None:
    program = sr.load("""
    func.func @main(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {
      %0 = "stablehlo.all_reduce"(%a) ({
      ^bb0(%x: tensor<i32>, %y: tensor<i32>):
        %1 = stablehlo.add %x, %y : tensor<i32>
        %2 = stablehlo.maximum %1, %b : tensor<i32>
        stablehlo.return %2 : tensor<i32>
      }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<i32>) -> tensor<i32>
      return %0 : tensor<i32>
    }
    """)
    for least, expected in ((0, 3), (7, 7)):
        results = program.run_replicas([[np.int32(1), np.int32(least)], [np.int32(2), np.int32(least)]])
        assert results == [(expected,), (expected,)]


UNSUPPORTED = """
func.func private @declared(tensor<f32>) -> tensor<f32>
func.func @main(%p: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<f32>
  }, {
    %1 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<1000000000000000xf32>
    %2 = func.call @declared(%x) : (tensor<f32>) -> tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return %0 : tensor<f32>
}
"""


def test_reports_unsupported_ops_only_if_they_run() -> None:
    program = sr.load(UNSUPPORTED)
    assert program.run(np.True_, np.float32(1.5))[0] == 1.5
    with pytest.raises(sr.EvaluationError, match="larger than the limit") as caught:
        program.run(np.False_, np.float32(1.5))
    assert caught.value.diagnostics[0].line == 7
    with pytest.raises(sr.UnsupportedError, match="@declared is declared, but has no body"):
        sr.load(UNSUPPORTED.replace("tensor<1000000000000000xf32>", "tensor<1xf32>")).run(np.False_, np.float32(1.5))


CAPTURING = """
func.func @main(%x: tensor<8xf32>, %c: tensor<f32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce"(%x, %zero) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.multiply %a, %c : tensor<f32>
    %2 = stablehlo.add %1, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
"""


def test_ops_whose_regions_capture_values_are_planned_once(monkeypatch: pytest.MonkeyPatch) -> None:
    planned, kernel = [], FramePlanner.kernel

    def counted(*arguments: Any) -> Any:
        planned.append(arguments)
        return kernel(*arguments)

    monkeypatch.setattr(FramePlanner, "kernel", counted)
    program = sr.parse(CAPTURING)
    numbers = np.arange(8, dtype=np.float32)
    # With the factor 1 the body adds, in any order; with another one it is Horner's rule from left to right.
    sums = {1: 28, 2: sum(n * 2 ** (7 - n) for n in range(8))}
    for factor, total in sums.items():
        assert program.run(numbers, np.float32(factor)) == (total,)
    count = len(planned)
    assert program.run(np.ones(8, np.float32), np.float32(2)) == (255,)
    assert len(planned) == count
    assert program.run(numbers, np.float32(1)) == (28,)
    assert len(planned) > count


def test_an_indirect_call_that_recurs_is_limited() -> None:
    text = """func.func @main(%x: tensor<f32>) -> tensor<f32> {
      %f = func.constant @main : (tensor<f32>) -> tensor<f32>
      %0 = func.call_indirect %f(%x) : (tensor<f32>) -> tensor<f32>
      return %0 : tensor<f32>
    }"""
    with pytest.raises(sr.EvaluationError, match="calls are nested deeper than the limit of 128"):
        sr.load(text).run(1.0)


def test_an_indirect_call_that_communicates() -> None:
    text = """func.func private @g(%x: tensor<1xf32>) -> tensor<2xf32> {
      %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64,
        replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<1xf32>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }
    func.func @main(%x: tensor<1xf32>) -> tensor<2xf32> {
      %f = func.constant @g : (tensor<1xf32>) -> tensor<2xf32>
      %0 = func.call_indirect %f(%x) : (tensor<1xf32>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }"""
    results = sr.load(text).run_replicas([[np.float32([1])], [np.float32([2])]])
    np.testing.assert_array_equal([r[0] for r in results], [[1, 2], [1, 2]])


def test_an_indirect_call_of_an_unknown_function_is_an_error() -> None:
    text = """func.func @main(%f: (tensor<f32>) -> tensor<f32>, %x: tensor<f32>) -> tensor<f32> {
      %0 = func.call_indirect %f(%x) : (tensor<f32>) -> tensor<f32>
      return %0 : tensor<f32>
    }"""
    with pytest.raises(sr.UnsupportedError, match="unsupported function; expected one that a func"):
        sr.load(text).plan()
