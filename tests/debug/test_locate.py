"""`diff`: how a fault is located: loops and branches, groups of ops, second runs, and settings of the backend."""

from __future__ import annotations

import json

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.debug.fused import first_near, smallest
from tests.debug.programs import LAYER, LOOP, compare, suspects

BRANCH = """
func.func @main(%i: tensor<i32>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "stablehlo.case"(%i) ({
    %1 = stablehlo.cosine %x : tensor<8xf32>
    stablehlo.return %1 : tensor<8xf32>
  }, {
    %1 = stablehlo.multiply %x, %x : tensor<8xf32>
    %2 = stablehlo.tanh %1 : tensor<8xf32>
    stablehlo.return %2 : tensor<8xf32>
  }) : (tensor<i32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""
SHARED = """
func.func @main(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  %0 = stablehlo.multiply %x, %y : tensor<64xf32>
  %1 = stablehlo.add %0, %x : tensor<64xf32>
  %2 = stablehlo.sine %1 : tensor<64xf32>
  %3 = stablehlo.subtract %2, %y : tensor<64xf32>
  %4 = stablehlo.abs %3 : tensor<64xf32>
  %5 = stablehlo.negate %4 : tensor<64xf32>
  %6 = stablehlo.add %5, %0 : tensor<64xf32>
  return %6 : tensor<64xf32>
}
"""


@pytest.mark.parametrize("index", [1, 2])
def test_enters_the_branch_that_is_taken(index: int) -> None:
    inputs = [np.asarray(index, np.int32), np.linspace(0.1, 1, 8, dtype=np.float32)]
    found = compare(BRANCH, "python:tests.debug.backends:tanh_off", "xla-cpu", inputs)
    (inner,) = found.inner
    assert suspects(inner.found) == ["tanh"]
    assert "in the branch taken of stablehlo.case" in str(found)


def test_finds_the_turn_that_is_wrong() -> None:
    """The product of the third turn is subnormal: 3e-14, then 9e-27, then 2.7e-39."""
    inputs = [np.asarray(3, np.int32), np.full(8, 0.1, np.float32), np.full(8, 3e-13, np.float32)]
    found = compare(LOOP, "python:tests.faulty:flushed:stablehlo.multiply", "strict", inputs)
    (inner,) = found.inner
    assert suspects(inner.found) == ["multiply"] and inner.turn == 2
    inputs[2] = np.full(8, 0.5, np.float32)
    assert not compare(LOOP, "python:tests.faulty:flushed:stablehlo.multiply", "strict", inputs).is_wrong


def test_a_value_that_is_used_later_does_not_enlarge_the_group() -> None:
    found = compare(SHARED, "python:tests.faulty:unobserved-scaled:stablehlo.add", "strict")
    assert found.group is not None and len(found.group.ops) <= 3
    assert found.setup.compilations <= 2 * 3 + 5


def test_names_the_op_that_is_unstable() -> None:
    found = compare(LAYER, "python:tests.debug.backends:noisy_tanh", "strict")
    assert found.failure is not None and found.failure.outcome.failure == "unstable"
    assert found.failure.unstable is not None and found.failure.unstable.name == "stablehlo.tanh"
    assert "other bits in a second run, on the same operands: stablehlo.tanh" in str(found)


def test_says_that_a_verdict_is_repeated() -> None:
    found = compare(LAYER, "python:tests.faulty:shifted:stablehlo.transpose", "strict")
    assert found.confirmation.is_repeated and found.confirmation.is_wrong_alone
    assert "a second run repeats it; so does the op alone" in str(found)


def test_the_fewest_settings_that_heal_a_fault() -> None:
    found = compare(LAYER, "python:tests.debug.backends:wrong_unless", "strict")
    assert found.repro.workarounds == ("without=fuse",)
    assert "right with: without=fuse" in str(found)


@pytest.mark.parametrize("needed", [{3}, {0, 1}, {2, 9}, set("x")])
def test_settings_are_bisected(needed: set[object]) -> None:
    calls = []

    def is_right(members: list[object]) -> bool:
        calls.append(members)
        return needed <= set(members)

    found = smallest(range(10), is_right)
    assert (needed <= set(found)) == (needed != {"x"})
    assert len(found) == (1 if needed == {3} else 2 if needed == {0, 1} else 8 if needed == {2, 9} else 0)
    assert len(calls) <= 10


@pytest.mark.parametrize("answer", [5, 6, 7, 9, 23, 39, 40])
def test_a_near_end_is_found_in_few_steps(answer: int) -> None:
    calls = []

    def holds(index: int) -> bool:
        calls.append(index)
        return index >= answer

    assert first_near(holds, 5, 40) == answer
    assert len(calls) <= 2 * (answer - 4).bit_length() + 2


def test_names_the_op_on_which_a_backend_fails() -> None:
    found = compare(LAYER, "python:tests.debug.backends:no_slices", "strict")
    assert [op.name for op in found.failure.ops] == ["stablehlo.slice"]
    assert "fails also alone, fed with the interpreter's values: stablehlo.slice %6" in str(found)
    assert found.setup.compilations <= 2 * 4 + 5


def test_names_the_ops_on_which_a_backend_fails_together() -> None:
    found = compare(LAYER, "python:tests.debug.backends:no_tanh_then_slice", "strict")
    names = [op.name.removeprefix("stablehlo.") for op in found.failure.ops]
    assert names[0] == "tanh" and names[-1] == "slice"


def test_no_op_is_named_if_a_backend_fails_on_everything() -> None:
    assert not compare(LAYER, "python:tests.debug.backends:refuses", "strict").failure.ops


def test_a_backend_that_returns_no_intermediate_values_is_fed_the_interpreters() -> None:
    found = compare(LAYER, "python:tests.debug.backends:two_outputs_at_most", "xla-cpu")
    assert found.stopped is not None and "too many outputs" in found.stopped.reason
    assert found.group is not None and found.group.is_certain
    assert [op.name for op in found.group.ops] == ["stablehlo.tanh"]
    assert found.setup.compilations <= 2 * 4 + 5


def test_an_op_is_named_whose_results_the_backend_does_not_return() -> None:
    """The outputs are vectors, and that of the faulty op is a matrix: a barrier parts it from the ops after it."""
    found = compare(LAYER, "python:tests.debug.backends:vectors_only", "xla-cpu")
    assert found.stopped is not None and "only vectors" in found.stopped.reason
    assert found.group is not None and [op.name for op in found.group.ops] == ["stablehlo.tanh"]
    assert found.setup.compilations <= 2 * 4 + 5


def test_an_iota_that_each_cut_has_is_named() -> None:
    text = """
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = stablehlo.iota dim = 0 : tensor<4xf32>
      %1 = stablehlo.multiply %x, %x : tensor<4xf32>
      %2 = stablehlo.add %1, %0 : tensor<4xf32>
      return %2 : tensor<4xf32>
    }"""
    found = compare(text, "python:tests.debug.backends:one_output_of_iota", "strict")
    assert found.group is not None and [op.name for op in found.group.ops] == ["stablehlo.iota"]
    assert found.group.is_certain


def test_values_that_do_not_depend_on_the_faulty_op_are_not_asked_for() -> None:
    """The cosine and the sine, between the ops of the group, would be more outputs than one."""
    text = """
    func.func @main(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
      %0 = stablehlo.multiply %x, %y : tensor<64xf32>
      %1 = stablehlo.cosine %y : tensor<64xf32>
      %2 = stablehlo.sine %y : tensor<64xf32>
      %3 = stablehlo.add %0, %x : tensor<64xf32>
      %4 = stablehlo.multiply %3, %1 : tensor<64xf32>
      %5 = stablehlo.multiply %4, %2 : tensor<64xf32>
      %6 = stablehlo.negate %5 : tensor<64xf32>
      return %6 : tensor<64xf32>
    }"""
    found = compare(text, "python:tests.debug.backends:one_output_of_fused", "strict")
    assert found.group is not None and found.group.is_certain
    assert [op.mnemonic for op in found.group.ops] == ["multiply", "add"]


def test_an_op_that_fused_code_may_explain_is_run_alone() -> None:
    """The cosine of 0.739085 is 0.739085: where fused code computes the quotient again, nothing is known of it."""
    text = """
    func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {
      %0 = stablehlo.cosine %x : tensor<1xf32>
      %1 = stablehlo.subtract %0, %x : tensor<1xf32>
      %2 = stablehlo.divide %x, %1 : tensor<1xf32>
      %3 = stablehlo.add %2, %x : tensor<1xf32>
      return %3 : tensor<1xf32>
    }"""
    inputs = [np.float32([0.739085])]
    assert suspects(compare(text, "python:tests.faulty:wrong-op:stablehlo.add", "xla-cpu", inputs)) == ["add"]
    assert not compare(text, "python:tests.faulty:fused-wrong-op:stablehlo.add", "xla-cpu", inputs).suspects


@pytest.mark.parametrize("contract", ["strict", "xla-cpu"])
def test_a_wrong_transform_has_a_program_that_shows_it(contract: str) -> None:
    """There is no bound of a transform of recomputed operands: that of the op alone is used."""
    text = """
    func.func @main(%x: tensor<16xcomplex<f32>>) -> tensor<16xcomplex<f32>> {
      %0 = stablehlo.multiply %x, %x : tensor<16xcomplex<f32>>
      %1 = stablehlo.fft %0, type = FFT, length = [16] : (tensor<16xcomplex<f32>>) -> tensor<16xcomplex<f32>>
      return %1 : tensor<16xcomplex<f32>>
    }"""
    x = (np.arange(16) + 1j).astype(np.complex64)
    found = compare(text, "python:tests.faulty:shifted:stablehlo.fft", contract, [x])
    assert suspects(found) == ["fft"] and found.confirmation.is_wrong_alone
    assert json.loads(found.to_json())["repro"]
    assert found.repro is not None and sr.load(found.repro.text()).run()[0].item() is True


def test_some_elements_that_fused_code_may_explain_are_checked_alone() -> None:
    """Nothing is known of one element of the sum, and the others are right."""
    text = """
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = stablehlo.cosine %x : tensor<2xf32>
      %1 = stablehlo.subtract %0, %x : tensor<2xf32>
      %2 = stablehlo.divide %x, %1 : tensor<2xf32>
      %3 = stablehlo.add %2, %x : tensor<2xf32>
      return %3 : tensor<2xf32>
    }"""
    inputs = [np.float32([0.1, 0.739085])]
    assert suspects(compare(text, "python:tests.faulty:dropped:stablehlo.add", "xla-cpu", inputs)) == ["add"]


def test_what_was_not_judged_before_a_suspect_is_counted() -> None:
    text = """
    func.func @main(%s: tensor<2xui64>, %x: tensor<4xui32>) -> tensor<4xui32> {
      %0:2 = stablehlo.rng_bit_generator %s, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
      %1 = stablehlo.xor %0#1, %x : tensor<4xui32>
      %2 = stablehlo.reverse %1, dims = [0] : tensor<4xui32>
      return %2 : tensor<4xui32>
    }"""
    inputs = [np.uint64([1, 2]), np.arange(4, dtype=np.uint32)]
    found = compare(text, "python:tests.debug.backends:no_reverse", "strict", inputs)
    assert suspects(found) == ["reverse"]
    assert "of the 2 ops before it, 1 are not wrong and 1 not judged" in str(found)


def test_a_result_that_nothing_uses_may_hide_a_fault() -> None:
    text = """
    func.func @main(%x: tensor<4xf32>) -> tensor<i32> {
      %i = stablehlo.iota dim = 0 : tensor<4xi32>
      %m = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %z = stablehlo.constant dense<0> : tensor<i32>
      %0:2 = stablehlo.reduce(%x init: %m), (%i init: %z) across dimensions = [0]
        : (tensor<4xf32>, tensor<4xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
        reducer(%a: tensor<f32>, %b: tensor<f32>) (%j: tensor<i32>, %k: tensor<i32>) {
          %1 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
          %2 = stablehlo.compare EQ, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
          %3 = stablehlo.compare LT, %j, %k : (tensor<i32>, tensor<i32>) -> tensor<i1>
          %4 = stablehlo.and %2, %3 : tensor<i1>
          %5 = stablehlo.or %1, %4 : tensor<i1>
          %6 = stablehlo.select %1, %a, %b : tensor<i1>, tensor<f32>
          %7 = stablehlo.select %5, %j, %k : tensor<i1>, tensor<i32>
          stablehlo.return %6, %7 : tensor<f32>, tensor<i32>
        }
      return %0#1 : tensor<i32>
    }"""
    found = compare(text, "python:tests.debug.backends:wrong_index_alone", "xla-cpu", [np.float32([1, 3, 3, 2])])
    assert found.group is not None and found.group.is_certain
    assert [op.name for op in found.group.ops] == ["stablehlo.reduce"]
