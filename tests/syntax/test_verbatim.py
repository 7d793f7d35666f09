"""Pretty forms of ops without a class: kept as text, with their operands and their place in the program."""

from __future__ import annotations

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.bytecode.writer import write
from stablehlo_ref.passes.link import link


def load(text: str) -> sr.Program:
    return sr.load(text, allow_unregistered_dialect=True)


def body(text: str) -> str:
    return f"func.func @main(%arg0: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {{\n{text}\n}}\n"


def printed_lines(text: str) -> list[str]:
    """The lines of the body of the function as they are printed, without indentation."""
    program = load(body(text))
    assert str(load(str(program))) == str(program)
    return [line.strip() for line in str(program).splitlines()[2:-2]]


@pytest.mark.parametrize(
    "form",
    [
        "%0 = tfl.relu %arg0 : tensor<4xf32>",
        '%0 = tfl.relu %arg0 {s = "} ( % //", n = [1, 2]} : (tensor<4xf32>) -> tensor<4xf32>',
        "%0 = affine.prefetch affine_map<(d0)[s0] -> (d0 * s0)>(%arg0)[%c]",
        "%0 = affine.if affine_set<(d0) : (d0 - 5 >= 0, d0 == 3)>(%arg0)",
        "%0:2 = a.split<2>(%arg0, %c)",
        "%0, %1 = a.split %arg0 -> tensor<4xf32>, tensor<4xf32>",
        "a.print %arg0, @symbol, #a.attribute<1 -> 2>, !a.type<[3]>",
    ],
)
def test_keeps_the_text(form: str) -> None:
    assert printed_lines(f"{form}\nreturn %arg0 : tensor<4xf32>") == [form, "return %arg0 : tensor<4xf32>"]


def test_regions_keep_their_lines() -> None:
    form = """%0 = other.fragment<mesh="m"> (%arg0)
        {a = 1} (%arg2: tensor<4xf32>) {
      %1 = stablehlo.add %arg2, %arg2 : tensor<4xf32>  // a comment }
    ^bb1(%x: i1):
      other.return %1 : tensor<4xf32> loc("somewhere")
    } : (tensor<4xf32>) -> tensor<4xf32>"""
    program = load(body(f"    {form}\n    return %0 : tensor<4xf32>"))
    expected = form.replace("  // a comment }", "").replace(' loc("somewhere")', "")
    assert expected in str(program)
    assert [len(op.operands) for op in program.module.walk() if op.name == "other.fragment"] == [1]


def test_aliases_are_expanded() -> None:
    text = "#map = affine_map<(d0) -> (d0)>\n!t = tensor<4xf32>\n" + body(
        "%0 = a.b %arg0 {m = #map} : !t\nreturn %0 : !t"
    )
    assert "%0 = a.b %arg0 {m = affine_map<(d0) -> (d0)>} : tensor<4xf32>" in str(load(text))


def test_types_of_results_follow_from_their_uses() -> None:
    lines = "%0:2 = a.b %arg0 : i32\n%1 = stablehlo.add %0#1, %0#1 : tensor<4xf32>\nreturn %1 : tensor<4xf32>"
    program = load(body(lines))
    (op,) = (op for op in program.module.walk() if op.name == "a.b")
    assert list(map(str, op.result_types)) == ["i32", "tensor<4xf32>"]


def test_several_ops_and_one_line_regions() -> None:
    lines = printed_lines("a.b %c\na.c\n  else {a.d}\na.e %c { a.f }\nreturn %arg0 : tensor<4xf32>")
    assert lines == ["a.b %c", "a.c", "else {a.d}", "a.e %c { a.f }", "return %arg0 : tensor<4xf32>"]


def test_terminators_with_successors() -> None:
    text = "a.jump %c, ^bb1(%arg0 : tensor<4xf32>)\n^bb1(%x: tensor<4xf32>):\nreturn %x : tensor<4xf32>"
    blocks = load(body(text)).module.regions[0].block.operations[0].regions[0].blocks
    assert blocks[0].operations[-1].successors == ["bb1"]


def test_running_one_is_an_unsupported_error_at_its_place() -> None:
    program = load(body("%0 = tfl.relu %arg0 : tensor<4xf32>\nreturn %0 : tensor<4xf32>"))
    with pytest.raises(sr.UnsupportedError, match=r"^<string>:2:6: error: 'tfl.relu' op belongs to a dialect"):
        program.run(np.ones(4, np.float32), np.True_)


def test_an_op_that_is_not_reached_does_no_harm() -> None:
    text = """%0 = "stablehlo.if"(%c) ({
      stablehlo.return %arg0 : tensor<4xf32>
    }, {
      %1 = tfl.relu %arg0 : tensor<4xf32>
      stablehlo.return %1 : tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>
    return %0 : tensor<4xf32>"""
    assert load(body(text)).run(np.ones(4, np.float32), np.True_)[0].tolist() == [1.0] * 4


def test_links_with_other_programs() -> None:
    function = "func.func @NAME(%x: tensor<f32>) {\n  a.call @helper(%x)\n  return\n}\nllvm.func @helper(TYPE)\n"
    modules = [load(function.replace("NAME", n).replace("TYPE", t)).module for n, t in (("f", "f32"), ("g", "f64"))]
    text = str(sr.Program(link(modules)))
    assert "a.call @helper(%x)" in text and "a.call @helper_0(%x)" in text
    assert "llvm.func @helper(f32)" in text and "llvm.func @helper_0(f64)" in text


def test_names_of_its_own_do_not_clash_after_inlining() -> None:
    text = """func.func @main(%x: tensor<f32>) -> tensor<f32> {
      %0 = stablehlo.add %x, %x : tensor<f32>
      %1 = call @f(%0) : (tensor<f32>) -> tensor<f32>
      return %1 : tensor<f32>
    }
    func.func private @f(%y: tensor<f32>) -> tensor<f32> {
      %1 = a.b %y {
        %0 = a.c %y
        %x = a.c %0
      } : tensor<f32>
      return %1 : tensor<f32>
    }
    """
    program = load(text)
    from stablehlo_ref.passes.inline import inline

    inline(program.module)
    again = str(load(str(sr.Program(program.module))))
    assert "a.b %0 {\n      %1 = a.c %0\n      %x_0 = a.c %1\n    } : tensor<f32>" in again


def test_names_of_its_own_may_be_those_of_its_results() -> None:
    form = "%1:2 = a.b %arg0 { %1 = a.c }"
    assert printed_lines(f"{form}\nreturn %arg0 : tensor<4xf32>")[0] == form


@pytest.mark.parametrize("form", ["a.b (%arg0", 'a.b "unfinished', "a.b [)]"])
def test_unbalanced_brackets_are_an_error(form: str) -> None:
    with pytest.raises(sr.MalformedError, match=r"unbalanced brackets in the pretty form of op 'a\.b'"):
        load(body(form))


def test_without_permission_it_is_an_error() -> None:
    with pytest.raises(sr.MalformedError, match="or --allow-unregistered-dialect to keep its text"):
        sr.load(body("a.b %c\nreturn %arg0 : tensor<4xf32>"))
    with pytest.raises(sr.MalformedError, match=r"unknown op 'stablehlo\.ad'"):
        load(body("stablehlo.ad %c\nreturn %arg0 : tensor<4xf32>"))


def test_bytecode_cannot_hold_it() -> None:
    program = load(body("a.b %c\nreturn %arg0 : tensor<4xf32>"))
    with pytest.raises(sr.UnsupportedError, match=r"2:1: error: bytecode cannot hold the pretty form of 'a\.b'"):
        write(program.module)
