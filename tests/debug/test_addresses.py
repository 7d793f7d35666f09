"""A value has one address in traces, in the text, JSON and HTML of `diff`, and in `exceptions`."""

from __future__ import annotations

import json
from html import unescape
from typing import Any

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.debug.cut import Flat

TEXT = """
func.func @main(%x: tensor<4xf32> loc("p['attn']['wv']"), %n: tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = func.call @loops(%x, %n) : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
  %1 = func.call @loops(%0, %n) : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
  %2 = stablehlo.composite "my.outer" %x {decomposition = @outer} : (tensor<4xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}
func.func private @loops(%y: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %v = %y) : tensor<i32>, tensor<4xf32>
    cond {
      %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.add %i, %one : tensor<i32>
      %2 = func.call @step(%v) : (tensor<4xf32>) -> tensor<4xf32>
      stablehlo.return %1, %2 : tensor<i32>, tensor<4xf32>
    }
  return %0#1 : tensor<4xf32>
}
func.func private @step(%y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.sine %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @outer(%y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %y : tensor<4xf32>
  %1 = func.call @inner(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @inner(%y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.log %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
X, N = np.array([1, 2, -3, 4], np.float32), np.array(2, np.int32)

# From the form of addresses that docs/glossary.md describes, by hand: the function where it is called once, else the
# path of calls and turns.
TANH, LOG, SINE = "@outer/%0", "@inner/%0", "%0/%0[1]/%2/%0"


@pytest.fixture(scope="module")
def program() -> sr.Program:
    return sr.parse(TEXT, filename="model.mlir")


@pytest.fixture(scope="module")
def trace(program: sr.Program) -> sr.Trace:
    return program.trace(X, N)


def place(trace: sr.Trace, address: str) -> str:
    return trace.find(address)[0].location


def of_json(found: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """Return the line and column of each op by its results, those in turns of loops too."""
    here = {name: (op["line"], op["column"]) for op in found["ops"] for name in op["results"]}
    return here | {name: at for loop in found["loops"] for name, at in of_json(loop["found"]).items()}


def test_every_op_of_a_flat_program_has_the_address_of_the_trace(program: sr.Program, trace: sr.Trace) -> None:
    found = sr.debug.diff(program, [X, N], "python:tests.faulty:scaled:stablehlo.tanh")
    data = json.loads(found.to_json())
    assert [op["results"] for op in data["ops"]] == [
        ["@loops/%zero"], ["@loops/%one"], ["%0/%0#0", "%0/%0#1"], ["@loops/%zero"], ["@loops/%one"],
        ["%1/%0#0", "%1/%0#1"], [TANH], [LOG],
    ]  # fmt: skip
    assert data["ops"][-1]["operands"] == [TANH] and data["ops"][2]["operands"][:2] == ["@loops/%zero", "%x"]
    assert data["ops"][-1]["text"] == f"{LOG} = stablehlo.log {TANH} : tensor<4xf32>"
    for name, (line, column) in of_json(data).items():
        assert place(trace, name) == f"model.mlir:{line}:{column}"


def test_a_suspect_has_one_address(program: sr.Program, trace: sr.Trace) -> None:
    found = sr.debug.diff(program, [X, N], "python:tests.faulty:scaled:stablehlo.tanh")
    assert str(found).startswith(f"certainly wrong: stablehlo.tanh {TANH} at {place(trace, TANH)}\n")
    assert place(trace, TANH) == "model.mlir:27:8"
    pytest.importorskip("jinja2")
    page = unescape(found.to_html())
    assert f"<code>stablehlo.tanh {TANH}</code>" in page and f"<code>{LOG}</code>" in page


def test_a_value_in_a_turn_of_a_loop_has_the_address_of_the_turn(program: sr.Program, trace: sr.Trace) -> None:
    found = sr.debug.diff(program, [X, N], "python:tests.faulty:scaled:stablehlo.sine")
    (inner,) = found.inner
    address = SINE.replace("[1]", f"[{inner.turn}]")
    first, second, *_ = str(found).splitlines()
    assert first.startswith(f"in turn {inner.turn} of the loop stablehlo.while %0/%0#0 at {place(trace, '%0/%0#0')},")
    assert second == f"  certainly wrong: stablehlo.sine {address} at {place(trace, address)}"
    assert address in of_json(json.loads(found.to_json()))
    assert np.array_equal(program.run(X, N, until=address)[0], trace[address])
    pytest.importorskip("jinja2")
    assert f"<code>stablehlo.sine {address}</code>" in unescape(found.to_html())


def test_exceptions_have_the_addresses_of_the_trace(program: sr.Program, trace: sr.Trace) -> None:
    found = sr.debug.exceptions(program, X, N, kinds="nan")
    (finding,) = found.findings
    assert (finding.place.name, finding.place.location) == (LOG, place(trace, LOG))
    record = trace.find(LOG)[0]
    assert (finding.first.address, record.name) == (record.address, LOG) == ("%2/%1/%0", LOG)
    assert f"model.mlir:32:8: stablehlo.log {LOG} generates NaN" in str(found)
    assert json.loads(found.to_json())["findings"][0]["place"]["name"] == LOG


def test_nan_of_a_backend_has_the_address_of_the_trace(program: sr.Program, trace: sr.Trace) -> None:
    (found,) = sr.debug.backend_exceptions(program, [np.abs(X), N], "python:tests.debug.backends:negated_tanh")
    assert (found.place.name, found.place.location) == (LOG, place(trace, LOG))


def test_arguments_have_their_own_place_and_their_name_in_the_model(program: sr.Program, trace: sr.Trace) -> None:
    found = sr.debug.exceptions(program, X, N, kinds="nan")
    assert "computed from argument %x (p['attn']['wv']) at model.mlir:2:17" in str(found)
    assert place(trace, "%x") == "model.mlir:2:17" and place(trace, "%n") == "model.mlir:2:59"
    assert str(program.inputs["x"].location) == "model.mlir:2:17"
    given = sr.debug.exceptions(program, np.array([np.nan, 1, 1, 1], np.float32), N, kinds="nan")
    (finding,) = given.findings
    assert (finding.place.name, finding.place.location) == ("%x", "model.mlir:2:17")
    assert finding.place.model_location == "p['attn']['wv']"


@pytest.mark.parametrize("change", ["", "no_inline"])
def test_calls_that_are_not_inlined_keep_their_addresses(change: str) -> None:
    text = TEXT.replace("func.call @inner(%0)", "func.call @inner(%0) {no_inline}") if change else TEXT
    flat = Flat(sr.parse(text))
    names = [result.origin for op in flat.ops for result in op.results]
    assert names[-2:] == [TANH, "@outer/%1" if change else LOG]


def test_addresses_of_a_recursive_program() -> None:
    text = """
    func.func @main(%x: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {
      %0 = func.call @f(%x, %p) : (tensor<f32>, tensor<i1>) -> tensor<f32>
      return %0 : tensor<f32>
    }
    func.func private @f(%x: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {
      %no = stablehlo.constant dense<false> : tensor<i1>
      %0 = stablehlo.tanh %x : tensor<f32>
      %1 = "stablehlo.if"(%p) ({
        %2 = func.call @f(%0, %no) : (tensor<f32>, tensor<i1>) -> tensor<f32>
        stablehlo.return %2 : tensor<f32>
      }, {
        stablehlo.return %0 : tensor<f32>
      }) : (tensor<i1>) -> tensor<f32>
      return %1 : tensor<f32>
    }"""
    assert [op.results[0].origin for op in Flat(sr.parse(text)).ops] == ["@f/%no", "@f/%0", "@f/%1"]


def test_a_function_may_be_called_none() -> None:
    text = """
    func.func @main(%x: tensor<f32>) -> tensor<f32> {
      %0 = func.call @None(%x) : (tensor<f32>) -> tensor<f32>
      %1 = stablehlo.sine %0 : tensor<f32>
      return %1 : tensor<f32>
    }
    func.func private @None(%x: tensor<f32>) -> tensor<f32> {
      %0 = stablehlo.tanh %x : tensor<f32>
      return %0 : tensor<f32>
    }"""
    assert [op.results[0].origin for op in Flat(sr.parse(text)).ops] == ["@None/%0", "%1"]


def test_arguments_of_a_recursive_program_are_those_of_their_call() -> None:
    """@f(n, a) calls @f(n - 1, n - 1) before it uses its second argument."""
    text = """
    func.func @f(%n: tensor<i32>, %a: tensor<i32>) -> tensor<i32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %p = stablehlo.compare EQ, %n, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %r = "stablehlo.if"(%p) ({
        stablehlo.return %zero : tensor<i32>
      }, {
        %m = stablehlo.subtract %n, %one : tensor<i32>
        %1 = func.call @f(%m, %m) : (tensor<i32>, tensor<i32>) -> tensor<i32>
        stablehlo.return %1 : tensor<i32>
      }) : (tensor<i1>) -> tensor<i32>
      %s = stablehlo.add %r, %a : tensor<i32>
      return %s : tensor<i32>
    }
    func.func @main(%x: tensor<i32>) -> tensor<i32> {
      %0 = func.call @f(%x, %x) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      return %0 : tensor<i32>
    }"""
    records = {record.address: record.data for record in sr.load(text).trace(2).records}
    assert [records[f"%0/{calls}%a"] for calls in ("", "%r/%1/", "%r/%1/%r/%1/")] == [2, 1, 0]


def test_names_of_functions_may_have_spaces() -> None:
    text = """
    func.func @main(%x: tensor<f32>) -> tensor<f32> {
      %0 = func.call @"f at g"(%x) : (tensor<f32>) -> tensor<f32>
      %1 = func.call @"f at g"(%0) : (tensor<f32>) -> tensor<f32>
      return %1 : tensor<f32>
    }
    func.func private @"f at g"(%x: tensor<f32>) -> tensor<f32> {
      %t = stablehlo.tanh %x : tensor<f32>
      return %t : tensor<f32>
    }"""
    assert [op.results[0].origin for op in Flat(sr.parse(text)).ops] == ["%0/%t", "%1/%t"]
