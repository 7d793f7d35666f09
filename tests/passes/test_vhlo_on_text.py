"""The passes between StableHLO and VHLO."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.bytecode.vhlo.artifact import artifact_version
from stablehlo_ref.bytecode.vhlo.versions import Version
from stablehlo_ref.cli.main import main
from stablehlo_ref.program import Program
from tests.shared import UPSTREAM, needs_upstream

TEXT = """\
module @m attributes {mhlo.num_replicas = 1 : i32} {
  func.func public @main(%x: tensor<2xf32> {jax.arg = "x"}, %y: tensor<?x3xi8>) -> (tensor<2xf32>, tensor<?x3xi8>) {
    %0 = stablehlo.exponential %x : tensor<2xf32>
    %1 = stablehlo.custom_call @f(%0) {api_version = 2 : i32, has_side_effect = true} : (tensor<2xf32>) -> tensor<2xf32>
    %2 = stablehlo.slice %x [0:2] {m.a = {l = [1 : i64, "a", true], n = 0.5 : f32}} : (tensor<2xf32>) -> tensor<2xf32>
    return %2, %y : tensor<2xf32>, tensor<?x3xi8>
  }
}
"""
LEGALIZE = "stablehlo-legalize-to-vhlo"


def test_ops_are_printed_as_those_of_vhlo() -> None:
    program = sr.parse(TEXT).verify()
    text = str(program.transform(LEGALIZE))
    for part in (
        "vhlo.func_v1 @main(%x: !vhlo.tensor_v1<2x!vhlo.f32_v1>, %y: !vhlo.tensor_v1<?x3x!vhlo.i8_v1>) -> (",
        '= "vhlo.exponential_v2"(%x) <{result_accuracy = #vhlo.result_accuracy_v1<atol = 0.000000e+00, rtol = ',
        "api_version = #vhlo<api_version_v1 API_VERSION_STATUS_RETURNING>",
        "limit_indices = #vhlo.tensor_v1<dense<2> : tensor<1xi64>>",
        '<"l"> = #vhlo.array_v1<[#vhlo.integer_v1<1 : i64>, #vhlo.string_v1<"a">, #vhlo.bool_v1<true>]>',
        "#vhlo.float_v1<5.000000e-01 : !vhlo.f32_v1>",
        '"vhlo.return_v1"(%2, %y) : (!vhlo.tensor_v1<2x!vhlo.f32_v1>, !vhlo.tensor_v1<?x3x!vhlo.i8_v1>) -> ()',
    ):
        assert part in text
    assert str(sr.parse(text).verify()) == str(program)
    assert str(sr.parse(text).transform(LEGALIZE)) == text
    assert str(program.transform(LEGALIZE, "vhlo-legalize-to-stablehlo")) == str(program)


def test_earlier_versions_have_earlier_ops(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = str(sr.parse(TEXT).transform(LEGALIZE, "vhlo-to-version{target=1.8.1}"))
    assert '"vhlo.exponential_v1"(%x) : (' in text and "vhlo.custom_call_v1" in text
    source, artifact = tmp_path / "program.mlir", tmp_path / "program.mlirbc"
    source.write_text(TEXT)
    passes = [f"--{LEGALIZE}", "--vhlo-to-version=target=1.8.1"]
    assert main(["opt", str(source), *passes, "--emit-bytecode", "-o", str(artifact)]) == 0
    assert artifact_version(artifact.read_bytes()) == Version(1, 8, 1)
    assert [x.type for x in sr.load(artifact).inputs] == [x.type for x in sr.load(TEXT).inputs]


def test_what_a_version_does_not_have_is_reported() -> None:
    text = "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n  %0 = stablehlo.tan %x : tensor<f32>\n"
    text += "  return %0 : tensor<f32>\n}"
    with pytest.raises(sr.InvalidError) as caught:
        sr.parse(text).transform(LEGALIZE, "vhlo-to-version{target=1.3.0}")
    message, refusal = (diagnostic.message for diagnostic in caught.value.diagnostics)
    assert message == "failed to convert VHLO to v1.3.0: op 'stablehlo.tan' needs version 1.4.0 or later"
    assert refusal == "failed to legalize operation 'vhlo.tan_v2' that was explicitly marked illegal"
    with pytest.raises(sr.MalformedError, match="No target version specified"):
        sr.parse(text).transform("vhlo-to-version")


def test_ops_of_other_dialects_are_refused() -> None:
    text = "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n  %0 = chlo.erf %x : tensor<f32> -> tensor<f32>\n"
    with pytest.raises(sr.UnsupportedError, match=r":2:8: error: failed to legalize operation 'chlo.erf'.*no op"):
        sr.parse(text + "  return %0 : tensor<f32>\n}").transform(LEGALIZE)


def test_programs_of_vhlo_are_run() -> None:
    text = TEXT.replace("stablehlo.custom_call @f(%0)", "stablehlo.custom_call @Sharding(%0)")
    after = sr.parse(text).transform(LEGALIZE)
    results = after.run(np.float32([1, 2]), np.zeros((1, 3), np.int8))
    np.testing.assert_array_equal(results[0], np.float32([1, 2]))


def functions_of_all_versions() -> dict[str, str]:
    """Return the text of each version's file without functions that a file before it has, which are most of them."""
    texts: dict[str, str] = {}
    seen: set[str] = set()
    for path in sorted((UPSTREAM / "vhlo").glob("stablehlo_legalize_to_vhlo.*.mlir")):
        head, *functions = re.split(r"^(?=func\.func )", re.sub("//.*", "", path.read_text("utf-8")), flags=re.M)
        new = set(functions) - seen
        used = {name for text in new for name in re.findall(r"@\w+", text)}  # their own names, and those of callees
        if new:
            kept = [text for text in functions if not used.isdisjoint(re.findall(r"^func\.func .*?(@\w+)", text))]
            texts[path.suffixes[0]] = "".join([head, *kept])
        seen |= new
    return texts


@needs_upstream
@pytest.mark.parametrize("version", TEXTS := functions_of_all_versions())
def test_all_that_vhlo_has_is_read_again(version: str) -> None:
    """What is left out in one of the texts, or is a default in it, is written in VHLO."""
    program = sr.parse(TEXTS[version], allow_unregistered_dialect=True).verify()
    text = str(program.transform(LEGALIZE))
    again = sr.parse(text, allow_unregistered_dialect=True).verify()
    assert str(again.transform(LEGALIZE)) == text
    assert [op.name for op in again.module.walk()] == [op.name for op in Program(program.module).module.walk()]


MIXED = """\
module {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<?xf32>)
      -> tensor<?x4xf32> {
    %0 = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<4xf32>
    %1 = stablehlo.add %0, %a : tensor<4xf32>
    %2 = shape.shape_of %b : tensor<?xf32> -> tensor<1xindex>
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %extracted = tensor.extract %2[%c0] : tensor<1xindex>
    %from_elements = tensor.from_elements %extracted, %c4 : tensor<2xindex>
    %3 = stablehlo.dynamic_broadcast_in_dim %1, %from_elements, dims = [1]
      : (tensor<4xf32>, tensor<2xindex>) -> tensor<?x4xf32>
    return %3 : tensor<?x4xf32>
  }
}
"""


def test_ops_of_other_dialects_between_casts() -> None:
    program = sr.parse(MIXED).verify()
    with pytest.raises(sr.UnsupportedError, match=r"portable artifacts have no op 'sdy.mesh'"):
        program.serialize()
    after = program.transform(f"{LEGALIZE}{{allow-other-dialects}}")
    assert "unrealized_conversion_cast %a : !vhlo.tensor_v1<4x!vhlo.f32_v1> to tensor<4xf32>" in str(after)
    assert str(after.transform("vhlo-legalize-to-stablehlo")) == str(program)
    arguments = np.arange(4, dtype=np.float32), np.zeros(2, np.float32)
    for same in (after, sr.parse(str(after)), sr.load(program.serialize("1.0.0", allow_other_dialects=True))):
        np.testing.assert_array_equal(same.run(*arguments)[0], program.run(*arguments)[0])


def test_mlir_reads_artifacts_with_other_dialects() -> None:
    mlir = pytest.importorskip("jax.interpreters.mlir")
    dialect = pytest.importorskip("jaxlib.mlir.dialects.stablehlo")
    program = sr.parse(MIXED).verify()
    with mlir.make_ir_context() as context:
        module = dialect.deserialize_portable_artifact(context, program.serialize("1.9.0", allow_other_dialects=True))
        read = sr.parse(str(module))
    assert [op.name for op in read.module.walk()] == [op.name for op in program.module.walk()]
    assert [x.type for x in read.inputs] == [x.type for x in program.inputs]
