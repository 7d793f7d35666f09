"""`--profile` and `--dump-code`."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.cli.main import main
from stablehlo_ref.debug.traces.observe import Profile

PROGRAM = """
func.func @main(%n: tensor<i32>) -> tensor<i32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.while(%i = %zero) : tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = func.call @next(%i) : (tensor<i32>) -> tensor<i32>
    stablehlo.return %2 : tensor<i32>
  }
  return %0 : tensor<i32>
}
func.func private @next(%i: tensor<i32>) -> tensor<i32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.add %i, %one : tensor<i32>
  return %0 : tensor<i32>
}
"""


@pytest.fixture
def profile() -> Profile:
    """The profile of two turns by a clock that ticks once at the start and the end of each op."""
    ticks = count()
    profile = Profile(clock=lambda: float(next(ticks)))
    sr.parse(PROGRAM, filename="p.mlir").run(np.int32(2), observer=profile)
    return profile


def test_ops_by_kind_and_place(profile: Profile) -> None:
    # 3 x compare and 2 x add take a tick each; call is 3 ticks of which 1 is in add; while 15 of which 9 are inside.
    lines = str(profile).splitlines()
    assert lines[:5] == [
        "by op:",
        "    6.000000 s  40.0 %          1  stablehlo.while",
        "    4.000000 s  26.7 %          2  func.call",
        "    3.000000 s  20.0 %          3  stablehlo.compare",
        "    2.000000 s  13.3 %          2  stablehlo.add",
    ]
    assert lines[6].endswith("stablehlo.while  p.mlir:4:8")


def test_processes_that_wait_for_others_take_no_time() -> None:
    ticks = count()
    profile = Profile(clock=lambda: float(next(ticks)))
    program = sr.parse("""
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.negate %x : tensor<f32>
  %1 = "stablehlo.all_reduce"(%0) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}""")
    program.run_parallel([[np.float32(1)], [np.float32(2)]], num_replicas=2, observer=profile)
    # Each of the two is in `all_reduce` for a tick until the other runs, and for one when it goes on.
    assert str(profile).splitlines()[1:3] == [
        "    4.000000 s  66.7 %          2  stablehlo.all_reduce",
        "    2.000000 s  33.3 %          2  stablehlo.negate",
    ]


def test_speedscope(profile: Profile) -> None:
    document = profile.speedscope("p")
    names = [frame["name"] for frame in document["shared"]["frames"]]
    sampled = document["profiles"][0]
    stacks = [[names[i] for i in sample] for sample in sampled["samples"]]
    assert stacks == [
        ["stablehlo.while"],
        ["stablehlo.while", "stablehlo.compare"],
        ["stablehlo.while", "func.call @next"],
        ["stablehlo.while", "func.call @next", "stablehlo.add"],
    ]
    assert sampled["weights"] == [6, 3, 4, 2] and sampled["endValue"] == 15


def test_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, output = tmp_path / "p.mlir", tmp_path / "profile.json"
    program.write_text(PROGRAM)
    assert main(["run", str(program), "--input", "n=2", f"--profile={output}"]) == 0
    error = capsys.readouterr().err
    assert "by place:" in error and "bytes at the peak" in error
    assert json.loads(output.read_text())["profiles"][0]["unit"] == "seconds"


def test_dump_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("stablehlo_ref.accelerate")
    program = tmp_path / "p.mlir"
    program.write_text(PROGRAM)
    assert main(["run", str(program), "--input", "n=100", "--dump-code", "--mode", "no-jit"]) == 0
    source = capsys.readouterr().err
    assert f"# stablehlo.while at {program}:4:8\ndef run(" in source and "    while True:" in source
    assert main(["run", str(program), "--input", "n=1", "--dump-code"]) == 0
    assert "no loop or function ran often enough to become Python source or machine code" in capsys.readouterr().err


def test_dump_machine_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("stablehlo_ref.accelerate")
    pytest.importorskip("llvmlite")
    program = tmp_path / "p.mlir"
    program.write_text(PROGRAM)
    assert main(["run", str(program), "--input", "n=10000000", "--dump-code"]) == 0
    source = capsys.readouterr().err
    assert source.count(f"# stablehlo.while at {program}:4:8, as machine code\n") == 1
    assert source.count("\ndefine i64 @run(") == 1


INDIRECT = """func.func private @g(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.negate %x : tensor<f32>
  return %0 : tensor<f32>
}
func.func private @apply(%f: (tensor<f32>) -> tensor<f32>, %x: tensor<f32>) -> tensor<f32> {
  %0 = func.call_indirect %f(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %f = func.constant @g : (tensor<f32>) -> tensor<f32>
  %0 = func.call @apply(%f, %x) : ((tensor<f32>) -> tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
"""


def test_a_function_that_is_an_argument() -> None:
    profile = Profile()
    assert sr.load(INDIRECT).run(3.0, observer=profile) == (-3.0,)
    assert profile.by_op()["func.call_indirect"][1] == 1
