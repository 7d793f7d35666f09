"""The options of `stablehlo-interp opt` besides passes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from stablehlo_ref.cli.main import main
from stablehlo_ref.passes.catalog import PASSES
from stablehlo_ref.passes.registry import BoundPass

PROGRAM = """\
func.func @main(%x: tensor<4xi32>, %y: tensor<4xi32>) -> (tensor<4xi32>, tensor<i32>) {
  %big = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %splat = stablehlo.constant dense<7> : tensor<4xi32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %sum = stablehlo.add %x, %big : tensor<4xi32>
  %twice:2 = stablehlo.while(%i = %one, %a = %one) : tensor<i32>, tensor<i32>
    cond {
    %less = stablehlo.compare LT, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %a : tensor<i32>, tensor<i32>
  }
  return %sum, %twice#1 : tensor<4xi32>, tensor<i32>
}
"""
WRONG = """\
func.func @main(%x: tensor<4xi32>) -> tensor<4xi32> {
  {annotation}
  %0 = stablehlo.add %x, %y : tensor<4xi32>
  return %0 : tensor<4xi32>
}
"""

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "program.mlir"
    path.write_text(PROGRAM)
    return str(path)


def test_values_have_the_names_that_mlir_prints(program: str, capsys: Capture) -> None:
    assert main(["opt", program]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert "%c_0 = stablehlo.constant dense<7> : tensor<4xi32>" in lines
    assert "%0 = stablehlo.add %arg0, %c : tensor<4xi32>" in lines
    assert any("(%iterArg = %c_1, %iterArg_2 = %c_1) : tensor<i32>, tensor<i32>" in line for line in lines)
    assert "%2 = stablehlo.compare LT, %iterArg, %c_1 : (tensor<i32>, tensor<i32>) -> tensor<i1>" in lines
    assert "return %0, %1#1 : tensor<4xi32>, tensor<i32>" in lines


def test_names_of_the_text_on_request(program: str, capsys: Capture) -> None:
    assert main(["opt", "--keep-names", program]) == 0
    assert "%sum = stablehlo.add %x, %big : tensor<4xi32>" in capsys.readouterr().out


def test_writes_to_a_file(program: str, tmp_path: Path, capsys: Capture) -> None:
    assert main(["opt", program, "-o", str(tmp_path / "out.mlir")]) == 0
    assert capsys.readouterr().out == ""
    assert main(["opt", program]) == 0
    assert capsys.readouterr().out == (tmp_path / "out.mlir").read_text()


def test_files_keep_locations_unless_told_otherwise(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "named.mlir").write_text('func.func @main(%x: tensor<f32> loc("x")) -> () {\n  return loc("r")\n}\n')
    source, output = str(tmp_path / "named.mlir"), tmp_path / "out.mlir"
    assert main(["opt", source, "-o", str(output)]) == 0
    assert 'loc("x")' in output.read_text() and 'loc("r")' in output.read_text()
    assert main(["opt", source, "-o", str(output), "--mlir-print-debuginfo=false"]) == 0
    assert "loc(" not in output.read_text()
    assert main(["opt", source]) == main(["opt", source, "-o", "-"]) == 0
    assert "loc(" not in capsys.readouterr().out
    assert main(["opt", "-mlir-print-debuginfo", source]) == 0
    assert 'loc("x")' in capsys.readouterr().out


def test_unwritable_output_is_an_error(program: str, tmp_path: Path, capsys: Capture) -> None:
    assert main(["opt", program, "-o", str(tmp_path / "no" / "out.mlir")]) == 1
    assert "No such file" in capsys.readouterr().err


def test_elides_large_constants_but_not_splats(program: str, capsys: Capture) -> None:
    assert main(["opt", "--mlir-elide-elementsattrs-if-larger=3", program]) == 0
    out = capsys.readouterr().out
    assert "stablehlo.constant dense_resource<__elided__> : tensor<4xi32>" in out
    assert "stablehlo.constant dense<7> : tensor<4xi32>" in out
    assert main(["opt", "--mlir-elide-elementsattrs-if-larger=4", program]) == 0
    assert "elided" not in capsys.readouterr().out


def test_counts_ops(program: str, capsys: Capture) -> None:
    assert main(["opt", "--op-stats", program]) == 0
    out = capsys.readouterr().out
    assert "  stablehlo.constant , 3\n" in out and "  stablehlo.add      , 2\n" in out
    assert main(["opt", "--canonicalize", "--op-stats=json", program]) == 0
    assert json.loads(capsys.readouterr().out)["stablehlo.constant"] == 2  # %splat is dead


def test_draws_the_data_flow(program: str, capsys: Capture) -> None:
    assert main(["opt", "--print-op-graph", program]) == 0
    out = capsys.readouterr().out
    assert out.startswith("digraph G {") and out.endswith("}\n")
    assert out.count("{") == out.count("}")
    assert out.count(" -> ") == 13  # one for each operand
    assert 'label = "stablehlo.while"' in out and 'label = "func.func @main"' in out


@pytest.mark.parametrize(("listed", "missing"), [("stablehlo.*", 0), ("stablehlo.[acw]*  # all but compare", 0)])
def test_all_ops_are_supported(program: str, tmp_path: Path, capsys: Capture, listed: str, missing: int) -> None:
    (tmp_path / "list").write_text(f"# supported\n{listed}\n")
    assert main(["opt", "--supported-by", str(tmp_path / "list"), program]) == missing
    assert capsys.readouterr().out == ""


def test_reports_ops_that_a_consumer_lacks(program: str, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "list").write_text("stablehlo.constant\nstablehlo.compare\nstablehlo.while\n")
    assert main(["opt", "--supported-by", str(tmp_path / "list"), program]) == 1
    err = capsys.readouterr().err
    assert "program.mlir:5:" in err and "'stablehlo.add' is not among the supported ops; the program has it 2" in err


@pytest.mark.parametrize(
    ("annotation", "mismatch"),
    [
        ("// expected-error@+1 {{undeclared SSA value name '%y'}}", None),
        ("// expected-error @below {{undeclared SSA value}}", None),
        ("// expected-error-re@+1 {{use of {{[a-z]+}} SSA value name '%y'}}", None),
        ("// expected-error@+1 {{another}}", 'error: expected error "another" was not produced'),
        ("// expected-error@+2 {{undeclared}}", "error: unexpected error: use of undeclared SSA value name '%y'"),
        ("// expected-warning@+1 {{undeclared}}", "'error' diagnostic emitted when expecting a 'warning'"),
        ("", "unexpected error"),
    ],
)
def test_verifies_diagnostics(tmp_path: Path, capsys: Capture, annotation: str, mismatch: str | None) -> None:
    path = tmp_path / "wrong.mlir"
    path.write_text(WRONG.replace("{annotation}", annotation))
    assert main(["opt", "--verify-diagnostics", str(path)]) == (mismatch is not None)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert (captured.err == "") if mismatch is None else (mismatch in captured.err)


def test_diagnostics_expected_on_the_line_below(tmp_path: Path) -> None:
    path = tmp_path / "wrong.mlir"
    text = WRONG.replace("  {annotation}\n", "").replace(
        "  return", "  // expected-error@above {{undeclared}}\n  // expected-error@-2 {{value name}}\n  return"
    )
    path.write_text(f"{PROGRAM}// -----\n{text}")
    assert main(["opt", "--verify-diagnostics", "--split-input-file", str(path)]) == 0


def test_list_of_passes_describes_each_pass() -> None:
    command = [sys.executable, "-m", "stablehlo_ref.passes", "--list"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert all(f"--{name}\n    " in text for name in PASSES)


@pytest.mark.parametrize("name", PASSES)
def test_passes_accept_modules_without_functions(name: str) -> None:
    import stablehlo_ref as sr

    if name in ("stablehlo-refine-arguments", "vhlo-to-version"):
        pytest.skip("needs a function to refine, or a version")
    BoundPass(PASSES[name], {})(sr.parse("").module)


def test_several_results_have_the_names_that_mlir_prints(tmp_path: Path, capsys: Capture) -> None:
    t = "tensor<2x2xf32>"
    text = f"func.func @f(%x: {t}, %s: tensor<2xf32>) {{\n"
    for name in "ab":
        text += f'  %{name}:3 = "stablehlo.batch_norm_training"(%x, %s, %s) {{epsilon = 0.0 : f32, '
        text += f"feature_index = 0 : i64}} : ({t}, tensor<2xf32>, tensor<2xf32>) -> "
        text += f"({t}, tensor<2xf32>, tensor<2xf32>)\n"
    (tmp_path / "several.mlir").write_text(text + "  return\n}\n")
    assert main(["opt", str(tmp_path / "several.mlir")]) == 0
    out = capsys.readouterr().out
    assert '%output, %batch_mean, %batch_var = "stablehlo.batch_norm_training"' in out
    assert '%output_0, %batch_mean_1, %batch_var_2 = "stablehlo.batch_norm_training"' in out


@pytest.mark.parametrize("name", ["vhlo-legalize-to-stablehlo", "stablehlo-deserialize"])
def test_artifacts_are_stablehlo_when_they_are_read(program: str, tmp_path: Path, capsys: Capture, name: str) -> None:
    artifact = str(tmp_path / "program.mlirbc")
    assert main(["translate", "--serialize", "--target=1.9.0", program, "-o", artifact]) == 0
    assert main(["opt", program]) == 0
    expected = capsys.readouterr().out
    assert main(["opt", artifact, f"--pass-pipeline=builtin.module({name})"]) == 0
    assert capsys.readouterr().out == expected
