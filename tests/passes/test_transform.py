"""`Program.transform`: passes from Python."""

from __future__ import annotations

import numpy as np
import pytest

import stablehlo_ref as sr

NESTED = """\
func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = call @twice(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @twice(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""
DYNAMIC = """\
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.negate %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}
"""


@pytest.mark.parametrize(
    "passes", [("inline", "symbol-dce"), ("builtin.module(inline, symbol-dce)",), ("inline,canonicalize", "symbol-dce")]
)
def test_returns_a_new_program(passes: tuple[str, ...]) -> None:
    program = sr.load(NESTED)
    before = str(program)
    flat = program.transform(*passes)
    assert list(flat.functions) == ["main"] and "call" not in str(flat)
    assert str(program) == before and list(program.functions) == ["main", "twice"]
    x = np.array([1, 2], np.float32)
    np.testing.assert_array_equal(flat.run(x)[0], program.run(x)[0])


def test_without_passes_it_is_a_copy() -> None:
    program = sr.load(NESTED)
    copy = program.transform()
    assert str(copy) == str(program) and copy.module is not program.module


def test_passes_have_options_in_braces() -> None:
    refined = sr.load(DYNAMIC).transform("stablehlo-refine-arguments{types=tensor<3xf32>}", "stablehlo-refine-shapes")
    assert [str(output.type) for output in refined.outputs] == ["tensor<3xf32>"]


def test_entry_and_bound_inputs_are_kept() -> None:
    flat = sr.load(NESTED).with_entry("twice").bind({"x": np.ones(2, np.float32)}).transform("canonicalize")
    assert flat.entry.name == "twice" and not flat.inputs
    np.testing.assert_array_equal(flat.run()[0], [2, 2])


@pytest.mark.parametrize(
    ("passes", "message"),
    [
        ("inlin", r"unknown pass 'inlin'; did you mean 'inline'\?"),
        ("cse{limit=3}", "pass 'cse' has no option 'limit'"),
        ("cse)", "unbalanced parentheses in the pipeline 'cse\\)'"),
    ],
)
def test_unknown_passes_are_errors(passes: str, message: str) -> None:
    with pytest.raises(sr.MalformedError, match=message):
        sr.load(NESTED).transform("inline", passes)


def test_a_pass_that_fails_leaves_the_program_alone() -> None:
    program = sr.load("func.func @main() -> tensor<2xf32> {\n  %a = stablehlo.constant dense<0.0> : tensor<f32>\n"
                      "  %s = stablehlo.constant dense<2> : tensor<1xi64>\n"
                      "  %0 = stablehlo.rng %a, %a, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>,"
                      " tensor<1xi64>) -> tensor<2xf32>\n  return %0 : tensor<2xf32>\n}\n")  # fmt: skip
    before = str(program)
    with pytest.raises(sr.UnsupportedError, match=r"failed to legalize operation 'stablehlo\.rng'"):
        program.transform("canonicalize", "stablehlo-legalize-deprecated-ops")
    assert str(program) == before


def test_cse_merges_ops_with_written_and_omitted_defaults() -> None:
    result = "(%x) <{{lower = {}}}> : (tensor<3x3xf32>) -> tensor<3x3xf32>"
    program = sr.parse(f"""
    func.func @main(%x: tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>) {{
      %0 = "stablehlo.cholesky"(%x) : (tensor<3x3xf32>) -> tensor<3x3xf32>
      %1 = "stablehlo.cholesky"{result.format("false")}
      %2 = "stablehlo.cholesky"{result.format("true")}
      return %0, %1, %2 : tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>
    }}""")
    assert str(program.transform("cse")).count("stablehlo.cholesky") == 2
