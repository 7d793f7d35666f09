"""The commands and their help: the examples run as printed, and shells complete what there is."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from command_line import ADD, CHECKED, run, shell

from stablehlo_ref.cli.commands import COMMANDS
from stablehlo_ref.cli.main import overview

MODEL = """\
func.func @main(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.multiply %x, %w : tensor<4xf32>
  %1 = stablehlo.tanh %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
"""
GLOBAL = 'sdy.mesh @mesh = <["x"=2, "y"=4]>\n' + MODEL.replace(
    "tensor<4xf32>,", 'tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>},'
).replace("%w: tensor<4xf32>)", '%w: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>})').replace(
    "-> tensor<4xf32>", '-> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>})'
)
HLO = "HloModule m\nENTRY e {\n  x = f32[2]{0} parameter(0)\n  ROOT y = f32[2]{0} negate(x)\n}\n"
FILES = {
    "add.mlir": ADD,
    "model.mlir": MODEL,
    "before.mlir": MODEL,
    "after.mlir": MODEL,
    "library.mlir": "func.func @f(%x: tensor<i32>) -> tensor<i32> {\n  return %x : tensor<i32>\n}\n",
    "spmd.mlir": MODEL,
    "global.mlir": GLOBAL,
    "local.mlir": MODEL.replace("tensor<4xf32>", "tensor<1xf32>"),
    "dumps.mlir": "".join(f"// -----// IR Dump After {name} //----- //\n{MODEL}" for name in ("CSE (cse)", "A (a)")),
    "dump/module_0001.jit_f.before_optimizations.txt": HLO,
    "dump/module_0001.jit_f.cpu_after_optimizations.txt": HLO,
    "tests.mlir": f"{CHECKED}// -----\n{CHECKED}",
}
EXAMPLE = re.compile(r"^  (\S.*\bstablehlo-interp\b.*|PATH=.*|stablehlo-interp\b.*)$", re.M)
PIPED = re.compile(r"(?:(echo|cat) (\S+) \| )?stablehlo-interp (.*)")

Capture = pytest.CaptureFixture[str]


def help_of(command: str) -> str:
    """Return the help of a command, with examples on one line each."""
    return COMMANDS[command].parser.format_help()


def examples() -> list[str]:
    """Return the examples of all help texts, those that depend on others after these."""
    texts = [help_of(command) for command in COMMANDS]
    lines = [line for text in [overview(), *texts] for line in EXAMPLE.findall(text.partition("examples:")[2])]
    return [line for line in lines if not line.startswith("PATH=")]


def test_overview_lists_commands(capsys: Capture) -> None:
    assert run("--help") == run("-h") == run("help") == 0
    out = capsys.readouterr().out
    for command in COMMANDS.values():
        assert re.search(rf"^  {command.name} +{re.escape(command.summary)}$", out, re.M)
    assert "130  interrupted" in out


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help_with_examples(command: str, capsys: Capture) -> None:
    assert run(command, "--help") == 0
    assert "examples:\n  " in capsys.readouterr().out
    assert run("help", command) == 0


def test_examples_run_as_printed(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("dump").mkdir()
    for name, text in FILES.items():
        Path(name).write_text(text)
    np.save("image.npy", np.arange(4, dtype=np.float32))
    np.savez("weights.npz", w=np.ones(4, np.float32))
    lines = examples()
    assert {*COMMANDS, "model.mlir"} - {"run", "aliases"} <= {word for line in lines for word in line.split()}
    for line in lines:
        arguments = shlex.split(line, comments=True)
        if {"completion", "lsp", "jax"} & set(arguments):
            continue  # test_completion_scripts; a server; needs jax
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(piped_into(line).encode())))
        after = arguments[arguments.index("stablehlo-interp") + 1 :]
        after = after[: after.index("|")] if "|" in after else after
        assert run(*after) == 0, (line, capsys.readouterr().err)


def piped_into(line: str) -> str:
    """Return what `echo` or `cat` writes into the command."""
    match = PIPED.match(line)
    if match is None or match[1] is None:
        return ""
    return f"{match[2]}\n" if match[1] == "echo" else Path(match[2]).read_text()


def test_aliases_work_in_path(tmp_path: Path) -> None:
    (tmp_path / "model.mlir").write_text(MODEL)
    (line,) = re.findall(r"^  (PATH=.*)$", help_of("aliases"), re.M)
    done = shell(f"stablehlo-interp aliases bin > /dev/null && {line}", tmp_path)
    assert (done.returncode, done.stderr) == (0, "") and "stablehlo.tanh" in done.stdout


def test_nothing_optional_is_imported_at_start(tmp_path: Path) -> None:
    (tmp_path / "add.mlir").write_text(ADD)
    optional = ("argcomplete", "cmd", "jax", "pygls", "safetensors", "scipy", "torch", "zstandard", "unittest")
    script = (
        "import sys, json; from stablehlo_ref.cli.main import main\n"
        "main(['--version']); first = 'numpy' in sys.modules\n"
        f"main(['add.mlir', '--random-inputs', '0', '-q']); print(json.dumps([first, [m for m in {optional} "
        "if m in sys.modules]]))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, check=True,
                          env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent.parent)})  # fmt: skip
    assert json.loads(done.stdout.splitlines()[-1]) == [False, []]


# --- options of earlier versions --------------------------------------------------------------------------------------

OLD = {
    "--stats": "--profile",
    "--profile-output profile.json": "--profile",
    "--profile-output=profile.json": "--profile",
    "--trace-values %0": "--trace",
    "--trace-ops=add": "--trace",
    "--strict": "--on-implementation-defined=error",
    "--warn-implementation-defined": "--on-implementation-defined=warn",
    "--reproducible": "--mode=reproducible",
    "--exact-sums": "--mode=exact-sums",
    "--exact-lapack": "--mode=exact-lapack",
    "--semantics": "--mode=semantics",
    "--no-fast": "--mode=no-fast",
    "--no-jit": "--mode=no-jit",
}


@pytest.mark.parametrize("old", OLD)
def test_old_names_work_with_a_note(old: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("add.mlir").write_text(ADD)
    given = ["add.mlir", "--input", "x=1", "--input", "y=2", "--print-dense"]
    assert run(*given, *old.split()) == 0
    name = re.split("[ =]", old)[0]
    printed = capsys.readouterr()
    assert printed.err.startswith(f"note: {name} is now {OLD[old]}\n")
    assert printed.out == "dense<6.000000e+00> : tensor<4xf32>\n"
    assert Path("profile.json").exists() == ("profile.json" in old)


def test_old_names_are_notes_in_documents(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "checked.mlir").write_text(CHECKED)
    assert run(tmp_path / "checked.mlir", "--strict", "--diagnostics-format=json") == 0
    (note,) = json.loads(capsys.readouterr().err)["diagnostics"]
    assert (note["severity"], note["message"]) == ("note", "--strict is now --on-implementation-defined=error")


def test_trap_is_a_command_of_its_own(capsys: Capture) -> None:
    assert run("add.mlir", "--trap", "nan") == 2
    assert "--trap: use the command `exceptions` with --first" in capsys.readouterr().err


def test_unknown_modes_are_errors(capsys: Capture) -> None:
    assert run("add.mlir", "--mode", "exact-sums,reproducable") == 2
    assert "unknown mode 'reproducable'; did you mean 'reproducible'?; there are" in capsys.readouterr().err


def test_a_value_that_may_be_left_out_needs_an_equals_sign(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("checked.mlir").write_text(CHECKED)
    assert run("--profile", "checked.mlir") == 0
    assert Path("checked.mlir").read_text() == CHECKED
    assert run("opt", "--op-stats", "checked.mlir") == 0
    assert "check.expect_eq_const" in capsys.readouterr().out


# --- completion -------------------------------------------------------------------------------------------------------


def completed(line: str, folder: Path) -> list[str]:
    """Return what a shell offers at the end of a line."""
    found = folder / "found"
    done = shell("stablehlo-interp", folder, _ARGCOMPLETE="1", COMP_LINE=line, COMP_POINT=str(len(line)),
                 COMP_TYPE="9", _ARGCOMPLETE_IFS="\n", _ARGCOMPLETE_STDOUT_FILENAME=str(found))  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [word.strip() for word in found.read_text().splitlines()]


def test_completion(tmp_path: Path) -> None:
    pytest.importorskip("argcomplete")
    (tmp_path / "options.mlir").write_text(ADD)
    assert {"opt", "options.mlir"} <= set(completed("stablehlo-interp opt", tmp_path))
    assert completed("stablehlo-interp opt options.mlir --canon", tmp_path) == ["--canonicalize"]
    assert completed("stablehlo-interp options.mlir --random-i", tmp_path) == ["--random-inputs"]
    assert completed("stablehlo-interp run --trace-t", tmp_path) == ["--trace-to"]


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_completion_scripts(name: str, capsys: Capture) -> None:
    pytest.importorskip("argcomplete")
    assert run("completion", name) == 0
    assert "stablehlo-interp" in (script := capsys.readouterr().out)
    if name == "bash":
        assert subprocess.run(["bash", "-n", "-c", script], check=False).returncode == 0


def test_completion_names_the_extra_that_it_needs(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "argcomplete", None)
    assert run("completion", "bash") == 1
    assert "pip install 'argcomplete>=3.5' (the extra `completion`)" in capsys.readouterr().err
