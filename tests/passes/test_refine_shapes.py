"""Refining arguments and shapes: programs become static, and compute the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stablehlo_ref as sr
from spec_checks.strategies import arrays, same
from stablehlo_ref.passes.catalog import PASSES
from stablehlo_ref.program import Program
from tests.passes.dynamic_programs import dynamic_programs
from tests.passes.programs import PROPERTY


def applied(text: str, *passes: tuple[str, dict[str, str]]) -> Program:
    module = sr.load(text).module
    for name, options in passes:
        PASSES[name].bind(options)(module)
    return sr.parse(str(Program(module))).verify()


@PROPERTY
@given(data=st.data())
def test_refined_programs_are_static_and_compute_the_same(data: st.DataObject) -> None:
    text = data.draw(dynamic_programs())
    x = data.draw(arrays(np.dtype(np.float32), (data.draw(st.integers(0, 4)), 3)))
    y = data.draw(arrays(np.dtype(np.float32), (data.draw(st.integers(0, 4)),)))
    expected = sr.load(text).run(x, y)
    types = f"tensor<{len(x)}x3xf32>,tensor<{len(y)}xf32>"
    refined = applied(text, ("stablehlo-refine-arguments", {"types": types}), ("stablehlo-refine-shapes", {}))
    after = str(refined)
    assert "?" not in after.partition("func.func private")[0], f"{text}\n--- after ---\n{after}"
    assert "shape_refinement_operand_wrapper" not in after
    static = applied(after, ("stablehlo-canonicalize-dynamism", {}))
    assert "dynamic" not in str(static).partition("func.func private")[0], f"{text}\n--- after ---\n{static}"
    for program in (refined, static):
        for result, wanted in zip(program.run(x, y), expected, strict=True):
            assert same(np.asarray(result), np.asarray(wanted)), f"{text}\n--- after ---\n{program}"


@PROPERTY
@given(data=st.data())
def test_partly_refined_programs_compute_the_same(data: st.DataObject) -> None:
    text = data.draw(dynamic_programs())
    x = data.draw(arrays(np.dtype(np.float32), (data.draw(st.integers(0, 4)), 3)))
    y = data.draw(arrays(np.dtype(np.float32), (data.draw(st.integers(0, 4)),)))
    expected = sr.load(text).run(x, y)
    types = f"tensor<{len(x)}x3xf32>,tensor<?xf32>"
    wrapped = applied(text, ("stablehlo-refine-arguments", {"types": types}))
    refined = applied(text, ("stablehlo-refine-arguments", {"types": types}), ("stablehlo-refine-shapes", {}))
    for program in (wrapped, refined):
        for result, wanted in zip(program.run(x, y), expected, strict=True):
            assert same(np.asarray(result), np.asarray(wanted)), f"{text}\n--- after ---\n{program}"


def test_arguments_need_a_type_each() -> None:
    with pytest.raises(sr.InvalidError, match=r"number of refinements must match number of op operands 1 vs 2"):
        applied("func.func @f(%x: tensor<?xf32>, %y: tensor<f32>) {\n  return\n}\n",
                ("stablehlo-refine-arguments", {"types": "tensor<3xf32>"}))  # fmt: skip


def test_unknown_types_are_bad_options() -> None:
    with pytest.raises(sr.MalformedError, match=r"Invalid type string: !not\.a_type"):
        PASSES["stablehlo-refine-arguments"].bind({"types": "tensor<f32>,!not.a_type"})


def test_functions_that_composites_use_keep_their_arguments() -> None:
    text = """
func.func private @helper(%a: tensor<i1>, %b: tensor<2xf32>) -> tensor<2xf32> {
  return %b : tensor<2xf32>
}
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %t = stablehlo.constant dense<true> : tensor<i1>
  %0 = stablehlo.composite "test.helper" %t, %x {decomposition = @helper}
      : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  %1 = call @helper(%t, %x) : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}
"""
    refined = applied(text, ("stablehlo-refine-shapes", {}))
    assert "call @helper(%t, %x)" in str(refined)
