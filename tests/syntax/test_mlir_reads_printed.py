"""MLIR reads programs printed in pretty and generic form to the same generic text as the originals."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import stablehlo_ref as sr
from stablehlo_ref.diagnostics import split_text
from stablehlo_ref.ir.attributes import IntegerAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import integer_type
from stablehlo_ref.syntax.printer import Printer, resource_section
from tests.compare import difference
from tests.shared import ask_mlir, needs_mlir

INTERPRET = sorted((Path(__file__).parents[1] / "interpret").rglob("*.mlir"))
UNREGISTERED = ("bufferization", "check", "interpreter", "ml_program")  # dialects that jaxlib does not have
UNREGISTERED_OP = re.compile(rf'"(?:{"|".join(UNREGISTERED)})\.')

# Programs that the MLIR of jaxlib rejects for what they are, not for how they are printed: ops and attributes that it
# does not have yet, literals that only this project accepts, and constraints of its own.
REJECTED = re.compile(
    r"unregistered operation|custom op '[\w.]+' is unknown|requires one result|requires a single operand"
    r"|'sdy.mesh' op requires attribute 'mesh'|duplicate axis ref|using value defined outside the region"
    r"|expected string token, got \d|'all_gather_dim' cannot be zero|not known to be supported on any hardware"
    r"|failed to parse Sdy_TensorSharding parameter 'unreduced_axes'"
    r"|expects window to have positive value|'shape.min' op operand|\"-\":\d+:\d+: expected '\)'$"
    r"|replica id #\d+ not seen in replica groups"  # by newer ones
)
RESOURCE_NUMBER = re.compile(r'(dense_resource<"?[^">]*?|^ *"?[^":]*?)_\d+("?(?:>|: "0x))')


Reader = Callable[[str], dict[str, str]]


@pytest.fixture(scope="module")
def mlir() -> Reader:
    """A function that has MLIR read a program; it returns the generic text, or the error."""
    return ask_mlir("syntax/mlir_reader.py")


class PrinterForMlir(Printer):
    """Prints ops of dialects that MLIR does not have in generic form."""

    def _pretty(self, op: Operation) -> bool:
        return op.name.partition(".")[0] not in UNREGISTERED and super()._pretty(op)


def printed(module: Operation, generic: bool) -> str:
    printer = PrinterForMlir(generic)
    printer.operation(module)
    return "".join(printer.parts) + "\n" + resource_section(module)


def programs(path: Path) -> Iterator[sr.Program]:
    """Yield the programs of a file that are valid, for upstream too."""
    text = path.read_text("utf-8")
    for first_line, part in split_text(text) if "// -----" in text else [(1, text)]:
        if "expected-error" in part:
            continue
        try:
            yield sr.parse(part, filename=str(path), first_line=first_line, allow_unregistered_dialect=True).verify()
        except sr.StablehloError:
            continue


def comparable(text: str) -> str:
    """Return a generic text without what depends on how MLIR has read it.

    It keeps properties of unregistered ops apart from attributes, and newer ones number keys of resources.
    """
    lines = [RESOURCE_NUMBER.sub(r"\1\2", line) for line in text.split("\n")]
    return "\n".join(re.sub(r"<(\{.*\})>", r"\1", x) if UNREGISTERED_OP.search(x) else x for x in lines)


def assert_reads_back(program: sr.Program, mlir: Reader, original: str | None = None) -> bool:
    """Print a program in both forms, and compare what MLIR and the parser read; return whether MLIR reads it at all."""
    module = program.module
    expected = None if original is None else mlir(original).get("text")
    readable = True
    for generic in (True, False):
        text = printed(module, generic)
        again = sr.parse(text, allow_unregistered_dialect=True).module
        assert difference(module, again) is None
        answer = mlir(text)
        if "error" in answer:
            assert REJECTED.search(answer["error"]), f"{answer['error']}\n{text}"
            readable = False
            continue
        found = comparable(answer["text"])
        expected = found if expected is None else comparable(expected)
        assert found == expected, text
    return readable


@needs_mlir
@pytest.mark.parametrize("path", INTERPRET, ids=lambda path: path.stem)
def test_mlir_reads_printed_programs(path: Path, mlir: Reader) -> None:
    for program in programs(path):
        source = program.module.location.source.text
        assert_reads_back(program, mlir, source)


@needs_mlir
@pytest.mark.parametrize("path", INTERPRET, ids=lambda path: path.stem)
def test_mlir_reads_attributes_of_every_op(path: Path, mlir: Reader) -> None:
    """Each op gets a discardable attribute, which pretty forms must print where MLIR expects it."""
    for program in programs(path):
        for op in program.module.walk():
            if op.name != "builtin.module":
                op.attributes["test.mark"] = IntegerAttribute(1, integer_type(32))
        assert_reads_back(program, mlir)


FORMS = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @maximal = <[], device_ids=[3]>
func.func private @"jit_scatter-add"(tensor<f32>) -> tensor<f32>
func.func @main(%a: tensor<8x8xf32>, %i: index, %s: tensor<4xf32>, %v: tensor<?xf32>, %n: tensor<1xindex>, %c: i32) {
  %0 = stablehlo.custom_call @f(%a) {backend_config = "", has_side_effect = false, api_version = 1 : i32}
      : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.cholesky %a, lower = false : tensor<8x8xf32>
  %2 = stablehlo.dynamic_broadcast_in_dim %v, %n, dims = [0]
      {known_expanding_dimensions = array<i64>, known_nonexpanding_dimensions = array<i64: 0>}
      : (tensor<?xf32>, tensor<1xindex>) -> tensor<?xf32>
  %3 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0], precision = []
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT],
      algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32,
      lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1,
      allow_imprecise_accumulation = false> : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = stablehlo.constant dense<7> : tensor<0x2xi64>
  %6 = stablehlo.constant dense<> : tensor<0xi64>
  %7 = stablehlo.constant dense_resource<"w e"> : tensor<2xf32>
  %8 = stablehlo.constant {a.b = [dense_resource<z> : tensor<1xi64>]} dense<0x7FC00001> : tensor<2xf32>
  %9 = sdy.propagation_barrier %a allowed_direction=BACKWARD {a.b} : tensor<8x8xf32>
  %10 = shape.const_shape {a.b = 1 : i32} [1, 2, 3] : !shape.shape
  %11 = tensor.expand_shape %s [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  %12 = tensor.collapse_shape %11 [[0, 1]] {a.b} : tensor<2x2xf32> into tensor<4xf32>
  %13 = tensor.dim {a.b = 1 : i32} %s, %i : tensor<4xf32>
  %14 = shape.const_size 3
  %15 = arith.cmpi slt, %c, %c : i32
  %16 = arith.addi %c, %c overflow<nsw> {a.b} : i32
  %w = shape.const_witness true
  %17 = shape.assuming %w -> (index) {
    shape.assuming_yield {a.b} %i : index
  } {a.b = 2 : i32}
  return {a.b = 1 : i32}
}
{-#
  dialect_resources: {
    builtin: {
      "w e": "0x400000000000803F00000040",
      z: "0x080000000100000000000000"
    }
  }
#-}
"""


@needs_mlir
def test_mlir_reads_forms_that_are_easily_lost(mlir: Reader) -> None:
    program = sr.parse(FORMS)
    assert "error" not in mlir(FORMS), mlir(FORMS)["error"]
    assert assert_reads_back(program, mlir, FORMS)


@needs_mlir
@pytest.mark.parametrize(
    "op",
    [
        """scf.while : () -> () {
    %0 = arith.constant true
    scf.condition(%0)
  } do {
    scf.yield
  }""",
        "%0 = stablehlo.iota dim = 0 {iota_dimension = 1 : i64} : tensor<2x3xi32>",
        '%0 = stablehlo.custom_call @f(%a) {call_target_name = "g"} : (tensor<5xf32>) -> tensor<5xf32>',
        '%1 = "math.isnan"(%a) <{fastmath = #arith.fastmath<nnan>}> : (tensor<5xf32>) -> tensor<5xi1>',
    ],
    ids=["scf.while", "iota", "custom_call", "math.isnan"],
)
def test_mlir_reads_op(op: str, mlir: Reader) -> None:
    text = f"func.func @f(%a: tensor<5xf32>) {{\n  {op}\n  return\n}}"
    assert assert_reads_back(sr.parse(text), mlir, text)


@needs_mlir
def test_mlir_reads_a_convolution_without_spatial_dimensions(mlir: Reader) -> None:
    text = """
func.func @main(%x: tensor<4x3xf32>, %k: tensor<3x2xf32>) -> tensor<4x2xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, f]x[i, o]->[b, f], window = {stride = [], pad = []}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
"""
    assert assert_reads_back(sr.parse(text), mlir, text)


@needs_mlir
def test_mlir_reads_empty_attributes_of_parameters_in_generic_form(mlir: Reader) -> None:
    """The pretty form has no place for them, in MLIR either."""
    text = """"builtin.module"() ({
  "func.func"() <{arg_attrs = [], function_type = () -> (), res_attrs = [], sym_name = "f"}> ({
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (i32) -> i32, res_attrs = [{}], sym_name = "g"}> ({
  ^bb0(%a: i32):
    "func.return"(%a) : (i32) -> ()
  }) : () -> ()
}) : () -> ()"""
    assert mlir(printed(sr.parse(text).module, generic=True)) == mlir(text)


@needs_mlir
def test_mlir_reads_attributes_of_checks(mlir: Reader) -> None:
    text = """"builtin.module"() ({
  %0 = "stablehlo.constant"() <{value = dense<1.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  "check.expect_close"(%0, %0) <{max_ulp_difference = 18446744073709551615 : ui64, min_ulp_difference = 0 : ui64}>
      : (tensor<2xf32>, tensor<2xf32>) -> ()
}) : () -> ()"""
    assert mlir(printed(sr.parse(text).module, generic=True)) == mlir(text)


@needs_mlir
@pytest.mark.parametrize(
    "literal",
    ['"0x05"', '"0x00"', '"0xFF"', '"0x0100000101000000"', "[true, false, true, true, false, false, false, true]"],
)
def test_mlir_reads_literals_of_booleans_alike(literal: str, mlir: Reader) -> None:
    text = f"""func.func @main() -> tensor<8xi1> {{
  %0 = stablehlo.constant dense<{literal}> : tensor<8xi1>
  return %0 : tensor<8xi1>
}}"""
    assert_reads_back(sr.parse(text), mlir, text)
