"""What the command line prints and writes of results, its exit codes, and its reports for scripts."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from command_line import ADD, CHECKED, identity, run, shell

from stablehlo_ref.cli.console import progress_line

Capture = pytest.CaptureFixture[str]
FAILING = CHECKED.replace("dense<1> : tensor<i32>\n  return", "dense<2> : tensor<i32>\n  return")


def written(folder: Path, text: str) -> Path:
    path = folder / "program.mlir"
    path.write_text(text)
    return path


# --- the last line ----------------------------------------------------------------------------------------------------


def test_last_line_has_checks_and_types(tmp_path: Path, capsys: Capture) -> None:
    path = written(tmp_path, CHECKED)
    assert run(path) == 0
    assert capsys.readouterr().out == f"// {path}: 2 checks passed; no results\n"
    path = written(tmp_path, identity("tensor<?xi32>", "tensor<f32>"))
    assert run(path, "--random-inputs", "0", "--dim", "a=3") == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"// {path}: ran, no checks in it; 2 results: result0: tensor<3xi32>, result1: tensor<f32>"


def test_last_line_of_parts(tmp_path: Path, capsys: Capture) -> None:
    path = written(tmp_path, f"{CHECKED}// -----\n// a comment\n// -----\n{FAILING}")
    assert run(path, "--split-input-file") == 1
    assert capsys.readouterr().out == f"// {path}: 3 parts ran, 1 failed; 3 checks passed\n"


def test_failed_checks_are_counted(tmp_path: Path, capsys: Capture) -> None:
    assert run(written(tmp_path, FAILING)) == 1
    assert capsys.readouterr().err.endswith("\nnote: 1 of 2 checks failed\n")


@pytest.mark.parametrize("option", ["--quiet", "-q", "--print-dense"])
def test_no_last_line(option: str, tmp_path: Path, capsys: Capture) -> None:
    assert run(written(tmp_path, CHECKED), option) == 0
    assert capsys.readouterr().out == ""


def test_translate_prints_only_results(tmp_path: Path, capsys: Capture) -> None:
    path = written(tmp_path, "func.func @main() -> tensor<2000xi1> {\n  %0 = stablehlo.constant dense<true>\n"
                             "    : tensor<2000xi1>\n  return %0 : tensor<2000xi1>\n}\n")  # fmt: skip
    assert run("translate", "--interpret", path) == 0
    assert capsys.readouterr().out == f"tensor<2000xi1> {{\n  [{', '.join(['true'] * 2000)}]\n}}\n"
    assert run("translate", "--interpret", written(tmp_path, "")) == 0


# --- large results ----------------------------------------------------------------------------------------------------

IOTA = """\
func.func @main() -> tensor<1000x1000xi32> {
  %0 = stablehlo.iota dim = 1 : tensor<1000x1000xi32>
  return %0 : tensor<1000x1000xi32>
}
"""


def test_large_results_are_elided_as_in_numpy(tmp_path: Path, capsys: Capture) -> None:
    path, row = written(tmp_path, IOTA), "    [0, 1, 2, ..., 997, 998, 999]"
    assert run(path, "-q") == 0
    rows = "\n".join([f"{row},"] * 3 + ["    ...,"] + [f"{row},"] * 2 + [row])
    assert capsys.readouterr().out == f"tensor<1000x1000xi32> {{\n  [\n{rows}\n  ]\n}}\n"
    assert run(path, "--full", "-q") == 0
    assert capsys.readouterr().out.count("999") == 1000


# --- files ------------------------------------------------------------------------------------------------------------


def test_npy_output_has_the_only_result(tmp_path: Path, capsys: Capture) -> None:
    path, out = written(tmp_path, IOTA), tmp_path / "out.npy"
    assert run(path, "--output", out) == 0
    np.testing.assert_array_equal(np.load(out)[5], np.arange(1000))
    assert f"1 result in {out}: result0" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("out.npy", "an .npy file has one array, got 2 results"),
        ("program.mlir", "would overwrite the program"),
        ("./in.npz", "would overwrite --inputs in.npz"),
        ("a.npy", "would overwrite --input a"),
        (".", "is a folder"),
        ("nowhere/out.npz", "there is no folder nowhere"),
        ("out.txt", "expected a name that ends in .npy, .npz or .safetensors"),
    ],
)
def test_rejects_outputs(
    output: str, message: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, identity("tensor<i32>", "tensor<i32>"))
    np.savez("in.npz", b=np.int32(1))
    np.save("a.npy", np.int32(1))
    assert run("program.mlir", "--inputs", "in.npz", "--input", "a=a.npy", "--output", output) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "options", "code"),
    [
        (0.0, [], 0),
        (1e-6, [], 1),
        (1e-6, ["--rtol", "1e-5"], 0),
        (1e-6, ["--atol", "1e-5"], 0),
        (1e-6, ["--ulp", "100"], 0),
        (1e-2, ["--rtol", "1e-5", "--ulp", "100"], 1),
    ],
)
def test_expect(change: float, options: list[str], code: int, tmp_path: Path, capsys: Capture) -> None:
    path, expected = written(tmp_path, identity("tensor<4xf32>")), tmp_path / "expected.npz"
    np.savez(expected, result0=np.array([1, 2, 3, 4 + change], np.float32))
    assert run(path, "--input", "a=[1, 2, 3, 4]", "--expect", expected, *options) == code
    printed = capsys.readouterr()
    assert ("results as in" in printed.out) == (code == 0)
    assert ("result 'result0' is not as expected: 1 of 4 elements differ" in printed.err) == (code == 1)


def test_expect_reports_another_type(tmp_path: Path, capsys: Capture) -> None:
    path, expected = written(tmp_path, identity("tensor<2xf32>", "tensor<i32>")), tmp_path / "expected.npz"
    np.savez(expected, result0=np.zeros(3, np.float32), result1=np.zeros(()))
    assert run(path, "--random-inputs", "0", "--expect", expected) == 1
    error = capsys.readouterr().err
    assert "result 'result0' has the shape (2,), expected (3,)" in error
    assert "result 'result1' has the dtype int32, expected float64" in error


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["result0", "other"], "no array is called 'result1', and no result is called 'other'"),
        (["result0"], "no array is called 'result1'"),
        (["result0", "result1", "resultt"], "no result is called 'resultt'"),
        (
            ["result0", "resul1"],
            "no array is called 'result1', and no result is called 'resul1'; did you mean 'result1'?",
        ),
    ],
)
def test_expect_refuses_other_names(names: list[str], message: str, tmp_path: Path, capsys: Capture) -> None:
    """It is an error of the command line, in one message."""
    path, expected = written(tmp_path, identity("tensor<f32>", "tensor<f32>")), tmp_path / "expected.npz"
    np.savez(expected, **dict.fromkeys(names, np.float32(1)))
    assert run(path, "--input", "a=1", "--input", "b=1", "--expect", expected) == 2
    there = f"its arrays are {', '.join(names)}; the results are result0, result1"
    assert capsys.readouterr().err == f"stablehlo-interp: error: --expect {expected}: {message}\n  {there}\n"


@pytest.mark.parametrize(
    ("contents", "message"),
    [(None, "cannot read e.npz: no such file"), (b"12", "expected an .npy, .npz or safetensors file")],
)
def test_expect_needs_a_file_of_arrays(
    contents: bytes | None, message: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path, identity("tensor<f32>"))
    if contents is not None:
        Path("e.npz").write_bytes(contents)
    assert run(path, "--input", "a=1", "--expect", "e.npz") == 2
    assert capsys.readouterr().err == f"stablehlo-interp: error: --expect e.npz: {message}\n"


@pytest.mark.parametrize("name", ["result0", "arr_0", "y"])
def test_expect_compares_one_array_with_one_result(name: str, tmp_path: Path, capsys: Capture) -> None:
    """Whatever its name is: JAX calls a result `result`, and others `result0`."""
    text = identity("tensor<f32>").replace("-> (tensor<f32>)", '-> (tensor<f32> {jax.result_info = "result"})')
    path, expected = written(tmp_path, text), tmp_path / "expected.npz"
    np.savez(expected, **{name: np.float32(1)})
    assert run(path, "--input", "a=1", "--expect", expected) == 0
    assert run(path, "--input", "a=2", "--expect", expected) == 1
    assert "result 'result' is not as expected" in capsys.readouterr().err


# --- JSON -------------------------------------------------------------------------------------------------------------


def test_json(tmp_path: Path, capsys: Capture) -> None:
    path = written(tmp_path, ADD)
    assert run(path, "--input", "x=1", "--input", "y=[1, 2, 3, nan]", "--json", "--profile") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["schema"] == 1 and report["ok"] and report["entry"] == "main" and report["diagnostics"] == []
    assert report["inputs"][0] == {"name": "x", "names": ["x"], "type": "tensor<4xf32>", "shape": [4]}
    (result,) = report["results"]
    assert result == {
        "name": "result0", "names": ["result0"], "type": "tensor<4xf32>", "shape": [4],
        "min": 4.0, "max": 8.0, "mean": 6.0, "nans": 1,
    }  # fmt: skip
    assert set(report["seconds"]) == {"parse", "verify", "plan", "run"}
    assert {op["name"]: op["count"] for op in report["ops"]} == {"stablehlo.add": 2, "func.call": 1}


def test_json_of_errors(tmp_path: Path, capsys: Capture) -> None:
    path = written(tmp_path, f"{FAILING}// -----\n" + CHECKED.replace("expect_eq_const", "expect_eg_const", 1))
    assert run(path, "--split-input-file", "--json") == 1
    failed, malformed = map(json.loads, capsys.readouterr().out.splitlines())
    assert not failed["ok"] and failed["checks"] == {"passed": 1, "failed": 1}
    assert failed["diagnostics"][0]["line"] == 4 and failed["diagnostics"][0]["severity"] == "error"
    assert malformed["entry"] is None and malformed["line"] == 7 and malformed["diagnostics"]


# --- exit codes -------------------------------------------------------------------------------------------------------


def test_exit_codes(tmp_path: Path, capsys: Capture) -> None:
    path = written(tmp_path, CHECKED)
    assert run(path) == 0
    assert run(tmp_path / "missing.mlir") == 1
    assert capsys.readouterr().err == f"stablehlo-interp: error: {tmp_path / 'missing.mlir'}: no such file\n"
    assert run(path, "--entry", "nain") == 2
    assert run(path, "--args", "[1") == 2
    assert run(path, "--no-such-option") == 2
    assert run() == 2
    assert run(written(tmp_path, "// nothing")) == 1
    assert "the program has no functions: there is nothing to run" in capsys.readouterr().err
    assert run(written(tmp_path, "\n")) == 1
    assert "the program is empty: there is nothing to run" in capsys.readouterr().err
    assert run("optt") == 1
    assert "did you mean the command 'opt'?" in capsys.readouterr().err
    assert run("optt", path, "--canonicalize") == 2
    assert "no command or file is called 'optt'; did you mean 'opt'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "error"),
    [
        ("stablehlo-interp program.mlir >&-", "stablehlo-interp: error: standard output is closed\n"),
        ("stablehlo-interp - <&-", "stablehlo-interp: error: standard input is closed\n"),
        ("stablehlo-interp program.mlir --full >/dev/full", "stablehlo-interp: error: cannot write to standard output: "
                                                            "No space left on device\n"),
        ("stablehlo-interp program.mlir --full | head -n 1 >/dev/null", ""),
    ],
)  # fmt: skip
def test_closed_streams_are_errors(command: str, error: str, tmp_path: Path) -> None:
    written(tmp_path, IOTA.replace("1000x1000", "200x200"))  # more text than a pipe holds
    done = shell(command, tmp_path)
    assert (done.returncode, done.stderr) == (1, error)


def test_interrupted_run_is_one_line(tmp_path: Path) -> None:
    path = written(tmp_path, """
func.func @main(%x: tensor<i1>) -> tensor<i1> {
  %0 = stablehlo.while(%y = %x) : tensor<i1> cond { stablehlo.return %y : tensor<i1> }
    do {
    %1 = stablehlo.and %y, %y : tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }
  return %0 : tensor<i1>
}
""")  # fmt: skip
    command = [sys.executable, "-m", "stablehlo_ref", str(path), "--input", "x=true", "-v"]

    def restore_interrupts() -> None:  # which the shell ignores where it runs the tests in the background
        signal.signal(signal.SIGINT, signal.default_int_handler)

    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=restore_interrupts
    )
    try:
        assert process.stderr is not None
        process.stderr.readline()  # of an op: the program runs
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=20)
    finally:
        process.kill()
    assert (process.returncode, out) == (130, "") and error.splitlines()[-1].endswith("interrupted")


# --- colours, progress ------------------------------------------------------------------------------------------------


def test_colour(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, FAILING)
    for variable in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(variable, raising=False)

    def is_coloured(*options: str) -> bool:
        assert run(path, *options) == 1
        return "\x1b[1;31merror: " in capsys.readouterr().err

    assert not is_coloured()
    assert is_coloured("--color", "always")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert is_coloured()
    assert not is_coloured("--color", "never")
    monkeypatch.setenv("NO_COLOR", "1")
    assert not is_coloured()


def test_progress_of_reading_and_passes() -> None:
    expected = "[###############...............] reading x.mlir, 50 %, 4 s, 4 s left"
    assert progress_line("reading x.mlir", 0.5, 4.0) == expected
    assert progress_line("verifying", None, 4.0) == "verifying, 4 s"
