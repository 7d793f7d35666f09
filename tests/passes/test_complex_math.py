"""`stablehlo-complex-math-expander`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import stablehlo_ref as sr
from tests.shared import UPSTREAM, needs_upstream

EXPAND = "stablehlo-complex-math-expander"
PARTS = [-np.inf, -1e30, -2.5, -1.0, -0.3, -1e-30, -0.0, 0.0, 1e-30, 0.3, 1.0, 88.0, 3e38, np.inf, np.nan]
FUNCTION = """\
func.func @main(%x: tensor<{n}xcomplex<{part}>>) -> tensor<{n}xcomplex<{part}>> {{
  %0 = stablehlo.{op} %x : tensor<{n}xcomplex<{part}>>
  return %0 : tensor<{n}xcomplex<{part}>>
}}
"""


@pytest.mark.parametrize("part", ["f32", "f64"])
@pytest.mark.parametrize("op", ["exponential", "log", "log_plus_one", "sqrt"])
def test_parts_are_near_and_special_values_the_same(op: str, part: str) -> None:
    real = np.array(PARTS, {"f32": np.float32, "f64": np.float64}[part])
    z = np.empty((len(real), len(real)), np.result_type(real, np.complex64))
    z.real, z.imag = real[:, None], real
    program = sr.load(FUNCTION.format(n=z.size, part=part, op=op))
    expanded = program.transform(EXPAND)
    assert f"stablehlo.{op} %x" not in str(expanded)
    (expected,), (found,) = program.run(z.reshape(-1)), expanded.run(z.reshape(-1))
    for wanted, actual in ((expected.real, found.real), (expected.imag, found.imag)):
        np.testing.assert_array_max_ulp(actual, wanted, 4)
        np.testing.assert_array_equal(np.signbit(actual[~np.isnan(actual)]), np.signbit(wanted[~np.isnan(wanted)]))


def test_real_functions_and_those_of_some_accuracy_stay() -> None:
    text = FUNCTION.format(n=2, part="f32", op="log")
    tolerance = "{result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>}"
    for kept in (text.replace("complex<f32>", "f32"), text.replace("log %x", f"log %x {tolerance}")):
        assert str(sr.load(kept).transform(EXPAND)) == str(sr.load(kept))


@needs_upstream
@pytest.mark.parametrize("path", sorted((UPSTREAM / "math").glob("*_complex*.mlir")), ids=lambda path: path.stem)
def test_upstream_samples(path: Path) -> None:
    text = path.read_text("utf-8")
    if EXPAND not in text:
        pytest.skip("upstream runs it without the pass")
    sr.load(text).transform(EXPAND).run()
