"""The verifier: rules beyond the constraints of single ops."""

from __future__ import annotations

import numpy as np
import pytest

import stablehlo_ref as sr

MAIN = """
func.func @main(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  OP
  return %x : tensor<4xf32>
}
"""


def rejection(text: str) -> str:
    """Return the message with which the verifier rejects a program."""
    with pytest.raises(sr.InvalidError) as raised:
        sr.load(text + "\n", allow_unregistered_dialect=True)
    assert raised.value.diagnostics[0].location is not None
    return raised.value.diagnostics[0].message


@pytest.mark.parametrize(
    ("op", "reason"),
    [
        ('"stablehlo.if"(%p) ({}, {}) : (tensor<i1>) -> ()', "expects regions with one block"),
        ('"stablehlo.if"(%p) ({^bb0:}, {^bb0:}) : (tensor<i1>) -> ()', "a region that ends with a terminator"),
        ('%0 = "stablehlo.if"(%p) : (tensor<i1>) -> tensor<f32>', "number of regions: expected 2, got 0"),
        ('%0 = "stablehlo.abs"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>', "expected 1, got 2"),
        ("return %x : tensor<4xf32>", "must be the last op of its block"),
        ("%0 = func.call @nobody(%x) : (tensor<4xf32>) -> tensor<4xf32>", "undefined function"),
        ("%0 = func.call @main(%x) : (tensor<4xf32>) -> tensor<4xf32>", r"but it is (tensor<4xf32>, tensor<i1>)"),
        ('"test.use"(%1) : (tensor<4xf32>) -> ()\n%1 = stablehlo.abs %x : tensor<4xf32>', "before its definition"),
        ("check.expect_close %x, %x, max_ulp_difference = -1 : tensor<4xf32>, tensor<4xf32>", "(C4)"),
        ('check.expect_serialized_eq %x, probe_id = "a", iter = -1 : tensor<4xf32>', "(C1): 0 <= iteration"),
    ],
)
def test_rejects_invalid_ops(op: str, reason: str) -> None:
    assert reason in rejection(MAIN.replace("OP", op))


@pytest.mark.parametrize("element", ["i7", "i128", "si1", "f80", "complex<i32>", "complex<bf16>", "!t.string"])
def test_rejects_element_types_that_are_not_in_the_spec(element: str) -> None:
    op = f'%0 = "stablehlo.abs"(%y) : (tensor<4x{element}>) -> tensor<4x{element}>'
    message = rejection(f"func.func @main(%y: tensor<4x{element}>) {{\n  {op}\n  return\n}}")
    assert f"unsupported element type {element}" in message or "must be" in message


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
def test_rejects_invalid_quantized_types(type: str, label: str) -> None:
    tensor = f"tensor<2x!quant.uniform<{type}>>"
    text = f"func.func @main(%x: {tensor}) {{\n  %0 = stablehlo.add %x, %x : {tensor}\n  return\n}}"
    assert label in rejection(text)


GENERIC = """
"func.func"() <{MOREfunction_type = () -> tensor<f32>, sym_name = "f"}> ({
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  "func.return"(%0) : (tensor<f32>) -> ()
}) : () -> ()"""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('"func.func"() <{sym_name = "main", function_type = i32}> ({}) : () -> ()', "must be a function type"),
        ('"func.func"() <{sym_name = 3, function_type = () -> ()}> ({}) : () -> ()', "must be a string"),
        ('"builtin.module"() ({\n^bb0(%a: i32):\n}) : () -> ()', "one block without arguments"),
        ('"builtin.module"() ({\n^bb0:\n^bb1:\n}) : () -> ()', "one block without arguments"),
        ('"builtin.module"() ({}, {}) : () -> ()', "number of regions: expected 1, got 2"),
        ('module @m attributes {sym_visibility = "bad"} {}', "must be a visibility: one of public, private, nested"),
        (GENERIC.replace("MORE", 'sym_visibility = "bad", '), "must be a visibility: one of public, private, nested"),
        (GENERIC.replace("MORE", "arg_attrs = [{}], "), "expects attributes of 0 arguments in 'arg_attrs', got 1"),
        (GENERIC.replace("MORE", "res_attrs = [{}, {}], "), "expects attributes of 1 results in 'res_attrs', got 2"),
        (GENERIC.replace("MORE", "res_attrs = [1], "), "must be a dictionary"),
        (GENERIC.replace("MOREfunction_type", "type"), "requires attribute 'function_type'"),
        (GENERIC.replace("MORE", "").replace("sym_name", "name"), "requires attribute 'sym_name'"),
        (
            "func.func private @f(tensor<f32> {foo = 1})",
            "argument #0 has attribute 'foo', expected",
        ),
        ("func.func private @f() -> (tensor<f32> {foo = 1})", "result #0 has attribute 'foo'"),
        ("func.func @f()", "expects a body, or the visibility private of a declaration"),
        ("func.func @f() {\n  call @f() {arg_attrs = 1} : () -> ()\n  return\n}", "must be a list of dictionaries"),
        ("func.func private @f()\nfunc.func private @f()", "redefinition of symbol @f"),
        ("func.func @f() -> tensor<f32> {\n  return\n}", "returns (), but the function's results are (tensor<f32>)"),
    ],
)
def test_rejects_invalid_functions_and_modules(text: str, reason: str) -> None:
    assert reason in rejection(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            'func.func public @f() attributes {sym_visibility = "private"} {\n  return\n}',
            "'sym_visibility' is already given",
        ),
        ("func.func @f() attributes {function_type = () -> ()} {\n  return\n}", "'function_type' is already given"),
    ],
)
def test_rejects_functions_that_contradict_themselves(text: str, reason: str) -> None:
    with pytest.raises(sr.MalformedError, match=reason):
        sr.load(text + "\n")


def test_accepts_types_of_other_dialects() -> None:
    text = '"test.op"() : () -> tensor<2xi7>\nfunc.func private @f(tensor<2x!shape.size>, vector<4xf32>)\n'
    assert "vector<4xf32>" in str(sr.load(text, allow_unregistered_dialect=True))


def test_op_without_a_class_may_be_a_terminator() -> None:
    text = 'func.func @f(%x: tensor<f32>) -> tensor<f32> {\n  "test.yield"(%x) : (tensor<f32>) -> ()\n}\n'
    program = sr.load(text, allow_unregistered_dialect=True)
    assert '"test.yield"(%x)' in str(program)
    with pytest.raises(sr.UnsupportedError, match=r"'test\.yield' op belongs to a dialect"):
        program.run(np.float32(1))
    with pytest.raises(sr.MalformedError, match="unregistered dialect"):
        sr.load(text)
    text = text.replace('"test.yield"(%x) : (tensor<f32>) -> ()', "%0 = stablehlo.abs %x : tensor<f32>")
    assert "must be followed by a terminator" in rejection(text)


def test_unnamed_arguments_must_be_those_of_the_block() -> None:
    text = "func.func @f(tensor<f32>) {\n^bb0(%x: tensor<i32>):\n  return\n}"
    assert "expects arguments (tensor<f32>) by its function type, but its body has (tensor<i32>)" in rejection(text)


REVERSED = """func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.reverse"(%x) <{dimensions = array<i64: 0>, PROPERTY}> : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""


def test_property_of_unknown_name_means_nothing() -> None:
    program = sr.load(REVERSED.replace("PROPERTY", "foo = 1 : i64"))
    assert "foo" not in str(program)
    assert program.run(np.float32([1, 2]))[0].tolist() == [2, 1]


def test_rejects_misspelt_property() -> None:
    with pytest.raises(sr.MalformedError, match=r"no property 'dimension'; did you mean 'dimensions'\?"):
        sr.load(REVERSED.replace("PROPERTY", "dimension = 0 : i64"))


def test_rejects_property_of_op_without_properties() -> None:
    with pytest.raises(sr.MalformedError, match=r"'stablehlo\.abs' op has no property 'foo'"):
        sr.load(MAIN.replace("OP", '%0 = "stablehlo.abs"(%x) <{foo = 1}> : (tensor<4xf32>) -> tensor<4xf32>'))


def test_op_without_a_result_is_an_error_of_the_run() -> None:
    op = '%0 = "stablehlo.unary_einsum"(%x) <{einsum_config = "ijk"}> : (tensor<4xf32>) -> tensor<?xf32>'
    program = sr.load(MAIN.replace("OP", op))
    with pytest.raises(sr.EvaluationError, match="einsum_config") as error:
        program.run(np.zeros(4, np.float32), np.bool_(True))
    assert error.value.diagnostics[0].line == 3


def test_constant_shape_operands_are_compared_in_each_op() -> None:
    text = """func.func @f(%x: tensor<6xf32>) {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %t = stablehlo.constant dense<[3, 2]> : tensor<2xi64>
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<6xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %1 = stablehlo.dynamic_reshape %x, %t : (tensor<6xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return
}
"""
    with pytest.raises(sr.InvalidError) as error:
        sr.load(text)
    assert [d.line for d in error.value.diagnostics] == [5]


def test_ops_of_a_kind_that_is_known_may_still_be_invalid() -> None:
    add = "%{} = stablehlo.add %{}, %x : tensor<4xf32>"
    region = '"test.region"() ({{ {} \n "test.end"() : () -> () }}) : () -> ()'
    late = "\n".join([add.format("a", "x"), region.format(add.format("b", "x")), add.format("c", "b")])
    with pytest.raises(sr.MalformedError, match="%b"):
        sr.load(MAIN.replace("OP", late), allow_unregistered_dialect=True)
    other = add.format("a", "x") + '\n%s = "stablehlo.add"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<5xf32>'
    assert "(C1)" in rejection(MAIN.replace("OP", other))


def test_known_kinds_do_not_hide_wrong_operands() -> None:
    text = MAIN.replace("OP", "%a = stablehlo.add %x, %x : tensor<4xf32>\n  %b = stablehlo.add %a, %x : tensor<4xf32>")
    program = sr.parse(text)
    first, second, _ = program.module.regions[0].block.operations[0].regions[0].block.operations
    first.operands, second.operands = [second.results[0], first.operands[0]], first.operands
    with pytest.raises(sr.InvalidError, match="before its definition"):
        program.verify()


def test_rejects_a_name_twice_among_results() -> None:
    op = '%r, %r = "test.op"(%x, %p) : (tensor<4xf32>, tensor<i1>) -> (tensor<i32>, tensor<i32>)'
    with pytest.raises(sr.MalformedError, match="redefinition of SSA value '%r'") as raised:
        sr.load(MAIN.replace("OP", op), allow_unregistered_dialect=True)
    assert raised.value.diagnostics[0].line == 3


REJECTED = {
    "unknown sizes hide no sizes that differ": (
        """
        %0:2 = "stablehlo.sort"(%y, %x) ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
          %1 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
          stablehlo.return %1 : tensor<i1>
        }) : (tensor<?xf32>, tensor<4xf32>) -> (tensor<5xf32>, tensor<4xf32>)""",
        "(C3)",
    ),
    "operands that fit only one of unknown size": (
        '%0 = "stablehlo.add"(%y, %x) : (tensor<?xf32>, tensor<4xf32>) -> tensor<5xf32>',
        "(C1)",
    ),
    "another kind of enumeration": (
        '%0 = "stablehlo.compare"(%x, %x) <{comparison_direction = #stablehlo<comparison_type LT>}> '
        ": (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>",
        "must be a comparison_direction",
    ),
    "an enumeration of another dialect": (
        '%0 = "stablehlo.compare"(%x, %x) <{comparison_direction = #chlo<comparison_direction LT>}> '
        ": (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>",
        "must be a comparison_direction",
    ),
    "a field that result_accuracy does not have": (
        '%0 = "stablehlo.sine"(%x) {result_accuracy = #stablehlo.result_accuracy<DEFAULT = 0.0, mode = '
        "#stablehlo.result_accuracy_mode<DEFAULT>>} : (tensor<4xf32>) -> tensor<4xf32>",
        "has no field 'DEFAULT'",
    ),
    "a signless integer is negative from 2**31": (
        '%0 = "stablehlo.reduce_precision"(%x) <{exponent_bits = 2147483648 : i32, mantissa_bits = 3 : i32}> '
        ": (tensor<4xf32>) -> tensor<4xf32>",
        "(C2)",
    ),
}


@pytest.mark.parametrize(("op", "reason"), REJECTED.values(), ids=REJECTED.keys())
def test_rejects_what_mlir_rejects(op: str, reason: str) -> None:
    text = MAIN.replace("%p: tensor<i1>", "%p: tensor<i1>, %y: tensor<?xf32>").replace("OP", op)
    assert reason in rejection(text)


def test_rejects_operands_of_a_constant_after_a_valid_one() -> None:
    text = MAIN.replace(
        "OP",
        "%0 = stablehlo.constant dense<1.0> : tensor<4xf32>\n"
        '  %1 = "stablehlo.constant"(%0) <{value = dense<2.0> : tensor<4xf32>}> : (tensor<4xf32>) -> tensor<4xf32>',
    )
    assert "number of operands: expected 0, got 1" in rejection(text)
