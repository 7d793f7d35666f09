"""Conformance cases as tests of pytest, and fixtures that judge results of a backend."""

from __future__ import annotations

import pytest

from tests.testing.test_pytest_plugin import run

pytest_plugins = ["pytester"]

OPTIONS = ("--stablehlo-ops", "abs", "-n", "0", "-p", "xdist")
FEW = (*OPTIONS, "-k", "f32 or f64 or bf16")


def test_each_case_is_a_test(pytester: pytest.Pytester) -> None:
    outcomes = run(pytester, "--stablehlo-backend", "self", *OPTIONS).parseoutcomes()
    assert outcomes["passed"] > 20 and "failed" not in outcomes


def test_faults_fail_with_the_program(pytester: pytest.Pytester) -> None:
    result = run(pytester, "--stablehlo-backend", "python:tests.faulty:scaled:stablehlo.abs", *FEW)
    assert result.parseoutcomes()["failed"] > 3
    result.stdout.fnmatch_lines(["fail: stablehlo.abs: *", "*stablehlo.abs %*"])


def test_known_faults_are_expected(pytester: pytest.Pytester) -> None:
    pytester.path.joinpath("known.toml").write_text('[[known]]\nop = "stablehlo.abs"\nreason = "a bug"\n')
    options = ("--stablehlo-backend", "python:tests.faulty:scaled:stablehlo.abs", "--stablehlo-known", "known.toml")
    outcomes = run(pytester, *options, *FEW).parseoutcomes()
    assert outcomes["xfailed"] > 3 and "failed" not in outcomes


def test_unknown_ops_and_backends_are_errors(pytester: pytest.Pytester) -> None:
    result = run(pytester, "--stablehlo-backend", "self", "--stablehlo-ops", "abss")
    result.stdout.fnmatch_lines(["*there is no op 'abss'; did you mean*"])
    result = run(pytester, "--stablehlo-backend", "no", *FEW)
    result.stdout.fnmatch_lines(["*cannot open the backend 'no': unknown backend*"])


FIXTURES = """
import numpy as np
import stablehlo_ref as sr

TEXT = '''func.func @main(%x: tensor<4xf32>) -> tensor<f32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.exponential %x : tensor<4xf32>
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0]
    : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}'''
PROGRAM, X = sr.parse(TEXT), np.float32([1, 2, 3, 4])
RESULT = np.float32(np.exp(X.astype(np.float64)).sum())
"""


def test_results_within_bounds(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        FIXTURES
        + """
def test_other_rounding(assert_within_bounds):
    assert_within_bounds(PROGRAM, [X], [RESULT])
    assert_within_bounds(PROGRAM, [X], [np.nextafter(RESULT, np.float32(0))])

def test_wrong(assert_within_bounds):
    assert_within_bounds(PROGRAM, [X], [RESULT * np.float32(1.00001)])

def test_other_type(assert_within_bounds):
    assert_within_bounds(PROGRAM, [X], [RESULT.astype(np.float64)])
"""
    )
    result = run(pytester)
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(
        ["*output 0 is beyond the bound*: 1 of 1 elements; at * got 84.79*", "*expected float32*, got float64*"]
    )


def test_a_backend_matches(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        FIXTURES
        + """
def test_right(assert_matches):
    assert_matches(PROGRAM, X, backend="self")

def test_wrong(assert_matches):
    assert_matches(PROGRAM, X, backend="python:tests.faulty:scaled:stablehlo.exponential", contract="strict")
"""
    )
    result = run(pytester)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*stablehlo.exponential*"])
