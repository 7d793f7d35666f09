"""The printer: texts that MLIR prints for the same programs, and the data of resources."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.cli.main import main
from stablehlo_ref.ir.attributes import DenseResource
from stablehlo_ref.ir.types import FLOATS, tensor_type
from stablehlo_ref.syntax.printer import print_operation
from tests.compare import difference

ARGUMENTS = "%a: tensor<2x2xf32>, %v: tensor<?xf32>, %n: tensor<1xindex>, %i: index, %p: i1"


def printed(*lines: str, generic: bool = False) -> list[str]:
    """Return the printed lines of a function with these operations, without indentation."""
    body = "\n".join(lines)
    program = sr.parse(f"func.func @f({ARGUMENTS}) {{\n{body}\n}}\n", allow_unregistered_dialect=True)
    text = print_operation(program.module, generic=generic)
    assert difference(program.module, sr.parse(text, allow_unregistered_dialect=True).module) is None
    return [line.strip() for line in text.splitlines()]


@pytest.mark.parametrize(
    "line",
    [
        '%0 = stablehlo.custom_call @f(%a) {backend_config = ""} : (tensor<2x2xf32>) -> tensor<2x2xf32>',
        "%0 = stablehlo.custom_call @f(%a) {has_side_effect = false} : (tensor<2x2xf32>) -> tensor<2x2xf32>",
        "%0 = stablehlo.dot %a, %a, precision = [] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>",
        "%0 = stablehlo.dynamic_broadcast_in_dim %v, %n, dims = [0] {known_expanding_dimensions = array<i64>}"
        " : (tensor<?xf32>, tensor<1xindex>) -> tensor<?xf32>",
        "%0 = stablehlo.constant dense<7> : tensor<0x2xi64>",
        "%0 = tensor.splat %i : tensor<2xindex>",
        "%0 = tensor.splat %i[%i] : tensor<?xindex>",
        "%0 = tensor.extract %a[%i, %i] : tensor<2x2xf32>",
        "%0 = stablehlo.constant dense<> : tensor<0x2xi64>",
        "%0 = stablehlo.constant dense<(1.000000e+00,-2.500000e+00)> : tensor<complex<f32>>",
        "%0 = stablehlo.while(%x = %a) : tensor<2x2xf32>",
        "%0 = sdy.propagation_barrier %a allowed_direction=BOTH : tensor<2x2xf32>",
        "%0 = tensor.dim {a.b} %a, %i : tensor<2x2xf32>",
        'cf.assert %p, "x" {a.b}',
        "return {a.b = 1 : i32}",
    ],
)
def test_pretty_form(line: str) -> None:
    regions = "cond {\n%c = stablehlo.constant dense<true> : tensor<i1>\nstablehlo.return %c : tensor<i1>\n}"
    regions += " do {\nstablehlo.return %x : tensor<2x2xf32>\n}"
    assert line in printed(line, regions if "while" in line else "", "" if "return" in line else "return")


@pytest.mark.parametrize(
    ("line", "generic"),
    [
        ("%0 = stablehlo.cholesky %a, lower = false : tensor<2x2xf32>", "<{lower = false}>"),
        ("%0 = stablehlo.cholesky %a : tensor<2x2xf32>", '"stablehlo.cholesky"(%a) : '),
        ("%0 = stablehlo.constant dense<[3, 3]> : tensor<2xi32>", "dense<3> : tensor<2xi32>"),
        ("%0 = shape.const_shape [1, 2] : !shape.shape", "<{shape = dense<[1, 2]> : tensor<2xindex>}>"),
        ("%0 = shape.const_size 3", "<{value = 3 : index}>"),
        (
            "%0 = tensor.collapse_shape %a [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>",
            "<{reassociation = [[0, 1]]}>",
        ),
        ("%0 = sdy.propagation_barrier %a allowed_direction=BOTH : tensor<2x2xf32>", "{allowed_direction = 3 : i32}"),
        (
            "check.expect_close %a, %a, max_ulp_difference = 3 : tensor<2x2xf32>, tensor<2x2xf32>",
            "<{max_ulp_difference = 3 : ui64}>",
        ),
        (
            'check.expect_serialized_eq %a, probe_id = "p", iter = 2 : tensor<2x2xf32>',
            '<{iteration = 2 : ui32, probe_id = "p"}>',
        ),
        (
            "%0 = stablehlo.convolution(%a, %a) dim_numbers = [b, f]x[i, o]->[b, f], window = {pad = []}"
            " {batch_group_count = 1 : i64, feature_group_count = 1 : i64}"
            " : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>",
            "padding = dense<> : tensor<0x2xi64>",
        ),
    ],
)
def test_generic_form(line: str, generic: str) -> None:
    assert any(generic in found for found in printed(line, "return", generic=True))


VHLO_CONVOLUTION = {
    "input_batch_dimension": '#vhlo.string_v1<"a">',
    "input_spatial_dimensions": "#vhlo.integer_v1<2 : i64>",
    **dict.fromkeys(
        ("batch_group_count", "feature_group_count", "input_feature_dimension", "kernel_input_feature_dimension",
         "kernel_output_feature_dimension", "output_batch_dimension", "output_feature_dimension"),
        "#vhlo.integer_v1<1 : i64>",
    ),
    **dict.fromkeys(
        ("kernel_spatial_dimensions", "lhs_dilation", "output_spatial_dimensions", "padding", "precision_config",
         "rhs_dilation", "window_reversal", "window_strides"),
        "#vhlo.array_v1<[]>",
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("op", "attributes", "expected"),
    [
        ("arith.constant", {"value": '"a"'}, '<{value = "a"}>'),
        ("arith.constant", {"value": "[1]"}, "<{value = [1]}>"),
        ("shape.const_shape", {"shape": "[9223372036854775808]"}, "<{shape = [9223372036854775808]}>"),
        (
            "vhlo.convolution_v1",
            VHLO_CONVOLUTION,
            'conv<raw input_batch_dimension = "a", input_feature_dimension = 1, input_spatial_dimensions = 2, ',
        ),
    ],
)
def test_wrong_attributes_are_printed_as_they_are(op: str, attributes: dict[str, str], expected: str) -> None:
    given = ", ".join(f"{name} = {text}" for name, text in attributes.items())
    operands, types = ("%a, %a", "f32, f32") if op == "vhlo.convolution_v1" else ("", "")
    line = f'%0 = "{op}"({operands}) <{{{given}}}> : ({types}) -> tensor<1xindex>'
    module = sr.parse(f"func.func @f(%a: f32) {{\n  {line}\n  return\n}}\n").module
    assert expected in print_operation(module, generic=True)
    assert op == "shape.const_shape" or expected in print_operation(module)


@pytest.mark.parametrize(
    ("name", "text"),
    [("jit_scatter-add", '@"jit_scatter-add"'), ("1", '@"1"'), ("a.b$c", "@a.b$c"), ("é", '@"\\C3\\A9"')],
)
def test_symbols_are_quoted_unless_they_are_bare_identifiers(name: str, text: str) -> None:
    program = sr.parse(f'func.func private @"{name}"()\n')
    assert f"func.func private {text}()" in str(program)
    assert sr.parse(str(program)).module.regions[0].block.operations[0].properties["sym_name"] == name


def test_empty_attributes_of_results_are_kept_in_generic_form_and_omitted_in_pretty_form() -> None:
    text = '"func.func"() <{function_type = () -> f32, res_attrs = [{}], sym_name = "f"}> ({\n  }) : () -> ()'
    module = sr.parse(f"{text}\n").module
    assert text in print_operation(module, generic=True)
    assert "func.func @f() -> f32" in print_operation(module)
    assert difference(module, sr.parse(print_operation(module)).module) is None


def test_ops_of_func_have_their_dialect_outside_of_pretty_functions() -> None:
    """MLIR drops `func.` only directly inside a function in pretty form."""
    ops = "func.call @g() : () -> ()\n    func.return"
    wrong_type = '"func.func"() <{function_type = (i1) -> (), sym_name = "f"}> ({\n    ' + ops + "\n  }) : () -> ()"
    assert wrong_type in str(sr.parse(f"{wrong_type}\n"))
    region = '"test.op"() ({\n      func.call @g() : () -> ()\n    }) : () -> ()'
    text = f"func.func @f() {{\n    {region}\n    call @g() : () -> ()\n    return\n  }}"
    assert text in str(sr.parse(f"{text}\n", allow_unregistered_dialect=True))


@pytest.mark.parametrize("names", ["%a", "%a, %b", "%a:2", "%a:2, %b", "%0, %1, %2"])
def test_results_keep_their_names(names: str) -> None:
    count = {"%a": 1, "%a, %b": 2, "%a:2": 2}.get(names, 3)
    line = f'{names} = "test.op"() : () -> ({", ".join(["f32"] * count)})'
    text = str(sr.parse(line.replace("(f32)", "f32") + "\n", allow_unregistered_dialect=True))
    assert f'{names if names != "%a:2, %b" else "%a:3"} = "test.op"()' in text


def test_dictionaries_are_printed_in_alphabetical_order() -> None:
    assert "module attributes {a.b = {x, y}, c.d} {" in str(sr.parse("module attributes {c.d, a.b = {y, x}} {\n}\n"))


# --- resources ------------------------------------------------------------------------------------------------------

WEIGHTS = """\
func.func @main() -> (tensor<2xf32>, tensor<3xi1>) {
  %0 = stablehlo.constant dense_resource<w> : tensor<2xf32>
  %1 = stablehlo.constant dense_resource<"b c"> : tensor<3xi1>
  return %0, %1 : tensor<2xf32>, tensor<3xi1>
}
{-#
  dialect_resources: {
    builtin: {
      unused: "0x04000000",
      "b c": "0x01000000000101",
      w: "0x400000000000803f00000040"
    }
  }
#-}
"""


def test_weights_survive_opt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "weights.mlir"
    path.write_text(WEIGHTS)
    for options in ([], ["--mlir-print-op-generic"]):
        assert main(["opt", *options, str(path)]) == 0
        text = capsys.readouterr().out
        weights, flags = sr.load(text).run()
        assert weights.tolist() == [1, 2] and flags.tolist() == [False, True, True]


def test_resources_are_printed_as_by_mlir() -> None:
    section = """
{-#
  dialect_resources: {
    builtin: {
      w: "0x400000000000803F00000040",
      "b c": "0x01000000000101"
    }
  }
#-}
"""
    assert str(sr.load(WEIGHTS)).endswith(section)


def test_module_without_resources_has_no_section() -> None:
    text = "func.func @f() -> tensor<2xf32> {\n  %0 = stablehlo.constant dense_resource<w> : tensor<2xf32>\n"
    assert "dialect_resources" not in str(sr.parse(f"{text}  return %0 : tensor<2xf32>\n}}\n"))


def test_splat_resource_is_printed_with_one_element() -> None:
    text = WEIGHTS.replace("tensor<2xf32>", "tensor<1000000000xf32>").replace("0000803f00000040", "0000803f")
    again = str(sr.load(text))
    assert 'w: "0x400000000000803F"' in again


def test_resources_with_equal_keys_and_different_data_get_separate_keys() -> None:
    program = sr.load(
        WEIGHTS.replace('"b c"> : tensor<3xi1>', "w> : tensor<2xf32>").replace("tensor<3xi1>", "tensor<2xf32>")
    )
    second = program.module.regions[0].block.operations[0].regions[0].block.operations[1]
    array = np.array([3, 4], np.float32)
    second.properties["value"] = DenseResource("w", tensor_type((2,), FLOATS["f32"]), array)
    text = str(program)
    assert "dense_resource<w> :" in text and "dense_resource<w_1> :" in text
    assert [values.tolist() for values in sr.load(text).run()] == [[1, 2], [3, 4]]


def test_blob_of_unknown_alignment_is_aligned_to_its_elements() -> None:
    program = sr.load(WEIGHTS)
    first = program.module.regions[0].block.operations[0].regions[0].block.operations[0]
    first.properties["value"] = DenseResource("w", tensor_type((2,), FLOATS["f32"]), np.array([1, 2], np.float32))
    assert 'w: "0x040000000000803F00000040"' in str(program)
