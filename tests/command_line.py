"""Programs and a way to run the command line, for the tests of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from stablehlo_ref.cli.main import main

ADD = """\
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %y : tensor<4xf32> loc("jit(f)/add"("model.py":3:1))
  %1 = func.call @twice(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @twice(%v: tensor<4xf32>) -> tensor<4xf32> {
  %s = stablehlo.add %v, %v : tensor<4xf32>
  return %s : tensor<4xf32>
}
"""
CHECKED = """\
func.func @main() {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  check.expect_eq_const %0, dense<1> : tensor<i32>
  check.expect_eq_const %0, dense<1> : tensor<i32>
  return
}
"""


def identity(*types: str) -> str:
    """Return a program that returns its inputs, called a, b, c, ..."""
    names = [f"%{'abcdefgh'[i]}" for i in range(len(types))]
    inputs = ", ".join(f"{name}: {type}" for name, type in zip(names, types))
    results = ", ".join(types)
    return f"func.func @main({inputs}) -> ({results}) {{\n  return {', '.join(names)} : {results}\n}}\n"


def run(*arguments: str | Path) -> int:
    """Return the exit code of a command line, that of usage errors too."""
    try:
        return main([str(argument) for argument in arguments])
    except SystemExit as exit:
        return int(str(exit.code))


def shell(command: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a line of bash in which `stablehlo-interp` is this package."""
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    script = tools / "stablehlo-interp"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -m stablehlo_ref "$@"\n')
    script.chmod(0o755)
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    repository = str(Path(__file__).parent.parent)
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, cwd=folder, check=False,
        env={**os.environ, "PATH": path, "PYTHONPATH": repository, **environment},
    )  # fmt: skip
