"""How far outputs move if each op rounds at random."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.debug import contract_of
from stablehlo_ref.debug.explain import EXPLAINED, _by_ulps, sensitivities
from tests.debug.programs import LAYER, LOOP, compare, normal

STRICT = contract_of("strict")


def test_reports_whether_rounding_explains_a_difference() -> None:
    found = compare(LAYER, "python:tests.faulty:truncated:stablehlo.dot_general", "strict")
    assert not found.suspects
    assert found.outputs.sensitivities and all(s.is_explained for s in found.outputs.sensitivities)
    assert "within what random rounding of every op makes" in str(found)


def test_larger_differences_are_outside() -> None:
    program = sr.load(LAYER)
    inputs = normal(program)
    ours = program.run(*inputs)
    off = [ours[0] * np.float32(1.01), ours[1]]
    first, second = sensitivities(program, inputs, ours, off, STRICT)
    assert first.factor > EXPLAINED and not first.is_explained and "outside" in str(first)
    assert second.factor == 0


def test_cancellation_enlarges_what_rounding_explains() -> None:
    text = """func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
      %0 = stablehlo.exponential %x : tensor<64xf32>
      %1 = stablehlo.log %0 : tensor<64xf32>
      %2 = stablehlo.subtract %1, %x : tensor<64xf32>
      %3 = stablehlo.add %x, %2 : tensor<64xf32>
      return %2 : tensor<64xf32> }"""
    program = sr.load(text)
    inputs = [np.linspace(0.1, 0.9, 64, dtype=np.float32)]
    ours = program.run(*inputs)
    (found,) = sensitivities(program, inputs, ours, [2 * ours[0]], STRICT)
    assert found.noise > 0.1 and found.is_explained


def test_ops_in_loops_round_at_random_too() -> None:
    program = sr.load(LOOP)
    x, s = np.linspace(0.1, 1, 16, dtype=np.float32).reshape(2, 8)
    inputs = [np.asarray(50, np.int32), x, s]
    ours = program.run(*inputs)
    (found,) = sensitivities(program, inputs, ours, ours, STRICT)
    assert found.noise > 3e-8 and found.distance == 0


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64, np.complex64])
def test_errors_are_whole_ulps(dtype: type) -> None:
    x = (np.random.default_rng(0).standard_normal(1000) + (1j if dtype is np.complex64 else 0)).astype(dtype)
    made = _by_ulps(np.random.default_rng(1), x, 0.5)
    assert made.dtype == x.dtype and 0.3 < np.mean(made != x) < 0.7
    wide = [np.asarray(a).view(np.float32) if dtype is np.complex64 else a.astype(np.float64) for a in (made, x)]
    step = float(ml_dtypes.finfo(np.float32 if dtype is np.complex64 else dtype).eps)
    assert np.all(np.abs(wide[0] - wide[1]) <= step * np.abs(wide[1]))


def test_integers_and_special_values_are_exact() -> None:
    x = np.float32([0.0, -0.0, 1, -3, np.inf, np.nan, 65536])
    np.testing.assert_array_equal(_by_ulps(np.random.default_rng(0), x, 8.0), x)
