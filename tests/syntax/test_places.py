"""Errors point at their own place: quotes, duplicate arguments, terminators, characters that look like others."""

from __future__ import annotations

import pytest

import stablehlo_ref as sr
from stablehlo_ref.diagnostics import Diagnostic


def error(text: str) -> Diagnostic:
    with pytest.raises(sr.StablehloError) as raised:
        sr.load(text + "\n")
    (diagnostic,) = raised.value.diagnostics
    return diagnostic


@pytest.mark.parametrize(
    ("op", "message"),
    [
        ('stablehlo.custom_call @f() {a = «"abc} : () -> ()', "unterminated string; expected '\"' on the same line"),
        ('stablehlo.custom_call @«"f() : () -> ()', "unterminated string; expected '\"' on the same line"),
        ('%0 = «"stablehlo.iota() : () -> tensor<2xf32>', "unterminated string; expected '\"' on the same line"),
        (
            "stablehlo.custom_call @f() {a = «“abc”} : () -> ()",
            "got '“'; strings are written in straight double quotes",
        ),
        ("%0 = «'stablehlo.iota'() : () -> tensor<2xf32>", "got '''; strings are written in straight double quotes"),
        ("%0 = stablehlo.iota dim = 0« : tensor<2xf32>", "expected ':', got '\u00a0' (no-break space)"),
        (
            "%0 = stablehlo.iota dim = 0 : tensor<«2\N{MULTIPLICATION SIGN}f32>",
            "got '2'; each dimension is followed by 'x'",
        ),
    ],
)
def test_points_at_the_character(op: str, message: str) -> None:
    place = op.index("«")
    op = op.replace("«", "\u00a0" if "no-break" in message else "")
    found = error(f"func.func @main() {{\n  {op}\n  return\n}}")
    assert message in found.message
    assert (found.line, found.column) == (2, 3 + place)


@pytest.mark.parametrize(
    ("text", "first", "second"),
    [
        ("func.func @f(%x: i32, %y: i32, %x: i32) {\n  return\n}", (1, 14), (1, 32)),
        ('func.func @f() {\n  "stablehlo.map"() ({\n  ^bb0(%a: i32, %a: i32):\n    %0 = "a.b"(%a) : (i32) -> i32\n'
         "    stablehlo.return\n  }) : () -> ()\n  return\n}".replace('"a.b"', '"stablehlo.abs"'), (3, 8), (3, 17)),
        ("func.func @f(%x: i32) {\n  %0:2 = stablehlo.while(%a = %x, %a = %x) : i32, i32\n"
         "  cond {\n    stablehlo.return\n  } do {\n    stablehlo.return\n  }\n  return\n}", (2, 26), (2, 35)),
        ("func.func @f(%x: i32) {\n  %x = stablehlo.abs %x : i32\n  return\n}", (1, 14), (2, 3)),
    ],
)  # fmt: skip
def test_points_at_a_name_that_is_defined_twice(text: str, first: tuple[int, int], second: tuple[int, int]) -> None:
    found = error(text)
    assert "redefinition of SSA value" in found.message
    assert (found.line, found.column) == second
    (note,) = found.definitions
    assert (note.line, note.column) == first


def test_points_at_the_op_that_a_terminator_must_follow() -> None:
    found = error("func.func @f(%x: tensor<f32>) {\n  %0 = stablehlo.abs %x : tensor<f32>\n}")
    assert (found.line, found.column) == (2, 8)
    assert found.message.startswith("'stablehlo.abs' op must be followed by a terminator such as 'func.return'")


def test_points_at_an_op_with_an_empty_block() -> None:
    found = error("func.func @f(%x: tensor<f32>) {\n}")
    assert found.line == 1
    assert "ends with a terminator" in found.message
