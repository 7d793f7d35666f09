"""Aliases of attributes, types and locations are replaced with what they stand for."""

from __future__ import annotations

import pytest

from stablehlo_ref.diagnostics import MalformedError
from stablehlo_ref.text import inline_function


def line(definitions: str, op: str, **options) -> str:
    """Inline a function of one op, with aliases in front of it, and return the op."""
    text = f"{definitions}\nfunc.func @f() {{\n  {op}\n  return\n}}\n"
    (found,) = inline_function(text, [], **options).lines
    return found


@pytest.mark.parametrize(
    ("value", "expanded"),
    [
        ("affine_map<(d0)[s0] -> (d0 + s0)>", None),
        ("affine_set<(d0) : (d0 - 1 >= 0, d0 == 0)>", None),
        ("dense<[1, 2]> : tensor<2xi32>", None),
        ("dense<1.0> : tensor<4xcomplex<f32>>", None),
        ("-1.5e+03 : f32", None),
        ("42 : i32", None),
        ('"text #map !ty" : !dialect.type<"x">', None),
        ('{a = 1, "b c" = [@f, @"g h"::@i], d}', None),
        ("[1, [2, 3]]", None),
        ("@a::@b::@c", None),
        ("array<i32: 1, 2>", None),
        ("true", None),
        ("unit", None),
        ("#dialect.attr<a -> b> : i32", None),
        ('#dialect<"raw <">', None),
        ("distinct[0]<42>", None),
        ("tensor<2x?xf32, #dialect.layout>", None),
        ("() -> f32", None),
        ("(i32, (f32) -> i1) -> (i64, i64)", None),
        ("strided<[?, 1], offset: ?>", None),
        ("dense_resource<blob> : tensor<4xf32>", None),
        ("affine_map<(d0,  // the row\n    d1) -> (d1)>", "affine_map<(d0, d1) -> (d1)>"),
    ],
)
def test_attribute(value, expanded):
    definitions = f"#first = {value}\n#next = 1 : i32"
    assert line(definitions, '"test.op"() {x = #first, y = #next}') == (
        f'"test.op"() {{x = {expanded or value}, y = 1 : i32}}'
    )


@pytest.mark.parametrize(
    ("value", "type_", "expanded"),
    [
        ("f32", "tensor<4x!ty>", "tensor<4xf32>"),
        ("vector<2xi8>", "memref<?x!ty, 1>", "memref<?xvector<2xi8>, 1>"),
        ("!torch.vtensor<[2,3],f32>", "!torch.list<!ty>", "!torch.list<!torch.vtensor<[2,3],f32>>"),
        ("!llvm<struct<(i32)>>", "!ty", "!llvm<struct<(i32)>>"),
        ("(f32) -> i32", "(!ty) -> !ty", "((f32) -> i32) -> ((f32) -> i32)"),
        ("(f32) -> i32", "(i1) -> (!ty, i1)", "(i1) -> ((f32) -> i32, i1)"),
        ("tuple<i32, () -> f32>", "!ty", "tuple<i32, () -> f32>"),
    ],
)
def test_type(value, type_, expanded):
    assert line(f"!ty = {value}", f'"test.op"() : {type_}') == f'"test.op"() : {expanded}'


def test_aliases_in_aliases():
    definitions = "!row = tensor<4x!el, #enc>\n!el = f32\n#enc = #dialect.enc<#map, !el>\n#map = affine_map<() -> ()>"
    expected = '"test.op"() {m = affine_map<() -> ()>} : tensor<4xf32, #dialect.enc<affine_map<() -> ()>, f32>>'
    assert line(definitions, '"test.op"() {m = #map} : !row') == expected


def test_aliases_behind_the_module():
    text = "module {\n  func.func @f() {\n    foo.op #a\n    return\n  }\n}\n#a = #b\n#b = 3 : i8\n"
    assert inline_function(text, []).lines == ["foo.op 3 : i8"]


def test_what_looks_like_an_alias_stays():
    op = '"#a"() {"#a" = #a.b<#x>, c = #a<1>, d = "!a"} : (!a.b) -> !a<2>  // #a !a'
    assert line("#a = 1\n!a = i1", op) == op


def test_text_of_dialects_may_hold_anything():
    op = '"test.op"() {a = #dialect.attr<!x@#y$$>, b = !dialect.type<#a ^ *>}'
    assert line("#a = 1", op) == op.replace("#a", "1")


@pytest.mark.parametrize(
    ("definitions", "location", "expanded"),
    [
        ('#l = loc("a.py":3:4)', "loc(#l)", 'loc("a.py":3:4)'),
        ("#l = loc(unknown)", "loc(#l)", "loc(unknown)"),
        ('#l = loc("f"(#m))\n#m = loc("a.py":3:4)', "loc(#l)", 'loc("f"("a.py":3:4))'),
        ('#l = loc(callsite(#m at #m))\n#m = loc("g")', "loc(#l)", 'loc(callsite("g" at "g"))'),
        ('#l = loc(fused<"p">[#m, "h"])\n#m = loc("g")', "loc(#l)", 'loc(fused<"p">["g", "h"])'),
        ('#l = loc(fused<#m>["h"(#m)])\n#m = loc("g")', "loc(#l)", 'loc(fused<loc("g")>["h"("g")])'),
        ('#l = #m\n#m = loc("g")', "loc(#l)", 'loc("g")'),
    ],
)
def test_location(definitions, location, expanded):
    assert line(definitions, f'"test.op"() : () -> () {location}') == f'"test.op"() : () -> () {expanded}'


def test_location_as_attribute():
    op = '"test.op"() {a = #l, b = [#l, loc("x")]} : () -> () loc(#l)'
    expected = '"test.op"() {a = loc("g"), b = [loc("g"), loc("x")]} : () -> () loc("g")'
    assert line('#l = loc("g")', op) == expected
    assert line('#l = loc("g")', op, keep_locations=False) == expected.removesuffix(' loc("g")')


def test_leaves_out_locations():
    text = """
    #loc1 = loc("x"(#loc2))
    func.func @f(%a: f32 loc("a")) -> f32 {
      affine.for %i loc("i") = 0 to 4 {
        "test.region"() ({
        ^bb0(%b: f32 loc("b"), %c: f32 loc(#loc1)):  // loc("comment")
          "test.use"(%b, %c) : (f32, f32) -> () loc(callsite("d" at "e.py":1:2))
        }) : () -> () loc(#loc1)
      } loc(fused["f", "g"])
      return %a : f32 loc(#loc1)
    } loc("f")
    #loc2 = loc("y")
    """
    assert inline_function(text, ["%x"], keep_locations=False).lines == [
        "affine.for %blk_arg0 = 0 to 4 {",
        '  "test.region"() ({',
        '  ^bb0(%blk_arg1: f32, %blk_arg2: f32):  // loc("comment")',
        '    "test.use"(%blk_arg1, %blk_arg2) : (f32, f32) -> ()',
        "  }) : () -> ()",
        "}",
    ]


@pytest.mark.parametrize(
    ("definitions", "message", "place"),
    [
        ("#a = [#b]\n#b = [#a]", "alias '#a' refers to itself", (1, 1)),
        ("#a = [#a]", "alias '#a' refers to itself", (1, 1)),
        ("#a = [#c]", "undefined alias '#c'", (1, 7)),
        ("#a = 1\n#a = 2", "redefinition of alias '#a'", (2, 1)),
        ("#a =\n#b = 1", "expected the value of alias '#a'", (2, 1)),
        ("#a = )", "unexpected ')'; no bracket is open here", (1, 6)),
        ("#a = tensor<4xf32", "expected '>' to close this '<'", (1, 12)),
    ],
)
def test_reports_location(definitions, message, place):
    with pytest.raises(MalformedError) as raised:
        line(definitions, "foo.op #a")
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.message == message
    assert (diagnostic.line, diagnostic.column) == place


def doubling(levels: int) -> str:
    return '#a0 = "x"\n' + "\n".join(f"#a{i + 1} = [#a{i}, #a{i}]" for i in range(levels))


def test_aliases_do_not_expand_beyond_a_limit():
    with pytest.raises(MalformedError, match=r"alias '#a[0-9]+' expands beyond the limit of 67108864 characters"):
        line(doubling(300), "foo.op #a300")
    with pytest.raises(MalformedError, match="alias '#a4' expands beyond the limit of 100 characters"):
        line(doubling(10), "foo.op #a10", max_growth=100)


def test_lines_do_not_grow_beyond_a_limit():
    uses = ", ".join(["#a5"] * 20)
    with pytest.raises(MalformedError, match="expected at most 1000 characters more than the function has"):
        line(doubling(5), f"foo.op {uses}", max_growth=1000)


def test_unused_aliases_may_be_anything():
    assert line("#a = [#a]\n#b = #undefined\n" + doubling(300), "foo.op") == "foo.op"


def test_long_chain_of_aliases():
    count = 5000
    chain = "#a0 = 1\n" + "\n".join(f"#a{i + 1} = [#a{i}]" for i in range(count))
    assert line(chain, f"foo.op #a{count}") == "foo.op " + "[" * count + "1" + "]" * count


# --- aliases in regions, which MLIR does not have, but templates do -------------------------------------------------


def test_alias_in_a_module() -> None:
    text = """module {
  #map = affine_map<(d0) -> (d0)>
  !t = tensor<2xf32>
  func.func @f(%a: !t) -> !t {
    %0 = "d.op"(%a) {map = #map} : (!t) -> !t
    return %0 : !t
  }
}
"""
    found = inline_function(text, ["%x"])
    assert found.lines == ['%t0 = "d.op"(%x) {map = affine_map<(d0) -> (d0)>} : (tensor<2xf32>) -> tensor<2xf32>']


def test_alias_in_a_function_is_not_part_of_the_lines() -> None:
    text = """func.func @f() {
  #one = 1 : i32
  "d.first"() {a = #one} : () -> ()
  #two = 2 : i32
  "d.second"() ({
    #one = 11 : i32
    "d.inner"() {a = #one, b = #two} : () -> ()
  }) {a = #one} : () -> ()
  return
  #last = 3 : i32
}
"""
    assert inline_function(text, []).lines == [
        '"d.first"() {a = 1 : i32} : () -> ()',
        '"d.second"() ({',
        '  "d.inner"() {a = 11 : i32, b = 2 : i32} : () -> ()',
        "}) {a = 1 : i32} : () -> ()",
    ]


def test_functions_may_have_aliases_of_one_name() -> None:
    text = """#a = 0 : i32
module {
  func.func @f() {
    #a = 1 : i32
    "d.op"() {a = #a} : () -> ()
    return
  }
  func.func @g() {
    #b = [#a]
    "d.op"() {a = #b} : () -> ()
    return
  }
}
"""
    assert inline_function(text, [], function="f").lines == ['"d.op"() {a = 1 : i32} : () -> ()']
    assert inline_function(text, [], function="g").lines == ['"d.op"() {a = [0 : i32]} : () -> ()']


def test_alias_in_front_of_a_label() -> None:
    text = """"func.func"() <{function_type = (i32) -> (), sym_name = "f"}> ({
  #a = 1 : i32
^bb0(%x: i32):
  "d.op"(%x) {a = #a} : (i32) -> ()
  "func.return"() : () -> ()
}) : () -> ()
"""
    assert inline_function(text, ["%y"]).lines == ['"d.op"(%y) {a = 1 : i32} : (i32) -> ()']


@pytest.mark.parametrize(
    ("body", "message", "place"),
    [
        (
            '"d.a"() ({\n#a = 1\n"d.b"() : () -> ()\n}) : () -> ()\n"d.c"() {a = #a} : () -> ()',
            "undefined alias '#a'",
            6,
        ),
        ('#a = 1\n#a = 2\n"d.c"() {a = #a} : () -> ()', "redefinition of alias '#a'", 3),
        ('#a = [#b]\n#b = [#a]\n"d.c"() {a = #a} : () -> ()', "alias '#[ab]' refers to itself", 2),
    ],
)
def test_reports_alias_in_a_region(body: str, message: str, place: int) -> None:
    with pytest.raises(MalformedError, match=message) as caught:
        inline_function(f"func.func @f() {{\n{body}\nreturn\n}}", [])
    assert caught.value.diagnostics[0].line == place
