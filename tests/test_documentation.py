"""The first hour: what README and the tutorials tell a reader to type can be typed, and what they name is there."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from stablehlo_ref.arrays.interop import EXTRAS, how_to_install
from stablehlo_ref.cli.commands import COMMANDS

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
FIRST_PAGES = ["README.md", "CONTRIBUTING.md", "docs/index.md", "docs/tutorial.md", "docs/tutorial-mismatch.md"]
BLOCK = re.compile(r"^```(?:sh|\{code-cell\}\n%%sh)\n(.*?)^```", re.M | re.S)
IN_THE_ENVIRONMENT = {"pip", "pytest", "python", "stablehlo-interp"}  # those that pip installs, and itself
ANYWHERE = {"python3", "echo", "cat", "grep"}
KINDS = {".md", ".py", ".cff", ".mlir", ".sh"}


def sources() -> list[Path]:
    """Return the text files of the project."""
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if not done.stdout:
        pytest.skip("not a checkout of git")
    found = [ROOT / name for name in done.stdout.splitlines() if Path(name).suffix in KINDS]
    return [path for path in found if path.is_file() and path != Path(__file__)]


@pytest.mark.parametrize("page", FIRST_PAGES)
def test_commands_are_those_of_an_environment(page: str) -> None:
    """Each command is in the folder of the environment, or follows its activation on the page."""
    is_active = False
    commands = [words for block in BLOCK.findall((ROOT / page).read_text("utf-8")) for words in commands_of(block)]
    assert commands
    for words in commands:
        if words == [".", ".venv/bin/activate"]:
            is_active = True
        elif not words[0].startswith((".venv/bin/", "STABLEHLO_REF")) and words[0] not in ANYWHERE:
            assert words[0] in IN_THE_ENVIRONMENT and is_active, words
        if words[0].endswith("stablehlo-interp") and "." not in words[1]:
            assert words[1] in COMMANDS


def commands_of(block: str) -> Iterator[list[str]]:
    """Yield the words of each command of a block of shell, those of loops and of pipes too."""
    for line in block.replace("\\\n", " ").splitlines():
        words: list[str] = []
        for word in [*shlex.shlex(line, posix=True, punctuation_chars=True), ";"]:
            if word in ("&&", "||", "|", ";"):
                if words and words[0] not in ("for", "done"):
                    yield words
                words = []
            elif word != "do":
                words.append(word)


def test_ways_to_compute_an_op_are_in_the_code() -> None:
    text = (ROOT / "docs/explanation/ways.md").read_text("utf-8")
    tables = re.findall(r"\|---\|---\|---\|\n((?:\|.*\n)+)", text)
    assert len(tables) == 4 and all(re.search(r"`[a-z_/]+\.py:\w+`", row) for row in "".join(tables).splitlines())
    assert all(table.count("\n") <= 6 for table in tables)
    assert_in_the_code(text)


def test_paths_from_ops_to_machine_code_are_in_the_code() -> None:
    text = (ROOT / "docs/explanation/fast-paths.md").read_text("utf-8")
    assert re.findall(r"### `(\w+)`\n", text) == ["add", "reduce", "while"]
    assert_in_the_code(text)


def assert_in_the_code(text: str) -> None:
    """Check that what a text names as `file.py:name` is defined at the top of that file of the package."""
    package = ROOT / "stablehlo_ref"
    for path, name in re.findall(r"`([a-z_/]+\.py):(\w+)`", text):
        if not (package / "accelerate").is_dir() and path.startswith("accelerate/"):
            continue  # the accelerator may be deleted, and what it has with it
        tree = ast.parse((package / path).read_text("utf-8"))
        names = {node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
        names |= {
            node.target.id
            for node in tree.body
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        }
        assert name in names, (path, name)


def test_extras_that_are_named_exist() -> None:
    known = set(PROJECT["optional-dependencies"])
    assert set(EXTRAS.values()) <= known
    for path in sources():
        for group in re.findall(r"\.\[([a-z,]+)\]['\"]", path.read_text("utf-8")):
            assert set(group.split(",")) <= known, (path, group)


def test_nothing_is_said_to_be_on_an_index_or_a_site() -> None:
    """The package is on no index and has no site yet."""
    for path in sources():
        text = path.read_text("utf-8")
        assert not re.search(r"pip install (-\S+ )*['\"]?stablehlo", text), path
        assert not re.search(r"github\.com/stablehlo-ref|stablehlo-ref\.github\.io", text), path


def test_how_to_install_names_the_packages_of_an_extra() -> None:
    """The package may come from a clone as well as from an index, and what an extra has can be had from both."""
    assert how_to_install("report").startswith("pip install 'jinja2>=3.1' ")
    assert how_to_install("docs").startswith("pip install 'jinja2>=3.1' ") and "'sphinx>=8' " in how_to_install("docs")
    assert how_to_install("filecheck") == "pip install 'filecheck>=1' (the extra `filecheck`)"


def test_how_to_install_where_nothing_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib import metadata

    def missing(name: str) -> list[str]:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", missing)
    assert how_to_install("lsp") == "pip install '.[lsp]' in the clone of stablehlo-ref"


@pytest.mark.parametrize("page", sorted(p.relative_to(ROOT).as_posix() for p in ROOT.glob("*.md")))
def test_relative_links_exist(page: str) -> None:
    for link in re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", (ROOT / page).read_text("utf-8")):
        assert (ROOT / page).parent.joinpath(link).exists(), link
