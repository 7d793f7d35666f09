"""The result of `diff` as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.cli.main import main
from stablehlo_ref.debug.contract import PRESETS
from stablehlo_ref.debug.cut import Flat
from stablehlo_ref.debug.evaluate import Evaluator
from stablehlo_ref.debug.judge import Judge, Judgement, Verdict
from stablehlo_ref.debug.report.document import COLOURS, LARGEST, Deviation, deviations, places
from tests.debug.programs import LAYER, compare

ROOT = Path(__file__).parents[2]
LOOP = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %i = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%n = %i, %a = %x) : tensor<i32>, tensor<4xf32>
    cond {
      %three = stablehlo.constant dense<3> : tensor<i32>
      %1 = stablehlo.compare LT, %n, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %1 = stablehlo.add %n, %one : tensor<i32>
      %2 = stablehlo.tanh %a : tensor<4xf32>
      stablehlo.return %1, %2 : tensor<i32>, tensor<4xf32>
    }
  return %0#1 : tensor<4xf32>
}
"""


def _document(text: str, backend: str, contract: str = "strict") -> dict[str, Any]:
    return dict(json.loads(compare(text, backend, contract).to_json()))


def test_names_the_op_its_place_and_values() -> None:
    found = _document(LAYER, "python:tests.faulty:shifted:stablehlo.transpose")
    (wrong,) = [op for op in found["ops"] if op["verdict"] == "wrong"]
    assert wrong["text"].startswith("%5 = stablehlo.transpose @activation/%1,")
    assert (wrong["line"], wrong["column"], wrong["results"]) == (12, 8, ["%5"])
    assert wrong["error"] == "inf" and wrong["excess"]["bound"] == 0.0 and wrong["excess"]["size"] == 512
    assert found["wrong"] and found["counts"]["wrong"] == 1
    assert found["contract"]["name"] == "strict" and found["program"]["ops"] == len(found["ops"]) == 15
    assert sr.load(found["repro"]).run()[0]


def test_operands_are_results_of_other_ops_or_arguments() -> None:
    ops = _document(LAYER, "python:tests.faulty:shifted:stablehlo.transpose")["ops"]
    defined = {"%x", "%w", "%b"}
    for op in ops:
        assert set(op["operands"]) <= defined
        defined.update(op["results"])
    assert len(defined) == 3 + len(ops)


def test_groups_and_loops_refer_to_ops() -> None:
    group = _document(LAYER, "python:tests.faulty:fused-scaled:stablehlo.tanh")
    assert "stablehlo.tanh" in [group["ops"][index]["name"] for index in group["group"]["ops"]]
    found = _document(LOOP, "python:tests.debug.backends:tanh_off")
    (loop,) = found["loops"]
    assert found["ops"][loop["op"]]["name"] == "stablehlo.while" and loop["turn"] == 0
    assert [op["name"] for op in loop["found"]["ops"] if op["verdict"] == "wrong"] == ["stablehlo.tanh"]
    failed = _document(LAYER, "python:tests.debug.backends:refuses")
    assert failed["failure"]["kind"] == "refused" and "no such op" in failed["failure"]["reason"]


@pytest.mark.parametrize("backend", ["shifted:stablehlo.transpose", "fused-scaled:stablehlo.tanh"])
def test_faults_are_those_of_the_text(backend: str) -> None:
    result = compare(LAYER, f"python:tests.faulty:{backend}", "strict")
    (fault,) = json.loads(result.to_json())["faults"]
    ops = [result.setup.flat.ops[index].name for index in fault["ops"]]
    assert fault["verdict"] == "certainly wrong" and fault["excess"]["size"] == 512
    for text in (*ops, fault["verdict"], *fault["notes"]):
        assert text in str(result)


def test_every_field_is_documented() -> None:
    page = (ROOT / "docs/reference/json.md").read_text(encoding="utf-8").partition("## Of a comparison")[2]
    found = _document(LAYER, "python:tests.faulty:shifted:stablehlo.transpose")
    assert [name for name in (*found, *found["ops"][0]) if f"`{name}`" not in page] == []


def test_the_command_prints_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "layer.mlir"
    path.write_text(LAYER)
    assert main(["diff", str(path), "--backend", "self", "--random-inputs", "0", "--json"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    found = json.loads(line)
    assert found["same"] and found["inputs"]["origin"].startswith("random")
    assert found["program"]["file"] == str(path)


def _deviation(actual: Any, expected: Any, radius: float | None) -> Deviation:
    value = sr.load(LAYER).module.regions[0].block.operations[0].regions[0].block.arguments[0]
    bound = None if radius is None else np.float64(radius)
    return Deviation(value, np.array(actual, np.float32), np.array(expected, np.float64), bound)


def test_errors_are_relative_to_bounds_and_in_ulps() -> None:
    found = _deviation([1.0, 1 + 2.0**-23, 3.0], [1.0, 1.0, 2.0], 2.0**-24)
    assert found.ratios is not None and found.ratios.tolist() == [0, 2, 2.0**24]
    assert found.ulps is not None and found.ulps.tolist() == [0, 1, 2.0**22]
    assert found.differs.tolist() == [False, True, True]
    histogram = found.histogram()
    assert histogram is not None and sum(histogram) == 3
    assert (histogram[0], histogram[2], histogram[24]) == (1, 1, 1)  # 0, up to 1, up to 2^22


def test_special_values_are_far_off_unless_they_are_the_same() -> None:
    found = _deviation([np.nan, np.nan, np.inf, np.inf], [np.nan, 1.0, np.inf, 1.0], 1.0)
    assert found.errors.tolist() == [0, np.inf, 0, np.inf]
    assert _deviation([1.0], [2.0], None).ratios is None


def test_results_without_a_bound_are_measured_against_the_interpreter() -> None:
    flat = Flat(sr.load("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
        '%0 = "stablehlo.map"(%x) <{dimensions = array<i64: 0>}> ({\n^bb0(%a: tensor<f32>):\n'
        "%1 = stablehlo.multiply %a, %a : tensor<f32>\nstablehlo.return %1 : tensor<f32>\n"
        "}) : (tensor<2xf32>) -> tensor<2xf32>\n"
        "return %0 : tensor<2xf32>\n}"))  # fmt: skip
    (op,) = flat.ops
    x = np.float32([2, 2])
    actual = np.float32([4, 0])
    values = {flat.arguments[0]: x, op.results[0]: actual}
    (found,) = deviations(Judge(values, PRESETS["strict"], Evaluator(flat)), Judgement(op, Verdict.NOT_JUDGED))
    assert found.radius is None and found.errors.tolist() == [0, 4]


def test_places_are_ranges_of_indices_along_each_axis() -> None:
    where = np.zeros((4, 8), bool)
    where[:, 3:5] = where[:, 7] = True
    assert places(where) == ["all 4", "3-4, 7"]
    assert places(np.zeros((2,), bool)) == ["none"]
    assert places(np.arange(20) % 2 == 1) == ["1, 3, 5, 7, 9, 11 and 4 more"]
    assert places(np.ones((), bool)) == []


MODEL = """
module @jit_f {
func.func private @g(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.tanh %x : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func public @main(%x: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4x4xf32>) {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = call @g(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.reduce(%0 init: %c) applies stablehlo.add across dimensions = [1]
    : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = stablehlo.negate %0 : tensor<4x4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4x4xf32>
}
}
"""


def test_node_data_has_the_ids_of_model_explorer() -> None:
    """Those that its adapter 0.2.1 gives: the ops in the region of the reduce, 3 and 4, are nodes too."""
    found = compare(MODEL, "python:tests.debug.backends:tanh_off", "strict")
    graphs = json.loads(found.to_model_explorer())
    assert list(graphs) == ["g", "main"]
    assert list(graphs["g"]["results"]) == ["0"] and graphs["g"]["results"]["0"]["value"] > 1
    assert graphs["g"]["results"]["0"]["bgColor"] == COLOURS["wrong"]
    assert {key: node["value"] for key, node in graphs["main"]["results"].items()} == {"2": 0.0, "5": 0.0}


def test_node_data_of_loops_and_groups() -> None:
    loop = json.loads(compare(LOOP, "python:tests.debug.backends:tanh_off", "strict").to_model_explorer())
    wrong = [key for key, node in loop["main"]["results"].items() if node["bgColor"] == COLOURS["wrong"]]
    assert wrong == ["1", "7"]  # the loop and the tanh in its body
    group = json.loads(compare(LAYER, "python:tests.faulty:fused-scaled:stablehlo.tanh", "strict").to_model_explorer())
    assert group["activation"]["results"]["1"] == {"value": LARGEST, "bgColor": COLOURS["wrong"]}
