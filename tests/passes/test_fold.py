"""Constant folding: `sccp` and `stablehlo-aggressive-folder`."""

from __future__ import annotations

import pytest

import stablehlo_ref as sr
from tests.passes.programs import transformed

SUM = "%sum = stablehlo.add %a, %b : tensor<2xi32>"
CONSTANTS = """\
  %a = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %b = stablehlo.constant dense<[10, 20]> : tensor<2xi32>
"""


def folded(body: str, result: str, name: str = "sccp", **options: str) -> list[str]:
    """The lines of a function of `%x: tensor<2xi32>` after folding."""
    text = f"func.func @main(%x: tensor<2xi32>) -> {result} {{\n{CONSTANTS}{body}\n}}\n"
    return [line.strip() for line in str(transformed(sr.parse(text).verify(), name, **options)).splitlines()]


@pytest.mark.parametrize("name", ["sccp", "stablehlo-aggressive-folder"])
def test_ops_on_constants_are_constants(name: str) -> None:
    body = f"  {SUM}\n  %twice = stablehlo.add %sum, %sum : tensor<2xi32>\n  return %twice : tensor<2xi32>"
    assert "%twice = stablehlo.constant dense<[22, 44]> : tensor<2xi32>" in folded(body, "tensor<2xi32>", name)


def test_other_ops_stay() -> None:
    lines = folded("  %sum = stablehlo.add %a, %x : tensor<2xi32>\n  return %sum : tensor<2xi32>", "tensor<2xi32>")
    assert "%sum = stablehlo.add %a, %x : tensor<2xi32>" in lines


def test_no_result_is_larger_than_the_limit() -> None:
    body = f"  {SUM}\n  return %sum : tensor<2xi32>"
    limit = {"fold-op-element-limit": "1"}
    assert SUM in folded(body, "tensor<2xi32>", "stablehlo-aggressive-folder", **limit)


def test_implementation_defined_results_stay() -> None:
    op = "%q = stablehlo.divide %a, %zero : tensor<2xi32>"
    body = f"  %zero = stablehlo.constant dense<0> : tensor<2xi32>\n  {op}\n  return %q : tensor<2xi32>"
    assert op in folded(body, "tensor<2xi32>")


@pytest.mark.parametrize("name", ["sccp", "stablehlo-target-independent-optimization"])
def test_ops_that_cannot_run_stay(name: str) -> None:
    op = "%q = chlo.broadcast_divide %a, %c : (tensor<2xi32>, tensor<3xi32>) -> tensor<?xi32>"
    body = f"  %c = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>\n  {op}\n  return %q : tensor<?xi32>"
    assert op in folded(body, "tensor<?xi32>", name)
    op = op.replace("?", "2")
    assert op in folded(body.replace("?", "2"), "tensor<2xi32>", name)


CALLS = """\
func.func @main() -> (tensor<i32>, tensor<i32>) {{
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %0 = call @f(%one, %two) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %1 = call @f({first}, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  return %0, %1 : tensor<i32>, tensor<i32>
}}
func.func {visibility} @f(%x: tensor<i32>, %y: tensor<i32>) -> tensor<i32> {{
  %square = stablehlo.add %x, %x : tensor<i32>
  %r = stablehlo.add %square, %y : tensor<i32>
  return %r : tensor<i32>
}}
"""


@pytest.mark.parametrize(
    ("first", "visibility", "is_known"), [("%one", "private", True), ("%two", "private", False), ("%one", "", False)]
)
def test_private_functions_know_what_all_calls_pass(first: str, visibility: str, is_known: bool) -> None:
    after = transformed(sr.parse(CALLS.format(first=first, visibility=visibility)), "sccp")
    text = str(after)
    assert ("%square = stablehlo.constant dense<2> : tensor<i32>" in text) == is_known
    assert "%r = stablehlo.add %square, %y" in text
    assert [int(x) for x in after.run()] == [4, 3 if first == "%one" else 5]
