"""`-v`, `--trace-...` and `--break`: looking into a run on the command line."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from command_line import ADD, run

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def add(tmp_path: Path) -> Path:
    path = tmp_path / "add.mlir"
    path.write_text(ADD)
    return path


def printed(capsys: Capture, add: Path, *options: str, code: int = 0) -> str:
    """Return standard error of a run on 1 and [0, 1, 2, nan], without times."""
    assert run(add, "--input", "x=1", "--input", "y=[0, 1, 2, nan]", "-q", *options) == code
    return re.sub(r"[\d.]+ ms", "T ms", capsys.readouterr().err.replace(f"{add}:", ""))


def test_level_1_is_one_line_for_each_op(add: Path, capsys: Capture) -> None:
    assert printed(capsys, add, "-v") == (
        "2:8: stablehlo.add: %0 = tensor<4xf32> min 1, max 3, mean 2, 1 NaN, T ms (jit(f)/add at model.py:3:1)\n"
        "7:8: stablehlo.add: @twice/%s = tensor<4xf32> min 2, max 6, mean 4, 1 NaN, T ms\n"
        "3:8: func.call: %1 = tensor<4xf32> min 2, max 6, mean 4, 1 NaN, T ms\n"
    )


def test_level_2_elides_values_and_level_3_does_not(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "iota.mlir"
    path.write_text(
        "func.func @main() -> tensor<2000xi32> {\n  %0 = stablehlo.iota dim = 0 : tensor<2000xi32>\n"
        "  %1 = stablehlo.negate %0 : tensor<2000xi32>\n  return %1 : tensor<2000xi32>\n}\n"
    )
    assert run(path, "-vv", "-q") == 0
    assert "%1 = tensor<2000xi32> {\n  [0, -1, -2, ..., -1997, -1998, -1999]\n}" in capsys.readouterr().err
    assert run(path, "-vvv", "-q") == 0
    assert "-1000, -1001" in capsys.readouterr().err


def test_selected_values_and_ops(add: Path, capsys: Capture) -> None:
    error = printed(capsys, add, "--trace", "%0,@twice/%v", "-v")
    assert [line.partition(" = ")[0] for line in error.splitlines()] == [
        "2:8: stablehlo.add: %0", "6:26: argument: @twice/%v",
    ]  # fmt: skip
    assert printed(capsys, add, "--trace", "jit(f)/add").startswith("2:8: stablehlo.add: %0 = tensor<4xf32> {\n")
    assert printed(capsys, add, "--trace", "model.py:3").startswith("2:8: stablehlo.add: %0 = tensor<4xf32> {\n")
    assert printed(capsys, add, "--trace", "ca*").startswith("3:8: func.call: %1 = ")
    assert printed(capsys, add, "--trace", "stablehlo.add").count("stablehlo.add") == 2


def test_values_in_files(add: Path, capsys: Capture, tmp_path: Path) -> None:
    folder = tmp_path / "trace"
    assert printed(capsys, add, "--trace-to", str(folder), "--trace", "%1") == ""
    (file,) = folder.glob("*.npy")
    np.testing.assert_array_equal(np.load(file), [2, 4, 6, np.nan])
    (index,) = folder.glob("index.json*")
    assert '"%1"' in index.read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--trace", "%9"], "--trace: no value is called '%9'"),
        (["--trace", "model.py:4"], "no value is called 'model.py:4'"),
        (["--trace", "jit(f)/ad"], "no value is called 'jit(f)/ad'; did you mean 'jit(f)/add'?"),
        (["--trace", "ad"], "--trace: no value or op is called 'ad'; did you mean 'add'?"),
        (["--trace", "stablehlo.ad"], "did you mean 'stablehlo.add'?"),
        (["--break", "%x1"], "--break: no value is called '%x1'; did you mean"),
    ],
)
def test_unknown_names(options: list[str], message: str, add: Path, capsys: Capture) -> None:
    assert message in printed(capsys, add, *options, code=2)


def test_nothing_reads_both_program_and_prompt_from_standard_input(capsys: Capture) -> None:
    assert run("-", "--break", "%0") == 2
    assert "--break reads commands from standard input" in capsys.readouterr().err


def at_prompt(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, add: Path, stop: str, *lines: str, code: int = 0
) -> str:
    """Return what the debugger says to commands."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    return printed(capsys, add, "--break", stop, code=code)


def test_prompt_shows_values_and_frames(add: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    said = at_prompt(monkeypatch, capsys, add, "@twice/%s", "values", "up", "print %0", "p x", "where", "list", "c")
    lines = said.split("(stablehlo) ")
    assert lines[0] == "7:8: stablehlo.add\n%s: tensor<4xf32> min 2, max 6, mean 4, 1 NaN\n"
    assert lines[1].startswith("%v: tensor<4xf32> min 1") and "\n%s: tensor<4xf32>" in lines[1]
    assert lines[2] == "3:8: func.call\n"
    assert lines[3] == "%0 = tensor<4xf32> {\n  [1.000000e+00, 2.000000e+00, 3.000000e+00, nan]\n}\n"
    assert lines[4].startswith("%x = tensor<4xf32> {")
    assert lines[5] == "> 0 3:8: func.call\n  1 7:8: stablehlo.add\n"
    assert ">     3   %1 = func.call @twice(%0)" in lines[6]


def test_prompt_steps_and_stops(add: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    said = at_prompt(monkeypatch, capsys, add, "%0", "next", "continue")
    assert [line for line in said.splitlines() if re.match(r"(\(stablehlo\) )?\d+:", line)] == [
        "2:8: stablehlo.add (jit(f)/add at model.py:3:1)", "(stablehlo) 3:8: func.call",
    ]  # fmt: skip
    assert "(stablehlo) 7:8: stablehlo.add\n" in at_prompt(monkeypatch, capsys, add, "%0", "step", "continue")
    assert "7:8: stablehlo.add\n" in at_prompt(monkeypatch, capsys, add, "%0", "break @twice/%s", "continue", "c")
    assert "%1" not in at_prompt(monkeypatch, capsys, add, "%0", "delete", "continue")
    assert at_prompt(monkeypatch, capsys, add, "@twice/%v", "c").startswith("7:8: stablehlo.add\n%v: tensor<4xf32>")


def test_prompt_quits(add: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    assert at_prompt(monkeypatch, capsys, add, "%0", "quit", code=130).endswith("stopped\n")
    assert at_prompt(monkeypatch, capsys, add, "%0", code=130).endswith("stopped\n")  # the end of the input


def test_prompt_helps(add: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    said = at_prompt(monkeypatch, capsys, add, "%0", "help", "contnue", "p %9", "%x", "up", "", "break %nope", "c")
    assert "values: list the values computed so far" in said
    assert "unknown command 'contnue'; did you mean 'continue'?" in said
    assert "no value %9 yet" in said and "no value is called '%nope'" in said
    assert "%x = tensor<4xf32>" in said and "no frame there" in said


def test_prompt_shows_arguments_that_a_region_used_first(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "if.mlir"
    path.write_text("""func.func @main(%x: tensor<f32>, %y: tensor<4xf32>) -> tensor<f32> {
      %p = stablehlo.compare EQ, %x, %x : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %a = stablehlo.negate %x : tensor<f32>
      %r = func.call @f(%a, %p) : (tensor<f32>, tensor<i1>) -> tensor<f32>
      return %r : tensor<f32>
    }
    func.func private @f(%a: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {
      %r = "stablehlo.if"(%p) ({
        %n = stablehlo.negate %a : tensor<f32>
        stablehlo.return %n : tensor<f32>
      }, {
        stablehlo.return %a : tensor<f32>
      }) : (tensor<i1>) -> tensor<f32>
      %u = stablehlo.add %a, %r : tensor<f32>
      return %u : tensor<f32> }""")
    monkeypatch.setattr(sys, "stdin", io.StringIO("print %a\nc\n"))
    assert "%a = tensor<f32> {-1.000000e+00}" in printed(capsys, path, "--break", "@f/%u")
