"""Text of the mhlo dialect is read as the ops of StableHLO and CHLO that it means."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import stablehlo_ref as sr
from stablehlo_ref.cli.main import main
from stablehlo_ref.diagnostics import split_text
from tests.compare import difference
from tests.shared import ask_mlir, needs_mlir

INTERPRET = sorted((Path(__file__).parents[1] / "interpret").glob("*.mlir"))
# Attributes that mhlo does not have, and names of handlers.
NOT_IN_MHLO = re.compile(r"#stablehlo\.(?:axis_ref|mesh|replica_group)|@stablehlo\.|stablehlo\.future")


def read(text: str) -> sr.Program:
    return sr.parse(text, allow_unregistered_dialect=True)


@pytest.mark.parametrize("path", INTERPRET, ids=lambda p: p.stem)
def test_reads_ops_of_mhlo_as_those_of_stablehlo(path: Path) -> None:
    for _, part in split_text(path.read_text("utf-8")):
        if "stablehlo." in part and not NOT_IN_MHLO.search(part):
            spelled = re.sub(r"\bstablehlo\b(?=[.<])", "mhlo", part)
            assert difference(read(part).module, read(spelled).module) is None


@needs_mlir
def test_reads_what_mlir_prints() -> None:
    paths = [path for path in INTERPRET if not path.stem.startswith(("mpmd", "sdy"))]
    parts = [part for path in paths for _, part in split_text(path.read_text("utf-8"))]
    programs = [forms for part in parts if (forms := ask_mlir("syntax/mhlo_writer.py")(without_checks(part)))]
    assert len(programs) > 40
    for text, *forms in programs:
        for spelled in forms:
            assert difference(read(text).module, read(spelled).module) is None, spelled


def without_checks(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.strip().startswith("check."))


def body(line: str) -> sr.Program:
    return read(f"func.func @main(%x: tensor<2x3xf32>) {{\n  {line}\n  return\n}}")


@pytest.mark.parametrize("name", ["copy", "fusion", "add_dependency", "domain", "bitcast"])
def test_ops_without_equal_are_unsupported(name: str) -> None:
    program = body(f'%0 = "mhlo.{name}"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>').verify()
    with pytest.raises(sr.UnsupportedError, match=rf"<string>:2:8: .*'mhlo\.{name}'"):
        program.run([[0.0] * 3] * 2)


@pytest.mark.parametrize(
    "op",
    [
        '"mhlo.topk"(%x) <{k = 1 : i64, largest = false}> : (tensor<2x3xf32>) -> (tensor<2x1xf32>, tensor<2x1xi32>)',
        "mhlo.topk(%x, k = 1, largest = false) : tensor<2x3xf32> -> (tensor<2x1xf32>, tensor<2x1xi32>)",
    ],
)
def test_top_k_of_the_smallest_is_unsupported(op: str) -> None:
    program = body(f"%0:2 = {op}")
    assert '"mhlo.topk"(%x) <{k = 1 : i64, largest = false}>' in str(program)
    with pytest.raises(sr.UnsupportedError, match=r"'mhlo\.topk' op has no equal in StableHLO or CHLO"):
        program.verify().run([[0.0] * 3] * 2)


@pytest.mark.parametrize(
    ("op", "meant"),
    [
        ("mhlo.ad %x, %x", "; did you mean 'mhlo.add'?"),
        ("mhlo.cosh1 %x", "; did you mean 'mhlo.cosh'?"),
        ("mhlo.fusion %x", ""),
    ],
)
def test_similar_op(op: str, meant: str) -> None:
    with pytest.raises(sr.MalformedError) as caught:
        sr.parse(f"func.func @main(%x: tensor<2x3xf32>) {{\n  {op} : tensor<2x3xf32>\n  return\n}}")
    assert caught.value.diagnostics[0].message.endswith(f"to keep its text{meant}")


def test_other_attributes_are_kept_as_written() -> None:
    attribute = "#mhlo<custom_call_schedule LATEST>"
    program = body(f"%0 = mhlo.custom_call @f(%x) {{s = {attribute}}} : (tensor<2x3xf32>) -> tensor<2x3xf32>")
    assert f"s = {attribute}" in str(program)


def test_invalid_op_is_reported_at_its_place() -> None:
    with pytest.raises(sr.InvalidError, match=r"<string>:2:\d+: error: 'stablehlo.add' op"):
        body('%0 = "mhlo.add"(%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<3xf32>').verify()


def test_statistics_tell_of_renamed_ops(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "program.mlir"
    path.write_text("""
    func.func @main() {
      %0 = mhlo.constant dense<1.0> : tensor<f32>
      %1 = mhlo.cosh %0 : tensor<f32>
      %2 = stablehlo.add %0, %1 : tensor<f32>
      return
    }
    """)
    assert main([str(path), "--profile"]) == 0
    assert "2 ops of mhlo were read as the equal ops of StableHLO and CHLO" in capsys.readouterr().err
