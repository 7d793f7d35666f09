"""New names are fresh in the text that the lines are for."""

from __future__ import annotations

import itertools

import pytest

from stablehlo_ref.text import inline_function, names

TEXT = """
func.func @f(%a: f32, %b: f32) -> (f32, f32) {
  %0:2 = "test.pair"(%a) : (f32) -> (f32, f32)
  %1 = scf.if %b -> f32 {
    %2 = arith.addf %0#0, %0#1 : f32
    scf.yield %2 : f32
  }
  cf.br ^next(%1 : f32)
^next(%p: f32):
  return %p, %0 : f32, f32
}
"""


def test_default_prefixes():
    inlined = inline_function(TEXT, ["%x", "%y"])
    assert inlined.lines == [
        '%t0:2 = "test.pair"(%x) : (f32) -> (f32, f32)',
        "%t1 = scf.if %y -> f32 {",
        "  %t2 = arith.addf %t0#0, %t0#1 : f32",
        "  scf.yield %t2 : f32",
        "}",
        "cf.br ^t_bb0(%t1 : f32)",
        "^t_bb0(%blk_arg0: f32):",
    ]
    assert inlined.results == ["%blk_arg0", "%t0"]
    assert inlined.labels == ["^t_bb0"]


def test_third_argument_is_a_prefix():
    assert inline_function(TEXT, ["%x", "%y"], "v_").lines[0] == '%v_0:2 = "test.pair"(%x) : (f32) -> (f32, f32)'


def test_third_argument_is_a_function_that_makes_names():
    numbers = itertools.count(7)
    asked = []

    def fresh(prefix: str) -> str:
        asked.append(prefix)
        return f"%my.{prefix}{next(numbers)}"

    inlined = inline_function(TEXT, ["%x", "%y"], fresh, block_prefix="arg")
    assert asked == ["t", "t", "t", "arg", "t_bb"]
    assert inlined.lines[0] == '%my.t7:2 = "test.pair"(%x) : (f32) -> (f32, f32)'
    assert inlined.lines[-1] == "^my.t_bb11(%my.arg10: f32):"
    assert inlined.results == ["%my.arg10", "%my.t7"]


def test_rejects_name_that_is_not_fresh():
    with pytest.raises(ValueError, match="expected a fresh name, got '%same' again"):
        inline_function(TEXT, ["%x", "%y"], lambda prefix: "same")


def test_rejects_strings_that_are_not_names():
    with pytest.raises(ValueError, match="expected a name such as"):
        inline_function(TEXT, ["%x", "%y"], lambda prefix: "two words")


@pytest.mark.parametrize("prefix", ["a b", "a-b c", "1a", "%%", "#x"])
def test_rejects_prefix_that_cannot_start_a_name(prefix):
    with pytest.raises(ValueError, match="expected the start of an SSA name"):
        inline_function(TEXT, ["%x", "%y"], prefix=prefix)


def test_prefix_may_be_numeric_or_empty():
    assert inline_function(TEXT, ["%x", "%y"], prefix="", label_prefix="next").lines[1] == "%1 = scf.if %y -> f32 {"
    assert inline_function(TEXT, ["%x", "%y"], prefix="5", label_prefix="next").lines[1] == "%51 = scf.if %y -> f32 {"


def test_leaves_out_names_of_operands():
    inlined = inline_function(TEXT, ["%t1", "%t0#3"])
    assert inlined.lines[:2] == ['%t2:2 = "test.pair"(%t1) : (f32) -> (f32, f32)', "%t3 = scf.if %t0#3 -> f32 {"]


def test_leaves_out_used_names():
    inlined = inline_function(TEXT, ["%x", "%y"], used_names=["%t0", "%t2:4", "%blk_arg0#1", "^t_bb0", "t4"])
    assert inlined.lines[0] == '%t1:2 = "test.pair"(%x) : (f32) -> (f32, f32)'
    assert inlined.lines[2] == "  %t5 = arith.addf %t1#0, %t1#1 : f32"
    assert inlined.lines[-1] == "^t_bb1(%blk_arg1: f32):"


def test_same_prefix_for_results_and_arguments():
    inlined = inline_function(TEXT, ["%x", "%y"], prefix="t", block_prefix="t")
    assert inlined.results == ["%t3", "%t0"]


def test_names_of_a_text():
    text = '%a, %b:2 = foo.op %c#1 {x = "%d"} // %e\n^bb1(%in: f32):\n'
    assert names(text) == {"%a", "%b", "%c", "%in", "^bb1"}


def test_names_of_operands_are_not_captured_by_regions():
    text = """
    func.func @f(%a: f32) -> f32 {
      %0 = scf.if %a -> f32 {
        %x = arith.constant 1.0 : f32
        %y = arith.addf %x, %a : f32
        scf.yield %y : f32
      }
      return %0 : f32
    }
    """
    lines, results = inline_function(text, ["%x"], prefix="y")
    assert lines == [
        "%y0 = scf.if %x -> f32 {",
        "  %y1 = arith.constant 1.0 : f32",
        "  %y2 = arith.addf %y1, %x : f32",
        "  scf.yield %y2 : f32",
        "}",
    ]
    assert results == ["%y0"]


def test_first_result_may_have_a_number():
    text = "func.func @f(%a: f32) -> (f32, f32) {\n%0 = foo.op %a#0 : f32\nreturn %0#0, %a#0 : f32, f32\n}"
    assert tuple(inline_function(text, ["%x#2"])) == (["%t0 = foo.op %x#2 : f32"], ["%t0#0", "%x#2"])


def test_result_number_may_be_separated_by_blanks():
    text = "func.func @f() -> f32 {\n%0:2 = foo.op : f32\nreturn %0 #1 : f32\n}"
    assert inline_function(text, []).results == ["%t0#1"]


def test_numbers_follow_definitions_not_uses():
    text = "func.func @f() -> i1 {\ncf.br ^b\n^a:\nreturn %z : i1\n^b:\n%y = foo.y\n%z = foo.z %y\ncf.br ^a\n}"
    inlined = inline_function(text, [])
    assert inlined.lines == [
        "cf.br ^t_bb1",
        "^t_bb0:",
        "cf.br ^t_bb2(%t1 : i1)",
        "^t_bb1:",
        "%t0 = foo.y",
        "%t1 = foo.z %t0",
        "cf.br ^t_bb0",
        "^t_bb2(%blk_arg0: i1):",
    ]
    assert inlined.results == ["%blk_arg0"]
