"""`stablehlo-interp translate` and `opt`: the options of MLIR's tools."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

from stablehlo_ref.cli.main import main

ADD = """\
func.func @main(%x: tensor<2xi32>, %y: tensor<2xi32>) -> tensor<2xi32> {
  %0 = stablehlo.add %x, %y : tensor<2xi32>
  return %0 : tensor<2xi32>
}
"""
CONSTANT = """\
func.func @f() -> tensor<i32> {
  %0 = stablehlo.constant dense<7> : tensor<i32>
  return %0 : tensor<i32>
}
"""
COMPOSITES = """\
func.func @main(%x: tensor<2xi32>) -> tensor<2xi32> {
  %0 = stablehlo.composite "my.id" %x {decomposition = @id} : (tensor<2xi32>) -> tensor<2xi32>
  %1 = stablehlo.composite "my.other" %0 {decomposition = @id} : (tensor<2xi32>) -> tensor<2xi32>
  return %1 : tensor<2xi32>
}
func.func private @id(%x: tensor<2xi32>) -> tensor<2xi32> {
  return %x : tensor<2xi32>
}
"""
LITERALS = "[dense<[1, 2]> : tensor<2xi32>, dense<3> : tensor<2xi32>]"

Capture = pytest.CaptureFixture[str]


def written(directory: Path, text: str) -> str:
    path = directory / "program.mlir"
    path.write_text(text)
    return str(path)


def test_translate_interprets(tmp_path: Path, capsys: Capture) -> None:
    assert main(["translate", "--interpret", written(tmp_path, ADD), f"--args={LITERALS}"]) == 0
    assert capsys.readouterr().out == "tensor<2xi32> {\n  [4, 5]\n}\n"


def test_translate_accepts_options_with_one_dash_and_standard_input(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(f"{CONSTANT}// -----\n{CONSTANT}".encode())))
    assert main(["translate", "-interpret", "-split-input-file", "-interpreter-print-dense"]) == 0
    assert capsys.readouterr().out == "dense<7> : tensor<i32>\n" * 2


def test_translate_writes_probes(tmp_path: Path) -> None:
    probed = CONSTANT.replace("return %0", 'interpreter.probe %0, probe_id = "p" : tensor<i32>\n  return %0')
    assert main(["translate", "--interpret", f"--probe-output-dir={tmp_path}", written(tmp_path, probed)]) == 0
    assert (tmp_path / "index.csv").read_text().startswith("p,tensor<i32>,")


@pytest.mark.parametrize("line", ["translate", "translate --interpret --no-such-option", "opt --no-such-pass"])
def test_unknown_options_are_usage_errors(line: str) -> None:
    with pytest.raises(SystemExit) as exit:
        main(line.split())
    assert exit.value.code == 2


def test_opt_prints_pretty_and_generic_form(tmp_path: Path, capsys: Capture) -> None:
    assert main(["opt", written(tmp_path, ADD)]) == 0
    assert "stablehlo.add %arg0, %arg1 : tensor<2xi32>" in capsys.readouterr().out
    assert main(["opt", "--mlir-print-op-generic", "--keep-names", written(tmp_path, ADD)]) == 0
    assert '"stablehlo.add"(%x, %y) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>' in capsys.readouterr().out


def test_opt_prints_valid_parts_only(tmp_path: Path, capsys: Capture) -> None:
    invalid = CONSTANT.replace("return %0 : tensor<i32>", "return %0 : tensor<f32>")
    assert main(["opt", "--split-input-file", written(tmp_path, f"{CONSTANT}// -----\n{invalid}// -----\n{ADD}")]) == 1
    captured = capsys.readouterr()
    assert captured.out.count("// -----") == 1 and "@f" in captured.out and "@main" in captured.out
    assert "program.mlir:" in captured.err


def test_opt_rejects_unregistered_dialects_by_default(tmp_path: Path, capsys: Capture) -> None:
    path = written(tmp_path, 'func.func @f() {\n  "test.op"() : () -> ()\n  return\n}\n')
    assert main(["opt", path]) == 1
    assert main(["opt", "--allow-unregistered-dialect", path]) == 0
    assert '"test.op"() : () -> ()' in capsys.readouterr().out


def test_opt_legalizes_composites_to_calls(tmp_path: Path, capsys: Capture) -> None:
    assert main(["opt", "--stablehlo-legalize-composite-to-call", written(tmp_path, COMPOSITES)]) == 0
    text = capsys.readouterr().out
    assert text.count("call @id(") == 2 and "composite" not in text
    assert main(["opt", "--stablehlo-legalize-composite-to-call=except=my.other", written(tmp_path, COMPOSITES)]) == 0
    text = capsys.readouterr().out
    assert text.count("call @id(") == 1 and '"my.other"' in text


def test_list_ops(capsys: Capture) -> None:
    assert main(["--list-ops"]) == main(["list-ops"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^stablehlo.gather +yes +23$", out, re.M)
    assert re.search(r"^check.expect_eq +yes +1$", out, re.M)


@pytest.mark.parametrize("command", ["translate --serialize --target=1.0.0", "opt"])
def test_no_file_is_written_after_an_error(command: str, tmp_path: Path) -> None:
    unknown = CONSTANT.replace("stablehlo.constant", "stablehlo.no_such_op")
    assert main([*command.split(), written(tmp_path, unknown), "-o", str(tmp_path / "out")]) == 1
    assert not (tmp_path / "out").exists()
