"""Commands that search or call backends end at the limit of their time, and say so rather than give a verdict."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from stablehlo_ref.cli.main import main
from stablehlo_ref.conform.campaign import export

# So large that even machine code does not come to the limit of iterations first.
ENDLESS = """func.func @main(%x: tensor<4096xf32>) -> tensor<4096xf32> {
  %true = stablehlo.constant dense<true> : tensor<i1>
  %0 = stablehlo.while(%a = %x) : tensor<4096xf32>
  cond { stablehlo.return %true : tensor<i1> } do {
    %1 = stablehlo.tanh %a : tensor<4096xf32>
    stablehlo.return %1 : tensor<4096xf32>
  }
  return %0 : tensor<4096xf32>
}
"""
TANH = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32>
  %1 = stablehlo.sine %0 : tensor<4xf32>
  %2 = stablehlo.tanh %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
"""
HANGS = "--backend=python:tests.debug.backends:hangs"
COMMANDS = {
    "diff of an endless program": ["diff", "endless.mlir", "--random-inputs=0", "--backend=self"],
    "diff of a backend that hangs": ["diff", "tanh.mlir", "--random-inputs=0", HANGS],
    "exceptions of a backend that hangs": ["exceptions", "tanh.mlir", "--random-inputs=0", HANGS],
    "reduce by a backend that hangs": ["reduce", "tanh.mlir", "--random-inputs=0", HANGS, "-o=small.mlir"],
    "reduce by a command that hangs": [
        "reduce", "tanh.mlir", "--random-inputs=0", "--predicate=sh -c 'sleep 100' {program}", "-o=small.mlir",
    ],
    "equiv of endless programs": ["equiv", "endless.mlir", "endless.mlir"],
    "survey of a backend that hangs": ["survey", HANGS, "--ops=tanh", "--types=f32"],
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_command_ends_at_its_deadline(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path.cwd()))
    monkeypatch.chdir(tmp_path)
    Path("endless.mlir").write_text(ENDLESS)
    Path("tanh.mlir").write_text(TANH)
    start = time.perf_counter()
    assert main([*COMMANDS[name], "--max-seconds=1.5", "--max-total-bytes=1GB"]) == 1
    assert time.perf_counter() - start < 9
    printed = capsys.readouterr()
    assert "takes longer than the limit of 1.5 seconds" in printed.err and not printed.out


def test_reduce_keeps_what_it_found_within_the_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tanh.mlir").write_text(TANH)
    Path("slow.sh").write_text("sleep 0.4; grep -q tanh $1")
    options = ["--random-inputs=0", "--predicate=sh slow.sh {program}", "-o=small.mlir", "--max-seconds=2"]
    assert main(["reduce", "tanh.mlir", *options]) == 0
    assert "; the limit of calls or of time was reached" in capsys.readouterr().out
    assert "stablehlo.tanh" in Path("small.mlir").read_text()


def test_results_that_nobody_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    export(tmp_path, ["op/stablehlo.add/f32/0"])
    os.mkfifo(tmp_path / "000000.0.npy")
    assert main(["conform-files", "judge", str(tmp_path), str(tmp_path), "--max-seconds=0.2"]) == 1
    assert "reading the file takes longer than the limit of 0.2 seconds" in capsys.readouterr().err


def test_a_campaign_ends_at_its_deadline(capsys: pytest.CaptureFixture[str]) -> None:
    start = time.perf_counter()
    main(["conform", "--backend=self", "--ops=add,tanh,dot_general", "--max-seconds=0.1"])
    assert time.perf_counter() - start < 40  # the profile has 110
    assert "untested" in capsys.readouterr().out
