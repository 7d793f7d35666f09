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

EXACT = {"exact": "true"}
NAME, QDQ = "stablehlo-legalize-quant-to-math", "stablehlo-legalize-quantized-op-to-qdq"


@PROPERTY
@given(data=st.data())
def test_results_are_the_same(data: st.DataObject) -> None:
    text = data.draw(quantized_programs())
    (after,) = assert_same_results(text, [NAME], lambda program: inputs_of(data.draw, program), **EXACT)
    assert "quant" not in str(after)
    assert_same_results(text, [QDQ], lambda program: inputs_of(data.draw, program))


ADD = "stablehlo.add %x, %y : ({x}, {y}) -> {to}"
DOT = "stablehlo.dot_general %x, %y, contracting_dims = [1] x [1] : ({x}, {y}) -> {to}"
MATRICES = "stablehlo.dot %x, %y : ({x}, {y}) -> {to}"
CONVOLUTION = """stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {{stride = [1, 2], pad = [[1, 0], [2, 1]], rhs_dilate = [2, 1]}}
    {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : ({x}, {y}) -> {to}"""
REQUANTIZE = "stablehlo.uniform_quantize %x : ({x}) -> {to}"
PER_AXIS = "i8:f32:{axis}, {{0.25, 1.5, 3.0}}", "i32:f32:{axis}, {{0.125, 0.75, 1.5}}"
IN_INTEGERS = {  # an op, shapes of operands and result, the zero point of the right operand
    "add": (ADD, "4x3", "4x3", "4x3", 7),
    "requantize": (REQUANTIZE, "4x3", "4x3", "4x3", 7),
    "dot": (MATRICES, "4x5", "5x3", "4x3", 7),
    "dot_general": (DOT, "4x5", "3x5", "4x3", 0),
    "convolution": (CONVOLUTION, "2x4x3x2", "2x2x2x3", "2x3x3x3", 0),
}


def program_in_integers(op: str, shapes: list[str], elements: list[str]) -> str:
    x, y, to = (f"tensor<{shape}x!quant.uniform<{element}>>" for shape, element in zip(shapes, elements))
    body = op.format(x=x, y=y, to=to)
    arguments = ", ".join(f"%{name}: {type.partition('!')[0]}i8>" for name, type in (("a", x), ("b", y)))
    return f"""func.func @main({arguments}) -> {to} {{
      %x = stablehlo.bitcast_convert %a : ({x.partition("!")[0]}i8>) -> {x}
      %y = stablehlo.bitcast_convert %b : ({y.partition("!")[0]}i8>) -> {y}
      %0 = {body}
      return %0 : {to}\n}}\n"""


def assert_near(text: str, data: st.DataObject, units: int) -> None:
    """Results differ by at most so many of the stored integers, and nothing is quantized after the pass."""
    before = sr.load(text)
    arguments = inputs_of(data.draw, before)
    after = transformed(before.transform(), NAME)
    assert "quant" not in str(after)
    (result,), (expected,) = after.run(*arguments), before.run(*arguments)
    assert np.abs(result.astype(np.int64) - expected.astype(np.int64)).max() <= units, str(after)


@pytest.mark.parametrize("name", IN_INTEGERS)
@PROPERTY
@given(data=st.data())
def test_integer_arithmetic_is_near_the_spec(name: str, data: st.DataObject) -> None:
    op, *shapes, zero_point = IN_INTEGERS[name]
    results = "i8:f32, 0.3:-5", "i8<-100:100>:f32, 6.1:9", "i32:f32, 0.7:3"
    to = data.draw(st.sampled_from(results[: 2 if name == "add" else 3]))
    left = data.draw(st.sampled_from(("i8:f32, 0.5:3", "i8:f32, 0.25")))
    assert_near(program_in_integers(op, shapes, [left, f"i8:f32, 0.75:{zero_point}", to]), data, units=2)


@PROPERTY
@given(data=st.data())
def test_products_are_scaled_by_one_factor_where_axes_have_scales_in_proportion(data: st.DataObject) -> None:
    op, *shapes, _ = IN_INTEGERS["convolution"]
    right, to = (text.format(axis=3) for text in PER_AXIS)
    text = program_in_integers(op, shapes, ["i8:f32, 0.5:3", right, to])
    assert "stablehlo.reduce" in str(transformed(sr.load(text), NAME))  # of the right operand, for zero points
    assert_near(text, data, units=0)  # 0.5 * 0.25 / 0.125 is 1


@PROPERTY
@given(data=st.data())
def test_numbers_are_chosen_by_their_integers(data: st.DataObject) -> None:
    q = "i8:f32, 0.3:-7"
    text = program_in_integers("stablehlo.maximum %x, %y : {x}", ["4x3"] * 3, [q] * 3)
    assert "floor" not in str(transformed(sr.load(text), NAME))
    assert_near(text, data, units=0)


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
        "stablehlo.constant dense<[2.000000e+00, 5.000000e-01]>",
        "stablehlo.constant dense<0>",
        "stablehlo.convert %x",
        "chlo.broadcast_subtract %2, %1 {broadcast_dimensions = array<i64: 0>}",
        "stablehlo.convert %3",
        "chlo.broadcast_multiply %4, %0 {broadcast_dimensions = array<i64: 0>}",
    ]


def test_differences_of_wide_integers_do_not_overflow() -> None:
    q = "tensor<!quant.uniform<i32:f32, 2.0:2147483647>>"
    program = transformed(function("tensor<f32>", q, "stablehlo.uniform_dequantize"), NAME, **EXACT)
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
        transformed(program, NAME, **EXACT)
    assert str(Program(program.module)) == before


REVERSE = f"""
func.func @main(%x: {Q}) -> {Q} {{
  %0 = stablehlo.reverse %x, dims = [0] : {Q}
  return %0 : {Q}
}}
"""


def test_refuses_what_mlir_does_unless_exact() -> None:
    with pytest.raises(sr.UnsupportedError, match="failed to legalize operation"):
        transformed(sr.parse(REVERSE), NAME)
    assert "quant" not in str(transformed(sr.parse(REVERSE), NAME, **EXACT))
