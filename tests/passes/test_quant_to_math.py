"""Quantized programs become programs on the stored integers, and compute the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stablehlo_ref as sr
from stablehlo_ref.program import Program
from tests.passes.programs import PROPERTY, assert_same_results, inputs_of, transformed
from tests.passes.quantized_programs import quantized_programs

NAME, QDQ = "stablehlo-legalize-quant-to-math", "stablehlo-legalize-quantized-op-to-qdq"


@PROPERTY
@given(data=st.data())
def test_results_are_the_same(data: st.DataObject) -> None:
    text = data.draw(quantized_programs())
    after, _ = assert_same_results(text, [NAME, QDQ], lambda program: inputs_of(data.draw, program))
    assert "quant" not in str(after)


def test_ops_on_floats_stand_between_conversions() -> None:
    q = "tensor<2x!quant.uniform<i8:f32, 2.0:3>>"
    text = f"func.func @main(%x: {q}) -> {q} {{\n  %0 = stablehlo.add %x, %x : {q}\n  return %0 : {q}\n}}\n"
    ops = [op.mnemonic for op in sr.parse(text).transform(QDQ).module.walk()]
    assert ops[2:] == ["uniform_dequantize", "uniform_dequantize", "add", "uniform_quantize", "return"]


def function(result: str, operand: str, op: str) -> sr.Program:
    text = f"func.func @main(%x: {operand}) -> {result} {{\n  %0 = {op} %x : ({operand}) -> {result}\n"
    return sr.parse(text + f"  return %0 : {result}\n}}\n")


def legalized(result: str, operand: str, op: str) -> list[str]:
    """The ops, with their attributes and operands, in the place of one op."""
    lines = str(transformed(function(result, operand, op), NAME)).splitlines()
    return [line.partition(" = ")[2].partition(" : ")[0] for line in lines if " = " in line]


def test_quantization_follows_the_formula_of_the_spec() -> None:
    q = "tensor<2x!quant.uniform<i8<-100:100>:f32, 2.0:3>>"
    assert legalized(q, "tensor<2xf32>", "stablehlo.uniform_quantize") == [
        "stablehlo.constant dense<2.000000e+00>",
        "stablehlo.constant dense<3.000000e+00>",
        "stablehlo.constant dense<-1.000000e+02>",
        "stablehlo.constant dense<1.000000e+02>",
        "chlo.broadcast_divide %x, %0",
        "chlo.broadcast_add %4, %1",
        "stablehlo.clamp %2, %5, %3",
        "stablehlo.round_nearest_even %6",
        "stablehlo.convert %7",
    ]


def test_scales_are_broadcast_along_the_quantization_dimension() -> None:
    q = "tensor<2x3x!quant.uniform<i8:f32:0, {2.0, 0.5}>>"
    assert legalized("tensor<2x3xf32>", q, "stablehlo.uniform_dequantize") == [
        "stablehlo.convert %x",
        "stablehlo.constant dense<[2.000000e+00, 5.000000e-01]>",
        "chlo.broadcast_multiply %0, %1 {broadcast_dimensions = array<i64: 0>}",
    ]


def test_differences_of_wide_integers_do_not_overflow() -> None:
    q = "tensor<!quant.uniform<i32:f32, 2.0:2147483647>>"
    program = transformed(function("tensor<f32>", q, "stablehlo.uniform_dequantize"), NAME)
    assert program.run(np.int32(-2))[0] == -(2.0**32)


def test_moved_elements_stay_stored() -> None:
    q = "tensor<1x3x!quant.uniform<i8:f32, 2.0:3>>"
    assert legalized("tensor<3x!quant.uniform<i8:f32, 2.0:3>>", q, "stablehlo.reshape") == ["stablehlo.reshape %x"]


NARROW, WIDE = "!quant.uniform<i8:f32, 1.0:3>", "!quant.uniform<i16:f32, 0.5>"
Q, E, P = f"tensor<4x{NARROW}>", f"tensor<{NARROW}>", f"tensor<{WIDE}>"
COLLECTIVE = f"""
func.func @main(%x: {Q}) -> {Q} {{
  %0 = "stablehlo.collective_permute"(%x) {{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}} : ({Q}) -> {Q}
  return %0 : {Q}
}}
"""
CUSTOM = f"""
func.func @main(%x: {Q}) -> {Q} {{
  %0 = stablehlo.custom_call @kernel(%x) : ({Q}) -> {Q}
  return %0 : {Q}
}}
"""
PROMOTION = f"""
func.func @main(%x: {Q}, %init: {E}) -> {P} {{
  %0 = "stablehlo.reduce"(%x, %init) ({{
    ^bb0(%a: {P}, %b: {P}):
      %1 = stablehlo.add %a, %b : {P}
      stablehlo.return %1 : {P}
  }}) {{dimensions = array<i64: 0>}} : ({Q}, {E}) -> {P}
  return %0 : {P}
}}
"""


@pytest.mark.parametrize(
    ("text", "op"), [(COLLECTIVE, "collective_permute"), (CUSTOM, "custom_call"), (PROMOTION, "reduce")]
)
def test_refuses_ops_that_depend_on_quantization(text: str, op: str) -> None:
    program = sr.parse(text).verify()
    before = str(program)
    with pytest.raises(sr.UnsupportedError, match=f"failed to legalize operation 'stablehlo.{op}'"):
        transformed(program, NAME)
    assert str(Program(program.module)) == before
