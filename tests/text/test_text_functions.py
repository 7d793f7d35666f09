"""Which function is inlined, where it returns, and what its lines refer to."""

from __future__ import annotations

import pytest

from stablehlo_ref.diagnostics import MalformedError
from stablehlo_ref.text import inline_function

TWO = """
module {
  func.func private @helper(%a: f32) -> f32 {
    return %a : f32
  }
  func.func @entry(%a: f32) -> f32 {
    %0 = call @helper(%a) : (f32) -> f32
    return %0 : f32
  }
}
"""


def test_only_public_function():
    inlined = inline_function(TWO, ["%x"])
    assert inlined.lines == ["%t0 = call @helper(%x) : (f32) -> f32"]
    assert inlined.symbols == ["@helper"]


@pytest.mark.parametrize("name", ["helper", "@helper"])
def test_function_by_name(name):
    assert tuple(inline_function(TWO, ["%x"], function=name)) == ([], ["%x"])


def test_main_among_public_functions():
    text = TWO.replace("@entry", "@main").replace("private ", "")
    assert inline_function(text, ["%x"]).symbols == ["@helper"]


def test_reports_several_public_functions():
    with pytest.raises(MalformedError) as raised:
        inline_function(TWO.replace("private ", ""), ["%x"])
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.message == "expected one function, got '@helper', '@entry'; choose one with function=..."
    assert (diagnostic.line, diagnostic.column) == (6, 13)


def test_reports_unknown_function():
    message = "expected a function '@nope' with a body; the text defines '@helper', '@entry'"
    with pytest.raises(MalformedError, match=message):
        inline_function(TWO, ["%x"], function="nope")


def test_reports_function_without_body():
    text = TWO + "func.func private @declared(f32) -> f32\n"
    with pytest.raises(MalformedError, match="expected a function '@declared' with a body"):
        inline_function(text, ["%x"], function="declared")


@pytest.mark.parametrize(
    "text",
    [
        "func.func @f(%a: f32) -> f32 { return %a : f32 }",
        "func @f(%a: f32) -> f32 { return %a : f32 }",
        'func.func @"f"(%a: f32) -> f32 attributes {x = "{"} { return %a : f32 }',
        "llvm.func @f(%a: f32 {llvm.noalias}, ...) -> f32 { llvm.return %a : f32 }",
        'spirv.func @f(%a : f32) -> f32 "None" { spirv.ReturnValue %a : f32 }',
        "util.func public @f(%a: f32) -> f32 { util.return %a : f32 }",
        "module { module @inner { func.func @f(%a: f32) -> f32 { return %a : f32 } } }",
        "gpu.module @m { gpu.func @f(%a: f32) -> f32 { gpu.return %a : f32 } }",
        '"func.func"() ({\n^bb0(%a: f32):\n"func.return"(%a) : (f32) -> ()\n}) {function_type = t, sym_name = "f"} : x',
        '"func.func"() <{sym_name = "f", function_type = t}> ({\n^bb0(%a: f32): return %a : f32 }) : () -> ()',
        "func.func @f(f32) -> f32 {\n^bb0(%a: f32):\n  return %a : f32\n}",
    ],
)
def test_function_of_any_dialect(text):
    assert tuple(inline_function(text, ["%x"], function="f")) == ([], ["%x"])
    assert tuple(inline_function(text, ["%x"])) == ([], ["%x"])


def test_private_function_in_generic_form():
    private = (
        '"func.func"() <{sym_name = "g", sym_visibility = "private", function_type = t}> ({ return }) : () -> ()\n'
    )
    public = '"func.func"() <{sym_name = "f", sym_visibility = "public", function_type = t}> ({ return }) : () -> ()\n'
    assert tuple(inline_function(private + public, [])) == ([], [])


def test_arguments_without_names():
    text = "func.func @f(f32, tensor<2xf32> {a = [1, 2]}) { return }"
    assert tuple(inline_function(text, ["%x", "%y"])) == ([], [])


def test_argument_attributes_hold_commas_and_brackets():
    text = 'func.func @f(%a: (f32, i1) -> f32 {x = "(%b", y = [1, 2]}, %b: i1 loc("%c")) -> i1 { return %b : i1 }'
    assert inline_function(text, ["%x", "%y"]).results == ["%y"]


def test_returns_from_several_blocks():
    text = """
    #enc = #dialect.enc<4>
    func.func @f(%c: i1, %a: tensor<4xf32, #enc>) -> (tensor<4xf32, #enc>, i1) {
      cf.cond_br %c, ^then, ^else
    ^then:
      %0 = foo.op %a : tensor<4xf32, #enc>
      return %0, %c : tensor<4xf32, #enc>, i1 loc("here")
    ^else:
      return %a, %c : tensor<4xf32, #enc>, i1
    }
    """
    inlined = inline_function(text, ["%x", "%y"], prefix="v", used_names=["^v_bb1"])
    assert inlined.lines == [
        "cf.cond_br %x, ^v_bb0, ^v_bb2",
        "^v_bb0:",
        "%v0 = foo.op %y : tensor<4xf32, #dialect.enc<4>>",
        "cf.br ^v_bb3(%v0, %x : tensor<4xf32, #dialect.enc<4>>, i1)",
        "^v_bb2:",
        "cf.br ^v_bb3(%y, %x : tensor<4xf32, #dialect.enc<4>>, i1)",
        "^v_bb3(%blk_arg0: tensor<4xf32, #dialect.enc<4>>, %blk_arg1: i1):",
    ]
    assert inlined.results == ["%blk_arg0", "%blk_arg1"]
    assert inlined.labels == ["^v_bb0", "^v_bb2", "^v_bb3"]


def test_return_before_other_blocks():
    text = 'func.func @f() {\n  cf.br ^last\n^exit:\n  "func.return"() : () -> ()\n^last:\n  cf.br ^exit\n}'
    assert inline_function(text, [], branch="llvm.br", label_prefix="^b").lines == [
        "cf.br ^b1",
        "^b0:",
        "llvm.br ^b2",
        "^b1:",
        "cf.br ^b0",
        "^b2:",
    ]


def test_returns_in_generic_form():
    text = """
    func.func @f(%c: i1) -> i1 {
      cf.cond_br %c, ^a, ^b
    ^a:
      "func.return"(%c) : (i1) -> ()
    ^b:
      "func.return"(%c) {x = 1 : i32} : (i1) -> ()
    }
    """
    inlined = inline_function(text, ["%x"])
    assert inlined.lines[2] == "cf.br ^t_bb2(%x : i1)"
    assert inlined.lines[-1] == "^t_bb2(%blk_arg0: i1):"


def test_labels_of_nested_regions_stay():
    text = "func.func @f() {\n  cf.br ^bb1\n^bb1:\n  foo.op {\n    cf.br ^bb1\n  ^bb1:\n    foo.end\n  }\n  return\n}"
    assert inline_function(text, []).lines == [
        "cf.br ^t_bb0",
        "^t_bb0:",
        "foo.op {",
        "  cf.br ^bb1",
        "^bb1:",
        "  foo.end",
        "}",
    ]


def test_successors_are_not_labels():
    text = """
    llvm.func @f(%a: i32) -> i32 {
      %0 = llvm.invoke @g(%a) to ^ok unwind ^bad : (i32) -> i32
    ^ok:
      llvm.switch %0 : i32, ^ok [
        1: ^bad,
        2: ^last(%0 : i32)
      ]
    ^bad:
      "llvm.br"(%a)[^last] : (i32) -> ()
    ^last(%r: i32):
      llvm.return %r : i32
    }
    """
    inlined = inline_function(text, ["%x"], label_prefix="b")
    assert inlined.lines == [
        "%t0 = llvm.invoke @g(%x) to ^b0 unwind ^b1 : (i32) -> i32",
        "^b0:",
        "llvm.switch %t0 : i32, ^b0 [",
        "  1: ^b1,",
        "  2: ^b2(%t0 : i32)",
        "]",
        "^b1:",
        '"llvm.br"(%x)[^b2] : (i32) -> ()',
        "^b2(%blk_arg0: i32):",
    ]
    assert inlined.results == ["%blk_arg0"]


def test_symbols_and_resources():
    text = """
    module {
      func.func @f() {
        %0 = call @"odd name"() : () -> f32
        %1 = foo.launch @kernels::@k::@inner, @g {a = dense_resource<blob_1> : tensor<4xf32>, b = "@not"}
        %2 = foo.constant dense_resource<"blob 2"> : tensor<4xf32>  // @neither dense_resource<x>
        call @g() : () -> ()
        return
      }
    }
    {-#
      dialect_resources: {
        builtin: {
          blob_1: "0x040000000000803F"
        }
      }
    #-}
    """
    inlined = inline_function(text, [])
    assert inlined.symbols == ['@"odd name"', "@kernels::@k::@inner", "@g"]
    assert inlined.resources == ["blob_1", '"blob 2"']


def test_keeps_comments_and_blank_lines_of_the_body():
    text = """
    func.func @f(%a: f32) -> f32 {  // %a is an argument

      // First: %a
      %0 = foo.op %a : f32  // "%a

\t  // Tabs
          // deeper
      %1 = foo.op
    // less deep
        {x = 1} : f32

      return %1 : f32  // the end
      // after the end
    }
    """
    assert inline_function(text, ["%x"]).lines == [
        "// First: %a",
        '%t0 = foo.op %x : f32  // "%a',
        "",
        "\t  // Tabs",
        "    // deeper",
        "%t1 = foo.op",
        "// less deep",
        "  {x = 1} : f32",
        "",
        "// the end",
        "// after the end",
    ]


def test_windows_line_ends():
    text = "func.func @f(%a: f32) -> f32 {\r\n  %0 = foo.op %a : f32\r\n  return %0 : f32\r\n}\r\n"
    assert tuple(inline_function(text, ["%x"])) == (["%t0 = foo.op %x : f32"], ["%t0"])


def test_operand_list_in_braces():
    text = "func.func @f(%t: i1, %d: index) {\n  foo.op %t : tensor<?xf32>{%d} -> tensor<?xf32>{%d}\n  return\n}"
    assert inline_function(text, ["%x", "%y"]).lines == ["foo.op %x : tensor<?xf32>{%y} -> tensor<?xf32>{%y}"]
