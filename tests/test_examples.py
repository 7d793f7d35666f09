"""The programs and scripts of examples/: checks hold, scripts run, and the README prints them as they are."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import stablehlo_ref as sr
from stablehlo_ref.cli.aliases import write_aliases

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
README = (ROOT / "README.md").read_text(encoding="utf-8")
PRINTED = re.findall(r"<!-- examples/(\S+) -->\n```\w+\n(.*?)```", README, re.S)
SELF_CHECKING = ["attention", "convnet", "decode", "dynamic_batch", "int8", "test_exponential", "training_step"]
LARGEST = 100_000  # bytes of a file


@pytest.mark.parametrize("name", SELF_CHECKING)
def test_checks_hold(name: str) -> None:
    path = EXAMPLES / f"{name}.mlir"
    assert path.stat().st_size < LARGEST
    program = sr.load(path)
    assert any(op.name.startswith("check.") for op in program.module.walk()), "nothing is checked"
    program.run()


def test_each_exported_program_has_its_script() -> None:
    scripts = {path.stem.removeprefix("export_") for path in EXAMPLES.glob("export_*.py")}
    assert scripts == {*SELF_CHECKING} - {"test_exponential"}
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert all(f"[{name}.mlir]" in listed and f"(export_{name}.py)" in listed for name in scripts)


def test_readme_prints_the_files() -> None:
    assert len(PRINTED) == 5
    assert dict(PRINTED) == {name: _text(name) for name, _ in PRINTED}


@pytest.mark.parametrize("name", [name for name, _ in PRINTED])
def test_readme_examples_run(name: str, tmp_path: Path) -> None:
    if "import jax" in _text(name) and not find_spec("jax"):
        pytest.skip("jax is not installed")
    (tmp_path / "examples").symlink_to(EXAMPLES)
    (tmp_path / "bin").mkdir()
    write_aliases(tmp_path / "bin")
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    command = {".sh": ["bash", "-eu"], ".py": [sys.executable], ".mlir": ["stablehlo-interp"]}[Path(name).suffix]
    done = subprocess.run(
        [*command, f"examples/{name}"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def _text(name: str) -> str:
    return (EXAMPLES / name).read_text(encoding="utf-8")
