"""The mode of a plan, how exact its results are: a parameter of what makes kernels, and part of the key of plans."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.define.bound import call_role
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.define.mode import DEFAULT, Mode
from stablehlo_ref.ir.types import FLOATS, tensor_type
from stablehlo_ref.numerics import elementary
from stablehlo_ref.numerics.correct_rounding import in_mode

SINE = """
func.func @main(%x: tensor<3xf64>) -> tensor<3xf64> {
  %0 = stablehlo.sine %x : tensor<3xf64>
  return %0 : tensor<3xf64>
}
"""
CALL = """
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.custom_call @look(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
"""


def test_a_plan_is_for_one_mode() -> None:
    program = sr.parse(SINE).plan(reproducible=True)
    planned = dict(program.plans)
    program.run(np.ones(3), reproducible=True)
    assert program.plans == planned and [mode for *_, mode in planned] == [Mode(reproducible=True)]
    program.run(np.ones(3))
    assert {mode for *_, mode in program.plans} == {DEFAULT, Mode(reproducible=True)}


@pytest.mark.parametrize("reproducible", [False, True])
def test_roles_take_the_mode(reproducible: bool) -> None:
    members = {"operand": tensor_type((3,), FLOATS["f64"])}
    plan = call_role(REGISTRY["stablehlo.sine"], "plan", members, mode=Mode(reproducible))
    assert plan is in_mode(elementary.sine, reproducible)(np.dtype(np.float64))
    assert (plan is elementary.sine(np.dtype(np.float64))) != reproducible


@pytest.mark.parametrize("reproducible", [False, True])
def test_handlers_see_whether_results_must_be_reproducible(reproducible: bool) -> None:
    seen = []

    def look(call: sr.CustomCall, x: np.ndarray) -> list[np.ndarray]:
        seen.append(call.reproducible)
        return [x]

    sr.parse(CALL).run(np.float32(1), custom_calls={"look": look}, reproducible=reproducible)
    assert seen == [reproducible]


def test_a_run_does_not_import_what_traces_need() -> None:
    script = (
        "import sys, numpy, stablehlo_ref as sr; program = sr.parse(sys.argv[1]); program.run(numpy.ones(3));"
        "before = 'stablehlo_ref.debug' in sys.modules; program.trace(numpy.ones(3));"
        "print(before, 'stablehlo_ref.debug' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script, SINE], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
