"""Loops and conditionals that are wrong themselves, although all ops inside of them are right."""

from __future__ import annotations

import json

import numpy as np
import pytest

from stablehlo_ref.debug.judge import Verdict
from tests.debug.programs import compare, suspects
from tests.debug.test_locate import BRANCH

F32 = np.float32
RIGHT = "python:tests.debug.backends:right"


def loop(ops: str, returned: str, type: str = "tensor<4xf32>", less: str = "%i, %n") -> str:
    """Return a loop with a counter and two carries."""
    return f"""
func.func @main(%n: tensor<i32>, %x: {type}, %y: {type}) -> (tensor<i32>, {type}, {type}) {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %a = %x, %b = %y) : tensor<i32>, {type}, {type}
    cond {{
      %more = stablehlo.compare LT, {less} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    }} do {{
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %i, %one : tensor<i32>
      {ops}
      stablehlo.return %next, {returned} : tensor<i32>, {type}, {type}
    }}
  return %0#0, %0#1, %0#2 : tensor<i32>, {type}, {type}
}}"""


TANH = loop("%t = stablehlo.multiply %a, %b : tensor<4xf32>\n%u = stablehlo.tanh %t : tensor<4xf32>", "%b, %u")
COUNTS = loop("%t = stablehlo.add %a, %b : tensor<4xi32>", "%b, %t", "tensor<4xi32>")
FLOATS = [np.linspace(0.3, 0.9, 4, dtype=F32), np.linspace(1.5, 2, 4, dtype=F32)]
INTEGERS = [np.arange(4, dtype=np.int32), np.arange(2, 6, dtype=np.int32)]


@pytest.mark.parametrize("contract", ["strict", "xla-cpu", "tpu"])
@pytest.mark.parametrize("fault", ["loops_early", "loops_stale", "loops_permuted"])
@pytest.mark.parametrize(("text", "inputs"), [(TANH, FLOATS), (COUNTS, INTEGERS)])
def test_names_a_loop_that_is_wrong_itself(text: str, inputs: list[np.ndarray], fault: str, contract: str) -> None:
    given = [np.int32(5), *inputs]
    found = compare(text, f"python:tests.debug.backends:{fault}", contract, given)
    assert suspects(found) == ["while"] and not found.inner
    assert found.confirmation.is_wrong_alone and found.verdict == "wrong"
    assert json.loads(found.to_json())["verdict"] == "wrong"
    assert not compare(text, RIGHT, contract, given).suspects


def test_integers_of_long_loops_are_certain() -> None:
    given = [np.int32(150), *INTEGERS]
    found = compare(COUNTS.replace("add %a", "xor %a"), "python:tests.debug.backends:loops_early", "xla-cpu", given)
    assert suspects(found) == ["while"]
    mixed = [np.int32(150), *FLOATS]
    found = compare(TANH, "python:tests.debug.backends:loops_early", "xla-cpu", mixed)
    assert suspects(found) == ["while"]  # by the number of turns


def test_floating_point_numbers_of_long_loops_are_suspicious() -> None:
    """A rotation: the state before the last turn is another point of the circle."""
    ops = """%c = stablehlo.constant dense<0.8> : tensor<4xf32>
      %s = stablehlo.constant dense<0.6> : tensor<4xf32>
      %0 = stablehlo.multiply %a, %c : tensor<4xf32>
      %1 = stablehlo.multiply %b, %s : tensor<4xf32>
      %2 = stablehlo.multiply %a, %s : tensor<4xf32>
      %3 = stablehlo.multiply %b, %c : tensor<4xf32>
      %4 = stablehlo.subtract %0, %1 : tensor<4xf32>
      %5 = stablehlo.add %2, %3 : tensor<4xf32>"""
    text, given = loop(ops, "%4, %5"), [np.int32(150), *FLOATS]
    found = compare(text, "python:tests.debug.backends:loops_stale", "xla-cpu", given)
    assert not found.is_wrong and found.verdict == "suspicious"
    assert [op.name for op in found.not_explained] == ["stablehlo.while"]
    assert "suspicious: stablehlo.while" in str(found)
    document = json.loads(found.to_json())
    assert [document["ops"][i]["name"] for i in document["not_explained"]] == ["stablehlo.while"]
    assert compare(text, RIGHT, "xla-cpu", given).verdict == "same"


def test_a_condition_that_rounding_decides_is_not_judged() -> None:
    """Whether the loop goes on depends on the last bits of a sum."""
    text = """
func.func @main(%x: tensor<f32>) -> (tensor<f32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%a = %x, %i = %zero) : tensor<f32>, tensor<i32>
    cond {
      %one = stablehlo.constant dense<1.0> : tensor<f32>
      %more = stablehlo.compare LT, %a, %one : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %step = stablehlo.constant dense<0.1> : tensor<f32>
      %1 = stablehlo.add %a, %step : tensor<f32>
      %n = stablehlo.constant dense<1> : tensor<i32>
      %2 = stablehlo.add %i, %n : tensor<i32>
      stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
    }
  return %0#0, %0#1 : tensor<f32>, tensor<i32>
}"""
    found = compare(text, "python:tests.debug.backends:loops_early", "xla-cpu", [F32(0.0)])
    assert [j.verdict for j in found.judgements] == [Verdict.NOT_JUDGED]
    assert not found.is_wrong
    found = compare(text, "python:tests.debug.backends:loops_early", "xla-cpu", [F32(0.35)])
    assert suspects(found) == ["while"]  # 0.35, 0.45, ..., 1.05: no sum is near to 1


@pytest.mark.parametrize("contract", ["strict", "xla-cpu"])
@pytest.mark.parametrize("index", [0, 1])
def test_names_a_conditional_that_takes_another_branch(index: int, contract: str) -> None:
    inputs = [np.asarray(index, np.int32), np.linspace(0.1, 1, 8, dtype=F32)]
    found = compare(BRANCH, "python:tests.debug.backends:other_branch", contract, inputs)
    assert suspects(found) == ["case"] and found.verdict == "wrong"


def test_a_branch_by_a_computed_predicate_is_judged_alone() -> None:
    """Fused code may compute the quotient again, so that nothing is known of the comparison."""
    text = """
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.cosine %x : tensor<f32>
  %1 = stablehlo.subtract %0, %x : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %p = stablehlo.compare GE, %1, %z : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %2 = "stablehlo.if"(%p) ({
    %3 = stablehlo.negate %x : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }, {
    stablehlo.return %x : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return %2 : tensor<f32>
}"""
    found = compare(text, "python:tests.debug.backends:other_branch", "xla-cpu", [F32(0.739085)])
    assert suspects(found) == ["if"]


def test_a_fault_of_fused_code_in_a_loop_is_found_inside() -> None:
    for contract in ("strict", "xla-cpu"):
        found = compare(TANH, "python:tests.faulty:fused-scaled:stablehlo.tanh", contract, [np.int32(5), *FLOATS])
        (inner,) = found.inner
        assert inner.found.group is not None
        assert "stablehlo.tanh" in [op.name for op in inner.found.group.ops]
