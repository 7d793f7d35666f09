"""`diff`: which ops are found to be wrong, and which are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.debug import contract_of
from stablehlo_ref.debug.judge import Verdict
from stablehlo_ref.diagnostics import ArgumentValueError
from tests.debug.programs import LAYER, LOOP, compare, normal, suspects

ALWAYS_WRONG = [
    ("dropped", "add"), ("dropped", "tanh"), ("shifted", "transpose"), ("last-term", "dot_general"),
    ("shifted", "subtract"), ("wrong-op", "maximum"), ("scaled", "divide"), ("dropped", "reduce"), ("shifted", "slice"),
    ("shifted", "reshape"), ("dropped", "broadcast_in_dim"), ("shifted", "convert"), ("scaled", "multiply"),
    ("shifted", "round_nearest_even"),
]  # fmt: skip
WRONG_IF_STRICT = [
    ("tf32", "dot_general", "strict,dot_algorithm=tf32"),
    ("bf16", "dot_general", "tpu"),
    ("truncated", "divide", "xla-cpu"),
    ("truncated", "tanh", "xla-cpu"),
]


@pytest.mark.parametrize(("fault", "op"), ALWAYS_WRONG)
def test_locates_the_op_that_is_wrong(fault: str, op: str) -> None:
    found = compare(LAYER, f"python:tests.faulty:{fault}:stablehlo.{op}", "tpu" if fault != "scaled" else "xla-cpu")
    assert suspects(found) == [op]
    assert found.is_wrong
    assert found.setup.compilations <= 2 * 4 + 5


@pytest.mark.parametrize(("fault", "op", "permissive"), WRONG_IF_STRICT)
def test_precision_is_relative_to_the_contract(fault: str, op: str, permissive: str) -> None:
    backend = f"python:tests.faulty:{fault}:stablehlo.{op}"
    assert suspects(compare(LAYER, backend, "strict")) == [op]
    allowed = compare(LAYER, backend, permissive)
    assert not allowed.is_wrong
    permitted = [j for j in allowed.judgements if j.verdict is Verdict.PERMITTED]
    assert [j.op.name for j in permitted] == [f"stablehlo.{op}"]
    assert permitted[0].permissions


def test_names_the_permission_that_makes_it_legal() -> None:
    found = compare(LAYER, "python:tests.faulty:tf32:stablehlo.dot_general", "xla-gpu")
    (permitted,) = [j for j in found.judgements if j.verdict is Verdict.PERMITTED]
    assert permitted.permissions == ("dot_algorithm=tf32",)
    assert "dot_algorithm=tf32: 1" in str(found)


def test_nothing_is_wrong_with_the_interpreter_itself() -> None:
    found = compare(LAYER, "self", "strict")
    assert found.outputs.same and not found.is_wrong
    assert "no difference" in str(found)


def test_a_contract_is_printed_by_its_name() -> None:
    """Its fields are printed only if the name does not say what they are."""
    own = replace(contract_of("strict"), name="mine", fma=True)
    for name in ("xla-cpu", "strict,ulp.tanh=2"):
        assert f"\ncontract: {name}\n" in str(compare(LAYER, "self", name))
    assert f"\ncontract: {own}\n" in str(compare(LAYER, "self", own))


@pytest.mark.parametrize("op", ["add", "tanh", "slice"])
def test_finds_faults_that_vanish_with_intermediate_values(op: str) -> None:
    found = compare(LAYER, f"python:tests.faulty:fused-scaled:stablehlo.{op}", "strict")
    assert not found.suspects
    assert found.group is not None and found.group.is_certain
    assert f"stablehlo.{op}" in [inner.name for inner in found.group.ops]
    assert len(found.group.ops) <= 5
    assert found.setup.compilations <= 2 * 4 + 5
    assert "only where no intermediate value is an output" in str(found)


def test_says_if_not_all_ops_were_compared() -> None:
    found = compare(LAYER, "python:tests.faulty:dropped:stablehlo.divide", "strict", max_bytes=1)
    assert not found.suspects
    assert "intermediate values are missing: stopped: 10 of 15 ops were compared" in str(found)


def test_values_come_in_parts_within_the_memory_budget() -> None:
    found = compare(LAYER, "python:tests.faulty:dropped:stablehlo.maximum", "strict", max_bytes=5000)
    assert suspects(found) == ["maximum"]


def test_subnormal_results_may_be_zero_under_a_contract() -> None:
    text = """
    func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
      %0 = stablehlo.multiply %x, %y : tensor<4xf32>
      return %0 : tensor<4xf32>
    }"""
    inputs = [np.full(4, 1e-20, np.float32), np.float32([1, 1e-20, 1e-21, 2])]
    strict = compare(text, "python:tests.faulty:flushed:stablehlo.multiply", "strict", inputs)
    assert suspects(strict) == ["multiply"]
    assert not compare(
        text, "python:tests.faulty:flushed:stablehlo.multiply", "strict,flush_subnormals=true", inputs
    ).is_wrong


def test_a_lost_nan_is_wrong() -> None:
    text = """
    func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
      %0 = stablehlo.maximum %x, %y : tensor<3xf32>
      return %0 : tensor<3xf32>
    }"""
    inputs = [np.float32([1, np.nan, 3]), np.float32([2, 2, 2])]
    found = compare(text, "python:tests.faulty:no-nan:stablehlo.maximum", "xla-cpu", inputs)
    assert suspects(found) == ["maximum"]
    assert found.suspects[0].excess is not None and found.suspects[0].excess.special == "NaN"
    lenient = compare(text, "python:tests.faulty:no-nan:stablehlo.maximum", "xla-cpu,nan_propagation=false", inputs)
    assert not lenient.is_wrong


@pytest.mark.parametrize(
    "backend", ["python:tests.faulty:shifted:stablehlo.dot_general", "python:tests.faulty:fused-dropped:stablehlo.add"]
)
def test_repro_checks_itself(backend: str) -> None:
    found = compare(LAYER, backend, "strict")
    assert found.repro is not None
    program = sr.load(found.repro.text())
    assert program.run()[0].item() is True
    if "fused" not in backend:
        from stablehlo_ref.debug.backends import open_backend

        (right,) = open_backend(backend).run(found.repro.text().replace("func.call @suspect", "call @suspect"), [])
        assert not right


def test_repro_of_integers_checks_itself() -> None:
    found = compare(LAYER, "python:tests.faulty:shifted:stablehlo.convert", "strict")
    assert found.repro is not None
    assert sr.load(found.repro.text()).run()[0].item() is True


def test_needs_static_tensors() -> None:
    text = "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> { return %x : tensor<?xf32> }"
    with pytest.raises(sr.EvaluationError, match="static tensors"):
        compare(text, "self", "strict", [np.zeros(2, np.float32)])


def test_a_result_of_another_shape_is_a_failure() -> None:
    found = compare(LAYER, "python:tests.debug.backends:scalar", "strict")
    assert found.failure is not None and "expected tensor<16xf32>" in str(found)


def test_an_unstable_backend_is_a_failure() -> None:
    found = compare(LAYER, "python:tests.debug.backends:random", "strict")
    assert found.failure is not None and found.failure.outcome.failure == "unstable"
    assert found.is_wrong


def test_fused_multiply_add_is_legal_under_its_permission() -> None:
    text = """
    func.func @main(%x: tensor<16xf32>, %y: tensor<16xf32>, %z: tensor<16xf32>) -> tensor<16xf32> {
      %0 = stablehlo.multiply %x, %y : tensor<16xf32>
      %1 = stablehlo.add %0, %z : tensor<16xf32>
      return %1 : tensor<16xf32>
    }"""
    x, y, _ = normal(sr.load(text))
    inputs = [x, y, -(x * y)]
    assert suspects(compare(text, "python:tests.debug.backends:fma", "strict", inputs)) == ["add"]
    assert not compare(text, "python:tests.debug.backends:fma", "strict,fma=true", inputs).is_wrong


def test_fused_code_may_not_overflow_where_a_narrow_type_does() -> None:
    text = """
    func.func @main(%x: tensor<1xf16>, %y: tensor<1xf16>) -> tensor<1xf16> {
      %0 = stablehlo.multiply %x, %x : tensor<1xf16>
      %1 = stablehlo.multiply %0, %y : tensor<1xf16>
      return %1 : tensor<1xf16>
    }"""
    inputs = [np.float16([300]), np.float16([0.125])]
    backend = "python:tests.debug.backends:multiplies_unrounded"
    assert suspects(compare(text, backend, "strict", inputs)) == ["multiply"]
    assert not compare(text, backend, "xla-cpu", inputs).is_wrong


def test_enters_loops() -> None:
    x, s = np.linspace(0.1, 1, 16, dtype=np.float32).reshape(2, 8)
    inputs = [np.asarray(3, np.int32), x, s]
    found = compare(LOOP, "python:tests.debug.backends:tanh_off", "xla-cpu", inputs)
    assert found.is_wrong
    (inner,) = found.inner
    assert inner.turn == 0 and suspects(inner.found) == ["tanh"]
    assert "in turn 0 of the loop stablehlo.while" in str(found)
    assert found.repro is not None


ONE_OP = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.negate %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}"""


def test_a_backend_that_cannot_be_opened_is_an_error() -> None:
    program = sr.load(ONE_OP)
    with pytest.raises(sr.EvaluationError, match="cannot open the backend 'typo': unknown backend 'typo'; expected"):
        sr.debug.diff(program, normal(program), "typo")


def test_bytes_are_not_negative() -> None:
    with pytest.raises(ArgumentValueError, match="max_bytes must not be negative, got -1"):
        compare(ONE_OP, "self", "strict", max_bytes=-1)


def test_one_op_is_no_plural() -> None:
    assert repr(compare(ONE_OP, "self", "strict")) == "<Diff of self under strict: same, 1 op>"


def test_the_module_shows_what_is_meant() -> None:
    assert dir(sr.debug) == sorted(sr.debug.__all__)
