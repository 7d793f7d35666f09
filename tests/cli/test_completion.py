"""Completion in shells, asked as argcomplete's scripts ask, and by bash itself."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from command_line import shell

from stablehlo_ref.cli.main import main
from stablehlo_ref.debug import PRESETS
from stablehlo_ref.passes.catalog import PASSES

argcomplete = pytest.importorskip("argcomplete")

PROGRAM = """\
func.func @main(%x: tensor<?x4xf32> loc("params['w']"), %mask: tensor<4xi1>) -> tensor<?x4xf32> {
  %sum = stablehlo.add %x, %x : tensor<?x4xf32>
  %out = stablehlo.tanh %sum : tensor<?x4xf32>
  return %out : tensor<?x4xf32>
}
func.func @other() -> tensor<f32> {
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  return %c : tensor<f32>
}
"""
MANY = """\
func.func @first(%a: tensor<f32>) -> tensor<f32> {
  return %a : tensor<f32>
}
func.func @second(%b: tensor<f32>) -> tensor<f32> {
  return %b : tensor<f32>
}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model.mlir").write_text(PROGRAM)
    (tmp_path / "many.mlir").write_text(MANY)
    np.savez(tmp_path / "weights.npz", x=np.ones(1))
    (tmp_path / "sub").mkdir()
    return tmp_path


def question(line: str, folder: Path) -> dict[str, str]:
    """Return the environment in which a shell asks what may follow at the end of a line."""
    return {
        "_ARGCOMPLETE": "1", "COMP_LINE": line, "COMP_POINT": str(len(line)), "COMP_TYPE": "9",
        "_ARGCOMPLETE_IFS": "\n", "_ARGCOMPLETE_STDOUT_FILENAME": str(folder / "found"),
    }  # fmt: skip


def words_found(folder: Path) -> list[str]:
    """Return what a shell offers, without options that may follow instead."""
    words = [word.strip() for word in (folder / "found").read_text().splitlines()]
    return [word for word in words if not word.startswith("-") or "=" in word]


class Finder(argcomplete.CompletionFinder):  # type: ignore[misc]
    """Completes in the process of the tests, whose file descriptors and end are not argcomplete's."""

    def _init_debug_stream(self) -> None:
        pass


NAMES = {
    "diff model.mlir --contract ": [*PRESETS],
    "diff model.mlir --contract xla-cpu,dot": ["xla-cpu,dot_algorithm="],
    "diff model.mlir --contract xla-cpu,fma=": ["xla-cpu,fma=true", "xla-cpu,fma=false"],
    "diff model.mlir --contract=tp": ["--contract=tpu"],
    "diff model.mlir --backend se": ["self"],
    "diff model.mlir --backend wei": ["weights.npz"],
    "model.mlir --input ": ["x=", "params\\[\\'w\\'\\]=", "mask="],
    "run model.mlir --input m": ["mask="],
    "diff model.mlir --backend self --input m": ["mask="],
    "model.mlir --input x=w": ["x=weights.npz"],
    "model.mlir --inputs w": ["weights.npz"],
    "model.mlir --expect w": ["weights.npz"],
    "model.mlir --random m": ["mask="],
    "model.mlir --random x=u": ["x=uniform\\("],
    "model.mlir --dim x": ["x:0="],
    "model.mlir --entry ": ["main", "other"],
    "model.mlir --trace %s": ["%sum"],
    "model.mlir --trace %x,%o": ["%x,%out"],
    "model.mlir --trace stablehlo.ta": ["stablehlo.tanh"],
    "model.mlir --mode exact-sums,no": ["exact-sums,no-fast", "exact-sums,no-jit"],
    "model.mlir --on-implementation-defined w": ["warn"],
    "exceptions model.mlir --kinds nan,un": ["nan,underflow"],
    "exceptions model.mlir --kinds i": ["inf"],
    "model.mlir --color a": ["auto", "always"],
    "model.mlir --random-inputs ": [],
    "absent.mlir --input ": [],
    "many.mlir --entry ": ["first", "second"],
    "many.mlir --input ": [],
    "many.mlir --entry second --input ": ["b="],
    "translate --serialize model.mlir -o s": ["sub/"],
    "opt model.mlir --pass-pipeline ": ["builtin.module\\("],
    "completion f": ["fish"],
}  # fmt: skip


@pytest.fixture
def completed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., list[str]]:
    """Return a function that asks what may follow at the end of a line."""

    def ask(line: str, **environment: str) -> list[str]:
        for name, value in {**question(f"stablehlo-interp {line}", folder), **environment}.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(SystemExit) as ended:
            main([])
        printed = capsys.readouterr()
        assert (ended.value.code, printed.out) == (0, "") and "Traceback" not in printed.err
        return words_found(folder)

    monkeypatch.chdir(folder)
    monkeypatch.setattr(argcomplete, "autocomplete", lambda parser: Finder()(parser, exit_method=sys.exit))
    return ask


@pytest.mark.parametrize("line", NAMES)
def test_values_of_options(line: str, completed: Callable[..., list[str]]) -> None:
    assert sorted(completed(line)) == sorted(NAMES[line])


def test_passes_of_a_pipeline(completed: Callable[..., list[str]]) -> None:
    found = completed('opt model.mlir --pass-pipeline "builtin.module(inline,')
    assert len(found) == len(PASSES) and all("inline," in word for word in found)


def test_backends(completed: Callable[..., list[str]]) -> None:
    found = completed("diff model.mlir --backend ")
    assert {"jax", "cpp", "self", "iree", "cmd:", "python:", "pjrt:", "weights.npz"} <= set(found)
    assert "model.mlir" not in found


@pytest.mark.parametrize(("shell", "colon", "tab"), [("zsh", "\\:", ":"), ("fish", ":", "\t")])
def test_zsh_and_fish_show_what_a_value_is(
    shell: str, colon: str, tab: str, completed: Callable[..., list[str]]
) -> None:
    environment = {"_ARGCOMPLETE_SHELL": shell} | ({"_ARGCOMPLETE_DFS": tab} if shell == "fish" else {})
    assert completed("model.mlir --input m", **environment) == [f"mask={tab}tensor<4xi1>"]
    found = completed("diff model.mlir --backend pj", **environment)
    assert found == [f"pjrt{colon}{tab}a PJRT plug-in through jax"]


BASH = {
    "stablehlo-interp diff model.mlir --contract st": "strict",
    "stablehlo-interp model.mlir --input ma": "mask=",
    "stablehlo-interp model.mlir --input x=we": "weights.npz",  # bash itself keeps what is before `=`
    "stablehlo-interp diff model.mlir --backend pyt": "python:",
}


def test_bash(folder: Path) -> None:
    script = f"""
        compopt() {{ :; }}
        source <(stablehlo-interp completion bash)
        COMP_TYPE=9 COMP_CWORD=3 COMP_WORDBREAKS=$' \\t\\n"\\'><=;|&(:'
        for COMP_LINE in {shlex.join(BASH)}; do
            COMP_POINT=${{#COMP_LINE}}
            _python_argcomplete stablehlo-interp
            printf '%s\\n' "${{COMPREPLY[@]}}"
        done
    """
    done = shell(script, folder)
    assert [word.strip() for word in done.stdout.splitlines()] == [*BASH.values()], done.stderr
