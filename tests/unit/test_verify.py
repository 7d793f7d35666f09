"""The verifier: what no constraint of an op says, but every program must keep to."""

from __future__ import annotations

import pytest

import stablehlo_ref as sr

MAIN = """
func.func @main(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  OP
  return %x : tensor<4xf32>
}
"""


def refused(text: str) -> str:
    """The message with which the verifier refuses a program."""
    with pytest.raises(sr.InvalidError) as raised:
        sr.load(text + "\n", allow_unregistered_dialect=True)
    assert raised.value.diagnostics[0].location is not None
    return raised.value.diagnostics[0].message


@pytest.mark.parametrize(
    ("op", "reason"),
    [
        ('"stablehlo.if"(%p) ({}, {}) : (tensor<i1>) -> ()', "expects regions of one block"),
        ('"stablehlo.if"(%p) ({^bb0:}, {^bb0:}) : (tensor<i1>) -> ()', "a region that ends with a terminator"),
        ('%0 = "stablehlo.if"(%p) : (tensor<i1>) -> tensor<f32>', "number of regions: expects 2, has 0"),
        ('%0 = "stablehlo.abs"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>', "expects 1, has 2"),
        ("return %x : tensor<4xf32>", "must be the last op of its block"),
        ("%0 = func.call @nobody(%x) : (tensor<4xf32>) -> tensor<4xf32>", "there is no such function"),
        ("%0 = func.call @main(%x) : (tensor<4xf32>) -> tensor<4xf32>", r"but it is (tensor<4xf32>, tensor<i1>)"),
        ('"test.use"(%1) : (tensor<4xf32>) -> ()\n%1 = stablehlo.abs %x : tensor<4xf32>', "before its definition"),
        ("check.expect_close %x, %x, max_ulp_difference = -1 : tensor<4xf32>, tensor<4xf32>", "(C4)"),
        ('check.expect_serialized_eq %x, probe_id = "a", iter = -1 : tensor<4xf32>', "(C1): 0 <= iteration"),
    ],
)
def test_ops(op: str, reason: str) -> None:
    assert reason in refused(MAIN.replace("OP", op))


@pytest.mark.parametrize("element", ["i7", "i128", "si1", "f80", "complex<i32>", "complex<bf16>", "!t.string"])
def test_element_types_that_the_spec_does_not_have(element: str) -> None:
    op = f'%0 = "stablehlo.abs"(%y) : (tensor<4x{element}>) -> tensor<4x{element}>'
    message = refused(f"func.func @main(%y: tensor<4x{element}>) {{\n  {op}\n  return\n}}")
    assert f"there is no element type {element}" in message or "must be" in message


@pytest.mark.parametrize(
    ("type", "label"),
    [
        ("i8:f32, 0.0", "(C5): 0 < scales"),
        ("i8:f32, 1.0:300", "(C7): storage_min <= zero_points <= storage_max"),
        ("i8<-300:500>:f32, 1.0", "(C3): min_value(storage_type) <= storage_min"),
        ("i8<5:5>:f32, 1.0", "(C3): "),
        ("i8:i32, 1.0", "expressed_type is a floating-point type"),
        ("i8:f32:5, {1.0, 2.0}", "(C12): quantization_dimension < rank(self)"),
        ("i8:f32:0, {1.0}", "(C13): dim(self, quantization_dimension) = size(scales)"),
    ],
)
def test_quantized_types(type: str, label: str) -> None:
    tensor = f"tensor<2x!quant.uniform<{type}>>"
    text = f"func.func @main(%x: {tensor}) {{\n  %0 = stablehlo.add %x, %x : {tensor}\n  return\n}}"
    assert label in refused(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('"func.func"() <{sym_name = "main", function_type = i32}> ({}) : () -> ()', "must be a function type"),
        ('"func.func"() <{sym_name = 3, function_type = () -> ()}> ({}) : () -> ()', "must be a string"),
        ('"builtin.module"() ({\n^bb0(%a: i32):\n}) : () -> ()', "one block without arguments"),
        ('"builtin.module"() ({\n^bb0:\n^bb1:\n}) : () -> ()', "one block without arguments"),
        ('"builtin.module"() ({}, {}) : () -> ()', "number of regions: expects 1, has 2"),
        ("func.func private @f()\nfunc.func private @f()", "redefinition of symbol @f"),
        ("func.func @f() -> tensor<f32> {\n  return\n}", "returns (), but the function's results are (tensor<f32>)"),
    ],
)
def test_functions_and_modules(text: str, reason: str) -> None:
    assert reason in refused(text)


def test_types_of_other_dialects_are_kept() -> None:
    text = '"test.op"() : () -> tensor<2xi7>\nfunc.func private @f(tensor<2xi7>, vector<4xf32>)\n'
    assert "vector<4xf32>" in str(sr.load(text, allow_unregistered_dialect=True))
