"""Values in the middle of a run: which there are, under which names."""

from __future__ import annotations

import json
import pickle
from hashlib import sha256
from pathlib import Path
from typing import Any

import ml_dtypes
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
    assert (tmp_path / "values" / "index.jsonl").exists() == is_stored


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


# --- addresses: calls, loop turns, numbers of ops --------------------------------------------------------------------


def test_finds_values_by_the_number_of_their_op(program: sr.Program) -> None:
    trace = program.trace(X, 2)
    np.testing.assert_array_equal(trace[8], X * 5)  # 0 the loop, 1-3 its condition, 4-7 its body
    np.testing.assert_array_equal(trace["#0#1"], X * 4)
    np.testing.assert_array_equal(trace["@double/#0"], [X * 2, X * 4])


NESTED = """
func.func @main(%n: tensor<i32>) -> tensor<i32> {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %c0, %s = %c0) : tensor<i32>, tensor<i32>
    cond {
      %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %2:2 = stablehlo.while(%j = %c0, %t = %s) : tensor<i32>, tensor<i32>
        cond {
          %3 = stablehlo.compare LT, %j, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %3 : tensor<i1>
        } do {
          %4 = stablehlo.add %j, %one : tensor<i32>
          %5 = func.call @next(%t) : (tensor<i32>) -> tensor<i32>
          stablehlo.return %4, %5 : tensor<i32>, tensor<i32>
        }
      %6 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %6, %2#1 : tensor<i32>, tensor<i32>
    }
  %7 = func.call @next(%0#1) : (tensor<i32>) -> tensor<i32>
  return %7 : tensor<i32>
}
func.func private @next(%v: tensor<i32>) -> tensor<i32> {
  %c = stablehlo.constant dense<1> : tensor<i32>
  %w = stablehlo.add %v, %c : tensor<i32>
  return %w : tensor<i32>
}
"""


def test_turns_of_nested_loops() -> None:
    trace = sr.load(NESTED).trace(2)
    assert [int(value) for value in trace["%5"]] == [1, 2, 3, 4]
    assert trace["%5"][1, 0] == trace["%5"][2] == trace["%0[1]/%2[0]/%5"] == 3
    assert list(trace["%6"]) == [1, 2]
    with pytest.raises(
        IndexError, match=r"no value in turns \(2, 0\); there are \(0, 0\), \(0, 1\), \(1, 0\), \(1, 1\)"
    ):
        trace["%5"][2, 0]


def test_addresses_of_calls() -> None:
    trace = sr.load(NESTED).trace(2)
    assert [int(value) for value in trace["@next/%w"]] == [1, 2, 3, 4, 5]
    assert trace["%7/%w"] == 5
    assert trace["%0[0]/%2[1]/%5/%w"] == 2
    assert [record.turns for record in trace.find("@next/%w")] == [(0, 0), (0, 1), (1, 0), (1, 1), ()]


def test_a_value_in_a_loop_of_one_turn_is_still_indexed_by_turn() -> None:
    trace = sr.load(NESTED).trace(1)
    assert list(trace["%6"]) == [1]
    assert trace["%6"][0] == 1


def test_records_arguments_of_blocks_and_functions_and_constants() -> None:
    trace = sr.load(NESTED).trace(2)
    assert [int(value) for value in trace["%i"]] == [0, 1, 2]
    assert [int(value) for value in trace["@next/%v"]] == [0, 1, 2, 3, 4]
    assert trace["%one"] == trace["@next/%c"] == 1


def test_selects_values_and_ops_by_name() -> None:
    program = sr.load(NESTED)
    assert list(program.trace(2, only=["%5", "stablehlo.comp*"])) == ["%1", "%3", "%5"]
    assert list(program.trace(2, only="@next/%w")) == ["@next/%w"]
    with pytest.raises(KeyError, match=r"no value is called '%99'"):
        program.trace(2, only=["%99"])


@pytest.mark.parametrize("path", ["model.py", "/home/me/model.py"])
def test_values_by_the_line_of_the_model(path: str) -> None:
    trace = sr.load(PROGRAM.replace("model.py", path)).trace(X, 2)
    (value,) = trace.line("model.py:3").values()
    np.testing.assert_array_equal(value, X * 5)
    with pytest.raises(sr.EvaluationError, match=r"was made by 'model.py:33'; did you mean 'model.py:3'"):
        trace.line("model.py:33")


def test_selects_by_wildcards() -> None:
    assert list(sr.load(NESTED).trace(1).select("stablehlo.*are")) == ["%1", "%3"]


CF = """
func.func @main(%n: tensor<i1>) -> tensor<i1> {
  %true = stablehlo.constant dense<true> : tensor<i1>
  cf.br ^loop(%n : tensor<i1>)
^loop(%x: tensor<i1>):
  %y = stablehlo.xor %x, %true : tensor<i1>
  %p = tensor.extract %y[] : tensor<i1>
  cf.cond_br %p, ^loop(%y : tensor<i1>), ^end(%x : tensor<i1>)
^end(%z: tensor<i1>):
  %r = stablehlo.not %z : tensor<i1>
  return %r : tensor<i1>
}
"""


def test_turns_of_loops_between_blocks() -> None:
    trace = sr.load(CF).trace(False)
    assert [bool(value) for value in trace["%y"]] == [True, False]
    assert trace["%r"] == False  # noqa: E712
    assert trace["[1]/%y"] == False  # noqa: E712


# --- processes -------------------------------------------------------------------------------------------------------

REDUCED = """
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %x, %x : tensor<f32>
  %1 = "stablehlo.all_reduce"(%0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
"""


@pytest.mark.parametrize("is_stored", [False, True])
def test_traces_each_process_of_a_grid(is_stored: bool, tmp_path: Path) -> None:
    trace = sr.load(REDUCED).trace_parallel([[1.0], [2.0]], store=tmp_path if is_stored else None)
    assert trace.processes == ((0, 0), (1, 0))
    assert trace["%0"] == {(0, 0): 2, (1, 0): 4}
    assert trace["%0"][1, 0] == 4
    assert trace.process(1, 0)["%1"] == 6
    assert trace.process(1, 0)["%x"] == 2
    assert trace.results == [(6,), (6,)]


# --- files -----------------------------------------------------------------------------------------------------------


def test_a_stored_trace_is_read_again(tmp_path: Path) -> None:
    trace = sr.load(NESTED).trace(2, store=tmp_path)
    loaded = sr.Trace.load(tmp_path)
    assert list(loaded) == list(trace)
    assert [record.address for record in loaded.records] == [record.address for record in trace.records]
    assert loaded["%0[1]/%2[0]/%5"] == 3
    with pytest.raises(KeyError, match=r"no value is called '%66'; did you mean"):
        loaded["%66"]


def test_the_index_describes_each_value(tmp_path: Path) -> None:
    sr.load(PROGRAM).trace(X, 1, store=tmp_path)
    *_, last = map(json.loads, (tmp_path / "index.jsonl").read_text().splitlines())
    file = last["stored"].pop("file")
    assert last == {
        "number": last["number"], "name": "%1", "names": ["%1", "@main/%1", "#8", "@main/#8", "jit(f)/add"],
        "address": "%1", "op": "stablehlo.add", "type": "tensor<3xf32>", "location": "<string>:14:8",
        "model_location": "jit(f)/add at model.py:3:1", "turns": [], "process": [0, 0],
        "stored": {"dtype": "float32", "shape": [3]}, "digest": last["digest"],
    }  # fmt: skip
    rms = last["digest"].pop("rms")
    assert last["digest"] == {
        "dtype": "float32", "shape": [3], "min": 3, "max": 9, "mean": 6, "nans": 0, "infinities": 0, "zeros": 0,
        "subnormals": 0, "hash": sha256((X * 3).tobytes()).hexdigest()[:32], "exponents": {"1": 1, "2": 1, "3": 1},
    }  # fmt: skip
    assert rms == pytest.approx(42**0.5)
    np.testing.assert_array_equal(np.load(tmp_path / file), X * 3)


def test_a_trace_replaces_an_earlier_one_in_its_folder(tmp_path: Path, program: sr.Program) -> None:
    (tmp_path / "mine.npy").write_bytes(b"")
    program.trace(X, 3, store=tmp_path)
    program.trace(X, 0, store=tmp_path, only="%1")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["000000.npy", "index.jsonl", "mine.npy"]


def test_stored_arrays_are_mapped(tmp_path: Path, program: sr.Program) -> None:
    assert isinstance(program.trace(X, 1, store=tmp_path)["%1"], np.memmap)


def test_stores_more_values_than_files_can_be_open(tmp_path: Path, program: sr.Program) -> None:
    trace = program.trace(X, 1200, store=tmp_path, only="@double/%3")
    assert len(trace.all("@double/%3")) == 1200


def test_stores_tuples_tokens_and_empty_arrays(tmp_path: Path) -> None:
    text = """
    func.func @main(%x: tensor<0x2xi4>, %y: tensor<bf16>) -> tensor<0x2xi4> {
      %t = stablehlo.create_token : !stablehlo.token
      %0 = stablehlo.tuple %x, %y : tuple<tensor<0x2xi4>, tensor<bf16>>
      %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<0x2xi4>, tensor<bf16>>) -> tensor<0x2xi4>
      return %1 : tensor<0x2xi4>
    }"""
    trace = sr.load(text).trace(np.zeros((0, 2), ml_dtypes.int4), 1.5, store=tmp_path)
    empty, scalar = trace["%0"]
    assert (empty.shape, empty.dtype, scalar, scalar.dtype) == ((0, 2), ml_dtypes.int4, 1.5, ml_dtypes.bfloat16)
    assert trace["%t"] is None


def test_reading_a_folder_without_a_trace(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"has no trace: there is no index\.jsonl in it"):
        sr.Trace.load(tmp_path)


# --- errors ----------------------------------------------------------------------------------------------------------

FAILING = """
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2xf32> loc("jit(model)/add"("model.py":12:0))
  check.expect_eq %0, %x : tensor<2xf32> loc("jit(model)/check"("model.py":13:4))
  return %0 : tensor<2xf32>
}
"""


def test_an_error_has_the_values_until_then(tmp_path: Path) -> None:
    with pytest.raises(sr.EvaluationError) as caught:
        sr.load(FAILING).trace([1.0, 2.0], store=tmp_path)
    np.testing.assert_array_equal(caught.value.trace["jit(model)/add"], [2, 4])
    np.testing.assert_array_equal(sr.Trace.load(tmp_path)["%0"], [2, 4])


def test_errors_have_the_location_in_the_model() -> None:
    with pytest.raises(sr.EvaluationError, match=r"in the model: jit\(model\)/check at model\.py:13:4"):
        sr.load(FAILING).run([1.0, 2.0])


def test_ops_have_the_location_in_the_model() -> None:
    op = sr.load(FAILING).value("%0").owner
    assert isinstance(op, sr.Operation)
    assert op.model_location == "jit(model)/add at model.py:12:0"


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ('loc("f.py":1:2)', "f.py:1:2"),
        ('loc("add")', "add"),
        ("loc(unknown)", None),
        ('loc(callsite("g"("g.py":1:2) at "f"("f.py":3:4)))', "g at g.py:1:2"),
        ('loc("f"(fused["a.py":5:6, "b.py":7:8]))', "f at a.py:5:6"),
    ],
)
def test_locations_in_the_model(location: str, expected: str | None) -> None:
    text = FAILING.replace('loc("jit(model)/add"("model.py":12:0))', location)
    op = sr.load(text).value("%0").owner
    assert isinstance(op, sr.Operation)
    assert op.model_location == expected


# --- until -----------------------------------------------------------------------------------------------------------


def test_a_run_stops_at_a_value() -> None:
    (value,) = sr.load(FAILING).run([1.0, 2.0], until="%0")  # the check does not run
    np.testing.assert_array_equal(value, [2, 4])
    value[0] = 7  # it is the caller's own


def test_a_run_stops_at_several_values_and_addresses() -> None:
    program = sr.load(NESTED)
    assert program.run(2, until=["%0[1]/%2[0]/%5", "%n", "%one"]) == (3, 2, 1)
    assert program.run(2, until="%5") == (1,)
    assert program.run(2, until="@next/%w", limits=sr.Limits(max_steps=20)) == (1,)


def test_stops_at_unknown_or_uncomputed_values() -> None:
    program = sr.load(PROGRAM)
    with pytest.raises(KeyError, match=r"no value is called '%nxt'; did you mean '%next'"):
        program.run(X, 1, until="%nxt")
    with pytest.raises(sr.EvaluationError, match="the run ended without computing %next"):
        program.run(X, 0, until="%next")


def test_traces_can_be_pickled(program: sr.Program) -> None:
    trace = pickle.loads(pickle.dumps(program.trace(X, 2)))
    np.testing.assert_array_equal(trace["%1"], X * 5)
    assert repr(trace) == "<Trace of 15 values, 25 records>"  # constants once, arguments when used


def test_results_that_nothing_uses_are_in_the_trace() -> None:
    text = """
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = stablehlo.negate %x : tensor<2xf32>
      %1:2 = call @both(%x) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
      return %1#0 : tensor<2xf32>
    }
    func.func private @both(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
      %0 = stablehlo.add %x, %x : tensor<2xf32>
      return %x, %0 : tensor<2xf32>, tensor<2xf32>
    }"""
    trace = sr.load(text).trace([1, 2])
    assert trace["%0"].tolist() == [-1, -2]
    assert trace["%1#1"].tolist() == [2, 4]


def test_traces_have_the_results_of_runs_that_return_constants_from_loops() -> None:
    text = """
    func.func @main(%n: tensor<i1>) -> tensor<i32> {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %false = stablehlo.constant dense<false> : tensor<i1>
      %0:2 = stablehlo.while(%i = %n, %c = %one) : tensor<i1>, tensor<i32>
        cond {
          stablehlo.return %i : tensor<i1>
        } do {
          %seven = stablehlo.constant dense<7> : tensor<i32>
          stablehlo.return %false, %seven : tensor<i1>, tensor<i32>
        }
      return %0#1 : tensor<i32>
    }"""
    assert sr.load(text).trace(True).results == (7,)
    assert sr.load(text).run(True, on_implementation_defined="warn") == (7,)


def test_arguments_of_other_types_are_errors(program: sr.Program) -> None:
    with pytest.raises(TypeError, match="until must be the name of a value, or a list of names, got 3"):
        program.run(X, 1, until=3)  # type: ignore[arg-type]
    with pytest.raises(
        TypeError, match=r"only must be Callable\[\[Operation\], bool\] \| str \| Iterable\[str\] \| None, got 3"
    ):
        program.trace(X, 1, only=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="the name of an input must be a string, got 1"):
        program.run({1: X})
