"""`stablehlo-aggressive-simplification`, `-aggressive-folder` and `-target-independent-optimization`."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stablehlo_ref as sr
from spec_checks.strategies import arrays
from stablehlo_ref.diagnostics import LimitError
from stablehlo_ref.limits.budget import limited
from stablehlo_ref.passes.catalog import PASSES
from tests.passes.dynamic_programs import dynamic_programs
from tests.passes.programs import PROPERTY, assert_same_results, inputs_of, transformed
from tests.passes.quantized_programs import quantized_programs

SIMPLIFY = "stablehlo-aggressive-simplification"
OPTIMIZE = "stablehlo-target-independent-optimization"


def simplified(body: str, argument: str, result: str, name: str = SIMPLIFY) -> str:
    text = f"func.func @main(%x: {argument}) -> {result} {{\n{body}\n}}\n"
    return str(transformed(sr.parse(text).verify(), name))


@pytest.mark.parametrize(
    ("op", "constant", "element", "is_neutral"),
    [
        ("add", "0", "i32", True),
        ("add", "-0.0", "f32", True),
        ("add", "0.0", "f32", False),  # -0.0 + 0.0 is 0.0
        ("subtract", "0.0", "f32", True),
        ("subtract", "-0.0", "f32", False),  # -0.0 - -0.0 is 0.0
        ("multiply", "1.0", "bf16", True),
        ("multiply", "1", "ui8", True),
        ("multiply", "0.0", "f32", False),  # NaN, infinities and negative numbers
        ("and", "255", "ui8", True),
        ("and", "1", "i8", False),
        ("or", "0", "i8", True),
        ("xor", "false", "i1", True),
    ],
)
def test_neutral_operands(op: str, constant: str, element: str, is_neutral: bool) -> None:
    t = f"tensor<2x{element}>"
    body = f"  %c = stablehlo.constant dense<{constant}> : {t}\n  %0 = stablehlo.{op} %x, %c : {t}\n  return %0 : {t}"
    assert ("return %x" in simplified(body, t, t)) == is_neutral


@pytest.mark.parametrize("name", [SIMPLIFY, OPTIMIZE])
def test_zeros_keep_their_sign(name: str) -> None:
    t = "tensor<3xf32>"
    body = f"  %c = stablehlo.constant dense<0.0> : {t}\n  %0 = stablehlo.add %c, %x : {t}\n  return %0 : {t}"
    program = sr.parse(f"func.func @main(%x: {t}) -> {t} {{\n{body}\n}}")
    (result,) = transformed(program, name).run(np.float32([-0.0, 0.0, np.nan]))
    np.testing.assert_array_equal(np.signbit(result[:2]), [False, False])


REDUCE = """\
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.reduce(%x init: %one), (%x init: %one) across dimensions = [{dimensions}] :
    (tensor<3xi32>, tensor<3xi32>, tensor<i32>, tensor<i32>) -> ({result}, {result})
    reducer(%a: tensor<i32>, %b: tensor<i32>) (%c: tensor<i32>, %d: tensor<i32>) {{
      %min = stablehlo.minimum {min} : tensor<i32>
      %max = stablehlo.maximum {max} : tensor<i32>
      stablehlo.return %min, %max : tensor<i32>, tensor<i32>
    }}
  return %0#1 : {result}
"""


@pytest.mark.parametrize(
    ("smaller", "larger", "is_dropped"),
    [
        ("%a, %b", "%c, %d", True),
        ("%a, %b", "%a, %b", False),  # the second result is computed from the first one
        ("%a, %c", "%c, %d", True),
    ],
)
def test_results_of_reduce_that_nothing_needs(smaller: str, larger: str, is_dropped: bool) -> None:
    body = REDUCE.format(dimensions="0", result="tensor<i32>", min=smaller, max=larger)
    text = f"func.func @main(%x: tensor<3xi32>) -> tensor<i32> {{\n{body}}}\n"
    after = transformed(sr.parse(text), SIMPLIFY)
    assert ("minimum" not in str(after)) == is_dropped
    for x in ([1, 5, 2], [-7, 3, 0], [0, -1, -2]):
        np.testing.assert_array_equal(after.run(np.int32(x)), sr.load(text).run(np.int32(x)))


def test_initial_values_that_count_are_reduced() -> None:
    t = "tensor<2xi32>"
    reduce = "stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [] : "
    for initial, stays in ((0, False), (1, True)):
        body = f"  %c = stablehlo.constant dense<{initial}> : tensor<i32>\n  %0 = {reduce}({t}, tensor<i32>) -> {t}"
        assert ("reduce" in simplified(f"{body}\n  return %0 : {t}", t, t)) == stays


def test_indices_are_clamped_as_unsigned() -> None:
    body = "  %i = stablehlo.constant dense<18446744073709551615> : tensor<ui64>\n"
    body += "  %0 = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<5xi32>, tensor<ui64>) -> tensor<2xi32>\n"
    assert "slice %x [3:5]" in simplified(body + "  return %0 : tensor<2xi32>", "tensor<5xi32>", "tensor<2xi32>")


def test_broadcast_of_nothing_is_no_transpose() -> None:
    body = "  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<0x1xi32>) -> tensor<0x5xi32>\n"
    after = simplified(body + "  return %0 : tensor<0x5xi32>", "tensor<0x1xi32>", "tensor<0x5xi32>")
    assert "transpose" not in after and "constant dense<>" in after


LOOP = """\
func.func @main(%x: tensor<i32>, %n: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %a = %x, %b = %n) : tensor<i32>, tensor<i32>, tensor<i32>
    cond {
      %more = stablehlo.compare LT, %i, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %next = stablehlo.add %i, %one : tensor<i32>
      %sum = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %next, %sum, %b : tensor<i32>, tensor<i32>, tensor<i32>
    }
  return %0#1, %0#2 : tensor<i32>, tensor<i32>
}
"""


@pytest.mark.parametrize("name", [SIMPLIFY, OPTIMIZE])
def test_loops_take_what_they_do_not_change_from_outside(name: str) -> None:
    after = transformed(sr.parse(LOOP), name)
    assert "stablehlo.while(%i = %zero, %a = %x)" in str(after)
    assert [int(x) for x in after.run(np.int32(10), np.int32(3))] == [19, 3]


@pytest.mark.parametrize("has_effects", [True, False])
def test_results_of_loops_that_do_not_run_are_the_operands(has_effects: bool) -> None:
    effect = str(has_effects).lower()
    body = "  %0 = stablehlo.while(%a = %x) : tensor<i32>\n    cond {\n"
    body += "      %less = stablehlo.compare LT, %a, %a : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    body += "      stablehlo.return %less : tensor<i1>\n    } do {\n"
    body += f"      %y = stablehlo.custom_call @f(%a) {{has_side_effect = {effect}}} : (tensor<i32>) -> tensor<i32>\n"
    body += "      stablehlo.return %y : tensor<i32>\n    }\n  return %0 : tensor<i32>"
    after = simplified(body, "tensor<i32>", "tensor<i32>", OPTIMIZE)
    assert "return %x" in after
    assert ("stablehlo.while" in after) is has_effects


@pytest.mark.parametrize("has_effects", [True, False])
def test_branches_that_do_not_run_stay_if_they_have_effects(has_effects: bool) -> None:
    effect = str(has_effects).lower()
    body = '  %c = stablehlo.constant dense<1> : tensor<i32>\n  %0 = "stablehlo.case"(%c) ({\n'
    body += f"    %y = stablehlo.custom_call @f(%x) {{has_side_effect = {effect}}} : (tensor<i32>) -> tensor<i32>\n"
    body += "    stablehlo.return %y : tensor<i32>\n  }, {\n    %z = stablehlo.add %x, %c : tensor<i32>\n"
    body += "    stablehlo.return %z : tensor<i32>\n  }) : (tensor<i32>) -> tensor<i32>\n  return %0 : tensor<i32>"
    after = simplified(body, "tensor<i32>", "tensor<i32>", OPTIMIZE)
    assert after.count("stablehlo.add") == 1
    assert re.search(r"%(\w+) = stablehlo.add %x.*return %\1 :", after, re.DOTALL)
    assert ("stablehlo.case" in after) is has_effects


def test_loops_are_made_anew_with_what_has_changed_in_them() -> None:
    body = "  %zero = stablehlo.constant dense<0> : tensor<i32>\n  %three = stablehlo.constant dense<3> : tensor<i32>\n"
    body += "  %0:3 = stablehlo.while(%a = %x, %b = %x, %i = %x) : tensor<i32>, tensor<i32>, tensor<i32>\n    cond {\n"
    body += "      %p = stablehlo.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    body += "      stablehlo.return %p : tensor<i1>\n    } do {\n"
    body += "      %m = stablehlo.multiply %three, %a : tensor<i32>\n"
    body += "      %j = stablehlo.subtract %i, %three : tensor<i32>\n"
    body += "      %k = stablehlo.add %b, %zero : tensor<i32>\n"
    body += "      stablehlo.return %m, %k, %j : tensor<i32>, tensor<i32>, tensor<i32>\n    }\n"
    body += "  %1 = stablehlo.add %0#0, %0#1 : tensor<i32>\n  return %1 : tensor<i32>"
    after = sr.parse(simplified(body, "tensor<i32>", "tensor<i32>")).verify()
    assert after.run(np.int32(4))[0] == 4 * 9 + 4
    assert "%0:2 = stablehlo.while" in str(after)


def test_shardings_of_custom_calls_are_their_own() -> None:
    t = "tensor<4xi32>"
    body = f'  %0 = stablehlo.custom_call @Sharding(%x) {{mhlo.sharding = "{{replicated}}"}} : ({t}) -> {t}\n'
    body += f'  %1 = stablehlo.reshape %0 {{mhlo.sharding = "{{devices=[2]<=[2]}}"}} : ({t}) -> {t}\n  return %1 : {t}'
    after = simplified(body, t, t)
    assert "replicated" in after and "devices" not in after and "reshape" not in after


def test_values_that_are_not_finite_can_be_traced() -> None:
    body = "  %c = stablehlo.constant dense<0.0> : tensor<f32>\n  %0 = stablehlo.log %c : tensor<f32>\n"
    body += "  %1 = stablehlo.negate %0 : tensor<f32>\n  %2 = stablehlo.sqrt %c : tensor<f32>\n"
    after = simplified(body + "  return %1 : tensor<f32>", "tensor<f32>", "tensor<f32>", OPTIMIZE)
    assert "stablehlo.log" in after and "sqrt" not in after


@pytest.mark.parametrize("name", [SIMPLIFY, OPTIMIZE, "canonicalize", "sccp"])
def test_rewriting_takes_no_longer_than_the_limit(name: str) -> None:
    module = sr.parse(LOOP).module
    with limited(sr.Limits(max_seconds=1e-9)), pytest.raises(LimitError, match="transforming the program takes longer"):
        PASSES[name].bind({})(module)


def test_shardings_have_one_entry_for_each_result() -> None:
    """They move neither to an op with several results, nor to one with fewer."""
    t = "tensor<4xi32>"
    sharding = '#sdy.sharding_per_value<[<@mesh, [{"x"}]>]>'
    text = f"""sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: {t}, %y: {t}) -> {t} {{
  %0:2 = "stablehlo.sort"(%x, %y) <{{dimension = 0 : i64}}> ({{
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %less = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }}) {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{{"x"}}]>, <@mesh, [{{}}]>]>}} : ({t}, {t}) -> ({t}, {t})
  %1 = stablehlo.reshape %0#{{used}} {{sdy.sharding = {sharding}}} : ({t}) -> {t}
  return %1 : {t}
}}"""
    for used in "01":
        after = str(transformed(sr.parse(text.replace("{used}", used)).verify(), SIMPLIFY))  # which verifies it
        assert "reshape" not in after and "sdy.sharding" in after


REWRITING = (SIMPLIFY, OPTIMIZE, "stablehlo-legalize-qdq-to-quantized-op", "shape-legalize-to-stablehlo")


@PROPERTY
@given(data=st.data())
def test_dynamic_programs_compute_the_same(data: st.DataObject) -> None:
    text = data.draw(dynamic_programs())
    x = data.draw(arrays(np.dtype(np.float32), (data.draw(st.integers(0, 4)), 3)))
    y = data.draw(arrays(np.dtype(np.float32), (data.draw(st.integers(0, 4)),)))
    assert_same_results(text, REWRITING, lambda program: (x, y))


@PROPERTY
@given(data=st.data())
def test_quantized_programs_compute_the_same(data: st.DataObject) -> None:
    assert_same_results(data.draw(quantized_programs()), REWRITING, lambda program: inputs_of(data.draw, program))
