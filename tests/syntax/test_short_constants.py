"""Constants of a few numbers, which lines as MLIR prints them have a short way for, are those of any other form."""

from __future__ import annotations

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.syntax.lines import CONSTANT, constant_line

NUMBERS = [
    ("2xf32", "1.500000e+00, -0.0"),
    ("4xf32", "1.000000e-01, 3.4028236e+38, 1.0e-45, 16777217.0"),
    ("2xf32", "1.00000005960464477539062500001, 1.000000059604644775390625"),  # about halfway between two numbers
    ("2xf64", "0.1, 1.0e400"),
    ("3xf16", "0.1, 65520.0, 6.0e-08"),
    ("2xbf16", "0.1, 3.39e+38"),
    ("3xi8", "-128, 127, 255"),
    ("2xui64", "18446744073709551615, 0"),
    ("2xi64", "-9223372036854775808, 1"),
    ("1xf32", "2.0"),
    ("20xi32", ", ".join(map(str, range(20)))),
]


def constants(line: str, type: str) -> list[np.ndarray]:
    """Return the values of a constant that a program has twice, in one line each, after an argument of its type."""
    program = sr.parse(f"""
func.func @main(%x: tensor<{type}>) -> (tensor<{type}>, tensor<{type}>) {{
  %c = {line} : tensor<{type}>
  %d = {line} : tensor<{type}>
  return %c, %d : tensor<{type}>, tensor<{type}>
}}""")
    ops = program.verify().module.regions[0].block.operations[0].regions[0].block.operations
    return [op.properties["value"].array for op in ops[:2]]


@pytest.mark.parametrize(("type", "numbers"), NUMBERS)
def test_same_as_over_several_lines(type: str, numbers: str) -> None:
    first, second = constants(f"stablehlo.constant dense<[{numbers}]>", type)
    (expected, _) = constants(f"stablehlo.constant\n dense<[{numbers}]>", type)
    assert first is second
    assert first.dtype == expected.dtype and first.shape == expected.shape and not first.flags.writeable
    assert first.tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("dense<[1.0, 2.0, 3.0]> : tensor<2xf32>", r"expected elements of shape \(2\), got \(3\)"),
        ("dense<[1.0, 2]> : tensor<2xf32>", "expected a number with a decimal point, such as 1.0, got '2'"),
        ("dense<[1.0, ]> : tensor<2xf32>", "expected a number"),
        ("dense<[300, 1]> : tensor<2xi8>", "300 is out of range for i8"),
        ("dense<[1.0, \u0662.0]> : tensor<2xf32>", "unexpected character"),  # an Arabic-Indic digit
        ("dense<[1.0,, 2.0]> : tensor<2xf32>", "with a comma between elements"),
        ("dense<[0.00000002163965806545320447185, 1.0E+]> : tensor<2xf32>", "got '1.0E\\+'"),
        ("dense<[1.0, 1.0E-]> : tensor<2xf32>", "got '1.0E-'"),
        ("dense<[]> : tensor<1xf32>", "expected a number"),
        ("dense<[1]> : tensor<2xi8>", r"expected elements of shape \(2\), got \(1\)"),
        ("dense<1, 2> : tensor<2xi8>", "expected one element, or a list"),
        ("dense<[1.0, 2.0]> : tensor<0xf32>", r"expected elements of shape \(0\), got \(2\)"),
        ("dense<[1, 2]> : tensor<0xi8>", r"expected elements of shape \(0\), got \(2\)"),
    ],
)
def test_errors_have_their_place(line: str, message: str) -> None:
    with pytest.raises(sr.MalformedError, match=message) as error:
        sr.parse(
            f"""func.func @main(%x: tensor<2xf32>, %y: tensor<2xi8>, %v: tensor<0xf32>, %w: tensor<0xi8>) {{
  %c = stablehlo.constant {line}
  return
}}"""
        )
    assert error.value.diagnostics[0].line == 2


def test_redefinition_is_an_error() -> None:
    line = "%x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>\n"
    with pytest.raises(sr.MalformedError, match="redefinition of SSA value '%x'"):
        sr.parse(f"func.func @main(%x: tensor<2xf32>) {{\n{line} return }}")


def test_other_lines_have_no_short_way() -> None:
    types = {"tensor<2xf32>": sr.parse("func.func @f(%x: tensor<2xf32>) { return }").inputs[0].type}
    good = " dense<[1.0, 2.0]> : tensor<2xf32>"
    assert constant_line(((CONSTANT, good, "", ""), 0), types) is not None
    assert constant_line(((CONSTANT, good, "", "x"), 0), types) is None
    assert constant_line(((CONSTANT, good, "", ""), 0), {}) is None
    assert constant_line((("stablehlo.iota", good, "", ""), 0), types) is None
    assert constant_line(((CONSTANT, " dense<1.0> : tensor<2xf32>", "", ""), 0), types) is not None
    assert constant_line(((CONSTANT, " dense<1.0, 2.0> : tensor<2xf32>", "", ""), 0), types) is None
    assert constant_line(((CONSTANT, " dense<0x3F800000> : tensor<2xf32>", "", ""), 0), types) is None


@pytest.mark.parametrize("location", ['loc("here")', "loc(#here)", "// of the constant\n  loc (unknown)"])
def test_location_on_the_next_line(location: str) -> None:
    line = "stablehlo.constant dense<1> : tensor<i32>"
    text = f"""#here = loc("here")
func.func @main() -> tensor<i32> {{
  %a = {line}
  %b = {line}
  {location}
  %c = {line}
  {location}
  return %c : tensor<i32>
}}"""
    first, *located, _ = sr.parse(text).module.regions[0].block.operations[0].regions[0].block.operations
    assert first.debug_location is None
    assert all(op.debug_location is not None for op in located)
