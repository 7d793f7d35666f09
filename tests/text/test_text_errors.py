"""Malformed functions are errors with the location of the mistake."""

from __future__ import annotations

from textwrap import dedent

import pytest

from stablehlo_ref.diagnostics import LimitError, MalformedError
from stablehlo_ref.limits import Limits
from stablehlo_ref.text import inline_function

# Bodies of a function of %a: f32 and %n: index; the error is at the ^ below a line.
BODIES = {
    "use of undefined SSA value '%nope'": """
        %0 = arith.addf %a, %nope : f32
                            ^
        return %0 : f32
        """,
    "use of undefined SSA value '%x'": """
        %0 = linalg.generic {a = #m} ins(%x : f32) outs(%a : f32) {
                                         ^
        ^bb0(%in: f32):
          linalg.yield %in : f32
        } -> f32
        return %0 : f32
        """,
    "use of undefined SSA value '%y'": """
        %0 = linalg.map ins(%y: f32) outs(%a: f32) (%in: f32) {
                            ^
          linalg.yield %in : f32
        }
        return %0 : f32
        """,
    "use of undefined SSA value '%i'": """
        scf.for %i = %n to %n step %n {
        }
        "test.use"(%i) : (index) -> ()
                   ^
        return %a : f32
        """,
    "use of undefined SSA value '%j'": """
        scf.for %j = %n to %n step %n {
          scf.yield
        }
        scf.if %a {
          "test.use"(%j) : (index) -> ()
                     ^
        }
        return %a : f32
        """,
    "use of undefined SSA value '%k'": """
        %0 = scf.while (%k = %a) : (f32) -> f32 {
          scf.condition(%n) %k : f32
        } do {
        ^bb0(%l: f32):
          scf.yield %k : f32
                    ^
        }
        return %0 : f32
        """,
    "use of undefined SSA value '%inner'": """
        %0 = scf.if %a -> f32 {
          %inner = arith.addf %a, %a : f32
          scf.yield %inner : f32
        }
        return %inner : f32
               ^
        """,
    "use of undefined SSA value '%cond'": """
        omp.parallel if(%cond : i1) {
                        ^
          omp.terminator
        }
        return %a : f32
        """,
    "use of undefined SSA value '%out'": """
        %0 = linalg.reduce ins(%a:f32) outs(%out:f32) {
                                            ^
          linalg.yield %a : f32
        }
        return %0 : f32
        """,
    "use of undefined SSA value '%token'": """
        %0 = stream.async.execute await(%token) => with(%a as %b: f32) {
                                        ^
          stream.yield
        }
        return %0 : f32
        """,
    "unexpected SSA value '%a' in a location": """
        affine.for %i loc("outer" %a) = 0 to 4 {
                                  ^
        }
        return %a : f32
        """,
    "redefinition of SSA value '%0'": """
        %0 = arith.addf %a, %a : f32
        %0 = arith.addf %a, %a : f32
        ^
        return %0 : f32
        """,
    "redefinition of SSA value '%a'": """
        %a = arith.constant 1.0 : f32
        ^
        return %a : f32
        """,
    "redefinition of SSA value '%v'": """
        scf.for %v = %n to %n step %n {
          %v = arith.constant 1.0 : f32
          ^
        }
        return %a : f32
        """,
    "redefinition of SSA value '%p'": """
        %0 = scf.for %i = %n to %n step %n iter_args(%p = %a, %p = %a) -> f32 {
                                                              ^
          scf.yield %p : f32
        }
        return %0 : f32
        """,
    "redefinition of SSA value '%w'": """
        cf.br ^next(%a, %a : f32, f32)
        ^next(%w: f32, %w: f32):
                       ^
        return %w : f32
        """,
    "redefinition of block '^bb1'": """
        cf.br ^bb1
        ^bb1:
        cf.br ^bb1
        ^bb1:
        ^
        return %a : f32
        """,
    "reference to undefined block '^bb2'": """
        cf.cond_br %n, ^bb1, ^bb2
                             ^
        ^bb1:
        return %a : f32
        """,
    "reference to undefined block '^outer'": """
        cf.br ^outer
        ^outer:
        scf.execute_region {
          cf.br ^outer
                ^
        }
        return %a : f32
        """,
    "invalid result number 2: '%r' has 2 results": """
        %r:2 = "test.op"() : () -> (f32, f32)
        return %r#2 : f32
                 ^
        """,
    "invalid result number 1: '%a' has 1 result": """
        return %a#1 : f32
                 ^
        """,
    "expected a number of results, got '99999999999'": """
        %r:99999999999 = "test.op"() : () -> f32
           ^
        return %a : f32
        """,
    "expected at least one result": """
        %r:0 = "test.op"() : () -> f32
           ^
        return %a : f32
        """,
    "undefined alias '#layout'": """
        %0 = "test.op"() {layout = #layout} : () -> f32
                                   ^
        return %0 : f32
        """,
    "undefined alias '!ty'": """
        %0 = "test.op"() : () -> tensor<4x!ty>
                                          ^
        return %0 : f32
        """,
    "string literal without a closing quote": """
        %0 = "test.op"() {text = "open} : () -> f32
                                 ^
        return %0 : f32
        """,
    "expected a name after '%'": """
        %0 = "test.op"(% ) : () -> f32
                       ^
        return %0 : f32
        """,
    "expected ')', got ']'": """
        %0 = "test.op"(%a] : () -> f32
                         ^
        return %0 : f32
        """,
    "expected 1 operand, like the first return of the function, got 2": """
        cf.cond_br %n, ^bb1, ^bb2
        ^bb1:
        return %a : f32
        ^bb2:
        return %a, %a : f32, f32
        ^
        """,
    "expected 1 type of operands, got 0": """
        cf.cond_br %n, ^bb1, ^bb2
        ^bb1:
        return %a
        ^
        ^bb2:
        return %a : f32
        """,
}


def split(body: str) -> tuple[str, int, int]:
    """Return a body without the line that marks the place, and the line and column of the place."""
    lines = dedent(body).strip("\n").split("\n")
    marker = next(i for i, line in enumerate(lines) if line.strip() == "^")
    column = lines.pop(marker).index("^") + 1
    return "\n".join(lines), marker, column


@pytest.mark.parametrize("message", list(BODIES))
def test_reports_location(message):
    body, line, column = split(BODIES[message])
    text = "#m = 1\nfunc.func @f(%a: f32, %n: index) -> f32 {\n" + body + "\n}\n"
    with pytest.raises(MalformedError) as raised:
        inline_function(text, ["%x", "%y"], filename="kernel.mlir")
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.message == message
    assert (diagnostic.filename, diagnostic.line, diagnostic.column) == ("kernel.mlir", line + 2, column)


@pytest.mark.parametrize(
    ("text", "message", "line", "column"),
    [
        ("", "expected a function with a body", 1, 1),
        ("module {\n}", "expected a function with a body", 1, 1),
        ("func.func private @g(f32) -> f32\n", "expected a function with a body", 1, 1),
        ("func.func @f(%a: f32) {\n  return\n", "expected '}' to close this '{'", 1, 23),
        ("func.func @f(%a: f32) {\n  return\n}\n}", "unexpected '}'; no bracket is open here", 4, 1),
        ("func.func @f(%a: f32) {\n  %0 = foo.op %a : f32\n}", "expected a return at the end of function '@f'", 3, 1),
        ("func.func @f(%a: f32) {\n}", "expected a return at the end of function '@f'", 2, 1),
        ("func.func @f(%a: f32, %b: f32) {\n  return\n}", "expected 2 operands for function '@f', got 1", 1, 11),
        ("func.func @f() {\n  return\n}", "expected 0 operands for function '@f', got 1", 1, 11),
        ("func.func @f(%a: f32, %a: f32) {\n  return\n}", "redefinition of SSA value '%a'", 1, 23),
        (
            "func.func @f(%a: f32) {\n^bb0(%b: f32):\n  return\n}",
            "expected no label before the first block of a function with named arguments",
            2,
            1,
        ),
        (
            'func.func @f(f32) {\n^bb0(%b: f32):\n  "foo.br"()[^bb0] : () -> ()\n^bb1:\n  return\n}',
            "expected no branch to the first block '^bb0' of a function",
            3,
            14,
        ),
    ],
)
def test_reports_functions_that_cannot_be_inlined(text, message, line, column):
    operands = ["%x", "%y"] if "%a: f32, %a" in text else ["%x"]
    with pytest.raises(MalformedError) as raised:
        inline_function(text, operands)
    (diagnostic,) = raised.value.diagnostics
    assert (diagnostic.message, diagnostic.line, diagnostic.column) == (message, line, column)


def test_ignores_errors_in_functions_that_are_not_inlined():
    text = "func.func private @g() { foo.use %nope }\nfunc.func @f(%a: f32) -> f32 { return %a : f32 }"
    assert inline_function(text, ["%x"]).results == ["%x"]


@pytest.mark.parametrize("operand", ["x", "", "%", "%x:2", "% x", "%x#", "^x", "%x, %y"])
def test_rejects_operand_that_is_not_a_value(operand):
    with pytest.raises(ValueError, match="expected"):
        inline_function("func.func @f(%a: f32) -> f32 { return %a : f32 }", [operand])


def test_deep_nesting_does_not_recurse():
    depth = 5000
    text = "func.func @f(%n: index) {\n" + "scf.for %i = %n to %n step %n {\n" * depth + "}\n" * depth + "return\n}"
    lines, results = inline_function(text, ["%x"])
    assert (len(lines), results) == (2 * depth, [])
    assert lines[depth - 1] == f"scf.for %blk_arg{depth - 1} = %x to %x step %x {{"


def test_deeply_nested_brackets_do_not_recurse():
    depth = 5000
    attribute = "[" * depth + "]" * depth
    text = f'#a = {attribute}\nfunc.func @f() {{\n  "test.op"() {{a = #a, b = {attribute}}} : () -> ()\n  return\n}}'
    assert inline_function(text, []).lines == [f'"test.op"() {{a = {attribute}, b = {attribute}}} : () -> ()']


def test_limit_of_time():
    text = "func.func @f(%x: f32) -> f32 {\n" + "%0 = a.b %x : f32\n" * 100_000 + "return %0 : f32\n}"
    with pytest.raises(LimitError, match=r"f.mlir:1:1: error: reading the text takes longer than the limit of 0.05"):
        inline_function(text, ["%y"], filename="f.mlir", limits=Limits(max_seconds=0.05))
