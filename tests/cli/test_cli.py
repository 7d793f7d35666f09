"""The command line: inputs, outputs, exit codes, errors."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from stablehlo_ref.cli.main import main

ADD = """\
func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %y : tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""
FAILS = """\
func.func @main() {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  check.expect_eq_const %0, dense<2> : tensor<i32>
  return
}
"""
LITERALS = "[dense<1.0> : tensor<2xf32>, dense<[2.0, 3.0]> : tensor<2xf32>]"


@pytest.fixture
def add(tmp_path: Path) -> str:
    path = tmp_path / "add.mlir"
    path.write_text(ADD)
    return str(path)


def test_runs_on_literals_and_prints_results(add: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([add, "--args", LITERALS]) == 0
    path_and_types = f"// {add}: ran, no checks in it; 1 result: result0: tensor<2xf32>\n"
    assert capsys.readouterr().out == f"tensor<2xf32> {{\n  [3.000000e+00, 4.000000e+00]\n}}\n{path_and_types}"


def test_print_dense(add: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([add, "--args", LITERALS, "--print-dense"]) == 0
    assert capsys.readouterr().out == "dense<[3.000000e+00, 4.000000e+00]> : tensor<2xf32>\n"


def test_results_of_dynamic_types_print_with_their_sizes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "dynamic.mlir"
    path.write_text(ADD.replace("2xf32", "?xf32"))
    assert main([str(path), "--args", LITERALS, "--print-dense", "-vv"]) == 0
    printed = capsys.readouterr()
    assert printed.out == "dense<[3.000000e+00, 4.000000e+00]> : tensor<2xf32>\n"
    assert f"{path}:2:8: stablehlo.add: %0 = tensor<2xf32> {{\n" in printed.err


@pytest.mark.parametrize(
    ("sizes", "printed"),
    [
        (["x:0=3", "y:0=3"], "tensor<3xf32>"),
        (["x=2", "*=2"], "tensor<2xf32>"),
        (["*=0"], "tensor<0xf32>"),
    ],
)
def test_random_inputs_of_unknown_size(
    sizes: list[str], printed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "dynamic.mlir"
    path.write_text(ADD.replace("2xf32", "?xf32"))
    given = [f"--dim={size}" for size in sizes]
    assert main([str(path), "--random-inputs", "0", "--print-dense", *given]) == 0
    assert capsys.readouterr().out.endswith(f" : {printed}\n")


@pytest.mark.parametrize(
    ("sizes", "code", "message"),
    [
        (["N=4"], 2, "no unknown dimension is called 'N'; there are x:0, y:0"),
        (["x:1=4"], 2, "no unknown dimension is called 'x:1'"),
        (
            ["x:0=4"],
            1,
            "tensor<?xf32> at random; `sizes`, or --dim NAME:AXIS=SIZE, gives a size",
        ),
        (["x:0=-1"], 2, "expected NAME:AXIS=SIZE, got 'x:0=-1'"),
    ],
)
def test_reports_wrong_sizes(
    sizes: list[str], code: int, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "dynamic.mlir"
    path.write_text(ADD.replace("2xf32", "?xf32"))
    try:
        found = main([str(path), "--random-inputs", "0", *(f"--dim={size}" for size in sizes)])
    except SystemExit as usage:
        found = int(str(usage.code))
    assert found == code
    assert message in capsys.readouterr().err


def test_reads_npy_and_npz_files_and_writes_npz(add: str, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array([1, 2], np.float32))
    np.savez(tmp_path / "rest.npz", y=np.array([10, 20], np.float32))
    out = tmp_path / "out.npz"
    given = ["--input", f"x={tmp_path / 'x.npy'}", "--inputs", str(tmp_path / "rest.npz")]
    assert main([add, *given, "--output", str(out)]) == 0
    np.testing.assert_array_equal(np.load(out)["result0"], [11, 22])


def test_archive_members_by_position(add: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(tmp_path / "in.npz", np.array([1, 2], np.float32), np.array([3, 4], np.float32))
    assert main([add, "--inputs", str(tmp_path / "in.npz")]) == 0
    assert "[4.000000e+00, 6.000000e+00]" in capsys.readouterr().out


def test_random_inputs_depend_on_the_seed_only(add: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([add, "--random-inputs", "1", "-q"]) == main([add, "--random-inputs", "1", "-q"]) == 0
    first, second = capsys.readouterr().out.split("tensor<2xf32> {")[1:]
    assert first == second
    assert main([add, "--random-inputs", "2"]) == 0
    assert first not in capsys.readouterr().out


def test_failed_check_exits_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "fails.mlir"
    path.write_text(FAILS)
    assert main([str(path)]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"{path}:3:3: error: 'check.expect_eq_const' failed: 1 of 1 elements differ\n")
    assert "actual 1, expected 2" in error


def test_split_input_file_runs_each_part_with_its_line_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "parts.mlir"
    path.write_text(FAILS.replace("dense<2>", "dense<1>") + "\n// -----\n\n" + FAILS + "// -----\n" + FAILS)
    assert main([str(path), "--split-input-file"]) == 1
    error = capsys.readouterr().err
    assert f"{path}:11:3: error" in error
    assert f"{path}:17:3: error" in error


def test_splits_only_at_whole_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "banners.mlir"
    path.write_text(f"// ---------- first\n{FAILS}\r\n// // -----\r\n{FAILS}  // ----- not here\n")
    assert main([str(path), "--split-input-file"]) == 1
    assert [line for line in capsys.readouterr().err.splitlines() if "error" in line] == [
        f"{path}:{line}:3: error: 'check.expect_eq_const' failed: 1 of 1 elements differ" for line in (4, 11)
    ]


def test_reads_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"func.func @main( {\n")))
    assert main(["-"]) == 1
    assert capsys.readouterr().err.startswith("<stdin>:1:")


@pytest.mark.parametrize("data", [b"\x00\x01ML\x02\x03", b"ML\xefR garbage", b"\xff\xfe", b"func"])
def test_rejects_files_that_are_not_programs(data: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.mlir"
    path.write_bytes(data)
    assert main([str(path)]) == 1
    assert re.match(rf"{path}(:\d+:\d+|: byte \d+): error: ", capsys.readouterr().err)


def test_reports_a_missing_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["/nonexistent/x.mlir"]) == 1
    assert capsys.readouterr().err == "stablehlo-interp: error: /nonexistent/x.mlir: no such file\n"


def test_rejects_wrong_literals(add: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([add, "--args", "not_array"]) == 2
    assert "array attribute string for args, i.e. --args=" in capsys.readouterr().err
    assert main([add, "--args", "[4.0 : f32]"]) == 2
    assert "expected dense elements attribute for args elements" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--input", "x"],
        ["f", "--replicas", "0"],
        ["f", "--random-inputs", "1", "--args", "[]"],
        ["f", "--random-inputs", "-1"],
        [],
    ],
)
def test_wrong_command_line_exits_with_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2


EVERY_TYPE = (
    "i1", "i2", "ui2", "i4", "ui4", "i8", "ui8", "si8", "i16", "ui16", "i32", "ui32", "i64", "ui64", "index",
    "f4E2M1FN", "f6E2M3FN", "f6E3M2FN", "f8E3M4", "f8E4M3", "f8E4M3FN", "f8E4M3FNUZ", "f8E4M3B11FNUZ", "f8E5M2",
    "f8E5M2FNUZ", "f8E8M0FNU", "bf16", "f16", "f32", "f64", "complex<f32>", "complex<f64>",
    "!quant.uniform<i8:f32,0.5:3>",
)  # fmt: skip


@pytest.mark.parametrize("element", EVERY_TYPE)
def test_outputs_can_be_read_as_inputs(element: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, first, second = tmp_path / "id.mlir", tmp_path / "first.npz", tmp_path / "second.npz"
    for shape in ("", "2x3x", "0x"):
        t = f"tensor<{shape}{element}>"
        path.write_text(f'func.func @main(%x: {t}) -> ({t} {{jax.result_info = "x"}}) {{\n  return %x : {t}\n}}\n')
        assert main([str(path), "--random-inputs", "3", "--output", str(first), "-q"]) == 0
        assert main([str(path), "--inputs", str(first), "--output", str(second), "-q"]) == 0
        one, two = np.load(first)["x"], np.load(second)["x"]
        assert (one.dtype, one.shape, one.tobytes()) == (two.dtype, two.shape, two.tobytes())
        assert main([str(path), "--inputs", str(first), "--print-dense"]) == 0
        dense = capsys.readouterr().out.strip()
        if "quant" not in element:
            assert main([str(path), "--args", f"[{dense}]", "--print-dense"]) == 0
            assert capsys.readouterr().out.strip() == dense


TUPLE = """\
func.func @main(%t: !stablehlo.token, %x: tensor<2xi32>, %p: tuple<tensor<i32>, tuple<>>)
    -> (!stablehlo.token, tuple<tensor<2xi32>, tuple<tensor<i32>, tuple<>>>) {
  %0 = stablehlo.tuple %x, %p : tuple<tensor<2xi32>, tuple<tensor<i32>, tuple<>>>
  return %t, %0 : !stablehlo.token, tuple<tensor<2xi32>, tuple<tensor<i32>, tuple<>>>
}
"""


def test_writes_tuples_and_skips_tokens(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "tuple.mlir", tmp_path / "results"
    path.write_text(TUPLE)
    assert main([str(path), "--random-inputs", "1", "--output", str(out), "-q"]) == 0
    saved = np.load(out)
    assert {name: saved[name].shape for name in saved.files} == {"result1.0": (2,), "result1.1.0": ()}
    assert main([str(path), "--random-inputs", "1"]) == 0
    assert capsys.readouterr().out.startswith("token\ntuple (\ntensor<2xi32> {")


def test_tokens_do_not_count_as_positions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, given = tmp_path / "token.mlir", tmp_path / "in.npz"
    path.write_text(ADD.replace("(%x", "(%t: !stablehlo.token, %x"))
    np.savez(given, *np.array([[1, 2], [2, 3]], np.float32))
    for arguments in (["--args", LITERALS], ["--inputs", str(given)], ["--args", LITERALS, "--replicas", "2"]):
        assert main([str(path), *arguments]) == 0
        assert "[3.000000e+00, " in capsys.readouterr().out
    too_many = f"{LITERALS[:-1]}, {LITERALS[1:]}"
    assert main([str(path), "--args", too_many, "--replicas", "2"]) == 2
    assert "@main takes 3 arguments, but 4 are given" in capsys.readouterr().err


def test_reports_a_broken_archive(add: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x.npy", b"\x93NUMPY\x01\x00")
    assert main([add, "--inputs", str(path)]) == 2
    assert f"cannot read {path}: member x: " in capsys.readouterr().err
    path.write_bytes(b"PK\x03\x04 no archive")
    assert main([add, "--inputs", str(path)]) == 2
    assert f"cannot read {path}" in capsys.readouterr().err


def test_verbose_and_profile(add: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([add, "--args", LITERALS, "-v", "--profile"]) == 0
    error = capsys.readouterr().err
    assert f"{add}:2:8: stablehlo.add: %0 = tensor<2xf32>" in error
    assert re.search(r"^ +[\d.]+ s 100\.0 % +1  stablehlo\.add$", error, re.M)
    assert "bytes at the peak" in error


def test_verbose_shows_unused_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "unused.mlir"
    path.write_text(ADD.replace("  %0", "  %1 = stablehlo.abs %x : tensor<2xf32>\n  %0"))
    assert main([str(path), "--args", LITERALS, "-v"]) == 0
    assert f"{path}:2:8: stablehlo.abs: %1 = tensor<2xf32> min 1, max 1, mean 1, " in capsys.readouterr().err


def test_probes_are_written_as_npy_files(tmp_path: Path) -> None:
    path = tmp_path / "probe.mlir"
    path.write_text(
        "func.func @main() {\n  %0 = stablehlo.constant dense<[1.5, 2.0]> : tensor<2xbf16>\n"
        '  %1 = interpreter.probe %0, probe_id = "a" : tensor<2xbf16>\n'
        '  check.expect_serialized_eq %1, probe_id = "a" : tensor<2xbf16>\n  return\n}\n'
    )
    assert main([str(path), "--probe-output-dir", str(tmp_path / "probes")]) == 0
    np.testing.assert_array_equal(np.load(tmp_path / "probes" / "probe1.npy"), [0x3FC0, 0x4000])
    assert (tmp_path / "probes" / "index.csv").read_text().startswith("a,tensor<2xbf16>,")


def test_runs_as_a_module(add: str) -> None:
    command = [sys.executable, "-m", "stablehlo_ref", add, "--random-inputs", "0"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("tensor<2xf32>")


def test_closed_pipe_is_not_an_error() -> None:
    command = f"{sys.executable} -m stablehlo_ref --list-ops | head -n 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert done.stderr == ""


SUM = """
func.func @main(%x: tensor<i32>) -> tensor<i32> {
  %0 = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %sum = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %sum : tensor<i32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}
"""


def test_inputs_for_each_process_or_for_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "sum.mlir"
    path.write_text(SUM)
    run = [str(path), "--replicas", "2", "--print-dense"]
    archives = []
    for number in (3, 4):
        np.savez(tmp_path / f"{number}.npz", np.int32(number))
        archives += ["--inputs", str(tmp_path / f"{number}.npz")]
    literals = ["--args=[dense<1> : tensor<i32>]", "--args=[dense<2> : tensor<i32>]"]
    for given, total in ((archives, 7), (literals, 3), (literals[:1], 2)):
        assert main([*run, *given]) == 0
        assert capsys.readouterr().out.count(f"dense<{total}> : tensor<i32>") == 2
    with pytest.raises(SystemExit):
        main([*run, *literals, literals[0]])
    assert "--args is given 3 times, but the number of processes is 2" in capsys.readouterr().err


def test_rng_seed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "draw.mlir"
    path.write_text("""
func.func @main() -> tensor<4xui64> {
  %a = stablehlo.constant dense<0> : tensor<ui64>
  %b = stablehlo.constant dense<18446744073709551615> : tensor<ui64>
  %shape = stablehlo.constant dense<4> : tensor<1xi64>
  %0 = stablehlo.rng %a, %b, %shape, distribution = UNIFORM
    : (tensor<ui64>, tensor<ui64>, tensor<1xi64>) -> tensor<4xui64>
  return %0 : tensor<4xui64>
}
""")
    drawn = []
    for options in ([], ["--rng-seed", "0"], ["--rng-seed", "7"], ["--rng-seed", "7"]):
        assert main([str(path), *options]) == 0
        drawn.append(capsys.readouterr().out)
    assert drawn[0] == drawn[1] != drawn[2] == drawn[3]
    with pytest.raises(SystemExit):
        main([str(path), "--rng-seed", str(1 << 64)])


def test_max_seconds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "endless.mlir"
    path.write_text("""
func.func @main(%x: tensor<i1>) -> tensor<i1> {
  %0 = stablehlo.while(%y = %x) : tensor<i1>
  cond {
    stablehlo.return %y : tensor<i1>
  } do {
    stablehlo.return %y : tensor<i1>
  }
  return %0 : tensor<i1>
}
""")
    assert main([str(path), "--args=[dense<true> : tensor<i1>]", "--max-seconds", "0.05"]) == 1
    assert "takes longer than the limit of 0.05 seconds" in capsys.readouterr().err
