"""`--diagnostics-format` and `--max-errors`: diagnostics as text, JSON and SARIF."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stablehlo_ref.cli.main import main

Capture = pytest.CaptureFixture[str]

INVALID = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.iota dim = 3 : tensor<4xf32>
  %1 = stablehlo.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<5xf32>
  return %x : tensor<4xf32>
}
"""
MANY = "func.func @main() {\n" + "  stablehlo.nothing\n" * 30 + "  return\n}\n"


def diagnostics(format: str, text: str, tmp_path: Path, capsys: Capture, *options: str, code: int = 1) -> Any:
    path = tmp_path / "a b.mlir"
    path.write_text(text)
    assert main([*options, "--diagnostics-format", format, str(path)]) == code
    return json.loads(capsys.readouterr().err)


def test_json(tmp_path: Path, capsys: Capture) -> None:
    document = diagnostics("json", INVALID, tmp_path, capsys, "opt")
    assert document["schema"] == 1 and document["hidden"] == 0
    first, second = document["diagnostics"]
    assert first == {
        "rule": "stablehlo.iota/C1",
        "severity": "error",
        "message": "'stablehlo.iota' op (C1): 0 <= iota_dimension < rank(output)",
        "file": str(tmp_path / "a b.mlir"),
        "line": 2,
        "column": 23,
        "notes": ["rank(output) = 1", "iota_dimension = 3", "output = tensor<4xf32>"],
        "related": [],
    }
    (related,) = second["related"]
    assert (related["severity"], related["line"], related["column"]) == ("note", 1, 17)


def test_documents_without_errors(tmp_path: Path, capsys: Capture) -> None:
    text = "func.func @main() {\n  return\n}\n"
    assert diagnostics("json", text, tmp_path, capsys, code=0)["diagnostics"] == []
    assert diagnostics("sarif", text, tmp_path, capsys, code=0)["runs"][0]["results"] == []


def test_documents_of_files_that_cannot_be_read(tmp_path: Path, capsys: Capture) -> None:
    assert main(["--diagnostics-format=json", str(tmp_path / "missing.mlir")]) == 1
    (diagnostic,) = json.loads(capsys.readouterr().err)["diagnostics"]
    assert diagnostic["severity"] == "error" and diagnostic["message"].endswith("missing.mlir: no such file")


def test_warnings_are_in_documents(tmp_path: Path, capsys: Capture) -> None:
    text = """func.func @main() {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = stablehlo.constant dense<5> : tensor<i32>
  %2 = stablehlo.dynamic_slice %0, %1, sizes = [1] : (tensor<2xf32>, tensor<i32>) -> tensor<1xf32>
  %3 = stablehlo.convert %0 : (tensor<2xf32>) -> tensor<2xi1>
  %4 = stablehlo.constant dense<1.0e20> : tensor<f32>
  %5 = stablehlo.convert %4 : (tensor<f32>) -> tensor<i32>
  return
}
"""
    document = diagnostics("json", text, tmp_path, capsys, "--on-implementation-defined=warn", code=0)
    assert {(d["severity"], d["rule"]) for d in document["diagnostics"]} == {("warning", "warning")}


def test_sarif(tmp_path: Path, capsys: Capture) -> None:
    log = diagnostics("sarif", INVALID, tmp_path, capsys, "translate", "--deserialize")
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    first, second = run["results"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["stablehlo.iota/C1", second["ruleId"]]
    assert (first["ruleIndex"], first["level"]) == (0, "error")
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == (tmp_path / "a b.mlir").as_uri()
    assert place["region"] == {"startLine": 2, "startColumn": 23, "endColumn": 24}
    assert second["relatedLocations"][0]["message"]["text"] == "'%x' is defined here with type tensor<4xf32>"


@pytest.mark.parametrize(
    ("option", "shown", "hidden"), [((), 20, 10), (("--max-errors=7",), 7, 23), (("--max-errors=0",), 30, 0)]
)
def test_max_errors(option: tuple[str, ...], shown: int, hidden: int, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "many.mlir"
    path.write_text(MANY)
    assert main(["opt", *option, str(path)]) == 1
    err = capsys.readouterr().err
    assert err.count("error: unknown op") == shown
    assert (f"\n{hidden} more errors not shown\n" in err) == bool(hidden)


def test_documents_have_all_errors_or_as_many_as_are_asked_for(tmp_path: Path, capsys: Capture) -> None:
    assert len(diagnostics("json", MANY, tmp_path, capsys)["diagnostics"]) == 30
    document = diagnostics("json", MANY, tmp_path, capsys, "--max-errors=3")
    assert (len(document["diagnostics"]), document["hidden"]) == (3, 27)


def test_an_unknown_format_is_an_error_of_the_command_line(capsys: Capture) -> None:
    with pytest.raises(SystemExit) as raised:
        main(["--diagnostics-format=xml", "a.mlir"])
    assert raised.value.code == 2
    assert "invalid choice: 'xml'" in capsys.readouterr().err
