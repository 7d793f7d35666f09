"""Text of the vhlo dialect is read as the program that its bytes are."""

from __future__ import annotations

from pathlib import Path

import pytest

import stablehlo_ref as sr
from stablehlo_ref.diagnostics import Source, split_text
from stablehlo_ref.ir.types import Type
from stablehlo_ref.syntax.parser import Parser
from tests.compare import difference, same_attribute
from tests.shared import ask_mlir, needs_mlir

FOLDER = Path(__file__).parents[1] / "interpret"
INTERPRET = sorted(path for path in FOLDER.glob("*.mlir") if path.stem.split("_")[0] not in ("mhlo", "shape", "vhlo"))
STEP = 5  # between the files that are tested


def without_checks(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.strip().startswith("check."))


@needs_mlir
def test_reads_text_of_artifacts_as_their_bytes() -> None:
    programs = [without_checks(part) for path in INTERPRET[::STEP] for _, part in split_text(path.read_text("utf-8"))]
    artifacts = list(filter(None, map(ask_mlir("syntax/vhlo_writer.py"), programs)))
    assert len(artifacts) > 30
    for raw, text in artifacts:
        assert difference(sr.parse(bytes.fromhex(raw)).module, sr.parse(text).module) is None, text


def parsed(text: str) -> Type:
    return Parser(Source(text, "")).type()


@pytest.mark.parametrize(
    ("vhlo", "type"),
    [
        ("!vhlo.tensor_v1<?x3x!vhlo.bf16_v1, #vhlo.type_extensions_v1<bounds = [4, ?]>>",
         "tensor<?x3xbf16, #stablehlo.bounds<4, ?>>"),
        ("!vhlo.tensor_v1<!vhlo.complex_v1<!vhlo.f64_v1>>", "tensor<complex<f64>>"),
        ("!vhlo.tensor_v1<2x!vhlo.ui8_v1>", "tensor<2xui8>"),
        ("!vhlo.tensor_v1<2x!vhlo.tf31_v1>", "tensor<2xtf32>"),
        ("!vhlo.tensor_v1<2x!vhlo.index_v1>", "tensor<2xindex>"),
        ("!vhlo.tensor_v1<!vhlo.quant_v1<!vhlo.i8_v1:!vhlo.f32_v1, 3.400000e+01:16, -128:127, 1>>",
         "tensor<!quant.uniform<i8:f32, 3.400000e+01:16>>"),
        ("!vhlo.tensor_v1<2x!vhlo.quant_per_axis_v1<!vhlo.i8_v1:!vhlo.f32_v1, 0, [0.5, 2.0], [1, 0], 0:255, 0>>",
         "tensor<2x!quant.uniform<ui8:f32:0, {0.5:1,2.0}>>"),
        ("!vhlo.unranked_tensor_v1<!vhlo.f32_v1>", "tensor<*xf32>"),
        ("!vhlo.buffer_v1<2x!vhlo.f32_v1>", "memref<2xf32>"),
        ("!vhlo.tuple_v1<!vhlo.token_v1, !vhlo.tuple_v1<>>", "tuple<!stablehlo.token, tuple<>>"),
        ("!vhlo.future_v1<!vhlo.tensor_v1<!vhlo.f32_v1>>", "!stablehlo.future<tensor<f32>>"),
        ("!vhlo.func_v1<() -> ()>", "() -> ()"),
        ("!vhlo.func_v1<(()) -> !vhlo.token_v1>", "() -> !stablehlo.token"),
        ("!vhlo.func_v1<(!vhlo.token_v1) -> !vhlo.token_v1, !vhlo.witness_v1>",
         "(!stablehlo.token) -> (!stablehlo.token, !shape.witness)"),
    ],
)  # fmt: skip
def test_reads_type(vhlo: str, type: str) -> None:
    assert parsed(vhlo) == parsed(type)


def with_attribute(attribute: str) -> sr.Program:
    return sr.parse(f"func.func private @f() attributes {{a = {attribute}}}")


@pytest.mark.parametrize(
    ("vhlo", "attribute"),
    [
        ('#vhlo.string_v1<"x">', '"x"'),
        ("#vhlo.integer_v1<-5 : i32>", "-5 : i32"),
        ("#vhlo.float_v1<1.5 : !vhlo.f32_v1>", "1.5 : f32"),
        ("#vhlo.bool_v1<true>", "true"),
        ("#vhlo.array_v1<[#vhlo.bool_v1<false>, #vhlo.array_v1<[]>]>", "[false, []]"),
        ('#vhlo.dict_v1<{#vhlo.string_v1<"k"> = #vhlo.bool_v1<true>}>', "{k = true}"),
        ("#vhlo.type_v1<!vhlo.tensor_v1<2x!vhlo.i8_v1>>", "tensor<2xi8>"),
        ("#vhlo<precision_v1 HIGH>", "#stablehlo<precision HIGH>"),
        ("#vhlo<api_version_v1 API_VERSION_TYPED_FFI>", "4 : i32"),
        ("#vhlo.output_operand_alias_v1<outputTupleIndices = [0], operandIndex = 1, operandTupleIndices = []>",
         "#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 1, operand_tuple_indices = []>"),
        ("#vhlo.result_accuracy_v1<atol = 0.0, rtol = 0.0, ulps = 2, mode = #vhlo<result_accuracy_mode_v1 TOLERANCE>>",
         "#stablehlo.result_accuracy<ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>"),
    ],
)  # fmt: skip
def test_reads_attribute(vhlo: str, attribute: str) -> None:
    parser = Parser(Source(vhlo, ""))
    with parser.upgrading():
        assert same_attribute(parser.attribute(), Parser(Source(attribute, "")).attribute())


@needs_mlir
@pytest.mark.parametrize(
    "attribute",
    [
        '#vhlo.dict_v1<{#vhlo.string_v1<"attr1"> = #vhlo.array_v1<[]>}>',
        "#vhlo<precision_v1 HIGH>",
        "#vhlo.type_v1<!vhlo.tensor_v1<2x?x!vhlo.i8_v1, #vhlo.type_extensions_v1<bounds = [?, 3]>>>",
    ],
)
def test_keeps_attributes_of_other_ops(attribute: str) -> None:
    program = with_attribute(attribute)
    assert f"attributes {{a = {attribute}}}" in str(program)
    texts = (f"func.func private @f() attributes {{a = {attribute}}}", str(program))
    expected, found = map(ask_mlir("syntax/mlir_reader.py"), texts)
    assert "text" in expected
    assert found == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('"vhlo.frobnicate_v1"() : () -> ()', r"1:1: error: unknown op 'vhlo.frobnicate_v1'; the newest known version"),
        ('"vhlo.add_v9"() : () -> ()', r"1:1: error: unknown op 'vhlo.add_v9'"),
        ('"vhlo.iota_v1"() : () -> !vhlo.tensor_v1<2x!vhlo.i32_v1>',
         r"1:1: error: op 'vhlo.iota_v1' has no attribute 'iota_dimension'"),
        ('"vhlo.iota_v1"() : () -> !vhlo.tensor_v2<2x!vhlo.i32>', r"1:\d+: error: unknown name 'vhlo.i32'"),
        ('"vhlo.iota_v1"() : () -> !vhlo.vector_v1<2>', r"1:26: error: unknown type 'vector' of dialect 'vhlo'"),
        ('"vhlo.iota_v1"() {a = #vhlo<api_version_v1 NEW>} : () -> ()', r"unknown version 'NEW' of the API"),
        ('"vhlo.iota_v1"() {a = #vhlo.result_accuracy_v1<atol = 0.0, rtol = 0.0, ulps = 0, mode = '
         "#stablehlo.result_accuracy_mode<DEFAULT>>} : () -> ()", r"1:82: error: expected VHLO result accuracy mode"),
        ('"vhlo.iota_v1"() {a = #vhlo.dict_v1<{#vhlo.bool_v1<true> = 1}>} : () -> ()', r"expected VHLO key attribute"),
        ('"vhlo.iota_v1"() {a = #vhlo.dict_v1<{"b" = #vhlo.array_v1<[]>}>} : () -> ()', r"expected VHLO key attribute"),
        ("vhlo.add_v1 %0, %1 : tensor<f32>", r"unsupported pretty form of op 'vhlo.add_v1'"),
    ],
)  # fmt: skip
def test_rejects(text: str, message: str) -> None:
    with pytest.raises(sr.MalformedError, match=message):
        sr.parse(text)
