"""Values in the middle of a run: which there are, under which names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stablehlo_ref as sr

# Doubles x n times by calling a function in a loop, then adds x: x * (2**n + 1).
PROGRAM = """
func.func @main(%x: tensor<3xf32> loc("args[0]"), %n: tensor<i32>) -> tensor<3xf32> {
  %0:2 = stablehlo.while(%i = %n, %v = %x) : tensor<i32>, tensor<3xf32>
    cond {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %more = stablehlo.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.subtract %i, %one : tensor<i32>
      %t = func.call @double(%v) : (tensor<3xf32>) -> tensor<3xf32>
      stablehlo.return %next, %t : tensor<i32>, tensor<3xf32>
    }
  %1 = stablehlo.add %0#1, %x : tensor<3xf32> loc("jit(f)/add"("model.py":3:1))
  return %1 : tensor<3xf32>
}
func.func private @double(%v: tensor<3xf32>) -> tensor<3xf32> {
  %3 = stablehlo.add %v, %v : tensor<3xf32>
  return %3 : tensor<3xf32>
}
"""
X = np.array([1, 2, 3], np.float32)


@pytest.fixture
def program() -> sr.Program:
    return sr.load(PROGRAM)


@pytest.mark.parametrize("is_stored", [False, True])
def test_values_have_ssa_and_location_names(program: sr.Program, is_stored: bool, tmp_path: Path) -> None:
    trace = program.trace(X, 2, store=tmp_path / "values" if is_stored else None)
    for name, expected in {
        "%1": X * 5, "@main/%1": X * 5, "jit(f)/add": X * 5, "%0#1": X * 4, "%x": X, "args[0]": X,
    }.items():  # fmt: skip
        np.testing.assert_array_equal(trace[name], expected)
    np.testing.assert_array_equal(trace.results[0], X * 5)
    assert (tmp_path / "values" / "index.json").exists() == is_stored


def test_values_of_loops_are_lists_by_turn(program: sr.Program) -> None:
    trace = program.trace(X, 3)
    np.testing.assert_array_equal(trace["@double/%3"], [X * 2, X * 4, X * 8])
    assert [int(value) for value in trace["%next"]] == [2, 1, 0]
    assert [bool(value) for value in trace.all("%more")] == [True, True, True, False]


def test_a_value_that_was_not_computed_is_not_in_the_trace(program: sr.Program) -> None:
    trace = program.trace(X, 0)
    assert "%next" not in trace
    with pytest.raises(KeyError, match="not in the trace"):
        trace["%next"]


def test_only_some_ops(program: sr.Program) -> None:
    trace = program.trace(X, 1, only=lambda op: op.name == "stablehlo.add")
    assert list(trace) == ["%x", "%n", "@double/%3", "%1"]
    assert list(trace.select("stablehlo.add")) == ["@double/%3", "%1"]


def test_narrow_types_are_stored(tmp_path: Path) -> None:
    text = "func.func @main(%x: tensor<2xbf16>) -> tensor<2xbf16> {\n%0 = stablehlo.negate %x : tensor<2xbf16>\n"
    trace = sr.load(text + "return %0 : tensor<2xbf16>\n}").trace([1, -2], store=tmp_path)
    assert str(trace["%0"].dtype) == "bfloat16"
    assert trace["%0"].tolist() == [-1, 2]


def test_options_of_run_are_options_of_trace(program: sr.Program) -> None:
    seen: list[str] = []

    class Names(sr.Observer):
        def after(self, op: sr.Operation, results: Any) -> None:
            seen.append(op.name)

    program.trace(x=X, n=0, observer=Names())
    assert seen[-1] == "stablehlo.add"


def test_finds_values_by_name(program: sr.Program) -> None:
    assert str(program.value("%1").type) == "tensor<3xf32>"
    assert program.value("jit(f)/add") is program.value("@main/%1")
    assert program.value("args[0]") is program.value("%x")


def test_suggests_names_of_values(program: sr.Program) -> None:
    with pytest.raises(sr.EvaluationError, match=r"no value is called '@double/%4'; did you mean .*'@double/%3'"):
        program.value("@double/%4")


def test_reports_ambiguous_names() -> None:
    program = sr.load(PROGRAM.replace("%one", "%zero"))
    with pytest.raises(KeyError, match=r"(?s)2 values are called '%zero'.*string>:5:.*string>:9:"):
        program.value("%zero")
