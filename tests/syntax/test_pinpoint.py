"""Carets of errors about attributes and operands: `«` marks where the caret is expected."""

from __future__ import annotations

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.define.attribute_codecs import Real32
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.define.op import Attr, In, Op, Out
from stablehlo_ref.define.type_constraints import tensor
from stablehlo_ref.diagnostics import Diagnostic
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.syntax.printer import print_operation

FUNCTION = """
func.func @main(%x: tensor<4x3xf32>, %i: tensor<2xi32>, %z: tensor<f32>) {{
  {op}
  return
}}
"""


def only_error(text: str) -> Diagnostic:
    with pytest.raises(sr.StablehloError) as raised:
        sr.load(text)
    (diagnostic,) = raised.value.diagnostics
    return diagnostic


def at_caret(diagnostic: Diagnostic) -> str:
    """Return the text of the excerpt from the caret on."""
    assert diagnostic.location is not None
    line, caret = diagnostic.location.excerpt().split("\n")
    assert 0 < len(caret) <= len(line)
    return line[len(caret) - 1 :]


@pytest.mark.parametrize(
    "op",
    [
        '%0 = "stablehlo.transpose"(%x) <{«permutation = array<i64: 0>}> : (tensor<4x3xf32>) -> tensor<3x4xf32>',
        '%0 = "stablehlo.transpose"(%x) {a.b, «permutation = [0, 0]} : (tensor<4x3xf32>) -> tensor<3x4xf32>',
        "%0 = stablehlo.transpose %x, «dims = [0] : (tensor<4x3xf32>) -> tensor<3x4xf32>",
        "%0 = stablehlo.transpose %x, «dims = [0, 0] {dims = 1} : (tensor<4x3xf32>) -> tensor<3x4xf32>",
        "%0 = stablehlo.slice %x «[0:5, 0:3] : (tensor<4x3xf32>) -> tensor<5x3xf32>",
        "%0 = stablehlo.iota «dim = 2 : tensor<4x3xi32>",
        "%0 = stablehlo.concatenate %x, %x, «dim = 2 : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>",
        "%0 = stablehlo.reduce_precision %x, «format = e0m3 : tensor<4x3xf32>",
        "%0 = stablehlo.pad %x, %z, low = [0, 0], high = [0, 0], «interior = [-1, 0]"
        " : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>",
        "%0 = stablehlo.dot_general %x, %x, «batching_dims = [9] x [0], contracting_dims = [1] x [1]"
        " : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4xf32>",
        "%0 = stablehlo.dot_general %x, %x, «contracting_dims = [9] x [1]"
        " : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x4xf32>",
        "%0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across «dimensions = [2]"
        " : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>",
        "%0 = stablehlo.convolution(%x, %x) dim_numbers = [b, f]x[i, o]->[b, f], window = {pad = [], «stride = [1]}"
        " {batch_group_count = 1 : i64, feature_group_count = 1 : i64}"
        " : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>",
        "%0 = stablehlo.convolution(%x, %x) dim_numbers = [b, f]x[i, o]->[b, f], window = {}"
        " {batch_group_count = 1 : i64, «feature_group_count = 0 : i64}"
        " : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>",
        '%0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [],'
        " «collapsed_slice_dims = [1, 0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = [1, 1]}>"
        " : (tensor<4x3xf32>, tensor<2xi32>) -> tensor<2xf32>",
        '%0 = "stablehlo.gather"(%x, %i) <{«dimension_numbers = 3 : i64, slice_sizes = array<i64: 1, 3>}>'
        " : (tensor<4x3xf32>, tensor<2xi32>) -> tensor<2x3xf32>",
        '%0 = "stablehlo.cholesky"(%x) <{«lower = 3 : i64}> : (tensor<4x3xf32>) -> tensor<4x3xf32>',
        "%0 = stablehlo.custom_call @f(%x) {b = {api_version = 1 : i32}, «api_version = 2.5}"
        " : (tensor<4x3xf32>) -> tensor<4x3xf32>",
        "%0 = stablehlo.sine «%i : tensor<2xi32>",
        "%0 = stablehlo.select «%x, %x, %x : tensor<4x3xf32>, tensor<4x3xf32>",
        '%0 = "stablehlo.pad"(%x, «%x) <{edge_padding_low = array<i64: 0, 0>, edge_padding_high = array<i64: 0, 0>,'
        " interior_padding = array<i64: 0, 0>}> : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>",
        '%0 = "stablehlo.rng"(%z, %z, «%x) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}>'
        " : (tensor<f32>, tensor<f32>, tensor<4x3xf32>) -> tensor<4x3xf32>",
        '%0 = "stablehlo.cholesky"(«%i) <{lower = true}> : (tensor<2xi32>) -> tensor<2xi32>',
        "func.call «@f(%x) : (tensor<4x3xf32>) -> ()",
        '%0 = «"stablehlo.iota"() : () -> tensor<4xi32>',
        "%0 = «stablehlo.reshape %x : (tensor<4x3xf32>) -> tensor<5xf32>",
        "%0 = «stablehlo.cosine %x : (tensor<4x3xf32>) -> tensor<4x3xi32>",
        '%0 = "stablehlo.reverse"(%x) <{dimensions = array<i64: 0, «b>}> : (tensor<4x3xf32>) -> tensor<4x3xf32>',
        "%0 = stablehlo.constant dense<[1, «x]> : tensor<2xi32>",
        '%0 = "stablehlo.cholesky"(%x) {lower = true, «lower = false} : (tensor<4x3xf32>) -> tensor<4x3xf32>',
    ],
)
def test_caret_is_at_what_is_wrong(op: str) -> None:
    before, marked = op.split("«")
    found = only_error(FUNCTION.format(op=before + marked))
    assert found.line == 3
    assert at_caret(found) == marked.rstrip()[: len(at_caret(found))]
    assert found.column == 3 + len(before)


def test_excerpt_of_a_long_line_contains_the_caret() -> None:
    names = ", ".join(f"a.b{i}" for i in range(5000))
    op = f'%0 = "stablehlo.iota"() {{{names}, iota_dimension = 7 : i64, a.c = "{"z" * 5000}"}} : () -> tensor<4xi32>'
    found = only_error(FUNCTION.format(op=op))
    assert at_caret(found).startswith("iota_dimension = 7 : i64, a.c")
    assert all(len(line) <= 160 for line in str(found).split("\n")[1:])


def test_attribute_on_another_line_is_shown_in_a_note() -> None:
    op = """%0 = "stablehlo.reduce_window"(%x, %z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b {window_strides = "}"} : tensor<f32> // }
    stablehlo.return %s : tensor<f32>
  }) {window_dimensions = array<i64: 1, 1>,
      window_strides = array<i64: 0, 1>}
      : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>"""
    found = only_error(FUNCTION.format(op=op))
    assert (found.line, found.column) == (3, 8)
    assert found.related is not None
    assert (found.related.line, found.related.column, found.related.severity) == (8, 7, "note")
    assert str(found).endswith(
        "<string>:8:7: note: see attribute 'window_strides'\n      window_strides = array<i64: 0, 1>}\n      ^"
    )


def test_types_that_need_aliases_are_found_again() -> None:
    text = "!t = tensor<2xf32>\n" + FUNCTION.format(op="%0 = stablehlo.iota dim = 2 {a = #late} : !t") + "#late = 3\n"
    assert at_caret(only_error(text)).startswith("dim = 2 {a = #late}")


def test_op_that_another_op_implies_is_reported_at_that_op() -> None:
    """The body of `applies` has the location of the reduction, whose text has none of the body's operands."""
    reduce = "stablehlo.reduce(%i init: %z) applies stablehlo.add across dimensions = [0]"
    op = f"%0 = {reduce} : (tensor<2xi32>, tensor<f32>) -> tensor<f32>"
    with pytest.raises(sr.InvalidError) as raised:
        sr.load(FUNCTION.format(op=op))
    assert all(at_caret(d).startswith("stablehlo.reduce(") for d in raised.value.diagnostics)


def test_constraint_that_a_run_violates_is_reported_at_its_attribute() -> None:
    text = """
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.slice %x [0:3] : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
"""
    with pytest.raises(sr.EvaluationError) as raised:
        sr.load(text).run(np.ones(2, np.float32))
    assert at_caret(raised.value.diagnostics[0]).startswith("[0:3]")


# --- f32 attributes in pretty forms -----------------------------------------------------------------------------------


class Scale(Op, op="scale", dialect="pinpoint"):
    """A sample op with an f32 attribute in its pretty form."""

    operand = In(tensor)
    alpha = Attr(Real32)
    result = Out(tensor)

    syntax = "operands, alpha = $alpha attr-dict : same_type"

    @staticmethod
    def constraints(C: Checker, operand: TensorType, alpha: Real32, result: TensorType) -> None:
        C(1, alpha > 0)
        C(2, operand == result)


@pytest.mark.parametrize(
    ("literal", "value", "printed"),
    [
        ("5.0e-01", 0.5, "5.000000e-01"),
        ("0.1", float(np.float32(0.1)), "1.000000e-01"),
        ("0x7F800000", float("inf"), "0x7F800000"),
    ],
)
def test_f32_attribute_has_a_pretty_form_without_type(literal: str, value: float, printed: str) -> None:
    op = f"%0 = pinpoint.scale %x, alpha = {literal} : tensor<4x3xf32>"
    program = sr.load(FUNCTION.format(op=op))
    (found,) = [op for op in program.module.walk() if op.name == "pinpoint.scale"]
    assert found.properties == {"alpha": value}
    assert f"pinpoint.scale %x, alpha = {printed} : tensor<4x3xf32>" in str(program)
    assert f"alpha = {printed} : f32" in print_operation(program.module, generic=True)


def test_caret_is_at_the_f32_attribute() -> None:
    found = only_error(FUNCTION.format(op="%0 = pinpoint.scale %x, alpha = -1.0 : tensor<4x3xf32>"))
    assert at_caret(found).startswith("alpha = -1.0 :")
    assert "pinpoint.scale" in REGISTRY
